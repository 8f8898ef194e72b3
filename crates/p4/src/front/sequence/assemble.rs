//! The program that two programs are.

use super::calls;
use super::deparse::{self, place};
use super::flow::{self, Flow};
use super::glue::glue;
use super::joint::{Joint, Missed, NO_MATCH};
use super::names::{Names, Taken, declared};
use super::part::{COMPUTE, DEPARSER, PARSER, Part, Used, VERIFY};
use super::rewrite::{Rewrite, name_annotation, named};
use super::same::Same;
use super::{Conflict, Joined};
use crate::error::{Notes, P4Errors};
use crate::front::check;
use crate::front::source::{self, Span};
use crate::front::syntax::ast::{self, Declaration, DeclarationKind, Expr, Name, Statement, given_name};
use crate::front::syntax::change::{self, Change, Role};
use crate::front::warn::walk;
use crate::{Allowed, Program};
use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::rc::Rc;

/// The action of core.p4, which is the same in every program.
const NO_ACTION: &str = "NoAction";

/// Two programs with their words as one; `name` is that of the sequence, and the first may be one already.
pub(crate) fn join(
    first: (Program, Rc<str>),
    second: (Program, Rc<str>),
    name: &Path,
    is_sequence: bool,
) -> Result<Program, P4Errors> {
    let warned = [&first.0, &second.0].into_iter().flat_map(Program::warnings).collect();
    let (mut sources, others) = (first.0.sources.clone(), second.0.sources.clone());
    let told = |conflict: Conflict, sources: &source::Sources| {
        let mut notes = Notes::default();
        let (span, problem) = conflict.problem(sources);
        notes.push(span, problem);
        notes.into_errors(sources)
    };
    let one = Part::of(first.0, first.1, is_sequence).map_err(|conflict| told(conflict, &sources))?;
    let mut two = Part::of(second.0, second.1, false).map_err(|conflict| told(conflict, &others))?;
    two.shift(sources.append(others));
    let joined = Assembly { one: &one, two: &two }.join(name, &mut sources);
    let mut tree = joined.map_err(|conflict| told(conflict, &sources))?;
    let mut numbers = Numbers(0);
    tree.declarations.iter_mut().for_each(|declaration| change::declaration(&mut numbers, declaration));
    tree.expressions = numbers.0;
    let mut notes = Notes::default();
    let facts = check::check(&tree, &sources, &mut notes);
    match notes.is_empty() {
        true => Ok(Program { tree, facts: Some(facts), sources, allowed: Allowed::default(), warned: Some(warned) }),
        false => Err(notes.into_errors(&sources)),
    }
}

/// A statement about a checksum, after the name that the headers have in it.
type Check = (Rc<str>, Statement);

/// Numbers for expressions.
struct Numbers(u32);

impl Change for Numbers {
    fn expression(&mut self, value: &mut Expr) {
        value.at.id = self.0;
        self.0 += 1;
        change::expression(self, value);
    }
}

/// Places in texts that are behind others now.
struct Shift(u32);

impl Change for Shift {
    fn span(&mut self, span: &mut Span) {
        span.text += self.0;
    }
}

impl Part {
    fn shift(&mut self, by: u32) {
        let mut shift = Shift(by);
        self.tree.declarations.iter_mut().for_each(|declaration| change::declaration(&mut shift, declaration));
        change::ty(&mut shift, &mut self.meta);
        change::declaration(&mut shift, &mut self.struct_of_headers);
        for used in &mut self.blocks {
            let kind = DeclarationKind::Block(used.block.clone());
            let mut whole = Declaration { annotations: Vec::new(), kind, span: Span::default() };
            change::declaration(&mut shift, &mut whole);
            if let DeclarationKind::Block(block) = whole.kind {
                used.block = block;
            }
            used.arguments.iter_mut().for_each(|argument| shift.expression(&mut argument.value));
        }
    }

    /// Whether a declaration is one of those that the joined program has in another form.
    fn is_replaced(&self, declaration: &Declaration) -> bool {
        let Some(name) = declared(declaration) else { return false };
        let is_struct = matches!(&declaration.kind, DeclarationKind::Fields { .. }) && name.text == self.headers_name();
        let block =
            |at: usize| name.text == self.blocks[at].name && matches!(declaration.kind, DeclarationKind::Block(_));
        &*name.text == "main" || is_struct || block(PARSER) || block(DEPARSER)
    }

    /// Statements of a block of checksums, and of the blocks that it applies, with the name of their headers.
    fn checksums(&self, block: usize) -> Vec<Check> {
        let mut all = Vec::new();
        let mut left = vec![&self.blocks[block].block];
        while let Some(block) = left.pop() {
            let (Some(headers), Some(body)) = (block.parameters.first(), &block.body) else { continue };
            all.extend(body.apply.iter().map(|statement| (headers.name.text.clone(), statement.clone())));
            for local in &body.locals {
                let DeclarationKind::Instance(ast::Instance { ty, .. }) = &local.kind else { continue };
                let ast::TypeKind::Named { name, .. } = &ty.kind else { continue };
                left.extend(self.tree.declarations.iter().filter_map(|declaration| match &declaration.kind {
                    DeclarationKind::Block(block) if block.name.text == name.text => Some(block),
                    _ => None,
                }));
            }
        }
        all
    }
}

struct Assembly<'a> {
    one: &'a Part,
    two: &'a Part,
}

impl Assembly<'_> {
    fn join(&self, path: &Path, sources: &mut source::Sources) -> Joined<ast::Program> {
        let (one, two) = (self.one, self.two);
        for part in [one, two] {
            calls::check(part)?;
        }
        calls::check_both(one, two)?;
        let mut taken = Taken::of([one, two]);
        let flows = [Flow::of(one, &mut taken)?, Flow::of(two, &mut taken)?];
        let joint = Joint::of([one, two], &flows)?;
        let same = joint.same.clone();
        let mut names = Names::default();
        names.renamed.insert(two.headers_name(), one.headers_name());
        let fields = one.fields();
        for (field, _) in two.fields() {
            if !same.fields.contains_key(&field) && fields.iter().any(|(own, _)| *own == field) {
                names.fields.insert(field.clone(), taken.fresh(&format!("{}_{field}", two.name)));
            }
        }
        calls::check_error([one, two], self.verified_alone(&same, &names))?;
        let mut kept: Vec<Declaration> =
            one.tree.declarations.iter().filter(|declaration| !one.is_replaced(declaration)).cloned().collect();
        if !one.is_sequence {
            kept.iter_mut().for_each(|declaration| name_control(&one.name, declaration));
        }
        kept.extend(self.second_declarations(&same, &mut names, &mut taken, sources)?);
        let (parser, missed) = self.parser(&joint, &flows, &names)?;
        calls::check_missed(&missed, [one, two])?;
        let (types, rest): (Vec<Declaration>, Vec<Declaration>) = kept.into_iter().partition(is_type);
        // Names of the headers' type come behind it.
        let headers = one.headers_name();
        let of_headers = |declaration: &Declaration| {
            let mut found = Mentions(&headers, false);
            change::declaration(&mut found, &mut declaration.clone());
            found.1
        };
        let (behind, mut declarations): (Vec<Declaration>, Vec<Declaration>) = types.into_iter().partition(of_headers);
        declarations.push(self.headers(&same, &names));
        declarations.extend(behind);
        let mut glue = glue([one, two], path, (&names, &missed), &mut taken, sources).into_iter();
        if let Some(mut meta) = glue.next() {
            let mut second = two.meta.clone();
            change::ty(&mut Rewrite::second(&same, two, &names), &mut second);
            if let DeclarationKind::Fields { fields, .. } = &mut meta.kind {
                fields[0].ty = one.meta.clone();
                fields[1].ty = second;
            }
            declarations.push(meta);
        }
        declarations.extend(rest);
        let mut parser = Some(parser);
        for mut declaration in glue {
            self.fill(&mut declaration, (&mut parser, &flows), &same, &names)?;
            declarations.push(declaration);
        }
        Ok(ast::Program { declarations, expressions: 0 })
    }

    /// Declarations of the second program that the first has not, with names that it has not.
    fn second_declarations(
        &self,
        same: &Same,
        names: &mut Names,
        taken: &mut Taken,
        sources: &source::Sources,
    ) -> Joined<Vec<Declaration>> {
        let (one, two) = (self.one, self.two);
        let errors: HashSet<&Rc<str>> = one.facts.errors.iter().collect();
        let kinds = one.tree.declarations.iter().filter_map(|declaration| match &declaration.kind {
            DeclarationKind::MatchKind(all) => Some(all),
            _ => None,
        });
        let kinds: HashSet<&Rc<str>> = kinds.flatten().map(|name| &name.text).collect();
        let mut all = Vec::new();
        for declaration in two.tree.declarations.iter().filter(|declaration| !two.is_replaced(declaration)) {
            let mut own = declaration.clone();
            if let DeclarationKind::Error(members) | DeclarationKind::MatchKind(members) = &mut own.kind {
                members.retain(|member| !errors.contains(&member.text) && !kinds.contains(&member.text));
                if !members.is_empty() {
                    all.push(own);
                }
                continue;
            }
            let Some(name) = declared(declaration) else { continue };
            if matches!(own.kind, DeclarationKind::Fields { .. }) && same.types.contains_key(&name.text) {
                continue;
            }
            self.only_once(&mut own, same, names);
            let mut seen = own.clone();
            change::declaration(&mut Rewrite::second(same, two, names), &mut seen);
            let others =
                one.tree.declarations.iter().filter(|other| declared(other).is_some_and(|of| of.text == name.text));
            let others: Vec<&Declaration> = others.collect();
            let is_block = |declaration: &Declaration| matches!(&declaration.kind, DeclarationKind::Block(block) if block.body.is_some());
            let is_there = others.iter().any(|other| other.kind == seen.kind && other.annotations == seen.annotations);
            let is_own =
                is_block(&seen) || matches!(seen.kind, DeclarationKind::Instance(_) | DeclarationKind::Action { .. });
            if is_there && (!is_own || &*name.text == NO_ACTION) {
                continue;
            }
            let is_library = |declaration: &Declaration| sources.text(declaration.span.text).name.starts_with('<');
            if let Some(other) = others.iter().find(|other| is_library(declaration) && is_library(other)) {
                let what =
                    format!("`{}` of another version of the library: macros before its `#include` differ", name.text);
                return Err(Conflict::with(name.span, what, other.span));
            }
            name_control(&two.name, &mut own);
            if !others.is_empty() && !names.renamed.contains_key(&name.text) {
                names.renamed.insert(name.text.clone(), taken.fresh(&format!("{}_{}", two.name, name.text)));
            }
            Rewrite::second(same, two, names).declaration(&mut own);
            all.push(own);
        }
        Ok(all)
    }

    /// Checksums that the first program computes, too, are computed once.
    fn only_once(&self, declaration: &mut Declaration, same: &Same, names: &Names) {
        let DeclarationKind::Block(block) = &mut declaration.kind else { return };
        // The first does not compute those of a header that it has not there.
        for at in [VERIFY, COMPUTE].into_iter().filter(|_| !same.first_misses) {
            let ([headers, meta], Some(body)) = (&block.parameters[..], &mut block.body) else { return };
            if self.two.blocks[at].name != block.name.text {
                continue;
            }
            let there = self.one.checksums(at);
            let is_there = |own: &Statement| {
                let own = (headers.name.text.clone(), own.clone());
                there.iter().any(|other| self.is_one(other, &own, same, names))
            };
            body.apply.retain(|own| mentions(own, &meta.name.text) || !is_there(own));
        }
    }

    /// Whether a statement of the first program and one of the second do the same, each with the name that its headers have.
    fn is_one(&self, (headers, one): &Check, (others, two): &Check, same: &Same, names: &Names) -> bool {
        let mut seen = two.clone();
        let mut rewrite = Rewrite::second(same, self.two, names);
        rewrite.values.insert(others.clone(), named(headers, one.span));
        rewrite.statement(&mut seen);
        seen == *one
    }

    /// The first checksum that each program verifies and the other does not.
    fn verified_alone(&self, same: &Same, names: &Names) -> [Option<Span>; 2] {
        let is_verified = |(_, statement): &Check| match &statement.kind {
            ast::StatementKind::Call(Expr { kind: ast::ExprKind::Call(callee, ..), .. }) => {
                matches!(&callee.kind, ast::ExprKind::Name { name, .. } if name.text.starts_with("verify_checksum"))
            }
            _ => false,
        };
        let [one, two] =
            [self.one, self.two].map(|part| part.checksums(VERIFY).into_iter().filter(is_verified).collect::<Vec<_>>());
        let first = one.iter().find(|a| !two.iter().any(|b| self.is_one(a, b, same, names)));
        let second = two.iter().find(|b| !one.iter().any(|a| self.is_one(a, b, same, names)));
        [first, second].map(|found| found.map(|(_, statement)| statement.span))
    }

    /// The headers of both.
    fn headers(&self, same: &Same, names: &Names) -> Declaration {
        let (mut all, mut own) = (self.one.struct_of_headers.clone(), self.two.struct_of_headers.clone());
        change::declaration(&mut Rewrite::second(same, self.two, names), &mut own);
        if let (DeclarationKind::Fields { fields, .. }, DeclarationKind::Fields { fields: others, .. }) =
            (&mut all.kind, own.kind)
        {
            for mut field in others.into_iter().filter(|field| !same.fields.contains_key(&field.name.text)) {
                if let Some(name) = names.fields.get(&field.name.text) {
                    field.name.text = name.clone();
                }
                fields.push(field);
            }
        }
        all
    }

    /// States, arguments of constructors, and emitted headers.
    fn fill(
        &self,
        of: &mut Declaration,
        (parser, flows): (&mut Option<ast::Body>, &[Flow; 2]),
        same: &Same,
        names: &Names,
    ) -> Joined<()> {
        let (one, two) = (self.one, self.two);
        let DeclarationKind::Block(block) = &mut of.kind else { return Ok(()) };
        let Some(body) = &mut block.body else { return Ok(()) };
        if block.kind == ast::BlockKind::Parser {
            // A state of the text that the others may lead to.
            let own = std::mem::take(&mut body.states);
            if let Some(parser) = parser.take() {
                *body = parser;
            }
            let leads = |state: &ast::State| match &state.transition {
                Some(ast::Transition::Direct(next)) => &*next.text == NO_MATCH,
                Some(ast::Transition::Select { cases, .. }) => cases.iter().any(|case| &*case.state.text == NO_MATCH),
                None => false,
            };
            if body.states.iter().any(leads) {
                body.states.extend(own.into_iter().filter(|state| &*state.name.text == NO_MATCH));
            }
        } else if block.parameters[0].direction == ast::Direction::None {
            body.apply = deparse::merged(one, two, flows, (same, &mut Rewrite::second(same, two, names)))?;
        } else {
            let is_instance = |local: &&mut Declaration| matches!(local.kind, DeclarationKind::Instance(_));
            for (local, part) in body.locals.iter_mut().filter(is_instance).zip([one, two]) {
                let DeclarationKind::Instance(instance) = &mut local.kind else { continue };
                let ast::TypeKind::Named { name, .. } = &instance.ty.kind else { continue };
                let is = |used: &&Used| {
                    let renamed = names.renamed.get(&used.name).filter(|_| std::ptr::eq(part, two));
                    *renamed.unwrap_or(&used.name) == name.text
                };
                instance.arguments = part.blocks.iter().find(is).map(|used| used.arguments.clone()).unwrap_or_default();
                if std::ptr::eq(part, two) {
                    let mut rewrite = Rewrite::second(same, two, names);
                    instance.arguments.iter_mut().for_each(|argument| rewrite.expression(&mut argument.value));
                }
            }
        }
        Ok(())
    }

    /// The parser of both: metadata of each are a field of the joined ones.
    fn parser(&self, joint: &Joint, flows: &[Flow; 2], names: &Names) -> Joined<(ast::Body, BTreeSet<Missed>)> {
        let (one, two) = (self.one, self.two);
        let used = &one.blocks[PARSER];
        let meta = used.parameter(2)?.name.clone();
        let nothing = Same::default();
        let mut first = Rewrite::second(&nothing, one, &Names::default());
        first.values.insert(meta.text.clone(), place(&meta.text, &one.name, meta.span));
        let mut second = Rewrite::second(&joint.same, two, names);
        // Variables of the parser may have a name of the first one's parser.
        let mut taken = Taken::of([one, two]);
        for name in flows[1].locals.iter().filter_map(declared) {
            second.names.insert(name.text.clone(), taken.fresh(&format!("{}_{}", two.name, name.text)));
        }
        second.parameters(one, two, PARSER, &[0, 1, 3]);
        let own_meta = two.blocks[PARSER].parameter(2)?.name.clone();
        second.values.insert(own_meta.text.clone(), place(&meta.text, &two.name, own_meta.span));
        let mut locals = flows.each_ref().map(|flow| flow.locals.clone());
        for (locals, part) in locals.iter_mut().zip([one, two]).filter(|(_, part)| !part.is_sequence) {
            locals.iter_mut().for_each(|local| name_local(&part.name, &part.blocks[PARSER].path, local));
        }
        let mut rewrites = [first, second];
        for (locals, rewrite) in locals.iter_mut().zip(&mut rewrites) {
            locals.iter_mut().for_each(|local| change::declaration(rewrite, local));
        }
        let (states, missed) = joint.states(&mut rewrites)?;
        Ok((flow::body(locals.concat(), states, used.body()?.end), missed))
    }
}

/// Whether a name was met.
struct Mentions<'a>(&'a Rc<str>, bool);

impl Change for Mentions<'_> {
    fn name(&mut self, name: &mut Name, role: Role) {
        self.1 |= role != Role::Part && name.text == *self.0;
    }
}

/// Whether a statement uses a name.
fn mentions(statement: &Statement, name: &Rc<str>) -> bool {
    let mut found = false;
    walk::in_statements(std::slice::from_ref(statement), &mut |value| {
        found |= matches!(&value.kind, ast::ExprKind::Name { name: own, .. } if own.text == *name);
    });
    found
}

/// What is declared before all that runs.
fn is_type(declaration: &Declaration) -> bool {
    use DeclarationKind as K;
    match &declaration.kind {
        K::Block(block) => block.body.is_none(),
        K::Constant { .. } | K::ExternFunction(_) | K::Extern { .. } | K::Fields { .. } | K::Enum { .. } => true,
        K::Error(_) | K::MatchKind(_) | K::Alias { .. } | K::Package { .. } => true,
        _ => false,
    }
}

/// The program's word before the name that a declaration outside of blocks has for the control plane.
fn name_control(word: &str, declaration: &mut Declaration) {
    let name = match &declaration.kind {
        DeclarationKind::Action { name, .. } if &*name.text != NO_ACTION => name,
        DeclarationKind::Instance(instance) => &instance.name,
        _ => return,
    };
    set_name(&format!("{word}."), &name.clone(), declaration);
}

/// The same for what a parser declares.
fn name_local(word: &str, path: &str, declaration: &mut Declaration) {
    if let DeclarationKind::ValueSet { name, .. } = &declaration.kind {
        set_name(&format!(".{word}.{path}."), &name.clone(), declaration);
    }
}

fn set_name(before: &str, name: &Name, declaration: &mut Declaration) {
    let given = given_name(&declaration.annotations).unwrap_or(&name.text).to_string();
    if !given.starts_with('.') {
        declaration.annotations.retain(|annotation| &*annotation.name.text != "name");
        declaration.annotations.push(name_annotation(&format!("{before}{given}"), name.span));
    }
}
