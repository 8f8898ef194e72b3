//! An object for the rmt pipeline, built by hand.

use sluice_formats::rmt::rows::*;
use sluice_formats::row::Wide;
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
    }
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
