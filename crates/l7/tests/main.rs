//! All tests of the l7 engine, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

mod linked;
mod message;
mod oracle;
mod published;
mod rows;
mod rules;
mod rules_random;
mod same;
mod shipped_capture;
