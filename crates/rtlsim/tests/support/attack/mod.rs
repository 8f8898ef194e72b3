//! Hostile tenants beside a measured one, and what may not differ for him.

pub mod bound;
pub mod field;
pub mod frames;
pub mod hostile;
pub mod measured;
pub mod programs;
pub mod run;
