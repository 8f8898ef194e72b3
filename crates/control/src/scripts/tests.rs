use super::*;
use sluice_formats::target::{DEFAULT, TINY};
use sluice_nic::SoftwareNic;

fn run(text: &str) -> Report {
    let script = Script::parse("test.pkt", text).unwrap_or_else(|e| panic!("{e}"));
    // The system program of programs/rmt has groups of the default target.
    let target = if text.starts_with("rmt system") { DEFAULT } else { TINY };
    run_script(&script, &mut SoftwareNic::new(target))
}

const SETUP: &str = "tenant red id=3 vlan=7\ntable red key=dmac default=port 2\n";

#[test]
fn a_failed_expectation_names_its_line_and_the_script_goes_on() {
    let report = run(&format!("{SETUP}send 0 eth/vlan(vid=7)/arp\nexpect port 1 eth/vlan(vid=7)/arp\nexpect none\n"));
    assert_eq!(report.failures.len(), 2);
    let text = report.to_string();
    assert!(text.contains("test.pkt:4:1: [E0311] expected packet 1 of 1 at port1"), "{text}");
    assert!(text.contains("4 | expect port 1 eth/vlan(vid=7)/arp"), "{text}");
    assert!(text.contains("test.pkt:5:1: [E0311]") && text.contains("1 at destination 2"), "{text}");
    assert!(!report.passed());
}

#[test]
fn packets_and_drops_nobody_asked_for_fail_at_the_end() {
    let report = run(&format!("{SETUP}send 0 eth/vlan(vid=7)/arp\nsend 0 eth/arp\n"));
    let text = report.to_string();
    assert!(text.contains("after the last statement") && text.contains("1 dropped of module 0 (unmapped)"), "{text}");
    assert_eq!((report.sent, report.received, report.dropped), (2, 1, 1));
}

#[test]
fn a_differing_packet_is_shown_field_by_field() {
    let report =
        run(&format!("{SETUP}send 0 eth/vlan(vid=7)/ipv4(ttl=9)\nexpect port 2 eth/vlan(vid=7)/ipv4(ttl=8)\n"));
    let text = report.to_string();
    assert!(text.contains("ttl"), "{text}");
    assert_eq!(report.failures.len(), 2);
}

#[test]
fn what_the_nic_cannot_have_ends_the_script_in_words() {
    for (text, code, words) in [
        ("nic speed=9", "E0310", "found `speed`, allowed: port, untagged"),
        ("nic untagged=red", "E0310", "the name of a tenant declared before"),
        ("rmt system ../../programs/rmt/system.rmt\nnic untagged=system", "E0226", "found the system tenant"),
        ("nic port=4 min_frame=60", "E0310", "0 to 3"),
        ("nic min_frame=9217", "E0310", "14 to 9216"),
        ("nic min_frame=100 max_frame=90", "E0226", "max_frame"),
        ("tenant red id=3 vlan=7\ntable red key=five_tuple mask=dst/20 default=drop", "E0310", "whole bytes"),
        ("tenant red id=3 vlan=7\ntable red key=dmac default=port 6", "E0221", "port6 does not exist"),
        ("drop reason=boredom", "E0310", "overload, unmapped"),
        ("counter system speed = 1", "E0310", "offered_bytes"),
        ("tenant red id=3 vlan=7\nload red none.json", "E0305", "none.json"),
        ("send 4 eth", "E0310", "0 to 3"),
        ("block port 4", "E0310", "port 0 to 3"),
    ] {
        let report = run(text);
        let [failed] = report.failures.as_slice() else { panic!("{text}: {report}") };
        let message = failed.failure.to_string();
        assert!(message.contains(words), "{text}: {message}");
        assert_eq!(failed.failure.code(), code, "{text}: {message}");
    }
}

#[test]
fn a_script_for_another_target_is_skipped() {
    let report = run("device default\nsend 0 eth");
    assert!(report.passed() && report.skipped.is_some());
    assert_eq!(report.sent, 0);
}

#[test]
fn what_a_device_was_asked_for_and_does_not_have_is_no_finding() {
    use sluice_device::{StepError, Waited};
    let finding = |error: DeviceError| ScriptFailure::from(error).is_finding();
    for refused in [
        DeviceError::NoPort { found: 9, max: 3 },
        DeviceError::NoDestination { found: 9, max: 7 },
        DeviceError::FrameLength { found: 20_000, max: 16_383 },
        DeviceError::NoQueues { device: "rtl-rmt" },
        DeviceError::NoMaps { device: "rtl" },
        DeviceError::NoProgram { module: 1 },
        DeviceError::NoEngine {
            label: "load red".to_owned(),
            step: 0,
            what: "a program",
            engine: EngineId::XDP,
            device: "rtl",
            has: "rmt".to_owned(),
        },
        DeviceError::Version { label: "load red".to_owned(), found: 1, allowed: 2 },
    ] {
        assert!(!finding(refused.clone()), "{refused:?}");
    }
    for found in [
        DeviceError::Unavailable("RTL and model differ at tick 7".to_owned()),
        DeviceError::Timeout { what: Waited::HeldMerge, ticks: 9 },
        DeviceError::Map { operation: "update", map: 1, errno: 17 },
        DeviceError::Step { label: "load red".to_owned(), step: 0, error: StepError::Ring("no answer".to_owned()) },
    ] {
        assert!(finding(found.clone()), "{found:?}");
    }
}

/// Eight messages with IDs that meet a ninth one's places under the secrets that everybody knows: their tenant drops another one's message there.
#[test]
fn who_does_not_know_the_secrets_cannot_choose_messages_that_meet() {
    let rules = "../../programs/l7/kv_prefix.l7";
    let ids: [u32; 8] = [0x1ca6, 0x1947b, 0x2b422, 0x33cff, 0x4330d, 0x5bbd0, 0x69b89, 0x71354];
    let dropped = |seed: &str| {
        let send = |vlan: u32, port: u32, id: u32, packets: u32| {
            format!(
                "send {port} eth/vlan(vid={vlan})/ipv4/udp(dport=9100)/qnp(app=2, type=1, id={id}, packets={packets})/tlv(index=1, text=\"user:7\")\nidle\n"
            )
        };
        let chosen: String = ids.iter().map(|id| send(10, 0, *id, 2)).collect();
        let text = format!(
            "device default\n{seed}tenant evil id=1 vlan=10\ntenant victim id=2 vlan=20\nrules evil {rules}\nrules victim {rules}\n{chosen}{}",
            send(20, 1, 7, 1)
        );
        let script = Script::parse("test.pkt", &text).unwrap_or_else(|e| panic!("{e}"));
        let report = run_script(&script, &mut SoftwareNic::new(sluice_formats::target::DEFAULT));
        assert_eq!(report.sent, 9, "{report}");
        (report.dropped, report.to_string().contains("l7_no_state"))
    };
    assert_eq!(dropped(""), (1, true));
    for seed in ["seed 1\n", "seed 2\n", "seed 41\n"] {
        assert_eq!(dropped(seed), (0, false), "{seed}");
    }
}
