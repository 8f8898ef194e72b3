//! Programs: each with the functions it calls behind it, in the order in which libbpf appends them.

use super::code::{Code, FunctionId, Places};
use super::error::LoadError;
use super::relocate::Body;
use crate::image::{Function, Line, Program};
use std::collections::{BTreeMap, HashMap};

/// Most slots of one program: the kernel's limit for a privileged user.
pub(super) const MAX_SLOTS: u64 = 1_000_000;
/// Most slots of all programs of an object together; functions are repeated in each that calls them.
pub(super) const MAX_ALL_SLOTS: u64 = 2_000_000;

/// Links programs; counts what they take.
pub(super) struct Linker<'e, 'a> {
    /// Functions of the object.
    pub code: &'e Code<'a>,
    /// Resolved, by function.
    pub bodies: &'e [Result<Body, LoadError>],
    /// Lines.
    pub places: &'e Places<'e, 'a>,
    /// Slots that all programs may still take.
    pub slots_left: u64,
    /// Bytes of source lines that may still be kept; there are none beyond.
    pub text_left: usize,
}

impl Linker<'_, '_> {
    /// The program that begins with `entry`.
    pub fn link(&mut self, entry: FunctionId) -> Result<Program, LoadError> {
        let main = self.code.get(entry);
        let mut program = Program {
            name: main.name.to_string(),
            section: self.places.elf.sections[main.section].name.to_string(),
            ..Program::default()
        };
        let mut starts = HashMap::new();
        let mut order = Vec::new();
        // Functions and how many of their calls were followed.
        let mut open: Vec<(FunctionId, usize)> = Vec::new();
        let mut next = Some(entry);
        loop {
            if let Some(id) = next.take() {
                let body = self.bodies[id.0].as_ref().map_err(Clone::clone)?;
                self.room(&program, id)?;
                starts.insert(id, program.insns.len() as u32);
                order.push(id);
                program.insns.extend(&body.insns);
                open.push((id, 0));
            }
            let Some((id, followed)) = open.last_mut() else { break };
            let body = self.bodies[id.0].as_ref().map_err(Clone::clone)?;
            let Some((_, target)) = body.calls.get(*followed) else {
                open.pop();
                continue;
            };
            *followed += 1;
            next = (!starts.contains_key(target)).then_some(*target);
        }
        for id in order {
            let start = starts[&id];
            let body = self.bodies[id.0].as_ref().map_err(Clone::clone)?;
            for (slot, target) in &body.calls {
                let at = start + slot;
                program.insns[at as usize].imm = (i64::from(starts[target]) - i64::from(at) - 1) as i32;
            }
            let function = self.code.get(id);
            let name = self.places.of(function, None).function;
            program.functions.push(Function { name, start, btf_type: function.btf_type });
            self.lines(id, start, &mut program.lines);
        }
        Ok(program)
    }

    /// Takes the room of one more function.
    fn room(&mut self, program: &Program, id: FunctionId) -> Result<(), LoadError> {
        let function = self.code.get(id);
        let found = program.insns.len() as u64 + u64::from(function.len);
        let refuse = |what: String, found, allowed| LoadError::TooLarge { what, found, allowed, unit: "instructions" };
        if found > MAX_SLOTS {
            return Err(refuse(format!("program `{}`", program.name), found, MAX_SLOTS));
        }
        // Names are repeated too.
        let room = u64::from(function.len) + function.name.len() as u64 / 8;
        self.slots_left = self.slots_left.checked_sub(room).ok_or_else(|| {
            let what = format!("all programs up to `{}` together", program.name);
            refuse(what, MAX_ALL_SLOTS - self.slots_left + room, MAX_ALL_SLOTS)
        })?;
        Ok(())
    }

    /// Adds the lines of a function that now begins at `start`.
    fn lines(&mut self, id: FunctionId, start: u32, to: &mut BTreeMap<u32, Line>) {
        let function = self.code.get(id);
        let section = self.places.elf.sections[function.section].name;
        let (Some(lines), Some(btf)) = (self.places.ext.lines.get(section), self.places.btf) else { return };
        let (from, end) = (function.start * 8, (function.start + function.len) * 8);
        let first = lines.partition_point(|l| l.offset < from);
        for line in lines[first..].iter().take_while(|l| l.offset < end).filter(|l| l.offset % 8 == 0) {
            let text = |offset| btf.string(offset).unwrap_or("").trim();
            let (file, text) = (text(line.file), text(line.text));
            let Some(left) = self.text_left.checked_sub(file.len() + text.len() + size_of::<Line>()) else { return };
            self.text_left = left;
            let (file, text) = (file.to_string(), text.to_string());
            let slot = start + line.offset / 8 - function.start;
            to.insert(slot, Line { file, text, line: line.position >> 10, column: line.position & 0x3ff });
        }
    }
}
