//! All tests of the software NIC, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

mod xdp_support;

mod device_contract;
mod dispatch;
mod fuzz;
mod held_packets;
mod mock;
mod removal;
mod rings;
mod xdp;
mod xdp_counts;
mod xdp_fuzz;
