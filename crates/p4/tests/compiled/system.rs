//! System programs in P4: the one of programs/p4 beside that written by hand, others through the verifiers, and what is refused.

use sluice_formats::random::{Rng, test_seed};
use sluice_p4::stf::Script;
use sluice_p4::{Reader, Undefined};
use sluice_rmt::target::{DEFAULT, TINY, Target, WIDE};
use sluice_rmt::text::Unit;
use sluice_rmt::{Arrival, Group, Outcome, Pipeline};
use std::path::{Path, PathBuf};

const PACKETS: usize = 4_000;
const PLAIN: u8 = 1;

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs")
}

fn by_hand(name: &str) -> Unit {
    let text = std::fs::read_to_string(programs().join(format!("rmt/{name}.rmt"))).unwrap();
    sluice_rmt::text::read(name, &text, &DEFAULT).unwrap_or_else(|errors| panic!("{errors}"))
}

fn in_p4() -> Unit {
    let program = Reader::new().check(&programs().join("p4/system.p4")).unwrap_or_else(|errors| panic!("{errors}"));
    let mut entries = program.reference(Undefined::Zero, 1).unwrap();
    let groups = std::fs::read_to_string(programs().join("p4/system.entries")).unwrap();
    Script::parse("system.entries", &groups).unwrap().fill(&mut entries).unwrap();
    let compiled = program.compile(&DEFAULT, 1, 3).unwrap_or_else(|errors| panic!("{errors}"));
    compiled.unit(&entries).unwrap()
}

/// A system program with a tenant between its stages.
fn pipeline(system: Unit) -> Pipeline {
    let mut pipeline = Pipeline::new(DEFAULT);
    let plain = by_hand("system/plain");
    assert_eq!(system.shared, plain.shared, "what is shared has one name and one container");
    pipeline.load(0, 0, system.program, system.memory).unwrap();
    pipeline.load(PLAIN, 0, plain.program, plain.memory).unwrap();
    pipeline.grant(PLAIN, 0b1111);
    for (number, group) in system.groups {
        pipeline.set_group(number, Group { owner: 0, destinations: group.destinations, tags: group.tags });
    }
    pipeline
}

/// An IPv4 packet to one of the addresses that a system program knows, or to others.
fn packet(rng: &mut Rng) -> Vec<u8> {
    let known = [0x0a63_0001u32, 0x0a63_0002, 0xac10_0001, 0xac10_ffff, 0xefff_ffff, 0x0a63_0003, 0xac11_0000];
    let mut address = *rng.choose(&known).unwrap();
    if rng.chance(1, 4) {
        address ^= 1 << rng.below(32);
    }
    let mut packet = rng.bytes(64);
    packet[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
    packet[20..22].fill(0);
    packet[23] = *rng.choose(&[1, 6, 17]).unwrap();
    packet[30..34].copy_from_slice(&address.to_be_bytes());
    packet
}

#[test]
fn it_and_that_by_hand_give_the_same_packets() {
    let mut both = [by_hand("system"), in_p4()].map(pipeline);
    let mut rng = Rng::new(test_seed("p4_system"));
    let (mut one, mut several) = (0, 0);
    for _ in 0..PACKETS {
        let (packet, port, tenant) = (packet(&mut rng), rng.below(4) as u8, rng.range(1, 255) as u16);
        let arrival = Arrival {
            packet: &packet,
            module: PLAIN,
            generation: 0,
            system_generation: 0,
            tenant,
            port,
            arrival: 0,
            queueing: 0,
        };
        let [expected, found] = both.each_mut().map(|pipeline| pipeline.run(&arrival));
        assert_eq!(found, expected, "{packet:02x?} of tenant {tenant} from port {port}");
        if let Outcome::Sent { copies, .. } = found {
            one += usize::from(copies.len() == 1);
            several += usize::from(copies.len() > 1);
        }
    }
    assert!(one > PACKETS / 4 && several > PACKETS / 20, "{one} and {several}");
    for stage in [0, 4] {
        let [expected, found] = both.each_ref().map(|pipeline| pipeline.words(0, 0, stage).to_vec());
        assert!(expected.iter().filter(|word| **word > 0).count() >= 4, "{expected:?}");
        assert_eq!(found, expected, "stage {stage}");
    }
}

fn text(fields: &str, outside: &str, first: (&str, &str), last: (&str, &str)) -> String {
    let control = |name: &str, (locals, apply): (&str, &str)| {
        format!("control {name}(inout shared_t shared, inout system_metadata_t m) {{ {locals} apply {{ {apply} }} }}\n")
    };
    format!(
        "#include <sluice.p4>\nstruct shared_t {{ {fields} }}\n{outside}\n{}{}System(First(), Last()) main;",
        control("First", first),
        control("Last", last)
    )
}

const FIELDS: &str =
    "@container(\"c4[7]\") bit<32> a; @container(\"c2[0]\") bit<16> b; @container(\"c6[3]\") bit<48> c;";

fn compiled(text: &str, target: &Target) -> Result<Unit, String> {
    let program = Reader::new().text("system.p4", text.to_string()).check(Path::new("system.p4"));
    let program = program.unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let compiled = program.compile(target, 1, 1).map_err(|errors| errors.to_string())?;
    let entries = program.reference(Undefined::Zero, 1).map_err(|errors| errors.to_string())?;
    compiled.object("system", &entries).map_err(|errors| errors.to_string())?;
    compiled.unit(&entries).map_err(|errors| errors.to_string())
}

/// Verifiers run each on random fields, words, entries and cells, beside the reference.
#[test]
fn stages_do_what_their_controls_say() {
    let table = |key: &str, actions: &str| {
        format!("table t {{ key = {{ {key} }} actions = {{ {actions}; NoAction; }} default_action = NoAction(); }}")
    };
    let keyed = table("shared.a: ternary; shared.b: exact;", "send; leave");
    let actions = "action send(bit<8> to, bit<1> except) { m.destinations = to; m.except_ingress = except; }
        action leave() { m.discard = 1; }";
    for (locals, apply) in [
        ("", ""),
        ("", "shared.a = 7;"),
        ("", "shared.a = shared.a + 1; shared.b = 3;"),
        ("", "shared.c = 0; m.group = 4;"),
        ("", "m.discard = 1; m.except_ingress = 1;"),
        ("", "if (m.destinations == 0) { m.destinations = 4; }"),
        ("", "if (m.destinations[3:2] == 2) { m.group = 9; }"),
        ("", "if (m.tenant < 100) { shared.b = 1; } else { shared.b = 2; }"),
        ("", "if (m.ingress_port == 5 || shared.b == 2) { shared.a = 1; }"),
        ("", "if (m.packet_length > 1000) { m.discard = 1; } m.queue_depth = 12; m.link_use = 9;"),
        ("", "if (shared.b < 77) { exit; } shared.b = 5;"),
        ("counter(8, CounterType.packets) n;", "n.count((bit<32>) m.ingress_port);"),
        ("counter(8, CounterType.bytes) n;", "n.count(3);"),
        ("register<bit<32>>(64) r;", "if (m.tenant < 64) { r.write((bit<32>) m.tenant, shared.a); }"),
        ("register<bit<32>>(1) r;", "r.read(shared.a, 0);"),
        ("atom(4) x; bit<32> old;", "x.add(2, shared.a, old, shared.a);"),
        (&format!("{actions} {keyed}"), "t.apply();"),
        (&format!("{actions} {keyed}"), "if (m.destinations == 0 && m.group == 0) { t.apply(); }"),
        (&format!("{actions} {keyed}"), "if (t.apply().miss) { m.group = 2; }"),
        (
            "direct_counter(CounterType.packets) d; action send() { d.count(); m.group = 1; }
            table t { key = { shared.a: lpm; } actions = { send; } default_action = send(); counters = d; }",
            "t.apply();",
        ),
    ] {
        for target in [&DEFAULT, &TINY, &WIDE] {
            for (first, last) in [((locals, apply), ("", "")), (("", ""), (locals, apply))] {
                let text = text(FIELDS, "", first, last);
                let unit = compiled(&text, target).unwrap_or_else(|why| panic!("{why}\n{text}"));
                assert_eq!(unit.shared.len(), 3);
            }
        }
    }
}

#[test]
fn what_does_not_go_is_refused_where_it_stands() {
    let one = |fields: &str, outside: &str, locals: &str, apply: &str| text(fields, outside, (locals, apply), ("", ""));
    let here = |apply: &str| one(FIELDS, "", "bit<32> x; counter(8, CounterType.packets) n;", apply);
    for (text, words) in [
        (one("bit<32> a;", "", "", ""), "shared field `a` without a container, as in `@container(\"c4[7]\")`"),
        (one("@container(\"c5[0]\") bit<32> a;", "", "", ""), "container `c5[0]` of `a`; there are c2[0] to c2[7]"),
        (one("@container(\"c4[8]\") bit<32> a;", "", "", ""), "container `c4[8]` of `a`"),
        (one("@container(\"c4[1]\") bit<16> a;", "", "", ""), "shared field `a`, which is no bit<32> as c4[1] is"),
        (
            one("@container(\"c4[1]\") bit<32> a; @container(\"c4[1]\") bit<32> b;", "", "", ""),
            "shared fields `a` and `b`, both in c4[1]",
        ),
        (here("m.tenant = 3; // here\n"), "a write to what the hardware says of a packet"),
        (here("n.count(shared.a); n.count(1); // here\n"), "looks or acts twice"),
        (
            one(FIELDS, "", "counter(8, CounterType.bytes) n;", "n.count((bit<32>) m.ingress_port); // here\n"),
            "a cell's value that lies at no place from which it can be taken",
        ),
        (here("crc32c(shared.a, { shared.b }); // here\n"), "a hash in a system program"),
        (here("random(x, 0, 9); // here\n shared.a = x;"), "`random`"),
        (here("m.group = shared.b; // here\n"), "a word that gets something else than constants and data of an entry"),
        (here("m.destinations = m.destinations + 1; // here\n"), "a word that gets something else"),
        (
            text(
                FIELDS,
                "register<bit<32>>(4) r;",
                ("", "r.write(0, shared.a); // here\n"),
                ("", "r.write(1, shared.a);"),
            ),
            "a register, or counter, that a packet looks at in two stages: `r`",
        ),
    ] {
        let why = compiled(&text, &DEFAULT).expect_err(&text);
        assert!(why.contains(words), "{words} is not in\n{why}\n{text}");
        if let Some(line) = text.lines().position(|line| line.contains("// here")) {
            assert!(why.contains(&format!("system.p4:{}:", line + 1)), "line {} causes it, and not\n{why}", line + 1);
        }
    }
}
