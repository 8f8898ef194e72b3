//! What does not fit is refused at the line that a user has to change, with names: the line with `// here`.

use crate::compare::{ALONE, Came, LONG, Place, TENANT, run};
use crate::limits::{HEADER, START, program, simple};
use sluice_p4::Reader;
use sluice_rmt::target::{DEFAULT, WIDE};
use std::path::Path;
use std::time::{Duration, Instant};

/// The refusal of a program that is refused at the line with the mark.
fn refusal(text: &str, entries: &str, place: Place) -> String {
    let wanted = text.lines().position(|line| line.contains("// here")).expect("a line has the mark") + 1;
    match run(text, entries, place, &[]) {
        Came::Refused(why) => {
            assert!(why.contains(&format!("random.p4:{wanted}:")), "line {wanted} causes it, and not\n{why}\n{text}");
            why
        }
        other => panic!("{other:?}\n{text}"),
    }
}

/// It is refused there, in these words.
fn refused(text: &str, words: &[&str]) {
    let why = refusal(text, "", ALONE);
    words.iter().for_each(|word| assert!(why.contains(word), "{word} is not in\n{why}"));
}

/// Tables, each keyed by what the one before writes.
fn tables(count: u32, marked: u32) -> String {
    let one = |at: u32| {
        format!(
            "action set{at}(bit<8> x) {{ hdr.h.b = hdr.h.b + x; }}
            table t{at} {{ key = {{ hdr.h.b: exact; }} actions = {{ set{at}; }} default_action = set{at}(1); }}
"
        )
    };
    let apply = |at: u32| format!("t{at}.apply();{}\n", if at == marked { " // here" } else { "" });
    simple(&(0..count).map(one).collect::<String>(), &format!("\n{}", (0..count).map(apply).collect::<String>()))
}

#[test]
fn a_chain_is_refused_at_the_table_that_no_longer_fits() {
    let why = refusal(&tables(6, 5), "", ALONE);
    for words in ["a chain of 6 stages, and there are 5", "table `In.t0`", "table `In.t4`", "table `In.t5`"] {
        assert!(why.contains(words), "{why}");
    }
    let why = refusal(&tables(6, 3), "", TENANT);
    assert!(why.contains("a chain of 6 stages, and there are 3"), "{why}");
    assert_eq!(why.matches("table `In.").count(), 6, "{why}");
    // From the first to the last, each with its place.
    let places: Vec<Option<usize>> = (0..6).map(|at| why.find(&format!("table `In.t{at}`"))).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{why}");
    // Sixteen are shown.
    let why = refusal(&tables(20, 12), "", LONG);
    assert!(why.contains("a chain of 20 stages, and there are 12") && why.contains("and 4 more"), "{why}");
    assert_eq!(why.matches("table `In.").count(), 16, "{why}");
}

#[test]
fn a_table_in_a_condition_is_a_step_of_the_chain_where_it_is_applied() {
    let text = tables(4, 3).replace("t3.apply(); // here", "if (hdr.h.b > 3) {\n t3.apply(); // here\n }");
    let line = text.lines().position(|line| line.contains("// here")).unwrap() + 1;
    let why = refusal(&text, "", TENANT);
    assert!(why.contains(&format!("{line}:2: table `In.t3`")), "{why}");
}

#[test]
fn a_chain_goes_over_the_visit_that_holds_another_one_back() {
    let locals = "register<bit<8>>(8) r;
        action set(bit<8> x) { hdr.h.b = hdr.h.b + x; }
        table t { key = { hdr.h.b: exact; } actions = { set; } default_action = set(1); }
        table u { key = { hdr.h.b: exact; } actions = { set; } default_action = set(2); }
        action put(bit<8> x) { hdr.h.c = x; }
        table v { key = { hdr.h.b: exact; } actions = { put; } default_action = put(3); }";
    let apply = "if (hdr.h.c == 1) {
            r.read(hdr.h.b, 1);
            v.apply(); // here
        } else {
            t.apply();
            u.apply();
            r.read(hdr.h.b, (bit<32>)hdr.h.b[2:0]);
        }";
    let why = refusal(&simple(locals, apply), "", TENANT);
    for words in ["a chain of 4 stages", "table `In.t`", "table `In.u`", "a look at `In.r`", "table `In.v`"] {
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn values_that_are_too_many_are_refused_at_the_header_that_needs_most() {
    let fields: String = (0..30).map(|at| format!("bit<32> f{at}; ")).collect();
    let headers = format!("{HEADER} header g_t {{ {fields} }}");
    let states = "state start { packet.extract(hdr.h);
        packet.extract(hdr.g); // here
        transition accept; }";
    let apply: String = (0..30).map(|at| format!("hdr.g.f{at} = hdr.g.f{at} + 1;")).collect();
    let text = program(&headers, "h_t h; g_t g;", states, "", &apply, "packet.emit(hdr);");
    refused(&text, &["than there are containers", "`hdr.g` needs 30", "`hdr.g.f0`", "26 more"]);
    // Of two ways that take it the first counts.
    let states = "state start { packet.extract(hdr.h); transition select(hdr.h.c) { 1: one; default: two; } }
        state one { packet.extract(hdr.g); // here
            transition accept; }
        state two { packet.extract(hdr.g);
            transition accept; }";
    let text = program(&headers, "h_t h; g_t g;", states, "", &apply, "packet.emit(hdr);");
    refused(&text, &["`hdr.g` needs 30"]);
    // A stack is one header.
    let fields: String = (0..10).map(|at| format!("bit<32> f{at}; ")).collect();
    let headers = format!("{HEADER} header g_t {{ {fields} }}");
    let states = "state start { packet.extract(hdr.h);
        packet.extract(hdr.g[0]); // here
        packet.extract(hdr.g[1]); packet.extract(hdr.g[2]); transition accept; }";
    let each = |at: u32, field: u32| format!("hdr.g[{at}].f{field} = hdr.g[{at}].f{field} + 1;");
    let apply: String = (0..3).flat_map(|at| (0..10).map(move |field| each(at, field))).collect();
    let text = program(&headers, "h_t h; g_t[3] g;", states, "", &apply, "packet.emit(hdr);");
    refused(&text, &["`hdr.g` needs ", "`hdr.g[0].f0`"]);
}

#[test]
fn ways_without_end_are_refused_where_they_part() {
    let headers = "header h_t { bit<16> a; bit<8> b; bit<8> c; } header g_t { bit<16> x; bit<16> y; }";
    let ifs: String =
        (0..14).map(|at| format!("if (hdr.h.a[{at}:{at}] == 1) {{ hdr.h.b = hdr.h.b + {at}; }}\n")).collect();
    let ifs = ifs.replacen("hdr.h.b + 13; }", "hdr.h.b + 13; } // here", 1);
    let text = program(headers, "h_t h; g_t g;", START, "", &ifs, "packet.emit(hdr);");
    refused(&text, &["ways through it"]);
}

/// Took 45 seconds and 1.5 GB before.
#[test]
fn stacks_that_are_too_long_are_refused_at_once() {
    let headers = "header h_t { bit<16> a; bit<16> b; }";
    let states = "state start { packet.extract(hdr.g[0]); // here\n transition accept; }";
    let text = program(headers, "h_t[65536] g;", states, "", "", "packet.emit(hdr);");
    refused(&text, &["fields of headers and metadata", "up to 32768"]);
}

#[test]
fn a_parser_is_refused_where_the_way_that_is_too_many_ends() {
    let ways = |count: u32, marked: u32| {
        let cases: String = (0..count).map(|at| format!("{at}: x{at}; ")).collect();
        let mut states = format!(
            "state start {{ packet.extract(hdr.h); transition select(hdr.h.a) {{ {cases} default: accept; }} }}"
        );
        for at in 0..count {
            let mark = if at == marked { " // here" } else { "" };
            states += &format!("state x{at} {{ meta.a = {}; transition accept; }}{mark}\n", at + 1);
        }
        program(HEADER, "h_t h;", &states, "", "hdr.h.a = meta.a;", "packet.emit(hdr);")
    };
    refused(&ways(40, 16), &["paths through the parser, and there are 16"]);
}

#[test]
fn packets_that_grow_by_more_than_64_bytes_are_refused_at_the_header_that_is_new() {
    let headers = format!("{HEADER} header g_t {{ bit<520> x; }}");
    let emits = "packet.emit(hdr.h);
        packet.emit(hdr.g); // here
        ";
    let text = program(&headers, "h_t h; g_t g;", START, "", "hdr.g.setValid(); hdr.g.x = 3;", emits);
    refused(&text, &["grow or shrink by 65 bytes", "`hdr.g` is new, 65 bytes"]);
    let states = "state start { packet.extract(hdr.h);
        packet.extract(hdr.g); // here
        transition accept; }";
    let text = program(&headers, "h_t h; g_t g;", states, "", "hdr.g.setInvalid();", "packet.emit(hdr);");
    refused(&text, &["grow or shrink by -65 bytes", "`hdr.g` does not go out"]);
}

#[test]
fn ways_to_put_a_packet_together_are_refused_at_a_header_that_parts_them() {
    let many: String = (0..6).map(|at| format!("g_t g{at}; ")).collect();
    let set: String = (0..6)
        .map(|at| format!("if (hdr.h.a[{at}:{at}] == 1) {{ hdr.g{at}.setValid(); hdr.g{at}.x = {at}; }}\n"))
        .collect();
    let emits = "packet.emit(hdr.h);
        packet.emit(hdr.g0); // here
        packet.emit(hdr.g1);
        packet.emit(hdr.g2);
        packet.emit(hdr.g3);
        packet.emit(hdr.g4);
        packet.emit(hdr.g5);";
    let headers = format!("{HEADER} header g_t {{ bit<16> x; }}");
    let text = program(&headers, &format!("h_t h; {many}"), START, "", &set, emits);
    refused(&text, &["ways to put packets together", "`hdr.g0`", "in some of them and not in others"]);
}

#[test]
fn cells_that_are_too_many_are_refused_at_the_array_that_has_most() {
    let locals = "register<bit<32>>(100) few; register<bit<32>>(60000) many;";
    let apply = "bit<32> x; few.read(x, 1); hdr.h.b = x[7:0];
        bit<32> y;
        many.read(y, (bit<32>)hdr.h.a); // here
        hdr.h.c = y[7:0];";
    refused(&simple(locals, apply), &["60000 cells in one stage", "`In.many` has 60000"]);
    let locals = "register<bit<32>>(8) twice;";
    let apply = "bit<32> x;
        twice.read(x, 1); // here
        twice.write(x & 7, 5);";
    refused(&simple(locals, apply), &["looks at in two stages: `In.twice`"]);
}

#[test]
fn entries_that_are_too_many_are_refused_where_their_table_is_applied() {
    let all: String = (0..400).map(|at| format!("{at}: set({});", at % 251)).collect();
    let locals = format!(
        "action set(bit<8> x) {{ hdr.h.b = x; }}
        table few {{ key = {{ hdr.h.c: exact; }} actions = {{ set; NoAction; }} const entries = {{ 1: set(1); }} }}
        table many {{ key = {{ hdr.h.a: exact; }} actions = {{ set; NoAction; }} const entries = {{ {all} }} }}"
    );
    let apply = "if (hdr.h.a == 5) { few.apply(); } else {
        many.apply(); // here
        }";
    refused(&simple(&locals, apply), &["entries in stage", "table `In.many` has 400"]);
    // Where it is first.
    let apply = "if (hdr.h.a == 5) {
        many.apply(); // here
        } else { hdr.h.c = 9;
        many.apply(); }";
    refused(&simple(&locals, apply), &["entries in stage", "table `In.many` has 400"]);
}

#[test]
fn keys_that_are_too_wide_are_refused_with_their_names() {
    let headers = "header h_t { bit<48> a; bit<48> b; bit<48> c; bit<48> d; bit<32> e; bit<8> f; bit<8> g; }";
    let locals =
        "table t { key = { hdr.h.a: exact; hdr.h.b: exact; hdr.h.c: exact; hdr.h.d: exact; } actions = { NoAction; } }";
    let apply = "if (t.apply().hit) { hdr.h.f = 1; } // here
        ";
    let text = program(headers, "h_t h;", START, locals, apply, "packet.emit(hdr);");
    refused(&text, &["more containers than it looks at", "`hdr.h.a`", "`hdr.h.d`"]);
}

#[test]
fn what_cannot_be_read_is_refused_where_it_is_read() {
    let apply = "hdr.h.c = 1;
        hdr.h.b = standard.deq_timedelta[7:0]; // here
        ";
    refused(&simple("", apply), &["deq_timedelta"]);
    let apply = "hdr.h.c = hdr.h.c + 1;
        hdr.h.b = standard.deq_timedelta[7:0]; // here
        ";
    refused(&simple("", apply), &["deq_timedelta"]);
    // Of several statements that write a field it is the one that reads this.
    let apply = "if (hdr.h.c == 1) { hdr.h.b = 3; } else {
        hdr.h.b = standard.deq_timedelta[7:0]; // here
        }";
    refused(&simple("", apply), &["deq_timedelta"]);
}

#[test]
fn what_entries_ask_for_is_refused_at_its_object() {
    let group = simple("", "hdr.h.b = 1;\n standard.mcast_grp = 1; // here\n");
    let why = refusal(
        &group,
        "mc_mgrp_create 1\nmc_node_create 0 2 2\nmc_node_create 1 2\nmc_node_associate 1 0\nmc_node_associate 1 1",
        ALONE,
    );
    assert!(why.contains("port 2 in group 1"), "{why}");
    let meter = simple("meter(8, MeterType.packets) m; // here\n", "m.execute_meter((bit<32>)hdr.h.a[2:0], hdr.h.b);");
    let why = refusal(&meter, "meter_set_rates In.m 1 0.5:1 0.5:2", ALONE);
    assert!(why.contains("rates of a meter"), "{why}");
    let cells = simple(
        "counter(8, CounterType.packets) c; action n(bit<32> at) { c.count(at); }
        table t { key = { hdr.h.a: exact; } actions = { n; NoAction; } }",
        "hdr.h.b = 1;\n t.apply(); // here\n",
    );
    let why = refusal(&cells, "add t hdr.h.a:1 n(at:9)", ALONE);
    assert!(why.contains("table `In.t` for 9, and there are 0 to 7"), "{why}");
}

/// What is told of a program that does not fit the stages of a tenant.
fn told(text: &str) -> Vec<String> {
    told_of(text, TENANT)
}

/// The same of other stages.
fn told_of(text: &str, (target, first, last): Place) -> Vec<String> {
    let program = Reader::new().text("random.p4", text).check(Path::new("random.p4")).unwrap();
    assert_eq!(program.compile(target, first, last).err().map(|errors| errors.code()), Some("E0770"));
    let begin = Instant::now();
    let notes = program.would_fit(target, first, last);
    assert!(begin.elapsed() < MOST, "{:?}", begin.elapsed());
    notes.into_iter().map(|note| format!("{} {}", note.place.unwrap_or_default(), note.text)).collect()
}

/// Without optimisation and beside other tests; `cargo bench --bench compile` measures.
const MOST: Duration = Duration::from_secs(20);

#[test]
fn what_is_told_to_fit_does_fit() {
    let text = tables(4, 3);
    let notes = told(&text);
    assert_eq!(notes[0], " --stages 0-4 takes it as it is");
    assert_eq!(notes[1], " --target wide --stages 1-10 takes it as it is");
    let without: Vec<&String> = notes[2..].iter().collect();
    assert_eq!(without.len(), 3, "{notes:?}");
    // Each of them, left out, gives a program that compiles.
    for note in without {
        assert!(note.ends_with("without this statement it fits"), "{note}");
        let line: usize = note.split(':').nth(1).unwrap().parse().unwrap();
        let lines = text.lines().enumerate().filter(|(at, _)| at + 1 != line).map(|(_, text)| text);
        let less = lines.collect::<Vec<_>>().join("\n");
        let program = Reader::new().text("random.p4", less).check(Path::new("random.p4")).unwrap();
        assert!(program.compile(&DEFAULT, 1, 3).is_ok(), "{note}");
    }
    // Of eleven tables in a row no single one is too many, and `wide` has ten stages.
    let notes = told(&tables(11, 3));
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("--stages 0-4 does not take it either: ") && notes[0].contains("a chain of 11 stages"));
    assert!(notes[1].contains("--target wide --stages 1-10 does not take it either"));
}

#[test]
fn other_stages_than_those_that_were_asked_for_are_told() {
    let takes = " --target wide --stages 1-10 takes it as it is";
    let notes = told_of(&tables(7, 3), ALONE);
    assert_eq!(notes[0], takes, "{notes:?}");
    assert!(!notes.iter().any(|note| note.contains("--stages 0-4")), "{notes:?}");
    let notes = told(&tables(7, 3));
    assert!(notes[0].contains("--stages 0-4 does not take it either") && notes[1] == takes, "{notes:?}");
    let notes = told_of(&tables(11, 3), (&WIDE, 1, 10));
    assert_eq!(notes[0], " --stages 0-11 takes it as it is");
    assert!(!notes.iter().any(|note| note.contains("--target wide")), "{notes:?}");
}

#[test]
fn an_exit_is_not_told_to_be_left_out() {
    // Without it the program would fit, but do something else for packets that end there now.
    let text = tables(6, 9)
        .replace("t0.apply();", "if (hdr.h.b + hdr.h.c == 3) {\nexit; // exit\n}\nif (hdr.h.a == 5) {\nt0.apply();")
        .replace("t3.apply();", "} else {\nt3.apply();")
        .replace("t5.apply();", "t5.apply(); }");
    let line = |words| text.lines().position(|line| line.contains(words)).unwrap() + 1;
    let notes = told(&text);
    let at = |line: usize| notes.iter().any(|note| note.starts_with(&format!("random.p4:{line}:")));
    assert!(at(line("hdr.h.c == 3")) && !at(line("// exit")), "{notes:?}");
}

/// What is told of a program of programs/p4 with some flags, for a place.
fn told_of_a_classic(name: &str, (target, first, last): Place) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/p4").join(name);
    let program = Reader::new().check(&path).unwrap();
    program.would_fit(target, first, last).into_iter().map(|note| note.text).collect()
}

#[test]
fn the_flag_that_makes_it_fit_is_told_with_the_largest_number() {
    for (name, words) in
        [("mri.p4", "with --bound traces=8 it fits"), ("link_monitor.p4", "with --bound data=3 --bound way=3 it fits")]
    {
        let notes = told_of_a_classic(name, ALONE);
        assert!(notes.iter().any(|note| note == words), "{name}: {notes:?}");
    }
    let arrays = "register<bit<32>>(8192) r;";
    let text = simple(arrays, "r.write((bit<32>) hdr.h.a, 1); // here\n");
    assert!(told_of(&text, ALONE).contains(&" with --cells r=4096 it fits".to_string()), "{:?}", told_of(&text, ALONE));
    // Where no number helps, none is told.
    assert!(!told(&tables(4, 3)).iter().any(|note| note.contains("--") && note.contains("it fits")));
}

#[test]
fn what_the_pipeline_cannot_say_of_queues_is_refused_by_name() {
    for name in ["enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth"] {
        let program = crate::compare::framed("", &format!("standard.egress_spec = 1; hdr.h.a = standard.{name}[7:0];"));
        let errors = program.compile(&sluice_rmt::target::WIDE, 0, 11).expect_err(name).to_string();
        assert!(errors.contains("E0750") && errors.contains(&format!("reads {name}")), "{errors}");
    }
}
