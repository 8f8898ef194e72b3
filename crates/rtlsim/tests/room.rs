//! Room in tables: as many entries as are reserved go in one by one, others in each tenant, and each is found by a packet, on the RTL and on the
//! software NIC.

use crate::pipeline::Pipeline;
use crate::support::BARE_DEFAULT;
use sluice_device::Device;
use sluice_formats::{Target, target};
use sluice_frontends::{P4Options, Reading, Tables};
use sluice_nic::SoftwareNic;
use sluice_object::TenantSpec;
use sluice_object::linker::policy::{Claim, Policy, share_out};
use sluice_rtlsim::RtlNic;
use std::collections::BTreeMap;
use std::path::Path;

/// A table with an exact key behind a guard, a counter and two ways of the parser; what an entry says goes into the packet.
const EXACT: &str = "#include <core.p4>
#include <v1model.p4>
header eth_t { bit<48> dst; bit<48> src; bit<16> type; }
header more_t { bit<16> word; }
struct headers { eth_t eth; more_t more; }
struct meta { }
parser P(packet_in packet, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start {
        packet.extract(hdr.eth);
        transition select(hdr.eth.type) { 0x1111: more; default: accept; }
    }
    state more { packet.extract(hdr.more); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    action to(bit<48> src) { hdr.eth.src = src; s.egress_spec = 0; }
    action drop() { mark_to_drop(s); }
    table t { key = { hdr.eth.dst: exact; } actions = { to; drop; } default_action = drop(); }
    apply { if (hdr.eth.isValid()) { t.apply(); } }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
";

fn tables(target: &Target, reserve: &[(&str, u32)]) -> Tables {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("exact.p4");
    std::fs::write(&path, EXACT).expect("it is written");
    let reserve = reserve.iter().map(|(table, entries)| ((*table).to_owned(), *entries)).collect();
    let p4 = P4Options { reserve, ..P4Options::default() };
    let read = Tables::read(Path::new(&path), &Reading { p4, ..Reading::new(target, "exact") }, None);
    read.unwrap_or_else(|e| panic!("{e}")).expect("it is a P4 program")
}

/// A destination and the source that a tenant's entry of this number gives, in six bytes each.
fn entry(tenant: u8, number: u32) -> ([u8; 6], [u8; 6]) {
    // The same destinations for all tenants, scattered.
    let [a, b, c, d] = number.wrapping_mul(0x9e37_79b1).to_be_bytes();
    ([2, a, b, c, d, 7], [6, tenant, d, c, (number >> 8) as u8, number as u8])
}

fn hex(bytes: [u8; 6]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Tenants whose tables have so many entries each, and packets for all of them and for none.
fn filled<D: Device>(
    nic: D,
    what: &str,
    reserved: &BTreeMap<u8, u32>,
    specs: Vec<TenantSpec>,
    mut programs: Vec<Tables>,
) {
    let mut pipeline = Pipeline::new(nic);
    for (spec, tables) in specs.into_iter().zip(&mut programs) {
        let tenant = spec.id as u8;
        let load = pipeline.linker.admit(spec).unwrap_or_else(|e| panic!("{e}"));
        pipeline.run(&load);
        pipeline.load(tenant, &tables.object().unwrap_or_else(|e| panic!("{e}")));
        let mut rows = 0;
        for number in 0..reserved[&tenant] {
            let (dst, src) = entry(tenant, number);
            let change = tables.change(&format!("add t hdr.eth.dst:0x{} to(src:0x{})", hex(dst), hex(src)));
            let change = change.unwrap_or_else(|e| panic!("entry {number}: {e}"));
            assert!(change.is_reserved, "tenant {tenant}, entry {number}");
            let operations = change.operations.expect("it is one row");
            let load = pipeline.linker.change_entries(tenant.into(), &operations).unwrap_or_else(|e| panic!("{e}"));
            match load {
                Some(load) => {
                    rows += 1;
                    pipeline.run(&load);
                }
                // The first one has the stage look at a key that it did not look at.
                None => {
                    let load = pipeline.replacement(tenant, &tables.object().unwrap_or_else(|e| panic!("{e}")));
                    pipeline.run(&load);
                }
            }
        }
        assert!(rows + 1 >= reserved[&tenant], "{what}: {rows} of {} by one row", reserved[&tenant]);
    }
    let all: Vec<(u8, u32)> =
        reserved.iter().flat_map(|(tenant, entries)| (0..=*entries).map(move |number| (*tenant, number))).collect();
    let frame = |(tenant, number): &(u8, u32)| {
        let mut bytes =
            [&entry(*tenant, *number).0[..], &[8; 6], &[if number % 2 == 0 { 0x11 } else { 0x22 }; 2]].concat();
        bytes.resize(64, 5);
        (*tenant, bytes, 0)
    };
    let (mut found, mut missed) = (0, 0);
    pipeline.offer(all.iter().map(frame));
    pipeline.nic.quiesce().expect("packets end");
    for outcome in pipeline.take() {
        let (tenant, number) = all[outcome.id as usize];
        if number == reserved[&tenant] {
            missed += u32::from(!matches!(outcome.verdict, sluice_device::Verdict::Forwarded { .. }));
            continue;
        }
        assert_eq!(
            outcome.bytes.get(6..12),
            Some(&entry(tenant, number).1[..]),
            "{what}: tenant {tenant}, entry {number}: {:?}",
            outcome.verdict
        );
        found += 1;
    }
    assert_eq!((found, missed), (reserved.values().sum::<u32>(), reserved.len() as u32), "{what}");
}

fn spec(target: &'static Target, tenant: u8, tables: &Tables) -> TenantSpec {
    let mut spec = TenantSpec::new(tenant.into(), format!("tenant{tenant}"));
    spec.vlans = vec![sluice_object::VlanGrant { port: None, vlan: tenant.into() }];
    spec.queues = (0..target.destinations() as u8)
        .filter_map(|number| Some((sluice_object::Destination::from_number(number, target)?, 60)))
        .collect();
    spec.make_room(&tables.object().unwrap_or_else(|e| panic!("{e}")));
    spec
}

/// On the software NIC, and on the RTL where its plug-in is.
fn on_both(
    target: &'static Target,
    what: &str,
    reserved: &BTreeMap<u8, u32>,
    make: &dyn Fn() -> (Vec<TenantSpec>, Vec<Tables>),
) {
    let (specs, programs) = make();
    filled(SoftwareNic::new(*target), &format!("{what}, model"), reserved, specs, programs);
    if BARE_DEFAULT.is_there() {
        let nic = RtlNic::open(target.name, BARE_DEFAULT.options(1)).unwrap_or_else(|e| panic!("{e}"));
        let (specs, programs) = make();
        filled(nic, &format!("{what}, RTL"), reserved, specs, programs);
    }
}

/// Three tenants with a stage each: all of its exact rows that one program may have.
#[test]
fn three_tenants_have_384_exact_entries_each() {
    let target = &target::DEFAULT;
    let reserved: BTreeMap<u8, u32> = (1..=3).map(|tenant| (tenant, 384)).collect();
    on_both(target, "384 each", &reserved, &|| {
        let programs: Vec<Tables> = (1..=3).map(|_| tables(target, &[("t", 384)])).collect();
        ((1..=3).zip(&programs).map(|(tenant, tables)| spec(target, tenant, tables)).collect(), programs)
    });
}

/// Six tenants, two in each stage, by dominant resource fairness: half of the exact rows each.
#[test]
fn what_a_policy_gives_goes_in_and_is_found() {
    let target = &target::DEFAULT;
    let shared = || {
        let programs: Vec<Tables> = (1..=6).map(|_| tables(target, &[])).collect();
        let objects: Vec<_> = programs.iter().map(|tables| tables.object().unwrap_or_else(|e| panic!("{e}"))).collect();
        let mut specs: Vec<TenantSpec> =
            (1..=6).zip(&programs).map(|(tenant, tables)| spec(target, tenant, tables)).collect();
        let claims: Vec<Claim> =
            specs.iter().zip(&objects).map(|(spec, object)| Claim::new(spec, Some(object))).collect();
        let given: Vec<_> = share_out(target, Policy::Drf, &claims).into_iter().map(|given| given.unwrap()).collect();
        let entries: Vec<u32> = given
            .iter()
            .map(|given| given.part.as_ref().unwrap().logical.as_ref().unwrap().tables[0].reserved.unwrap())
            .collect();
        // The program as its tenant reserves it.
        let programs: Vec<Tables> = entries.iter().map(|entries| tables(target, &[("t", *entries)])).collect();
        specs.iter_mut().zip(given).for_each(|(spec, given)| given.give(spec, None));
        (specs, programs, entries)
    };
    let reserved: BTreeMap<u8, u32> = (1..=6).zip(shared().2).collect();
    assert!(reserved.values().all(|entries| *entries == 192), "{reserved:?}");
    on_both(target, "half a stage each", &reserved, &|| {
        let (specs, programs, _) = shared();
        (specs, programs)
    });
}

/// What an operator makes of two numbers.
type Computes = fn(u32, u32) -> u32;

/// Numbers that tenants compute with, of which each has its own.
fn numbers(tenant: u8) -> (u32, u32) {
    (u32::from(tenant) << 24 | 0x0012_3456, u32::from(tenant) * 0x0101 + 7)
}

/// As many tenants as there are, each with the calculator: what they ask for is computed, and what is no request is dropped.
fn computed<D: Device>(nic: D, what: &str) {
    let target = &target::DEFAULT;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4/calc.p4");
    let tables = Tables::read(&path, &Reading::new(target, "calc"), None).unwrap_or_else(|e| panic!("{e}"));
    let tables = tables.expect("it is a P4 program");
    let object = tables.object().unwrap_or_else(|e| panic!("{e}"));
    let mut pipeline = Pipeline::new(nic);
    for tenant in 1..target.modules as u8 {
        let mut spec = spec(target, tenant, &tables);
        // Its packets go back to port 0.
        spec.queues = spec.queues.into_iter().take(1).collect();
        let load = pipeline.linker.admit(spec).unwrap_or_else(|e| panic!("{what}, tenant {tenant}: {e}"));
        pipeline.run(&load);
        pipeline.load(tenant, &object);
    }
    let asked: [(u8, Computes); 5] = [
        (0x2b, u32::wrapping_add),
        (0x2d, u32::wrapping_sub),
        (0x26, |one, two| one & two),
        (0x7c, |one, two| one | two),
        (0x5e, |one, two| one ^ two),
    ];
    // Of the last two one has no such operator, and the other is no request.
    let kinds = asked.len() + 2;
    let all: Vec<(u8, usize)> =
        (1..target.modules as u8).flat_map(|tenant| (0..kinds).map(move |kind| (tenant, kind))).collect();
    let frame = |&(tenant, kind): &(u8, usize)| {
        let (one, two) = numbers(tenant);
        let version = if kind == kinds - 1 { 2 } else { 1 };
        let operator = asked.get(kind).map_or(0, |(operator, _)| *operator);
        let head = [&[2; 6][..], &[4; 6], &[0x12, 0x34, b'P', b'4', version, operator]].concat();
        let mut bytes = [&head[..], &one.to_be_bytes(), &two.to_be_bytes(), &[0; 4]].concat();
        bytes.resize(64, 5);
        (tenant, bytes, 0)
    };
    pipeline.offer(all.iter().map(frame));
    pipeline.nic.quiesce().expect("packets end");
    let mut ended = 0;
    for outcome in pipeline.take() {
        let (tenant, kind) = all[outcome.id as usize];
        let is_sent = matches!(outcome.verdict, sluice_device::Verdict::Forwarded { .. });
        let meant = asked.get(kind).map(|(_, compute)| {
            let (one, two) = numbers(tenant);
            compute(one, two).to_be_bytes()
        });
        let found = outcome.bytes.get(26..30).filter(|_| is_sent);
        assert_eq!(found, meant.as_ref().map(|bytes| &bytes[..]), "{what}: tenant {tenant}, packet {kind}");
        ended += 1;
    }
    assert_eq!(ended, all.len(), "{what}");
}

#[test]
fn sixty_three_tenants_compute() {
    computed(SoftwareNic::new(target::DEFAULT), "model");
    if BARE_DEFAULT.is_there() {
        let nic = RtlNic::open(target::DEFAULT.name, BARE_DEFAULT.options(1)).unwrap_or_else(|e| panic!("{e}"));
        computed(nic, "RTL");
    }
}
