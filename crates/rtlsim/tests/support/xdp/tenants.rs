//! Tenants of the XDP engine with programs of known cost, some of which make trouble, and packets for all of them.

use super::device::{Nic, array, object};
use sluice_device::headers::{flow_hash, headers};
use sluice_device::{Device, Offer, Verdict};
use sluice_ebpf::image::Initial;
use sluice_ebpf::{MapSpec, MapType};
use sluice_formats::address::control::FLOW_SECRET_AT_RESET;
use sluice_formats::row::Row;
use sluice_formats::xdp::rows::XdpMapRow;
use sluice_formats::xdp::target::Target as XdpTarget;
use sluice_formats::{Node, Reason, Table, Target};
use sluice_object::xdp::layout::shape;
use sluice_object::{Object, XdpShare};
use sluice_rtlsim::RtlNic;

/// Entries of the map whose keys collide: all of them in one chain.
pub const CHAIN: u32 = 48;
/// Lookups of a packet that walks this chain, each to its end.
pub const WALKS: u32 = 4;
/// Atomic operations of a packet that does little else.
pub const BLOWS: u32 = 64;

/// Rounds of a packet while it holds the one lock that all want.
pub const FIGHT: u32 = 40;

/// Records of 512 bytes of a packet that tells.
pub const TELLS: u32 = 8;
/// Moves of a packet's frame.
pub const MOVES: u32 = 32;

/// What a tenant's program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    /// Goes round so often.
    Rounds(u32),
    /// Counts in an array of its own.
    Counts,
    /// Looks its key up in a hash map of its own.
    Looks,
    /// Goes round to its limit.
    Endless,
    /// Looks up keys that all lie in one chain.
    Collides,
    /// Adds to one word again and again.
    Hammers,
    /// Takes the same lock as all others of its packets, and goes round while it holds it.
    Fights,
    /// Writes records into a ring buffer that nobody reads.
    Tells,
    /// Calls itself as often as a packet may.
    Jumps,
    /// Moves the start of its frame to and fro.
    Moves,
    /// Takes the same lock as all others of its packets, and goes round to its limit while it holds it.
    Locks,
    /// Goes round to its limit with frames of 5,000 bytes, which take most of a core's memory.
    Fills,
    /// Asks for a sum of 64 bytes of its stack.
    Sums,
}

impl Does {
    fn object(self) -> Object {
        let (text, maps) = self.program();
        object("program", &text, maps, &[])
    }

    /// Its program `main`, and its maps.
    pub fn program(self) -> (String, Vec<MapSpec>) {
        let hash = |entries| MapSpec::new("keys", MapType::Hash, 4, 8, entries);
        let look = "r2 = r10\nr2 += -4\nr1 = map[keys]\ncall bpf_map_lookup_elem\n";
        let zero = "r1 = 0\n*(u32 *)(r10 -4) = r1\n";
        let (text, maps) = match self {
            Self::Rounds(rounds) => (format!("r6 = 0\nround:\nr6 += 1\nif r6 < {rounds} goto round\n"), vec![]),
            Self::Endless | Self::Fills => ("r6 = 0\nround:\nr6 += 1\nif r6 != 0 goto round\n".to_owned(), vec![]),
            Self::Counts => {
                let text = "r1 = 0\n*(u32 *)(r10 -4) = r1\nr2 = r10\nr2 += -4\nr1 = map[counts]\ncall bpf_map_lookup_elem\n\
                            if r0 == 0 goto out\nr1 = 1\nlock *(u64 *)(r0 +0) += r1\nout:\n";
                (text.to_owned(), vec![array("counts", 8, 4)])
            }
            Self::Looks => (format!("r1 = 1\n*(u32 *)(r10 -4) = r1\n{look}"), vec![hash(4)]),
            // The key is that behind all others of the chain; which one it is, the host writes into an array.
            Self::Collides => {
                let begin = "r1 = 0\n*(u32 *)(r10 -4) = r1\nr2 = r10\nr2 += -4\nr1 = map[which]\ncall bpf_map_lookup_elem\n\
                             if r0 == 0 goto out\nr1 = *(u32 *)(r0 +0)\n*(u32 *)(r10 -4) = r1\n";
                let walks = look.repeat(WALKS as usize);
                (format!("{begin}{walks}out:\n"), vec![hash(CHAIN), array("which", 8, 1)])
            }
            Self::Hammers => {
                let begin = "r1 = 0\n*(u32 *)(r10 -4) = r1\nr2 = r10\nr2 += -4\nr1 = map[word]\ncall bpf_map_lookup_elem\n\
                             if r0 == 0 goto out\nr1 = 1\n";
                let blows = "lock *(u64 *)(r0 +0) += r1\n".repeat(BLOWS as usize);
                (format!("{begin}{blows}out:\n"), vec![array("word", 8, 1)])
            }
            Self::Fights | Self::Locks => {
                let rounds = if self == Self::Fights { FIGHT as i32 } else { -1 };
                let text = format!(
                    "r1 = 0\n*(u32 *)(r10 -4) = r1\nr2 = r10\nr2 += -4\nr1 = map[word]\ncall bpf_map_lookup_elem\nif r0 == 0 goto out\n\
                     r7 = r0\nr1 = r7\ncall bpf_spin_lock\nr6 = 0\nround:\nr6 += 1\nif r6 != {rounds} goto round\n\
                     r1 = *(u64 *)(r7 +8)\nr1 += 1\n*(u64 *)(r7 +8) = r1\nr1 = r7\ncall bpf_spin_unlock\nout:\n"
                );
                (text, vec![MapSpec { spin_lock: Some(0), ..array("word", 16, 1) }])
            }
            Self::Tells => {
                let begin: String = (1..=64).map(|word| format!("*(u64 *)(r10 -{}) = r1\n", 8 * word)).collect();
                let tell = "r1 = map[ring]\nr2 = r10\nr2 += -512\nr3 = 512\nr4 = 0\ncall bpf_ringbuf_output\n";
                let ring = MapSpec::new("ring", MapType::Ringbuf, 0, 0, 4096);
                (format!("r1 = 0\n{begin}{}", tell.repeat(TELLS as usize)), vec![ring])
            }
            Self::Jumps => {
                let text = "r2 = map[self]\nr3 = 0\ncall bpf_tail_call\n";
                let initial = vec![(0, Initial::Program("main".to_owned()))];
                (text.to_owned(), vec![MapSpec { initial, ..MapSpec::new("self", MapType::ProgArray, 4, 4, 1) }])
            }
            Self::Moves => {
                let both = ["-64", "64"].map(|by| format!("r1 = r6\nr2 = {by}\ncall bpf_xdp_adjust_head\n")).concat();
                (format!("r6 = r1\n{}", both.repeat(MOVES as usize / 2)), vec![])
            }
            Self::Sums => {
                let begin: String = (1..=8).map(|word| format!("*(u64 *)(r10 -{}) = r1\n", 8 * word)).collect();
                let sum = "r1 = 0\nr2 = 0\nr3 = r10\nr3 += -64\nr4 = 64\nr5 = 0\ncall bpf_csum_diff\n";
                (format!("{zero}{begin}{sum}"), vec![])
            }
        };
        (format!("{text}r0 = 3\nexit\n"), maps)
    }

    /// Most bundles of a packet, without those that a busy unit sends back: a row holds an instruction or two, and what goes round
    /// takes two rows a round. `work` is the limit of its tenant.
    pub fn bundles(self, work: u32) -> u64 {
        u64::from(match self {
            Self::Rounds(rounds) => 2 * rounds + 2,
            Self::Endless | Self::Fills => 2 * work + 4,
            Self::Counts => 10,
            Self::Looks => 7,
            Self::Collides => 12 + 4 * WALKS,
            Self::Hammers => 10 + BLOWS,
            Self::Fights => 18 + 2 * FIGHT,
            Self::Locks => 18 + 2 * work,
            Self::Tells => 66 + 5 * TELLS,
            Self::Jumps => 34 * 3,
            Self::Moves => 4 + 3 * MOVES,
            Self::Sums => 20,
        })
    }

    /// Accesses of values, lookups in arrays among them.
    pub fn accesses(self) -> u64 {
        match self {
            Self::Counts => 2,
            Self::Collides => 2,
            Self::Fights | Self::Locks => 5,
            Self::Hammers => 1 + u64::from(BLOWS),
            _ => 0,
        }
    }

    /// Bytes of its frames.
    pub fn length(self) -> usize {
        if self == Self::Fills { 5_000 } else { 64 }
    }

    /// Whether its packets wait for each other.
    pub fn waits(self) -> bool {
        matches!(self, Self::Fights | Self::Locks)
    }

    /// Operations of the map engine.
    pub fn operations(self) -> u64 {
        match self {
            Self::Collides => u64::from(WALKS),
            Self::Looks => 1,
            _ => 0,
        }
    }

    /// Calls of the helper unit of its core.
    pub fn calls(self) -> u64 {
        u64::from(match self {
            Self::Tells => TELLS,
            Self::Moves => MOVES,
            Self::Sums => 1,
            _ => 0,
        })
    }

    /// Cycles of the longest of them: a word of 8 bytes in 6, and 20 around.
    pub fn longest_call(self) -> u64 {
        match self {
            Self::Tells => 20 + 6 * 65,
            Self::Moves | Self::Sums => 20 + 6 * 8,
            _ => 0,
        }
    }

    /// Cycles of the longest of them: 10 for a key of 4 bytes, 6, and 2 for each entry in its chain.
    pub fn longest_operation(self) -> u64 {
        match self {
            Self::Collides => 16 + 2 * u64::from(CHAIN),
            Self::Looks => 18,
            _ => 0,
        }
    }
}

/// Frames of one VLAN, of one of 16 flows of UDP, each in a bucket of its own: packets of one bucket wait for each other.
fn frame(vlan: u16, flow: u8, length: usize) -> Vec<u8> {
    let of_port = |port: u8| {
        let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0];
        bytes.extend([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 1]);
        bytes.extend([0x12, port, 0, 53, 0, 26, 0, 0]);
        bytes.resize(60, vlan as u8);
        bytes
    };
    let bucket = |bytes: &Vec<u8>| flow_hash(&headers(bytes), FLOW_SECRET_AT_RESET) & 15 == u32::from(flow);
    let mut bytes = (0..=u8::MAX).map(of_port).find(bucket).expect("some port is in each bucket");
    bytes.splice(12..12, [0x81, 0, (vlan >> 8) as u8, vlan as u8]);
    bytes.resize(length, vlan as u8);
    bytes
}

/// Tenants 1 and on, each with a program.
pub struct Tenants {
    pub nic: Nic<RtlNic>,
    pub does: Vec<Does>,
    offered: Vec<u64>,
    seen: Vec<Seen>,
}

/// What became of a tenant's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Packets that came to their end, of those in the window.
    pub through: u64,
    /// All that ended, since the start.
    pub ended: u64,
    /// Of them those that their queue had no room for.
    pub lost: u64,
    /// The longest time from a packet's arrival to its end, of those in the window.
    pub longest: u64,
}

/// How a tenant's packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comes {
    /// So many wait all the time.
    Waiting(u64),
    /// One each so many cycles.
    Each(u64),
}

impl Tenants {
    /// `does` by tenant; each has the same weight and part of the queues' rows, and the same limit of work. The last `owners` own a context of
    /// each core. With `warp` packets pass the programs' tables before a core has them.
    pub fn new(device: RtlNic, target: &Target, does: &[Does], (work, owners, warp): (u32, usize, bool)) -> Self {
        let rows = if target.name == "tiny" { 504 } else { 960 } / does.len() as u16;
        let mut nic = Nic::of(device, does.len() as u16, |spec| {
            spec.xdp_work = Some(work);
            spec.xdp_warp = warp;
            let owns = usize::from(spec.id) + owners > does.len();
            let contexts = if owns { XdpTarget::by_name(target.name).cores as u8 } else { 0 };
            spec.xdp_share = Some(XdpShare { weight: 16, rows, contexts, memory: 1 });
        });
        for (id, does) in (1..).zip(does) {
            nic.put(id, &does.object()).unwrap_or_else(|e| panic!("{e}"));
        }
        let mut tenants = Self { nic, does: does.to_vec(), offered: vec![0; does.len()], seen: Vec::new() };
        for (id, does) in (1..).zip(does) {
            match does {
                Does::Collides => tenants.collide(id),
                Does::Looks => tenants.write(id, "keys", 1, 1),
                _ => {}
            }
        }
        tenants
    }

    fn write(&mut self, id: u16, map: &str, key: u32, value: u64) {
        let (module, map) = (self.nic.module(id), self.nic.map(id, map));
        let maps = self.nic.device.maps().unwrap();
        maps.update(module, map, &key.to_le_bytes(), &value.to_le_bytes(), 0).unwrap_or_else(|e| panic!("{e}"));
    }

    /// Fills the tenant's map with keys of one chain, and tells the program one more of them, which is not there.
    fn collide(&mut self, id: u16) {
        let module = self.nic.module(id);
        let rows = Table::XdpMap.rows(&self.nic.device.capabilities().target);
        let row = (0..rows)
            .map(|row| XdpMapRow::unpack(&self.nic.device.read_row(Node::Xdp, Table::XdpMap, row).unwrap()).unwrap())
            .find(|row| row.valid && row.module_id == module && row.key_bytes == 4 && row.entries == CHAIN)
            .expect("the map's row");
        let spec = sluice_ebpf::tenant::plain_map(&MapSpec::new("keys", MapType::Hash, 4, 8, CHAIN));
        let shape = shape(&spec, &sluice_formats::xdp::target::TINY).expect("a hash map");
        let chain = |key: &u32| shape.chain(&key.to_le_bytes(), row.seed) == 0;
        let keys: Vec<u32> = (0..).filter(chain).take(CHAIN as usize + 1).collect();
        for key in &keys[1..] {
            self.write(id, "keys", *key, 7);
        }
        self.write(id, "which", 0, keys[0].into());
    }

    /// Sends packets of all tenants for so many cycles, of which the first `warm` do not count.
    pub fn run(&mut self, comes: &[Comes], warm: u64, cycles: u64) -> Vec<Seen> {
        let begin = self.nic.device.now();
        let window = begin + warm..begin + warm + cycles;
        let mut next = vec![begin; comes.len()];
        self.seen = vec![Seen::default(); comes.len()];
        self.offered = vec![0; comes.len()];
        while self.nic.device.now() < window.end {
            self.offer(comes, &mut next);
            self.nic.device.advance(100).unwrap_or_else(|e| panic!("{e}"));
            self.look(&window);
        }
        self.seen.clone()
    }

    fn offer(&mut self, comes: &[Comes], next: &mut [u64]) {
        let now = self.nic.device.now();
        let ports = self.nic.device.capabilities().target.ports;
        let (mut offers, does) = (Vec::new(), &self.does);
        for (tenant, comes) in comes.iter().enumerate() {
            let under_way = self.offered[tenant] - self.seen[tenant].ended;
            let offered = &mut self.offered[tenant];
            let mut packet = |at: u64| {
                let flow = *offered as u8 & 15;
                *offered += 1;
                let bytes = frame(tenant as u16 + 1, flow, does[tenant].length());
                offers.push(Offer { port: (tenant as u32 % ports) as u8, bytes, at, bad: false });
            };
            match comes {
                Comes::Waiting(wanted) => {
                    let missing = wanted.saturating_sub(under_way);
                    (0..missing).for_each(|_| packet(now));
                }
                Comes::Each(cycles) => {
                    // The device may have gone on for longer: what was missed does not come at once.
                    next[tenant] = next[tenant].max(now);
                    while next[tenant] < now + 100 {
                        packet(next[tenant]);
                        next[tenant] += cycles;
                    }
                }
            }
        }
        offers.sort_by_key(|offer| offer.at);
        self.nic.device.offer(&offers).unwrap_or_else(|e| panic!("{e}"));
    }

    fn look(&mut self, window: &std::ops::Range<u64>) {
        let modules: Vec<u8> = (1..=self.does.len() as u16).map(|id| self.nic.module(id)).collect();
        for outcome in self.nic.outcomes() {
            let tenant = modules.iter().position(|module| *module == outcome.module).expect("one of the tenants");
            let seen = &mut self.seen[tenant];
            seen.ended += 1;
            let end = outcome.last_out.expect("a device with cycles");
            match outcome.verdict {
                Verdict::Dropped { reason: Reason::XdpQueue, .. } => seen.lost += 1,
                _ if window.contains(&end) => {
                    seen.through += 1;
                    seen.longest = seen.longest.max(end - outcome.first_in.expect("it came"));
                }
                _ => {}
            }
        }
    }
}
