//! `sluice run` with the shipped example.

use crate::common::{Folder, has_plugin, root};
use serde_json::Value;
use sluice_packet::capture::{Packet, read_all};
use sluice_packet::flow::vlan_id;

const CONFIG: [&str; 5] = ["run", "--config", "programs/nic/nic.toml", "--in", "programs/nic/mixed.pcapng"];
const REPLACE: [&str; 2] = ["--replace", "red=programs/nic/red-2.json@50%"];

fn json(folder: &Folder, more: &[&str]) -> Value {
    let out = folder.sluice(&[&CONFIG[..], more, &["--json"]].concat()).ok();
    serde_json::from_str(&out).unwrap()
}

fn tenant<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["tenants"].as_array().unwrap().iter().find(|t| t["name"] == name).unwrap()
}

fn captures(folder: &Folder, name: &str) -> Vec<Packet> {
    read_all(&folder.path(name)).unwrap()
}

#[test]
fn the_shipped_capture_is_what_its_command_makes() {
    let folder = Folder::new();
    let line = "sluice generate --seed 7 --vlan 10,20,30 --seldom 99 --untagged --packets 3000 -o mixed.pcapng";
    folder.shell(line).ok();
    let made = std::fs::read(folder.path("mixed.pcapng")).unwrap();
    let shipped = std::fs::read(root().join("programs/nic/mixed.pcapng")).unwrap();
    assert!(made == shipped, "programs/nic/mixed.pcapng is stale, to make it again: {line}");
    assert!(shipped.len() < 2_000_000);
}

#[test]
fn every_packet_is_accounted_for_and_every_output_is_written() {
    let folder = Folder::new();
    let outputs = ["port0", "port1", "port2", "port3", "host0", "host1", "host2", "host3"];
    let arguments: Vec<String> =
        outputs.iter().flat_map(|d| ["--out".to_owned(), format!("{d}=out/{d}.pcapng")]).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let report = json(&folder, &arguments);
    assert_eq!(report["total"]["offered"], 3000);
    assert_eq!(report["accounting_closed"], true);
    let system = tenant(&report, "system");
    assert_eq!((&system["offered"], &system["dropped"]["unmapped"]), (&180.into(), &180.into()));
    for name in ["red", "green", "blue"] {
        assert!(tenant(&report, name)["offered"].as_u64().unwrap() > 500);
    }
    let left = report["total"]["forwarded"].as_u64().unwrap() + report["total"]["delivered"].as_u64().unwrap();
    let mut written = 0;
    for output in outputs {
        let packets = captures(&folder, &format!("out/{output}.pcapng"));
        let tagged = packets.iter().all(|p| vlan_id(&p.bytes).is_some() == output.starts_with("port"));
        assert!(tagged, "{output}");
        written += packets.len() as u64;
    }
    assert_eq!(written, left);
}

#[test]
fn the_second_program_takes_over_half_way_and_nobody_else_notices() {
    let folder = Folder::new();
    let out = ["--out", "port3=out/port3.pcapng"];
    let before = json(&folder, &out);
    let reds = |folder: &Folder| {
        let packets = captures(folder, "out/port3.pcapng");
        packets.iter().filter(|p| vlan_id(&p.bytes) == Some(10)).cloned().collect::<Vec<_>>()
    };
    assert!(reds(&folder).is_empty());
    let after = json(&folder, &[&out[..], &REPLACE].concat());
    let moved = reds(&folder);
    assert!(moved.len() > 50);
    let macs = [[2, 0, 0, 10, 1, 3], [2, 0, 0, 10, 1, 4]];
    assert!(moved.iter().all(|p| macs.iter().any(|mac| p.bytes[..6] == mac[..])));
    for name in ["red", "green", "blue", "system"] {
        let counts = |report| {
            let t = tenant(report, name);
            [&t["offered"], &t["forwarded"], &t["delivered"], &t["copies"]].map(|v| v.clone())
        };
        assert_eq!(counts(&before), counts(&after), "{name}");
    }
    assert_eq!(after["model"]["replacements"].as_array().unwrap().len(), 1);
}

#[test]
fn the_same_call_gives_the_same_captures() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        let out = format!("port0={name}.pcapng");
        folder.sluice(&[&CONFIG[..], &REPLACE, &["--out", &out]].concat()).ok();
    }
    assert_eq!(std::fs::read(folder.path("a.pcapng")).unwrap(), std::fs::read(folder.path("b.pcapng")).unwrap());
}

#[test]
fn the_table_has_a_row_a_tenant_and_limit_ends_the_input() {
    let folder = Folder::new();
    let text = folder.sluice(&[&CONFIG[..], &["--limit", "100", "--replace", "1=programs/nic/red-2.json@40"]].concat());
    let text = text.ok();
    for word in ["system", "red", "green", "blue", "total", "packets/s", "accounting: closed", "begun at packet 40"] {
        assert!(text.contains(word), "{word}:\n{text}");
    }
    let total = text.lines().find(|l| l.starts_with("total")).unwrap();
    assert_eq!(total.split_whitespace().nth(1), Some("100"));
}

#[test]
fn a_pcap_of_one_port_and_stamps_as_they_are_work_too() {
    let folder = Folder::new();
    let packets = &captures(&folder, "programs/nic/mixed.pcapng")[..50];
    let one: Vec<Packet> = packets.iter().map(|p| Packet { interface: 0, ..p.clone() }).collect();
    sluice_packet::capture::write_all(&folder.path("one.pcap"), &one).unwrap();
    let base = ["run", "--config", "programs/nic/nic.toml", "--json"];
    let arguments = [&base[..], &["--in", "port2=one.pcap", "--stamps", "--out", "port0=out.pcap"]].concat();
    let report: Value = serde_json::from_str(&folder.sluice(&arguments).ok()).unwrap();
    assert_eq!(report["total"]["offered"], 50);
    assert!(folder.path("out.pcap").is_file());
    // Without interface names a capture needs its port.
    let called = folder.sluice(&[&base[..], &["--in", "one.pcap"]].concat());
    assert_eq!(called.code, 2);
    assert!(called.err.contains("--in port0=one.pcap"), "{}", called.err);
}

#[test]
fn both_devices_agree_on_the_whole_example() {
    if !has_plugin("bare_default") {
        return;
    }
    let folder = Folder::new();
    let on = ["--device", "both", "--engines", "rmt", "--out", "port3=both.pcapng"];
    let report = json(&folder, &[&REPLACE[..], &on].concat());
    assert_eq!((&report["compared"], &report["accounting_closed"]), (&true.into(), &true.into()));
    assert_eq!(report["total"]["offered"], 3000);
    assert!(report["rtl"]["ticks"].as_u64().unwrap() > 10_000);
    assert!(tenant(&report, "red")["cycles_per_packet"].as_f64().unwrap() > 1.0);
    assert!(captures(&folder, "both.pcapng").iter().any(|p| vlan_id(&p.bytes) == Some(10)));
}

#[test]
fn drops_that_depend_on_cycles_are_told_apart_from_what_is_compared() {
    let f = Folder::new();
    let run = |more: &[&str]| {
        let run = ["run", "--config", "programs/nic/nic.toml", "--in", "programs/nic/mixed.pcapng"];
        f.sluice(&[&run[..], more].concat()).ok()
    };
    let alone = run(&["--gbps", "400"]);
    assert!(alone.contains("over_share ") && alone.contains("by the model's own ticks"), "{alone}");
    assert!(!run(&[]).contains("own ticks"));
    if has_plugin("bare_default") {
        let both = run(&["--gbps", "400", "--device", "both", "--engines", "rmt"]);
        let lines =
            "compared: model and rtl agree in every packet, byte and counter\n          over_share: which packets";
        assert!(both.contains(lines) && !both.contains("own ticks"), "{both}");
    }
}
