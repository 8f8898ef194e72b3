//! Every instruction of RFC 9669 but the `packet` group, as random programs use it: a name for each.

use sluice_ebpf::Insn;

const SIZES: [(u8, &str); 4] = [(0x10, "b"), (0x08, "h"), (0x00, "w"), (0x18, "dw")];
const ALU: [&str; 13] = ["add", "sub", "mul", "div", "or", "and", "lsh", "rsh", "neg", "mod", "xor", "mov", "arsh"];
const JMP: [&str; 14] =
    ["ja", "jeq", "jgt", "jge", "jset", "jne", "jsgt", "jsge", "call", "exit", "jlt", "jle", "jslt", "jsle"];

/// Names of the atomic operations by immediate.
pub const ATOMIC: [(i32, &str); 10] = [
    (0x00, "add"),
    (0x40, "or"),
    (0x50, "and"),
    (0xa0, "xor"),
    (0x01, "add fetch"),
    (0x41, "or fetch"),
    (0x51, "and fetch"),
    (0xa1, "xor fetch"),
    (0xe1, "xchg"),
    (0xf1, "cmpxchg"),
];

fn size(op: u8) -> &'static str {
    SIZES.iter().find(|s| s.0 == op & 0x18).map_or("?", |s| s.1)
}

/// Name of an instruction's form; two instructions of one form differ only in registers and numbers.
pub fn form(i: Insn) -> String {
    let operand = if i.op & 8 != 0 { "x" } else { "k" };
    let (class, code) = (i.class(), usize::from(i.op >> 4));
    match class {
        0 => ["ld_imm64 number", "", "", "", "ld_imm64 function", "ld_imm64 map", "ld_imm64 value"][usize::from(i.src)]
            .into(),
        1 => format!("{} {}", if i.op & 0xe0 == 0x80 { "ldxs" } else { "ldx" }, size(i.op)),
        2 => format!("st {}", size(i.op)),
        3 if i.op & 0xe0 == 0xc0 => {
            let name = ATOMIC.iter().find(|a| a.0 == i.imm).map_or("?", |a| a.1);
            format!("atomic {} {name}", size(i.op))
        }
        3 => format!("stx {}", size(i.op)),
        4 | 7 => {
            let width = if class == 4 { "32" } else { "64" };
            match code {
                0xd if class == 7 => format!("bswap{}", i.imm),
                0xd => format!("{}{}", if i.op & 8 != 0 { "be" } else { "le" }, i.imm),
                3 | 9 if i.off == 1 => format!("s{}{width} {operand}", ALU[code]),
                0xb if i.off != 0 => format!("movsx{}to{width}", i.off),
                8 => format!("neg{width}"),
                _ => format!("{}{width} {operand}", ALU[code]),
            }
        }
        _ => match code {
            0 if class == 6 => "gotol".into(),
            0 => "ja".into(),
            8 if i.src == 1 => "call local".into(),
            8 => "call helper".into(),
            9 => "exit".into(),
            _ => format!("{}{} {operand}", JMP[code], if class == 6 { "32" } else { "64" }),
        },
    }
}

/// Every form that a random program can have.
pub fn all() -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |op: u8, src: u8, off: i16, imm: i32| out.push(form(Insn { op, dst: 0, src, off, imm }));
    add(0x18, 0, 0, 0);
    add(0x18, 6, 0, 0);
    for (bits, name) in SIZES {
        add(0x61 & !0x18 | bits, 0, 0, 0);
        add(0x62 & !0x18 | bits, 0, 0, 0);
        add(0x63 & !0x18 | bits, 0, 0, 0);
        if name != "dw" {
            add(0x81 & !0x18 | bits, 0, 0, 0);
        }
        if name == "w" || name == "dw" {
            for (imm, _) in ATOMIC {
                add(0xc3 & !0x18 | bits, 0, 0, imm);
            }
        }
    }
    for class in [4u8, 7] {
        for code in 0..13u8 {
            for source in [0u8, 8] {
                if code == 8 && source == 8 {
                    continue;
                }
                add(code << 4 | source | class, 0, 0, 0);
                if code == 3 || code == 9 {
                    add(code << 4 | source | class, 0, 1, 0);
                }
            }
        }
        for bits in [8, 16, 32].into_iter().filter(|b| class == 7 || *b < 32) {
            add(0xb8 | class, 0, bits, 0);
        }
    }
    for bits in [16, 32, 64] {
        add(0xd4, 0, 0, bits);
        add(0xdc, 0, 0, bits);
        add(0xd7, 0, 0, bits);
    }
    for class in [5u8, 6] {
        for code in [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13u8] {
            add(code << 4 | class, 0, 0, 0);
            add(code << 4 | 8 | class, 0, 0, 0);
        }
        add(class, 0, 0, 0);
    }
    add(0x85, 1, 0, 0);
    add(0x95, 0, 0, 0);
    out
}

/// Names of an edge operand of a register form, for the tally; `None` where it is nothing special.
pub fn edge(name: &str, left: u64, right: u64) -> Option<String> {
    let wide = name.contains("64");
    let shift = ["lsh", "rsh", "arsh"].iter().any(|s| name.starts_with(s));
    if shift && name.ends_with('x') && [0, 31, 32, 63].contains(&right) {
        return Some(format!("{name} by {right}"));
    }
    let division = ["div", "mod", "sdiv", "smod"].iter().any(|s| name.starts_with(s));
    if division && name.ends_with('x') {
        let (zero, minus, least) = match wide {
            true => (right == 0, right == u64::MAX, left == 1 << 63),
            false => (right as u32 == 0, right as u32 == u32::MAX, left as u32 == 1 << 31),
        };
        if zero {
            return Some(format!("{name} by zero"));
        }
        if minus && least && name.starts_with('s') {
            return Some(format!("{name}: smallest by -1"));
        }
    }
    None
}
