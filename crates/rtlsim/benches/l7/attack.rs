//! A module that floods the engine beside an honest one: what the honest one keeps of its rate and its latency.

use super::engine::{Build, Engine};
use super::messages::{Shape, placed};
use super::shares::{CYCLES, Front, LIGHT, Seen, messages, share};
use sluice_formats::Table;
use sluice_formats::l7::qnp::Header;
use sluice_formats::l7::rows::{L7QuotaRow, L7RingRow, L7ShareRow};
use sluice_formats::random::Rng;
use sluice_l7::message::{Addresses, frame};
use std::fmt::Write;

/// Millions of packets a second of a flood.
const FLOOD: f64 = 30.0;
/// Messages that the flooding module may have on their way; the honest one has the others.
const QUOTA: u16 = 64;

/// What the other module sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flood {
    Nothing,
    /// Its own messages, as the honest one's.
    Honest,
    /// First packets of messages whose second one never comes.
    NoEnds,
    /// The same, each from another sender and session.
    Spoofed,
    /// Whole messages to a ring that has no buffers.
    DeadRing,
}

fn run(flood: Flood, seed: u64) -> [Seen; 2] {
    let build = Build::Matchers(4);
    // The honest module's queues have no rings, the other's have in one case.
    let shapes = [(9000, 128), (9001, 0)].map(|(port, queue)| Shape { compares: 2, port, queue, ..Shape::default() });
    let tables = placed(build.target(), &shapes).unwrap_or_else(|e| panic!("{e}"));
    let mut engine = Engine::open(build, seed, &tables);
    let quota = |messages| L7QuotaRow { messages };
    engine.write_from(Table::L7Quota, 1, &[quota(build.target().messages as u16 - QUOTA), quota(QUOTA)]);
    engine.write_from(Table::L7Share, 1, &[L7ShareRow { packets: 64, beats: 256, weight: 0 }; 2]);
    let mut other = messages(shapes[1], if flood == Flood::Nothing { 0.0 } else { FLOOD });
    if flood == Flood::DeadRing {
        let row = L7RingRow { valid: true, module_id: 2, log_size: 4, ..L7RingRow::default() };
        engine.write(Table::L7Ring, &vec![row; shapes[1].rules]);
    }
    if matches!(flood, Flood::NoEnds | Flood::Spoofed) {
        let mut rng = Rng::new(seed);
        let mut whole = other.frame;
        let spoofed = flood == Flood::Spoofed;
        other.frame = Box::new(move |number| {
            let part = whole(number)[64..].to_vec();
            let header = Header { app_id: 1, msg_id: number, msg_len_in_pkts: 2, ..Header::default() };
            if !spoofed {
                return frame(&Addresses::to_port(9001), header, &part);
            }
            let (from, port_from) = (rng.next_u32().into(), rng.next_u32() as u16);
            let addresses = Addresses { from, port_from, ..Addresses::to_port(9001) };
            frame(&addresses, Header { session: rng.next_u32(), ..header }, &part)
        });
    }
    share(Front::Credits, &mut engine, [messages(shapes[0], LIGHT), other])
}

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = format!(
        "{LIGHT} million messages a second of 2 compares, 128 bytes, beside {FLOOD} million packets a second of another module, target `default`, {CYCLES} cycles, with the scheduler and credits of \
         [the section above](#short-programs-beside-long-ones-on-the-l7-engine).\nThe flooding module may have {QUOTA} messages on their way, the honest one the other {}. *Dropped*: by the engine, for `l7_no_state` or \
         `l7_no_descriptor`.\n\n\
         | flood | its packets: decided, M/s | dropped | honest: decided, M/s | lost | dropped | median | 99 % |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        Build::Matchers(4).target().messages - usize::from(QUOTA)
    );
    let floods = [
        (Flood::Nothing, "none"),
        (Flood::Honest, "messages as the honest one's"),
        (Flood::NoEnds, "first packets without ends"),
        (Flood::Spoofed, "the same, each from another sender"),
        (Flood::DeadRing, "messages to rings without buffers"),
    ];
    for (flood, name) in floods {
        let [honest, other] = run(flood, seed);
        let _ = writeln!(
            out,
            "| {name} | {:.2} | {} | {:.2} | {} | {} | {} | {} |",
            other.rate, other.dropped, honest.rate, honest.lost, honest.dropped, honest.median, honest.most_of
        );
    }
    out
}
