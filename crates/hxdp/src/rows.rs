//! Compiled programs as rows of the XDP engine's instruction memory: docs/design/hxdp-core.md.

use crate::encode::lane;
use crate::op::{LOOKUP, Op};
use crate::{Bundle, Bundles};
use sluice_ebpf::helper;
use sluice_ebpf::insn::{AtomicOp, Operand, WideValue};
use sluice_formats::row::{BitReader, Bits};
use sluice_formats::xdp::codes::XdpOp;
use sluice_formats::xdp::rows::{XdpCodeRow, XdpLanePart, XdpPageRow};
use sluice_formats::xdp::target::{LANES, PAGE_ROWS};

/// What a program needs that the engine has not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("program `{program}`, instruction {slot}: the XDP engine in hardware has no {what}; the software NIC runs it")]
pub struct Unsupported {
    /// The program.
    pub program: String,
    /// Slot of the eBPF program.
    pub slot: u32,
    /// What it has not.
    pub what: String,
}

/// A map as the engine has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapPlace {
    /// Row of the table of maps.
    pub number: u16,
    /// Address of its first value.
    pub first: u32,
    /// Values lie every 2^shift bytes.
    pub shift: u8,
    /// An array with one copy of its values: a lookup needs no search.
    pub array: bool,
    /// Slots between two copies of a per-CPU map's values; 0 of others.
    pub copies: u32,
}

/// Helpers of the engine, by number: `get_smp_processor_id`, `redirect`, `csum_diff`, `get_numa_node_id`, `xdp_adjust_head`,
/// `xdp_adjust_meta`, `xdp_adjust_tail`, `xdp_get_buff_len`, `xdp_load_bytes`, `xdp_store_bytes`.
pub const HELPERS: [i32; 10] = [8, 23, 28, 42, 44, 54, 65, 188, 189, 190];
/// Those that have a map: `map_lookup_elem`, `map_update_elem`, `map_delete_elem`, `redirect_map`, `map_lookup_percpu_elem`.
pub const MAP_HELPERS: [i32; 5] = [LOOKUP, 2, 3, 51, 195];
/// First handle of a map; that of map n is n above.
const HANDLES: u64 = sluice_ebpf::address::MAP_HANDLES as u64;
/// The one that makes frames longer.
const ADJUST_TAIL: i32 = 65;

/// Rows of one program, and owners of their pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Rows from the first one on.
    pub code: Vec<XdpCodeRow>,
    /// Pages from that of the first row on, without their owner.
    pub pages: Vec<XdpPageRow>,
    /// It may make frames longer.
    pub grows: bool,
}

/// The rows of a program whose first one is `start`, the first of a page. `map` says where the image's maps lie, those that
/// the engine has.
pub fn rows(bundles: &Bundles, start: u16, map: &dyn Fn(u32) -> Option<MapPlace>) -> Result<Rows, Unsupported> {
    let mut rows = Rows::default();
    for bundle in &bundles.rows {
        rows.code.push(row(&bundles.program, bundle, start, map)?);
        let grows = |step: &crate::Step| matches!(step.op, Op::Helper { id: ADJUST_TAIL, .. });
        rows.grows |= bundle.lanes.iter().any(grows);
    }
    let first = start / PAGE_ROWS as u16;
    let pages = rows.code.len().div_ceil(PAGE_ROWS) as u16;
    rows.pages = (0..pages)
        .map(|page| XdpPageRow { valid: true, module_id: 0, next: (first + (page + 1).min(pages - 1)) as u8 })
        .collect();
    Ok(rows)
}

fn row(
    program: &str,
    bundle: &Bundle,
    start: u16,
    map: &dyn Fn(u32) -> Option<MapPlace>,
) -> Result<XdpCodeRow, Unsupported> {
    let mut row = XdpCodeRow::default();
    for (step, part) in bundle.lanes.iter().zip(&mut row.lanes) {
        let without = |what: String| Err(Unsupported { program: program.to_owned(), slot: step.slot, what });
        let mut op = step.op;
        if let Some(to) = op.target_mut() {
            *to += u32::from(start);
        }
        *part = parted(lane(&op));
        match step.op {
            Op::Constant { value: WideValue::Number(_), .. } => {}
            Op::Constant { dst, value: WideValue::MapValue { map: index, offset } } => {
                let Some(place) = map(index) else { return without("such maps".into()) };
                *part = constant(dst, u64::from(place.first) + u64::from(offset));
            }
            Op::Constant { dst, value: WideValue::Map(index) } => {
                let Some(place) = map(index) else { return without("such maps".into()) };
                *part = constant(dst, HANDLES + u64::from(place.number));
            }
            Op::Constant { .. } => return without("addresses of functions".into()),
            Op::Element { dst, map: index, index: entry } => {
                let Some(place) = map(index) else { return without("such maps".into()) };
                let address = u64::from(place.first) + (u64::from(entry) << place.shift);
                *part = constant(dst, address | u64::from(place.copies << place.shift) << 32);
                if place.copies > 0 {
                    part.op = XdpOp::Element.code();
                }
            }
            // What is added is the immediate in any case.
            Op::Length { base, .. } => (part.immediate, part.spare) = (true, base.is_none()),
            Op::Call { .. } => return without("calls of functions".into()),
            // The old value goes to the operand's register, of compare-and-exchange to r0.
            Op::Atomic { op: AtomicOp::Cmpxchg, .. } => part.dst = 0,
            Op::Atomic { src: Operand::Reg(src), .. } => part.dst = src,
            Op::Atomic { .. } => {}
            Op::Helper { id, handle, second } if MAP_HELPERS.contains(&id) => {
                // A handle in a register is the second source.
                part.b = 1;
                if let Some(index) = handle {
                    let name = helper::find(id).map_or("", |helper| helper.name);
                    let Some(place) = map(index) else { return without(format!("`{name}` of such maps")) };
                    part.imm = id as u32 | u32::from(place.number) << 16;
                    part.spare = place.array && id == LOOKUP;
                }
                if second.is_none() {
                    part.a = 2;
                }
            }
            Op::Helper { id, handle, second } => {
                if !HELPERS.contains(&id) || handle.is_some() {
                    let name = helper::find(id).map_or_else(|| id.to_string(), |helper| helper.name.to_owned());
                    return without(format!("helper `{name}`"));
                }
                // The first argument is the second source; the second is an address of the first one.
                part.b = 1;
                if second.is_none() {
                    part.a = 2;
                }
            }
            _ => {}
        }
    }
    // Such a helper is alone in its bundle: the last lane reads its third and fourth argument. A fifth one has no field: it is
    // r5 always, of which the core keeps a copy.
    if let [step] = &bundle.lanes[..]
        && let Op::Helper { id, .. } = step.op
        && helper::find(id).is_some_and(|helper| helper.args.len() > 2)
    {
        (row.lanes[LANES - 1].a, row.lanes[LANES - 1].b) = (3, 4);
    }
    debug_assert!(bundle.lanes.len() <= LANES);
    Ok(row)
}

/// The 80 bits of a lane as fields.
fn parted(bits: u128) -> XdpLanePart {
    XdpLanePart::get(0, &mut BitReader::new(&[bits as u32, (bits >> 32) as u32, (bits >> 64) as u32]))
}

/// The lane of a number that is known now.
fn constant(dst: u8, number: u64) -> XdpLanePart {
    parted(lane(&Op::Constant { dst, value: WideValue::Number(number) }))
}
