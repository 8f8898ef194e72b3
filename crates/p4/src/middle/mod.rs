//! From a checked program to the graph: the program is followed from its parser to its deparser along every way that is possible, with
//! values that are known in part (`follow`). What is decided by the packet splits the way (`tests`); a table, or a value that has to be
//! computed before it is looked at, ends a visit to a stage (`cut`). Visits that do the same are one (`explore`).
//! Last, ports that the pipeline does not have get numbers of those that it has (`ports`).

mod atoms;
mod calls;
mod cells;
mod clone;
mod copies;
mod cut;
mod explore;
mod expressions;
mod follow;
mod hash;
mod hold;
mod lengths;
mod natives;
mod numbers;
mod packet;
mod parser;
mod ports;
pub(crate) mod system;
mod tests;
pub(crate) mod value;
mod verify;

pub(crate) use explore::{explore, explore_system, explore_within};
pub(crate) use follow::{Refusal, RefusalKind};
pub(crate) use ports::{translate, uses};
