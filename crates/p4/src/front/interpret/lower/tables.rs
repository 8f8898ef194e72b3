//! Tables with their keys, actions and entries.

use super::calls::Given;
use super::{Binding, Lowered, Lowerer};
use crate::front::check::{DefId, Kind, Type};
use crate::front::interpret::code::{Argument, Entry, Ex, Key, Match, MatchKind, ObjectKind, Set, Table, TableAction};
use crate::front::interpret::tables::rank_of;
use crate::front::interpret::value::{Value, ones};
use crate::front::source::Span;
use crate::front::syntax::ast::{
    self, Annotation, Binary, Direction, Expr, ExprKind, KeyElement, Name, Property, PropertyValue, given_name,
};
use num_bigint::BigUint;

impl<'p> Lowerer<'p> {
    pub(super) fn table(
        &mut self,
        name: &'p Name,
        properties: &'p [Property],
        annotations: &[Annotation],
    ) -> Lowered<()> {
        let id = self.declared(name)?;
        let mut table = Table {
            name: self.path(given_name(annotations).unwrap_or(&name.text)),
            keys: Vec::new(),
            actions: Vec::new(),
            default: (0, Vec::new()),
            default_constant: false,
            entries: Vec::new(),
            constant: false,
            size: None,
            direct: Vec::new(),
            has_selector: false,
            implementation: None,
        };
        let mut types = Vec::new();
        for property in properties {
            match &property.value {
                PropertyValue::Key(keys) => {
                    for key in keys {
                        types.push(self.type_of(&key.value));
                        let key = self.key(key)?;
                        table.keys.push(key);
                    }
                }
                PropertyValue::Actions(actions) => {
                    for action in actions {
                        let action = self.table_action(action)?;
                        table.actions.push(action);
                    }
                }
                _ => {}
            }
        }
        let mut has_default = false;
        for property in properties {
            match (&property.value, &*property.name.text) {
                (PropertyValue::Value(value), "default_action") => {
                    has_default = true;
                    table.default = self.run_by(value, &table)?;
                    table.default_constant = property.constant;
                }
                (PropertyValue::Value(value), "size") => table.size = u64::try_from(self.constant_of(value)?).ok(),
                (PropertyValue::Value(value), "implementation" | "counters" | "meters") => {
                    self.attached(value, &mut table)?
                }
                (PropertyValue::Entries(entries), _) => {
                    table.constant = property.constant;
                    table.entries = self.entries(entries, &types, &table, properties)?;
                }
                _ => {}
            }
        }
        if !has_default {
            table.default = (self.no_action(&mut table, name.span)?, Vec::new());
        }
        self.tell_table(name, properties, annotations, &table)?;
        self.code.tables.push(table);
        self.bind(id, Binding::Table(self.code.tables.len() - 1));
        Ok(())
    }

    fn key(&mut self, key: &'p KeyElement) -> Lowered<Key> {
        let kind = match &*key.kind.text {
            "exact" => MatchKind::Exact,
            "lpm" => MatchKind::Lpm,
            "ternary" => MatchKind::Ternary,
            "range" => MatchKind::Range,
            "optional" => MatchKind::Optional,
            "selector" => MatchKind::Selector,
            other => return self.refuse(key.kind.span, format!("match kind `{other}`, which v1model has not")),
        };
        let ty = self.type_of(&key.value);
        let members = match &ty {
            Type::Named(id, _) => match &self.facts.definition(*id).kind {
                Kind::Enum { underlying, members } => members
                    .iter()
                    .enumerate()
                    .map(|(at, (name, number))| {
                        let value = match (number, underlying) {
                            (Some(number), Some(of)) => Value::of_int(number, self.number(of).width),
                            _ => Value::Bits(at as u128),
                        };
                        (name.clone(), value)
                    })
                    .collect(),
                _ => Vec::new(),
            },
            Type::Error => {
                let all = self.code.errors.iter().enumerate();
                all.map(|(at, name)| (name.clone(), Value::Bits(at as u128))).collect()
            }
            _ => Vec::new(),
        };
        let name = given_name(&key.annotations).map_or_else(|| key_name(&key.value), str::to_string);
        let value = self.value(&key.value, None)?;
        Ok(Key { name, value, kind, shape: self.shape(&ty), members })
    }

    fn action_of(&self, value: &'p Expr) -> Lowered<(DefId, usize, &'p [ast::Argument])> {
        let (callee, arguments): (&Expr, &[ast::Argument]) = match &value.kind {
            ExprKind::Call(callee, _, arguments) => (callee, arguments),
            _ => (value, &[]),
        };
        let id = self.facts.name(callee);
        match id.map(|id| (id, self.binding(id))) {
            Some((id, Some(Binding::Action(at)))) => Ok((id, *at, arguments)),
            _ => self.refuse(value.at.span, "this action here"),
        }
    }

    fn table_action(&mut self, action: &'p ast::ActionRef) -> Lowered<TableAction> {
        let (id, at, arguments) = self.action_of(&action.value)?;
        let definition = self.facts.definition(id);
        let Kind::Action(signature) = &definition.kind else {
            return self.refuse(action.value.at.span, "this action here");
        };
        let given = Given { arguments, defaults: &[] };
        let directed = signature.parameters.iter().take_while(|p| p.direction != Direction::None).count();
        let bound = self.arguments(&signature.parameters[..directed], &given, true)?;
        let marked = |word: &str| action.annotations.iter().any(|a| &*a.name.text == word);
        Ok(TableAction {
            action: at,
            word: definition.name.clone(),
            bound,
            default_only: marked("defaultonly"),
            table_only: marked("tableonly"),
        })
    }

    /// Which of the table's actions a default action or entry names, with its data.
    fn run_by(&mut self, value: &'p Expr, table: &Table) -> Lowered<(usize, Vec<Value>)> {
        let (id, action, arguments) = self.action_of(value)?;
        let Some(listed) = table.actions.iter().position(|a| a.action == action) else {
            return self.refuse(value.at.span, "an action that the table does not list");
        };
        let Kind::Action(signature) = &self.facts.definition(id).kind else {
            return self.refuse(value.at.span, "this action here");
        };
        let directed = table.actions[listed].bound.len();
        let data = &signature.parameters[directed..];
        // The arguments with a direction may be left out.
        let skipped = if arguments.len() == signature.parameters.len() { directed } else { 0 };
        let named = arguments.iter().any(|argument| argument.name.is_some());
        let arguments = if named { arguments } else { &arguments[skipped.min(arguments.len())..] };
        let given = Given { arguments, defaults: &[] };
        let mut values = Vec::with_capacity(data.len());
        for (at, parameter) in data.iter().enumerate() {
            let Some(value) = given.of(at, &parameter.name) else {
                let default = self.code.actions[action].parameters[directed + at].default.clone();
                values.push(default.unwrap_or_else(|| self.shape(&parameter.ty).zero()));
                continue;
            };
            match self.argument(parameter, value, true)? {
                Argument::In(Ex::Constant(value), _) => values.push(value),
                _ => return self.refuse(value.at.span, "data of an action that are not known before"),
            }
        }
        Ok((listed, values))
    }

    fn no_action(&mut self, table: &mut Table, span: Span) -> Lowered<usize> {
        let is_it = |id: &DefId| {
            let definition = self.facts.definition(*id);
            &*definition.name == "NoAction" && matches!(definition.kind, Kind::Action(_))
        };
        let found = self.frames[0].bindings.iter().find(|(id, _)| is_it(id)).map(|(_, binding)| binding.clone());
        let Some(Binding::Action(action)) = found else { return self.refuse(span, "a table without default action") };
        if let Some(at) = table.actions.iter().position(|a| a.action == action) {
            return Ok(at);
        }
        let word = "NoAction".into();
        table.actions.push(TableAction { action, word, bound: Vec::new(), default_only: true, table_only: false });
        Ok(table.actions.len() - 1)
    }

    /// Direct counters and meters, and what selects actions.
    fn attached(&mut self, value: &'p Expr, table: &mut Table) -> Lowered<()> {
        let binding = match &value.kind {
            ExprKind::Call(_, _, arguments) => {
                let ty = self.type_of(value);
                let name = format!("{}.object", table.name);
                self.made(&ty, arguments, &format!(".{name}"), value.at.span)?
            }
            _ => match self.facts.name(value).and_then(|id| self.binding(id)) {
                Some(binding) => binding.clone(),
                None => return self.refuse(value.at.span, "this object of a table"),
            },
        };
        let Binding::Object(at) = binding else { return self.refuse(value.at.span, "this object of a table") };
        match self.code.objects[at].kind {
            ObjectKind::Profile { selects } => {
                table.has_selector = selects;
                table.implementation = Some(at);
            }
            _ => table.direct.push(at),
        }
        Ok(())
    }

    fn entries(
        &mut self,
        entries: &'p [ast::Entry],
        types: &[Type],
        table: &Table,
        properties: &'p [Property],
    ) -> Lowered<Vec<Entry>> {
        let property = |wanted: &str| {
            properties.iter().find(|p| &*p.name.text == wanted).and_then(|p| match &p.value {
                PropertyValue::Value(value) => Some(value),
                _ => None,
            })
        };
        let largest = match property("largest_priority_wins") {
            Some(value) => match self.value(value, None)? {
                Ex::Constant(value) => value.is_true(),
                _ => true,
            },
            None => true,
        };
        let delta = match property("priority_delta") {
            Some(value) => self.constant_of(value)? as i64,
            None => 1,
        };
        let explicit = entries.iter().any(|entry| entry.priority.is_some());
        let mut last = None;
        let mut all = Vec::with_capacity(entries.len());
        for (at, entry) in entries.iter().enumerate() {
            let sets = self.sets(&entry.values, types)?;
            let empty = sets.iter().any(Set::is_empty);
            let mut matches = Vec::with_capacity(table.keys.len());
            for (set, key) in sets.into_iter().zip(&table.keys) {
                matches.push(self.matched(set, key, entry.span)?);
            }
            let (action, data) = self.run_by(&entry.action.value, table)?;
            let given = match &entry.priority {
                Some(value) => Some(self.constant_of(value)? as i64),
                None => None,
            };
            // Section 14.2.1.4: what has no priority of its own counts on from the entry before it.
            let first = if largest { (entries.len() as i64 - 1) * delta + 1 } else { 1 };
            let counted = last.map_or(first, |last: i64| if largest { last - delta } else { last + delta });
            let priority = given.unwrap_or(counted);
            last = Some(priority);
            let annotated = ast::annotated_priority(&entry.action.annotations);
            let rank = match (explicit, largest) {
                (false, _) if annotated.is_some() => annotated.unwrap_or(0),
                (false, _) => at as i64 + 1,
                (true, true) => i64::from(i32::MAX) - priority,
                (true, false) => priority,
            };
            // Nothing lies in a range that ends before it begins.
            if empty {
                continue;
            }
            let rank = rank_of(&table.keys, &matches, rank);
            all.push(Entry { matches, rank, action, data });
        }
        Ok(all)
    }

    /// What an entry of the program asks of a key.
    fn matched(&self, set: Set, key: &Key, span: Span) -> Lowered<Match> {
        let width = key.shape.number().width;
        Ok(match (set, key.kind) {
            (Set::Any, _) => Match::Any,
            (Set::Value(Ex::Constant(value)), MatchKind::Lpm) => {
                Match::Prefix(value, Value::of_big((BigUint::from(1u8) << width) - 1u8, width), width)
            }
            (Set::Value(Ex::Constant(value)), _) => Match::Exact(value),
            (Set::Mask(Ex::Constant(value), Ex::Constant(mask)), kind) => {
                let mask = if width <= 128 { Value::Bits(mask.bits() & ones(width)) } else { mask };
                let length = mask.big().count_ones() as u32;
                match kind {
                    MatchKind::Lpm => Match::Prefix(value, mask, length),
                    _ => Match::Masked(value, mask),
                }
            }
            (Set::Range(Ex::Constant(low), Ex::Constant(high), _), _) => Match::Range(low, high),
            _ => return self.refuse(span, "an entry that is not known before the program runs"),
        })
    }
}

/// The name of a key for the control plane, as it is written.
pub(crate) fn key_name(key: &Expr) -> String {
    match &key.kind {
        ExprKind::Name { name, .. } => name.text.to_string(),
        ExprKind::Member(owner, member) => format!("{}.{}", key_name(owner), member.text),
        ExprKind::Index(owner, index) => match &index.kind {
            ExprKind::Number(number) => format!("{}[{}]", key_name(owner), number.value),
            _ => key_name(owner),
        },
        ExprKind::Slice(owner, high, low) => match (&high.kind, &low.kind) {
            (ExprKind::Number(high), ExprKind::Number(low)) => {
                format!("{}[{}:{}]", key_name(owner), high.value, low.value)
            }
            _ => key_name(owner),
        },
        ExprKind::Binary(Binary::BitAnd, left, _) => key_name(left),
        ExprKind::Call(callee, ..) => match &callee.kind {
            ExprKind::Member(owner, member) if &*member.text == "isValid" => format!("{}.$valid$", key_name(owner)),
            _ => key_name(callee),
        },
        ExprKind::Cast(_, value) => key_name(value),
        _ => String::new(),
    }
}
