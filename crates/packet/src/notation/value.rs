//! Values of fields: how each form is read and written.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::headers::bits::FieldValue;
use crate::headers::{FieldSpec, Form, TCP_FLAG_LETTERS};
use crate::mac::MacAddr;
use crate::text::number;

/// Reads a value of `field`; `None` when it has not the field's form or does not fit.
pub(super) fn read(field: &FieldSpec, text: &str) -> Option<u128> {
    let value = match field.form {
        Form::Dec | Form::Hex => number(text)?,
        Form::Mac => text.parse::<MacAddr>().ok()?.into_bits(),
        Form::Ipv4 => text.parse::<Ipv4Addr>().ok()?.into_bits(),
        Form::Ipv6 => text.parse::<Ipv6Addr>().ok()?.into_bits(),
        Form::TcpFlags => read_flags(text)?,
    };
    (value <= field.max()).then_some(value)
}

/// Writes a value of `field`.
pub(super) fn write(field: &FieldSpec, value: u128) -> String {
    match field.form {
        Form::Dec => value.to_string(),
        Form::Hex => format!("0x{value:0width$x}", width = field.bits.div_ceil(4)),
        Form::Mac => MacAddr::from_bits(value).to_string(),
        Form::Ipv4 => Ipv4Addr::from_bits(value as u32).to_string(),
        Form::Ipv6 => Ipv6Addr::from_bits(value).to_string(),
        Form::TcpFlags => write_flags(value),
    }
}

/// What may stand there, for an error.
pub(super) fn allowed(field: &FieldSpec) -> String {
    match field.form {
        Form::Dec => format!("a number up to {}", field.max()),
        Form::Hex => format!("a number up to {:#x}", field.max()),
        Form::Mac => "an Ethernet address as in 02:00:00:00:00:01".to_string(),
        Form::Ipv4 => "an IPv4 address as in 10.0.0.1".to_string(),
        Form::Ipv6 => "an IPv6 address as in fd00::1".to_string(),
        Form::TcpFlags => format!("letters of {TCP_FLAG_LETTERS}, or - for none"),
    }
}

fn read_flags(text: &str) -> Option<u128> {
    if let Some(value) = number(text) {
        return Some(value);
    }
    if text == "-" {
        return Some(0);
    }
    text.chars().try_fold(0u128, |flags, letter| {
        let bit = 0x80u128 >> TCP_FLAG_LETTERS.find(letter)?;
        (flags & bit == 0).then_some(flags | bit)
    })
}

fn write_flags(value: u128) -> String {
    if value == 0 {
        return "-".to_string();
    }
    let letters = TCP_FLAG_LETTERS.chars().enumerate();
    let set = letters.filter(|(i, _)| value & (0x80 >> i) != 0);
    set.map(|(_, letter)| letter).collect()
}

/// Hexadecimal digits, in pairs; blanks, colons and underscores between them are ignored.
pub(crate) fn read_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|b| !matches!(b, b' ' | b':' | b'_')).collect();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |b: u8| (b as char).to_digit(16);
    let pairs = digits.chunks_exact(2);
    pairs.map(|p| Some((digit(p[0])? << 4 | digit(p[1])?) as u8)).collect()
}

/// Hexadecimal digits of `bytes`.
pub(crate) fn write_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
