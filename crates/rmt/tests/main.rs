//! All tests of the rmt engine, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

mod common;
mod device;

mod calc;
mod encode;
mod fast_ends;
mod fast_stage;
mod fast_tables;
mod fast_vs_spec;
mod l3_router;
mod linker;
mod linker_random;
mod lowered;
mod object;
mod outer_tag;
mod pipeline;
mod placer;
mod random;
mod regrant;
mod shipped;
mod text;
mod text_fuzz;
mod text_print;
mod together;
mod tunnel;
