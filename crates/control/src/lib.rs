//! What drives a device without being one: `nic.toml` with its bring-up, and packet scripts.
//!
//! Both read programs through the front ends and load them through the linker, on any device.

pub mod config;
pub mod scripts;

pub use config::{NicConfig, bring_up};
