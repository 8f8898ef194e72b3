//! The pages of the error codes say what validation does, and refusals name their place.

use super::{MAX_SLOTS, Options, Reason, validate, validate_program};
use crate::image::{Initial, Line};
use crate::insn::{CALL, EXIT, Insn, assemble};
use crate::{Image, MapSpec, MapType, Program, codes};

/// Text with lines of raw slots: `hex` and eight bytes.
fn program(text: &str) -> Program {
    // A slot of its own each, so that the assembler counts right; the bytes go in afterwards.
    let mut raw = Vec::new();
    let mut lines = Vec::new();
    let mut slot = 0;
    for line in text.lines() {
        match line.strip_prefix("hex ") {
            Some(bytes) => {
                let bytes = crate::plugin::hex("page", bytes).unwrap();
                raw.push((slot, Insn::from_bytes(bytes.try_into().unwrap())));
                lines.push("r0 = 0");
                slot += 1;
            }
            None => {
                lines.push(line);
                let label = line.ends_with(':') || line.starts_with('(');
                slot += usize::from(!label);
            }
        }
    }
    let text = lines.join("\n");
    let mut program = assemble("p", if text.starts_with('(') { "" } else { &text }, &[]).unwrap();
    for (slot, insn) in raw {
        program.insns[slot] = insn;
    }
    program
}

fn check(program: &Program) -> Result<(), &'static str> {
    validate_program(program, &[], Options::default()).map_err(|refusal| refusal.code())
}

#[test]
fn the_wrong_example_of_each_page_gives_its_code_and_the_right_one_is_taken() {
    let mut pages = 0;
    for (code, page) in codes().iter().filter(|(code, _)| ("E0440".."E0460").contains(code)) {
        let examples: Vec<&str> =
            page.split("```bpf\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
        let [wrong, right] = examples[..] else { panic!("{code}: not two examples") };
        assert_eq!(check(&program(wrong)), Err(*code), "{code}:\n{wrong}");
        assert_eq!(check(&program(right)), Ok(()), "{code}:\n{right}");
        pages += 1;
    }
    assert_eq!(pages, 16);
}

fn reason(text: &str) -> Reason {
    *validate_program(&program(text), &[], Options::default()).unwrap_err().reason
}

#[test]
fn a_refusal_names_program_slot_and_source_line() {
    let mut program = program("r0 = 1\nr0 = 2\nr10 = 3\nexit");
    let line = |line| Line { file: "fw.c".into(), text: "  return x;".into(), line, column: 0 };
    program.lines.extend([(0, line(11)), (1, line(12)), (3, line(13))]);
    let refusal = validate_program(&program, &[], Options::default()).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "program `p`, instruction 2 (fw.c:12: return x;): r10 is written; it is the frame pointer, allowed: r0 to r9"
    );
}

#[test]
fn jumps_stay_in_their_function_and_off_second_slots() {
    let target = |text: &str| match reason(text) {
        Reason::Target { found, what, first, last } => (found, what, first, last),
        other => panic!("{other}"),
    };
    assert_eq!(target("r0 = 1\ngoto pc-3"), (-1, "outside of the program", 0, 1));
    assert_eq!(target("goto pc+1\nr0 = 0x1\nexit"), (2, "the second half of a 64-bit immediate load", 0, 3));
    assert_eq!(target("call f\nif r0 == 0x0 goto pc+1\nexit\nf:\nr0 = 1\nexit"), (3, "in another function", 0, 2));
    assert_eq!(target("call f\nexit\nf:\nr0 = 1\ngotol pc-3"), (1, "in another function", 2, 3));
    // A function must not go on into the next one either.
    assert!(matches!(reason("r1 = subprog[f]\ncall f\nf:\nr0 = 1\nexit"), Reason::FallsOff { first: 0 }));
}

#[test]
fn the_frame_ends_at_512_bytes_for_every_width() {
    for (bytes, width) in [(1, 8), (2, 16), (4, 32), (8, 64)] {
        for (off, good) in [(-512, true), (-513, false), (-bytes, true), (1 - bytes, false)] {
            for access in ["r0 = *(uW *)(r10 OFF)", "*(uW *)(r10 OFF) = 1"] {
                let access = access.replace('W', &width.to_string()).replace("OFF", &format!("{off:+}"));
                assert_eq!(check(&program(&format!("{access}\nr0 = 0\nexit"))).is_ok(), good, "{access}");
            }
        }
    }
    assert_eq!(check(&program("lock *(u64 *)(r10 -4) += r1\nr0 = 0\nexit")), Err("E0453"));
}

#[test]
fn every_register_but_r10_is_written_and_every_way_of_writing_is_seen() {
    for text in [
        "r10 = 1",
        "r10 += r1",
        "r10 = -r10",
        "r10 = be16 r10",
        "r10 = (s8)r1",
        "r10 = *(u64 *)(r1 +0)",
        "r10 = 0x5",
        "r10 = atomic64_fetch_add((u64 *)(r1 +0), r10)",
        "r10 = atomic64_xchg((u64 *)(r1 +0), r10)",
    ] {
        assert_eq!(check(&program(&format!("{text}\nr0 = 0\nexit"))), Err("E0446"), "{text}");
    }
    assert_eq!(check(&program("*(u64 *)(r1 +0) = r10\nlock *(u64 *)(r1 +0) += r10\nr0 = 0\nexit")), Ok(()));
}

#[test]
fn recursion_over_others_and_over_callbacks_is_found() {
    let over_two = "call f\nexit\nf:\ncall g\nexit\ng:\ncall f\nexit";
    assert!(matches!(reason(over_two), Reason::Recursion { .. }));
    let callback = "call f\nexit\nf:\nr2 = subprog[f]\nr0 = 0\nexit";
    assert!(matches!(reason(callback), Reason::Recursion { function: 2 }));
    let main = "call f\nexit\nf:\ncall pc-3\nexit";
    assert!(matches!(reason(main), Reason::Recursion { .. }));
}

#[test]
fn callbacks_count_as_frames() {
    let mut text = "r2 = subprog[f1]\nr0 = 0\nexit\nf1:\n".to_owned();
    for f in 2..=8 {
        text += &format!("call f{f}\nexit\nf{f}:\n");
    }
    assert_eq!(reason(&(text + "r0 = 0\nexit")), Reason::Depth { found: 9, max: 8 });
}

#[test]
fn a_thousand_functions_called_twice_each_are_checked_at_once() {
    // Paths double with each level; levels end at eight, breadth does not.
    let mut text = String::new();
    for f in 1..=1000 {
        text += &format!("call f{f}\ncall f{f}\n");
    }
    text += "exit\n";
    for f in 1..=1000 {
        text += &format!("f{f}:\nr0 = 0\nexit\n");
    }
    assert_eq!(check(&program(&text)), Ok(()));
}

#[test]
fn a_circle_of_many_functions_is_found_at_once() {
    // Each calls the next, the last the first.
    let call = |off| [Insn { op: CALL, src: 1, imm: off, ..Insn::default() }, Insn { op: EXIT, ..Insn::default() }];
    let count = 200_000;
    let mut insns: Vec<Insn> = (1..count).flat_map(|_| call(1)).collect();
    insns.extend(call(1 - 2 * count));
    assert_eq!(check(&Program::from_insns("p", insns)), Err("E0451"));
}

#[test]
fn the_size_limit_is_exact() {
    let exit = Insn { op: EXIT, ..Insn::default() };
    let mut insns = vec![Insn { op: 0xb7, ..Insn::default() }; MAX_SLOTS];
    insns[MAX_SLOTS - 1] = exit;
    assert_eq!(check(&Program::from_insns("p", insns.clone())), Ok(()));
    insns.push(exit);
    assert_eq!(check(&Program::from_insns("p", insns)), Err("E0440"));
    assert_eq!(check(&Program::default()), Err("E0440"));
}

#[test]
fn unreachable_instructions_pass_where_that_is_asked_for() {
    let program = program("r0 = 1\nexit\nr0 = 2\nexit");
    assert_eq!(validate_program(&program, &[], Options { unreachable: true }), Ok(()));
}

#[test]
fn map_indices_and_value_offsets_are_checked() {
    let map = |kind, max_entries| MapSpec {
        initial: Vec::<(u32, Initial)>::new(),
        ..MapSpec::new("m", kind, 4, 16, max_entries)
    };
    let check = |text: &str, map: MapSpec| {
        let programs = vec![assemble("p", &format!("{text}\nr0 = 0\nexit"), &["m"]).unwrap()];
        validate(&Image { programs, maps: vec![map], ..Image::default() }).map_err(|r| r.to_string())
    };
    assert_eq!(check("r1 = map[m]", map(MapType::Hash, 8)), Ok(()));
    assert_eq!(check("r1 = map[m][0]+15", map(MapType::Array, 1)), Ok(()));
    let far = check("r1 = map[m][0]+16", map(MapType::Array, 1)).unwrap_err();
    assert_eq!(far, "program `p`, instruction 0: map index 0: offset 16 in the value of map `m`, allowed: below 16");
    assert!(check("r1 = map[m][0]+0", map(MapType::Array, 2)).is_err());
    assert!(check("r1 = map[m][0]+0", map(MapType::Hash, 1)).is_err());
}
