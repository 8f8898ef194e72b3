//! Constants that are cut to the width of the type that takes them.

use super::Checker;
use super::facts::Cut;
use super::types::Type;
use super::value::Value;
use crate::front::source::Span;
use crate::front::syntax::ast::{Expr, Number};
use num_bigint::BigInt;

impl Checker<'_> {
    /// Takes note of a constant `int` that a type with a width does not hold.
    pub(super) fn cut_to(&mut self, expression: &Expr, wanted: &Type) {
        if let Some(Value::Number(number)) = self.constant(expression) {
            self.cut_number(expression.at.span, number, wanted);
        }
    }

    /// The same of a number that is written with a width.
    pub(super) fn cut_literal(&mut self, span: Span, number: &Number, ty: &Type) {
        self.cut_number(span, number.value.clone(), ty);
    }

    fn cut_number(&mut self, span: Span, value: BigInt, wanted: &Type) {
        let mut held = self.known(wanted);
        while let Some(of) = self.underlying(&held).or_else(|| self.renamed(&held)) {
            held = of;
        }
        let (Type::Bit(width) | Type::Signed(width)) = held else { return };
        // Bits are lost: what has a sign may be written as its bits, and a negative number stands for those of a large one.
        let one = BigInt::from(1);
        let fits = value < (&one << width)
            && (width == 0 || value >= -(&one << (width - 1)))
            && (width > 0 || value == 0.into());
        if !fits {
            let ty = self.show(wanted);
            self.facts.cut.push(Cut { span, value, ty, kept_in: held });
        }
    }
}
