//! Packets a second of the fast model on one core, beside the specification interpreter and BMv2.
//!
//! `cargo bench -p sluice-rmt --bench fast`. Programs come onto the model through encoder and linker. A packet
//! is parsed, run through every stage and built in a buffer of the caller; packets of a case are different ones, in an order
//! that repeats only after all of them. Median of the rounds; the least is what nothing interrupted. The
//! aim is at least 3 million packets a second for CALC and for the router, 64 bytes. BMv2: see `fast/bmv2.rs`.

#[path = "fast/bmv2.rs"]
mod bmv2;

use sluice_formats::random::Rng;
use sluice_object::linker::rmt::{Placer, Quota};
use sluice_rmt::action::{Action, Alu, B, Cross, Op, Picks, When, WordOp, WordSource};
use sluice_rmt::deparser::{DeparseRow, Deparser};
use sluice_rmt::fast::{Buffers, Fast};
use sluice_rmt::parser::{Parser, Path};
use sluice_rmt::phv::Container;
use sluice_rmt::pipeline::Memory;
use sluice_rmt::program::Stage;
use sluice_rmt::programs::l3_router::Route;
use sluice_rmt::programs::{calc, l3_router, tunnel};
use sluice_rmt::stage::{Key, KeySpec, Leads, Left, Predicate, Right, Tables};
use sluice_rmt::state::{IndexSource, Operand, Relation, StateOp, Update};
use sluice_rmt::target::DEFAULT;
use sluice_rmt::{Arrival, Outcome, Pipeline, Program, encode};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const AIM: f64 = 3e6;
const ROUNDS: usize = 301;
const PACKETS: usize = 4096;
const ROUTES: usize = 32;

/// A set of modules with their traffic.
struct Case {
    name: String,
    aim: bool,
    programs: Vec<(u8, Program)>,
    packets: Vec<(u8, Vec<u8>)>,
}

fn calc_packet(rng: &mut Rng, length: usize) -> Vec<u8> {
    let mut packet = vec![0; length];
    packet[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x12, 0x34]);
    packet[14..18].copy_from_slice(&[b'P', b'4', 1, b"+-&|^"[rng.index(5)]]);
    rng.fill(&mut packet[18..26]);
    packet
}

fn routes() -> Vec<Route> {
    let route = |i: usize| Route {
        prefix: [10, i as u8, 0, 0],
        length: [16, 18, 20, 24][i % 4],
        destination: (i % 8) as u8,
        next_hop: [2, 0, 0, 0, 1, i as u8],
        own: [2, 0, 0, 0, 2, i as u8],
    };
    (0..ROUTES).map(route).collect()
}

fn ipv4_packet(to: [u8; 4], protocol: u8, length: usize) -> Vec<u8> {
    let mut packet = vec![0; length];
    packet[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
    packet[16..18].copy_from_slice(&(length as u16 - 14).to_be_bytes());
    packet[22..24].copy_from_slice(&[64, protocol]);
    packet[26..30].copy_from_slice(&[192, 0, 2, 1]);
    packet[30..34].copy_from_slice(&to);
    let sum: u32 = packet[14..34].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    packet[24..26].copy_from_slice(&(!sum as u16).to_be_bytes());
    packet
}

fn router_packet(rng: &mut Rng, length: usize) -> Vec<u8> {
    ipv4_packet([10, rng.index(ROUTES) as u8, 0, rng.next_u32() as u8], 17, length)
}

/// Every container taken, changed by its ALU in each of three stages and put back; two conditions, five
/// metadata words and a state access at the hash of the whole key: as much as an action can do.
fn everything() -> Program {
    let mut path = Path { least: 110, ..Path::default() };
    let mut row = DeparseRow { least: 110, ..DeparseRow::default() };
    let mut at = 14;
    for n in 0..24 {
        path.extract[n] = Some(at as u8);
        row.put(Container(n as u8), at);
        at += Container(n as u8).bytes();
    }
    let predicate = |n| {
        let (a, b) = (Left::Container(Container(n)), Right::Container(Container(n + 1)));
        Some(Predicate { a, b, mask: 0xffff, relation: Relation::Lt })
    };
    let ops = [Op::Add, Op::Sub, Op::Xor, Op::Ge, Op::Lt];
    let operands = [B::P0, B::P1, B::R, B::X, B::DataA, B::DataB];
    let alu =
        |n: usize| Alu { when: When::If(n as u8 % 2), ..Alu::whole(Container(n as u8), ops[n % 5], operands[n % 6]) };
    let word =
        |word| WordOp { word, source: WordSource::X, mask: if word == 11 { 0 } else { 0xff }, when: When::Always };
    let to = WordOp { word: 11, source: WordSource::Imm(1), mask: 0xff, when: When::Always };
    let count =
        StateOp { source: IndexSource::X, index_mask: 63, new_to: Some(0), ..StateOp::at(0, Update::add(Operand::P1)) };
    let mut action =
        Action { cross: Cross::Hash, alus: (0..24).map(alu).collect(), state: Some(count), ..Action::default() };
    action.words.extend([to, word(14), word(15)]);
    for picks in &mut action.picks {
        *picks = Picks { container: [1, 2, 3], amount: 5, rotate_mask: 0xffff, data: [0, 1] };
    }
    let mut mask = Key([0xff; 25]);
    mask.put(194, 6, 0);
    let stage = Stage {
        key: KeySpec { mask, predicates: [predicate(0), predicate(8)], truth: [0b1010, 0b1100], ..KeySpec::default() },
        tables: Tables { default: Some(Leads::default()), ..Tables::default() },
        actions: vec![action],
        pages: 1,
    };
    let stages = vec![None, Some(stage.clone()), Some(stage.clone()), Some(stage)];
    Program { parser: Parser::single(path), stages, deparser: Deparser::single(row) }
}

fn cases() -> Vec<Case> {
    let mut rng = Rng::new(1);
    let mut cases = Vec::new();
    let mut add =
        |name: String, aim: bool, programs: Vec<(u8, Program)>, packet: &mut dyn FnMut(&mut Rng) -> Vec<u8>| {
            let modules: Vec<u8> = programs.iter().map(|p| p.0).collect();
            let packets = (0..PACKETS).map(|i| (modules[i % modules.len()], packet(&mut rng))).collect();
            cases.push(Case { name, aim, programs, packets });
        };
    for length in [64, 256, 1500] {
        let program = vec![(1, calc::program(1))];
        add(format!("calc, {length} bytes"), length == 64, program, &mut |r| calc_packet(r, length));
    }
    for length in [64, 256, 1500] {
        let program = vec![(1, l3_router::program(2, &routes()))];
        add(format!("router, {length} bytes"), length == 64, program, &mut |r| router_packet(r, length));
    }
    let ends = tunnel::Ends { here: [10, 0, 0, 1], there: [10, 0, 0, 2] };
    let into = [tunnel::Entry { address: [192, 0, 2, 9], destination: 1 }];
    let program = vec![(1, tunnel::program(1, ends, &into, 2))];
    add("tunnel in, 64 bytes".to_owned(), false, program, &mut |_| ipv4_packet([192, 0, 2, 9], 17, 64));
    let programs = (1..64).map(|m| (m, calc::program(1 + usize::from(m) % 3))).collect();
    add("63 tenants of calc, 64 bytes".to_owned(), false, programs, &mut |r| calc_packet(r, 64));
    add("all that an action can do, 128".to_owned(), false, vec![(1, everything())], &mut |r| r.bytes(128));
    cases
}

fn arrival((module, packet): &(u8, Vec<u8>)) -> Arrival<'_> {
    Arrival {
        packet,
        module: *module,
        generation: 0,
        system_generation: 0,
        tenant: 7,
        port: 1,
        arrival: 0x1234_5678,
        queueing: 0x1234_5699,
    }
}

fn device(case: &Case) -> Fast {
    let mut fast = Fast::new(DEFAULT);
    let mut placer = Placer::new(DEFAULT);
    for (module, program) in &case.programs {
        let part = Arc::new(encode(program, &DEFAULT).expect("a shipped program"));
        let mut writes = placer.admit(*module, &format!("t{module}"), Quota::of(&part, 0xff)).expect("there is room");
        writes.extend(placer.place(*module, 0, &part).expect("there is room").all().cloned());
        for w in &writes {
            assert_eq!(fast.write(w.node, w.table, w.index, &w.words), sluice_formats::Status::Ok);
        }
    }
    fast
}

/// Seconds a packet: median and least of the rounds.
fn timed(rounds: usize, packets: usize, mut run: impl FnMut()) -> (f64, f64) {
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() / packets as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[rounds / 2], times[0])
}

/// Seconds a packet of a case in the model; all packets have to leave as the interpreter says.
fn measure(case: &Case) -> f64 {
    let (mut fast, mut buffers) = (device(case), Buffers::default());
    let mut spec = Pipeline::new(DEFAULT);
    for (module, program) in &case.programs {
        spec.load(*module, 0, program.clone(), Memory::Zeroed).expect("a shipped program");
        spec.grant(*module, 0xff);
    }
    for packet in &case.packets {
        let expected = spec.run(&arrival(packet));
        assert!(matches!(expected, Outcome::Sent { .. }), "{}: {expected:?}", case.name);
        assert_eq!(fast.run(&arrival(packet)), expected, "{}", case.name);
    }
    let (median, least) = timed(ROUNDS, PACKETS, || {
        fast.run_batch(case.packets.iter().map(arrival), &mut buffers, |_, verdict, out| {
            let _ = black_box((verdict, &out.packet, &out.copies));
        });
    });
    let few = &case.packets[..256];
    let (interpreter, _) = timed(5, few.len(), || {
        for packet in few {
            black_box(spec.run(&arrival(packet)));
        }
    });
    let aim = match (case.aim, 1.0 / median >= AIM) {
        (false, _) => "",
        (true, true) => "  aim 3.00: met",
        (true, false) => "  aim 3.00: MISSED",
    };
    let mega = |seconds: f64| 1e-6 / seconds;
    println!(
        "{:30} {:8.1} {:8.1} {:8.2} {:12.4}{aim}",
        case.name,
        median * 1e9,
        least * 1e9,
        mega(median),
        mega(interpreter)
    );
    median
}

fn main() {
    println!("rmt fast model, one core: ns a packet, million packets a second");
    println!("{:30} {:>8} {:>8} {:>8} {:>12}", "", "median", "least", "Mp/s", "interpreter");
    let cases = cases();
    let times: Vec<f64> = cases.iter().map(measure).collect();
    let calc: Vec<Vec<u8>> = cases[0].packets.iter().map(|p| p.1.clone()).collect();
    match bmv2::speed(&calc) {
        Ok(bmv2::Speed { seconds, share }) => println!(
            "BMv2 simple_switch, {}: {:.0} packets a second, {:.0} % came out; the fast model is {:.1} times as fast",
            cases[0].name,
            1.0 / seconds,
            100.0 * share,
            seconds / times[0]
        ),
        Err(why) => println!("BMv2 simple_switch: {why}"),
    }
}
