//! Which of several entries of a table wins.

use super::Checker;
use super::Problem;
use super::types::Type;
use super::value::Value;
use crate::front::syntax::ast::{Entry, Expr, Name, Property, PropertyValue};
use num_bigint::BigInt;

/// Kinds of keys of which one entry at most matches, or the longest prefix wins.
const WITHOUT_ORDER: &[&str] = &["exact", "lpm", "selector"];

impl Checker<'_> {
    /// `largest_priority_wins = true;`
    pub(super) fn largest_wins(&mut self, value: &Expr) {
        let what = "`largest_priority_wins`";
        if self.expect(value, &Type::Bool, what)
            && self.type_of(value) != Type::Unknown
            && self.constant(value).is_none()
        {
            let why = "which is needed here".to_string();
            self.note(value.at.span, Problem::Constant { what: what.to_string(), why });
        }
    }

    /// `priority_delta = 10;`
    pub(super) fn priority_delta(&mut self, value: &Expr) {
        let (what, ty) = ("`priority_delta`", self.infer(value));
        if !matches!(self.base(&ty), Type::Int | Type::Bit(_) | Type::Signed(_) | Type::Unknown) {
            return self.mismatch(value.at.span, what, &ty, "a number");
        }
        if let Some(number) = self.constant_number(value, what) {
            self.not_below(value, what, &number, 1);
        }
    }

    /// `priority = 10`
    pub(super) fn priority(&mut self, priority: &Expr, keys: &[(Type, Name)], table: &Name) {
        let ty = self.infer(priority);
        if !self.fits(&ty, &Type::Int) && !matches!(self.base(&ty), Type::Bit(_) | Type::Signed(_)) {
            return self.mismatch(priority.at.span, "a priority", &ty, "a number");
        }
        if let Some(number) = self.constant_number(priority, "a priority") {
            self.within_range(priority.at.span, "a priority", &number, 0, i32::MAX as u32);
        }
        if keys.iter().all(|(_, kind)| WITHOUT_ORDER.contains(&&*kind.text)) {
            let what = "its keys are exact or prefixes, so its entries have no priority".to_string();
            self.note(priority.at.span, Problem::Table { table: table.text.to_string(), what });
        }
    }

    /// Notes priorities that are counted on from the entry before, and leave their range.
    pub(super) fn priorities(&mut self, all: &[Entry], properties: &[Property]) {
        let value = |checker: &mut Self, name: &str| {
            let property = properties.iter().find(|p| &*p.name.text == name)?;
            match &property.value {
                PropertyValue::Value(value) => checker.constant(value),
                _ => None,
            }
        };
        let largest = !matches!(value(self, "largest_priority_wins"), Some(Value::Bool(false)));
        let delta = match value(self, "priority_delta") {
            Some(Value::Number(delta)) => delta,
            Some(_) => return,
            None => BigInt::from(1),
        };
        let mut last: Option<BigInt> = None;
        for entry in all {
            let next = match &entry.priority {
                Some(priority) => match self.constant(priority) {
                    Some(Value::Number(number)) => number,
                    _ => return,
                },
                None => {
                    let Some(last) = &last else { return };
                    let next = if largest { last - &delta } else { last + &delta };
                    let what = "the priority that this entry gets from the one before it";
                    if self.within_range(entry.span, what, &next, 0, i32::MAX as u32).is_none() {
                        return;
                    }
                    next
                }
            };
            last = Some(next);
        }
    }
}
