//! Containers, words, action data and values as they are written.

use super::Printer;
use crate::action::{Action, Cross, Picks};
use crate::phv::{Class, Container};
use crate::text::lexer::mac_text;
use crate::text::lower::{EGRESS_PORT, WORDS};
use crate::text::names::{Bits, Parameter};

/// `c4[0]`, `c2[1][7:0]`
pub(super) fn plain(bits: Bits) -> String {
    let class = bits.container.class();
    let base = format!("c{}[{}]", class.bytes(), bits.container.0 % 8);
    if bits.is_whole() { base } else { format!("{base}{}", range(bits.lo, bits.width)) }
}

/// `[7:0]`, `[3]`
pub(super) fn range(lo: u8, width: u8) -> String {
    if width == 1 { format!("[{lo}]") } else { format!("[{}:{lo}]", lo + width - 1) }
}

/// Lowest bit and number of bits of a mask without holes.
pub(super) fn run(mask: u64) -> Option<(u8, u8)> {
    if mask == 0 {
        return None;
    }
    let lo = mask.trailing_zeros();
    let width = (mask >> lo).trailing_ones();
    let whole = if width == 64 { u64::MAX } else { ((1u64 << width) - 1) << lo };
    (whole == mask).then_some((lo as u8, width as u8))
}

/// A number: small ones decimal.
pub(super) fn number(value: u64) -> String {
    if value < 256 { value.to_string() } else { format!("{value:#x}") }
}

/// A value of a field: addresses where it is as wide as one.
pub(super) fn value(value: u64, width: u32) -> String {
    match width {
        32 if value > 0xff_ffff => std::net::Ipv4Addr::from(value as u32).to_string(),
        48 if value > 0xffff_ffff => mac_text(value),
        _ => number(value),
    }
}

/// A metadata word of 16 bits.
pub(super) fn word(n: u8) -> String {
    let named = WORDS.iter().find(|w| w.1 as u8 == n && w.3 == 16);
    named.map_or_else(|| format!("words[{n}][15:0]"), |w| w.0.to_string())
}

impl Printer<'_> {
    pub(super) fn port_numbers(&self) -> bool {
        self.unit.program.parser.port_numbers
    }

    /// Bits of a metadata word.
    pub(super) fn word_bits(&self, n: u8, lo: u8, width: u8) -> String {
        let known = |name: &str| name != EGRESS_PORT || self.port_numbers();
        let part = WORDS.iter().find(|w| w.1 as u8 == n && w.2 == lo && w.3 == width && known(w.0));
        match part {
            Some(part) => part.0.to_string(),
            None if (lo, width) == (0, 16) => word(n),
            None if WORDS.iter().any(|w| w.1 as u8 == n && w.3 == 16) => format!("{}{}", word(n), range(lo, width)),
            None => format!("words[{n}]{}", range(lo, width)),
        }
    }

    /// A container or bits of it, by name if there is one.
    pub(super) fn bits(&self, bits: Bits) -> String {
        let named = |wanted: Bits| self.names.containers.iter().find(|c| c.1 == wanted).map(|c| c.0.clone());
        if let Some(name) = named(bits) {
            return name;
        }
        match named(Bits::whole(bits.container)) {
            Some(name) if !bits.is_whole() => format!("{name}{}", range(bits.lo, bits.width)),
            _ => plain(bits),
        }
    }

    pub(super) fn container(&self, container: Container) -> String {
        self.bits(Bits::whole(container))
    }

    /// Bits of the action data: they end at bit `end`, counted from the first byte's highest.
    pub(super) fn data(&self, parameters: &[Parameter], end: u32, width: u32) -> Option<String> {
        let named = parameters.iter().find_map(|p| {
            let last = 8 * (u32::from(p.at) + u32::from(p.bytes));
            let lo = last.checked_sub(end)?;
            let inside = lo + width <= 8 * u32::from(p.bytes);
            inside.then(|| {
                let all = lo == 0 && width == 8 * u32::from(p.bytes);
                if all { p.name.clone() } else { format!("{}{}", p.name, range(lo as u8, width as u8)) }
            })
        });
        if named.is_some() {
            return named;
        }
        // The smallest bytes that hold the bits.
        let last = end.div_ceil(16) * 2;
        let bytes = [2, 4, 6].into_iter().find(|b| 8 * (last.saturating_sub(*b)) + width <= end && last >= *b)?;
        if last > 16 || end < width {
            return None;
        }
        let base = format!("data[{}:{last}]", last - bytes);
        let lo = 8 * last - end;
        Some(if (lo, width) == (0, 8 * bytes) { base } else { format!("{base}{}", range(lo as u8, width as u8)) })
    }

    /// Bits `lo` and up of the cross value.
    pub(super) fn cross(&self, action: &Action, lo: u8, width: u8) -> Option<String> {
        let at = 16 * action.cross_shift + lo;
        let kept = (16 * 3u8.saturating_sub(action.cross_cut)).checked_sub(at).filter(|bits| *bits > 0)?;
        let width = width.min(kept);
        match action.cross {
            Cross::None => None,
            Cross::Container(c) => {
                let width = width.min((c.class().bits() as u8).checked_sub(at).filter(|w| *w > 0)?);
                Some(self.bits(Bits { container: c, lo: at, width }))
            }
            Cross::Hash => part("hash", 32, at, width),
            Cross::Number => part("number", 16, at, width),
            Cross::Words(k) => {
                let (n, lo) = (k + at / 16, at % 16);
                if n > 15 {
                    return None;
                }
                // The last word has nothing above it.
                let width = if n == 15 { width.min(16 - lo) } else { width };
                Some(if lo + width <= 16 {
                    self.word_bits(n, lo, width)
                } else {
                    format!("words[{n}]{}", range(lo, width))
                })
            }
        }
    }

    /// What the rotator gives for bits `lo` and up.
    pub(super) fn rotated(&self, picks: &Picks, class: Class, lo: u8, width: u8) -> Option<String> {
        let container = Container::of(class, picks.container[2]);
        let size = class.bits() as u8;
        if let Some((at, bits)) = run(picks.rotate_mask)
            && at == lo
            && bits <= width
        {
            let from = (size + lo - picks.amount) % size;
            let same = (from, bits) == (lo, width);
            if from + bits <= size && !same {
                return Some(self.bits(Bits { container, lo: from, width: bits }));
            }
        }
        let name = self.container(container);
        let up = (size + picks.amount - lo) % size;
        if up > 0 && up < width && picks.rotate_mask == (((1u64 << (width - up)) - 1) << up) << lo {
            return Some(format!("{name} << {up}"));
        }
        if picks.rotate_mask == class.ones() {
            return Some(format!("rotl({name}, {})", picks.amount));
        }
        let kept = picks.rotate_mask >> lo;
        Some(format!("rotl({name}, {}) & {}", picks.amount, number(kept)))
    }
}

fn part(name: &str, total: u8, at: u8, width: u8) -> Option<String> {
    let width = width.min(total.checked_sub(at).filter(|w| *w > 0)?);
    Some(if (at, width) == (0, total) { name.to_string() } else { format!("{name}{}", range(at, width)) })
}
