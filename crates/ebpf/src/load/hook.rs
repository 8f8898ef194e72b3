//! Which sections hold XDP programs.
//!
//! A section that libbpf knows to be for another hook is refused; every other one is taken, as
//! loaders that are told "this is XDP" do: samples name their sections `xdp`, `xdp_prog1`,
//! `xdp/map`, `xdp.frags`, `xdp_devmap/egress`, `xdp_cpumap`, `prog`, `prog_7`, `2/0`, `.text`.

/// libbpf's section names of other program types; a name ends at `/`, `.` or the end.
const OTHERS: [(&str, &str); 43] = [
    ("socket", "socket filter"),
    ("sk_reuseport", "sk_reuseport"),
    ("kprobe", "kprobe"),
    ("kretprobe", "kprobe"),
    ("uprobe", "kprobe"),
    ("uretprobe", "kprobe"),
    ("ksyscall", "kprobe"),
    ("kretsyscall", "kprobe"),
    ("usdt", "kprobe"),
    ("tc", "traffic control"),
    ("tcx", "traffic control"),
    ("classifier", "traffic control"),
    ("action", "traffic control"),
    ("netkit", "traffic control"),
    ("tracepoint", "tracepoint"),
    ("tp", "tracepoint"),
    ("raw_tracepoint", "raw tracepoint"),
    ("raw_tp", "raw tracepoint"),
    ("tp_btf", "tracing"),
    ("fentry", "tracing"),
    ("fmod_ret", "tracing"),
    ("fexit", "tracing"),
    ("fsession", "tracing"),
    ("freplace", "extension"),
    ("lsm", "LSM"),
    ("lsm_cgroup", "LSM"),
    ("iter", "iterator"),
    ("syscall", "syscall"),
    ("perf_event", "perf event"),
    ("lwt_in", "lightweight tunnel"),
    ("lwt_out", "lightweight tunnel"),
    ("lwt_xmit", "lightweight tunnel"),
    ("lwt_seg6local", "lightweight tunnel"),
    ("sockops", "socket operations"),
    ("sk_skb", "sk_skb"),
    ("sk_msg", "sk_msg"),
    ("sk_lookup", "sk_lookup"),
    ("lirc_mode2", "lirc"),
    ("flow_dissector", "flow dissector"),
    ("netfilter", "netfilter"),
    ("struct_ops", "struct_ops"),
    ("cgroup_skb", "cgroup"),
    ("cgroup", "cgroup"),
];

/// The hook that a section's name says, if it is not XDP.
pub(super) fn other(section: &str) -> Option<&'static str> {
    let base = section.split(['/', '.', '?']).find(|s| !s.is_empty()).unwrap_or("");
    OTHERS.iter().find(|(name, _)| *name == base).map(|(_, kind)| *kind)
}

/// iproute2's sections of tail-called programs: map id and index, such as `2/0`.
pub(super) fn tail(section: &str) -> Option<(u32, u32)> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    let (map, index) = section.split_once('/')?;
    Some((number(map)?, number(index)?))
}
