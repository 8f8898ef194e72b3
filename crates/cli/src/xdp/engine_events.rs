//! What a program on the engine told, as the report shows it.

use super::report::{SHOWN_EVENTS, spaced};
use crate::run::events::line;
use serde_json::{Value, json};
use sluice_device::ProgramEvent;

/// Events, and how many found no room.
fn parts(events: &[ProgramEvent]) -> (Vec<&ProgramEvent>, u64) {
    let lost = events.iter().map(|event| if let ProgramEvent::Lost { events } = event { *events } else { 0 });
    (events.iter().filter(|event| !matches!(event, ProgramEvent::Lost { .. })).collect(), lost.sum())
}

/// One event as a line of text.
pub fn shown(event: &ProgramEvent) -> String {
    match event {
        ProgramEvent::Trace { line } => format!("  trace: {}", line.trim_end()),
        ProgramEvent::Perf { map, cpu, data } => format!("  {map} (cpu {cpu}): {}", spaced(data)),
        ProgramEvent::Ring { map, data } => format!("  {map}: {}", spaced(data)),
        ProgramEvent::Lost { events } => format!("  {events} lost"),
    }
}

/// Lines of text: how many, and the first ones.
pub fn text(events: &[ProgramEvent]) -> Vec<String> {
    let (told, lost) = parts(events);
    if told.is_empty() && lost == 0 {
        return Vec::new();
    }
    let lines = told.iter().take(SHOWN_EVENTS).map(|event| shown(event));
    std::iter::once(format!("events: {}, and {lost} lost", told.len())).chain(lines).collect()
}

/// All of them, and how many were lost.
pub fn value(events: &[ProgramEvent]) -> (Value, Value) {
    let (told, lost) = parts(events);
    (told.into_iter().map(line).collect(), json!(lost))
}
