//! Cycles of the rmt pipeline alone, compared with the model in every byte meanwhile.

use sluice_formats::random::Rng;
use sluice_formats::rmt::target::{DEFAULT, TINY, Target};
use sluice_formats::rows::SidebandRow;
use sluice_object::linker::rmt::Placer;
use sluice_rmt::fast::Fast;
use sluice_rmt::text;
use sluice_rtlsim::plugin::Until;
use sluice_rtlsim::rmt::{Agreed, End, Lockstep, ModuleFile, RmtOffer, RmtRtl, RowSink, Tenants};
use sluice_rtlsim::{Ready, RtlOptions};
use std::fmt::Write;

const LENGTHS: [usize; 13] = [60, 64, 65, 96, 127, 128, 129, 192, 256, 512, 1024, 1500, 9000];

/// A module that sends every packet to port 0, its header grown or shrunk.
fn module(target: &Target, change: &str) -> ModuleFile {
    let source = format!(
        "module forward\ncontainer m = c6[0]\ncontainer p = c4[0]\nparser {{\n select 0:1 {{\n * -> all\n }}\n \
         path all {{\n take m @0, p @14\n least 34\n }}\n}}\nstage 1 {{\n default out\n action out {{ send port0 }}\n}}\n\
         deparser {{\n row r {{\n {change}\n }}\n}}\n"
    );
    let unit = text::read("forward.rmt", &source, target).unwrap_or_else(|e| panic!("{e}\n{source}"));
    ModuleFile::of(unit, target).unwrap_or_else(|e| panic!("{e}"))
}

struct Bench {
    lockstep: Lockstep<Fast>,
    rng: Rng,
    sent: u32,
}

impl Bench {
    fn new(target: &Target, change: &str, seed: u64) -> Self {
        let options = RtlOptions { seed, ..RtlOptions::default() };
        let rtl = RmtRtl::open(target, &options).unwrap_or_else(|e| panic!("{e}"));
        let mut lockstep = Lockstep::new(rtl, Fast::new(*target));
        let mut tenants = Tenants::new(Placer::new(*target));
        let owners = tenants.placer().stage_owners();
        RowSink::write(&mut lockstep, &owners).expect("rows are written");
        let file = module(target, change);
        tenants.admit(&mut lockstep, 1, "forward", file.quota(target)).expect("there is room");
        tenants.load(&mut lockstep, 1, &file.part).expect("it loads");
        Self { lockstep, rng: Rng::new(seed), sent: 0 }
    }

    fn offer(&mut self, length: usize) {
        self.sent += 1;
        let bytes: Vec<u8> = (0..length).map(|_| self.rng.next_u32() as u8).collect();
        let sideband = SidebandRow { id: self.sent, module_id: 1, length: length as u16, ..SidebandRow::default() };
        self.lockstep.offer(&[RmtOffer { sideband, bytes, at: 0 }]).expect("it is taken");
    }

    fn run(&mut self) -> Vec<(u64, u64, u64)> {
        self.lockstep.finish().expect("RTL and model agree");
        let times = self.lockstep.ended.drain(..).filter_map(|Agreed { passage, .. }| match passage.end {
            End::Sent { first, last, .. } => Some((passage.first_in, first, last)),
            End::Dropped(_) => None,
        });
        times.collect()
    }

    /// Cycles between the first output beats, a packet.
    fn rate(&mut self, lengths: &[usize]) -> f64 {
        lengths.iter().for_each(|&n| self.offer(n));
        let times = self.run();
        assert_eq!(times.len(), lengths.len(), "nothing is lost");
        (times[times.len() - 1].1 - times[0].1) as f64 / (times.len() - 1) as f64
    }

    /// First and last beat out after the first in, one packet at a time.
    fn idle(&mut self, length: usize) -> (u64, u64) {
        self.offer(length);
        let times = self.run();
        self.lockstep.run(&Until { max_cycles: 50, ..Until::default() }).expect("idle");
        (times[0].1 - times[0].0, times[0].2 - times[0].0)
    }

    /// Median and most of the last beat out after the first in, back to back.
    fn full(&mut self, length: usize, packets: usize) -> (u64, u64) {
        (0..packets).for_each(|_| self.offer(length));
        let mut last: Vec<u64> = self.run().iter().map(|t| t.2 - t.0).collect();
        last.sort_unstable();
        (last[last.len() / 2], last[last.len() - 1])
    }
}

/// 7 of 64, 4 of 576, 1 of 1,500 bytes.
fn imix(packets: usize, rng: &mut Rng) -> Vec<usize> {
    let one = |rng: &mut Rng| match rng.below(12) {
        0..=6 => 64,
        7..=10 => 576,
        _ => 1500,
    };
    (0..packets).map(|_| one(rng)).collect()
}

/// The section's text.
pub fn cycles(seed: u64) -> String {
    let mut text = String::from(
        "`sluice_rmt_top` alone, one module that sends to port 0. Cycles per packet: between the first output beats of\n\
         the first and the last packet; back to back, with a gap before every second beat in by chance, with an output\n\
         that is ready in half of the cycles, and with headers that grow or shrink by 4 bytes. Latency from the first\n\
         beat accepted to the last beat out: idle, and back to back (median and most). Every packet is compared with\n\
         the fast model.\n\n\
         | config | bytes | beats | back to back | gaps | output stalls | +4 bytes | -4 bytes | idle: first | last | full: last | most |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for target in [DEFAULT, TINY] {
        let mut plain = Bench::new(&target, "put m @0", seed);
        let mut grows = Bench::new(&target, "grow 4 at 14\n put m @0, p @14", seed);
        let mut shrinks = Bench::new(&target, "shrink 4 at 14\n put m @0", seed);
        for n in LENGTHS {
            let packets = (100_000 / n).clamp(20, 400);
            let lengths = vec![n; packets];
            let rate = plain.rate(&lengths);
            plain.lockstep.rtl.set_gaps(128).expect("a chance");
            let gaps = plain.rate(&lengths);
            plain.lockstep.rtl.set_gaps(0).expect("a chance");
            plain.lockstep.rtl.set_ready(Ready::Random { chance: 128 }).expect("a chance");
            let stalls = plain.rate(&lengths);
            plain.lockstep.rtl.set_ready(Ready::Always).expect("a chance");
            let (longer, shorter) = (grows.rate(&lengths), shrinks.rate(&lengths));
            let (first, last) = plain.idle(n);
            let (full, most) = plain.full(n, packets);
            let (name, beats) = (target.name, target.beats(n));
            let _ = writeln!(
                text,
                "| {name} | {n} | {beats} | {rate:.3} | {gaps:.3} | {stalls:.3} | {longer:.3} | {shorter:.3} | {first} | {last} | {full} | {most} |"
            );
        }
        let lengths = imix(400, &mut plain.rng);
        let beats = lengths.iter().map(|&n| target.beats(n)).sum::<usize>() as f64 / lengths.len() as f64;
        let rate = plain.rate(&lengths);
        let _ = writeln!(text, "| {} | IMIX | {beats:.3} | {rate:.3} | | | | | | | | |", target.name);
    }
    text
}
