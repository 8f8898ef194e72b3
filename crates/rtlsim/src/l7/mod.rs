//! The l7 engine's own top as a dispatcher of messages, with the host's rings.

pub mod dispatch;
pub(crate) mod rings;
