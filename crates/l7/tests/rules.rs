//! Rules as files: the shipped ones and the pages' examples, what is read of them, mistakes and their places.

use sluice_formats::random::{Rng, test_seed};
use sluice_l7::rules::{Goal, Kind, Rules, Step, read, read_bytes};
use std::path::{Path, PathBuf};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Text of each block of this language.
fn blocks(page: &str) -> Vec<&str> {
    page.split("```l7\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

fn rules(text: &str) -> Rules {
    read("m.l7", text).unwrap_or_else(|e| panic!("{e}"))
}

/// An application with these lines in its one message type, which has fields `a` (1) and `b` (2).
fn with(lines: &str) -> String {
    format!(
        "application x {{\nport 1 id 1 default drop stop \"/\" \"?\"\nmessage m = 0 {{ field a = 1 field b = 2\n{lines}\n}} }}\n"
    )
}

fn steps(pattern: &str) -> (Vec<Step>, bool) {
    let rules = rules(&with(&format!("rule a ~ \"{pattern}\" -> queue 1")));
    let pattern = &rules.applications[0].types[0].rules[0].matches[0].patterns[0];
    (pattern.steps.clone(), pattern.end)
}

fn text(bytes: &[u8]) -> Step {
    Step::Text(bytes.to_vec())
}

fn errors(text: &str) -> Vec<(String, usize, usize)> {
    let errors = read("m.l7", text).expect_err("it is wrong");
    errors.0.iter().map(|e| (e.code().to_string(), e.position.line, e.position.column)).collect()
}

#[test]
fn shipped_rules_are_read_and_printed_as_the_same_rules() {
    let mut files: Vec<_> =
        std::fs::read_dir(project().join("programs/l7")).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "l7"));
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        let found = read_bytes("shipped.l7", &std::fs::read(&file).unwrap()).unwrap_or_else(|e| panic!("{e}"));
        let printed = found.to_string();
        assert_eq!(rules(&printed).without_lines(), found.without_lines(), "{printed}");
    }
}

#[test]
fn the_examples_of_the_pages_pass() {
    for page in ["docs/design/l7.md", "docs/guide/l7.md"] {
        let text = std::fs::read_to_string(project().join(page)).unwrap();
        let all = blocks(&text);
        assert!(!all.is_empty(), "{page}");
        all.into_iter().for_each(|example| drop(rules(example)));
    }
}

#[test]
fn the_wrong_example_of_each_code_gives_that_code_and_the_right_one_passes() {
    for number in 850..860 {
        let code = format!("E0{number}");
        let page = std::fs::read_to_string(project().join(format!("docs/errors/{code}.md"))).unwrap();
        assert!(page.starts_with(&format!("# {code}: ")), "{code}");
        let [wrong, right] = blocks(&page)[..] else { panic!("{code}: two examples") };
        let told = read("wrong.l7", wrong).unwrap_err().0;
        assert_eq!(told.iter().map(|e| e.code()).collect::<Vec<_>>(), [code.as_str()], "{told:?}");
        rules(right);
    }
}

#[test]
fn the_page_of_the_specification_is_read_as_it_says() {
    let page = std::fs::read_to_string(project().join("docs/design/l7.md")).unwrap();
    let rules = rules(blocks(&page)[0]);
    let names: Vec<_> = rules.applications.iter().map(|a| (a.name.as_str(), a.port, a.kind)).collect();
    let expected =
        [("reviews", 9000, Kind::Application(1)), ("endpoint 9001", 9001, Kind::Endpoint), ("lines", 11211, Kind::Raw)];
    assert_eq!(names, expected);
    let reviews = &rules.applications[0];
    assert_eq!((&reviews.stops[..], reviews.default, reviews.expiry_ns), (&b"/"[..], Goal::Queue(0), None));
    let review = &reviews.types[0];
    assert_eq!((review.number, &review.fields[..]), (1, &[("student".into(), 1), ("course".into(), 2)][..]));
    let [a, b, c] = &review.rules[..] else { panic!("{review:?}") };
    assert_eq!((a.name.as_str(), a.goal, a.line), ("a", Goal::Queue(1), 10));
    assert_eq!(a.matches[0].patterns[0].steps, [text(b"/"), Step::Until(b'/'), text(b"2024")]);
    assert_eq!(b.matches.iter().map(|m| m.field).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((c.matches[0].patterns.len(), c.goal), (2, Goal::Group(0)));
    let shards = &rules.groups[0];
    assert_eq!((shards.field, shards.slots), (Some(1), [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1]));
    assert_eq!(rules.applications[2].types[0].rules[0].matches[0].field, 1);
}

#[test]
fn patterns_are_read_as_the_table_says() {
    for same in ["/*/2024", "/.*/2024", "/*/2024.*", "/*/2024*"] {
        assert_eq!(steps(same), (vec![text(b"/"), Step::Until(b'/'), text(b"2024")], false), "{same}");
    }
    assert_eq!(steps(""), (vec![], false));
    assert_eq!(steps("*"), (vec![], false));
    assert_eq!(steps("$"), (vec![], true));
    assert_eq!(steps("a$"), (vec![text(b"a")], true));
    assert_eq!(steps("*/*?"), (vec![Step::Until(b'/'), Step::Until(b'?')], false));
    assert_eq!(steps("*\\x2f."), (vec![Step::Until(b'/'), Step::Skip(1)], false));
    assert_eq!(steps("..{3}.x..*/"), (vec![Step::Skip(5), text(b"x"), Step::Skip(1), Step::Until(b'/')], false));
    assert_eq!(steps(".\\*.{253}"), (vec![Step::Skip(1), text(b"*"), Step::Skip(253)], false));
    let escapes = "\\\\\\\"\\*\\.\\$\\x41\\xfF\\n\\r\\t\\0\u{e9}{}#|";
    assert_eq!(steps(escapes), (vec![text(b"\\\"*.$A\xff\n\r\t\0\xc3\xa9{}#|")], false));
}

#[test]
fn a_mistake_is_shown_with_its_line_and_what_is_allowed() {
    let text = "application x {\n    port 9000\r\n    id 256\n    default group shard\n    message m = 1 {\n        field key = 1\n        \
                rule r: kex ~ \"a\" -> queue 1\n    }\n}\ngroup shards { queue 1 }\n";
    let expected = "error[E0852]: id is 256, expected 0 to 255\n --> m.l7:3:8\n  |\n3 |     id 256\n  |        ^^^\n\n\
                    error[E0853]: unknown group `shard`, expected one of shards\n --> m.l7:4:19\n  |\n4 |     default group shard\n  \
                    |                   ^^^^^\n\nerror[E0853]: unknown field `kex`, expected one of key\n --> m.l7:7:17\n  |\n7 |         \
                    rule r: kex ~ \"a\" -> queue 1\n  |                 ^^^";
    assert_eq!(read("m.l7", text).unwrap_err().to_string(), expected);
}

/// One line inside of a message type, the code it gives, and the column.
#[test]
fn each_mistake_has_its_code_and_its_place() {
    let long = "x".repeat(256);
    let skips = ".{255}.";
    let stops = format!("{}*/*/", "x".repeat(254));
    let stops = &stops[..];
    let name = "n".repeat(64);
    for (line, code, column) in [
        ("rule a ~ \"*x\" -> drop", "E0856", 11),
        ("rule a ~ \"/*a/\" -> drop", "E0856", 12),
        ("rule a ~ \"**/\" -> drop", "E0856", 11),
        ("rule a ~ \"*$\" -> drop", "E0856", 11),
        ("rule a ~ \".*.{2}\" -> drop", "E0856", 11),
        ("rule a ~ \"\u{e9}*\u{e9}\" -> drop", "E0856", 12),
        ("rule a ~ \"a$b\" -> drop", "E0857", 12),
        ("rule a ~ \"ab\\d\" -> drop", "E0857", 13),
        ("rule a ~ \"\\x4\" -> drop", "E0857", 11),
        ("rule a ~ \"\\x+4\" -> drop", "E0857", 11),
        ("rule a ~ \"\\x\u{e9}\" -> drop", "E0857", 11),
        ("rule a ~ \".{0}\" -> drop", "E0857", 11),
        ("rule a ~ \".{256}\" -> drop", "E0857", 11),
        ("rule a ~ \".{}\" -> drop", "E0857", 11),
        ("rule a ~ \".{+1}\" -> drop", "E0857", 11),
        ("rule a ~ \".{1\" -> drop", "E0857", 11),
        (&format!("rule a ~ \"{long}\" -> drop"), "E0858", 10),
        (&format!("rule a ~ \"{skips}\" -> drop"), "E0858", 10),
        (&format!("rule a ~ \"{stops}\" -> drop"), "E0858", 10),
        ("rule a ~ \"a\0b\" -> drop", "E0850", 10),
        ("rule a ~ \"a -> drop", "E0850", 10),
        ("rule a ~ 'a' -> drop", "E0850", 10),
        (&format!("field {name} = 3"), "E0850", 7),
        ("rule a ~ \"x\" -> queue 256", "E0852", 23),
        ("field c = 0", "E0852", 11),
        ("field c = 16", "E0852", 11),
        ("rule c ~ \"x\" -> queue 1", "E0853", 6),
        ("rule a ~ \"x\" -> group g", "E0853", 23),
        ("field c = 2", "E0854", 11),
        ("field a = 3", "E0854", 7),
        ("rule a ~ \"x\" and a ~ \"y\" -> drop", "E0854", 18),
        ("rule r: a ~ \"x\" -> drop rule r: a ~ \"y\" -> drop", "E0854", 30),
        ("rule a ~ -> drop", "E0851", 10),
        ("rule a \"x\" -> drop", "E0851", 8),
        ("rule a ~ \"x\" drop", "E0851", 14),
        ("rule a ~ \"x\" | -> drop", "E0851", 16),
        ("rule a ~ \"x\" -> 4", "E0851", 17),
        ("rule a ~ \"x\" -> queue x", "E0851", 23),
        ("expire 1s", "E0851", 1),
        ("fields", "E0851", 1),
        ("field c", "E0851", 1),
    ] {
        let found = errors(&with(line));
        // What a line lacks is told at the word behind it.
        let expected = if line == "field c" { (code.to_string(), 5, 1) } else { (code.to_string(), 4, column) };
        assert_eq!(found, [expected], "{line}");
    }
}

#[test]
fn what_an_application_lacks_or_has_twice_is_told() {
    let code = |text: &str| errors(text);
    let one = |code: &str, line, column| vec![(code.to_string(), line, column)];
    assert_eq!(code("# nothing\n"), one("E0855", 1, 1));
    assert_eq!(code("application x { id 1 default drop }"), one("E0855", 1, 13));
    assert_eq!(code("application x { port 1 default drop }"), one("E0855", 1, 13));
    assert_eq!(code("application x { port 1 id 1 }"), one("E0855", 1, 13));
    assert_eq!(code("raw x { port 1 }"), one("E0855", 1, 5));
    assert_eq!(code("raw x { port 1 id 1 default drop }"), one("E0851", 1, 16));
    assert_eq!(code("raw x { port 1\nexpire 1s\ndefault drop }"), one("E0851", 2, 1));
    assert_eq!(code("endpoint 1 -> drop"), one("E0851", 1, 15));
    assert_eq!(code("endpoint 0 -> queue 1"), one("E0852", 1, 10));
    assert_eq!(code("endpoint 65536 -> queue 1"), one("E0852", 1, 10));
    assert_eq!(code("endpoint 1 -> queue 1 endpoint 1 -> queue 1"), one("E0854", 1, 32));
    let app = |id, port| format!("application x{id}p{port} {{ port {port} id {id} default drop }}\n");
    assert_eq!(code(&(app(1, 7) + &app(2, 7) + &app(1, 7))).len(), 2, "name, and port with ID");
    rules(&(app(1, 7) + &app(2, 7) + &app(1, 8)));
    assert_eq!(code(&(app(1, 7) + "raw r { port 7 default drop }")), one("E0854", 2, 14));
    assert_eq!(code(&("raw r { port 7 default drop }\n".to_string() + &app(3, 7))), one("E0854", 2, 25));
    assert_eq!(code("raw x { port 1 port 2 default drop }"), one("E0854", 1, 16));
    assert_eq!(code("raw x { port 1 stop \"/\" \"?\" \"#\" default drop }"), one("E0858", 1, 29));
    assert_eq!(code("raw x { port 1 stop \"/\" \"/\" default drop }"), one("E0854", 1, 25));
    assert_eq!(code("raw x { port 1 stop \"ab\" default drop }"), one("E0857", 1, 21));
    rules("raw x { port 1 stop \".\" \"\\x00\" default drop rule \"*\\..*\\0\" -> queue 255 }");
    let timed = |time: &str| format!("application x {{ port 1 id 1 default drop expire {time} }}");
    assert_eq!(code(&timed("255ns")), one("E0852", 1, 49));
    assert_eq!(code(&timed("5s")), one("E0852", 1, 49));
    assert_eq!(code(&timed("250")), one("E0851", 1, 49));
    assert_eq!(rules(&timed("256ns")).applications[0].expiry_ns, Some(256));
    let typed = |types: &str| format!("application x {{ port 1 id 1 default drop {types} }}");
    assert_eq!(code(&typed("message a = 1 { } message b = 1 { }")), one("E0854", 1, 72));
    assert_eq!(code(&typed("message a = 1 { } message a = 2 { }")), one("E0854", 1, 68));
    assert_eq!(code(&typed("message a = 256 { }")), one("E0852", 1, 54));
    let sorted = rules(&typed("message a = 9 { field q = 7 field r = 2 } message b = 1 { }"));
    let types = &sorted.applications[0].types;
    assert_eq!((types[0].number, &types[1].fields), (1, &vec![("r".into(), 2), ("q".into(), 7)]));
}

#[test]
fn a_group_has_1_to_16_queues_and_a_field_that_is_the_same_for_all_who_go_there() {
    let queues = |n: usize| "queue 7 ".repeat(n);
    let group = |n, by: &str| with("rule a ~ \"x\" -> group g") + &format!("group g {by} {{ {} }}", queues(n));
    rules(&group(16, ""));
    assert_eq!(errors(&group(17, ""))[0].0, "E0858");
    assert_eq!(errors(&group(0, ""))[0].0, "E0855");
    assert_eq!(rules(&group(1, "by b")).groups[0].field, Some(2));
    assert_eq!(rules(&group(1, "by 1")).groups[0].field, Some(1));
    assert_eq!(rules(&group(1, "by message")).groups[0].field, None);
    assert_eq!(errors(&group(1, "by 16"))[0].0, "E0852");
    assert_eq!(errors(&group(1, "by 3")), [("E0859".to_string(), 4, 23)]);
    assert_eq!(errors(&group(1, "by c")).len(), 2, "the rule has no such field, and nobody has");
    let twice = "group g { queue 1 } group g { queue 2 }";
    assert_eq!(errors(&(with("") + twice))[0], ("E0854".to_string(), 6, 27));
    let two = |second: u8, default: &str| {
        format!(
            "application x {{ port 1 id 1 default {default} message m = 0 {{ field a = 1 rule a ~ \"x\" -> group g }}\n\
             message n = 1 {{ field z = 1 field a = {second} }} }} group g by a {{ queue 1 }}"
        )
    };
    // Message type n does not go there but by the default.
    assert_eq!(rules(&two(2, "drop")).groups[0].field, Some(1));
    assert_eq!(errors(&two(2, "group g")), [("E0859".to_string(), 2, 56)]);
    let raw = rules("raw r { port 1 default group g } group g by payload { queue 1 }");
    assert_eq!(raw.groups[0].field, Some(1));
    let many: String = (0..257).map(|n| format!("group g{n} {{ queue 1 }}\n")).collect();
    assert_eq!(errors(&(with("") + &many)), [("E0858".to_string(), 6 + 256, 7)]);
}

#[test]
fn mistakes_are_found_all_at_once_and_reading_goes_on_behind_each() {
    let text = "applications {\n}\napplication a {\n  port 0\n  prot 1\n  id 1\n  default quue 1\n  stop 5\n  message m = 1 {\n    \
                field k 1\n    field j = 2\n    rule j ~ \"*\\\" -> drop\n    rule j ~ \"ok\" queue 2\n    rule i ~ \"a\" -> drop\n  }\n\
                group g {\n  queue 1\n  queueue 2\n  queue 300\n}\n}\nendpoint x -> queue 1\nendpoint 2 -> queue 1\n";
    let lines: Vec<_> = errors(text).into_iter().map(|(code, line, _)| (code, line)).collect();
    let expected = [
        ("E0851", 1),
        ("E0852", 4),
        ("E0851", 5),
        ("E0851", 7),
        ("E0851", 8),
        ("E0851", 10),
        ("E0850", 12),
        ("E0851", 13),
        ("E0851", 16),
        ("E0851", 18),
        ("E0852", 19),
        ("E0851", 21),
        ("E0851", 22),
    ];
    assert_eq!(lines, expected.map(|(code, line)| (code.to_string(), line)));
}

#[test]
fn blocks_in_what_cannot_be_read_are_passed_with_it() {
    let text = "application a {\n  port 1 id 1 default drop\n  mesage m = 1 {\n    field f = 1\n    rule f ~ \"x\" -> drop\n  }\n  \
                idd 2\n  message n = 2 { fild f = 1 }\n}\n";
    let lines: Vec<_> = errors(text).into_iter().map(|(code, line, _)| (code, line)).collect();
    assert_eq!(lines, [3, 7, 8].map(|line| ("E0851".to_string(), line)));
}

#[test]
fn a_file_is_utf8_and_of_bounded_size_and_mistakes_are_at_most_twenty() {
    let error = |bytes: &[u8]| read_bytes("m.l7", bytes).unwrap_err();
    let found = error(b"raw x {\n  port \xff\n}").to_string();
    assert!(
        found.starts_with("error[E0850]: found byte 0xff, with which the file is no UTF-8, expected text"),
        "{found}"
    );
    assert!(found.contains(" --> m.l7:2:8\n"), "{found}");
    let mut long = with("").into_bytes();
    long.resize(1 << 20, b' ');
    assert!(read_bytes("m.l7", &long).is_ok());
    long.push(b' ');
    assert_eq!(error(&long).code(), "E0858");
    assert_eq!(error("endpoint x\n".repeat(10_000).as_bytes()).0.len(), 20);
    assert!(read("m.l7", &format!("\u{feff}{}", with("").replace('\n', "\r\n"))).is_ok());
}

/// Lines of rules that never win, each with the one in front of it.
fn shadowed(rules: &str) -> Vec<(u32, u32)> {
    let text = format!(
        "application a {{\nport 9000 id 1 stop \"/\" default queue 0\nmessage m = 1 {{ field f = 1 field g = 2\n{rules}\n}}\n}}\n"
    );
    let rules = read("a.l7", &text).unwrap_or_else(|e| panic!("{e}"));
    rules.shadowed().iter().map(|s| (s.line, s.by_line)).collect()
}

#[test]
fn rules_that_can_never_win_are_told_and_no_others() {
    let never = [
        "rule x: f ~ \"ab\" -> queue 1\nrule y: f ~ \"abc\" -> queue 2",
        "rule x: f ~ \"ab\" -> queue 1\nrule y: f ~ \"ab$\" -> queue 2",
        "rule x: f ~ \".b\" -> queue 1\nrule y: f ~ \"ab\" | \"cb$\" -> queue 2",
        "rule x: f ~ \"*/\" -> queue 1\nrule y: f ~ \"*/x\" and g ~ \"z\" -> queue 2",
        "rule x: f ~ \"a\" | \"b\" -> queue 1\nrule y: f ~ \"bc\" -> queue 2",
    ];
    for rules in never {
        assert_eq!(shadowed(rules), [(5, 4)], "{rules}");
    }
    let some = [
        "rule x: f ~ \"abc\" -> queue 1\nrule y: f ~ \"ab\" -> queue 2",
        "rule x: f ~ \"ab$\" -> queue 1\nrule y: f ~ \"ab\" -> queue 2",
        "rule x: f ~ \"ab$\" -> queue 1\nrule y: f ~ \"abc$\" -> queue 2",
        "rule x: f ~ \"ab\" and g ~ \"z\" -> queue 1\nrule y: f ~ \"ab\" -> queue 2",
        "rule x: f ~ \"ab\" -> queue 1\nrule y: g ~ \"ab\" -> queue 2",
        "rule x: f ~ \"a\" -> queue 1\nrule y: f ~ \"ab\" | \"c\" -> queue 2",
        "rule x: f ~ \"a\" -> queue 1\nrule y: f ~ \".\" -> queue 2",
        "rule x: f ~ \".\" -> queue 1\nrule y: f ~ \"*/\" -> queue 2",
    ];
    for rules in some {
        assert_eq!(shadowed(rules), [], "{rules}");
    }
}

#[test]
fn what_is_told_to_never_win_never_does() {
    let mut rng = Rng::new(test_seed("what_is_told_to_never_win_never_does"));
    let (mut told, mut files) = (0, 0);
    while told < 40 && files < 20_000 {
        files += 1;
        // As a file, so that rules have lines.
        let rules = sluice_l7::testing::rules(&mut rng, &sluice_l7::testing::Limits::default()).to_string();
        let rules = read("x.l7", &rules).unwrap();
        let shadowed = rules.shadowed();
        if shadowed.is_empty() {
            continue;
        }
        told += shadowed.len();
        let ports = sluice_l7::message::Ports::of(&rules);
        for _ in 0..200 {
            for frame in sluice_l7::testing::frames(&mut rng, &rules, Default::default()) {
                let sluice_l7::message::Sort::Packet(packet) = sluice_l7::message::filter(&frame, &ports) else {
                    continue;
                };
                let Some(view) = &packet.view else { continue };
                let application = &rules.applications[packet.application];
                let header = packet.header;
                let message = sluice_l7::oracle::Message {
                    msg_type: header.msg_type,
                    session: header.session,
                    msg_id: header.msg_id,
                    view: Some(view),
                };
                let Some(won) = sluice_l7::oracle::decide(&rules, application, &message).rule else { continue };
                let types =
                    application.types.iter().filter(|t| t.number == header.msg_type || application.types.len() == 1);
                let line = types.map(|t| t.rules[won].line).next();
                assert!(shadowed.iter().all(|s| Some(s.line) != line), "{rules}");
            }
        }
    }
    assert!(told > 0, "{files} files");
}
