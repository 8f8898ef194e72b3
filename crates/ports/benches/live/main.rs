//! What this machine allows: frames through a veth pair into a port, dropped or sent back by a loop that does nothing else.
//!
//!     cargo bench -p sluice-ports --bench live -- [--seconds 2] [--length 60] [--nic target/release/sluice] [--json]
//!
//! A sender (an AF_PACKET send ring) runs on one core, the loop on the other. The kernel's part of receiving runs in the
//! sender's context, that of sending in the loop's: so each row has the CPU time of the loop's thread, with the softirqs
//! that ran in it, and the CPU time of everybody (both threads, and the kernel's softirq threads), for each frame. `sender
//! alone` is what the same frames cost everybody when the stack behind the veth pair drops them at once, and `bridge` when
//! the kernel's bridge takes them to a second pair. What a kind costs beside the sender is its row less that one.
//!
//! Needs root; it makes a network namespace of its own. The two cores may be two threads of one.

#[cfg(target_os = "linux")]
mod lab;
#[cfg(target_os = "linux")]
mod nic;
#[cfg(target_os = "linux")]
mod run;

#[cfg(target_os = "linux")]
fn main() {
    run::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: ports are there on Linux alone");
}
