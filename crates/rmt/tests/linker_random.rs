//! Random operations of many tenants on one pipeline, against the plainest mirror of what each of them has.

use crate::common::linker::Tenants;
use crate::common::{Owners, SHAPE, random_part};
use sluice_formats::EngineId;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::row::Wide;
use sluice_object::linker::rmt::{EntryKey, EntryLeads, Quota, RowWrite};
use sluice_object::{
    Action, Demands, Destination, Destinations, KeySpec, LinkError, Load, Object, RmtPart, Step, TenantSpec, lower,
};
use sluice_rmt::encode::object::object;
use sluice_rmt::target::{DEFAULT, TINY, Target};
use sluice_rmt::testing::device::Device;
use std::collections::{BTreeMap, BTreeSet};

type Entry = (EntryKey, EntryLeads);

/// Entries of one tenant's program by stage: ternary ones in their order.
type Tables = BTreeMap<u8, Vec<Entry>>;

/// Objects that a tenant may run, with their rows, and what the one that runs has.
type Has = (Vec<(Object, RmtPart)>, Option<(usize, Tables)>);

/// A table object, which the linker lowers.
fn table(rng: &mut Rng, target: &Target) -> Object {
    let mut object = Object::new("p", KeySpec::DMAC, Action::to([Destination::Port(rng.below(4) as u8)]));
    let keys: BTreeSet<u8> = (0..rng.below(6)).map(|_| rng.next_u32() as u8).collect();
    for n in keys {
        object.push(KeySpec::DMAC.masked([n; 13]), action(rng, target));
    }
    object.demands.entries = 6;
    object
}

fn action(rng: &mut Rng, target: &Target) -> Action {
    let all = Destinations::from_mask(rng.range(1, 255) as u8, target.nic());
    Action { set_dmac: rng.chance(1, 2).then_some([2, 0, 0, 0, 0, 9]), ..Action::to(all.iter()) }
}

fn tables(part: &RmtPart) -> Tables {
    let stage = |(&n, s): (&u8, &sluice_object::RmtStage)| {
        let exact = s.exact.iter().map(|e| {
            let leads = EntryLeads { action: e.row.action, number: e.row.number, data: e.data };
            (EntryKey::Exact(e.row.key), leads)
        });
        let ternary = s.ternary.iter().map(|e| {
            let leads = EntryLeads { action: e.row.action, number: e.row.number, data: e.data };
            (EntryKey::Ternary { value: e.row.value, mask: e.row.mask }, leads)
        });
        (n, exact.chain(ternary).collect())
    };
    part.stages.iter().map(stage).collect()
}

fn ones(mask: &Wide<25>) -> u32 {
    mask.0.iter().map(|b| b.count_ones()).sum()
}

fn agrees(key: &Wide<25>, value: &Wide<25>, mask: &Wide<25>) -> bool {
    (0..25).all(|i| (key.0[i] ^ value.0[i]) & mask.0[i] == 0)
}

/// What packets with this key get, as the specification says.
fn find(entries: &[Entry], key: &Wide<25>) -> Option<(u16, [u8; 16])> {
    let exact = entries.iter().find(|(k, _)| matches!(k, EntryKey::Exact(k) if k == key));
    let ternary =
        || entries.iter().find(|(k, _)| matches!(k, EntryKey::Ternary { value, mask } if agrees(key, value, mask)));
    exact.or_else(ternary).map(|(_, l)| (l.number, l.data.0))
}

struct Bench {
    target: Target,
    linker: Tenants,
    device: Device,
    owners: Owners,
    tenants: BTreeMap<u16, Has>,
}

impl Bench {
    fn run(&mut self, module: u8, load: &Load) {
        for step in &load.steps {
            if let Step::Write { node, table, index, words } = step
                && table.engine() == Some(EngineId::RMT)
            {
                let write = RowWrite { node: *node, table: *table, index: *index, words: words.clone() };
                self.device.write(&write);
                self.owners.wrote(module, &write);
            }
        }
    }

    /// Every entry of every tenant is what its packets meet.
    fn look(&self) {
        for (id, (parts, running)) in &self.tenants {
            let (module, generation) = (self.linker.module(*id).unwrap(), self.linker.generation(*id));
            let Some((part, tables)) = running else {
                assert!(!self.device.part(module, generation).first.valid);
                continue;
            };
            assert!(self.device.part(module, generation).first == parts[*part].1.first);
            for (&stage, entries) in tables {
                let at = self.linker.placer().stages_of(module)[&stage];
                for (key, _) in entries {
                    let (EntryKey::Exact(key) | EntryKey::Ternary { value: key, .. }) = key;
                    let found = self.device.find(at, module, generation, &key.0).map(|f| (f.1, f.2));
                    assert_eq!(found, find(entries, key), "tenant {id}, stage {stage}");
                }
                assert_eq!(self.linker.entries(*id, stage).len(), entries.len());
            }
        }
    }

    /// A random entry operation on a running program, and what it should make of the entries.
    fn entry_operation(&mut self, id: u16, rng: &mut Rng) -> Option<(Result<Load, LinkError>, u8, Vec<Entry>)> {
        let (parts, Some((part, tables))) = self.tenants.get(&id)? else { return None };
        let (&stage, entries) = tables.iter().nth(rng.index(tables.len()))?;
        let (object, part) = &parts[*part];
        if object.parts.rmt.is_none() {
            return Some(self.table_operation(id, stage, entries.clone(), rng));
        }
        let rows = &part.stages[&stage];
        let leads = EntryLeads {
            action: rng.below(rows.actions.len() as u64) as u16,
            number: rng.below(u64::from(rows.numbers)) as u16,
            data: Wide(std::array::from_fn(|_| rng.below(2) as u8)),
        };
        let mut entries = entries.clone();
        if !entries.is_empty() && rng.chance(1, 2) {
            let at = rng.index(entries.len());
            let key = entries[at].0;
            // Of two equal ternary entries the first one is meant.
            let at = entries.iter().position(|e| e.0 == key).unwrap();
            if rng.chance(1, 2) {
                entries[at].1 = leads;
                return Some((self.linker.modify(id, stage, key, &leads), stage, entries));
            }
            entries.remove(at);
            return Some((self.linker.delete(id, stage, key), stage, entries));
        }
        let random =
            |rng: &mut Rng, within: &Wide<25>| Wide(std::array::from_fn(|i| within.0[i] & rng.next_u32() as u8));
        let first = entries.iter().position(|e| matches!(e.0, EntryKey::Ternary { .. })).unwrap_or(entries.len());
        let (key, before) = if rng.chance(1, 2) {
            let key = EntryKey::Exact(random(rng, &rows.key.mask));
            if entries.iter().any(|e| e.0 == key) {
                return None;
            }
            entries.insert(0, (key, leads));
            (key, None)
        } else {
            let mask = random(rng, &rows.key.mask);
            let key = EntryKey::Ternary { value: random(rng, &mask), mask };
            let shorter = |e: &Entry| matches!(&e.0, EntryKey::Ternary { mask: m, .. } if ones(m) < ones(&mask));
            let longest = entries.iter().position(shorter).unwrap_or(entries.len());
            let at = if rows.longest { longest } else { rng.range(first as u64, entries.len() as u64) as usize };
            entries.insert(at, (key, leads));
            (key, Some(at - first))
        };
        Some((self.linker.insert(id, stage, key, &leads, before), stage, entries))
    }

    /// The same on a running table, in its own notation.
    fn table_operation(
        &mut self,
        id: u16,
        stage: u8,
        mut entries: Vec<Entry>,
        rng: &mut Rng,
    ) -> (Result<Load, LinkError>, u8, Vec<Entry>) {
        let target = self.target.nic();
        let action = action(rng, &self.target);
        let leads = EntryLeads { action: 0, number: lower::ENTRY_NUMBER, data: lower::data_of(&action, target) };
        let key = KeySpec::DMAC.masked([rng.next_u32() as u8; 13]);
        let linker = &mut self.linker.0;
        let load = match rng.index(entries.len() + 1) {
            at if at < entries.len() => {
                let EntryKey::Exact(bits) = entries[at].0 else { panic!("a table has exact entries") };
                let key = lower::key_bytes(&KeySpec::DMAC, &bits);
                if rng.chance(1, 2) {
                    entries[at].1 = leads;
                    linker.modify(id, &key, &action)
                } else {
                    entries.remove(at);
                    linker.delete(id, &key)
                }
            }
            _ => {
                entries.push((EntryKey::Exact(lower::key_bits(&KeySpec::DMAC, &key)), leads));
                linker.insert(id, &key, &action)
            }
        };
        (load, stage, entries)
    }

    /// One random operation; true if it was done.
    fn step(&mut self, rng: &mut Rng) -> Option<bool> {
        let id = rng.below(self.target.modules as u64) as u16;
        let before = format!("{:?}", self.linker.placer().left());
        let module = self.linker.module(id).unwrap_or(0);
        let name = format!("t{id}");
        let done = if !self.tenants.contains_key(&id) {
            let lowered = id % 3 == 2;
            let parts: Vec<(Object, RmtPart)> = (0..2)
                .map(|_| {
                    if lowered {
                        let object = table(rng, &self.target);
                        let part = lower::lower(&object, self.target.nic(), &BTreeMap::new()).unwrap();
                        return (object, part);
                    }
                    let mut part = RmtPart { keep_state: false, ..random_part(rng, &self.target, u8::from(id != 0)) };
                    for stage in part.stages.values_mut() {
                        stage.exact_room += rng.below(6) as u16;
                        stage.ternary_room += rng.below(2) as u16;
                        stage.numbers = SHAPE.numbers as u16;
                    }
                    (object("p", part.clone(), Demands::default(), &self.target), part)
                })
                .collect();
            let load = if lowered {
                let queues = Destinations::from_mask(0xff, self.target.nic()).iter().map(|d| (d, 4)).collect();
                self.linker.0.admit(TenantSpec { queues, max_entries: 6, ..TenantSpec::new(id, &name) })
            } else {
                let quota = parts.iter().fold(Quota::default(), |q, (_, p)| q.or(&Quota::of(p, 0xff)));
                self.linker.admit(id, &name, quota)
            };
            let module = self.linker.module(id).unwrap_or(0);
            load.map(|load| {
                self.run(module, &load);
                self.tenants.insert(id, (parts, None));
            })
        } else if rng.chance(1, 12) {
            self.linker.remove(id).map(|load| {
                self.run(module, &load);
                self.owners.left(module);
                self.tenants.remove(&id);
            })
        } else if rng.chance(1, 3) {
            let at = rng.index(2);
            let (object, part) = self.tenants[&id].0[at].clone();
            let running = Some((at, tables(&part)));
            let load = self.linker.load(id, &object);
            load.map(|load| {
                self.run(module, &load);
                self.tenants.entry(id).and_modify(|t| t.1 = running);
            })
        } else if rng.chance(1, 10) && self.tenants[&id].1.is_some() {
            self.linker.unload(id).map(|load| {
                self.run(module, &load);
                self.tenants.entry(id).and_modify(|t| t.1 = None);
            })
        } else {
            let (load, stage, entries) = self.entry_operation(id, rng)?;
            load.map(|load| {
                self.run(module, &load);
                self.tenants.entry(id).and_modify(|t| {
                    t.1.iter_mut().for_each(|(_, tables)| drop(tables.insert(stage, entries.clone())));
                });
            })
        };
        if let Err(e) = &done {
            assert!(["E0670", "E0672", "E0677", "E0228", "E0230"].contains(&e.code()), "{e}");
            assert_eq!(format!("{:?}", self.linker.placer().left()), before, "a refusal changes nothing");
        }
        Some(done.is_ok())
    }
}

#[test]
fn every_tenant_has_its_own_whatever_the_others_do() {
    let mut rng = Rng::new(test_seed("rmt_linker_random"));
    for (target, steps) in [(TINY, 1500), (DEFAULT, 500)] {
        let (linker, device) = (Tenants::new(target), Device::new(target));
        let mut bench = Bench { target, linker, device, owners: Owners::default(), tenants: BTreeMap::new() };
        let (mut done, mut refused) = (0, 0);
        for step in 0..steps {
            match bench.step(&mut rng) {
                Some(true) => done += 1,
                Some(false) => refused += 1,
                None => {}
            }
            if step % 10 == 0 {
                bench.look();
            }
        }
        bench.look();
        println!("{}: {done} done, {refused} refused, {} tenants at the end", target.name, bench.tenants.len());
        assert!(done > steps / 4, "{done} of {steps}");
        for id in bench.tenants.keys().copied().collect::<Vec<_>>() {
            let module = bench.linker.module(id).unwrap();
            let load = bench.linker.remove(id).unwrap();
            bench.run(module, &load);
        }
        assert_eq!(bench.linker.placer().left(), Tenants::new(target).placer().left(), "freed space comes back");
        assert_eq!(bench.device.places().collect::<Vec<_>>(), [], "rows that stay");
    }
}
