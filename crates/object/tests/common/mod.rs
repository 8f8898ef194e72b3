//! A device of tables only, and the lookup of a lowered table as docs/design/rmt.md writes it.

pub mod met;
pub mod rmt;

use sluice_formats::hash::crc32c;
use sluice_formats::random::Rng;
use sluice_formats::rmt::rows::{ActionRow, DataRow, ExactRow, KeyRow, SelectRow};
use sluice_formats::{Node, Row, Table, Target};
use sluice_object::linker::spaces::{Region, Slot};
use sluice_object::{
    Action, Destination, KeyBytes, KeyKind, KeySpec, Linker, Load, Object, Step, TenantSpec, VlanGrant, lower,
};
use std::collections::BTreeMap;

/// The stage of lowered tables on both targets.
pub const STAGE: u8 = 1;

/// Rows by address; what was never written is zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rows {
    pub target: &'static Target,
    pub rows: BTreeMap<(Node, Table, u32), Vec<u32>>,
}

impl Rows {
    pub fn new(target: &'static Target) -> Self {
        Self { target, rows: BTreeMap::new() }
    }

    pub fn write(&mut self, step: &Step) {
        if let Step::Write { node, table, index, words } = step {
            self.rows.insert((*node, *table, *index), words.clone());
        }
    }

    pub fn row<R: Row>(&self, node: Node, table: Table, index: u32) -> R {
        let zero = vec![0; R::words()];
        R::unpack(self.rows.get(&(node, table, index)).unwrap_or(&zero)).unwrap()
    }

    pub fn layout<L: Row>(&self, node: Node, table: Table, index: u32) -> L {
        self.rows.get(&(node, table, index)).map_or(L::default(), |words| L::unpack(words).unwrap())
    }

    /// The whole load at once.
    pub fn run(&mut self, load: &Load) {
        load.steps.iter().for_each(|s| self.write(s));
    }

    /// Action of a packet whose key, unmasked, is this one of this kind: rmt.md, "Match", line by line.
    pub fn lookup(&self, module: u8, generation: u8, kind: KeyKind, packet: &KeyBytes) -> Found {
        let bank = 2 * u32::from(module) + u32::from(generation);
        let first: SelectRow = self.layout(Node::Parser, Table::First, bank);
        if !first.valid {
            return Found::NoModule;
        }
        // Of a table's program one stage looks at something.
        let is_its = |node: &Node| self.layout::<KeyRow>(*node, Table::Key, bank) != KeyRow::default();
        let node = (0..self.target.rmt.stages as u8).map(Node::Stage).find(is_its).unwrap_or(Node::Stage(STAGE));
        let spec: KeyRow = self.layout(node, Table::Key, bank);
        let (sets, exact) = (self.target.rmt.sets() as u32, self.target.rmt.exact as u32);
        let data = |index| lower::action_of(&self.layout::<DataRow>(node, Table::Data, index).data, self.target);
        let own = |action: u16| self.layout::<ActionRow>(node, Table::Action, action.into()).owner == module;
        let mut key = lower::key_bits(&KeySpec::whole(kind), packet);
        key.0.iter_mut().zip(spec.mask.0).for_each(|(byte, mask)| *byte &= mask);
        let c = crc32c(&key.0);
        let h = c ^ (c.rotate_left(7) & c.rotate_left(18)) ^ (c.rotate_left(13) & c.rotate_left(29));
        let set0 = u32::from(spec.set_base) | ((h & 0xffff) & ((1 << spec.set_bits) - 1));
        let set1 = u32::from(spec.set_base) | ((h >> 16) & ((1 << spec.set_bits) - 1));
        for (way, set) in [(0, set0), (1, set0), (2, set1), (3, set1)] {
            let entry: ExactRow = self.layout(node, Table::Exact(way), set);
            if entry.generations >> generation & 1 == 1 && entry.module_id == module && entry.key == key {
                let action = data(u32::from(way) * sets + set);
                return if own(entry.action) { Found::Entry(action) } else { Found::Fault };
            }
        }
        if !spec.default_valid || !own(spec.default_action) {
            return Found::Fault;
        }
        Found::Default(data(exact + self.target.rmt.ternary as u32 + bank))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    NoModule,
    /// Nothing to do, or an action of another module.
    Fault,
    Default(Action),
    Entry(Action),
}

/// A program as a map: what packets of its generation must see.
#[derive(Clone, Debug)]
pub struct Expected {
    pub key: KeySpec,
    pub default: Option<Action>,
    pub entries: BTreeMap<KeyBytes, Action>,
}

impl Expected {
    pub fn nothing() -> Self {
        Self { key: KeySpec::NONE, default: None, entries: BTreeMap::new() }
    }

    pub fn of(object: &Object) -> Self {
        let entries = object.entries.iter().map(|e| (e.key, e.action)).collect();
        Self { key: object.key, default: Some(object.default), entries }
    }

    pub fn lookup(&self, packet: &KeyBytes) -> Found {
        let Some(default) = self.default else { return Found::NoModule };
        if self.key.kind == KeyKind::None {
            return Found::Default(default);
        }
        self.entries.get(&self.key.masked(*packet)).map_or(Found::Default(default), |a| Found::Entry(*a))
    }
}

/// Checks the rows for the generations that packets may carry, with every key of `packets`.
pub fn see_exactly(
    rows: &Rows,
    module: u8,
    seen: &[(u8, &Expected)],
    packets: &[KeyBytes],
    what: &str,
) -> Result<(), String> {
    for (generation, expected) in seen {
        for packet in packets {
            let (found, want) = (rows.lookup(module, *generation, expected.key.kind, packet), expected.lookup(packet));
            if found != want {
                return Err(format!(
                    "{what}: generation {generation}, key {packet:02x?}: found {found:?}, want {want:?}"
                ));
            }
        }
    }
    Ok(())
}

/// Runs a load as a device may: writes between other steps in any order. At every point
/// packets of the present generation, and of the one before while it may be in flight, are
/// checked. `before` and `after` are what packets see around a commit; without a commit,
/// `after` is checked at the end and `stable` at every point.
pub fn run_checked(
    rows: &mut Rows,
    load: &Load,
    module: u8,
    current: &mut u8,
    views: (&Expected, &Expected),
    packets: &[KeyBytes],
    rng: &mut Rng,
) -> Result<(), String> {
    let (before, after) = views;
    // A generation's packets may be in flight until a wait says otherwise.
    let mut seen: Vec<(u8, &Expected)> = vec![(*current, before)];
    let mut batch: Vec<&Step> = Vec::new();
    for (i, step) in load.steps.iter().chain([&Step::Barrier]).enumerate() {
        if matches!(step, Step::Write { .. }) {
            batch.push(step);
            continue;
        }
        rng.shuffle(&mut batch);
        // Any subset of a batch may be done: some random ones, then one after the other.
        for subset in 0..4 {
            let mut some = rows.clone();
            batch.iter().filter(|_| rng.chance(1, 2)).for_each(|w| some.write(w));
            see_exactly(&some, module, &seen, packets, &format!("{} before step {i}, subset {subset}", load.label))?;
        }
        let stride = (batch.len() / 24).max(1);
        for (n, w) in batch.drain(..).enumerate() {
            rows.write(w);
            if n % stride == 0 {
                see_exactly(rows, module, &seen, packets, &format!("{} before step {i}, {n} written", load.label))?;
            }
        }
        see_exactly(rows, module, &seen, packets, &format!("{} at step {i}", load.label))?;
        match step {
            Step::Commit { generation, .. } if generation != current => {
                *current = *generation;
                seen.push((*current, after));
                see_exactly(rows, module, &seen, packets, &format!("{} after its commit", load.label))?;
            }
            Step::WaitDrained { generation, .. } if generation != current => seen.retain(|(g, _)| g != generation),
            _ => {}
        }
    }
    Ok(())
}

/// A tenant with `entries` entries on VLAN `id` of every port, and 64 cells everywhere (8 on
/// the tiny target).
pub fn tenant(id: u16, name: &str, entries: u32, target: &Target) -> TenantSpec {
    let cells = (target.cells / 64) as u16;
    let all = (0..target.destinations() as u8).filter_map(|n| Destination::from_number(n, target));
    TenantSpec {
        vlans: vec![VlanGrant { port: None, vlan: id }],
        queues: all.map(|d| (d, cells)).collect(),
        max_entries: entries,
        ..TenantSpec::new(id, name)
    }
}

/// Match sets of a tenant's table, of both generations.
pub fn region(linker: &Linker, id: u16) -> Region {
    linker.placer().region(linker.tenant(id).unwrap().module, STAGE).unwrap()
}

/// Where the pipeline looks for an object's key.
pub fn slots(region: Region, spec: &KeySpec, key: &KeyBytes) -> [Slot; 4] {
    region.slots(&lower::key_bits(spec, key))
}

pub fn random_action(rng: &mut Rng, target: &Target) -> Action {
    let mask = 1 + rng.below((1 << target.destinations()) - 1) as u8;
    let mut action = Action {
        to: sluice_object::Destinations::from_mask(mask, target),
        // Only a port can be left out.
        except_ingress: rng.chance(1, 2) && u32::from(mask).trailing_zeros() < target.ports,
        set_dmac: None,
    };
    if rng.chance(1, 2) {
        let mut mac = [0; 6];
        rng.fill(&mut mac);
        action.set_dmac = Some(mac);
    }
    action
}

pub fn random_key(rng: &mut Rng) -> KeyBytes {
    let mut key = [0; 13];
    rng.fill(&mut key);
    key
}

/// An object with `n` random entries under this key, which has room for them.
pub fn random_object(rng: &mut Rng, name: &str, key: KeySpec, n: usize, target: &Target) -> Object {
    let mut object = Object::new(name, key, random_action(rng, target));
    let mut seen = std::collections::BTreeSet::new();
    while object.entries.len() < n {
        let k = key.masked(random_key(rng));
        if seen.insert(k) {
            object.push(k, random_action(rng, target));
        }
    }
    object
}

/// The object's keys, with the bytes that do not count made random, and some others.
pub fn packets_for(objects: &[&Object], rng: &mut Rng) -> Vec<KeyBytes> {
    let mut packets: Vec<KeyBytes> = (0..20).map(|_| random_key(rng)).collect();
    for object in objects {
        for entry in &object.entries {
            let noise = random_key(rng);
            packets.push(std::array::from_fn(|i| if object.key.keeps(i) { entry.key[i] } else { noise[i] }));
        }
    }
    packets
}
