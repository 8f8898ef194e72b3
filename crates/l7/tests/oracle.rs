//! The interpreter of rules: the dissertation's examples, the table of patterns, groups, and random patterns beside a second
//! reading of them byte by byte.

use sluice_formats::hash::crc32c;
use sluice_formats::random::{Rng, test_seed};
use sluice_l7::explain::explain;
use sluice_l7::message::{Field, encode};
use sluice_l7::oracle::{Message, Mismatch, Why, decide, match_field, match_value, slot};
use sluice_l7::rules::{Goal, Pattern, Rules, Step, read};
use sluice_l7::testing::{Limits, pattern, value_for};
use sluice_l7::view::View;

fn shipped(name: &str) -> Rules {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/l7").join(name);
    read(name, &std::fs::read_to_string(path).unwrap()).unwrap_or_else(|e| panic!("{e}"))
}

fn fields(all: &[(u8, &str)]) -> Vec<u8> {
    encode(
        &all.iter().map(|(index, value)| Field { index: *index, value: value.as_bytes().to_vec() }).collect::<Vec<_>>(),
    )
}

/// Rule and queue of a message to the first application.
fn goes(rules: &Rules, msg_type: u8, all: &[(u8, &str)]) -> (Option<String>, Option<u8>) {
    let bytes = fields(all);
    let view = View::of_message(&bytes, 0).unwrap();
    let message = Message { msg_type, session: 0, msg_id: 0, view: Some(&view) };
    let application = &rules.applications[0];
    let decision = decide(rules, application, &message);
    let explained = explain(rules, application, &message);
    assert_eq!((&explained.queue, explained.rule.is_some()), (&decision.queue, decision.rule.is_some()));
    let taken = explained.rules.iter().position(|rule| rule.matched);
    assert_eq!(taken, decision.rule, "{explained}");
    (explained.rule, decision.queue)
}

fn first(name: &str, queue: u8) -> (Option<String>, Option<u8>) {
    (Some(name.to_string()), Some(queue))
}

#[test]
fn rules_a_and_b_of_the_dissertation_take_its_examples() {
    let rules = shipped("course_reviews.l7");
    assert_eq!(goes(&rules, 1, &[(1, "/CA/20240919"), (2, "/CS/Net")]), first("a", 1));
    assert_eq!(goes(&rules, 1, &[(1, "/PA/202345"), (2, "/CS/Math")]), (None, Some(0)));
    assert_eq!(goes(&rules, 1, &[(1, "/CA/202345"), (2, "/CS/Math")]), first("b", 2));
    // Both rules match: the first one wins.
    assert_eq!(goes(&rules, 1, &[(1, "/CA/2024"), (2, "/CS/Math")]), first("a", 1));
    // The next stop byte decides: there is no going back to a later one.
    assert_eq!(goes(&rules, 1, &[(1, "/CA/x/2024"), (2, "/CS/x/Math")]), (None, Some(0)));
    assert_eq!(goes(&rules, 1, &[(1, "/CA/2023")]), (None, Some(0)), "no course");
    assert_eq!(goes(&rules, 2, &[(1, "/CA/2024")]), (None, Some(0)), "a type that is not listed");
    assert_eq!(goes(&rules, 1, &[]), (None, Some(0)));
}

#[test]
fn the_other_shipped_rules_do_as_they_say() {
    let kv = shipped("kv_prefix.l7");
    assert_eq!(goes(&kv, 1, &[(1, "user:7")]), first("users", 0));
    assert_eq!(goes(&kv, 1, &[(1, "cart:9:item:1")]), first("items", 1));
    assert_eq!(goes(&kv, 1, &[(1, "cart:9:price")]).0, None);
    assert_eq!(goes(&kv, 1, &[(1, "ping")]), first("whole", 0));
    assert_eq!(goes(&kv, 1, &[(1, "pings")]).0, None);
    assert_eq!(goes(&kv, 2, &[(1, "secret:a")]), (Some("secret".into()), None));
    let queues: Vec<_> = (0..40).map(|n| goes(&kv, 1, &[(1, &format!("key{n}"))]).1.unwrap()).collect();
    assert!(queues.contains(&2) && queues.contains(&3) && queues.iter().all(|q| [2, 3].contains(q)), "{queues:?}");
    let web = shipped("urls.l7");
    let request = |method, path| goes(&web, 1, &[(1, method), (2, path)]);
    assert_eq!(request("GET", "/"), first("root", 0));
    assert_eq!(request("GET", "/favicon.ico"), first("static", 1));
    assert_eq!(request("GET", "/favicon.jpeg"), (None, Some(0)), "five bytes behind it");
    assert_eq!(request("POST", "/api/v2/7/items"), first("writes", 2));
    assert_eq!(request("PUT", "/api/v2/items").0.as_deref(), Some("api"));
    assert_eq!(request("GET", "/find?q=x"), first("search", 3));
    assert_eq!(request("GET", "/a/../b"), (Some("traversal".into()), None));
    for (name, hops) in [("ping_pong_2.l7", 2), ("ping_pong_48.l7", 48)] {
        let rules = shipped(name);
        let route: Vec<_> = (0..hops).map(|hop| format!("{hop:02}")).collect();
        let route = route.join("/");
        assert_eq!(goes(&rules, 0, &[(1, &route)]), first("there", 0));
        assert_eq!(goes(&rules, 0, &[(1, &route[..route.len() - 1])]), (None, None));
    }
}

#[test]
fn a_raw_payload_is_one_field_and_has_its_end_in_the_first_512_bytes_or_not_at_all() {
    let rules =
        read("m.l7", "raw r { port 1 default drop stop \" \" rule a: \"x* y$\" | \".{255}.{255}..$\" -> queue 1 }")
            .unwrap();
    let queue = |payload: &[u8]| {
        let view = View::of_raw(payload);
        let message = Message { msg_type: 9, session: 0, msg_id: 0, view: Some(&view) };
        decide(&rules, &rules.applications[0], &message).queue
    };
    assert_eq!(queue(b"xabc y"), Some(1));
    assert_eq!(queue(b"x y"), Some(1));
    assert_eq!(queue(b"x yz"), None);
    assert_eq!(queue(&[7; 512]), Some(1));
    assert_eq!(queue(&[7; 513]), None);
    let view = View::of_raw(&[7; 600]);
    let pattern = &rules.applications[0].types[0].rules[0].matches[0].patterns[1];
    let expected = Mismatch { step: 1, at: 512, why: Why::EndNotSeen };
    assert_eq!(match_field(pattern, Some(&view), 1), Err(expected));
}

#[test]
fn where_a_pattern_fails_is_said() {
    let pattern = |steps: &[Step], end| Pattern { steps: steps.to_vec(), end };
    let text = |text: &[u8]| Step::Text(text.to_vec());
    let path = pattern(&[text(b"/"), Step::Until(b'/'), Step::Skip(2), text(b"ab")], true);
    let fails = |value: &[u8]| match_value(&path, value, false).unwrap_err();
    assert_eq!(match_value(&path, b"/x/..ab", false), Ok(7));
    assert_eq!(fails(b""), Mismatch { step: 0, at: 0, why: Why::Short });
    assert_eq!(fails(b"/xy"), Mismatch { step: 1, at: 1, why: Why::NoStop });
    assert_eq!(fails(b"/x/."), Mismatch { step: 2, at: 3, why: Why::Short });
    assert_eq!(fails(b"/x/..a"), Mismatch { step: 3, at: 5, why: Why::Short });
    assert_eq!(fails(b"/x/..ac"), Mismatch { step: 3, at: 5, why: Why::Differs(1) });
    assert_eq!(fails(b"/x/..abc"), Mismatch { step: 4, at: 7, why: Why::NotEnd });
    let absent = Mismatch { step: 0, at: 0, why: Why::Absent };
    let view = View::of_message(b"\x02\x00", 0).unwrap();
    assert_eq!(match_field(&Pattern::default(), Some(&view), 1), Err(absent), "not even an empty pattern matches");
    assert_eq!(match_field(&Pattern::default(), Some(&view), 2), Ok(0));
    assert_eq!(match_field(&Pattern { steps: vec![], end: true }, Some(&view), 2), Ok(0));
}

#[test]
fn a_slot_is_the_low_bits_of_a_hash_of_session_and_message_or_of_a_field() {
    let rules = read(
        "m.l7",
        "application x { port 1 id 1 default group m message t = 1 { field f = 3 rule f ~ \"k\" -> group f } }
         group m { queue 0 queue 1 queue 2 queue 3 queue 4 queue 5 queue 6 queue 7
                   queue 8 queue 9 queue 10 queue 11 queue 12 queue 13 queue 14 queue 15 }
         group f by f { queue 20 queue 21 }",
    )
    .unwrap();
    for (session, msg_id, value) in [(0u32, 0u32, "k"), (1, 2, "key"), (0xdead_beef, 7, "k\0")] {
        let bytes = fields(&[(3, value)]);
        let view = View::of_message(&bytes, 0).unwrap();
        let message = |msg_type| Message { msg_type, session, msg_id, view: Some(&view) };
        let wire = [session.to_be_bytes(), msg_id.to_be_bytes()].concat();
        let queue = |msg_type| decide(&rules, &rules.applications[0], &message(msg_type)).queue;
        assert_eq!(queue(9), Some((crc32c(&wire) & 15) as u8));
        let mut word = [0; 8];
        word[..value.len()].copy_from_slice(value.as_bytes());
        assert_eq!(queue(1), Some(20 + (crc32c(&word) & 1) as u8));
    }
    // An absent field is as an empty one: 8 zeros.
    let view = View::of_message(b"", 0).unwrap();
    let message = Message { msg_type: 1, session: 5, msg_id: 5, view: Some(&view) };
    assert_eq!(slot(&rules.groups[1], &message), (crc32c(&[0; 8]) & 15) as usize);
    let endpoint = read("m.l7", "endpoint 9 -> queue 200").unwrap();
    let message = Message { view: None, ..message };
    let decision = decide(&endpoint, &endpoint.applications[0], &message);
    assert_eq!((decision.goal, decision.queue, decision.rule), (Goal::Queue(200), Some(200), None));
}

/// A pattern as tests of single bytes, one after the other: what each state does with a byte.
fn byte_by_byte(pattern: &Pattern, value: &[u8]) -> bool {
    #[derive(Clone, Copy)]
    enum State {
        Is(u8),
        Any,
        Until(u8),
    }
    let mut states = Vec::new();
    for step in &pattern.steps {
        match step {
            Step::Text(text) => states.extend(text.iter().map(|b| State::Is(*b))),
            Step::Skip(n) => states.extend((0..*n).map(|_| State::Any)),
            Step::Until(stop) => states.push(State::Until(*stop)),
        }
    }
    let mut at = 0;
    for &byte in value {
        match states.get(at) {
            None => return !pattern.end,
            Some(State::Is(wanted)) if *wanted != byte => return false,
            Some(State::Is(_) | State::Any) => at += 1,
            Some(State::Until(stop)) => at += usize::from(byte == *stop),
        }
    }
    at == states.len()
}

#[test]
fn random_patterns_match_what_a_reading_byte_by_byte_matches() {
    let mut rng = Rng::new(test_seed("random_patterns_match_what_a_reading_byte_by_byte_matches"));
    let mut matched = 0;
    for _ in 0..50_000 {
        let pattern = pattern(&mut rng, b"/:", 255, &Limits::default());
        let value = value_for(&mut rng, &pattern, 255);
        let found = match_value(&pattern, &value, false);
        assert_eq!(found.is_ok(), byte_by_byte(&pattern, &value), "{pattern} {value:?}");
        matched += u32::from(found.is_ok());
    }
    assert!((15_000..45_000).contains(&matched), "{matched}");
}
