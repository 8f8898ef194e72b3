//! The verifier finds what is wrong with bundles, and the comparison with the interpreter finds it too.

use crate::support::{LANES, image, objects, target};
use sluice_ebpf::insn::{AluOp, AtomicOp, Operand, assemble};
use sluice_ebpf::load::load;
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, Packet, Program, Runtime};
use sluice_hxdp::compile::optimized;
use sluice_hxdp::effect::Effect;
use sluice_hxdp::pass::Code;
use sluice_hxdp::pass::dependence::{Edge, Order, dependences};
use sluice_hxdp::pass::layout::layout;
use sluice_hxdp::pass::liveness::Liveness;
use sluice_hxdp::pass::schedule::schedule;
use sluice_hxdp::verify::{order, structure, traces, verify};
use sluice_hxdp::{Bundles, Cores, Op, Target, compile, encode};
use std::collections::BTreeMap;

fn of_text(text: &str) -> Image {
    let program = assemble("planted", text, &[]).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    Image { programs: vec![program], ..Image::default() }
}

/// Rows of a scheduler that knows only the dependences that `keep` lets through; not verified.
fn without(code: &Code, target: &Target, keep: impl Fn(&Edge) -> bool) -> (Bundles, BTreeMap<u32, u32>) {
    let live = Liveness::of(code);
    let of_trace = |trace| {
        let mut edges = dependences(trace, &code.regions, &live);
        edges.retain(&keep);
        schedule(&trace.steps, &edges, target, &code.leaving)
    };
    let schedules = code.traces.iter().map(|(label, trace)| (*label, of_trace(trace))).collect();
    layout(code, &schedules, *target).unwrap()
}

/// A late read of what is overwritten: `r3` hangs at the end of a long chain, so that a scheduler that ignores the
/// write behind the read puts that write first.
const OVERWRITTEN: &str = "
    r1 = 5
    r0 = 7
    r0 *= 3
    r0 *= 5
    r0 ^= r1
    r1 = 9
    r1 *= r1
    r1 *= r1
    r1 *= r1
    r1 *= r1
    r1 *= r1
    r0 += r1
    exit";

/// The same with registers that the compiler does not know the values of.
fn overwritten() -> Image {
    of_text(&OVERWRITTEN.replace("r1 = 5", "r1 = *(u32 *)(r1 +12)").replace("r1 = 9", "r1 = *(u8 *)(r10 -1)"))
}

fn r0(image: &Image, bundles: Option<Bundles>) -> u64 {
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install(image, &|_| None).unwrap();
    let ingress = Ingress { ifindex: 6, queue: 0 };
    let mut packet = Packet::new(&[0; 60]);
    let Some(bundles) = bundles else { return runtime.run(installed, 0, &mut packet, ingress).r0 };
    let mut cores = Cores::new();
    cores.bind(bundles, 0, &runtime, installed);
    runtime.run_on(&cores, installed, 0, &mut packet, ingress).r0
}

#[test]
fn a_scheduler_that_ignores_a_write_after_a_read_is_found_by_verifier_and_model() {
    let image = overwritten();
    let code = optimized(&image, &image.programs[0]);
    let (bundles, starts) = without(&code, &target(2), |edge| edge.order != Order::Same);
    let broken = verify(&code, &bundles, &starts).unwrap_err();
    assert_eq!(broken.rule, "a register is not written before the bundle that reads it");
    assert_ne!(r0(&image, Some(bundles)), r0(&image, None), "the model computes something else");
    let (bundles, starts) = without(&code, &target(2), |_| true);
    verify(&code, &bundles, &starts).unwrap();
    assert_eq!(r0(&image, Some(bundles)), r0(&image, None));
}

#[test]
fn a_scheduler_that_ignores_any_kind_of_dependence_is_found_in_shipped_programs() {
    for ignored in [Order::Same, Order::Lane, Order::Bundle] {
        let mut found = 0;
        for path in objects() {
            let image = image(&path);
            for program in &image.programs {
                let code = optimized(&image, program);
                let (bundles, starts) = without(&code, &target(4), |edge| edge.order != ignored);
                found += u32::from(verify(&code, &bundles, &starts).is_err());
            }
        }
        assert!(found > 0, "{ignored:?}");
    }
}

#[test]
fn one_dependence_less_is_found_wherever_it_moves_something() {
    // Of every dependence of some programs: if without it the order is another, the verifier knows.
    let image = overwritten();
    let code = optimized(&image, &image.programs[0]);
    let live = Liveness::of(&code);
    let trace = &code.traces[&0];
    let edges = dependences(trace, &code.regions, &live);
    let effects: Vec<Effect> = trace.steps.iter().map(|step| Effect::of(step, &code.regions)).collect();
    let mut moved = 0;
    for left_out in 0..edges.len() {
        let mut fewer = edges.clone();
        let edge = fewer.remove(left_out);
        let bundles = schedule(&trace.steps, &fewer, &target(4), &code.leaving);
        let mut places = vec![(0, 0); trace.steps.len()];
        for (row, bundle) in bundles.iter().enumerate() {
            bundle.iter().enumerate().for_each(|(lane, index)| places[*index] = (row, lane));
        }
        let (from, to) = (places[edge.from], places[edge.to]);
        let kept = match edge.order {
            Order::Same => from.0 <= to.0,
            Order::Lane => from < to,
            Order::Bundle => from.0 < to.0,
        };
        assert_eq!(order(&trace.steps, &effects, &places, &live).is_ok(), kept, "{edge:?}");
        moved += u32::from(!kept);
    }
    assert!(moved > 3, "{moved}");
}

/// What the verifier says between two passes, when the first instruction is another.
fn traces_rule(op: Op) -> String {
    let image = of_text("r0 = 2\nexit");
    let mut code = optimized(&image, &image.programs[0]);
    traces(&code).unwrap();
    code.traces.get_mut(&0).unwrap().steps.insert(0, sluice_hxdp::Step { slot: 0, op });
    traces(&code).unwrap_err()
}

#[test]
fn every_rule_between_passes_has_a_program_that_breaks_it() {
    let constant = |dst| Op::Move { wide: true, dst, src: Operand::Imm(1) };
    assert!(traces_rule(constant(10)).contains("r10 and r15 are not written"));
    assert!(traces_rule(Op::Exit { value: None, back: false }).contains("nothing follows"));
    assert!(
        traces_rule(Op::Jump { to: 0, back: false }).contains("leads on")
            || traces_rule(Op::Jump { to: 0, back: false }).contains("nothing follows")
    );
    assert!(traces_rule(Op::Call { to: 77 }).contains("targets are traces"));
    let image = of_text("r0 = 2\nexit");
    let code = optimized(&image, &image.programs[0]);
    let rule = |change: &dyn Fn(&mut Code)| {
        let mut code = code.clone();
        change(&mut code);
        traces(&code).unwrap_err()
    };
    assert!(rule(&|code| code.functions.push(9)).contains("function 9 has no trace"));
    assert!(rule(&|code| code.traces.get_mut(&0).unwrap().steps.clear()).contains("is followed by one"));
    // r11 does not outlive a call of a function; written again, it may be read.
    let with = |code: &mut Code, ops: &[Op]| {
        let step = |op: &Op| sluice_hxdp::Step { slot: 0, op: *op };
        code.traces.get_mut(&0).unwrap().steps.splice(0..0, ops.iter().map(step));
    };
    let read = Op::Move { wide: true, dst: 0, src: Operand::Reg(11) };
    assert!(rule(&|code| with(code, &[constant(11), Op::Call { to: 0 }, read])).contains("no call between"));
    let mut good = code.clone();
    with(&mut good, &[Op::Call { to: 0 }, constant(11), read]);
    traces(&good).unwrap();
}

#[test]
fn every_rule_of_a_row_has_a_row_that_breaks_it() {
    let image = of_text("r2 = *(u32 *)(r1 +12)\nr3 = *(u8 *)(r10 -1)\nif r2 > r3 goto pc+1\nr4 = r2\nr0 = 2\nexit");
    let good = compile(&image, &image.programs[0], &target(4)).unwrap().bundles;
    structure(&good).unwrap();
    let rule = |change: &dyn Fn(&mut Bundles)| {
        let mut bundles = good.clone();
        change(&mut bundles);
        structure(&bundles).unwrap_err().rule
    };
    let first = good.rows[0].lanes[0];
    let with = |op: Op| move |b: &mut Bundles| b.rows[0].lanes[0].op = op;
    assert!(rule(&|b| b.rows[0].lanes.clear()).contains("no more than lanes"));
    assert!(rule(&|b| b.rows[0].lanes = vec![first; 5]).contains("no more than lanes"));
    assert!(rule(&|b| b.rows[0].lanes = vec![first; 2]).contains("one register"));
    assert!(rule(&|b| b.target.ports = 0).contains("no more accesses than memory ports"));
    let load = Op::Load { bytes: 1, signed: false, dst: 6, base: 10, off: -1, quiet: false };
    let helper = |id| Op::Helper { id, handle: None, second: None, third: None };
    let product = |op, dst| Op::Alu { op, wide: true, dst, a: 2, b: Operand::Reg(3) };
    let row = |ops: Vec<Op>| {
        move |b: &mut Bundles| {
            b.rows[0].lanes = ops.iter().map(|op| sluice_hxdp::Step { slot: 0, op: *op }).collect();
        }
    };
    // ktime_get_ns beside a load, two products, map_update_elem beside a sum.
    assert!(rule(&row(vec![load, helper(5)])).contains("every memory port"));
    assert!(rule(&row(vec![product(AluOp::Mul, 6), product(AluOp::Smod, 7)])).contains("takes every memory port"));
    assert!(rule(&row(vec![product(AluOp::Add, 6), helper(2)])).contains("alone in its bundle"));
    assert!(rule(&row(vec![product(AluOp::Mul, 8), load])).contains("takes every memory port"));
    let exchange = Op::Atomic {
        bytes: 8,
        op: AtomicOp::Cmpxchg,
        fetch: true,
        quiet: false,
        base: 10,
        off: -8,
        src: Operand::Reg(3),
    };
    assert!(rule(&row(vec![exchange, product(AluOp::Add, 6)])).contains("compare-and-exchange is alone"));
    assert!(rule(&row(vec![product(AluOp::Add, 6), Op::Call { to: 0 }])).contains("call of a function is alone"));
    for ops in [
        vec![product(AluOp::Add, 6), helper(5)],
        vec![product(AluOp::Mul, 8), product(AluOp::Add, 7)],
        vec![product(AluOp::Add, 7), load],
        vec![exchange],
    ] {
        let mut bundles = good.clone();
        row(ops)(&mut bundles);
        structure(&bundles).unwrap();
    }
    assert!(
        rule(&|b| b.rows[0].lanes.insert(0, sluice_hxdp::Step { slot: 0, op: Op::Exit { value: None, back: false } }))
            .contains("last lane")
    );
    assert!(
        rule(&with(Op::Move { wide: true, dst: 10, src: Operand::Imm(0) })).contains("r10 and r15 are not written")
    );
    assert!(rule(&with(Op::Move { wide: true, dst: 16, src: Operand::Imm(0) })).contains("r0 to r15"));
    assert!(rule(&with(Op::Move { wide: true, dst: 0, src: Operand::Reg(40) })).contains("r0 to r15"));
    assert!(
        traces_rule(Op::Alu { op: AluOp::Add, wide: true, dst: 0, a: 12, b: Operand::Imm(0) })
            .contains("r11 and those behind it")
    );
    assert!(
        rule(&with(Op::Load { bytes: 3, signed: false, dst: 9, base: 1, off: 0, quiet: false }))
            .contains("1, 2, 4, 6 or 8")
    );
    assert!(
        rule(&|b| b
            .rows
            .iter_mut()
            .flat_map(|r| &mut r.lanes)
            .filter_map(|s| s.op.target_mut())
            .for_each(|to| *to = 99))
        .contains("targets are rows")
    );
    assert!(rule(&|b| b.rows.clear()).contains("has a row"));
    let last = |b: &mut Bundles| b.rows.push(sluice_hxdp::Bundle { lanes: vec![first] });
    assert!(rule(&last).contains("jump or exit"));
}

#[test]
fn the_same_object_gives_the_same_bytes_and_bytes_give_the_same_bundles() {
    for path in objects() {
        let image = image(&path);
        for program in &image.programs {
            for lanes in LANES {
                let bundles = compile(&image, program, &target(lanes)).unwrap().bundles;
                let bytes = encode::encode(&bundles);
                assert_eq!(bytes, encode::encode(&compile(&image, program, &target(lanes)).unwrap().bundles));
                assert_eq!(encode::decode(&program.name, &bytes).as_ref(), Some(&bundles), "{}", program.name);
                assert_eq!(encode::decode(&program.name, &bytes[..bytes.len() - 1]), None);
            }
        }
    }
}

#[test]
fn what_is_refused_says_why() {
    assert_eq!(Target::new(3).unwrap_err().code(), "E0801");
    let image = of_text("r0 = 2\nexit");
    let small = Target { rows: 0, ..target(1) };
    let error = compile(&image, &image.programs[0], &small).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        ("E0802", "program `planted` takes 1 rows with 1 lanes, the core has 0")
    );
    let broken = Image { programs: vec![Program::from_insns("p", vec![])], ..Image::default() };
    assert_eq!(compile(&broken, &broken.programs[0], &target(1)).unwrap_err().code(), "E0440");
    let weak = load(include_bytes!("../../ebpf/tests/objects/missing/weak_called.o")).unwrap();
    let error = compile(&weak, &weak.programs[0], &target(2)).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        (
            "E0805",
            "program `called`, instruction 3: what was not found when the object was loaded has no form in bundles, only \
             helpers have"
        )
    );
    let counts = load(include_bytes!("../../ebpf/tests/objects/iterators.o")).unwrap();
    let error = compile(&counts, &counts.programs[0], &target(2)).unwrap_err();
    assert_eq!(error.code(), "E0805");
    assert!(error.to_string().contains("kernel function `bpf_iter_num_new` has no form in bundles"), "{error}");
    for (code, page) in sluice_hxdp::codes() {
        assert!(
            page.starts_with(&format!("# {code}: ")) && page.contains("Wrong:") && page.contains("Right:"),
            "{code}"
        );
    }
}
