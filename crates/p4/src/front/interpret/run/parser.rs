//! Parsers: states, and where they lead.

use super::{Machine, Run, Stop};
use crate::front::interpret::code::{Code, Next, Set, Transition};
use crate::front::interpret::numbers;
use crate::front::interpret::value::{Number, Value};
use crate::front::syntax::ast::Binary;

impl Machine {
    /// Runs a parser whose parameters are set, up to `accept`; what rejects is an error of the parser.
    pub fn parse(&mut self, code: &Code, at: usize) -> Run<()> {
        let parser = &code.parsers[at];
        self.statements(code, &parser.locals)?;
        let mut next = parser.start;
        loop {
            let state = match next {
                Next::Accept => return Ok(()),
                // A packet that is rejected without a reason has no error.
                Next::Reject => return Err(Stop::Parser(0)),
                Next::State(at) => &parser.states[at],
            };
            self.step()?;
            self.statements(code, &state.body)?;
            next = match &state.transition {
                Transition::Direct(next) => *next,
                Transition::Select(keys, cases) => {
                    let mut values = Vec::with_capacity(keys.len());
                    for key in keys {
                        values.push(self.value(code, key)?);
                    }
                    self.select(code, &values, cases)?
                }
            };
        }
    }

    fn select(&mut self, code: &Code, keys: &[Value], cases: &[(Vec<Set>, Next)]) -> Run<Next> {
        for (sets, next) in cases {
            let mut holds = true;
            for (at, (set, key)) in sets.iter().zip(keys).enumerate() {
                holds = holds
                    && match set {
                        Set::Named(set) => self.value_sets[*set].iter().any(|values| {
                            let these = if sets.len() == 1 { keys } else { &keys[at..=at] };
                            values.len() == these.len() && values.iter().zip(these).all(|(v, k)| *v == k.bits())
                        }),
                        set => self.holds(code, set, key)?,
                    };
            }
            if holds {
                return Ok(*next);
            }
        }
        Err(Stop::Parser(self.errors.no_match))
    }

    fn holds(&mut self, code: &Code, set: &Set, key: &Value) -> Run<bool> {
        Ok(match set {
            Set::Any => true,
            Set::Value(value) => self.value(code, value)?.equals(key),
            Set::Mask(value, mask) => {
                let (value, mask) = (self.value(code, value)?, self.value(code, mask)?);
                let number = Number { width: 1 << 16, signed: false };
                let masked = |one: &Value| numbers::binary(Binary::BitAnd, number, one, &mask).map(|v| v.big());
                masked(&value) == masked(key)
            }
            Set::Range(low, high, number) => {
                let (low, high) = (self.value(code, low)?, self.value(code, high)?);
                let least = numbers::binary(Binary::LessEqual, *number, &low, key);
                let most = numbers::binary(Binary::LessEqual, *number, key, &high);
                least.is_some_and(|value| value.is_true()) && most.is_some_and(|value| value.is_true())
            }
            // It may look at all keys, and is looked at before.
            Set::Named(_) => false,
        })
    }
}
