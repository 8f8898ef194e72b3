//! Programs that once gave another packet on the pipeline than the reference does, each as small as it shows.

use sluice_formats::random::{Rng, test_seed};
use sluice_p4::stf::Script;
use sluice_p4::{Model, Program, Reader, Undefined};
use sluice_rmt::target::DEFAULT;
use std::path::Path;

/// Packets for each program.
const PACKETS: usize = 2_000;

/// Sends packets of a few bytes through a program: `apply` works on a header of three, `locals` are its control's own.
fn agree(locals: &str, apply: &str, entries: &str) {
    let frame = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/bytes.p4");
    let reader = Reader::new().define("LOCALS", locals).define("APPLY", apply);
    same(&reader.check(&frame).unwrap_or_else(|errors| panic!("{errors}")), entries);
}

/// The same with a parser of these states; there are two headers of three bytes, and metadata.
fn parsed(states: &str, apply: &str) {
    let frame = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run/bytes.p4");
    let text = std::fs::read_to_string(frame).unwrap();
    let (begin, rest) = text.split_once("    state start {").unwrap();
    let (_, end) = rest.split_once("    }\n").unwrap();
    let text = format!("{begin}{states}{end}")
        .replace("h_t h;", "h_t h; h_t g;")
        .replace("struct meta_t {}", "struct meta_t { bit<8> a; bit<16> b; bit<8> c; }")
        .replace("packet.emit(hdr.h);", "packet.emit(hdr);");
    let reader = Reader::new().define("LOCALS", "").define("APPLY", apply).text("frame.p4", text);
    same(&reader.check(Path::new("frame.p4")).unwrap_or_else(|errors| panic!("{errors}")), "");
}

fn same(program: &Program, entries: &str) {
    let mut reference = program.reference(Undefined::Zero, 1).unwrap();
    let report = Script::parse("s.stf", entries).unwrap().run(&mut reference);
    assert!(report.passed(), "{:?}", report.failures);
    let mut model = Model::new(program.compile(&DEFAULT, 0, 4).unwrap_or_else(|errors| panic!("{errors}")));
    model.load(&reference).unwrap();
    let mut rng = Rng::new(test_seed("wrong_packets"));
    for _ in 0..PACKETS {
        // Values are small, as those that the programs compare with.
        let bytes: Vec<u8> = (0..1 + rng.below(6)).map(|_| rng.below(8) as u8).collect();
        let port = rng.below(8) as u16;
        let expected = reference.packet(port, &bytes).unwrap();
        assert_eq!(model.packet(port, &bytes), Ok(expected), "{bytes:02x?} from port {port}");
    }
}

#[test]
fn ways_whose_keys_lie_in_different_places_are_not_one() {
    let locals = "action flip() { hdr.h.b = hdr.h.b ^ 4; }
        table first { actions = { flip; } }
        action nine() { hdr.h.c = 9; }
        table second {
            key = { hdr.h.b: exact; }
            actions = { nine; NoAction; }
            const entries = { 5: nine(); }
        }";
    agree(locals, "first.apply(); second.apply();", "");
    agree(locals, "first.apply(); second.apply();", "setdefault first flip()");
}

#[test]
fn the_two_sides_of_a_condition_are_two_places() {
    agree("", "if ((hdr.h.a == 1 && hdr.h.b + 1 == 5) || (hdr.h.b + 1 == 5 && hdr.h.c == 2)) { hdr.h.c = 99; }", "");
}

#[test]
fn a_value_whose_sign_is_looked_at_is_kept_for_what_comes_next() {
    let swap = "bit<8> x = hdr.h.a; hdr.h.a = hdr.h.b; hdr.h.b = x;";
    agree(
        "",
        &format!("{swap} bit<16> w = (bit<16>)(int<16>)(int<8>)(hdr.h.a + 126); hdr.h.c = w[15:8] ^ w[7:0];"),
        "",
    );
}

#[test]
fn bytes_that_two_ways_look_at_in_other_widths_are_kept_on_both() {
    let states = "state start {
            packet.extract(hdr.h);
            transition select(hdr.h.a) { 1: one; 2: two; default: accept; }
        }
        state one { meta.a = packet.lookahead<bit<8>>(); transition accept; }
        state two { meta.b = packet.lookahead<bit<16>>(); transition accept; }";
    parsed(states, "hdr.h.b = meta.a; hdr.h.c = meta.b[7:0];");
    parsed(states, "if (meta.a == 5) { hdr.h.b = 9; } if (meta.b == 0x0304) { hdr.h.c = 9; }");
}
