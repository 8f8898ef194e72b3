//! Rules: what a tenant wants with which message.

pub mod ast;

pub use ast::{Application, FieldMatch, Goal, Group, Kind, MessageType, Pattern, Rule, Rules, Step};
