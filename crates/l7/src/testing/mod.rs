//! Random rules, messages and tables, the same for the same generator: tests, fuzzers, benches and lockstep runs draw from them.

mod broken;
mod messages;
mod ping_pong;
mod rules;

pub use broken::break_tables;
pub use messages::{field_values, frames, value_for};
pub use ping_pong::{ping_pong, ping_pong_payload};
pub use rules::{Limits, pattern, rules};
