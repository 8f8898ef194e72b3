//! Several queues.

use crate::lab::{PATIENCE, ip, is_inside, port, veth};
use sluice_ports::{Meta, Options, Port, PortKind, Wanted, open};
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::process::Command;
use std::time::Instant;

/// Flows by queue that each came from, when each flow was sent `times` times.
fn spread(ports: &mut [Port], times: usize) -> Vec<BTreeMap<u8, usize>> {
    let _ = Command::new("ip").args(["address", "add", "10.9.0.1/24", "dev", "wire0"]).output();
    ip("neigh replace 10.9.0.2 lladdr 02:00:00:00:00:09 dev wire0");
    // The stack chooses the queue by flow; a send ring would by core.
    for flow in 0..64u8 {
        let socket = UdpSocket::bind(("10.9.0.1", 5000 + u16::from(flow))).unwrap();
        for _ in 0..times {
            socket.send_to(&[flow; 18], "10.9.0.2:53").unwrap();
        }
    }
    let begun = Instant::now();
    let mut seen = vec![BTreeMap::new(); ports.len()];
    while seen.iter().flat_map(BTreeMap::values).sum::<usize>() < 64 * times {
        for (port, seen) in ports.iter_mut().zip(&mut seen) {
            let mut take = |frame: &[u8], _: &Meta| *seen.entry(frame[59]).or_default() += 1;
            port.receive(64, &mut take).unwrap();
        }
        assert!(begun.elapsed() < PATIENCE, "{seen:?}");
    }
    seen
}

#[test]
fn each_flow_comes_from_one_queue_and_flows_from_all() {
    if !is_inside("queues::each_flow_comes_from_one_queue_and_flows_from_all") {
        return;
    }
    ip("link add nic0 numtxqueues 2 numrxqueues 2 type veth peer name wire0 numtxqueues 2 numrxqueues 2");
    ip("link set nic0 up");
    ip("link set wire0 up");
    for (wanted, kind) in [(Wanted::Xdp, PortKind::XdpCopy), (Wanted::Packet, PortKind::PacketRing)] {
        let mut ports = open("nic0", &Options { kind: wanted, queues: Some(2), ..Options::default() }).unwrap();
        println!("{}", ports[1].described());
        assert_eq!((ports.len(), ports[0].kind(), ports[1].queue()), (2, kind, 1));
        let seen = spread(&mut ports, 3);
        for flow in 0..64 {
            let queues: Vec<_> = seen.iter().filter_map(|queue| queue.get(&flow)).collect();
            assert_eq!(queues, [&3], "{kind}: flow {flow} in {seen:?}");
        }
        assert!(seen.iter().all(|queue| queue.len() > 10), "{kind}: {seen:?}");
    }
}

#[test]
fn all_queues_come_back_with_their_interface() {
    if !is_inside("queues::all_queues_come_back_with_their_interface") {
        return;
    }
    let make = || {
        ip("link add nic0 numtxqueues 2 numrxqueues 2 type veth peer name wire0 numtxqueues 2 numrxqueues 2");
        ip("link set nic0 up");
        ip("link set wire0 up");
    };
    make();
    for wanted in [Wanted::Xdp, Wanted::Packet] {
        let mut ports = open("nic0", &Options { kind: wanted, queues: Some(2), ..Options::default() }).unwrap();
        ip("link del nic0");
        make();
        let begun = Instant::now();
        // One looks later than the other, and both take part again.
        while ports[0].look_now().is_some()
            || ports[1].look_now().is_some()
            || ports.iter().any(|p| p.as_fd().is_none())
        {
            assert!(begun.elapsed() < PATIENCE);
        }
        let seen = spread(&mut ports, 1);
        assert_eq!(seen.iter().map(BTreeMap::len).sum::<usize>(), 64, "{wanted:?}");
        assert!(seen.iter().all(|queue| queue.len() > 10), "{wanted:?}: {seen:?}");
    }
}

/// IP packets that this host has received.
fn received_by_host() -> usize {
    let text = std::fs::read_to_string("/proc/self/net/snmp").unwrap();
    let values = text.lines().filter(|line| line.starts_with("Ip:")).nth(1).unwrap();
    values.split(' ').nth(3).unwrap().parse().unwrap()
}

#[test]
fn queues_that_were_set_are_put_back() {
    if !is_inside("queues::queues_that_were_set_are_put_back") {
        return;
    }
    ip("link add nic0 numtxqueues 2 numrxqueues 2 type veth peer name wire0 numtxqueues 1");
    ip("link set nic0 up");
    ip("link set wire0 up");
    let queues = |wanted, queues| open("nic0", &Options { kind: wanted, queues, ..Options::default() }).unwrap();
    for wanted in [Wanted::Xdp, Wanted::Packet] {
        assert_eq!(queues(wanted, None).len(), 2);
        let one = queues(wanted, Some(1));
        assert_eq!((one.len(), one[0].notes().len()), (1, usize::from(wanted == Wanted::Xdp)), "{:?}", one[0].notes());
    }
}

#[test]
fn fewer_queues_than_the_other_end_sends_by_are_refused_with_the_reason() {
    if !is_inside("queues::fewer_queues_than_the_other_end_sends_by_are_refused_with_the_reason") {
        return;
    }
    ip("link add nic0 numtxqueues 2 numrxqueues 2 type veth peer name wire0 numtxqueues 2 numrxqueues 2");
    let ports = open("nic0", &Options { queues: Some(1), ..Options::default() }).unwrap();
    assert_eq!(ports[0].kind(), PortKind::PacketRing);
    assert!(ports[0].refused()[1].why.contains("other end"), "{:?}", ports[0].refused());
}

#[test]
fn frames_of_a_queue_without_a_port_go_to_the_host() {
    if !is_inside("queues::frames_of_a_queue_without_a_port_go_to_the_host") {
        return;
    }
    ip("link add nic0 address 02:00:00:00:00:09 numtxqueues 2 numrxqueues 2 type veth peer name wire0 numtxqueues 2");
    ip("link set nic0 up");
    ip("link set wire0 up");
    let mut ports = open("nic0", &Options { kind: Wanted::Xdp, queues: Some(2), ..Options::default() }).unwrap();
    spread(&mut ports, 1);
    ports.remove(0);
    let before = received_by_host();
    let mut seen = 0;
    for flow in 0..64u16 {
        UdpSocket::bind(("10.9.0.1", 5000 + flow)).unwrap().send_to(&[0; 18], "10.9.0.2:53").unwrap();
    }
    let begun = Instant::now();
    while seen + received_by_host() - before < 64 {
        seen += ports[0].receive(64, &mut |_: &[u8], _: &Meta| ()).unwrap();
        assert!(begun.elapsed() < PATIENCE, "{seen} came, the host has {}", received_by_host() - before);
    }
    assert!((10..54).contains(&seen), "{seen}");
}

#[test]
fn more_queues_than_an_interface_can_have_are_refused_with_the_reason() {
    if !is_inside("queues::more_queues_than_an_interface_can_have_are_refused_with_the_reason") {
        return;
    }
    veth(0, " numrxqueues 1");
    assert_eq!(open("nic0", &Options { kind: Wanted::Xdp, ..Options::default() }).unwrap().len(), 1);
    let options = Options { kind: Wanted::Auto, queues: Some(3), ..Options::default() };
    let ports = open("nic0", &options).unwrap();
    assert_eq!((ports.len(), ports[0].kind()), (3, PortKind::PacketRing));
    assert!(ports[0].refused().iter().all(|r| r.why.contains("queues")), "{:?}", ports[0].refused());
    drop(ports);
    // The settings of a port that failed are no other's.
    port("nic0", Wanted::Xdp);
}
