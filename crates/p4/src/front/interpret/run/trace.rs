//! What a packet does, step by step, for whoever asks.

use super::{Machine, Run};
use crate::front::interpret::code::{Code, Place};
use crate::front::interpret::shape::Shape;
use crate::front::interpret::value::Value;
use crate::front::source::Span;

/// Most events that are kept of a packet.
const MOST_EVENTS: usize = 100_000;

#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A statement begins.
    Statement(Span),
    /// What stands at a place of the program now holds this.
    Value(Span, String),
    /// A table was applied: its index, whether it hit, and the index of the action among those of the program.
    Table(usize, bool, usize),
}

impl Machine {
    /// Keeps an event, if anybody asks.
    pub fn event(&mut self, event: impl FnOnce() -> Event) {
        if let Some(events) = &mut self.trace
            && events.len() < MOST_EVENTS
        {
            events.push(event());
        }
    }

    /// Keeps what a place holds.
    pub fn show(&mut self, code: &Code, span: Span, place: &Place) -> Run<()> {
        if self.trace.is_some() {
            let value = self.read(code, place)?;
            self.event(|| Event::Value(span, shown(&value, &place.shape)));
        }
        Ok(())
    }
}

/// A value in words: numbers in hexadecimal digits, headers with their fields.
fn shown(value: &Value, shape: &Shape) -> String {
    match shape {
        Shape::Bool => value.is_true().to_string(),
        Shape::Header(_) if !value.is_valid() => "invalid".to_string(),
        Shape::Struct(fields) | Shape::Header(fields) | Shape::Union(fields) => {
            let all = fields.names.iter().zip(&fields.shapes).zip(value.parts());
            let all: Vec<String> =
                all.map(|((name, shape), value)| format!("{name} {}", shown(value, shape))).collect();
            format!("{{{}}}", all.join(", "))
        }
        Shape::Stack(element, _) => {
            let all: Vec<String> = value.parts().iter().map(|value| shown(value, element)).collect();
            format!("[{}]", all.join(", "))
        }
        _ => format!("0x{:x}", value.big()),
    }
}
