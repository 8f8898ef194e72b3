//! `#if`: the value of a condition.

use super::token::{Kind, Mark, Token};

/// Deepest nesting of a condition.
const DEEPEST: usize = 64;

/// Value of an expression whose macros are expanded; names that are left are 0.
pub(super) fn value(words: &[Token]) -> Result<i128, String> {
    let mut reader = Reader { words, at: 0, depth: 0 };
    let value = reader.binary(0)?;
    match reader.words.get(reader.at) {
        None => Ok(value),
        Some(more) => Err(format!("{} behind the condition", more.describe())),
    }
}

struct Reader<'a> {
    words: &'a [Token],
    at: usize,
    depth: usize,
}

/// Operators by how tightly they bind.
const LEVELS: &[&[Mark]] = &[
    &[Mark::OrOr],
    &[Mark::AndAnd],
    &[Mark::Or],
    &[Mark::Xor],
    &[Mark::And],
    &[Mark::EqEq, Mark::Ne],
    &[Mark::Less, Mark::Le, Mark::Greater, Mark::Ge],
    &[Mark::Shl],
    &[Mark::Plus, Mark::Minus],
    &[Mark::Star, Mark::Slash, Mark::Percent],
];

impl Reader<'_> {
    fn mark(&self) -> Option<Mark> {
        match self.words.get(self.at)?.kind {
            Kind::Mark(mark) => Some(mark),
            _ => None,
        }
    }

    fn binary(&mut self, level: usize) -> Result<i128, String> {
        let Some(marks) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(mark) = self.mark().filter(|mark| marks.contains(mark)) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = apply(mark, left, right).ok_or_else(|| format!("`{}` of {left} and {right}", mark.text()))?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<i128, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("a condition nested more than {DEEPEST} deep"));
        }
        let word = self.words.get(self.at).ok_or("the end of the line")?;
        self.at += 1;
        let value = match &word.kind {
            Kind::Mark(Mark::Not) => i128::from(self.unary()? == 0),
            Kind::Mark(Mark::Minus) => self.unary()?.checked_neg().ok_or("a number that is too large")?,
            Kind::Mark(Mark::Plus) => self.unary()?,
            Kind::Mark(Mark::Tilde) => !self.unary()?,
            Kind::Mark(Mark::LeftParen) => {
                let value = self.binary(0)?;
                if self.mark() != Some(Mark::RightParen) {
                    return Err("no `)`".to_string());
                }
                self.at += 1;
                value
            }
            Kind::Number(text) => {
                let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
                let number = sluice_packet::text::number(digits).and_then(|n| i128::try_from(n).ok());
                number.ok_or_else(|| word.describe())?
            }
            Kind::Word { text, .. } => i128::from(&**text == "true"),
            _ => return Err(word.describe()),
        };
        self.depth -= 1;
        Ok(value)
    }
}

fn apply(mark: Mark, left: i128, right: i128) -> Option<i128> {
    Some(match mark {
        Mark::OrOr => i128::from(left != 0 || right != 0),
        Mark::AndAnd => i128::from(left != 0 && right != 0),
        Mark::Or => left | right,
        Mark::Xor => left ^ right,
        Mark::And => left & right,
        Mark::EqEq => i128::from(left == right),
        Mark::Ne => i128::from(left != right),
        Mark::Less => i128::from(left < right),
        Mark::Le => i128::from(left <= right),
        Mark::Greater => i128::from(left > right),
        Mark::Ge => i128::from(left >= right),
        Mark::Shl => left.checked_shl(u32::try_from(right).ok()?)?,
        Mark::Plus => left.checked_add(right)?,
        Mark::Minus => left.checked_sub(right)?,
        Mark::Star => left.checked_mul(right)?,
        Mark::Slash => left.checked_div(right)?,
        _ => left.checked_rem(right)?,
    })
}
