//! Loads for the tenants of one pipeline: what packets in flight meet, and what is refused.

use crate::common::linker::Tenants;
use crate::common::{check_rows, random_part};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::rmt::rows::GroupNameRow;
use sluice_formats::row::{Row as _, Wide};
use sluice_formats::{EngineId, Node, Table};
use sluice_object::linker::rmt::{EntryKey, EntryLeads, Quota, RowWrite};
use sluice_object::{Action, KeySpec, LinkError, Load, Object, RmtGroup, RmtPart, Step, TargetNeed};
use sluice_rmt::action::{Action as Row, When, WordOp, WordSource};
use sluice_rmt::phv::{Word, c2, c4};
use sluice_rmt::programs::calc;
use sluice_rmt::target::{DEFAULT, TINY, Target};
use sluice_rmt::testing::device::Device;
use sluice_rmt::{Program, encode};

pub fn object(name: &str, target: &Target, part: RmtPart) -> Object {
    let mut object = Object::new(name, KeySpec::NONE, Action::DROP);
    object.target = TargetNeed::Exact { name: target.name.to_owned(), hash: target.hash() };
    object.parts.rmt = Some(Box::new(part));
    object
}

fn row(step: &Step) -> Option<RowWrite> {
    let Step::Write { node, table, index, words } = step else { return None };
    let pipeline = table.engine() == Some(EngineId::RMT);
    pipeline.then(|| RowWrite { node: *node, table: *table, index: *index, words: words.clone() })
}

/// Runs a load, the writes of each batch in random order, and looks after each write.
pub fn run(device: &mut Device, load: &Load, rng: &mut Rng, mut look: impl FnMut(&Device, Option<&Step>)) {
    let mut batch: Vec<RowWrite> = Vec::new();
    let mut flush = |batch: &mut Vec<RowWrite>, device: &mut Device, look: &mut dyn FnMut(&Device, Option<&Step>)| {
        while !batch.is_empty() {
            device.write(&batch.swap_remove(rng.index(batch.len())));
            look(device, None);
        }
    };
    for step in &load.steps {
        match row(step) {
            Some(write) => batch.push(write),
            None => {
                flush(&mut batch, device, &mut look);
                look(device, Some(step));
            }
        }
    }
    flush(&mut batch, device, &mut look);
}

/// Which generations packets of a module may carry.
pub struct InFlight {
    pub module: u8,
    pub carried: [bool; 2],
    pub current: u8,
}

impl InFlight {
    pub fn see(&mut self, step: Option<&Step>) {
        match step {
            Some(Step::Commit { generation, .. }) => {
                self.current = *generation;
                self.carried[usize::from(self.current)] = true;
            }
            Some(Step::WaitDrained { generation, .. }) => {
                let g = usize::from(*generation);
                self.carried[g] &= self.current == *generation;
            }
            _ => {}
        }
    }
}

#[test]
fn a_replacement_is_seen_whole_or_not_at_all_after_every_single_write() {
    let mut rng = Rng::new(test_seed("rmt_hitless"));
    let mut looked = 0;
    for round in 0..24 {
        let target = if round % 3 == 0 { DEFAULT } else { TINY };
        let mut linker = Tenants::new(target);
        let mut device = Device::new(target);
        let parts: Vec<RmtPart> =
            (0..4).map(|_| RmtPart { keep_state: false, ..random_part(&mut rng, &target, 1) }).collect();
        let quota = parts.iter().fold(Quota::default(), |q, p| q.or(&Quota::of(p, 0xff)));
        // A neighbour that nothing happens to.
        let other = random_part(&mut rng, &target, 1);
        let mut refused = false;
        for load in
            [linker.admit(7, "blue", Quota::of(&other, 1)), linker.load(7, &object("b", &target, other.clone()))]
        {
            match load {
                Ok(load) => run(&mut device, &load, &mut rng, |_, _| {}),
                Err(e) => refused = refused || e.code() == "E0670",
            }
        }
        let admitted = linker.admit(8, "red", quota);
        if refused || admitted.is_err() {
            continue;
        }
        run(&mut device, &admitted.unwrap(), &mut rng, |_, _| {});
        let module = linker.module(8).unwrap();
        let mut packets = InFlight { module, carried: [false; 2], current: linker.generation(8) };
        let mut there: [RmtPart; 2] = Default::default();
        for part in parts {
            let load = linker.load(8, &object("r", &target, part.clone())).unwrap();
            there[usize::from(linker.generation(8))] = part;
            run(&mut device, &load, &mut rng, |device, step| {
                packets.see(step);
                // Random rounds of looking, for a look reads everything.
                if rng_says(&mut looked) {
                    for g in (0..2).filter(|&g| packets.carried[usize::from(g)]) {
                        check_rows(device, &target, packets.module, g, &there[usize::from(g)]);
                    }
                }
            });
            let g = linker.generation(7);
            check_rows(&device, &target, linker.module(7).unwrap(), g, &other);
        }
        let load = linker.remove(8).unwrap();
        run(&mut device, &load, &mut rng, |_, _| {});
        let left = linker.remove(7).unwrap();
        run(&mut device, &left, &mut rng, |_, _| {});
        assert_eq!(device.places().collect::<Vec<_>>(), [], "rows that stay");
    }
    assert!(looked > 500, "{looked} looks: too few to mean anything");
}

#[test]
fn a_commit_before_its_rows_is_noticed() {
    let part = calc_part(&DEFAULT);
    let mut linker = Tenants::new(DEFAULT);
    linker.admit(1, "red", Quota::of(&part, 1)).unwrap();
    linker.load(1, &object("c", &DEFAULT, part.clone())).unwrap();
    let before = linker.clone();
    let load = linker.load(1, &object("c", &DEFAULT, part.clone())).unwrap();
    let unsafe_load = sluice_object::linker::unsafe_order(&load);
    assert_eq!(before.check(&load), Ok(()));
    assert_eq!(before.check(&unsafe_load).unwrap_err().code(), "E0232");
    // The same on a device: at the commit, the rows of the generation are not there.
    let whole_at_commit = |load: &Load| {
        let mut device = Device::new(DEFAULT);
        for step in &load.steps {
            match step {
                Step::Commit { generation, .. } => return device.part(1, *generation).paths[0] == part.paths[0],
                step => row(step).iter().for_each(|w| device.write(w)),
            }
        }
        false
    };
    assert!(whole_at_commit(&load) && !whole_at_commit(&unsafe_load));
}

/// Every fifth time.
pub fn rng_says(looked: &mut u32) -> bool {
    *looked += 1;
    (*looked).is_multiple_of(5)
}

const ALL_BITS: u64 = 0xffff;

/// A program with one table on 16 bits of key, and three actions.
fn table(longest: bool) -> Program {
    use sluice_rmt::program::Stage;
    use sluice_rmt::stage::{Key, KeySpec as Spec, Order, Tables};
    let order = if longest { Order::Longest } else { Order::Listed };
    let key = Spec { mask: Key::default().with(0, 16, ALL_BITS), ..Spec::default() };
    let stage =
        Stage { key, tables: Tables { order, ..Tables::default() }, actions: vec![Row::default(); 3], pages: 0 };
    Program { stages: vec![None, Some(stage)], ..Program::default() }
}

fn wide(value: u64) -> Wide<25> {
    Wide(std::array::from_fn(|i| if i < 8 { (value >> (8 * i)) as u8 } else { 0 }))
}

/// The entries of a table as the specification has them.
#[derive(Default)]
struct Reference {
    exact: Vec<(u64, EntryLeads)>,
    ternary: Vec<(u64, u64, EntryLeads)>,
}

impl Reference {
    fn find(&self, key: u64) -> Option<(u16, [u8; 16])> {
        let exact = self.exact.iter().find(|e| e.0 == key).map(|e| e.1);
        let ternary = || self.ternary.iter().find(|e| (e.0 ^ key) & e.1 == 0).map(|e| e.2);
        exact.or_else(ternary).map(|l| (l.number, l.data.0))
    }
}

#[test]
fn entries_come_go_and_change_and_every_packet_meets_one_of_the_two_states() {
    let mut rng = Rng::new(test_seed("rmt_entries"));
    for longest in [false, true] {
        let mut part = encode(&table(longest), &TINY).unwrap();
        let stage = part.stages.get_mut(&1).unwrap();
        (stage.exact_room, stage.ternary_room, stage.numbers) = (12, 4, 64);
        let mut linker = Tenants::new(TINY);
        let mut device = Device::new(TINY);
        for load in [linker.admit(5, "red", Quota::of(&part, 1)), linker.load(5, &object("t", &TINY, part))] {
            run(&mut device, &load.unwrap(), &mut rng, |_, _| {});
        }
        let (module, generation) = (linker.module(5).unwrap(), linker.generation(5));
        let mut now = Reference::default();
        let (mut done, mut full) = (0, 0);
        for _ in 0..600 {
            let leads = EntryLeads {
                action: rng.below(3) as u16,
                number: rng.below(64) as u16,
                data: Wide(std::array::from_fn(|i| if i < 2 { rng.below(2) as u8 } else { 0 })),
            };
            let mut next = Reference { exact: now.exact.clone(), ternary: now.ternary.clone() };
            let load = if rng.chance(1, 2) {
                let key = rng.below(14);
                let place = now.exact.iter().position(|e| e.0 == key);
                let at = EntryKey::Exact(wide(key));
                match place {
                    None => {
                        next.exact.push((key, leads));
                        linker.insert(5, 1, at, &leads, None)
                    }
                    Some(i) if rng.chance(1, 2) => {
                        next.exact[i].1 = leads;
                        linker.modify(5, 1, at, &leads)
                    }
                    Some(i) => {
                        next.exact.remove(i);
                        linker.delete(5, 1, at)
                    }
                }
            } else {
                let bits = rng.range(3, 5);
                let mask = 0x3f & !((1 << bits) - 1);
                let value = rng.below(64) & mask;
                let place = now.ternary.iter().position(|e| (e.0, e.1) == (value, mask));
                let at = EntryKey::Ternary { value: wide(value), mask: wide(mask) };
                match place {
                    None => {
                        let behind = now.ternary.iter().position(|e| e.1.count_ones() < mask.count_ones());
                        let before = if longest { behind } else { Some(rng.index(now.ternary.len() + 1)) };
                        next.ternary.insert(before.unwrap_or(now.ternary.len()), (value, mask, leads));
                        linker.insert(5, 1, at, &leads, before)
                    }
                    Some(i) if rng.chance(1, 2) => {
                        next.ternary[i].2 = leads;
                        linker.modify(5, 1, at, &leads)
                    }
                    Some(i) => {
                        next.ternary.remove(i);
                        linker.delete(5, 1, at)
                    }
                }
            };
            match load {
                Ok(load) => {
                    run(&mut device, &load, &mut rng, |device, _| {
                        for key in 0..64 {
                            let found = device.find(1, module, generation, &wide(key).0).map(|f| (f.1, f.2));
                            let good = found == now.find(key) || found == next.find(key);
                            assert!(good, "key {key}: {found:?}, {:?} or {:?}", now.find(key), next.find(key));
                        }
                    });
                    now = next;
                    done += 1;
                }
                Err(e) => {
                    assert_eq!(e.code(), "E0677", "{e}");
                    full += 1;
                }
            }
            for key in 0..64 {
                let found = device.find(1, module, generation, &wide(key).0).map(|f| (f.1, f.2));
                assert_eq!(found, now.find(key), "key {key} at rest");
            }
            assert_eq!(linker.entries(5, 1).len(), now.exact.len() + now.ternary.len());
        }
        println!("longest {longest}: {done} done, {full} refused");
        assert!(done > 200 && full > 0);
    }
}

fn refused(result: Result<Load, LinkError>, code: &str, words: &str) {
    let error = result.expect_err(words);
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

fn calc_part(target: &Target) -> RmtPart {
    encode(&calc::program(1), target).unwrap()
}

#[test]
fn what_does_not_fit_is_refused_with_what_is_left_and_who_holds_it() {
    let mut linker = Tenants::new(TINY);
    let part = calc_part(&TINY);
    let quota = Quota::of(&part, 0b11);
    linker.admit(1, "red", quota.clone()).unwrap();
    let before = format!("{linker:?}");
    let mut more = quota.clone();
    more.stages.get_mut(&1).unwrap().exact = 24;
    refused(
        linker.admit(2, "blue", more),
        "E0670",
        "stage 1: 16 match sets (a power of two, for both generations) asked for by `blue`, 8, the largest block 8, \
         left; held by red 8",
    );
    let mut less = quota.clone();
    less.stages.get_mut(&1).unwrap().exact = 0;
    less.stages.get_mut(&1).unwrap().actions = 11;
    refused(linker.admit(2, "blue", less.clone()), "E0670", "22 action rows (for both generations)");
    refused(linker.admit(2, "blue", less.clone()), "E0670", "20 left; held by red 12");
    less.stages.get_mut(&1).unwrap().actions = 1;
    less.stages.get_mut(&1).unwrap().pages = 5;
    less.stages.get_mut(&1).unwrap().fresh_pages = true;
    refused(
        linker.admit(2, "blue", less.clone()),
        "E0670",
        "10 pages of state asked for by `blue`, 8 left; held by nobody",
    );
    less.stages.get_mut(&1).unwrap().pages = 0;
    less.stages.get_mut(&1).unwrap().ternary = 5;
    refused(linker.admit(2, "blue", less.clone()), "E0670", "10 ternary entries (side by side, for both generations)");
    less.stages.get_mut(&1).unwrap().ternary = 0;
    less.stages.get_mut(&1).unwrap().numbers = 2047;
    refused(linker.admit(2, "blue", less), "E0670", "2047 hit counters (side by side) asked for by `blue`, 2042");
    let mut system = Quota::default();
    system.stages.insert(0, quota.stages[&1]);
    refused(linker.admit(2, "blue", system), "E0678", "stage 0: tenant `blue` has resources there");
    refused(linker.admit(1, "blue", Quota::default()), "E0224", "the ID is taken by tenant `red`");
    refused(linker.admit(2, "red", Quota::default()), "E0224", "the name is taken by tenant `red`");
    refused(linker.load(9, &object("c", &TINY, part.clone())), "E0225", "admitted are: 1 (red)");
    let mut large = part.clone();
    large.stages.get_mut(&1).unwrap().exact_room = 6;
    refused(
        linker.load(1, &object("c", &TINY, large)),
        "E0671",
        "stage 1: the program needs 6 exact entries, tenant `red` was given 5",
    );
    refused(linker.load(1, &object("c", &DEFAULT, calc_part(&DEFAULT))), "E0220", "is for target default (");
    refused(linker.unload(1), "E0229", "nothing is running");
    let mut foreign = object("c", &TINY, part);
    foreign.demands.queues.insert(sluice_object::Destination::Port(2), 0);
    refused(linker.load(1, &foreign), "E0222", "port2 is not granted to tenant `red`, it may use:");
    assert_eq!(format!("{linker:?}"), before, "a refusal changes nothing");
    for id in 3..9 {
        linker.admit(id, &format!("t{id}"), Quota::default()).unwrap();
    }
    refused(linker.admit(2, "blue", Quota::default()), "E0227", "1 modules asked for, 0 left");
}

#[test]
fn state_is_kept_page_for_page_or_begins_with_zeros() {
    let with = |pages: u16, keep_state: bool| {
        let mut part = calc_part(&TINY);
        part.stages.get_mut(&1).unwrap().pages = pages;
        object("c", &TINY, RmtPart { keep_state, ..part })
    };
    let quota = |object: &Object| Quota::of(object.parts.rmt.as_ref().unwrap(), 1);
    let pages = |load: &Load| {
        let writes: Vec<RowWrite> = load.steps.iter().filter_map(row).collect();
        let of =
            |table| writes.iter().filter(move |w| w.table == table && w.words[0] & 1 == 1).map(|w| w.words[0] >> 1);
        let zeroed: Vec<u32> = writes.iter().filter(|w| w.table == Table::ZeroPage).map(|w| w.index).collect();
        (zeroed, of(Table::Page).collect::<Vec<u32>>())
    };
    let mut linker = Tenants::new(TINY);
    linker.admit(1, "keeper", quota(&with(3, true))).unwrap();
    assert_eq!(pages(&linker.load(1, &with(3, true)).unwrap()), (vec![0, 1, 2], vec![0, 1, 2]));
    assert_eq!(pages(&linker.load(1, &with(3, true)).unwrap()), (vec![], vec![0, 1, 2]));
    refused(linker.load(1, &with(2, true)), "E0673", "2 pages of state to be kept, the running one 3");
    refused(linker.load(1, &with(3, false)), "E0673", "begins with zeros while the running program has its own");
    linker.remove(1).unwrap();
    linker.admit(1, "fresh", quota(&with(3, false))).unwrap();
    assert_eq!(pages(&linker.load(1, &with(3, false)).unwrap()), (vec![0, 1, 2], vec![0, 1, 2]));
    let load = linker.load(1, &with(2, false)).unwrap();
    assert_eq!(pages(&load), (vec![3, 4], vec![3, 4]));
    let place = |wanted: &dyn Fn(&Step) -> bool| load.steps.iter().position(wanted).unwrap();
    let zero = place(&|s| matches!(s, Step::Write { table: Table::ZeroPage, .. }));
    let barrier = place(&|s| *s == Step::Barrier);
    let page = place(&|s| matches!(s, Step::Write { table: Table::Page, .. }));
    assert!(zero < barrier && barrier < page, "a page is named only when it is zero");
    assert_eq!(pages(&linker.load(1, &with(2, true)).unwrap()), (vec![], vec![3, 4]));
}

#[test]
fn groups_are_numbers_that_a_tenant_was_given() {
    let sends_to = |number: u16| {
        let word =
            WordOp { word: Word::Group as u8, source: WordSource::Imm(number), mask: 0xffff, when: When::Always };
        let mut program = calc::program(1);
        program.stages[1].as_mut().unwrap().actions[0].words = vec![word];
        encode(&program, &TINY).unwrap()
    };
    let mut own = sends_to(3);
    own.groups.insert(3, RmtGroup { destinations: 0b11, tags: [7; 8] });
    let mut linker = Tenants::new(TINY);
    linker.admit(1, "red", Quota::of(&own, 0xff)).unwrap();
    refused(linker.admit(2, "blue", Quota { groups: [0].into(), ..Quota::default() }), "E0674", "group 0; groups 1 to");
    refused(linker.load(1, &object("c", &TINY, sends_to(4))), "E0674", "stage 1, action 0 sends to group 4");
    let load = linker.load(1, &object("c", &TINY, own.clone())).unwrap();
    let groups = |load: &Load| load.steps.iter().filter_map(row).filter(|w| w.table == Table::Group).count();
    assert_eq!(groups(&load), 1);
    let mut other = own.clone();
    other.groups.insert(3, RmtGroup { destinations: 0b01, tags: [0; 8] });
    refused(
        linker.load(1, &object("c", &TINY, other)),
        "E0674",
        "has other destinations or tags in the running program",
    );
    assert_eq!(groups(&linker.load(1, &object("c", &TINY, own)).unwrap()), 0, "it is there and stays");
    refused(linker.set_group(1, 4, RmtGroup::default()), "E0674", "group 4 is not its own");
    assert_eq!(linker.set_group(1, 3, RmtGroup::default()).unwrap().steps.len(), 1);
    // Everyone may use the system module's.
    linker.admit(0, "system", Quota { groups: [5].into(), ..Quota::default() }).unwrap();
    let mut uses = sends_to(5);
    uses.groups.clear();
    linker.load(1, &object("c", &TINY, uses)).unwrap();
}

/// Failed before: the second tenant with the same numbers was refused.
#[test]
fn two_tenants_have_groups_of_the_same_names() {
    let quota = |groups: &[u16]| Quota { groups: groups.iter().copied().collect(), ..Quota::default() };
    let rows = |load: &Load, table| -> Vec<(u32, Vec<u32>)> {
        let rows = load.steps.iter().filter_map(row).filter(|w| w.table == table);
        rows.map(|w| (w.index, w.words.clone())).collect()
    };
    let names = |mask: u16, name: u16, first: u16| GroupNameRow { mask, name, first }.pack().unwrap();
    let mut linker = Tenants::new(TINY);
    linker.admit(0, "system", quota(&[5])).unwrap();
    assert_eq!(rows(&linker.admit(1, "red", quota(&[3])).unwrap(), Table::GroupName), []);
    // The highest rows that are free: two of them, for 2 and 3 differ in their lowest bit.
    let blue = linker.admit(2, "blue", quota(&[2, 3])).unwrap();
    assert_eq!(rows(&blue, Table::GroupName), [(2, names(0xfffe, 2, 14))]);
    let green = linker.admit(3, "green", quota(&[1, 4])).unwrap();
    assert_eq!(rows(&green, Table::GroupName), []);
    let group = |destinations| RmtGroup { destinations, tags: [0; 8] };
    assert_eq!(rows(&linker.set_group(2, 3, group(1)).unwrap(), Table::Group)[0].0, 15);
    assert_eq!(rows(&linker.set_group(1, 3, group(2)).unwrap(), Table::Group)[0].0, 3);
    // A name beyond the target's groups is one too; rows 8 to 11 are the only four side by side.
    let far = linker.admit(4, "far", quota(&[1000, 1003])).unwrap();
    assert_eq!(rows(&far, Table::GroupName), [(4, names(0xfffc, 1000, 8))]);
    refused(linker.admit(5, "wide", quota(&[3, 200])), "E0674", "groups 3 to 200 take 256 rows side by side");
    // 4 is green's row. A block hides the system's group whose number is in it.
    let hides = linker.admit(6, "hides", quota(&[4, 5])).unwrap();
    assert_eq!(rows(&hides, Table::GroupName), [(5, names(0xfffe, 4, 12))]);
    // What leaves gives back its rows and its names, and the system gets no row that a tenant has.
    let gone = linker.remove(2).unwrap();
    assert_eq!((rows(&gone, Table::GroupName).len(), rows(&gone, Table::Group).len()), (1, 2));
    assert_eq!(rows(&linker.admit(7, "again", quota(&[3])).unwrap(), Table::GroupName), [(2, names(0xffff, 3, 15))]);
    let mut other = Tenants::new(TINY);
    other.admit(1, "red", quota(&[3])).unwrap();
    refused(other.admit(0, "system", quota(&[3])), "E0674", "group 3 is tenant `red`'s");
    refused(other.admit(0, "system", quota(&[16])), "E0674", "groups 1 to 15");
}

#[test]
fn containers_shared_with_the_system_program_are_compared() {
    let shares = |list: &[(&str, u8)]| {
        let shared = list.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect();
        object("c", &TINY, RmtPart { shared, ..calc_part(&TINY) })
    };
    let system = |list: &[(&str, u8)]| {
        let shared = list.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect();
        object("s", &TINY, RmtPart { shared, ..encode(&Program::default(), &TINY).unwrap() })
    };
    let mut linker = Tenants::new(TINY);
    linker.admit(0, "system", Quota::default()).unwrap();
    linker.admit(1, "red", Quota::of(&calc_part(&TINY), 1)).unwrap();
    refused(linker.load(1, &shares(&[("ip", c4(7).0)])), "E0675", "exchanges `ip` with the system program, and none");
    linker.load(0, &system(&[("ip", c4(7).0), ("route", c2(7).0)])).unwrap();
    refused(linker.load(1, &shares(&[("ip", c4(6).0)])), "E0675", "has it in c4[7]");
    refused(linker.load(1, &shares(&[("mac", c4(6).0)])), "E0675", "does not have it");
    linker.load(1, &shares(&[("ip", c4(7).0)])).unwrap();
    // The system program may not take what the running tenant has for itself: CALC's first operand is in c4[0].
    refused(linker.load(0, &system(&[("ip", c4(0).0)])), "E0675", "`ip` is exchanged in c4[7]");
    linker.load(1, &shares(&[])).unwrap();
    refused(linker.load(0, &system(&[("ip", c4(0).0)])), "E0675", "the program fills c4[0]");
    linker.load(0, &system(&[("ip", c4(7).0)])).unwrap();
}

#[test]
fn loads_that_reach_into_another_module_or_a_live_generation_are_refused() {
    let mut linker = Tenants::new(DEFAULT);
    let part = calc_part(&DEFAULT);
    for (id, name) in [(1, "red"), (2, "blue")] {
        linker.admit(id, name, Quota::of(&part, 1)).unwrap();
        linker.load(id, &object("c", &DEFAULT, part.clone())).unwrap();
    }
    let before = linker.clone();
    let load = linker.load(1, &object("c", &DEFAULT, part.clone())).unwrap();
    assert_eq!(before.check(&load), Ok(()));
    let of_blue = linker.load(2, &object("c", &DEFAULT, part)).unwrap();
    let mut tables = std::collections::BTreeSet::new();
    for step in &of_blue.steps {
        let mut bad = load.clone();
        let place = bad.steps.iter().position(|s| matches!(s, Step::Commit { .. })).unwrap();
        if let Some(w) = row(step) {
            tables.insert(w.table);
        }
        if *step == Step::Barrier {
            continue;
        }
        bad.steps.insert(place, step.clone());
        let error = before.check(&bad).expect_err("a step of another tenant");
        assert!(["E0231", "E0232"].contains(&error.code()), "{error}");
    }
    assert!(tables.len() >= 9, "{tables:?}");
    // Without the wait before it, every row of a generation is refused.
    let mut early = load.clone();
    early.steps.retain(|s| !matches!(s, Step::WaitDrained { .. }));
    assert_eq!(before.check(&early).unwrap_err().code(), "E0232");
    // A row of the generation that packets carry.
    let mut live = load.clone();
    for step in &mut live.steps {
        if let Step::Write { table: Table::First, index, .. } = step {
            *index ^= 1;
        }
    }
    assert_eq!(before.check(&live).unwrap_err().code(), "E0232");
    let foreign = Load { target_hash: TINY.hash(), ..load.clone() };
    assert_eq!(before.check(&foreign).unwrap_err().code(), "E0233");
    let mut of_system = load;
    let words = vec![1];
    of_system.steps.insert(0, Step::Write { node: Node::Stage(1), table: Table::StageOwner, index: 0, words });
    assert_eq!(before.check(&of_system).unwrap_err().code(), "E0231");
}
