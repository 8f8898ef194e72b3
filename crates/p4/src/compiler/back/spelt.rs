//! Cases that leave out a bit or two of their stage's key, spelt out: as many exact rows in the place of a ternary one, of which a stage has few.
//!
//! Before: cases of a stage, in the order in which they win. After: the same for every key. It keeps: what each packet meets. Verifier:
//! `back/verify/rows.rs`, as for all rows.

use sluice_object::rmt::LogicalValue;
use sluice_object::rmt::logical::{LogicalCase, LogicalLeads};

/// Bits of a stage's key, in whole bytes.
const KEY_BITS: u32 = 200;
/// Bits that are spelt out at most.
const MOST_BITS: usize = 2;

/// The cases with those that leave out few bits spelt out.
pub(super) fn spelt(cases: Vec<LogicalCase>) -> Vec<LogicalCase> {
    let whole = LogicalValue(LogicalCase::whole(&cases));
    let mut all: Vec<LogicalCase> = Vec::new();
    for case in cases {
        let LogicalCase::Leads(leads) = &case else {
            all.push(case);
            continue;
        };
        let mask = LogicalValue(leads.mask);
        let out: Vec<u32> = (0..KEY_BITS).filter(|bit| whole.bit(*bit) && !mask.bit(*bit)).collect();
        if out.is_empty() || out.len() > MOST_BITS {
            all.push(case);
            continue;
        }
        let each = (0..1u32 << out.len()).map(|choice| {
            let set = out.iter().enumerate().filter(|(n, _)| choice >> n & 1 == 1);
            let value = set.fold(LogicalValue(leads.value), |value, (_, bit)| value.with(*bit));
            LogicalLeads { value: value.0, mask: whole.0, ..leads.clone() }
        });
        // One with the whole key that stands before it wins.
        let is_new = |one: &LogicalLeads| !all.iter().any(|other| is_of(other, one));
        let new: Vec<LogicalCase> = each.filter(is_new).map(LogicalCase::Leads).collect();
        all.extend(new);
    }
    all
}

fn is_of(case: &LogicalCase, one: &LogicalLeads) -> bool {
    matches!(case, LogicalCase::Leads(other) if (&other.value, &other.mask) == (&one.value, &one.mask))
}
