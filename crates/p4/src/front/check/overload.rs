//! Which of several functions with one name is called.

use super::calls::Call;
use super::definitions::{Param, Signature};
use super::types::Type;
use super::{Checker, Problem};
use crate::front::syntax::ast::{Argument, Direction};
use std::rc::Rc;

impl Checker<'_> {
    /// The one function that takes these arguments, by their number and names.
    pub(super) fn overload(&mut self, all: &[Rc<Signature>], call: &Call<'_>) -> Option<usize> {
        if all.len() == 1 {
            return Some(0);
        }
        let fitting: Vec<usize> = (0..all.len()).filter(|i| takes(&all[*i].parameters, call.arguments)).collect();
        match fitting[..] {
            [one] => Some(one),
            [] => {
                let counts: Vec<String> = all.iter().map(|s| s.parameters.len().to_string()).collect();
                let what = format!("found {} arguments, it takes {}", call.arguments.len(), counts.join(" or "));
                self.note(call.span, Problem::Arguments { callee: format!("`{}`", call.name), what });
                None
            }
            _ => {
                if let Some(one) = self.by_types(all, &fitting, call) {
                    return Some(one);
                }
                let what = "more than one function of that name takes these arguments".to_string();
                self.note(call.span, Problem::Arguments { callee: format!("`{}`", call.name), what });
                None
            }
        }
    }

    /// Of a function of the architecture and one of the program that take as many arguments, the one that takes values of these types.
    fn by_types(&mut self, all: &[Rc<Signature>], fitting: &[usize], call: &Call<'_>) -> Option<usize> {
        let externals = fitting.iter().filter(|at| all[**at].external).count();
        if externals == 0 || externals == fitting.len() {
            return None;
        }
        let types: Vec<Type> = call.arguments.iter().map(|a| self.infer(&a.value)).collect();
        let mut left = fitting.iter().copied().filter(|at| self.takes_types(&all[*at], call, &types));
        let one = left.next();
        // The iterator still borrows the checker.
        let more = left.next().is_some();
        one.filter(|_| !more)
    }

    fn takes_types(&mut self, signature: &Signature, call: &Call<'_>, types: &[Type]) -> bool {
        let before = self.found.clone();
        let fresh: Vec<Type> = signature.types.iter().map(|_| self.fresh()).collect();
        let takes = call.arguments.iter().zip(types).enumerate().all(|(at, (argument, ty))| {
            let parameter = match &argument.name {
                Some(name) => signature.parameters.iter().find(|p| p.name == name.text),
                None => signature.parameters.get(at),
            };
            let Some(parameter) = parameter else { return false };
            let wanted = self.substitute(&parameter.ty, &signature.types, &fresh);
            match parameter.direction {
                Direction::Out | Direction::InOut => self.unify(ty, &wanted),
                Direction::In | Direction::None => self.fits(ty, &wanted),
            }
        });
        self.found = before;
        takes
    }
}

/// Whether parameters take so many arguments with these names.
pub(super) fn takes(parameters: &[Param], arguments: &[Argument]) -> bool {
    let given = |p: &Param, i: usize| match arguments.iter().any(|a| a.name.is_some()) {
        true => arguments.iter().any(|a| a.name.as_ref().is_some_and(|name| name.text == p.name)),
        false => i < arguments.len(),
    };
    let named =
        |argument: &Argument| argument.name.as_ref().is_none_or(|name| parameters.iter().any(|p| p.name == name.text));
    arguments.len() <= parameters.len()
        && arguments.iter().all(named)
        && parameters.iter().enumerate().all(|(i, p)| p.optional || given(p, i))
}
