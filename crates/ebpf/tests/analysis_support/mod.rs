//! Holds what the analysis claims against what the interpreter does.

pub mod checker;
pub mod packets;
pub mod programs;
