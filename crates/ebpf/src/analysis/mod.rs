//! Region analysis: which region, offsets and map each instruction's operands point into.

pub mod alu;
pub mod branch;
pub mod num;
pub mod range;
pub mod tnum;

#[cfg(test)]
mod testing;
