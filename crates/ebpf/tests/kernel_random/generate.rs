//! Random programs that the kernel's verifier accepts: it is known at each place which registers
//! are numbers and which bytes of the stack are written.
//!
//! r9 is the result map's value in every function, r10 the frame; r0 to r8 are numbers. The map's
//! value holds [`INPUTS`] bytes that are given, as many to work on, then r0 to r8 at the end and a
//! digest of the stack.

use super::forms::{ATOMIC, edge, form};
use sluice_ebpf::Insn;
use sluice_ebpf::insn::{CALL, EXIT, LD_IMM64, pseudo};
use sluice_formats::random::Rng;
use std::collections::BTreeMap;

/// Bytes of inputs in the map's value.
pub const INPUTS: usize = 64;
/// Bytes of the value that programs read and write.
pub const SHARED: usize = 128;
/// Bytes of the value: shared ones, nine registers, the digest.
pub const VALUE: usize = SHARED + 9 * 8 + 8;

/// Bytes of a frame that are used; four frames stay below the verifier's 512.
const FRAME: i16 = 96;
const MAP: u8 = 9;
const FP: u8 = 10;

/// A program and the edge operands in it.
pub struct Generated {
    /// The program; its functions behind it.
    pub insns: Vec<Insn>,
    /// Where functions begin.
    pub functions: Vec<u32>,
    /// Edge operands by name.
    pub edges: BTreeMap<String, usize>,
}

/// What is known at one place: registers that are numbers, stack bytes that are written.
#[derive(Clone, Copy)]
struct State {
    numbers: u16,
    stack: u128,
    /// Registers that must not be written: counters of loops.
    kept: u16,
}

impl State {
    fn has(&self, r: u8) -> bool {
        self.numbers >> r & 1 == 1
    }

    fn join(&mut self, other: Option<State>) {
        if let Some(other) = other {
            self.numbers &= other.numbers;
            self.stack &= other.stack;
        }
    }
}

struct Body<'a> {
    rng: &'a mut Rng,
    code: Vec<Insn>,
    /// Calls to be patched: place and function.
    calls: Vec<(usize, usize)>,
    edges: BTreeMap<String, usize>,
    /// Functions that may be called: number and arguments.
    callable: Vec<(usize, u8)>,
    budget: usize,
    in_loop: bool,
}

/// One program of 20 to 200 slots.
pub fn generate(rng: &mut Rng) -> Generated {
    loop {
        let g = attempt(rng);
        if (20..=200).contains(&g.insns.len()) {
            return g;
        }
    }
}

fn attempt(rng: &mut Rng) -> Generated {
    let target = rng.range(20, 200) as usize;
    let count = if target < 50 { 0 } else { rng.index(4) };
    let arguments: Vec<u8> = (0..count).map(|_| 1 + rng.index(5) as u8).collect();
    let callable = |from: usize| (from..count).map(|n| (n + 1, arguments[n])).collect::<Vec<_>>();
    let mut parts = Vec::new();
    let share = target / (count + 2);
    for n in 0..=count {
        let budget = if n == 0 { target.saturating_sub(20 + share * count) } else { share.saturating_sub(8) };
        let mut body = Body {
            rng,
            code: Vec::new(),
            calls: Vec::new(),
            edges: BTreeMap::new(),
            callable: callable(n),
            budget,
            in_loop: false,
        };
        body.function(n == 0, if n == 0 { 0 } else { arguments[n - 1] });
        parts.push((body.code, body.calls, body.edges));
    }
    // Every function is called, or the verifier would find unreachable code.
    let called: Vec<bool> = (1..=count).map(|n| parts.iter().any(|p| p.1.iter().any(|c| c.1 == n))).collect();
    if called.contains(&false) {
        return Generated { insns: Vec::new(), functions: Vec::new(), edges: BTreeMap::new() };
    }
    let mut out = Generated { insns: Vec::new(), functions: Vec::new(), edges: BTreeMap::new() };
    for (code, _, edges) in &parts {
        out.functions.push(out.insns.len() as u32);
        out.insns.extend(code);
        for (name, n) in edges {
            *out.edges.entry(name.clone()).or_default() += n;
        }
    }
    for ((_, calls, _), start) in parts.iter().zip(out.functions.clone()) {
        for (at, function) in calls {
            let at = start as usize + at;
            out.insns[at].imm = out.functions[*function] as i32 - at as i32 - 1;
        }
    }
    out
}

const EDGES: [i64; 18] = [
    0,
    1,
    -1,
    2,
    7,
    31,
    32,
    33,
    63,
    64,
    255,
    i32::MAX as i64,
    i32::MIN as i64,
    u32::MAX as i64,
    1 << 31,
    1 << 32,
    i64::MAX,
    i64::MIN,
];

/// A number that is at an edge more often than not.
pub fn number(rng: &mut Rng) -> u64 {
    match rng.below(4) {
        0 | 1 => EDGES[rng.index(EDGES.len())] as u64,
        2 => rng.next_u64() >> rng.below(64),
        _ => rng.next_u64(),
    }
}

impl Body<'_> {
    fn emit(&mut self, op: u8, dst: u8, src: u8, off: i16, imm: i32) {
        self.code.push(Insn { op, dst, src, off, imm });
    }

    fn wide(&mut self, dst: u8, src: u8, low: i32, high: i32) {
        self.emit(LD_IMM64, dst, src, 0, low);
        self.emit(0, 0, 0, 0, high);
    }

    fn imm(&mut self) -> i32 {
        number(self.rng) as i32
    }

    fn function(&mut self, main: bool, arguments: u8) {
        let mut state = State { numbers: 0, stack: 0, kept: 0 };
        self.wide(MAP, pseudo::MAP_VALUE, 0, 0);
        if main {
            for r in 0..9 {
                if self.rng.chance(1, 2) {
                    self.load_shared(r, &mut state);
                }
            }
        } else {
            state.numbers = (1 << (arguments + 1)) - 2;
        }
        let budget = self.budget;
        let mut end = Some(state);
        self.block(budget, 0, false, &mut end);
        let state = end.expect("only branches end early");
        if main {
            self.results(state);
        } else if !state.has(0) {
            let imm = self.imm();
            self.emit(0xb7, 0, 0, 0, imm);
        }
        self.emit(EXIT, 0, 0, 0, 0);
    }

    /// Registers and the stack into the map, and some of it into r0.
    fn results(&mut self, state: State) {
        for r in 0..9u8 {
            if state.has(r) {
                self.emit(0x7b, MAP, r, (SHARED + 8 * usize::from(r)) as i16, 0);
            }
        }
        let mut first = true;
        for slot in 0..FRAME / 8 {
            if state.stack >> (slot * 8) & 0xff != 0xff {
                continue;
            }
            let target = if first { 1 } else { 2 };
            self.emit(0x79, target, FP, slot * 8 - FRAME, 0);
            if !first {
                self.emit(0x27, 1, 0, 0, 0x0100_0193);
                self.emit(0xaf, 1, 2, 0, 0);
            }
            first = false;
        }
        if !first {
            self.emit(0x7b, MAP, 1, (SHARED + 9 * 8) as i16, 0);
        }
        if !state.has(0) {
            self.emit(0xb7, 0, 0, 0, 2);
        }
    }

    /// So many slots more, in the form of branches, loops and single instructions. Where it may
    /// end the function, the state afterwards can be `None`.
    fn block(&mut self, budget: usize, depth: u32, may_end: bool, state: &mut Option<State>) {
        let end = self.code.len() + budget;
        while self.code.len() < end {
            let left = end - self.code.len();
            let Some(now) = state else { return };
            match self.rng.below(24) {
                0..=2 if left > 6 && depth < 4 => self.branch(left - 3, depth, state),
                3 if left > 8 && depth < 3 && !self.in_loop => self.repeat(left - 4, depth, now),
                4 | 5 if !self.callable.is_empty() => self.call(now),
                6 if may_end && left < 4 => {
                    let imm = self.imm();
                    self.emit(0xb4, 0, 0, 0, imm);
                    self.emit(EXIT, 0, 0, 0, 0);
                    *state = None;
                }
                7..=9 => self.load(now),
                10..=12 => self.store(now),
                13 | 14 => self.atomic(now),
                15 => self.pointer(now),
                16 => self.constant(now),
                17 => self.swap(now),
                18 | 19 => self.edge(now),
                _ => self.alu(now),
            }
        }
    }

    /// A register that may be written.
    fn target(&mut self, state: &State) -> u8 {
        loop {
            let r = self.rng.index(9) as u8;
            if state.kept >> r & 1 == 0 {
                return r;
            }
        }
    }

    /// A register that is a number.
    fn source(&mut self, state: &mut State) -> u8 {
        if state.numbers == 0 {
            let r = self.target(state);
            self.load_shared(r, state);
        }
        loop {
            let r = self.rng.index(9) as u8;
            if state.has(r) {
                return r;
            }
        }
    }

    /// A register that is a number and may be written.
    fn number_target(&mut self, state: &mut State) -> u8 {
        let r = self.target(state);
        if !state.has(r) {
            if self.rng.chance(1, 2) {
                self.load_shared(r, state);
            } else {
                let imm = self.imm();
                self.emit(0xb7, r, 0, 0, imm);
            }
        }
        state.numbers |= 1 << r;
        r
    }

    fn load_shared(&mut self, r: u8, state: &mut State) {
        let offset = self.rng.index(INPUTS / 8) as i16 * 8;
        self.emit(0x79, r, MAP, offset, 0);
        state.numbers |= 1 << r;
    }

    fn alu(&mut self, state: &mut State) {
        let class = if self.rng.chance(1, 2) { 7 } else { 4 };
        let bits = if class == 7 { 64 } else { 32 };
        let code = self.rng.index(13) as u8;
        let register = self.rng.chance(1, 2) && code != 8;
        let source = if register { self.source(state) } else { 0 };
        let dst = if code == 0xb { self.target(state) } else { self.number_target(state) };
        let mut off = 0;
        if matches!(code, 3 | 9) && self.rng.chance(1, 2) {
            off = 1;
        }
        if code == 0xb && register && self.rng.chance(1, 2) {
            off = [8, 16, 32][self.rng.index(if class == 7 { 3 } else { 2 })];
        }
        let imm = match code {
            _ if register => 0,
            8 => 0,
            6 | 7 | 12 => self.rng.below(bits) as i32,
            3 | 9 => Some(self.imm()).filter(|i| *i != 0).unwrap_or(-1),
            _ => self.imm(),
        };
        state.numbers |= 1 << dst;
        self.emit(code << 4 | if register { 8 } else { 0 } | class, dst, source, off, imm);
    }

    /// A shift or division whose operands are at an edge, given so that the verifier knows them or not.
    fn edge(&mut self, state: &mut State) {
        let class = if self.rng.chance(1, 2) { 7u8 } else { 4 };
        let (a, b) = (self.target(state), self.target(state));
        if a == b {
            return;
        }
        let (code, off, left, right) = if self.rng.chance(1, 2) {
            let by = [0u64, 31, 32, 63][self.rng.index(4)];
            ([6, 7, 12u8][self.rng.index(3)], 0, number(self.rng), by)
        } else {
            let code = [3u8, 9][self.rng.index(2)];
            let least = if class == 7 { 1u64 << 63 } else { 1 << 31 };
            match self.rng.below(3) {
                0 => (code, 0, number(self.rng), 0),
                1 => (code, 1, number(self.rng), 0),
                _ => (code, 1, least, u64::MAX),
            }
        };
        let hidden = self.rng.chance(1, 2);
        for (r, value) in [(a, left), (b, right)] {
            self.wide(r, pseudo::NUMBER, value as u32 as i32, (value >> 32) as i32);
            if hidden {
                self.forget(r);
            }
        }
        self.emit(code << 4 | 8 | class, a, b, off, 0);
        state.numbers |= 1 << a | 1 << b;
        let insn = self.code[self.code.len() - 1];
        if let Some(name) = edge(&form(insn), left, right) {
            *self.edges.entry(name).or_default() += 1;
        }
    }

    fn constant(&mut self, state: &mut State) {
        let (r, value) = (self.target(state), number(self.rng));
        self.wide(r, pseudo::NUMBER, value as u32 as i32, (value >> 32) as i32);
        state.numbers |= 1 << r;
    }

    fn swap(&mut self, state: &mut State) {
        let r = self.number_target(state);
        let op = [0xd4, 0xdc, 0xd7][self.rng.index(3)];
        let bits = [16, 32, 64][self.rng.index(3)];
        self.emit(op, r, 0, 0, bits);
    }

    /// Size bits of an opcode and bytes.
    fn size(&mut self) -> (u8, i16) {
        [(0x10, 1), (0x08, 2), (0x00, 4), (0x18, 8)][self.rng.index(4)]
    }

    fn load(&mut self, state: &mut State) {
        let (mut size, mut bytes) = self.size();
        let signed = self.rng.chance(1, 3);
        if signed && bytes == 8 {
            (size, bytes) = (0, 4);
        }
        let op = if signed { 0x81 } else { 0x61 } | size;
        let written: Vec<i16> =
            (0..FRAME / bytes).map(|n| n * bytes).filter(|o| state.stack >> o & mask(bytes) == mask(bytes)).collect();
        let r = self.target(state);
        if !written.is_empty() && self.rng.chance(1, 2) {
            let at = written[self.rng.index(written.len())];
            self.emit(op, r, FP, at - FRAME, 0);
        } else {
            let at = self.rng.index(SHARED - bytes as usize + 1) as i16;
            self.emit(op, r, MAP, at, 0);
        }
        state.numbers |= 1 << r;
    }

    fn store(&mut self, state: &mut State) {
        let (size, bytes) = self.size();
        let (op, source, imm) = match self.rng.chance(1, 3) {
            true => (0x62 | size, 0, self.imm()),
            false => (0x63 | size, self.source(state), 0),
        };
        if self.rng.chance(2, 3) {
            let at = self.rng.index((FRAME / bytes) as usize) as i16 * bytes;
            self.emit(op, FP, source, at - FRAME, imm);
            state.stack |= mask(bytes) << at;
        } else {
            let at = self.rng.index(SHARED - bytes as usize + 1) as i16;
            self.emit(op, MAP, source, at, imm);
        }
    }

    fn atomic(&mut self, state: &mut State) {
        let (size, bytes) = [(0x00u8, 4i16), (0x18, 8)][self.rng.index(2)];
        let kind = ATOMIC[self.rng.index(ATOMIC.len())].0;
        if kind == 0xf1 && (!state.has(0) || state.kept & 1 != 0) {
            return;
        }
        let source = if kind & 1 != 0 && kind != 0xf1 { self.number_target(state) } else { self.source(state) };
        let on_stack = self.rng.chance(1, 2);
        if on_stack {
            let at = self.rng.index((FRAME / bytes) as usize) as i16 * bytes;
            if state.stack >> at & mask(bytes) != mask(bytes) {
                let imm = self.imm();
                self.emit(0x62 | size, FP, 0, at - FRAME, imm);
                state.stack |= mask(bytes) << at;
            }
            self.emit(0xc3 | size, FP, source, at - FRAME, kind);
        } else {
            let at = self.rng.index(SHARED / bytes as usize) as i16 * bytes;
            self.emit(0xc3 | size, MAP, source, at, kind);
        }
        // Two faults of Linux 6.18, docs/design/xdp-oracle.md: a 32-bit compare and exchange leaves
        // the upper half of r0 when the verifier has pruned what follows, and the verifier takes
        // wrong branches for dead when a number that it knows comes back from the stack this way.
        if kind == 0xf1 && bytes == 4 {
            self.emit(0xbc, 0, 0, 0, 0);
        }
        if on_stack && kind & 1 != 0 {
            let fetched = if kind == 0xf1 { 0 } else { source };
            self.forget(fetched);
        }
    }

    /// Takes a number through the map, where the verifier loses what it knows of it.
    fn forget(&mut self, r: u8) {
        let offset = INPUTS as i16 + self.rng.index((SHARED - INPUTS) / 8) as i16 * 8;
        self.emit(0x7b, MAP, r, offset, 0);
        self.emit(0x79, r, MAP, offset, 0);
    }

    /// An access through a computed address: into the map by a number that is masked, into the
    /// stack by a copy of r10, or after r9 was put on the stack and back.
    fn pointer(&mut self, state: &mut State) {
        let p = self.target(state);
        match self.rng.below(3) {
            0 => {
                let index = self.source(state);
                if index == p {
                    return;
                }
                let (size, _) = self.size();
                self.emit(0xbf, p, index, 0, 0);
                let and = [0x57, 0x54][self.rng.index(2)];
                self.emit(and, p, 0, 0, 0x3f);
                self.emit(0x0f, p, MAP, 0, 0);
                let off = self.rng.index(SHARED - 0x3f - 8 + 1) as i16;
                match self.rng.chance(1, 2) {
                    true => self.emit(0x61 | size, p, p, off, 0),
                    false => {
                        self.emit(0x63 | size, p, index, off, 0);
                        self.emit(0x79, p, p, 0, 0);
                    }
                }
            }
            1 => {
                let source = self.source(state);
                if source == p {
                    return;
                }
                let at = self.rng.index((FRAME / 8) as usize) as i16 * 8;
                self.emit(0xbf, p, FP, 0, 0);
                self.emit(0x07, p, 0, 0, i32::from(at - FRAME));
                self.emit(0x7b, p, source, 0, 0);
                self.emit(0x79, p, p, 0, 0);
                state.stack |= mask(8) << at;
            }
            _ => {
                if self.in_loop {
                    return;
                }
                let at = self.rng.index((FRAME / 8) as usize) as i16 * 8;
                self.emit(0x7b, FP, MAP, at - FRAME, 0);
                self.emit(0x79, MAP, FP, at - FRAME, 0);
                state.stack &= !(mask(8) << at);
                return;
            }
        }
        state.numbers |= 1 << p;
    }

    fn call(&mut self, state: &mut State) {
        let (function, arguments) = self.callable[self.rng.index(self.callable.len())];
        if state.kept & 0x3f != 0 {
            return;
        }
        for r in 1..=arguments {
            if !state.has(r) {
                let imm = self.imm();
                self.emit(0xb7, r, 0, 0, imm);
            }
        }
        self.calls.push((self.code.len(), function));
        self.emit(CALL, 0, pseudo::LOCAL, 0, 0);
        state.numbers = state.numbers & !0x3e | 1;
    }

    fn condition(&mut self, state: &mut State) -> (u8, u8, u8, i32) {
        let class = if self.rng.chance(1, 2) { 5 } else { 6 };
        let code = [1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13u8][self.rng.index(11)];
        let left = self.source(state);
        match self.rng.chance(1, 2) {
            true => (code << 4 | 8 | class, left, self.source(state), 0),
            false => (code << 4 | class, left, 0, self.imm()),
        }
    }

    /// `if` with or without `else`; one of both long jumps in it.
    fn branch(&mut self, budget: usize, depth: u32, state: &mut Option<State>) {
        let Some(mut start) = *state else { return };
        let (op, dst, src, imm) = self.condition(&mut start);
        let jump = self.code.len();
        self.emit(op, dst, src, 0, imm);
        let mut then = Some(start);
        let share = 1 + self.rng.index(budget.min(24));
        self.block(share, depth + 1, true, &mut then);
        let mut skipped = Some(start);
        if then.is_some() && self.rng.chance(1, 2) {
            let over = self.code.len();
            self.emit(0x05, 0, 0, 0, 0);
            self.code[jump].off = (self.code.len() - jump - 1) as i16;
            let other = 1 + self.rng.index(share);
            self.block(other, depth + 1, true, &mut skipped);
            let distance = self.code.len() - over - 1;
            match self.rng.chance(1, 2) {
                true => self.code[over].off = distance as i16,
                false => (self.code[over].op, self.code[over].imm) = (0x06, distance as i32),
            }
        } else {
            self.code[jump].off = (self.code.len() - jump - 1) as i16;
        }
        *state = match (then, skipped) {
            (Some(mut a), b) => {
                a.join(b);
                Some(a)
            }
            (None, b) => b,
        };
    }

    /// A loop of two to four rounds.
    fn repeat(&mut self, budget: usize, depth: u32, state: &mut State) {
        let counter = 6 + self.rng.index(3) as u8;
        if state.kept >> counter & 1 == 1 {
            return;
        }
        // A call in the first round leaves r1 to r5 without a number for the second.
        state.numbers = state.numbers & !0x3e | 1 << counter;
        self.emit(0xb7, counter, 0, 0, 0);
        let top = self.code.len();
        let mut inside = Some(State { kept: state.kept | 1 << counter, ..*state });
        self.in_loop = true;
        let share = 1 + self.rng.index(budget.min(12));
        self.block(share, depth + 1, false, &mut inside);
        self.in_loop = false;
        let end = inside.expect("only branches end early");
        self.emit(0x07, counter, 0, 0, 1);
        let rounds = 2 + self.rng.index(3) as i32;
        let code = [0xa5, 0xa6, 0x55, 0xc5, 0xc6][self.rng.index(5)];
        let back = top as i64 - self.code.len() as i64 - 1;
        self.emit(code, counter, 0, back as i16, rounds);
        *state = State { kept: state.kept, ..end };
    }
}

fn mask(bytes: i16) -> u128 {
    (1 << bytes) - 1
}
