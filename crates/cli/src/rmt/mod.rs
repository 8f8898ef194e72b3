//! The match-action pipeline alone.

mod report;
pub mod run;
mod trace;
