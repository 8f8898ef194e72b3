//! Calls: arguments are copied in, in their order, and out again when the callee ends, in whatever way but an error of a
//! parser.

use super::places::Found;
use super::{Flow, Machine, Run, Stop};
use crate::front::interpret::code::{Argument, Call, Callee, Code, Parameter};
use crate::front::interpret::value::Value;
use crate::front::syntax::ast::Direction;

impl Machine {
    pub fn call(&mut self, code: &Code, call: &Call) -> Run<Value> {
        self.step()?;
        match &call.callee {
            Callee::Native(native) => self.native(code, native, call),
            Callee::Function(at) => {
                let function = &code.functions[*at];
                self.invoke(code, &function.parameters, &call.arguments, |machine| {
                    machine.returned = Value::None;
                    machine.statements(code, &function.body)
                })?;
                Ok(std::mem::replace(&mut self.returned, Value::None))
            }
            Callee::Action(at) => {
                let action = &code.actions[*at];
                self.invoke(code, &action.parameters, &call.arguments, |m| m.statements(code, &action.body))?;
                Ok(Value::None)
            }
            Callee::Control(at) => {
                let parameters = &code.controls[*at].parameters;
                self.invoke(code, parameters, &call.arguments, |m| m.control(code, *at))?;
                Ok(Value::None)
            }
            Callee::Parser(at) => {
                let parameters = &code.parsers[*at].parameters;
                self.invoke(code, parameters, &call.arguments, |m| m.parse(code, *at).map(|()| Flow::Next))?;
                Ok(Value::None)
            }
        }
    }

    /// Runs a control whose parameters are set.
    pub fn control(&mut self, code: &Code, at: usize) -> Run<Flow> {
        let control = &code.controls[at];
        self.statements(code, &control.locals)?;
        self.statements(code, &control.body)
    }

    pub fn invoke(
        &mut self,
        code: &Code,
        parameters: &[Parameter],
        arguments: &[Argument],
        run: impl FnOnce(&mut Self) -> Run<Flow>,
    ) -> Run<()> {
        if arguments.is_empty() {
            return run(self).map(drop);
        }
        let mut values: Vec<Option<Value>> = Vec::with_capacity(arguments.len());
        let mut targets: Vec<Option<Found<'_>>> = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let (value, target) = match argument {
                Argument::In(ex, _) => (Some(self.value(code, ex)?), None),
                Argument::InOut(target) => {
                    let found = self.find(code, target)?;
                    (Some(self.current(target, &found)), Some(found))
                }
                Argument::Out(target) => (None, Some(self.find(code, target)?)),
                Argument::Absent => (None, None),
            };
            values.push(value);
            targets.push(target);
        }
        for (parameter, value) in parameters.iter().zip(values) {
            self.slots[parameter.slot] = match (value, parameter.direction) {
                (Some(value), _) => value,
                (None, _) => match &parameter.default {
                    Some(value) => value.clone(),
                    None => parameter.shape.fresh(&mut self.noise),
                },
            };
        }
        let result = run(self);
        // What rejects ends the parsers around it at once.
        if let Err(Stop::Parser(_)) = result {
            return result.map(drop);
        }
        for ((parameter, argument), found) in parameters.iter().zip(arguments).zip(&targets) {
            if let (Argument::Out(target) | Argument::InOut(target), Some(found)) = (argument, found)
                && matches!(parameter.direction, Direction::Out | Direction::InOut)
            {
                let value = self.slots[parameter.slot].clone();
                self.write(target, found, value);
            }
        }
        result.map(drop)
    }
}
