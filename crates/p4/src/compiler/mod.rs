//! The compiler: from a checked program to rows of the rmt pipeline.
//!
//! | pass | what it is | file |
//! | --- | --- | --- |
//! | symbolic execution | every path through the program, as a graph of visits to stages | `middle/symbolic.rs`, `explore.rs` |
//! | legalization | where a visit ends, so that each fits into a stage | `middle/legalization.rs`, `back/split.rs` |
//! | PHV allocation | which container holds which bits | `back/phv_allocation.rs` |
//! | rows | parser, stages, deparser | `back/parser.rs`, `rows.rs`, `deparse.rs` |
//! | room | where visits end, and wait, so that tables have most entries | `room.rs` |
//! | relaxation | which flag, of those that accept a part, makes a program fit | `relaxation.rs` |

pub(crate) mod back;
mod change;
pub(crate) mod compile;
mod fit;
pub(crate) mod ir;
mod middle;
pub(crate) mod ports;
mod relaxation;
pub(crate) mod reserve;
mod room;
pub(crate) mod told;
pub(crate) mod traffic;
mod verify;
