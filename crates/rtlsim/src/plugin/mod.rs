//! The Verilated tops as run-time plug-ins: where they lie, the C boundary, what an instance reports and how it is run.

pub(crate) mod around;
pub mod boundary;
pub mod error;
pub mod event;
pub mod fault;
pub mod locate;
pub mod options;
pub mod top;
