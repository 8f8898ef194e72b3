//! All tests of compiled programs, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod support;

mod conformance;
mod ends;
mod engine;
mod identity;
mod iterators;
mod memory;
mod missing;
mod random;
mod same;
mod time;
