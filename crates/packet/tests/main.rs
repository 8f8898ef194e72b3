//! All tests of packets, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

mod capture;
mod docs;
mod fuzz;
mod generate;
mod notation;
mod script;
