//! Entries of P4 programs: those that do not fit, those that go astray, and those that a replacement keeps.

use super::common::{Folder, root};

/// One header, a table that sends by an exact key, and a second one.
fn program(size: u32, action: &str) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header h_t {{ bit<48> d; bit<48> s; bit<16> t; }}
struct headers_t {{ h_t h; }}
struct meta_t {{}}
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t s) {{
    state start {{ p.extract(hdr.h); transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t m) {{ apply {{}} }}
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {{
    action to(bit<9> port) {{ s.egress_spec = port; }}
    action drop() {{ mark_to_drop(s); }}
    action set({action}) {{ hdr.h.t = (bit<16>) t; }}
    table routes {{ key = {{ hdr.h.d: exact; }} actions = {{ to; drop; }} default_action = drop(); size = {size}; }}
    table types {{ key = {{ hdr.h.s: exact; }} actions = {{ set; NoAction; }} default_action = NoAction(); size = 8; }}
    apply {{ routes.apply(); types.apply(); }}
}}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {{ apply {{}} }}
control C(inout headers_t hdr, inout meta_t m) {{ apply {{}} }}
control D(packet_out p, in headers_t hdr) {{ apply {{ p.emit(hdr.h); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

/// One whose table counts the packets of each entry, by their type.
fn counted() -> String {
    program(16, "bit<16> t")
        .replace(
            "action to(bit<9> port) {",
            "direct_counter(CounterType.packets) hits; action to(bit<9> port) { hits.count();",
        )
        .replace("action drop() {", "action drop() { hits.count();")
        .replace("hdr.h.d: exact", "hdr.h.t: exact")
        .replace("size = 16;", "size = 16; counters = hits;")
}

/// The shipped capture's tenant, with this program in place of the one that he has.
fn nic(f: &Folder, entries: &str) {
    let text = std::fs::read_to_string(root().join("programs/p4/nic.toml")).unwrap();
    let nic = root().join("programs/nic").display().to_string();
    let text = text.replace("../nic", &nic).replace("object = \"qos.p4\"", "object = \"a.p4\"");
    f.write("nic.toml", text.replace("entries = \"qos.entries\"", "entries = \"a.entries\""));
    f.write("a.entries", entries);
}

#[test]
fn a_full_table_is_said_once_with_how_many_entries_find_no_room() {
    let f = Folder::new();
    f.write("a.p4", program(4, "bit<16> t"));
    let adds: Vec<String> = (0..50).map(|n| format!("add routes hdr.h.d:{n} to(port:1)\n")).collect();
    f.write("a.stf", adds.concat());
    let called = f.sluice(&["p4", "test", "a.p4", "a.stf"]);
    assert_eq!((called.code, called.out.matches("E0793").count()), (1, 1), "{}", called.out);
    assert!(called.out.contains("it has 4 entries, as many as its size says; 45 more"), "{}", called.out);
    f.write("a.entries", adds.concat());
    let called = f.sluice(&["p4", "compile", "a.p4", "--entries", "a.entries"]);
    assert_eq!((called.code, called.err.matches("E0793").count()), (2, 1), "{}", called.err);
}

#[test]
fn entries_that_do_not_fit_the_pipeline_end_with_3_as_the_program_would() {
    let f = Folder::new();
    let ternary = program(65536, "bit<16> t").replace("hdr.h.d: exact", "hdr.h.d: ternary");
    f.write("a.p4", ternary);
    let adds: Vec<String> = (0..3000).map(|n| format!("add routes {n} hdr.h.d:{n} to(port:1)\n")).collect();
    f.write("a.entries", adds.concat());
    f.write("a.stf", adds.concat() + "packet 0 00000000000100000000000208000000000000000000\n");
    for arguments in [
        &["p4", "test", "a.p4", "a.stf", "--device", "model"][..],
        &["p4", "run", "a.p4", "--entries", "a.entries", "--in", "programs/xdp/mixed.pcap", "--device", "model"],
        &["p4", "compile", "a.p4", "--entries", "a.entries"],
    ] {
        let called = f.sluice(arguments);
        let told = format!("{}{}", called.out, called.err);
        assert!(called.code == 3 && told.contains("E0770"), "{arguments:?} {}: {told}", called.code);
    }
    // Without them the packet goes nowhere, as the script does not say.
    f.write("b.stf", "packet 0 00000000000100000000000208000000000000000000\nexpect 1\nexpect 1 00\n");
    let called = f.sluice(&["p4", "test", "a.p4", "b.stf", "--device", "model"]);
    assert_eq!(called.code, 1, "{}{}", called.out, called.err);
}

#[test]
fn a_replacement_without_entries_keeps_those_of_tables_that_are_the_same() {
    let f = Folder::new();
    f.write("a.p4", program(16, "bit<16> t"));
    // All packets of the capture's servers go to port 2 while the entry is there.
    let entries = "add types hdr.h.s:1 set(t:5)\n";
    let macs = "0x020000000002";
    nic(&f, &format!("{entries}add routes hdr.h.d:{macs} to(port:2)\n"));
    f.write("same.p4", program(32, "bit<16> t"));
    f.write("other.p4", program(16, "bit<8> t"));
    f.write(
        "less.p4",
        program(16, "bit<16> t").replace("table types", "table kinds").replace("types.apply", "kinds.apply"),
    );
    let run = |replace: &str| {
        let run = ["run", "--config", "nic.toml", "--in", "programs/nic/mixed.pcapng", "--json", "--replace"];
        f.sluice(&[&run[..], &[replace]].concat())
    };
    let called = run("blue=same.p4@0");
    assert_eq!(called.code, 0, "{}", called.err);
    f.write("a.entries", format!("{entries}setdefault routes to(port:0)\n"));
    let called = run("blue=same.p4@0");
    assert!(called.code == 2 && called.err.contains("the default action of table `I.routes`"), "{}", called.err);
    nic(&f, &format!("{entries}add routes hdr.h.d:{macs} to(port:2)\n"));
    for (program, why) in [("other.p4", "other actions"), ("less.p4", "not in the new program")] {
        let called = run(&format!("blue={program}@50%"));
        assert!(called.code == 2 && called.err.contains("error[E0797]"), "{}: {}", called.code, called.err);
        assert!(called.err.contains("1 of table `I.types`") && called.err.contains(why), "{}", called.err);
        assert_eq!(run(&format!("blue={program},none@50%")).code, 0);
        f.write("b.entries", "add routes hdr.h.d:1 to(port:2)\n");
        assert_eq!(run(&format!("blue={program},b.entries@50%")).code, 0);
    }
    // The kept entries are those that were there.
    let object = |arguments: &[&str]| {
        let called = f.sluice(arguments);
        assert_eq!(called.code, 0, "{}", called.err);
        called.out
    };
    let ring = ["object", "ring", "--config", "nic.toml", "--replace"];
    let with = object(&[&ring[..], &["blue=same.p4"]].concat());
    f.write("c.toml", std::fs::read_to_string(f.path("nic.toml")).unwrap().replace("a.entries", "none.entries"));
    f.write("none.entries", "");
    let without = object(&["object", "ring", "--config", "c.toml", "--replace", "blue=same.p4"]);
    assert_ne!(with, without);
}

#[test]
fn a_replacement_without_entries_keeps_the_sessions_of_clones_of_the_same_actions() {
    let f = Folder::new();
    let program = std::fs::read_to_string(root().join("programs/p4/mirror.p4")).unwrap();
    f.write("a.p4", &program);
    let ring =
        |replace: &str| f.sluice(&["object", "ring", "--config", "nic.toml", "--seed", "1", "--replace", replace]);
    nic(&f, "add watched 1 hdr.ipv4.src:* hdr.ipv4.dst:* watch()\nmirroring_add 1 2\n");
    f.write("none.entries", "add watched 1 hdr.ipv4.src:* hdr.ipv4.dst:* watch()\n");
    let kept = ring("blue=a.p4").ok();
    assert_eq!(kept, ring("blue=a.p4,a.entries").ok());
    assert_ne!(kept, ring("blue=a.p4,none.entries").ok());
    // Other actions may clone otherwise.
    f.write("other.p4", program.replace("meta.is_watched = 1;", "meta.is_watched = 1; hdr.ipv4.tos = 7;"));
    let called = ring("blue=other.p4");
    assert!(called.code == 2 && called.err.contains("error[E0797]: other.p4: "), "{}", called.err);
    assert!(called.err.contains("sessions of clones would go"), "{}", called.err);
    assert_eq!((ring("blue=other.p4,none").code, ring("blue=other.p4,a.entries").code), (0, 0));
}

#[test]
fn a_second_replacement_keeps_what_the_first_one_brought() {
    let f = Folder::new();
    f.write("a.p4", program(16, "bit<16> t"));
    nic(&f, "");
    f.write("b.entries", "add routes hdr.h.d:0x0200001e0004 to(port:2)\n");
    let ring = |replaces: &[&str]| {
        let replaces = replaces.iter().flat_map(|replace| ["--replace", replace]);
        let call: Vec<&str> =
            ["object", "ring", "--config", "nic.toml", "--seed", "1"].into_iter().chain(replaces).collect();
        f.sluice(&call).ok()
    };
    let kept = ring(&["blue=a.p4,b.entries", "blue=a.p4"]);
    assert_eq!(kept, ring(&["blue=a.p4,b.entries", "blue=a.p4,b.entries"]));
    assert_ne!(kept, ring(&["blue=a.p4,b.entries", "blue=a.p4,none"]));
    // By their moments, not by their places on the command line.
    let run = |second: &str| {
        let replaces = ["--replace", second, "--replace", "blue=a.p4,b.entries@0"];
        let run = ["run", "--config", "nic.toml", "--in", "programs/nic/mixed.pcapng", "--json"];
        let value: serde_json::Value = serde_json::from_str(&f.sluice(&[&run[..], &replaces].concat()).ok()).unwrap();
        value["total"]["forwarded"].as_u64().unwrap()
    };
    assert_eq!(run("blue=a.p4@1"), run("blue=a.p4,b.entries@1"));
    assert_ne!(run("blue=a.p4@1"), run("blue=a.p4,none@1"));
}

#[test]
fn an_entry_that_sends_where_the_tenant_has_no_queue_is_refused() {
    let f = Folder::new();
    f.write("a.p4", program(16, "bit<16> t"));
    let refused = |arguments: &[&str], words: &str| {
        let called = f.sluice(arguments);
        assert!(called.code == 2 && called.err.contains("error[E0222]"), "{}: {}", called.code, called.err);
        assert!(called.err.contains(words), "{words}: {}", called.err);
    };
    for (entry, words) in [
        ("add routes hdr.h.d:1 to(port:3)", "entry at a.entries:3: port3 is not granted"),
        ("setdefault routes to(port:5)", "default action at a.entries:3: host1 is not granted"),
    ] {
        nic(&f, &format!("# The first line.\nadd routes hdr.h.d:9 to(port:2)\n{entry}\n"));
        refused(&["run", "--config", "nic.toml"], words);
        refused(&["object", "ring", "--config", "nic.toml"], words);
    }
    // Those of the program itself.
    nic(&f, "add routes hdr.h.d:1 to(port:2)\n");
    for (wrong, words) in [
        ("default_action = to(3);", "default action at b.p4:14:"),
        ("default_action = drop(); entries = { 7: drop();\n 8: to(3); }", "entry at b.p4:15:"),
    ] {
        f.write("b.p4", program(16, "bit<16> t").replacen("default_action = drop();", wrong, 1));
        let replace =
            ["run", "--config", "nic.toml", "--in", "programs/nic/mixed.pcapng", "--replace", "blue=b.p4,none@0"];
        refused(&replace, words);
        refused(&["object", "ring", "--config", "nic.toml", "--replace", "blue=b.p4,a.entries"], words);
    }
    nic(&f, "add routes hdr.h.d:1 to(port:2)\nadd routes hdr.h.d:2 drop()\n");
    f.sluice(&["run", "--config", "nic.toml", "--in", "programs/nic/mixed.pcapng"]).ok();
    // At run time, too, and what runs goes on.
    let tenant = "tenant red id=1 vlan=7 to=port0,port2\nrmt red a.p4\n";
    let send = "send 0 eth(dst=00:00:00:00:00:01)/vlan(vid=7)/ipv4/udp\nexpect port 2 eth(dst=00:00:00:00:00:01)/vlan(vid=7)/ipv4/udp\n";
    f.write("good.pkt", format!("{tenant}entry red add routes hdr.h.d:1 to(port:2)\n{send}"));
    f.sluice(&["script", "good.pkt"]).ok();
    f.write("file.pkt", tenant.replace("rmt red a.p4", "rmt red a.p4 entries=c.entries"));
    f.write("c.entries", "add routes hdr.h.d:1 to(port:2)\nadd routes hdr.h.d:2 to(port:1)\n");
    let called = f.sluice(&["script", "file.pkt"]);
    let place = called.out.contains("entry at c.entries:2: port1 is not granted");
    assert!(called.code == 2 && called.out.contains("file.pkt:2:1: [E0222]") && place, "{}", called.out);
    f.write("bad.pkt", format!("{tenant}entry red add routes hdr.h.d:1 to(port:3)\n"));
    let called = f.sluice(&["script", "bad.pkt"]);
    let told = format!("{}{}", called.out, called.err);
    assert!(called.code != 0 && told.contains("E0222") && told.contains("bad.pkt:3"), "{}: {told}", called.code);
}

#[test]
fn a_run_shows_the_packets_of_counted_entries_by_their_names() {
    let f = Folder::new();
    f.write("a.p4", counted());
    nic(&f, "add routes hdr.h.t:0x800 to(port:2)\nadd routes hdr.h.t:0x1234 drop()\n");
    let run = ["run", "--config", "nic.toml", "--in", "programs/nic/mixed.pcapng"];
    let value: serde_json::Value = serde_json::from_str(&f.sluice(&[&run[..], &["--json"]].concat()).ok()).unwrap();
    let tenants = value["tenants"].as_array().unwrap();
    let blue = tenants.iter().find(|tenant| tenant["name"] == "blue").unwrap();
    let offered = blue["offered"].as_u64().unwrap();
    let entries = blue["entries"].as_array().unwrap();
    let packets = |entry: &str| entries.iter().find(|e| e["entry"] == entry).unwrap()["packets"].as_u64().unwrap();
    assert!(entries.len() == 2 && entries[0]["table"] == "I.routes", "{entries:?}");
    let (hit, dropped) = (packets("hdr.h.t:0x800 I.to(port:0x2)"), packets("hdr.h.t:0x1234 I.drop()"));
    assert!(hit > 0 && hit <= offered && dropped == 0, "{hit} of {offered}, {dropped}");
    assert_eq!(blue["forwarded"].as_u64(), Some(hit));
    let text = f.sluice(&run).ok();
    assert!(text.contains(&format!("entry, blue: I.routes hdr.h.t:0x800 I.to(port:0x2): {hit} packets")), "{text}");
}

/// Those of the program that runs in the end, whose cells are not zero.
#[test]
fn a_run_shows_the_cells_of_counters_by_their_names() {
    let f = Folder::new();
    let program = |index: &str, unit: &str| {
        let counter = format!("counter(64, CounterType.{unit}) seen;\n    table routes");
        let count = format!("{{ routes.apply(); seen.count({index});");
        program(16, "bit<16> t").replace("table routes", &counter).replace("{ routes.apply(); types.apply();", &count)
    };
    f.write("a.p4", program("(bit<32>) hdr.h.s[4:0]", "packets_and_bytes"));
    f.write("b.p4", program("32w7", "bytes"));
    f.write("c.p4", program("32w9", "packets"));
    nic(&f, "add routes hdr.h.d:1 to(port:2)\n");
    let run = ["run", "--config", "nic.toml", "--in", "programs/nic/mixed.pcapng"];
    let of_blue = |more: &[&str]| {
        let called = f.sluice(&[&run[..], &["--json"], more].concat()).ok();
        let value: serde_json::Value = serde_json::from_str(&called).unwrap();
        value["tenants"].as_array().unwrap().iter().find(|tenant| tenant["name"] == "blue").unwrap().clone()
    };
    let blue = of_blue(&[]);
    let (offered, bytes) = (blue["offered"].as_u64().unwrap(), blue["offered_bytes"].as_u64().unwrap());
    let cells = blue["counters"].as_array().unwrap();
    let sum = |of: &str| cells.iter().map(|cell| cell[of].as_u64().unwrap()).sum::<u64>();
    assert!(cells.iter().all(|cell| cell["counter"] == "I.seen" && cell["packets"] != 0), "{cells:?}");
    assert!(cells.len() > 1 && cells.is_sorted_by_key(|cell| cell["index"].as_u64()), "{cells:?}");
    // A port takes the tag off.
    assert_eq!((sum("packets"), sum("bytes")), (offered, bytes - 4 * offered), "{blue}");
    let text = f.sluice(&run).ok();
    let [index, packets, bytes] = ["index", "packets", "bytes"].map(|key| cells[0][key].as_u64().unwrap());
    let line = format!("counter, blue: I.seen[{index}]: {packets} packets, {bytes} bytes\n");
    assert!(text.contains(&line), "{line}: {text}");
    assert_eq!(text.matches("counter, blue: I.seen[").count(), cells.len(), "{text}");
    for (program, index, counted, other) in [("b.p4", 7, "bytes", "packets"), ("c.p4", 9, "packets", "bytes")] {
        let cells = of_blue(&["--replace", &format!("blue={program}@50%")])["counters"].clone();
        let [cell] = &cells.as_array().unwrap()[..] else { panic!("{cells:?}") };
        assert!(cell["index"] == index && cell[other].is_null(), "{cell}");
        let most = if counted == "bytes" { u64::MAX } else { offered - 1 };
        assert!(cell[counted].as_u64().is_some_and(|count| (1..=most).contains(&count)), "{cell}");
    }
}

/// The stage that the program names is full, so that it runs in the next ones.
#[test]
fn counts_of_a_program_in_other_stages_than_it_names_are_the_same() {
    let f = Folder::new();
    let counted = counted()
        .replace("table routes", "counter(64, CounterType.packets) seen;\n    table routes")
        .replace("{ routes.apply(); types.apply();", "{ routes.apply(); seen.count((bit<32>) hdr.h.s[4:0]);");
    f.write("a.p4", counted);
    nic(&f, "add routes hdr.h.t:0x800 to(port:2)\nadd routes hdr.h.t:0x86dd to(port:0)\n");
    let blue = |config: &str| {
        let called = f.sluice(&["run", "--config", config, "--in", "programs/nic/mixed.pcapng", "--json"]).ok();
        let value: serde_json::Value = serde_json::from_str(&called).unwrap();
        value["tenants"].as_array().unwrap().iter().find(|tenant| tenant["name"] == "blue").unwrap().clone()
    };
    let text = std::fs::read_to_string(f.path("nic.toml")).unwrap();
    let green = text.find("[[tenant]]\nname = \"green\"").unwrap();
    let all = "[[tenant]]\nname = \"hog\"\nid = 9\nvlans = [99]\nqueues = { port0 = 20 }\n[[tenant.rmt.stage]]\nnumber = 1\npages = 64\n\n";
    f.write("full.toml", format!("{}{all}{}", &text[..green], &text[green..]));
    let (named, moved) = (blue("nic.toml"), blue("full.toml"));
    assert!(
        named["counters"].as_array().unwrap().len() > 1 && named["entries"].as_array().unwrap().len() == 2,
        "{named}"
    );
    for what in ["entries", "counters", "forwarded", "dropped"] {
        assert_eq!(named[what], moved[what], "{what}");
    }
}
