//! Captures through a data plane with several workers, a thread each, while a tenant is replaced.

use sluice_control::config::{NicConfig, bring_up};
use sluice_device::Device;
use sluice_formats::Reason;
use sluice_formats::target::DEFAULT;
use sluice_nic::ports::{Bindings, LiveCounts};
use sluice_nic::{DataPlane, engines};
use sluice_object::Linker;
use sluice_packet::capture::{Packet, read_all, write_all};
use sluice_packet::notation::packet;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Packets of each input.
const PACKETS: u32 = 12_000;
/// Inputs.
const PORTS: u8 = 3;

/// Red goes where `to` says, blue to two places, green to a program with a map.
fn config(to: &str) -> String {
    let mut text = "[device]\ntarget = \"default\"\n".to_owned();
    for port in 0..4 {
        let input = if port < PORTS { format!("input = \"in{port}.pcap\"\n") } else { String::new() };
        text += &format!("[[port]]\nnumber = {port}\n{input}output = \"port{port}.pcap\"\n");
    }
    text += "[[host]]\nnumber = 0\noutput = \"host0.pcap\"\n";
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    for (name, id, rest) in [
        ("red", 1, format!("[tenant.table]\nkey = \"none\"\ndefault = {{ to = [\"{to}\"] }}\n")),
        ("blue", 2, "[tenant.table]\nkey = \"none\"\ndefault = { to = [\"port0\", \"host0\"] }\n".to_owned()),
        ("green", 3, format!("xdp = \"{}\"\n", programs.join("drop/drop.o").display())),
    ] {
        let queues = "queues = { port0 = 240, port1 = 240, port2 = 240, port3 = 240, host0 = 240 }";
        text += &format!("[[tenant]]\nname = \"{name}\"\nid = {id}\nvlans = [{}]\n{queues}\n{rest}", 10 * id);
    }
    text
}

/// A frame of a tenant, with the port of its arrival and its number in its addresses.
fn frame(tenant: u8, port: u8, number: u32) -> Vec<u8> {
    let vlan = 10 * u32::from(tenant);
    let source = format!("10.{port}.{}.{}", number >> 8, number & 255);
    packet(&format!("eth/vlan(vid={vlan})/ipv4(src={source})/udp/payload(len={})", 18 + number % 50)).unwrap()
}

/// Tenant's VLAN (0 without a tag), port of arrival, number.
fn read(bytes: &[u8]) -> (u16, u8, u32) {
    let tagged = bytes[12..14] == [0x81, 0];
    let ip = &bytes[if tagged { 18 } else { 14 }..];
    let vlan = if tagged { u16::from_be_bytes([bytes[14] & 15, bytes[15]]) } else { 0 };
    (vlan, ip[13], u32::from(ip[14]) << 8 | u32::from(ip[15]))
}

/// What left where: by destination, tenant and port of arrival, in the order in which it left.
type Left = BTreeMap<(String, u16, u8), Vec<u32>>;

/// Plays the captures with so many workers: what left, what the program counted, and replacements of red.
fn played(folder: &Path, workers: usize) -> (Left, u64, u64) {
    let parse = |to: &str| NicConfig::parse("nic.toml", &config(to), folder).unwrap_or_else(|e| panic!("{e}"));
    let (config, other) = (parse("port3"), parse("port2"));
    let object = |config: &NicConfig| config.tenants[0].object.clone().expect("red has a table");
    let objects = [object(&other), object(&config)];
    let mut nic = DataPlane::with_workers(DEFAULT, engines::ALL, workers);
    let mut linker = Linker::new(config.target);
    bring_up(&config, &mut nic, &mut linker).unwrap_or_else(|e| panic!("{e}"));
    let mut bindings = Bindings::open(&config.ports, &config.hosts, || false).unwrap_or_else(|e| panic!("{e}"));
    let (mut replaced, mut running) = (0, None);
    let begun = Instant::now();
    let stop = |device: &mut dyn Device, counts: &LiveCounts| {
        assert!(begun.elapsed() < Duration::from_secs(100), "{workers} workers stand still: {counts:?}");
        for event in device.poll(usize::MAX) {
            if let sluice_device::Event::OpDone { op, result } = event {
                result.unwrap();
                assert_eq!(running.take(), Some(op));
                replaced += 1;
            }
        }
        if running.is_none() && replaced < 200 {
            let load = linker.replace(1, &objects[replaced as usize % 2]).unwrap();
            running = Some(device.submit(&load).unwrap());
        }
        device.counters().unwrap().modules.values().for_each(|c| assert!(c.closes(), "{c:?}"));
        false
    };
    let counts = nic.run_live(&mut bindings, stop).unwrap_or_else(|e| panic!("{e}"));
    bindings.finish().unwrap();
    let offered = u64::from(PORTS) * u64::from(PACKETS);
    assert_eq!((counts.received, counts.refused), (offered, 0));
    let modules = nic.counters().unwrap().modules;
    assert!(modules.values().all(|c| c.closes() && c.in_flight == 0), "{modules:?}");
    assert_eq!(modules.values().map(|c| c.offered).sum::<u64>(), offered);
    let green = linker.tenant(3).unwrap().module;
    let counted = nic.maps().unwrap().counts(green).unwrap().packets;
    let mut left = Left::new();
    for name in ["port0", "port1", "port2", "port3", "host0"] {
        for Packet { bytes, .. } in read_all(&folder.join(format!("{name}.pcap"))).unwrap() {
            let (vlan, port, number) = read(&bytes);
            left.entry((name.to_owned(), vlan, port)).or_default().push(number);
        }
    }
    // What its program counted is in one map, whichever port the packets came by: UDP's packets, the first 8 bytes of each copy.
    let map =
        nic.maps().unwrap().list(green).unwrap().into_iter().find(|map| map.declared.name == "protocols").unwrap();
    let value = nic.maps().unwrap().lookup(green, map.id, &17u32.to_le_bytes()).unwrap();
    let cpus = nic.maps().unwrap().cpus() as usize;
    let each = value.chunks(value.len() / cpus).map(|copy| u64::from_le_bytes(copy[..8].try_into().unwrap()));
    assert_eq!(each.sum::<u64>(), counted);
    (left, counted, replaced)
}

/// Three captures of three tenants in a folder.
fn captures(folder: &Path) {
    for port in 0..PORTS {
        let frames = (0..PACKETS).map(|n| Packet::new(n.into(), frame(1 + (n % 3) as u8, port, n)));
        let frames: Vec<Packet> = frames.collect();
        write_all(&folder.join(format!("in{port}.pcap")), &frames).unwrap_or_else(|e| panic!("{e}"));
    }
}

#[test]
fn what_is_inside_when_workers_stop_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    captures(folder.path());
    let config = NicConfig::parse("nic.toml", &config("port3"), folder.path()).unwrap_or_else(|e| panic!("{e}"));
    for workers in [2, 3, 5] {
        let mut nic = DataPlane::with_workers(DEFAULT, engines::ALL, workers);
        bring_up(&config, &mut nic, &mut Linker::new(config.target)).unwrap_or_else(|e| panic!("{e}"));
        let mut bindings = Bindings::open(&config.ports, &config.hosts, || false).unwrap_or_else(|e| panic!("{e}"));
        for round in 1..=8 {
            nic.run_live(&mut bindings, |_, counts| counts.received >= 1000 * round).unwrap_or_else(|e| panic!("{e}"));
            nic.quiesce().unwrap();
            for counters in nic.counters().unwrap().modules.values() {
                assert!(counters.closes() && counters.in_flight == 0, "{counters:?}");
                let lost = counters.dropped.keys().find(|reason| **reason != Reason::XdpDrop);
                assert_eq!(lost, None, "{workers} workers, round {round}: {counters:?}");
            }
        }
    }
}

#[test]
fn workers_keep_every_flow_in_order_and_lose_nothing_while_a_tenant_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    captures(folder.path());
    for workers in [1, 2, 3, 5] {
        let (left, counted, replaced) = played(folder.path(), workers);
        println!("{workers} workers: {replaced} replacements while packets came");
        assert!(replaced > 1, "{workers} workers");
        assert_eq!(counted, u64::from(PORTS) * u64::from(PACKETS) / 3);
        for ((name, vlan, port), numbers) in &left {
            assert!(numbers.is_sorted_by(|a, b| a < b), "{workers} workers: {name}, VLAN {vlan}, port {port}");
        }
        let of =
            |name: &str, vlan: u16, port: u8| left.get(&(name.to_owned(), vlan, port)).map_or(&[][..], Vec::as_slice);
        for port in 0..PORTS {
            let expected = |tenant: u32| (0..PACKETS).filter(move |n| n % 3 == tenant - 1);
            let mut red = [of("port2", 10, port), of("port3", 10, port)].concat();
            red.sort_unstable();
            assert!(red.iter().copied().eq(expected(1)), "{workers} workers, red of port {port}: {}", red.len());
            for (name, vlan) in [("port0", 20), ("host0", 0)] {
                let found = of(name, vlan, port);
                assert!(found.iter().copied().eq(expected(2)), "{workers} workers, blue at {name}: {}", found.len());
            }
        }
    }
}
