//! The disassembler writes what the kernel's verifier writes.

use sluice_ebpf::insn::op::class;
use sluice_ebpf::insn::{AluOp, Insn, Kind, Operand, WideValue, text};
use sluice_ebpf::kernel::{self, KernelProgram};
use sluice_ebpf::{Program, insn};
use sluice_formats::random::{Rng, test_seed};
use std::collections::{BTreeMap, BTreeSet};

/// A random instruction that the verifier takes behind any other of this kind: registers 0 to 9
/// hold numbers, memory is the stack.
fn taken(rng: &mut Rng) -> Option<(Insn, Kind)> {
    let mut slot = Insn::from_bytes(rng.next_u64().to_le_bytes());
    (slot.dst, slot.src) = (rng.index(10) as u8, [0, rng.index(10) as u8][rng.index(2)]);
    slot.off = [0, 0, 1, 8, 16, 32][rng.index(6)];
    if rng.index(2) == 0 {
        slot.imm = [0, 16, 32, 64, 0x40, 0x50, 0xa0, 0xe1, 0xf1, 1, 0x41, 0x51, 0xa1][rng.index(13)];
    }
    let stack = -8 * (1 + rng.index(64) as i16);
    match slot.class() {
        class::LDX => (slot.src, slot.off, slot.imm) = (10, stack, 0),
        class::ST | class::STX => (slot.dst, slot.off) = (10, stack),
        _ => {}
    }
    let kind = slot.kind(Some(Insn::default())).ok()?;
    let fits = match kind {
        Kind::Alu { op: AluOp::Lsh | AluOp::Rsh | AluOp::Arsh, wide, src: Operand::Imm(imm), .. } => {
            (0..if wide { 64 } else { 32 }).contains(&imm)
        }
        Kind::Alu { op: AluOp::Div | AluOp::Mod | AluOp::Sdiv | AluOp::Smod, src: Operand::Imm(0), .. } => false,
        Kind::Branch { off, .. } => off == 0,
        Kind::Jump { off, .. } => off == 0,
        Kind::Wide { value: WideValue::Number(_), .. } => true,
        Kind::Wide { .. } | Kind::CallHelper { .. } | Kind::CallLocal { .. } | Kind::Exit => false,
        _ => true,
    };
    fits.then_some((slot, kind))
}

/// Instructions of a verifier's log: text by slot.
fn logged(log: &str) -> BTreeMap<u32, String> {
    let parse = |line: &str| {
        let (slot, rest) = line.split_once(": (")?;
        let (_, rest) = rest.split_once(") ")?;
        // State comes behind a semicolon; newer kernels write annotations there too.
        let text = rest.split(';').next().unwrap_or_default().trim();
        Some((slot.trim().parse().ok()?, text.to_owned()))
    };
    log.lines().filter_map(parse).collect()
}

#[test]
fn random_instructions_read_as_in_the_verifiers_log() {
    if let Err(why) = kernel::available() {
        println!("skipped: {why}");
        return;
    }
    let seed = test_seed("disasm_kernel");
    let mut rng = Rng::new(seed);
    let (mut compared, mut opcodes) = (0, BTreeSet::new());
    for _ in 0..60 {
        let mut insns: Vec<Insn> = (0..10).map(|dst| Insn { op: 0xb7, dst, imm: 3, ..Insn::default() }).collect();
        let mut kinds: BTreeMap<u32, Kind> = BTreeMap::new();
        while insns.len() < 200 {
            let Some((slot, kind)) = taken(&mut rng) else { continue };
            kinds.insert(insns.len() as u32, kind);
            insns.push(slot);
            if kind.slots() == 2 {
                insns.push(Insn::default());
            }
        }
        // What refuses the program, so that the kernel writes its log.
        insns.push(Insn { op: 0xb7, dst: 10, ..Insn::default() });
        insns.push(Insn { op: insn::EXIT, ..Insn::default() });
        let program = Program { name: "disasm".into(), section: "xdp".into(), insns, ..Program::default() };
        let error = KernelProgram::load(&program, &[], None, "GPL").map(|_| ()).unwrap_err();
        for (slot, kernels) in logged(&error.log) {
            let Some(kind) = kinds.get(&slot) else { continue };
            assert_eq!(text(*kind, &|_| String::new()), kernels, "seed {seed}, {:?}", program.insns[slot as usize]);
            compared += 1;
            opcodes.insert(program.insns[slot as usize].op);
        }
    }
    println!("seed {seed}: {compared} instructions of {} opcodes", opcodes.len());
    assert!(compared > 1000 && opcodes.len() > 80, "seed {seed}: {compared} of {}", opcodes.len());
}
