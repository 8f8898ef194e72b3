//! What is said of outer VLAN tags before a packet comes, and that no packet makes another one.

use sluice_formats::random::{Rng, test_seed};
use sluice_object::rmt::{Outer, RmtPart};
use sluice_object::{Demands, Destination, Linker, Rate, TenantSpec, VlanGrant, Warning};
use sluice_rmt::action::{A, Alu, B, Op, When};
use sluice_rmt::deparser::DeparseRow;
use sluice_rmt::encode::object::object;
use sluice_rmt::parser::Known;
use sluice_rmt::phv::{c2, c4};
use sluice_rmt::pipeline::Memory;
use sluice_rmt::target::{DEFAULT, TINY};
use sluice_rmt::testing::{Shape, aim, checked_program};
use sluice_rmt::text::read_warned;
use sluice_rmt::{Arrival, Outcome, Pipeline, Program, encode};
use std::collections::BTreeSet;

/// A module that takes bytes 12 to 15 of frames that `select` leads to, does `stage` and leaves as `row` says.
fn text(select: &str, stage: &str, row: &str) -> String {
    format!(
        "module m\ncontainer tag = c4[0], other = c4[1]\nparser {{\n select 12:2 {{ {select} -> all }}\n path all {{ take tag @12, \
         other @30; least 34 }}\n}}\nstage 1 {{\n {stage}\n}}\ndeparser {{\n row r {{ {row} }}\n}}\n"
    )
}

fn warned(text: &str) -> (RmtPart, Vec<String>) {
    let (unit, warnings) = read_warned("m.rmt", text, &TINY).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let said = warnings.iter().map(|w| format!("{} line {}: {}", w.code(), w.position.line, w.problem)).collect();
    (unit.part(&TINY).unwrap(), said)
}

fn all(statements: &str) -> String {
    format!("default out; action out {{ {statements}; send port1, port2 }}")
}

#[test]
fn check_names_the_row_what_is_put_and_the_vlans() {
    let cases = [
        (
            "0x8100",
            all("tag[11:0] = 20"),
            "put tag @12",
            "line 11: row `r` makes the outer VLAN tag of path `all`: `tag` @12: VLAN 20",
        ),
        ("0x0800", all("tag = 0x8100e014"), "grow 4 at 12; put tag @12", "`tag` @12: VLAN 20;"),
        ("0x8100", all("tag[11:0] = 20 if c"), "put tag @12", "`tag` @12: VLAN 20;"),
        ("0x8100", all("tag[11:0] += 1"), "put tag @12", "a VLAN that packets, state or later entries decide"),
        ("0x8100", all("tag[11:0] = other[11:0]"), "put tag @12", "a VLAN that packets, state or later entries decide"),
        ("0x0800", all("tag = other"), "put tag @12", ""),
        ("0x8100", all("other = other"), "shrink 4 at 12", "shrink 4 at 12: no tag where one came"),
        (
            "0x8100",
            "key other; exact { 1 -> to(7); 2 -> to(8) }; action to(v: 4) { tag[11:0] = v[11:0]; send port1 }"
                .to_owned(),
            "put tag @12",
            "VLAN 7, VLAN 8",
        ),
        (
            "0x8100",
            "key other; room exact 4; exact { 1 -> to(7) }; action to(v: 4) { tag[11:0] = v[11:0]; send port1 }"
                .to_owned(),
            "put tag @12",
            "VLAN 7, a VLAN that packets, state or later entries decide",
        ),
    ];
    for (select, stage, row, expected) in cases {
        let stage = if stage.contains("if c") { format!("condition c = other == 1\n {stage}") } else { stage };
        let (_, said) = warned(&text(select, &stage, row));
        if expected.is_empty() {
            assert_eq!(said, [""; 0], "{stage}");
            continue;
        }
        assert!(said.len() == 1 && said[0].starts_with("E0616 ") && said[0].contains(expected), "{stage}: {said:?}");
    }
}

#[test]
fn check_says_nothing_where_the_tag_is_left_alone() {
    for (select, stage, row) in [
        ("0x8100", all("other = 20"), "put tag @12"),
        ("0x8100", all("other = 20"), "put other @30"),
        // Priority bits.
        ("0x8100", all("tag[15:13] = 5"), "put tag @12"),
        // Bytes 14 and 15 of what is no tag.
        ("0x0800", all("tag[15:0] = 0x4500"), "put tag[15:8] @14"),
        ("*", all("tag[15:0] = 0x4500"), "put tag[15:0] @14"),
        ("0x8100", all("other = 0x81000014"), "grow 4 at 16; put other @16"),
    ] {
        let (part, said) = warned(&text(select, &stage, row));
        assert_eq!(said, [""; 0], "{stage} {row}: {:?}", part.outer_tags());
    }
}

#[test]
fn no_shipped_module_is_said_to_make_a_tag() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs/rmt");
    let folders = [folder.to_owned(), format!("{folder}/system")];
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|f| f.unwrap().path());
    let modules: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "rmt")).collect();
    assert!(modules.len() >= 13);
    for file in modules {
        let (unit, _) = read_warned("m.rmt", &std::fs::read_to_string(&file).unwrap(), &DEFAULT).unwrap();
        let tags = unit.part(&DEFAULT).unwrap().outer_tags();
        assert!(tags.iter().all(|t| !t.certain && !t.adds), "{}: {tags:?}", file.display());
    }
}

/// Blue (20) has VLAN 20 on port 1, nobody anything on port 2; red (30) is as `red` says and runs the module.
fn shared(module: &str, red: impl Fn(&mut TenantSpec), untagged: [Option<u16>; 2]) -> Vec<Warning> {
    let (part, _) = warned(module);
    let mut linker = Linker::new(&sluice_formats::target::TINY);
    let vlan = |port, vlan| VlanGrant { port: Some(port), vlan };
    let object = object("retag", part, Demands::default(), &TINY);
    let mut spec = TenantSpec { vlans: vec![vlan(0, 30), vlan(1, 30)], ..TenantSpec::new(30, "red") };
    spec.queues = [(Destination::Port(1), 16), (Destination::Port(2), 16)].into();
    spec.make_room(&object);
    red(&mut spec);
    linker.admit(spec).unwrap();
    linker.load(30, &object).unwrap();
    // Who comes later is seen too.
    linker.admit(TenantSpec { vlans: vec![vlan(0, 20), vlan(1, 20)], ..TenantSpec::new(20, "blue") }).unwrap();
    let mut settings = linker.settings().clone();
    for (port, tenant) in settings.ports.iter_mut().zip(untagged) {
        port.untagged = tenant;
    }
    linker.nic(settings).unwrap();
    linker.warnings()
}

#[test]
fn the_linker_says_whose_vlan_a_program_writes_and_where() {
    let keep = |spec: &mut TenantSpec| spec.keep_tag = true;
    let retag = |vlan: u16| text("0x8100", &all(&format!("tag[11:0] = {vlan}")), "put tag @12");
    let add = text("0x0800", &all("tag = 0x81000014"), "grow 4 at 12; put tag @12");
    let said = |warnings: Vec<Warning>| {
        assert!(warnings.iter().all(|w| w.code() == "E0235"));
        warnings.iter().map(Warning::to_string).collect::<Vec<_>>()
    };
    let right = |spec: &mut TenantSpec| (spec.keep_tag, spec.any_vids) = (true, true);
    let row = "tenant `red`, object `retag`, path 0, deparse row 0: frames leave";
    let dropped = "such a frame is dropped there (foreign_vlan)";
    let nowhere = ", and no frame of this row leaves anywhere";
    let on_port1 = format!("{row} with VLAN 20 (tenant `blue`'s on port1); {dropped}");
    let on_both = format!("{row} with VLAN 20 (nobody's on port2; tenant `blue`'s on port1); {dropped}");
    assert_eq!(said(shared(&retag(20), keep, [None, None])), [format!("{on_both}{nowhere}")]);
    assert_eq!(said(shared(&retag(20), right, [None, None])), std::slice::from_ref(&on_port1));
    let only_1 = |spec: &mut TenantSpec| {
        spec.keep_tag = true;
        spec.queues.remove(&Destination::Port(2));
    };
    assert_eq!(said(shared(&retag(20), only_1, [None, None])), [format!("{on_port1}{nowhere}")]);
    // His own, and one whose tag comes back in front.
    assert_eq!(shared(&retag(30), keep, [None, None]), []);
    assert_eq!(shared(&retag(20), |_| (), [None, None]), []);
    // Nobody's, without the right and with it.
    let nobodys = format!("{row} with VLAN 77 (nobody's on port1, port2); {dropped}{nowhere}");
    assert_eq!(said(shared(&retag(77), keep, [None, None])), [nobodys]);
    assert_eq!(shared(&retag(77), right, [None, None]), []);
    // A tag in front of frames that had none counts; of a tenant without untagged frames it does not.
    assert_eq!(said(shared(&add, |_| (), [Some(30), None])), [on_both]);
    assert_eq!(said(shared(&add, |spec| spec.any_vids = true, [Some(30), None])), [on_port1]);
    assert_eq!(shared(&add, |_| (), [Some(20), None]), []);
    // What leaves without a tag is blue's where untagged frames are, and nobody's elsewhere.
    let untag = text("0x8100", &all("other = other"), "shrink 4 at 12");
    let found = said(shared(&untag, keep, [None, Some(20)]));
    let words = "without a tag (nobody's on port2; tenant `blue`'s on port1)";
    assert!(found.len() == 1 && found[0].contains(words), "{found:?}");
    let found = said(shared(&untag, keep, [None, Some(30)]));
    assert!(found.len() == 1 && found[0].contains("without a tag (nobody's on port2)"), "{found:?}");
    assert_eq!(shared(&untag, right, [None, Some(30)]), []);
}

#[test]
fn a_burst_below_what_tcp_has_on_its_way_is_warned_of() {
    let of = |bits_per_second, burst_bytes| {
        let mut linker = Linker::new(&sluice_formats::target::TINY);
        let rate = Some(Rate { bits_per_second, burst_bytes });
        linker.admit(TenantSpec { rate, ..TenantSpec::new(3, "red") }).unwrap();
        linker.warnings()
    };
    let found = of(50_000_000, 65_536);
    assert!(found.len() == 1 && found[0].code() == "E0236");
    let said = "tenant `red`: burst 65536 bytes at 50000000 bit/s; TCP stays far below that rate, 625000 bytes and more let it come near";
    assert_eq!(found[0].to_string(), said);
    for (rate, least) in [(50_000_000, 625_000), (1_000_000_000, 12_500_000), (10_000_000, 131_072)] {
        assert_eq!((of(rate, least).len(), of(rate, least - 1).len()), (0, 1), "{rate}");
    }
}

/// Makes the program write containers c2[0] and c4[0] in every action, mostly with what rows say, and put one of them where a
/// tag stands; the other parts stay random.
fn tagging(rng: &mut Rng, program: &mut Program) {
    use Op::*;
    for action in program.stages.iter_mut().flatten().flat_map(|stage| &mut stage.actions) {
        action.state = action.state.take().filter(|_| rng.chance(1, 8));
        for own in [c2(0), c4(0)] {
            action.alus.retain(|alu| alu.own != own);
            let ones = own.class().ones();
            let b = match rng.below(8) {
                0 => B::P0,
                1 => B::X,
                2 | 3 => B::DataA,
                4 => B::R,
                _ => B::Imm(rng.next_u64() & ones),
            };
            let a = [A::Own, A::Own, A::Own, A::P1][rng.index(4)];
            let op = [Move, Move, Move, And, Or, Xor, AndNot, Add, Sub, Ge, Lt][rng.index(11)];
            let when = [When::Always, When::If(0), When::Unless(1)][rng.index(3)];
            // Half of the time only bits of the VLAN.
            let mask = if rng.chance(1, 2) { 0x0fff } else { ones };
            action.alus.push(Alu { own, op, a, b, mask, when });
        }
    }
    for path in &mut program.parser.paths {
        path.extract[usize::from(c2(0).0)] = rng.chance(1, 2).then_some(14);
        path.extract[usize::from(c4(0).0)] = rng.chance(1, 2).then_some(12);
        path.least = path.least.max(16);
        // A port or a length is any value: rather a constant.
        if path.extract[0].is_some() {
            path.known[0] = None;
        } else if path.known[0].is_some() && rng.chance(3, 4) {
            (path.known[0], path.constant) = (Some(Known::Constant), rng.next_u32() as u16);
        }
        if !path.known.contains(&Some(Known::Constant)) {
            path.constant = 0;
        }
    }
    for row in &mut program.deparser.rows {
        *row = DeparseRow { least: 64, ..DeparseRow::default() };
        if rng.chance(1, 2) {
            row.put(c2(0), 14)
        } else {
            row.put(c4(0), 12)
        };
    }
}

/// Every tag that a packet of a random program has and did not come with is one that was foretold.
#[test]
fn no_packet_of_a_random_program_has_a_tag_that_was_not_foretold() {
    let seed = test_seed("no_packet_of_a_random_program_has_a_tag_that_was_not_foretold");
    let mut rng = Rng::new(seed);
    let (mut made, mut known, mut vlans) = (0, 0, BTreeSet::new());
    for _ in 0..400 {
        let mut program = checked_program(&mut rng, &TINY, &Shape::TENANT);
        tagging(&mut rng, &mut program);
        let Ok(part) = encode(&program, &TINY) else { continue };
        let tags = part.outer_tags();
        let mut pipeline = Pipeline::new(TINY);
        pipeline.grant(1, 0xff);
        pipeline.load(1, 0, program.clone(), Memory::Zeroed).unwrap();
        for _ in 0..200 {
            let mut packet = rng.bytes(200);
            if rng.chance(1, 2) {
                packet[12..14].copy_from_slice(&[0x81, 0]);
            }
            aim(&mut rng, &program.parser, &mut packet);
            let arrival = Arrival {
                packet: &packet,
                module: 1,
                generation: 0,
                system_generation: 0,
                tenant: 1,
                port: 0,
                arrival: 5,
                queueing: 9,
            };
            let Outcome::Sent { packet: out, .. } = pipeline.run(&arrival) else { continue };
            let vlan_of = |frame: &[u8]| u16::from_be_bytes([frame[14], frame[15]]) & 0xfff;
            let tagged = |frame: &[u8]| frame.len() >= 16 && frame[12..14] == [0x81, 0];
            if !tagged(&out) || tagged(&packet) && vlan_of(&packet) == vlan_of(&out) {
                continue;
            }
            let vlan = Outer::Vlan(vlan_of(&out));
            let foretold: BTreeSet<Outer> = tags.iter().flat_map(|t| t.outer.iter().copied()).collect();
            assert!(foretold.contains(&vlan) || foretold.contains(&Outer::Any), "seed {seed}: {vlan:?}, {foretold:?}");
            made += 1;
            if !foretold.contains(&Outer::Any) {
                known += 1;
                vlans.insert(vlan);
            }
        }
    }
    println!("{made} frames with a tag of the program's, {known} with known VLANs");
    assert!(known > 500 && vlans.len() > 20, "of {made} tags only {known} were foretold, {} VLANs", vlans.len());
}
