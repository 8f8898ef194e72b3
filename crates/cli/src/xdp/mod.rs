//! What `sluice xdp` and `sluice map` are made of.

pub mod bench;
mod bench_kernel;
pub mod bundle_trace;
pub mod check;
pub mod compile;
pub mod counts;
pub mod disasm;
pub mod engine_counts;
pub mod engine_events;
pub mod hardware;
pub mod jit;
pub mod leaf_counts;
pub mod live;
pub mod object;
pub mod options;
pub mod packets;
pub mod paths;
pub mod places;
pub mod prepare;
pub mod profile;
pub mod report;
pub mod run;
pub mod show;
pub mod sink;
pub mod trace;
pub mod warp;
mod warp_paper;
