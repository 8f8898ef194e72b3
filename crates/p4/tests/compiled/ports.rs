//! Ports that the pipeline does not have: programs and scripts with them give the reference's packets, or are refused in words.

use sluice_p4::stf::Script;
use sluice_p4::{Model, Reader, Traffic, Undefined};
use sluice_rmt::target::DEFAULT;
use std::path::Path;

/// What came of a program with a script: the ports that have other numbers, or why it is refused.
fn came(locals: &str, apply: &str, script: &str) -> Result<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let reader = Reader::new().folder(folder).define("LOCALS", locals).define("APPLY", apply);
    let program =
        reader.text("p.p4", "#include <bytes.p4>\n").check(Path::new("p.p4")).unwrap_or_else(|e| panic!("{e}"));
    let script = Script::parse("s.stf", script).unwrap();
    let mut reference = program.reference(Undefined::Zero, 1).unwrap();
    let traffic = Traffic { entries: &reference, script: Some(&script), arrivals: &[] };
    let compiled = program.compile_for(&DEFAULT, (0, 4), Some(&traffic), &mut |_| ());
    let compiled = compiled.map_err(|errors| errors.to_string())?;
    let ports = compiled.ports().to_string();
    let mut model = Model::new(compiled);
    let report = script.compare(&mut reference, &mut model);
    assert!(report.passed(), "{apply}: {:?}", report.failures);
    Ok(ports)
}

/// A table of ports, and what is done with it.
const FORWARD: &str = "action forward(bit<9> port) { standard.egress_spec = port; }
    action drop() { mark_to_drop(standard); }
    table t { key = { hdr.h.a: exact; } actions = { forward; drop; } default_action = drop(); }";
const BY_PORT: &str = "action forward(bit<9> port) { standard.egress_spec = port; }
    action drop() { mark_to_drop(standard); }
    table t { key = { standard.ingress_port: ternary; hdr.h.a: ternary; } actions = { forward; drop; } default_action = drop(); }";

#[test]
fn ports_of_all_numbers_are_given_those_of_the_pipeline() {
    let by_arrival = "if (standard.ingress_port == 9) { standard.egress_spec = 510; }
        else if (standard.ingress_port == 510) { standard.egress_spec = 9; } else { standard.egress_spec = 100; }";
    let both_ways = "packet 9 112233\nexpect 510 112233$\npacket 510 112233\nexpect 9 112233$\npacket 100 445566\nexpect 100 445566$\n";
    for (locals, apply, script, ports) in [
        ("", by_arrival, both_ways, "9 is 0, 100 is 1, 510 is 2"),
        // No packet comes from port 0, whose number another one has.
        (
            "",
            "if (standard.ingress_port == 0) { hdr.h.b = 0; } standard.egress_spec = standard.ingress_port;",
            "packet 9 112233\nexpect 9 112233$\npacket 1 112233\nexpect 1 112233$\n",
            "1 is 1, 9 is 0",
        ),
        (
            FORWARD,
            "t.apply();",
            "add t hdr.h.a:1 forward(port:300)\nadd t hdr.h.a:2 forward(7)\nadd t hdr.h.a:3 forward(511)
            packet 0 012233\nexpect 300 012233\npacket 7 022233\nexpect 7 022233\npacket 7 032233\npacket 7 042233
            setdefault t forward(100)\npacket 7 042233\nexpect 100 042233\n",
            "0 is 0, 7 is 7, 100 is 1, 300 is 2",
        ),
        // Entries are asked by the port of arrival, known ones and others.
        (
            BY_PORT,
            "t.apply();",
            "add t 9 standard.ingress_port:100&&&0x1ff forward(101)\nadd t 8 standard.ingress_port:0&&&0x1ff forward(3)
            add t 7 hdr.h.a:0x11&&&0xff forward(100)\nadd t 6 standard.ingress_port:400&&&0x1ff forward(3)
            packet 100 112233\nexpect 101 112233\npacket 101 112233\nexpect 100 112233\npacket 101 222233\n",
            "3 is 3, 100 is 0, 101 is 1",
        ),
        // A port that is kept for a visit behind, and compared there.
        (
            "bit<9> port = 0;
            action forward(bit<9> to) { port = to; }
            action note(bit<8> x) { hdr.h.c = x; }
            table t { key = { hdr.h.a: exact; } actions = { forward; NoAction; } }
            table u { key = { port: exact; } actions = { note; NoAction; } }",
            "t.apply(); u.apply(); if (port == standard.ingress_port) { mark_to_drop(standard); } else { standard.egress_spec = port; }",
            "add t hdr.h.a:1 forward(100)\nadd t hdr.h.a:2 forward(200)\nadd u port:100 note(7)\nadd u port:0 note(9)
            packet 200 012233\nexpect 100 012207\npacket 100 012233\npacket 100 022233\nexpect 200 022233
            packet 200 022233\npacket 100 032233\nexpect 0 032209\n",
            "0 is 0, 100 is 1, 200 is 2",
        ),
        // A copy to each port, but none back.
        (
            "",
            "standard.mcast_grp = 3;",
            "mc_mgrp_create 3\nmc_node_create 0 10 20 30\nmc_node_associate 3 0
            packet 20 112233\nexpect 10 112233\nexpect 20 112233\nexpect 30 112233\n",
            "10 is 0, 20 is 1, 30 is 2",
        ),
        // The port of arrival keeps its number, so it may be in a header.
        (
            "",
            "hdr.h.b = (bit<8>) standard.ingress_port; standard.egress_spec = 77;",
            "packet 5 110033\nexpect 77 110533\n",
            "5 is 5, 77 is 0",
        ),
        // A wider parameter of which the lower bits are a port.
        (
            "action forward(bit<16> port) { standard.egress_spec = (bit<9>) port; }
            table t { key = { hdr.h.a: exact; } actions = { forward; NoAction; } }",
            "t.apply();",
            "add t hdr.h.a:1 forward(130)\npacket 130 012233\nexpect 130 012233\npacket 130 022233\nexpect 0 022233\n",
            "0 is 0, 130 is 1",
        ),
        // All numbers are the pipeline's own, so nothing is translated.
        ("", "standard.egress_spec = (bit<9>) hdr.h.a;", "packet 7 032233\nexpect 3 032233\n", ""),
    ] {
        assert_eq!(came(locals, apply, script).as_deref(), Ok(ports), "{apply}\n{script}");
    }
}

#[test]
fn what_is_a_port_and_a_number_is_refused_with_its_line() {
    let nine = "packet 9 112233\nexpect 9 112233\n";
    let mut wrong = Vec::new();
    for (locals, apply, script, words) in [
        ("", "standard.egress_spec = (bit<9>) hdr.h.a;", nine, "a port that is computed or put together"),
        ("", "standard.egress_spec = standard.ingress_port + 1;", nine, "a port that is computed"),
        ("", "standard.egress_spec = standard.ingress_port ^ 1;", nine, "a port that is computed"),
        (
            "",
            "hdr.h.b = (bit<8>) standard.ingress_port; standard.egress_spec = 1;",
            nine,
            "a port that is written into a header, where ports get the pipeline's numbers: 1 is 1, 9 is 0",
        ),
        ("", "if (standard.ingress_port < 12) { standard.egress_spec = 9; }", nine, "a port that is"),
        ("", "if (standard.ingress_port[3:0] == 9) { standard.egress_spec = 9; }", nine, "by some of its bits"),
        (
            "action forward(bit<9> port) { standard.egress_spec = port; hdr.h.b = (bit<8>) port; }
            table t { key = { hdr.h.a: exact; } actions = { forward; NoAction; } }",
            "t.apply();",
            "add t hdr.h.a:1 forward(100)\npacket 0 012233\n",
            "a port that is written into a header",
        ),
        (
            "register<bit<9>>(4) r;",
            "r.write(0, standard.ingress_port); standard.egress_spec = 1;",
            nine,
            "goes to a register",
        ),
        (
            BY_PORT,
            "t.apply();",
            "add t standard.ingress_port:8&&&0x1f8 forward(9)\npacket 9 112233\n",
            "in table `In.t`, line 1 of the script",
        ),
        (
            "",
            "if (hdr.h.a == 1) { standard.egress_spec = 9; } else { standard.egress_spec = 1; }",
            "packet 0 112233\npacket 2 11\npacket 3 11\npacket 4 11\npacket 5 11\npacket 6 11\npacket 7 11\n",
            "9 different ports (0, 1, 2, 3, 4, 5, 6, 7, 9); the pipeline has 8",
        ),
    ] {
        let why = came(locals, apply, script).expect_err(apply);
        if !why.contains(words) || !["in macro `APPLY`", "in macro `LOCALS`"].iter().any(|place| why.contains(place)) {
            wrong.push(format!("{apply}\n{script}\nexpected {words}, found {why}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_copy_that_asks_for_its_port_is_refused_with_ports_of_any_number() {
    for port in (3..511).step_by(5) {
        let text = format!(
            "#include <v1model.p4>
            header h_t {{ bit<8> a; bit<8> b; }}
            struct headers_t {{ h_t h; }}
            struct meta_t {{ }}
            parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
                state start {{ packet.extract(hdr.h); transition accept; }}
            }}
            control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
            control In(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
                apply {{ standard.mcast_grp = 2; }}
            }}
            control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
                apply {{ if (standard.egress_port == {port}) {{ hdr.h.a = hdr.h.a - hdr.h.b; }} }}
            }}
            control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
            control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.h); }} }}
            V1Switch(P(), V(), In(), E(), C(), D()) main;"
        );
        let program = Reader::new().text("p.p4", &text).check(Path::new("p.p4")).unwrap_or_else(|e| panic!("{e}"));
        let reference = program.reference(Undefined::Zero, 1).unwrap();
        let traffic = Traffic { entries: &reference, script: None, arrivals: &[] };
        let errors = program.compile_for(&DEFAULT, (0, 4), Some(&traffic), &mut |_| ()).expect_err("it is refused");
        assert_eq!(errors.code(), "E0750", "{errors}");
        assert!(errors.to_string().contains("egress_port"), "{errors}");
    }
}

#[test]
fn a_port_that_is_not_there_drops_on_the_reference_as_on_the_pipeline() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let reader =
        Reader::new().folder(folder).define("LOCALS", "action by(bit<9> port) { standard.egress_spec = port; }");
    let check = |apply: &str| {
        let reader = reader.clone().define("APPLY", apply).text("p.p4", "#include <bytes.p4>\n");
        reader.check(Path::new("p.p4")).unwrap_or_else(|e| panic!("{e}"))
    };
    // Ports 3 and 8 of the packet, on the reference alone, on the model, and on both.
    let script = Script::parse("s.stf", "packet 0 030000\npacket 0 080000\nexpect 3 030000$\n").unwrap();
    let program = check("standard.egress_spec = (bit<9>) hdr.h.a;");
    let reference = || program.reference(Undefined::Zero, 1).unwrap();
    let model = || Model::new(program.compile(&DEFAULT, 0, 4).unwrap());
    let taught = || {
        let mut reference = reference();
        program.compile(&DEFAULT, 0, 4).unwrap().teach(&mut reference);
        reference
    };
    for report in [
        script.run(&mut reference()),
        script.run_on(&mut reference(), &mut model()),
        script.compare(&mut taught(), &mut model()),
    ] {
        assert!(report.passed(), "{:?}", report.failures);
        assert_eq!((report.packets, report.sent, report.nowhere), (2, 1, 1));
    }
    // Ports that the program, an entry or the script names are there.
    let named = Script::parse("s.stf", "packet 0 030000\nexpect 9 030000$\n").unwrap();
    for apply in ["by(9);", "standard.egress_spec = 9;", "standard.egress_spec = hdr.h.a == 3 ? 9w9 : 9w1;"] {
        let report = named.run(&mut check(apply).reference(Undefined::Zero, 1).unwrap());
        assert!(report.passed(), "{apply}: {:?}", report.failures);
    }
    let unnamed = Script::parse("s.stf", "packet 0 030000\n").unwrap();
    let report = unnamed.run(&mut check("by(9);").reference(Undefined::Zero, 1).unwrap());
    assert!(!report.passed() && report.failures[0].what.contains("port 9"), "{:?}", report.failures);
}

#[test]
fn what_a_program_drops_on_a_path_of_the_parser_counts_as_dropped_by_it() {
    use sluice_rmt::reason::Reason;
    use sluice_rmt::{Arrival, Outcome, Pipeline};
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run");
    let apply = "if (hdr.h.isValid()) { standard.egress_spec = 1; } else { mark_to_drop(standard); }";
    let reader = Reader::new().folder(folder).define("LOCALS", "").define("APPLY", apply);
    let program = reader.text("p.p4", "#include <bytes.p4>\n").check(Path::new("p.p4")).unwrap();
    let compiled = program.compile(&DEFAULT, 1, 3).unwrap();
    let unit = compiled.unit(&program.reference(Undefined::Zero, 1).unwrap()).unwrap();
    let mut pipeline = Pipeline::new(DEFAULT);
    pipeline.load(1, 0, unit.program, unit.memory).unwrap();
    pipeline.grant(1, 0xff);
    let mut run = |packet: &[u8]| {
        let (module, tenant, port) = (1, 1, 0);
        let (generation, system_generation, arrival, queueing) = (0, 0, 0, 0);
        let of = Arrival { packet, module, generation, system_generation, tenant, port, arrival, queueing };
        match pipeline.run(&of) {
            Outcome::Dropped(reason) => Some(reason),
            Outcome::Sent { .. } => None,
        }
    };
    // Too short for the header.
    assert_eq!((run(&[1, 2, 3, 4]), run(&[1])), (None, Some(Reason::Discard)));
}
