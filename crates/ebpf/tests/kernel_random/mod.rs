//! Random programs, run by the kernel and by the interpreter: r0, every register and the stack agree.
//!
//! 5,000 programs that the kernel's verifier accepts, of 20 to 200 instructions with branches,
//! loops, stack, atomics and local calls, each on several inputs. Printed: how often each form of
//! instruction was in an accepted program, edge operands, and why programs were refused.

mod forms;
mod generate;

use forms::form;
use generate::{INPUTS, VALUE, generate, number};
use sluice_ebpf::image::{Function, Image, Program};
use sluice_ebpf::kernel::{KernelMap, KernelProgram, Pinned, TestInput, available};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Insn, MapSpec, MapType, Packet, Runtime};
use sluice_formats::random::{Rng, test_seed};
use std::collections::BTreeMap;

/// Accepted programs.
const PROGRAMS: usize = 5000;
/// Runs of each, with other inputs.
const RUNS: usize = 4;

fn shared_map() -> MapSpec {
    MapSpec::new("shared", MapType::Array, 4, VALUE as u32, 1)
}

fn inputs(rng: &mut Rng) -> Vec<u8> {
    let mut value: Vec<u8> = (0..INPUTS / 8).flat_map(|_| number(rng).to_le_bytes()).collect();
    let rest = rng.bytes(VALUE - INPUTS);
    value.extend(rest);
    value
}

fn listing(insns: &[Insn]) -> String {
    let line = |(n, i): (usize, &Insn)| {
        let name = if n > 0 && insns[n - 1].is_wide() { String::new() } else { form(*i) };
        format!("{n:4}: {:02x?} {name} r{} r{} off {} imm {}\n", i.to_bytes(), i.dst, i.src, i.off, i.imm)
    };
    insns.iter().enumerate().map(line).collect()
}

fn words(value: &[u8]) -> Vec<String> {
    value.chunks(8).enumerate().map(|(n, w)| format!("{}:{}", n * 8, hex(w))).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|b| format!("{b:02x}")).collect()
}

/// In random programs r0 is cut behind it; here it is not.
#[test]
fn a_compare_and_exchange_of_32_bits_clears_the_upper_half_of_r0() {
    if let Err(reason) = available() {
        println!("skipped: {reason}");
        return;
    }
    let i = |op, dst, src, off, imm| Insn { op, dst, src, off, imm };
    for stored in [-1, 7] {
        let insns = vec![
            i(0x62, 10, 0, -8, stored),
            i(0xb7, 6, 0, 0, 5),
            i(0xb7, 0, 0, 0, -1),
            i(0xc3, 10, 6, -8, 0xf1),
            i(0x77, 0, 0, 0, 32),
            i(0x95, 0, 0, 0, 0),
        ];
        let program = Program { name: "cmpxchg".into(), section: "xdp".into(), insns, ..Program::default() };
        let image = Image { programs: vec![program], license: "GPL".into(), ..Image::default() };
        let kernel = KernelProgram::load(&image.programs[0], &[], None, "GPL").expect("accepted");
        assert_eq!(kernel.test_run(&TestInput::frame(&[0; 64])).expect("a test run").r0, 0);
        let mut runtime = Runtime::new(1, 0);
        let installed = runtime.install(&image, &|_| None).expect("accepted");
        assert_eq!(runtime.run(installed, 0, &mut Packet::new(&[0; 64]), Ingress::default()).r0, 0);
    }
}

#[test]
fn random_programs_leave_what_they_leave_in_the_kernel() {
    if let Err(reason) = available() {
        println!("skipped: {reason}");
        return;
    }
    let began = std::time::Instant::now();
    let mut rng = Rng::new(test_seed("kernel_random"));
    let _pinned = Pinned::to(0).expect("processor 0 is there");
    let spec = shared_map();
    let maps = [KernelMap::create(&spec, None).expect("an array")];
    let key = [0u8; 4];
    let (mut accepted, mut runs, mut slots) = (0, 0, 0);
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let mut tally: BTreeMap<String, usize> = forms::all().into_iter().map(|f| (f, 0)).collect();
    let mut edges: BTreeMap<String, usize> = BTreeMap::new();
    let forms = tally.len();
    while accepted < PROGRAMS {
        let generated = generate(&mut rng);
        let functions =
            generated.functions.iter().map(|start| Function { name: format!("f{start}"), start: *start, btf_type: 0 });
        let program = Program {
            name: "random".into(),
            section: "xdp".into(),
            functions: functions.collect(),
            insns: generated.insns,
            ..Program::default()
        };
        let image =
            Image { programs: vec![program], maps: vec![spec.clone()], license: "GPL".into(), ..Image::default() };
        let program = &image.programs[0];
        let kernel = match KernelProgram::load(program, &maps, None, "GPL") {
            Ok(kernel) => kernel,
            Err(e) => {
                let reason: String = e.reason().chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
                assert!(!reason.is_empty(), "a refusal without a reason: {e}\n{}", listing(&program.insns));
                *refused.entry(reason).or_default() += 1;
                assert!(
                    refused.values().sum::<usize>() < 100 + accepted / 10,
                    "too many refusals, the last:\n{e}\n{}",
                    listing(&program.insns)
                );
                continue;
            }
        };
        let mut runtime = Runtime::new(1, 0);
        let installed = runtime
            .install(&image, &|_| None)
            .unwrap_or_else(|e| panic!("the kernel accepts what is refused here: {e}\n{}", listing(&program.insns)));
        let map = runtime.map(installed, 0).expect("the image's map");
        for _ in 0..RUNS {
            let given = inputs(&mut rng);
            maps[0].update(&key, &given, 0).expect("an array takes its value");
            runtime.maps.user_update(map, &key, &given, 0).expect("an array takes its value");
            let there = kernel.test_run(&TestInput::frame(&[0; 64])).expect("a test run");
            let mut packet = Packet::new(&[0; 64]);
            let here = runtime.run(installed, 0, &mut packet, Ingress::default());
            let left = maps[0].lookup(&key).expect("the value");
            let own = runtime.maps.user_lookup(map, &key).expect("the value");
            let differs: Vec<_> = words(&left).into_iter().zip(words(&own)).filter(|(a, b)| a != b).collect();
            assert!(
                here.fault.is_none() && here.r0 as u32 == there.r0 && differs.is_empty(),
                "program {accepted}: r0 {:#x}, in the kernel {:#x}; fault {:?}\nwords (kernel, here): {differs:#?}\n\
                 inputs {:#?}\n{}",
                here.r0 as u32,
                there.r0,
                here.fault,
                words(&given),
                listing(&program.insns)
            );
            runs += 1;
        }
        let mut second = false;
        for i in &program.insns {
            if !second {
                *tally.entry(form(*i)).or_default() += 1;
            }
            second = !second && i.is_wide();
        }
        for (name, n) in generated.edges {
            *edges.entry(name).or_default() += n;
        }
        slots += program.insns.len();
        accepted += 1;
    }
    println!("{accepted} programs accepted, {slots} slots, {runs} runs, {:?}", began.elapsed());
    println!("refused: {}", refused.values().sum::<usize>());
    refused.iter().for_each(|(reason, n)| println!("{n:8}  {reason}"));
    println!("accepted by form:");
    tally.iter().for_each(|(name, n)| println!("{n:8}  {name}"));
    println!("edge operands:");
    edges.iter().for_each(|(name, n)| println!("{n:8}  {name}"));
    assert_eq!(tally.len(), forms, "a form that the list does not have");
    let missing: Vec<_> = tally.iter().filter(|t| *t.1 == 0).map(|t| t.0).collect();
    assert!(missing.is_empty(), "never in an accepted program: {missing:?}");
    // Six register shifts by four amounts, eight register divisions by zero, four smallest by -1.
    assert_eq!(edges.len(), 6 * 4 + 8 + 4, "{edges:#?}");
}
