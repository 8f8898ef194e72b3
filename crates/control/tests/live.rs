//! The software NIC between live interfaces, in a network namespace of its own. Where that is
//! not permitted the test says so and checks nothing.
#![cfg(target_os = "linux")]

#[allow(dead_code, reason = "what the ports' own tests need more")]
#[path = "../../ports/tests/lab.rs"]
mod lab;

use lab::{is_inside, port, send, veth};
use sluice_control::config::{NicConfig, bring_up};
use sluice_device::Device;
use sluice_nic::ports::{Bindings, LiveCounts, run_live};
use sluice_nic::{DataPlane, SoftwareNic, engines};
use sluice_object::Linker;
use sluice_packet::notation::packet;
use sluice_ports::{Options, Port, Wanted, open};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

const CONFIG: &str = r#"
[device]
target = "default"
[[port]]
number = 0
iface = "nic0"
[[port]]
number = 1
iface = "nic1"
[[host]]
number = 0
tap = "tap0"
[[tenant]]
name = "red"
id = 1
vlans = [10]
queues = { port1 = 64 }
[tenant.table]
key = "none"
default = { to = ["port1"] }
[[tenant]]
name = "blue"
id = 2
vlans = [20]
queues = { host0 = 64 }
[tenant.table]
key = "none"
default = { to = ["host0"] }
"#;

/// The next frame that satisfies `wanted`, within five seconds.
fn receive(port: &mut Port, wanted: impl Fn(&[u8]) -> bool) -> Option<Vec<u8>> {
    let begun = Instant::now();
    let mut found = None;
    while found.is_none() && begun.elapsed() < Duration::from_secs(5) {
        let mut take = |bytes: &[u8], _: &_| found = found.take().or_else(|| wanted(bytes).then(|| bytes.to_vec()));
        if port.receive(64, &mut take).expect("the interface works") == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    found
}

#[test]
fn frames_go_through_interfaces_with_their_tags() {
    if !is_inside("live::frames_go_through_interfaces_with_their_tags") {
        return;
    }
    (0..2).for_each(|port| veth(port, ""));
    let config = NicConfig::parse("live.toml", CONFIG, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
    let mut model = SoftwareNic::new(*config.target);
    through(&config, &mut model, |model, bindings, stop| run_live(model, bindings, stop));
    for workers in 1..=3 {
        let mut plane = DataPlane::with_workers(*config.target, engines::ALL, workers);
        through(&config, &mut plane, |plane, bindings, stop| plane.run_live(bindings, stop));
    }
}

/// Whether a loop is to end.
type Stop<'a> = &'a mut dyn FnMut(&mut dyn Device, &LiveCounts) -> bool;

/// Frames of two tenants through a device that `run` moves packets of.
fn through<D: Device>(
    config: &NicConfig,
    nic: &mut D,
    run: impl Fn(&mut D, &mut Bindings, Stop<'_>) -> Result<LiveCounts, sluice_nic::ports::PortError>,
) {
    let mut linker = Linker::new(config.target);
    bring_up(config, nic, &mut linker).unwrap_or_else(|e| panic!("{e}"));
    let mut bindings = Bindings::open(&config.ports, &config.hosts, || false).unwrap_or_else(|e| panic!("{e}"));
    let mut wires = [port("wire0", Wanted::Packet), port("wire1", Wanted::Packet)];
    let mut host = port("tap0", Wanted::Packet);

    let red = packet("eth/vlan(vid=10, pcp=5)/ipv4/udp(dport=53)/payload(len=80, seed=1)").unwrap();
    let blue = packet("eth/vlan(vid=20)/ipv4/udp(dport=54)/payload(len=90, seed=2)").unwrap();
    let blue_untagged = packet("eth/ipv4/udp(dport=54)/payload(len=90, seed=2)").unwrap();
    for frame in [&red, &blue] {
        send(&mut wires[0], frame);
    }
    let begun = Instant::now();
    let counts = run(nic, &mut bindings, &mut |_, counts| counts.sent >= 2 || begun.elapsed() > Duration::from_secs(5));
    let counts = counts.unwrap_or_else(|e| panic!("{e}"));
    assert!(counts.received >= 2 && counts.sent >= 2, "{counts:?}");
    let through = receive(&mut wires[1], |bytes| bytes.len() == red.len());
    assert_eq!(through.as_ref(), Some(&red), "the tag is where it was");
    let delivered = receive(&mut host, |bytes| bytes.len() == blue_untagged.len());
    assert_eq!(delivered.as_ref(), Some(&blue_untagged));
    let counters = nic.counters().unwrap();
    for tenant in [1, 2] {
        let c = &counters.modules[&linker.tenant(tenant).unwrap().module];
        assert!(c.closes());
        assert_eq!((c.offered, c.forwarded + c.delivered), (1, 1), "tenant {tenant}: {c:?}");
    }
    bindings.finish().unwrap();
}

#[test]
fn an_interface_that_is_not_there_is_told_in_words() {
    let text = CONFIG.replace("nic0", "nonesuch0");
    let config = NicConfig::parse("live.toml", &text, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
    let Err(error) = Bindings::open(&config.ports, &config.hosts, || false) else { panic!("it is open") };
    assert_eq!(error.code(), "E0308");
    assert!(error.to_string().starts_with("interface `nonesuch0`: is not there: No such device"), "{error}");
}

#[test]
fn queues_of_an_interface_are_dealt_to_workers() {
    if !is_inside("live::queues_of_an_interface_are_dealt_to_workers") {
        return;
    }
    (0..2).for_each(|port| veth(port, " numrxqueues 4 numtxqueues 4"));
    let config = NicConfig::parse("live.toml", CONFIG, Path::new("")).unwrap_or_else(|e| panic!("{e}"));
    for workers in [1, 2, 3, 4] {
        let mut nic = DataPlane::with_workers(*config.target, engines::ALL, workers);
        bring_up(&config, &mut nic, &mut Linker::new(config.target)).unwrap_or_else(|e| panic!("{e}"));
        let mut bindings = Bindings::open(&config.ports, &config.hosts, || false).unwrap_or_else(|e| panic!("{e}"));
        let opened = bindings.watches[0].report().opened;
        assert!(opened.contains("queue 1 of 4"), "{opened}");
        let options = Options { kind: Wanted::Packet, slots: 1024, ..Options::default() };
        let [mut sender, mut receiver] = ["wire0", "wire1"].map(|name| open(name, &options).unwrap().remove(0));
        // The kernel chooses the queue.
        let frame = |n: u32| {
            let text =
                format!("eth/vlan(vid=10)/ipv4(src=10.0.0.{})/udp(sport={})/payload(len=80)", n % 200, 1000 + n % 200);
            packet(&text).unwrap()
        };
        let (mut sent, mut came, begun) = (0, BTreeMap::<Vec<u8>, u32>::new(), Instant::now());
        let counts = nic.run_live(&mut bindings, |_, counts| {
            let next = sent..(sent + 20).min(600);
            sent = next.end;
            next.for_each(|n| send(&mut sender, &frame(n)));
            let mut take = |bytes: &[u8], _: &_| *came.entry(bytes.to_vec()).or_default() += 1;
            receiver.receive(256, &mut take).expect("the interface works");
            (counts.sent >= 600 && came.values().sum::<u32>() >= 600) || begun.elapsed() > Duration::from_secs(5)
        });
        let counts = counts.unwrap_or_else(|e| panic!("{e}"));
        bindings.finish().unwrap();
        assert_eq!((counts.received, counts.sent, counts.missed), (600, 600, 0), "{workers} workers");
        assert!(
            (0..200).all(|n| came.get(&frame(n)) == Some(&3)),
            "{workers} workers: {} frames of 200 came",
            came.len()
        );
    }
}
