//! Program Warping on RTL under load: packets that wait for each other, and a table that is replaced while packets flow.

use crate::support;
use crate::xdp::device::Nic;
use crate::xdp::engine::{MODULE, open_tiny};
use crate::xdp::leaves::{hits, table_of, tagged};
use crate::xdp::pair::Pair;
use crate::xdp::together::in_flows;
use sluice_device::{Device, Event, Offer, Verdict};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, MapSpec, MapType, Program, tenant};
use sluice_formats::limits::packet_id;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Row;
use sluice_formats::target::TINY;
use sluice_formats::xdp::codes::XdpMapOp;
use sluice_formats::xdp::rows::{XdpProgramRow, XdpWarpLeafRow};
use sluice_formats::xdp::target::WARP_RULES;
use sluice_formats::{Reason, Table};
use sluice_hxdp::warp::bits::Seen;
use sluice_hxdp::warp::{Action, Leaf, Table as WarpTable};
use sluice_object::{Object, XdpShare};
use sluice_rtlsim::{RtlNic, RtlOptions, Variant, top};
use std::collections::BTreeMap;

/// A packet of a flow changes the flow's value. For the long kind the engine makes so many words of the stack before, for the other one none.
fn serial(words: u32) -> Image {
    let made: String = (1..=words)
        .map(|n| format!("r4 = *(u32 *)(r2 +{})\n*(u64 *)(r10 -{}) = r4\n", 12 + 4 * n, 8 + 8 * n))
        .collect();
    let summed: String =
        (1..=words).map(|n| format!("r4 = *(u64 *)(r10 -{})\nr6 += r4\nr6 *= 3\n", 8 + 8 * n)).collect();
    let text = format!(
        "r7 = r1\nr2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 64\nif r4 > r3 goto out\n\
         r5 = *(u8 *)(r2 +12)\nif w5 == 1 goto short\n{made}goto look\n\
         short:\ncall bpf_get_prandom_u32\n\
         look:\nr9 = *(u32 *)(r7 +0)\nr5 = *(u8 *)(r9 +13)\n*(u32 *)(r10 -4) = r5\nr2 = r10\nr2 += -4\nr1 = map[values]\n\
         call bpf_map_lookup_elem\nif r0 == 0 goto out\nr6 = 1\n{summed}r1 = *(u32 *)(r0 +0)\nr1 *= 5\nr1 += r6\n\
         *(u32 *)(r0 +0) = r1\n*(u32 *)(r9 +14) = r1\nr0 = 3\nexit\nout:\nr0 = 1\nexit\n"
    );
    let program = sluice_ebpf::insn::assemble("serial", &text, &["values"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let programs = vec![Program { section: "xdp".into(), ..program }];
    Image { programs, maps: vec![MapSpec::new("values", MapType::Hash, 4, 4, 16)], ..Image::default() }
}

/// Words of the long kind.
const WORDS: u32 = 12;

#[test]
fn packets_of_a_flow_get_contexts_in_their_order_whatever_is_made_for_them() {
    let Some((mut engine, mut rng)) = open_tiny("warp_in_order") else { return };
    let mut pair = Pair::warped(&mut engine, serial(WORDS)).expect("the engine has all of it");
    let row = XdpProgramRow::unpack(&engine.read(Table::XdpProgram, 2 * u32::from(MODULE))).unwrap();
    assert!(row.waits && !row.serial, "packets wait in their section: {row:?}");
    // For the short kind nothing is made.
    let table = pair.table.clone().expect("it is warped");
    let steps = |leaf: &Leaf| match &leaf.action {
        Action::Resume { entry, .. } => entry.steps(),
        _ => 0,
    };
    let leaf_of = |kind: u8| {
        let mut frame = [0; 64];
        frame[12] = kind;
        table.leaf(&Seen::new(&frame, Ingress::default())).expect("it has a leaf")
    };
    assert!(steps(&table.leaves[leaf_of(0)]) > WORDS as usize, "{:?}", table.leaves);
    let short = (2 * usize::from(MODULE) * WARP_RULES + leaf_of(1)) as u32;
    engine.write(Table::XdpWarpLeaf, short, &XdpWarpLeafRow::default());
    for key in 0..4u32 {
        pair.host(&mut engine, XdpMapOp::Update, 0, &key.to_le_bytes(), &rng.bytes(4), 0);
    }
    for round in 0..24 {
        // So many of the long kind, and behind them so many for which nothing is made.
        let (long, short) = (1 + round % 4, 6 + rng.index(8));
        let flows = 1 + round / 4 % 3;
        engine.stall([0, 0, 60][round % 3], 0);
        let mut sent = Vec::new();
        for number in 0..2 * (long + short) {
            let plain = number % (long + short) >= long;
            let flow = rng.index(flows) as u8;
            let mut frame = rng.bytes(64);
            frame[12..14].copy_from_slice(&[plain.into(), flow]);
            sent.push((flow, packet_id(0, number as u32), frame));
        }
        in_flows(&mut engine, &mut pair, &sent);
    }
}

/// What becomes of a packet: whether it goes back or to the host, and its bytes without the tag.
#[derive(Debug, PartialEq)]
enum Becomes {
    Dropped(Reason),
    On(Vec<u8>),
    Back(Vec<u8>),
}

/// A version of a program: its number says which bytes decide and which are used; each other one looks up.
#[derive(Clone, Copy)]
struct Version(u32);

impl Version {
    fn looks(self) -> bool {
        self.0 % 2 == 1
    }

    /// Values of the frame's byte 14 that are dropped and that pass, and where two numbers stand.
    fn places(self) -> (u32, u32, usize, usize) {
        let n = self.0;
        (n % 5, (n + 2) % 5, 16 + 4 * (n % 3) as usize, 30 + 2 * (n % 4) as usize)
    }

    /// The value of a key of its map: the last one is not there.
    fn value(self, key: u32) -> Option<u32> {
        (key < 3).then(|| (self.0 << 8) + key)
    }

    fn image(self) -> Image {
        let ((drop, pass, one, two), n) = (self.places(), self.0);
        let middle = match self.looks() {
            true => {
                "*(u32 *)(r10 -4) = r8\nr2 = r10\nr2 += -4\nr1 = map[kept]\ncall bpf_map_lookup_elem\nr8 = 77\n\
                     if r0 == 0 goto on\nr8 = *(u32 *)(r0 +0)\non:\n"
            }
            false => "again:\nr8 += -1\nif r8 s> 0 goto again\n",
        };
        let text = format!(
            "r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 40\nr0 = 1\nif r4 > r3 goto out\nr5 = *(u8 *)(r2 +14)\n\
             if w5 == {drop} goto out\nr0 = 2\nif w5 == {pass} goto out\nr6 = *(u32 *)(r2 +{one})\nr7 = *(u16 *)(r2 +{two})\n\
             r8 = *(u8 *)(r2 +15)\nr8 &= 3\nr9 = r2\n{middle}r6 += r7\nr6 ^= r8\n*(u32 *)(r9 +24) = r6\nr7 = {n}\n*(u32 *)(r9 +28) = r7\n\
             r0 = 3\nout:\nexit\n"
        );
        let program =
            sluice_ebpf::insn::assemble("version", &text, &["kept"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let programs = vec![Program { section: "xdp".into(), ..program }];
        let kept = MapSpec::new("kept", MapType::Hash, 4, 4, 8);
        Image { programs, maps: if self.looks() { vec![kept] } else { Vec::new() }, ..Image::default() }
    }

    fn object(self) -> Object {
        let entry = |key: u32| self.value(key).map(|value| format!("u32:{key} u32:{value}\n"));
        let entries: String = (0..4).filter_map(entry).collect();
        let files = if self.looks() { vec![("kept".to_owned(), entries)] } else { Vec::new() };
        let options = tenant::Options { files, ..tenant::Options::default() };
        tenant::object("version", &self.image(), &options).unwrap_or_else(|e| panic!("{e}"))
    }

    fn becomes(self, frame: &[u8]) -> Becomes {
        let (drop, pass, one, two) = self.places();
        match frame.get(14).map(|byte| u32::from(*byte)).filter(|_| frame.len() >= 40) {
            Some(byte) if byte == pass && byte != drop => return Becomes::On(frame.to_vec()),
            Some(byte) if byte != drop => {}
            _ => return Becomes::Dropped(Reason::XdpDrop),
        }
        let word = |at: usize| u32::from_le_bytes(frame[at..at + 4].try_into().unwrap());
        let key = u32::from(frame[15] & 3);
        let last = match self.looks() {
            true => self.value(key).unwrap_or(77),
            // It goes round once at least.
            false => {
                if key == 0 {
                    u32::MAX
                } else {
                    0
                }
            }
        };
        let mut left = frame.to_vec();
        let sum = word(one).wrapping_add(word(two) & 0xffff) ^ last;
        left[24..28].copy_from_slice(&sum.to_le_bytes());
        left[28..32].copy_from_slice(&self.0.to_le_bytes());
        Becomes::Back(left)
    }
}

/// A packet that has ended.
struct Ended {
    tenant: u16,
    frame: Vec<u8>,
    port: u8,
    generation: u8,
    becomes: Becomes,
    /// The version that ran when it was offered, and the last one that was under way when it was seen.
    between: [usize; 2],
}

/// Two tenants with packets one behind the other. The program of the first is replaced.
struct Load {
    nic: Nic<RtlNic>,
    rng: Rng,
    /// Versions of the first one's program that run, and that are loaded.
    runs: usize,
    last: usize,
    /// Packets that were offered: their tenant, their frame, and the version that ran.
    offered: BTreeMap<u32, (u16, Vec<u8>, usize)>,
    numbers: [u32; 4],
    /// By stamp.
    ended: BTreeMap<u64, Ended>,
}

/// Versions from here on are the other tenant's.
const OTHER: u32 = 0x00c0_ffee;
/// Packets that are under way.
const UNDER_WAY: usize = 60;

impl Load {
    /// Offers packets until so many are under way, goes on, and looks at those that have ended.
    fn flow(&mut self) -> Vec<Event> {
        let at = self.nic.device.now();
        let mut offers = Vec::new();
        while self.offered.len() < UNDER_WAY {
            let (tenant, port) = (1 + self.rng.index(2) as u16, self.rng.index(4));
            let length = [39, 40, 41, 64, 65, 90][self.rng.index(6)];
            let mut frame = self.rng.bytes(length);
            frame[14] = self.rng.index(8) as u8;
            offers.push(Offer { port: port as u8, bytes: tagged(tenant, &frame), at, bad: false });
            self.offered.insert((port as u32) << 28 | self.numbers[port], (tenant, frame, self.runs));
            self.numbers[port] += 1;
        }
        self.nic.device.offer(&offers).unwrap_or_else(|e| panic!("{e}"));
        self.nic.device.advance(100).unwrap_or_else(|e| panic!("{e}"));
        self.look()
    }

    /// Takes what has ended; gives all other events.
    fn look(&mut self) -> Vec<Event> {
        let mut others = Vec::new();
        let kept = std::mem::take(&mut self.nic.outcomes).into_iter().map(Event::Outcome);
        for event in kept.chain(self.nic.device.poll(usize::MAX)).collect::<Vec<_>>() {
            let Event::Outcome(outcome) = event else {
                others.push(event);
                continue;
            };
            let (tenant, frame, since) = self.offered.remove(&outcome.id).expect("it was offered, and ends once");
            let bytes = || [&outcome.bytes[..12], &outcome.bytes[16..]].concat();
            let becomes = match outcome.verdict {
                Verdict::Forwarded { port } if u32::from(port) == outcome.id >> 28 => Becomes::Back(bytes()),
                Verdict::Delivered { queue: 0 } => Becomes::On(outcome.bytes.clone()),
                Verdict::Dropped { reason, .. } => Becomes::Dropped(reason),
                verdict => panic!("packet {:#x} of tenant {tenant}: {verdict:?}", outcome.id),
            };
            let (port, generation) = ((outcome.id >> 28) as u8, outcome.generation.expect("a generation"));
            let ended = Ended { tenant, frame, port, generation, becomes, between: [since, self.last] };
            let stamp = outcome.stamp.expect("a stamp");
            assert!(self.ended.insert(stamp, ended).is_none(), "a packet a stamp");
        }
        others
    }

    /// Puts a version in the place of the one that runs, while packets flow.
    fn replace(&mut self) {
        let object = Version(self.last as u32 + 1).object();
        let load = self.nic.linker.replace(1, &object).unwrap_or_else(|e| panic!("{e}"));
        self.last += 1;
        let wanted = self.nic.device.submit(&load).unwrap_or_else(|e| panic!("{e}"));
        let (mut done, begin) = (false, self.nic.device.now());
        while !done {
            assert!(self.nic.device.now() - begin < 300_000, "version {} is not alone after so many cycles", self.last);
            for event in self.flow() {
                if let Event::OpDone { op, result } = event {
                    result.unwrap_or_else(|e| panic!("{e}"));
                    done |= op == wanted;
                }
            }
        }
        self.runs = self.last;
    }
}

#[test]
fn a_replacement_under_load_changes_leaves_between_two_packets() {
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return;
    }
    let seed = test_seed("a_replacement_under_load_changes_leaves_between_two_packets");
    let options = RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() };
    let device = RtlNic::open(TINY.name, options).unwrap_or_else(|e| panic!("{e}"));
    let share = XdpShare { weight: 16, rows: 240, ..XdpShare::default() };
    let mut nic = Nic::of(device, 2, |spec| spec.xdp_share = Some(share));
    nic.put(1, &Version(0).object()).unwrap_or_else(|e| panic!("{e}"));
    nic.put(2, &Version(OTHER).object()).unwrap_or_else(|e| panic!("{e}"));
    let mut load = Load {
        nic,
        rng: Rng::new(seed),
        runs: 0,
        last: 0,
        offered: BTreeMap::new(),
        numbers: [0; 4],
        ended: BTreeMap::new(),
    };
    let rows = |load: &Load, id| load.nic.linker.warp_hits(id).expect("a tenant");
    let generation = |load: &Load| load.nic.linker.generation(1).expect("a tenant");
    let (mut generations, mut counted) = (vec![generation(&load)], Vec::new());
    for _ in 0..if support::long() { 500 } else { 20 } {
        for _ in 0..load.rng.index(8) {
            load.flow();
        }
        // Those of the version before are the last ones when the new one runs.
        let before = rows(&load, 1);
        load.replace();
        counted.push(hits(&mut load.nic, &before));
        generations.push(generation(&load));
    }
    (0..8).for_each(|_| drop(load.flow()));
    load.nic.device.quiesce().unwrap();
    load.look();
    assert!(load.offered.is_empty(), "packets are lost");
    let (last, others) = (rows(&load, 1), rows(&load, 2));
    counted.push(hits(&mut load.nic, &last));

    let tables: Vec<WarpTable> = (0..=load.last as u32).map(|n| table_of(&Version(n).image(), &TINY).0).collect();
    let other = table_of(&Version(OTHER).image(), &TINY).0;
    let mut wanted: Vec<Vec<u64>> = tables.iter().map(|table| vec![0; table.leaves.len()]).collect();
    let mut wanted_of_other = vec![0; other.leaves.len()];
    // In the order in which they came to the pipeline versions only go on.
    let (mut version, mut packets) = (0, vec![0; tables.len()]);
    for (stamp, ended) in &load.ended {
        let Ended { tenant, frame, port, generation, becomes, between } = ended;
        let (table, hits) = match tenant {
            1 => {
                let is = |n: &usize| generations[*n] == *generation && Version(*n as u32).becomes(frame) == *becomes;
                let found = (version.max(between[0])..=between[1]).find(is);
                let wrong = || {
                    panic!(
                        "stamp {stamp}, generation {generation}: {becomes:x?} of {frame:x?}, behind version {version}, of {between:?}"
                    )
                };
                version = found.unwrap_or_else(wrong);
                packets[version] += 1;
                (&tables[version], &mut wanted[version])
            }
            _ => {
                assert_eq!(*becomes, Version(OTHER).becomes(frame), "the other tenant's {frame:x?}");
                (&other, &mut wanted_of_other)
            }
        };
        let leaf = table.leaf(&Seen::new(frame, Ingress { ifindex: u32::from(*port) + 1, queue: 0 }));
        if let Some(leaf) = leaf.filter(|leaf| table.leaves[*leaf].action != Action::Plain) {
            hits[leaf] += 1;
        }
    }
    println!("{} packets, of versions {packets:?}", load.ended.len());
    assert!(packets.iter().all(|packets| *packets > 20), "{packets:?}");
    assert_eq!(counted, wanted, "packets of leaves, by version");
    assert_eq!(hits(&mut load.nic, &others), wanted_of_other, "of the other tenant");
}
