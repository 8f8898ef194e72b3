//! Random packets aimed at a program: what its scripts send, in their order and out of it, with
//! fields exchanged, cut short, made long and damaged; and entries that user space changes.

use super::steps::Step;
use sluice_ebpf::kernel::{MAX_FRAME, MAX_METADATA, MIN_FRAME, QUEUES};
use sluice_formats::random::Rng;
use sluice_packet::generate::Malformation;
use sluice_packet::layers::{Content, Layer, LayerKind, PacketSpec, dissect};
use std::collections::BTreeMap;

/// What comes next.
pub enum Next {
    /// A packet, with metadata in front of it.
    Packet { ifindex: u32, queue: u32, metadata: Vec<u8>, frame: Vec<u8>, kind: Kind },
    /// A step of user space.
    User(Step),
}

/// How a packet was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// As a script sends it, in its order.
    Script,
    /// A script's packet with fields exchanged: well formed.
    Exchanged,
    /// Cut somewhere.
    Truncated,
    /// Bytes behind it that no header knows of.
    Extended,
    /// Bytes damaged.
    Mutated,
    /// One of the packets a NIC must survive.
    Malformed,
    /// Nothing but random bytes.
    Noise,
}

/// Packets without end.
pub struct Traffic {
    rng: Rng,
    scripts: Vec<Vec<Step>>,
    templates: Vec<(u32, PacketSpec)>,
    /// Values of fields in the scripts' packets, by what the field is.
    values: BTreeMap<(&'static str, &'static str), Vec<u128>>,
    sets: Vec<Step>,
    /// Script and step that come next.
    at: (usize, usize),
    interfaces: u32,
    fed: bool,
    now: u64,
    changed: bool,
    /// The packet before, and where it came from.
    last: (u32, Vec<u8>),
}

/// Fields that mean the same share their values.
fn meaning(kind: LayerKind, field: &'static str) -> (&'static str, &'static str) {
    match (kind, field) {
        (LayerKind::Tcp | LayerKind::Udp, "sport" | "dport") => ("transport", "port"),
        (_, "src" | "dst") => (kind.name(), "address"),
        _ => (kind.name(), field),
    }
}

impl Traffic {
    /// Packets for a program with these scripts; `fed` says that its time comes from a map.
    pub fn new(scripts: Vec<Vec<Step>>, interfaces: u32, fed: bool, rng: Rng) -> Self {
        let mut templates = Vec::new();
        let mut values: BTreeMap<_, Vec<u128>> = BTreeMap::new();
        let mut sets = Vec::new();
        for step in scripts.iter().flatten() {
            match step {
                Step::Packet { ifindex, frame } => {
                    let spec = dissect(frame);
                    for layer in &spec.layers {
                        for (name, value) in &layer.fields {
                            values.entry(meaning(layer.kind, name)).or_default().push(*value);
                        }
                    }
                    templates.push((*ifindex, spec));
                }
                Step::Set { .. } => sets.push(step.clone()),
                _ => {}
            }
        }
        assert!(!templates.is_empty(), "a program without a packet in its scripts");
        let scripts = scripts.into_iter().filter(|s| !s.is_empty()).collect();
        Self {
            rng,
            scripts,
            templates,
            values,
            sets,
            at: (0, 0),
            interfaces,
            fed,
            now: 1 << 40,
            changed: false,
            last: (1, vec![0; MIN_FRAME]),
        }
    }

    /// The next packet or change.
    pub fn next(&mut self) -> Next {
        if !self.changed && self.rng.chance(1, 12) {
            self.changed = true;
            if let Some(step) = self.change() {
                return Next::User(step);
            }
        }
        self.changed = false;
        let kind = match self.rng.below(100) {
            0..40 => Kind::Script,
            40..72 => Kind::Exchanged,
            72..80 => Kind::Truncated,
            80..85 => Kind::Extended,
            85..94 => Kind::Mutated,
            94..98 => Kind::Malformed,
            _ => Kind::Noise,
        };
        let (mut ifindex, mut frame) = match kind {
            Kind::Script => match self.scripted() {
                Step::Packet { ifindex, frame } => (ifindex, frame),
                user => return Next::User(user),
            },
            Kind::Noise => (1, self.noise()),
            Kind::Malformed => {
                let way = Malformation::ALL[self.rng.index(Malformation::ALL.len())];
                let vlan = self.rng.chance(1, 4).then(|| self.rng.below(4096) as u16);
                (self.any_interface(), way.packet(vlan, &mut self.rng))
            }
            _ if self.rng.chance(1, 5) => self.answer(),
            _ => self.exchanged(),
        };
        if matches!(kind, Kind::Script | Kind::Exchanged) {
            self.last = (ifindex, frame.clone());
        }
        match kind {
            Kind::Truncated => {
                let keep = MIN_FRAME + self.rng.index(frame.len().saturating_sub(MIN_FRAME) + 1);
                frame.truncate(keep);
            }
            Kind::Extended => {
                let room = MAX_FRAME.saturating_sub(frame.len());
                let more = if self.rng.chance(1, 3) { room } else { self.rng.index(room + 1) };
                let more = self.rng.bytes(more);
                frame.extend(more);
            }
            Kind::Mutated => {
                for _ in 0..1 + self.rng.index(6) {
                    let reach = if self.rng.chance(3, 4) { frame.len().min(80) } else { frame.len() };
                    let at = self.rng.index(reach);
                    frame[at] = match self.rng.below(3) {
                        0 => frame[at] ^ 1 << self.rng.below(8),
                        1 => self.rng.next_u32() as u8,
                        _ => [0, 1, 0x45, 0x60, 0xff, 17][self.rng.index(6)],
                    };
                }
            }
            _ => {}
        }
        if kind != Kind::Script && self.rng.chance(1, 8) {
            ifindex = self.any_interface();
        }
        let queue = if ifindex > 1 && self.rng.chance(1, 4) { self.rng.below(QUEUES.into()) as u32 } else { 0 };
        let metadata = match self.rng.below(40) {
            0 => 4 + 4 * self.rng.index(8),
            1 => 4 + 4 * self.rng.index(MAX_METADATA / 4),
            _ => 0,
        };
        frame.truncate(MAX_FRAME - metadata);
        if frame.len() < MIN_FRAME {
            frame.resize(MIN_FRAME, 0);
        }
        Next::Packet { ifindex, queue, metadata: self.rng.bytes(metadata), frame, kind }
    }

    fn any_interface(&mut self) -> u32 {
        1 + self.rng.below(self.interfaces.into()) as u32
    }

    /// The step that follows in a script, which now and then is another one.
    fn scripted(&mut self) -> Step {
        loop {
            let (script, at) = self.at;
            let ended = at >= self.scripts[script].len();
            if ended || self.rng.chance(1, 60) {
                let script = self.rng.index(self.scripts.len());
                // Mostly from the beginning, which sets the maps that what follows needs.
                let at = if self.rng.chance(2, 3) { 0 } else { self.rng.index(self.scripts[script].len()) };
                self.at = (script, at);
                continue;
            }
            self.at.1 += 1;
            let step = self.scripts[script][at].clone();
            if matches!(step, Step::Load(_)) {
                return Step::Restore;
            }
            if matches!(step, Step::Packet { .. } | Step::Set { .. } | Step::Delete { .. }) {
                return step;
            }
        }
    }

    /// User space sets or deletes what a script sets, or lets time pass.
    fn change(&mut self) -> Option<Step> {
        if self.fed && self.rng.chance(1, 2) {
            let step = match self.rng.below(8) {
                0 => 3_600_000_000_000,
                1..4 => 10_000_000_000,
                _ => 100_000_000,
            };
            self.now += self.rng.below(step);
            // Few different ones, so that what is chosen at random is often chosen twice.
            let random = if self.rng.chance(2, 3) { self.rng.below(4) as u32 } else { self.rng.next_u32() };
            let random = random.to_le_bytes();
            let cpu = (self.rng.below(4) as u32).to_le_bytes();
            let value = [&self.now.to_le_bytes()[..], &random, &cpu].concat();
            return Some(Step::Set { map: "fed".into(), key: vec![0; 4], value, inner: None, flags: 0 });
        }
        let step = self.rng.choose(&self.sets)?.clone();
        match &step {
            Step::Set { map, key, .. } if map != "fed" && self.rng.chance(1, 10) => {
                Some(Step::Delete { map: map.clone(), key: key.clone() })
            }
            _ => Some(step),
        }
    }

    fn noise(&mut self) -> Vec<u8> {
        let length = match self.rng.below(4) {
            0 => MIN_FRAME + self.rng.index(4),
            1 => MAX_FRAME - self.rng.index(2),
            _ => self.rng.range(MIN_FRAME as u64, MAX_FRAME as u64) as usize,
        };
        self.rng.bytes(length)
    }

    /// An answer to the packet before: addresses and ports exchanged, other flags of TCP, from
    /// another interface more often than not.
    fn answer(&mut self) -> (u32, Vec<u8>) {
        let (from, mut frame) = self.last.clone();
        let ifindex = if self.rng.chance(4, 5) { from ^ 3 } else { from }.clamp(1, self.interfaces);
        let mut swap = |a: usize, b: usize, bytes: usize| {
            if frame.len() >= b + bytes {
                (0..bytes).for_each(|n| frame.swap(a + n, b + n));
            }
        };
        swap(0, 6, 6);
        let kind = self.last.1.get(12..16).unwrap_or_default();
        let (protocol, transport) = match kind {
            [8, 0, head, _] => {
                swap(26, 30, 4);
                (23, 14 + 4 * usize::from(head & 15))
            }
            [0x86, 0xdd, ..] => {
                swap(22, 38, 16);
                (20, 54)
            }
            _ => return (ifindex, frame),
        };
        let protocol = self.last.1.get(protocol).copied().unwrap_or_default();
        if protocol == 6 || protocol == 17 {
            swap(transport, transport + 2, 2);
        }
        if protocol == 6 && frame.len() > transport + 13 {
            frame[transport + 13] = [0x02, 0x12, 0x10, 0x11, 0x14, 0x04][self.rng.index(6)];
        }
        (ifindex, frame)
    }

    /// Tags behind Ethernet, extension headers behind IPv6, options in IPv4: none, one or several.
    fn insert(&mut self, spec: &mut PacketSpec) {
        let (kind, choices, most): (_, &[LayerKind], _) = match self.rng.below(10) {
            0 => (LayerKind::Eth, &[LayerKind::Vlan, LayerKind::ServiceVlan], 3),
            1 | 2 => (LayerKind::Ipv6, &[LayerKind::HopByHop, LayerKind::Destination, LayerKind::Fragment], 8),
            3 => {
                let words = self.rng.index(11);
                let options = self.rng.bytes(4 * words);
                if let Some(ip) = spec.layers.iter_mut().find(|l| l.kind == LayerKind::Ipv4) {
                    ip.options = Some(options);
                }
                return;
            }
            _ => return,
        };
        let Some(at) = spec.layers.iter().position(|l| l.kind == kind) else { return };
        // The number of what follows is filled in anew.
        spec.layers[at].fields.retain(|f| !["type", "next"].contains(&f.0));
        let count = 1 + self.rng.index(most);
        for _ in 0..count {
            let mut layer = Layer::new(choices[self.rng.index(choices.len())]);
            if layer.kind == LayerKind::Fragment && self.rng.chance(2, 3) {
                layer.fields.push(("off", u128::from(self.rng.below(3) * 100)));
            }
            spec.layers.insert(at + 1, layer);
        }
    }

    /// A script's packet with up to three fields exchanged, and sometimes another payload.
    fn exchanged(&mut self) -> (u32, Vec<u8>) {
        let (ifindex, template) = self.templates[self.rng.index(self.templates.len())].clone();
        let mut spec = template.clone();
        for _ in 0..self.rng.index(4) {
            let at = self.rng.index(spec.layers.len());
            let layer = &mut spec.layers[at];
            let Some(header) = layer.kind.header() else { continue };
            let field = &header.fields[self.rng.index(header.fields.len())];
            let value = match (self.values.get(&meaning(layer.kind, field.name)), self.rng.below(10)) {
                (Some(seen), 0..7) => seen[self.rng.index(seen.len())],
                (_, 7) => 0,
                (_, 8) => field.max(),
                _ => u128::from(self.rng.next_u64()) << 64 | u128::from(self.rng.next_u64()),
            };
            layer.fields.retain(|f| f.0 != field.name);
            layer.fields.push((field.name, value & field.max()));
        }
        self.insert(&mut spec);
        if self.rng.chance(1, 5) {
            spec.layers.retain(|l| l.kind != LayerKind::Payload);
            let length = if self.rng.chance(1, 4) { self.rng.index(3400) } else { self.rng.index(200) };
            let bytes = self.rng.bytes(length);
            spec.layers.push(Layer::plain(LayerKind::Payload, Content::Bytes(bytes)));
        }
        let frame = spec.build().or_else(|_| template.build()).unwrap_or_default();
        (ifindex, frame)
    }
}
