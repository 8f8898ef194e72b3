//! Random programs that run far before they fault, if they do: arithmetic of all kinds, spills,
//! packet and map accesses behind their checks (and some without), loops, calls, callbacks.

use sluice_ebpf::image::Function;
use sluice_ebpf::{Image, Insn, MapSpec, MapType, Program};
use sluice_formats::random::Rng;

/// A map without extras.
pub fn map(name: &str, kind: MapType, value_size: u32, max_entries: u32) -> MapSpec {
    MapSpec::new(name, kind, 4, value_size, max_entries)
}

struct Writer<'r> {
    rng: &'r mut Rng,
    insns: Vec<Insn>,
    /// Calls to patch: slot and function.
    calls: Vec<(usize, usize)>,
    functions: usize,
    depth: u32,
}

/// Appends an instruction; the fields may draw random numbers.
macro_rules! put {
    ($writer:expr, $op:expr, $dst:expr, $src:expr, $off:expr, $imm:expr) => {{
        let insn = Insn { op: $op, dst: $dst, src: $src, off: $off, imm: $imm };
        $writer.insns.push(insn);
    }};
}

const FREE: [u8; 6] = [0, 1, 2, 3, 4, 5];

impl Writer<'_> {
    /// A register that holds numbers.
    fn scratch(&mut self) -> u8 {
        FREE[self.rng.index(FREE.len())]
    }

    fn number(&mut self) -> i32 {
        match self.rng.below(6) {
            0 => 0,
            1 => -1,
            2 => i32::MIN,
            3 => 1 << self.rng.below(31),
            4 => self.rng.below(70) as i32,
            _ => self.rng.next_u32() as i32,
        }
    }

    fn alu(&mut self) {
        let (dst, src, imm) = (self.scratch(), self.scratch(), self.number());
        let class = [4, 7][self.rng.index(2)];
        match self.rng.below(15) {
            14 if dst != src => {
                // Both parts of a value that is turned; now and then a bit is lost or doubled.
                let width = if class == 7 { 64 } else { 32 };
                let right = 1 + self.rng.below(width - 1) as i32;
                let left = width as i32 - right - i32::from(self.rng.chance(1, 8));
                put!(self, class | 0xb8, dst, src, 0, 0);
                put!(self, class | 0x70, dst, 0, 0, right);
                put!(self, class | 0x60, src, 0, 0, left);
                put!(self, [0x4f, 0x4c, 0x0f, 0xaf][self.rng.index(4)], src, dst, 0, 0);
            }
            0 => put!(self, class | 0x80, dst, 0, 0, 0),
            1 => put!(self, [0xd4, 0xdc, 0xd7][self.rng.index(3)], dst, 0, 0, [16, 32, 64][self.rng.index(3)]),
            2 => {
                let bits = if class == 7 { [8, 16, 32][self.rng.index(3)] } else { [8, 16][self.rng.index(2)] };
                put!(self, class | 0xb8, dst, src, bits, 0);
            }
            3 => put!(self, class | 0xb8, dst, src, 0, 0),
            4 => put!(self, class | 0xb0, dst, 0, 0, imm),
            5 => {
                let (low, high) = (self.rng.next_u32() as i32, self.number());
                put!(self, 0x18, dst, 0, 0, low);
                put!(self, 0, 0, 0, 0, high);
            }
            _ => {
                let code = [0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x9, 0xa, 0xc][self.rng.index(11)] << 4;
                let signed = if matches!(code, 0x30 | 0x90) { self.rng.below(2) as i16 } else { 0 };
                if self.rng.chance(1, 2) {
                    put!(self, class | code | 8, dst, src, signed, 0);
                } else {
                    put!(self, class | code, dst, 0, signed, imm);
                }
            }
        }
    }

    fn size(&mut self) -> (u8, i16) {
        [(0x10, 1), (0x08, 2), (0x00, 4), (0x18, 8)][self.rng.index(4)]
    }

    fn stack(&mut self) {
        let (size, bytes) = self.size();
        let off = -64 + self.rng.below(64 - bytes as u64 + 1) as i16;
        let any = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10][self.rng.index(11)];
        let (scratch, imm) = (self.scratch(), self.number());
        match self.rng.below(8) {
            0..3 => put!(self, 0x63 & !0x18 | size, 10, any, if size == 0x18 { off & !7 } else { off }, 0),
            3 => put!(self, 0x62 & !0x18 | size, 10, 0, off, imm),
            4 if size != 0x18 => put!(self, 0x81 & !0x18 | size, scratch, 10, off, 0),
            5 => {
                // At a place that is not fixed.
                let pointer = if scratch == 0 { 1 } else { 0 };
                put!(self, 0x57, scratch, 0, 0, 15);
                put!(self, 0xbf, pointer, 10, 0, 0);
                put!(self, 0x1f, pointer, scratch, 0, 0);
                put!(self, 0x63 & !0x18 | size, pointer, any, -8, 0);
            }
            6 => {
                let op = [0x00, 0x01, 0x40, 0x41, 0x50, 0x51, 0xa0, 0xa1, 0xe1, 0xf1][self.rng.index(10)];
                let wide = self.rng.chance(1, 2);
                put!(self, if wide { 0xdb } else { 0xc3 }, 10, scratch, off & !7, op);
            }
            _ => put!(self, 0x61 & !0x18 | size, scratch, 10, if size == 0x18 { off & !7 } else { off }, 0),
        }
    }

    fn packet(&mut self) {
        let (size, bytes) = self.size();
        let variable = self.rng.chance(1, 2);
        let n = self.rng.below(40) as i16 + bytes;
        // r6 is the context, or not, once it was overwritten.
        put!(self, 0x61, 2, 6, 0, 0);
        put!(self, 0x61, 3, 6, 4, 0);
        if variable {
            let index = [0, 1, 4, 5][self.rng.index(4)];
            let mask = [15, 60, 255, 0xffff][self.rng.index(4)];
            put!(self, 0x57, index, 0, 0, mask);
            put!(self, 0x0f, 2, index, 0, 0);
        }
        put!(self, 0xbf, 4, 2, 0, 0);
        put!(self, 0x07, 4, 0, 0, n.into());
        let skip = if self.rng.chance(1, 8) { 0 } else { 2 };
        match self.rng.below(4) {
            0 => put!(self, 0x2d, 4, 3, skip, 0),
            1 => put!(self, 0xad, 3, 4, skip, 0),
            2 => put!(self, 0x3d, 4, 3, skip, 0),
            _ => put!(self, 0x2e, 4, 3, skip, 0),
        }
        let off = self.rng.below((n - bytes + 1) as u64) as i16;
        let scratch = [0, 1, 5][self.rng.index(3)];
        put!(self, 0x61 & !0x18 | size, scratch, 2, off, 0);
        put!(self, 0x63 & !0x18 | size, 2, scratch, off, 0);
        if self.rng.chance(1, 3) {
            let keep = 7 + self.rng.below(3) as u8;
            put!(self, 0xbf, keep, 2, 0, 0);
        }
    }

    fn move_packet(&mut self) {
        put!(self, 0xbf, 1, 6, 0, 0);
        let by = [-4, 4, -8, 1, 0, -300][self.rng.index(6)];
        put!(self, 0xb7, 2, 0, 0, by);
        put!(self, 0x85, 0, 0, 0, [44, 54, 65][self.rng.index(3)]);
    }

    /// Looks a value up and works on it.
    fn value(&mut self) {
        let map = self.rng.below(3) as i32;
        let key = self.rng.below(6) as i32;
        if self.rng.chance(1, 4) {
            put!(self, 0x18, 0, 6, 0, 0);
            put!(self, 0, 0, 0, 0, 8);
        } else {
            match self.rng.below(6) {
                0 => {
                    // In the frame, whose shortest has room for it.
                    put!(self, 0x61, 2, 6, 0, 0);
                    put!(self, 0x62, 2, 0, 0, key);
                }
                1 => {
                    // In a value of an array, where nobody writes anything else: which of both the engine reads is not told.
                    put!(self, 0x18, 2, 6, 0, 0);
                    put!(self, 0, 0, 0, 0, 24 + 4 * key);
                    put!(self, 0x62, 2, 0, 0, key);
                }
                _ => {
                    put!(self, 0x62, 10, 0, -4, key);
                    put!(self, 0xbf, 2, 10, 0, 0);
                    put!(self, 0x07, 2, 0, 0, -4);
                }
            }
            put!(self, 0x18, 1, 5, 0, map);
            put!(self, 0, 0, 0, 0, 0);
            put!(self, 0x85, 0, 0, 0, 1);
            if self.rng.chance(1, 3) {
                put!(self, 0x7b, 10, 0, -16, 0);
            }
            let code = [0x15, 0x16][self.rng.index(2)];
            put!(self, code, 0, 0, 4, 0);
        }
        let (size, bytes) = self.size();
        if self.rng.chance(1, 2) {
            put!(self, 0x61 & !0x18 | size, 1, 0, 16 - bytes, 0);
            put!(self, 0x07, 1, 0, 0, 1);
            put!(self, 0x63 & !0x18 | size, 0, 1, 16 - bytes, 0);
            put!(self, 0xdb, 0, 1, 8, 1);
        } else {
            put!(self, 0x57, 9, 0, 0, 8);
            put!(self, 0x0f, 0, 9, 0, 0);
            put!(self, 0x61 & !0x18 | size, 1, 0, 0, 0);
            put!(self, 0x63 & !0x18 | size, 0, 1, 0, 0);
        }
    }

    /// Pushes to a queue or stack, pops or looks: from and to the stack, the packet, or a value.
    fn element(&mut self) {
        let (map, helper) = (3 + self.rng.below(2) as i32, [87, 87, 88, 88, 89][self.rng.index(5)]);
        match self.rng.below(6) {
            0 => put!(self, 0x61, 2, 6, 0, 0),
            // What is pushed from a value others may write meanwhile: which of both goes in is not told.
            1 if helper != 87 => {
                put!(self, 0x18, 2, 6, 0, 0);
                put!(self, 0, 0, 0, 0, 4 * self.rng.below(4) as i32);
            }
            _ => {
                put!(self, 0xbf, 2, 10, 0, 0);
                put!(self, 0x07, 2, 0, 0, -(12 + self.rng.below(50) as i32));
            }
        }
        put!(self, 0xb7, 3, 0, 0, [0, 0, 0, 2, 2, 1, 4][self.rng.index(7)]);
        put!(self, 0x18, 1, 5, 0, map);
        put!(self, 0, 0, 0, 0, 0);
        put!(self, 0x85, 0, 0, 0, helper);
    }

    fn branch(&mut self) {
        let (a, b, imm) = (self.scratch(), self.scratch(), self.number());
        let code = [0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0xa, 0xb, 0xc, 0xd][self.rng.index(11)] << 4;
        let class = [5, 6][self.rng.index(2)];
        let at = self.insns.len();
        if self.rng.chance(1, 2) {
            put!(self, class | code | 8, a, b, 0, 0)
        } else {
            put!(self, class | code, a, 0, 0, imm)
        }
        let then = 1 + self.rng.below(3) as u32;
        self.body(then);
        if self.rng.chance(1, 2) {
            let jump = self.insns.len();
            put!(self, 0x05, 0, 0, 0, 0);
            self.insns[at].off = (self.insns.len() - at - 1) as i16;
            let other = 1 + self.rng.below(3) as u32;
            self.body(other);
            self.insns[jump].off = (self.insns.len() - jump - 1) as i16;
        } else {
            self.insns[at].off = (self.insns.len() - at - 1) as i16;
        }
    }

    fn repeat(&mut self) {
        let counter = 7 + self.rng.below(3) as u8;
        let rounds = 1 + self.rng.below(20) as i32;
        put!(self, 0xb7, counter, 0, 0, 0);
        let head = self.insns.len();
        let inside = 1 + self.rng.below(4) as u32;
        self.body(inside);
        put!(self, 0x07, counter, 0, 0, 1 + self.rng.clone().below(3) as i32);
        let code = [0xa5, 0xb5, 0xc5, 0xa6, 0x55][self.rng.index(5)];
        let back = head as i64 - self.insns.len() as i64 - 1;
        if let Ok(back) = i16::try_from(back) {
            put!(self, code, counter, 0, back, rounds);
        }
    }

    fn call(&mut self) {
        if self.functions == 0 {
            return;
        }
        let function = self.rng.index(self.functions);
        if self.rng.chance(1, 3) {
            put!(self, 0xb7, 1, 0, 0, 5);
            self.calls.push((self.insns.len(), function));
            put!(self, 0x18, 2, 4, 0, 0);
            put!(self, 0, 0, 0, 0, 0);
            put!(self, 0xbf, 3, 10, 0, 0);
            put!(self, 0xb7, 4, 0, 0, 0);
            put!(self, 0x85, 0, 0, 0, 181);
        } else {
            let by = -(self.rng.below(64) as i32);
            put!(self, 0xbf, 1, [6, 10][self.rng.index(2)], 0, 0);
            put!(self, 0xbf, 2, 10, 0, 0);
            put!(self, 0x07, 2, 0, 0, by);
            self.calls.push((self.insns.len(), function));
            put!(self, 0x85, 0, 1, 0, 0);
        }
    }

    fn body(&mut self, statements: u32) {
        self.depth += 1;
        for _ in 0..statements {
            match self.rng.below(26) {
                0..8 => self.alu(),
                8..12 => self.stack(),
                12..14 => self.packet(),
                14..16 => self.value(),
                16..19 if self.depth < 5 => self.branch(),
                19 if self.depth < 4 => self.repeat(),
                20 => self.call(),
                21 if self.rng.chance(1, 3) => self.move_packet(),
                22 => {
                    let (a, b) = (7 + self.rng.below(3) as u8, self.rng.below(11) as u8);
                    put!(self, if self.rng.chance(1, 2) { 0xbf } else { 0xbc }, a, b, 0, 0);
                }
                24 => self.element(),
                23 => {
                    // Arithmetic on what may be an address.
                    let (a, b) = (7 + self.rng.below(3) as u8, self.rng.below(10) as u8);
                    let op = [0x0f, 0x1f, 0x0c, 0x1c, 0x4f, 0x5f, 0xaf, 0x7f][self.rng.index(8)];
                    put!(self, op, a, b, 0, 0);
                }
                _ => self.alu(),
            }
        }
        self.depth -= 1;
    }
}

/// An image of one program with some functions, three maps, a queue and a stack.
pub fn random(rng: &mut Rng, statements: u32) -> Image {
    let functions = rng.index(4);
    let mut insns = Vec::new();
    let mut calls = Vec::new();
    let mut starts = Vec::new();
    for function in 0..=functions {
        starts.push(insns.len());
        // A function calls only those behind it, so that no call comes back to itself.
        let left = functions - function;
        let mut w = Writer { rng: &mut *rng, insns: Vec::new(), calls: Vec::new(), functions: left, depth: 0 };
        put!(w, 0xbf, 6, 1, 0, 0);
        let n = if function == 0 { statements } else { statements / 4 + 1 };
        w.body(n);
        let r0 = w.scratch();
        put!(w, 0xbf, 0, r0, 0, 0);
        put!(w, 0x95, 0, 0, 0, 0);
        let base = insns.len();
        calls.extend(w.calls.into_iter().map(|(at, f)| (base + at, function + 1 + f)));
        insns.extend(w.insns);
    }
    for (at, function) in calls {
        insns[at].imm = starts[function] as i32 - at as i32 - 1;
    }
    let named = |(i, start): (usize, &usize)| Function { name: format!("f{i}"), start: *start as u32, btf_type: 0 };
    let program = Program {
        name: "random".into(),
        section: "xdp".into(),
        insns,
        functions: starts.iter().enumerate().map(named).collect(),
        ..Program::default()
    };
    let maps = vec![
        map("values", MapType::Array, 48, 1),
        map("hash", MapType::Hash, 16, 4),
        map("percpu", MapType::PercpuArray, 16, 4),
        MapSpec::new("queue", MapType::Queue, 0, 12, 3),
        MapSpec::new("stack", MapType::Stack, 0, 12, 2),
    ];
    Image { programs: vec![program], maps, ..Image::default() }
}
