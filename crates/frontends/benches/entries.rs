//! How long an operation on one entry takes, from its call to its load, by the entries that are there; and an admission, by the tenants.
//!
//! `cargo bench -p sluice-frontends --bench entries`. Medians of the rounds, in microseconds; one round is an insertion, a modification and a
//! deletion of one entry, or of a batch of 64 (each entry of it). `text` begins with the words of a script and ends with the bytes of the load;
//! `linker` begins with the operation, ends likewise. Targets have at most 1,024 exact rows a stage, and a tenant 384 of them; `placer` is the same
//! operation on a pipeline with more rows than any target has, and ends with the rows, without the linker's check of each row's owner.

use sluice_formats::rmt::target::Target;
use sluice_formats::target::DEFAULT;
use sluice_frontends::{Reading, Tables};
use sluice_object::linker::rmt::{EntryAt, EntryKey, EntryLeads, Placer, Quota};
use sluice_object::rmt::logical::{LogicalCall, LogicalChange, LogicalEntry, LogicalMatch};
use sluice_object::rmt::{LogicalValue, RmtPart};
use sluice_object::{Action, Destination, KeySpec, Linker, Load, Object, TenantSpec, lower};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 301;
const BATCH: usize = 64;
/// Rows of a pipeline that no target has.
const MANY: Target = Target { exact: 1 << 15, ternary: 4096, ..DEFAULT.rmt };

const P4: &str = "#include <core.p4>
#include <v1model.p4>
header h_t { bit<32> a; bit<32> b; }
struct headers { h_t h; }
struct meta { }
parser P(packet_in packet, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    action to(bit<9> port) { s.egress_spec = port; }
    action drop() { mark_to_drop(s); }
    table t { key = { hdr.h.a: KIND; } actions = { to; drop; } default_action = drop(); size = 1024; }
    apply { t.apply(); }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
";

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// Microseconds of insertion, modification and deletion.
fn rounds(mut insert: impl FnMut(), mut modify: impl FnMut(), mut delete: impl FnMut()) -> [f64; 3] {
    let mut all = [(); 3].map(|()| Vec::with_capacity(ROUNDS));
    let timed = |one: &mut dyn FnMut()| {
        let begin = Instant::now();
        one();
        1e6 * begin.elapsed().as_secs_f64()
    };
    for _ in 0..ROUNDS {
        all[0].push(timed(&mut insert));
        all[1].push(timed(&mut modify));
        all[2].push(timed(&mut delete));
    }
    all.map(median)
}

fn line(what: &str, kind: &str, there: usize, times: [f64; 3], batch: Option<f64>) {
    let [insert, modify, delete] = times;
    let second = 3e6 / (insert + modify + delete);
    let batch = batch.map_or_else(|| "-".to_owned(), |batch| format!("{batch:.1}"));
    println!("| {what} | {kind} | {there} | {insert:.1} | {modify:.1} | {delete:.1} | {second:.0} | {batch} |");
}

fn bytes(load: &Load) {
    black_box(load.to_binary());
}

/// A tenant's program without entries.
fn tables(kind: &str) -> Tables {
    let file = std::env::temp_dir().join(format!("sluice_bench_entries_{}_{kind}.p4", std::process::id()));
    std::fs::write(&file, P4.replace("KIND", kind)).expect("a temporary file");
    let tables = Tables::read(&file, &Reading::new(&DEFAULT, "red"), None);
    std::fs::remove_file(&file).expect("a temporary file");
    tables.expect("it is compiled").expect("it is a P4 program")
}

/// A linker with a tenant of it, who is given at least so much.
fn loaded(object: &Object, exact: u32, ternary: u32) -> Linker {
    let mut linker = Linker::new(&DEFAULT);
    let mut spec = TenantSpec::new(3, "red");
    spec.make_room(object);
    let stages = spec.rmt.iter_mut().flat_map(|quota| quota.stages.values_mut());
    stages.for_each(|stage| (stage.exact, stage.ternary) = (stage.exact.max(exact), stage.ternary.max(ternary)));
    (0..4).for_each(|port| _ = spec.queues.insert(Destination::Port(port), 8));
    linker.admit(spec).expect("the pipeline is free");
    linker.load(3, object).expect("there is room");
    linker
}

/// What the entry of a number asks for, in words: numbers have prefixes of their own, the first one a whole address, beside which the others are
/// ternary.
fn words(kind: &str, number: usize) -> String {
    match kind {
        "exact" => format!("{number}"),
        "lpm" if number == 0 => "0x0a000000/32".to_owned(),
        "ternary" if number == 0 => "0x0a000000&&&0xffffffff".to_owned(),
        "lpm" => format!("{:#x}/24", 0x0a00_0000 + (number << 8)),
        _ => format!("{:#x}&&&0xffffff00", 0x0a00_0000 + (number << 8)),
    }
}

fn asked(kind: &str, number: usize) -> Vec<LogicalMatch> {
    let (value, mask) = match kind {
        "exact" => (number as u128, u128::from(u32::MAX)),
        _ if number == 0 => (0x0a00_0000, u128::from(u32::MAX)),
        _ => (0x0a00_0000 + ((number as u128) << 8), 0xffff_ff00),
    };
    vec![LogicalMatch::Masked { value: LogicalValue::of(value), mask: LogicalValue::of(mask) }]
}

fn goes_to(port: u128) -> LogicalCall {
    LogicalCall { action: 0, values: vec![LogicalValue::of(port)] }
}

fn entry(kind: &str, number: usize) -> LogicalEntry {
    LogicalEntry { matches: asked(kind, number), call: goes_to(2) }
}

fn inserted(kind: &str, at: usize, number: usize) -> LogicalChange {
    LogicalChange::Insert { table: 0, at, entry: entry(kind, number) }
}

/// From a script's words to the load's bytes.
fn by_text(kind: &str, there: usize) {
    let mut run = tables(kind);
    let mut linker = loaded(&run.object().expect("it has rows"), 0, 0);
    let priority = if kind == "ternary" { "5 " } else { "" };
    for number in 0..there {
        let change = run.change(&format!("add t {priority}hdr.h.a:{} to(port:2)", words(kind, number)));
        let operations = change.expect("it is an entry").operations.expect("it stands in its place");
        if linker.change_entries(3, &operations).expect("it is the tenant's").is_none() {
            linker.replace(3, &run.object().expect("it has rows")).expect("there is room");
        }
    }
    let key = words(kind, there + 1);
    let (add, change, remove) = (
        format!("add t {priority}hdr.h.a:{key} to(port:2)"),
        format!("change t {priority}hdr.h.a:{key} to(port:1)"),
        format!("remove t {priority}hdr.h.a:{key}"),
    );
    let both = std::cell::RefCell::new((run, linker));
    let one = |text: &str| {
        let (run, linker) = &mut *both.borrow_mut();
        let change = run.change(text).expect("it is an entry");
        linker.check_entry_sends(3, &change.sends).expect("there is a queue");
        let operations = change.operations.expect("it stands in its place");
        bytes(&linker.change_entries(3, &operations).expect("it is the tenant's").expect("it is one row"));
    };
    line("text", kind, there, rounds(|| one(&add), || one(&change), || one(&remove)), None);
}

/// The tables with so many entries.
fn filled(kind: &str, there: usize) -> Object {
    let mut object = tables(kind).object().expect("it has rows");
    let part = object.parts.rmt.take().expect("it is a program of the pipeline");
    let mut logical = part.logical.clone().expect("it is a P4 program");
    logical.tables[0].reserved = None;
    logical.tables[0].entries = (0..there).map(|number| entry(kind, number)).collect();
    object.parts.rmt = Some(Box::new(RmtPart::clone(&part).with_tables(*logical).expect("they fit")));
    object
}

fn batches(there: usize, kind: &str) -> [Vec<LogicalChange>; 2] {
    let add = (0..BATCH).map(|n| inserted(kind, there + n, there + 1 + n)).collect();
    let gone = (0..BATCH).rev().map(|n| LogicalChange::Delete { table: 0, at: there + n }).collect();
    [add, gone]
}

/// From an operation to the load's bytes.
fn by_linker(kind: &str, there: usize) {
    let linker = std::cell::RefCell::new(loaded(&filled(kind, there), 384, 32));
    let one = |changes: &[LogicalChange]| {
        let load = linker.borrow_mut().change_entries(3, changes).expect("it is the tenant's");
        bytes(&load.expect("it is one row"));
    };
    let (insert, delete) = ([inserted(kind, there, there + 1)], [LogicalChange::Delete { table: 0, at: there }]);
    let modify = [LogicalChange::Modify { table: 0, at: there, call: goes_to(1) }];
    let times = rounds(|| one(&insert), || one(&modify), || one(&delete));
    let batch = (kind == "exact" && there + BATCH < 384).then(|| {
        let [add, gone] = batches(there, kind);
        let [insert, _, delete] = rounds(|| one(&add), || (), || one(&gone));
        (insert + delete) / (2 * BATCH) as f64
    });
    line("linker", kind, there, times, batch);
}

/// From an operation to its rows, on a pipeline with many.
fn by_placer(kind: &str, there: usize) {
    let part = Arc::new(*filled(kind, there).parts.rmt.expect("it is a program of the pipeline"));
    let mut quota = Quota::of(&part, 0);
    let stages = quota.stages.values_mut();
    stages.for_each(|stage| (stage.exact, stage.ternary) = (12_000, 1_100));
    let mut placer = Placer::new(MANY);
    placer.admit(1, "red", quota).expect("the pipeline is free");
    placer.place(1, 0, &part).expect("there is room");
    let placer = std::cell::RefCell::new(placer);
    let one = |changes: &[LogicalChange]| {
        let rows = placer.borrow_mut().change_entries(1, 0, changes).expect("it is the tenant's");
        black_box(rows.expect("it is one row"));
    };
    let (insert, delete) = ([inserted(kind, there, there + 1)], [LogicalChange::Delete { table: 0, at: there }]);
    let modify = [LogicalChange::Modify { table: 0, at: there, call: goes_to(1) }];
    let times = rounds(|| one(&insert), || one(&modify), || one(&delete));
    let [add, gone] = batches(there, kind);
    let [add, _, gone] = rounds(|| one(&add), || (), || one(&gone));
    line("placer", kind, there, times, Some((add + gone) / (2 * BATCH) as f64));
}

/// Entries of a table that is no P4 program's.
fn plain(there: u32) {
    let mut linker = Linker::new(&DEFAULT);
    let mut spec = TenantSpec::new(1, "t");
    spec.max_entries = 384;
    (0..4).for_each(|port| _ = spec.queues.insert(Destination::Port(port), 8));
    linker.admit(spec).expect("the pipeline is free");
    let to = |port| Action::to([Destination::Port(port)]);
    let mut object = Object::new("t", KeySpec::DMAC, to(1));
    let key = |number: u32| {
        let mut key = [0; 13];
        key[..4].copy_from_slice(&number.to_be_bytes());
        key
    };
    (0..there).for_each(|number| object.push(key(number), to(2)));
    object.demands.entries = 384;
    linker.load(1, &object).expect("there is room");
    let linker = std::cell::RefCell::new(linker);
    let new = key(there + 5);
    let times = rounds(
        || bytes(&linker.borrow_mut().insert(1, &new, &to(2)).expect("there is room")),
        || bytes(&linker.borrow_mut().modify(1, &new, &to(3)).expect("it is there")),
        || bytes(&linker.borrow_mut().delete(1, &new).expect("it is there")),
    );
    line("linker", "plain", there as usize, times, None);
}

/// The same on a pipeline with many rows.
fn plain_placer(there: u32) {
    let to = |port| Action::to([Destination::Port(port)]);
    let (mut object, key) = (Object::new("t", KeySpec::DMAC, to(1)), |number: u32| {
        let mut key = [0; 13];
        key[..4].copy_from_slice(&number.to_be_bytes());
        key
    });
    (0..there).for_each(|number| object.push(key(number), to(2)));
    let part = lower::lower(&object, &DEFAULT, &BTreeMap::new()).expect("no container is taken");
    let mut placer = Placer::new(MANY);
    let quota = Quota { stages: [(lower::stage_of(&DEFAULT), lower::quota(12_000))].into(), ..Quota::default() };
    placer.admit(1, "t", quota).expect("the pipeline is free");
    placer.place(1, 0, &Arc::new(part)).expect("there is room");
    let bits = EntryKey::Exact(lower::key_bits(&KeySpec::DMAC, &key(there + 5)));
    let new = EntryAt { module: 1, generation: 0, stage: lower::stage_of(&DEFAULT), key: bits };
    let leads = |port| EntryLeads { action: 0, number: 1, data: lower::data_of(&to(port), &DEFAULT) };
    let placer = std::cell::RefCell::new(placer);
    let times = rounds(
        || drop(black_box(placer.borrow_mut().insert(new, &leads(2), None).expect("there is room"))),
        || drop(black_box(placer.borrow_mut().modify(new, &leads(3)).expect("it is there"))),
        || drop(black_box(placer.borrow_mut().delete(new).expect("it is there"))),
    );
    line("placer", "plain", there as usize, times, None);
}

/// Admissions beside so many tenants, each with a table of four entries.
fn admissions() {
    println!("\n| tenants there | admission, us |\n| --- | --- |");
    let spec = |number: u16| {
        let mut spec = TenantSpec::new(number + 1, format!("t{number}"));
        spec.max_entries = 4;
        _ = spec.queues.insert(Destination::Port(1), 8);
        spec
    };
    for there in [0, 1, 15, 31, 62] {
        let mut linker = Linker::new(&DEFAULT);
        for number in 0..there {
            linker.admit(spec(number)).expect("there is room");
            let object = Object::new("p", KeySpec::DMAC, Action::to([Destination::Port(1)]));
            linker.load(number + 1, &object).expect("there is room");
        }
        let all = (0..ROUNDS).map(|_| {
            let begin = Instant::now();
            bytes(&linker.admit(spec(there)).expect("there is room"));
            let took = 1e6 * begin.elapsed().as_secs_f64();
            linker.remove(there + 1).expect("it is there");
            took
        });
        println!("| {there} | {:.0} |", median(all.collect()));
    }
}

fn main() {
    println!(
        "| from | table | entries there | insert, us | modify, us | delete, us | operations a second | in a batch of {BATCH}, us |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    [10, 80].into_iter().for_each(|there| by_text("exact", there));
    ["lpm", "ternary"].into_iter().for_each(|kind| by_text(kind, 2));
    [10, 100, 380].into_iter().for_each(|there| by_linker("exact", there));
    ["lpm", "ternary"].into_iter().for_each(|kind| [10, 25].into_iter().for_each(|there| by_linker(kind, there)));
    [10, 100, 380].into_iter().for_each(plain);
    [10, 100, 1_000, 10_000].into_iter().for_each(|there| by_placer("exact", there));
    ["lpm", "ternary"]
        .into_iter()
        .for_each(|kind| [10, 100, 1_000].into_iter().for_each(|there| by_placer(kind, there)));
    [10, 100, 1_000, 10_000].into_iter().for_each(plain_placer);
    admissions();
}
