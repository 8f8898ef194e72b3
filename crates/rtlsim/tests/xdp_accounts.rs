//! What the engine counts for a module: packets, bundles, cycles, waits by cause, and the last fault.

use crate::packets;
use crate::programs;
use crate::support;
use crate::xdp::accounts::{Account, last_fault};
use crate::xdp::engine::{Engine, INTERFACES, MODULE, Rows, WORK, open_tiny};
use crate::xdp::pair::{Pair, image};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{FaultReason, Image, MapSpec, MapType, Packet, Program, Runtime};
use sluice_formats::limits::packet_id;
use sluice_formats::xdp::codes::{XdpFault, XdpPass};
use sluice_formats::xdp::rows::{XdpFaultRow, XdpPageRow, XdpProgramRow};
use sluice_formats::xdp::target::PAGE_ROWS;
use sluice_formats::{Node, Op, Status, Table};
use sluice_hxdp::Cores;
use sluice_hxdp::loops::LOOP;

const START: u16 = PAGE_ROWS as u16;

/// A program with one map.
fn with_map(text: &str, map: MapSpec) -> Image {
    let program = sluice_ebpf::insn::assemble("test", text, &[&map.name]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Image { programs: vec![Program { section: "xdp".into(), ..program }], maps: vec![map], ..Image::default() }
}

/// The bundle model with the program and maps of a pair, of its own.
struct Model {
    runtime: Runtime,
    installed: sluice_ebpf::vm::Installed,
    cores: Cores,
}

impl Model {
    fn of(pair: &Pair) -> Self {
        let mut runtime = Runtime::new(pair.contexts(), 0);
        runtime.work_limit = WORK.into();
        let installed = runtime.install_unchecked(&pair.image, &|_| None).unwrap();
        let mut cores = Cores::new();
        cores.bind(pair.bundles.clone(), 0, &runtime, installed);
        Self { runtime, installed, cores }
    }

    /// Bundles of a packet.
    fn run(&mut self, port: u8, frame: &[u8]) -> u64 {
        let ingress = Ingress { ifindex: INTERFACES[usize::from(port)], queue: 0 };
        self.runtime.run_on(&self.cores, self.installed, 0, &mut Packet::new(frame), ingress);
        self.cores.take_executed().bundles
    }
}

/// Sends one packet alone, and gives what its module was counted for it.
fn alone(engine: &mut Engine, number: u32) -> Account {
    let before = Account::read(engine, MODULE);
    engine.offer(packet_id(0, number), MODULE, &[0; 100]);
    engine.end(1);
    engine.quiesce();
    engine.forget();
    Account::read(engine, MODULE).since(&before)
}

#[test]
fn each_packet_bundle_and_fault_is_counted() {
    let Some((mut engine, mut rng)) = open_tiny("each_packet_bundle_and_fault_is_counted") else { return };
    let (mut sent, mut faulted, mut bundles) = (0u32, 0, 0);
    let wanted = if support::long() { 20_000 } else { 1_000 };
    while sent < wanted {
        let statements = 1 + rng.below(40) as u32;
        let image = programs::random(&mut rng, statements);
        let uses_maps = image.programs[0].insns.iter().any(|i| i.op == 0x18 && i.src != 0);
        let Some(mut pair) = Pair::new(&mut engine, image).filter(|_| !uses_maps) else { continue };
        let mut model = Model::of(&pair);
        let before = Account::read(&mut engine, MODULE);
        let (mut expected, packets) = (0, 12);
        engine.stall([0, 40][rng.index(2)], 0);
        for n in 0..packets {
            let (port, frame) = (rng.below(engine.target.ports.into()) as u8, packets::frame(&mut rng));
            expected += model.run(port, &frame);
            pair.send(&mut engine, port, sent + n, &frame);
        }
        let faults = pair.faults();
        pair.compare(&mut engine);
        let spent = Account::read(&mut engine, MODULE).since(&before);
        assert_eq!(spent.pass(XdpPass::Start).0, u64::from(packets));
        assert_eq!(spent.bundles(), expected, "{}", pair.listing());
        let ended: u64 = spent.ends.iter().map(|(count, _)| count).sum();
        assert_eq!((ended, spent.end(XdpFault::None).0), (u64::from(packets), u64::from(packets) - faults));
        // A packet's first pass has the cycles in front of it.
        assert!(spent.cycles() >= 5 * (expected - u64::from(packets)));
        (sent, faulted, bundles) = (sent + packets, faulted + faults, bundles + expected);
    }
    println!("{sent} packets, {bundles} bundles, {faulted} faults");
    assert!(bundles > u64::from(sent));
}

#[test]
fn a_packet_alone_has_the_cycles_that_are_documented_for_what_it_waits_for() {
    let Some((mut engine, _)) = open_tiny("a_packet_alone_has_the_cycles_that_are_documented") else { return };
    let mut of = |text: &str, number| {
        engine.load(MODULE, 0, &Rows::compiled(text, START), START);
        alone(&mut engine, number)
    };
    // Bundles that wait for nothing take 5 cycles each; the first is the pass that takes the packet.
    let plain = of(&format!("{}r0 = r1\nexit\n", "r1 = -r1\n".repeat(40)), 0);
    assert!(plain.bundles() > 40);
    assert_eq!(plain.cycles(), 5 * (plain.bundles() - 1));
    assert_eq!(plain.pass(XdpPass::Bundle), (plain.bundles() - 1, plain.cycles()));
    assert_eq!(plain.end(XdpFault::None).0, 1);
    // Nobody is before it: queue, warp engine (11 cycles), packet memory and context have it at once.
    let (packets, queued) = plain.pass(XdpPass::Start);
    assert!(packets == 1 && (16..31).contains(&queued), "{plain:?}");
    // What docs/design/hxdp-core.md says ("Core"), and 5 from the pick to the pass.
    let product = of("r1 *= r1\nr1 *= r1\nr1 *= r1\nr0 = r1\nexit\n", 1);
    assert_eq!((product.pass(XdpPass::Arithmetic), product.pass(XdpPass::Launch)), ((3, 3 * (5 + 5)), (0, 0)));
    let quotient = of("r0 = r1\nr0 /= r10\nexit\n", 2);
    assert_eq!(quotient.pass(XdpPass::Arithmetic), (1, 68 + 5));
    let remainder = of("w0 = w1\nw0 %= w10\nexit\n", 3);
    assert_eq!(remainder.pass(XdpPass::Arithmetic), (1, 36 + 5));
    // Of two passes: the launch, which has its 5 too, and that which does the bundle.
    let stack = of("*(u64 *)(r10 -8) = r1\nlock *(u64 *)(r10 -8) += r1\nr0 = *(u64 *)(r10 -8)\nexit\n", 4);
    assert_eq!(stack.pass(XdpPass::Values), (1, 6 + 5));
    let call = of("call f\nexit\nf:\nr0 = 1\nexit\n", 5);
    // Its bundles are the call, launched with the packet, the function's exit and the program's; two passes bring registers back.
    assert_eq!((call.pass(XdpPass::Helper), call.pass(XdpPass::Launch)), ((1, 17), (2, 2 * 5)));
    assert_eq!(call.bundles(), 3);
    let helper = of("r1 = 8\ncall bpf_get_smp_processor_id\nexit\n", 6);
    assert_eq!(helper.pass(XdpPass::Helper), (1, 4 + 5));
}

#[test]
fn waits_for_the_map_engine_are_counted() {
    let Some((mut engine, _)) = open_tiny("waits_for_the_map_engine_are_counted") else { return };
    let text =
        "r1 = 7\n*(u64 *)(r10 -8) = r1\nr1 = map[m]\nr2 = r10\nr2 += -8\ncall bpf_map_lookup_elem\nr0 = 2\nexit\n";
    let mut pair = Pair::new(&mut engine, with_map(text, MapSpec::new("m", MapType::Hash, 8, 8, 4))).unwrap();
    let before = Account::read(&mut engine, MODULE);
    for number in 0..20 {
        pair.send(&mut engine, 0, number, &[1; 64]);
    }
    pair.compare(&mut engine);
    let spent = Account::read(&mut engine, MODULE).since(&before);
    let (count, cycles) = spent.pass(XdpPass::Maps);
    // 10 for the key and the lookup, 5 from the pick to the pass; of both contexts' lookups one may wait.
    assert!(count == 20 && (20 * 15..20 * 18).contains(&cycles), "{spent:?}");
}

#[test]
fn what_waits_for_its_turn_is_counted_where_it_waits() {
    let Some((mut engine, _)) = open_tiny("what_waits_for_its_turn_is_counted") else { return };
    // One context divides at a time: the other of its core is sent back until it is done.
    let divide = format!("r0 = r1\n{}r0 &= 1\nr0 |= 2\nexit\n", "r0 /= r10\n".repeat(6));
    engine.load(MODULE, 0, &Rows::compiled(&divide, START), START);
    let before = Account::read(&mut engine, MODULE);
    for number in 0..16 {
        engine.offer(packet_id(0, number), MODULE, &[0; 64]);
    }
    engine.end(16);
    engine.quiesce();
    let spent = Account::read(&mut engine, MODULE).since(&before);
    let (sent_back, lost) = spent.pass(XdpPass::Busy);
    assert!(sent_back > 16 && lost >= 5 * sent_back, "{spent:?}");
    assert_eq!(spent.pass(XdpPass::Arithmetic).0, 16 * 6);
    // 4 contexts have 16 packets: those behind wait in their queue, a round of 6 divisions, one after the other, at least.
    assert!(spent.pass(XdpPass::Start).1 > 12 * 6 * 68, "{spent:?}");
    engine.forget();
    // A packet that ends behind a long one of its flow waits for it.
    let long = "r6 = *(u32 *)(r1 +0)\nr7 = *(u32 *)(r1 +4)\nr2 = r6\nr2 += 14\nr0 = 1\nif r2 > r7 goto end\nr2 = *(u8 *)(r6 +0)\n\
                again:\nif r2 == 0 goto out\nr2 -= 1\ngoto again\nout:\nr0 = 2\nend:\nexit\n";
    engine.load(MODULE, 0, &Rows::compiled(long, START), START);
    let before = Account::read(&mut engine, MODULE);
    engine.offer(packet_id(0, 20), MODULE, &[200; 64]);
    engine.offer(packet_id(0, 21), MODULE, &[0; 64]);
    engine.end(2);
    engine.quiesce();
    let spent = Account::read(&mut engine, MODULE).since(&before);
    let (ended, waited) = spent.end(XdpFault::None);
    assert!(ended == 2 && (1_000..4_000).contains(&waited), "{spent:?}");
}

#[test]
fn cores_and_modules_count_apart_and_lose_nothing() {
    let Some((mut engine, mut rng)) = open_tiny("cores_and_modules_count_apart") else { return };
    let text = |n: usize| format!("{}r0 = r1\nexit\n", "r1 = -r1\n".repeat(n));
    let (own, other) = (Rows::compiled(&text(3), START), Rows::compiled(&text(30), 4 * START));
    engine.load(MODULE, 0, &own, START);
    engine.load(MODULE + 1, 0, &other, 4 * START);
    let before = [MODULE, MODULE + 1].map(|module| Account::read(&mut engine, module));
    let mut sent = [0u64; 2];
    for number in 0..400 {
        let who = rng.index(2);
        sent[who] += 1;
        engine.offer_flow(packet_id(0, number), MODULE + who as u8, number, &[0; 64]);
    }
    engine.end(400);
    engine.quiesce();
    for (who, rows) in [(0, own), (1, other)] {
        let spent = Account::read(&mut engine, MODULE + who as u8).since(&before[who]);
        assert_eq!((spent.pass(XdpPass::Start).0, spent.end(XdpFault::None).0), (sent[who], sent[who]));
        assert_eq!(spent.bundles(), sent[who] * rows.code.len() as u64);
    }
    // Both cores had some.
    for core in 0..2 {
        let words = engine.read(Table::XdpPasses, (core * 8 + u32::from(MODULE)) * 8);
        assert_ne!(words[0], 0, "core {core}");
    }
}

#[test]
fn a_fault_is_told_with_its_kind_and_its_instruction() {
    let Some((mut engine, mut rng)) = open_tiny("a_fault_is_told_with_its_kind_and_its_instruction") else { return };
    assert_eq!(last_fault(&mut engine, MODULE), XdpFaultRow::default());
    let (mut sent, mut seen) = (0, [0; 8]);
    let wanted = if support::long() { 3_000 } else { 120 };
    let fixed = [
        "r1 = 5\nr0 = 2\nr2 = *(u8 *)(r1 +0)\nexit\n",
        "r1 = r10\nr2 = 8\nlock *(u64 *)(r1 -4) += r2\nr0 = 2\nexit\n",
        "r1 = 1\nr2 = 1\nr3 = r10\nr4 = 8\nr5 = 0\ncall bpf_csum_diff\nr0 = 2\nexit\n",
        "r6 = 1\nagain:\nr6 += 1\nif r6 != 0 goto again\nr0 = 2\nexit\n",
        "call f\nr0 = 2\nexit\nf:\nr6 = 1\nr7 = *(u64 *)(r6 +9)\nr0 = 1\nexit\n",
    ];
    let mut fixed: Vec<Image> = fixed.iter().map(|text| image(text)).collect();
    // Late: their bundles were done when they were launched, and a bundle behind them was fetched.
    let array = |text: &str| with_map(text, MapSpec::new("m", MapType::Array, 4, 8, 1));
    let look = "r6 = r1\nr1 = 0\n*(u32 *)(r10 -4) = r1\nr1 = map[m]\nr2 = r10\nr2 += -4\ncall bpf_map_lookup_elem\n\
                if r0 == 0 goto end\n";
    fixed.push(array(&format!("{look}r7 = *(u64 *)(r0 +64)\nr8 = r6\nend:\nr0 = 2\nexit\n")));
    fixed.push(array(&format!("{look}r8 = r6\n*(u64 *)(r0 +64) = r6\nr9 = 1\nend:\nr0 = 2\nexit\n")));
    let hash = |text: &str| with_map(text, MapSpec::new("m", MapType::Hash, 4, 8, 4));
    fixed.push(hash("r1 = map[m]\nr2 = 8\ncall bpf_map_lookup_elem\nr6 = r10\nr0 = 2\nexit\n"));
    while sent < wanted || !fixed.is_empty() {
        let statements = 1 + rng.below(40) as u32;
        let image = fixed.pop().unwrap_or_else(|| programs::random(&mut rng, statements));
        let Some(mut pair) = Pair::new(&mut engine, image) else { continue };
        for _ in 0..3 {
            let before = Account::read(&mut engine, MODULE);
            pair.send(&mut engine, 0, sent, &packets::frame(&mut rng));
            sent += 1;
            let Some(fault) = pair.last_fault() else {
                pair.compare(&mut engine);
                continue;
            };
            pair.compare(&mut engine);
            let row = last_fault(&mut engine, MODULE);
            let kind = XdpFault::from_code(row.kind).unwrap();
            match pair.bundles.rows.get(usize::from(row.row - START)) {
                Some(bundle) => {
                    let step = &bundle.lanes[usize::from(row.lane)];
                    assert_eq!(step.slot, fault.pc, "{fault:?} {row:?}\n{}", pair.listing());
                }
                // Behind the program's rows are the engine's own, of `bpf_loop`.
                None => {
                    let insn = &pair.image.programs[0].insns[fault.pc as usize];
                    assert_eq!((insn.op, insn.imm), (0x85, LOOP), "{fault:?} {row:?}\n{}", pair.listing());
                }
            }
            let expected = match fault.reason {
                FaultReason::Access { access: "load" | "store" | "atomic", .. } => XdpFault::Access,
                FaultReason::Access { .. } | FaultReason::Argument { .. } => XdpFault::Argument,
                FaultReason::Work { .. } => XdpFault::Work,
                other => panic!("{other:?}"),
            };
            assert_eq!(kind, expected, "{fault:?}\n{}", pair.listing());
            let spent = Account::read(&mut engine, MODULE).since(&before);
            assert_eq!((spent.end(kind).0, spent.end(XdpFault::None).0), (1, 0));
            seen[usize::from(row.kind)] += 1;
        }
    }
    println!("{sent} packets; faults by kind {seen:?}");
    assert!(seen[1..4].iter().all(|n| *n > 0));
}

#[test]
fn bundles_that_are_not_the_modules_and_calls_beyond_its_frames_are_told() {
    let Some((mut engine, _)) = open_tiny("bundles_that_are_not_the_modules_are_told") else { return };
    let rows = Rows::compiled("call f\nr0 = 2\nexit\nf:\nr6 = r10\ncall g\nr0 = 1\nexit\ng:\nr0 = 1\nexit\n", START);
    engine.load(MODULE, 0, &rows, START);
    engine.write(
        Table::XdpProgram,
        2 * u32::from(MODULE),
        &XdpProgramRow { frames: 1, ..Engine::program(&rows, START) },
    );
    assert_eq!(alone(&mut engine, 0).end(XdpFault::Depth).0, 1);
    let deep = last_fault(&mut engine, MODULE);
    assert_eq!((deep.kind, deep.lane), (XdpFault::Depth.code(), 0));
    let call = &rows.code[usize::from(deep.row - START)].lanes[0];
    assert_eq!(call.op, sluice_formats::xdp::codes::XdpOp::Call.code());
    // Another module sees nothing of it.
    assert_eq!(last_fault(&mut engine, MODULE + 1), XdpFaultRow::default());
    engine.write(Table::XdpPage, 1, &XdpPageRow { valid: true, module_id: MODULE + 1, next: 1 });
    assert_eq!(alone(&mut engine, 1).end(XdpFault::Bundle).0, 1);
    let foreign = XdpFaultRow { kind: XdpFault::Bundle.code(), row: START, ..XdpFaultRow::default() };
    assert_eq!(last_fault(&mut engine, MODULE), foreign);
    // Nobody writes what is counted.
    for table in [Table::XdpPasses, Table::XdpEnds, Table::XdpFault] {
        let (status, _) = engine.ask(Op::Write, Node::Xdp, table, 0, vec![0; table.words()]);
        assert_eq!(status, Status::ReadOnly);
        let (status, _) = engine.ask(Op::Read, Node::Xdp, table, table.rows(engine.target), Vec::new());
        assert_eq!(status, Status::BadAddress);
    }
}
