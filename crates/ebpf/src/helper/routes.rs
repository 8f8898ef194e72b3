//! Routes and neighbours of `fib_lookup`.

/// Routes, neighbours and interfaces; the file format is in docs/guide/xdp.md.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {}
