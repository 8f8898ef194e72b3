//! The kernel's names of helpers and map types, of all there are: also those that are refused have a name.

/// Name of a helper without `bpf_`.
pub fn helper(id: i32) -> &'static str {
    crate::insn::helper_name(id).unwrap_or("no helper of Linux 6.18")
}

/// Name of a map type as bpftool prints it.
pub fn map_type(number: u32) -> &'static str {
    usize::try_from(number).ok().and_then(|n| MAP_TYPES.get(n)).copied().unwrap_or("no map type of Linux 6.18")
}

/// From 0.
#[rustfmt::skip]
const MAP_TYPES: [&str; 35] = [
    "unspec", "hash", "array", "prog_array", "perf_event_array", "percpu_hash", "percpu_array", "stack_trace",
    "cgroup_array", "lru_hash", "lru_percpu_hash", "lpm_trie", "array_of_maps", "hash_of_maps", "devmap", "sockmap",
    "cpumap", "xskmap", "sockhash", "cgroup_storage", "reuseport_sockarray", "percpu_cgroup_storage", "queue",
    "stack", "sk_storage", "devmap_hash", "struct_ops", "ringbuf", "inode_storage", "task_storage", "bloom_filter",
    "user_ringbuf", "cgrp_storage", "arena", "insn_array",
];
