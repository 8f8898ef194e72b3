//! The compiler and the models of its programs: what they say is what the interpreter of the rules says. `SLUICE_FUZZ_SECONDS` (2) is the time
//! of random rules, `SLUICE_SEED` repeats a run.

use sluice_formats::l7::compare::MatchShape;
use sluice_formats::l7::qnp::Header;
use sluice_formats::random::{Rng, test_seed};
use sluice_l7::compile::{Options, compile};
use sluice_l7::fast::Fast;
use sluice_l7::message::{Ports, Sort, encode, filter};
use sluice_l7::oracle::{self, Message};
use sluice_l7::rules::Kind;
use sluice_l7::step::{Decision, Identity, Verdict, run};
use sluice_l7::testing::{self, Limits};
use sluice_l7::view::View;
use std::time::{Duration, Instant};

fn limits(rng: &mut Rng) -> Limits {
    // Often as many rules as need wide rows.
    let rules = if rng.chance(1, 3) { 40 } else { 6 };
    let text = *rng.choose(&[4, 4, 4, 4, 12, 40]).expect("a length");
    Limits { rules, text, ..Limits::default() }
}

/// What rows hold: that of the targets mostly.
fn shape(rng: &mut Rng) -> MatchShape {
    let bytes = *rng.choose(&[8, 8, 8, 16, 32]).expect("a size");
    MatchShape { bytes, alternatives: *rng.choose(&[4, 4, 8]).expect("a size") }
}

#[test]
fn programs_do_what_their_rules_say() {
    let seed = test_seed("programs_do_what_their_rules_say");
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut rng = Rng::new(seed);
    let (mut files, mut refused, mut messages, mut walked, mut ruled, mut wide) = (0, 0, 0, 0, 0, 0);
    let (mut long, mut many) = (0, 0);
    while Instant::now() < end || files < 50 {
        let limits = limits(&mut rng);
        let rules = testing::rules(&mut rng, &limits);
        // Sometimes there is little room, and rules go in turn.
        let rows = if rng.chance(1, 3) { rng.range(20, 300) as usize } else { 1 << 12 };
        let options = Options { rows, shape: shape(&mut rng) };
        let Ok(program) = compile(&rules, &options) else {
            refused += 1;
            continue;
        };
        assert!(program.rows.len() <= options.rows);
        assert!(program.rows.iter().all(|row| row.pack_as(options.shape).is_ok()));
        long += program.rows.iter().filter(|row| row.length > 8).count();
        many += program.rows.iter().filter(|row| row.alternatives.used() > 4).count();
        files += 1;
        let (tables, port_rows) = program.tables(&rules, 5);
        wide += usize::from(program.rows.iter().flat_map(|r| r.alternatives.iter()).any(|a| a.target.kind == 5));
        let fast: Vec<Fast> = port_rows.iter().map(|port| Fast::new(&tables, port)).collect();
        let ports = Ports::of(&rules);
        for number in 0..60 {
            let header = Header { msg_id: rng.next_u32(), session: rng.next_u32(), ..Header::default() };
            let frames = testing::frames(&mut rng, &rules, header);
            let Some(frame) = frames.first() else { continue };
            let Sort::Packet(packet) = filter(frame, &ports) else { continue };
            let Some(view) = &packet.view else { continue };
            let application = &rules.applications[packet.application];
            let header = packet.header;
            let message =
                Message { msg_type: header.msg_type, session: header.session, msg_id: header.msg_id, view: Some(view) };
            let wanted = oracle::decide(&rules, application, &message);
            let identity = Identity { session: header.session, message: header.msg_id };
            let message_type = if application.kind == Kind::Raw { 0 } else { header.msg_type };
            let got = run(&tables, &port_rows[packet.application], message_type, identity, view, |_| {});
            assert!(!got.fault);
            assert!(got.steps <= program.applications[packet.application].steps + 64);
            assert_eq!(fast[packet.application].run(message_type, identity, view), Verdict { cycles: 0, ..got });
            let decision = wanted.queue.map_or(Decision::Drop, Decision::Queue);
            assert_eq!(got.decision, decision, "file {files}, message {number}: {view:?}\n{rules}\n{wanted:?}");
            messages += 1;
            walked += usize::from(got.steps > 1);
            ruled += usize::from(wanted.rule.is_some());
        }
    }
    eprintln!(
        "{files} files, {wide} with wide rows, {refused} did not fit; {messages} messages, {walked} of more than a step, {ruled} by a rule"
    );
    eprintln!("{long} rows of more than 8 bytes, {many} of more than 4 alternatives");
    assert!(walked > messages / 4 && ruled > messages / 8 && wide > 0 && long > 100 && many > 0);
}

#[test]
fn as_many_steps_as_the_rules_have_compares() {
    for n in [1, 2, 4, 8, 16, 32, 48] {
        let rules = testing::ping_pong(n, 32);
        let program = compile(&rules, &Options::default()).unwrap();
        let (tables, ports) = program.tables(&rules, 1);
        let payload = testing::ping_pong_payload(n, 17);
        let got = run(&tables, &ports[0], 0, Identity::default(), &View::of_message(&payload, 0).unwrap(), |_| {});
        assert_eq!((got.decision, got.steps), (Decision::Queue(17), n as u32));
        // A move to a stop byte, and the last compare chooses among 32 alternatives.
        assert_eq!(got.cycles, 2 * n as u32 + 2 + 2);
    }
}

#[test]
fn both_models_say_the_same_of_broken_tables() {
    let mut rng = Rng::new(test_seed("both_models_say_the_same_of_broken_tables"));
    let (mut faults, mut all) = (0, 0);
    while all < 4_000 {
        let limits = limits(&mut rng);
        let rules = testing::rules(&mut rng, &limits);
        let Ok(program) = compile(&rules, &Options { rows: 300, shape: shape(&mut rng) }) else { continue };
        let (mut tables, mut ports) = program.tables(&rules, 5);
        let harm = rng.range(1, 12);
        testing::break_tables(&mut rng, &mut tables, &mut ports, harm);
        for (port, application) in ports.iter().zip(&rules.applications) {
            let fast = Fast::new(&tables, port);
            for _ in 0..20 {
                let number = rng.choose(&application.types).map_or(0, |t| t.number);
                let mut fields = testing::field_values(&mut rng, application, number);
                fields.truncate(2);
                let payload: Vec<u8> = encode(&fields);
                let Ok(view) = View::of_message(&payload, 0) else { continue };
                let identity = Identity { session: rng.next_u32(), message: rng.next_u32() };
                let got = run(&tables, port, number, identity, &view, |_| {});
                assert_eq!(fast.run(number, identity, &view), Verdict { cycles: 0, ..got });
                faults += usize::from(got.fault);
                all += 1;
            }
        }
    }
    assert!(faults > all / 50 && faults < all, "{faults} of {all}");
}

#[test]
fn rules_see_as_much_as_the_engine_does() {
    let mut rng = Rng::new(test_seed("rules_see_as_much_as_the_engine_does"));
    let (mut messages, mut far, mut hits) = (0, 0, 0);
    while messages < 3_000 {
        let view = 64 * rng.range(8, 24) as usize;
        let limits = Limits { rules: 4, types: 2, text: 40, view, ..Limits::default() };
        let rules = testing::rules(&mut rng, &limits);
        let Ok(program) = compile(&rules, &Options { shape: shape(&mut rng), ..Options::default() }) else { continue };
        let (tables, ports) = program.tables(&rules, 5);
        for (port, application) in ports.iter().zip(&rules.applications) {
            let fast = Fast::new(&tables, port);
            for _ in 0..20 {
                let msg_type = rng.choose(&application.types).map_or(0, |t| t.number);
                let patterns: Vec<_> =
                    application.types.iter().flat_map(|t| &t.rules).flat_map(|r| &r.matches[0].patterns).collect();
                let seen = match (application.kind, rng.choose(&patterns)) {
                    (Kind::Endpoint, _) => continue,
                    (Kind::Raw, Some(pattern)) => testing::value_for(&mut rng, pattern, view + 40),
                    _ => {
                        let mut fields = testing::field_values(&mut rng, application, msg_type);
                        for field in &mut fields {
                            let length = rng.range(field.value.len() as u64, 255) as usize;
                            field.value.resize(length, b'x');
                        }
                        encode(&fields)
                    }
                };
                let is_raw = application.kind == Kind::Raw;
                let as_view =
                    if is_raw { Ok(View::of_raw_up_to(&seen, view)) } else { View::of_message_up_to(&seen, 0, view) };
                let Ok(view) = as_view else { continue };
                let (session, msg_id) = (rng.next_u32(), rng.next_u32());
                let message = Message { msg_type, session, msg_id, view: Some(&view) };
                let wanted = oracle::decide(&rules, application, &message);
                let identity = Identity { session, message: msg_id };
                let mut reached = 0;
                let got = run(&tables, port, msg_type, identity, &view, |step| {
                    reached = reached.max(if step.hit.is_some() && !step.past { step.position } else { 0 });
                });
                assert_eq!(got.decision, wanted.queue.map_or(Decision::Drop, Decision::Queue), "{rules}\n{view:?}");
                assert_eq!(fast.run(msg_type, identity, &view), Verdict { cycles: 0, ..got });
                messages += 1;
                far += usize::from(reached >= 512);
                hits += usize::from(wanted.rule.is_some());
            }
        }
    }
    assert!(far > 20 && hits > 300, "{far} beyond 512 bytes, {hits} by a rule");
}

#[test]
fn long_texts_take_a_step_for_as_many_bytes_as_a_row_compares() {
    // 20 rules whose texts of 40 bytes differ at their end, and one of 32 bytes alone.
    let rules = (0..20).map(|n| format!("rule r{n}: route ~ \"{:0>38}{n:02}\" -> queue {n}", "")).collect::<Vec<_>>();
    let many = format!(
        "application a {{ port 9000 id 1 default drop message m = 0 {{ field route = 1\n{}\n}} }}",
        rules.join("\n")
    );
    let one = "application a { port 9000 id 1 default drop message m = 0 { field route = 1
        rule r: route ~ \"abcdefghijklmnopqrstuvwxyzabcdef\" -> queue 7 } }";
    for (bytes, alternatives, wanted) in [(8, 4, [5, 4]), (16, 4, [3, 2]), (32, 4, [2, 1]), (32, 8, [2, 1])] {
        let options = Options { shape: MatchShape { bytes, alternatives }, ..Options::default() };
        let steps = [&many[..], one].map(|text| {
            let rules = sluice_l7::rules::read("long.l7", text).unwrap();
            compile(&rules, &options).unwrap().applications[0].steps
        });
        assert_eq!(steps, wanted, "{bytes} bytes, {alternatives} alternatives");
    }
}

#[test]
fn a_row_has_as_many_alternatives_as_the_engine() {
    let rules = (0..8).map(|n| format!("rule r{n}: route ~ \"{n}\" -> queue {n}")).collect::<Vec<_>>().join("\n");
    let text = format!("application a {{ port 9000 id 1 default drop message m = 0 {{ field route = 1\n{rules}\n}} }}");
    let rules = sluice_l7::rules::read("eight.l7", &text).unwrap();
    for (alternatives, rows) in [(4, 2), (8, 1)] {
        let options = Options { shape: MatchShape { bytes: 8, alternatives }, ..Options::default() };
        let program = compile(&rules, &options).unwrap();
        let (tables, ports) = program.tables(&rules, 1);
        let got = run(&tables, &ports[0], 0, Identity::default(), &View::of_message(b"\x01\x015", 0).unwrap(), |_| {});
        // Wide rows cost 2 cycles more.
        let cycles = if rows == 1 { 2 } else { 4 };
        assert_eq!((program.rows.len() <= 2 * rows, got.decision, got.cycles), (true, Decision::Queue(5), cycles));
    }
}
