//! The measured tenant: what he sends, and all that may be seen of it.

use super::bound::{self, Bucket, Share};
use super::field::{Field, tagged};
use super::programs::{self, FLOW_AT, FLOWS, GROWTH, STAGE};
use sluice_device::{ModuleCounters, Outcome, Verdict};
use sluice_formats::random::Rng;
use sluice_formats::rmt::rows::{KeyRow, PageRow};
use sluice_formats::rmt::target::{MODULE_PAGES, PAGE_WORDS};
use sluice_formats::row::Row;
use sluice_formats::xdp::target::{FRAME_ROW, UNIT_ROWS};
use sluice_formats::{Node, Reason, Table, Target};
use sluice_object::{Destination, Object, Rate, TenantSpec, VlanGrant, XdpShare};
use std::collections::BTreeMap;

/// His ID, his VLAN, and the only port where he has it.
pub const ID: u16 = 1;
pub const VLAN: u16 = 100;
pub const PORT: u8 = 0;
/// KiB of packet memory with each context that he owns; his frames are short then.
const BAY: u8 = 1;
/// Bytes of a frame that such a bay holds, behind stack and headroom.
pub const BAY_HOLDS: u64 = (BAY as usize * UNIT_ROWS - FRAME_ROW) as u64 * 64;
/// Entries of his table, and its default.
const NUMBERS: u32 = FLOWS as u32 + 1;

/// Which engine he uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The pipeline: tables, state, copies.
    Rmt,
    /// An XDP program with a map.
    Xdp,
    /// Rules of message dispatch; his first destination is the queue in front of it.
    L7,
}

impl Kind {
    /// Ticks between two of his packets, at least: what the engine's share lets through, whoever else wants it.
    fn apart(self) -> u64 {
        if self == Self::Rmt { 0 } else { 400 }
    }

    /// Which of his destinations get packets of a flow.
    pub fn ways(self, flow: u16) -> &'static [usize] {
        match (self, flow) {
            (_, 0) => &[0],
            (Self::Rmt, 1) => &[1],
            (Self::Rmt, 2) => &[0, 1],
            (Self::Xdp | Self::L7, 1 | 2) => &[0],
            _ => &[],
        }
    }
}

/// What he is given.
#[derive(Clone, Debug)]
pub struct Grant {
    pub kind: Kind,
    pub destinations: [Destination; 2],
    pub cells: [u16; 2],
    pub quantum: u16,
    /// A share of his port that is reserved for him; none is an even part.
    pub share: Option<Rate>,
    /// Contexts of the XDP cores that he owns.
    pub contexts: u8,
}

impl Grant {
    /// What the linker is asked for, and his program.
    pub fn spec(&self, target: &Target) -> (TenantSpec, Object) {
        let object = match self.kind {
            Kind::Rmt => programs::measured(self.destinations, target),
            Kind::Xdp => programs::counting(self.destinations[0]),
            Kind::L7 => programs::rules(target),
        };
        let mut spec = TenantSpec::new(ID, "measured");
        spec.vlans = vec![VlanGrant { port: Some(PORT), vlan: VLAN }];
        spec.quantum = self.quantum;
        spec.share = self.share;
        spec.queues = self.destinations.into_iter().zip(self.cells).collect();
        spec.make_room(&object);
        spec.xdp_growth = Some(0);
        if self.kind == Kind::Xdp {
            spec.xdp_share = Some(XdpShare { rows: 100, contexts: self.contexts, memory: BAY, ..XdpShare::default() });
        }
        if let Some(given) = &mut spec.l7 {
            (given.packets, given.beats) = (8, 64);
        }
        (spec, object)
    }
}

/// One of his frames, as it arrives.
#[derive(Clone, Debug)]
pub struct Sent {
    /// Tick of its first beat, from the first one that is offered.
    pub at: u64,
    pub flow: u16,
    pub bytes: Vec<u8>,
}

/// What he may send to his destinations.
#[derive(Clone, Copy, Debug)]
pub struct Queues {
    /// Bytes of his longest packet of all, as it comes: what fits into a bay, if he owns contexts.
    pub most: u64,
    /// Bytes of the longest packet, as it leaves.
    pub longest: u64,
    /// The share of each, in packets; none where not one is sure to find room.
    pub shares: [Option<Share>; 2],
}

/// Frames for so many ticks, all within the share of the port; half of the time as many as that allows. What is beyond the shares of his
/// destinations his program drops.
pub fn schedule(rng: &mut Rng, target: &Target, kind: Kind, share: Share, queues: Queues, ticks: u64) -> Vec<Sent> {
    let (mut bucket, mut queue) = (Bucket::new(share), queues.shares.map(|share| share.map(Bucket::new)));
    let (mut sent, mut free_at) = (Vec::new(), 0);
    // No more than half of a burst, where that holds a short frame.
    let shortest = bound::cost(target, 60, GROWTH);
    let longest = (share.burst_beats() / 2).max(shortest) * u64::from(target.bus_bytes) - u64::from(GROWTH);
    while free_at < ticks {
        let number = sent.len() as u32;
        let drawn =
            if rng.chance(3, 4) { rng.range(60, 130) } else { rng.range(60, 700) }.min(longest).min(queues.most);
        // Messages have a length of their own.
        let length = if kind == Kind::L7 { programs::message(number, 0).len() as u64 } else { drawn };
        let beats = u64::from(target.beats(length as u32 + 4));
        let cost = bound::cost(target, length as u32, GROWTH);
        let pause = if rng.chance(1, 12) { rng.below((40 * share.ticks_each) >> bound::FRACTION) } else { 0 };
        // It is judged with its last beat.
        let end = bucket.earliest(free_at + pause + beats, cost);
        bucket.take(end, cost);
        let fits = |flow: &u16| {
            let has_room = |n: &usize| queue[*n].as_ref().is_some_and(|queue| queue.conforms(end, 1));
            length + u64::from(GROWTH) <= queues.longest && kind.ways(*flow).iter().all(has_room)
        };
        // To one destination where both, or the other one, take no more.
        let flow = rng.below(u64::from(FLOWS) + 1) as u16;
        let flow = if flow < 3 { [flow, 0, 1].into_iter().find(fits).unwrap_or(3 + (end % 2) as u16) } else { flow };
        for n in kind.ways(flow) {
            queue[*n].as_mut().expect("it has room").take(end, 1);
        }
        let bytes = match kind {
            Kind::L7 => programs::message(number, flow),
            Kind::Rmt | Kind::Xdp => {
                let mut bytes = rng.bytes(length as usize);
                bytes[12..14].copy_from_slice(&[0x12, 0x34]);
                bytes[FLOW_AT..FLOW_AT + 2].copy_from_slice(&flow.to_be_bytes());
                bytes
            }
        };
        sent.push(Sent { at: end - beats, flow, bytes: tagged(VLAN, bytes) });
        free_at = end + kind.apart();
    }
    sent
}

/// A copy of a packet, or why there is none; times are not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    pub verdict: Verdict,
    pub queue: u8,
    pub tag: u16,
    pub bytes: Vec<u8>,
}

/// All that he and the host may see of his packets.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Copies of each packet, by destination.
    pub packets: Vec<Vec<Copy>>,
    /// Packets in the order in which they left each destination.
    pub order: BTreeMap<u8, Vec<usize>>,
    pub counters: ModuleCounters,
    /// Of the pipeline, or the values of a map.
    pub words: Vec<u32>,
    pub hits: Vec<u64>,
    /// Tick of each packet's first beat, from the first that was offered.
    pub arrivals: Vec<u64>,
    /// Most cycles from a last beat in to the entry into the pipeline, and to the first beat out for each destination.
    pub waited: u64,
    pub latency: BTreeMap<u8, u64>,
    /// Median of the latter.
    pub median: u64,
}

/// Takes down what happens to his packets.
pub struct Record {
    module: u8,
    kind: Kind,
    target: &'static Target,
    begin: u64,
    hits_before: Vec<u64>,
    /// Number and beats of each packet by its ID.
    numbers: BTreeMap<u32, (usize, u64)>,
    latencies: Vec<u64>,
    seen: Seen,
}

impl Record {
    /// Packets arrive from so many ticks from now on.
    pub fn new(field: &mut Field, kind: Kind, rest: u64) -> Self {
        let module = field.linker.tenant(ID).expect("he is in").module;
        let hits_before = if kind == Kind::Rmt { hits(field, module) } else { Vec::new() };
        let begin = field.nic.now() + rest;
        Self {
            module,
            kind,
            target: field.target,
            begin,
            hits_before,
            numbers: BTreeMap::new(),
            latencies: Vec::new(),
            seen: Seen::default(),
        }
    }

    /// Tick from which on packets arrive.
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// A packet of his is offered.
    pub fn sends(&mut self, id: u32, sent: &Sent) {
        let beats = u64::from(self.target.beats(sent.bytes.len() as u32));
        self.numbers.insert(id, (self.seen.packets.len(), beats));
        self.seen.packets.push(Vec::new());
        self.seen.arrivals.push(u64::MAX);
    }

    /// Something happened to a packet, his or another's.
    pub fn sees(&mut self, outcome: &Outcome) {
        let Some(&(number, beats)) = self.numbers.get(&outcome.id) else {
            return assert_ne!(outcome.module, self.module, "a packet of another is his: {outcome:?}");
        };
        assert_eq!(outcome.module, self.module, "a packet of his is another's: {outcome:?}");
        assert!(outcome.tenant.is_none_or(|tenant| tenant == ID), "{outcome:?}");
        let Outcome { verdict, queue, tag, .. } = *outcome;
        self.seen.packets[number].push(Copy { verdict, queue, tag, bytes: outcome.bytes.clone() });
        let destination = match verdict {
            Verdict::Forwarded { port } => port,
            Verdict::Delivered { queue } => self.target.ports as u8 + queue,
            Verdict::Consumed { .. } | Verdict::Dropped { .. } => {
                return self.seen.arrivals[number] = self.arrival(outcome);
            }
        };
        self.seen.order.entry(destination).or_default().push(number);
        self.seen.arrivals[number] = self.arrival(outcome);
        let last_in = self.begin + self.seen.arrivals[number] + beats - 1;
        let (stamp, out) = (outcome.stamp.expect("it was stamped"), outcome.first_out.expect("it left"));
        self.seen.waited = self.seen.waited.max(stamp.saturating_sub(last_in));
        let latency = out.saturating_sub(last_in);
        let most = self.seen.latency.entry(destination).or_default();
        *most = latency.max(*most);
        self.latencies.push(latency);
    }

    fn arrival(&self, outcome: &Outcome) -> u64 {
        outcome.first_in.map_or(u64::MAX, |tick| tick - self.begin)
    }

    /// Everything has ended.
    pub fn end(mut self, field: &mut Field) -> Seen {
        let counters = field.nic.counters().unwrap_or_else(|e| panic!("{e}"));
        assert!(counters.modules.values().all(|m| m.closes() && m.in_flight == 0), "{counters:?}");
        self.seen.counters = counters.modules.get(&self.module).cloned().unwrap_or_default();
        if self.kind == Kind::Rmt {
            let after = hits(field, self.module);
            self.seen.hits = after.iter().zip(&self.hits_before).map(|(after, before)| after - before).collect();
        }
        self.seen.words = match self.kind {
            Kind::Rmt => words(field, self.module),
            Kind::Xdp => counts(field, self.module),
            Kind::L7 => Vec::new(),
        };
        for copies in &mut self.seen.packets {
            copies.sort_by_key(|copy| match copy.verdict {
                Verdict::Forwarded { port } => (0, port),
                Verdict::Delivered { queue } => (1, queue),
                Verdict::Dropped { destination, .. } => (2, destination.unwrap_or(u8::MAX)),
                Verdict::Consumed { ring } => (3, ring),
            });
        }
        self.latencies.sort_unstable();
        self.seen.median = self.latencies.get(self.latencies.len() / 2).copied().unwrap_or(0);
        self.seen
    }
}

fn read(field: &mut Field, table: Table, index: u32) -> Vec<u32> {
    field.nic.read_row(Node::Stage(STAGE), table, index).unwrap_or_else(|e| panic!("{e}"))
}

fn bank(field: &Field, module: u8) -> u32 {
    2 * u32::from(module) + u32::from(field.linker.generation(ID).expect("he is in"))
}

/// Packets that met each of his entries, and the default.
fn hits(field: &mut Field, module: u8) -> Vec<u64> {
    let bank = bank(field, module);
    let key = KeyRow::unpack(&read(field, Table::Key, bank)).expect("a key row");
    let value = |words: Vec<u32>| u64::from(words[0]) | u64::from(words[1]) << 32;
    (0..NUMBERS).map(|n| value(read(field, Table::Hits, u32::from(key.hits_base) + n))).collect()
}

/// His state words.
fn words(field: &mut Field, module: u8) -> Vec<u32> {
    let bank = bank(field, module);
    let page = PageRow::unpack(&read(field, Table::Page, MODULE_PAGES as u32 * bank)).expect("a page row");
    assert!(page.valid, "he has a page");
    let first = PAGE_WORDS as u32 * u32::from(page.page);
    (first..first + PAGE_WORDS as u32).map(|word| read(field, Table::StateWord, word)[0]).collect()
}

/// Values of the XDP program's array.
fn counts(field: &mut Field, module: u8) -> Vec<u32> {
    let maps = field.nic.maps().unwrap_or_else(|e| panic!("{e}"));
    let map = maps.list(module).unwrap_or_else(|e| panic!("{e}"))[0].id;
    let value = |key: u32| maps.lookup(module, map, &key.to_le_bytes()).unwrap_or_else(|e| panic!("{e}"));
    (0..u32::from(FLOWS) + 1).map(value).map(|value| u32::from_le_bytes(value[..4].try_into().unwrap())).collect()
}

/// What was different beside hostile tenants.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// Packets of his lost where load drops them.
    pub lost: BTreeMap<Reason, u64>,
    /// Packets with other bytes, another verdict, or none.
    pub changed: u64,
    /// Whatever else, and the first packet, in words.
    pub others: Vec<String>,
}

/// Compares two runs of the same packets.
pub fn differences(alone: &Seen, beside: &Seen) -> Differences {
    let mut found = Differences::default();
    let mut note = |what: String| {
        if found.others.len() < 4 {
            found.others.push(what);
        }
    };
    for (number, (expected, copies)) in alone.packets.iter().zip(&beside.packets).enumerate() {
        if expected == copies {
            continue;
        }
        found.changed += 1;
        for copy in copies {
            if let Verdict::Dropped { reason, .. } = copy.verdict
                && reason.is_loss()
            {
                *found.lost.entry(reason).or_default() += 1;
            }
        }
        note(format!("packet {number}: {expected:02x?} alone, {copies:02x?} beside"));
    }
    for (what, same) in [
        ("packets", alone.packets.len() == beside.packets.len()),
        ("arrivals", alone.arrivals == beside.arrivals),
        ("order", alone.order == beside.order),
        ("state words", alone.words == beside.words),
        ("hits", alone.hits == beside.hits),
    ] {
        if !same {
            note(format!("{what} differ"));
        }
    }
    if alone.counters != beside.counters {
        note(format!("counters: {:?} alone, {:?} beside", alone.counters, beside.counters));
    }
    found
}

/// Whether load drops packets with this reason.
trait Loss {
    fn is_loss(&self) -> bool;
}

impl Loss for Reason {
    fn is_loss(&self) -> bool {
        let name = self.name();
        ["overload", "over_share", "tail_limit", "tail_packets", "tail_buffer", "xdp_queue"].contains(&name)
            || ["l7_no_buffer", "l7_no_state"].contains(&name)
    }
}
