//! The paths of the aims, and what is published of each.

/// LUT of the published core.
pub const PUBLISHED_LUT: f64 = 42e3;

/// Not shipped: drops.
pub const DROP: &str = "r0 = 1\nexit";
/// Not shipped: swaps the MAC addresses and sends the frame back.
pub const SWAP: &str = "r2 = *(u32 *)(r1 +0)
    r3 = *(u32 *)(r1 +4)
    r4 = r2
    r4 += 14
    if r4 > r3 goto pc+10
    r5 = *(u32 *)(r2 +0)
    r6 = *(u16 *)(r2 +4)
    r7 = *(u32 *)(r2 +6)
    r8 = *(u16 *)(r2 +10)
    *(u32 *)(r2 +0) = r7
    *(u16 *)(r2 +4) = r8
    *(u32 *)(r2 +6) = r5
    *(u16 *)(r2 +10) = r6
    r0 = 3
    exit
    r0 = 1
    exit";

/// One path.
pub struct Path {
    /// What it does, with the number of the published program.
    pub what: &'static str,
    /// The shipped program, or `bare drop` and `bare swap`.
    pub program: &'static str,
    /// Its packets among those of the program's `path.pkt`.
    pub packets: &'static [usize],
    /// eBPF instructions that the published program executes; ours are within a tenth.
    pub instructions: Option<u32>,
    /// Cycles a packet.
    pub published: f64,
    pub aim: f64,
}

impl Path {
    /// Whether each of its packets begins a flow.
    pub fn begins_flows(&self) -> bool {
        self.what.ends_with("new flow")
    }

    /// Cycles a packet and cycles alone of the engine in RTL, as docs/measurements.md has them.
    pub fn of_rtl(&self) -> (f64, f64) {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/measurements.md");
        let page = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let table = page.split("<!-- xdp-paths -->").nth(1).expect("a section xdp-paths");
        let begins = format!("| {} |", self.what);
        let line = table.lines().find(|line| line.starts_with(&begins)).unwrap_or_else(|| panic!("no {}", self.what));
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let number = |at: usize| fields[at].parse().unwrap_or_else(|_| panic!("{}: {}", self.what, fields[at]));
        (number(5), number(7))
    }
}

const fn path(
    what: &'static str,
    program: &'static str,
    packets: &'static [usize],
    instructions: u32,
    published: f64,
    aim: f64,
) -> Path {
    Path { what, program, packets, instructions: Some(instructions), published, aim }
}

/// A program with the work on maps that the published one has, whatever its instructions.
const fn as_many(what: &'static str, program: &'static str, published: f64, aim: f64) -> Path {
    Path { what, program, packets: FIRST, instructions: None, published, aim }
}

const FIRST: &[usize] = &[0, 1, 2, 3, 4, 5];
const SECOND: &[usize] = &[6, 7, 8, 9, 10, 11];
/// Two flows of four packets each, without the first of each.
const KNOWN: &[usize] = &[1, 2, 3, 5, 6, 7];

/// All of them.
pub const PATHS: [Path; 15] = [
    path("L2 ACL #1", "mac_gate", FIRST, 40, 46.0, 10.0),
    path("router #7", "router_basic", FIRST, 72, 94.0, 20.0),
    path("tunnel #4", "iptunnel", FIRST, 145, 113.1, 30.0),
    path("NAT #2, known flow", "nat_basic", KNOWN, 144, 132.3, 35.0),
    path("Suricata #46", "flow_filter", FIRST, 64, 71.0, 15.0),
    path("Suricata #23, drop", "flow_filter", SECOND, 44, 58.0, 10.0),
    path("Katran #11, established", "balancer", KNOWN, 385, 277.8, 80.0),
    path("firewall, new flow", "udp_firewall", &[0, 1, 2, 3], 61, 23.9, 14.0),
    path("firewall, known flow", "udp_firewall", &[4, 5, 6, 7], 50, 23.9, 14.0),
    Path { what: "drop", program: "bare drop", packets: &[], instructions: None, published: 3.0, aim: 1.5 },
    Path { what: "swap", program: "bare swap", packets: &[], instructions: None, published: 6.9, aim: 2.0 },
    Path {
        what: "redirect_map",
        program: "redirect_map",
        packets: FIRST,
        instructions: None,
        published: 10.4,
        aim: 5.0,
    },
    as_many("router #7, two tries", "edge_router", 94.0, 20.0),
    as_many("tunnel #4, four operations on maps", "vxlan_entry", 113.1, 30.0),
    as_many("Katran #11, eleven operations on maps", "edge_balancer", 277.8, 80.0),
];

/// A path's name, what it may take with the engine, and what is published with one.
pub const LIMITS: [(&str, f64, Option<f64>); 10] = [
    ("L2 ACL #1", 4.0, Some(27.0)),
    ("router #7", 9.0, Some(72.0)),
    ("tunnel #4", 18.0, Some(88.0)),
    ("NAT #2, known flow", 24.0, Some(107.0)),
    ("Suricata #46", 7.0, Some(23.0)),
    ("Suricata #23, drop", f64::INFINITY, None),
    ("Katran #11, established", 48.7, Some(120.0)),
    ("router #7, two tries", 14.0, Some(72.0)),
    ("tunnel #4, four operations on maps", 26.0, Some(88.0)),
    ("Katran #11, eleven operations on maps", 62.0, Some(120.0)),
];

/// Packets of `header_filter`, which a table decides: what it is, instructions that are published, limit, published without and with.
pub type Decided = (&'static str, &'static [usize], Option<u32>, f64, f64, f64);

/// All of them.
pub const DECIDED: [Decided; 2] =
    [("Suricata #23, by header", FIRST, Some(44), 1.05, 58.0, 3.0), ("TX by verdict", SECOND, None, 2.0, 6.9, 5.05)];

/// Their paths.
pub fn decided() -> impl Iterator<Item = Path> {
    DECIDED.into_iter().map(|(what, packets, instructions, limit, published, _)| Path {
        what,
        program: "header_filter",
        packets,
        instructions,
        published,
        aim: limit,
    })
}
