//! Every reason for which an object, map or program is refused, with its code and place. Objects
//! that no compiler writes are made from good ones by changing bytes.

use sluice_ebpf::load::{KernelTypes, LoadError, load, load_for};
use std::collections::BTreeSet;

/// An object whose bytes can be changed by name.
struct Elf(Vec<u8>);

/// Offsets in a section header.
const SH_FLAGS: usize = 8;
const SH_OFFSET: usize = 24;
const SH_SIZE: usize = 32;
const SH_INFO: usize = 44;
/// Offsets in a symbol.
const ST_NAME: usize = 0;
const ST_SHNDX: usize = 6;
const ST_VALUE: usize = 8;
const ST_SIZE: usize = 16;

impl Elf {
    fn new(name: &str) -> Self {
        let path = format!("{}/tests/objects/{name}.o", env!("CARGO_MANIFEST_DIR"));
        Self(std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}")))
    }

    fn get(&self, at: usize, bytes: usize) -> u64 {
        self.0[at..at + bytes].iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
    }

    fn put(mut self, at: usize, value: u64, bytes: usize) -> Self {
        self.0[at..at + bytes].copy_from_slice(&value.to_le_bytes()[..bytes]);
        self
    }

    fn text(&self, at: usize) -> &str {
        let end = at + self.0[at..].iter().position(|b| *b == 0).unwrap();
        std::str::from_utf8(&self.0[at..end]).unwrap()
    }

    /// Where a section's header stands.
    fn header(&self, name: &str) -> usize {
        let header = |n: u64| (self.get(0x28, 8) + n * 64) as usize;
        let names = self.get(header(self.get(0x3e, 2)) + SH_OFFSET, 8);
        let found = (0..self.get(0x3c, 2)).map(header).find(|h| self.text((names + self.get(*h, 4)) as usize) == name);
        found.unwrap_or_else(|| panic!("no section {name}"))
    }

    /// Where a section's bytes stand.
    fn section(&self, name: &str) -> usize {
        self.get(self.header(name) + SH_OFFSET, 8) as usize
    }

    /// Where a symbol stands.
    fn symbol(&self, name: &str) -> usize {
        let (symbols, strings) = (self.header(".symtab"), self.section(".strtab"));
        let from = self.get(symbols + SH_OFFSET, 8) as usize;
        let mut all = (from..from + self.get(symbols + SH_SIZE, 8) as usize).step_by(24);
        let found = all.find(|s| self.text(strings + self.get(*s + ST_NAME, 4) as usize) == name);
        found.unwrap_or_else(|| panic!("no symbol {name}"))
    }

    fn put_header(self, section: &str, field: usize, value: u64) -> Self {
        let (at, bytes) = (self.header(section) + field, if field == SH_INFO { 4 } else { 8 });
        self.put(at, value, bytes)
    }

    fn put_symbol(self, symbol: &str, field: usize, value: u64) -> Self {
        let bytes = match field {
            ST_NAME => 4,
            ST_SHNDX => 2,
            _ => 8,
        };
        let at = self.symbol(symbol) + field;
        self.put(at, value, bytes)
    }

    fn put_in(self, section: &str, offset: usize, value: u64, bytes: usize) -> Self {
        let at = self.section(section) + offset;
        self.put(at, value, bytes)
    }

    /// Moves a section to the file's end, with these bytes.
    fn replace(mut self, section: &str, bytes: &[u8]) -> Self {
        let at = self.0.len() as u64;
        self.0.extend(bytes);
        self.put_header(section, SH_OFFSET, at).put_header(section, SH_SIZE, bytes.len() as u64)
    }

    fn bytes(&self, section: &str) -> Vec<u8> {
        let (from, len) = (self.section(section), self.get(self.header(section) + SH_SIZE, 8) as usize);
        self.0[from..from + len].to_vec()
    }

    fn error(&self) -> LoadError {
        match load(&self.0) {
            Err(error) => error,
            Ok(image) => panic!("loaded {:?}", image.refused),
        }
    }

    /// Why the only program, or this one of several, is refused.
    fn refusal(&self, program: &str) -> LoadError {
        match load(&self.0) {
            Err(error) => error,
            Ok(image) => {
                let found = image.refused.into_iter().find(|r| r.name == program);
                found.unwrap_or_else(|| panic!("`{program}` is not refused")).error
            }
        }
    }

    /// Why a map is refused.
    fn map(&self, name: &str) -> LoadError {
        let image = match load(&self.0) {
            Err(LoadError::UsesRefused { error, .. }) => return *error,
            loaded => loaded.unwrap(),
        };
        image.refused_maps.into_iter().find(|r| r.name == name).unwrap_or_else(|| panic!("`{name}` is made")).error
    }
}

#[track_caller]
fn expect(error: &LoadError, code: &str, text: &str) {
    assert_eq!(error.code(), code, "{error}");
    assert!(error.to_string().contains(text), "`{text}` is not in `{error}`");
}

#[test]
fn e0401_other_files() {
    expect(&load(b"").unwrap_err(), "E0401", "found nothing, expected an ELF file");
    expect(&load(b"BC\xc0\xde\0\0\0\0").unwrap_err(), "E0401", "found 42 43 c0 de");
}

#[test]
fn e0402_elf_files_of_other_kinds() {
    let good = || Elf::new("notype");
    for (at, value, bytes, text) in [
        (4, 1, 1, "ELF class is 32-bit"),
        (4, 7, 1, "ELF class is 7"),
        (5, 2, 1, "byte order is big-endian"),
        (5, 9, 1, "byte order is 9"),
        (16, 2, 2, "file type is 2, an XDP object has 1"),
        (18, 62, 2, "machine is 62, an XDP object has 247"),
    ] {
        expect(&good().put(at, value, bytes).error(), "E0402", text);
    }
    // Compilers before the number was given wrote no machine.
    load(&good().put(18, 0, 2).0).unwrap();
}

#[test]
fn e0403_files_that_are_cut_off_or_contradict_themselves() {
    let good = || Elf::new("data.v2");
    for len in [5, 16, 63, 64, 100, good().0.len() - 1] {
        let mut cut = good();
        cut.0.truncate(len);
        let code = cut.error().code();
        assert!(code == "E0403" || code == "E0402" && len == 5, "{len}: {code}");
    }
    expect(&good().put_header("xdp", SH_OFFSET, 1 << 40).error(), "E0403", "section `xdp`: offset 1099511627776");
    expect(&good().put_header("xdp", SH_SIZE, u64::MAX).error(), "E0403", "section `xdp`");
    expect(&good().put_symbol("limit", ST_SHNDX, 99).error(), "E0403", "symbol `limit`: section 99");
    expect(&good().put_symbol("limit", ST_NAME, 1 << 20).error(), "E0403", "symbol ");
    expect(&good().put_header(".relxdp", SH_INFO, 99).error(), "E0403", "relocates section 99");
    expect(&good().put_in(".relxdp", 0, 1 << 30, 8).error(), "E0403", "a relocation of byte 1073741824");
    expect(&good().put_in(".relxdp", 12, 999, 4).error(), "E0403", "by symbol 999");
    // SHT_RELA.
    expect(&good().put_header(".relxdp", 4, 4).put_header(".relxdp", 56, 24).error(), "E0403", "");
    let maps = || Elf::new("open.v2");
    expect(&maps().put_header(".BTF", SH_SIZE, 0).error(), "E0403", "section `.maps`: no section .BTF");
    expect(&maps().put_symbol("unsized", ST_VALUE, 8).error(), "E0403", "map `unsized` of ");
    expect(&maps().put_symbol("unsized", ST_SHNDX, 1).error(), "E0403", "no symbol `unsized`");
    let legacy = Elf::new("maps_legacy.20").put_symbol("jumps", ST_VALUE, 1000);
    expect(&legacy.error(), "E0403", "map `jumps` at bytes 1000");
}

#[test]
fn e0404_code_that_is_not_whole_instructions() {
    let good = || Elf::new("beside.v2");
    expect(&good().put_header("xdp", SH_SIZE, 12).error(), "E0404", "section `xdp`: 12 bytes");
    expect(&good().put_symbol("with_static", ST_VALUE, 4).error(), "E0404", "function `with_static` of section `xdp`");
    expect(&good().put_symbol("with_static", ST_SIZE, 8000).error(), "E0404", "a function inside of its section");
    expect(&good().put_symbol("beside", ST_SIZE, 40).error(), "E0404", "functions that do not overlap");
    // The second half of the first 64-bit immediate is an exit.
    let half = Elf::new("data.v2").put_in("xdp", 16, 0x95, 1);
    expect(&half.refusal("data"), "E0404", "`data` (section `xdp`), instruction 1 at ./tests/objects/data.c:");
}

#[test]
fn e0405_nothing_to_run() {
    expect(&Elf::new("open.v2").put_header("xdp_devmap/open", SH_FLAGS, 2).error(), "E0405", "no executable section");
    let all = Elf::new("beside.v2");
    let call = all.bytes("xdp").chunks(8).rposition(|i| i[0] == 0x85).unwrap() * 8;
    let all = all.put_in("xdp", call + 1, 0x20, 1).put_in("prog", 16, 0x85, 1).put_in("prog", 17, 0x20, 1);
    let error = all.error();
    assert!(matches!(error.code(), "E0405" | "E0406"), "{error}");
}

#[test]
fn e0406_relocations_that_do_not_fit() {
    let good = || Elf::new("data.v2");
    let error = good().put_in(".relxdp", 8, 3, 4).refusal("data");
    expect(&error, "E0406", "instruction 1 at ./tests/objects/data.c:19: relocation 3 of a 64-bit immediate");
    expect(&good().put_in(".relxdp", 0, 12, 8).refusal("data"), "E0406", "one at the start of an instruction");
    // The load behind it.
    expect(&good().put_in(".relxdp", 0, 24, 8).refusal("data"), "E0406", "of opcode 0x61");
    let call = Elf::new("functions.v2").put_in(".relxdp", 8, 1, 4);
    expect(&call.refusal("two_levels"), "E0406", "relocation 1 of a call");
}

#[test]
fn e0407_references_to_nothing() {
    let good = || Elf::new("data.v2");
    // SHN_COMMON, SHN_ABS.
    for home in [0xfff2, 0xfff1] {
        let error = good().put_symbol("limit", ST_SHNDX, home).refusal("data");
        expect(&error, "E0407", "symbol `limit` that is in no section");
    }
    expect(&good().put_symbol("limit", ST_VALUE, 50).refusal("data"), "E0407", "byte 50 of the 49 bytes of `.rodata`");
    let license = (1..20).find(|n| {
        let headers = good().get(0x28, 8) as usize;
        headers + n * 64 == good().header("license")
    });
    let error = good().put_symbol("limit", ST_SHNDX, license.unwrap() as u64).refusal("data");
    expect(&error, "E0407", "byte 0 of section `license`");
    let map = Elf::new("maps_legacy.20").put_symbol("flows", ST_VALUE, 4);
    assert!(load(&map.0).is_err());
}

#[test]
fn e0408_to_e0412_e0416_e0420_and_e0422_what_a_program_asks_of_a_kernel() {
    let object = Elf::new("refused.v3");
    for (program, code, text) in [
        ("ksym", "E0408", "refused.c:26: extern ksym `symbol_of_tests` needs a running kernel"),
        ("kconfig", "E0408", "refused.c:27: extern kconfig `LINUX_KERNEL_VERSION`"),
        ("kfunc", "E0409", "refused.c:24: kernel function `bpf_kfunc_of_tests` (kfunc)"),
        ("unknown_helper", "E0410", "refused.c:30: helper 14 (get_current_pid_tgid)"),
        ("packet_access", "E0411", "refused.c:29: legacy packet access (opcode 0x30)"),
        ("wrong_map", "E0414", "refused.c:32: uses a map that was refused: map `bad_size`: `key_size` is 8 bytes"),
        ("unknown_map", "E0416", "refused.c:31: uses a map that was refused: map `sockets`: type 15 (sockmap)"),
        ("other_hook", "E0420", "`other_hook` (section `tc`): section names a traffic control program"),
        ("wrong_tail", "E0422", "program array `tails`, entry 0: program `unknown_helper` was refused"),
    ] {
        expect(&object.refusal(program), code, text);
    }
    expect(&Elf::new("core.v2").refusal("task"), "E0412", "core.c:22: CO-RE relocation field_byte_offset");
    // A helper that no kernel has, a call by BTF ID, and packet access by register.
    let good = Elf::new("refused.v3");
    let code = good.bytes("xdp");
    let helper = code.chunks(8).position(|i| i[0] == 0x85 && i[4] == 14).unwrap() * 8;
    expect(
        &Elf::new("refused.v3").put_in("xdp", helper + 4, 9999, 4).refusal("unknown_helper"),
        "E0410",
        "helper 9999",
    );
    let by_id = Elf::new("refused.v3").put_in("xdp", helper + 1, 0x20, 1);
    expect(&by_id.refusal("unknown_helper"), "E0409", "BTF ID 14");
    let by_source = Elf::new("refused.v3").put_in("xdp", helper + 1, 0x70, 1);
    expect(&by_source.refusal("unknown_helper"), "E0418", "by source register 7");
    let load_abs = code.chunks(8).position(|i| i[0] == 0x30).unwrap() * 8;
    let indirect = Elf::new("refused.v3").put_in("xdp", load_abs, 0x50, 1);
    expect(&indirect.refusal("packet_access"), "E0411", "opcode 0x50");
}

#[test]
fn e0412_what_a_kernel_would_say_of_fields_types_and_enumerators() {
    let object = Elf::new("core_kinds");
    for (program, text) in [
        ("turned", "field_byte_offset of `iphdr___turned.ttl` needs a kernel's types"),
        ("named", "field_exists of `iphdr___named.hops`"),
        ("addresses", "field_byte_offset of `ipv6hdr.addresses[3]`"),
        ("longer", "field_byte_offset of `tcp_word_hdr___longer.words[3]`"),
        ("has_sign", "field_signed of `iphdr___signed.tos`"),
        ("enum_value", "enumval_value of `xdp_action.XDP_TX`"),
        ("enum_exists", "enumval_exists of `xdp_action.XDP_ABORTED`"),
        ("type_exists", "type_exists of `iphdr`"),
        ("type_matches", "type_matches of `iphdr`"),
        ("type_id", "type_id_target of `iphdr`"),
        ("size_of_enum", "type_size of `xdp_action"),
    ] {
        expect(&object.refusal(program), "E0412", text);
    }
    let loaded = load(&object.0).unwrap();
    let kept: BTreeSet<&str> = loaded.programs.iter().map(|program| program.name.as_str()).collect();
    assert_eq!(kept, BTreeSet::from(["fields", "bits", "elements", "words", "sizes", "has_no_sign"]));
}

#[test]
fn e0428_numbers_that_are_not_those_of_the_types() {
    let kernel = KernelTypes::parse(include_bytes!("objects/core/there.btf")).unwrap();
    // The first instruction is `r0 = 4`, the place of `moved.b` in the object.
    let object = Elf::new("core/asks").put_in("xdp", 4, 5, 4);
    let image = load_for(&object.0, Some(&kernel)).unwrap();
    let error = &image.refused.iter().find(|r| r.name == "offset").unwrap().error;
    expect(error, "E0428", "field_byte_offset of `moved.b`: found an instruction with another number");
    assert_eq!(KernelTypes::parse(&[0; 30]).err().unwrap().code(), "E0413");
}

#[test]
fn e0413_types_that_cannot_be_read() {
    let good = || Elf::new("functions.v2");
    expect(&good().put_in(".BTF", 0, 0x9feb, 2).error(), "E0413", "section `.BTF`, offset 0: 0x00019feb");
    expect(&good().put_in(".BTF", 12, 1 << 20, 4).error(), "E0413", "section `.BTF`, offset 8");
    expect(&good().put_in(".BTF", 20, u64::from(u32::MAX), 4).error(), "E0413", "a part of the section");
    expect(&good().put_in(".BTF", 24 + 7, 0x1f, 1).error(), "E0413", "kind 31");
    expect(&good().put_in(".BTF", 24, 1 << 20, 4).error(), "E0413", "name 1048576");
    expect(&good().put_in(".BTF.ext", 0, 0, 2).error(), "E0413", "section `.BTF.ext`, offset 0");
    expect(&good().put_in(".BTF.ext", 12, 1 << 20, 4).error(), "E0413", "section `.BTF.ext`, offset 8");
    // Records of three bytes; more records than there are.
    expect(&good().put_in(".BTF.ext", 32, 3, 4).error(), "E0413", "records of 3 bytes");
    expect(&good().put_in(".BTF.ext", 40, 1 << 30, 4).error(), "E0413", "1073741824 records");
}

/// The first byte of `.BTF` where this type stands: name, info.
fn find_type(object: &Elf, name: &str, kind: u64) -> usize {
    let (btf, start) = (object.bytes(".BTF"), object.section(".BTF"));
    let strings = start + 24 + object.get(start + 16, 4) as usize;
    (24..btf.len() - 12)
        .step_by(4)
        .find(|at| {
            let offset = object.get(start + at, 4) as usize;
            object.get(start + at + 7, 1) & 0x1f == kind
                && strings + offset < start + btf.len()
                && object.text(strings + offset) == name
        })
        .unwrap_or_else(|| panic!("no type {name}"))
}

#[test]
fn e0414_map_declarations_that_libbpf_would_not_take() {
    let good = || Elf::new("maps_btf.v2");
    const VAR: u64 = 14;
    let linkage = find_type(&good(), "array", VAR) + 12;
    let image = load(&good().put_in(".BTF", linkage, 0, 4).0).unwrap();
    let error = &image.refused_maps[0].error;
    expect(error, "E0414", "map `array`: `linkage` is static or extern, expected a global variable");
    // A variable whose type is no struct.
    let type_at = find_type(&good(), "array", VAR) + 8;
    let int = good().put_in(".BTF", type_at, 2, 4);
    let error = match load(&int.0) {
        Ok(image) => image.refused_maps[0].error.clone(),
        Err(error) => error,
    };
    assert!(matches!(error.code(), "E0403" | "E0414"), "{error}");
    // Names of fields: `pinning` becomes `qinning`.
    let (at, bytes) = (good().section(".BTF"), good().bytes(".BTF"));
    let field = |name: &str| at + bytes.windows(name.len()).position(|w| w == name.as_bytes()).unwrap();
    let error = good().put(field("pinning\0"), b'q'.into(), 1).map("hash");
    expect(&error, "E0414", "map `hash`: `qinning` is a field that no map has");
    let error = good().put(field("type\0"), b'q'.into(), 1).map("hash");
    expect(&error, "E0414", "map `hash`: `type` is missing");
    expect(&Elf::new("refused.v2").map("bad_size"), "E0414", "`key_size` is 8 bytes, expected 4 as said before");
}

#[test]
fn e0415_legacy_declarations_that_are_wrong() {
    // The maps stand in the order flows, inner, outer, jumps.
    let inner = |at| Elf::new("maps_legacy.24").put_in("maps", 2 * 24 + 20, at, 4).map("outer");
    expect(&inner(9), "E0415", "`inner_map_idx` is Some(9)");
    // The outer map itself.
    expect(&inner(2), "E0415", "`inner_map_idx`");
    let id = Elf::new("maps_legacy.36").put_in("maps", 2 * 36 + 28, 43, 4).map("outer");
    expect(&id, "E0415", "`inner_id` is 43, expected the id of another map");
    let size = Elf::new("maps_legacy.20").put_symbol("flows", ST_SIZE, 12).map("flows");
    expect(&size, "E0415", "`size` is 12 bytes");
    let nested = Elf::new("maps_legacy.24").put_in("maps", 24, 13, 4).put_in("maps", 24 + 20, 0, 4).map("outer");
    expect(&nested, "E0415", "a map of maps");
}

#[test]
fn e0416_map_types_that_there_are_not() {
    let legacy = |kind| Elf::new("maps_legacy.20").put_in("maps", 0, kind, 4).map("flows");
    expect(&legacy(7), "E0416", "type 7 (stack_trace) is not available, allowed: hash, array,");
    expect(&legacy(0), "E0416", "type 0 (unspec)");
    expect(&legacy(1000), "E0416", "type 1000 (no map type of Linux 6.18)");
}

#[test]
fn e0417_initial_entries_that_are_wrong() {
    let good = || Elf::new("maps_btf.v2");
    let relocations = good().bytes(".rel.maps");
    let at = |n: usize| u64::from_le_bytes(relocations[n * 16..n * 16 + 8].try_into().unwrap());
    assert_eq!(relocations.len(), 48);
    // The last one is of the program array.
    let half = good().put_in(".rel.maps", 32, at(2) + 4, 8).map("tails");
    expect(&half, "E0417", "map `tails`, initial entry at byte");
    // The first one is of slot 1 of `outer`: two slots before is no slot.
    let field = good().put_in(".rel.maps", 0, at(0) - 16, 8).map("outer");
    expect(&field, "E0417", "a field, expected an entry of `values`");
    let beyond = Elf::new("refused.v2").map("beyond");
    expect(&beyond, "E0417", "entry 1, expected a whole number below max_entries");
    let first = good().get(good().section(".rel.maps") + 12, 4);
    expect(&good().put_in(".rel.maps", 32 + 12, first, 4).map("tails"), "E0417", "expected a program");
    let program = good().get(good().section(".rel.maps") + 32 + 12, 4);
    expect(&good().put_in(".rel.maps", 12, program, 4).map("outer"), "E0417", "`tail_a`, expected a map of section");
}

#[test]
fn e0418_calls_that_lead_nowhere() {
    // The first instruction of `.text` calls `middle`, at 3.
    let good = || Elf::new("functions.v2.nog");
    let into = good().put_in(".text", 4, 3, 4).refusal("two_levels");
    expect(&into, "E0418", "`shared` (section `.text`), instruction 0: calls instruction 4 of section `.text`");
    let before = good().put_in(".text", 4, (-9i64) as u64, 4).refusal("two_levels");
    expect(&before, "E0418", "calls instruction -8 of section `.text`");
    // What does not call it is not refused.
    assert_eq!(load(&good().put_in(".text", 4, 3, 4).0).unwrap().programs.len(), 2);
}

#[test]
fn e0419_immediates_that_mean_something_to_a_kernel_only() {
    let good = || Elf::new("data.v2").put_header(".relxdp", SH_SIZE, 0);
    for (source, text) in [
        (1, "source 1 (a map by file descriptor)"),
        (2, "source 2 (a map by file descriptor)"),
        (3, "source 3 (a kernel variable by BTF ID)"),
        (6, "source 6 (a map by index)"),
        (9, "source 9 (unknown)"),
    ] {
        // The first 64-bit immediate is of r6, its number a map that there is not.
        let error = good().put_in("xdp", 9, source << 4 | 6, 1).put_in("xdp", 12, 77, 4).refusal("data");
        expect(&error, "E0419", text);
        expect(&error, "E0419", "`data` (section `xdp`), instruction 1 at ./tests/objects/data.c:19");
    }
}

#[test]
fn e0421_what_is_too_large() {
    // No memory is taken for it before.
    let bss = Elf::new("data.v2").put_header(".bss", SH_SIZE, (1 << 30) + 1);
    expect(&bss.refusal("data"), "E0421", "section `.bss`: 1073741825 bytes, at most 1073741824 are allowed");
    let bss = Elf::new("data.v2").put_header(".bss", SH_SIZE, u64::MAX);
    expect(&bss.refusal("data"), "E0421", "section `.bss`: 18446744073709551615 bytes");
    // Many maps of four bytes, each with a symbol of its own.
    let good = Elf::new("maps_legacy.20");
    let one = good.bytes(".symtab")[good.symbol("flows") - good.section(".symtab")..][..24].to_vec();
    let mut symbols = good.bytes(".symtab");
    for at in 0..2000u64 {
        symbols.extend(&one);
        let from = symbols.len() - 16;
        symbols[from..from + 8].copy_from_slice(&(at * 4).to_le_bytes());
    }
    let many = good.replace(".symtab", &symbols).replace("maps", &[0; 8000]);
    expect(&many.error(), "E0421", "section `maps`: 2003 maps, at most 1024 are allowed");
    // The function at the section's end reaches to its new end.
    let good = Elf::new("notype");
    let mut code = good.bytes("xdp_drop");
    code.resize(8 * 1_000_010, 0);
    code.chunks_exact_mut(8).skip(10).for_each(|i| i[0] = 0x95);
    let long = good.replace("xdp_drop", &code);
    expect(&long.refusal("second"), "E0421", "program `second`: ");
    assert_eq!(load(&long.0).unwrap().programs.len(), 1);
}

#[test]
fn e0423_two_with_one_name() {
    let good = Elf::new("functions.v2");
    let name = good.get(good.symbol("two_levels"), 4);
    let twice = good.put_symbol("plain", ST_NAME, name);
    expect(&twice.refusal("two_levels"), "E0423", "program `two_levels` is declared twice");
    let good = Elf::new("maps_legacy.20");
    let name = good.get(good.symbol("flows"), 4);
    let image = load(&good.put_symbol("inner", ST_NAME, name).0);
    let error = match image {
        Ok(image) => image.refused_maps[0].error.clone(),
        Err(error) => error,
    };
    expect(&error, "E0423", "map `flows` is declared twice");
}

#[test]
fn every_code_of_the_loader_has_a_page_and_a_test() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
    let names = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap());
    let pages: BTreeSet<String> = names.filter(|n| ("E0401".."E0430").contains(&n.as_str())).collect();
    let listed = sluice_ebpf::codes().iter().filter(|(code, _)| ("E0401".."E0430").contains(code));
    let listed: BTreeSet<String> = listed.map(|(code, _)| format!("{code}.md")).collect();
    assert_eq!(pages, listed);
    let tests = concat!(include_str!("loader_refused.rs"), include_str!("loader.rs"), include_str!("prepare.rs"));
    for (code, page) in sluice_ebpf::codes().iter().filter(|(code, _)| *code < "E0430") {
        assert!(page.starts_with(&format!("# {code}: ")), "{code}");
        assert!(page.contains("\nWrong:\n") && page.contains("\nRight:\n"), "{code}");
        assert!(tests.contains(&format!("\"{code}\"")), "{code} has no test");
    }
}
