//! Random programs that show what they have come to.

use sluice_ebpf::{Image, Insn};

/// The program shows all its registers in the packet, where that is long enough, and lets it go on. None for one with callbacks.
pub fn showing(mut image: Image, verdict: i32) -> Option<Image> {
    let program = &mut image.programs[0];
    if program.insns.iter().any(|i| (i.op, i.src) == (0x18, 4)) {
        return None;
    }
    // It ends with an exit, and the functions are behind it.
    let end = program.functions.get(1).map_or(program.insns.len(), |f| f.start as usize);
    let functions = program.insns.split_off(end);
    program.insns.pop();
    let text = format!(
        "*(u64 *)(r10 -72) = r1\n*(u64 *)(r10 -80) = r2\n*(u64 *)(r10 -88) = r3\nr1 = 0x10000000\n\
         r2 = *(u32 *)(r1 +0)\nr1 = *(u32 *)(r1 +4)\nr3 = r2\nr3 += 80\nif r3 > r1 goto end\n\
         *(u64 *)(r2 +0) = r0\n*(u64 *)(r2 +8) = r4\n*(u64 *)(r2 +16) = r5\n*(u64 *)(r2 +24) = r6\n\
         *(u64 *)(r2 +32) = r7\n*(u64 *)(r2 +40) = r8\n*(u64 *)(r2 +48) = r9\nr3 = *(u64 *)(r10 -72)\n\
         *(u64 *)(r2 +56) = r3\nr3 = *(u64 *)(r10 -80)\n*(u64 *)(r2 +64) = r3\nr3 = *(u64 *)(r10 -88)\n\
         *(u64 *)(r2 +72) = r3\nend:\nr0 = {verdict}\nexit\n"
    );
    let shown = sluice_ebpf::insn::assemble("shown", &text, &[]).unwrap_or_else(|e| panic!("{e}"));
    let more = shown.insns.len() - 1;
    for call in program.insns.iter_mut().filter(|i| (i.op, i.src) == (0x85, 1)) {
        call.imm += more as i32;
    }
    for function in program.functions.iter_mut().skip(1) {
        function.start += more as u32;
    }
    program.insns.extend(shown.insns);
    program.insns.extend(functions);
    Some(image)
}

/// The same for every second program that has no callbacks.
pub fn maybe(image: Image, rng: &mut sluice_formats::random::Rng) -> Image {
    if rng.chance(1, 2) { showing(image.clone(), 2).unwrap_or(image) } else { image }
}

/// Whether the program calls functions.
pub fn calls(image: &Image) -> bool {
    image.programs[0].insns.iter().any(|i| (i.op, i.src) == (0x85, 1))
}

/// The program forgets r1 behind each lookup, push, pop and peek: it holds the map's handle there, whose number is each device's own.
pub fn forgetting(mut image: Image) -> Image {
    let program = &mut image.programs[0];
    let is_lookup = |i: &Insn| (i.op, i.src) == (0x85, 0) && [1, 87, 88, 89].contains(&i.imm);
    // Where each instruction comes to stand, the end too.
    let mut places = vec![0];
    for insn in &program.insns {
        places.push(places[places.len() - 1] + 1 + i64::from(is_lookup(insn)));
    }
    let moved = |at: usize, by: i64| places[(at as i64 + 1 + by) as usize] - places[at] - 1;
    let mut insns = Vec::new();
    let mut second_half = false;
    for (at, insn) in program.insns.iter().enumerate() {
        let mut insn = *insn;
        if !std::mem::replace(&mut second_half, insn.op == 0x18) {
            match (insn.op & 7, insn.op) {
                (_, 0x85) if insn.src == 1 => insn.imm = moved(at, insn.imm.into()) as i32,
                (_, 0x85 | 0x95) => {}
                (5 | 6, _) => insn.off = moved(at, insn.off.into()) as i16,
                _ => {}
            }
        }
        insns.push(insn);
        if is_lookup(&insn) {
            insns.push(Insn { op: 0xb7, dst: 1, src: 0, off: 0, imm: 0 });
        }
    }
    for function in &mut program.functions {
        function.start = places[function.start as usize] as u32;
    }
    program.insns = insns;
    image
}
