//! Stages as text.

use super::operand::{number, range, run, value};
use super::{Page, Printer};
use crate::action::WordSource;
use crate::phv::{Class, Container};
use crate::program::Stage;
use crate::stage::{CONDITION_AT, Exact, Key, Leads, Left, Order, PIECE_AT, Predicate, Right, Ternary, piece_class};
use crate::state::Relation;
use crate::target::{DATA, PAGE_WORDS};
use crate::text::names::Bits;
use sluice_object::Destination;

/// A part of the key as entries give it.
struct Part {
    name: String,
    at: u32,
    width: u32,
    mask: u64,
    /// All of a container: its values may be addresses.
    whole: bool,
}

impl Key {
    /// Bits from bit `at` on.
    pub(super) fn get(&self, at: u32, width: u32) -> u64 {
        (0..width).fold(0, |v, i| {
            let bit = at + i;
            v | u64::from(self.0[(bit / 8) as usize] >> (bit % 8) & 1) << i
        })
    }
}

pub(super) fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::Eq => "==",
        Relation::Ne => "!=",
        Relation::Lt => "<",
        Relation::Le => "<=",
        Relation::Gt => ">",
        Relation::Ge => ">=",
    }
}

/// A truth table over two names, if words say it.
fn truth(table: u8, p0: &str, p1: &str) -> Option<String> {
    Some(match table {
        0b0000 => "false".into(),
        0b1111 => "true".into(),
        0b1010 => p0.to_string(),
        0b1100 => p1.to_string(),
        0b0101 => format!("not ({p0})"),
        0b0011 => format!("not ({p1})"),
        0b1000 => format!("{p0} and {p1}"),
        0b1110 => format!("{p0} or {p1}"),
        0b0111 => format!("not ({p0} and {p1})"),
        0b0001 => format!("not ({p0} or {p1})"),
        0b0010 => format!("{p0} and not ({p1})"),
        0b0100 => format!("not ({p0}) and {p1}"),
        0b1011 => format!("{p0} or not ({p1})"),
        0b1101 => format!("not ({p0}) or {p1}"),
        _ => return None,
    })
}

impl Printer<'_> {
    pub(super) fn stage(&self, page: &mut Page, n: usize, stage: &Stage) {
        page.block(format!("stage {n}"), |page| {
            self.conditions(page, n, stage);
            let parts = self.key(page, n, stage);
            let mut words = 0;
            for m in &self.names.stage(n).memories {
                words += usize::from(m.words);
                match m.meter {
                    None => page.line(format!("memory {} words {}", m.name, m.words)),
                    Some(r) => {
                        let unit = if r.packets { "packets" } else { "bits" };
                        page.line(format!(
                            "meter {} words {} rate {} {unit} burst {}",
                            m.name, m.words, r.rate, r.burst
                        ));
                    }
                }
            }
            if words.div_ceil(PAGE_WORDS) != usize::from(stage.pages) {
                page.line(format!("pages {}", stage.pages));
            }
            if let Some(room) = self.unit.rooms.get(&n) {
                for (kind, room, there) in [
                    ("exact", room.exact, stage.tables.exact.len()),
                    ("ternary", room.ternary, stage.tables.ternary.len()),
                ] {
                    if room > there {
                        page.line(format!("room {kind} {room}"));
                    }
                }
            }
            self.tables(page, n, stage, &parts);
            for (i, action) in stage.actions.iter().enumerate() {
                page.line("");
                self.action(page, n, i, action);
            }
        });
    }

    fn comparison(&self, p: &Predicate) -> String {
        let field = |lo, width| match p.a {
            Left::Container(c) => self.bits(Bits { container: c, lo, width }),
            Left::Word(w) => self.word_bits(w, lo, width),
        };
        let whole = match p.a {
            Left::Container(c) => c.class().bits() as u8,
            Left::Word(_) => 16,
        };
        let relation = relation(p.relation);
        let (left, right) = match p.b {
            Right::Imm(v) => match run(p.mask) {
                Some((lo, width)) if lo + width <= whole && v & !p.mask == 0 => {
                    (field(lo, width), value(v >> lo, if lo == 0 { width.into() } else { 0 }))
                }
                _ => (format!("{} & {:#x}", field(0, whole), p.mask), format!("{v:#x}")),
            },
            Right::Container(c) => {
                let wide = whole.max(c.class().bits() as u8);
                let left = match p.mask == (1u64 << wide) - 1 {
                    true => field(0, whole),
                    false => format!("{} & {:#x}", field(0, whole), p.mask),
                };
                (left, self.container(c))
            }
        };
        format!("{left} {relation} {right}")
    }

    fn conditions(&self, page: &mut Page, n: usize, stage: &Stage) {
        let key = &stage.key;
        let names = self.names.stage(n);
        let inline = self.style.stages[n].conditions && names.predicates == [None, None];
        let mut predicates = [String::from("p0"), String::from("p1")];
        for (i, shown) in predicates.iter_mut().enumerate() {
            let Some(p) = &key.predicates[i] else { continue };
            if inline {
                *shown = self.comparison(p);
                continue;
            }
            if let (true, Some(name)) = (self.style.stages[n].conditions, &names.predicates[i]) {
                shown.clone_from(name);
            }
            page.line(format!("predicate {shown} = {}", self.comparison(p)));
        }
        for i in 0..2u8 {
            let table = key.truth[usize::from(i)];
            let name = if self.style.stages[n].conditions { self.names.condition(n, i) } else { format!("c{i}") };
            if table == 0 && name.starts_with('c') && name.len() == 2 {
                continue;
            }
            // A table that looks at a predicate that is not there has no words.
            let there = |i: usize| key.predicates[i].is_some();
            let looks = |i: usize| (0..4).any(|row| table >> row & 1 != table >> (row ^ 1 << i) & 1);
            let words = (0..2).all(|i| there(i) || !looks(i));
            let text = truth(table, &predicates[0], &predicates[1]).filter(|_| words);
            page.line(format!("condition {name} = {}", text.unwrap_or_else(|| format!("table {table:#06b}"))));
        }
    }

    fn condition_name(&self, n: usize, i: u8) -> String {
        if self.style.stages[n].conditions { self.names.condition(n, i) } else { format!("c{i}") }
    }

    /// `if c`, `if not c` behind a statement.
    pub(super) fn guard(&self, n: usize, when: crate::action::When) -> String {
        match when {
            crate::action::When::Always => String::new(),
            crate::action::When::If(i) => format!(" if {}", self.condition_name(n, i)),
            crate::action::When::Unless(i) => format!(" if not {}", self.condition_name(n, i)),
        }
    }

    fn key(&self, page: &mut Page, n: usize, stage: &Stage) -> Vec<Part> {
        let key = &stage.key;
        let short = self.style.stages[n].pieces;
        let mut parts = Vec::new();
        let containers: Vec<Container> = (0..6).map(|i| Container::of(piece_class(i), key.pieces[i])).collect();
        for (i, &container) in containers.iter().enumerate() {
            let class: Class = piece_class(i);
            let mask = key.mask.get(PIECE_AT[i], class.bits());
            let name = |lo, width| {
                let bits = Bits { container, lo, width };
                if short {
                    return self.bits(bits);
                }
                if bits.is_whole() { format!("k{i}") } else { format!("k{i}{}", range(lo, width)) }
            };
            match run(mask) {
                _ if mask == 0 => {}
                Some((lo, width)) => parts.push(Part {
                    name: name(lo, width),
                    at: PIECE_AT[i] + u32::from(lo),
                    width: width.into(),
                    mask: mask >> lo,
                    whole: u32::from(width) == class.bits(),
                }),
                None => parts.push(Part {
                    name: format!("{} & {mask:#x}", name(0, class.bits() as u8)),
                    at: PIECE_AT[i],
                    width: class.bits(),
                    mask,
                    whole: false,
                }),
            }
        }
        for i in 0..2u8 {
            let at = CONDITION_AT + u32::from(i);
            if key.mask.get(at, 1) == 1 {
                parts.push(Part { name: self.condition_name(n, i), at, width: 1, mask: 1, whole: false });
            }
        }
        if !short && key.pieces != [0; 6] {
            let all: Vec<String> = containers.iter().map(|c| self.container(*c)).collect();
            page.line(format!("pieces {}", all.join(", ")));
        } else if !short && !parts.is_empty() {
            page.line("pieces c2[0], c2[0], c4[0], c4[0], c6[0], c6[0]");
        }
        if !parts.is_empty() {
            let names: Vec<&str> = parts.iter().map(|p| p.name.as_str()).collect();
            page.line(format!("key {}", names.join(", ")));
        }
        parts
    }

    fn tables(&self, page: &mut Page, n: usize, stage: &Stage, parts: &[Part]) {
        let tables = &stage.tables;
        let mut count = 0;
        let show = |key: &Key, p: &Part| value(key.get(p.at, p.width), if p.whole { p.width } else { 0 });
        if !tables.exact.is_empty() {
            page.block("exact", |page| {
                for Exact { key, leads } in &tables.exact {
                    let all: Vec<String> = parts.iter().map(|p| show(key, p)).collect();
                    page.line(format!("{} -> {}", all.join(", "), self.leads(n, stage, leads, count)).trim_start());
                    count += 1;
                }
            });
        }
        let prefix = |mask: u64, p: &Part| {
            let length = (0..=p.width).find(|l| mask == p.mask & !low(p.width - l) & low(p.width))?;
            Some(length)
        };
        let prefixes =
            tables.ternary.iter().all(|e| parts.iter().all(|p| prefix(e.mask.get(p.at, p.width), p).is_some()));
        let longest = tables.order == Order::Longest;
        let head = match (longest, prefixes && !parts.is_empty()) {
            (true, true) => "lpm",
            (true, false) => "ternary longest",
            _ => "ternary",
        };
        if longest || !tables.ternary.is_empty() {
            page.block(head, |page| {
                for Ternary { value: key, mask, leads } in &tables.ternary {
                    let one = |p: &Part| match mask.get(p.at, p.width) {
                        0 => "*".to_string(),
                        m if m == p.mask => show(key, p),
                        m if head == "lpm" => format!("{}/{}", show(key, p), prefix(m, p).unwrap_or(0)),
                        m => format!("{}/{m:#x}", show(key, p)),
                    };
                    let all: Vec<String> = parts.iter().map(one).collect();
                    let all = if all.iter().all(|v| v == "*") { "*".to_string() } else { all.join(", ") };
                    page.line(format!("{all} -> {}", self.leads(n, stage, leads, count)));
                    count += 1;
                }
            });
        }
        if let Some(leads) = &tables.default {
            page.line(format!("default {}", self.leads(n, stage, leads, count)));
        }
    }

    fn leads(&self, n: usize, stage: &Stage, leads: &Leads, count: u16) -> String {
        let names = self.names.stage(n).actions.get(usize::from(leads.action));
        let action = stage.actions.get(usize::from(leads.action));
        let (Some(names), Some(action)) = (names, action) else { return format!("action{}", leads.action) };
        let used: usize = names.parameters.iter().map(|p| usize::from(p.bytes)).sum();
        let mut text = names.name.clone();
        if leads.data[used..] == [0; DATA][used..] {
            let one = |p: &crate::text::names::Parameter| {
                let (at, bytes) = (usize::from(p.at), usize::from(p.bytes));
                let v = leads.data[at..at + bytes].iter().fold(0u64, |v, b| v << 8 | u64::from(*b));
                let sends = action.words.iter().any(|w| (w.word, w.mask, w.source) == (11, 0xff, WordSource::Data));
                if sends && bytes == 2 && usize::from(action.picks[0].data[0]) * 2 == at {
                    return self.destinations(v).unwrap_or_else(|| number(v));
                }
                value(v, 8 * bytes as u32)
            };
            let all: Vec<String> = names.parameters.iter().map(one).collect();
            if !all.is_empty() {
                text += &format!("({})", all.join(", "));
            }
        } else {
            let last = leads.data.iter().rposition(|b| *b != 0).unwrap_or(0);
            let digits: String = leads.data[..=last].iter().map(|b| format!("{b:02x}")).collect();
            text += &format!(" data 0x{digits}");
        }
        if leads.number != count {
            text += &format!(" number {}", leads.number);
        }
        text
    }

    /// `port0 | host1`, if the mask is of destinations that there are.
    pub(super) fn destinations(&self, mask: u64) -> Option<String> {
        if mask == 0 || mask > 0xff {
            return None;
        }
        let bits = (0..8u8).filter(|b| mask >> b & 1 == 1);
        let names: Option<Vec<String>> =
            bits.map(|b| Destination::from_number(b, self.target).map(|d| d.to_string())).collect();
        Some(names?.join(" | "))
    }
}

/// The lowest bits set.
fn low(bits: u32) -> u64 {
    ((1u128 << bits) - 1) as u64
}
