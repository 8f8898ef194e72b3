//! `sluice xdp` and `sluice map`: from an object file and a capture to verdicts and maps.

use crate::common;
use crate::common::{Folder, json};
use serde_json::Value;
use sluice_packet::capture::{CaptureWriter, Format};

const FIREWALL: &str = "programs/xdp/firewall/firewall.o";
const DROP: &str = "programs/xdp/drop/drop.o";
const TAIL_CHAIN: &str = "programs/xdp/tail_chain/tail_chain.o";
const CAPTURE: &str = "programs/nic/mixed.pcapng";

#[test]
fn a_run_says_what_became_of_every_packet() {
    let run = json(&Folder::new().sluice(&["xdp", "run", DROP, "--in", CAPTURE, "--json"]).ok());
    let program = &run["programs"][0];
    assert_eq!(program["name"], "drop");
    assert_eq!(program["packets"], 3000);
    let verdicts = program["verdicts"].as_object().unwrap();
    let names: Vec<&str> = verdicts.keys().map(String::as_str).collect();
    assert_eq!(names, ["aborted", "drop", "pass", "redirect", "tx"]);
    assert_eq!(verdicts.values().map(|n| n.as_u64().unwrap()).sum::<u64>(), 3000);
    assert_eq!(program["drops"]["xdp_drop"], verdicts["drop"]);
    let insns = &program["instructions_per_packet"];
    let [min, median, p99] = ["min", "median", "p99"].map(|name| insns[name].as_u64().unwrap());
    assert!(0 < min && min <= median && median <= p99, "{insns}");
    assert!(program["packets_per_second"].as_f64().unwrap() > 0.0);
}

#[test]
fn what_passes_is_written_and_what_is_dropped_is_not() {
    let folder = Folder::new();
    let entries = "u32:1 u32:1,u32:2\nu32:2 u32:2,u32:1\n";
    folder.write("interfaces", entries);
    let run = |out: &str| {
        let arguments = ["xdp", "run", FIREWALL, "--in", CAPTURE, "--map", "interfaces=interfaces", "--json"];
        let arguments: Vec<&str> = arguments.into_iter().chain(["--out", out]).collect();
        json(&folder.sluice(&arguments).ok())
    };
    for out in ["out/left.pcapng", "out/left.pcap"] {
        let run = run(out);
        let verdicts = &run["programs"][0]["verdicts"];
        let left: u64 = ["pass", "tx", "redirect"].iter().map(|v| verdicts[*v].as_u64().unwrap()).sum();
        assert!(verdicts["drop"].as_u64().unwrap() > 0, "{verdicts}");
        assert_eq!(run["output"]["packets"], left);
        let read = sluice_packet::capture::read_all(&folder.path(out)).unwrap();
        assert_eq!(read.len() as u64, left);
    }
}

#[test]
fn runs_are_the_same_each_time() {
    let folder = Folder::new();
    let run = || {
        let mut run = json(&folder.sluice(&["xdp", "run", FIREWALL, "--in", CAPTURE, "--json"]).ok());
        run["programs"][0]["packets_per_second"] = Value::Null;
        run
    };
    assert_eq!(run(), run());
}

#[test]
fn programs_as_machine_code_do_what_the_interpreter_does() {
    let folder = Folder::new();
    let run = |switch: &str| {
        let arguments = ["xdp", "run", FIREWALL, "--in", CAPTURE, "--json", "--jit", switch];
        let mut run = json(&folder.sluice(&arguments).ok());
        run["programs"][0]["packets_per_second"] = Value::Null;
        run
    };
    assert_eq!(run("on"), run("off"));
}

#[test]
fn a_bench_says_what_a_packet_costs() {
    let folder = Folder::new();
    let bench = |more: &[&str]| {
        let arguments = [&["xdp", "bench", FIREWALL, "--repeat", "1000", "--json"], more].concat();
        json(&folder.sluice(&arguments).ok())["programs"][0].clone()
    };
    let on = bench(&["--in", CAPTURE]);
    assert_eq!((&on["packets"], &on["frames"], &on["faults"]), (&1000.into(), &64.into(), &0.into()));
    assert!(on["interpreter_ns"].as_f64().unwrap() > 0.0 && on["kernel_ns"].is_null(), "{on}");
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        assert!(on["jit_ns"].as_f64().unwrap() > 0.0 && on["jit_code_bytes"].as_u64().unwrap() > 100, "{on}");
        assert_eq!((&on["jit_same"], &on["jit_refused"]), (&true.into(), &Value::Null));
    }
    let off = bench(&["--jit", "off"]);
    assert_eq!((&off["jit_ns"], &off["frames"]), (&Value::Null, &1.into()));
    let text = folder.sluice(&["xdp", "bench", DROP, "--repeat", "100"]).ok();
    assert!(text.contains("interpreter") && text.contains("instructions a packet"), "{text}");
    let refused = folder.sluice(&["xdp", "bench", DROP, "--packet", "0011"]);
    assert!(refused.code == 2 && refused.err.contains("expected 14 or more"), "{}", refused.err);
}

#[test]
fn check_lists_programs_maps_and_helpers() {
    let folder = Folder::new();
    let text = folder.sluice(&["xdp", "check", FIREWALL]).ok();
    assert!(text.contains("redirect_map") && text.contains("lru_hash"), "{text}");
    let report = json(&folder.sluice(&["xdp", "check", FIREWALL, "--json"]).ok());
    assert_eq!(report["programs"][0]["name"], "firewall");
    assert_eq!(report["refused"], json("[]"));
    assert!(report["programs"][0]["helpers"]["redirect_map"].as_u64().unwrap() > 0);
}

#[test]
fn check_names_every_program_and_map_that_is_refused() {
    let folder = Folder::new();
    std::os::unix::fs::symlink(common::root().join("crates"), folder.path("crates")).unwrap();
    let called = folder.sluice(&["xdp", "check", "crates/ebpf/tests/objects/refused.v3.o", "--json"]);
    assert_eq!(called.code, 1, "{}", called.err);
    let codes: Vec<String> =
        json(&called.out)["refused"].as_array().unwrap().iter().map(|r| r["code"].to_string()).collect();
    assert!(
        codes.len() > 3 && ["E0410", "E0414", "E0416", "E0417"].iter().all(|c| codes.contains(&format!("\"{c}\"")))
    );
    let called = folder.sluice(&["xdp", "check", "noise.o"]);
    assert_eq!(called.code, 2, "{}", called.err);
}

#[test]
fn disassembly_has_source_lines_and_regions() {
    let folder = Folder::new();
    let plain = folder.sluice(&["xdp", "disasm", DROP]).ok();
    assert!(plain.contains("r7 = *(u32 *)(r1 +0)") && plain.contains("drop.c:"), "{plain}");
    let regions = folder.sluice(&["xdp", "disasm", DROP, "--regions"]).ok();
    assert!(regions.contains("context") && regions.len() > plain.len(), "{regions}");
    let lines = |text: &str| text.lines().filter(|l| l.starts_with(';')).count();
    assert_eq!(lines(&regions), lines(&plain), "every source line of the plain listing");
    assert!(regions.contains("\ndrop:\n"), "{regions}");
}

#[test]
fn a_trace_has_every_instruction_of_a_packet() {
    let folder = Folder::new();
    let arguments = ["xdp", "run", DROP, "--in", CAPTURE, "--limit", "2", "--trace"];
    let text = folder.sluice(&arguments).ok();
    assert!(text.starts_with("packet 0\n") && text.contains("packet 1\n"), "{text}");
    assert!(text.contains("Load of 4 at 0x10000000"), "{text}");
}

#[test]
fn a_file_that_is_read_is_never_overwritten() {
    let folder = Folder::new();
    let files = [("in.pcapng", CAPTURE), ("drop.o", DROP)];
    let before = files.map(|(name, from)| {
        let bytes = std::fs::read(folder.path(from)).unwrap();
        folder.write(name, &bytes);
        bytes
    });
    folder.write("map", "");
    for more in [
        ["--out", "in.pcapng"],
        ["--out", "./in.pcapng"],
        ["--state", "in.pcapng"],
        ["--state", "drop.o"],
        ["--state", "./map"],
    ] {
        let arguments = ["xdp", "run", "drop.o", "--in", "in.pcapng", "--map", "protocols=map"];
        let called = folder.sluice(&arguments.into_iter().chain(more).collect::<Vec<_>>());
        assert_eq!(called.code, 2, "{more:?}: {}", called.err);
        assert!(called.err.contains("E0502") && called.err.contains("is read"), "{}", called.err);
    }
    let called = folder.sluice(&["xdp", "run", "drop.o", "--in", "in.pcapng", "--out", "a.pcap", "--state", "a.pcap"]);
    assert!(called.err.contains("E0502") && !folder.path("a.pcap").exists(), "{}", called.err);
    assert_eq!(files.map(|(name, _)| std::fs::read(folder.path(name)).unwrap()), before);
}

#[test]
fn wrong_requests_are_answered() {
    let folder = Folder::new();
    folder.write("noise.o", b"\x7fELF and then nothing");
    folder.write("maps.json", "{}");
    folder.write("routes", "10.0.0.0/8 dev nowhere\n");
    folder.write("entries", "u32:1\n");
    folder.write("beyond", "u32:259 zero:16\n");
    folder.write("control", "u32:1 zero:16 \u{1b}[2J\n");
    folder.sluice(&["xdp", "run", DROP, "--in", CAPTURE, "--state", "drop.json"]).ok();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["xdp", "run", "none.o", "--in", CAPTURE], 2, "E0501"),
        (&["xdp", "run", "noise.o", "--in", CAPTURE], 2, "E04"),
        (&["xdp", "run", DROP, "--in", CAPTURE, "--section", "xdp/none"], 2, "E0490"),
        (&["xdp", "run", DROP, "--in", CAPTURE, "--program", "none"], 2, "E0490"),
        (&["xdp", "run", DROP, "--in", CAPTURE, "--map", "none=entries"], 2, "E0490"),
        (
            &["xdp", "run", TAIL_CHAIN, "--program", "tail_chain", "--in", CAPTURE, "--map", "stages=entries"],
            2,
            "E0490",
        ),
        (&["xdp", "run", DROP, "--in", CAPTURE, "--map", "protocols=entries"], 2, "E0437"),
        (&["xdp", "run", DROP, "--in", CAPTURE, "--routes", "routes"], 2, "E046"),
        (&["xdp", "run", DROP, "--in", CAPTURE, "--out", "left.txt"], 2, "E01"),
        (&["xdp", "run", DROP, "--in", "noise.o"], 2, "E01"),
        (&["xdp", "run", DROP, "--iface", "no-such-device"], 2, "E0308"),
        (&["xdp", "run", DROP, "--iface", "a,b,c,d,e"], 2, "E0490"),
        (&["xdp", "run", DROP, "--iface", "a=2,b"], 2, "E0490"),
        (&["xdp", "run", DROP, "--iface", "a", "--program", "none"], 2, "E0471"),
        (&["xdp", "run", DROP, "--iface", "a", "--map", "protocols=entries"], 2, "E0437"),
        (&["xdp", "run", DROP, "--in", CAPTURE, "--cpu", "2", "--cpus", "2"], 2, "E0490"),
        (&["xdp", "run", DROP, "--in", CAPTURE, "--map", "protocols=beyond"], 2, "index 259, allowed: below 259"),
        (&["xdp", "run", DROP, "--in", CAPTURE, "--map", "protocols=control"], 2, "`\\u{1b}[2J`"),
        (&["xdp", "run", DROP, "--in", CAPTURE, "--max-entries", "protocols=0"], 2, "--max-entries protocols=N"),
        (&["xdp", "check", "noise.o"], 2, "E04"),
        (&["xdp", "disasm", DROP, "--program", "none"], 2, "E0490"),
        (&["map", "--state", "maps.json", "list"], 2, "E0491"),
        (&["map", "--state", "maps.json", "list"], 2, "missing field `sluice_maps`, expected"),
        (&["map", "--socket", "none.sock", "list"], 2, "E0501"),
        (&["map", "list"], 2, "E0490"),
        (&["map", "list", "--state", "maps.json", "--socket", "none.sock"], 2, "E0490"),
        (&["map", "list", "--state", "maps.json", "--tenant", "red"], 2, "E0490"),
        (&["map", "get", "protocols", "u16:6", "--state", "drop.json"], 2, "E0435"),
        (&["map", "set", "protocols", "u32:6", "u8:1", "--state", "drop.json"], 2, "E0435"),
        (&["map", "get", "protocols", "key", "-1", "0", "0", "0", "--state", "drop.json"], 2, "E0436"),
        (&["map", "set", "protocols", "u32:259", "zero:16", "--state", "drop.json"], 1, "index 259, allowed: below"),
    ];
    for (arguments, code, error) in cases {
        let called = folder.sluice(arguments);
        assert_eq!(called.code, *code, "{arguments:?}: {}", called.err);
        assert!(called.err.contains(error), "{arguments:?}: {}", called.err);
    }
}

#[test]
fn a_program_is_replaced_by_an_object_file_and_keeps_the_maps_that_are_named() {
    let folder = Folder::new();
    let config = "programs/xdp/nic.toml";
    let run = |extra: &[&str]| {
        let arguments = ["run", "--config", config, "--in", CAPTURE, "--json"];
        folder.sluice(&[&arguments[..], extra].concat())
    };
    let red = |called: common::Called| {
        let run = json(&called.ok());
        let red = run["tenants"].as_array().unwrap().iter().find(|t| t["name"] == "red").unwrap().clone();
        (red["forwarded"].as_u64().unwrap(), red["dropped"]["xdp_drop"].as_u64().unwrap_or(0))
    };
    let replace = "red=programs/xdp/firewall/firewall.o@50%";
    let never = red(run(&[]));
    let kept = red(run(&["--replace", replace, "--keep-maps", "flows,flows6"]));
    assert_eq!(kept, never, "the flows go on");
    // Without them, answers to flows that began before are dropped.
    let cleared = red(run(&["--replace", replace]));
    assert!(cleared.1 > never.1 && cleared.0 + cleared.1 == never.0 + never.1, "{cleared:?} {never:?}");
    let unknown = run(&["--replace", replace, "--keep-maps", "none"]);
    assert!(unknown.code == 2 && unknown.err.contains("E0471"), "{}", unknown.err);
}

/// A folder that also has the loader's test objects.
pub fn objects() -> Folder {
    let folder = Folder::new();
    std::os::unix::fs::symlink(common::root().join("crates/ebpf/tests/objects"), folder.path("objects")).unwrap();
    folder
}

#[test]
fn the_json_of_a_run_has_the_contents_of_rodata() {
    let folder = objects();
    let run =
        json(&folder.sluice(&["xdp", "run", "objects/data.v3.o", "--in", "programs/xdp/mixed.pcap", "--json"]).ok());
    let maps = run["programs"][0]["maps"].as_array().unwrap().clone();
    let rodata = maps.iter().find(|map| map["spec"]["name"] == ".rodata.tune").unwrap();
    assert_eq!(rodata["entries"], json(r#"[{"key": "00000000", "value": "63000000"}]"#));
}

#[test]
fn variables_and_templates_are_set_before_a_run() {
    let folder = objects();
    let run = |options: &[&str]| {
        let first =
            ["xdp", "run", "objects/prepare/settings.o", "--in", "programs/xdp/mixed.pcap", "--limit", "3", "--json"];
        folder.sluice(&first.into_iter().chain(options.iter().copied()).collect::<Vec<_>>())
    };
    let template = ["--inner-map", "tenants=tenant"];
    let without = run(&[]);
    assert_eq!(without.code, 2);
    assert!(without.err.contains("[E0433]") && without.err.contains("--inner-map tenants=MAP"), "{}", without.err);
    let verdicts = |set: &str| {
        let called = run(&[template[0], template[1], "--set", set]);
        assert!(called.err.contains("note: ") && called.err.contains("pinning 16"), "{}", called.err);
        json(&called.ok())["programs"][0]["verdicts"].clone()
    };
    assert_eq!(verdicts("limit=3")["tx"], 3);
    assert_eq!(verdicts("strict=false")["pass"], 3);
    let wrong = run(&[template[0], template[1], "--set", "limits=3"]);
    assert!(wrong.code == 2 && wrong.err.contains("[E0425]") && wrong.err.contains("`limit`"), "{}", wrong.err);
    let wide = run(&[template[0], template[1], "--set", "offset=200"]);
    assert!(wide.code == 2 && wide.err.contains("[E0426]") && wide.err.contains("8 bits"), "{}", wide.err);
}

#[test]
fn check_lists_variables_notes_and_warnings() {
    let folder = objects();
    let settings =
        folder.sluice(&["xdp", "check", "objects/prepare/settings.o", "--inner-map", "tenants=tenant", "--json"]);
    let report = json(&settings.ok());
    let rate = report["variables"].as_array().unwrap().iter().find(|v| v["name"] == "policy.rate").unwrap().clone();
    let expected = r#"{"name": "policy.rate", "section": ".data", "type": "__u32", "size": 4, "value": "1000"}"#;
    assert_eq!(rate, json(expected));
    let local = folder.sluice(&["xdp", "check", "objects/prepare/local.o"]).ok();
    assert!(local.contains("note: function `forgotten` of section `xdp` has local binding"), "{local}");
    assert!(local.contains("warning: program `unchecked`, instruction 15"), "{local}");
    let report = json(&folder.sluice(&["xdp", "check", "objects/prepare/local.o", "--json"]).ok());
    assert_eq!((report["notes"].as_array().unwrap().len(), report["warnings"].as_array().unwrap().len()), (2, 1));
    assert_eq!(report["warnings"][0]["register"], 3);
}

#[test]
fn each_packet_has_a_line_with_verdict_instructions_and_path() {
    let folder = Folder::new();
    let tail = "programs/xdp/tail_chain/tail_chain.o";
    let run = |options: &[&str]| {
        let first = ["xdp", "run", tail, "--in", "programs/xdp/mixed.pcap", "--json", "--packets"];
        folder.sluice(&first.into_iter().chain(options.iter().copied()).collect::<Vec<_>>())
    };
    let report = json(&run(&["out/packets.jsonl"]).ok());
    let text = std::fs::read_to_string(folder.path("out/packets.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(json).collect();
    let program = &report["programs"][0];
    assert_eq!(lines.len() as u64, program["packets"].as_u64().unwrap());
    for (verdict, packets) in program["verdicts"].as_object().unwrap() {
        assert_eq!(lines.iter().filter(|l| l["verdict"] == *verdict).count() as u64, packets.as_u64().unwrap());
    }
    let least = lines.iter().map(|l| l["instructions"].as_u64().unwrap()).min();
    assert_eq!(least, program["instructions_per_packet"]["min"].as_u64());
    assert_eq!(lines[0]["path"], json(r#"["tail_chain", "parse", "policy"]"#));
    assert_eq!(
        (lines[7]["packet"].as_u64(), &lines[7]["to"], &lines[7]["fault"]),
        (Some(7), &Value::Null, &Value::Null)
    );
    // On standard output the lines are alone.
    let piped = run(&["-"]);
    assert_eq!(json(&piped.err)["programs"][0]["packets"], program["packets"]);
    assert_eq!(piped.ok(), text);
    let capture = "programs/xdp/mixed.pcap";
    let both = folder.sluice(&["xdp", "run", tail, "--in", capture, "--packets", "-", "--trace"]);
    assert!(both.code == 2 && both.err.contains("[E0490]"), "{}", both.err);
    assert_eq!(run(&[tail]).code, 2, "the object is read");
}

#[test]
fn a_redirected_packet_has_its_destination_and_an_aborted_one_its_fault() {
    let folder = objects();
    let run = |object: &str, maps: &[&str]| -> Vec<Value> {
        let first = ["xdp", "run", object, "--in", "programs/xdp/mixed.pcap", "--packets", "-"];
        let out = folder.sluice(&first.into_iter().chain(maps.iter().copied()).collect::<Vec<_>>()).ok();
        out.lines().map(json).collect()
    };
    let maps = [
        "--map",
        "patches=programs/xdp/redirect_map/patches.map",
        "--map",
        "ports=programs/xdp/redirect_map/ports.map",
    ];
    let lines = run("programs/xdp/redirect_map/redirect_map.o", &maps);
    assert!(lines.iter().any(|l| l["verdict"] == "redirect" && l["to"].as_str().unwrap().starts_with("ifindex ")));
    let lines = run("objects/prepare/local.o", &["--program", "unchecked"]);
    assert!(lines.iter().all(|l| l["verdict"] == "aborted" && l["fault"].as_str().unwrap().contains("unchecked:")));
}

#[test]
fn a_program_array_takes_positions_of_the_modules_programs_only() {
    let f = Folder::new();
    let run = |statement: &str| {
        let program = f.path(TAIL_CHAIN);
        let script = format!(
            "tenant red id=3 vlan=7\nxdp red {} program=tail_chain\nmap red stages set u32:0 {statement}\n",
            program.display()
        );
        f.write("a.pkt", &script);
        f.sluice(&["script", "a.pkt"])
    };
    assert_eq!(run("u32:3").code, 0);
    for position in ["u32:4", "u32:4294967295"] {
        let called = run(position);
        let text = format!("{}{}", called.out, called.err);
        assert!(called.code == 1 && text.contains("no program at this position (error 9)"), "{text}");
    }
}

#[test]
fn bundles_do_what_the_interpreter_does_and_say_how_many_they_were() {
    let folder = Folder::new();
    let run = |more: &[&str]| {
        let arguments = [&["xdp", "run", FIREWALL, "--in", CAPTURE, "--json"], more].concat();
        let mut run = json(&folder.sluice(&arguments).ok());
        let program = run["programs"][0].as_object_mut().unwrap();
        for measured in ["packets_per_second", "instructions_per_packet"] {
            program.remove(measured);
        }
        (program.remove("per_packet"), run)
    };
    let (none, expected) = run(&[]);
    assert!(none.is_none());
    // What depends on each other bounds a short path: more lanes never need more bundles, and four need fewer than one.
    let mut counts = Vec::new();
    for lanes in ["1", "2", "4"] {
        let (per_packet, found) = run(&["--device", "bundles", "--lanes", lanes]);
        assert_eq!(found, expected, "{lanes} lanes");
        let per_packet = per_packet.unwrap();
        let of = |name: &str| per_packet[name].as_f64().unwrap();
        let (bundles, alone, cycles) = (of("bundles"), of("model_cycles_alone"), of("model_cycles_per_packet"));
        assert!(alone > 5.0 * bundles, "{per_packet}: a context issues a bundle in 5 cycles or more");
        assert!(cycles > 0.99 * bundles / 2.0 && cycles < alone, "{per_packet}: two cores issue two bundles a cycle");
        counts.push(bundles);
    }
    assert!(
        counts.is_sorted_by(|more, fewer| more >= fewer) && 1.0 <= counts[2] && counts[2] < counts[0],
        "{counts:?}"
    );
    let text = folder.sluice(&["xdp", "run", DROP, "--in", CAPTURE, "--device", "bundles"]).ok();
    assert!(text.contains("2 lanes: ") && text.contains("cycles a packet on 2 cores of 8 contexts"), "{text}");
    let refused = folder.sluice(&["xdp", "run", DROP, "--in", CAPTURE, "--lanes", "4"]);
    assert!(refused.code == 2 && refused.err.contains("E0490") && refused.err.contains("--device"), "{}", refused.err);
}

#[test]
fn rows_are_shown_beside_source_lines_and_instructions() {
    let folder = Folder::new();
    let text = folder.sluice(&["xdp", "show", DROP]).ok();
    assert!(
        text.contains("\n; ") && text.contains("drop.c:") && text.contains("map protocols (percpu_array)"),
        "{text}"
    );
    assert!(text.contains("    0 .0  ") && text.contains(" exit 1 "), "{text}");
    let shown = json(&folder.sluice(&["xdp", "show", TAIL_CHAIN, "--program", "tail_chain", "--json"]).ok());
    let program = &shown["programs"][0];
    let lanes: Vec<&Value> =
        program["rows"].as_array().unwrap().iter().flat_map(|row| row.as_array().unwrap()).collect();
    assert!(lanes.iter().all(|lane| lane["slot"].is_u64() && lane["line"].is_u64()), "{program}");
    assert!(lanes.iter().any(|lane| lane["ebpf"] == "call bpf_tail_call#12"), "{program}");
    // A plain read-modify-write of a shared value is why.
    let serial = "programs/xdp/lru_conntrack/lru_conntrack.o";
    let text = folder.sluice(&["xdp", "show", serial]).ok();
    assert!(text.contains("flow-serial: ") && text.contains("  reads at ./programs/xdp/lru_conntrack"), "{text}");
    let refused = folder.sluice(&["xdp", "show", DROP, "--lanes", "3"]);
    assert!(refused.code == 2 && refused.err.contains("E0801"), "{}", refused.err);
}

#[test]
fn compiling_says_rows_beside_instructions_and_shows_them() {
    let folder = Folder::new();
    let compiled =
        json(&folder.sluice(&["xdp", "compile", TAIL_CHAIN, "--lanes", "4", "--warp", "off", "--json"]).ok());
    assert_eq!(
        compiled["target"],
        serde_json::json!({ "lanes": 4, "ports": 2, "rows": 8192, "rules": 64, "steps": 128 })
    );
    let programs = compiled["programs"].as_array().unwrap();
    assert!(programs.len() > 1, "{compiled}");
    for program in programs {
        let [instructions, rows] = ["instructions", "rows"].map(|name| program[name].as_u64().unwrap());
        assert!(0 < rows && rows < instructions && program["refused"].is_null(), "{program}");
    }
    let text = folder.sluice(&["xdp", "compile", DROP, "--show"]).ok();
    assert!(text.contains("insns/row") && text.contains("    0 .0") && text.contains("drop.c:"), "{text}");
    let rows = |passes: &str| {
        let how = if passes == "all" { ["--warp", "off"] } else { ["--passes", passes] };
        let line = ["xdp", "compile", DROP, how[0], how[1], "--json"];
        let compiled = json(&folder.sluice(&line).ok());
        compiled["programs"][0]["rows"].as_u64().unwrap()
    };
    // Copied traces take rows and save bundles.
    assert!(rows("all") < rows("-adds") && rows("-superblocks,-short") < rows("none"));
    let gain = json(&folder.sluice(&["xdp", "compile", DROP, "--gain", "--json"]).ok());
    let passes = gain["programs"][0]["gain"].as_array().unwrap();
    assert_eq!((passes[0]["pass"].as_str(), passes[0]["rows"].as_u64()), (Some("none"), Some(rows("none"))));
    assert_eq!(passes.last().unwrap()["rows"].as_u64(), Some(rows("all")));
    let text = folder.sluice(&["xdp", "compile", DROP, "--gain"]).ok();
    assert!(text.contains("rows without it") && text.contains("\nsuperblocks "), "{text}");
    let refused = folder.sluice(&["xdp", "compile", DROP, "--passes", "copies,inline"]);
    assert!(refused.code == 2 && refused.err.contains("E0804") && refused.err.contains("`inline`"), "{}", refused.err);
    let refused = folder.sluice(&["xdp", "compile", DROP, "--lanes", "3"]);
    assert!(refused.code == 2 && refused.err.contains("E0801") && refused.err.contains("1, 2, 4"), "{}", refused.err);
}

#[test]
fn a_profile_makes_its_packets_execute_fewer_bundles_and_the_same_bytes_each_time() {
    let folder = Folder::new();
    let run = |more: &[&str]| {
        let line = ["xdp", "compile", "programs/xdp/udp_firewall/udp_firewall.o", "--json"];
        json(&folder.sluice(&[&line[..], more].concat()).ok())
    };
    let profiled = run(&["--profile", "programs/xdp/mixed.pcap"]);
    let profile = &profiled["programs"][0]["profile"];
    let bundles = |name: &str| profile[name].as_u64().unwrap();
    assert!(bundles("packets") > 0 && bundles("bundles") <= bundles("bundles_fixed"), "{profile}");
    assert_eq!(profiled, run(&["--profile", "programs/xdp/mixed.pcap"]));
    assert_eq!(run(&[])["programs"][0]["profile"], Value::Null);
    let line = ["xdp", "compile", "programs/xdp/udp_firewall/udp_firewall.o", "--profile", "programs/xdp/mixed.pcap"];
    let text = folder.sluice(&line).ok();
    assert!(text.contains(" packets of the profile: ") && text.contains(" by the fixed rule ("), "{text}");
}

#[test]
fn a_profile_that_is_empty_or_damaged_is_refused() {
    let folder = Folder::new();
    let writer = CaptureWriter::new("empty", Vec::new(), Format::Pcap, &["port0"]).unwrap();
    folder.write("empty.pcap", writer.into_inner().unwrap());
    folder.write("damaged.pcap", b"no capture");
    let run = |file: &str| folder.sluice(&["xdp", "compile", DROP, "--profile", file]);
    let empty = run("empty.pcap");
    assert!(empty.code == 2 && empty.err.contains("error[E0820]") && empty.err.contains("no packets"), "{}", empty.err);
    let damaged = run("damaged.pcap");
    assert!(damaged.code == 2 && damaged.err.contains("damaged.pcap") && damaged.out.is_empty(), "{}", damaged.err);
    let missing = run("missing.pcap");
    assert!(missing.code == 2 && missing.err.contains("missing.pcap"), "{}", missing.err);
    let map = folder.sluice(&["xdp", "compile", DROP, "--map", "m=file"]);
    assert!(map.code == 2 && map.err.contains("--profile"), "{}", map.err);
}
