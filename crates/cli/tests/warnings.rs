//! What is taken and warned of: on standard error, with a code, and nothing else changes.

use crate::common::Folder;

const RETAG: &str = "module retag\ncontainer tag = c4[0]\nparser {\n select 12:2 { 0x8100 -> all }\n path all { take tag @12; least 34 }\n}\n\
                     stage 1 { default out; action out { tag[11:0] = 20; send port1 } }\ndeparser { row r { put tag @12 } }\n";

fn config(red: &str) -> String {
    format!(
        "[device]\ntarget = \"tiny\"\n[[port]]\nnumber = 0\ninput = \"programs/nic/mixed.pcapng\"\n\
         [[tenant]]\nname = \"red\"\nid = 1\nvlans = [30]\n{red}\n\
         [[tenant]]\nname = \"blue\"\nid = 2\nvlans = [20]\nqueues = {{ port1 = 8 }}\n"
    )
}

#[test]
fn a_module_that_writes_a_tag_is_warned_of_with_its_line() {
    let f = Folder::new();
    f.write("retag.rmt", RETAG);
    let called = f.sluice(&["rmt", "check", "retag.rmt", "--target", "tiny"]);
    assert_eq!(called.code, 0, "{}", called.err);
    for words in ["warning[E0616]", "retag.rmt:8:", "`tag` @12: VLAN 20"] {
        assert!(called.err.contains(words), "{words}: {}", called.err);
    }
}

#[test]
fn a_nic_says_whose_vlan_a_program_writes_and_which_burst_is_small() {
    let f = Folder::new();
    f.write("retag.rmt", RETAG);
    let program = "keep_tag = true\nqueues = { port1 = 8 }\nobject = \"retag.rmt\"";
    for (red, words) in [
        (
            program,
            "[E0235] tenant `red`, object `retag`, path 0, deparse row 0: frames leave with VLAN 20 (tenant `blue`'s on port1)",
        ),
        (
            "rate = 50_000_000\nburst = 65_536",
            "[E0236] tenant `red`: burst 65536 bytes at 50000000 bit/s; TCP stays far below",
        ),
        (
            "share = { rate = 1_000_000_000, burst = 1_024 }\nqueues = { port1 = 8 }",
            "[E0237] tenant `red`: share of 1000000000 bit/s; his queue at port1 is sure to take 0 bit/s, of frames of 9216 bytes",
        ),
    ] {
        f.write("nic.toml", config(red));
        for arguments in [&["run", "--config", "nic.toml"][..], &["object", "ring", "--config", "nic.toml"]] {
            let called = f.sluice(arguments);
            assert_eq!(called.code, 0, "{}", called.err);
            assert_eq!(called.err.matches(&format!("warning: nic.toml: {words}")).count(), 1, "{}", called.err);
        }
    }
    f.write("nic.toml", config("rate = 50_000_000\nburst = 625_000"));
    let called = f.sluice(&["run", "--config", "nic.toml"]);
    assert!(called.code == 0 && !called.err.contains("warning"), "{}", called.err);
}

#[test]
fn a_script_is_warned_at_the_statement_once() {
    let f = Folder::new();
    f.write("small.pkt", "tenant red id=1 vlan=7 rate=50M burst=64k\ntenant blue id=2 vlan=8\n");
    let called = f.sluice(&["script", "small.pkt"]);
    assert_eq!(called.code, 0, "{}", called.err);
    assert_eq!(called.err.matches("warning: small.pkt:1:1: [E0236] tenant `red`").count(), 1, "{}", called.err);
    assert_eq!(called.err.matches("E0236").count(), 1, "{}", called.err);
}

const ROUTES: &str = "#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; }
struct headers_t { h_t h; }
struct meta_t {}
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) { state start { p.extract(hdr.h); transition accept; } }
control V(inout headers_t hdr, inout meta_t m) { apply {} }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action to(bit<9> port) { s.egress_spec = port; }
    table routes { key = { hdr.h.a : lpm; } actions = { to; } size = SIZE; }
    apply { routes.apply(); }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) { apply {} }
control U(inout headers_t hdr, inout meta_t m) { apply {} }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), U(), D()) main;
";

/// What a table asks for and does not get is told wherever the program comes to a pipeline, and in P4Info.
#[test]
fn a_table_that_asks_for_more_entries_than_there_is_room_for_is_warned_of() {
    let f = Folder::new();
    f.write("large.p4", ROUTES.replace("SIZE", "1024"));
    f.write("small.p4", ROUTES.replace("SIZE", "2"));
    f.write("nine.p4", ROUTES.replace("SIZE", "9"));
    let passes = |arguments: &[&str]| {
        let called = f.sluice(arguments);
        assert_eq!(called.code, 0, "{}", called.err);
        called
    };
    let called = passes(&["p4", "compile", "large.p4", "--json", "-o", "large.rmt"]);
    let told: serde_json::Value = serde_json::from_str(&called.out).unwrap();
    let reserved = told["tables"][0]["reserved"].as_u64().unwrap();
    let why = told["tables"][0]["why"].as_str().unwrap().to_owned();
    assert!(
        why.contains("an entry takes 2 ternary rows (one for each of 2 ways on which packets come to the table"),
        "{why}"
    );
    let table = serde_json::json!({ "table": "I.routes", "size": 1024, "reserved": reserved, "why": why });
    assert_eq!(told["tables"], serde_json::json!([table]));
    assert!(0 < reserved && reserved < 1024, "{reserved}");
    let asks = format!("table `I.routes`: entries reserved: {reserved}, asked for: 1024");
    let called = passes(&["p4", "compile", "large.p4", "-o", "large.slob"]);
    // It is less than a tenth.
    assert!(called.err.contains(&format!("warning[E0784]: {asks}")), "{}", called.err);
    let called = passes(&["p4", "compile", "small.p4"]);
    assert!(!called.err.contains("warning"), "{}", called.err);
    assert!(called.err.contains("small.p4: table `I.routes`: entries reserved: 2"), "{}", called.err);
    assert!(called.out.contains("room ternary "), "{}", called.out);
    let size = |flags: &[&str]| {
        let info = passes(&[&["p4", "info", "large.p4"], flags].concat()).out;
        let line = info.lines().find_map(|line| line.trim().strip_prefix("size: "));
        line.unwrap_or_else(|| panic!("{info}")).parse::<u64>().unwrap()
    };
    assert_eq!((size(&[]), size(&["--reserved"])), (1024, reserved));
    // Alone it has four times as much, and the miss once.
    assert!(size(&["--reserved", "--stages", "0-4"]) > 3 * reserved);
    let refused = f.sluice(&["p4", "info", "large.p4", "--reserved", "--stages", "0-9"]);
    assert!(refused.code == 3 && refused.err.contains("E0770"), "{} {}", refused.code, refused.err);

    f.write(
        "large.pkt",
        "tenant red id=1 vlan=7 to=port0\nrmt red large.p4\nentry red add routes hdr.h.a:1/8 to(port:0)\n",
    );
    let called = passes(&["script", "large.pkt"]);
    let line = format!("warning: large.pkt:2:1: [E0239] tenant `red`: {asks}");
    assert!(called.err.matches(&line).count() == 1 && called.err.matches("E0239").count() == 1, "{}", called.err);
    let sends = "keep_tag = true\nqueues = { port1 = 8 }";
    for object in ["large.p4", "large.slob"] {
        f.write("nic.toml", config(&format!("{sends}\nobject = \"{object}\"")).replace("tiny", "default"));
        let called = passes(&["run", "--config", "nic.toml"]);
        assert_eq!(called.err.matches(&format!("[E0239] tenant `red`: {asks}")).count(), 1, "{}", called.err);
        // A tenant who was given more has room for more, or for all.
        for (object, told) in [(object, Some("entries reserved: 9, asked for: 1024")), ("nine.p4", None)] {
            let given =
                format!("{sends}\nobject = \"{object}\"\n[[tenant.rmt.stage]]\nnumber = 1\nternary = 20\nexact = 20");
            f.write("nic.toml", config(&given).replace("tiny", "default"));
            let called = f.sluice(&["run", "--config", "nic.toml"]);
            assert_eq!(told.is_some(), called.err.contains("E0239"), "{}", called.err);
            assert!(told.is_none_or(|told| called.err.contains(told)), "{}", called.err);
        }
    }
}

#[test]
fn shipped_programs_are_not_warned_of() {
    let f = Folder::new();
    for config in ["programs/nic/nic.toml", "programs/xdp/nic.toml", "programs/xdp/behind_rmt.toml"] {
        let called = f.sluice(&["run", "--config", config, "--in", "programs/nic/mixed.pcapng", "--limit", "1"]);
        assert!(called.code == 0 && !called.err.contains("warning"), "{config}: {}", called.err);
    }
    let called = f.sluice(&["script", "programs/rmt/all.pkt"]);
    assert!(called.code == 0 && !called.err.contains("warning"), "{}", called.err);
}

const UNUSED: &str = "match_kind { exact }\naction NoAction() { }\ncontrol c(in bit<8> x) {\n    table idle { key = { x: exact; } actions = { NoAction; } }\n    apply { }\n}\n\
                      const bit<8> large = 300;\n";

#[test]
fn warnings_of_a_p4_program_are_switched_by_name_and_made_errors() {
    let f = Folder::new();
    f.write("a.p4", UNUSED);
    let check = |flags: &[&str]| f.sluice(&[&["p4", "check", "a.p4"], flags].concat());
    let plain = check(&[]);
    assert!(plain.code == 0 && plain.out.contains("a.p4: OK"), "{} {}", plain.code, plain.out);
    for words in
        ["warning[E0771]: table `idle` is never applied [-Wunused-table]", "a.p4:4:11", "warning[E0779]", "a.p4:7:22"]
    {
        assert!(plain.err.contains(words), "{words}: {}", plain.err);
    }
    let less = check(&["-Wno-unused-table"]);
    assert!(less.code == 0 && !less.err.contains("E0771") && less.err.contains("E0779"), "{}", less.err);
    assert!(check(&["-Wno-all"]).err.is_empty());
    let refused = check(&["-Werror"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("error[E0771]") && refused.err.contains("[-Werror=overflow]"), "{}", refused.err);
    let one = check(&["-Werror=overflow"]);
    assert_eq!(one.code, 2);
    assert!(one.err.contains("warning[E0771]") && one.err.contains("error[E0779]"), "{}", one.err);
    assert_eq!(check(&["-Werror", "-Wno-error=overflow", "-Wno-unused-table"]).code, 0);
    let unknown = check(&["-Wunused"]);
    assert!(unknown.code == 2 && unknown.err.contains("`unused` is no warning"), "{} {}", unknown.code, unknown.err);

    let json = |flags: &[&str]| -> serde_json::Value {
        serde_json::from_str(&check(&[&["--json"], flags].concat()).out).unwrap()
    };
    let told = &json(&[])["files"][0];
    assert_eq!((&told["passed"], told["warnings"].as_array().unwrap().len()), (&true.into(), 2));
    let first = &told["warnings"][0];
    assert_eq!(
        (&first["code"], &first["name"], &first["line"], &first["error"]),
        (&"E0771".into(), &"unused-table".into(), &4.into(), &false.into())
    );
    let refused = json(&["-Werror=unused-table"]);
    assert_eq!((&refused["passed"], &refused["files"][0]["warnings"][0]["error"]), (&false.into(), &true.into()));
}

#[test]
fn a_table_that_gets_less_than_a_tenth_of_its_size_is_warned_of_at_its_line() {
    let f = Folder::new();
    f.write("huge.p4", ROUTES.replace("SIZE", "65536"));
    let called = f.sluice(&["p4", "compile", "huge.p4", "-o", "huge.rmt"]);
    assert_eq!(called.code, 0, "{}", called.err);
    assert!(called.err.contains("warning[E0784]: table `I.routes`: entries reserved: "), "{}", called.err);
    assert!(called.err.contains("huge.p4:10:") && !called.err.contains("E0239"), "{}", called.err);
    let refused = f.sluice(&["p4", "compile", "huge.p4", "-Werror=small-table", "-o", "other.rmt"]);
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(!f.path("other.rmt").exists());
}

/// Each once, and switched as `check` has it; what programs read on standard output stays whole.
#[test]
fn warnings_of_p4_programs_are_shown_wherever_one_is_compiled() {
    let f = Folder::new();
    let cut =
        ROUTES.replace("SIZE", "4").replace("apply { routes.apply(); }", "apply { hdr.h.a = 300; routes.apply(); }");
    f.write("cut.p4", &cut);
    f.write("right.p4", cut.replace("= 300", "= 44"));
    let sends = "keep_tag = true\nqueues = { port1 = 8 }";
    f.write("nic.toml", config(&format!("{sends}\nobject = \"cut.p4\"")).replace("tiny", "default"));
    f.write("right.toml", config(&format!("{sends}\nobject = \"right.p4\"")).replace("tiny", "default"));
    f.write("a.pkt", "tenant red id=1 vlan=7 to=port0\nrmt red cut.p4\nrmt red cut.p4\n");
    let replaced = |command: &[&'static str]| [command, &["--config", "right.toml", "--replace"]].concat();
    let ring = replaced(&["object", "ring"]);
    for arguments in [
        vec!["run", "--config", "nic.toml"],
        vec!["run", "--config", "nic.toml", "--json"],
        vec!["run", "--config", "nic.toml", "--replace", "red=cut.p4@50%"],
        [&replaced(&["run"])[..], &["red=cut.p4@50%", "--json"]].concat(),
        vec!["object", "ring", "--config", "nic.toml", "--json"],
        [&ring[..], &["red=cut.p4", "--replace", "red=cut.p4"]].concat(),
        vec!["object", "shares", "--config", "nic.toml"],
        vec!["script", "a.pkt", "a.pkt", "--json"],
        vec!["script", "a.pkt"],
    ] {
        let called = f.sluice(&arguments);
        assert_eq!(called.code, 0, "{arguments:?}: {}", called.err);
        let words = "warning[E0779]: constant 300 does not fit bit<8>: 44 is left [-Woverflow]\n --> cut.p4:11:";
        let (told, all) = (called.err.matches(words).count(), called.err.matches("warning[").count());
        assert_eq!((told, all), (1, 1), "{arguments:?}: {}", called.err);
        if arguments.contains(&"--json") {
            serde_json::from_str::<serde_json::Value>(&called.out).unwrap();
        }
        let with = |flag| f.sluice(&[&arguments[..], &[flag]].concat());
        let called = with("-Wno-overflow");
        assert!(called.code == 0 && !called.err.contains("warning["), "{arguments:?}: {}", called.err);
        let called = with("-Werror=overflow");
        let refused = called.code == 2 && called.err.contains("error[E0779]: constant 300");
        assert!(refused && called.err.contains("[-Werror=overflow]"), "{arguments:?}: {} {}", called.code, called.err);
    }
    let called = f.sluice(&["run", "--config", "nic.toml", "-Wnothing"]);
    assert!(called.code == 2 && called.err.contains("`nothing` is no warning"), "{}", called.err);
}
