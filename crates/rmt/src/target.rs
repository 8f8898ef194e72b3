//! Sizes: those of `sluice_formats::rmt::target`, from which the RTL has its parameters too.

pub use sluice_formats::rmt::target::*;
