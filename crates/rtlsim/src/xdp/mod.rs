//! XDP programs in hardware, as the host sees them: maps, counts, events, and the engine's own top.

pub(crate) mod engine_counts;
pub(crate) mod engine_maps;
pub mod events;
pub mod host_maps;
pub mod lone;
pub(crate) mod routes;
pub mod trie;
