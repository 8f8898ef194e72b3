//! Random tables, messages and what becomes of them by the model, for the bench of the matchers (tb/l7/matchers).
//!
//! `vectors SEED CASES MESSAGES ROWS STARTS GROUPS` prints JSON lines: of each case one with its tables, then one a message.

use serde_json::{Value, json};
use sluice_formats::l7::compare::L7Bytes;
use sluice_formats::l7::rows::{
    L7AlternativePart, L7GroupRow, L7MatchRow, L7MovePart, L7PortRow, L7StartRow, L7TargetPart,
};
use sluice_formats::random::Rng;
use sluice_formats::row::Row;
use sluice_l7::compile::{Options, compile};
use sluice_l7::message::{Field, encode};
use sluice_l7::rules::Kind;
use sluice_l7::step::{Decision, Identity, run};
use sluice_l7::tables::Tables;
use sluice_l7::testing::{self, Limits};
use sluice_l7::view::View;

/// Bytes that rows compare and messages have, so that they often meet.
const LETTERS: &[u8] = b"ab/:";
/// The module of compiled rules; others have random rows.
const COMPILED: u8 = 1;
const MODULES: u8 = 4;

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|a| a.parse().expect("a number")).collect();
    let [seed, cases, messages, rows, starts, groups] = numbers[..] else { panic!("six numbers are needed") };
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9).wrapping_add(case));
        let mut made = Case::new(&mut rng, rows as usize, starts as usize, groups as usize);
        println!("{}", made.tables());
        for _ in 0..messages {
            println!("{}", made.message(&mut rng));
        }
    }
}

/// Tables, and the ports of their programs.
struct Case {
    tables: Tables,
    compiled: Vec<(L7PortRow, sluice_l7::rules::Application)>,
    /// Rows that no program has, from here on.
    unused: usize,
}

impl Case {
    fn new(rng: &mut Rng, rows: usize, starts: usize, groups: usize) -> Self {
        // Half of the rows for compiled rules, a quarter for random ones.
        let (half, quarter) = (rows / 2, rows / 4);
        let (rules, program) = loop {
            let rules = testing::rules(rng, &Limits::default());
            if rules.applications.iter().all(|a| a.types.is_empty()) {
                continue;
            }
            match compile(&rules, &Options { rows: half, ..Options::default() }) {
                Ok(program) if program.starts.len() <= starts / 2 && program.groups.len() <= groups / 2 => {
                    break (rules, program);
                }
                _ => {}
            }
        };
        let (mut tables, ports) = program.tables(&rules, COMPILED);
        tables.rows.resize(half, L7MatchRow::default());
        tables.rows.extend((0..quarter).map(|_| random_row(rng, half, quarter, rows, groups)));
        tables.rows.resize(rows, L7MatchRow::default());
        tables.starts.resize(starts / 2, L7StartRow::default());
        tables.starts.extend((0..starts / 2).map(|_| L7StartRow {
            module_id: module(rng),
            step: random_move(rng),
            target: random_target(rng, half, quarter, rows, groups),
        }));
        tables.groups.resize(groups / 2, L7GroupRow::default());
        tables.groups.extend((0..groups / 2).map(|_| L7GroupRow {
            module_id: module(rng),
            field: if rng.chance(1, 3) { 0 } else { rng.range(1, 4) as u8 },
            slots: std::array::from_fn(|_| rng.below(256) as u8),
        }));
        Self {
            tables,
            compiled: ports.into_iter().zip(rules.applications).filter(|(_, a)| !a.types.is_empty()).collect(),
            unused: half + quarter,
        }
    }

    fn tables(&self) -> Value {
        let hex = |words: Vec<u32>| words.iter().rev().map(|w| format!("{w:08x}")).collect::<String>();
        json!({
            "rows": self.tables.rows.iter().map(|r| hex(r.pack().expect("a row"))).collect::<Vec<_>>(),
            "starts": self.tables.starts.iter().map(|r| hex(r.pack().expect("a row"))).collect::<Vec<_>>(),
            "groups": self.tables.groups.iter().map(|r| hex(r.pack().expect("a row"))).collect::<Vec<_>>(),
            "unused": self.unused,
        })
    }

    fn message(&mut self, rng: &mut Rng) -> Value {
        let (port, kind, payload, raw) = if rng.chance(1, 2) { self.of_rules(rng) } else { self.of_chance(rng) };
        let seg_cnt = if rng.chance(1, 4) { rng.range(1, 8) as u8 } else { 0 };
        let view = if raw { Ok(View::of_raw(&payload)) } else { View::of_message(&payload, seg_cnt) };
        let bytes = match &view {
            Ok(view) => view.bytes().to_vec(),
            Err(_) => payload[..payload.len().min(512).min(if seg_cnt == 0 { 512 } else { 64 * usize::from(seg_cnt) })]
                .to_vec(),
        };
        let identity = Identity { session: rng.next_u32(), message: rng.next_u32() };
        let open = view.as_ref().is_ok_and(View::is_open);
        let fields = view.as_ref().map_or(0, |v| (1..16).filter(|&f| v.field(f).is_some()).count());
        let mut trace = Vec::new();
        let verdict =
            view.as_ref().ok().map(|view| run(&self.tables, &port, kind, identity, view, |step| trace.push(step)));
        // For whoever looks into a failure.
        trace.truncate(12);
        json!({
            "module": port.module_id,
            "raw": raw,
            "open": open,
            "view": bytes.iter().map(|b| format!("{b:02x}")).collect::<String>(),
            "started": u16::from(kind) < port.types,
            "start": port.start + u16::from(kind),
            "stops": port.stops,
            "stop_count": port.stop_count,
            "otherwise": port.otherwise.pack().expect("a target")[0],
            "session": identity.session,
            "message": identity.message,
            "fields": fields,
            "trace": trace.iter().map(|s| json!([s.row, s.position, s.past, s.hit])).collect::<Vec<_>>(),
            "malformed": verdict.is_none(),
            "queue": verdict.and_then(|v| match v.decision { Decision::Queue(queue) => Some(queue), Decision::Drop => None }),
            "fault": verdict.is_some_and(|v| v.fault),
            "steps": verdict.map_or(0, |v| v.steps),
            "cycles": verdict.map_or(0, |v| v.cycles),
        })
    }

    /// A message such as the compiled rules are for.
    fn of_rules(&self, rng: &mut Rng) -> (L7PortRow, u8, Vec<u8>, bool) {
        let (port, application) = rng.choose(&self.compiled).expect("an application");
        let message = rng.choose(&application.types).expect("a type");
        let mut fields = testing::field_values(rng, application, message.number);
        // All of them lie in the view.
        while fields.iter().map(|field| 2 + field.value.len()).sum::<usize>() > 500 {
            fields.pop();
        }
        if matches!(application.kind, Kind::Raw) {
            let mut payload = fields.first().map_or(vec![], |f| f.value.clone());
            if rng.chance(1, 8) {
                let more = rng.range(250, 600) as usize;
                payload.extend(rng.bytes(more));
            }
            return (*port, 0, payload, true);
        }
        let number = if rng.chance(1, 16) { rng.below(9) as u8 } else { message.number };
        let mut payload = encode(&fields);
        if rng.chance(1, 4) {
            payload.extend([16, 3, 1, 2, 3]);
        }
        spoil(rng, &mut payload);
        (*port, number, payload, false)
    }

    /// A message for random rows.
    fn of_chance(&self, rng: &mut Rng) -> (L7PortRow, u8, Vec<u8>, bool) {
        let starts = self.tables.starts.len() as u64;
        let start = if rng.chance(1, 16) { rng.below(4096) } else { rng.range(starts / 2, starts - 1) } as u16;
        // For the most part one that is its module's.
        let owner = self.tables.starts.get(usize::from(start)).map_or(0, |s| s.module_id);
        let groups = self.tables.groups.len();
        let rows = self.tables.rows.len();
        let port = L7PortRow {
            module_id: if rng.chance(1, 16) { module(rng) } else { owner },
            stops: [b'/', b':'],
            stop_count: if rng.chance(1, 3) { rng.below(4) as u8 } else { 2 },
            otherwise: random_target(rng, rows / 2, rows / 4, rows, groups),
            start,
            types: u16::from(!rng.chance(1, 16)),
            ..L7PortRow::default()
        };
        if rng.chance(1, 3) {
            let most = if rng.chance(1, 4) { 600 } else { 40 };
            let payload = letters(rng, most);
            return (port, 0, payload, true);
        }
        let mut fields = Vec::new();
        let mut left = rng.range(0, 505) as usize;
        for index in 1..=15u8 {
            if !rng.chance(if index < 5 { 2 } else { 1 }, 3) {
                continue;
            }
            let most = if rng.chance(1, 4) { 200 } else { 12 };
            let value = letters(rng, most);
            if value.len() + 2 > left {
                break;
            }
            left -= value.len() + 2;
            fields.push(Field { index, value });
        }
        let mut payload = encode(&fields);
        if rng.chance(1, 3) {
            payload.extend([rng.range(16, 255) as u8; 9]);
        }
        spoil(rng, &mut payload);
        (port, 0, payload, false)
    }
}

/// Sometimes cuts a payload or changes a byte of it.
fn spoil(rng: &mut Rng, payload: &mut Vec<u8>) {
    let at = rng.index(payload.len() + 1);
    match rng.below(24) {
        0 => payload.truncate(at),
        1 if at < payload.len() => payload[at] = rng.below(18) as u8,
        2 => payload.extend([0; 3]),
        _ => {}
    }
}

fn letters(rng: &mut Rng, most: usize) -> Vec<u8> {
    // A value without stop bytes is looked through to its end.
    let letters = if rng.chance(1, 3) { &LETTERS[..2] } else { LETTERS };
    (0..rng.index(most + 1)).map(|_| *rng.choose(letters).expect("a letter")).collect()
}

fn module(rng: &mut Rng) -> u8 {
    rng.range(2, u64::from(MODULES)) as u8
}

fn random_move(rng: &mut Rng) -> L7MovePart {
    L7MovePart {
        field: if rng.chance(1, 3) { rng.below(6) as u8 } else { 0 },
        skip: if rng.chance(1, 16) { rng.below(256) as u8 } else { rng.below(3) as u8 },
        stop: if rng.chance(1, 3) { rng.below(4) as u8 } else { 0 },
    }
}

fn random_target(rng: &mut Rng, first: usize, count: usize, rows: usize, groups: usize) -> L7TargetPart {
    let (kind, number) = match rng.below(24) {
        0 => (0, 0),
        1 | 2 => (1, rng.below(256)),
        3 => (2, rng.range(groups as u64 / 2, groups as u64 - 1)),
        4 => (3, 0),
        5 if rng.chance(1, 4) => (rng.below(8), rng.below(4096)),
        6 if rng.chance(1, 4) => (4 + rng.below(2), rows as u64 - rng.below(4)),
        7..10 => (5, first as u64 + rng.below(count as u64)),
        _ => (4, first as u64 + rng.below(count as u64)),
    };
    L7TargetPart {
        kind: kind as u8,
        number: number as u16,
        log: if rng.chance(1, 24) { rng.below(16) as u8 } else { rng.below(3) as u8 },
        turn: rng.below(32) as u8,
        length: if rng.chance(1, 12) { rng.below(16) as u8 } else { rng.below(9) as u8 },
    }
}

fn random_row(rng: &mut Rng, first: usize, count: usize, rows: usize, groups: usize) -> L7MatchRow {
    // Rows of one module in four places of five: else programs would end at once.
    let length =
        if rng.chance(1, 40) { rng.range(9, 15) } else { *rng.choose(&[0, 1, 1, 1, 2, 2, 3, 8]).expect("a length") }
            as u8;
    let four: [_; 4] = std::array::from_fn(|_| {
        let mut bytes = [0; 8];
        for byte in bytes.iter_mut().take(usize::from(length)) {
            *byte = *rng.choose(LETTERS).expect("a letter");
        }
        if rng.chance(1, 40) {
            bytes[7] = 1;
        }
        L7AlternativePart {
            valid: !rng.chance(1, 6),
            ends: rng.chance(1, 6),
            anyway: rng.chance(1, 12),
            bytes: L7Bytes::of(&bytes),
            target: random_target(rng, first, count, rows, groups),
        }
    });
    L7MatchRow {
        module_id: if rng.chance(4, 5) { 2 } else { module(rng) },
        length,
        step: random_move(rng),
        miss: random_target(rng, first, count, rows, groups),
        alternatives: four.into(),
    }
}
