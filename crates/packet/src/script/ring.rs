//! Statements about rings of message dispatch.

use super::ast::{Command, RingOperation};
use super::parse::Parser;
use super::setup::{twice, unknown_option};
use super::words::{Located, Words};

/// Longest buffer of a ring.
const MOST_BYTES: u128 = 1 << 20;
/// Descriptors of a ring of which nothing is said.
const USUAL_SIZE: u32 = 16;
/// Fewest and most of them.
const SIZES: (u128, u128) = (4, 32_768);

/// The tenant, and the queue whose ring it is.
fn ring_of(parser: &Parser<'_>, words: &mut Words<'_>) -> Located<(String, u8)> {
    let tenant = parser.tenant(words)?;
    let queue = words.need("the number of a queue")?.number("the queue", 0, u8::MAX.into())? as u8;
    Ok((tenant, queue))
}

pub(super) fn ring(parser: &Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let (tenant, queue) = ring_of(parser, words)?;
    let word = words.need("`open`, `post` or `close`")?;
    let operation = match word.text {
        "open" => RingOperation::Open { size: size(words)? },
        "post" => {
            let count = words.repetition()?;
            let bytes = words.need("the bytes of a buffer")?.number("the bytes of a buffer", 1, MOST_BYTES)? as u32;
            RingOperation::Post { count, bytes }
        }
        "close" => RingOperation::Close,
        _ => return Err((word.span, word.unexpected("`open`, `post` or `close`"))),
    };
    Ok(Command::Ring { tenant, queue, operation })
}

fn size(words: &mut Words<'_>) -> Located<u32> {
    let mut size = None;
    while let Some(option) = words.next() {
        let (name, value) = option.option();
        let ("size", Some(value)) = (name.text, value) else { return Err(unknown_option("ring", option)) };
        let n = value.number("the size", SIZES.0, SIZES.1)? as u32;
        if !n.is_power_of_two() {
            return Err(value.bad("the size", &format!("a power of two from {} to {}", SIZES.0, SIZES.1)));
        }
        if size.replace(n).is_some() {
            return Err(twice("ring", name));
        }
    }
    Ok(size.unwrap_or(USUAL_SIZE))
}

/// What stands behind `expect ring`.
pub(super) fn expect(parser: &Parser<'_>, words: &mut Words<'_>) -> Located<Command> {
    let (tenant, queue) = ring_of(parser, words)?;
    let count = words.repetition()?;
    if words.take("expired") {
        return Ok(Command::ExpectMessage { tenant, queue, count, pattern: None });
    }
    let pattern = words.pattern()?;
    Ok(Command::ExpectMessage { tenant, queue, count, pattern: Some(pattern) })
}
