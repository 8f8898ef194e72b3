//! The compiler: a program gives what its rules say, whatever the message. `SLUICE_FUZZ_SECONDS` (2) is the time of random
//! rules, `SLUICE_SEED` repeats a run.

use sluice_formats::hash::crc32c;
use sluice_formats::l7::target::SLOTS;
use sluice_formats::random::{Rng, test_seed};
use sluice_l7::compile::{Options, compile};
use sluice_l7::generate;
use sluice_l7::rules::{Application, Goal, Kind, MessageType, Pattern, Rules, Step};
use sluice_l7::step::{Decision, Identity, of_message, run};
use sluice_l7::view::View;
use std::time::{Duration, Instant};

/// Whether a value matches, from the text of docs/design/l7.md.
fn matches(pattern: &Pattern, value: &[u8], open: bool) -> bool {
    let mut rest = value;
    for step in &pattern.steps {
        let behind = match step {
            Step::Text(text) => rest.strip_prefix(&text[..]),
            Step::Skip(bytes) => rest.get(usize::from(*bytes)..),
            Step::Until(stop) => rest.iter().position(|b| b == stop).map(|at| &rest[at + 1..]),
        };
        match behind {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    !pattern.end || rest.is_empty() && !open
}

fn wanted(
    rules: &Rules,
    application: &Application,
    message: Option<&MessageType>,
    view: &View,
    identity: Identity,
) -> Decision {
    let rule = message.and_then(|m| {
        m.rules.iter().find(|rule| {
            rule.matches.iter().all(|m| {
                view.value(m.field).is_some_and(|value| m.patterns.iter().any(|p| matches(p, value, view.is_open())))
            })
        })
    });
    match rule.map_or(application.default, |rule| rule.goal) {
        Goal::Drop => Decision::Drop,
        Goal::Queue(queue) => Decision::Queue(queue),
        Goal::Group(group) => {
            let group = &rules.groups[usize::from(group)];
            let hash = group.field.map_or(of_message(identity), |field| crc32c(view.value(field).unwrap_or(&[])));
            Decision::Queue(group.slots[hash as usize % SLOTS])
        }
    }
}

#[test]
fn programs_do_what_their_rules_say() {
    let seed = test_seed("programs_do_what_their_rules_say");
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut rng = Rng::new(seed);
    let (mut files, mut messages, mut hits) = (0, 0, 0);
    while Instant::now() < end || files < 50 {
        let rules = generate::rules(&mut rng);
        // Sometimes there is little room, and rules go in turn.
        let options = Options { rows: if rng.chance(1, 3) { rng.range(20, 300) as usize } else { 1 << 12 } };
        let Ok(program) = compile(&rules, &options) else { continue };
        assert!(program.rows.len() <= options.rows);
        files += 1;
        let (tables, ports) = program.tables(&rules, 5);
        for (n, application) in rules.applications.iter().enumerate() {
            for _ in 0..40 {
                let message = &application.types[rng.index(application.types.len())];
                let fields = generate::fields(&mut rng, message);
                let number = if rng.chance(1, 16) { rng.below(9) as u8 } else { message.number };
                let message = application.types.iter().find(|m| m.number == number);
                let (mut payload, raw) = match application.kind {
                    Kind::Raw => (fields.first().map_or(vec![], |f| f.1.clone()), true),
                    _ => (generate::on_the_wire(&fields), false),
                };
                if raw && rng.chance(1, 8) {
                    let more = rng.range(250, 600) as usize;
                    payload.extend(rng.bytes(more));
                }
                let view = if raw { View::of_raw(&payload) } else { View::of_message(&payload, 0).unwrap() };
                let identity = Identity { session: rng.next_u32(), message: rng.next_u32() };
                let message = if raw { application.types.first() } else { message };
                let wanted = wanted(&rules, application, message, &view, identity);
                let got = run(&tables, &ports[n], if raw { 0 } else { number }, identity, &view, |_| {});
                assert!(!got.fault);
                assert!(got.steps <= program.applications[n].steps + 64, "{got:?} of {:?}", program.applications[n]);
                assert_eq!(got.decision, wanted, "file {files}, {application:#?}\n{fields:?}\n{program:#?}");
                messages += 1;
                hits += usize::from(got.steps > 1);
            }
        }
    }
    eprintln!("{files} files, {messages} messages, {hits} of more than a step");
    assert!(hits > messages / 4);
}

/// 32 rules whose field is a stop byte away and is then matched in `n` compares: the published set-up of figure 4.16.
fn published(n: usize) -> Rules {
    let rule = |number: u8| {
        let mut text: Vec<u8> = (0..8 * (n - 1)).map(|at| b'a' + (at % 26) as u8).collect();
        text.extend(format!("rule{number:02}zz").bytes());
        let steps = vec![Step::Until(b'/'), Step::Text(text)];
        let matches = vec![sluice_l7::rules::FieldMatch { field: 1, patterns: vec![Pattern { steps, end: false }] }];
        sluice_l7::rules::Rule { name: number.to_string(), matches, goal: Goal::Queue(number), line: 1 }
    };
    let message = MessageType {
        name: "ping".into(),
        number: 0,
        fields: vec![("field".into(), 1)],
        rules: (0..32).map(rule).collect(),
    };
    let application = Application {
        name: "ping".into(),
        port: 9000,
        kind: Kind::Raw,
        stops: vec![b'/'],
        default: Goal::Drop,
        discard_while_updating: false,
        expiry_ns: None,
        types: vec![message],
        line: 1,
    };
    Rules { applications: vec![application], groups: vec![] }
}

#[test]
fn as_many_steps_as_the_rules_have_compares() {
    for n in [1, 2, 4, 8, 16, 32, 48] {
        let rules = published(n);
        let program = compile(&rules, &Options::default()).unwrap();
        let (tables, ports) = program.tables(&rules, 1);
        let Step::Text(text) = &rules.applications[0].types[0].rules[17].matches[0].patterns[0].steps[1] else {
            panic!()
        };
        let payload = [&b"host/"[..], text].concat();
        let got = run(&tables, &ports[0], 0, Identity::default(), &View::of_raw(&payload), |_| {});
        assert_eq!((got.decision, got.steps), (Decision::Queue(17), n as u32));
        // A move to a stop byte, and the last compare chooses among 32 alternatives.
        assert_eq!(got.cycles, 2 * n as u32 + 2 + 1);
    }
}
