//! Sections of flow-serial programs: packets of one flow do what the program changes in the order in which they came, whatever their programs do before
//! and behind it; those of other flows do not wait.
//!
//! The judge is the same work done a packet after the other: each flow has an entry of its own, and no two changes of an entry may change places.

use crate::support;
use crate::xdp::engine::{Engine, MODULE, open_tiny};
use crate::xdp::pair::Pair;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::{Image, MapSpec, MapType, Program};
use sluice_formats::Table;
use sluice_formats::limits::packet_id;
use sluice_formats::random::Rng;
use sluice_formats::row::Row;
use sluice_formats::xdp::rows::XdpProgramRow;
use std::collections::BTreeMap;

const FLOWS: u32 = 6;
/// Where a frame says its flow, what is done with the flow's entry, a number, rounds before and behind that, and rounds between the read and the write.
const FLOW: usize = 14;
const DOES: usize = 18;

/// What a packet does with its flow's entry.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    Nothing = 0,
    /// Three times the value, and its number; where there is no entry, one with its number.
    Counts = 1,
    Deletes = 2,
    Looks = 3,
    /// Works beyond its limit between the read and the write: it ends there.
    Ends = 4,
}

/// Rounds, then the entry, then rounds. With `calls` a function makes the change.
fn program(kind: MapType, calls: bool) -> Image {
    let map = MapSpec::new("flows", kind, 4, 8, 64);
    let key = "r2 = r10\nr2 += -4\nr1 = map[flows]\n";
    let change =
        "r1 = *(u64 *)(r0 +0)\nbetween:\nr6 -= 1\nif r6 != 0 goto between\nr1 *= 3\nr1 += r8\n*(u64 *)(r0 +0) = r1\n";
    let (change, function) = match calls {
        false => (change.to_owned(), String::new()),
        true => (
            "r1 = r0\nr2 = r8\ncall change\n".to_owned(),
            "change:\nr3 = *(u64 *)(r1 +0)\nr3 *= 3\nr3 += r2\n*(u64 *)(r1 +0) = r3\nr0 = 0\nexit\n".to_owned(),
        ),
    };
    let delete = if kind == MapType::Array { "" } else { "call bpf_map_delete_elem\n" };
    let text = format!(
        "r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 24\nr0 = 1\nif r4 > r3 goto end\n\
         r7 = *(u8 *)(r2 +18)\nr8 = *(u8 *)(r2 +19)\nr9 = *(u8 *)(r2 +21)\nr6 = *(u16 *)(r2 +22)\nr5 = *(u32 *)(r2 +14)\n*(u32 *)(r10 -4) = r5\n\
         r5 = *(u8 *)(r2 +20)\nr1 = 0\nbefore:\nr1 += 1\nif r1 < r5 goto before\n\
         if r7 == 0 goto rest\nif r7 == 2 goto delete\n{key}call bpf_map_lookup_elem\nif r0 == 0 goto miss\n\
         if r7 == 3 goto rest\n{change}goto rest\n\
         miss:\nif r7 == 3 goto rest\n*(u64 *)(r10 -16) = r8\n{key}r3 = r10\nr3 += -16\nr4 = 0\ncall bpf_map_update_elem\ngoto rest\n\
         delete:\n{key}{delete}\
         rest:\nr1 = 0\nbehind:\nr1 += 1\nif r1 < r9 goto behind\nr0 = 1\nend:\nexit\n{function}"
    );
    let program = assemble("sections", &text, &["flows"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program { section: "xdp".into(), ..program };
    Image { programs: vec![program], maps: vec![map], ..Image::default() }
}

fn frame(rng: &mut Rng, flow: u32, does: Does, number: u8) -> Vec<u8> {
    let mut frame = vec![0; 24 + rng.index(100)];
    frame[FLOW..FLOW + 4].copy_from_slice(&flow.to_le_bytes());
    let rounds = |rng: &mut Rng| if rng.below(4) == 0 { rng.below(30) as u8 } else { 1 };
    frame[DOES..DOES + 4].copy_from_slice(&[does as u8, number, rounds(rng), rounds(rng)]);
    let between: u16 = if does == Does::Ends { 1_000 } else { 1 + rng.below(20) as u16 };
    frame[DOES + 4..DOES + 6].copy_from_slice(&between.to_le_bytes());
    frame
}

/// What becomes of the entries, a packet after the other.
fn done(entries: &mut BTreeMap<u32, u64>, flow: u32, does: Does, number: u8) {
    match does {
        Does::Counts => {
            let value = entries.get(&flow).map_or(u64::from(number), |v| v.wrapping_mul(3).wrapping_add(number.into()));
            entries.insert(flow, value);
        }
        Does::Deletes => {
            entries.remove(&flow);
        }
        // Where there is no entry it makes one, and does not come to its rounds.
        Does::Ends => {
            entries.entry(flow).or_insert(number.into());
        }
        Does::Nothing | Does::Looks => {}
    }
}

/// The entries of the engine's map.
fn entries(engine: &mut Engine, pair: &Pair, kind: MapType) -> BTreeMap<u32, u64> {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap());
    if kind == MapType::Array {
        let memory = pair.memory(engine, 0);
        return (0..FLOWS).map(|flow| (flow, number(&memory[8 * flow as usize..]))).collect();
    }
    let flow = |key: &[u8]| u32::from_le_bytes(key[..4].try_into().unwrap());
    pair.entries(engine, 0).iter().map(|(key, value)| (flow(key), number(value))).collect()
}

fn in_order(engine: &mut Engine, rng: &mut Rng, kind: MapType, calls: bool) {
    let pair = Pair::marked(engine, program(kind, calls)).expect("the engine has all of it");
    let row = XdpProgramRow::unpack(&engine.read(Table::XdpProgram, 2 * u32::from(MODULE))).unwrap();
    assert!(!row.serial, "it has a section");
    // Entries of an array are always there.
    let mut all: BTreeMap<u32, u64> =
        if kind == MapType::Array { (0..FLOWS).map(|flow| (flow, 0)).collect() } else { BTreeMap::new() };
    let (rounds, mut number) = (if support::long() { 400 } else { 12 }, 0);
    for _ in 0..rounds {
        let (ready, gaps) = [(0, 0), (40, 0), (200, 100), (0, 200)][rng.index(4)];
        engine.stall(ready, gaps);
        let flows = [1, 2, FLOWS][rng.index(3)];
        for _ in 0..60 {
            let (flow, value) = (rng.below(flows.into()) as u32, rng.below(250) as u8);
            let all_of =
                [Does::Counts, Does::Counts, Does::Counts, Does::Nothing, Does::Looks, Does::Deletes, Does::Ends];
            let does = match all_of[rng.index(7)] {
                Does::Deletes if kind == MapType::Array => Does::Looks,
                Does::Ends if calls => Does::Counts,
                does => does,
            };
            engine.offer_flow(packet_id(0, number), MODULE, flow, &frame(rng, flow, does, value));
            done(&mut all, flow, does, value);
            number += 1;
        }
        engine.end(60);
        engine.quiesce();
        engine.forget();
        engine.steps.clear();
        assert_eq!(entries(engine, &pair, kind), all, "{kind:?}, function {calls}, {number} packets");
    }
}

#[test]
fn changes_of_a_flow_are_made_in_its_order() {
    let Some((mut engine, mut rng)) = open_tiny("changes_of_a_flow_are_made_in_its_order") else { return };
    for (kind, calls) in
        [(MapType::Hash, false), (MapType::LruHash, false), (MapType::Array, false), (MapType::Hash, true)]
    {
        in_order(&mut engine, &mut rng, kind, calls);
    }
}
