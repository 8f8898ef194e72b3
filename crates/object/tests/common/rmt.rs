//! An object for the rmt pipeline, built by hand.

use sluice_formats::random::Rng;
use sluice_formats::rmt::rows::*;
use sluice_formats::row::Wide;
use sluice_object::rmt::logical::{
    LogicalAction, LogicalCall, LogicalCase, LogicalEntry, LogicalKey, LogicalKind, LogicalLeads, LogicalLookup,
    LogicalMatch, LogicalMove, LogicalOutcome, LogicalParameter, LogicalPiece,
};
use sluice_object::rmt::{Logical, LogicalTable, LogicalValue};
use sluice_object::{
    Action, Destination, KeySpec, Object, RmtExact, RmtGroup, RmtPart, RmtStage, RmtTernary, TargetNeed,
};

/// Uses every part of an rmt part on the tiny target of the pipeline.
pub fn part() -> RmtPart {
    let select = |to: u8| {
        let mut row = SelectRow { valid: true, offsets: [12, 13, 0, 0, 0, 0, 0, 127], ..SelectRow::default() };
        let (value, mask) = (Wide([8, 0, 0, 0, 0, 0, 0, 0]), Wide([0xff, 0xff, 0, 0, 0, 0, 0, 0]));
        row.alternatives[0] = AlternativePart { valid: true, value, mask, to };
        row
    };
    let mut path = PathRow { headers: 0b101, least: 34, ..PathRow::default() };
    path.extract[8] = ExtractPart { taken: true, offset: 30 };
    path.verify = VerifyPart { valid: true, start: 14, words: 10 };
    let mut patterns = PatternsRow::default();
    patterns.patterns[0] = PatternPart { valid: true, value: 0x11, mask: 0xfff1f, row: 0 };
    let update = UpdatePart { valid: true, start: 14, words: 10, at: 24 };
    let mut beat = DeparseRow { half_delta: 0x7e, split: 14, least: 34, ..DeparseRow::default() };
    beat.updates[1] = update;
    beat.rotate6[7] = 5;
    beat.lanes[1] = LanePart { place: 7, size: 2 };
    let mask = Wide(std::array::from_fn(|i| if (4..8).contains(&i) { 0xff } else { 0 }));
    let key_of = |n: u8| Wide(std::array::from_fn(|i| if i == 4 { n } else { 0 }));
    let mut key = KeyRow { pieces: [1, 2, 3, 4, 5, 6], mask, truth: [0b1010, 0b0110], ..KeyRow::default() };
    key.predicates[0] = PredicatePart { a: 25, b: 63, op: 3, mask: 0xffff, immediate: 64 };
    (key.default_valid, key.default_action, key.default_number) = (true, 1, 2);
    let mut action = ActionRow { cross_source: 40, cross_shift: 1, ..ActionRow::default() };
    action.class2 = Class2Part { pick: [1, 2, 3], data: [0, 7], amount: 15, rotate_mask: 0xff00 };
    action.alus[23] = AluPart { op: 2, a: 1, b: 6, when: 4 };
    action.mask6[7] = 0xffff_ffff_ffff;
    action.words[2] = WordPart { source: 1, mask: 0xff, immediate: 0, when: 0 };
    action.state = StatePart {
        kind: 1,
        index_mask: 0x3f,
        base: 64,
        t_old: true,
        t_immediate: 1,
        new_to: 8,
        ..StatePart::default()
    };
    let data = Wide(std::array::from_fn(|i| i as u8));
    let exact = |n| RmtExact { row: ExactRow { key: key_of(n), number: n.into(), ..ExactRow::default() }, data };
    let row = TernaryRow { value: key_of(1), mask: key_of(1), action: 1, number: 3, ..TernaryRow::default() };
    let stage = RmtStage {
        key,
        default_data: data,
        exact: vec![exact(0), exact(1)],
        ternary: vec![RmtTernary { row, data }],
        longest: true,
        actions: vec![action, ActionRow::default()],
        pages: 2,
        numbers: 4,
        exact_room: 4,
        ternary_room: 2,
    };
    RmtPart {
        first: select(0),
        nodes: vec![select(0)],
        paths: vec![path],
        patterns,
        deparse: vec![vec![beat; 4]],
        stages: [(1, stage)].into(),
        groups: [(3, RmtGroup { destinations: 0b11, tags: [1, 2, 0, 0, 0, 0, 0, 9] })].into(),
        shared: [("virtual_ip".to_owned(), 8)].into(),
        keep_state: true,
        system: false,
        logical: None,
    }
}

/// Tables with a few of everything, for the two actions of stage 1.
pub fn logical(rng: &mut Rng) -> Logical {
    let kinds = [LogicalKind::Exact, LogicalKind::Lpm, LogicalKind::Ternary, LogicalKind::Range, LogicalKind::Optional];
    let table = |rng: &mut Rng, n: u64| {
        let keys: Vec<LogicalKey> = (0..rng.below(3))
            .map(|i| LogicalKey {
                name: format!("hdr.k{i}"),
                kind: *rng.choose(&kinds).unwrap(),
                bits: rng.range(1, 9) as u16,
            })
            .collect();
        let parameters = vec![LogicalParameter { name: "port".to_owned(), bits: 9 }];
        let actions = vec![
            LogicalAction { name: "to".to_owned(), parameters, ..LogicalAction::default() },
            LogicalAction { name: "drop".to_owned(), default_only: n == 1, ..LogicalAction::default() },
        ];
        let call = |rng: &mut Rng| match rng.chance(1, 2) {
            true => LogicalCall { action: 0, values: vec![LogicalValue::of(rng.below(512).into())] },
            false => LogicalCall { action: 1, values: vec![] },
        };
        let entries = (0..if keys.is_empty() { 0 } else { rng.below(4) })
            .map(|_| LogicalEntry { matches: keys.iter().map(|key| asked(rng, key)).collect(), call: call(rng) });
        let entries = entries.collect();
        LogicalTable {
            name: format!("In.t{n}"),
            alias: format!("t{n}"),
            size: rng.below(3) as u32,
            reserved: None,
            constant: rng.chance(1, 2),
            default_constant: rng.chance(1, 2),
            counted: rng.chance(1, 2),
            default: call(rng),
            entries,
            keys,
            actions,
        }
    };
    let tables: Vec<LogicalTable> = (0..2).map(|n| table(rng, n)).collect();
    let cases = (0..rng.range(1, 3)).map(|guard| match rng.chance(3, 4) {
        true => LogicalCase::Looks(lookup(rng, &tables, guard as u8)),
        false => LogicalCase::Leads(leads(rng, guard as u8, 0xff, false)),
    });
    Logical { stages: [(1, cases.collect())].into(), tables }
}

/// The same, sometimes with room for more entries, and with bits that are hashed and that no case asks for: nothing is exact then.
pub fn logical_with_hash(rng: &mut Rng) -> Logical {
    let mut logical = logical(rng);
    for table in &mut logical.tables {
        table.reserved = rng.chance(1, 3).then(|| table.entries.len() as u32 + rng.below(3) as u32);
    }
    if rng.chance(1, 4) {
        let bits = LogicalValue::of(rng.range(1, 255).into()).shifted(160);
        logical.stages.get_mut(&1).unwrap().push(LogicalCase::Hashes(bits));
    }
    logical
}

/// What an entry asks of a key.
pub fn asked(rng: &mut Rng, key: &LogicalKey) -> LogicalMatch {
    let bits = u32::from(key.bits);
    let all = (1u128 << bits) - 1;
    let mut number = || u128::from(rng.next_u64()) & all;
    let (one, other) = (number(), number());
    let mask = match key.kind {
        LogicalKind::Range => {
            let (low, high) = (LogicalValue::of(one.min(other)), LogicalValue::of(one.max(other)));
            return LogicalMatch::Range { low, high };
        }
        LogicalKind::Exact => all,
        LogicalKind::Lpm => all & !(all >> rng.below(u64::from(bits) + 1)),
        LogicalKind::Optional => all * u128::from(rng.chance(1, 2)),
        LogicalKind::Ternary => other,
    };
    LogicalMatch::Masked { value: LogicalValue::of(one & mask), mask: LogicalValue::of(mask) }
}

/// Guards stand in byte 0 of the key, conditions in byte 9.
fn leads(rng: &mut Rng, guard: u8, mask: u8, conditional: bool) -> LogicalLeads {
    let place = |byte: u8, bit: u8| {
        Wide(std::array::from_fn(|i| [byte, bit][usize::from(i == 9)] * u8::from(i == 0 || i == 9)))
    };
    let condition = u8::from(conditional);
    LogicalLeads {
        value: place(guard & mask, condition * rng.below(2) as u8),
        mask: place(mask, condition),
        action: rng.below(2) as u16,
        data: Wide(std::array::from_fn(|i| if i < 8 { rng.below(256) as u8 } else { 0 })),
        moves: vec![],
    }
}

fn lookup(rng: &mut Rng, tables: &[LogicalTable], guard: u8) -> LogicalLookup {
    let number = rng.below(tables.len() as u64);
    let table = &tables[number as usize];
    let mut at = 8;
    let keys = table.keys.iter().map(|key| {
        // The lower part, and one bit above it that may be known.
        let low = key.bits - 1;
        let mut pieces = vec![LogicalPiece { low, bits: 1, at: Some(at), known: 0 }];
        if rng.chance(1, 4) {
            pieces[0] = LogicalPiece { low, bits: 1, at: None, known: rng.below(2) };
        }
        if low > 0 {
            pieces.push(LogicalPiece { low: 0, bits: low, at: Some(at + 1), known: 0 });
        }
        at += 24;
        pieces
    });
    let keys = keys.collect();
    let outcome = |rng: &mut Rng, n: u16| {
        let (hit, action) = (n / 2 == 0, n % 2);
        let mut all = vec![leads(rng, 0, 0, false)];
        if rng.chance(1, 3) {
            all.insert(0, leads(rng, 0, 0, true));
        }
        for leads in all.iter_mut().filter(|_| action == 0) {
            // Bits 3 to 8 of the port to bits 6 to 11 of bytes 10 and 11.
            leads.moves = vec![LogicalMove { parameter: 0, low: 3, bits: 6, byte: 11, bit: 6 }];
        }
        LogicalOutcome { hit, action, leads: all }
    };
    let outcomes = (0..4).map(|n| outcome(rng, n)).collect();
    let first = leads(rng, guard, 0xff, false);
    LogicalLookup { value: first.value, mask: first.mask, table: number as u16, keys, outcomes }
}

/// The part with these tables in place of its entries.
pub fn with_tables(logical: Logical) -> RmtPart {
    let mut part = part();
    part.stages.get_mut(&1).unwrap().key.default_valid = false;
    part.with_tables(logical).unwrap()
}

/// An object with this part.
pub fn object(part: RmtPart) -> Object {
    let target = sluice_formats::rmt::target::TINY;
    let mut object = Object::new("router", KeySpec::NONE, Action::DROP);
    object.target = TargetNeed::Exact { name: target.name.to_owned(), hash: target.hash() };
    object.demands.queues.insert(Destination::Port(1), 16);
    object.parts.rmt = Some(Box::new(part));
    object
}
