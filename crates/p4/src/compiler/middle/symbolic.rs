//! Following a program: statements, and the state on the way.

use super::ends::Ends;
use super::value::V;
use crate::compiler::ir::{Access, Alt, Bits, Bound, Leaf, Loc, Locs, Src, Test};
use crate::front::interpret::code::{Case, Code, Ex, Next, Place, St, Step, Target};
use crate::front::interpret::numbers;
use crate::front::interpret::value::{Number, Value};
use crate::front::source::Span;
use crate::front::syntax::ast::Binary;
use foldhash::{HashMap, HashMapExt};
use std::collections::BTreeMap;

/// Why a program does not run on the pipeline, and where.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub span: Span,
    pub kind: RefusalKind,
    pub what: String,
    /// What belongs to it, each perhaps with a place: who needs how much, what would fit.
    pub notes: Vec<(Option<Span>, String)>,
}

impl Refusal {
    /// One without notes.
    pub fn new(span: Span, kind: RefusalKind, what: impl Into<String>) -> Refusal {
        Refusal { span, kind, what: what.into(), notes: Vec::new() }
    }
}

/// The kinds of refusals, each with its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    /// Something that the pipeline does not have.
    NotThere,
    /// Something that is there, but not enough of it.
    TooMuch,
    /// Entries to reserve that a table cannot have.
    Reserve,
    /// A pass of the compiler is wrong, not the program.
    Mistaken,
}

/// What was decided on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Event {
    Yes,
    No,
    Alt(Alt),
    Cut,
    Parsed,
}

/// What has to be decided to go on.
#[derive(Debug)]
pub(super) enum Need {
    /// Bits of the packet have these values: first bit, mask and value.
    Packet(Vec<(u32, Bits, Bits)>),
    /// The packet has so many bytes.
    Least,
    Parsed,
    Test(Test),
    Table(usize, Vec<Bits>),
    Cut(Box<Leaf>),
}

/// Why following ends.
#[derive(Debug)]
pub(super) enum Stop {
    Need(Box<Need>),
    Exit,
    Parser(u32),
    /// The packet is dropped in the parser.
    Drop,
    Refused(Box<Refusal>),
}

pub(super) type Way<T> = Result<T, Stop>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Return,
    Break,
    Continue,
}

/// Most statements on one way.
const MOST_STEPS: u32 = 20_000;

/// A checksum that the deparser computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sum {
    pub data: Bits,
    pub slot: usize,
    pub path: Vec<u32>,
    pub span: Span,
}

/// A checksum that the parser's path verifies: over these bytes, with the sum among them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Verified {
    pub data: Bits,
    pub sum: Bits,
    /// Whether the data are known not to be all zero.
    pub nonzero: bool,
    /// First byte, and words.
    pub span: (u32, u32),
}

/// One way through a program.
#[derive(Clone)]
pub(super) struct Follower<'c> {
    pub code: &'c Code,
    /// Lent by the graph while the way is followed.
    pub locs: Locs,
    /// What was decided, of which so many have been met.
    pub script: Vec<Event>,
    pub done: usize,
    pub slots: Vec<V>,
    /// Parameters that are places of the caller.
    pub refs: HashMap<usize, (usize, Vec<u32>)>,
    /// Where in the program, statement by statement from outside in.
    pub trail: Vec<u32>,
    pub span: Span,
    /// Where `egress_spec` was written last.
    pub port_span: Span,
    /// A statement that is left out, to see whether the program fits without it.
    pub without: Option<Span>,
    /// Where visits end that need not.
    pub ends: &'c Ends,
    /// Values that are being computed with, which a cut has to keep; those with `true` in one piece.
    pub pending: Vec<(Bits, bool)>,
    pub sums: Vec<Sum>,
    /// The checksum that was verified.
    pub verified: Option<Verified>,
    /// What the packet is known to have, by byte: mask and value.
    pub given: BTreeMap<u32, (u8, u8)>,
    /// Whether ways part for each value of what is read.
    pub parts: bool,
    /// What it is known not to have, each all together.
    pub not_given: Vec<Vec<(u32, Bits, Bits)>>,
    /// What was hashed and has not changed since, and the variable that has the hash.
    pub hash: Option<(Bits, Bits)>,
    /// The cell that this visit looks at.
    pub access: Option<Access>,
    /// Its words beside the lowest that are read, and the variables that get them.
    pub cell_words: Vec<(u32, Loc)>,
    /// Indices that were compared with a number of cells and have not changed since, and whether they are below.
    pub indices: Vec<(Bits, usize, bool)>,
    /// Indices and groups from the entry that it found, and what they may be.
    pub bounds: Vec<(Bits, Bound)>,
    /// What is known of the packet at this stage.
    pub facts: Vec<(Test, bool)>,
    pub comparisons: u32,
    pub has_table: bool,
    pub temps: u32,
    pub returned: V,
    pub drop: bool,
    pub at: u32,
    /// Where the parser was left.
    pub parsed_at: Span,
    /// Where the parser goes on, if the way is followed from the beginning of one of its states.
    pub resumes: Option<Next>,
    /// The way at the beginning of the state in which it met something new: what is asked there is followed on from it, not from the start.
    pub resume: Option<Box<Follower<'c>>>,
    /// The parser is left behind; `true` if it dropped the packet.
    pub parsed: Option<bool>,
    pub least: u32,
    pub taken: BTreeMap<Loc, u32>,
    pub out: Vec<(usize, Vec<u32>)>,
    pub steps: u32,
    pub cuts: u32,
    pub in_parser: bool,
    /// Whether egress is followed for the copy to the port of arrival, and whether it asked for that.
    pub copy: Option<(bool, bool)>,
    /// Whether egress is followed once for all copies of a packet.
    pub for_copies: bool,
    /// The clone that was asked for; whether that was in a control before.
    pub asked: Option<super::clone::Asked>,
    pub asked_before: bool,
    pub clone_of_egress: bool,
    /// The session of a clone that is the same packet.
    pub cloned: Option<u16>,
    pub cloned_at: Span,
    /// Metadata that the parser writes, and the error that it ended with.
    pub parser_writes: Vec<(usize, Vec<u32>)>,
    pub parsed_error: u32,
    /// The control that is followed, of a system program.
    pub system: Option<usize>,
}

impl<'c> Follower<'c> {
    pub fn new(code: &'c Code, ends: &'c Ends) -> Self {
        Follower {
            code,
            ends,
            locs: Locs::default(),
            script: Vec::new(),
            done: 0,
            // Behind those of the program there are one of the group that is asked for and two of clones.
            slots: vec![V::Fixed(Value::None); code.slots + 3],
            refs: HashMap::new(),
            trail: Vec::new(),
            span: Span::default(),
            port_span: Span::default(),
            without: None,
            pending: Vec::new(),
            sums: Vec::new(),
            verified: None,
            given: BTreeMap::new(),
            parts: false,
            not_given: Vec::new(),
            hash: None,
            access: None,
            cell_words: Vec::new(),
            indices: Vec::new(),
            bounds: Vec::new(),
            facts: Vec::new(),
            comparisons: 0,
            has_table: false,
            temps: 0,
            returned: V::Fixed(Value::None),
            drop: false,
            at: 0,
            parsed_at: Span::default(),
            resumes: None,
            resume: None,
            parsed: None,
            least: 0,
            taken: BTreeMap::new(),
            out: Vec::new(),
            steps: 0,
            cuts: 0,
            in_parser: false,
            copy: None,
            for_copies: false,
            asked: None,
            asked_before: false,
            clone_of_egress: false,
            cloned: None,
            cloned_at: Span::default(),
            parser_writes: Vec::new(),
            parsed_error: 0,
            system: None,
        }
    }

    /// Keeps the way as it is where a state of the packet's parser begins, if all that was decided is behind it.
    pub fn keep_for_resuming(&mut self, next: Next) {
        if self.done == self.script.len() {
            // These are the graph's.
            let (locs, _) = (std::mem::take(&mut self.locs), self.resume.take());
            let kept = Follower { resumes: Some(next), ..self.clone() };
            self.locs = locs;
            self.resume = Some(Box::new(kept));
        }
    }

    pub fn refuse<T>(&self, what: impl Into<String>) -> Way<T> {
        self.refuse_at(self.span, what)
    }

    pub fn refuse_at<T>(&self, span: Span, what: impl Into<String>) -> Way<T> {
        let kind = RefusalKind::NotThere;
        Err(Stop::Refused(Box::new(Refusal::new(span, kind, what))))
    }

    /// The next event of the script, or a stop that asks for it.
    pub fn event(&mut self, need: impl FnOnce(&mut Self) -> Way<Need>) -> Way<Event> {
        match self.script.get(self.done) {
            Some(event) => {
                self.done += 1;
                Ok(*event)
            }
            None => Err(Stop::Need(Box::new(need(self)?))),
        }
    }

    pub fn statements(&mut self, all: &'c [St]) -> Way<Flow> {
        let mut left_out = false;
        for (at, statement) in all.iter().enumerate() {
            match (statement, self.without) {
                (St::Here(span), Some(without)) => left_out = span.is_at(without),
                _ if left_out => continue,
                _ => {}
            }
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return self.refuse(format!("more than {MOST_STEPS} statements for one packet"));
            }
            let depth = self.trail.len();
            self.trail.push(at as u32);
            let flow = self.statement(statement)?;
            self.trail.truncate(depth);
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &'c St) -> Way<Flow> {
        match statement {
            St::Here(span) => self.span = *span,
            St::Show(..) => {}
            St::Evaluate(ex) => {
                self.value(ex)?;
            }
            St::Assign(target, ex) => {
                let (slot, path, low) = self.find(target)?;
                let value = self.value(ex)?;
                self.write(target, slot, &path, low, value)?;
            }
            St::Update(target, old, ex) => {
                let (slot, path, low) = self.find(target)?;
                self.slots[*old] = self.current(target, slot, &path, low)?;
                let value = self.value(ex)?;
                self.write(target, slot, &path, low, value)?;
            }
            St::Fresh(slot, shape) => self.slots[*slot] = V::fresh(shape),
            St::Set(slot, ex, shape) => {
                let value = self.value(ex)?;
                self.slots[*slot] = self.shaped(value, shape);
            }
            St::If(condition, yes, no) => {
                let holds = self.truth(condition)?;
                self.trail.push(u32::from(holds));
                let flow = self.statements(if holds { yes } else { no })?;
                self.trail.pop();
                return Ok(flow);
            }
            St::Block(all) => return self.statements(all),
            St::Program(all) => match self.statements(all) {
                Err(Stop::Exit) => return Ok(Flow::Next),
                flow => return flow,
            },
            St::Return(value) => {
                self.returned = match value {
                    Some(value) => self.value(value)?,
                    None => V::Fixed(Value::None),
                };
                return Ok(Flow::Return);
            }
            St::Exit => return Err(Stop::Exit),
            St::Break => return Ok(Flow::Break),
            St::Continue => return Ok(Flow::Continue),
            St::Switch(value, cases) => return self.switch(value, cases),
            St::For { init, condition, update, body } => {
                self.statements(init)?;
                let mut round = 0;
                while self.truth(condition)? {
                    round += 1;
                    self.steps += 1;
                    self.trail.push(round);
                    let flow = self.statements(body)?;
                    match flow {
                        Flow::Return => return Ok(Flow::Return),
                        Flow::Break => {
                            self.trail.pop();
                            break;
                        }
                        Flow::Next | Flow::Continue => {}
                    }
                    // Another place than the statements of the body.
                    self.trail.push(u32::MAX);
                    self.statements(update)?;
                    self.trail.pop();
                    self.trail.pop();
                    if self.steps > MOST_STEPS {
                        return self.refuse(format!("a loop of more than {MOST_STEPS} steps"));
                    }
                }
            }
            St::ForRange { slot, number, ends, body } => return self.range(*slot, *number, ends, body),
            St::ForEach { slot, list, body } => {
                let list = self.value(list)?;
                let cuts = self.cuts;
                for (round, value) in list.parts().iter().enumerate() {
                    self.unmoved(cuts)?;
                    self.slots[*slot] = value.clone();
                    self.trail.push(round as u32);
                    let flow = self.statements(body)?;
                    self.trail.pop();
                    match flow {
                        Flow::Return => return Ok(Flow::Return),
                        Flow::Break => break,
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
        }
        Ok(Flow::Next)
    }

    fn range(&mut self, slot: usize, number: Number, ends: &'c (Ex, Ex), body: &'c [St]) -> Way<Flow> {
        let (low, high) = (self.value(&ends.0)?, self.value(&ends.1)?);
        let Some(mut at) = low.known(number) else {
            return self.refuse("a loop whose begin is not known before the program runs");
        };
        let last = high.known(number);
        let mut high = match (high, &last) {
            (V::Bits(bits), None) if !number.signed => [self.kept(bits, true)?],
            (_, Some(_)) => [Bits::default()],
            _ => return self.refuse("a loop whose end is not known before the program runs"),
        };
        let mut round = 0;
        loop {
            let value = super::value::bits_of(&at, number.width);
            let within = match &last {
                Some(last) => {
                    numbers::binary(Binary::LessEqual, number, &at, last).is_some_and(|value| value.is_true())
                }
                None => {
                    let (end, at) = (high[0].clone(), value.clone());
                    !self.while_held(&mut high, |this| this.less(end, at))?
                }
            };
            if !within {
                break;
            }
            round += 1;
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return self.refuse(format!("a loop of more than {MOST_STEPS} steps"));
            }
            self.slots[slot] = if number.width == 0 { V::Fixed(at.clone()) } else { V::Bits(value) };
            self.trail.push(round);
            let flow = self.while_held(&mut high, |this| this.statements(body))?;
            self.trail.pop();
            match flow {
                Flow::Return => return Ok(Flow::Return),
                Flow::Break => break,
                Flow::Next | Flow::Continue => {}
            }
            let is_largest = number.width > 0 && number.width < 64 && at.bits() == (1 << number.width) - 1;
            if last.as_ref() == Some(&at) || !number.signed && is_largest {
                break;
            }
            at = numbers::binary(Binary::Add, number, &at, &Value::Bits(1)).unwrap_or(Value::None);
        }
        Ok(Flow::Next)
    }

    fn switch(&mut self, value: &'c Ex, cases: &'c [Case]) -> Way<Flow> {
        let mut value = self.value(value)?;
        if let V::Bits(bits) = &value {
            value = V::Bits(self.settled(bits.clone())?);
        }
        let mut chosen = None;
        'cases: for (at, case) in cases.iter().enumerate() {
            for label in &case.labels {
                let same = match &value {
                    V::Fixed(fixed) => fixed.equals(label),
                    V::Bits(bits) => {
                        let label = super::value::bits_of(label, bits.width());
                        self.equal_bits(bits.clone(), label)?
                    }
                    _ => return self.refuse("a switch over a value that is no number"),
                };
                if same {
                    chosen = Some(at);
                    break 'cases;
                }
            }
        }
        let Some(at) = chosen.or_else(|| cases.iter().position(|case| case.is_default)) else { return Ok(Flow::Next) };
        self.trail.push(at as u32);
        let flow = self.statements(&cases[at].body)?;
        self.trail.pop();
        Ok(flow)
    }

    /// The slot that holds a parameter's value.
    pub fn slot_of(&self, slot: usize) -> (usize, Vec<u32>) {
        let (mut slot, mut path) = (slot, Vec::new());
        while let Some((outer, prefix)) = self.refs.get(&slot) {
            path.splice(0..0, prefix.iter().copied());
            slot = *outer;
        }
        (slot, path)
    }

    pub fn path(&mut self, place: &'c Place) -> Way<(usize, Vec<u32>)> {
        let (slot, mut path) = self.slot_of(place.slot);
        if let Some(fixed) = &place.fixed {
            path.extend_from_slice(fixed);
            return Ok((slot, path));
        }
        for step in &place.steps {
            let at = match step {
                Step::Part(at) => *at,
                Step::Index(index) => {
                    let index = self.value(index)?;
                    let at = self.index(&index, &self.slots[slot].clone(), &path)?;
                    // What it was is known until the statement's end, also where that cuts.
                    self.trail.push(at);
                    at
                }
                Step::Next(_) | Step::Last => {
                    let (next, size) = match self.slots[slot].part_mut(&path) {
                        Some(V::Stack(next, elements)) => (*next, elements.len() as u32),
                        _ => (0, 0),
                    };
                    let at = if matches!(step, Step::Next(_)) { Some(next) } else { next.checked_sub(1) };
                    match at.filter(|at| *at < size) {
                        Some(at) if step.is_beyond(at) => return Err(Stop::Drop),
                        Some(at) => at,
                        None if self.in_parser => return Err(self.parser_error("StackOutOfBounds")),
                        None => {
                            return self.refuse("an element of a stack outside of the parser that may not be there");
                        }
                    }
                }
            };
            path.push(at);
        }
        Ok((slot, path))
    }

    /// An index of which each value is a way of its own.
    pub fn index(&mut self, index: &V, whole: &V, path: &[u32]) -> Way<u32> {
        let size = whole.part(path).map_or(0, |stack| stack.parts().len() as u32);
        match index {
            V::Fixed(value) => Ok(u32::try_from(value.bits()).unwrap_or(u32::MAX)),
            V::Bits(bits) => {
                if let Some(at) = bits.known() {
                    return Ok(u32::try_from(at).unwrap_or(u32::MAX));
                }
                let bits = self.settled(bits.clone())?;
                for at in 0..size {
                    if self.equal_bits(bits.clone(), Bits::constant(bits.width(), u128::from(at)))? {
                        return Ok(at);
                    }
                }
                Ok(u32::MAX)
            }
            _ => self.refuse("an index that is no number"),
        }
    }

    pub fn parser_error(&self, name: &str) -> Stop {
        let at = self.code.errors.iter().position(|error| &**error == name);
        Stop::Parser(at.unwrap_or(0) as u32)
    }

    pub fn read(&mut self, place: &'c Place) -> Way<V> {
        let (slot, path) = self.path(place)?;
        let value = match self.slots[slot].part(&path) {
            Some(value) => value.clone(),
            None if self.slots[slot].is_formless(&path) => return self.refuse("a part of a value of this form"),
            None => V::fresh(&place.shape),
        };
        if self.is_of_sum(&value) {
            let is = self.is_bad()?;
            return Ok(V::Bits(Bits::constant(1, u128::from(is))));
        }
        Ok(value)
    }

    pub fn find(&mut self, target: &'c Target) -> Way<(usize, Vec<u32>, u32)> {
        let (slot, path) = self.path(&target.place)?;
        let low = match &target.slice {
            Some((low, _)) => match self.value(low)? {
                V::Fixed(value) => value.bits() as u32,
                V::Bits(bits) => match bits.known() {
                    Some(low) => low as u32,
                    None => return self.refuse("a slice whose place is not known before the program runs"),
                },
                _ => return self.refuse("a slice of this form"),
            },
            None => 0,
        };
        Ok((slot, path, low))
    }

    pub fn current(&mut self, target: &Target, slot: usize, path: &[u32], low: u32) -> Way<V> {
        let whole = match self.slots[slot].part(path) {
            Some(value) => value.clone(),
            None if self.slots[slot].is_formless(path) => return self.refuse("a part of a value of this form"),
            None => V::fresh(&target.place.shape),
        };
        match (&target.slice, whole) {
            (None, whole) => Ok(whole),
            (Some((_, width)), V::Bits(bits)) => Ok(V::Bits(self.slice(bits, low, *width)?)),
            _ => self.refuse("a slice of what is no number"),
        }
    }

    pub fn write(&mut self, target: &Target, slot: usize, path: &[u32], low: u32, value: V) -> Way<()> {
        if let V::Bits(bits) = &value
            && bits.has_high()
        {
            return self.refuse("upper bits of a sum");
        }
        let number = target.slice.as_ref().map(|(_, width)| Number { width: *width, signed: false });
        let value = match number {
            Some(number) => self.shaped(value, &crate::front::interpret::Shape::Number(number)),
            None => self.shaped(value, &target.place.shape),
        };
        if self.is_port(slot, path) {
            self.port_span = self.span;
        }
        if self.in_parser
            && self.code.has_clones
            && [2, 3].iter().any(|at| self.code.of_parser(*at).is_some_and(|p| p.slot == slot))
        {
            self.parser_writes.push((slot, path.to_vec()));
        }
        let is_header = matches!(value, V::Header(..));
        if self.slots[slot].is_formless(path) {
            return self.refuse("a part of a value of this form");
        }
        let Some(into) = self.slots[slot].part_mut(path) else { return Ok(()) };
        match (&target.slice, &mut *into, value) {
            (None, into, value) => *into = value,
            (Some(_), V::Bits(whole), V::Bits(part)) => *whole = whole.put(low, &part),
            _ => return self.refuse("a slice of what is no number"),
        }
        // Up to the last decision the way was followed before.
        if self.done == self.script.len() {
            self.locs.lines.write(slot, path, into.bits(), self.span);
        }
        if is_header && !path.is_empty() {
            self.only_one(slot, path);
        }
        Ok(())
    }

    /// Where a header of a union became valid, the others are not.
    pub fn only_one(&mut self, slot: usize, path: &[u32]) {
        let mut value = &mut self.slots[slot];
        for at in path {
            if let V::Union(all) = value
                && all.get(*at as usize).is_some_and(V::is_valid)
            {
                let others = all.iter_mut().enumerate().filter(|(other, _)| *other != *at as usize);
                others.for_each(|(_, header)| header.set_valid(false));
            }
            match value.parts_mut().get_mut(*at as usize) {
                Some(part) => value = part,
                None => return,
            }
        }
    }

    /// The variable of a leaf.
    pub fn leaf(&mut self, slot: usize, path: &[u32], width: u32) -> Loc {
        self.locs.leaf(slot, path, width)
    }

    pub fn loc_bits(&self, loc: Loc) -> Bits {
        Bits::of(self.locs.width(loc), Src::Loc(loc, 0))
    }
}
