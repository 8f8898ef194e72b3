//! Every kind of map against the kernel's own, by the system calls that change and read both.

mod creation;
mod operations;
mod queues;
mod references;
mod sys;

use sluice_ebpf::{MapSpec, MapType};

/// A declaration without anything that the system call does not take.
fn spec(kind: MapType, key_size: u32, value_size: u32, max_entries: u32, flags: u32) -> MapSpec {
    MapSpec { flags, ..MapSpec::new("test", kind, key_size, value_size, max_entries) }
}

/// The kernel's CPUs; without bpf(2) says that the test is skipped.
fn kernel_cpus() -> Option<u32> {
    match sys::cpus(&spec(MapType::Array, 4, 4, 1, 0)) {
        Ok(cpus) => Some(cpus),
        Err(why) => {
            println!("skipped: {why}");
            None
        }
    }
}
