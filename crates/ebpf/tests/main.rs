//! All tests of XDP programs, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

mod analysis_support;
mod helpers_support;

mod analysis;
mod calls_kernel;
mod corners;
mod disasm_kernel;
mod frames_fuzz;
mod helpers_callbacks;
mod helpers_docs;
mod helpers_fib;
mod helpers_iterators;
mod helpers_packet;
mod helpers_queues;
mod helpers_results;
mod kernel_oracle;
mod kernel_programs;
mod kernel_random;
mod limits;
mod loader;
mod loader_core;
mod loader_fuzz;
mod loader_kernel;
mod loader_refused;
mod loader_weak;
mod maps;
mod maps_docs;
mod maps_fuzz;
mod maps_kernel;
mod prepare;
mod tenant;
