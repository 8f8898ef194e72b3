//! Published words: a program written as words dispatches as before, and words read again do too. `SLUICE_SEED` repeats a run.

use sluice_formats::l7::codes::{L7Goal, L7PortKind};
use sluice_formats::l7::rows::{L7PortRow, L7TargetPart};
use sluice_formats::random::{Rng, test_seed};
use sluice_l7::compile::{Options, compile};
use sluice_l7::message::encode;
use sluice_l7::published::{CamWord, RamWord, STOP, UNTIL, Words, read, write};
use sluice_l7::rules::{Goal, Kind, read as read_rules};
use sluice_l7::step::{Decision, Identity, run};
use sluice_l7::tables::Tables;
use sluice_l7::testing::{self, Limits};
use sluice_l7::view::View;

/// A port whose default is this queue, with types from a start row on.
fn port(types: u16, default: u8) -> L7PortRow {
    let otherwise = L7TargetPart::new(L7Goal::Queue, default.into());
    let kind = L7PortKind::Application.code();
    L7PortRow { valid: true, kind, stops: [STOP, 0], stop_count: 1, otherwise, types, ..L7PortRow::default() }
}

/// Tables with words read: start row n is message type n.
fn tables(words: &Words, app_id: u8) -> Result<Tables, sluice_l7::published::ReadError> {
    let mut tables = Tables::default();
    let starts = read(words, &mut tables.rows, 4096)?;
    for ((_, msg_type), start) in starts.into_iter().filter(|((app, _), _)| *app == app_id) {
        tables.starts.resize(usize::from(msg_type) + 1, Default::default());
        tables.starts[usize::from(msg_type)] = start;
    }
    Ok(tables)
}

#[test]
fn programs_written_as_words_dispatch_as_before_and_so_do_words_read_again() {
    let mut rng = Rng::new(test_seed("programs_written_as_words_dispatch_as_before_and_so_do_words_read_again"));
    let (mut written, mut refused, mut hits, mut all) = (0, 0, 0, 0);
    while written < 150 {
        let limits =
            Limits { applications: 1, types: 2, rules: 5, patterns: 2, steps: 4, groups: 0, ..Limits::default() };
        let mut rules = testing::rules(&mut rng, &limits);
        // What words have no form for would refuse nearly every program.
        for application in &mut rules.applications {
            application.default = Goal::Queue(99);
            for pattern in application
                .types
                .iter_mut()
                .flat_map(|t| &mut t.rules)
                .flat_map(|r| &mut r.matches)
                .flat_map(|m| &mut m.patterns)
            {
                pattern.end = false;
            }
        }
        let Ok(program) = compile(&rules, &Options::default()) else { continue };
        let Ok(words) = write(&program, &rules) else {
            refused += 1;
            continue;
        };
        let application = &rules.applications[0];
        let Kind::Application(app_id) = application.kind else { panic!("words of a raw application") };
        if words.cam.is_empty() {
            continue;
        }
        written += 1;
        let (own, ports) = program.tables(&rules, 0);
        let again = tables(&words, app_id).expect("what was written is read");
        for _ in 0..60 {
            let number = rng.choose(&application.types).map_or(0, |t| t.number);
            let mut fields = testing::field_values(&mut rng, application, number);
            fields.truncate(2);
            let payload = encode(&fields);
            let Ok(view) = View::of_message(&payload, 0) else { continue };
            let wanted = run(&own, &ports[0], number, Identity::default(), &view, |_| {});
            let published = words.run(app_id, number, &view, 1000).unwrap_or(Decision::Queue(99));
            assert_eq!(published, wanted.decision, "{rules}\n{words:?}\n{view:?}");
            let port = port(again.starts.len() as u16, 99);
            let got = run(&again, &port, number, Identity::default(), &view, |_| {});
            assert_eq!((got.decision, got.fault), (wanted.decision, false), "{rules}\n{words:?}\n{view:?}");
            hits += usize::from(wanted.decision != Decision::Queue(99));
            all += 1;
        }
    }
    eprintln!("{written} programs, {refused} refused; {all} messages, {hits} by a rule");
    assert!(hits > all / 8);
}

#[test]
fn any_words_dispatch_as_in_the_paper() {
    let mut rng = Rng::new(test_seed("any_words_dispatch_as_in_the_paper"));
    let (mut hits, mut all) = (0, 0);
    for _ in 0..400 {
        // Few states, so that there are loops and words that nothing leads to.
        let count = rng.range(1, 12) as usize;
        let ram = (0..=count).map(|_| RamWord {
            field: rng.range(1, 2) as u8,
            skip: *rng.choose(&[0, 0, 1, 2, UNTIL]).unwrap(),
            length: rng.below(4) as u8,
            state: rng.below(3) as u8,
        });
        let ram: Vec<_> = ram.collect();
        let cam = (0..count).map(|_| {
            let mut bytes = [0; 8];
            let length = rng.below(4) as usize;
            bytes[..length].fill_with(|| *rng.choose(b"ab/").unwrap());
            CamWord { app_id: 1, msg_type: 0, field: rng.range(1, 2) as u8, state: rng.below(3) as u8, bytes }
        });
        let words = Words { cam: cam.collect(), ram };
        let tables = tables(&words, 1).unwrap();
        for _ in 0..20 {
            let mut value = || (0..rng.below(12)).map(|_| *rng.choose(b"aab/").unwrap()).collect::<Vec<_>>();
            let (first, second) = (value(), value());
            let payload = [&[1, first.len() as u8], &first[..], &[2, second.len() as u8], &second].concat();
            let view = View::of_message(&payload, 0).unwrap();
            // Without an end the published matcher goes round for ever, ours is a fault; both are the default.
            let wanted = words.run(1, 0, &view, 255).unwrap_or(Decision::Queue(99));
            let got = run(&tables, &port(1, 99), 0, Identity::default(), &view, |_| {});
            assert_eq!(got.decision, wanted, "{words:?}\n{view:?}");
            hits += usize::from(wanted != Decision::Queue(99));
            all += 1;
        }
    }
    assert!(hits > all / 16, "{hits} of {all}");
}

#[test]
fn what_words_cannot_say_is_refused_with_its_place() {
    let refused = |rule: &str| {
        let text = format!(
            "application a {{ port 9 id 1 stop \"/\" \":\" default queue 0 message m = 1 {{ field x = 1 {rule} }} }}"
        );
        let rules = read_rules("a.l7", &text).unwrap();
        let error = write(&compile(&rules, &Options::default()).unwrap(), &rules).unwrap_err();
        (error.code(), error.to_string())
    };
    for (rule, what) in [
        ("rule x ~ \"a$\" -> queue 1", "row 0: an end of the field"),
        ("rule x ~ \"a\" -> drop", "only queues"),
        ("rule x ~ \"*:a\" -> queue 1", "its stop byte is not `/`"),
        ("rule x ~ \".{70}a\" -> queue 1", "it skips more than 63 bytes"),
        ("rule x ~ \"a*/b\" -> queue 1 rule x ~ \"a\" -> queue 2", "a miss that goes on, not to the default"),
    ] {
        let (code, text) = refused(rule);
        assert_eq!(code, "E0874");
        assert!(text.contains(what), "{rule}: {text}");
    }
    let broken = |ram: RamWord| read(&Words { ram: vec![ram], cam: vec![] }, &mut vec![], 9).unwrap_err();
    assert_eq!(
        broken(RamWord { field: 16, length: 1, ..RamWord::default() }).to_string(),
        "RAM word 0: field 16, expected 1 to 15"
    );
    assert!(broken(RamWord { field: 1, skip: 64, ..RamWord::default() }).to_string().contains("skips 64 bytes"));
    assert!(broken(RamWord { field: 1, length: 9, ..RamWord::default() }).to_string().contains("looks up 9 bytes"));
    assert!(read(&Words::default(), &mut vec![], 9).is_err());
    let none =
        Words { ram: vec![RamWord { field: 1, length: 1, ..RamWord::default() }], cam: vec![CamWord::default()] };
    assert!(read(&none, &mut vec![], 9).unwrap_err().to_string().contains("leads to RAM word 1"));
}
