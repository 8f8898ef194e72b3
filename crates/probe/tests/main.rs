//! All tests of the probe, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

mod generated;
mod lockstep;
mod script;
