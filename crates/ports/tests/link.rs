//! Interfaces that go down, away and come back; whose they are; what is lost.

use crate::lab::{KINDS, PATIENCE, frame, ip, is_inside, port, receive, receive_until, send, veth};
use sluice_ports::{LinkState, Options, Port, PortError, Wanted, open};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a port sees of its interface until it is in this state.
fn changes_until(port: &mut Port, state: LinkState) -> Vec<LinkState> {
    let (begun, mut seen) = (Instant::now(), Vec::new());
    while port.state() != state {
        seen.extend(port.look());
        // Whoever polls gets on without the interface.
        port.receive(8, &mut |_: &[u8], _: &_| ()).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        assert!(begun.elapsed() < PATIENCE, "it is {:?}", port.state());
    }
    seen
}

/// Sends from the one to the other until it comes.
fn comes_through(from: &mut Port, to: &mut Port, length: usize) {
    let begun = Instant::now();
    loop {
        from.look();
        to.look();
        from.send(&[&frame(length)]).unwrap();
        from.flush().unwrap();
        std::thread::sleep(Duration::from_millis(5));
        let mut came = Vec::new();
        to.receive(64, &mut |f: &[u8], _: &_| came.push(f.to_vec())).unwrap();
        if came.iter().any(|f| f.len() == length) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "nothing comes; {:?}, {:?}", from.drops(), to.drops());
    }
}

#[test]
fn an_interface_set_down_and_up_goes_on() {
    if !is_inside("link::an_interface_set_down_and_up_goes_on") {
        return;
    }
    veth(0, "");
    for (wanted, kind) in KINDS {
        let (mut nic, mut wire) = (port("nic0", wanted), port("wire0", Wanted::Packet));
        send(&mut wire, &frame(100));
        receive(&mut nic, 1);
        ip("link set nic0 down");
        assert_eq!(changes_until(&mut nic, LinkState::Down), [LinkState::Down], "{kind}");
        assert!(!nic.send(&[&frame(100)]).unwrap());
        assert_eq!((nic.room(), nic.drops().send_away), (0, 1), "{kind}");
        nic.flush().unwrap();
        ip("link set nic0 up");
        assert_eq!(changes_until(&mut nic, LinkState::Up), [LinkState::Up], "{kind}");
        comes_through(&mut wire, &mut nic, 101);
        comes_through(&mut nic, &mut wire, 102);
    }
}

#[test]
fn an_interface_deleted_and_made_again_is_opened_again() {
    if !is_inside("link::an_interface_deleted_and_made_again_is_opened_again") {
        return;
    }
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    for (wanted, kind) in KINDS {
        veth(0, "");
        let before = descriptors();
        let mut nic = port("nic0", wanted);
        let open = descriptors();
        send(&mut nic, &frame(100));
        ip("link del nic0");
        assert_eq!(changes_until(&mut nic, LinkState::Gone), [LinkState::Gone], "{kind}");
        assert_eq!(descriptors(), before, "{kind}: all is closed while it is away");
        assert!(nic.as_fd().is_none() && !nic.send(&[&frame(100)]).unwrap());
        veth(0, "");
        assert_eq!(changes_until(&mut nic, LinkState::Up), [LinkState::Up], "{kind}");
        assert_eq!((nic.kind(), descriptors()), (kind, open));
        let mut wire = port("wire0", Wanted::Packet);
        comes_through(&mut wire, &mut nic, 101);
        comes_through(&mut nic, &mut wire, 102);
        drop((nic, wire));
        ip("link del nic0");
    }
}

#[test]
fn one_that_went_and_came_between_two_looks_is_seen() {
    if !is_inside("link::one_that_went_and_came_between_two_looks_is_seen") {
        return;
    }
    veth(0, "");
    let mut nic = port("nic0", Wanted::Auto);
    nic.look_now();
    ip("link del nic0");
    veth(0, "");
    assert_eq!(nic.look_now(), Some(LinkState::Gone));
    assert_eq!(changes_until(&mut nic, LinkState::Up), [LinkState::Up]);
}

#[test]
fn an_interface_belongs_to_one() {
    if !is_inside("link::an_interface_belongs_to_one") {
        return;
    }
    veth(0, "");
    for (wanted, kind) in KINDS {
        let _nic = port("nic0", wanted);
        for other in [Wanted::Auto, Wanted::Packet] {
            let error = open("nic0", &Options { kind: other, ..Options::default() }).unwrap_err();
            assert!(matches!(error, PortError::Taken { .. }) && error.code() == "E0313", "{kind}: {error}");
        }
    }
}

#[test]
fn one_that_is_not_there_is_said() {
    if !is_inside("link::one_that_is_not_there_is_said") {
        return;
    }
    for name in ["nothing", "a_name_that_is_too_long_for_an_interface", ""] {
        let error = open(name, &Options::default()).unwrap_err();
        assert_eq!(error.code(), "E0308");
        assert!(error.to_string().contains("is not there"), "{error}");
    }
    for slots in [0, 3, 1 << 17] {
        let error = open("lo", &Options { slots, ..Options::default() }).unwrap_err();
        assert!(error.to_string().contains("power of two"), "{error}");
    }
}

#[test]
fn another_mtu_is_followed_and_frames_that_are_too_long_until_then_are_counted() {
    if !is_inside("link::another_mtu_is_followed_and_frames_that_are_too_long_until_then_are_counted") {
        return;
    }
    for (wanted, kind) in KINDS {
        veth(0, "");
        let mut nic = port("nic0", wanted);
        nic.look_now();
        ip("link set wire0 mtu 1600");
        ip("link set nic0 mtu 1600");
        let mut wire = port("wire0", Wanted::Packet);
        // More than there are chunks and slots: a frame that is not taken gives its memory back.
        for _ in 0..40 {
            for _ in 0..50 {
                assert!(wire.send(&[&frame(1600)]).unwrap());
            }
            wire.flush().unwrap();
            while nic.receive(64, &mut |_: &[u8], _: &_| ()).unwrap() > 0 {}
        }
        assert_eq!(nic.drops().receive_oversize, 2000, "{kind}: {:?}", nic.drops());
        assert!(nic.drops().advice().is_some_and(|text| text.contains("ethtool")));
        send(&mut wire, &frame(1500));
        assert_eq!(receive(&mut nic, 1), [frame(1500)], "{kind}");
        let begun = Instant::now();
        while nic.longest() != 1622 || nic.as_fd().is_none() {
            nic.look();
            assert!(begun.elapsed() < PATIENCE, "{kind}: {}", nic.longest());
        }
        comes_through(&mut wire, &mut nic, 1601);
        comes_through(&mut nic, &mut wire, 1602);
        drop((nic, wire));
        ip("link del nic0");
    }
}

#[test]
fn one_without_ethernet_headers_is_refused() {
    if !is_inside("link::one_without_ethernet_headers_is_refused") {
        return;
    }
    ip("tuntap add tun0 mode tun");
    ip("link set tun0 up");
    let error = open("tun0", &Options::default()).unwrap_err();
    assert!(error.to_string().contains("no Ethernet header"), "{error}");
    // The host's own: what it sends comes back to it, and so to us.
    let mut lo = port("lo", Wanted::Packet);
    assert_eq!(lo.state(), LinkState::Up);
    std::net::UdpSocket::bind("127.0.0.1:0").unwrap().send_to(b"12345", "127.0.0.1:9").unwrap();
    let is_ours = |f: &Vec<u8>| f.ends_with(b"12345");
    receive_until(&mut lo, |frames| frames.iter().any(is_ours));
}

/// Not a test of its own: holds an interface until it is killed.
#[test]
fn holds_an_interface() {
    if std::env::var_os("SLUICE_TEST_HOLDS").is_none() {
        return;
    }
    let _nic = port("nic0", Wanted::Xdp);
    println!("held");
    std::thread::sleep(PATIENCE * 3);
}

#[test]
fn a_killed_process_leaves_no_program_behind() {
    if !is_inside("link::a_killed_process_leaves_no_program_behind") {
        return;
    }
    veth(0, "");
    let details =
        || String::from_utf8(Command::new("ip").args(["link", "show", "nic0"]).output().unwrap().stdout).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "link::holds_an_interface", "--nocapture"]).env("SLUICE_TEST_HOLDS", "1");
    let mut holder = command.stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !details().contains("prog/xdp") {
        assert!(begun.elapsed() < PATIENCE && holder.try_wait().unwrap().is_none(), "{}", details());
        std::thread::sleep(Duration::from_millis(5));
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    let begun = Instant::now();
    while details().contains("prog/xdp") {
        assert!(begun.elapsed() < PATIENCE, "{}", details());
        std::thread::sleep(Duration::from_millis(5));
    }
    port("nic0", Wanted::Xdp);
}

#[test]
fn what_is_lost_is_counted_by_reason() {
    if !is_inside("link::what_is_lost_is_counted_by_reason") {
        return;
    }
    veth(0, "");
    for (wanted, kind) in KINDS {
        let (mut nic, mut wire) = (port("nic0", wanted), port("wire0", Wanted::Packet));
        assert_eq!(nic.longest(), 1522);
        assert!(!nic.send(&[&[0; 13]]).unwrap() && !nic.send(&[&frame(1523)]).unwrap());
        // More than any ring of 256 slots and twice as many chunks holds.
        let mut sent = 0;
        for _ in 0..40 {
            sent += (0..100).filter(|_| wire.send(&[&frame(64)]).unwrap()).count();
            wire.flush().unwrap();
        }
        std::thread::sleep(Duration::from_millis(50));
        let mut came = 0;
        while nic.receive(64, &mut |_: &[u8], _: &_| came += 1).unwrap() > 0 {}
        let drops = nic.drops();
        assert_eq!((drops.send_short, drops.send_oversize), (1, 1), "{kind}");
        assert_eq!(nic.drops(), drops, "{kind}: each is counted once");
        let lost = drops.receive_ring_full + drops.fill_ring_empty + drops.receive_other;
        println!("{kind}: {sent} sent, {came} came, {drops:?}");
        assert!(came > 0 && lost > 0, "{kind}: {drops:?}");
        if wanted != Wanted::Xdp {
            // The other loses some in front of the program, too.
            assert_eq!(came + lost as usize, sent, "{kind}: {drops:?}");
        }
        // The send ring holds 256 and the kernel takes none before it is told.
        let taken = (0..5000).filter(|_| nic.send(&[&frame(64)]).unwrap()).count();
        assert!((256..5000).contains(&taken), "{kind}: {taken} taken");
        assert_eq!(nic.drops().send_ring_full, 5000 - taken as u64, "{kind}");
        assert_eq!(nic.room(), 0, "{kind}");
        nic.flush().unwrap();
        let begun = Instant::now();
        while nic.room() == 0 {
            assert!(begun.elapsed() < PATIENCE, "{kind}: it never gets room");
            nic.flush().unwrap();
        }
    }
}
