//! The l7 engine's own top beside its model.

pub mod builds;
pub mod frames;
pub mod rows;
pub mod tenants;
pub mod traffic;
