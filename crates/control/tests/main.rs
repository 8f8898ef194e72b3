//! All tests of the control plane, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

mod captures;
mod fuzz;
mod live;
mod script_statements;
mod scripts;
mod workers;
mod xdp_config;
