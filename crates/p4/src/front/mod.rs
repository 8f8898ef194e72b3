//! The front end and the reference: from text to a checked program, and what P4-16 says that it does.

pub(crate) mod check;
pub(crate) mod info;
pub(crate) mod interpret;
pub(crate) mod reference;
pub(crate) mod sequence;
pub(crate) mod source;
pub mod stf;
pub(crate) mod syntax;
pub mod warn;
