//! Values of a BTF type: where a field is, how bytes read, and what bytes a text is.

use super::{MOST, listed};
use crate::load::btf::{Btf, Member, Type, kind};
use crate::map::notation;

/// Deepest nesting of structures that is followed.
const MAX_DEPTH: usize = 16;
/// Most bytes of a value that are shown.
const MOST_SHOWN: usize = 64;

/// A variable or field: its type, and its place in the variable.
pub(super) struct Found {
    pub kind: u32,
    pub offset: u32,
}

/// What was found and what is allowed.
type Wrong = (String, String);

/// The type's name as C writes it, without `const` and `volatile`.
pub(super) fn type_name(btf: &Btf<'_>, id: u32) -> String {
    let (mut id, mut lengths) = (id, String::new());
    for _ in 0..MAX_DEPTH {
        let Some(one) = btf.get(id) else { break };
        match one.kind {
            kind::VOLATILE | kind::CONST | kind::RESTRICT | kind::TYPE_TAG => id = one.size_or_type,
            kind::ARRAY => {
                let Some((element, count)) = one.array() else { break };
                lengths.push_str(&format!("[{count}]"));
                id = element;
            }
            kind::PTR => return format!("pointer{lengths}"),
            _ => {
                let tag = match one.kind {
                    kind::STRUCT => "struct ",
                    kind::UNION => "union ",
                    kind::ENUM | kind::ENUM64 => "enum ",
                    _ => "",
                };
                return format!("{tag}{}{lengths}", one.name).trim().to_owned();
            }
        }
    }
    "unknown".to_owned()
}

/// A field that is bits of a larger number.
fn is_bit_field(btf: &Btf<'_>, member: &Member<'_>) -> bool {
    let partial = btf.skip(member.kind).is_some_and(|(_, t)| {
        t.kind == kind::INT && t.encoding() & 4 == 0 && t.int_bits() != 0 && t.int_bits() != t.size_or_type * 8
    });
    member.width != 0 || !member.bit.is_multiple_of(8) || partial
}

/// Fields of a structure by name; those of nameless members are its own. Looks at `left` members at most: in an
/// object that is not right a structure may hold itself.
fn fields<'a>(btf: &Btf<'a>, one: &Type<'a>, base: u32, depth: usize, left: &mut usize) -> Vec<(Member<'a>, u32)> {
    let mut found = Vec::new();
    for member in btf.members(one) {
        let Some(fewer) = left.checked_sub(1) else { break };
        *left = fewer;
        let offset = base.saturating_add(member.bit / 8);
        match btf.skip(member.kind) {
            Some((_, inner)) if member.name.is_empty() && depth < MAX_DEPTH => {
                found.extend(fields(btf, inner, offset, depth + 1, left));
            }
            _ => found.push((member, offset)),
        }
    }
    found
}

/// What a variable is made of: structures field by field, everything else as it is.
pub(super) fn leaves(
    btf: &Btf<'_>,
    name: &str,
    kind: u32,
    offset: u32,
    to: &mut Vec<(String, u32, u32)>,
    left: &mut usize,
) {
    if *left == 0 || name.matches('.').count() > MAX_DEPTH {
        return;
    }
    match btf.skip(kind) {
        Some((_, one)) if matches!(one.kind, kind::STRUCT | kind::UNION) => {
            for (member, at) in fields(btf, one, offset, 0, left) {
                if !is_bit_field(btf, &member) {
                    leaves(btf, &format!("{name}.{}", member.name), member.kind, at, to, left);
                }
            }
        }
        _ => {
            *left -= 1;
            to.push((name.to_owned(), kind, offset));
        }
    }
}

/// Follows `.field` and `[index]`.
pub(super) fn path(btf: &Btf<'_>, kind: u32, rest: &str) -> Result<Found, Wrong> {
    let mut found = Found { kind, offset: 0 };
    let mut rest = rest;
    while !rest.is_empty() {
        let (_, one) = btf.skip(found.kind).ok_or_else(|| ("a type that is not there".to_owned(), String::new()))?;
        if let Some(field) = rest.strip_prefix('.') {
            let end = field.find(['.', '[']).unwrap_or(field.len());
            let (wanted, behind) = field.split_at(end);
            if !matches!(one.kind, kind::STRUCT | kind::UNION) {
                return Err((
                    format!("field `{wanted}` of {}", type_name(btf, found.kind)),
                    "fields of structures".to_owned(),
                ));
            }
            let all = fields(btf, one, 0, 0, &mut { MOST });
            let Some((member, offset)) = all.iter().find(|(member, _)| member.name == wanted) else {
                return Err((format!("no field `{wanted}`"), listed(all.iter().map(|(member, _)| member.name))));
            };
            if is_bit_field(btf, member) {
                return Err((format!("bit field `{wanted}`"), "whole bytes: set the structure with `hex:`".to_owned()));
            }
            (found.kind, found.offset, rest) = (member.kind, found.offset.saturating_add(*offset), behind);
            continue;
        }
        let index = rest.strip_prefix('[').and_then(|inside| inside.split_once(']'));
        let Some((index, behind)) = index else {
            return Err((format!("`{rest}`"), "`.field` or `[index]`".to_owned()));
        };
        let Some((element, count)) = one.array() else {
            return Err((format!("index {index} of {}", type_name(btf, found.kind)), "indices of arrays".to_owned()));
        };
        let number = index.parse::<u32>().ok().filter(|number| *number < count);
        let number = number.ok_or_else(|| (format!("index {index}"), format!("below {count}")))?;
        let size = btf.size(element).and_then(|size| u32::try_from(size).ok()).unwrap_or(0);
        found = Found { kind: element, offset: found.offset.saturating_add(number.saturating_mul(size)) };
        rest = behind;
    }
    Ok(found)
}

/// Whether a type is an array of characters.
fn is_text(btf: &Btf<'_>, one: &Type<'_>) -> bool {
    let element = one.array().and_then(|(element, _)| btf.skip(element));
    element.is_some_and(|(_, t)| t.kind == kind::INT && t.size_or_type == 1 && (t.name == "char" || t.encoding() == 2))
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().take(MOST_SHOWN).map(|byte| format!("{byte:02x}")).collect();
    let more = bytes.len().saturating_sub(MOST_SHOWN);
    if more == 0 { format!("hex:{digits}") } else { format!("hex:{digits}... ({more} bytes more)") }
}

/// A number of at most eight bytes.
fn number(bytes: &[u8], signed: bool) -> Option<i128> {
    let mut wide = [0; 16];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    let value = i128::from_le_bytes(wide);
    let bits = bytes.len() * 8;
    if bits == 0 || bits > 64 {
        return None;
    }
    Some(if signed && value >> (bits - 1) & 1 == 1 { value - (1 << bits) } else { value })
}

/// Bytes of a value as `--set` takes them.
pub(super) fn show(btf: &Btf<'_>, id: u32, bytes: &[u8]) -> String {
    let Some((_, one)) = btf.skip(id) else { return hex(bytes) };
    let text = match one.kind {
        kind::INT if one.encoding() & 4 != 0 && bytes.len() == 1 && bytes[0] < 2 => Some((bytes[0] == 1).to_string()),
        kind::INT => number(bytes, one.encoding() & 1 != 0).map(|n| n.to_string()),
        kind::ENUM | kind::ENUM64 => number(bytes, one.flag).map(|n| {
            let name = one.values().find(|(_, value)| *value == n).and_then(|(name, _)| btf.string(name));
            name.map_or_else(|| n.to_string(), str::to_owned)
        }),
        kind::FLOAT => match bytes.len() {
            4 => bytes.first_chunk().map(|b| f32::from_le_bytes(*b).to_string()),
            8 => bytes.first_chunk().map(|b| f64::from_le_bytes(*b).to_string()),
            _ => None,
        },
        kind::ARRAY if is_text(btf, one) => {
            let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
            let (text, rest) = bytes.split_at(end);
            let plain = text.iter().all(|byte| (b' '..0x7f).contains(byte)) && !text.contains(&b':');
            (plain && rest.iter().all(|byte| *byte == 0)).then(|| String::from_utf8_lossy(text).into_owned())
        }
        _ => None,
    };
    text.unwrap_or_else(|| hex(bytes))
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with(['+', '-']) => i128::from_str_radix(hex, 16).ok()?,
        Some(_) => return None,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

/// The bytes that a text is for a type.
pub(super) fn encode(btf: &Btf<'_>, id: u32, size: usize, text: &str) -> Result<Vec<u8>, Wrong> {
    let quoted = || format!("`{}`", text.escape_debug());
    let Some((_, one)) = btf.skip(id) else { return Err((quoted(), "a variable with a type".to_owned())) };
    if text.contains(':') {
        let bytes = notation::items(text).map_err(|e| (quoted(), format!("items such as `hex:00ff` ({e})")))?;
        return match bytes.len() {
            found if found == size => Ok(bytes),
            found => Err((format!("{found} bytes"), format!("{size} bytes"))),
        };
    }
    let whole = |value: i128, signed: bool| {
        let bits = size * 8;
        let (least, most) = match (bits, signed) {
            (0 | 65.., _) => return Err((quoted(), format!("{size} bytes as `hex:00ff`"))),
            (_, true) => (-(1 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            (_, false) => (0, (1i128 << bits) - 1),
        };
        match (least..=most).contains(&value) {
            true => Ok(value.to_le_bytes()[..size].to_vec()),
            false => Err((value.to_string(), format!("{least} to {most}: it has {bits} bits"))),
        }
    };
    match one.kind {
        kind::INT if one.encoding() & 4 != 0 => match text {
            "true" | "1" => whole(1, false),
            "false" | "0" => whole(0, false),
            _ => Err((quoted(), "true, false, 1 or 0".to_owned())),
        },
        kind::INT => match integer(text) {
            Some(value) => whole(value, one.encoding() & 1 != 0),
            None => Err((quoted(), "a number such as 7, -7 or 0x1f, or bytes as `hex:00ff`".to_owned())),
        },
        kind::ENUM | kind::ENUM64 => {
            let named = one.values().find(|(name, _)| btf.string(*name) == Some(text)).map(|(_, value)| value);
            let names = || listed(one.values().filter_map(|(name, _)| btf.string(name)));
            match named.or_else(|| integer(text)) {
                Some(value) => whole(value, one.flag),
                None => Err((quoted(), format!("a number, or {}", names()))),
            }
        }
        kind::FLOAT => match (text.parse::<f64>(), size) {
            (Ok(value), 4) => Ok((value as f32).to_le_bytes().to_vec()),
            (Ok(value), 8) => Ok(value.to_le_bytes().to_vec()),
            _ => Err((quoted(), "a number such as 0.5, or bytes as `hex:00ff`".to_owned())),
        },
        kind::ARRAY if is_text(btf, one) => match text.len() {
            found if found <= size => Ok([text.as_bytes(), &vec![0; size - found]].concat()),
            found => Err((format!("{found} bytes"), format!("at most {size} bytes"))),
        },
        kind::STRUCT | kind::UNION => {
            Err((quoted(), format!("a field (`name.field`), or all {size} bytes as `hex:00ff`")))
        }
        kind::ARRAY => Err((quoted(), format!("an element (`name[0]`), or all {size} bytes as `hex:00ff`"))),
        _ => Err((quoted(), format!("{size} bytes as `hex:00ff`"))),
    }
}
