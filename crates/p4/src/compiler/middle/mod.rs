//! From a checked program to the graph: the program is followed from its parser to its deparser along every way that is possible, with
//! values that are known in part (`symbolic`). What is decided by the packet splits the way (`tests`); a table, or a value that has to be
//! computed before it is looked at, ends a visit to a stage (`legalization`). Visits that do the same are one (`explore`).
//! Last, ports that the pipeline does not have get numbers of those that it has (`ports`).

mod atoms;
mod calls;
mod cells;
mod clone;
mod copies;
mod ends;
mod explore;
mod expressions;
mod hash;
mod hold;
mod legalization;
mod lengths;
mod natives;
mod numbers;
mod packet;
mod parser;
mod ports;
mod symbolic;
pub(crate) mod system;
mod tests;
pub(crate) mod value;
mod verify;

pub(crate) use ends::{Ends, NO_ENDS};
pub(crate) use explore::{MOST_WAYS, explore, explore_system, explore_within};
pub(crate) use ports::{translate, uses};
pub(crate) use symbolic::{Refusal, RefusalKind};
