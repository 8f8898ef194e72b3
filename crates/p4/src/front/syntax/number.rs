//! Numbers: `10`, `0x1F`, `8w0xFF`, `4s0b1010`, with `_` between digits.

use super::ast::Number;
use num_bigint::BigInt;

/// Most characters of a number.
const MOST_DIGITS: usize = 4096;

/// Reads a number as it is written, or says what is wrong.
pub(crate) fn number(text: &str) -> Result<Number, String> {
    if text.len() > MOST_DIGITS {
        return Err(format!("it has more than {MOST_DIGITS} characters"));
    }
    let leading = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
    let (width, signed, rest) = match text.as_bytes().get(leading) {
        Some(b'w' | b's') => {
            if text[..leading].contains('_') {
                return Err("its width has a `_`, which stands between digits of the value only".to_string());
            }
            let width = text[..leading].parse::<u32>().map_err(|_| "its width is too large".to_string())?;
            (Some(width), text.as_bytes()[leading] == b's', &text[leading + 1..])
        }
        _ => (None, false, text),
    };
    let lower = rest.get(..2).map(str::to_ascii_lowercase);
    let (radix, digits) = match lower.as_deref() {
        Some("0x") => (16, &rest[2..]),
        Some("0b") => (2, &rest[2..]),
        Some("0o") => (8, &rest[2..]),
        Some("0d") => (10, &rest[2..]),
        _ => (10, rest),
    };
    let clean = digits.replace('_', "");
    if clean.is_empty() {
        return Err("it has no digits".to_string());
    }
    match clean.bytes().all(|b| char::from(b).is_digit(radix)) {
        true => {
            let value = BigInt::parse_bytes(clean.as_bytes(), radix).expect("these are digits");
            Ok(Number { value, width, signed })
        }
        false => Err(format!("its digits are of base {radix}; 8w0xFF is one of 8 bits, 8s5 one with a sign")),
    }
}
