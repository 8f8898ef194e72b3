//! Actions as text: statements where they say the same, rows where they do not.

use super::operand::{number, range, run, word};
use super::stage::relation;
use super::{Page, Printer};
use crate::action::{A, Action, Alu, B, Cross, Op, Picks, When, WordOp, WordSource};
use crate::phv::{Class, Container, EXCEPT_INGRESS, Word};
use crate::state::{Access, Choice, IndexSource, Operand, StateOp, Update};
use crate::text::lower::{EGRESS_PORT, meter_row};
use crate::text::names::{Bits, MemoryName, Parameter};

/// What an action is written with.
struct View<'a> {
    stage: usize,
    action: &'a Action,
    parameters: &'a [Parameter],
}

impl Printer<'_> {
    pub(super) fn action(&self, page: &mut Page, stage: usize, i: usize, action: &Action) {
        let names = &self.names.stage(stage).actions[i];
        let view = View { stage, action, parameters: &names.parameters };
        let parameters: Vec<String> = names.parameters.iter().map(|p| format!("{}: {}", p.name, p.bytes)).collect();
        let list = if parameters.is_empty() { String::new() } else { format!("({})", parameters.join(", ")) };
        let short = self.style.stages[stage].actions[i];
        let lines = if short { self.statements(&view) } else { None };
        let lines = lines.unwrap_or_else(|| self.rows(&view));
        page.block(format!("action {}{list}", names.name), |page| lines.iter().for_each(|l| page.line(l)));
    }

    fn statements(&self, view: &View) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        for alu in &view.action.alus {
            lines.push(self.alu(view, alu)?);
        }
        for op in &view.action.words {
            lines.extend(self.word(view, op)?);
        }
        if let Some(state) = &view.action.state {
            lines.push(self.state(view, state)?);
        }
        Some(lines)
    }

    fn alu(&self, view: &View, alu: &Alu) -> Option<String> {
        let (lo, width) = run(alu.mask)?;
        let class = alu.own.class();
        let picks = &view.action.picks[class as usize];
        let to = self.bits(Bits { container: alu.own, lo, width });
        let pick = |i: usize| {
            let container = Container::of(class, picks.container[i]);
            self.bits(Bits { container, lo, width })
        };
        let data = |i: usize| {
            let end = 16 * u32::from(picks.data[i]) + class.bits() - u32::from(lo);
            self.data(view.parameters, end, width.into())
        };
        let b = match alu.b {
            B::Imm(v) if v & !alu.mask == 0 => number(v >> lo),
            B::Imm(_) => return None,
            B::DataA => data(0)?,
            B::DataB => data(1)?,
            B::P0 => pick(0),
            B::P1 => pick(1),
            B::R if picks.rotate_mask == class.ones() && picks.amount == 0 => pick(2),
            B::R => self.rotated(picks, class, lo, width)?,
            B::X => self.cross(view.action, lo, width)?,
        };
        let a = match alu.a {
            A::Own => None,
            A::P0 => Some(pick(0)),
            A::P1 => Some(pick(1)),
            A::X => Some(self.cross(view.action, lo, width)?),
        };
        let guard = self.guard(view.stage, alu.when);
        // An operand of more than a word stands in parentheses.
        let inner = if b.contains(" << ") || b.contains(") & ") { format!("({b})") } else { b.clone() };
        let both = |sign: &str| match &a {
            None => format!("{to} {sign}= {b}{guard}"),
            Some(a) => format!("{to} = {a} {sign} {inner}{guard}"),
        };
        Some(match (alu.op, &a) {
            (Op::Add, _) => both("+"),
            (Op::Sub, _) => both("-"),
            (Op::And, _) => both("&"),
            (Op::Or, _) => both("|"),
            (Op::Xor, _) => both("^"),
            (Op::AndNot, None) => format!("{to} &= ~{inner}{guard}"),
            (Op::AndNot, Some(a)) => format!("{to} = {a} & ~{inner}{guard}"),
            (Op::Move, None) => format!("{to} = {b}{guard}"),
            (Op::Move, Some(_)) => return None,
            (Op::Ge, None) => format!("{to} = min({to}, {b}){guard}"),
            (Op::Lt, None) => format!("{to} = max({to}, {b}){guard}"),
            (op, Some(a)) => {
                let sign = if op == Op::Ge { ">=" } else { "<" };
                let and = guard.replacen(" if ", " and ", 1);
                format!("{to} = {b} if {a} {sign} {b}{and}")
            }
        })
    }

    fn word(&self, view: &View, op: &WordOp) -> Option<Vec<String>> {
        let guard = self.guard(view.stage, op.when);
        let picks = &view.action.picks[0];
        if let WordSource::Imm(v) = op.source {
            if v & !op.mask != 0 || op.mask == 0 {
                return None;
            }
            let lines = match op.word {
                w if w == Word::Egress as u8 => self.egress(v, op.mask),
                w if w == Word::Headers as u8 => Some(self.headers(v, op.mask)),
                w if w == Word::Group as u8 && op.mask == 0xffff => {
                    Some(vec![format!("group {}", self.names.group(v))])
                }
                _ => None,
            };
            if let Some(lines) = lines {
                return Some(lines.into_iter().map(|l| l + &guard).collect());
            }
        }
        let (lo, width) = run(op.mask.into())?;
        let value = match op.source {
            WordSource::Imm(v) => number(u64::from(v >> lo)),
            WordSource::Data => {
                let end = 16 * u32::from(picks.data[0]) + 16 - u32::from(lo);
                // Without bits said, the low ones are taken.
                let all = if lo == 0 { 16 } else { u32::from(width) };
                self.data(view.parameters, end, all)?
            }
            WordSource::P0 => {
                let width = if lo == 0 { 16 } else { width };
                self.bits(Bits { container: Container(picks.container[0]), lo, width })
            }
            WordSource::X => self.cross(view.action, lo, width)?,
        };
        let name = word(op.word);
        Some(vec![match (op.word, lo, width) {
            (11, 0, 8) => format!("send {value}{guard}"),
            (15, 0, 9) if self.port_numbers() => format!("{EGRESS_PORT} = {value}{guard}"),
            (_, 0, 16) => format!("{name} = {value}{guard}"),
            _ => format!("{name}{} = {value}{guard}", range(lo, width)),
        }])
    }

    /// Destinations, queue and flags, if the mask has no other bits.
    fn egress(&self, v: u16, mask: u16) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        let mut left = mask;
        if mask & 0xff == 0xff {
            lines.push(match self.destinations(u64::from(v & 0xff)) {
                Some(names) => format!("send {}", names.replace(" | ", ", ")),
                None => format!("send {}", v & 0xff),
            });
            left &= !0xff;
        }
        if mask & 0x700 == 0x700 {
            lines.push(format!("queue {}", v >> 8 & 7));
            left &= !0x700;
        }
        for (bit, name) in [(EXCEPT_INGRESS, "except_ingress"), (crate::phv::DISCARD, "discard")] {
            if mask & v & bit != 0 {
                lines.push(name.into());
                left &= !bit;
            }
        }
        (left == 0).then_some(lines)
    }

    fn headers(&self, v: u16, mask: u16) -> Vec<String> {
        let all = [("valid", v & mask), ("invalid", !v & mask)];
        let some = all.into_iter().filter(|(_, bits)| *bits != 0);
        some.map(|(word, bits)| format!("{word} {}", self.names.header_list(bits))).collect()
    }

    fn state(&self, view: &View, op: &StateOp) -> Option<String> {
        let memories = &self.names.stage(view.stage).memories;
        let (memory, index) = match op.source {
            IndexSource::None if op.index_mask == 0 => {
                let memory = memories.iter().find(|m| (m.base..m.base + m.words).contains(&op.base))?;
                (memory, (op.base - memory.base).to_string())
            }
            IndexSource::None => return None,
            _ => {
                let memory = memories.iter().find(|m| m.base == op.base)?;
                (memory, self.index(view, op, memory)?)
            }
        };
        let place = format!("{}[{index}]", memory.name);
        let results: Vec<String> = [("old", op.old_to), ("new", op.new_to)]
            .into_iter()
            .filter_map(|(word, to)| Some(format!("{word} {}", self.container(Container::of(Class::C4, to?)))))
            .collect();
        let results = if results.is_empty() { String::new() } else { format!(" -> {}", results.join(", ")) };
        let guard = self.guard(view.stage, op.when);
        let change = match (op.access, &memory.meter) {
            (Access::Meter { .. }, Some(rate)) if meter_row(rate).ok() == Some(op.access) => String::new(),
            (Access::Atom { choice: Choice::When(When::Always), then, otherwise: Update::KEEP }, None) => {
                match (then.old, then.negate) {
                    _ if then == Update::KEEP && !results.is_empty() => String::new(),
                    (true, false) => format!(" += {}", self.operand(view, then.value)?),
                    (true, true) => format!(" -= {}", self.operand(view, then.value)?),
                    (false, false) => format!(" = {}", self.operand(view, then.value)?),
                    (false, true) => format!(" = -{}", self.operand(view, then.value)?),
                }
            }
            (Access::Atom { choice, then, otherwise }, None) => {
                let condition = match choice {
                    Choice::When(when) => self.choice(view.stage, when),
                    Choice::Old(r, o) => format!("old {} {}", relation(r), self.operand(view, o)?),
                };
                let (then, otherwise) = (self.update(view, then)?, self.update(view, otherwise)?);
                format!(" = if {condition} then {then} else {otherwise}")
            }
            _ => return None,
        };
        Some(format!("{place}{change}{results}{guard}"))
    }

    fn choice(&self, stage: usize, when: When) -> String {
        match when {
            When::Always => "always".into(),
            other => self.guard(stage, other).trim_start_matches(" if ").to_string(),
        }
    }

    fn index(&self, view: &View, op: &StateOp, memory: &MemoryName) -> Option<String> {
        let most = memory.words - 1;
        let width = op.index_mask.count_ones() as u8;
        let cut = op.index_mask != most;
        if op.index_mask == 0 || run(op.index_mask.into())? != (0, width) {
            return None;
        }
        let picks = &view.action.picks[0];
        match op.source {
            IndexSource::P2 => {
                let container = Container(picks.container[2]);
                Some(self.bits(Bits { container, lo: 0, width: if cut { width } else { 16 } }))
            }
            IndexSource::Data => {
                self.data(view.parameters, 16 * u32::from(picks.data[0]) + 16, if cut { width.into() } else { 16 })
            }
            _ => {
                let most = match view.action.cross {
                    Cross::Hash => 32,
                    Cross::Container(c) => c.class().bits() as u8,
                    _ => 16,
                };
                self.cross(view.action, 0, if cut { width } else { most })
            }
        }
    }

    fn operand(&self, view: &View, operand: Operand) -> Option<String> {
        let picks = &view.action.picks[1];
        Some(match operand {
            Operand::Imm(v) => number(v.into()),
            Operand::X => self.cross(view.action, 0, 32)?,
            Operand::DataB => self.data(view.parameters, 16 * u32::from(picks.data[1]) + 32, 32)?,
            Operand::P1 => self.container(Container::of(Class::C4, picks.container[1])),
        })
    }

    fn update(&self, view: &View, update: Update) -> Option<String> {
        if update == Update::KEEP {
            return Some("old".into());
        }
        let value = self.operand(view, update.value)?;
        Some(match (update.old, update.negate) {
            (true, false) => format!("old + {value}"),
            (true, true) => format!("old - {value}"),
            (false, false) => value,
            (false, true) => format!("-{value}"),
        })
    }

    /// The rows as they are.
    fn rows(&self, view: &View) -> Vec<String> {
        let action = view.action;
        let mut lines = Vec::new();
        for class in Class::ALL {
            let picks = &action.picks[class as usize];
            if *picks != Picks::default() {
                let all = picks.container.map(|i| self.container(Container::of(class, i))).join(", ");
                let Picks { amount, rotate_mask, data: [da, db], .. } = picks;
                lines.push(format!(
                    "picks c{} = {all} rotate {amount} mask {rotate_mask:#x} data {da}, {db}",
                    class.bytes()
                ));
            }
        }
        let cross = match action.cross {
            Cross::None => "none".to_string(),
            Cross::Container(c) => self.container(c),
            Cross::Words(k) => format!("words[{k}]"),
            Cross::Hash => "hash".into(),
            Cross::Number => "number".into(),
        };
        let shift = match action.cross_shift {
            0 => String::new(),
            shift => format!(" >> {}", 16 * u32::from(shift)),
        };
        let cut = if action.cross_cut == 0 { String::new() } else { format!(" cut {}", action.cross_cut) };
        if (action.cross, action.cross_shift, action.cross_cut) != (Cross::None, 0, 0) {
            lines.push(format!("cross {cross}{shift}{cut}"));
        }
        for alu in &action.alus {
            let op = crate::text::lower::OPS.iter().find(|o| o.1 == alu.op).map_or("move", |o| o.0);
            let a = ["own", "p0", "p1", "x"][alu.a as usize];
            let b = match alu.b {
                B::Imm(v) => format!("{v:#x}"),
                B::DataA => "da".into(),
                B::DataB => "db".into(),
                B::P0 => "p0".into(),
                B::P1 => "p1".into(),
                B::R => "r".into(),
                B::X => "x".into(),
            };
            let guard = self.guard(view.stage, alu.when);
            lines.push(format!("alu {} {op} {a} {b} mask {:#x}{guard}", self.container(alu.own), alu.mask));
        }
        for op in &action.words {
            let source = match op.source {
                WordSource::Imm(v) => format!("{v:#x}"),
                WordSource::Data => "da".into(),
                WordSource::P0 => "p0".into(),
                WordSource::X => "x".into(),
            };
            let guard = self.guard(view.stage, op.when);
            lines.push(format!("word {} = {source} mask {:#x}{guard}", word(op.word), op.mask));
        }
        lines.extend(action.state.as_ref().map(|s| self.raw_state(view.stage, s)));
        lines
    }

    fn raw_state(&self, stage: usize, op: &StateOp) -> String {
        let operand = |o: Operand| match o {
            Operand::Imm(v) => format!("{v:#x}"),
            Operand::X => "x".into(),
            Operand::DataB => "db".into(),
            Operand::P1 => "p1".into(),
        };
        let update = |u: Update| {
            let (old, sign) = (if u.old { "old" } else { "0" }, if u.negate { "-" } else { "+" });
            format!("{old} {sign} {}", operand(u.value))
        };
        let source = match op.source {
            IndexSource::None => "none",
            IndexSource::P2 => "p2",
            IndexSource::Data => "da",
            IndexSource::X => "x",
        };
        let what = match op.access {
            Access::Meter { limit, cost, top, per_packet, shift } => {
                let kind = if per_packet { "packet" } else { "byte" };
                format!("meter limit {limit} cost {cost} top {top} {kind} shift {shift}")
            }
            Access::Atom { choice, then, otherwise } => {
                let condition = match choice {
                    Choice::When(when) => self.choice(stage, when),
                    Choice::Old(r, o) => format!("old {} {}", relation(r), operand(o)),
                };
                format!("choose {condition} then {} else {}", update(then), update(otherwise))
            }
        };
        let results: Vec<String> = [("old", op.old_to), ("new", op.new_to)]
            .into_iter()
            .filter_map(|(word, to)| Some(format!("{word} {}", self.container(Container::of(Class::C4, to?)))))
            .collect();
        let results = if results.is_empty() { String::new() } else { format!(" -> {}", results.join(", ")) };
        let guard = self.guard(stage, op.when);
        format!("access {source} mask {:#x} base {} {what}{results}{guard}", op.index_mask, op.base)
    }
}
