//! Headers with a varbit, and `advance`, by a length that the program or some bits of the packet say.

use crate::compare::{ALONE, Came, LONG, Place, run};
use sluice_formats::random::{Rng, test_seed};

const PACKETS: usize = 2_000;

/// A program on a header with a length, one of that length, and one behind it.
fn program(fields: &str, start: &str, apply: &str, emit: &str) -> String {
    format!(
        "#include <core.p4>
        #include <v1model.p4>
        header h_t {{ bit<4> kind; bit<4> len; bit<8> a; }}
        header o_t {{ {fields} }}
        header l_t {{ bit<6> rest; bit<2> len; }}
        header t_t {{ bit<8> x; bit<8> y; }}
        struct headers_t {{ h_t h; o_t o; o_t p; t_t t; }}
        struct meta_t {{ }}
        parser p(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
            state start {{ packet.extract(hdr.h); {start} }}
            state more {{ packet.extract(hdr.t); transition accept; }}
        }}
        control v(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
        control i(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
            apply {{ standard.egress_spec = 1; {apply} }}
        }}
        control e(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{ apply {{ }} }}
        control c(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
        control d(packet_out packet, in headers_t hdr) {{ apply {{ {emit} }} }}
        V1Switch(p(), v(), i(), e(), c(), d()) main;"
    )
}

fn packets() -> Vec<(u16, Vec<u8>)> {
    let mut rng = Rng::new(test_seed("varbit"));
    let packet = |_| {
        let mut packet: Vec<u8> = (0..1 + rng.below(24)).map(|_| rng.next_u32() as u8).collect();
        packet[0] = (rng.below(3) << 4 | rng.below(6)) as u8;
        (rng.below(8) as u16, packet)
    };
    (0..PACKETS).map(packet).collect()
}

fn agrees(text: &str, places: &[Place], least: usize) {
    for place in places {
        match run(text, "", *place, &packets()) {
            Came::Agreed(sent) => assert!(sent >= least, "{sent}\n{text}"),
            other => panic!("{other:?}\n{text}"),
        }
    }
}

const EMIT: &str = "packet.emit(hdr);";
const ONE: &str = "varbit<32> v;";

#[test]
fn a_varbit_of_a_length_that_the_program_says_goes_out_as_it_came() {
    let more = "transition more;";
    for (fields, size) in
        [(ONE, 16), (ONE, 32), (ONE, 0), ("bit<8> b; varbit<32> v; bit<8> c;", 24), ("varbit<64> v;", 64)]
    {
        let start = format!("packet.extract(hdr.o, {size}); {more}");
        for apply in [
            "",
            "hdr.t.y = hdr.h.a;",
            "if (hdr.t.isValid()) { hdr.h.setInvalid(); }",
            "hdr.o.setInvalid();",
            "hdr.p = hdr.o; hdr.p.setInvalid(); hdr.t.x = 3;",
            "if (hdr.t.x == hdr.h.a) { hdr.o.setInvalid(); }",
            "if (hdr.t.isValid() && hdr.t.x > 5) { mark_to_drop(standard); }",
        ] {
            agrees(&program(fields, &start, apply, EMIT), &[ALONE, LONG], PACKETS / 8);
        }
    }
    let start = "packet.extract(hdr.o, 24); transition more;";
    for apply in
        ["hdr.o.b = hdr.o.c; hdr.o.c = hdr.t.x;", "hdr.t.x = hdr.o.c + 1;", "if (hdr.o.c == 7) { hdr.t.y = hdr.o.b; }"]
    {
        agrees(&program("bit<8> b; varbit<32> v; bit<8> c;", start, apply, EMIT), &[ALONE, LONG], PACKETS / 4);
    }
}

#[test]
fn a_length_that_the_packet_says_parts_the_way() {
    let select = "transition select(hdr.h.kind) { 0: more; default: accept; }";
    for size in [
        "(bit<32>) hdr.h.len[1:0] << 3",
        "(bit<32>) (hdr.h.len[1:0] ++ 3w0)",
        "(bit<32>) ((bit<8>) hdr.h.len[1:0] * 8)",
        "((bit<32>) hdr.h.len[0:0] + 1) << 4",
        // Too long for it, and no whole bytes.
        "(bit<32>) hdr.h.len[1:0] * 16",
        "(bit<32>) hdr.h.len[1:0] * 4",
        "((bit<32>) hdr.h.len[1:0] - 1) * 8",
        "(bit<32>) (hdr.h.len[1:0] ^ 2) << 3",
        // What comes next, one field of it.
        "(bit<32>) packet.lookahead<l_t>().len * 8",
        "(bit<32>) packet.lookahead<bit<8>>()[1:0] * 8",
    ] {
        let start = format!("packet.extract(hdr.o, {size}); {select}");
        for apply in ["", "hdr.t.y = hdr.h.a;", "if (standard.parser_error == error.HeaderTooShort) { hdr.h.a = 1; }"] {
            agrees(&program(ONE, &start, apply, EMIT), &[ALONE, LONG], PACKETS / 2);
        }
        // What stands behind it at one of several places.
        let start = format!("packet.extract(hdr.o, {size}); transition more;");
        agrees(
            &program(ONE, &start, "if (hdr.t.x > 127) { standard.egress_spec = 2; }", EMIT),
            &[ALONE, LONG],
            PACKETS / 2,
        );
    }
    // Options of IPv4: as many words more as the header says beyond its own.
    let start =
        "transition select(hdr.h.len) { 0: accept; 1: more; 2: options; 3: options; 4: options; default: accept; }
        }
        state options { packet.extract(hdr.o, (bit<32>) (((bit<16>) hdr.h.len - 1) * 8)); transition accept;";
    agrees(&program(ONE, start, "hdr.h.a = 9;", EMIT), &[ALONE, LONG], PACKETS / 2);
}

#[test]
fn advance_goes_as_far_as_the_packet_says() {
    for length in ["8", "(bit<32>) hdr.h.len[1:0] << 3", "(bit<32>) hdr.h.len[0:0] * 24 + 8"] {
        let start = format!("packet.advance({length}); transition select(hdr.h.kind) {{ 1: accept; default: more; }}");
        agrees(&program(ONE, &start, "if (hdr.t.isValid()) { hdr.h.a = hdr.t.y; }", EMIT), &[ALONE, LONG], PACKETS / 2);
    }
}

#[test]
fn what_is_no_length_of_the_packets_bits_is_refused_where_it_stands() {
    for (start, words) in [
        ("packet.extract(hdr.o, (bit<32>) hdr.h.a); transition accept;", "8 bits of the packet say, at most 6"),
        ("packet.extract(hdr.o, (bit<32>) standard.ingress_port[1:0] * 8); transition accept;", "not in the packet"),
        ("packet.advance(4); packet.extract(hdr.t); transition accept;", "no whole number of bytes"),
    ] {
        match run(&program(ONE, start, "", EMIT), "", ALONE, &packets()) {
            Came::Refused(why) => assert!(why.contains(words) && why.contains(":10:"), "{why}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_length_of_a_packet_is_its_bytes_wherever_the_parser_is() {
    for apply in ["", "if (hdr.t.isValid()) { hdr.t.y = hdr.p.b; }"] {
        let start = "hdr.p.setValid(); hdr.p.b = (bit<8>) packet.length(); transition more;";
        agrees(
            &program("bit<8> b;", start, apply, "packet.emit(hdr.t); packet.emit(hdr.p);"),
            &[ALONE, LONG],
            PACKETS / 2,
        );
    }
}
