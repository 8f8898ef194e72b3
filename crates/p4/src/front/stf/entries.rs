//! Entries: values of a script as keys and action data of the program.

use super::command::{ActionCall, Pair, Word};
use super::error::StfProblem;
use super::line::Wrong;
use super::names;
use crate::front::interpret::{Code, Entry, Key, Match, MatchKind, Number, Shape, Table, Value, rank_of};
use num_bigint::BigUint;

fn wrong<T>(word: &Word, why: impl Into<String>) -> Result<T, Wrong> {
    let what = format!("value {}", sluice_packet::text::quote(&word.text));
    Err((word.span, StfProblem::Value { what, why: why.into() }))
}

/// A number in its base: digits, radix.
fn radix(text: &str) -> (&str, u32) {
    let (head, base) = (text.get(..2).unwrap_or_default(), text.get(2..).unwrap_or_default());
    match head {
        "0x" | "0X" => (base, 16),
        "0b" | "0B" => (base, 2),
        "0o" | "0O" => (base, 8),
        _ => (text, 10),
    }
}

/// Most digits of a number.
const MOST_DIGITS: usize = 20_000;

fn number(word: &Word, text: &str) -> Result<BigUint, Wrong> {
    let (digits, radix) = radix(text);
    let clean = digits.replace('_', "");
    let found = if clean.len() > MOST_DIGITS { None } else { BigUint::parse_bytes(clean.as_bytes(), radix) };
    match found {
        Some(number) if clean.bytes().all(|b| b.is_ascii_alphanumeric()) => Ok(number),
        _ => wrong(word, "it is no number, as 10, 0x1F or 0b101"),
    }
}

fn fitting(word: &Word, number: BigUint, width: u32) -> Result<Value, Wrong> {
    match number.bits() <= u64::from(width) {
        true => Ok(Value::of_big(number, width)),
        false => wrong(word, format!("it has {} bits, here are {width}", number.bits())),
    }
}

/// A value of that shape.
pub(super) fn value(word: &Word, text: &str, shape: &Shape) -> Result<Value, Wrong> {
    match shape {
        Shape::Bool => match text {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => match number(word, text)? {
                n if n == BigUint::from(0u8) => Ok(Value::Bool(false)),
                n if n == BigUint::from(1u8) => Ok(Value::Bool(true)),
                _ => wrong(word, "a bool is true, false, 1 or 0"),
            },
        },
        Shape::Enum(names) => match names.iter().position(|name| **name == *text) {
            Some(at) => Ok(Value::Bits(at as u128)),
            None => fitting(word, number(word, text)?, 32),
        },
        shape => match text.strip_prefix('-') {
            Some(positive) => {
                let Number { width, signed } = shape.number();
                let number = number(word, positive)?;
                if !signed {
                    return wrong(word, format!("it is below zero, and here are {width} bits without a sign"));
                }
                if number > BigUint::from(1u8) << (width - 1) {
                    return wrong(word, format!("here are {width} bits with a sign"));
                }
                Ok(Value::of_int(&-num_bigint::BigInt::from(number), width))
            }
            None => fitting(word, number(word, text)?, shape.number().width),
        },
    }
}

fn all_ones(width: u32) -> Value {
    Value::of_big((BigUint::from(1u8) << width) - 1u8, width)
}

/// Value and mask of digits of which some may be `*`. As public drivers do it, what is above them does not count.
fn digits(word: &Word, text: &str, width: u32) -> Result<Match, Wrong> {
    let (digits, base) = radix(text);
    let bits = match base {
        16 => 4,
        8 => 3,
        2 => 1,
        _ => return wrong(word, "`*` stands among hexadecimal, octal or binary digits"),
    };
    let (mut value, mut mask) = (BigUint::default(), BigUint::default());
    if digits.len() > MOST_DIGITS {
        return wrong(word, "it has too many digits");
    }
    for c in digits.chars() {
        value <<= bits;
        mask <<= bits;
        match (c, c.to_digit(base)) {
            ('*', _) => {}
            (_, Some(digit)) => {
                value |= BigUint::from(digit);
                mask |= BigUint::from((1u8 << bits) - 1);
            }
            _ => return wrong(word, "it is no number"),
        }
    }
    let low = |number: BigUint| number & ((BigUint::from(1u8) << width) - 1u8);
    if value.bits() > u64::from(width) {
        return wrong(word, format!("it has {} bits, here are {width}", value.bits()));
    }
    Ok(Match::Masked(Value::of_big(value, width), Value::of_big(low(mask), width)))
}

/// Forms of values that keys of one kind take, by what they are known by.
const FORMS: [(&str, MatchKind, &str); 4] = [
    ("/", MatchKind::Lpm, "a prefix, for keys of lpm"),
    ("&&&", MatchKind::Ternary, "a value and a mask, for keys of ternary"),
    ("->", MatchKind::Range, "a range, for keys of range"),
    ("..", MatchKind::Range, "a range, for keys of range"),
];

/// What a script asks of a key.
fn matched(pair: &Pair, key: &Key) -> Result<Match, Wrong> {
    let (word, text) = (&pair.value, pair.value.text.as_str());
    let width = key.shape.number().width;
    let member = |text: &str| key.members.iter().find(|(name, _)| **name == *text).map(|(_, value)| value.clone());
    let one = |text: &str| match member(text.rsplit('.').next().unwrap_or(text)) {
        Some(value) => Ok(value),
        None => value(word, text, &key.shape),
    };
    if let Some((.., form)) = FORMS.iter().find(|(mark, kind, _)| text.contains(mark) && key.kind != *kind) {
        return wrong(word, format!("it is {form}, and `{}` is of another kind", key.name));
    }
    if text == "*" && key.kind != MatchKind::Exact {
        return Ok(match key.kind {
            MatchKind::Lpm => {
                Match::Prefix(Value::of_big(BigUint::default(), width), Value::of_big(BigUint::default(), width), 0)
            }
            _ => Match::Any,
        });
    }
    match key.kind {
        MatchKind::Selector => wrong(word, "a selector's key has no value in an entry"),
        MatchKind::Exact | MatchKind::Optional => Ok(Match::Exact(one(text)?)),
        MatchKind::Lpm => {
            let (text, length) = match text.split_once('/') {
                Some((text, length)) => (text.to_string(), length.parse::<u32>().ok().filter(|l| *l <= width)),
                None => {
                    // Digits that do not count, at the end, shorten the prefix.
                    let stars = (text.len() - text.trim_end_matches('*').len()) as u32;
                    let bits = if radix(text).1 == 2 { 1 } else { 4 };
                    let zeros = "0".repeat(stars as usize);
                    (format!("{}{zeros}", text.trim_end_matches('*')), width.checked_sub(stars.saturating_mul(bits)))
                }
            };
            let Some(length) = length else { return wrong(word, format!("a prefix has 0 to {width} bits")) };
            let ones = (BigUint::from(1u8) << width) - 1u8;
            let low = (BigUint::from(1u8) << (width - length)) - 1u8;
            let mask = ones ^ low;
            let value = one(&text)?.big() & &mask;
            Ok(Match::Prefix(Value::of_big(value, width), Value::of_big(mask, width), length))
        }
        MatchKind::Ternary => match text.split_once("&&&") {
            Some((text, mask)) => Ok(Match::Masked(one(text)?, value(word, mask, &key.shape)?)),
            None if text.contains('*') => digits(word, text, width),
            None if radix(text).1 != 10 && key.shape != Shape::Bool => digits(word, text, width),
            None => Ok(match one(text)? {
                Value::Bool(bit) => Match::Exact(Value::Bool(bit)),
                value => Match::Masked(value, all_ones(width)),
            }),
        },
        MatchKind::Range => match text.split_once("->").or_else(|| text.split_once("..")) {
            Some((low, high)) => Ok(Match::Range(one(low)?, one(high)?)),
            None => {
                let value = one(text)?;
                Ok(Match::Range(value.clone(), value))
            }
        },
    }
}

/// Keys of an entry, in the order of the table; one that is left out is any, or zero where it is exact.
pub(super) fn matches(keys: &[Pair], table: &Table) -> Result<Vec<Match>, Wrong> {
    let mut all: Vec<Option<Match>> = table.keys.iter().map(|_| None).collect();
    for pair in keys {
        let name = names::key(&pair.name);
        let known = table.keys.iter().enumerate().map(|(at, key)| (at, key.name.as_str()));
        let at = names::find("key", &name, known)?;
        if all[at].is_some() {
            let why = "it stands twice".to_string();
            return Err((pair.name.span, StfProblem::Name { what: "key", name: name.text, why }));
        }
        all[at] = Some(matched(pair, &table.keys[at])?);
    }
    let mut out = Vec::with_capacity(all.len());
    for (given, key) in all.into_iter().zip(&table.keys) {
        out.push(match (given, key.kind) {
            (Some(given), _) => given,
            (None, MatchKind::Exact) => Match::Exact(key.shape.zero()),
            (None, MatchKind::Lpm) => {
                let zero = Value::of_big(BigUint::default(), key.shape.number().width);
                Match::Prefix(zero.clone(), zero, 0)
            }
            (None, _) => Match::Any,
        });
    }
    Ok(out)
}

/// The action of a table that a script names, with its data.
pub(super) fn action(call: &ActionCall, table: &Table, code: &Code) -> Result<(usize, Vec<Value>), Wrong> {
    let all = table.actions.iter().enumerate().map(|(at, action)| (at, code.actions[action.action].name.as_str()));
    let at = names::find("action", &call.name, all)?;
    let action = &code.actions[table.actions[at].action];
    let data = &action.parameters[table.actions[at].bound.len()..];
    let mut values: Vec<Option<Value>> = data.iter().map(|_| None).collect();
    for (i, (name, word)) in call.arguments.iter().enumerate() {
        let at = match name {
            Some(name) => names::find("parameter", name, data.iter().enumerate().map(|(at, p)| (at, &*p.name)))?,
            None if i < data.len() => i,
            None => return wrong(word, format!("`{}` takes {} values", action.name, data.len())),
        };
        if values[at].is_some() {
            let (name, why) = (data[at].name.to_string(), "it stands twice".to_string());
            return Err((word.span, StfProblem::Name { what: "parameter", name, why }));
        }
        values[at] = Some(value(word, &word.text, &data[at].shape)?);
    }
    let mut out = Vec::with_capacity(values.len());
    for (value, parameter) in values.into_iter().zip(data) {
        match value.or_else(|| parameter.default.clone()) {
            Some(value) => out.push(value),
            None => {
                let (name, why) = (call.name.text.clone(), format!("its parameter `{}` has no value", parameter.name));
                return Err((call.name.span, StfProblem::Name { what: "action", name, why }));
            }
        }
    }
    Ok((at, out))
}

/// What a priority of a script is among the ranks of entries, of which the smallest wins: the largest priority wins,
/// but entries that the program itself has, in their order, come before.
pub(super) fn rank(priority: Option<i64>) -> i64 {
    const ABOVE: i64 = 1 << 40;
    ABOVE - priority.unwrap_or(0)
}

/// An entry as a script gives it.
pub(super) fn entry(
    priority: Option<i64>,
    keys: &[Pair],
    call: &ActionCall,
    table: &Table,
    code: &Code,
) -> Result<Entry, Wrong> {
    let matches = matches(keys, table)?;
    let (action, data) = action(call, table, code)?;
    let rank = rank_of(&table.keys, &matches, rank(priority));
    Ok(Entry { matches, rank, action, data })
}
