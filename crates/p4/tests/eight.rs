//! The paper's programs in P4 beside those that are written by hand for the pipeline: the same packets, and what each takes of it.

#[path = "support/packets.rs"]
mod packets;

use sluice_formats::random::{Rng, test_seed};
use sluice_p4::stf::Script;
use sluice_p4::{Allowed, Model, Reader, Undefined};
use sluice_rmt::target::DEFAULT;
use sluice_rmt::text::Unit;
use sluice_rmt::{Arrival, Group, Outcome, Pipeline, Program};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Random packets for each program.
const PACKETS: usize = 4_000;
/// The module that both are.
const MODULE: u8 = 1;
const NAMES: [&str; 8] =
    ["calc", "firewall", "load_balancing", "multicast", "netcache", "netchain", "qos", "source_routing"];
/// What a flow's server is called, and what its address takes from a checksum's sum. Which flow gets which is another one by hand: that hashes all bits of
/// the stage's key.
const SERVERS: [(u16, u8, u16); 4] = [(1, 1, 0xff62), (1, 2, 0xff61), (2, 3, 0xff60), (2, 4, 0xff5f)];

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs")
}

fn by_hand(name: &str) -> Unit {
    let text = std::fs::read_to_string(programs().join(format!("rmt/{name}.rmt"))).unwrap();
    sluice_rmt::text::read(name, &text, &DEFAULT).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A module by hand, alone on the pipeline.
fn loaded(unit: Unit) -> Pipeline {
    let mut pipeline = Pipeline::new(DEFAULT);
    pipeline.load(MODULE, 0, unit.program, unit.memory).unwrap();
    pipeline.grant(MODULE, 0xff);
    for (number, group) in unit.groups {
        pipeline.set_group(number, Group { owner: MODULE, destinations: group.destinations, tags: group.tags });
    }
    pipeline
}

/// What leaves, by port.
fn sent(pipeline: &mut Pipeline, port: u16, bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let arrival = Arrival {
        packet: bytes,
        module: MODULE,
        generation: 0,
        system_generation: 0,
        tenant: 1,
        port: port as u8,
        arrival: 0,
        queueing: 0,
    };
    match pipeline.run(&arrival) {
        Outcome::Dropped(_) => Vec::new(),
        Outcome::Sent { packet, copies } => {
            copies.iter().map(|copy| (copy.destination.into(), packet.clone())).collect()
        }
    }
}

/// The P4 program of a name, and its script.
fn in_p4(name: &str) -> (sluice_p4::Program, String) {
    let path = programs().join(format!("p4/eight/{name}.p4"));
    let mut program = Reader::new().check(&path).unwrap_or_else(|errors| panic!("{errors}"));
    if name == "load_balancing" {
        program.allow(Allowed::default().with_target_hash());
    }
    (program, std::fs::read_to_string(path.with_extension("stf")).unwrap())
}

#[test]
fn each_passes_its_script() {
    for name in NAMES {
        let (program, text) = in_p4(name);
        let mut reference = program.reference(Undefined::Zero, 1).unwrap();
        let compiled = program.compile(&DEFAULT, 1, 3).unwrap_or_else(|errors| panic!("{errors}"));
        compiled.teach(&mut reference);
        let mut model = Model::new(compiled);
        let report = Script::parse("s.stf", &text).unwrap().compare(&mut reference, &mut model);
        assert!(report.passed(), "{name}: {:?}", report.failures);
    }
}

/// Which server a packet went to, whose addresses and sums it has to have, with all else as it came.
fn server_of(bytes: &[u8], sent: &(u16, Vec<u8>)) -> usize {
    let is_to = |(port, number, fold): &(u16, u8, u16)| {
        let mut expected = bytes.to_vec();
        expected[..6].copy_from_slice(&[2, 0, 0, 0, 1, *number]);
        expected[30..34].copy_from_slice(&[10, 0, 1, *number]);
        expected[24..26].fill(0);
        let words = expected[14..34].chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1]));
        let sum = words.sum::<u32>();
        let sum = (sum & 0xffff) + (sum >> 16);
        expected[24..26].copy_from_slice(&(!((sum & 0xffff) + (sum >> 16)) as u16).to_be_bytes());
        let (sum, carry) = u16::from_be_bytes([bytes[50], bytes[51]]).overflowing_add(*fold);
        expected[50..52].copy_from_slice(&sum.wrapping_add(carry.into()).to_be_bytes());
        *sent == (*port, expected)
    };
    SERVERS.iter().position(is_to).unwrap_or_else(|| panic!("{bytes:02x?} left as {sent:02x?}"))
}

#[test]
fn both_give_the_same_packets() {
    for name in NAMES {
        let (program, text) = in_p4(name);
        let packets = packets::of_script(&text);
        let groups: Vec<&str> = text.lines().filter(|line| line.starts_with("mc_")).collect();
        let mut reference = program.reference(Undefined::Zero, 1).unwrap();
        assert!(Script::parse("s.stf", &groups.join("\n")).unwrap().run(&mut reference).passed());
        let compiled = program.compile(&DEFAULT, 1, 3).unwrap();
        compiled.teach(&mut reference);
        let mut model = Model::new(compiled);
        model.load(&reference).unwrap();
        let mut pipeline = loaded(by_hand(name));
        let mut rng = Rng::new(test_seed(&format!("p4_eight_{name}")));
        let mut left = 0;
        let mut flows: [BTreeMap<Vec<u8>, usize>; 2] = Default::default();
        for number in 0..PACKETS {
            let bytes = match packets.get(number) {
                Some(bytes) => bytes.clone(),
                None => packets::damaged(&mut rng, &packets, 6),
            };
            let port = rng.below(8) as u16;
            let expected = sent(&mut pipeline, port, &bytes);
            let mut found: Vec<(u16, Vec<u8>)> =
                model.packet(port, &bytes).unwrap().into_iter().map(|sent| (sent.port, sent.bytes)).collect();
            found.sort_by_key(|(port, _)| *port);
            if name == "load_balancing" && (expected.len(), found.len()) == (1, 1) {
                for (flows, sent) in flows.iter_mut().zip([&expected[0], &found[0]]) {
                    let server = server_of(&bytes, sent);
                    let before = *flows.entry(bytes[26..38].to_vec()).or_insert(server);
                    assert_eq!(server, before, "{bytes:02x?}: a flow's packets go to one server");
                }
            } else {
                assert_eq!(found, expected, "{name}: {bytes:02x?} from port {port}");
            }
            left += expected.len();
        }
        assert!(left > PACKETS / 10, "{name}: {left}");
        if name == "load_balancing" {
            let used = flows.map(|flows| flows.into_values().collect::<BTreeSet<_>>().len());
            assert_eq!(used, [4, 4], "flows spread over all servers");
        }
        println!("{name}: {PACKETS} packets, {left} sent");
    }
}

/// What a program takes: stages, containers, action rows, entries, words of state.
fn takes(program: &Program) -> [usize; 5] {
    let stages: Vec<_> = program.stages.iter().flatten().collect();
    let mut containers = BTreeSet::new();
    for path in &program.parser.paths {
        containers.extend((0..path.extract.len()).filter(|at| path.extract[*at].is_some()));
        containers.extend((0..path.known.len()).filter(|at| path.known[*at].is_some()));
    }
    for action in stages.iter().flat_map(|stage| &stage.actions) {
        containers.extend(action.alus.iter().map(|alu| usize::from(alu.own.0)));
    }
    let entries = |stage: &&sluice_rmt::program::Stage| stage.tables.exact.len() + stage.tables.ternary.len();
    [
        stages.len(),
        containers.len(),
        stages.iter().map(|stage| stage.actions.len()).sum(),
        stages.iter().map(entries).sum(),
        stages.iter().map(|stage| 64 * usize::from(stage.pages)).sum(),
    ]
}

#[test]
fn the_table_of_the_page_says_what_each_takes() {
    let mut table = "| program | stages | containers | action rows | entries | words of state |\n| --- | --- | --- | --- | --- | --- |\n".to_string();
    let system = Reader::new().check(&programs().join("p4/system.p4")).unwrap_or_else(|errors| panic!("{errors}"));
    let eight = NAMES.map(|name| (name, in_p4(name).0));
    for (name, program) in eight.into_iter().chain([("system", system)]) {
        let hand = takes(&by_hand(name).program);
        let compiled = program.compile(&DEFAULT, 1, 3).unwrap();
        let p4 = takes(&compiled.unit(&program.reference(Undefined::Zero, 1).unwrap()).unwrap().program);
        let cells: Vec<String> = p4.iter().zip(hand).map(|(p4, hand)| format!("{p4} ({hand})")).collect();
        let _ = writeln!(table, "| {name} | {} |", cells.join(" | "));
        assert!(p4[0] <= hand[0], "{name}: {} stages, by hand {}", p4[0], hand[0]);
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/p4-programs.md");
    let text = std::fs::read_to_string(page).unwrap_or_default();
    assert!(text.contains(&table), "docs/guide/p4-programs.md should have\n{table}");
}
