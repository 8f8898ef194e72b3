//! Cases of a conformance suite: `*.data` beside this file, and random sequences.

use sluice_ebpf::Insn;
use sluice_ebpf::insn::assemble;
use sluice_formats::random::Rng;
use std::path::Path;

/// What a case comes to.
pub enum Expected {
    /// r0.
    Result(u64),
    /// A part of the interpreter's words.
    Error(String),
}

/// One program with its memory.
pub struct Case {
    pub name: String,
    pub insns: Vec<Insn>,
    /// Two-digit hex numbers.
    pub memory: String,
    pub expected: Expected,
}

/// The cases of all files.
pub fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ebpf/tests/conformance");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "data"));
    files.sort();
    let texts = files.iter().map(|path| std::fs::read_to_string(path).unwrap());
    texts.flat_map(|text| text.split("\n== ").skip(1).map(case).collect::<Vec<_>>()).collect()
}

fn case(text: &str) -> Case {
    let (name, rest) = text.split_once('\n').expect("a name");
    let mut parts = rest.split("-- ");
    let program = parts.next().expect("a program");
    let insns = assemble("case", program, &[]).unwrap_or_else(|e| panic!("{name}: {e}")).insns;
    let (mut memory, mut expected) = (String::new(), None);
    for part in parts {
        let (kind, body) = part.split_once('\n').expect("a part's kind");
        let body = body.trim();
        match kind {
            "mem" => memory = body.to_owned(),
            "result" => expected = u64::from_str_radix(body.trim_start_matches("0x"), 16).ok().map(Expected::Result),
            "error" => expected = Some(Expected::Error(body.to_owned())),
            other => panic!("{name}: a part {other}"),
        }
    }
    Case { name: name.to_owned(), insns, memory, expected: expected.unwrap_or_else(|| panic!("{name}: no result")) }
}

/// A random program of straight lines and branches ahead that gives the exclusive or of all its registers.
pub fn random(rng: &mut Rng) -> Vec<Insn> {
    let mut insns = Vec::new();
    for dst in 0..10 {
        let (low, high) = (rng.next_u32() as i32, [0, -1, rng.next_u32() as i32][rng.index(3)]);
        insns.push(Insn { op: 0x18, dst, imm: low, ..Insn::default() });
        insns.push(Insn { imm: high, ..Insn::default() });
    }
    for _ in 0..4 + rng.below(30) {
        let (dst, src, imm) = (rng.below(10) as u8, rng.below(10) as u8, rng.next_u32() as i32 >> rng.below(32));
        let insn = |op, off, imm| Insn { op, dst, src, off, imm };
        let (class, source) = ([4, 7][rng.index(2)], [0, 8][rng.index(2)]);
        let code = (rng.below(14) as u8) << 4;
        insns.push(match code {
            0x80 => Insn { src: 0, ..insn(code | class, 0, 0) },
            0xb0 if source == 8 => insn(code | class | 8, [0, 8, 16][rng.index(3)], 0),
            0xd0 => Insn { src: 0, ..insn([0xd4, 0xdc, 0xd7][rng.index(3)], 0, [16, 32, 64][rng.index(3)]) },
            _ => {
                let signed = if matches!(code, 0x30 | 0x90) { rng.below(2) as i16 } else { 0 };
                let operand = if source == 8 { 0 } else { imm };
                Insn { src: if source == 8 { src } else { 0 }, ..insn(code | class | source, signed, operand) }
            }
        });
        let place = -8 * (1 + rng.below(4) as i16);
        match rng.below(6) {
            0 => insns.push(Insn { op: [0x7b, 0x63, 0x6b, 0x73][rng.index(4)], dst: 10, src, off: place, imm: 0 }),
            1 => insns.push(Insn {
                op: [0x79, 0x61, 0x69, 0x71, 0x81, 0x89, 0x91][rng.index(7)],
                dst,
                src: 10,
                off: place,
                imm: 0,
            }),
            2 => {
                let op = [0x00, 0x01, 0x40, 0x41, 0x50, 0x51, 0xa0, 0xa1, 0xe1, 0xf1][rng.index(10)];
                insns.push(Insn { op: [0xdb, 0xc3][rng.index(2)], dst: 10, src, off: place, imm: op });
            }
            3 => {
                let code = [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13][rng.index(11)] << 4;
                let class = [5, 6][rng.index(2)];
                let (src, imm) = if source == 8 { (src, 0) } else { (0, imm) };
                insns.push(Insn { op: code | class | source, dst, src, off: 1, imm });
                insns.push(Insn { op: 0xa7, dst: 0, imm: 0x5555, ..Insn::default() });
            }
            _ => {}
        }
    }
    for src in 1..10 {
        insns.push(Insn { op: 0xaf, src, ..Insn::default() });
    }
    insns.push(Insn { op: 0x95, ..Insn::default() });
    insns
}
