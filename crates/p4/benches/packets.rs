//! Packets a second of the reference on basic forwarding, one core. Median of the rounds.
//!
//! `cargo bench -p sluice-p4 --bench packets`

use sluice_p4::stf::Script;
use sluice_p4::{Reader, Undefined};
use std::path::Path;
use std::time::Instant;

const ROUNDS: usize = 11;
const PACKETS: usize = 20_000;

/// A packet of IPv4 to 10.0.1.7 with a right checksum, 64 bytes.
fn packet() -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 0xfe, 2, 0, 0, 0, 0, 0xaa, 8, 0];
    bytes.extend([0x45, 0, 0, 0x14, 0, 1, 0, 0, 0x40, 6, 0x5c, 0xd4, 10, 0, 9, 9, 10, 0, 1, 7]);
    bytes.resize(64, 0);
    bytes
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4");
    let program = Reader::new().check(&folder.join("basic.p4")).expect("it is P4");
    let mut reference = program.reference(Undefined::Zero, 1).expect("it is for v1model");
    let text = std::fs::read_to_string(folder.join("basic.stf")).expect("it is there");
    // The script's entries stay.
    Script::parse("basic.stf", &text).expect("it is right").run(&mut reference);
    let packet = packet();
    let mut all: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            for _ in 0..PACKETS {
                let sent = reference.packet(0, &packet).expect("it is carried");
                assert_eq!(std::hint::black_box(sent).len(), 1);
            }
            PACKETS as f64 / begin.elapsed().as_secs_f64()
        })
        .collect();
    all.sort_by(f64::total_cmp);
    println!("| program | packets/s |");
    println!("| --- | --- |");
    println!("| basic | {:.0} |", all[ROUNDS / 2]);
}
