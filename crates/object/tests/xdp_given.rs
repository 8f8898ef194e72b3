//! What tenants are given of the XDP engine: work of a packet, and a part of the queues in front of the cores.

use crate::common::{Rows, tenant};
use sluice_formats::target::TINY;
use sluice_formats::xdp::rows::{XdpCodeRow, XdpProgramRow, XdpShareRow};
use sluice_formats::{EngineId, Node, Row, Table};
use sluice_object::{
    Action, Destination, Install, KeySpec, LinkError, Linker, Load, Object, Step, TenantSpec, Xdp, XdpCode, XdpProgram,
    XdpRefusal, XdpShare,
};
use std::collections::BTreeMap;

fn compiler(_: &Xdp) -> Result<XdpCode, XdpRefusal> {
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
    let xdp_share = share.map(|(weight, rows)| XdpShare { weight, rows });
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
    assert_eq!(share(&rows, red), XdpShareRow { weight: 12, rows: 100 });
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
    assert_eq!(share(&rows, red), XdpShareRow { weight: 12, rows: 100 });
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
        // It executes a packet in place, and all others wait.
        assert_eq!(installed(&linker.load(id, &object()).unwrap()), Some(work.unwrap_or(65_536)));
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
        let words = XdpShareRow { weight, rows }.pack().unwrap();
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
