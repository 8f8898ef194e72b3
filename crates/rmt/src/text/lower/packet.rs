//! Parser and deparser rows.

use super::Lower;
use super::covered::Taken;
use super::scope::{Thing, list};
use crate::deparser::{Adjust, DeparseRow, Deparser, Pattern as Row, Update};
use crate::parser::{Alternative, Known, Parser, Path, Select, Span as Verify};
use crate::phv::{Class, Word};
use crate::target::SELECTORS;
use crate::text::ast::*;
use crate::text::error::{Read, bits, place, unknown, value};
use sluice_packet::text::Span;
use std::collections::{HashMap, HashSet};

/// Where an alternative of the first selection leads.
#[derive(Clone, Copy)]
enum Level {
    Node(u8),
    Path(u8),
}

impl Lower<'_> {
    pub(super) fn parser(&mut self, item: &ParserItem) -> Parser {
        self.places.put("parser", item.span);
        let mut targets = HashMap::new();
        let nodes = item.nodes.iter().enumerate().map(|(i, n)| (&n.0, Level::Node(i.min(255) as u8)));
        let paths = item.paths.iter().enumerate().map(|(i, p)| (&p.name, Level::Path(i.min(255) as u8)));
        for (name, level) in nodes.chain(paths) {
            let before = targets.insert(name.text.clone(), (level, name.span)).map(|t: (Level, _)| t.1);
            let fresh = self.scope.fresh(name, before);
            self.notes.ok(fresh);
        }
        let mut parser = Parser { port_numbers: self.scope.port_numbers, ..Parser::default() };
        self.names.nodes = item.nodes.iter().map(|n| Some(n.0.text.clone())).collect();
        self.names.paths = item.paths.iter().map(|p| p.name.text.clone()).collect();
        for (i, (_, select)) in item.nodes.iter().enumerate() {
            let node = self.select(select, &format!("parser.nodes[{i}]"), &mut |name| match targets.get(&name.text) {
                Some((Level::Path(n), _)) => Ok(*n),
                _ => Err(unknown(name.span, "path", &name.text, list(item.paths.iter().map(|p| &p.name.text)))),
            });
            parser.nodes.push(node);
        }
        if let Some(select) = &item.first {
            let mut direct: Vec<u8> = Vec::new();
            let explicit = item.nodes.len();
            parser.first = self.select(select, "parser.first", &mut |name| match targets.get(&name.text) {
                Some((Level::Node(n), _)) => Ok(*n),
                Some((Level::Path(n), _)) => {
                    let at = direct.iter().position(|d| d == n).unwrap_or_else(|| {
                        direct.push(*n);
                        direct.len() - 1
                    });
                    Ok((explicit + at).min(255) as u8)
                }
                None => Err(unknown(name.span, "node or path", &name.text, list(targets.keys()))),
            });
            for to in direct {
                let alternatives = vec![Alternative { to, ..Alternative::default() }];
                parser.nodes.push(Select { alternatives, ..Select::default() });
                self.names.nodes.push(None);
            }
            self.places.put("parser.nodes", select.span);
        }
        let selections = item.first.iter().chain(item.nodes.iter().map(|node| &node.1));
        let led: HashSet<&str> = selections.flat_map(|s| s.alternatives.iter().map(|a| &*a.to.text)).collect();
        let named = item.paths.iter().map(|path| &path.name).chain(item.nodes.iter().map(|node| &node.0));
        for name in named.filter(|name| item.first.is_some() && !led.contains(&*name.text)) {
            let found = format!("`{}`, to which no alternative leads", name.text);
            self.notes.warn(place(name.span, found, "paths and nodes to which one leads"));
        }
        for (i, path) in item.paths.iter().enumerate() {
            let row = self.path(path, &format!("parser.paths[{i}]"));
            parser.paths.push(row);
            self.places.put("parser.paths", path.name.span);
        }
        parser
    }

    fn select(&mut self, item: &SelectItem, at: &str, to: &mut dyn FnMut(&Name) -> Read<u8>) -> Select {
        self.places.put(at, item.span);
        let mut row = Select::default();
        // First selector byte and number of bytes of each piece.
        let mut pieces = Vec::new();
        let mut used = 0;
        for (offset, length) in &item.bytes {
            let read = self.scope.number(offset, "the offset", 0, 127).and_then(|o| {
                let length = self.scope.number(length, "the number of bytes", 1, 8)?;
                Ok((o as usize, length as usize))
            });
            let Some((offset, length)) = self.notes.ok(read) else { continue };
            if used + length > SELECTORS || offset + length > 128 {
                let found = if offset + length > 128 {
                    format!("bytes up to {}", offset + length)
                } else {
                    format!("{} bytes", used + length)
                };
                self.notes.push(value(item.span, "the selection", found, "at most 8 bytes, all before byte 128"));
                return row;
            }
            if row.offsets[..used].iter().any(|o| (offset..offset + length).contains(&usize::from(*o))) {
                let found = format!("a byte of {offset}:{length} a second time");
                self.notes.warn(value(item.span, "the selection", found, "each byte once"));
            }
            for k in 0..length {
                row.offsets[used + k] = (offset + k) as u8;
                self.places.put(format!("{at}.offsets[{}]", used + k), item.span);
            }
            pieces.push((used, length));
            used += length;
        }
        let last = item.alternatives.len();
        let mut taken = Taken::default();
        for (i, alternative) in item.alternatives.iter().enumerate() {
            if alternative.to.text == "reject" {
                if i + 1 < last {
                    let e =
                        place(alternative.to.span, "`reject` before other alternatives", "`reject` in the last one");
                    self.notes.push(e);
                }
                continue;
            }
            self.places.put(format!("{at}.alternatives[{}]", row.alternatives.len()), alternative.span);
            let lowered =
                self.alternative(alternative, &pieces).and_then(|a| Ok(Alternative { to: to(&alternative.to)?, ..a }));
            if let Some(mut a) = self.notes.ok(lowered) {
                if let Some(least) = &alternative.least {
                    let read = self.scope.number(least, "the least length", 1, 128);
                    a.least = self.notes.ok(read).unwrap_or(0) as u8;
                }
                let before = taken.by_length(&a.value, &a.mask, a.least, alternative.span);
                self.never(alternative.span, before, "an alternative");
                row.alternatives.push(a);
            }
        }
        row
    }

    fn alternative(&self, item: &AlternativeItem, pieces: &[(usize, usize)]) -> Read<Alternative> {
        let mut a = Alternative::default();
        let any = matches!(&item.patterns[..], [Pattern { value: None, .. }]);
        if !any && item.patterns.len() != pieces.len() {
            let found = format!("{} values", item.patterns.len());
            return Err(place(item.span, found, format!("{}, one for each piece of the selection", pieces.len())));
        }
        for (pattern, &(first, length)) in item.patterns.iter().zip(pieces) {
            let (value, mask) = self.pattern(pattern, 8 * length as u32)?;
            for k in 0..length {
                let shift = 8 * (length - 1 - k);
                a.value[first + k] = (value >> shift) as u8;
                a.mask[first + k] = (mask >> shift) as u8;
            }
        }
        Ok(a)
    }

    /// Value and mask of so many bits.
    pub(super) fn pattern(&self, pattern: &Pattern, width: u32) -> Read<(u64, u64)> {
        let Some(value_expr) = &pattern.value else { return Ok((0, 0)) };
        let all = ((1u128 << width) - 1) as u64;
        let mask = match &pattern.mask {
            Some(mask) => self.scope.bits_value(mask, "the mask", width)?,
            None => all,
        };
        let found = self.scope.bits_value(value_expr, "the value", width)?;
        if found & !mask != 0 {
            return Err(value(
                pattern.span,
                "the value",
                format!("{found:#x}"),
                format!("bits within its mask {mask:#x}"),
            ));
        }
        Ok((found, mask))
    }

    fn path(&mut self, item: &PathItem, at: &str) -> Path {
        let mut path = Path::default();
        let mut end = 0;
        self.places.put(at, item.name.span);
        let mut taken = HashMap::new();
        for (container, offset) in &item.takes {
            let read = self.scope.container(container);
            let offset = self.scope.number(offset, "the offset", 0, 127);
            let (Some(c), Some(offset)) = (self.notes.ok(read), self.notes.ok(offset)) else { continue };
            let n = usize::from(c.0);
            if let Some(first) = taken.insert(n, container.span) {
                let e = self.scope.twice(container.span, format!("this container of path `{}`", item.name.text), first);
                self.notes.push(e);
            }
            path.extract[n] = Some(offset as u8);
            end = end.max(offset as usize + c.bytes());
            self.places.put(format!("{at}.extract[{n}]"), container.span);
        }
        self.sets(item, &mut path, &mut taken, at);
        for header in &item.headers {
            let n = self.scope.header(header);
            if let Some(n) = self.notes.ok(n) {
                path.headers |= 1 << n;
            }
        }
        if let Some((start, length, span)) = &item.verify {
            let read = self.words(start, length);
            if let Some((start, words)) = self.notes.ok(read) {
                path.verify = Some(Verify { start, words });
                end = end.max(usize::from(start) + 2 * usize::from(words));
                self.places.put(format!("{at}.verify"), *span);
            }
        }
        path.least = end.min(255) as u8;
        if let Some(least) = &item.least {
            let read = self.scope.number(least, "the least length", 0, 128);
            path.least = self.notes.ok(read).unwrap_or(0) as u8;
            self.places.put(format!("{at}.least"), least.span);
        }
        path
    }

    /// What is known of a packet without its bytes, into 2-byte containers.
    fn sets(&mut self, item: &PathItem, path: &mut Path, taken: &mut HashMap<usize, Span>, at: &str) {
        let mut constant: Option<Span> = None;
        for (container, expr) in &item.sets {
            let read = self.scope.container(container).and_then(|c| match c.class() {
                Class::C2 => Ok(usize::from(c.0)),
                _ => Err(place(container.span, "a container of another size", "one of 2 bytes")),
            });
            let known = self.known(expr);
            let (Some(n), Some((known, value))) = (self.notes.ok(read), self.notes.ok(known)) else { continue };
            if let Some(first) = taken.insert(n, container.span) {
                let e = self.scope.twice(container.span, format!("this container of path `{}`", item.name.text), first);
                self.notes.push(e);
            }
            if known == Known::Constant {
                if let Some(first) = constant.filter(|_| path.constant != value) {
                    let what = format!("a value of path `{}`, and one for all its containers", item.name.text);
                    let e = self.scope.twice(expr.span, what, first);
                    self.notes.push(e);
                }
                (path.constant, constant) = (value, Some(expr.span));
            }
            path.known[n] = Some(known);
            self.places.put(format!("{at}.known[{n}]"), container.span);
        }
    }

    /// A constant, `ingress_port` or `length`.
    fn known(&self, expr: &Expr) -> Read<(Known, u16)> {
        if let Expr {
            first: Term { kind: TermKind::Place(p), inverted: false, negated: false, shift: None, .. },
            rest,
            ..
        } = expr
            && let ([], Ok(Thing::Word { word, lo: 0, width: 16 })) = (&rest[..], self.scope.thing(p, &[]))
        {
            return match word {
                w if w == Word::IngressPort as u8 => Ok((Known::Port, 0)),
                w if w == Word::Length as u8 => Ok((Known::Length, 0)),
                _ => Err(place(expr.span, self.scope.shown(expr.span), "a value, ingress_port or length")),
            };
        }
        self.scope.bits_value(expr, "the value", 16).map(|v| (Known::Constant, v as u16))
    }

    /// Start and number of 16-bit words of `14:20`.
    fn words(&self, start: &Expr, length: &Expr) -> Read<(u8, u8)> {
        let from = self.scope.number(start, "the first byte", 0, 127)? as u8;
        let bytes = self.scope.number(length, "the number of bytes", 2, 126)?;
        if bytes % 2 != 0 {
            return Err(value(length.span, "the number of bytes", bytes, "an even one"));
        }
        Ok((from, (bytes / 2) as u8))
    }

    pub(super) fn deparser(&mut self, item: &DeparserItem) -> Deparser {
        self.places.put("deparser", item.span);
        let mut deparser = Deparser::default();
        let mut rows = HashMap::new();
        for (i, row) in item.rows.iter().enumerate() {
            let before = rows.insert(row.name.text.clone(), (i.min(255) as u8, row.name.span)).map(|r: (u8, _)| r.1);
            let fresh = self.scope.fresh(&row.name, before);
            self.notes.ok(fresh);
        }
        self.names.rows = item.rows.iter().map(|r| r.name.text.clone()).collect();
        let mut taken = Taken::default();
        for when in &item.patterns {
            let i = deparser.patterns.len();
            self.places.put(format!("deparser.patterns[{i}]"), when.span);
            self.places.put("deparser.patterns", when.span);
            let Some((row, _)) = rows.get(&when.row.text) else {
                let e = unknown(when.row.span, "row", &when.row.text, list(rows.keys()));
                self.notes.push(e);
                continue;
            };
            let pattern = self.tests(when);
            if let Some((value, mask)) = self.notes.ok(pattern) {
                let before = taken.by(&value.to_be_bytes(), &mask.to_be_bytes(), when.span, false);
                self.never(when.span, before, "a `when`");
                deparser.patterns.push(Row { value, mask, row: *row });
            }
        }
        if item.patterns.is_empty() && !item.rows.is_empty() {
            deparser.patterns.push(Row::default());
            self.places.put("deparser.patterns", item.span);
            if let [_, second, ..] = &item.rows[..] {
                let e = place(second.name.span, "a second row and no `when`", "`when ... -> ROW` for each row");
                self.notes.push(e);
            }
        }
        for (i, row) in item.rows.iter().enumerate() {
            let at = format!("deparser.rows[{i}]");
            let lowered = self.row(row, &at);
            deparser.rows.push(lowered);
            self.places.put("deparser.rows", row.name.span);
        }
        deparser
    }

    /// Value and mask over path (4 bits) and headers (16).
    fn tests(&self, item: &WhenItem) -> Read<(u32, u32)> {
        let (mut value, mut mask) = (0u32, 0u32);
        let header_bits =
            |all: &[HeaderRef]| all.iter().try_fold(0u32, |bits, h| Ok(bits | 0x10 << self.scope.header(h)?));
        for test in &item.tests {
            let (v, m) = match test {
                Test::Path(p) => self.path_test(p)?,
                Test::Valid(all) => {
                    let bits = header_bits(all)?;
                    (bits, bits)
                }
                Test::Invalid(all) => (0, header_bits(all)?),
                Test::Headers(all) => (header_bits(all)?, 0xffff0),
                Test::HeaderBits(p) => {
                    let (v, m) = self.pattern(p, 16)?;
                    ((v as u32) << 4, (m as u32) << 4)
                }
            };
            if (value ^ v) & mask & m != 0 {
                return Err(place(item.span, "two tests that are never both true", "tests that can be"));
            }
            value |= v;
            mask |= m;
        }
        Ok((value, mask))
    }

    fn path_test(&self, pattern: &Pattern) -> Read<(u32, u32)> {
        if let Some(Expr { first: Term { kind: TermKind::Place(p), .. }, .. }) = &pattern.value {
            let names = &self.names.paths;
            let n = names.iter().position(|n| *n == p.name.text);
            let n = n.ok_or_else(|| unknown(p.span, "path", &p.name.text, list(names.iter())))?;
            return Ok((n as u32, 0xf));
        }
        let (v, m) = self.pattern(pattern, 4)?;
        Ok((v as u32, m as u32))
    }

    fn row(&mut self, item: &RowItem, at: &str) -> DeparseRow {
        self.places.put(at, item.name.span);
        let mut row = DeparseRow::default();
        let mut needed = 14;
        let mut put = HashMap::new();
        for (what, offset) in &item.puts {
            let thing = self.scope.thing(what, &[]).and_then(|t| match t {
                Thing::Bits(b) if b.lo % 8 == 0 && b.width % 8 == 0 => Ok(b),
                _ => Err(bits(
                    what.span,
                    format!("{} is put", self.scope.shown(what.span)),
                    "whole bytes of a container",
                )),
            });
            let offset = self.scope.number(offset, "the offset", 0, 127);
            let (Some(b), Some(offset)) = (self.notes.ok(thing), self.notes.ok(offset)) else { continue };
            let first = b.container.bytes() - usize::from(b.lo + b.width) / 8;
            for k in 0..usize::from(b.width) / 8 {
                let lane = offset as usize + k;
                if let Some(before) = put.insert(lane, what.span) {
                    let e = self.scope.twice(what.span, format!("byte {lane} of row `{}`", item.name.text), before);
                    self.notes.push(e);
                    break;
                }
                if lane > 127 {
                    self.notes.push(value(what.span, "the last byte put", lane, "at most 127"));
                    break;
                }
                row.lanes[lane] = Some((b.container, (first + k) as u8));
                needed = needed.max(lane + 1);
                self.places.put(format!("{at}.lanes[{lane}]"), what.span);
            }
        }
        if let Some((bytes, split, removed, span)) = &item.moves {
            let read = self.scope.number(bytes, "the number of bytes", 0, 64);
            let split = self.scope.number(split, "the place", 0, 128);
            if let (Some(bytes), Some(split)) = (self.notes.ok(read), self.notes.ok(split)) {
                row.delta = if *removed { -(bytes as i8) } else { bytes as i8 };
                row.split = split as u8;
                needed = needed.max(split as usize + row.delta.max(0) as usize);
            }
            for part in ["delta", "split", "lanes"] {
                self.places.put(format!("{at}.{part}"), *span);
            }
        }
        for (i, (which, start, length, sum, span)) in item.checksums.iter().enumerate() {
            let which = which.as_ref().map_or(Ok(i as u64), |w| self.scope.number(w, "the checksum", 0, 1));
            let read = which.and_then(|w| {
                let (start, words) = self.words(start, length)?;
                let at = self.scope.number(sum, "the place of the sum", 0, 127)? as u8;
                Ok((w as usize, Update { start, words, at }))
            });
            let Some((which, update)) = self.notes.ok(read) else { continue };
            let Some(slot) = row.checksums.get_mut(which).filter(|s| s.is_none()) else {
                self.notes.push(place(*span, "a third checksum, or one that stands before", "two of them"));
                continue;
            };
            *slot = Some(update);
            needed = needed.max(usize::from(update.start) + 2 * usize::from(update.words));
            self.places.put(format!("{at}.checksums[{which}]"), *span);
            self.places.put(format!("{at}.checksums"), *span);
        }
        if let Some(adjust) = &item.adjust {
            let read = self.adjust(adjust, &row);
            if let Some((update, old)) = self.notes.ok(read) {
                let end = i32::from(old.start) + 2 * i32::from(old.words) + i32::from(row.delta);
                needed = needed.max(usize::from(update.start) + 2 * usize::from(update.words)).max(end.max(0) as usize);
                row.checksums[1] = Some(update);
                row.adjust = Some(old);
                for part in ["checksums[1]", "checksums", "adjust"] {
                    self.places.put(format!("{at}.{part}"), adjust.span);
                }
            }
        }
        row.least = needed.min(255) as u8;
        if let Some(least) = &item.least {
            let read = self.scope.number(least, "the least length", 0, 255);
            row.least = self.notes.ok(read).unwrap_or(0) as u8;
            self.places.put(format!("{at}.least"), least.span);
        }
        row
    }

    /// The incremental checksum of a row whose additions, removals and other checksums are known.
    fn adjust(&self, item: &AdjustItem, row: &DeparseRow) -> Read<(Update, Adjust)> {
        if row.checksums[1].is_some() {
            return Err(place(item.span, "an `adjust` beside two checksums", "one checksum beside it"));
        }
        let (start, words) = self.words(&item.bytes.0, &item.bytes.1)?;
        let at = self.scope.number(&item.at, "the place of the sum", 0, 127)? as u8;
        let (old, old_words) = match &item.was {
            Some((start, length)) => self.words(start, length)?,
            None => match row.came_from(start, words) {
                Some(old) => (old, words),
                None => {
                    let found = "an `adjust` of bytes among which some are added or removed";
                    return Err(place(item.span, found, "`was START:LENGTH`, its bytes in the packet as it came"));
                }
            },
        };
        Ok((Update { start, words, at }, Adjust { start: old, words: old_words, udp: item.udp }))
    }
}
