//! Program Warping: what a packet's bytes decide is decided before a core sees it (docs/decisions/xdp-warp.md).

pub mod begin;
pub mod bits;
pub mod check;
pub mod encode;
pub mod extract;
pub mod facts;
pub mod key;
pub mod known;
pub mod lookup;
pub mod paper;
pub mod path;
pub mod peel;
pub mod placed;
pub mod room;
pub mod rows;
pub mod stack;
pub mod table;
pub mod terms;
pub mod test;
pub mod tree;
pub mod trial;
pub mod value;
pub mod walk;
pub mod witness;

pub use table::{Action, Leaf, Rule, Table, Warped, warp, warp_beside};
