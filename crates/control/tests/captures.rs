//! Captures through the software NIC by a configuration.

use sluice_control::config::{NicConfig, bring_up};
use sluice_device::Device;
use sluice_formats::target::TINY;
use sluice_nic::ports::{Bindings, LiveCounts, PortError, run_live};
use sluice_nic::{DataPlane, SoftwareNic};
use sluice_object::Linker;
use sluice_packet::capture::{Packet, read_all, write_all};
use sluice_packet::notation::packet;

const CONFIG: &str = r#"
[device]
target = "tiny"
[[port]]
number = 0
input = "in0.pcap"
[[port]]
number = 3
output = "out3.pcapng"
[[host]]
number = 1
output = "host1.pcap"
[[tenant]]
name = "red"
id = 1
vlans = [10]
queues = { port3 = 64 }
[tenant.table]
key = "none"
default = { to = ["port3"] }
[[tenant]]
name = "blue"
id = 2
vlans = [20]
queues = { host1 = 64 }
[tenant.table]
key = "none"
default = { to = ["host1"] }
"#;

#[test]
fn a_capture_played_into_a_port_comes_out_in_order() {
    played(SoftwareNic::new(TINY), |nic, bindings| run_live(nic, bindings, |_, _| false));
    played(DataPlane::new(TINY), |nic, bindings| nic.run_live(bindings, |_, _| false));
}

/// Plays 200 packets of two tenants through a device that `run` moves packets of.
fn played<D: Device>(mut nic: D, run: impl Fn(&mut D, &mut Bindings) -> Result<LiveCounts, PortError>) {
    let folder = tempfile::tempdir().unwrap();
    let frames: Vec<Vec<u8>> = (0..200)
        .map(|i| {
            let vid = if i % 2 == 0 { 10 } else { 20 };
            packet(&format!("eth/vlan(vid={vid})/ipv4/udp/payload(len={}, seed={i})", 18 + i % 40)).unwrap()
        })
        .collect();
    let packets: Vec<Packet> = frames.iter().enumerate().map(|(i, f)| Packet::new(i as u64, f.clone())).collect();
    write_all(&folder.path().join("in0.pcap"), &packets).unwrap_or_else(|e| panic!("{e}"));
    std::fs::write(folder.path().join("nic.toml"), CONFIG).unwrap();
    let config = NicConfig::read(&folder.path().join("nic.toml")).unwrap_or_else(|e| panic!("{e}"));
    bring_up(&config, &mut nic, &mut Linker::new(config.target)).unwrap_or_else(|e| panic!("{e}"));
    let mut bindings = Bindings::open(&config.ports, &config.hosts, || false).unwrap_or_else(|e| panic!("{e}"));
    let counts = run(&mut nic, &mut bindings).unwrap_or_else(|e| panic!("{e}"));
    bindings.finish().unwrap();
    let dropped: u64 = nic.counters().unwrap().modules.values().flat_map(|c| c.dropped.values()).sum();
    assert_eq!((counts.received, counts.sent, dropped), (200, 200, 0));
    let of = |parity: usize| frames.iter().skip(parity).step_by(2).cloned();
    let written = |name: &str| read_all(&folder.path().join(name)).unwrap().into_iter().map(|p| p.bytes);
    assert!(written("out3.pcapng").eq(of(0)));
    let untagged = of(1).map(|mut frame| {
        frame.drain(12..16);
        frame
    });
    assert!(written("host1.pcap").eq(untagged));
}

#[test]
fn a_capture_that_is_not_there_is_told_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let config = NicConfig::parse("nic.toml", CONFIG, folder.path()).unwrap_or_else(|e| panic!("{e}"));
    let Err(error) = Bindings::open(&config.ports, &config.hosts, || false) else {
        panic!("a capture that is not there was opened")
    };
    assert!(error.to_string().contains("in0.pcap"), "{error}");
    assert!(error.code().starts_with("E01"), "{}", error.code());
}
