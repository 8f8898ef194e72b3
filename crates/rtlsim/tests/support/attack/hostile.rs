//! A hostile tenant: programs of every kind, and what he does with them while packets flow.

use super::field::Field;
use super::frames::Style;
use super::programs;
use crate::xdp::tenants::Does;
use sluice_formats::Target;
use sluice_formats::limits::KEY_BYTES;
use sluice_formats::random::Rng;
use sluice_formats::xdp::target::Target as XdpTarget;
use sluice_l7::testing::ping_pong;
use sluice_object::linker::rmt::{EntryKey, EntryLeads};
use sluice_object::{
    Action, Destination, Destinations, KeyKind, KeySpec, Linker, Load, Object, Rate, RmtPart, TenantSpec, VlanGrant,
    XdpShare,
};
use sluice_rmt::check::Role;
use sluice_rmt::testing::{Shape, checked_program};
use sluice_rmt::{Program, encode};
use std::collections::BTreeMap;

/// Programs that one has.
const PROGRAMS: usize = 3;
/// Entries of a table of his.
const ENTRIES: u64 = 3;
/// Bytes that a program may add at most.
const GROWTH: u64 = 64;
/// The longest limit of work of theirs.
const WORK: u32 = 1_200;
/// What takes the XDP engine long, or keeps it from others. Floods of ring buffers are those of `xdp_shares`: while their host reads them, time
/// goes on, so that frames would come later than planned.
const LONG: [Does; 7] =
    [Does::Endless, Does::Fights, Does::Hammers, Does::Jumps, Does::Moves, Does::Locks, Does::Looks];

/// A program, and what frames are aimed at it with.
#[derive(Clone, Debug)]
pub struct Choice {
    pub object: Object,
    pub aim: Option<Program>,
    /// Bytes that it adds at most.
    pub growth: u32,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Hostile {
    pub id: u16,
    pub vlan: u16,
    pub spec: TenantSpec,
    pub programs: Vec<Choice>,
    /// Which one runs.
    pub running: Option<usize>,
    /// What his frames are like for now.
    pub style: Style,
    group: u16,
}

/// What he may be given.
pub struct Room<'a> {
    pub target: &'static Target,
    /// Destinations that he may have, and cells at most of all his queues.
    pub destinations: &'a [Destination],
    pub cells: u32,
    /// A destination of the measured tenant that he shares, with cells there.
    pub shared: Option<(Destination, u16)>,
    /// They may dispatch messages though the measured tenant's are dispatched too.
    pub dispatch: bool,
    /// Their XDP programs may take as long as their limits of work allow: the measured tenant uses contexts of his own, or none.
    pub long: bool,
    /// So many of them may own contexts of the XDP cores.
    pub owners: u16,
    /// The VLAN that is the measured tenant's.
    pub victim: u16,
    /// How many there are.
    pub tenants: u32,
}

impl Hostile {
    /// The `n`th one.
    pub fn draw(rng: &mut Rng, n: u16, room: &Room) -> Self {
        let (id, vlan, group) = (10 + n, 200 + n, 2 + n);
        let mut spec = TenantSpec::new(id, format!("hostile{n}"));
        spec.vlans = if rng.chance(2, 3) {
            vec![VlanGrant { port: None, vlan }]
        } else {
            let first = rng.below(room.target.ports.into()) as u8;
            let mut ports = vec![first, (first + 1) % room.target.ports as u8];
            ports.truncate(rng.range(1, 2) as usize);
            ports.into_iter().map(|port| VlanGrant { port: Some(port), vlan }).collect()
        };
        spec.keep_tag = rng.chance(1, 4);
        spec.quantum = *rng.choose(&[1, 300, 1500, 1500]).unwrap();
        if rng.chance(1, 6) {
            spec.rate = Some(Rate { bits_per_second: rng.range(1, 900) * 10_000_000, burst_bytes: 20_000 });
        }
        spec.xdp_growth = Some(*rng.choose(&[0, 64, 128, 700]).unwrap());
        if room.long {
            // Up to 1,024 they borrow contexts that nobody uses.
            spec.xdp_work = Some(*rng.choose(&[60, 300, WORK]).unwrap());
        }
        if n < room.owners {
            let contexts = XdpTarget::by_name(room.target.name).cores as u8;
            spec.xdp_share = Some(XdpShare { contexts, memory: 1, ..XdpShare::default() });
        }
        queues(rng, &mut spec, room);
        let to: Vec<Destination> = spec.queues.keys().copied().collect();
        let programs = (0..PROGRAMS).map(|_| program(rng, group, &to, room)).collect();
        Self { id, vlan, spec, programs, running: None, style: Style::draw(rng), group }
    }

    /// Leaves programs away until the linker takes him in; the last one is one that adds 64 bytes and needs nothing else.
    pub fn fit(&mut self, linker: &mut Linker, target: &Target) {
        let to: Vec<Destination> = self.spec.queues.keys().copied().collect();
        let bare = self.spec.clone();
        loop {
            self.spec = bare.clone();
            self.programs.iter().for_each(|choice| self.spec.make_room(&choice.object));
            let Err(error) = linker.admit(self.spec.clone()) else { return };
            let last = self.programs.pop().expect("it has programs");
            assert!(!(last.growth == 64 && self.programs.is_empty()), "tenant {} finds no room: {error}", self.id);
            if self.programs.is_empty() {
                let object = programs::grower(64, &to, target);
                self.programs.push(Choice { object, aim: None, growth: 64 });
            }
        }
    }

    /// The linker with each of his programs that it has a place for.
    pub fn each(&self, linker: &Linker) -> Vec<Linker> {
        let with = |choice: &Choice| {
            let mut linker = linker.clone();
            linker.load(self.id, &choice.object).is_ok().then_some(linker)
        };
        self.programs.iter().filter_map(with).collect()
    }

    /// Loads the program that makes the ports charge most: a linker that lets him in knows then what others are sure of.
    pub fn charge(&self, linker: &mut Linker) {
        let most = self.each(linker).into_iter().max_by_key(|linker| linker.growth_of(self.id));
        *linker = most.unwrap_or_else(|| linker.clone());
    }

    /// Lets him in with a program.
    pub fn enter(&mut self, rng: &mut Rng, field: &mut Field) {
        field.admit(self.spec.clone());
        let first = rng.index(self.programs.len());
        // What the linker has no place for in a generation is not run.
        if let Ok(load) = field.linker.load(self.id, &self.programs[first].object) {
            field.run(&load);
            self.running = Some(first);
        }
    }

    /// The program that frames are aimed at.
    pub fn aim(&self) -> Option<&Program> {
        self.running.and_then(|n| self.programs[n].aim.as_ref())
    }

    /// Whether messages are dispatched by rules of his.
    pub fn dispatches(&self) -> bool {
        self.running.is_some_and(|n| self.programs[n].object.parts.l7.is_some())
    }

    /// Something that he does next: another program, none, an entry, a group. None if it was refused.
    pub fn operate(&mut self, rng: &mut Rng, field: &mut Field) -> Option<(&'static str, Load)> {
        let next = rng.index(self.programs.len());
        let Some(running) = self.running else {
            let load = field.linker.load(self.id, &self.programs[next].object).ok()?;
            self.running = Some(next);
            return Some(("load", load));
        };
        match rng.below(8) {
            0 => {
                self.running = None;
                Some(("unload", field.linker.unload(self.id).ok()?))
            }
            1..=3 => {
                let load = field.linker.replace(self.id, &self.programs[next].object).ok()?;
                self.running = Some(next);
                Some(("replace", load))
            }
            4 => {
                let group = *self.programs[running].object.parts.rmt.as_ref()?.groups.get(&self.group)?;
                Some(("group", field.linker.set_group(self.id, self.group, group).ok()?))
            }
            _ if self.programs[running].object.parts.rmt.is_none() => self.table_entry(rng, field),
            _ => self.rmt_entry(rng, field),
        }
    }

    fn table_entry(&self, rng: &mut Rng, field: &mut Field) -> Option<(&'static str, Load)> {
        let entries = field.linker.entries(self.id).ok()?;
        match entries.first() {
            Some(entry) if rng.chance(1, 2) => Some(("delete", field.linker.delete(self.id, &entry.key).ok()?)),
            _ => {
                let spec = self.programs[self.running?].object.key;
                let key = spec.masked(std::array::from_fn(|_| rng.below(4) as u8));
                let to: Destinations = self.spec.queues.keys().copied().collect();
                let action = Action { to, ..Action::DROP };
                Some(("insert", field.linker.insert(self.id, &key, &action).ok()?))
            }
        }
    }

    fn rmt_entry(&self, rng: &mut Rng, field: &mut Field) -> Option<(&'static str, Load)> {
        let stages = &self.programs[self.running?].object.parts.rmt.as_ref()?.stages;
        let stage = *rng.choose(&stages.keys().copied().collect::<Vec<_>>())?;
        let entries = field.linker.rmt_entries(self.id, stage).ok()?;
        let (key, leads) = *rng.choose(&entries)?;
        match rng.below(3) {
            0 => Some(("delete", field.linker.rmt_delete(self.id, stage, key).ok()?)),
            1 => {
                let mut leads = EntryLeads { ..leads };
                rng.fill(&mut leads.data.0);
                Some(("modify", field.linker.rmt_modify(self.id, stage, key, &leads).ok()?))
            }
            _ => {
                let key = match key {
                    EntryKey::Exact(mut bits) => {
                        let mask = stages[&stage].key.mask;
                        let at = rng.index(bits.0.len());
                        bits.0[at] = rng.next_u32() as u8 & mask.0[at];
                        EntryKey::Exact(bits)
                    }
                    ternary => ternary,
                };
                Some(("insert", field.linker.rmt_insert(self.id, stage, key, &leads, Some(0)).ok()?))
            }
        }
    }
}

/// Queues of random sizes.
fn queues(rng: &mut Rng, spec: &mut TenantSpec, room: &Room) {
    let mut left = room.cells;
    if let Some((destination, cells)) = room.shared {
        spec.queues.insert(destination, cells);
        left = left.saturating_sub(cells.into());
    }
    let mut to = room.destinations.to_vec();
    rng.shuffle(&mut to);
    if rng.chance(1, 3) {
        to.truncate(rng.range(1, to.len() as u64) as usize);
    }
    let count = to.len() as u32;
    for (i, destination) in to.into_iter().enumerate() {
        let even = left / (count - i as u32);
        let cells = if rng.chance(1, 2) { even } else { rng.range(1, left.max(1).into()) as u32 };
        let cells = cells.clamp(1, left.saturating_sub(count - i as u32).max(1));
        if cells <= left {
            spec.queues.insert(destination, cells as u16);
            left -= cells;
        }
    }
}

/// A program that attacks in one of many ways.
fn program(rng: &mut Rng, group: u16, to: &[Destination], room: &Room) -> Choice {
    let target = room.target;
    let plain = |object: Object, growth: u32| Choice { object, aim: None, growth };
    let even = |rng: &mut Rng| 2 * rng.range(1, GROWTH / 2) as u32;
    let dispatched = Destination::Host(target.hosts as u8 - 1);
    match rng.below(if room.long { 18 } else { 14 }) {
        10 | 11 => plain(grown(rng, to), 0),
        14.. => {
            let (text, maps) = rng.choose(&LONG).unwrap().program();
            plain(programs::xdp("main", &text, maps, *rng.choose(to).unwrap()), 0)
        }
        // Where the measured tenant's packets pass, their turns are the engine's steps: another bound.
        12 | 13 if (room.dispatch || room.destinations.contains(&dispatched)) && to.contains(&dispatched) => {
            plain(sluice_l7::object::object("rules", &ping_pong(6, 2), target).expect("they are valid"), 0)
        }
        0 | 1 => plain(programs::grower(64, to, target), 64),
        2 => {
            let bytes = even(rng);
            plain(programs::grower(bytes, to, target), bytes)
        }
        3 => plain(programs::copier(group, to, target), 0),
        4 => plain(programs::writer(false, to, target), 0),
        5 => plain(programs::writer(true, to, target), 0),
        6 => {
            let add = rng.chance(1, 2);
            plain(programs::forger(room.victim, add, to, target), if add { 4 } else { 0 })
        }
        7 => plain(table(rng, to), 0),
        _ => random(rng, to, room),
    }
}

/// An XDP program that makes frames as long as it may: how much longer says the frame, or itself, so that all that the tenant is given is
/// charged.
fn grown(rng: &mut Rng, to: &[Destination]) -> Object {
    let amount = match rng.below(3) {
        0 => {
            "r7 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r7\nr3 += 14\nr0 = 1\nif r3 > r2 goto out\nr2 = *(u16 *)(r7 +12)\n"
        }
        1 => "r2 = 700\n",
        _ => "r2 = 3000\n",
    };
    // Once more where that was too much: to the byte.
    let again = "r8 = 1024\nagain:\nr2 = r8\nr1 = r6\ncall bpf_xdp_adjust_tail\nr8 >>= 1\nif r8 > 0 goto again\n";
    let head = if rng.chance(1, 2) { "r2 = -64\nr1 = r6\ncall bpf_xdp_adjust_head\n" } else { "" };
    let verdict = *rng.choose(&[2, 2, 3]).unwrap();
    let text = format!("r6 = r1\n{amount}r1 = r6\ncall bpf_xdp_adjust_tail\n{head}{again}r0 = {verdict}\nout:\nexit\n");
    programs::xdp("grown", &text, Vec::new(), *rng.choose(to).unwrap())
}

/// A table of his, with keys that some frames have.
fn table(rng: &mut Rng, to: &[Destination]) -> Object {
    let kind = if rng.chance(1, 2) { KeyKind::Dmac } else { KeyKind::FiveTuple };
    let spec = KeySpec { kind, mask: 0b11 };
    let mut object = Object::new("table", spec, Action::to(to.iter().copied()));
    let mut keys = std::collections::BTreeSet::new();
    for _ in 0..ENTRIES {
        let mut key = [0; KEY_BYTES];
        key[..2].copy_from_slice(&[rng.below(4) as u8, rng.next_u32() as u8]);
        if keys.insert(key) {
            object.push(key, Action::to([*rng.choose(to).unwrap()]));
        }
    }
    object
}

/// Rows that no compiler would think of.
fn random(rng: &mut Rng, to: &[Destination], room: &Room) -> Choice {
    let rmt = &room.target.rmt;
    let share = |n: usize, most: usize| (n / (2 * room.tenants as usize + 4)).clamp(1, most);
    let shape = Shape {
        exact: share(rmt.exact, 5),
        ternary: share(rmt.ternary, 4),
        actions: share(rmt.actions, 4),
        pages: share(rmt.pages(), 3),
        numbers: 16,
        role: Role::Tenant,
    };
    let program = checked_program(rng, rmt, &shape);
    let part: RmtPart = encode(&program, rmt).expect("it was checked");
    let growth = program.deparser.rows.iter().map(|row| i32::from(row.delta)).max().unwrap_or(0).max(0) as u32;
    let demands =
        sluice_object::Demands { queues: to.iter().map(|d| (*d, 1)).collect::<BTreeMap<_, _>>(), ..Default::default() };
    Choice { object: encode::object::object("random", part, demands, rmt), aim: Some(program), growth }
}
