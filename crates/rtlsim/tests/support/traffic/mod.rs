//! Traffic whose outcome is known beforehand, and what is measured with it.
#![allow(dead_code)] // each test uses a part

pub mod frames;
pub mod programs;
pub mod rates;
pub mod replacing;
pub mod rig;
pub mod shares;
pub mod witness;
