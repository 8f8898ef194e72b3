//! Events that a program tells the host, as the engine in hardware has them: which map or format a call names, and room for a
//! record. docs/design/hxdp-core.md, "Events".

use crate::pass::Code;
use crate::pass::liveness::Liveness;
use crate::{Op, locked};
use sluice_ebpf::analysis::{Base, Call, MapRef, print_format, print_slots};
use sluice_ebpf::{Image, MapType, Program, helper};
use sluice_formats::xdp::target::{RECORD_BYTES, RECORD_UNIT};
use std::collections::BTreeMap;

/// `trace_printk`.
pub const PRINT: i32 = 6;
/// `perf_event_output`.
pub const PERF: i32 = 25;
/// `ringbuf_output`, `ringbuf_reserve`, `ringbuf_submit`, `ringbuf_discard`.
pub const OUTPUT: i32 = 130;
/// As above.
pub const RESERVE: i32 = 131;
/// As above.
pub const SUBMIT: i32 = 132;
/// As above.
pub const DISCARD: i32 = 133;
/// Helpers that tell of events.
pub const HELPERS: [i32; 6] = [PRINT, PERF, OUTPUT, RESERVE, SUBMIT, DISCARD];

/// `csum_diff`, `xdp_load_bytes`, `xdp_store_bytes`: what they read or write may be a record.
const TAKE_RECORDS: [i32; 3] = [28, 189, 190];

/// What is known of a program's calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Which map or format it is, by slot; or what the engine has not.
    pub channels: BTreeMap<u32, Result<u8, String>>,
    /// Calls of other helpers that only the software NIC makes, and why: they are given a record, or change a value under its lock.
    pub refused: BTreeMap<u32, String>,
    /// Room for a record, in units of the program's row.
    pub records: u8,
}

impl Events {
    /// Of a program behind all passes. `regions` is the analysis of it.
    pub fn of(image: &Image, program: &Program, code: &Code) -> Self {
        let mut events = Self::default();
        let before: usize = image
            .programs
            .iter()
            .take_while(|other| !std::ptr::eq(*other, program) && other.name != program.name)
            .map(|other| print_slots(other).len())
            .sum();
        let prints = print_slots(program);
        let used = if prints.is_empty() { Vec::new() } else { used_results(code) };
        for (slot, at) in (0u32..).zip(&code.regions.slots) {
            let Some(call) = &at.call else { continue };
            let is_record = |(_, value): &&(_, sluice_ebpf::analysis::Value)| matches!(value.base, Base::Record(_));
            if !HELPERS.contains(&call.helper) {
                if !TAKE_RECORDS.contains(&call.helper) && call.args.iter().any(|arg| is_record(&arg)) {
                    events.refused.insert(slot, "records of ring buffers as arguments of other helpers".to_owned());
                }
                if let Some(why) = locked::refused(image, at) {
                    events.refused.insert(slot, why);
                }
                continue;
            }
            let channel = match call.helper {
                PRINT => {
                    let number = prints.iter().position(|print| *print == slot).map(|at| before + at);
                    print(image, code, slot, number, used.contains(&slot))
                }
                PERF => map(image, call, MapType::PerfEventArray),
                OUTPUT => map(image, call, MapType::Ringbuf),
                RESERVE => map(image, call, MapType::Ringbuf).and_then(|channel| {
                    let bytes = call.args.get(1).and_then(|(_, bytes)| bytes.as_constant());
                    let bytes = bytes.ok_or("records of a size that is not known before")?;
                    if bytes > RECORD_BYTES as u64 {
                        return Err(format!("records of {bytes} bytes, but of {RECORD_BYTES} at most"));
                    }
                    events.records = events.records.max((bytes as usize).div_ceil(RECORD_UNIT) as u8);
                    Ok(channel)
                }),
                // The record's map is that of its reservation.
                _ => Ok(0),
            };
            events.channels.insert(slot, channel);
        }
        events
    }

    /// The number of the map or format that a call of this helper names.
    pub fn channel(&self, slot: u32, id: i32) -> Result<u8, String> {
        let name = helper::find(id).map_or("", |helper| helper.name);
        let unknown = || Err(format!("helper `{name}` in a program of which nothing is known"));
        self.channels.get(&slot).cloned().unwrap_or_else(unknown)
    }
}

fn map(image: &Image, call: &Call, kind: MapType) -> Result<u8, String> {
    match call.map {
        Some(MapRef::Map(index)) if image.maps.get(index as usize).is_some_and(|map| map.kind == kind) => {
            u8::try_from(index).map_err(|_| format!("events of map {index}, but of the first 256"))
        }
        _ => Err("events of a map that the call does not name".to_owned()),
    }
}

fn print(image: &Image, code: &Code, slot: u32, number: Option<usize>, used: bool) -> Result<u8, String> {
    if used {
        return Err("length of what `trace_printk` writes".to_owned());
    }
    print_format(image, &code.regions, slot).map_err(|what| format!("`trace_printk` with a format that is {what}"))?;
    let number = number.and_then(|number| u8::try_from(number).ok());
    number.ok_or_else(|| "more than 256 calls of `trace_printk`".to_owned())
}

/// Slots of calls of `trace_printk` whose result is read.
fn used_results(code: &Code) -> Vec<u32> {
    let live = Liveness::of(code);
    let mut used = Vec::new();
    for (label, trace) in &code.traces {
        let behind = live.behind(code.is_main(*label), trace);
        let reads = trace.steps.iter().zip(behind);
        let reads = reads.filter(|(step, live)| matches!(step.op, Op::Helper { id: PRINT, .. }) && live & 1 == 1);
        used.extend(reads.map(|(step, _)| step.slot));
    }
    used
}
