//! Compiled programs as rows of the XDP engine's instruction memory: docs/design/hxdp-core.md.

use crate::encode::lane;
use crate::events::{self, Events};
use crate::frames::{MOST_FRAMES, calls_tails_in_functions, frames};
use crate::loops::{self, LOOP};
use crate::op::{LOOKUP, Op, REDIRECT, REDIRECT_MAP, START, TAIL_CALL};
use crate::pass::queues::{GIVEN, PUSH};
use crate::warp::encode::encode;
use crate::warp::warp_beside;
use crate::{Bundle, Bundles, CompileError, Compiled, Stored, Target, compile, routes};
use sluice_ebpf::helper;
use sluice_ebpf::insn::{AtomicOp, Operand, WideValue};
use sluice_ebpf::{Image, MapSpec, MapType, tenant};
use sluice_formats::row::{BitReader, Bits};
use sluice_formats::xdp::codes::XdpOp;
use sluice_formats::xdp::rows::{XdpCodeRow, XdpLanePart};
use sluice_formats::xdp::target::LANES;
use sluice_object::xdp::layout::has_kind;
use sluice_object::xdp::routes::NAME;
use sluice_object::xdp::{XdpFix, XdpPut, XdpWarpRoom};
use sluice_object::{Xdp, XdpCode, XdpRefusal};
use std::collections::BTreeMap;

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

/// Helpers of the engine, by number: `ktime_get_ns`, `get_prandom_u32`, `get_smp_processor_id`, `redirect`, `csum_diff`,
/// `get_numa_node_id`, `xdp_adjust_head`, `xdp_adjust_meta`, `xdp_adjust_tail`, `jiffies64`, `xdp_get_buff_len`, `xdp_load_bytes`,
/// `xdp_store_bytes`.
pub const HELPERS: [i32; 13] = [TIME, 7, 8, REDIRECT, 28, 42, 44, 54, 65, 118, 188, 189, 190];
/// `ktime_get_boot_ns`, `ktime_get_coarse_ns`, `ktime_get_tai_ns`: all clocks show the packet's stamp.
const CLOCKS: [i32; 3] = [125, 160, 208];
/// `ktime_get_ns`.
const TIME: i32 = 5;
/// Those that have a map: `map_lookup_elem`, `map_update_elem`, `map_delete_elem`, `tail_call`, `redirect_map`,
/// `map_lookup_percpu_elem`, `map_push_elem`, and what begins a `map_pop_elem` and a `map_peek_elem`.
pub const MAP_HELPERS: [i32; 9] = [LOOKUP, 2, 3, TAIL_CALL, REDIRECT_MAP, 195, PUSH, GIVEN[0], GIVEN[1]];
/// `spin_lock` and `spin_unlock`: a packet that holds a lock does not wait for its flow.
const LOCKS: [i32; 2] = [93, 94];

/// Whether it takes or gives back a lock.
pub(crate) fn is_lock(op: &Op) -> bool {
    matches!(op, Op::Helper { id, .. } if LOCKS.contains(id))
}
/// Whether a call that names a map of this kind is done by the unit of values: a lookup in an array, and a reference in a devmap or a map of
/// destinations.
pub const fn needs_no_search(id: i32, kind: MapType) -> bool {
    matches!((id, kind), (LOOKUP, MapType::Array) | (REDIRECT_MAP, MapType::Devmap))
        || id == REDIRECT_MAP && is_host(kind)
}

/// Whether entries are destinations in the host.
const fn is_host(kind: MapType) -> bool {
    matches!(kind, MapType::Cpumap | MapType::Xskmap)
}

/// The one that makes frames longer.
const ADJUST_TAIL: i32 = 65;

/// The compiler that a linker for a device with the engine is given: rows of all programs of a part, and where the device has a warp engine with
/// room for it the main program's table.
pub fn compiler(xdp: &Xdp, room: Option<XdpWarpRoom>) -> Result<XdpCode, XdpRefusal> {
    let refused = |code, what: String| XdpRefusal { code, what, slot: None };
    let image = tenant::image(xdp).map_err(|e| refused(e.code(), e.to_string()))?;
    let main = image.programs.get(xdp.main as usize);
    main.ok_or_else(|| refused("E0203", format!("there is no program {}", xdp.main)))?;
    let wrong = |e: CompileError| refused(e.code(), e.to_string());
    let mut target = Target::new(LANES).map_err(wrong)?;
    let programs: Vec<Compiled> = image
        .programs
        .iter()
        .map(|program| compile(&image, program, &target))
        .collect::<Result<_, _>>()
        .map_err(wrong)?;
    let mut stored = Stored::default();
    programs.iter().for_each(|compiled| stored.add(&compiled.stored));
    let mut warped = None;
    if let Some(room) = room {
        target = target.with_warp(room);
        warped = with_table(&image, xdp.main as usize, &programs[xdp.main as usize], &target, &stored);
    }
    let (mut all, mut deepens) = (XdpCode::default(), false);
    for (number, compiled) in programs.iter().enumerate() {
        deepens |= calls_tails_in_functions(&compiled.bundles);
        let warped = if number == xdp.main as usize { warped.take() } else { None };
        let code = match warped {
            Some(code) => code,
            None => code(compiled, &image.maps).map_err(|e| XdpRefusal {
                code: "E0805",
                what: e.to_string(),
                slot: Some(e.slot),
            })?,
        };
        all.append(code);
    }
    all.stored = stored.of_maps(image.maps.len());
    // The program that takes a function's place may call functions again, and so on.
    if deepens {
        all.frames = MOST_FRAMES;
    }
    Ok(all)
}

/// A program's rows with its table; none if no leaf saves anything, or its rows do not become the engine's.
fn with_table(image: &Image, number: usize, plain: &Compiled, target: &Target, stored: &Stored) -> Option<XdpCode> {
    let warped = warp_beside(image, number, plain, target, stored).ok()?;
    if warped.table.leaves.is_empty() {
        return None;
    }
    let table = encode(&warped.table);
    let code = code(&warped.compiled(plain), &image.maps).ok()?;
    Some(XdpCode { warp: Some(table), ..code })
}

/// Bit of an operation: of the first lane's the row leaves its flow's section, of the last one's it is of that.
pub const FLAG: u8 = 0x80;

/// The rows of a program with these maps, its start first.
pub fn code(compiled: &Compiled, maps: &[MapSpec]) -> Result<XdpCode, Unsupported> {
    let mut code = unmarked(&compiled.bundles, maps, &compiled.events)?;
    code.serial = compiled.flow_serial && compiled.sections.is_none();
    code.waits |= compiled.flow_serial;
    if let Some(sections) = &compiled.sections {
        for ((row, enters), leaves) in code.rows.iter_mut().zip(&sections.enters).zip(&sections.leaves) {
            row.lanes[LANES - 1].op |= if *enters { FLAG } else { 0 };
            row.lanes[0].op |= if *leaves { FLAG } else { 0 };
        }
    }
    Ok(code)
}

/// The same without a word of sections.
fn unmarked(bundles: &Bundles, maps: &[MapSpec], events: &Events) -> Result<XdpCode, Unsupported> {
    let without = |what: String| Err(Unsupported { program: bundles.program.clone(), slot: 0, what });
    if bundles.target.lanes > LANES {
        return without(format!("{} lanes, its bundles have {LANES}", bundles.target.lanes));
    }
    let mut code = XdpCode { starts: vec![0], frames: frames(bundles), records: events.records, ..XdpCode::default() };
    let own = own_rows(bundles, maps)?;
    for (number, bundle) in (0..).zip(bundles.rows.iter().chain(&own.rows)) {
        let mut row = Row { bundles, maps, events, number, own: &own.starts, fixes: &mut code.fixes };
        let mut filled = row.fill(bundle)?;
        if own.starts.get(&LOOP).is_some_and(|first| number == first + loops::CALL) {
            // Where it goes is in r8.
            let call = XdpLanePart { op: XdpOp::Call.code(), wide: true, ..XdpLanePart::default() };
            filled.lanes = keeping(call);
        }
        code.rows.push(filled);
        let grows = |step: &crate::Step| matches!(step.op, Op::Helper { id: ADJUST_TAIL, .. });
        code.grows |= bundle.lanes.iter().any(grows);
        code.waits |= bundle.lanes.iter().any(|step| is_lock(&step.op));
    }
    Ok(code)
}

/// Functions of the engine's own, behind a program's rows: one for each helper that becomes a call.
#[derive(Default)]
struct OwnRows {
    rows: Vec<Bundle>,
    /// First rows, by the helper's number.
    starts: BTreeMap<i32, u32>,
}

fn own_rows(bundles: &Bundles, maps: &[MapSpec]) -> Result<OwnRows, Unsupported> {
    let mut own = OwnRows::default();
    for step in bundles.rows.iter().flat_map(|row| &row.lanes) {
        let Op::Helper { id, .. } = step.op else { continue };
        if own.starts.contains_key(&id) || !(id == LOOP || routes::is_called(id)) {
            continue;
        }
        let first = (bundles.rows.len() + own.rows.len()) as u32;
        own.starts.insert(id, first);
        own.rows.extend(match maps.iter().position(|map| map.name == NAME) {
            _ if id == LOOP => loops::rows(first, step.slot),
            Some(map) => routes::bundles(id, first, step.slot, map as u32),
            None => {
                let what = "routes without a map that the linker adds".to_owned();
                return Err(Unsupported { program: bundles.program.clone(), slot: step.slot, what });
            }
        });
    }
    Ok(own)
}

/// A row that is being made.
struct Row<'a> {
    bundles: &'a Bundles,
    maps: &'a [MapSpec],
    events: &'a Events,
    number: u32,
    /// First rows of the engine's own functions.
    own: &'a BTreeMap<i32, u32>,
    fixes: &'a mut Vec<XdpFix>,
}

impl Row<'_> {
    /// Says what stands in for a map that the engine has.
    fn has(&self, map: u32) -> Result<(), String> {
        match self.maps.get(map as usize) {
            Some(spec) if has_kind(spec.kind as u32) => Ok(()),
            Some(spec) => Err(format!("maps like `{}` ({})", spec.name, spec.kind.name())),
            None => Err(format!("map {map} of the program's")),
        }
    }

    /// Whether a map takes events.
    fn tells(&self, map: u32) -> bool {
        self.maps.get(map as usize).is_some_and(|spec| spec.kind.takes_events())
    }

    /// Says what an operation would do that the engine leaves to the host.
    fn changes(&self, map: u32, id: i32) -> Result<(), String> {
        match self.maps.get(map as usize) {
            Some(spec) if spec.kind == MapType::LpmTrie && [2, 3].contains(&id) => {
                Err(format!("changes of `{}` ({}) by programs", spec.name, spec.kind.name()))
            }
            _ => Ok(()),
        }
    }

    fn fill(&mut self, bundle: &Bundle) -> Result<XdpCodeRow, Unsupported> {
        let mut row = XdpCodeRow::default();
        for (at, (step, part)) in (0..).zip(bundle.lanes.iter().zip(&mut row.lanes)) {
            let wrong = |what: String| Unsupported { program: self.bundles.program.clone(), slot: step.slot, what };
            if let (Op::Helper { .. }, Some(what)) = (step.op, self.events.refused.get(&step.slot)) {
                return Err(wrong(what.clone()));
            }
            let (mut op, mut put) = (step.op, None);
            if op.target_mut().is_some() {
                put = Some(XdpPut::Row(0));
            }
            *part = parted(lane(&op));
            match step.op {
                Op::Constant { value: WideValue::Number(_), .. } => {}
                Op::Constant { dst, value: WideValue::MapValue { map, offset } } => {
                    self.has(map).map_err(wrong)?;
                    *part = constant(dst);
                    put = Some(XdpPut::Value { map, offset });
                }
                // Calls name such a map by a number of their own.
                Op::Constant { dst, value: WideValue::Map(map) } if self.tells(map) => *part = constant(dst),
                Op::Constant { dst, value: WideValue::Map(map) } => {
                    self.has(map).map_err(wrong)?;
                    *part = constant(dst);
                    put = Some(XdpPut::Handle { map });
                }
                Op::Constant { dst, value: WideValue::Function(slot) } => {
                    let function = self.bundles.functions.get(&(slot as u32));
                    let function = *function.ok_or_else(|| wrong("addresses of what is no function".into()))?;
                    *part = constant(dst);
                    put = Some(XdpPut::Function(function));
                }
                Op::Element { dst, map, index } => {
                    self.has(map).map_err(wrong)?;
                    *part = constant(dst);
                    put = Some(XdpPut::Element { map, index });
                }
                Op::Copy { dst, map } => {
                    self.has(map).map_err(wrong)?;
                    *part = constant(dst);
                    put = Some(XdpPut::Copy { map });
                }
                // What is added is the immediate in any case.
                Op::Length { base, .. } => (part.immediate, part.a) = (true, base.unwrap_or(START)),
                // The old value goes to the operand's register, of compare-and-exchange to r0.
                Op::Atomic { op: AtomicOp::Cmpxchg, .. } => part.dst = 0,
                Op::Atomic { src: Operand::Reg(src), .. } => part.dst = src,
                Op::Atomic { .. } => {}
                // It goes to the rows behind the program's; that call is no work.
                Op::Helper { id, .. } if self.own.contains_key(&id) => {
                    *part = XdpLanePart {
                        op: XdpOp::Call.code(),
                        spare: true,
                        off: self.own[&id] as u16,
                        ..XdpLanePart::default()
                    };
                    put = Some(XdpPut::Row(0));
                }
                Op::Helper { id, second, .. } if events::HELPERS.contains(&id) => {
                    let channel = self.events.channel(step.slot, id).map_err(wrong)?;
                    (part.b, part.imm) = (1, id as u32 | u32::from(channel) << 8);
                    if second.is_none() {
                        part.a = 2;
                    }
                }
                // Its map and index; the context is read by the last lane.
                Op::Helper { id: TAIL_CALL, .. } => (part.a, part.b) = (3, 2),
                Op::Helper { id, handle, second, .. } if MAP_HELPERS.contains(&id) => {
                    // A handle in a register is the second source, a third argument is the last lane's.
                    (part.dst, part.b, part.immediate) = (0, 1, false);
                    if let Some(map) = handle {
                        self.has(map).map_err(&wrong)?;
                        self.changes(map, id).map_err(wrong)?;
                        part.imm = id as u32;
                        let kind = self.maps[map as usize].kind;
                        (part.spare, part.immediate) = (needs_no_search(id, kind), id == REDIRECT_MAP && is_host(kind));
                        put = Some(XdpPut::Map { map });
                    }
                    if second.is_none() {
                        part.a = 2;
                    }
                }
                // The lock's address is that of an access.
                Op::Helper { id, .. } if LOCKS.contains(&id) => (part.a, part.b) = (1, 1),
                Op::Helper { id, .. } if CLOCKS.contains(&id) => part.imm = TIME as u32,
                Op::Helper { id, handle, second, .. } => {
                    if !HELPERS.contains(&id) || handle.is_some() {
                        let name = helper::find(id).map_or_else(|| id.to_string(), |helper| helper.name.to_owned());
                        return Err(wrong(format!("helper `{name}`")));
                    }
                    // The first argument is the second source; the second is an address of the first one.
                    part.b = 1;
                    if second.is_none() {
                        part.a = 2;
                    }
                }
                _ => {}
            }
            self.fixes.extend(put.map(|put| XdpFix { row: self.number, lane: at, put }));
        }
        // Such a helper is alone in its bundle, or before an exit, which reads nothing: the last lane reads its third and fourth argument. A fifth one has no field: it is
        // r5 always, of which the core keeps a copy.
        if let Some(step) = bundle.lanes.first()
            && let Op::Helper { id, .. } = step.op
            && helper::find(id).is_some_and(|helper| helper.args.len() > 2)
        {
            let last = &mut row.lanes[LANES - 1];
            (last.a, last.b) = match id {
                TAIL_CALL => (1, 4),
                // Value and flags stand where an update has them.
                PUSH => (2, 3),
                _ => (3, 4),
            };
            // In the place of the fourth, which the helper has not.
            if let Op::Helper { third: Some(third), .. } = step.op {
                (last.immediate, last.imm) = (true, third.into());
            }
        }
        if let [step] = &bundle.lanes[..]
            && (matches!(step.op, Op::Call { .. })
                || matches!(step.op, Op::Helper { id, .. } if self.own.contains_key(&id)))
        {
            row.lanes = keeping(row.lanes[0]);
        }
        Ok(row)
    }
}

/// A call of a function keeps r6 to r9, of which the last lane reads two.
fn keeping(call: XdpLanePart) -> [XdpLanePart; LANES] {
    [XdpLanePart { a: 6, b: 7, ..call }, XdpLanePart { a: 8, b: 9, ..XdpLanePart::default() }]
}

/// The 80 bits of a lane as fields.
fn parted(bits: u128) -> XdpLanePart {
    XdpLanePart::get(0, &mut BitReader::new(&[bits as u32, (bits >> 32) as u32, (bits >> 64) as u32]))
}

/// The lane of a number that the linker puts in.
fn constant(dst: u8) -> XdpLanePart {
    parted(lane(&Op::Constant { dst, value: WideValue::Number(0) }))
}
