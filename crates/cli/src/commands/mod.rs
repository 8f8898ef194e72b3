//! One command a file.

mod admit;
pub mod completions;
pub mod explain;
pub mod generate;
pub mod l7;
pub mod map;
pub mod object;
pub mod p4;
pub mod ring;
pub mod rmt;
pub mod run;
pub mod script;
pub mod shares;
pub mod xdp;
