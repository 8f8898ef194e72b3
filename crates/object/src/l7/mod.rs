//! The l7 part of an object: a program for message dispatch.

mod binary;
mod check;
mod part;
mod show;

pub use part::{L7Application, L7Part};
