//! Functions that programs call, on the XDP engine in RTL with the interpreter beside it.

use crate::support;
use crate::xdp::engine::{Engine, MODULE, PASS, Rows, WORK, open_tiny};
use crate::xdp::pair::{Pair, image};
use crate::xdp::together::together;
use sluice_ebpf::{Image, MapSpec, MapType};
use sluice_formats::limits::packet_id;
use sluice_formats::random::Rng;
use sluice_formats::xdp::codes::XdpOp;
use sluice_formats::xdp::rows::{XdpPageRow, XdpProgramRow};
use sluice_formats::xdp::target::PAGE_ROWS;
use sluice_formats::{Reason, Table};

/// Cycles of a call and the three passes of an exit, of a packet that is alone.
const CALL_AND_RETURN: u64 = 37;

/// Most frames of functions.
const DEEPEST: usize = 7;

/// r8 is the frame, of at least 96 bytes, r7 its first byte; the program ends with verdict 3, or 1 for a short frame.
const BEGIN: &str = "r8 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r8\nr3 += 96\nif r3 > r2 goto end\n\
                     r9 = r1\nr7 = *(u8 *)(r8 +0)\n";
const END: &str = "end:\nr0 = 3\nexit\n";

/// Sends frames of which the first byte is each number below `cases`. Gives how many went on.
fn each(engine: &mut Engine, rng: &mut Rng, text: &str, cases: u8) -> usize {
    let mut pair = Pair::new(engine, image(text)).expect("the engine has all of it");
    for case in 0..cases {
        let mut frame = rng.bytes(96 + rng.clone().below(40) as usize);
        frame[0] = case;
        pair.send(engine, 0, case.into(), &frame);
    }
    pair.compare(engine)
}

/// Functions f1 to f7, each called by the one before: `before` stands in front of the call, `behind` behind it, `#` for the depth.
fn chain(main: &str, before: &str, behind: &str) -> String {
    let mut text = main.to_owned();
    for depth in 1..=DEEPEST {
        let (own, next) = (|part: &str| part.replace('#', &depth.to_string()), depth + 1);
        let call = if depth < DEEPEST { format!("call f{next}\n") } else { "r0 = 0\n".into() };
        text += &format!("f{depth}:\n{}{call}{}", own(before), own(behind));
    }
    text
}

#[test]
fn registers_of_every_caller_come_back() {
    let Some((mut engine, mut rng)) = open_tiny("registers_of_every_caller_come_back") else { return };
    let main = format!(
        "{BEGIN}r6 = 0x1234567890abcdef\nr1 = r8\ncall f1\n*(u64 *)(r8 +8) = r0\n*(u64 *)(r8 +16) = r6\n*(u64 *)(r8 +24) = r7\n\
         *(u64 *)(r8 +32) = r9\nr9 = r10\n*(u64 *)(r8 +40) = r9\n{END}"
    );
    // Each fills all it may, reads what it was given, and shows what it has behind the call.
    let before = "r6 = r1\nr7 = *(u64 *)(r1 +#)\nr8 = r7\nr8 *= 77\nr9 = r8\nr9 ^= -1\nr1 += 1\nr2 = r9\nr3 = r8\n";
    let behind = "r0 += r6\nr0 ^= r7\nr0 += r8\nr0 ^= r9\nr1 = r10\nr0 += r1\nexit\n";
    assert_eq!(each(&mut engine, &mut rng, &chain(&main, before, behind), 20), 20);
    // Nothing was written into r6 to r9 before the call: they are zero again.
    let text = "call f\nr6 |= r7\nr6 |= r8\nr6 |= r9\nif r6 != 0 goto end\nr0 = 3\nend:\nexit\n\
                f:\nr6 = 1\nr7 = 2\nr8 = 3\nr9 = 4\nr0 = 1\nexit\n";
    assert_eq!(each(&mut engine, &mut rng, text, 3), 3);
}

#[test]
fn exits_of_every_depth_give_their_value_and_only_the_last_one_a_verdict() {
    let Some((mut engine, mut rng)) = open_tiny("exits_of_every_depth_give_their_value") else { return };
    // The frame's first byte is the depth that ends early: by a number, or by a register.
    for early in ["r0 = 0x1000#\nexit\n", "r0 = r9\nexit\n"] {
        let main = format!(
            "{BEGIN}r9 = 0x123456789abcdef\nr1 = r7\nr2 = r8\ncall f1\n*(u64 *)(r8 +8) = r0\n*(u64 *)(r8 +16) = r9\n{END}"
        );
        let before = format!("r6 = r1\nr9 = *(u64 *)(r2 +#)\nif r6 != # goto on#\n{early}on#:\n");
        assert_eq!(each(&mut engine, &mut rng, &chain(&main, &before, "r0 += #\nexit\n"), 9), 9);
    }
}

#[test]
fn a_fault_at_any_depth_ends_the_packet() {
    let Some((mut engine, mut rng)) = open_tiny("a_fault_at_any_depth_ends_the_packet") else { return };
    let main = format!("{BEGIN}r1 = r7\ncall f1\n{END}");
    let before = "r6 = r1\nif r6 != # goto on#\nr6 = *(u64 *)(r6 +0)\non#:\n";
    let text = chain(&main, before, "exit\n");
    for _ in 0..3 {
        assert_eq!(each(&mut engine, &mut rng, &text, 12), 12 - DEEPEST, "f1 to f7 fault");
    }
    let text = chain(&main, "r6 = r1\n", "if r6 != # goto on#\nr6 = *(u64 *)(r6 +0)\non#:\nexit\n");
    assert_eq!(each(&mut engine, &mut rng, &text, 12), 12 - DEEPEST, "behind the call");
}

#[test]
fn calls_and_rounds_in_functions_count_as_work() {
    let Some((mut engine, mut rng)) = open_tiny("calls_and_rounds_in_functions_count_as_work") else { return };
    // r7 calls, each of them with r6 rounds more: the limit is met at the call, or in the function.
    for (rounds, limit) in [(0, WORK / 2), (1, WORK / 3), (5, WORK / 7)] {
        let text = format!(
            "{BEGIN}r6 = 0\nagain:\nif r6 == r7 goto end\ncall f\nr6 += 1\ngoto again\n{END}\
             f:\nr6 = {rounds}\nround:\nif r6 == 0 goto out\nr6 -= 1\ngoto round\nout:\nr0 = r6\nexit\n"
        );
        let mut pair = Pair::new(&mut engine, image(&text)).expect("the engine has all of it");
        let around = limit - 3..limit + 4;
        for (number, calls) in around.clone().enumerate() {
            let mut frame = rng.bytes(100);
            frame[0] = calls as u8;
            pair.send(&mut engine, 0, number as u32, &frame);
        }
        let passed = pair.compare(&mut engine);
        assert!(passed > 0 && passed < around.len(), "{passed} of {around:?}");
    }
}

#[test]
fn every_frame_begins_with_zeros() {
    let Some((mut engine, mut rng)) = open_tiny("every_frame_begins_with_zeros") else { return };
    let words = |f: &dyn Fn(i32) -> String| (1..=64).map(|n| f(-8 * n)).collect::<String>();
    let fill = words(&|at| format!("*(u64 *)(r10 {at}) = r1\n"));
    let look = words(&|at| format!("r2 = *(u64 *)(r10 {at})\nr0 |= r2\n"));
    // f3 looks, f2 fills its own frame and calls it; f1 looks first, too: where f2 was, where f3 was, where packets were.
    let text = format!(
        "{BEGIN}call f1\nr6 = r0\ncall f2\nr6 |= r0\ncall f1\nr6 |= r0\n*(u64 *)(r8 +8) = r6\n{END}\
         f1:\nr0 = 0\n{look}r6 = r0\ncall f3\nr0 |= r6\nr1 = -1\n{fill}exit\n\
         f2:\nr1 = -1\n{fill}call f3\nr6 = r0\ncall f3\nr0 |= r6\nexit\n\
         f3:\nr0 = 0\n{look}r1 = -1\n{fill}exit\n"
    );
    for round in 0..4 {
        let mut pair = Pair::new(&mut engine, image("r0 = 1\nexit\n")).expect("the engine has all of it");
        for number in 0..4 {
            pair.send(&mut engine, 0, number, &[0xff; 9000]);
        }
        assert_eq!(pair.compare(&mut engine), 0);
        assert_eq!(each(&mut engine, &mut rng, &text, 10), 10, "{round}");
    }
}

#[test]
fn a_function_reaches_its_own_frame_and_those_of_its_callers() {
    let Some((mut engine, mut rng)) = open_tiny("a_function_reaches_its_own_frame_and_those_of_its_callers") else {
        return;
    };
    // From each depth each byte around the ends of each frame, its own, those before and behind it.
    let (mut on, mut number) = (0, 0);
    for depth in 1..=DEEPEST {
        let deep = format!(
            "{}r0 = 0\nexit\n",
            "r1 = *(u32 *)(r8 +4)\nr2 = *(u64 *)(r1 +0)\n*(u64 *)(r8 +16) = r2\nr2 += 5\n*(u64 *)(r1 +0) = r2\n\
             r3 = *(u64 *)(r1 +0)\n*(u64 *)(r8 +24) = r3\n"
        );
        let main = format!(
            "{BEGIN}r2 = 0x5555\n*(u64 *)(r10 -8) = r2\n*(u64 *)(r10 -512) = r2\nr1 = r8\ncall f1\nr1 = *(u64 *)(r10 -8)\n\
             *(u64 *)(r8 +32) = r1\nr1 = *(u64 *)(r10 -512)\n*(u64 *)(r8 +40) = r1\n{END}"
        );
        let mut text = main;
        for f in 1..=depth {
            text += &format!("f{f}:\nr8 = r1\nr2 = 0x{f}{f}{f}{f}\n*(u64 *)(r10 -8) = r2\n*(u64 *)(r10 -512) = r2\n");
            text += &if f == depth {
                deep.clone()
            } else {
                format!(
                    "r1 = r8\ncall f{}\nr1 = *(u64 *)(r10 -8)\n\
                *(u64 *)(r8 +{}) = r1\nr0 = 0\nexit\n",
                    f + 1,
                    40 + 8 * f
                )
            };
        }
        let mut pair = Pair::new(&mut engine, image(&text)).expect("the engine has all of it");
        for frame in 0..=DEEPEST as u32 + 1 {
            for at in [-8, -1, 0x1f8, 0x1ff, 0x200, 0x201, 0x2fc, 0x3f7, 0x3f8, 0x3f9] {
                let address = (0x3000_0000 + 0x400 * frame).wrapping_add_signed(at);
                let mut packet = rng.bytes(128);
                packet[4..8].copy_from_slice(&address.to_le_bytes());
                pair.send(&mut engine, 0, number, &packet);
                number += 1;
            }
        }
        on += pair.compare(&mut engine);
    }
    // In each frame that is open: 0x200, 0x201, 0x2fc, 0x3f7, and 0x3f8 as -8 of the one behind, too.
    assert_eq!(on, 6 * (2..=DEEPEST + 1).sum::<usize>());
}

/// Maps of a program whose text names `hash`, `array` and `one`.
fn with_maps(text: &str) -> Image {
    let program =
        sluice_ebpf::insn::assemble("calls", text, &["hash", "array", "one"]).unwrap_or_else(|e| panic!("{e}"));
    let program = sluice_ebpf::Program { section: "xdp".into(), ..program };
    let maps = vec![
        MapSpec::new("hash", MapType::Hash, 8, 16, 8),
        MapSpec::new("array", MapType::Array, 4, 16, 4),
        MapSpec::new("one", MapType::Array, 4, 16, 1),
    ];
    Image { programs: vec![program], maps, ..Image::default() }
}

#[test]
fn helpers_and_maps_take_what_lies_in_any_open_frame() {
    let Some((mut engine, mut rng)) = open_tiny("helpers_and_maps_take_what_lies_in_any_open_frame") else { return };
    // The packet's second word is the address of a key, the third that of a value, or of bytes of the frame.
    let calls = [
        // hash: update, lookup, delete.
        "r1 = map[hash]\nr2 = *(u32 *)(r8 +4)\nr3 = *(u32 *)(r8 +8)\nr4 = 0\ncall bpf_map_update_elem\n*(u64 *)(r8 +16) = r0\n",
        "r1 = map[hash]\nr2 = *(u32 *)(r8 +4)\ncall bpf_map_lookup_elem\nif r0 == 0 goto none\nr0 = *(u64 *)(r0 +0)\nnone:\n*(u64 *)(r8 +16) = r0\n",
        "r1 = map[hash]\nr2 = *(u32 *)(r8 +4)\ncall bpf_map_delete_elem\n*(u64 *)(r8 +16) = r0\n",
        "r1 = map[array]\nr2 = *(u32 *)(r8 +4)\ncall bpf_map_lookup_elem\nif r0 == 0 goto none\nr0 = *(u64 *)(r0 +0)\nnone:\n*(u64 *)(r8 +16) = r0\n",
        "r1 = map[array]\nr2 = *(u32 *)(r8 +4)\nr3 = *(u32 *)(r8 +8)\nr4 = 0\ncall bpf_map_update_elem\n*(u64 *)(r8 +16) = r0\n",
        // Bytes of the frame to the stack and back, sums of both places.
        "r1 = r9\nr2 = 32\nr3 = *(u32 *)(r8 +4)\nr4 = 16\ncall bpf_xdp_load_bytes\n*(u64 *)(r8 +16) = r0\n",
        "r1 = r9\nr2 = 64\nr3 = *(u32 *)(r8 +4)\nr4 = 20\ncall bpf_xdp_store_bytes\n*(u64 *)(r8 +16) = r0\n",
        "r1 = *(u32 *)(r8 +4)\nr2 = 16\nr3 = *(u32 *)(r8 +8)\nr4 = 12\nr5 = 3\ncall bpf_csum_diff\n*(u64 *)(r8 +16) = r0\n",
    ];
    let (mut on, mut sent) = (0, 0);
    let rounds = if support::long() { 40 } else { 2 };
    for _ in 0..rounds {
        for call in calls {
            let depth = 1 + rng.index(3);
            // Each frame has bytes of the packet at both its ends, and the frames are shown at the end.
            let fill =
                "r2 = *(u64 *)(r8 +40)\n*(u64 *)(r10 -16) = r2\nr2 = *(u64 *)(r8 +48)\n*(u64 *)(r10 -512) = r2\n";
            // What a function has written the program's own stack need not have.
            let own = if rng.chance(1, 2) { fill } else { "" };
            let show = |at: usize| {
                format!(
                    "r2 = *(u64 *)(r10 -16)\nr3 = *(u64 *)(r10 -8)\nr2 ^= r3\nr3 = *(u64 *)(r10 -512)\nr2 += r3\n\
                 r3 = *(u64 *)(r10 -504)\nr2 ^= r3\n*(u64 *)(r8 +{at}) = r2\n"
                )
            };
            let mut text = format!("{BEGIN}{own}r1 = r8\nr2 = r9\ncall f1\n{}{END}", show(56));
            for f in 1..=depth {
                let inner = if f == depth { call.to_owned() } else { format!("r1 = r8\nr2 = r9\ncall f{}\n", f + 1) };
                text += &format!("f{f}:\nr8 = r1\nr9 = r2\n{fill}{inner}{}r0 = 0\nexit\n", show(56 + 8 * f));
            }
            let mut pair = Pair::new(&mut engine, with_maps(&text)).expect("the engine has all of it");
            for _ in 0..30 {
                let mut packet = rng.bytes(100);
                for at in [4, 8] {
                    let (frame, inner) =
                        (rng.below(depth as u64 + 2) as u32, [0x200, 0x204, 0x3ec, 0x3f0, 0x3f8, 0x3fc][rng.index(6)]);
                    packet[at..at + 4].copy_from_slice(&(0x3000_0000 + 0x400 * frame + inner).to_le_bytes());
                }
                // Few keys; indices that the array has, and has not.
                packet[40..56].fill(0);
                (packet[40], packet[48]) = (rng.below(4) as u8, rng.below(6) as u8);
                pair.send(&mut engine, 0, sent, &packet);
                engine.end(pair.waiting());
                sent += 1;
            }
            on += pair.compare(&mut engine);
        }
    }
    println!("{sent} packets, {on} went on");
    assert!(on > sent as usize / 4);
}

#[test]
fn packets_of_all_contexts_call_at_the_same_time() {
    let Some((mut engine, mut rng)) = open_tiny("packets_of_all_contexts_call_at_the_same_time") else { return };
    let main = format!(
        "{BEGIN}r6 = r7\nr9 = map[one][0]+8\nr1 = r8\nr2 = r7\ncall f1\n*(u64 *)(r8 +8) = r0\n*(u64 *)(r8 +16) = r6\n\
         lock *(u64 *)(r9 +0) += r6\n{END}"
    );
    // As deep as the first byte says, with a stack of its own and a division at each depth.
    let before = "r6 = r1\nr7 = r2\nr8 = *(u64 *)(r1 +#)\n*(u64 *)(r10 -1#) = r8\nr9 = r8\nr9 /= 13\nif r7 > # goto on#\nr0 = r9\nexit\non#:\nr1 = r6\nr2 = r7\n";
    let behind = "r1 = *(u64 *)(r10 -1#)\nr0 += r1\nr0 ^= r9\nr0 += r7\nexit\n";
    let text = chain(&main, before, behind);
    let mut pair = Pair::new(&mut engine, with_maps(&text)).expect("the engine has all of it");
    let mut first = 0;
    for (ready, gaps) in [(0, 0), (40, 0), (200, 100)] {
        engine.stall(ready, gaps);
        let frames: Vec<(u8, Vec<u8>)> = (0..60)
            .map(|_| {
                let mut frame = rng.bytes(96 + rng.clone().below(500) as usize);
                frame[0] = rng.below(9) as u8;
                (0, frame)
            })
            .collect();
        engine.steps.clear();
        assert!(together(&mut engine, &mut pair, &frames, first) >= frames.len());
        first += frames.len() as u32;
    }
}

#[test]
fn the_longest_frame_has_room_behind_the_frames_of_seven_functions() {
    let Some((mut engine, mut rng)) = open_tiny("the_longest_frame_has_room") else { return };
    let main = format!("{BEGIN}r1 = r8\ncall f1\n*(u64 *)(r8 +8) = r0\n{END}");
    let before = "*(u64 *)(r10 -8) = r1\n*(u64 *)(r10 -512) = r1\n";
    let behind = "r1 = *(u64 *)(r10 -8)\nr2 = *(u64 *)(r10 -512)\nr0 += r1\nr0 += r2\nexit\n";
    let mut pair = Pair::new(&mut engine, image(&chain(&main, before, behind))).expect("the engine has all of it");
    for number in 0..12 {
        let length = [9216, 96, 1514, 9215][number as usize % 4];
        pair.send(&mut engine, 0, number, &rng.bytes(length));
    }
    assert_eq!(pair.compare(&mut engine), 12);
}

/// Sends one packet, and gives why it was dropped, or where it went.
fn fate_of(engine: &mut Engine, number: u32) -> Result<u8, Reason> {
    engine.offer(packet_id(0, number), MODULE, &[0; 100]);
    engine.end(1);
    engine.quiesce();
    let verdict = engine.verdicts.pop().expect("it ended");
    engine.routed.clear();
    if verdict.dropped { Err(Reason::from_code(verdict.reason).unwrap()) } else { Ok(verdict.destinations) }
}

/// The rows of a program without maps.
fn compiled(text: &str) -> Rows {
    Rows::compiled(text, PAGE_ROWS as u16)
}

#[test]
fn a_call_beyond_the_frames_of_the_programs_row_faults() {
    let Some((mut engine, _)) = open_tiny("a_call_beyond_the_frames_of_the_programs_row_faults") else { return };
    let start = PAGE_ROWS as u16;
    let rows = compiled(&chain("call f1\nr0 = 2\nexit\n", "r1 = r10\n*(u64 *)(r10 -8) = r1\n", "exit\n"));
    assert_eq!(rows.frames, 7);
    for frames in 0..=7 {
        engine.load(MODULE, 0, &rows, start);
        let program = XdpProgramRow { frames, ..Engine::program(&rows, start) };
        engine.write(Table::XdpProgram, 2 * u32::from(MODULE), &program);
        let expected = if frames == 7 { Ok(1 << PASS) } else { Err(Reason::XdpAborted) };
        assert_eq!(fate_of(&mut engine, frames.into()), expected, "{frames} frames");
    }
    // A call in the second lane.
    let mut rows = compiled("call f\nr0 = 2\nexit\nf:\nr0 = 1\nexit\n");
    let call = rows.code.iter_mut().find(|code| code.lanes[0].op == XdpOp::Call.code()).expect("a call");
    (call.lanes[1], call.lanes[0]) = (call.lanes[0], Default::default());
    engine.load(MODULE, 0, &rows, start);
    assert_eq!(fate_of(&mut engine, 20), Err(Reason::XdpAborted), "a call in the second lane");
}

#[test]
fn a_function_comes_back_to_the_row_behind_its_call_on_another_page() {
    let Some((mut engine, _)) = open_tiny("a_function_comes_back_to_the_row_behind_its_call") else { return };
    let start = PAGE_ROWS as u16;
    // Bundles one after the other up to a page's last row, which calls. The rest lies on page 5, the function on page 6.
    let text = |n: usize| {
        format!(
            "r6 = 1\n{}call f\nr6 += r0\nr0 = 1\nif r6 != 12 goto end\nr0 = 2\nend:\nexit\nf:\nr6 = 7\nr0 = 11\nexit\n",
            "r6 = -r6\n".repeat(n)
        )
    };
    let calls = |rows: &Rows| rows.code.iter().position(|code| code.lanes[0].op == XdpOp::Call.code()).expect("a call");
    let n = (40..140)
        .step_by(2)
        .find(|n| calls(&compiled(&text(*n))) == usize::from(start) - 1)
        .expect("a call at the end");
    let mut rows = compiled(&text(n));
    let behind = rows.code.split_off(PAGE_ROWS);
    let page = |next| XdpPageRow { valid: true, module_id: MODULE, next };
    engine.load(MODULE, 0, &rows, start);
    let exit = |code: &sluice_formats::xdp::rows::XdpCodeRow| {
        code.lanes.iter().any(|lane| lane.op == XdpOp::Exit.code() || lane.op == XdpOp::ExitValue.code())
    };
    assert!(behind.iter().any(exit));
    for (row, code) in (5 * PAGE_ROWS as u32..).zip(&behind) {
        let mut code = code.clone();
        // Targets move with their page.
        for lane in &mut code.lanes {
            let branch = XdpOp::Eq.code()..=XdpOp::Sle.code();
            if branch.contains(&lane.op) || [XdpOp::Jump.code(), XdpOp::Call.code()].contains(&lane.op) {
                lane.off = lane.off.wrapping_add(3 * PAGE_ROWS as u16);
            }
        }
        engine.write(Table::XdpCode, row, &code);
    }
    let mut last = rows.code[PAGE_ROWS - 1].clone();
    last.lanes[0].off += 3 * PAGE_ROWS as u16;
    engine.write(Table::XdpCode, u32::from(start) + PAGE_ROWS as u32 - 1, &last);
    engine.write(Table::XdpPage, 1, &page(5));
    engine.write(Table::XdpPage, 2, &XdpPageRow::default());
    engine.write(Table::XdpPage, 5, &page(0));
    assert_eq!(fate_of(&mut engine, 0), Ok(1 << PASS), "behind the call on page 5");
    // A foreign page behind the call ends it there, and not before.
    engine.write(Table::XdpPage, 1, &page(7));
    engine.write(Table::XdpPage, 7, &XdpPageRow { module_id: MODULE + 1, ..page(0) });
    assert_eq!(fate_of(&mut engine, 1), Err(Reason::XdpAborted), "a foreign page behind it");
}

#[test]
fn a_call_and_its_return_take_the_cycles_that_are_documented() {
    let Some((mut engine, _)) = open_tiny("a_call_and_its_return_take_the_cycles") else { return };
    let start = PAGE_ROWS as u16;
    let mut cycles = |calls: usize| {
        let rows = compiled(&format!("{}r0 = 2\nexit\nf:\nr0 = 1\nexit\n", "call f\n".repeat(calls)));
        engine.load(MODULE, 0, &rows, start);
        assert_eq!(fate_of(&mut engine, calls as u32), Ok(1 << PASS));
        engine.verdict_ticks.pop().expect("its verdict") - engine.last_in
    };
    // Alone on the engine: docs/design/hxdp-core.md, "Calls".
    assert_eq!(cycles(21) - cycles(1), 20 * CALL_AND_RETURN);
}
