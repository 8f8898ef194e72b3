//! The text form: the shipped programs and the guide, mistakes and their places.

use sluice_rmt::Program;
use sluice_rmt::action::{Cross, When, WordOp, WordSource};
use sluice_rmt::deparser::{Adjust, DeparseRow, Update};
use sluice_rmt::parser::Known;
use sluice_rmt::phv::{c4, c6};
use sluice_rmt::programs::l3_router::Route;
use sluice_rmt::programs::tunnel::{Ends, Entry};
use sluice_rmt::programs::{calc, l3_router, tunnel};
use sluice_rmt::target::DEFAULT;
use sluice_rmt::text::{Unit, print, read, read_warned};
use std::path::{Path, PathBuf};

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn shipped(name: &str) -> Unit {
    let path = project().join("programs/rmt").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    read(name, &text, &DEFAULT).unwrap_or_else(|e| panic!("{e}"))
}

/// Equal, without pages of rows when they are not.
fn assert_same(found: &Program, expected: &Program) {
    assert!(found.parser == expected.parser, "parser: {:#?}", found.parser);
    for (i, (f, e)) in found.stages.iter().zip(&expected.stages).enumerate() {
        assert!(f == e, "stage {i}: {f:#?}\nexpected {e:#?}");
    }
    assert!(found == expected, "deparser, or the number of stages");
}

#[test]
fn calc_is_the_program_that_rust_builds() {
    assert_same(&shipped("calc.rmt").program, &calc::program(1));
}

#[test]
fn the_router_is_the_program_that_rust_builds() {
    let route = |prefix, length, n: u8| Route {
        prefix,
        length,
        destination: n,
        next_hop: [2, 0, 0, 0, 1, n],
        own: [2, 0, 0, 0, 2, n],
    };
    let routes = [route([10, 0, 0, 0], 8, 0), route([10, 1, 0, 0], 16, 1), route([10, 1, 2, 3], 32, 2)];
    assert_same(&shipped("l3_router.rmt").program, &l3_router::program(1, &routes));
}

#[test]
fn the_tunnel_is_the_program_that_rust_builds() {
    let ends = Ends { here: [172, 16, 0, 1], there: [172, 16, 0, 2] };
    let into = [Entry { address: [10, 0, 0, 9], destination: 1 }];
    assert_same(&shipped("tunnel.rmt").program, &tunnel::program(1, ends, &into, 3));
}

/// Text of each block of this language.
fn blocks(page: &str) -> Vec<&str> {
    page.split("```rmt\n").skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn the_examples_of_the_guide_pass() {
    let page = std::fs::read_to_string(project().join("docs/guide/rmt.md")).unwrap();
    let all = blocks(&page);
    assert!(!all.is_empty());
    for text in all {
        read("rmt.md", text, &DEFAULT).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn the_wrong_example_of_each_page_gives_its_code_and_the_right_one_passes() {
    let mut checked = 0;
    for number in (601..620).chain([650]) {
        let code = format!("E0{number}");
        let Ok(page) = std::fs::read_to_string(project().join(format!("docs/errors/{code}.md"))) else { continue };
        assert!(page.starts_with(&format!("# {code}: ")), "{code}");
        let [wrong, right] = blocks(&page)[..] else { panic!("{code}: two examples") };
        let (warned, told) = match read_warned("wrong.rmt", wrong, &DEFAULT) {
            Ok((_, warnings)) => (true, warnings),
            Err(errors) => (false, errors.0),
        };
        assert_eq!(told.iter().map(|e| e.code()).collect::<Vec<_>>(), [code.as_str()], "{told:?}");
        assert_eq!(warned, page.contains("\nA warning; "), "{code}: the page says whether it is one");
        let (_, told) = read_warned("right.rmt", right, &DEFAULT).unwrap_or_else(|e| panic!("{code}: {e}"));
        assert!(!warned || told.is_empty(), "{code}: {told:?}");
        checked += 1;
    }
    assert_eq!(checked, 17);
}

fn errors(text: &str) -> String {
    read("m.rmt", text, &DEFAULT).unwrap_err().to_string()
}

#[test]
fn a_mistake_is_shown_with_its_line_and_what_is_allowed() {
    let text = "module m\ncontainer ttl = c2[0][15:8]\nstage 1 {\n    key tll\n    action a { ttl = 256 }\n}\n";
    let expected = "error[E0604]: unknown name `tll`, expected one of ttl\n --> m.rmt:4:9\n  |\n4 |     key tll\n  |         ^^^\n\n\
                    error[E0603]: the value is 0x100, expected at most 0xff, 8 bits\n --> m.rmt:5:22\n  |\n\
                    5 |     action a { ttl = 256 }\n  |                      ^^^";
    assert_eq!(errors(text), expected);
}

#[test]
fn what_ran_out_is_said_with_those_who_read_it() {
    let names = (0..8).map(|i| format!("a{i} = c4[{i}]")).collect::<Vec<_>>().join(", ");
    let copies = "a0 = a4; a1 = a5; a2 = a6; a3 = a7; c6[0] = hash";
    let text = format!("module m\ncontainer {names}\nstage 1 {{ action fwd {{ {copies} }} }}\n");
    let found = errors(&text);
    let expected = "error[E0610]: stage 1, action `fwd`: a further 4-byte container is read (`a4`, `a5`, `a6`, `a7`); \
                    an action has 3 picks a size, one of them with the rotator, and one cross value";
    assert!(found.starts_with(expected), "{found}");
}

#[test]
fn rules_of_the_checker_are_shown_at_the_statement_that_breaks_them() {
    let text = "module m\nparser {\n    select { * -> all }\n    path all { least 20 }\n}\ndeparser {\n    row r {\n        \
                put c4[0] @14\n        put c4[0] @20\n    }\n}\n";
    let found = errors(text);
    assert!(found.starts_with("error[E0650]: deparser.rows[0].lanes[20]: "), "{found}");
    assert!(found.contains(" --> m.rmt:9:13\n"), "{found}");
    let found = errors("module m\nstage 1 { action a { queue_depth = 1 } }");
    assert!(found.contains("a write of word 9") && found.contains(" --> m.rmt:2:22\n"), "{found}");
}

#[test]
fn at_most_twenty_mistakes_are_shown_and_reading_ends() {
    let text = format!("module m\n{}", "foo bar\n".repeat(10_000));
    assert_eq!(read("m.rmt", &text, &DEFAULT).unwrap_err().0.len(), 20);
}

/// A module that passes, with one line in place of `FORWARD`.
const SMALL: &str = "module m
group all = 1 { port0; port1 }
demands { quantum 5; queue port0 8 }
parser {
    select 12:2 { 0x0800 -> ip; 0x0806 -> arp }
    path ip { take c4[0] @26 }
    path arp { }
}
stage 1 {
    key c4[0]
    room ternary 8
    meter police words 2 rate 1M bits burst 64
    ternary {
        0x0a000000/0xffffff00 -> to(1)
        * -> to(2)
    }
    action to(where: 2) { send where }
    action both { send port0, port1 }
    action copies { group all }
}
deparser {
    when path ip -> r
    row r { }
}
";

#[test]
fn what_contradicts_itself_or_says_nothing_is_refused_with_its_place() {
    read("m.rmt", SMALL, &DEFAULT).unwrap_or_else(|e| panic!("{e}"));
    let cases = [
        ("quantum 5;", "quantum 5; quantum 6;", "E0605", "`quantum` stands before"),
        ("quantum 5;", "quantum 0;", "E0603", "1 to 65535"),
        ("quantum 5;", "rate 1G burst 64k; rate 2G burst 64k;", "E0605", "`rate` stands before"),
        ("room ternary 8", "room ternary 8\n    room ternary 16", "E0605", "`room ternary` stands before"),
        ("burst 64", "burst 4", "E0603", "the burst is 4, expected 14 to"),
        ("-> to(1)", "-> to(0)", "E0603", "1 to 255"),
        ("-> to(1)", "-> to(0xff00)", "E0603", "1 to 255"),
        ("send port0, port1", "send port0, port0", "E0603", "a destination a second time"),
        ("send port0, port1", "send 0", "E0603", "no destination"),
        ("group all }", "group 300 }", "E0603", "at most 255"),
    ];
    // Bits of a parameter say where to; what else is in it is the program's.
    let sliced = SMALL.replace("to(where: 2) { send where }", "to(where: 4) { send where[23:16] }");
    for value in ["to(0x00020055)", "to(0x0001ffff)"] {
        read("m.rmt", &sliced.replacen("to(1)", value, 1), &DEFAULT).unwrap_or_else(|e| panic!("{e}"));
    }
    for (old, new, code, part) in cases {
        let found = errors(&SMALL.replacen(old, new, 1));
        assert!(found.starts_with(&format!("error[{code}]")) && found.contains(part), "{new}: {found}");
    }
}

/// The text of a row with these lines, read.
fn row_of(lines: &str) -> Result<DeparseRow, String> {
    let text = SMALL.replacen("row r { }", &format!("row r {{\n{lines}\n}}"), 1);
    read("m.rmt", &text, &DEFAULT).map(|u| u.program.deparser.rows[0].clone()).map_err(|e| e.to_string())
}

#[test]
fn an_incremental_checksum_is_the_second_one_and_its_old_span_is_where_the_bytes_came_from() {
    let adjusted = |lines: &str| {
        let row = row_of(lines).unwrap_or_else(|e| panic!("{e}"));
        (row.checksums, row.adjust.unwrap(), row.least)
    };
    let update = |start, words, at| Some(Update { start, words, at });
    let old = |start, words, udp| Adjust { start, words, udp };
    assert_eq!(adjusted("adjust 26:16 at 40 udp"), ([None, update(26, 8, 40)], old(26, 8, true), 42));
    assert_eq!(
        adjusted("checksum 14:20 at 24; adjust 26:26 at 50"),
        ([update(14, 10, 24), update(26, 13, 50)], old(26, 13, false), 52)
    );
    // In any order; behind what is added or removed the old span is as much elsewhere, in front of it where it is.
    assert_eq!(
        adjusted("adjust 46:16 at 60 udp; grow 20 at 14; put c6[0] @14, c6[0] @20, c6[0] @26, c2[0] @32").1.start,
        26
    );
    assert_eq!(adjusted("shrink 20 at 14; adjust 26:16 at 40"), ([None, update(26, 8, 40)], old(46, 8, false), 42));
    assert_eq!(adjusted("shrink 20 at 42; adjust 26:16 at 40").1.start, 26);
    // Addresses of 32 bytes become 8: so much longer was the old span.
    assert_eq!(
        adjusted("shrink 20 at 14; put c4[0] @26, c4[1] @30; adjust 26:16 at 40 was 22:40 udp"),
        ([None, update(26, 8, 40)], old(22, 20, true), 42)
    );
}

#[test]
fn an_incremental_checksum_that_cannot_be_right_is_refused_with_its_place() {
    let cases = [
        ("adjust 26:16 at 40; adjust 26:16 at 40", "E0607", "a second `adjust`"),
        ("adjust 26:15 at 40", "E0603", "expected an even one"),
        ("adjust 26:16", "E0602", "expected `at`"),
        ("adjust 26:16 at 40 was", "E0602", "expected"),
        ("adjust 26:16 at 140", "E0603", "expected 0 to 127"),
        ("checksum 0:4 at 0; checksum 4:4 at 4; adjust 26:16 at 40", "E0607", "an `adjust` beside two checksums"),
        ("shrink 4 at 34; adjust 26:16 at 40", "E0607", "expected `was START:LENGTH`"),
        ("adjust 26:16 at 42", "E0650", "deparser.rows[0].checksums[1]: found 8 words from 26 with the sum at 42"),
        ("adjust 120:16 at 122", "E0650", "at most 63 words in the window"),
        ("adjust 26:16 at 40 was 120:16", "E0650", "deparser.rows[0].adjust: found 8 words from 120"),
        ("adjust 26:16 at 40 was 42:16", "E0650", "deparser.rows[0].adjust: found the old sum at 40"),
        ("adjust 26:16 at 40 was 27:16", "E0650", "found the old sum at 40, allowed: one of the words of 27 to 43"),
        ("checksum 26:20 at 26; adjust 26:16 at 40", "E0650", "neither sum in the other's span"),
        ("adjust 26:16 at 40 was 26:20; least 42", "E0650", "deparser.rows[0].least: found 42, allowed: at least 46"),
    ];
    for (lines, code, part) in cases {
        let found = row_of(lines).expect_err(lines);
        assert!(found.starts_with(&format!("error[{code}]")) && found.contains(part), "{lines}: {found}");
        assert!(found.contains("--> m.rmt:24:"), "{lines}: {found}");
    }
}

#[test]
fn lines_that_no_packet_meets_are_warned_of() {
    let warnings = |text: &str| match read_warned("m.rmt", text, &DEFAULT) {
        Ok((_, warnings)) => warnings.iter().map(|w| format!("{}: {}", w.position.line, w.problem)).collect::<Vec<_>>(),
        Err(e) => panic!("{e}"),
    };
    assert_eq!(warnings(SMALL), [""; 0]);
    assert!(warnings("module m\n")[0].contains("a module without parser, stage and deparser"));
    let cases = [
        ("* -> to(2)", "0x0a000001 -> to(2)", "15: found an entry that no packet meets: line 14 takes all of it"),
        ("0x0806 -> arp", "0x0806 -> arp; 0x0800 -> arp", "5: found an alternative that no packet meets: line 5"),
        (
            "when path ip -> r",
            "when path ip -> r\n    when path ip -> r",
            "23: found a `when` that no packet meets: line 22",
        ),
        (
            "select 12:2 { 0x0800 -> ip;",
            "select 12:2, 13:1 { 0x0800, 0 -> ip; 1, 1 -> ip;",
            "a byte of 13:1 a second time",
        ),
        ("0x0806 -> arp", "0x0806 -> ip", "`arp`, to which no alternative leads"),
        ("    ternary {", "    condition c = c4[0] >= 0\n    ternary {", "a comparison with 0 that all values pass"),
        (
            "    ternary {",
            "    condition c = c4[0] == 1 or not c4[0] == 1\n    ternary {",
            "a condition that always holds",
        ),
        ("send port0, port1", "send port0; discard", "where to send beside `discard`"),
    ];
    for (old, new, part) in cases {
        let text = SMALL.replacen(old, new, 1).replace("1, 1 -> ip; 0x0806 -> arp", "0x0806, 6 -> arp");
        let found = warnings(&text);
        assert!(found.iter().any(|w| w.contains(part)), "{new}: {found:?}");
    }
    for file in std::fs::read_dir(project().join("programs/rmt")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|e| e == "rmt") {
            assert_eq!(warnings(&std::fs::read_to_string(&path).unwrap()), [""; 0], "{}", path.display());
        }
    }
}

#[test]
fn what_counts_once_and_is_said_again_names_the_first_line() {
    let said = |text: &str| {
        let error = read("m.rmt", text, &DEFAULT).unwrap_err();
        (error.code(), error.to_string())
    };
    for (text, what) in [
        ("module m\nstage 1 {\n room exact 4\n room exact 8\n}\n", "`room exact` stands before, in line 3"),
        ("module m\ndemands {\n quantum 1\n quantum 2\n}\n", "`quantum` stands before, in line 3"),
        ("module m\ndemands {\n rate 1G burst 64k\n rate 2G burst 64k\n}\n", "`rate` stands before, in line 3"),
    ] {
        let (code, error) = said(text);
        assert!(code == "E0605" && error.contains(what), "{text}\n{error}");
    }
    let (code, error) = said("module m\ndemands {\n quantum 0\n}\n");
    assert!(code == "E0603" && error.contains("expected 1 to 65535"), "{error}");
}

/// A module with what P4 programs ask for; `ACTION` stands in its action.
fn by_number(action: &str) -> String {
    format!(
        "module m\nport_numbers\ncontainer kind = c2[0], from = c2[1], bytes = c2[2]\nparser {{\n    select 12:2 {{\n        \
         0x0800 least 34 -> ip\n        * -> other\n    }}\n    path ip {{ set kind = 0x12, from = ingress_port }}\n    \
         path other {{ set bytes = length }}\n}}\nstage 1 {{\n    key kind, from\n    default go\n    action go {{ {action} }}\n}}\n"
    )
}

#[test]
fn paths_know_constant_port_and_length_and_alternatives_ask_for_a_length() {
    let unit = read("m.rmt", &by_number("egress_port = from"), &DEFAULT).unwrap_or_else(|e| panic!("{e}"));
    let parser = &unit.program.parser;
    assert_eq!(parser.first.alternatives.iter().map(|a| a.least).collect::<Vec<_>>(), [34, 0]);
    let mut known = [None; 8];
    (known[0], known[1]) = (Some(Known::Constant), Some(Known::Port));
    assert_eq!((parser.paths[0].known, parser.paths[0].constant), (known, 0x12));
    assert_eq!(parser.paths[1].known[2], Some(Known::Length));
    assert!(parser.port_numbers);
    let action = &unit.program.stages[1].as_ref().unwrap().actions[0];
    let word = WordOp { word: 15, source: WordSource::P0, mask: 0x1ff, when: When::Always };
    assert_eq!((&action.words[..], action.picks[0].container[0]), (&[word][..], 1));
    let text = print(&unit, &DEFAULT);
    for line in
        ["port_numbers", "0x0800 least 34 -> ip", "set kind = 18", "set from = ingress_port", "egress_port = from"]
    {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_same(&read("m.rmt", &text, &DEFAULT).unwrap_or_else(|e| panic!("{e}")).program, &unit.program);
}

#[test]
fn words_of_the_cross_value_are_cut_where_zeros_stand_above_what_is_read() {
    let action = |text: &str| {
        let unit = read("m.rmt", &by_number(text), &DEFAULT).unwrap_or_else(|e| panic!("{e}"));
        unit.program.stages[1].as_ref().unwrap().actions[0].clone()
    };
    let cross = |text: &str| {
        let a = action(text);
        (a.cross, a.cross_shift, a.cross_cut)
    };
    assert_eq!(cross("c4[0] = length"), (Cross::Words(1), 0, 2));
    assert_eq!(cross("c4[0] = length; c2[7] = length"), (Cross::Words(1), 0, 2));
    assert_eq!(cross("c2[7] = length"), (Cross::Words(1), 0, 0));
    assert_eq!(cross("c6[0] = queueing"), (Cross::Words(5), 0, 1));
    assert_eq!(cross("c6[0] = c4[1][15:0]"), (Cross::Container(c4(1)), 0, 2));
    assert_eq!(cross("c4[0] = c6[1][31:16]"), (Cross::Container(c6(1)), 1, 1));
    assert_eq!(cross("cross words[3] >> 16 cut 2"), (Cross::Words(3), 1, 2));
    let found = errors(&by_number("c4[0] = length; c4[1] = words[1][31:0]"));
    assert!(found.contains("a second cross value is read, `words[1][31:0]`"), "{found}");
    let found = errors(&by_number("c4[0] = length[7:0]"));
    assert!(found.contains("comes with other bits of its word above its 8 bits"), "{found}");
}

#[test]
fn what_a_path_cannot_know_and_what_is_no_number_is_said_where_it_stands() {
    let path = |text: &str| errors(&by_number("discard").replace("set bytes = length", text));
    let found = path("set bytes = tenant");
    assert!(found.contains("expected a value, ingress_port or length"), "{found}");
    assert!(path("set c4[0] = 5").contains("a container of another size"));
    assert!(path("set bytes = 0x10000").contains("0x10000"));
    assert!(path("set bytes = 1, kind = 2").contains("one for all its containers"));
    assert!(path("set bytes = 1; take bytes @0").contains("this container of path `other`"));
    let found = errors("module m\nstage 1 { action a { egress_port = 1 } }");
    assert!(found.contains("`egress_port` in a module without `port_numbers`"), "{found}");
    let found = errors("module m\nport_numbers\nport_numbers\nstage 1 { action a { } }");
    assert!(found.contains("port_numbers"), "{found}");
    let found = errors(&by_number("discard").replace("least 34", "least 129"));
    assert!(found.contains("the least length is 129"), "{found}");
}

#[test]
fn an_alternative_of_long_packets_takes_nothing_from_one_of_shorter_ones() {
    let warned = |least: &str| {
        let text = by_number("discard")
            .replace("        * -> other", &format!("        0x0800{least} -> other\n        * -> other"));
        read_warned("m.rmt", &text, &DEFAULT)
            .unwrap_or_else(|e| panic!("{e}"))
            .1
            .iter()
            .map(ToString::to_string)
            .collect::<String>()
    };
    assert!(!warned("").contains("no packet meets"));
    assert!(!warned(" least 33").contains("no packet meets"));
    assert!(warned(" least 34").contains("an alternative that no packet meets: line 6 takes all of it"));
}
