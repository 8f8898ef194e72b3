//! Parser and deparser as text.

use super::operand::number;
use super::{Page, Printer};
use crate::deparser::{DeparseRow, Pattern};
use crate::parser::{Alternative, Known, Path, Select};
use crate::phv::Container;
use crate::target::{SELECTORS, WINDOW};
use crate::text::names::Bits;

/// Pieces of a selection: first selector byte, number of bytes.
fn pieces(select: &Select) -> Vec<(usize, usize)> {
    let used = |k: usize| select.offsets[k] != 0 || select.alternatives.iter().any(|a| a.mask[k] != 0);
    let count = (0..SELECTORS).rev().find(|k| used(*k)).map_or(0, |k| k + 1);
    let mut all: Vec<(usize, usize)> = Vec::new();
    for k in 0..count {
        match all.last_mut() {
            Some((first, length)) if select.offsets[k] == select.offsets[*first].wrapping_add(*length as u8) => {
                *length += 1
            }
            _ => all.push((k, 1)),
        }
    }
    all
}

/// The values of an alternative.
fn values(alternative: &Alternative, pieces: &[(usize, usize)]) -> String {
    if alternative.mask == [0; SELECTORS] {
        return "*".into();
    }
    let one = |&(first, length): &(usize, usize)| {
        let join =
            |bytes: &[u8; SELECTORS]| bytes[first..first + length].iter().fold(0u64, |v, b| v << 8 | u64::from(*b));
        let (value, mask) = (join(&alternative.value), join(&alternative.mask));
        let digits = 2 + 2 * length;
        match mask {
            0 => "*".to_string(),
            m if m == u64::MAX >> (64 - 8 * length) => format!("{value:#0digits$x}"),
            m => format!("{value:#0digits$x}/{m:#0digits$x}"),
        }
    };
    pieces.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Printer<'_> {
    /// The path that a node leads to whatever comes, if it is such a node.
    fn direct(&self, node: usize) -> Option<usize> {
        let select = self.unit.program.parser.nodes.get(node)?;
        let [only] = &select.alternatives[..] else { return None };
        let plain = self.style.nodes && self.names.nodes[node].is_none();
        let any = select.offsets == [0; SELECTORS] && only.mask == [0; SELECTORS] && only.least == 0;
        (plain && any).then_some(only.to.into())
    }

    fn node(&self, i: usize) -> String {
        let known = self.names.nodes.get(i).cloned().flatten();
        known.unwrap_or_else(|| {
            let mut name = format!("node{i}");
            let taken = |n: &String| self.names.paths.contains(n) || self.names.nodes.contains(&Some(n.clone()));
            while taken(&name) {
                name.push('_');
            }
            name
        })
    }

    pub(super) fn parser(&self, page: &mut Page) {
        let parser = &self.unit.program.parser;
        if *parser == Default::default() {
            return;
        }
        page.line("");
        page.block("parser", |page| {
            if parser.first != Select::default() {
                self.select(page, "select", &parser.first, |to| match self.direct(to) {
                    Some(path) => self.names.paths.get(path).cloned().unwrap_or_default(),
                    None => self.node(to),
                });
            }
            for (i, node) in parser.nodes.iter().enumerate().filter(|(i, _)| self.direct(*i).is_none()) {
                let head = format!("node {} select", self.node(i));
                self.select(page, &head, node, |to| self.names.paths.get(to).cloned().unwrap_or_default());
            }
            for (i, path) in parser.paths.iter().enumerate() {
                page.block(format!("path {}", self.names.paths[i]), |page| self.path(page, path));
            }
        });
    }

    fn select(&self, page: &mut Page, head: &str, select: &Select, to: impl Fn(usize) -> String) {
        let pieces = pieces(select);
        let bytes: Vec<String> =
            pieces.iter().map(|(first, length)| format!("{}:{length}", select.offsets[*first])).collect();
        let head = if bytes.is_empty() { head.to_string() } else { format!("{head} {}", bytes.join(", ")) };
        page.block(head, |page| {
            for a in &select.alternatives {
                let least = if a.least == 0 { String::new() } else { format!(" least {}", a.least) };
                page.line(format!("{}{least} -> {}", values(a, &pieces), to(a.to.into())));
            }
        });
    }

    fn path(&self, page: &mut Page, path: &Path) {
        if path.headers != 0 {
            page.line(format!("headers {}", self.names.header_list(path.headers)));
        }
        let taken = path.extract.iter().enumerate().filter_map(|(n, o)| Some((Container(n as u8), (*o)?)));
        let mut taken: Vec<(Container, u8)> = taken.collect();
        taken.sort_by_key(|t| t.1);
        for some in taken.chunks(4) {
            let all: Vec<String> = some.iter().map(|(c, o)| format!("{} @{o}", self.container(*c))).collect();
            page.line(format!("take {}", all.join(", ")));
        }
        for (i, known) in path.known.iter().enumerate() {
            let value = match known {
                None => continue,
                Some(Known::Constant) => number(path.constant.into()),
                Some(Known::Port) => "ingress_port".into(),
                Some(Known::Length) => "length".into(),
            };
            page.line(format!("set {} = {value}", self.container(Container(i as u8))));
        }
        let mut end = taken.iter().map(|(c, o)| usize::from(*o) + c.bytes()).max().unwrap_or(0);
        if let Some(span) = &path.verify {
            page.line(format!("verify {}:{}", span.start, 2 * u32::from(span.words)));
            end = end.max(usize::from(span.start) + 2 * usize::from(span.words));
        }
        if usize::from(path.least) != end {
            page.line(format!("least {}", path.least));
        }
    }

    pub(super) fn deparser(&self, page: &mut Page) {
        let deparser = &self.unit.program.deparser;
        if *deparser == Default::default() {
            return;
        }
        page.line("");
        page.block("deparser", |page| {
            let only = deparser.rows.len() == 1 && deparser.patterns == [Pattern::default()];
            for pattern in deparser.patterns.iter().filter(|_| !only) {
                let row = self.names.rows.get(usize::from(pattern.row)).cloned().unwrap_or_default();
                page.line(format!("{} -> {row}", self.tests(pattern)));
            }
            for (i, row) in deparser.rows.iter().enumerate() {
                page.block(format!("row {}", self.names.rows[i]), |page| self.row(page, row));
            }
        });
    }

    fn tests(&self, pattern: &Pattern) -> String {
        let mut all = Vec::new();
        let (path, path_mask) = (pattern.value & 0xf, pattern.mask & 0xf);
        match self.names.paths.get(path as usize) {
            Some(name) if path_mask == 0xf => all.push(format!("path {name}")),
            _ if path_mask != 0 => all.push(format!("path {path:#x}/{path_mask:#x}")),
            _ => {}
        }
        let (value, mask) = ((pattern.value >> 4) as u16, (pattern.mask >> 4) as u16);
        if mask == 0xffff && value != 0 {
            all.push(format!("headers {}", self.names.header_list(value)));
        } else if mask == 0xffff {
            all.push("headers 0x0/0xffff".into());
        } else {
            for (word, bits) in [("valid", value & mask), ("invalid", !value & mask)] {
                if bits != 0 {
                    all.push(format!("{word} {}", self.names.header_list(bits)));
                }
            }
        }
        if all.is_empty() { "*".into() } else { format!("when {}", all.join(" and ")) }
    }

    fn row(&self, page: &mut Page, row: &DeparseRow) {
        if row.delta != 0 || row.split != 0 {
            let word = if row.delta < 0 { "shrink" } else { "grow" };
            page.line(format!("{word} {} at {}", row.delta.unsigned_abs(), row.split));
        }
        let mut puts = Vec::new();
        let mut needed = 14.max(usize::from(row.split) + row.delta.max(0) as usize);
        let mut i = 0;
        while i < WINDOW {
            let Some((container, first)) = row.lanes[i] else {
                i += 1;
                continue;
            };
            let goes_on = |k: &usize| row.lanes.get(i + k).copied().flatten() == Some((container, first + *k as u8));
            let bytes = container.bytes();
            let length = (1..bytes - usize::from(first)).take_while(goes_on).count() + 1;
            let lo = 8 * (bytes - usize::from(first) - length) as u8;
            puts.push(format!("{} @{i}", self.bits(Bits { container, lo, width: 8 * length as u8 })));
            i += length;
            needed = needed.max(i);
        }
        for some in puts.chunks(4) {
            page.line(format!("put {}", some.join(", ")));
        }
        for (i, sum) in row.checksums.iter().enumerate() {
            let Some(u) = sum else { continue };
            needed = needed.max(usize::from(u.start) + 2 * usize::from(u.words));
            if let (1, Some(old)) = (i, &row.adjust) {
                let bytes = |start: u8, words: u8| format!("{start}:{}", 2 * u32::from(words));
                let derived = row.came_from(u.start, u.words) == Some(old.start) && old.words == u.words;
                let was = if derived { String::new() } else { format!(" was {}", bytes(old.start, old.words)) };
                let udp = if old.udp { " udp" } else { "" };
                page.line(format!("adjust {} at {}{was}{udp}", bytes(u.start, u.words), u.at));
                let end = i32::from(old.start) + 2 * i32::from(old.words) + i32::from(row.delta);
                needed = needed.max(end.max(0) as usize);
                continue;
            }
            let which = if i == 1 && row.checksums[0].is_none() { "[1]" } else { "" };
            page.line(format!("checksum{which} {}:{} at {}", u.start, 2 * u32::from(u.words), u.at));
        }
        if usize::from(row.least) != needed {
            page.line(format!("least {}", number(row.least.into())));
        }
    }
}
