//! Reads of headers that may be invalid, in programs for v1model.
//!
//! Which headers are valid together is known from the parser: one set of headers for each way that ends in `accept`. Ingress begins with
//! these sets, egress with those that ingress leaves. `isValid()` in a condition keeps those in which it holds, so a header is known
//! where another one is tested that comes with it only.
//!
//! Two cases are told. A header that is invalid on every way is told wherever it is read. One that is invalid on some ways is told only
//! where nothing but validity decides whether it is read: a program may know from a flag, a field or the choice of an action what it
//! parsed. A condition that is not followed, and may have left before by `return` or `exit`, decides, too; so does one that may have
//! made the header valid, or dropped the packet before egress. A key next to `isValid()` of its header in the same table is not told
//! either.

mod calls;

use super::main_package::{self, V1model, headers_type, parameter_of, path};
use super::{Looked, Warned, walk};
use crate::front::check::{DefId, Type};
use crate::front::syntax::ast::{
    Binary, Block, Declaration, DeclarationKind, Expr, ExprKind, Fields, KeyElement, PropertyValue, Statement,
    StatementKind, Transition, Unary,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Most sets of headers, and most steps, that are followed; beyond them nothing is said.
const MOST_SETS: usize = 1024;
const MOST_STEPS: usize = 100_000;
/// The bit of a way on which ingress drops the packet.
const DROPPED: u64 = 1 << 63;
/// The port that drops.
const DROP_PORT: u32 = 511;

/// Sets of valid headers, one for each way; a bit is a header.
type Ways = BTreeSet<u64>;

pub(super) fn look(looked: &mut Looked<'_>) {
    let Some(parts) = main_package::v1model(looked) else { return };
    let Some((ty, headers)) = headers_type(looked, &parts) else { return };
    let mut names = Vec::new();
    collect(looked, &headers, &mut Vec::new(), &mut names, 8);
    if names.is_empty() || names.len() > 63 {
        return;
    }
    let mut follow = Follow::new(looked, names, ty);
    follow.program(&parts);
    if follow.gave_up() {
        return;
    }
    let (bad, good) = (follow.bad, follow.good);
    for (expression, header, what) in bad {
        if !good.contains(&expression.at.id) {
            let name = looked.sources.slice(expression.at.span).to_string();
            looked.warn(expression.at.span, Warned::Invalid { header, what: what.to_string(), name });
        }
    }
}

/// Paths of all headers in a struct; those in stacks and unions are not followed.
fn collect(looked: &Looked<'_>, ty: &Type, path: &mut Vec<Rc<str>>, all: &mut Vec<Vec<Rc<str>>>, deep: usize) {
    let Some((kind, fields)) = looked.facts.fields(ty) else { return };
    match kind {
        Fields::Header => all.push(path.clone()),
        Fields::Struct if deep > 0 => {
            for (name, ty) in fields {
                path.push(name);
                collect(looked, &ty, path, all, deep - 1);
                path.pop();
            }
        }
        _ => {}
    }
}

struct Follow<'l, 'p> {
    looked: &'l Looked<'p>,
    /// Paths of headers; their places are the bits.
    headers: Vec<Vec<Rc<str>>>,
    /// The type of the struct of all headers.
    ty: DefId,
    /// What variables and parameters stand for: a path in the struct of headers.
    roots: HashMap<DefId, Vec<Rc<str>>>,
    actions: HashMap<DefId, &'p [Statement]>,
    tables: HashMap<DefId, (Vec<&'p KeyElement>, Vec<&'p Expr>, bool)>,
    /// Headers of which nothing is known any more.
    unknown: u64,
    /// Headers that a condition that is not followed may have made valid or invalid.
    mixed: u64,
    bad: Vec<(&'p Expr, String, &'static str)>,
    good: HashSet<u32>,
    /// Ways that have left the block by `return`, and all blocks by `exit`.
    left: Ways,
    gone: Ways,
    /// Whether a condition that is not followed may have left the block, or all blocks.
    may_return: bool,
    may_exit: bool,
    /// Whether such a condition may have dropped the packet.
    may_drop: bool,
    /// Whether nothing but validity has decided that this is executed.
    sure: bool,
    reports: bool,
    steps: usize,
    deep: usize,
    too_many: bool,
}

impl<'l, 'p> Follow<'l, 'p> {
    fn new(looked: &'l Looked<'p>, headers: Vec<Vec<Rc<str>>>, ty: DefId) -> Self {
        let (mut actions, mut tables) = (HashMap::new(), HashMap::new());
        let mut take = |local: &'p Declaration| match &local.kind {
            DeclarationKind::Action { name, body, .. } => {
                looked.declared(name).map(|id| actions.insert(id, &body[..]));
            }
            DeclarationKind::Table { name, properties } => {
                let (mut keys, mut of, mut has_default) = (Vec::new(), Vec::new(), false);
                for property in properties {
                    has_default |= &*property.name.text == "default_action";
                    match &property.value {
                        PropertyValue::Key(all) => keys.extend(all),
                        PropertyValue::Actions(all) => of.extend(all.iter().map(|action| &action.value)),
                        _ => {}
                    }
                }
                looked.declared(name).map(|id| tables.insert(id, (keys, of, has_default)));
            }
            _ => {}
        };
        for declaration in looked.declarations() {
            take(declaration);
            if let DeclarationKind::Block(Block { body: Some(body), .. }) = &declaration.kind {
                body.locals.iter().for_each(&mut take);
            }
        }
        Follow {
            looked,
            headers,
            ty,
            roots: HashMap::new(),
            actions,
            tables,
            unknown: 0,
            mixed: 0,
            bad: Vec::new(),
            good: HashSet::new(),
            left: Ways::new(),
            gone: Ways::new(),
            may_return: false,
            may_exit: false,
            may_drop: false,
            sure: true,
            reports: false,
            steps: 0,
            deep: 0,
            too_many: false,
        }
    }

    fn gave_up(&self) -> bool {
        self.too_many || self.steps >= MOST_STEPS
    }

    fn program(&mut self, parts: &V1model<'p>) {
        let mut ways = Ways::from([0]);
        self.reports = true;
        self.enter(parts.parser);
        self.parser(parts.parser, &mut ways);
        let parsed = ways.clone();
        self.control(parts.ingress, &mut ways);
        ways.retain(|way| way & DROPPED == 0);
        // Clones come from elsewhere, and only some packets are cloned. What is sent again is parsed again.
        if main_package::clones(self.looked) {
            ways.extend(parsed);
            self.may_drop = true;
            // Those of egress have what egress made of the first one.
            let mut again = ways.clone();
            (self.reports, self.sure) = (false, false);
            self.control(parts.egress, &mut again);
            self.reports = true;
            ways.extend(again);
        }
        self.sure = !self.may_drop;
        self.control(parts.egress, &mut ways);
    }

    /// Whether nothing but validity has decided that this is executed.
    fn certain(&self) -> bool {
        self.sure && !self.may_return && !self.may_exit
    }

    /// Headers become valid or invalid.
    fn change(&mut self, headers: u64) {
        if !self.certain() {
            self.mixed |= headers;
        }
    }

    /// The packet is dropped, or no longer.
    fn dropped(&mut self, drops: bool, ways: &mut Ways) {
        if drops {
            self.may_drop |= !self.certain();
            *ways = ways.iter().map(|way| way | DROPPED).collect();
        } else {
            *ways = ways.iter().map(|way| way & !DROPPED).collect();
        }
    }

    /// What a `return` leaves, and no more than that.
    fn inside(&mut self, ways: &mut Ways, follow: impl FnOnce(&mut Self, &mut Ways)) {
        let (outer, may_return) = (std::mem::take(&mut self.left), self.may_return);
        self.deep += 1;
        follow(self, ways);
        self.deep -= 1;
        let mut left = std::mem::replace(&mut self.left, outer);
        ways.append(&mut left);
        self.may_return = may_return;
    }

    fn enter(&mut self, block: &Block) {
        if let Some(id) = parameter_of(self.looked, block, self.ty) {
            self.roots.insert(id, Vec::new());
        }
    }

    fn control(&mut self, block: &'p Block, ways: &mut Ways) {
        self.enter(block);
        let Some(body) = &block.body else { return };
        self.inside(ways, |follow, ways| follow.statements(&body.apply, ways));
        ways.append(&mut self.gone);
        self.may_exit = false;
    }

    /// States until no way brings another set; what is left are the sets at `accept`.
    fn parser(&mut self, block: &'p Block, ways: &mut Ways) {
        let Some(body) = &block.body else { return };
        let mut entries: HashMap<&str, Ways> = HashMap::from([("start", std::mem::take(ways))]);
        let reports = std::mem::replace(&mut self.reports, false);
        let mut changed = true;
        while changed && !self.gave_up() {
            changed = false;
            for state in &body.states {
                let Some(mut here) = entries.get(&*state.name.text).cloned() else { continue };
                self.statements(&state.statements, &mut here);
                let mut to = |name: &'p str| {
                    let known = entries.contains_key(name);
                    let entry = entries.entry(name).or_default();
                    let before = entry.len();
                    entry.extend(&here);
                    changed |= entry.len() != before || !known;
                };
                match &state.transition {
                    Some(Transition::Direct(next)) => to(&next.text),
                    Some(Transition::Select { cases, .. }) => cases.iter().for_each(|case| to(&case.state.text)),
                    None => {}
                }
            }
            self.too_many |= entries.values().any(|entry| entry.len() > MOST_SETS);
        }
        self.reports = reports;
        if reports {
            // Which way leads to a state is decided by what was parsed.
            let (sure, mixed) = (std::mem::replace(&mut self.sure, false), self.mixed);
            for state in &body.states {
                let Some(mut here) = entries.get(&*state.name.text).cloned() else { continue };
                self.statements(&state.statements, &mut here);
                if let Some(Transition::Select { keys, .. }) = &state.transition {
                    keys.iter().for_each(|key| self.read(key, &mut here));
                }
            }
            (self.sure, self.mixed) = (sure, mixed);
        }
        *ways = entries.remove("accept").unwrap_or_default();
        // Packets that are rejected come to ingress, too, with what was extracted.
        let headers = |ways: Option<Ways>| ways.into_iter().flatten().fold(0, |all, way| all | way);
        self.unknown |= headers(entries.remove("reject")) & !headers(Some(ways.clone()));
    }

    fn statements(&mut self, all: &'p [Statement], ways: &mut Ways) {
        all.iter().for_each(|statement| self.statement(statement, ways));
    }

    fn statement(&mut self, statement: &'p Statement, ways: &mut Ways) {
        self.steps += 1;
        self.too_many |= ways.len() > MOST_SETS;
        if self.gave_up() || ways.is_empty() {
            return;
        }
        match &statement.kind {
            StatementKind::Assign(left, operator, right) => {
                self.read(right, ways);
                if operator.is_some() {
                    self.read(left, ways);
                }
                self.assign(left, right, ways);
            }
            StatementKind::If(condition, yes, no) => {
                let (mut then, mut otherwise, validity) = self.condition(condition, ways);
                let sure = self.only_if(validity);
                self.statement(yes, &mut then);
                if let Some(no) = no {
                    self.statement(no, &mut otherwise);
                }
                self.sure = sure;
                then.append(&mut otherwise);
                *ways = then;
            }
            StatementKind::Block(_, all) => self.statements(all, ways),
            StatementKind::Switch(value, cases) => {
                self.read(value, ways);
                let sure = std::mem::replace(&mut self.sure, false);
                let mut after = ways.clone();
                for body in cases.iter().filter_map(|case| case.body.as_ref()) {
                    let mut way = ways.clone();
                    self.statement(body, &mut way);
                    after.append(&mut way);
                }
                self.sure = sure;
                *ways = after;
            }
            StatementKind::For { .. } | StatementKind::ForIn { .. } => {
                // How often it is done is not known: what it changes is unknown, and what it reads is not looked at.
                self.unknown = u64::MAX;
            }
            StatementKind::Return(value) => {
                value.iter().for_each(|value| self.read(value, ways));
                self.may_return |= !self.certain();
                self.left.append(ways);
            }
            StatementKind::Exit => {
                self.may_exit |= !self.certain();
                self.gone.append(ways);
            }
            StatementKind::Declaration(declaration) => {
                if let DeclarationKind::Variable { value: Some(value), .. } = &declaration.kind {
                    self.read(value, ways);
                }
            }
            StatementKind::Call(value) => self.read(value, ways),
            _ => {}
        }
    }

    /// What follows is executed only if that holds, too; what was sure before comes back.
    fn only_if(&mut self, validity: bool) -> bool {
        let sure = self.sure;
        self.sure &= validity;
        sure
    }

    /// The bit of the header that an expression is, and whether it is a part of one.
    fn header(&self, value: &Expr) -> Option<(usize, bool)> {
        let (root, rest) = path(self.looked, value)?;
        let mut whole = self.roots.get(&root)?.clone();
        whole.extend(rest);
        let at = self.headers.iter().position(|header| whole.starts_with(header))?;
        Some((at, whole.len() > self.headers[at].len()))
    }

    /// Bits of all headers in what an expression is.
    fn within(&self, value: &Expr) -> u64 {
        let Some((root, rest)) = path(self.looked, value) else { return 0 };
        let Some(base) = self.roots.get(&root) else { return 0 };
        let mut whole = base.clone();
        whole.extend(rest);
        let inside = self
            .headers
            .iter()
            .enumerate()
            .filter(|(_, header)| header.starts_with(&whole) || whole.starts_with(header));
        inside.fold(0, |all, (at, _)| all | 1 << at)
    }

    fn assign(&mut self, left: &'p Expr, right: &'p Expr, ways: &mut Ways) {
        if main_package::is_port(left) {
            let drops = super::constants::value(self.looked.facts, right) == Some(DROP_PORT.into());
            self.dropped(drops, ways);
        }
        let all = self.within(left);
        if let Some((at, false)) = self.header(left) {
            self.change(1 << at);
        }
        match self.header(left) {
            Some((_, true)) => {}
            Some((at, false)) => match &walk::uncast(right).kind {
                ExprKind::Invalid => *ways = ways.iter().map(|way| way & !(1 << at)).collect(),
                ExprKind::List(_) | ExprKind::Struct(..) => *ways = ways.iter().map(|way| way | 1 << at).collect(),
                _ => match self.header(walk::uncast(right)) {
                    Some((from, false)) => {
                        *ways = ways.iter().map(|way| way & !(1 << at) | (way >> from & 1) << at).collect();
                        self.unknown |= (self.unknown >> from & 1) << at;
                        self.mixed |= (self.mixed >> from & 1) << at;
                    }
                    _ => self.unknown |= 1 << at,
                },
            },
            None => self.unknown |= all,
        }
    }

    /// Sets in which a condition holds, those in which it does not, and whether validity alone decides.
    fn condition(&mut self, value: &'p Expr, ways: &mut Ways) -> (Ways, Ways, bool) {
        if let Some((value, same)) = compared(value) {
            let (yes, no, validity) = self.condition(value, ways);
            return if same { (yes, no, validity) } else { (no, yes, validity) };
        }
        match &value.kind {
            ExprKind::Unary(Unary::Not, value) => {
                let (yes, no, validity) = self.condition(value, ways);
                (no, yes, validity)
            }
            ExprKind::Binary(Binary::And, one, two) => {
                let (mut yes, mut no, first) = self.condition(one, ways);
                let sure = self.only_if(first);
                let (yes, mut more, second) = self.condition(two, &mut yes);
                self.sure = sure;
                no.append(&mut more);
                (yes, no, first && second)
            }
            ExprKind::Binary(Binary::Or, one, two) => {
                let (mut yes, mut no, first) = self.condition(one, ways);
                let sure = self.only_if(first);
                let (mut more, no, second) = self.condition(two, &mut no);
                self.sure = sure;
                yes.append(&mut more);
                (yes, no, first && second)
            }
            ExprKind::Call(callee, _, _) => {
                if let ExprKind::Member(owner, member) = &callee.kind
                    && &*member.text == "isValid"
                    && let Some((at, false)) = self.header(owner)
                    && self.unknown >> at & 1 == 0
                {
                    let (yes, no) = ways.iter().partition(|way| *way >> at & 1 == 1);
                    return (yes, no, true);
                }
                self.read(value, ways);
                (ways.clone(), ways.clone(), false)
            }
            _ => {
                self.read(value, ways);
                (ways.clone(), ways.clone(), false)
            }
        }
    }

    fn read(&mut self, value: &'p Expr, ways: &mut Ways) {
        match &value.kind {
            ExprKind::Call(callee, _, arguments) => self.call(callee, arguments, ways),
            ExprKind::Binary(Binary::And | Binary::Or, ..) | ExprKind::Unary(Unary::Not, _) => {
                self.condition(value, ways);
            }
            ExprKind::Choice(condition, yes, no) => {
                let (mut then, mut otherwise, validity) = self.condition(condition, ways);
                let sure = self.only_if(validity);
                self.read(yes, &mut then);
                self.read(no, &mut otherwise);
                self.sure = sure;
            }
            ExprKind::Member(owner, _) => match self.header(value) {
                Some((at, true)) => self.reads(value, at, ways),
                Some((_, false)) => {}
                None => self.read(owner, ways),
            },
            _ => walk::below(value).into_iter().for_each(|one| self.read(one, ways)),
        }
    }

    fn reads(&mut self, value: &'p Expr, at: usize, ways: &Ways) {
        if !self.reports || ways.is_empty() || self.unknown >> at & 1 == 1 {
            return;
        }
        let invalid = ways.iter().filter(|way| *way >> at & 1 == 0).count();
        let what = match invalid {
            0 => None,
            _ if invalid == ways.len() => Some("is invalid"),
            _ if self.certain() && self.mixed >> at & 1 == 0 => Some("may be invalid"),
            _ => None,
        };
        match what {
            Some(what) => self.bad.push((value, self.headers[at].join("."), what)),
            None => {
                self.good.insert(value.at.id);
            }
        }
    }
}

/// What is compared with `true` or `false`, and whether it holds where the comparison does.
fn compared(value: &Expr) -> Option<(&Expr, bool)> {
    let ExprKind::Binary(operator @ (Binary::Equal | Binary::NotEqual), one, two) = &value.kind else { return None };
    let (of, holds) = match (&one.kind, &two.kind) {
        (_, ExprKind::Bool(holds)) => (one, *holds),
        (ExprKind::Bool(holds), _) => (two, *holds),
        _ => return None,
    };
    Some((of, holds == (*operator == Binary::Equal)))
}
