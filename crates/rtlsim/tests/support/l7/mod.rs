//! The l7 engine's own top beside its model.
#![allow(dead_code)] // each test uses a part

pub mod builds;
pub mod frames;
pub mod rows;
pub mod tenants;
pub mod traffic;
