//! Protobuf's binary form.

use super::message::{Content, Message};

/// How a field is written: a number, or bytes with their length.
const NUMBER: u64 = 0;
const BYTES: u64 = 2;

pub(super) fn written(message: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    fields(message, &mut out);
    out
}

fn fields(message: &Message, out: &mut Vec<u8>) {
    // Numbers of one field that may be several stand together, with one length.
    let all = message.fields();
    let mut at = 0;
    while let Some(field) = all.get(at) {
        let tag = |kind| (u64::from(field.number) << 3) | kind;
        if let (Content::Number(_), true) = (&field.content, field.repeated) {
            let mut numbers = Vec::new();
            while let Some(Content::Number(value)) =
                all.get(at).filter(|other| other.number == field.number).map(|other| &other.content)
            {
                number(*value as u64, &mut numbers);
                at += 1;
            }
            number(tag(BYTES), out);
            bytes(&numbers, out);
            continue;
        }
        match &field.content {
            Content::Number(value) | Content::Wide(value) | Content::Word(_, value) => {
                number(tag(NUMBER), out);
                number(*value as u64, out);
            }
            Content::Bool(value) => {
                number(tag(NUMBER), out);
                number(u64::from(*value), out);
            }
            Content::Text(text) => {
                number(tag(BYTES), out);
                bytes(text.as_bytes(), out);
            }
            Content::Bytes(all) => {
                number(tag(BYTES), out);
                bytes(all, out);
            }
            Content::Message(inner) => {
                number(tag(BYTES), out);
                bytes(&written(inner), out);
            }
            Content::Entry(key, inner) => {
                number(tag(BYTES), out);
                let entry = Message::default().with(1, "key", Content::Text(key.clone()));
                bytes(&written(&entry.with(2, "value", Content::Message(inner.clone()))), out);
            }
        }
        at += 1;
    }
}

/// Seven bits a byte, the lowest first.
fn number(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn bytes(all: &[u8], out: &mut Vec<u8>) {
    number(all.len() as u64, out);
    out.extend_from_slice(all);
}
