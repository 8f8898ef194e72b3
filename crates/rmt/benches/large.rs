//! Large tables of the target `soft`: look-ups with random keys, the time to link entries and to write one, memory.
//!
//! `cargo bench -p sluice-rmt --bench large`. A look-up is a packet of 64 bytes through parser, one stage and deparser of the
//! fast model; entries come through encoder and linker. Median of the rounds.

use sluice_formats::random::Rng;
use sluice_object::linker::rmt::{EntryAt, EntryKey, EntryLeads, Placer, Quota};
use sluice_object::rmt::part::RmtData;
use sluice_rmt::fast::{Buffers, Fast};
use sluice_rmt::programs::l3_router::{self, Route};
use sluice_rmt::stage::Exact;
use sluice_rmt::target::SOFT;
use sluice_rmt::{Arrival, Program, encode};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 31;
const PACKETS: usize = 1 << 15;
const STAGE: usize = 1;
/// Entries that are taken out and put back for the time of a write.
const CHANGES: usize = 64;

fn packet(to: u32) -> Vec<u8> {
    let mut packet = vec![0; 64];
    packet[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
    packet[16..18].copy_from_slice(&50u16.to_be_bytes());
    packet[22..24].copy_from_slice(&[64, 17]);
    packet[30..34].copy_from_slice(&to.to_be_bytes());
    let sum: u32 = packet[14..34].chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(w[1])).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    packet[24..26].copy_from_slice(&(!sum as u16).to_be_bytes());
    packet
}

/// Routes of different prefixes, with these lengths.
fn routes(rng: &mut Rng, count: usize, lengths: std::ops::RangeInclusive<u64>) -> Vec<Route> {
    let mut seen = std::collections::HashSet::new();
    let mut routes = Vec::new();
    while routes.len() < count {
        let length = rng.range(*lengths.start(), *lengths.end()) as u32;
        let prefix = rng.next_u32() & u32::MAX.checked_shl(32 - length).unwrap_or(0);
        if seen.insert((prefix, length)) {
            let prefix = prefix.to_be_bytes();
            routes.push(Route { prefix, length, destination: 1, next_hop: [2; 6], own: [4; 6] });
        }
    }
    routes
}

/// The router with its routes uncounted, and in exact rows if they are whole addresses.
fn program(routes: &[Route], is_exact: bool) -> Program {
    let mut program = l3_router::program(STAGE, routes);
    let tables = &mut program.stages[STAGE].as_mut().expect("the router's stage").tables;
    tables.ternary.iter_mut().for_each(|entry| entry.leads.number = 0);
    if let Some(default) = &mut tables.default {
        default.number = 0;
    }
    if is_exact {
        let ternary = std::mem::take(&mut tables.ternary);
        let whole = ternary.first().expect("a route").mask;
        let (exact, rest): (Vec<_>, Vec<_>) = ternary.into_iter().partition(|entry| entry.mask == whole);
        tables.exact = exact.into_iter().map(|entry| Exact { key: entry.value, leads: entry.leads }).collect();
        tables.ternary = rest;
    }
    program
}

fn arrival(packet: &[u8]) -> Arrival<'_> {
    Arrival {
        packet,
        module: 1,
        generation: 0,
        system_generation: 0,
        tenant: 7,
        port: 1,
        arrival: 0x1234_5678,
        queueing: 0x1234_5699,
    }
}

/// Resident memory of the process.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

fn write(fast: &mut Fast, writes: &[sluice_object::linker::rmt::RowWrite]) {
    for w in writes {
        assert_eq!(fast.write(w.node, w.table, w.index, &w.words), sluice_formats::Status::Ok);
    }
}

fn measure(name: &str, routes: &[Route], is_exact: bool) {
    let mut rng = Rng::new(7);
    let part = Arc::new(encode(&program(routes, is_exact), &SOFT).expect("it fits"));
    let before = resident();
    let (mut fast, mut placer) = (Fast::new(SOFT), Placer::new(SOFT));
    let admitted = placer.admit(1, "t", Quota::of(&part, 0xff)).expect("there is room");
    let start = Instant::now();
    let placed = placer.place(1, 0, &part).expect("there is room");
    let linked = start.elapsed().as_secs_f64();
    write(&mut fast, &admitted);
    let start = Instant::now();
    let rows: Vec<_> = placed.all().cloned().collect();
    write(&mut fast, &rows);
    let written = start.elapsed().as_secs_f64();
    drop((placed, rows, admitted));
    // Addresses that routes have, with other bits behind the prefix.
    let to = |rng: &mut Rng| {
        let route = &routes[rng.index(routes.len())];
        let low = u32::MAX.checked_shr(route.length).unwrap_or(0);
        u32::from_be_bytes(route.prefix) | rng.next_u32() & low
    };
    let packets: Vec<Vec<u8>> = (0..PACKETS).map(|_| packet(to(&mut rng))).collect();
    let mut buffers = Buffers::default();
    let mut sent = 0;
    for packet in &packets {
        sent += usize::from(fast.run_into(&arrival(packet), &mut buffers).is_ok());
    }
    assert_eq!(sent, PACKETS, "{name}: each address has a route");
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            fast.run_batch(packets.iter().map(|p| arrival(p)), &mut buffers, |_, verdict, out| {
                let _ = black_box((verdict, &out.packet));
            });
            start.elapsed().as_secs_f64() / PACKETS as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let memory = resident() - before;
    // One entry out and in again, each with a packet behind it.
    let stage = &part.stages[&(STAGE as u8)];
    let (mut linker, mut rows) = (0.0, 0.0);
    for _ in 0..CHANGES {
        let (key, leads) = if is_exact {
            let entry = &stage.exact[rng.index(stage.exact.len())];
            (EntryKey::Exact(entry.row.key), leads(entry.row.action, entry.data))
        } else {
            let entry = &stage.ternary[rng.index(stage.ternary.len())];
            (EntryKey::Ternary { value: entry.row.value, mask: entry.row.mask }, leads(entry.row.action, entry.data))
        };
        let at = EntryAt { module: 1, generation: 0, stage: STAGE as u8, key };
        let start = Instant::now();
        let mut batches = placer.delete(at).expect("it is there");
        batches.extend(placer.insert(at, &leads, None).expect("there is room"));
        linker += start.elapsed().as_secs_f64();
        let start = Instant::now();
        for batch in &batches {
            write(&mut fast, batch);
            let _ = black_box(fast.run_into(&arrival(&packets[0]), &mut buffers));
        }
        rows += start.elapsed().as_secs_f64();
    }
    let micro = 1e6 / (2 * CHANGES) as f64;
    println!(
        "{name:24} {:8} {:9.1} {:8.2} {:9.1} {:9.2} {:10.2} {:10.2} {memory:9.0}",
        routes.len(),
        times[ROUNDS / 2] * 1e9,
        1e-6 / times[ROUNDS / 2],
        linked * 1e3,
        linked * 1e6 / routes.len() as f64,
        written * 1e6 / routes.len() as f64,
        linker * micro,
    );
    println!("{:24} {:8} an entry's rows on the device, with a packet behind each: {:.2} us", "", "", rows * micro);
}

fn leads(action: u16, data: RmtData) -> EntryLeads {
    EntryLeads { action, number: 0, data }
}

fn main() {
    println!(
        "{:24} {:>8} {:>9} {:>8} {:>9} {:>9} {:>10} {:>10} {:>9}",
        "table", "entries", "ns/packet", "Mp/s", "link ms", "us/entry", "write us", "change us", "MiB"
    );
    let mut rng = Rng::new(1);
    for count in [4, 64, 1024, 8192, 32_000] {
        measure("longest prefix, 8 to 24", &routes(&mut rng, count, 8..=24), false);
    }
    for count in [1024, 16_384, 65_000] {
        measure("exact address", &routes(&mut rng, count, 32..=32), true);
    }
}
