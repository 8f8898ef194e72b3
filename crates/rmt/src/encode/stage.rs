//! Key, conditions, entries.

use super::codes::{decode_relation, encode_relation};
use super::{action, known};
use crate::check::Problem;
use crate::phv::Container;
use crate::program::Stage;
use crate::stage::{Exact, Key, KeySpec, Leads, Left, Order, Predicate, Right, Tables, Ternary};
use crate::target::MODULE_PAGES;
use sluice_formats::rmt::codes::{PredicateOperand, Relation};
use sluice_formats::rmt::rows::{ExactRow, KeyRow, PredicatePart, TernaryRow};
use sluice_formats::row::Wide;
use sluice_object::{RmtExact, RmtStage, RmtTernary};

/// First code of a metadata word as the left operand of a predicate.
const WORDS: u8 = PredicateOperand::Words.code();
/// Code of the immediate as its right operand.
const IMMEDIATE: u8 = PredicateOperand::Immediate.code();
/// Comparison of a predicate that is not there: != of nothing with nothing.
const NE: u8 = Relation::Ne.code();

pub(super) fn encode(stage: &Stage) -> RmtStage {
    let tables = &stage.tables;
    let spec = &stage.key;
    let default = tables.default.unwrap_or_default();
    let key = KeyRow {
        pieces: spec.pieces,
        mask: Wide(spec.mask.0),
        predicates: spec.predicates.map(encode_predicate),
        truth: spec.truth,
        default_valid: tables.default.is_some(),
        default_action: default.action,
        default_number: default.number,
        ..KeyRow::default()
    };
    let exact = |e: &Exact| {
        let (key, action, number) = (Wide(e.key.0), e.leads.action, e.leads.number);
        RmtExact { row: ExactRow { key, action, number, ..ExactRow::default() }, data: Wide(e.leads.data) }
    };
    let ternary = |e: &&Ternary| {
        let (value, mask) = (Wide(e.value.0), Wide(e.mask.0));
        let (action, number) = (e.leads.action, e.leads.number);
        let row = TernaryRow { value, mask, action, number, ..TernaryRow::default() };
        RmtTernary { row, data: Wide(e.leads.data) }
    };
    let mut ordered: Vec<&Ternary> = tables.ternary.iter().collect();
    if tables.order == Order::Longest {
        // Equal ones stay in the order in which they are listed.
        ordered.sort_by_key(|e| std::cmp::Reverse(e.mask.ones()));
    }
    let leads = tables.exact.iter().map(|e| e.leads).chain(tables.ternary.iter().map(|e| e.leads));
    RmtStage {
        key,
        default_data: Wide(default.data),
        exact: tables.exact.iter().map(exact).collect(),
        ternary: ordered.iter().map(ternary).collect(),
        longest: tables.order == Order::Longest,
        actions: stage.actions.iter().map(action::encode).collect(),
        pages: stage.pages,
        numbers: leads.chain(tables.default).map(|l| l.number + 1).max().unwrap_or(0),
        exact_room: tables.exact.len() as u16,
        ternary_room: tables.ternary.len() as u16,
    }
}

fn encode_predicate(predicate: Option<Predicate>) -> PredicatePart {
    let Some(p) = predicate else { return PredicatePart { op: NE, ..PredicatePart::default() } };
    let (b, immediate) = match p.b {
        Right::Container(c) => (c.0, 0),
        Right::Imm(v) => (IMMEDIATE, v),
    };
    let a = match p.a {
        Left::Container(c) => c.0,
        Left::Word(w) => WORDS + w,
    };
    PredicatePart { a, b, op: encode_relation(p.relation), mask: p.mask, immediate }
}

pub(super) fn decode(at: &str, rows: &RmtStage) -> Result<Stage, Problem> {
    let key = &rows.key;
    let leads = |action, number, data: &Wide<16>| Leads { action, number, data: data.0 };
    let mut predicates = [None; 2];
    for (i, part) in key.predicates.iter().enumerate() {
        predicates[i] = decode_predicate(&format!("{at}.key.predicates[{i}]"), part)?;
    }
    let exact = |e: &RmtExact| {
        let row = &e.row;
        Exact { key: Key(row.key.0), leads: leads(row.action, row.number, &e.data) }
    };
    let ternary = |e: &RmtTernary| {
        let row = &e.row;
        let (value, mask) = (Key(row.value.0), Key(row.mask.0));
        Ternary { value, mask, leads: leads(row.action, row.number, &e.data) }
    };
    let actions = rows.actions.iter().enumerate();
    Ok(Stage {
        key: KeySpec { pieces: key.pieces, mask: Key(key.mask.0), predicates, truth: key.truth },
        tables: Tables {
            exact: rows.exact.iter().map(exact).collect(),
            ternary: rows.ternary.iter().map(ternary).collect(),
            order: if rows.longest { Order::Longest } else { Order::Listed },
            default: key.default_valid.then(|| leads(key.default_action, key.default_number, &rows.default_data)),
        },
        actions: actions.map(|(i, a)| action::decode(&format!("{at}.actions[{i}]"), a)).collect::<Result<_, _>>()?,
        pages: rows.pages.min(MODULE_PAGES as u16),
    })
}

fn decode_predicate(at: &str, part: &PredicatePart) -> Result<Option<Predicate>, Problem> {
    if *part == encode_predicate(None) {
        return Ok(None);
    }
    let a = match part.a {
        n if n < WORDS => Some(Left::Container(Container(n))),
        n if n < WORDS + 16 => Some(Left::Word(n - WORDS)),
        _ => None,
    };
    let b = match part.b {
        n if n < WORDS => Some(Right::Container(Container(n))),
        IMMEDIATE => Some(Right::Imm(part.immediate)),
        _ => None,
    };
    Ok(Some(Predicate {
        a: known(at, part.a, a)?,
        b: known(at, part.b, b)?,
        mask: part.mask,
        relation: known(at, part.op, decode_relation(part.op))?,
    }))
}
