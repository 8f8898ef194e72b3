//! Single instructions and their edges, and the cases of the conformance suite, r0 as the interpreter gives it.

#[path = "../../ebpf/tests/conformance/mod.rs"]
#[allow(dead_code)] // Others use more of it.
mod suite;

use sluice_ebpf::plugin::{self, Request};
use sluice_ebpf::vm::{Installed, Machine};
use sluice_ebpf::{Image, Insn, Runtime};
use sluice_formats::random::{Rng, test_seed};
use sluice_jit::Jit;
use std::cell::Cell;

thread_local! {
    static REFUSED: Cell<usize> = const { Cell::new(0) };
}

fn request(insns: &[Insn], memory: &str) -> Request {
    let hex: String = insns.iter().flat_map(|insn| insn.to_bytes()).map(|byte| format!("{byte:02x}")).collect();
    Request { program: Some(hex), memory: memory.to_owned(), ..Request::default() }
}

fn compiled(request: &Request) -> Result<u64, String> {
    let make = |image: &Image, runtime: &Runtime, installed: Installed| -> Result<Box<dyn Machine>, String> {
        let mut jit = Jit::new();
        let refused = jit.compile_unanalysed(runtime, image, installed);
        for refusal in &refused {
            println!("{refusal}");
        }
        REFUSED.set(REFUSED.get() + refused.len());
        Ok(Box::new(jit))
    };
    plugin::run_on(Some(&make), request, "", &mut String::new())
}

/// Both answers, or what both say is wrong up to the registers.
fn compare(insns: &[Insn], memory: &str) {
    let request = request(insns, memory);
    let plain =
        |answer: Result<u64, String>| answer.map_err(|e| e.split("; registers").next().unwrap_or_default().to_owned());
    let expected = plain(plugin::run(&request, "", &mut String::new()));
    assert_eq!(plain(compiled(&request)), expected, "{insns:?}");
}

#[test]
fn every_case_of_the_suite_comes_to_what_it_says() {
    let cases = suite::cases();
    for case in &cases {
        let found = compiled(&request(&case.insns, &case.memory));
        match &case.expected {
            suite::Expected::Result(r0) => assert_eq!(found, Ok(*r0), "{}", case.name),
            suite::Expected::Error(part) => {
                let error = found.expect_err(&case.name);
                assert!(error.contains(part), "{}: {error}", case.name);
            }
        }
    }
    println!("{} cases, {} refused", cases.len(), REFUSED.get());
    assert!(cases.len() >= 200 && REFUSED.get() * 10 < cases.len(), "{} of {} refused", REFUSED.get(), cases.len());
}

/// Wide loads of both operands, then the instruction, then r0 of r1; one program for each instruction and all edges.
fn around(a: u64, b: u64, insn: Insn) -> Vec<Insn> {
    let wide = |dst, x: u64| {
        let low = Insn { op: 0x18, dst, imm: x as i32, ..Insn::default() };
        [low, Insn { imm: (x >> 32) as i32, ..Insn::default() }]
    };
    let end = [Insn { op: 0xbf, src: 1, ..Insn::default() }, Insn { op: 0x95, ..Insn::default() }];
    [&wide(1, a)[..], &wide(2, b), &[insn], &end].concat()
}

const EDGES: [u64; 9] =
    [0, 1, u64::MAX, 1 << 63, 1 << 31, 0x7fff_ffff, 0xffff_ffff, 0x8000_0000_8000_0000, 0x0123_4567_89ab_cdef];

fn some(rng: &mut Rng) -> Vec<u64> {
    EDGES.into_iter().filter(|_| rng.chance(1, 3)).collect()
}

#[test]
fn every_arithmetic_instruction_gives_the_same_at_its_edges() {
    let mut rng = Rng::new(test_seed("jit_edges"));
    for op in 0..=0xd_u8 {
        for class in [4, 7] {
            for source in [0, 8] {
                let offs: &[i16] = match (op, source) {
                    (3 | 9, _) => &[0, 1],
                    (0xb, 8) if class == 7 => &[0, 8, 16, 32],
                    (0xb, 8) => &[0, 8, 16],
                    _ => &[0],
                };
                for off in offs {
                    for a in EDGES {
                        // A third of all pairs in each run: each is compiled.
                        for b in some(&mut rng) {
                            let imm = if op == 0xd { [16, 32, 64][rng.index(3)] } else { b as i32 };
                            let (src, imm) = if source == 8 && op != 0xd { (2, 0) } else { (0, imm) };
                            let op = op << 4 | source | class;
                            compare(&around(a, b, Insn { op, dst: 1, src, off: *off, imm }), "");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_branch_goes_the_same_way_at_its_edges() {
    let mut rng = Rng::new(test_seed("jit_branches"));
    for op in (1..=0xd_u8).filter(|op| !matches!(op, 8 | 9)) {
        for class in [5, 6] {
            for source in [0, 8] {
                for a in EDGES {
                    for b in some(&mut rng) {
                        let (src, imm) = if source == 8 { (2, 0) } else { (0, b as i32) };
                        let branch = Insn { op: op << 4 | source | class, dst: 1, src, off: 1, imm };
                        let mut insns = around(a, b, branch);
                        insns.insert(5, Insn { op: 0xb7, dst: 1, imm: 7, ..Insn::default() });
                        compare(&insns, "");
                    }
                }
            }
        }
    }
}

#[test]
fn loads_and_faults_are_the_same() {
    let mut rng = Rng::new(test_seed("jit_loads"));
    for _ in 0..500 {
        let size = [0x61u8, 0x69, 0x71, 0x79, 0x81, 0x89, 0x91][rng.index(7)];
        let off = rng.below(24) as i16 - 4;
        let load = Insn { op: size, dst: 0, src: 1, off, ..Insn::default() };
        let store = Insn { op: 0x63 | size & 0x18, dst: 1, src: 0, off: rng.below(20) as i16, ..Insn::default() };
        let again = Insn { op: 0x79, dst: 0, src: 1, off: rng.below(12) as i16, ..Insn::default() };
        compare(&[load, store, again, Insn { op: 0x95, ..Insn::default() }], "00112233445566778899aabbccddeeff");
    }
}
