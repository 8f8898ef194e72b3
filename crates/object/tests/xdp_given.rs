//! What tenants are given of the XDP engine: work of a packet, and a part of the queues in front of the cores.

use crate::common::{Rows, tenant};
use sluice_formats::rows::ShareRow;
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::xdp::rows::{XdpCodeRow, XdpPoolRow, XdpProgramRow, XdpShareRow};
use sluice_formats::{EngineId, Node, Row, Table};
use sluice_object::linker::rmt::Quota;
use sluice_object::{
    Action, Destination, Install, KeySpec, LinkError, Linker, Load, Object, Step, TenantSpec, Xdp, XdpCode, XdpProgram,
    XdpRefusal, XdpShare, XdpWarpRoom,
};
use std::collections::BTreeMap;

fn compiler(_: &Xdp, _: Option<XdpWarpRoom>) -> Result<XdpCode, XdpRefusal> {
    Ok(XdpCode { starts: vec![0], rows: vec![XdpCodeRow::default()], ..XdpCode::default() })
}

fn hardware() -> Linker {
    Linker::of(&TINY, &[EngineId::XDP], Some(compiler))
}

fn object() -> Object {
    let program = XdpProgram { name: "main".to_owned(), slots: vec![0x95], functions: Vec::new() };
    let mut object = Object::new("program", KeySpec::NONE, Action::to([Destination::Host(1)]));
    let (programs, maps, keep) = (vec![program], Vec::new(), Vec::new());
    let (entries, interfaces) = (Vec::new(), BTreeMap::new());
    object.parts.xdp = Some(Box::new(Xdp { main: 0, programs, maps, keep, entries, interfaces }));
    object
}

fn given(id: u16, name: &str, work: Option<u32>, share: Option<(u16, u16)>) -> TenantSpec {
    let xdp_share = share.map(|(weight, rows)| XdpShare { weight, rows, ..XdpShare::default() });
    TenantSpec { xdp_work: work, xdp_share, ..tenant(id, name, 0, &TINY) }
}

/// The most work of the program that a load installs.
fn installed(load: &Load) -> Option<u32> {
    let install = load.steps.iter().find_map(|step| match step {
        Step::Install { install: Some(Install::Xdp(placed)), .. } => Some(placed.work),
        _ => None,
    });
    install.expect("an install")
}

fn program(rows: &Rows, linker: &Linker, id: u16) -> XdpProgramRow {
    let bank = 2 * u32::from(linker.tenant(id).unwrap().module) + u32::from(linker.generation(id).unwrap());
    rows.row(Node::Xdp, Table::XdpProgram, bank)
}

#[test]
fn a_tenant_has_his_work_and_his_part_of_the_queues_as_long_as_he_is_there() {
    let (mut linker, mut rows) = (hardware(), Rows::new(&TINY));
    rows.run(&linker.admit(given(7, "red", Some(9), Some((12, 100)))).unwrap());
    rows.run(&linker.admit(given(8, "blue", None, None)).unwrap());
    let module = |linker: &Linker, id| u32::from(linker.tenant(id).unwrap().module);
    let (red, blue) = (module(&linker, 7), module(&linker, 8));
    let share = |rows: &Rows, module| rows.row::<XdpShareRow>(Node::Xdp, Table::XdpShare, module);
    assert_eq!(share(&rows, red), XdpShareRow { weight: 12, rows: 100, borrows: true, ..XdpShareRow::default() });
    assert_eq!(share(&rows, blue), XdpShareRow::default());
    for (id, work) in [(7, 9), (8, 65_536)] {
        for _ in 0..2 {
            let running = linker.tenant(id).unwrap().running.is_some();
            let load = if running { linker.replace(id, &object()) } else { linker.load(id, &object()) }.unwrap();
            assert_eq!(installed(&load), Some(work), "the interpreter beside the hardware counts the same");
            rows.run(&load);
            assert_eq!(program(&rows, &linker, id).work, work);
            // The load as a file has it too.
            assert_eq!(Load::from_binary(&load.to_binary()).unwrap(), load);
            assert_eq!(Load::from_json(&load.to_json()).unwrap(), load);
        }
    }
    // His part stays when his program goes, as his other queues do.
    rows.run(&linker.unload(7).unwrap());
    assert_eq!(share(&rows, red), XdpShareRow { weight: 12, rows: 100, borrows: true, ..XdpShareRow::default() });
    assert_eq!(linker.xdp_queue_rows_left(), 504 - 100);
    rows.run(&linker.remove(7).unwrap());
    assert_eq!(share(&rows, red), XdpShareRow::default());
    assert_eq!(linker.xdp_queue_rows_left(), 504);
    // Who comes into his module has nothing of it.
    rows.run(&linker.admit(given(9, "green", None, None)).unwrap());
    assert_eq!((module(&linker, 9), share(&rows, red)), (red, XdpShareRow::default()));
}

#[test]
fn a_tenant_has_as_much_work_on_the_software_nic_as_in_hardware() {
    let mut linker = Linker::new(&TINY);
    for (id, work) in [(7, None), (8, Some(1)), (9, Some(1 << 24))] {
        let load = linker.admit(given(id, &format!("t{id}"), work, Some((3, 20)))).unwrap();
        let of_xdp = |step: &&Step| matches!(step, Step::Write { node: Node::Xdp, .. });
        assert_eq!(load.steps.iter().filter(of_xdp).count(), 0, "it has no queues in front of programs");
        // Without a word of the tenant's the software NIC takes what the hardware does (`WORK` in `sluice_ebpf::engine`).
        assert_eq!(installed(&linker.load(id, &object()).unwrap()), work);
    }
}

#[test]
fn what_cannot_be_given_is_refused_with_what_is_left_and_who_has_it() {
    let mut linker = hardware();
    let refused = |linker: &mut Linker, work, share| -> (&'static str, String) {
        let error: LinkError = linker.admit(given(7, "red", work, share)).unwrap_err();
        (error.code(), error.to_string())
    };
    for (work, share, words) in [
        (Some(0), None, "tenant `red`: xdp_work: found 0, allowed: 1 to 16777216 back edges and calls of a packet"),
        (Some((1 << 24) + 1), None, "xdp_work: found 16777217"),
        (None, Some((0, 9)), "xdp_share.weight: found 0, allowed: 1 to 65535, or no weight for 16"),
        (None, Some((1, 505)), "xdp_share.rows: found 505, allowed: at most 504 of 32 bytes on target tiny"),
    ] {
        let (code, text) = refused(&mut linker, work, share);
        assert!(code == "E0226" && text.contains(words), "{code} {text}");
    }
    linker.admit(given(8, "blue", None, Some((1, 300)))).unwrap();
    linker.admit(given(9, "green", None, Some((1, 50)))).unwrap();
    let (code, text) = refused(&mut linker, None, Some((1, 155)));
    assert_eq!(code, "E0227");
    assert_eq!(text, "155 rows of the XDP queues asked for, 154 left; held by blue 300, green 50");
    linker.admit(given(7, "red", None, Some((1, 154)))).unwrap();
}

#[test]
fn a_load_that_gives_more_than_its_tenant_has_is_refused() {
    let mut linker = hardware();
    linker.admit(given(7, "red", None, None)).unwrap();
    linker.admit(given(8, "blue", Some(100), Some((4, 60)))).unwrap();
    let (red, blue) = (linker.tenant(7).unwrap().module, linker.tenant(8).unwrap().module);
    let before = linker.clone();
    let load = linker.load(8, &object()).unwrap();
    assert_eq!(before.check(&load), Ok(()));
    let share = |module: u8, weight, rows| {
        let words = XdpShareRow { weight, rows, borrows: weight > 0, ..XdpShareRow::default() }.pack().unwrap();
        let step = Step::Write { node: Node::Xdp, table: Table::XdpShare, index: module.into(), words };
        Load { steps: vec![step], ..load.clone() }
    };
    assert_eq!(before.check(&share(blue, 4, 60)), Ok(()));
    assert_eq!(before.check(&share(blue, 0, 0)), Ok(()));
    for (module, weight, rows) in [(blue, 4, 61), (blue, 5, 60), (red, 0, 0), (red, 4, 60)] {
        let error = before.check(&share(module, weight, rows)).unwrap_err();
        assert_eq!(error.code(), "E0231", "{module} {weight} {rows}: {error}");
    }
    let mut more = load.clone();
    for step in &mut more.steps {
        if let Step::Write { table: Table::XdpProgram, words, .. } = step {
            let row = XdpProgramRow::unpack(words).unwrap();
            if row.valid {
                *words = XdpProgramRow { work: 101, ..row }.pack().unwrap();
            }
        }
    }
    assert_eq!(before.check(&more).unwrap_err().code(), "E0231");
    let mut beside = load.clone();
    for step in &mut beside.steps {
        if let Step::Install { install: Some(Install::Xdp(placed)), .. } = step {
            placed.work = Some(101);
        }
    }
    assert_eq!(before.check(&beside).unwrap_err().code(), "E0231");
}

/// A tenant of the default target with contexts of its own.
fn owner(id: u16, contexts: u8, memory: u8, work: Option<u32>) -> TenantSpec {
    let xdp_share = Some(XdpShare { contexts, memory, ..XdpShare::default() });
    TenantSpec { xdp_work: work, xdp_share, ..tenant(id, &format!("t{id}"), 0, &DEFAULT) }
}

#[test]
fn bays_of_owners_lie_apart_at_the_end_of_packet_memory_and_come_back() {
    let (mut linker, mut rows) = (Linker::of(&DEFAULT, &[EngineId::XDP], Some(compiler)), Rows::new(&DEFAULT));
    let share = |rows: &Rows, linker: &Linker, id| {
        let module = linker.tenant(id).unwrap().module;
        rows.row::<XdpShareRow>(Node::Xdp, Table::XdpShare, module.into())
    };
    let reserved = |rows: &Rows| rows.row::<XdpPoolRow>(Node::Xdp, Table::XdpPool, 0).reserved;
    rows.run(&linker.admit(owner(1, 4, 5, None)).unwrap());
    // 64 units a core; two contexts of each, of 5 units.
    let row = XdpShareRow { weight: 16, contexts: 2, first: 54, units: 5, ..XdpShareRow::default() };
    assert_eq!((share(&rows, &linker, 1), reserved(&rows)), (row, 10));
    rows.run(&linker.admit(owner(2, 6, 3, Some(1_024))).unwrap());
    let row = XdpShareRow { weight: 16, contexts: 3, first: 45, units: 3, borrows: true, ..XdpShareRow::default() };
    assert_eq!((share(&rows, &linker, 2), reserved(&rows)), (row, 19));
    // Who works longer does not borrow; who reserves nothing may all the same.
    rows.run(&linker.admit(TenantSpec { xdp_work: Some(1_024), ..tenant(3, "t3", 0, &DEFAULT) }).unwrap());
    assert_eq!(share(&rows, &linker, 3), XdpShareRow { borrows: true, ..XdpShareRow::default() });
    rows.run(&linker.admit(TenantSpec { xdp_work: Some(1_025), ..tenant(4, "t4", 0, &DEFAULT) }).unwrap());
    assert_eq!(share(&rows, &linker, 4), XdpShareRow::default());
    // 12 of 16 contexts may be owned: two are left.
    let error = linker.admit(owner(5, 4, 5, None)).unwrap_err();
    assert_eq!(error.to_string(), "4 contexts of the XDP cores asked for, 2 left; held by t2 6, t1 4");
    // The hole of who left is taken again, and what is reserved does not become less.
    rows.run(&linker.remove(1).unwrap());
    assert_eq!(reserved(&rows), 19);
    rows.run(&linker.admit(owner(5, 2, 7, None)).unwrap());
    assert_eq!((share(&rows, &linker, 5).first, reserved(&rows)), (57, 19));
    rows.run(&linker.remove(2).unwrap());
    assert_eq!(reserved(&rows), 7);
    rows.run(&linker.remove(5).unwrap());
    assert_eq!(reserved(&rows), 0);
}

#[test]
fn contexts_that_cannot_be_given_are_refused() {
    let mut linker = Linker::of(&DEFAULT, &[EngineId::XDP], Some(compiler));
    for (contexts, memory, code, words) in [
        (3, 5, "E0226", "xdp_share.contexts: found 3, allowed: a multiple of 2 (the engine's cores) up to 12"),
        (14, 1, "E0226", "xdp_share.contexts: found 14, allowed: a multiple of 2 (the engine's cores) up to 12"),
        (2, 0, "E0226", "xdp_share.memory: found 0, allowed: 1 to 15 KiB"),
        (2, 16, "E0226", "xdp_share.memory: found 16, allowed: 1 to 15 KiB"),
        (
            12,
            9,
            "E0226",
            "xdp_share.memory: found 9 KiB for each of 6 contexts of a core, allowed: at most 49 KiB in all: 15 of 64 stay for all",
        ),
    ] {
        let error = linker.admit(owner(1, contexts, memory, None)).unwrap_err();
        assert!(error.code() == code && error.to_string().contains(words), "{error}");
    }
    // The tiny one has four contexts, two of a core, and 16 KiB of packet memory.
    let tiny = |contexts, memory| {
        let xdp_share = Some(XdpShare { contexts, memory, ..XdpShare::default() });
        hardware().admit(TenantSpec { xdp_share, ..tenant(7, "red", 0, &TINY) }).map(|_| ())
    };
    assert_eq!(tiny(2, 1), Ok(()));
    assert!(tiny(4, 1).unwrap_err().to_string().contains("a multiple of 2 (the engine's cores) up to 2"));
    assert!(tiny(2, 2).unwrap_err().to_string().contains("at most 1 KiB in all: 15 of 16 stay for all"));
}

#[test]
fn a_program_whose_packets_fit_into_no_bay_is_refused() {
    let grows = |xdp: &Xdp, room: Option<XdpWarpRoom>| compiler(xdp, room).map(|code| XdpCode { grows: true, ..code });
    let mut linker = Linker::of(&DEFAULT, &[EngineId::XDP], Some(grows));
    linker.admit(owner(1, 2, 4, None)).unwrap();
    let error = linker.load(1, &object()).unwrap_err();
    let words = "xdp_share.memory: found 4, allowed: at least 5 KiB, which a packet of object `program` needs";
    assert!(error.code() == "E0226" && error.to_string().contains(words), "{error}");
    linker.admit(owner(2, 2, 5, None)).unwrap();
    linker.load(2, &object()).unwrap();
}

#[test]
fn a_load_that_puts_bays_where_others_lie_is_refused() {
    let mut linker = Linker::of(&DEFAULT, &[EngineId::XDP], Some(compiler));
    linker.admit(owner(1, 4, 5, None)).unwrap();
    linker.admit(owner(2, 2, 5, None)).unwrap();
    let (before, module) = (linker.clone(), linker.tenant(2).unwrap().module);
    let load = linker.load(2, &object()).unwrap();
    let with = |table: Table, index: u32, words: Vec<u32>| {
        let step = Step::Write { node: Node::Xdp, table, index, words };
        before.check(&Load { steps: vec![step], ..load.clone() }).map_err(|e| e.code())
    };
    let share = |first, contexts, units| {
        let row = XdpShareRow { weight: 16, first, contexts, units, ..XdpShareRow::default() };
        with(Table::XdpShare, module.into(), row.pack().unwrap())
    };
    assert_eq!(share(49, 1, 5), Ok(()));
    for (first, contexts, units) in [(54, 1, 5), (49, 2, 5), (49, 1, 6), (48, 1, 5)] {
        assert_eq!(share(first, contexts, units), Err("E0231"), "{first} {contexts} {units}");
    }
    // The others' bays stay reserved, and a largest packet's place is left to all.
    let pool = |reserved| with(Table::XdpPool, 0, XdpPoolRow { reserved }.pack().unwrap());
    assert_eq!([9, 10, 15, 49, 50].map(pool), [Err("E0231"), Ok(()), Ok(()), Ok(()), Err("E0231")]);
}

/// What the programs add, as if the analysis had said it: the second slot.
fn bound(xdp: &Xdp) -> Option<u16> {
    xdp.programs[0].slots.get(1).map(|bytes| *bytes as u16)
}

/// A program of which so much is known; of none nothing is.
fn adds(bytes: Option<u16>) -> Object {
    let mut object = object();
    let xdp = object.parts.xdp.as_mut().unwrap();
    xdp.programs[0].slots.extend(bytes.map(u64::from));
    object
}

#[test]
fn what_programs_add_is_charged_from_the_first_that_does_and_never_less() {
    let charged = |rows: &Rows, module: u8| rows.row::<ShareRow>(Node::Port(0), Table::Share, module.into()).growth;
    for compile in [None, Some(compiler as _)] {
        let (linker, mut rows) = (Linker::of(&TINY, &[EngineId::RMT, EngineId::XDP], compile), Rows::new(&TINY));
        let mut linker = linker.bounded_by(bound);
        let mut spec = TenantSpec { xdp_growth: Some(128), ..given(7, "red", None, None) };
        // Beside it what a module of the pipeline may add: a packet comes to both.
        spec.rmt = Some(Quota { growth: 20, ..Quota::default() });
        // The program has a row of the pipeline, as a table has.
        spec.max_entries = 1;
        rows.run(&linker.admit(spec).unwrap());
        rows.run(&linker.admit(given(8, "blue", None, None)).unwrap());
        let module = linker.tenant(7).unwrap().module;
        assert_eq!(
            (charged(&rows, module), linker.growth_of(7)),
            (20, Some(20)),
            "nobody pays for what he does not run"
        );
        for (bytes, limit, charge) in [
            (Some(0), 0, 20),
            (Some(8), 8, 28),
            (Some(4), 4, 28),
            (Some(9), 9, 148),
            (None, 128, 148),
            (Some(900), 128, 148),
        ] {
            let running = linker.tenant(7).unwrap().running.is_some();
            let load = if running { linker.replace(7, &adds(bytes)) } else { linker.load(7, &adds(bytes)) }.unwrap();
            let at = |found: &dyn Fn(&Step) -> bool| load.steps.iter().position(found);
            if let Some(raised) = at(&|step| matches!(step, Step::Write { table: Table::Share, .. })) {
                assert!(raised < at(&|step| matches!(step, Step::Commit { .. })).unwrap(), "it is paid for too late");
            }
            assert_eq!(Load::from_binary(&load.to_binary()).unwrap(), load);
            assert_eq!(Load::from_json(&load.to_json()).unwrap(), load);
            rows.run(&load);
            assert_eq!((charged(&rows, module), linker.growth_of(7)), (charge, Some(charge)), "{bytes:?}");
            if compile.is_some() {
                assert_eq!(program(&rows, &linker, 7).growth, limit + 1, "{bytes:?}");
            }
        }
        rows.run(&linker.unload(7).unwrap());
        assert_eq!(charged(&rows, module), 148, "he may load one again");
        rows.run(&linker.remove(7).unwrap());
        assert_eq!(charged(&rows, module), 0);
    }
}

#[test]
fn a_load_cannot_say_that_frames_gain_more_than_its_tenant_is_given() {
    let mut linker = hardware();
    let error = linker.admit(TenantSpec { xdp_growth: Some(2047), ..given(7, "red", None, None) }).unwrap_err();
    assert_eq!((error.code(), error.to_string().contains("0 to 2046 bytes")), ("E0226", true), "{error}");
    linker.admit(TenantSpec { xdp_growth: Some(100), ..given(7, "red", None, None) }).unwrap();
    linker.admit(given(8, "blue", None, None)).unwrap();
    let before = linker.clone();
    let load = linker.load(7, &object()).unwrap();
    assert_eq!(before.check(&load), Ok(()));
    // In the row, and in the program beside it; and the charge of others.
    for (row, placed, code) in [
        (Some(102), None, "E0231"),
        (Some(0), None, "E0231"),
        (None, Some(Some(101)), "E0231"),
        (None, Some(None), "E0231"),
    ] {
        let mut more = load.clone();
        for step in &mut more.steps {
            match step {
                Step::Write { table: Table::XdpProgram, words, .. } => {
                    let was = XdpProgramRow::unpack(words).unwrap();
                    let growth = row.filter(|_| was.valid).unwrap_or(was.growth);
                    *words = XdpProgramRow { growth, ..was }.pack().unwrap();
                }
                Step::Install { install: Some(Install::Xdp(program)), .. } => {
                    program.growth = placed.unwrap_or(program.growth);
                }
                _ => {}
            }
        }
        let error = before.check(&more).unwrap_err();
        assert_eq!(error.code(), code, "{row:?} {placed:?}");
        assert!(error.to_string().contains("xdp_growth"), "{error}");
    }
    let uncharged = Step::Write {
        node: Node::Port(0),
        table: Table::Share,
        index: 1,
        words: ShareRow { growth: 7, ..ShareRow::default() }.pack().unwrap(),
    };
    assert_eq!(before.check(&Load { steps: vec![uncharged], ..load }).unwrap_err().code(), "E0231");
}
