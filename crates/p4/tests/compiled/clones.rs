//! Clones that are the same packet as their original, or that leave in its place; others are refused.

use crate::compare::{ALONE, Came, LONG, Place, TENANT, run};
use sluice_formats::random::{Rng, test_seed};

const PACKETS: usize = 2_000;

/// A program on a header of four numbers, with an option behind it.
fn program(meta: &str, parse: &str, ingress: (&str, &str), egress: (&str, &str)) -> String {
    format!(
        "#include <core.p4>
        #include <v1model.p4>
        header h_t {{ bit<8> a; bit<8> b; bit<16> c; }}
        header o_t {{ bit<16> x; }}
        struct headers_t {{ h_t h; o_t o; }}
        struct meta_t {{ {meta} }}
        parser p(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
            state start {{ packet.extract(hdr.h); {parse}
                transition select(hdr.h.b[7:7]) {{ 1: more; default: accept; }} }}
            state more {{ packet.extract(hdr.o); transition accept; }}
        }}
        control v(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
        control i(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
            {}
            apply {{ {} }}
        }}
        control e(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
            {}
            apply {{ {} }}
        }}
        control c(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
        control d(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr); }} }}
        V1Switch(p(), v(), i(), e(), c(), d()) main;",
        ingress.0, ingress.1, egress.0, egress.1
    )
}

fn packets() -> Vec<(u16, Vec<u8>)> {
    let mut rng = Rng::new(test_seed("clones"));
    let packet = |_| {
        let mut packet: Vec<u8> = (0..4 + rng.below(6)).map(|_| rng.next_u32() as u8).collect();
        packet[0] = rng.below(6) as u8;
        if rng.chance(1, 20) {
            packet.truncate(1 + rng.below(4) as usize);
        }
        (rng.below(4) as u16, packet)
    };
    (0..PACKETS).map(packet).collect()
}

const SESSIONS: &str = "mirroring_add 5 6\nmirroring_add 7 4\n";

fn agrees(text: &str, entries: &str, places: &[Place], least: usize) {
    for place in places {
        match run(text, entries, *place, &packets()) {
            Came::Agreed(sent) => assert!(sent >= least, "{sent}\n{text}"),
            other => panic!("{other:?}\n{text}"),
        }
    }
}

#[test]
fn clones_that_are_the_same_packet_leave_beside_their_originals() {
    let all = [ALONE, TENANT, LONG];
    let table = "action to(bit<9> port) { standard.egress_spec = port; }
        action drop() { mark_to_drop(standard); }
        table t { key = { hdr.h.a: exact; } actions = { to; drop; } default_action = to(1); }";
    let routes = "add t hdr.h.a:2 to(port:2)\nadd t hdr.h.a:3 drop()\n";
    for (meta, parse, ingress, egress, entries, least) in [
        ("", "", ("", "standard.egress_spec = 1; clone(CloneType.I2E, 5);"), ("", ""), "", 2 * PACKETS - 300),
        // To port 0, with nothing to do but that.
        ("", "", ("", "clone(CloneType.I2E, 5);"), ("", ""), "", 2 * PACKETS - 300),
        // One of them for some, and none for others.
        (
            "",
            "",
            (
                "",
                "standard.egress_spec = 1; if (hdr.h.a == 2) { clone(CloneType.I2E, 5); } else if (hdr.h.a == 3) { clone(CloneType.I2E, 7); }",
            ),
            ("", ""),
            "",
            PACKETS,
        ),
        // The last call counts; a session that nobody made has no copies.
        (
            "",
            "",
            ("", "standard.egress_spec = 1; clone(CloneType.I2E, 9); clone(CloneType.I2E, 7);"),
            ("", ""),
            "",
            PACKETS,
        ),
        ("", "", ("", "standard.egress_spec = 1; clone(CloneType.I2E, 9);"), ("", ""), "", PACKETS - 300),
        (
            "",
            "",
            ("", "standard.egress_spec = 2;"),
            ("", "if (standard.instance_type == 0) { clone(CloneType.E2E, 5); }"),
            "",
            2 * PACKETS - 300,
        ),
        // What egress or ingress writes is in a clone of egress.
        (
            "",
            "",
            ("", "standard.egress_spec = 2; hdr.h.c = hdr.h.c + 3;"),
            ("", "if (standard.instance_type == 0) { hdr.h.b = hdr.h.a; clone(CloneType.E2E, 5); }"),
            "",
            2 * PACKETS - 300,
        ),
        // Egress writes the same into both.
        (
            "",
            "",
            ("", "standard.egress_spec = 2; clone(CloneType.I2E, 7);"),
            ("", "hdr.h.c = 9; if (hdr.h.a == 1) { hdr.o.setInvalid(); }"),
            "",
            2 * PACKETS - 300,
        ),
        // Only egress drops clones of one kind.
        (
            "",
            "",
            ("", "standard.egress_spec = 2; clone(CloneType.I2E, 7);"),
            ("", "if (standard.instance_type == 1 && hdr.h.a < 3) { mark_to_drop(standard); }"),
            "",
            PACKETS,
        ),
        // Metadata that go with it.
        (
            "@field_list(1) bit<8> k; bit<8> l;",
            "",
            (
                "",
                "standard.egress_spec = 2; meta.k = hdr.h.a; meta.l = 3; clone_preserving_field_list(CloneType.I2E, 5, 1);",
            ),
            ("", "if (meta.k == 4) { hdr.h.c = 1; } if (meta.l == 9) { hdr.h.c = 2; }"),
            "",
            PACKETS,
        ),
        // With entries that say where the original goes, and drop it: then the clone is alone, and may be any packet.
        ("", "", (table, "t.apply(); clone(CloneType.I2E, 5);"), ("", ""), routes, PACKETS),
        (
            "",
            "",
            ("", "mark_to_drop(standard); hdr.h.c = 77; clone(CloneType.I2E, 5);"),
            ("", "if (standard.instance_type == 1) { hdr.h.a = 0xaa; }"),
            "",
            PACKETS - 300,
        ),
        ("", "", ("", "standard.egress_spec = 511; clone(CloneType.I2E, 5);"), ("", ""), "", PACKETS - 300),
        (
            "",
            "",
            ("", "standard.egress_spec = 3;"),
            ("", "if (standard.instance_type == 0) { clone(CloneType.E2E, 5); mark_to_drop(standard); }"),
            "",
            PACKETS - 300,
        ),
    ] {
        agrees(&program(meta, parse, ingress, egress), &format!("{SESSIONS}{entries}"), &all, least);
    }
}

#[test]
fn a_session_may_be_a_group_and_ports_of_any_numbers() {
    let text = program("", "", ("", "standard.egress_spec = 100; clone(CloneType.I2E, 5);"), ("", ""));
    agrees(&text, "mirroring_add 5 300\n", &[ALONE], 2 * PACKETS - 300);
    let group = "mc_mgrp_create 3\nmc_node_create 1 2 4\nmc_node_associate 3 0\nmirroring_add_mc 5 3\n";
    let text = program("", "", ("", "standard.egress_spec = 1; clone(CloneType.I2E, 5);"), ("", ""));
    agrees(&text, group, &[ALONE, LONG], 3 * PACKETS - 500);
}

fn refused(text: &str, entries: &str, words: &str) {
    let line = text.lines().position(|line| line.contains("// here")).expect("a line has the mark") + 1;
    match run(text, entries, ALONE, &packets()) {
        Came::Refused(why) => {
            assert!(why.contains(words), "{words} is not in\n{why}\n{text}");
            assert!(why.contains(&format!("random.p4:{line}:")), "line {line} causes it, and not\n{why}\n{text}");
        }
        other => panic!("{other:?}\n{text}"),
    }
}

#[test]
fn clones_that_are_other_packets_are_refused_where_they_are_asked_for() {
    let plain = "standard.egress_spec = 1; clone(CloneType.I2E, 5);";
    let clone = &format!("{plain} // here\n");
    let is_other = "a clone that is another packet than its original";
    let again = "if (standard.instance_type == 0) { clone(CloneType.E2E, 7); // here\n }";
    for (meta, parse, ingress, egress, words) in [
        ("", "", format!("hdr.h.a = 1; {clone}"), ("", ""), is_other),
        ("", "", clone.clone(), ("", "if (standard.instance_type == 1) { hdr.h.c = 1; }"), is_other),
        ("bit<8> k;", "", format!("meta.k = 1; {clone}"), ("", "hdr.h.b = meta.k;"), is_other),
        ("", "", format!("hdr.o.setInvalid(); {clone}"), ("", ""), is_other),
        (
            "",
            "",
            "mark_to_drop(standard); clone(CloneType.I2E, 5);".to_string(),
            ("", "hdr.h.c = (bit<16>) standard.egress_port; // here\n"),
            "egress_port of a clone",
        ),
        (
            "",
            "",
            plain.to_string(),
            ("register<bit<8>>(4) r;", "r.write(0, hdr.h.a); // here\n"),
            "state that changes once for each copy",
        ),
        (
            "",
            "",
            format!("clone(CloneType.I2E, (bit<32>) hdr.h.a); // here\n {plain}"),
            ("", ""),
            "a clone whose session",
        ),
        ("", "", plain.to_string(), ("", again), "a clone that is cloned again, or a second clone of a packet"),
        (
            "",
            "",
            format!("standard.mcast_grp = 3; {clone}"),
            ("", ""),
            "a clone of a packet that goes to a multicast group",
        ),
        (
            "@field_list(1) bit<8> k;",
            "meta.k = 3;",
            "meta.k = 4; standard.egress_spec = 1; clone_preserving_field_list(CloneType.I2E, 5, 1); // here\n"
                .to_string(),
            ("", "if (meta.k == 3) { hdr.h.c = 3; }"),
            is_other,
        ),
        (
            "",
            "",
            clone.replace("= 1;", "= (bit<9>) hdr.h.a;"),
            ("", ""),
            "a clone beside a packet whose port nobody knows before",
        ),
        ("", "", clone.replace("= 1;", "= standard.ingress_port;"), ("", ""), "that of arrival"),
    ] {
        refused(&program(meta, parse, ("", &ingress), egress), SESSIONS, words);
    }
}

#[test]
fn one_copy_goes_to_a_port() {
    let clone = "clone(CloneType.I2E, 5); // here\n";
    let text = program("", "", ("", &format!("standard.egress_spec = 1; {clone}")), ("", ""));
    refused(&text, "mirroring_add 5 1\n", "clones of session 5 to port 1, to which packets go themselves");
    let table = "action to(bit<9> port) { standard.egress_spec = port; }
        table t { key = { hdr.h.a: exact; } actions = { to; } default_action = to(1); }";
    let text = program("", "", (table, &format!("t.apply(); {clone}")), ("", ""));
    refused(&text, "mirroring_add 5 6\nadd t hdr.h.a:2 to(port:6)\n", "clones of session 5 to port 6");
    agrees(&text, "mirroring_add 5 6\nadd t hdr.h.a:2 to(port:5)\n", &[ALONE], PACKETS);
    let group = "mc_mgrp_create 3\nmc_node_create 1 2 4\nmc_node_create 2 4\nmc_node_associate 3 0\nmc_node_associate 3 1\nmirroring_add_mc 5 3\n";
    refused(&text, group, "port 4 of session 5; clones go to each of ports 0 to 7 once at most");
    // Where the original is dropped nothing is beside it.
    let text = program("", "", ("", &format!("mark_to_drop(standard); {clone}")), ("", "hdr.h.a = 1;"));
    agrees(&text, "mirroring_add 5 1\n", &[ALONE], PACKETS / 2);
}
