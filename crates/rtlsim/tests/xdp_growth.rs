//! What XDP programs add to frames: no more than their tenant is given, and paid for at his ports.

use crate::attacking::programs;
use crate::shares::{Fate, Spoiled, Stream, admitted, assured, gap, spoiled, streams};
use crate::support;
use crate::xdp::device::{Nic, frame, object};
use sluice_formats::Target;
use sluice_formats::random::test_seed;
use sluice_formats::target::{DEFAULT, TINY};
use sluice_object::{Destination, Object};
use sluice_rtlsim::{Comparison, RtlOptions, Variant, top};
use std::collections::BTreeMap;

/// Adds as many bytes at the end as the first byte behind the type says, then as many in front as the next one says; the frame goes back.
const MOVES: &str = "r6 = r1\nr7 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r7\nr3 += 16\nr0 = 1\nif r3 > r2 goto out\n\
    r8 = *(u8 *)(r7 +14)\nr9 = *(u8 *)(r7 +15)\nr2 = r8\ncall bpf_xdp_adjust_tail\nr2 = 0\nr2 -= r9\nr1 = r6\n\
    call bpf_xdp_adjust_head\nr0 = 3\nout:\nexit\n";
/// Bytes of the frame without its tag.
const LENGTH: usize = 60;

/// The frame's length when it leaves, of one that may gain so many bytes.
fn expected(growth: usize, tail: usize, head: usize) -> usize {
    let most = LENGTH + growth;
    let longer = if LENGTH + tail <= most { LENGTH + tail } else { LENGTH };
    if longer + head <= most { longer + head } else { longer }
}

/// With the software NIC in lockstep, so that bytes are the same too.
#[test]
fn a_frame_gains_what_its_tenant_is_given_and_no_byte_more() {
    let test = "a_frame_gains_what_its_tenant_is_given_and_no_byte_more";
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return;
    }
    let options = RtlOptions { top: &top::XDP, seed: test_seed(test), check_accounting: true, ..RtlOptions::default() };
    let device = Comparison::open(TINY.name, options, support::waves_folder()).unwrap();
    let given = [Some(100), Some(0), Some(128), None];
    let mut nic = Nic::given(device, |spec| spec.xdp_growth = given[usize::from(spec.id) - 1]);
    for (id, given) in (1..).zip(given) {
        nic.put(id, &object("moves", MOVES, Vec::new(), &[])).unwrap();
        // The last one has no limit but the packet's buffer.
        let growth = given.map_or(3000, usize::from);
        for (tail, head) in
            [(0, 0), (1, 0), (0, 1), (60, 40), (60, 41), (100, 1), (101, 100), (128, 0), (129, 0), (255, 200)]
        {
            nic.offer(0, [frame(id, tail, &[&[head][..], &[7; LENGTH - 16]].concat())]);
            let ended = nic.ended();
            assert_eq!(ended.len(), 1, "{ended:?}");
            // On the wire it has its tag.
            let found = ended[0].bytes.len() - 4;
            let wanted = expected(growth, tail.into(), head.into());
            assert_eq!(found, wanted, "tenant {id} given {given:?}: {tail} bytes behind, {head} in front");
        }
    }
}

/// Adds so many bytes and passes to a destination.
fn grows(bytes: u16, to: Destination) -> Object {
    let text = format!("r2 = {bytes}\ncall bpf_xdp_adjust_tail\nr0 = 2\nexit\n");
    programs::xdp("grows", &text, Vec::new(), to)
}

/// A neighbour of the pipeline who sends what he is assured of at his port, and one of the XDP engine whose frames stay as they are, next to
/// two tenants on other ports at a beat a cycle whose frames of 60 bytes become as long as they are allowed, and one who asks for more than he
/// is given.
fn beside_growth(target: &'static Target) -> Vec<Stream> {
    const GROWTH: u16 = 1_400;
    let beats = target.beats(LENGTH as u32);
    let stream = |id: u16, object: Object, gap: f64, growth: u16| {
        let to = Destination::from_number(id as u8 - 1, target).unwrap();
        let to = vec![(to, (target.cells / 8) as u16)];
        Stream { id, port: id as u8 - 1, object, to, length: 64, gap, first: 0, until: None, growth, rows: 0 }
    };
    let neighbour = programs::grower(0, &[Destination::Port(0)], target);
    let mut all = vec![stream(1, neighbour, 64.0, 0)];
    all.extend((2..4).map(|id| stream(id, grows(GROWTH, Destination::Port(id as u8 - 1)), beats.into(), GROWTH)));
    all.push(Stream { rows: 100, ..stream(4, grows(0, Destination::Port(3)), 400.0, 0) });
    all.push(Stream { port: 2, ..stream(5, grows(3_500, Destination::Host(0)), beats.into(), 128) });
    all[0].gap = gap(&assured(target, &all), beats);
    all
}

/// Before growth was charged, a neighbour at 0.8 of his share lost 524 of 1,350 packets beside one whose frames became 3,500 bytes.
#[test]
fn frames_that_grow_take_nothing_from_a_neighbour_within_his_share() {
    let length = LENGTH as u32;
    for (build, target) in [(support::FULL_TINY, &TINY), (support::FULL_DEFAULT, &DEFAULT)] {
        if !(build.target == "tiny" || support::long()) || !build.is_there() {
            continue;
        }
        let mut all = beside_growth(target);
        let linker = admitted(target, &all);
        let wait = linker.shares(0).unwrap().wait;
        let delivery = linker.delivery(1, Destination::Port(0)).unwrap().unwrap();
        let at_once = delivery.room(length) / 2;
        // At the share of his port he loses nothing there, also where his queue is sure of less than that: 16 packets on tiny.
        let packets = if support::long() { 20_000 } else { 1_500 };
        let fates = streams(build, packets, &all, 7);
        println!("{}: a packet in {:.2} ticks: {fates:?}, wait {wait}", target.name, all[0].gap);
        let at_port = ["overload", "over_share"];
        assert_eq!(lost(&fates[0], at_port), 0, "{}: {fates:?}", target.name);
        assert!(fates[0].waited[1] <= wait, "{}: {fates:?}", target.name);
        assert_eq!(fates[3].lost, BTreeMap::new(), "{}: the neighbour of the XDP engine", target.name);
        // They are not starved.
        for grown in &fates[1..3] {
            let left = grown.offered - grown.lost.values().sum::<u64>();
            assert!(left > 20, "{}: {grown:?}", target.name);
        }
        let fates = spoiled(build, packets, &all, 7, Spoiled::Growth);
        println!("{}: growth not charged: {:?}", target.name, fates[0]);
        // On the default target the pipeline carries what grows there even if nobody pays for it: 0 of 20,000 lost, 2026-11-29.
        assert!(target != &TINY || !fates[0].lost.is_empty(), "{}: the figures above could not fail", target.name);

        // Within both shares, that of his port and that of his queue, he loses nothing at all, and the latency is the page's.
        let sure = (1_u64 << 32) as f64 / delivery.packets_per_round(length, at_once) as f64;
        let within = delivery.leaves_within(length, at_once);
        all[0].gap = all[0].gap.max(sure);
        let fates = streams(build, packets / 10, &all, 7);
        println!("{}: a packet in {:.2} ticks: {fates:?}, latency {within}", target.name, all[0].gap);
        assert_eq!(fates[0].lost, BTreeMap::new(), "{}: {fates:?}", target.name);
        assert!(fates[0].waited[1] <= wait && fates[0].latency[1] <= within, "{}: {fates:?}", target.name);
    }
}

/// Packets lost for one of these reasons.
fn lost(fate: &Fate, reasons: [&str; 2]) -> u64 {
    reasons.iter().filter_map(|reason| fate.lost.get(reason)).sum()
}
