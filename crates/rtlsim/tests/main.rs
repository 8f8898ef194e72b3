//! All tests of the RTL, a module a file: one executable, for each has to be linked (CONTRIBUTING.md).

#[path = "support/attack/mod.rs"]
mod attacking;
#[path = "support/l7/bench.rs"]
mod bench;
#[path = "support/l7/dispatching.rs"]
mod dispatching;
#[path = "support/l7/entries.rs"]
mod entries;
#[path = "support/l7/host.rs"]
mod host;
#[path = "support/l7/mod.rs"]
mod l7;
#[path = "../../ebpf/tests/analysis_support/packets.rs"]
mod packets;
#[path = "../../hxdp/tests/support/parsers.rs"]
mod parsers;
#[path = "support/pipeline.rs"]
mod pipeline;
#[path = "../../ebpf/tests/analysis_support/programs.rs"]
mod programs;
#[path = "../../hxdp/tests/support/routes.rs"]
mod random_routes;
#[path = "support/l7/receiving.rs"]
mod receiving;
#[path = "support/rmt_replacing.rs"]
mod replacing;
mod support;
#[path = "support/traffic/mod.rs"]
mod traffic;
#[path = "support/xdp/mod.rs"]
mod xdp;

mod attack;
mod conformance;
mod control;
mod driver;
mod endurance;
mod hitless;
mod idle;
mod isolation;
mod l7_lockstep;
mod l7_lockstep_default;
mod l7_nic;
mod l7_nic_shares;
mod l7_places;
mod l7_receive;
mod l7_receive_default;
mod l7_sizes;
mod l7_update;
mod lockstep;
mod plugin;
mod priority;
mod random_lockstep;
mod regrant;
mod rmt_published_faults;
mod rmt_replacement;
mod room;
mod shares;
mod smaller_nics;
mod throughput;
mod updates;
mod xdp_accounts;
mod xdp_calls;
mod xdp_clock;
mod xdp_conformance;
mod xdp_core;
mod xdp_device;
mod xdp_elements;
mod xdp_endurance;
mod xdp_equality;
mod xdp_events;
mod xdp_fused;
mod xdp_given;
mod xdp_growth;
mod xdp_helpers;
mod xdp_lock_flags;
mod xdp_locks;
mod xdp_loops;
mod xdp_maps;
mod xdp_nic;
mod xdp_nic_far;
mod xdp_order;
mod xdp_outside;
mod xdp_queues;
mod xdp_references;
mod xdp_routes;
mod xdp_rows;
mod xdp_search;
mod xdp_sections;
mod xdp_shared_values;
mod xdp_shares;
mod xdp_tenants;
mod xdp_told;
mod xdp_tries;
mod xdp_unanswered;
mod xdp_warp;
mod xdp_warp_load;
mod xdp_warp_modules;
