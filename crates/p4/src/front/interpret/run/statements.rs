//! Statements.

use super::{Event, Flow, Machine, Run};
use crate::front::interpret::code::{Code, St};
use crate::front::interpret::numbers;
use crate::front::interpret::value::Value;
use crate::front::syntax::ast::Binary;

impl Machine {
    pub fn statements(&mut self, code: &Code, all: &[St]) -> Run<Flow> {
        for statement in all {
            match self.statement(code, statement)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, code: &Code, statement: &St) -> Run<Flow> {
        self.step()?;
        match statement {
            St::Evaluate(ex) => {
                self.value(code, ex)?;
            }
            St::Here(span) => self.event(|| Event::Statement(*span)),
            St::Show(span, place) => self.show(code, *span, place)?,
            St::Assign(target, ex) => {
                let found = self.find(code, target)?;
                let value = self.value(code, ex)?;
                self.write(target, &found, value);
            }
            St::Update(target, slot, ex) => {
                let found = self.find(code, target)?;
                self.slots[*slot] = self.current(target, &found);
                let value = self.value(code, ex)?;
                self.write(target, &found, value);
            }
            St::Fresh(slot, shape) => self.slots[*slot] = shape.fresh(&mut self.noise),
            St::Set(slot, ex, _) => self.slots[*slot] = self.value(code, ex)?,
            St::If(condition, yes, no) => {
                let branch = if self.value(code, condition)?.is_true() { yes } else { no };
                return self.statements(code, branch);
            }
            St::Block(all) => return self.statements(code, all),
            St::Program(all) => match self.statements(code, all) {
                Err(super::Stop::Exit) => return Ok(Flow::Next),
                flow => return flow,
            },
            St::Return(value) => {
                self.returned = match value {
                    Some(value) => self.value(code, value)?,
                    None => Value::None,
                };
                return Ok(Flow::Return);
            }
            St::Exit => return Err(super::Stop::Exit),
            St::Break => return Ok(Flow::Break),
            St::Continue => return Ok(Flow::Continue),
            St::Switch(value, cases) => {
                let value = self.value(code, value)?;
                let labelled = cases.iter().find(|case| case.labels.iter().any(|label| label.equals(&value)));
                if let Some(case) = labelled.or_else(|| cases.iter().find(|case| case.is_default)) {
                    return self.statements(code, &case.body);
                }
            }
            St::For { init, condition, update, body } => {
                self.statements(code, init)?;
                while self.value(code, condition)?.is_true() {
                    self.step()?;
                    match self.statements(code, body)? {
                        Flow::Return => return Ok(Flow::Return),
                        Flow::Break => break,
                        Flow::Next | Flow::Continue => {}
                    }
                    self.statements(code, update)?;
                }
            }
            St::ForRange { slot, number, ends, body } => {
                let (mut at, last) = (self.value(code, &ends.0)?, self.value(code, &ends.1)?);
                let holds = |one: &Value, two: &Value| numbers::binary(Binary::LessEqual, *number, one, two);
                while holds(&at, &last).is_some_and(|value| value.is_true()) {
                    self.step()?;
                    self.slots[*slot] = at.clone();
                    match self.statements(code, body)? {
                        Flow::Return => return Ok(Flow::Return),
                        Flow::Break => break,
                        Flow::Next | Flow::Continue => {}
                    }
                    if at == last {
                        break;
                    }
                    at = numbers::binary(Binary::Add, *number, &at, &Value::Bits(1)).unwrap_or(Value::None);
                }
            }
            St::ForEach { slot, list, body } => {
                let list = self.value(code, list)?;
                for value in list.parts() {
                    self.step()?;
                    self.slots[*slot] = value.clone();
                    match self.statements(code, body)? {
                        Flow::Return => return Ok(Flow::Return),
                        Flow::Break => break,
                        Flow::Next | Flow::Continue => {}
                    }
                }
            }
        }
        Ok(Flow::Next)
    }
}
