//! The XDP engine in the NIC, behind the pipeline: with rows of the pipeline by its placer and of the engine by hand, and from
//! the object on, in lockstep with the software NIC.

use crate::support;
use crate::xdp;
use crate::xdp::device::{COUNT, Nic, SHOW, array, object};
use sluice_device::{Device, Event, Offer, Outcome, Verdict};
use sluice_ebpf::{Image, Program};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::xdp::rows::{XdpInterfacesRow, XdpPageRow, XdpProgramRow, XdpShareRow};
use sluice_formats::xdp::target::PAGE_ROWS;
use sluice_formats::{Node, Reason, Table};
use sluice_hxdp::rows::code;
use sluice_hxdp::{Target, compile};
use sluice_object::Step;
use sluice_rtlsim::{Comparison, Ready, RtlNic, RtlOptions, Stalls, Variant, top};
use std::collections::BTreeMap;

/// A program as rows, in two pages for each module and generation.
fn install(module: u8, generation: u8, text: &str) -> Vec<Step> {
    let start = PAGE_ROWS as u16 * (1 + 2 * u16::from(module % 4) + u16::from(generation));
    let program = sluice_ebpf::insn::assemble("test", text, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let image = Image { programs: vec![Program { section: "xdp".into(), ..program }], ..Image::default() };
    let compiled = compile(&image, &image.programs[0], &Target::new(2).unwrap()).unwrap_or_else(|e| panic!("{e}"));
    let first = u32::from(start) / PAGE_ROWS as u32;
    let rows = code(&compiled, &[]).unwrap_or_else(|e| panic!("{e}"));
    assert!(rows.rows.len() <= PAGE_ROWS);
    let placed = rows.placed(&[first], |_| None).expect("it has no maps");
    let mut steps = Vec::new();
    for (row, code) in (u32::from(start)..).zip(&placed) {
        steps.push(support::row(Node::Xdp, Table::XdpCode, row, code));
    }
    let page = XdpPageRow { valid: true, module_id: module, next: 0 };
    steps.push(support::row(Node::Xdp, Table::XdpPage, first, &page));
    let index = 2 * u32::from(module) + u32::from(generation);
    let ifindex = [1, 2, 3, 4, 5, 6, 7, 8];
    steps.push(support::row(Node::Xdp, Table::XdpInterfaces, index, &XdpInterfacesRow { ifindex }));
    let program = XdpProgramRow { valid: true, start, granted: 0xff, work: 200, ..XdpProgramRow::default() };
    steps.push(support::row(Node::Xdp, Table::XdpProgram, index, &program));
    steps
}

/// A program that goes round some times, puts a mark into the frame's byte 30 and gives a verdict.
fn marks(mark: u8, rounds: u32, verdict: u32) -> String {
    format!(
        "r2 = *(u32 *)(r1 +0)\nr3 = *(u32 *)(r1 +4)\nr4 = r2\nr4 += 40\nif r4 > r3 goto end\nr6 = 0\nround:\nr6 += 1\n\
         if r6 < {rounds} goto round\nr5 = {mark}\n*(u8 *)(r2 +30) = r5\nend:\nr0 = {verdict}\nexit\n"
    )
}

/// The tiny NIC with VLAN m for module m, which the pipeline sends to port m % 4 and host m % 4.
fn nic() -> Option<RtlNic> {
    let mut nic = support::open("tiny", RtlOptions::default())?;
    support::set_up(&mut nic);
    Some(nic)
}

fn take(nic: &mut RtlNic, outcomes: &mut Vec<Outcome>) {
    outcomes.extend(nic.poll(usize::MAX).into_iter().filter_map(|event| match event {
        Event::Outcome(outcome) => Some(outcome),
        Event::OpDone { result, .. } => {
            result.unwrap();
            None
        }
    }));
}

fn frame(vlan: u8, length: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = support::tagged(vlan.into(), length, rng);
    // Without the tag it is byte 30.
    bytes[34] = 0;
    bytes
}

/// Every counted packet is accounted for, module by module.
fn closes(nic: &mut RtlNic) {
    for (module, c) in nic.counters().unwrap().modules {
        let dropped: u64 = c.dropped.values().sum();
        assert_eq!(c.offered + c.copies, c.forwarded + c.delivered + dropped, "module {module}: {c:?}");
        assert_eq!(c.in_flight, 0);
    }
}

#[test]
fn verdicts_of_programs_replace_routes_of_the_pipeline() {
    let Some(mut nic) = nic() else { return };
    let mut rng = Rng::new(test_seed("verdicts_of_programs_replace_routes_of_the_pipeline"));
    let mut steps = install(1, 0, &marks(7, 3, 2)); // passes on, as the pipeline says
    steps.extend(install(2, 0, &marks(8, 1, 3))); // back to where it came from
    steps.extend(install(3, 0, &marks(9, 5, 1))); // drops
    steps.extend(install(4, 0, &marks(9, 1_000_000, 2))); // goes round to its limit
    support::run_steps(&mut nic, steps).unwrap();
    let mut outcomes = Vec::new();
    for module in 1..=5 {
        let length = 60 + rng.below(1000) as usize;
        nic.offer(&[Offer { port: 0, bytes: frame(module, length, &mut rng), at: 0, bad: false }]).unwrap();
    }
    nic.quiesce().unwrap();
    take(&mut nic, &mut outcomes);
    let of = |module: u8| -> Vec<(Verdict, u8)> {
        let all = outcomes.iter().filter(|o| o.module == module);
        all.map(|o| {
            (o.verdict, o.bytes.get(if o.bytes.get(12) == Some(&0x81) { 34 } else { 30 }).copied().unwrap_or(0))
        })
        .collect()
    };
    let dropped = |reason| Verdict::Dropped { reason, destination: None };
    assert_eq!(of(1).len(), 2, "both copies");
    assert!(of(1).iter().all(|(_, mark)| *mark == 7));
    assert_eq!(of(5).len(), 2);
    assert!(of(5).iter().all(|(_, mark)| *mark == 0), "without a program as it came");
    assert_eq!(of(2), [(Verdict::Forwarded { port: 0 }, 8)]);
    assert_eq!(of(3), [(dropped(Reason::XdpDrop), 0)]);
    assert_eq!(of(4), [(dropped(Reason::XdpAborted), 0)]);
    closes(&mut nic);
}

#[test]
fn replacements_under_load_lose_nothing_and_every_packet_has_one_version() {
    let Some(mut nic) = nic() else { return };
    let mut rng = Rng::new(test_seed("replacements_under_load_lose_nothing_of_xdp"));
    let (module, beside) = (1, 2);
    let mut steps = install(module, 0, &marks(100, 10, 2));
    steps.push(support::row(
        Node::Xdp,
        Table::XdpShare,
        module.into(),
        &XdpShareRow { weight: 16, rows: 400, ..XdpShareRow::default() },
    ));
    support::run_steps(&mut nic, steps).unwrap();
    let (mut outcomes, mut offered) = (Vec::new(), BTreeMap::<u8, u64>::new());
    let versions = if support::long() { 200u8 } else { 12 };
    for version in 1..versions {
        // As fast as the program and the destinations can, so that packets are always under way and nothing is lost for want of room.
        let begin = nic.now();
        for n in 0..40 {
            let at = begin + 80 * n;
            for (vlan, port) in [(module, 0), (beside, 1)] {
                let length = 60 + rng.below(140) as usize;
                let bytes = frame(vlan, length, &mut rng);
                nic.offer(&[Offer { port, bytes, at, bad: false }]).unwrap();
                *offered.entry(vlan).or_default() += 1;
            }
        }
        nic.advance(200).unwrap();
        // The old program stays until its last packet has ended; the new one's rows are written where nobody reads.
        let generation = version % 2;
        let mut steps = vec![Step::WaitDrained { module, generation }];
        steps.extend(install(module, generation, &marks(100 + version, 10, 2)));
        steps.push(Step::Commit { module, generation });
        let op = support::load(&nic, steps);
        nic.submit(&op).unwrap();
        nic.advance(6_000).unwrap();
        take(&mut nic, &mut outcomes);
    }
    nic.quiesce().unwrap();
    take(&mut nic, &mut outcomes);
    let mut seen = BTreeMap::<u8, u64>::new();
    let mut copies = BTreeMap::<u8, u64>::new();
    for outcome in &outcomes {
        assert!(!matches!(outcome.verdict, Verdict::Dropped { .. }), "{outcome:?}");
        *copies.entry(outcome.module).or_default() += 1;
        let mark = outcome.bytes[if outcome.bytes[12..14] == [0x81, 0] { 34 } else { 30 }];
        if outcome.module == module {
            assert_eq!(u8::from(outcome.generation == Some(1)), mark % 2, "a program of its generation: {mark}");
            *seen.entry(mark).or_default() += 1;
        } else {
            assert_eq!(mark, 0);
        }
    }
    println!("copies by version {seen:?}");
    assert_eq!(copies, offered.iter().map(|(m, n)| (*m, 2 * n)).collect(), "both copies of every packet");
    assert!(seen.len() >= usize::from(versions) - 1, "{seen:?}");
    closes(&mut nic);
}

/// The NIC and the interpreter behind the pipeline's model in lockstep.
fn lockstep(name: &str) -> Option<(Nic<Comparison>, Rng)> {
    if !support::has_top(&top::NIC, "tiny", Variant::Test) {
        return None;
    }
    let seed = test_seed(name);
    let options = RtlOptions { seed, check_accounting: true, stalls: support::stalls(), ..RtlOptions::default() };
    Some((Nic::new(Comparison::open("tiny", options, support::waves_folder()).unwrap()), Rng::new(seed)))
}

fn long_frame(vlan: u16, rng: &mut Rng) -> Vec<u8> {
    let length = rng.range(50, 300) as usize;
    xdp::device::frame(vlan, rng.below(8) as u8, &rng.bytes(length))
}

#[test]
fn packets_maps_and_replacements_are_the_interpreters_in_the_whole_nic() {
    let name = "packets_maps_and_replacements_are_the_interpreters_in_the_whole_nic";
    let Some((mut nic, mut rng)) = lockstep(name) else { return };
    let maps = || vec![array("counts", 8, 6)];
    let (mut loads, steps) = (0, if support::long() { 3_000 } else { 40 });
    for _ in 0..steps {
        let id = rng.range(1, 4) as u16;
        let runs = nic.linker.tenant(id).unwrap().running.is_some();
        match rng.below(6) {
            0 if runs => nic.unload(id),
            0 | 1 => {
                let (text, keep) = (if rng.chance(1, 2) { COUNT } else { SHOW }, ["counts"]);
                nic.put(id, &object("program", text, maps(), &keep[..rng.below(2) as usize])).unwrap();
                loads += 1;
            }
            2 if runs => {
                let (module, index) = (nic.module(id), (rng.below(6) as u32).to_le_bytes());
                let maps = nic.device.maps().unwrap();
                let map = maps.list(module).unwrap()[0].id;
                let value = rng.bytes(8);
                maps.update(module, map, &index, &value, 0).unwrap();
                assert_eq!(maps.lookup(module, map, &index).unwrap(), value);
            }
            _ => {
                let frames: Vec<Vec<u8>> = (0..8).map(|_| long_frame(rng.range(1, 5) as u16, &mut rng)).collect();
                nic.offer(rng.below(4) as u8, frames);
            }
        }
        if rng.chance(1, 5) {
            nic.device.quiesce().unwrap();
            nic.device.counters().unwrap();
        }
    }
    nic.device.quiesce().unwrap();
    assert!(nic.device.counters().unwrap().modules.values().all(|m| m.closes() && m.in_flight == 0));
    println!("{loads} loads, {:?}", nic.device.compared());
    assert!(loads > steps / 8 && nic.device.compared().outputs > 2 * loads);
}

/// Programs without maps run at the same time, their queues overflow, and packets overtake each other.
#[test]
fn programs_at_full_load_are_the_interpreters_in_the_whole_nic() {
    let Some((mut nic, mut rng)) = lockstep("programs_at_full_load_are_the_interpreters_in_the_whole_nic") else {
        return;
    };
    let program = |mark, rounds, verdict| object("marks", &marks(mark, rounds, verdict), Vec::new(), &[]);
    nic.put(1, &program(1, 3, 2)).unwrap();
    nic.put(2, &program(2, 2_500, 3)).unwrap();
    // Tenant 3 has no program and no route; 4 gets one on the way.
    let rounds = if support::long() { 300 } else { 8 };
    let mut queue_drops = 0;
    for round in 0..rounds {
        let ready = if rng.chance(1, 2) { Ready::Always } else { Ready::Random { chance: 200 } };
        nic.device.set_stalls(Stalls { ready, ..Stalls::default() }).unwrap();
        for port in 0..4 {
            let frames: Vec<Vec<u8>> = (0..64).map(|_| long_frame(rng.range(1, 5) as u16, &mut rng)).collect();
            nic.offer(port, frames);
        }
        nic.device.advance(rng.below(3_000)).unwrap();
        let verdict = [1, 2, 3][rng.below(3) as usize];
        let id = if rng.chance(1, 2) { 1 } else { 4 };
        nic.put(id, &program(3 + round as u8 % 200, rng.below(40) as u32, verdict)).unwrap();
        nic.device.quiesce().unwrap();
        let counters = nic.device.counters().unwrap();
        assert!(counters.modules.values().all(|m| m.closes() && m.in_flight == 0));
        let drops = counters.modules.values().map(|m| m.dropped.get(&Reason::XdpQueue).copied().unwrap_or(0));
        queue_drops = drops.sum();
    }
    let compared = nic.device.compared();
    println!("{queue_drops} dropped at the queue, {compared:?}");
    assert!(queue_drops > 8 && compared.outputs > 50 * rounds, "{queue_drops} {compared:?}");
}
