//! What the linker gives, refuses and lets nobody write.

use crate::common::*;
use sluice_formats::random::Rng;
use sluice_formats::rmt::rows::{ActionRow, ExactRow, GrantedRow, KeyRow};
use sluice_formats::rows::{QuantumRow, RateRow, VlanRow};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::{Node, Row, Table};
use sluice_object::linker::rmt::{Quota, StageQuota};
use sluice_object::linker::spaces::Region;
use sluice_object::{
    Action, Destination, KeySpec, LinkError, Linker, Load, NicSettings, Object, Rate, Step, TargetNeed, TenantSpec,
    VlanGrant,
};

const PORT1: Destination = Destination::Port(1);

fn key(n: u8) -> [u8; 13] {
    KeySpec::DMAC.masked([n; 13])
}

fn program(n: u8) -> Object {
    let mut object = Object::new(format!("p{n}"), KeySpec::DMAC, Action::DROP);
    (0..n).for_each(|i| object.push(key(i), Action::to([PORT1])));
    object
}

/// Red (1) runs three entries, blue (2) nothing.
fn two() -> Linker {
    let mut linker = Linker::new(&TINY);
    linker.admit(tenant(1, "red", 8, &TINY)).unwrap();
    linker.admit(tenant(2, "blue", 4, &TINY)).unwrap();
    linker.load(1, &program(3)).unwrap();
    linker
}

fn refused<T: std::fmt::Debug>(result: Result<T, LinkError>, code: &str, part: &str) {
    let error = result.expect_err(part);
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(part), "`{error}` has no `{part}`");
}

#[test]
fn each_mistake_has_its_code_and_says_what_is_allowed() {
    let linker = two();
    let admit = |change: &dyn Fn(&mut sluice_object::TenantSpec)| {
        let mut spec = tenant(3, "green", 4, &TINY);
        change(&mut spec);
        linker.clone().admit(spec)
    };
    refused(admit(&|s| s.id = 4096), "E0226", "0 to 4095");
    refused(admit(&|s| s.id = 1), "E0224", "taken by tenant `red`");
    refused(admit(&|s| s.name = "blue".into()), "E0224", "the name");
    refused(admit(&|s| s.name = "a b".into()), "E0226", "letters");
    refused(admit(&|s| s.quantum = 0), "E0226", "1 to 65535");
    refused(admit(&|s| s.vlans[0].vlan = 4096), "E0226", "0 to 4095");
    refused(admit(&|s| s.vlans[0] = VlanGrant { port: Some(4), vlan: 3 }), "E0226", "0 to 3");
    refused(admit(&|s| s.vlans[0] = VlanGrant { port: Some(2), vlan: 2 }), "E0224", "VLAN 2 on port 2 is taken by");
    refused(
        admit(&|s| {
            s.queues.insert(Destination::Port(5), 1);
        }),
        "E0221",
        "port0 to port3",
    );
    refused(
        admit(&|s| {
            s.queues.insert(PORT1, 700);
        }),
        "E0227",
        "held by blue 128, red 128",
    );
    refused(admit(&|s| s.max_entries = 25), "E0226", "at most 24");
    refused(admit(&|s| s.max_entries = 16), "E0670", "16 match sets");
    refused(admit(&|s| s.rate = Some(Rate { bits_per_second: 9, burst_bytes: 0 })), "E0226", "7812501 to ");

    let load = |change: &dyn Fn(&mut Object)| {
        let mut object = program(2);
        change(&mut object);
        linker.clone().load(2, &object)
    };
    refused(load(&|o| o.target = TargetNeed::exact(&DEFAULT)), "E0220", "default (861b0ad9)");
    refused(load(&|o| o.push(key(7), Action::to([Destination::Host(6)]))), "E0221", "host6 does not exist");
    refused(load(&|o| o.demands.entries = 5), "E0223", "needs 5 entries, tenant `blue` was given 4");
    refused(
        load(&|o| {
            o.demands.queues.insert(PORT1, 99);
        }),
        "E0223",
        "99 cells at port1",
    );
    refused(load(&|o| o.demands.quantum = 1501), "E0223", "quantum");
    refused(load(&|o| o.entries[1] = o.entries[0]), "E0207", "entries[1]");
    let mut narrow = Linker::new(&TINY);
    let mut spec = tenant(1, "red", 4, &TINY);
    spec.queues.remove(&PORT1);
    narrow.admit(spec).unwrap();
    refused(narrow.load(1, &program(1)), "E0222", "port1 is not granted");

    let mut linker = linker.clone();
    refused(linker.load(1, &program(1)), "E0229", "`p3` is running");
    refused(linker.replace(2, &program(1)), "E0229", "nothing is running");
    refused(linker.replace(9, &program(1)), "E0225", "1 (red), 2 (blue)");
    refused(linker.insert(1, &key(0), &Action::DROP), "E0230", "the key is there");
    refused(linker.modify(1, &key(9), &Action::DROP), "E0230", "no such entry");
    refused(linker.delete(1, &[1; 13]), "E0206", "leave out");
    for n in 3..8 {
        linker.insert(1, &key(n), &Action::DROP).unwrap();
    }
    refused(linker.insert(1, &key(8), &Action::DROP), "E0230", "8 are granted");
    let mut settings = NicSettings::new(&TINY);
    settings.ports[2].untagged = Some(5);
    refused(linker.nic(settings.clone()), "E0225", "tenant 5");
    settings.ports[2].untagged = Some(0);
    refused(linker.nic(settings.clone()), "E0226", "port 2: untagged: found the system tenant");
    settings.ports[2].untagged = None;
    settings.ports[1].min_frame = 9217;
    refused(linker.nic(settings), "E0226", "port 1");
    for id in 3..8 {
        linker.admit(tenant(id, &format!("t{id}"), 0, &TINY)).unwrap_or_else(|e| panic!("{e}"));
        if linker.left().cells < 128 {
            break;
        }
    }
}

#[test]
fn modules_run_out_with_the_names_of_their_holders() {
    let mut linker = Linker::new(&TINY);
    for id in 1..8 {
        linker.admit(sluice_object::TenantSpec::new(id, format!("t{id}"))).unwrap();
    }
    refused(linker.admit(sluice_object::TenantSpec::new(8, "t8")), "E0227", "held by t1 1, t2 1");
    linker.admit(sluice_object::TenantSpec::new(0, "system")).unwrap();
    assert_eq!(linker.tenant(0).unwrap().module, 0);
}

/// The example of docs/errors/E0670.md.
#[test]
fn match_sets_run_out_in_powers_of_two() {
    let admit = |red, blue| {
        let mut linker = Linker::new(&DEFAULT);
        linker.admit(tenant(1, "red", red, &DEFAULT)).unwrap();
        let sets = region(&linker, 1).sets();
        (sets, linker.admit(tenant(2, "blue", blue, &DEFAULT)))
    };
    let (sets, blue) = admit(256, 1);
    assert_eq!(sets, 256);
    // In the next stage there is room.
    blue.unwrap();
    let (sets, blue) = admit(192, 192);
    assert_eq!(sets, 128);
    blue.unwrap();
}

/// As many tables as the stages of tenants have room for; a refusal says what lacks in each.
#[test]
fn tables_lie_in_the_first_stage_that_has_room_for_them() {
    let mut linker = Linker::new(&DEFAULT);
    let table = |id: u16| tenant(id, &format!("t{id}"), 256, &DEFAULT);
    for id in 1..=3 {
        linker.admit(table(id)).unwrap();
        let module = linker.tenant(id).unwrap().module;
        assert_eq!(linker.placer().stages_of(module), [(STAGE, id as u8)].into());
        linker.load(id, &program(3)).unwrap();
    }
    let lacks = "256 match sets (a power of two, for both generations), 0, the largest block 0, left";
    let text = linker.clone().admit(table(4)).unwrap_err().to_string();
    assert!(text.starts_with("stage 1: 256 match sets") && text.contains("held by t1 256"), "{text}");
    for stage in 2..=3 {
        assert!(text.contains(&format!("; in stage {stage}: stage {stage}: {lacks}")), "{text}");
    }
    // A program that asks for two stages finds them only side by side in order.
    let quota = |stages: &[u8]| Quota {
        stages: stages.iter().map(|s| (*s, StageQuota { exact: 256, ..StageQuota::default() })).collect(),
        ..Quota::default()
    };
    let two = |id: u16| TenantSpec { rmt: Some(quota(&[1, 2])), ..TenantSpec::new(id, format!("t{id}")) };
    let none = TenantSpec { rmt: Some(quota(&[7])), ..TenantSpec::new(8, "t8") };
    refused(linker.clone().admit(none), "E0670", "stage 7: 1 rows asked for by `t8`, stages 0 to 4 left");
    linker.remove(2).unwrap();
    assert!(linker.clone().admit(two(5)).is_err());
    linker.remove(3).unwrap();
    linker.admit(two(5)).unwrap();
    let module = linker.tenant(5).unwrap().module;
    assert_eq!(linker.placer().stages_of(module), [(1, 2), (2, 3)].into());
    // Entries of a table in another stage come and go by the table's own number.
    linker.remove(5).unwrap();
    linker.admit(table(6)).unwrap();
    linker.load(6, &program(3)).unwrap();
    assert_eq!(linker.placer().stages_of(linker.tenant(6).unwrap().module), [(STAGE, 2)].into());
    linker.insert(6, &key(9), &Action::to([PORT1])).unwrap();
    linker.modify(6, &key(9), &Action::DROP).unwrap();
    assert_eq!(linker.entries(6).unwrap().len(), 4);
    linker.delete(6, &key(9)).unwrap();
    linker.replace(6, &program(2)).unwrap();
    assert_eq!(linker.entries(6).unwrap().len(), 2);
}

#[test]
fn crowded_keys_are_refused_by_name_and_nothing_changes() {
    let mut linker = Linker::new(&TINY);
    linker.admit(tenant(1, "red", 16, &TINY)).unwrap();
    let bank = region(&linker, 1).half(1);
    let mut rng = Rng::new(3);
    let mut object = Object::new("crowd", KeySpec::FIVE_TUPLE, Action::DROP);
    while object.entries.len() < 5 {
        let k = random_key(&mut rng);
        let slots = slots(bank, &KeySpec::FIVE_TUPLE, &k);
        if slots[0].set == bank.base && slots[2].set == bank.base {
            object.push(k, Action::DROP);
        }
    }
    let before = linker.left();
    refused(linker.load(1, &object), "E0228", "full (4 of 32 rows used)");
    assert_eq!(linker.left(), before);
    object.entries.pop();
    linker.load(1, &object).unwrap();
}

/// Admission: VLANs after everything else, and what a new owner gets is zero.
#[test]
fn a_new_owner_gets_zeroed_sets_and_its_vlans_last() {
    let mut linker = two();
    let mut rows = Rows::new(&TINY);
    let (node, way2) = (Node::Stage(STAGE), Table::Exact(2));
    for set in 0..TINY.rmt.sets() as u32 {
        rows.rows.insert((node, way2, set), ExactRow { module_id: 1, ..ExactRow::default() }.pack().unwrap());
    }
    rows.run(&linker.remove(1).unwrap());
    let load = linker.admit(tenant(5, "green", 8, &TINY)).unwrap();
    rows.run(&load);
    let green = linker.tenant(5).unwrap();
    assert_eq!(green.module, 1, "the freed module is used again");
    let Region { base, bits } = region(&linker, 5);
    for set in base..base + (1 << bits) {
        assert_eq!(rows.layout::<ExactRow>(node, way2, set), ExactRow::default());
    }
    let barrier = load.steps.iter().position(|s| *s == Step::Barrier).unwrap();
    for (i, step) in load.steps.iter().enumerate() {
        if let Step::Write { table, .. } = step {
            assert_eq!(*table == Table::Vlan, i > barrier, "step {i}");
        }
    }
    let row: VlanRow = rows.row(Node::Port(3), Table::Vlan, 5);
    assert_eq!(row, VlanRow { valid: true, keep_tag: false, module_id: 1, tenant: 5 });
}

/// Removal: no new packets, then no program, then nothing left inside, then the limits.
#[test]
fn a_tenant_leaves_step_by_step() {
    let mut linker = two();
    let mut settings = NicSettings::new(&TINY);
    settings.ports[2].untagged = Some(1);
    linker.nic(settings).unwrap();
    let load = linker.remove(1).unwrap();
    assert_eq!(linker.settings().ports[2].untagged, None);
    let at = |what: &dyn Fn(&Step) -> bool| load.steps.iter().position(what).unwrap();
    let table = |t: Table| at(&move |s| matches!(s, Step::Write { table, .. } if *table == t));
    let order = [
        table(Table::Vlan),
        table(Table::PortPolicy),
        at(&|s| matches!(s, Step::Barrier)),
        at(&|s| matches!(s, Step::Commit { .. })),
        at(&|s| matches!(s, Step::WaitQueuesEmpty { .. })),
        table(Table::Limit),
    ];
    assert!(order.is_sorted(), "{order:?}");
    refused(linker.unload(1), "E0225", "2 (blue)");
}

/// The action row that a tenant's table has in its other generation.
fn second_half_action(linker: &Linker, id: u16) -> u16 {
    let load = linker.clone().replace(id, &program(1)).unwrap();
    let action = |s: &Step| match s {
        Step::Write { table: Table::Action, index, words, .. } if words.iter().any(|w| *w != 0) => Some(*index as u16),
        _ => None,
    };
    load.steps.iter().find_map(action).unwrap()
}

/// Loads that write one row more than their tenant's, each refused with the owner's name.
#[test]
fn no_load_writes_outside_its_tenant() {
    let linker = two();
    let (own, other) = (region(&linker, 1), region(&linker, 2));
    let bank = own.half(1);
    let entry = |module: u8, generations: u8| {
        let key = sluice_object::lower::key_bits(&KeySpec::DMAC, &key(50));
        let action = second_half_action(&linker, 1);
        ExactRow { generations, module_id: module, key, action, number: 1 }.pack().unwrap()
    };
    let key_row = |region: Region| {
        KeyRow { set_base: region.base as u8, set_bits: region.bits as u8, ..KeyRow::default() }.pack().unwrap()
    };
    let write = |node, table, index, row: Vec<u32>| vec![Step::Write { node, table, index, words: row }];
    let queue = |d: u32, m: u32| d * TINY.modules + m;
    let (egress, stage) = (Node::Egress, Node::Stage(STAGE));
    let cases: Vec<(Vec<Step>, &str)> = vec![
        (write(stage, Table::Exact(0), other.base, entry(1, 2)), "is not tenant `red`'s"),
        (write(stage, Table::Exact(0), 15, entry(1, 2)), "is not tenant `red`'s"),
        (write(stage, Table::Exact(0), bank.base, entry(2, 2)), "is not tenant `red`'s"),
        (write(stage, Table::Exact(0), bank.base, entry(1, 1)), "is not tenant `red`'s"),
        (write(stage, Table::Data, other.base, vec![0; 4]), "is not tenant `red`'s"),
        (write(stage, Table::Action, 0, ActionRow { owner: 2, ..ActionRow::default() }.pack().unwrap()), "owner 2"),
        (write(stage, Table::Key, 5, vec![0; KeyRow::words()]), "tenant `red` has module 1"),
        (write(stage, Table::Key, 3, key_row(other.half(1))), "is not tenant `red`'s"),
        (write(Node::Stage(0), Table::Key, 3, vec![0; KeyRow::words()]), "stage of the system module"),
        (write(stage, Table::StateWord, 0, vec![0]), "not written"),
        (write(stage, Table::StageOwner, 0, vec![0]), "belongs to the system"),
        (write(Node::Deparser, Table::Granted, 2, GrantedRow { destinations: 1 }.pack().unwrap()), "of module 2"),
        (write(Node::Stamp, Table::Rate, 2, vec![0; 2]), "module 2 of tenant `blue`"),
        (write(Node::Stamp, Table::Rate, 1, RateRow { cost_per_byte: 1, burst: 9 }.pack().unwrap()), "granted"),
        (write(Node::Stamp, Table::Generation, 1, vec![1]), "change by commit"),
        (write(egress, Table::Quantum, 1, QuantumRow { bytes: 9000 }.pack().unwrap()), "granted are 1500"),
        (write(egress, Table::Limit, queue(3, 2), vec![1]), "module 2 of tenant `blue`"),
        (write(egress, Table::Limit, queue(3, 1), vec![17]), "granted are 16"),
        (
            write(egress, Table::Limit, queue(3, 1), vec![16 | 1 << 16]),
            "reserve of queue 25 in cells: found 1, granted are 0",
        ),
        (write(egress, Table::QueueDrops, 0, vec![0; 2]), "not written"),
        (write(egress, Table::Quantum, 8, vec![1]), "8 rows"),
        (write(Node::Port(0), Table::Vlan, 2, vec![0]), "VLAN 2 on port 0 is not tenant `red`'s"),
        (write(Node::Port(0), Table::Vlan, 1, vec![0x205]), "granted"),
        (write(Node::Port(7), Table::Vlan, 1, vec![0]), "no table"),
        (write(Node::Port(0), Table::PortPolicy, 0, vec![0; 2]), "belongs to the system"),
        (write(Node::System, Table::Control, 1, vec![1]), "belongs to the system"),
        (write(Node::Parser, Table::Quantum, 1, vec![1]), "no table"),
        (write(egress, Table::Quantum, 1, vec![1, 2]), "2 words"),
        (vec![Step::Commit { module: 2, generation: 1 }], "module 2 of tenant `blue`"),
        (vec![Step::WaitDrained { module: 1, generation: 2 }], "generation 2"),
        (vec![Step::WaitQueuesEmpty { module: 0 }], "module 0"),
    ];
    let own = linker.clone().replace(1, &program(4)).unwrap();
    linker.check(&own).unwrap();
    for (extra, part) in cases {
        let steps = own.steps.iter().take(1).cloned().chain(extra).collect();
        let load = Load { steps, ..own.clone() };
        refused(linker.check(&load), "E0231", part);
    }
    refused(linker.check(&Load { format_version: 1, ..own.clone() }), "E0233", "version");
    refused(linker.check(&Load { target_hash: DEFAULT.hash(), ..own.clone() }), "E0233", "5100c025");
    refused(linker.check(&Load { tenant: 9, ..own.clone() }), "E0225", "9");
}

#[test]
fn orders_that_packets_notice_are_refused() {
    let linker = two();
    let own = linker.clone().replace(1, &program(4)).unwrap();
    let without = |skip: &dyn Fn(&Step) -> bool| {
        let steps = own.steps.iter().filter(|s| !skip(s)).cloned().collect();
        linker.check(&Load { steps, ..own.clone() })
    };
    without(&|_| false).unwrap();
    refused(without(&|s| matches!(s, Step::WaitDrained { .. })), "E0232", "without a wait");
    refused(without(&|s| matches!(s, Step::Commit { .. })), "E0232", "new packets are stamped with");
    let mut twice = own.clone();
    twice.steps.insert(2, own.steps[1].clone());
    refused(linker.check(&twice), "E0232", "written twice");
}

#[test]
fn a_refused_operation_changes_nothing() {
    let mut linker = two();
    let before = format!("{linker:?}");
    let _ = linker.load(2, &program(5)).unwrap_err();
    let _ = linker.admit(tenant(1, "x", 4, &TINY)).unwrap_err();
    let _ = linker.insert(1, &key(1), &Action::DROP).unwrap_err();
    assert_eq!(format!("{linker:?}"), before);
}

#[test]
fn a_rate_is_never_above_what_is_asked() {
    for bits_per_second in [7_812_501, 10_000_000, 999_999_999, 10_000_000_000, 400_000_000_000] {
        let row = Rate { bits_per_second, burst_bytes: 1500 }.row().unwrap();
        let real = 8.0 * 65_536.0 * 250e6 / f64::from(row.cost_per_byte);
        assert!(real <= bits_per_second as f64 && real > 0.98 * bits_per_second as f64, "{bits_per_second}: {real}");
    }
}
