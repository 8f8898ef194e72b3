//! The l7 engine in the linker: what tenants are given of it, and where their programs lie.

mod check;
mod given;
mod place;
mod ring;
mod space;

pub use given::L7Given;
pub use ring::RingMemory;
pub(in crate::linker) use space::L7Space;
