//! The reference: what a checked program does, as the specification and the documents of v1model say, without a target's
//! limits. `lower` makes of the tree what runs, `run` runs it, `v1model` is the architecture around it.

mod bits;
pub(crate) mod code;
mod lower;
pub(crate) mod native;
pub(crate) mod numbers;
mod police;
pub(crate) mod ports;
mod run;
mod shape;
pub(crate) mod tables;
mod told;
mod v1model;
pub(crate) mod value;

pub(crate) use code::{Code, Entry, Key, Match, MatchKind, ObjectKind, System, Table};
pub(crate) use lower::{SYSTEM, key_name, lower};
pub(crate) use police::Police;
pub(crate) use run::Event;
pub(crate) use shape::{Fields, Shape};
pub(crate) use tables::{EntryRefused, rank_of};
pub(crate) use told::ToldParameter;
pub use v1model::Sent;
pub(crate) use v1model::{
    Cells, DROP, HashLayouts, MeterRates, Node, Session, Switch, TICK, TIME_BITS, TIMES, hash_by_name, target_hash_from,
};
pub(crate) use value::{Number, Value};
