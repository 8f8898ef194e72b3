//! What the engine in hardware has counted, as text and as JSON.

use serde_json::{Value, json};
use sluice_device::{Device, EngineCounts, EngineFault};
use sluice_ebpf::Program;
use sluice_hxdp::Bundles;
use std::collections::BTreeMap;

/// A program, and the bundles that the engine has of it.
pub type Compiled<'a> = Option<(&'a Bundles, &'a Program)>;

/// What an engine in hardware has counted of each module whose packets it ran; nothing on a device that has none.
pub fn of_modules(device: &mut dyn Device, modules: impl Iterator<Item = u8>) -> BTreeMap<u8, EngineCounts> {
    let Ok(maps) = device.maps() else { return BTreeMap::new() };
    let counts = |module| Some((module, maps.engine_counts(module).ok()??));
    modules.filter_map(counts).filter(|(_, counts)| counts.packets() > 0).collect()
}

/// Lines of text.
pub fn text(counts: &EngineCounts, compiled: Compiled) -> Vec<String> {
    let packets = counts.packets().max(1) as f64;
    let mut lines = vec![format!(
        "{} packets executed, {:.1} bundles and {:.1} cycles in a context a packet",
        counts.packets(),
        counts.bundles() as f64 / packets,
        counts.cycles() as f64 / packets
    )];
    let waits = counts.waits().into_iter().filter(|(_, spent)| spent.cycles > 0);
    let waits: Vec<String> =
        waits.map(|(cause, spent)| format!("{cause} {:.1}", spent.cycles as f64 / packets)).collect();
    if !waits.is_empty() {
        lines.push(format!("cycles a packet by what it waits for: {}", waits.join(", ")));
    }
    lines.extend(counts.faults().map(|(kind, packets)| format!("{packets} ended by a fault: {}", kind.name())));
    lines.extend(counts.last_fault.map(|fault| format!("the last fault: {}", place(&fault, compiled))));
    lines
}

/// One object.
pub fn value(counts: &EngineCounts, compiled: Compiled) -> Value {
    let waits: serde_json::Map<String, Value> =
        counts.waits().into_iter().map(|(cause, spent)| (cause.to_owned(), json!(spent))).collect();
    let faults: serde_json::Map<String, Value> =
        counts.faults().map(|(kind, packets)| (kind.name().to_owned(), json!(packets))).collect();
    let last = counts.last_fault.map(|fault| {
        let found = located(&fault, compiled);
        json!({
            "kind": fault.kind.name(), "row": fault.row, "lane": fault.lane,
            "slot": found.as_ref().map(|found| found.slot),
            "function": found.as_ref().map(|found| &found.function),
            "line": found.and_then(|found| found.line),
        })
    });
    json!({
        "packets": counts.packets(), "bundles": counts.bundles(), "cycles": counts.cycles(),
        "waits": waits, "faults": faults, "last_fault": last,
    })
}

/// Where an instruction comes from.
struct Located {
    slot: u32,
    function: String,
    line: Option<String>,
}

/// The instruction that a fault's row and lane were compiled from.
fn located(fault: &EngineFault, compiled: Compiled) -> Option<Located> {
    let (bundles, program) = compiled?;
    let slot = bundles.rows.get(fault.row? as usize)?.lanes.get(usize::from(fault.lane))?.slot;
    let function = program.functions.iter().rev().find(|f| f.start <= slot).map_or(&program.name, |f| &f.name);
    let line = program.line_of(slot).map(|line| format!("{}:{}", line.file, line.line));
    Some(Located { slot, function: function.clone(), line })
}

/// A fault in words.
fn place(fault: &EngineFault, compiled: Compiled) -> String {
    let row = fault.row.map_or_else(|| "of a program that is gone".to_owned(), |row| format!("row {row}"));
    let found = located(fault, compiled).map(|found| {
        let line = found.line.map_or_else(String::new, |line| format!(" ({line})"));
        format!(", instruction {} of {}{line}", found.slot, found.function)
    });
    format!("{}, {row}, lane {}{}", fault.kind.name(), fault.lane, found.unwrap_or_default())
}
