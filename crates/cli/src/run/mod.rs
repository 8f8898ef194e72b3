//! What `sluice run` is made of.

pub mod assign;
pub mod bring_up;
pub mod device;
pub mod interrupt;
pub mod live;
pub mod pace;
pub mod play;
pub mod progress;
pub mod report;
pub mod sink;
pub mod source;
pub mod tally;
