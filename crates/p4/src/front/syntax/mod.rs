//! From words to a tree, and back to text.

pub(crate) mod ast;
pub(crate) mod change;
mod number;
mod parser;
mod print;

pub(crate) use number::number;
pub(crate) use parser::parse;
pub(crate) use print::print;
