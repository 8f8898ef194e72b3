//! All tests of the command line, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

mod common;
mod ring;

mod admit;
mod bad_input;
mod bpf_plugin;
mod contradictions;
mod engines;
mod explain;
mod help;
mod interrupt;
mod json_errors;
mod l7;
mod live;
mod map_socket;
mod map_waiting;
mod object;
mod outputs;
mod outputs_apart;
mod p4;
mod p4_entries;
mod p4_json;
mod p4_random;
mod readme;
mod refused;
mod ring_driver;
mod rmt;
mod run;
mod script;
mod shares;
mod warnings;
mod xdp;
mod xdp_engine;
mod xdp_maps;
mod xdp_paths;
mod xdp_scripts;
