//! Structural validation: what holds for every program before it runs.
