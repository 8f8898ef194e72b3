//! Rows of many rules whose texts begin alike: what they have in common is compared once, and every message goes where its rules say.

use sluice_formats::l7::compare::MatchShape;
use sluice_formats::random::{Rng, test_seed};
use sluice_l7::compile::{Options, Program, compile};
use sluice_l7::message::encode;
use sluice_l7::oracle::{self, Message};
use sluice_l7::rules::{Rules, read};
use sluice_l7::step::{Decision, Identity, run};
use sluice_l7::view::View;

/// Rules of one field with these patterns, to queues in turn.
fn rules(patterns: &[String]) -> Rules {
    let rule = |(n, pattern): (usize, &String)| format!("rule r{n}: key ~ \"{pattern}\" -> queue {}\n", 1 + n % 250);
    let all: String = patterns.iter().enumerate().map(rule).collect();
    let text = format!(
        "application a {{ port 9000 id 1 stop \":\" default queue 0 message m = 1 {{ field key = 1\n{all}}} }}"
    );
    read("rows.l7", &text).unwrap_or_else(|e| panic!("{e}"))
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("user:{:05}", i * 391 % 100_000)).collect()
}

/// What the program and the interpreter of the rules say of these values.
fn same(rules: &Rules, program: &Program, values: &[Vec<u8>]) -> usize {
    let (tables, ports) = program.tables(rules, 3);
    let mut ruled = 0;
    for value in values {
        let payload = encode(&[sluice_l7::message::Field { index: 1, value: value.clone() }]);
        let view = View::of_message(&payload, 0).unwrap();
        let message = Message { msg_type: 1, session: 0, msg_id: 7, view: Some(&view) };
        let wanted = oracle::decide(rules, &rules.applications[0], &message);
        let got = run(&tables, &ports[0], 1, Identity { session: 0, message: 7 }, &view, |_| {});
        assert!(!got.fault && got.steps <= program.applications[0].steps);
        let decision = wanted.queue.map_or(Decision::Drop, Decision::Queue);
        assert_eq!(got.decision, decision, "{:?}\n{rules}", String::from_utf8_lossy(value));
        ruled += usize::from(wanted.rule.is_some());
    }
    ruled
}

#[test]
fn what_rules_have_in_common_is_compared_once() {
    for (count, most) in [(256, 140), (400, 280), (1_000, 512)] {
        let patterns = numbers(count);
        let rules = rules(&patterns);
        let program = compile(&rules, &Options { rows: 512, ..Options::default() }).unwrap_or_else(|e| panic!("{e}"));
        let (rows, steps) = (program.rows.len(), program.applications[0].steps);
        println!("{count} rules: {rows} rows, {steps} steps at most");
        assert!(rows <= most, "{count} rules: {rows} rows");
        let mut values: Vec<Vec<u8>> = (0..100_000).step_by(7).map(|n| format!("user:{n:05}").into_bytes()).collect();
        values.extend(patterns.iter().map(|p| p.clone().into_bytes()));
        values.extend(["user:0039", "user:", "use", "usr:00391", "user:003910"].map(|v| v.as_bytes().to_vec()));
        assert!(same(&rules, &program, &values) >= count);
    }
}

#[test]
fn random_families_of_texts_go_where_their_rules_say() {
    let mut rng = Rng::new(test_seed("random_families_of_texts_go_where_their_rules_say"));
    let (mut ruled, mut all, mut split) = (0, 0, 0);
    for _ in 0..60 {
        let mut patterns = Vec::new();
        // Several families with a beginning of their own, of which parts are the same; some of their texts are others' beginnings.
        let base: String = (0..rng.below(6)).map(|_| *rng.choose(&['a', 'b', ':']).unwrap()).collect();
        for _ in 0..rng.range(1, 3) {
            let head: String = (0..rng.below(12)).map(|_| *rng.choose(&['a', 'b', ':']).unwrap()).collect();
            let (width, count) = (rng.range(1, 7) as usize, rng.range(1, 60));
            let tail = *rng.choose(&["", "", ":x", "$", ":tail:tail:tail"]).unwrap();
            for _ in 0..count {
                let number = rng.below(10u64.pow(width as u32));
                let number = if rng.chance(1, 4) { number.to_string() } else { format!("{number:0width$}") };
                patterns.push(format!("{base}{head}{number}{tail}"));
            }
        }
        rng.shuffle(&mut patterns);
        let rules = rules(&patterns);
        let shape =
            MatchShape { bytes: *rng.choose(&[8, 8, 16, 32]).unwrap(), alternatives: *rng.choose(&[4, 4, 8]).unwrap() };
        let program = compile(&rules, &Options { shape, ..Options::default() }).unwrap_or_else(|e| panic!("{e}"));
        let mut values: Vec<Vec<u8>> = Vec::new();
        for pattern in &patterns {
            let text = pattern.trim_end_matches('$').as_bytes().to_vec();
            let mut other = text.clone();
            if !other.is_empty() {
                let at = rng.index(other.len());
                other[at] = *rng.choose(b"ab:0123456789").unwrap();
            }
            values.push(text[..rng.index(text.len() + 1)].to_vec());
            values.push([&text[..], b"more"].concat());
            values.extend([text, other]);
        }
        values.retain(|value| value.len() <= 255);
        split +=
            usize::from(patterns.len() > 4 && program.rows.first().is_some_and(|row| row.alternatives.used() == 1));
        ruled += same(&rules, &program, &values);
        all += values.len();
    }
    println!("{all} messages, {ruled} by a rule; {split} programs begin with what all have in common");
    assert!(ruled > all / 4 && ruled < all && split > 3, "{ruled} of {all}, {split}");
}
