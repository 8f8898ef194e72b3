//! `strtol`, `strtoul`, `strncmp`.

use super::format::is_space;
use super::memory;
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::{Errno, FaultReason};

/// `long bpf_strtol(buf, buf_len, flags, res)`.
pub const STRTOL: Helper = Helper {
    id: 105,
    name: "strtol",
    args: &[Arg::Read, Arg::Size, Arg::Number, Arg::WriteExact(8)],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: strtol,
};

/// `long bpf_strtoul(buf, buf_len, flags, res)`.
pub const STRTOUL: Helper = Helper {
    id: 106,
    name: "strtoul",
    args: &[Arg::Read, Arg::Size, Arg::Number, Arg::WriteExact(8)],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: strtoul,
};

/// `long bpf_strncmp(s1, s1_sz, s2)`.
pub const STRNCMP: Helper = Helper {
    id: 182,
    name: "strncmp",
    args: &[Arg::Read, Arg::Size, Arg::Text],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: strncmp,
};

/// Bytes behind the sign that are looked at.
const MAX_DIGITS: usize = 63;

fn strtol(cpu: &mut Cpu<'_>, [text, len, flags, to, _]: [u64; 5]) -> Result<u64, FaultReason> {
    let text = memory::copy(cpu, STRTOL.name, text, len as u32)?;
    let parsed = parse(text.bytes(), flags).and_then(|(negative, value, used)| {
        let signed = if negative { value.wrapping_neg() as i64 } else { value as i64 };
        let fits = if negative { signed <= 0 } else { signed >= 0 };
        if fits { Ok((signed as u64, used)) } else { Err(Errno::RANGE) }
    });
    give(cpu, STRTOL.name, to, parsed)
}

fn strtoul(cpu: &mut Cpu<'_>, [text, len, flags, to, _]: [u64; 5]) -> Result<u64, FaultReason> {
    let text = memory::copy(cpu, STRTOUL.name, text, len as u32)?;
    let parsed = parse(text.bytes(), flags)
        .and_then(|(negative, value, used)| if negative { Err(Errno::INVAL) } else { Ok((value, used)) });
    give(cpu, STRTOUL.name, to, parsed)
}

/// Writes the number, 0 for an error, and returns how many bytes it took.
fn give(
    cpu: &mut Cpu<'_>,
    helper: &'static str,
    to: u64,
    parsed: Result<(u64, u64), Errno>,
) -> Result<u64, FaultReason> {
    let (value, result) = match parsed {
        Ok((value, used)) => (value, used),
        Err(errno) => (0, errno.result()),
    };
    memory::write(cpu, helper, to, &value.to_le_bytes())?;
    Ok(result)
}

/// Sign, magnitude and bytes used of the number a text begins with.
fn parse(text: &[u8], flags: u64) -> Result<(bool, u64, u64), Errno> {
    if text.is_empty() || !matches!(flags, 0 | 8 | 10 | 16) {
        return Err(Errno::INVAL);
    }
    let spaces = text.iter().take_while(|c| is_space(**c)).count();
    let negative = text.get(spaces) == Some(&b'-');
    let begin = spaces + usize::from(negative);
    let digits = &text[begin..];
    if digits.is_empty() {
        return Err(Errno::INVAL);
    }
    let digits = &digits[..digits.len().min(MAX_DIGITS)];
    let hex_prefix = digits.len() > 1 && digits[0] == b'0' && digits[1].eq_ignore_ascii_case(&b'x');
    let base = match flags {
        0 if hex_prefix && digits.get(2).is_some_and(u8::is_ascii_hexdigit) => 16,
        0 if digits[0] == b'0' => 8,
        0 => 10,
        base => base as u32,
    };
    let prefix = if base == 16 && hex_prefix { 2 } else { 0 };
    let (mut value, mut count, mut overflow) = (0u64, 0, false);
    for c in &digits[prefix..] {
        let Some(digit) = char::from(*c).to_digit(base) else { break };
        let next = value.checked_mul(base.into()).and_then(|v| v.checked_add(digit.into()));
        overflow |= next.is_none();
        value = next.unwrap_or(value);
        count += 1;
    }
    match count {
        _ if overflow => Err(Errno::RANGE),
        0 => Err(Errno::INVAL),
        _ => Ok((negative, value, (begin + prefix + count) as u64)),
    }
}

fn strncmp(cpu: &mut Cpu<'_>, [text, len, other, ..]: [u64; 5]) -> Result<u64, FaultReason> {
    let text = memory::copy(cpu, STRNCMP.name, text, len as u32)?;
    for (i, a) in text.bytes().iter().enumerate() {
        let b = cpu.read(STRNCMP.name, other.wrapping_add(i as u64), 1)?[0];
        match a.cmp(&b) {
            std::cmp::Ordering::Less => return Ok(-1i64 as u64),
            std::cmp::Ordering::Greater => return Ok(1),
            std::cmp::Ordering::Equal if b == 0 => break,
            std::cmp::Ordering::Equal => {}
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parsed_as_the_kernel_does() {
        assert_eq!(parse(b" -12x", 0), Ok((true, 12, 4)));
        assert_eq!(parse(b"0x1g", 0), Ok((false, 1, 3)));
        assert_eq!(parse(b"0xg", 0), Ok((false, 0, 1)));
        assert_eq!(parse(b"0xg", 16), Err(Errno::INVAL));
        assert_eq!(parse(b"0777", 0), Ok((false, 0o777, 4)));
        assert_eq!(parse(b"18446744073709551615", 10), Ok((false, u64::MAX, 20)));
        assert_eq!(parse(b"18446744073709551616", 10), Err(Errno::RANGE));
        assert_eq!(parse(b"1", 7), Err(Errno::INVAL));
        assert_eq!(parse(b"-", 0), Err(Errno::INVAL));
        assert_eq!(parse(b"", 0), Err(Errno::INVAL));
    }
}
