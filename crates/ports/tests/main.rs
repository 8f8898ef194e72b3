//! Ports on veth pairs and TAP devices, in network namespaces of their own.
//!
//! They need root, `unshare` and `ip`; where that is not there each says so and checks nothing.
#![cfg(target_os = "linux")]

mod checksums;
mod lab;
mod link;
mod queues;
mod soak;
mod tags;
mod taps;
mod traffic;
mod transfer;
