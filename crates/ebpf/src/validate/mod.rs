//! Refuses what can never run, before anything runs. Codes E0440 to E0459.
//!
//! What is checked is structure: instructions, registers, jumps, functions, calls, maps and
//! helpers by number. What needs to know register contents is the interpreter's to check.

mod calls;
mod refusal;
#[cfg(test)]
mod tests;

pub use refusal::{Reason, Refusal};

use crate::address::STACK_BYTES;
use crate::helper;
use crate::insn::{Kind, WideValue, helper_name, is_poison};
use crate::{Image, MapSpec, MapType, Program};
use std::collections::BTreeSet;

/// Most slots of a program: the kernel's limit for those who may load anything.
pub const MAX_SLOTS: usize = 1_000_000;

/// What is let pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Instructions that no path reaches.
    pub unreachable: bool,
}

/// Checks every program of an image; the first refusal ends it.
pub fn validate(image: &Image) -> Result<(), Refusal> {
    image.programs.iter().try_for_each(|program| validate_program(program, &image.maps, Options::default()))
}

/// Checks one program.
pub fn validate_program(program: &Program, maps: &[MapSpec], options: Options) -> Result<(), Refusal> {
    let check = Check::decode(program, maps)?;
    check.slots()?;
    check.flow()?;
    calls::check(&check)?;
    if options.unreachable { Ok(()) } else { check.reachable() }
}

/// A program while it is checked.
struct Check<'a> {
    program: &'a Program,
    maps: &'a [MapSpec],
    /// What each slot means; `None` for second slots.
    kinds: Vec<Option<Kind>>,
    /// First slots of the functions, rising; the first is 0.
    starts: Vec<u32>,
}

impl<'a> Check<'a> {
    fn decode(program: &'a Program, maps: &'a [MapSpec]) -> Result<Self, Refusal> {
        let slots = &program.insns;
        if slots.is_empty() || slots.len() > MAX_SLOTS {
            return Err(Refusal::new(program, 0, Reason::Size { found: slots.len(), max: MAX_SLOTS }));
        }
        let mut kinds = vec![None; slots.len()];
        let mut slot = 0;
        while slot < slots.len() {
            let kind = slots[slot].kind(slots.get(slot + 1).copied()).map_err(|malformed| {
                Refusal::new(program, slot as u32, Reason::malformed(slots[slot].op, malformed))
            })?;
            kinds[slot] = Some(kind);
            slot += kind.slots() as usize;
        }
        let starts: BTreeSet<u32> = program.functions.iter().map(|f| f.start).chain([0]).collect();
        let check = Self { program, maps, kinds, starts: starts.into_iter().collect() };
        if let Some(&start) = check.starts.iter().find(|s| check.at((**s).into()).is_none()) {
            let found = start.into();
            let reason = Reason::NoFunction { what: "function table entry for", found, starts: check.starts_text() };
            return Err(check.refuse(0, reason));
        }
        Ok(check)
    }

    fn refuse(&self, slot: u32, reason: Reason) -> Refusal {
        Refusal::new(self.program, slot, reason)
    }

    /// The instruction that begins at a slot.
    fn at(&self, slot: i64) -> Option<Kind> {
        self.kinds.get(usize::try_from(slot).ok()?).copied().flatten()
    }

    /// All instructions with their slots.
    fn instructions(&self) -> impl Iterator<Item = (u32, Kind)> {
        self.kinds.iter().zip(0..).filter_map(|(kind, slot)| Some((slot, (*kind)?)))
    }

    /// Index of the function a slot lies in.
    fn function(&self, slot: u32) -> usize {
        self.starts.partition_point(|start| *start <= slot) - 1
    }

    /// First slot and last slot of a function.
    fn range(&self, function: usize) -> (u32, u32) {
        let end = self.starts.get(function + 1).map_or(self.kinds.len() as u32, |next| *next);
        (self.starts[function], end - 1)
    }

    fn starts_text(&self) -> String {
        let listed: Vec<String> = self.starts.iter().take(8).map(u32::to_string).collect();
        let more = if self.starts.len() > 8 { ", ..." } else { "" };
        listed.join(", ") + more
    }

    /// What each instruction says by itself.
    fn slots(&self) -> Result<(), Refusal> {
        for (slot, kind) in self.instructions() {
            if kind.written() == Some(10) {
                return Err(self.refuse(slot, Reason::FramePointer));
            }
            let access = match kind {
                Kind::Load { size, src: 10, off, .. } => Some((size, off)),
                Kind::Store { size, dst: 10, off, .. } | Kind::Atomic { size, dst: 10, off, .. } => Some((size, off)),
                _ => None,
            };
            if let Some((bytes, found)) = access
                && !(-(STACK_BYTES as i32)..=-i32::from(bytes)).contains(&found.into())
            {
                return Err(self.refuse(slot, Reason::Stack { found, bytes }));
            }
            match kind {
                Kind::CallHelper { id } if helper::find(id).is_none() && !is_poison(id) => {
                    return Err(
                        self.refuse(slot, Reason::Helper { found: id, name: helper_name(id).unwrap_or("unknown") })
                    );
                }
                Kind::Wide { value: WideValue::Map(map), .. } => self.map(slot, map, None)?,
                Kind::Wide { value: WideValue::MapValue { map, offset }, .. } => self.map(slot, map, Some(offset))?,
                _ => {}
            }
        }
        Ok(())
    }

    fn map(&self, slot: u32, found: u32, offset: Option<u32>) -> Result<(), Refusal> {
        let Some(spec) = self.maps.get(found as usize) else {
            let what = "no such map".to_owned();
            let allowed = format!("below {}", self.maps.len());
            return Err(self.refuse(slot, Reason::Map { found, what, allowed }));
        };
        let Some(offset) = offset else { return Ok(()) };
        if spec.kind != MapType::Array || spec.max_entries != 1 {
            let what = format!(
                "address of a value in map `{}` ({}, {} entries)",
                spec.name,
                spec.kind.name(),
                spec.max_entries
            );
            return Err(self.refuse(slot, Reason::Map { found, what, allowed: "an array of one entry".to_owned() }));
        }
        if offset >= spec.value_size {
            let what = format!("offset {offset} in the value of map `{}`", spec.name);
            return Err(self.refuse(slot, Reason::Map { found, what, allowed: format!("below {}", spec.value_size) }));
        }
        Ok(())
    }

    /// Jumps stay in their function, functions end.
    fn flow(&self) -> Result<(), Refusal> {
        for (slot, kind) in self.instructions() {
            let (first, last) = self.range(self.function(slot));
            if matches!(kind, Kind::Jump { .. } | Kind::Branch { .. })
                && let Some(found) = kind.target(slot)
            {
                let what = if found < 0 || found >= self.kinds.len() as i64 {
                    "outside of the program"
                } else if self.at(found).is_none() {
                    "the second half of a 64-bit immediate load"
                } else if found < first.into() || found > last.into() {
                    "in another function"
                } else {
                    ""
                };
                if !what.is_empty() {
                    return Err(self.refuse(slot, Reason::Target { found, what, first, last }));
                }
            }
            let next = slot + kind.slots();
            if next > last && !matches!(kind, Kind::Jump { .. } | Kind::Exit) {
                return Err(self.refuse(slot, Reason::FallsOff { first }));
            }
        }
        Ok(())
    }

    /// Every instruction is reached from the program's start, over calls and function pointers.
    fn reachable(&self) -> Result<(), Refusal> {
        let mut seen = vec![false; self.kinds.len()];
        let mut open = vec![0];
        while let Some(slot) = open.pop() {
            if std::mem::replace(&mut seen[slot as usize], true) {
                continue;
            }
            let Some(kind) = self.kinds[slot as usize] else { continue };
            // Targets were checked: they are slots.
            open.extend(kind.target(slot).map(|target| target as u32));
            if !matches!(kind, Kind::Jump { .. } | Kind::Exit) {
                open.push(slot + kind.slots());
            }
        }
        match self.instructions().find(|(slot, _)| !seen[*slot as usize]) {
            Some((slot, _)) => Err(self.refuse(slot, Reason::Unreachable)),
            None => Ok(()),
        }
    }
}
