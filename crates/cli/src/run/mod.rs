//! What `sluice run` is made of.

pub mod assign;
pub mod bring_up;
pub mod cell_counts;
pub mod device;
pub mod entry_counts;
pub mod events;
pub mod host;
pub mod interrupt;
pub mod live;
mod map_connection;
pub mod map_server;
pub mod pace;
pub mod play;
pub mod progress;
pub mod rehearse;
pub mod report;
pub mod rings;
pub mod sink;
pub mod source;
pub mod tally;
