//! What says two things, or nothing: refused with its place before anything is played.

use crate::common::Folder;
use serde_json::json;
use std::fs;

/// Scripts that cannot be what they say, and words of the answer.
const SCRIPTS: [(&str, &str); 11] = [
    ("counter total foo = 0", "counter: found `foo`, allowed: offered"),
    ("counter red foo = 0", "counter: found `foo`"),
    ("nic port=0", "nic: found port= alone"),
    ("nic port=0 watchdog=5", "watchdog: found port= beside it"),
    ("send 4 eth/ipv4/pad(to=64)", "port: found 4, allowed: 0 to 3"),
    ("send 0 eth/payload(len=16400, seed=1)", "packet: found 16414 bytes, allowed: 1 to 16383 bytes"),
    ("xdp red counters.o\nevent red nope hex:00", "map: found `nope`, allowed: maps of the program"),
    ("xdp red counters.o\nevent red protocols hex:00", "event: found `protocols`"),
    ("rmt red calc.rmt keep", "rmt: found keep of the tenant's first program"),
    ("xdp red counters.o interfaces=2:0", "interfaces: found 2:0, which is port 1's"),
    ("rmt system calc.rmt", "rmt system: found the tenant's module calc.rmt"),
];

#[test]
fn a_statement_that_contradicts_the_nic_or_itself_has_its_place_and_exit_code_2() {
    let folder = Folder::new();
    for (from, to) in [("programs/rmt/calc.rmt", "calc.rmt"), ("programs/xdp/drop/drop.o", "counters.o")] {
        folder.write(to, fs::read(folder.path(from)).unwrap());
    }
    for (text, said) in SCRIPTS {
        let before = text.matches('\n').count();
        folder.write("s.pkt", format!("tenant red id=3 vlan=7\n{text}\n"));
        let called = folder.sluice(&["script", "s.pkt"]);
        assert_eq!(called.code, 2, "{text}: {}{}", called.out, called.err);
        let place = format!("s.pkt:{}:1: [E0310] {said}", 2 + before);
        assert!(called.out.contains(&place), "{text}: no `{place}` in\n{}", called.out);
    }
}

const TENANT: &str =
    "[device]\ntarget = \"default\"\n[[tenant]]\nname = \"red\"\nid = 1\nvlans = [10]\nqueues = { port1 = 64 }\n";

/// Keys of a tenant that say nothing or too much, and words of the answer.
const KEYS: [(&str, &str); 5] = [
    ("xdp = \"calc.rmt\"\n", "allowed: a file with an XDP program"),
    ("xdp = \"drop.o\"\nvariables = { x = {} }\n", "found `x` = {}"),
    ("xdp = \"drop.o\"\ninterfaces = { port0 = 2 }\n", "found port0 = 2, which is port1's"),
    ("object = \"calc.rmt\"\n[tenant.rmt]\ngroups = [7, 7]\n", "found group 7 twice"),
    ("[tenant.table]\nkey = \"dmac\"\nfields = []\ndefault = \"drop\"\n", "key.fields"),
];

#[test]
fn a_key_of_nic_toml_without_effect_is_refused_with_its_line() {
    let folder = Folder::new();
    for (from, to) in [("programs/rmt/calc.rmt", "calc.rmt"), ("programs/xdp/drop/drop.o", "drop.o")] {
        folder.write(to, fs::read(folder.path(from)).unwrap());
    }
    for (text, said) in KEYS {
        folder.write("nic.toml", format!("{TENANT}{text}"));
        let called = folder.sluice(&["run", "--config", "nic.toml", "--in", "port0=programs/nic/mixed.pcapng"]);
        assert_eq!(called.code, 2, "{text}: {}{}", called.out, called.err);
        assert!(called.err.contains("nic.toml:") && called.err.contains(said), "{text}: {}", called.err);
    }
}

const RUN: [&str; 5] = ["run", "--config", "programs/nic/nic.toml", "--in", "programs/nic/mixed.pcapng"];

#[test]
fn a_replacement_that_cannot_be_leaves_the_outputs_as_they_were() {
    let folder = Folder::new();
    let text = fs::read_to_string(folder.path("programs/nic/red.json")).unwrap();
    let mut large: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entry = |n: u32| json!({"match": {"dmac": format!("02:00:00:0b:{:02x}:{:02x}", n / 256, n % 256)}, "action": {"to": ["port1"]}});
    large["entries"].as_array_mut().unwrap().extend((0..3000).map(entry));
    folder.write("large.json", large.to_string());
    for (replace, code) in [
        ("red=large.json@5", "E02"),
        ("red=programs/nic/red-2.json@5000", "E0510"),
        ("red=programs/nic/red-2.json@3001", "E0510"),
    ] {
        folder.write("old.pcap", "what was there");
        let called = folder.sluice(&[&RUN[..], &["--out", "port0=old.pcap", "--replace", replace]].concat());
        assert_eq!(called.code, 2, "{replace}: {}{}", called.out, called.err);
        assert!(called.err.contains(code), "{replace}: {}", called.err);
        assert_eq!(fs::read_to_string(folder.path("old.pcap")).unwrap(), "what was there", "{replace}");
    }
    folder.write("old.pcap", "what was there");
    let limited = ["--limit", "3", "--replace", "red=programs/nic/red-2.json@5", "--out", "port0=old.pcap"];
    let called = folder.sluice(&[&RUN[..], &limited].concat());
    assert_eq!((called.code, called.err.contains("E0510")), (2, true), "{}", called.err);
    assert_eq!(fs::read_to_string(folder.path("old.pcap")).unwrap(), "what was there");
    // The very end is a moment, as 100% is, and no packet sees what comes then.
    folder.sluice(&[&RUN[..], &["--replace", "red=programs/nic/red-2.json@3000"]].concat()).ok();
}

#[test]
fn a_value_given_twice_and_one_without_effect_are_refused() {
    let folder = Folder::new();
    let map = ["xdp", "run", "programs/xdp/drop/drop.o", "--in", "programs/nic/mixed.pcapng"];
    folder.write("p.map", "");
    for (arguments, said) in [
        (
            &[&map[..], &["--map", "protocols=p.map", "--map", "protocols=p.map"]].concat()[..],
            "`protocols` is given twice",
        ),
        (&[&map[..], &["--ifindex", "0"]].concat(), "0 is not in 1.."),
        (&[&map[..], &["--limit", "0"]].concat(), "0 is not in 1.."),
        (&[&RUN[..], &["--limit", "0"]].concat(), "0 is not in 1.."),
        (&[&RUN[..], &["--events", "e.jsonl"]].concat(), "--events: no tenant runs an XDP program"),
        (&["generate", "--vlan", "10,10", "-o", "new.pcapng"], "--vlan: 10 is given twice"),
    ] {
        let called = folder.sluice(arguments);
        assert_eq!(called.code, 2, "{arguments:?}: {}{}", called.out, called.err);
        assert!(called.err.contains(said), "{arguments:?}: {}", called.err);
    }
    assert!(!folder.path("new.pcapng").exists());
    // What a run refuses, a check refuses too.
    let check = folder.sluice(&["xdp", "check", "programs/xdp/drop/drop.o", "--max-entries", "protocols=0"]);
    assert_eq!((check.code, check.out.contains("E0430")), (1, true), "{}{}", check.out, check.err);
}

#[test]
fn room_for_what_may_replace_it_is_no_contradiction() {
    let folder = Folder::new();
    let head = "[device]\ntarget = \"default\"\n[[tenant]]\nname = \"red\"\nid = 1\nvlans = [10]\n\
                queues = { port0 = 64, port1 = 64, port2 = 64, port3 = 64 }\n";
    let module = "object = \"programs/rmt/calc.rmt\"\n";
    let table = "[tenant.table]\nkey = \"dmac\"\ndefault = \"drop\"\n";
    let stage = "[tenant.rmt]\n[[tenant.rmt.stage]]\nnumber = 1\nexact = 16\nactions = 8\n";
    for (text, replace, code) in [
        (format!("{module}max_entries = 16\n"), "red=programs/nic/red.json@5", None),
        (module.to_owned(), "red=programs/nic/red.json@5", Some("E0223")),
        (format!("{table}{stage}"), "red=programs/rmt/calc.rmt@5", None),
        (table.to_owned(), "red=programs/rmt/calc.rmt@5", Some("E06")),
        (format!("xdp = \"programs/xdp/swap/swap.o\"\npass = \"port0\"\n{stage}"), "red=programs/rmt/calc.rmt@5", None),
        (
            "xdp = \"programs/xdp/swap/swap.o\"\npass = \"port0\"\n[tenant.rmt]\ngroups = [1, 2]\n".to_owned(),
            "red=programs/rmt/calc.rmt@5",
            Some("E06"),
        ),
    ] {
        folder.write("nic.toml", format!("{head}{text}"));
        let run = ["run", "--config", "nic.toml", "--in", "port0=programs/nic/mixed.pcapng", "--replace", replace];
        let called = folder.sluice(&run);
        assert_eq!(called.code, if code.is_some() { 2 } else { 0 }, "{text}: {}{}", called.out, called.err);
        assert!(code.is_none_or(|code| called.err.contains(code)), "{text}: {}", called.err);
    }
}

#[test]
fn a_quota_below_what_the_module_at_hand_needs_is_refused_and_room_above_is_not() {
    let folder = Folder::new();
    let head = "[device]\ntarget = \"default\"\n[[tenant]]\nname = \"red\"\nid = 1\nvlans = [10]\n\
                queues = { port0 = 64 }\n";
    let run =
        |folder: &Folder| folder.sluice(&["run", "--config", "nic.toml", "--in", "port0=programs/nic/mixed.pcapng"]);
    let stage = |module: &str, keys: &str| {
        let rmt = "[tenant.rmt]\n[[tenant.rmt.stage]]\nnumber = 1\n";
        format!("{head}object = \"programs/rmt/{module}.rmt\"\n{rmt}{keys}\n")
    };
    // calc.rmt has 5 exact entries and 6 actions in stage 1.
    for (keys, said) in [
        ("exact = 4", "stage 1: the program needs 5 exact entries, tenant `red` was given 4"),
        ("exact = 0", "stage 1: the program needs 5 exact entries, tenant `red` was given 0"),
        ("exact = 16\nactions = 5", "stage 1: the program needs 6 actions, tenant `red` was given 5"),
        ("exact = 16\nnumbers = 5", "stage 1: the program needs 6 logical numbers, tenant `red` was given 5"),
    ] {
        folder.write("nic.toml", stage("calc", keys));
        let called = run(&folder);
        assert_eq!((called.code, called.err.contains("E0671")), (2, true), "{keys}: {}{}", called.out, called.err);
        assert!(called.err.contains("nic.toml:") && called.err.contains(said), "{keys}: {}", called.err);
    }
    let groups = |keys: &str| {
        let queues = "queues = { port0 = 64, port1 = 64, port2 = 64, port3 = 64, host0 = 64 }\n";
        let head = head.replace("queues = { port0 = 64 }\n", queues);
        format!("{head}object = \"programs/rmt/multicast.rmt\"\n[tenant.rmt]\n{keys}\n")
    };
    for (keys, said) in [
        ("groups = [1]", "nic.toml:10:10: tenant `red`: the program has group 2"),
        ("groups = []", "nic.toml:10:10: tenant `red`: the program has group 1"),
    ] {
        folder.write("nic.toml", groups(keys));
        let called = run(&folder);
        assert_eq!((called.code, called.err.contains("E0674")), (2, true), "{keys}: {}{}", called.out, called.err);
        assert!(called.err.contains(said), "{keys}: {}", called.err);
    }
    for keys in ["groups = [1, 2, 9]", ""] {
        folder.write("nic.toml", groups(keys));
        run(&folder).ok();
    }
    for keys in ["exact = 5\nactions = 6", "exact = 16\nactions = 8\nnumbers = 32", "ternary = 4", "pages = 1"] {
        folder.write("nic.toml", stage("calc", keys));
        run(&folder).ok();
    }
}

#[test]
fn a_template_that_the_objects_own_inner_maps_do_not_fit_is_refused() {
    let folder = Folder::new();
    let balancer = "programs/xdp/load_balancer/load_balancer.o";
    // The object begins with two rings of 4,099 entries.
    for (options, code, said) in [
        (&["--max-entries", "rings.inner=5"][..], "E0433", "map `rings`: its inner map is `ring_0`, array with keys"),
        (&["--inner-map", "rings=settings"], "E0433", "map `rings`: its inner map is `ring_0`"),
        (&["--inner-map", "rings=ring_0", "--max-entries", "rings.inner=9"], "E0502", "`rings.inner`"),
    ] {
        let run = ["xdp", "run", balancer, "--in", "programs/xdp/mixed.pcap", "--state", "new.json"];
        let called = folder.sluice(&[&run[..], options].concat());
        assert_eq!((called.code, called.err.contains(code)), (2, true), "{options:?}: {}{}", called.out, called.err);
        assert!(called.err.contains(said), "{options:?}: {}", called.err);
        assert!(!folder.path("new.json").exists());
        let called = folder.sluice(&[&["xdp", "check", balancer][..], options].concat());
        assert!(
            called.code != 0 && format!("{}{}", called.out, called.err).contains(code),
            "{options:?}: {}",
            called.out
        );
    }
    for options in [&["--max-entries", "ring_0=5", "--max-entries", "ring_1=5"][..], &["--inner-map", "rings=ring_1"]] {
        let run = ["xdp", "run", balancer, "--in", "programs/xdp/mixed.pcap"];
        folder.sluice(&[&run[..], options].concat()).ok();
    }
}
