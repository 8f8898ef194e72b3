use super::*;
use sluice_formats::target::{DEFAULT, TINY};
use sluice_object::{Destination, Linker, Step, TenantSpec};
use std::path::PathBuf;

fn calc() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt/calc.rmt")
}

#[test]
fn a_module_becomes_an_object_for_the_target_and_an_object_stays_one() {
    for target in [DEFAULT, TINY] {
        let object = read(&calc(), &Reading::new(&target, "red")).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((object.name.as_str(), object.parts.rmt.is_some()), ("calc", true));
        let again = decode(Path::new("calc.slob"), &object.to_binary(), &Reading::new(&target, "red"));
        assert_eq!(again, Ok(object.clone()));
        assert_eq!(
            decode(Path::new("calc.json"), object.to_json().as_bytes(), &Reading::new(&target, "red")),
            Ok(object)
        );
    }
}

#[test]
fn mistakes_have_file_and_code() {
    let error = read(Path::new("/nowhere/x.rmt"), &Reading::new(&TINY, "red")).unwrap_err();
    assert_eq!(error.code, "E0305");
    assert!(error.what.starts_with("/nowhere/x.rmt: "), "{error}");
    let error = decode(Path::new("x.rmt"), b"module x\nfoo\n", &Reading::new(&TINY, "red")).unwrap_err();
    assert!(error.code.starts_with("E06") && error.what.contains("x.rmt:"), "{error}");
    let error = decode(Path::new("x.json"), b"{}", &Reading::new(&TINY, "red")).unwrap_err();
    assert!(error.code.starts_with("E02") && error.what.starts_with("x.json: "), "{error}");
}

fn swap() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp/swap/swap.o")
}

#[test]
fn an_object_file_of_clangs_is_known_by_its_bytes_whatever_its_name() {
    let elf = std::fs::read(swap()).unwrap_or_else(|e| panic!("{e}"));
    for name in ["swap.o", "swap.rmt", "swap.json", "swap"] {
        assert_eq!(Kind::of(Path::new(name), &elf), Kind::Elf);
        let object = decode(Path::new(name), &elf, &Reading::new(&TINY, "red")).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((object.name.as_str(), object.parts.xdp.is_some()), ("red", true));
    }
}

#[test]
fn options_of_a_program_for_another_file_are_refused() {
    let xdp = tenant::Options { section: Some("xdp".to_owned()), ..tenant::Options::default() };
    let reading = Reading { xdp, ..Reading::new(&TINY, "red") };
    let error = read(&calc(), &reading).unwrap_err();
    assert_eq!(error.code, "E0471");
    assert!(error.what.contains("calc.rmt: options of an XDP program"), "{error}");
    assert!(read(&swap(), &reading).is_ok());
}

fn object_of(path: PathBuf) -> Object {
    read(&path, &Reading::new(&TINY, "red")).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_file_replaces_its_own_engines_program_of_a_tenant_with_two() {
    let (module, program) = (object_of(calc()), object_of(swap()));
    let both = module.clone().join(program.clone()).unwrap();
    let after = |path: PathBuf, running: &Object| {
        successor(&path, Some(running), &[], &[], P4Options::default(), &TINY).unwrap()
    };
    let qos = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt/qos.rmt");
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp/drop/drop.o");

    let replaced = after(qos.clone(), &both);
    assert_eq!(replaced.parts.rmt, object_of(qos.clone()).parts.rmt);
    assert_eq!(replaced.parts.xdp, both.parts.xdp);
    let replaced = after(other.clone(), &both);
    assert_eq!(replaced.parts.rmt, both.parts.rmt);
    assert_eq!(replaced.parts.xdp.unwrap().programs, object_of(other.clone()).parts.xdp.unwrap().programs);

    // A tenant with one program has the new one alone, whichever engine it is for.
    assert_eq!(after(other, &module).parts.rmt, None);
    assert_eq!(after(qos, &program).parts.xdp, None);
}

#[test]
fn what_does_not_go_together_is_refused_in_words() {
    let (module, program) = (object_of(calc()), object_of(swap()));
    let mut table = Object::new("table", sluice_object::KeySpec::NONE, sluice_object::Action::DROP);
    table.demands.entries = 0;
    let refused = |a: &Object, b: &Object| a.clone().join(b.clone()).unwrap_err().to_string();
    assert!(refused(&module, &module).contains("both for the engine rmt"), "{}", refused(&module, &module));
    assert!(refused(&module, &table).contains("`table`, a table"), "{}", refused(&module, &table));
    let elsewhere = read(&calc(), &Reading::new(&DEFAULT, "red")).unwrap();
    let mut here = program.clone();
    here.target = module.target.clone();
    assert!(refused(&elsewhere, &here).contains("different targets"));
    // In either order it is the same program, under the first one's name.
    let (one, another) = (module.clone().join(program.clone()).unwrap(), program.join(module).unwrap());
    assert_eq!((one.parts, one.demands, one.default), (another.parts, another.demands, another.default));
}

fn rules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/l7/lines.l7")
}

#[test]
fn rules_stay_beside_what_is_replaced_and_that_beside_new_rules() {
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/l7/kv_prefix.l7");
    let (module, program, lines, store) =
        (object_of(calc()), object_of(swap()), object_of(rules()), object_of(other.clone()));
    let mut table = Object::new("table", sluice_object::KeySpec::DMAC, sluice_object::Action::DROP);
    table.push([0; sluice_formats::limits::KEY_BYTES], sluice_object::Action::DROP);
    let after = |path: PathBuf, running: &Object| {
        successor(&path, Some(running), &[], &[], P4Options::default(), &TINY).unwrap()
    };
    assert_eq!((lines.name.as_str(), lines.is_rules(), table.is_rules()), ("red", true, false));
    for first in [&module, &program, &table] {
        // In either order rules leave the rest to the other one.
        let running = lines.clone().join(first.clone()).unwrap();
        assert_eq!(running.parts, first.clone().join(lines.clone()).unwrap().parts);
        assert_eq!((running.default, &running.entries), (first.default, &first.entries));
        let replaced = after(other.clone(), &running);
        assert_eq!(replaced.parts.l7, store.parts.l7);
        assert_eq!((&replaced.parts.rmt, &replaced.entries), (&running.parts.rmt, &running.entries));
        assert_eq!(replaced.parts.xdp, running.parts.xdp);
        let replaced = after(calc(), &running);
        assert_eq!((&replaced.parts.rmt, &replaced.parts.l7), (&module.parts.rmt, &running.parts.l7));
        assert!(replaced.entries.is_empty(), "the table is gone");
        // Of a tenant with one of them, all is replaced.
        assert!(after(other.clone(), first).is_rules());
        assert_eq!(after(calc(), &lines).parts.l7, None);
    }
    let all = module.join(program.clone()).unwrap().join(lines.clone()).unwrap();
    assert_eq!(after(other, &all).parts.engines().len(), 3);
    assert!(after(swap(), &all).parts.l7.is_some_and(|part| Some(part) == lines.parts.l7));
    assert!(store.join(lines).unwrap_err().to_string().contains("both for the engine l7"));
}

#[test]
fn mistakes_of_rules_have_file_line_and_code() {
    let error = decode(Path::new("x.l7"), b"application a {\n", &Reading::new(&TINY, "red")).unwrap_err();
    assert!(error.code.starts_with("E085") && error.what.contains("x.l7:"), "{error}");
    let urls = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/l7/ping_pong_48.l7");
    let error = read(&urls, &Reading::new(&TINY, "red")).unwrap_err();
    assert!(error.code == "E0871" && error.what.contains("more than the 32 rows"), "{error}");
    assert!(read(&urls, &Reading::new(&DEFAULT, "red")).is_ok());
    let xdp = tenant::Options { section: Some("xdp".to_owned()), ..tenant::Options::default() };
    let error = read(&rules(), &Reading { xdp, ..Reading::new(&TINY, "red") }).unwrap_err();
    assert_eq!(error.code, "E0471");
}

const P4: &str = "#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> kind; bit<8> value; }
struct headers { h_t h; }
struct meta { }
parser P(packet_in packet, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    action to(bit<9> port) { s.egress_spec = port; }
    action drop() { mark_to_drop(s); }
    table t { key = { hdr.h.kind: exact; } actions = { to; drop; } default_action = drop(); }
    apply { t.apply(); }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
";

#[test]
fn a_p4_program_is_compiled_with_the_entries_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let entries = folder.path().join("entries.stf");
    let read = |text: &str| {
        std::fs::write(&entries, text).unwrap();
        let reading =
            Reading { p4: P4Options { entries: Some(&entries), ..P4Options::default() }, ..Reading::new(&TINY, "red") };
        decode(Path::new("t.p4"), P4.as_bytes(), &reading)
    };
    // Entries and what a packet without one comes to, in either memory.
    let rows = |object: &Object| {
        let stage = &object.parts.rmt.as_ref().unwrap().stages[&1];
        stage.exact.len() + stage.ternary.len()
    };
    let without = decode(Path::new("t.p4"), P4.as_bytes(), &Reading::new(&TINY, "red")).unwrap();
    let with = read("# two\nadd t hdr.h.kind:1 to(port:2)\nadd I.t hdr.h.kind:0x02 to(port:3)\n").unwrap();
    assert_eq!((with.name.as_str(), rows(&with)), ("red", rows(&without) + 2));
    for (text, code, what) in [
        ("add t hdr.h.kind:1 to(port:512)\n", NO_ENTRIES, "entries.stf:1: error[E0792]"),
        ("add t hdr.h.kind:1 to(port:1)\npacket 0 00\n", NO_ENTRIES, "entries.stf:2: a command of another kind"),
        ("ad t hdr.h.kind:1 to(port:1)\n", "E0790", "entries.stf:1"),
    ] {
        let error = read(text).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.what.contains(what), "{error}");
    }
    let reading =
        Reading { p4: P4Options { entries: Some(&entries), ..P4Options::default() }, ..Reading::new(&TINY, "red") };
    let error = decode(Path::new("x.rmt"), b"module x", &reading).unwrap_err();
    assert!(error.code == NO_ENTRIES && error.what.contains("with a P4 program (*.p4) only"), "{error}");
    let error = decode(Path::new("t.p4"), b"header", &Reading::new(&TINY, "red")).unwrap_err();
    assert!(error.what.contains("t.p4:1"), "{error}");
}

/// A program that runs, and the linker that has placed it.
struct Run {
    tables: Tables,
    linker: Linker,
}

impl Run {
    fn of(source: &str) -> Self {
        let tables = Tables::decode(Path::new("t.p4"), source.as_bytes(), &Reading::new(&TINY, "red"), None).unwrap();
        let mut linker = Linker::new(&TINY);
        let mut spec = TenantSpec::new(3, "red");
        spec.make_room(&tables.object().unwrap());
        (0..4).for_each(|port| _ = spec.queues.insert(Destination::Port(port), 8));
        linker.admit(spec).unwrap();
        linker.load(3, &tables.object().unwrap()).unwrap();
        Self { tables, linker }
    }

    /// Whether it took one row, and how many entries the stage has then.
    fn change(&mut self, entry: &str) -> Result<(bool, usize), ProgramFileError> {
        let change = self.tables.change(entry)?;
        let load = self.linker.change_entries(3, change.operations.as_ref().unwrap()).unwrap();
        let object = self.tables.object().unwrap();
        if load.is_none() {
            self.linker.replace(3, &object).unwrap();
        }
        // Either way as many rows lie there.
        let stage = &object.parts.rmt.as_ref().unwrap().stages[&1];
        let entries = self.linker.rmt_entries(3, 1).unwrap().len();
        assert_eq!(entries, stage.exact.len() + stage.ternary.len(), "{entry}");
        let is_row = |step: &Step| matches!(step, Step::Write { .. } | Step::Barrier);
        assert!(load.iter().flat_map(|load| &load.steps).all(is_row), "{entry}");
        Ok((load.is_some(), entries))
    }

    fn reserved(&self) -> u32 {
        let object = self.tables.object().unwrap();
        object.parts.rmt.unwrap().logical.unwrap().tables[0].reserved.unwrap()
    }
}

#[test]
fn an_entry_of_a_running_program_is_one_row_and_what_is_refused_changes_nothing() {
    let mut run = Run::of(P4);
    let room = run.reserved();
    // The first one has the stage look at a key that it did not look at.
    let (is_one, before) = run.change("add t hdr.h.kind:9 to(port:2)").unwrap();
    assert!(!is_one);
    assert_eq!(run.change("add t hdr.h.kind:1 to(port:2)"), Ok((true, before + 1)));
    assert_eq!(run.change("add t hdr.h.kind:2 to(port:2)"), Ok((true, before + 2)));
    assert_eq!(run.change("change t hdr.h.kind:1 to(port:3)"), Ok((true, before + 2)));
    assert_eq!(run.change("change t hdr.h.kind:1 drop()"), Ok((true, before + 2)));
    let there = run.tables.object().unwrap();
    for (wrong, code, what) in [
        ("add t hdr.h.kind:1 to(port:1)", NO_ENTRIES, "it has an entry with these keys"),
        ("change t hdr.h.kind:7 to(port:1)", NO_ENTRIES, "it has no entry like that"),
        ("remove t hdr.h.kind:7", NO_ENTRIES, "it has no entry like that"),
        ("change t hdr.h.kind:2 to(port:512)", NO_ENTRIES, "here are 9"),
        ("change t hdr.h.kind:2 to(port:300)", "E0750", "port 300 in table `I.t`; the pipeline has ports 0 to 7"),
        ("add t hdr.h.kind:3 to(port:300)", "E0750", "port 300 in table `I.t`; the pipeline has ports 0 to 7"),
        ("setdefault t to(port:300)", "E0750", "port 300 in table `I.t`; the pipeline has ports 0 to 7"),
        ("add t hdr.h.kind:2", "E0790", "expected"),
        ("packet 0 00", NO_ENTRIES, "a command of another kind"),
    ] {
        let error = run.change(wrong).unwrap_err();
        assert_eq!(error.code, code, "{error}");
        assert!(error.what.contains(what), "{error}");
        assert_eq!(run.tables.object().unwrap(), there, "{wrong}");
    }
    for taken in [
        "add t hdr.h.kind:3 drop()",
        "change t hdr.h.kind:1 to(port:1)",
        "remove t hdr.h.kind:1",
        "setdefault t to(port:1)",
    ] {
        let change = run.tables.change(taken).unwrap();
        assert_ne!(run.tables.object().unwrap(), there, "{taken}");
        run.tables.undo(change);
        assert_eq!(run.tables.object().unwrap(), there, "{taken}");
    }
    assert_eq!(run.change("remove t hdr.h.kind:2"), Ok((true, before + 1)));
    assert_eq!(run.change("setdefault t to(port:1)").unwrap().1, before + 1);
    assert_eq!(run.change("remove t hdr.h.kind:1"), Ok((true, before)));
    // The last one goes, and the first one comes again, without another key to look at.
    assert_eq!(run.change("remove t hdr.h.kind:9"), Ok((true, before - 1)));
    assert_eq!(run.change("add t hdr.h.kind:9 to(port:1)"), Ok((true, before)));
    // As many as are reserved have room, and what is reserved stays what it was.
    assert!(room > 3, "{room}");
    for key in 1..room {
        assert_eq!(run.change(&format!("add t hdr.h.kind:{} to(port:1)", 100 + key)).unwrap().1, before + key as usize);
    }
    assert_eq!(run.reserved(), room);
}

#[test]
fn a_counted_entry_keeps_its_counter_and_is_named_as_it_is_now() {
    let table = "direct_counter(CounterType.packets) n;
    table t { key = { hdr.h.kind: exact; } actions = { to; drop; } default_action = drop(); counters = n; }";
    let mut run = Run::of(
        &P4.replace("table t { key = { hdr.h.kind: exact; } actions = { to; drop; } default_action = drop(); }", table),
    );
    let counters = |run: &Run| -> std::collections::BTreeMap<String, Vec<u32>> {
        let hits = run.linker.entry_hits(3).unwrap().into_iter();
        hits.map(|hits| (hits.entry, hits.rows.iter().map(|(_, row)| *row).collect())).collect()
    };
    for key in [5, 7, 6, 8] {
        run.change(&format!("add t hdr.h.kind:{key} to(port:2)")).unwrap();
    }
    let name = |key: u8| format!("hdr.h.kind:{key:#x} I.to(port:0x2)");
    let all = counters(&run);
    assert_eq!(all.len(), 4);
    let rows: std::collections::BTreeSet<_> = all.values().collect();
    assert_eq!(rows.len(), 4, "each has its own: {all:?}");
    run.change("remove t hdr.h.kind:5").unwrap();
    let less = counters(&run);
    assert_eq!(less.keys().cloned().collect::<Vec<_>>(), [name(6), name(7), name(8)]);
    assert!(less.iter().all(|(name, rows)| all[name] == *rows), "{less:?} {all:?}");
    // One that comes has what was given back, and one whose action is another has what it had.
    run.change("add t hdr.h.kind:1 to(port:2)").unwrap();
    assert_eq!(counters(&run)[&name(1)], all[&name(5)]);
    run.change("change t hdr.h.kind:7 to(port:1)").unwrap();
    assert_eq!(counters(&run)["hdr.h.kind:0x7 I.to(port:0x1)"], all[&name(7)]);
    // So it is in a new generation of the same program.
    let before = counters(&run);
    run.linker.replace(3, &run.tables.object().unwrap()).unwrap();
    assert_eq!(counters(&run), before);
}
