//! The l7 engine's own top beside its model.

pub mod bench;
pub mod frames;
pub mod tenants;
pub mod traffic;
