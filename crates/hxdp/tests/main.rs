//! All tests of the compiler to bundles, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

mod support;

mod bundles;
mod cycle_figures;
mod cycles;
mod fewer;
mod figures;
mod fused;
mod long_programs;
mod passes;
mod planted;
mod plugin;
mod profile;
mod recorded;
mod same;
mod sections;
mod visits;
mod warp;
mod warp_engine;
mod warp_paper;
mod warp_random;
mod warp_room;
mod warp_target;
