//! Maps of XDP programs from the command line: those that a run saves, elements of queues and stacks, and maps that are large.

use crate::common::{Folder, json};
use crate::xdp::objects;

const DROP: &str = "programs/xdp/drop/drop.o";
const CAPTURE: &str = "programs/nic/mixed.pcapng";

/// Address space that a run with maps of 33 million entries may take, in KiB. The values alone have 434 MB of
/// addresses; entries built one by one took 4.5 GB.
const ADDRESS_SPACE: u32 = 1_000_000;

#[test]
fn maps_that_a_run_saves_are_listed_read_and_changed() {
    let folder = Folder::new();
    folder.sluice(&["xdp", "run", DROP, "--in", CAPTURE, "--cpus", "2", "--state", "maps.json"]).ok();
    let map = |words: &str| {
        let arguments: Vec<&str> = ["map", "--state", "maps.json"].into_iter().chain(words.split(' ')).collect();
        folder.sluice(&arguments)
    };
    assert!(map("list").ok().contains("protocols"));
    let get = |map_words: &str| json(&map(map_words).ok());
    let tcp = get("--json get protocols key 6 0 0 0");
    assert_eq!(tcp["key"], json(r#"["0x06", "0x00", "0x00", "0x00"]"#));
    assert_eq!(tcp["values"].as_array().unwrap().len(), 2, "a value for each processor");
    map("set protocols key hex 06 0 0 0 value 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16").ok();
    let tcp = get("--json get protocols u32:6");
    assert_eq!(tcp["values"][1]["value"][15], "0x10");
    let dump = get("--json dump protocols");
    assert_eq!(dump.as_array().unwrap().len(), 259);
    // The maps may be named before the command or behind it.
    let behind = folder.sluice(&["map", "get", "protocols", "u32:6", "--json", "--state", "maps.json"]).ok();
    assert_eq!(json(&behind), tcp);
    // An array has all its entries always.
    let refused = map("delete protocols key 6 0 0 0");
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("E0493"), "{}", refused.err);
}

#[test]
fn elements_of_a_stack_and_a_queue_are_pushed_popped_and_peeked() {
    let folder = Folder::new();
    let sessions = "programs/xdp/sessions/sessions.o";
    let run = ["xdp", "run", sessions, "--in", CAPTURE, "--max-entries", "numbers=2", "--state", "maps.json"];
    folder.sluice(&run).ok();
    let map = |words: &str| {
        let arguments: Vec<&str> = ["map", "--state", "maps.json"].into_iter().chain(words.split(' ')).collect();
        folder.sluice(&arguments)
    };
    let value = |words: &str| json(&map(words).ok())["value"].clone();
    map("push numbers value 5 0 0 0").ok();
    assert_eq!(map("--json push numbers u32:9").ok(), "null\n");
    // The last one in is the first one out of a stack, the first one of a queue.
    assert_eq!(value("--json peek numbers"), json(r#"["0x09", "0x00", "0x00", "0x00"]"#));
    let full = map("push numbers u32:7");
    assert!(full.code == 1 && full.err.contains("E0493"), "{}", full.err);
    map("push numbers u32:7 exist").ok();
    let dump = map("dump numbers").ok();
    assert_eq!(value("--json pop numbers"), json(r#"["0x07", "0x00", "0x00", "0x00"]"#), "{dump}");
    assert_eq!(value("--json pop numbers"), json(r#"["0x09", "0x00", "0x00", "0x00"]"#), "{dump}");
    for words in ["pop numbers", "peek numbers"] {
        let empty = map(words);
        assert!(empty.code == 1 && empty.err.contains("E0493") && empty.err.contains("error 2"), "{}", empty.err);
    }
    // What the packets that found no number have left.
    let first = json(&map("--json dump refused").ok())[0]["value"].clone();
    assert_eq!(value("--json peek refused"), first);
    assert_eq!(value("--json pop refused"), first);
    assert_ne!(value("--json peek refused"), first);
    // What they are not for, and what is missing.
    for (words, code) in [
        ("pop sessions", "E0490"),
        ("push sessions u32:1", "E0490"),
        ("push numbers", "E0504"),
        ("push numbers u64:1", "E0435"),
        ("pop numbers refused", "E0436"),
        ("pop", "E0436"),
        ("pop nobody", "E0490"),
    ] {
        let refused = map(words);
        assert!(refused.code == 2 && refused.err.contains(code), "{words}: {} {}", refused.code, refused.err);
    }
}

#[test]
fn a_run_with_maps_of_millions_of_entries_takes_the_memory_of_those_it_touched() {
    let folder = objects();
    let run = "sluice xdp run objects/prepare/large.o --in programs/xdp/mixed.pcap --limit 24 --state maps.json";
    for form in ["", " --json"] {
        let ran = folder.shell(&format!("ulimit -v {ADDRESS_SPACE}; {run}{form}")).ok();
        if form.is_empty() {
            assert!(ran.contains("map rings (array): 33554944 entries, "), "{ran}");
            continue;
        }
        let maps = json(&ran)["programs"][0]["maps"].clone();
        let touched = |map: usize| maps[map]["entries"].as_array().unwrap().len();
        assert!((1..=24).contains(&touched(0)) && touched(0) == touched(1) && touched(1) == touched(2), "{maps}");
    }
    let saved = std::fs::metadata(folder.path("maps.json")).unwrap().len();
    assert!(saved < 16 << 10, "{saved} bytes are saved");
    let state = json(&std::fs::read_to_string(folder.path("maps.json")).unwrap());
    let key = state["maps"][0]["entries"][0]["key"].as_str().unwrap();
    let items = format!("hex:{key}");
    let map = |words: &str| folder.shell(&format!("ulimit -v {ADDRESS_SPACE}; sluice map --state maps.json {words}"));
    assert!(map(&format!("get rings {items}")).ok().contains("value: "));
    assert!(map("get rings u32:33554943").ok().contains("value: 00 00 00 00"), "zeros are there without being saved");
    map("set rings u32:33554943 u32:5").ok();
    assert!(map("get rings u32:33554943").ok().contains("value: 05 00 00 00"));
    assert!(map("get rings u32:33554944").err.contains("E0493"));
}

#[test]
fn a_tenant_with_maps_of_millions_of_entries_takes_the_memory_of_those_it_touched() {
    let folder = objects();
    let nic = "[device]\ntarget = \"default\"\n[[tenant]]\nname = \"red\"\nid = 1\nvlans = [10]\n\
               queues = { host0 = 160 }\nxdp = \"objects/prepare/large.o\"\nmaps = { rings = \"rings.map\" }\n";
    folder.write("nic.toml", nic);
    folder.write("rings.map", "u32:33554943 u32:5\n");
    // Per-CPU values are there for eight processors: 659 MB of addresses.
    let ran =
        folder.shell("ulimit -v 1500000; sluice run --config nic.toml --in port0=programs/nic/mixed.pcapng --json");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

#[test]
fn a_map_that_is_too_large_says_how_to_make_it_smaller_and_can_be_made_so() {
    let folder = objects();
    let run = |size: &str| {
        let size = format!("rings={size}");
        let arguments =
            ["xdp", "run", "objects/prepare/large.o", "--in", "programs/xdp/mixed.pcap", "--max-entries", &size];
        folder.sluice(&arguments)
    };
    let called = run("200000000");
    assert_eq!(called.code, 2, "{}", called.out);
    assert!(called.err.contains("[E0432]") && called.err.contains("--max-entries rings=N"), "{}", called.err);
    assert!(run("100000").ok().contains("map rings (array): 100000 entries"));
    let check = folder.sluice(&["xdp", "check", "objects/prepare/large.o", "--max-entries", "rings=200000000"]);
    assert_eq!(check.code, 1);
    assert!(check.out.contains("--max-entries rings=N"), "{}", check.out);
}
