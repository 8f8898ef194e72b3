//! All tests of objects and linker, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

mod common;

mod codes;
mod entries;
mod entry_order;
mod fuzz;
mod golden;
mod hitless;
mod linker;
mod logical;
mod placement;
mod policy;
mod secrets;
mod shares;
mod xdp;
mod xdp_far;
mod xdp_given;
mod xdp_hardware;
mod xdp_warp;
