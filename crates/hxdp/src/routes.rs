//! `bpf_fib_lookup` and `bpf_check_mtu` as rows: functions of the engine's own, which look up in a map that the host fills.
//!
//! The call of the helper becomes a call of these rows, which has a frame of its own and is no work. What lies in the map
//! is said in `sluice_ebpf::helper::fib::rows`. A call goes through no loop: it looks up five times at most.
//! As behind any call of a function, r1 to r5 hold anything then.
//! Arguments are checked by helpers that fault as the interpreter does: `xdp_get_buff_len` wants the context, `csum_diff` all of what is read in one piece.

use crate::{Bundle, Op, Target, compile::compile_short};
use sluice_ebpf::helper::fib::rows::{self, has, link, route};
use sluice_ebpf::helper::fib::{AF_INET, AF_INET6};
use sluice_ebpf::insn::{WideValue, assemble};
use sluice_ebpf::{Errno, Image, MapSpec, MapType};
use sluice_formats::xdp::target::LANES;
use sluice_object::xdp::routes::{CALLS, KEY_BYTES, NAME, SPACE_BITS, VALUE_BYTES};
use std::sync::OnceLock;

/// `fib_lookup`.
pub const LOOKUP: i32 = CALLS[0];
/// `check_mtu`.
pub const CHECK_MTU: i32 = CALLS[1];

/// Whether a call goes to rows of this file.
pub fn is_called(id: i32) -> bool {
    CALLS.contains(&id)
}

/// Asks the map: the key's address lies in the 16 bytes below r10.
const ASK: &str = "r1 = map[sluice.routes]\nr2 = r10\nr2 += -24\ncall bpf_map_lookup_elem\n";

/// Faults unless the `bytes` at r6 may be read, are in one piece, and are not in this function's own frame.
fn readable(bytes: u32) -> String {
    format!(
        "r3 = r6\nr1 = r6\nr1 -= r10\nr1 += {}\nif r1 >= {} goto apart\nr3 = 0\napart:\nr1 = 0\nr2 = 0\nr4 = {bytes}\nr5 = 0\n\
         call bpf_csum_diff\n",
        512 + bytes,
        512 + bytes
    )
}

/// Goes to `never` with an address of IPv6 at this offset that nothing is forwarded from or to: of many, of a link, of the host itself.
fn strict(at: usize, name: &str) -> String {
    format!(
        "r1 = *(u8 *)(r6 +{at})\nif r1 == 0xff goto never\nr2 = *(u8 *)(r6 +{})\nr2 &= 0xc0\nr1 <<= 8\nr1 |= r2\n\
         if r1 == 0xfe80 goto never\nr1 = *(u64 *)(r6 +{at})\nif r1 != 0 goto {name}\nr1 = *(u64 *)(r6 +{})\n\
         r2 = 0x100000000000000\nif r1 == r2 goto never\n{name}:\n",
        at + 1,
        at + 8
    )
}

/// The function in place of `fib_lookup`: r1 context, r2 parameters, r3 their bytes, r4 flags.
fn lookup() -> String {
    let (inval, family, device) = (Errno::INVAL.0, Errno::AFNOSUPPORT.0, Errno::NODEV.0);
    let (exact, links) = (SPACE_BITS + 128, rows::LINKS as i32);
    let (from, to) = (strict(16, "from"), strict(32, "to"));
    let readable = readable(64);
    let copy = |from: usize, base: &str, to: usize| {
        format!(
            "r1 = *(u64 *)({base} +{from})\nr2 = *(u64 *)({base} +{})\n*(u64 *)(r6 +{to}) = r1\n*(u64 *)(r6 +{}) = r2\n",
            from + 8,
            to + 8
        )
    };
    let (gateway, source, found) = (copy(route::GATEWAY, "r8", 32), copy(route::SOURCE, "r8", 16), copy(0, "r0", 16));
    let long = |at: usize| {
        format!(
            "r1 = *(u64 *)(r6 +{at})\nr2 = *(u64 *)(r6 +{})\n*(u64 *)(r10 -16) = r1\n*(u64 *)(r10 -8) = r2\n",
            at + 8
        )
    };
    let to6 = long(32);
    format!(
        "r6 = r2\nw7 = w4\ncall bpf_xdp_get_buff_len\nr0 = -{inval}\nif w3 s< 64 goto out\nr1 = r7\nr1 >>= 6\nif r1 != 0 goto out\n\
         {readable}r1 = *(u8 *)(r6 +0)\n*(u8 *)(r6 +0) = r1\n*(u32 *)(r10 -24) = {exact}\nr9 = 0\nif r1 == {AF_INET} goto known\n\
         r9 = {v6}\nr0 = -{family}\nif r1 != {AF_INET6} goto out\n{from}{to}known:\n\
         *(u32 *)(r10 -20) = {links}\nr1 = *(u32 *)(r6 +8)\n*(u64 *)(r10 -16) = r1\n*(u64 *)(r10 -8) = 0\n{ASK}\
         r8 = r0\nr0 = -{device}\nif r8 == 0 goto out\nr9 += r8\nr1 = *(u32 *)(r9 +{forwarding})\nr0 = 5\nif r1 == 0 goto out\n\
         r3 = *(u32 *)(r9 +{rules})\nr1 = r7\nr1 &= 1\nif r1 == 0 goto table\nr3 = *(u32 *)(r9 +{main})\nr1 = r7\nr1 &= 8\nif r1 == 0 goto table\n\
         r1 = *(u32 *)(r6 +48)\n*(u32 *)(r6 +48) = 0\n*(u64 *)(r10 -16) = r1\nr1 = *(u32 *)(r9 +{tables})\n*(u32 *)(r10 -20) = r1\n{ASK}\
         if r0 == 0 goto never\nr3 = *(u32 *)(r0 +0)\ntable:\n\
         r1 = *(u32 *)(r9 +{own})\nif r9 == r8 goto four\nr3 |= r1\n*(u32 *)(r10 -20) = r3\n{to6}goto ask\n\
         four:\nr2 = r7\nr2 &= 2\nif r2 == 0 goto any\nr3 |= r1\nany:\nr1 = *(u8 *)(r6 +12)\nr1 >>= 2\nr2 = *(u64 *)(r8 +{classes})\nr2 >>= r1\nr2 &= 1\n\
         if r2 == 0 goto plain\nr1 += 1\nr1 <<= {class_at}\nr3 |= r1\nplain:\n*(u32 *)(r10 -20) = r3\nr1 = *(u32 *)(r6 +32)\n*(u64 *)(r10 -16) = r1\n\
         ask:\n{ASK}r8 = r0\nif r8 == 0 goto never\nr0 = *(u32 *)(r8 +{result})\nif r0 != 0 goto out\n\
         r1 = *(u16 *)(r6 +6)\nr2 = *(u16 *)(r8 +{limit})\nif r1 <= r2 goto short\nr1 = *(u16 *)(r8 +{mtu})\n*(u16 *)(r6 +6) = r1\nr0 = 8\ngoto out\nshort:\n\
         r1 = *(u64 *)(r8 +{interface})\n*(u64 *)(r6 +8) = r1\nr9 = *(u8 *)(r8 +{has_at})\nr1 = *(u8 *)(r8 +{family_at})\n*(u8 *)(r6 +0) = r1\n\
         r1 = r9\nr1 &= {gateway6}\nif r1 == 0 goto gateway4\n{gateway}goto source\ngateway4:\nr1 = r9\nr1 &= {gateway4}\nif r1 == 0 goto source\n\
         r1 = *(u32 *)(r8 +{gateway_at})\n*(u32 *)(r6 +32) = r1\nsource:\nr1 = r7\nr1 &= 16\nif r1 == 0 goto hop\n\
         r1 = r9\nr1 &= {sources}\nif r1 == 0 goto given\nr1 = *(u32 *)(r8 +{sources_at})\n*(u32 *)(r10 -20) = r1\n{ASK}r1 = r0\nr0 = 9\nif r1 == 0 goto out\n\
         r0 = r1\n{found}goto hop\ngiven:\nr1 = r9\nr1 &= {source6}\nif r1 == 0 goto source4\n{source}goto hop\n\
         source4:\nr1 = *(u32 *)(r8 +{source_at})\n*(u32 *)(r6 +16) = r1\nhop:\nr1 = r7\nr1 &= 4\nif r1 != 0 goto done\n\
         r1 = *(u32 *)(r8 +{neighbours})\n*(u32 *)(r10 -20) = r1\nr1 = r9\nr1 &= {hop6}\nif r1 == 0 goto hop4\n{to6}goto near\n\
         hop4:\nr1 = *(u32 *)(r6 +32)\n*(u64 *)(r10 -16) = r1\n*(u64 *)(r10 -8) = 0\nnear:\n{ASK}r1 = r0\nr0 = 7\nif r1 == 0 goto out\n\
         r2 = *(u32 *)(r1 +0)\n*(u32 *)(r6 +58) = r2\nr2 = *(u16 *)(r1 +4)\n*(u16 *)(r6 +62) = r2\n\
         r2 = *(u32 *)(r8 +{address})\n*(u32 *)(r6 +52) = r2\nr2 = *(u16 *)(r8 +{address_end})\n*(u16 *)(r6 +56) = r2\n\
         done:\n*(u32 *)(r6 +48) = 0\nr1 = *(u16 *)(r8 +{mtu})\n*(u16 *)(r6 +6) = r1\nr0 = 0\ngoto out\n\
         never:\nr0 = 4\nout:\nexit\n",
        v6 = link::V6,
        forwarding = link::FORWARDING,
        rules = link::RULES,
        main = link::MAIN,
        tables = link::TABLES,
        own = link::OWN,
        classes = link::CLASSES,
        class_at = rows::CLASS_AT,
        result = route::RESULT,
        limit = route::LIMIT,
        mtu = route::MTU,
        interface = route::INTERFACE,
        has_at = route::HAS,
        family_at = route::FAMILY,
        gateway_at = route::GATEWAY,
        source_at = route::SOURCE,
        sources_at = route::SOURCES,
        neighbours = route::NEIGHBOURS,
        address = route::ADDRESS,
        address_end = route::ADDRESS + 4,
        gateway4 = has::GATEWAY4,
        gateway6 = has::GATEWAY6,
        sources = has::SOURCES,
        source6 = has::SOURCE6,
        hop6 = has::HOP6,
    )
}

/// The function in place of `check_mtu`: r1 context, r2 interface, r3 length of 4 bytes, r4 difference, r5 flags.
fn check_mtu() -> String {
    let (inval, device, exact, links) = (Errno::INVAL.0, Errno::NODEV.0, SPACE_BITS + 128, rows::LINKS as i32);
    format!(
        "*(u64 *)(r10 -32) = r2\nr6 = r3\nr7 = r4\nr8 = r5\nr9 = r1\ncall bpf_xdp_get_buff_len\n{readable}r0 = -{inval}\nif r8 != 0 goto out\n\
         r1 = *(u32 *)(r10 -32)\nif r1 != 0 goto given\nr1 = *(u32 *)(r9 +12)\ngiven:\n\
         *(u32 *)(r10 -24) = {exact}\n*(u32 *)(r10 -20) = {links}\n*(u64 *)(r10 -16) = r1\n*(u64 *)(r10 -8) = 0\n{ASK}\
         r8 = r0\nr0 = -{device}\nif r8 == 0 goto out\nr8 = *(u32 *)(r8 +{mtu})\nr1 = *(u32 *)(r6 +0)\nif r1 == 0 goto frame\nw1 += 14\ngoto whole\n\
         frame:\nr1 = *(u32 *)(r9 +4)\nr2 = *(u32 *)(r9 +0)\nr1 -= r2\nwhole:\nw1 += w7\n*(u32 *)(r6 +0) = r8\nw8 += 14\nr0 = 1\nif w1 s> w8 goto out\n\
         r0 = 0\nout:\nexit\n",
        readable = readable(4),
        mtu = link::MTU,
    )
}

/// A function as bundles, with rows from 0 on and the map as the first one.
fn rows_of(text: &str) -> Vec<Bundle> {
    let map = MapSpec::new(NAME, MapType::LpmTrie, KEY_BYTES as u32, VALUE_BYTES as u32, 1);
    let program = assemble("routes", text, &[NAME]).unwrap_or_else(|e| broken(&e));
    let image = Image { programs: vec![program], maps: vec![map], ..Image::default() };
    let target = Target::new(LANES).unwrap_or_else(|e| broken(&e));
    compile_short(&image, &image.programs[0], &target).unwrap_or_else(|e| broken(&e)).bundles.rows
}

fn broken(error: &dyn std::fmt::Display) -> ! {
    unreachable!("a function of the engine's own: {error}")
}

/// The rows in place of a helper, where the first one is row `first` of the program and the map has this position.
pub fn bundles(id: i32, first: u32, slot: u32, map: u32) -> Vec<Bundle> {
    static ROWS: [OnceLock<Vec<Bundle>>; 2] = [const { OnceLock::new() }; 2];
    let rows = match id {
        LOOKUP => ROWS[0].get_or_init(|| rows_of(&lookup())),
        _ => ROWS[1].get_or_init(|| rows_of(&check_mtu())),
    };
    let mut rows = rows.clone();
    for step in rows.iter_mut().flat_map(|row| &mut row.lanes) {
        step.slot = slot;
        if let Some(to) = step.op.target_mut() {
            *to += first;
        }
        match &mut step.op {
            Op::Helper { handle: Some(handle), .. } => *handle = map,
            Op::Constant { value: WideValue::Map(handle), .. } => *handle = map,
            _ => {}
        }
    }
    rows
}

#[cfg(test)]
mod tests;
