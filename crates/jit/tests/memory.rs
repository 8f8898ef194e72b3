//! Code memory: never writable and executable at once, and given back.

use sluice_ebpf::insn::assemble;
use sluice_ebpf::{Image, Runtime};
use sluice_jit::Jit;

/// Bytes of anonymous memory that may be executed, and whether any may be written too.
fn executable() -> (u64, bool) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let (mut bytes, mut both) = (0, false);
    for line in maps.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_executable = words[1].as_bytes()[2] == b'x';
        both |= is_executable && words[1].as_bytes()[1] == b'w';
        if is_executable && words.len() == 5 {
            let (from, to) = words[0].split_once('-').unwrap();
            bytes += u64::from_str_radix(to, 16).unwrap() - u64::from_str_radix(from, 16).unwrap();
        }
    }
    (bytes, both)
}

#[test]
fn code_is_never_writable_and_goes_when_it_is_dropped() {
    let text = "r1 = 3\ncall f\nr0 += 1\nexit\nf:\nr0 = r1\nexit";
    let image = Image { programs: vec![assemble("two", text, &[]).unwrap()], ..Image::default() };
    let mut runtime = Runtime::new(1, 1);
    let installed = runtime.install(&image, &|_| None).unwrap();
    let compile = || {
        let mut jit = Jit::new();
        assert_eq!(jit.compile(&runtime, &image, installed), []);
        jit
    };
    // Other tests compile at the same time: many at once stand out.
    let many: Vec<Jit> = (0..400).map(|_| compile()).collect();
    let (with, both) = executable();
    assert!(!both, "memory that may be written and executed");
    // A clone shares the code, which stays as long as one of them.
    let clone = many[0].clone();
    drop(many);
    let (without, _) = executable();
    assert!(without + 300 * 4096 < with, "{with} bytes with code, {without} without");
    let mut packet = sluice_ebpf::Packet::new(&[0; 64]);
    assert_eq!(runtime.run_on(&clone, installed, 0, &mut packet, Default::default()).r0, 4);
}
