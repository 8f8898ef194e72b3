//! Programs built in Rust: what the tests run, and examples of how a program is put together.

pub mod calc;
pub mod l3_router;
pub mod send;
pub mod tunnel;
