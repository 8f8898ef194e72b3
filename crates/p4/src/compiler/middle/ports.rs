//! Which values are ports. A pipeline has ports 0 to 7, and a program may be written for others: then constants and entries that are
//! ports get the pipeline's numbers, and what is a port and also a number (computed with, in a header) is told, so that it can be refused.
//!
//! Before: all numbers are the program's. After: those that are ports are the pipeline's. Needs: a graph with what visits need.
//! Leaves alone: where packets go, and everything if no number is another one. Verifier: `verify/ports.rs`.

use super::{Refusal, RefusalKind};
use crate::compiler::ir::{Bits, Graph, Leaf, Loc, LocInfo, Next, Src, Test, Tree};
use crate::compiler::ports::{PORT_BITS, PortMap};
use crate::front::interpret::DROP;
use crate::front::interpret::code::Code;
use crate::front::source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A value that may be a port, in its lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Var {
    /// Where packets go, and where they come from.
    Port,
    /// A variable when a visit begins.
    At(usize, Loc),
    /// A key of a table.
    Key(usize, usize),
    /// A parameter of an action that a table lists.
    Param(usize, usize, u32),
}

/// What bits are in their lowest bits.
enum Low {
    Var(Var),
    Known(u16),
    Other,
}

/// Where bits are looked at: a visit, and the table and action that were found there.
#[derive(Clone, Copy)]
struct Scope {
    node: usize,
    found: Option<(usize, usize)>,
}

/// Why a value is a number.
type Why = (Span, &'static str);

/// What a program has for ports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Uses {
    /// Constants that packets are sent to, and where.
    pub named: BTreeMap<u16, Span>,
    /// Parameters of entries: table, action among those of the table, number.
    pub params: BTreeSet<(usize, usize, u32)>,
    /// Keys of tables, and where they are looked up.
    pub keys: BTreeMap<(usize, usize), Span>,
    /// Where a value is a port and a number.
    pub both: Option<Refusal>,
    /// Whether packets go to where they come from.
    pub from_arrival: bool,
    /// Whether the port of arrival gets another number.
    moved: bool,
    vars: BTreeSet<Var>,
}

impl Uses {
    /// Whether a parameter of an entry is a port.
    pub fn is_param(&self, table: usize, action: usize, number: usize) -> bool {
        self.params.contains(&(table, action, number as u32))
    }
}

struct Finder<'g> {
    graph: &'g Graph,
    code: &'g Code,
    moved: bool,
    numbers: BTreeMap<Var, usize>,
    parents: Vec<usize>,
    /// Of each class, by its first member.
    why: BTreeMap<usize, Why>,
    constants: Vec<(Var, u16, Span)>,
    /// Where keys are looked up.
    keys: BTreeMap<(usize, usize), Span>,
    /// What gets the port of arrival.
    from_arrival: Vec<Var>,
}

/// Finds them; with `moved` the port of arrival gets another number, too.
pub(crate) fn uses(graph: &Graph, code: &Code, moved: bool) -> Uses {
    let mut finder = Finder {
        graph,
        code,
        moved,
        numbers: BTreeMap::new(),
        parents: Vec::new(),
        why: BTreeMap::new(),
        constants: Vec::new(),
        keys: BTreeMap::new(),
        from_arrival: Vec::new(),
    };
    finder.number_of(Var::Port);
    for path in &graph.paths {
        finder.path(&path.next);
    }
    for (node, visit) in graph.nodes.iter().enumerate() {
        finder.tree(&visit.tree, Scope { node, found: None });
    }
    finder.ended()
}

impl Finder<'_> {
    fn number_of(&mut self, var: Var) -> usize {
        let next = self.parents.len();
        let at = *self.numbers.entry(var).or_insert(next);
        if at == next {
            self.parents.push(next);
        }
        at
    }

    fn class(&mut self, var: Var) -> usize {
        let mut at = self.number_of(var);
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn same(&mut self, one: Var, other: Var) {
        let (a, b) = (self.class(one), self.class(other));
        if a != b {
            self.parents[b] = a;
            if let Some(why) = self.why.remove(&b) {
                self.why.entry(a).or_insert(why);
            }
        }
    }

    fn is_number(&mut self, var: Var, why: Why) {
        let class = self.class(var);
        self.why.entry(class).or_insert(why);
    }

    /// The value of a variable, where it has a port's bits; of the port of arrival only if that is another number.
    fn var(&self, loc: Loc, node: usize) -> Option<Var> {
        match self.graph.locs.info(loc) {
            LocInfo::Port if self.moved => Some(Var::Port),
            LocInfo::Port => None,
            LocInfo::CopyPort => Some(Var::Port),
            _ => (self.graph.locs.width(loc) >= PORT_BITS).then_some(Var::At(node, loc)),
        }
    }

    fn param(&self, number: u32, scope: Scope) -> Option<Var> {
        let (table, action) = scope.found?;
        let listed = &self.code.tables[table].actions[action];
        let data = &self.code.actions[listed.action].parameters[listed.bound.len()..];
        let bits = data.get(number as usize)?.shape.bits().unwrap_or(0);
        (bits >= PORT_BITS).then_some(Var::Param(table, action, number))
    }

    /// Whether bits are the port of arrival, which is a port and a number where it keeps its number.
    fn is_arrival(&self, bits: &Bits) -> bool {
        let low = bits.slice(0, PORT_BITS);
        !self.moved
            && matches!(&low.segs[..], [seg] if matches!(seg.src, Src::Loc(loc, 0) if *self.graph.locs.info(loc) == LocInfo::Port))
    }

    fn low(&self, bits: &Bits, scope: Scope) -> Low {
        if bits.width() < PORT_BITS {
            return Low::Other;
        }
        let low = bits.slice(0, PORT_BITS);
        if let Some(value) = low.known() {
            return Low::Known(value as u16);
        }
        let var = match &low.segs[..] {
            [seg] => match seg.src {
                Src::Loc(loc, 0) => self.var(loc, scope.node),
                Src::Param(number, 0) => self.param(number, scope),
                _ => None,
            },
            _ => None,
        };
        var.map_or(Low::Other, Low::Var)
    }

    /// All that is read here is a number.
    fn numbers(&mut self, bits: &Bits, scope: Scope, why: Why) {
        for seg in &bits.segs {
            let var = match &seg.src {
                Src::Loc(loc, low) if *low < PORT_BITS => self.var(*loc, scope.node),
                Src::Param(number, low) if *low < PORT_BITS => self.param(*number, scope),
                Src::Hash(data, _) => {
                    self.numbers(data, scope, why);
                    None
                }
                Src::Op(operation) => {
                    self.numbers(&operation.a, scope, why);
                    self.numbers(&operation.b, scope, why);
                    None
                }
                _ => None,
            };
            if let Some(var) = var {
                self.is_number(var, why);
            }
        }
    }

    /// What is above a port is a number.
    fn upper(&mut self, bits: &Bits, scope: Scope, why: Why) {
        let width = bits.width();
        self.numbers(&bits.slice(PORT_BITS, width.saturating_sub(PORT_BITS)), scope, why);
    }

    /// Bits become a value.
    fn flows(&mut self, bits: &Bits, scope: Scope, to: Var, why: Why) {
        match self.low(bits, scope) {
            Low::Var(from) => self.same(from, to),
            // What a key is compared with is nowhere that packets go.
            Low::Known(_) if matches!(to, Var::Key(..)) => {}
            Low::Known(value) => self.constants.push((to, value, why.0)),
            Low::Other if self.is_arrival(bits) => self.from_arrival.push(to),
            Low::Other => {
                self.is_number(to, why);
                self.numbers(&bits.slice(0, PORT_BITS), scope, why);
            }
        }
        self.upper(bits, scope, why);
    }

    fn span(&self, node: usize) -> Span {
        self.graph.spans[node]
    }

    fn path(&mut self, next: &Next) {
        match next {
            Next::Node(node) => {
                let why = (self.span(*node), "comes from the packet");
                for loc in &self.graph.nodes[*node].needs {
                    if !matches!(self.graph.locs.info(*loc), LocInfo::Port | LocInfo::CopyPort)
                        && let Some(var) = self.var(*loc, *node)
                    {
                        self.is_number(var, why);
                    }
                }
            }
            Next::End(end) if end.group.known() == Some(0) => {
                let span = self.graph.port_spans.get(&end.port).copied().unwrap_or_default();
                match end.port.known() {
                    Some(port) => self.constants.push((Var::Port, port as u16, span)),
                    None => self.is_number(Var::Port, (span, "comes from the packet")),
                }
            }
            Next::End(_) | Next::Drop | Next::Onward => {}
        }
    }

    fn tree(&mut self, tree: &Tree, scope: Scope) {
        let span = self.span(scope.node);
        match tree {
            Tree::Test(test, yes, no) => {
                self.test(test, scope);
                self.tree(yes, scope);
                self.tree(no, scope);
            }
            Tree::Table(table, keys, all) => {
                for (at, key) in keys.iter().enumerate() {
                    self.keys.entry((*table, at)).or_insert(span);
                    match key.width() >= PORT_BITS {
                        true => self.flows(key, scope, Var::Key(*table, at), (span, "is a part of a table's key")),
                        false => self.numbers(key, scope, (span, "is looked up by some of its bits")),
                    }
                }
                for (alt, tree) in all {
                    self.tree(tree, Scope { found: Some((*table, alt.action)), ..scope });
                }
            }
            Tree::Leaf(leaf) => self.leaf(leaf, scope),
        }
    }

    fn test(&mut self, test: &Test, scope: Scope) {
        let span = self.span(scope.node);
        match test {
            Test::Is(bits, _) => {
                for seg in &bits.segs {
                    let is_whole = seg.width >= PORT_BITS && matches!(seg.src, Src::Loc(_, 0));
                    if !is_whole {
                        let one = Bits::one(seg.clone());
                        self.numbers(&one, scope, (span, "is compared by some of its bits"));
                    }
                }
            }
            Test::Compare { equal: true, a, b } => {
                let why = (span, "is compared with a number");
                match (self.low(a, scope), self.low(b, scope)) {
                    (Low::Var(one), Low::Var(other)) => self.same(one, other),
                    (Low::Var(_), Low::Known(_)) | (Low::Known(_), Low::Var(_)) => {}
                    (Low::Var(_), Low::Other) if self.is_arrival(b) => {}
                    (Low::Other, Low::Var(_)) if self.is_arrival(a) => {}
                    _ => {
                        self.numbers(a, scope, why);
                        self.numbers(b, scope, why);
                    }
                }
                self.upper(a, scope, why);
                self.upper(b, scope, why);
            }
            Test::Compare { a, b, .. } => {
                let why = (span, "is asked to be less than another one");
                self.numbers(a, scope, why);
                self.numbers(b, scope, why);
            }
        }
    }

    fn leaf(&mut self, leaf: &Leaf, scope: Scope) {
        let span = self.span(scope.node);
        if let Some(access) = &leaf.access {
            let why = (span, "goes to a register or a counter");
            self.numbers(&access.index, scope, why);
            access.change.bits().into_iter().for_each(|bits| self.numbers(bits, scope, why));
        }
        for (bits, _) in &leaf.bounds {
            self.numbers(bits, scope, (span, "is an index or a group"));
        }
        match &leaf.next {
            Next::Drop | Next::Onward => {}
            Next::Node(next) => {
                for (loc, bits) in &leaf.assigns {
                    let why = (span, "is computed or put together");
                    match self.var(*loc, *next) {
                        Some(var) => self.flows(bits, scope, var, why),
                        None => self.numbers(bits, scope, (span, "is read by some of its bits")),
                    }
                }
                for loc in self.graph.nodes[*next].needs.iter().filter(|loc| !leaf.assigns.contains_key(loc)) {
                    if let (Some(from), Some(to)) = (self.var(*loc, scope.node), self.var(*loc, *next)) {
                        self.same(from, to);
                    }
                }
            }
            Next::End(end) => {
                let why = (span, "is written into a header");
                for out in &end.deparse.outs {
                    match (leaf.assigns.get(&out.loc), self.var(out.loc, scope.node)) {
                        (Some(bits), _) => self.numbers(bits, scope, why),
                        (None, Some(var)) => self.is_number(var, why),
                        (None, None) => {}
                    }
                }
                if end.group.known() != Some(0) {
                    return self.numbers(&end.group, scope, (span, "is a group"));
                }
                let span = self.graph.port_spans.get(&end.port).copied().unwrap_or(span);
                self.flows(&end.port, scope, Var::Port, (span, "is computed or put together"));
            }
        }
    }

    fn ended(mut self) -> Uses {
        let mut uses = Uses { moved: self.moved, ..Uses::default() };
        let port = self.class(Var::Port);
        uses.from_arrival = std::mem::take(&mut self.from_arrival).into_iter().any(|var| self.class(var) == port);
        for (var, value, span) in std::mem::take(&mut self.constants) {
            if self.class(var) == port && u128::from(value) != DROP {
                let known = uses.named.entry(value).or_insert(span);
                if !is_known(*known) {
                    *known = span;
                }
            }
        }
        for var in self.numbers.keys().copied().collect::<Vec<_>>() {
            if self.class(var) != port {
                continue;
            }
            uses.vars.insert(var);
            match var {
                Var::Param(table, action, number) => {
                    uses.params.insert((table, action, number));
                }
                Var::Key(table, key) => {
                    uses.keys.insert((table, key), self.keys.get(&(table, key)).copied().unwrap_or_default());
                }
                Var::Port | Var::At(..) => {}
            }
        }
        // A visit that decides nothing has no place of its own.
        let written = self.graph.port_spans.values().filter(|span| is_known(**span));
        let written = written.min_by_key(|span| (span.text, span.start)).copied().unwrap_or_default();
        uses.both = self.why.get(&port).map(|(span, what)| {
            let span = if is_known(*span) { *span } else { written };
            Refusal::new(span, RefusalKind::NotThere, format!("a port that {what}"))
        });
        uses
    }
}

/// Whether a place is one; all of them are equal.
fn is_known(span: Span) -> bool {
    span.end > 0
}

/// Gives ports their numbers.
pub(crate) fn translate(graph: &mut Graph, code: &Code, uses: &Uses, map: &PortMap) {
    let mut nodes = std::mem::take(&mut graph.nodes);
    {
        let finder = Finder {
            graph,
            code,
            moved: uses.moved,
            numbers: BTreeMap::new(),
            parents: Vec::new(),
            why: BTreeMap::new(),
            constants: Vec::new(),
            keys: BTreeMap::new(),
            from_arrival: Vec::new(),
        };
        let translator = Translator { finder, uses, map };
        for (node, visit) in nodes.iter_mut().enumerate() {
            translator.tree(&mut visit.tree, Scope { node, found: None });
        }
    }
    graph.nodes = nodes;
}

struct Translator<'a> {
    finder: Finder<'a>,
    uses: &'a Uses,
    map: &'a PortMap,
}

impl Translator<'_> {
    fn is_port(&self, var: Option<Var>) -> bool {
        var.is_some_and(|var| self.uses.vars.contains(&var))
    }

    /// The bits, with another number if they are a port that is known.
    fn known(&self, bits: &mut Bits, scope: Scope) {
        if let Low::Known(value) = self.finder.low(bits, scope) {
            *bits = bits.put(0, &Bits::constant(PORT_BITS, self.map.to_pipeline(value).into()));
        }
    }

    fn tree(&self, tree: &mut Tree, scope: Scope) {
        match tree {
            Tree::Test(test, yes, no) => {
                self.test(test, scope);
                self.tree(yes, scope);
                self.tree(no, scope);
            }
            Tree::Table(table, keys, all) => {
                for (at, key) in keys.iter_mut().enumerate() {
                    if self.is_port(Some(Var::Key(*table, at))) {
                        self.known(key, scope);
                    }
                }
                for (alt, tree) in all {
                    self.tree(tree, Scope { found: Some((*table, alt.action)), ..scope });
                }
            }
            Tree::Leaf(leaf) => self.leaf(leaf, scope),
        }
    }

    fn test(&self, test: &mut Test, scope: Scope) {
        match test {
            Test::Is(bits, value) => {
                let mut top = bits.width();
                for seg in &bits.segs {
                    top -= seg.width;
                    let var = match seg.src {
                        Src::Loc(loc, 0) if seg.width >= PORT_BITS => self.finder.var(loc, scope.node),
                        _ => None,
                    };
                    if self.is_port(var)
                        && let Some(port) = value.slice(top, PORT_BITS).known()
                    {
                        let port = self.map.to_pipeline(port as u16);
                        *value = value.put(top, &Bits::constant(PORT_BITS, port.into()));
                    }
                }
            }
            Test::Compare { equal: true, a, b } => match (self.finder.low(a, scope), self.finder.low(b, scope)) {
                (Low::Var(var), Low::Known(_)) if self.is_port(Some(var)) => self.known(b, scope),
                (Low::Known(_), Low::Var(var)) if self.is_port(Some(var)) => self.known(a, scope),
                _ => {}
            },
            Test::Compare { .. } => {}
        }
    }

    fn leaf(&self, leaf: &mut Leaf, scope: Scope) {
        match &mut leaf.next {
            Next::Drop | Next::Onward => {}
            Next::Node(next) => {
                for (loc, bits) in &mut leaf.assigns {
                    if self.is_port(self.finder.var(*loc, *next)) {
                        self.known(bits, scope);
                    }
                }
            }
            Next::End(end) if end.group.known() == Some(0) => self.known(&mut end.port, scope),
            Next::End(_) => {}
        }
    }
}
