//! Calls of `trace_printk`, and the formats that they name: what a host needs to write the text of numbers that it is told.

use super::{Base, MapRef, Regions, analyze};
use crate::helper::format::{Memory, format};
use crate::helper::print::TRACE_PRINTK;
use crate::image::map_flags::RDONLY_PROG;
use crate::insn::{CALL, pseudo};
use crate::{Image, Program};
use std::cell::Cell;

/// Bytes of the kernel's line, its zero included.
const LINE: u64 = 1024;

/// Slots of a program that call it, in rising order.
pub fn print_slots(program: &Program) -> Vec<u32> {
    let calls = (0..)
        .zip(&program.insns)
        .filter(|(_, insn)| (insn.op, insn.src, insn.imm) == (CALL, pseudo::HELPER, TRACE_PRINTK.id));
    calls.map(|(slot, _)| slot).collect()
}

/// The format of the call at a slot: text without its zero, of numbers only, in data that nobody changes or as the program always writes
/// it to its stack. Says what it is where it is none.
pub fn print_format(image: &Image, regions: &Regions, slot: u32) -> Result<Vec<u8>, &'static str> {
    let call = regions.slots.get(slot as usize).and_then(|at| at.call.as_ref());
    let Some([(_, text), (_, size), ..]) = call.map(|call| call.args.as_slice()) else { return Err("not known") };
    let format = match text.base {
        Base::Stack(_) => call.and_then(|call| call.text.as_deref()).ok_or("not always the same text")?,
        Base::Map(MapRef::Map(map)) => {
            let spec = image.maps.get(map as usize).ok_or("not known")?;
            let contents = spec.contents.as_ref().filter(|_| spec.frozen || spec.flags & RDONLY_PROG != 0);
            let contents = contents.ok_or("not in read-only data")?;
            let (at, bytes) = (text.offset.as_constant(), size.as_constant());
            let (Some(at), Some(bytes), false) = (at, bytes, text.nullable) else { return Err("not one text") };
            let end = (at as usize).checked_add(bytes as u32 as usize);
            end.and_then(|end| contents.get(at as usize..end)).ok_or("beyond its data")?
        }
        _ => return Err("neither in read-only data nor on the stack"),
    };
    let end = format.iter().position(|b| *b == 0).ok_or("without an end")?;
    written(&format[..end], &[0; 3]).ok_or("not of numbers")?;
    Ok(format[..end].to_vec())
}

/// The line of a format of numbers; none where it asks for what lies in memory, or is none.
pub fn written(text: &[u8], numbers: &[u64; 3]) -> Option<String> {
    struct Nothing(Cell<bool>);
    impl Memory for Nothing {
        fn text(&self, _: u64, _: usize) -> Option<Vec<u8>> {
            self.0.set(true);
            None
        }
        fn bytes(&self, _: u64, _: usize) -> Option<Vec<u8>> {
            self.0.set(true);
            None
        }
    }
    let memory = Nothing(Cell::new(false));
    let mut made = format(text, numbers, LINE, &memory).ok().filter(|_| !memory.0.get())?;
    made.text.truncate(LINE as usize - 1);
    Some(String::from_utf8_lossy(&made.text).into_owned())
}

/// The formats of all programs of an image, by the number of the call: in the order of programs and slots. None of those that are
/// not known.
pub fn print_formats(image: &Image) -> Vec<Option<Vec<u8>>> {
    let of_program = |program: &Program| {
        let slots = print_slots(program);
        let regions = (!slots.is_empty()).then(|| analyze(image, program));
        slots.into_iter().map(|slot| print_format(image, regions.as_ref()?, slot).ok()).collect::<Vec<_>>()
    };
    image.programs.iter().flat_map(of_program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_of_numbers_only() {
        assert_eq!(written(b"a %d of %llx", &[3, 255, 0]).as_deref(), Some("a 3 of ff"));
        assert_eq!(written(b"%s", &[0; 3]), None);
        assert_eq!(written(b"%pI4", &[0; 3]), None);
        assert_eq!(written(b"%d %d %d %d", &[0; 3]), None);
    }

    /// What is known of the format of a program's only call.
    fn format_of(text: &str) -> Result<Vec<u8>, &'static str> {
        let program = crate::insn::assemble("test", text, &[]).unwrap();
        let image = Image { programs: vec![program], ..Image::default() };
        let program = &image.programs[0];
        print_format(&image, &analyze(&image, program), print_slots(program)[0])
    }

    #[test]
    fn a_format_on_the_stack_is_known_if_it_is_always_the_same() {
        let call = "r1 = r10\nr1 += -4\nr2 = 4\nr3 = 7\ncall bpf_trace_printk\nr0 = 2\nexit\n";
        let [number, text, open] = [*b"%d\0\0", *b"%s\0\0", *b"abcd"].map(u32::from_le_bytes);
        let store = |number: u32| format!("*(u32 *)(r10 -4) = {number}\n");
        assert_eq!(format_of(&(store(number) + call)), Ok(b"%d".to_vec()));
        assert_eq!(format_of(&(store(text) + call)), Err("not of numbers"));
        assert_eq!(format_of(&(store(open) + call)), Err("without an end"));
        let (one, other) = (store(number), store(u32::from_le_bytes(*b"%x\0\0")));
        let either = format!("r1 = *(u32 *)(r1 +12)\n{one}if r1 == 1 goto on\n{other}on:\n{call}");
        assert_eq!(format_of(&either), Err("not always the same text"));
        let part = format!("r1 = *(u32 *)(r1 +12)\n{one}*(u8 *)(r10 -3) = r1\n{call}");
        assert_eq!(format_of(&part), Err("not always the same text"));
    }
}
