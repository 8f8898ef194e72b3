//! The XDP engine in its top, its tables written row by row, and the interpreter beside it.
#![allow(dead_code)] // each test uses a part

pub mod accounts;
pub mod device;
pub mod engine;
pub mod events;
pub mod leaves;
pub mod marks;
pub mod outside;
pub mod pair;
pub mod showing;
pub mod tenants;
pub mod together;
