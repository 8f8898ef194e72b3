//! Random rules and messages, the same for the same generator: tests, fuzzers and lockstep runs draw from them.

mod messages;
mod rules;

pub use messages::{field_values, frames, value_for};
pub use rules::{Limits, pattern, rules};
