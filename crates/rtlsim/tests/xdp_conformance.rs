//! Programs of a conformance suite on every device of `sluice-bpf-plugin`: interpreter, bundles, and the engine in RTL.

#[path = "../../ebpf/tests/conformance/mod.rs"]
mod conformance;

use crate::support;
use conformance::{Case, Expected, cases};
use sluice_ebpf::Insn;
use sluice_ebpf::plugin::{self, Request};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::{Reason, target};
use sluice_hxdp::plugin::{called, run as run_bundles};
use sluice_rtlsim::xdp::lone::Fate;
use sluice_rtlsim::{Lone, Variant, top};

/// Most taken back edges and calls of a packet.
const WORK: u32 = 300;

/// What a device gives: r0, or why not.
type Answer = Result<u64, String>;

/// The engine in RTL; none where there is no plug-in.
fn engine() -> Option<Lone> {
    support::has_top(&top::XDP, target::TINY.name, Variant::Test).then(|| Lone::open(&target::TINY, 0).unwrap())
}

/// r0 on the engine; a fault has no words there.
fn rtl(engine: &mut Lone, request: &Request) -> Answer {
    let called = called(request, "")?;
    // No case goes round as often.
    engine.load(&called.code, WORK).map_err(|e| e.to_string())?;
    match engine.run(&called.frame).map_err(|e| e.to_string())? {
        Fate::Left(bytes) => Ok(called.r0(&bytes).expect("r0 stands behind the memory")),
        Fate::Dropped(Reason::XdpAborted) => Err("fault".to_owned()),
        Fate::Dropped(reason) => Err(format!("dropped, {}", reason.name())),
    }
}

fn request(insns: &[Insn], memory: &str) -> Request {
    let hex: String = insns.iter().flat_map(|insn| insn.to_bytes()).map(|byte| format!("{byte:02x}")).collect();
    Request { program: Some(hex), memory: memory.to_owned(), ..Request::default() }
}

#[test]
fn every_case_gives_its_result_on_every_device() {
    let Some(mut engine) = engine() else { return };
    let cases = cases();
    for Case { name, insns, memory, expected } in &cases {
        let request = request(insns, memory);
        let model = plugin::run(&request, "", &mut String::new());
        let bundles = [1, 2, 4].map(|lanes| run_bundles(lanes, &request, "", &mut String::new()));
        let hardware = rtl(&mut engine, &request);
        match expected {
            Expected::Result(r0) => {
                assert_eq!(model, Ok(*r0), "{name}: model");
                for bundles in bundles {
                    assert_eq!(bundles, Ok(*r0), "{name}: bundles");
                }
                assert_eq!(hardware, Ok(*r0), "{name}: rtl");
            }
            Expected::Error(part) => {
                for error in [model].into_iter().chain(bundles).map(|answer| answer.expect_err(name)) {
                    assert!(error.contains(part), "{name}: {error}");
                }
                assert_eq!(hardware, Err("fault".to_owned()), "{name}: rtl");
            }
        }
    }
    println!("{} cases on model, bundles of 1, 2 and 4 lanes, and rtl", cases.len());
    assert!(cases.len() > 450);
}

#[test]
fn random_sequences_of_every_instruction_give_the_same_on_every_device() {
    let Some(mut engine) = engine() else { return };
    let seed = test_seed("random_sequences_of_every_instruction");
    let mut rng = Rng::new(seed);
    let rounds = if support::long() { 5_000 } else { 400 };
    let mut equal = 0;
    for _ in 0..rounds {
        let insns = conformance::random(&mut rng);
        let memory: String = (0..rng.below(40)).map(|_| format!("{:02x} ", rng.next_u32() as u8)).collect();
        let request = request(&insns, &memory);
        let model = plugin::run(&request, "", &mut String::new());
        let bundles = run_bundles(2, &request, "", &mut String::new());
        let hardware = rtl(&mut engine, &request);
        match model {
            Ok(r0) => {
                assert_eq!((bundles, hardware), (Ok(r0), Ok(r0)), "{insns:?} {memory}");
                equal += 1;
            }
            Err(_) => {
                assert!(bundles.is_err(), "{insns:?} {memory}");
                assert_eq!(hardware, Err("fault".to_owned()), "{insns:?} {memory}");
            }
        }
    }
    println!("{rounds} programs, {equal} with a result");
    assert!(equal > rounds / 2);
}

#[test]
fn what_the_engine_has_not_is_refused_with_words() {
    let call = |id| vec![Insn { op: 0x85, imm: id, ..Insn::default() }, Insn { op: 0x95, ..Insn::default() }];
    let error = |insns: &[Insn], memory: &str| called(&request(insns, memory), "").unwrap_err();
    let text = error(&call(6), "");
    assert!(text.contains("instruction 0") && text.contains("helper `trace_printk`"), "{text}");
    let text = error(&call(165), "");
    assert!(text.contains("helper `snprintf`"), "{text}");
    // A call through a register is refused by validation, on every device.
    let callx = [Insn { op: 0x8d, ..Insn::default() }, Insn { op: 0x95, ..Insn::default() }];
    assert!(error(&callx, "").contains("callx"));
    let text = error(&call(8), &"00".repeat(3505));
    assert!(text.contains("3505 bytes") && text.contains("takes 3504"), "{text}");
    // Seven functions deep has no room for the program around it.
    let mut text = "call f1\nexit\n".to_owned();
    for f in 1..=7 {
        text += &if f < 7 { format!("f{f}:\ncall f{}\nexit\n", f + 1) } else { format!("f{f}:\nr0 = 1\nexit\n") };
    }
    let insns = sluice_ebpf::insn::assemble("deep", &text, &[]).unwrap().insns;
    assert_eq!(plugin::run(&request(&insns, ""), "", &mut String::new()), Ok(1));
    assert!(error(&insns, "").contains("[E0452]"));
}

#[test]
fn the_longest_memory_and_the_shortest_run() {
    let Some(mut engine) = engine() else { return };
    // r1 += r2; r0 = *(u8 *)(r1 -1)
    let insns = sluice_ebpf::insn::assemble("last", "r1 += r2\nr0 = *(u8 *)(r1 -1)\nexit\n", &[]).unwrap().insns;
    for length in [1, 2, 5, 6, 13, 14, 15, 63, 64, 65, 1500, 3504] {
        let memory = "00".repeat(length - 1) + "5a";
        assert_eq!(rtl(&mut engine, &request(&insns, &memory)), Ok(0x5a), "{length}");
    }
}
