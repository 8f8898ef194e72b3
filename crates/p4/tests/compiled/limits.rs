//! Large programs: each is compiled and right, or refused in words, and soon.

use crate::compare::{ALONE, Came, PORTS, run};
use sluice_formats::random::{Rng, test_seed};
use std::time::{Duration, Instant};

/// The most that one may take here, without optimisation and beside other tests; `cargo bench --bench compile` measures.
const MOST: Duration = Duration::from_secs(20);

/// A program around headers, a parser's states and a control; `h` is its first header.
pub fn program(headers: &str, fields: &str, states: &str, locals: &str, apply: &str, emits: &str) -> String {
    format!(
        "#include <v1model.p4>
{headers}
struct headers_t {{ {fields} }}
struct meta_t {{ bit<16> a; }}
parser Parse(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{ {states} }}
control Verify(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control In(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{ {locals} apply {{ {apply} }} }}
control Out(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{ apply {{ }} }}
control Update(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control Deparse(packet_out packet, in headers_t hdr) {{ apply {{ {emits} }} }}
V1Switch(Parse(), Verify(), In(), Out(), Update(), Deparse()) main;
"
    )
}

pub const HEADER: &str = "header h_t { bit<16> a; bit<8> b; bit<8> c; }";
pub const START: &str = "state start { packet.extract(hdr.h); transition accept; }";

/// With one header of 4 bytes.
pub fn simple(locals: &str, apply: &str) -> String {
    program(HEADER, "h_t h;", START, locals, apply, "packet.emit(hdr);")
}

/// The code with which it is refused, or nothing if it is right.
fn came(program: &str) -> Option<String> {
    let mut rng = Rng::new(test_seed("compile_limits"));
    let packets: Vec<(u16, Vec<u8>)> = (0..500)
        .map(|number| {
            let mut bytes = rng.bytes(300);
            // Half of them are small numbers, as the programs have them.
            if number % 2 == 0 {
                bytes[0] = (number / 2 % 5) as u8;
            }
            (number % PORTS, bytes)
        })
        .collect();
    let begin = Instant::now();
    let came = run(program, "", ALONE, &packets);
    assert!(begin.elapsed() < MOST, "{:?}", begin.elapsed());
    match came {
        Came::Agreed(sent) => {
            assert!(sent > 0);
            None
        }
        Came::Refused(why) => Some(why[..11].to_string()),
        other => panic!("{other:?}"),
    }
}

const REFUSED: &str = "error[E0770";

#[test]
fn const_entries_up_to_what_a_stage_holds_are_right() {
    let entries = |count: u32| {
        let all: String = (0..count).map(|at| format!("{at}: set({});", at % 251)).collect();
        let locals = format!(
            "action set(bit<8> x) {{ hdr.h.b = x; }}
            table t {{ key = {{ hdr.h.a: exact; }} actions = {{ set; NoAction; }} const entries = {{ {all} }} }}"
        );
        simple(&locals, "t.apply();")
    };
    assert_eq!(came(&entries(1)), None);
    assert_eq!(came(&entries(384)), None);
    assert_eq!(came(&entries(400)).as_deref(), Some(REFUSED));
    assert_eq!(came(&entries(1024)).as_deref(), Some(REFUSED));
}

#[test]
fn ranges_are_written_out_or_refused() {
    let ranges = |count: u32| {
        let all: String = (0..count).map(|at| format!("{}..{}: set({at});", at * 900 + 1, at * 900 + 600)).collect();
        let locals = format!(
            "action set(bit<8> x) {{ hdr.h.b = x; }}
            table t {{ key = {{ hdr.h.a: range; }} actions = {{ set; NoAction; }} const entries = {{ {all} }} }}"
        );
        simple(&locals, "t.apply();")
    };
    assert_eq!(came(&ranges(2)), None);
    assert_eq!(came(&ranges(64)).as_deref(), Some(REFUSED));
}

#[test]
fn conditions_in_conditions_are_right() {
    let nested = |depth: u32| {
        let open: String = (0..depth).map(|at| format!("if (hdr.h.a != {at}) {{ ")).collect();
        simple("", &format!("{open} hdr.h.b = 7; {}", "}".repeat(depth as usize)))
    };
    assert_eq!(came(&nested(20)), None);
    assert_eq!(came(&nested(60)), None);
}

#[test]
fn more_tables_than_stages_are_refused() {
    let tables = |count: u32| {
        let locals: String = (0..count)
            .map(|at| {
                format!(
                    "action set{at}(bit<8> x) {{ hdr.h.b = hdr.h.b + x; }}
                    table t{at} {{ key = {{ hdr.h.a: exact; }} actions = {{ set{at}; }} const entries = {{ {at}: set{at}(3); }} }}"
                )
            })
            .collect();
        let apply: String = (0..count).map(|at| format!("t{at}.apply();")).collect();
        simple(&locals, &apply)
    };
    assert_eq!(came(&tables(4)), None);
    assert_eq!(came(&tables(100)).as_deref(), Some(REFUSED));
}

#[test]
fn headers_of_any_width_are_right_or_refused() {
    let wide = |bits: u32| {
        let header = format!("header h_t {{ bit<16> a; bit<{bits}> b; }}");
        program(&header, "h_t h;", START, "", "hdr.h.a = 5;", "packet.emit(hdr);")
    };
    assert_eq!(came(&wide(1008)), None);
    assert_eq!(came(&wide(2000)).as_deref(), Some("error[E0750"));
    let added = |bits: u32| {
        let headers = format!("{HEADER} header g_t {{ bit<{bits}> b; }}");
        program(&headers, "h_t h; g_t g;", START, "", "hdr.g.setValid(); hdr.g.b = 3;", "packet.emit(hdr);")
    };
    assert_eq!(came(&added(128)), None);
    assert!(came(&added(1000)).is_some());
}

#[test]
fn ways_of_a_parser_are_right_or_refused() {
    let ways = |count: u32| {
        let cases: String = (0..count).map(|at| format!("{at}: x{at}; ")).collect();
        let mut states = format!(
            "state start {{ packet.extract(hdr.h); transition select(hdr.h.a) {{ {cases} default: accept; }} }}"
        );
        for at in 0..count {
            states += &format!("state x{at} {{ meta.a = {}; transition accept; }}", at + 1);
        }
        program(HEADER, "h_t h;", &states, "", "hdr.h.a = meta.a;", "packet.emit(hdr);")
    };
    assert_eq!(came(&ways(5)), None);
    assert_eq!(came(&ways(65)).as_deref(), Some(REFUSED));
    let loops = |size: u32| {
        let states = "state start { packet.extract(hdr.s.next); transition select(hdr.s.last.a) { 0: start; default: accept; } }";
        program("header s_t { bit<16> a; }", &format!("s_t[{size}] s;"), states, "", "", "packet.emit(hdr);")
    };
    assert_eq!(came(&loops(3)), None);
    // A longer one than the window of the parser: what comes of it has to be right.
    came(&loops(80));
}

/// Found by random programs: visits that were cut in two without end, one behind the other in a circle.
#[test]
fn bits_from_the_middle_of_a_value_are_added_to_a_cell_or_refused() {
    for bits in ["[28:13]", "[15:0]", "[31:16]", "[23:8]"] {
        let apply = format!(
            "if (hdr.h.a == 1) {{ bit<16> v; kept.read(v, 7); v = v + standard.packet_length{bits}; kept.write(7, v); hdr.h.b = v[7:0]; }}"
        );
        // Whichever it is, it ends, and what is taken is right.
        came(&simple("register<bit<16>>(16) kept;", &apply));
    }
}

/// Time that this thread had a processor for.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    Duration::from_nanos(text.split(' ').next().and_then(|first| first.parse().ok()).expect("nanoseconds"))
}

/// The most that a refusal with what would fit may take here; a release build takes at most a second.
const MOST_REFUSAL: Duration = Duration::from_secs(4);

/// Parsers of thousands of ways: headers one after the other, of which each may be followed by another one, and stacks in a row.
fn of_many_ways() -> Vec<(String, &'static str)> {
    let fields: String = (0..12).map(|at| format!("bit<8> f{at}; ")).collect();
    let stacks = |count: usize, size: usize, wide: bool| {
        let header = if wide { format!("header h_t {{ bit<16> a; {fields} }}") } else { HEADER.to_string() };
        let all: String = (0..count).map(|at| format!("h_t[{size}] s{at}; ")).collect();
        let states: String = (0..count)
            .map(|at| {
                let name = if at == 0 { "start".to_string() } else { format!("p{at}") };
                let next = if at + 1 == count { "accept".to_string() } else { format!("p{}", at + 1) };
                format!("state {name} {{ packet.extract(hdr.s{at}.next); transition select(hdr.s{at}.last.a) {{ 1: {name}; default: {next}; }} }} ")
            })
            .collect();
        let apply: String = (0..count).map(|at| format!("hdr.s{at}[0].a = 7; ")).collect();
        program(&header, &all, &states, "", &format!("{apply} standard.egress_spec = 1;"), "packet.emit(hdr);")
    };
    let chain = |count: usize| {
        let all: String = (0..count).map(|at| format!("h_t h{at}; g_t g{at}; ")).collect();
        let states: String = (0..count)
            .map(|at| {
                let name = if at == 0 { "start".to_string() } else { format!("p{at}") };
                let next = if at + 1 == count { "accept".to_string() } else { format!("p{}", at + 1) };
                format!("state {name} {{ packet.extract(hdr.h{at}); transition select(hdr.h{at}.b) {{ 1: q{at}; default: {next}; }} }}
                state q{at} {{ packet.extract(hdr.g{at}); transition {next}; }} ")
            })
            .collect();
        let headers = format!("{HEADER} header g_t {{ bit<8> a; }}");
        // Where nothing was written all ways would be one.
        let apply: String = (0..count).map(|at| format!("hdr.h{at}.a = 7; ")).collect();
        program(&headers, &all, &states, "", &format!("{apply} standard.egress_spec = 1;"), "packet.emit(hdr);")
    };
    vec![
        (stacks(2, 15, false), "paths through the parser"),
        (stacks(4, 8, false), "ways through it"),
        (stacks(3, 3, true), "which two selections of 8 bytes"),
        (chain(8), "256 paths through the parser"),
        (chain(13), "a parser with more than 1000 ways through it"),
        (stacks(6, 8, false), "more than 128 bytes are parsed"),
    ]
}

#[test]
fn parsers_of_thousands_of_ways_are_refused_soon_and_with_how_many_they_are() {
    for (text, words) in of_many_ways() {
        let program = sluice_p4::Reader::new().text("p.p4", text).check(std::path::Path::new("p.p4")).unwrap();
        let target = &sluice_rmt::target::DEFAULT;
        let begin = processor_time();
        let errors = program.compile(target, 1, 3).expect_err("it is too large");
        let told = program.with_what_fits(errors, target, (1, 3)).to_string();
        let took = processor_time() - begin;
        println!("{took:?} {told}");
        assert!(told.contains("E0770") || told.contains("E0750"), "{told}");
        assert!(told.contains(words) && took < MOST_REFUSAL, "{took:?} {told}");
    }
}
