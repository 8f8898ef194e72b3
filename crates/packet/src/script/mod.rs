//! Packet scripts: files `*.pkt` that set up tenants, send packets and say what is expected.
//!
//! The language is described in `docs/guide/scripts.md`. Here it is parsed and checked as
//! far as that needs no device; who carries it out implements [`Runner`].

mod ast;
mod error;
mod parse;
mod ring;
mod rmt;
mod run;
mod setup;
mod tables;
mod traffic;
mod updates;
mod words;
mod xdp;

pub use ast::{
    Action, Command, Destination, Forward, Key, KeyMask, MapOnly, MapOperation, MapStatement, Parts, Relation,
    RingOperation, Rmt, Script, Send, Setting, Statement, Table, Target, Tenant, Timing, Tuple, Xdp,
};
pub use error::{ScriptError, ScriptProblem};
pub use parse::{OPTIONS, STATEMENTS, SYSTEM, TOTAL};
pub use run::{Failure, Runner};
pub use setup::{MOST_WEIGHT, QUANTUM_PER_WEIGHT};
