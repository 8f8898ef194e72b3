//! Which verdicts a program can return, read from its code.

use sluice_ebpf::insn::{CALL, EXIT, LD_IMM64, pseudo};
use sluice_ebpf::{Insn, Program, Verdict};
use std::collections::BTreeSet;

/// What the code says of r0 at the ends of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Returned {
    /// Verdicts that are written as a number or given by a redirect helper.
    pub verdicts: BTreeSet<Verdict>,
    /// Whether some of them are computed, so that the code alone does not tell them.
    pub computed: bool,
}

const REDIRECT: i32 = 23;
const REDIRECT_MAP: i32 = 51;

struct Reader<'a> {
    program: &'a Program,
    /// Slots that can come before each slot, within its function.
    before: Vec<Vec<usize>>,
    seen: BTreeSet<(usize, u8, BTreeSet<i64>)>,
    numbers: BTreeSet<i64>,
    redirects: bool,
    computed: bool,
}

/// Follows r0 back from every exit of the program, through moves and calls.
pub fn returned(program: &Program) -> Returned {
    let mut reader = Reader {
        program,
        before: before(&program.insns),
        seen: BTreeSet::new(),
        numbers: BTreeSet::new(),
        redirects: false,
        computed: false,
    };
    reader.function(0);
    let mut verdicts: BTreeSet<Verdict> = reader.numbers.iter().map(|n| Verdict::from_r0(*n as u64)).collect();
    if reader.redirects {
        verdicts.insert(Verdict::Redirect);
    }
    Returned { verdicts, computed: reader.computed }
}

fn before(insns: &[Insn]) -> Vec<Vec<usize>> {
    let mut out = vec![Vec::new(); insns.len()];
    let mut slot = 0;
    while slot < insns.len() {
        let i = insns[slot];
        let next = slot + if i.is_wide() { 2 } else { 1 };
        let jump = matches!(i.class(), 5 | 6) && i.op != CALL && i.op != EXIT;
        let target = match i.op {
            0x06 => slot as i64 + 1 + i64::from(i.imm),
            _ => slot as i64 + 1 + i64::from(i.off),
        };
        let targets = [
            (i.op != EXIT && !(jump && i.op & 0xf0 == 0)).then_some(next),
            jump.then_some(usize::try_from(target).unwrap_or(usize::MAX)),
        ];
        for target in targets.into_iter().flatten() {
            if let Some(list) = out.get_mut(target) {
                list.push(slot);
            }
        }
        slot = next;
    }
    out
}

impl Reader<'_> {
    /// r0 at the exits of the function that begins at `start`.
    fn function(&mut self, start: usize) {
        let starts = self.program.functions.iter().map(|f| f.start as usize);
        let end = starts.filter(|s| *s > start).min().unwrap_or(self.program.insns.len());
        for slot in start..end {
            if self.program.insns[slot].op == EXIT {
                self.value(slot, 0, &BTreeSet::new());
            }
        }
    }

    /// What `register` can be before `slot`, where it is none of `not`.
    fn value(&mut self, slot: usize, register: u8, not: &BTreeSet<i64>) {
        if !self.seen.insert((slot, register, not.clone())) {
            return;
        }
        for at in self.before[slot].clone() {
            let i = self.program.insns[at];
            // A comparison with a number says what the register is on either way.
            let equal = match i.op {
                0x15 | 0x16 => Some(true),
                0x55 | 0x56 => Some(false),
                _ => None,
            };
            let number = i64::from(i.imm);
            match equal.filter(|_| i.dst == register && i.off != 0) {
                Some(equal) if equal == (slot != at + 1) => self.number(number, not),
                Some(_) => {
                    let not = not.iter().copied().chain([number]).collect();
                    self.after(at, register, &not);
                }
                None => self.after(at, register, not),
            }
        }
    }

    fn number(&mut self, number: i64, not: &BTreeSet<i64>) {
        if !not.contains(&number) {
            self.numbers.insert(number);
        }
    }

    fn after(&mut self, at: usize, register: u8, not: &BTreeSet<i64>) {
        let i = self.program.insns[at];
        let writes = match i.class() {
            0 | 1 | 4 | 7 => i.dst == register,
            _ => false,
        };
        if i.op == CALL && register <= 5 {
            match (register, i.src) {
                (0, pseudo::LOCAL) => self.function((at as i64 + 1 + i64::from(i.imm)) as usize),
                (0, pseudo::HELPER) if i.imm == REDIRECT => self.redirects = true,
                (0, pseudo::HELPER) if i.imm == REDIRECT_MAP => {
                    self.redirects = true;
                    // Where the map has no entry it returns the flags.
                    self.value(at, 3, not);
                }
                _ => self.computed = true,
            }
        } else if !writes {
            self.value(at, register, not);
        } else {
            match i.op {
                0xb7 | 0xb4 if i.off == 0 => self.number(i.imm.into(), not),
                0xbf | 0xbc if i.off == 0 => self.value(at, i.src, not),
                LD_IMM64 if i.src == pseudo::NUMBER => self.number(i.imm.into(), not),
                _ => self.computed = true,
            }
        }
    }
}
