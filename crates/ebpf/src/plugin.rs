//! `sluice-bpf-plugin`: one program, one piece of memory, r0; the interface of eBPF conformance
//! runners.

use crate::address::{CONTEXT, PACKET, frame_pointer};
use crate::insn::{listing, text};
use crate::vm::{Access, At, HEADROOM, Ingress, Installed, Machine, Packet, Runtime, Tracer};
use crate::{Image, Insn, Program, load, validate};
use std::cell::RefCell;
use std::fmt::Write;

/// What `--help` prints.
pub const USAGE: &str = "\
usage: sluice-bpf-plugin [--program HEX] [MEMORY] [--elf] [--xdp] [--debug] [--device DEVICE] [--lanes N]

Runs one eBPF program and prints r0 in hex. The program is read from standard input as two-digit
hex numbers, with or without spaces; MEMORY has the same form. r1 is the address of the memory, r2
its length; both are 0 without memory.

  --program HEX  the program, instead of standard input
  --elf          the bytes are an object file; its first program runs, with --xdp
  --xdp          r1 is a struct xdp_md, the memory is the packet
  --debug        the program and each instruction with its registers, on standard error
  --device NAME  what runs it: model, the interpreter (the default); bundles, the model of bundles; rtl, the XDP engine in
                 simulation (configuration tiny)
  --lanes N      lanes of a bundle, 1, 2 or 4, on bundles; 2 otherwise
";

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `--program`.
    pub program: Option<String>,
    /// The memory's text.
    pub memory: String,
    /// `--elf`.
    pub elf: bool,
    /// `--xdp`.
    pub xdp: bool,
    /// `--debug`.
    pub debug: bool,
    /// `--help`.
    pub help: bool,
}

/// Reads the arguments behind the command's name. Runners pass options that are not set as empty
/// arguments, and several in one.
pub fn parse(args: &[String]) -> Result<Request, String> {
    let mut request = Request::default();
    let mut memory = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        if arg == "--program" {
            request.program = Some(args.next().ok_or("--program takes the program's bytes in hex")?.clone());
        } else if arg.trim_start().starts_with("--") {
            for option in arg.split_whitespace() {
                match option {
                    "--elf" => request.elf = true,
                    "--xdp" => request.xdp = true,
                    "--debug" => request.debug = true,
                    "--help" => request.help = true,
                    other => return Err(format!("unknown option {other}; allowed: --program, --elf, --xdp, --debug")),
                }
            }
        } else if !memory {
            memory = true;
            request.memory.clone_from(arg);
        } else if !arg.trim().is_empty() {
            return Err(format!("unexpected argument {arg:?}; memory is given once"));
        }
    }
    request.xdp |= request.elf;
    Ok(request)
}

/// Bytes of two-digit hex numbers, with or without space between them.
pub fn hex(what: &str, text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    for word in text.split_whitespace() {
        let digits = word.as_bytes();
        if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
            let word: String = word.chars().take(20).collect();
            return Err(format!("{what}: found {word:?}, expected two hex digits for each byte"));
        }
        let digit = |c: u8| (c as char).to_digit(16).unwrap_or_default() as u8;
        bytes.extend(digits.chunks_exact(2).map(|d| digit(d[0]) << 4 | digit(d[1])));
    }
    Ok(bytes)
}

/// A program of raw slots; its functions are what it calls.
pub fn raw_program(bytes: &[u8]) -> Result<Program, String> {
    if !bytes.len().is_multiple_of(8) {
        return Err(format!("the program has {} bytes, expected a multiple of 8", bytes.len()));
    }
    let insns: Vec<Insn> = bytes.chunks_exact(8).map(|b| Insn::from_bytes(b.try_into().expect("8 bytes"))).collect();
    Ok(Program::from_insns("program", insns))
}

/// What a request is about: an image whose first program runs, and the memory.
pub fn read(request: &Request, input: &str) -> Result<(Image, Vec<u8>), String> {
    let bytes = hex("program", request.program.as_deref().unwrap_or(input))?;
    let memory = hex("memory", &request.memory)?;
    let image = if request.elf {
        load::load(&bytes).map_err(|e| e.to_string())?
    } else {
        Image { programs: vec![raw_program(&bytes)?], ..Image::default() }
    };
    if image.programs.is_empty() {
        return Err("the object has no program".to_owned());
    }
    Ok((image, memory))
}

/// Whether the first program is valid; unreachable instructions are let through.
pub fn valid(image: &Image) -> Result<(), String> {
    let options = validate::Options { unreachable: true };
    validate::validate_program(&image.programs[0], &image.maps, options).map_err(|e| format!("[{}] {e}", e.code()))
}

/// Makes what carries out an installed image's programs.
pub type MakeMachine<'a> = &'a dyn Fn(&Image, &Runtime, Installed) -> Result<Box<dyn Machine>, String>;

/// Runs a request; `input` is standard input, `debug` takes what `--debug` says. Gives r0.
pub fn run(request: &Request, input: &str, debug: &mut String) -> Result<u64, String> {
    run_on(None, request, input, debug)
}

/// The same on a machine, where one is given; then `--debug` shows the program alone.
pub fn run_on(
    machine: Option<MakeMachine<'_>>,
    request: &Request,
    input: &str,
    debug: &mut String,
) -> Result<u64, String> {
    let (image, memory) = read(request, input)?;
    let program = &image.programs[0];
    if request.debug {
        debug.push_str(&listing(program, &image.maps));
    }
    valid(&image)?;
    let mut runtime = Runtime::new(1, 0);
    let installed = runtime.install_unchecked(&image, &|_| None).map_err(|e| e.to_string())?;
    let number = runtime.program_number(installed, 0).ok_or("the object has no program")?;
    let mut registers = [0; 16];
    registers[10] = frame_pointer(0);
    if request.xdp {
        registers[1] = CONTEXT.into();
    } else if !memory.is_empty() {
        registers[1] = (PACKET + HEADROOM).into();
        registers[2] = memory.len() as u64;
    }
    let trace = Trace { program, out: RefCell::default() };
    let tracer: Option<&dyn Tracer> = if request.debug { Some(&trace) } else { None };
    let machine = machine.map(|make| make(&image, &runtime, installed)).transpose()?;
    let by = (machine.as_deref(), tracer);
    let outcome = runtime.start(number, &registers, &mut Packet::new(&memory), Ingress::default(), by);
    debug.push_str(&trace.out.borrow());
    match outcome.fault {
        Some(fault) => Err(format!("instruction {}: {}; registers {:x?}", fault.pc, fault.reason, fault.registers)),
        None => Ok(outcome.r0),
    }
}

/// Each instruction with what it changed.
struct Trace<'a> {
    program: &'a Program,
    out: RefCell<String>,
}

impl Tracer for Trace<'_> {
    fn before(&self, at: At, _: &[u64; 16]) {
        let slot = at.pc as usize;
        let insn = self.program.insns.get(slot).and_then(|i| i.kind(self.program.insns.get(slot + 1).copied()).ok());
        let text = insn.map_or_else(|| "?".to_owned(), |kind| text(kind, &|map| format!("#{map}")));
        let _ = write!(self.out.borrow_mut(), "{slot:4}: {text}");
    }

    fn access(&self, kind: Access, address: u64, bytes: u32) {
        let _ = write!(self.out.borrow_mut(), "  [{kind:?} {address:#x} {bytes}]");
    }

    fn after(&self, _: At, registers: &[u64; 16]) {
        let _ = writeln!(self.out.borrow_mut(), "  {:x?}", &registers[..11]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(program: &str, args: &[&str]) -> Result<u64, String> {
        let args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        run(&parse(&args)?, program, &mut String::new())
    }

    #[test]
    fn a_program_runs_with_and_without_spaces() {
        let spaced = "b7 00 00 00 2a 00 00 00  95 00 00 00 00 00 00 00 \n";
        assert_eq!(plugin(spaced, &[]), Ok(42));
        assert_eq!(plugin(&spaced.replace(' ', ""), &["", ""]), Ok(42));
        assert_eq!(plugin("", &["--program", spaced, "00 11"]), Ok(42));
    }

    #[test]
    fn r1_is_the_memory_and_r2_its_length() {
        // r0 = *(u16 *)(r1 +2); exit
        assert_eq!(plugin("6910020000000000 9500000000000000", &["aa bb cc dd"]), Ok(0xddcc));
        // r0 = r2; exit
        assert_eq!(plugin("bf20000000000000 9500000000000000", &["aabbccdd", "--debug"]), Ok(4));
        // One byte too far.
        let fault = plugin("6910030000000000 9500000000000000", &["aabbccdd"]).unwrap_err();
        assert!(fault.starts_with("instruction 0: load of 2 bytes at 0x20000103"), "{fault}");
    }

    #[test]
    fn with_xdp_the_context_leads_to_the_packet() {
        // r1 = *(u32 *)(r1 +0); r0 = *(u8 *)(r1 +1); exit
        assert_eq!(plugin("6111000000000000 7110010000000000 9500000000000000", &["0a0b", "--xdp"]), Ok(0xb));
    }

    #[test]
    fn local_calls_find_their_functions() {
        // call pc+1; exit; r0 = 7; exit
        assert_eq!(plugin("8510000001000000 9500000000000000 b700000007000000 9500000000000000", &[]), Ok(7));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (program, args, part) in [
            ("b7 0", &[][..], "two hex digits"),
            ("b700000000000000", &[], "[E0448]"),
            ("b70000", &[], "multiple of 8"),
            ("8d00000000000000 9500000000000000", &[], "callx"),
            ("9500000000000000", &["00", "--jit"], "unknown option --jit"),
        ] {
            let error = plugin(program, args).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
