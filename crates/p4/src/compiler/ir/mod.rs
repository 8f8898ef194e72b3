//! What the compiler works on between the tree and the pipeline's rows: bits of which it is known where they come from, and a graph
//! of visits to stages. Its root is a state of the parser, each of its nodes one visit, its ends are how packets leave.

mod bits;
mod graph;
mod lines;

pub(crate) use bits::{Bits, HASH, Op, Operation, Seg, Src, When};
pub(crate) use graph::{
    Access, Alt, Array, Becomes, Bound, CELL, Change, Clones, Deparse, End, Graph, Leaf, Loc, LocInfo, Locs,
    NUMBER_BITS, Next, Node, Out, ParserPath, Test, Tree, WAY_BITS, sized,
};
pub(crate) use lines::Lines;
