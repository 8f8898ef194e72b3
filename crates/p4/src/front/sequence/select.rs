//! Two choices of a next step as one.

use super::flow::{Next, To};
use super::{Conflict, Joined};
use crate::front::check::{Facts, Kind, Type, Value};
use crate::front::source::Span;
use crate::front::syntax::ast::{At, Expr, ExprKind, Number};
use num_bigint::BigInt;

/// Most cases of both choices together.
const MOST_CASES: usize = 4_096;

/// An expression as one of both programs writes it: 0 or 1.
pub(super) type Written = (usize, Expr);

/// A choice of one program, or of both.
pub(super) struct Choice {
    pub keys: Vec<Written>,
    /// Values for each key, and where both lead.
    pub cases: Vec<(Vec<Written>, (To, To))>,
    pub span: Span,
}

/// What a key is compared with.
#[derive(Clone, Debug)]
enum Set {
    Any,
    /// Value and mask.
    Masked(BigInt, BigInt, Written),
    /// As it is written, and as it is compared with others.
    Other(Written, Expr),
}

impl Set {
    fn of(value: Option<&Expr>, key: &Expr, side: &Side) -> Set {
        let facts = side.facts;
        let Some(value) = value else { return Set::Any };
        let width = match facts.types.get(key.at.id as usize) {
            Some(Type::Bit(width)) => *width,
            Some(Type::Bool) => 1,
            _ => 0,
        };
        let all: BigInt = (BigInt::from(1) << width) - 1;
        let known = |value: &Expr| number(value, facts).filter(|_| width > 0).map(|found| found & &all);
        let written = || (side.which, value.clone());
        let other = || Set::Other(written(), (side.plain)(value));
        match &value.kind {
            ExprKind::Any | ExprKind::Default => Set::Any,
            ExprKind::Mask(found, mask) => match (known(found), known(mask)) {
                (Some(found), Some(mask)) => Set::Masked(found & &mask, mask, written()),
                _ => other(),
            },
            _ => match known(value) {
                Some(found) => Set::Masked(found, all.clone(), written()),
                None => other(),
            },
        }
    }

    /// What is in both: nothing if nothing is, an error if that is not known.
    fn both(&self, other: &Set) -> Result<Option<Set>, ()> {
        Ok(match (self, other) {
            (Set::Any, set) | (set, Set::Any) => Some(set.clone()),
            (Set::Masked(a, m, one), Set::Masked(b, n, two)) => {
                if (a ^ b) & m & n != BigInt::ZERO {
                    return Ok(None);
                }
                let (value, mask) = (a | b, m | n);
                let written = match () {
                    () if mask == *m => one.clone(),
                    () if mask == *n => two.clone(),
                    () => (0, masked(&value, &mask, one.1.at.span)),
                };
                Some(Set::Masked(value, mask, written))
            }
            (Set::Other(_, a), Set::Other(_, b)) if a == b => Some(self.clone()),
            _ => return Err(()),
        })
    }

    /// Whether all of another set is in it.
    fn covers(&self, other: &Set) -> bool {
        match (self, other) {
            (Set::Any, _) => true,
            (Set::Masked(a, m, _), Set::Masked(b, n, _)) => (m & n) == *m && (a ^ b) & m == BigInt::ZERO,
            (Set::Other(_, a), Set::Other(_, b)) => a == b,
            _ => false,
        }
    }

    fn written(self, span: Span) -> Written {
        match self {
            Set::Any => (0, Expr { kind: ExprKind::Any, at: At { span, ..At::default() } }),
            Set::Masked(_, _, written) | Set::Other(written, _) => written,
        }
    }
}

fn masked(value: &BigInt, mask: &BigInt, span: Span) -> Expr {
    let at = At { span, ..At::default() };
    let number = |value: &BigInt| {
        Box::new(Expr { kind: ExprKind::Number(Number { value: value.clone(), width: None, signed: false }), at })
    };
    Expr { kind: ExprKind::Mask(number(value), number(mask)), at }
}

/// A number that is known before the program runs.
fn number(value: &Expr, facts: &Facts) -> Option<BigInt> {
    match &value.kind {
        ExprKind::Number(number) => Some(number.value.clone()),
        ExprKind::Bool(value) => Some(BigInt::from(u8::from(*value))),
        ExprKind::Cast(_, inner) => number(inner, facts),
        ExprKind::Name { .. } => match &facts.definition(facts.name(value)?).kind {
            Kind::Constant { value: Some(Value::Number(number)), .. } => Some(number.clone()),
            Kind::Constant { value: Some(Value::Bool(value)), .. } => Some(BigInt::from(u8::from(*value))),
            _ => None,
        },
        _ => None,
    }
}

/// One program's choice with a value for each key, and a last case for all that is left.
struct Columns {
    keys: Vec<Expr>,
    cases: Vec<(Vec<Set>, To)>,
    span: Span,
}

impl Columns {
    fn of(next: &Next, side: &Side) -> Joined<Columns> {
        let (keys, cases, span) = match next {
            Next::Direct(to) => {
                return Ok(Columns { keys: Vec::new(), cases: vec![(Vec::new(), *to)], span: Span::default() });
            }
            Next::Select { keys, cases, span } => (keys, cases, *span),
        };
        let keys = match &keys[..] {
            [Expr { kind: ExprKind::List(inner), .. }] => inner.clone(),
            _ => keys.clone(),
        };
        let mut columns = Columns { keys, cases: Vec::with_capacity(cases.len() + 1), span };
        for (values, to) in cases {
            let values: Vec<Option<&Expr>> = match &values[..] {
                [Expr { kind: ExprKind::Any | ExprKind::Default, .. }] => vec![None; columns.keys.len()],
                [Expr { kind: ExprKind::List(inner), .. }] if inner.len() == columns.keys.len() => {
                    inner.iter().map(Some).collect()
                }
                all if all.len() == columns.keys.len() => all.iter().map(Some).collect(),
                all => {
                    let at = all.first().map_or(span, |value| value.at.span);
                    return Err(Conflict::new(
                        at,
                        "one value for several keys, of which a sequence does not see what it is",
                    ));
                }
            };
            let sets = values.iter().zip(&columns.keys).map(|(value, key)| Set::of(*value, key, side)).collect();
            columns.cases.push((sets, *to));
        }
        if !columns.cases.iter().any(|(sets, _)| sets.iter().all(|set| matches!(set, Set::Any))) {
            columns.cases.push((vec![Set::Any; columns.keys.len()], To::NoMatch));
        }
        Ok(columns)
    }
}

/// Whether both sets of each pair of cases can be one.
fn is_known(one: &Columns, a: usize, two: &Columns, b: usize) -> bool {
    one.cases.iter().all(|(x, _)| two.cases.iter().all(|(y, _)| x[a].both(&y[b]).is_ok()))
}

/// One program at a choice.
pub(super) struct Side<'a> {
    pub which: usize,
    pub facts: &'a Facts,
    /// An expression as it is compared with the other program's.
    pub plain: &'a dyn Fn(&Expr) -> Expr,
}

/// Both choices at once: the keys of the first, then those that only the second has.
pub(super) fn both(one: (&Next, Side), two: (&Next, Side)) -> Joined<Choice> {
    let (first, second) = (&one.1, &two.1);
    let (one, two) = (Columns::of(one.0, first)?, Columns::of(two.0, second)?);
    let own: Vec<Expr> = one.keys.iter().map(first.plain).collect();
    let mut keys: Vec<Written> = one.keys.iter().map(|key| (first.which, key.clone())).collect();
    // For each key of the second program, the column that it is.
    let mut shared = Vec::with_capacity(two.keys.len());
    for (b, key) in two.keys.iter().enumerate() {
        let seen = (second.plain)(key);
        let at = own.iter().position(|own| *own == seen).filter(|a| is_known(&one, *a, &two, b));
        shared.push(at.unwrap_or_else(|| {
            keys.push((second.which, key.clone()));
            keys.len() - 1
        }));
    }
    let span = if one.keys.is_empty() { two.span } else { one.span };
    let mut cases: Vec<(Vec<Set>, (To, To))> = Vec::new();
    for (x, to) in &one.cases {
        'next: for (y, other) in &two.cases {
            let mut sets = x.clone();
            sets.resize(keys.len(), Set::Any);
            for (set, at) in y.iter().zip(&shared) {
                match sets[*at].both(set) {
                    Ok(Some(both)) => sets[*at] = both,
                    _ => continue 'next,
                }
            }
            let is_covered = |(earlier, _): &(Vec<Set>, (To, To))| earlier.iter().zip(&sets).all(|(a, b)| a.covers(b));
            if !cases.iter().any(is_covered) {
                cases.push((sets, (*to, *other)));
            }
            if cases.len() > MOST_CASES {
                let what = format!("both selects here have more than {MOST_CASES} cases together");
                return Err(Conflict::with(two.span, what, one.span));
            }
        }
    }
    let written = |(sets, to): (Vec<Set>, (To, To))| (sets.into_iter().map(|set| set.written(span)).collect(), to);
    Ok(Choice { keys, cases: cases.into_iter().map(written).collect(), span })
}
