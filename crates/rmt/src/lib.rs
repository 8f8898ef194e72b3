//! The rmt pipeline: what a program may use, and what it does to a packet.
//!
//! The specification interpreter: `docs/design/rmt.md` in Rust, section by section, written to be
//! read and not to be fast. [`check::check`] says what a program may be; [`Pipeline`] runs packets
//! through the programs of its modules.

pub mod action;
pub mod check;
pub mod deparser;
pub mod encode;
pub mod engine;
pub mod fast;
pub mod parser;
pub mod phv;
pub mod pipeline;
pub mod program;
pub mod programs;
pub mod reason;
pub mod stage;
pub mod state;
pub mod target;
pub mod testing;
pub mod text;

pub use action::Action;
pub use check::{Role, check};
pub use encode::{decode, encode};
pub use engine::RmtEngine;
pub use phv::{Container, Phv, Word};
pub use pipeline::{Arrival, Copy, Group, Outcome, Pipeline, StageTrace};
pub use program::Program;
pub use reason::Reason;
pub use target::Target;
