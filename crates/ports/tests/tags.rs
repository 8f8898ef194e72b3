//! VLAN tags, in the frame and beside it.

use crate::lab::{KINDS, PATIENCE, ip, is_inside, port, receive, receive_until, send, tagged, veth};
use sluice_ports::{Port, PortKind, Sender, Wanted};

const TAGS: [&[(u16, u16)]; 4] =
    [&[(0x8100, 10)], &[(0x8100, 0xe00b)], &[(0x88a8, 5), (0x8100, 0x2fff)], &[(0x8100, 1), (0x8100, 2)]];

#[test]
fn a_tag_in_the_frame_stays_where_it_is() {
    if !is_inside("tags::a_tag_in_the_frame_stays_where_it_is") {
        return;
    }
    veth(0, "");
    for (wanted, kind) in KINDS {
        let (mut nic, mut wire) = (port("nic0", wanted), port("wire0", Wanted::Packet));
        for tags in TAGS {
            for length in [60, 1500] {
                let sent = tagged(length, tags);
                send(&mut wire, &sent);
                assert_eq!(receive(&mut nic, 1), [&sent[..]], "{kind}: {tags:x?} received");
                send(&mut nic, &sent);
                assert_eq!(receive(&mut wire, 1), [&sent[..]], "{kind}: {tags:x?} sent");
            }
        }
    }
}

/// A second pair whose one end is bridged with `wire0`: the bridge takes the outer tag out of what comes from `nic1`, and
/// sends it beside the frame to `nic0`.
fn bridged(more: &str) -> Sender {
    veth(0, more);
    veth(1, more);
    ip(&format!("link add br0{more} type bridge"));
    ip("link set wire0 master br0");
    ip("link set wire1 master br0");
    ip("link set br0 up");
    Sender::open("nic1", 64).unwrap()
}

/// Sends a frame until it comes through the bridge.
fn through(sender: &mut Sender, nic: &mut Port, frame: &[u8]) -> Vec<u8> {
    let begun = std::time::Instant::now();
    loop {
        assert!(sender.send(frame));
        sender.flush().unwrap();
        let (mut frames, sent) = (Vec::new(), std::time::Instant::now());
        while frames.is_empty() && sent.elapsed().as_millis() < 100 {
            // The bridge says something of its own, too.
            let mut take = |came: &[u8], _: &_| frames.extend((came[..12] == frame[..12]).then(|| came.to_vec()));
            nic.receive(1, &mut take).unwrap();
        }
        if let Some(frame) = frames.pop() {
            return frame;
        }
        assert!(begun.elapsed() < PATIENCE, "nothing comes: {:?}", nic.drops());
    }
}

#[test]
fn a_tag_beside_the_frame_is_put_back() {
    if !is_inside("tags::a_tag_beside_the_frame_is_put_back") {
        return;
    }
    let mut sender = bridged(" mtu 9000");
    for (wanted, kind) in KINDS {
        if wanted == Wanted::XdpGeneric {
            continue;
        }
        let mut nic = port("nic0", wanted);
        // One that says that the bridge is ready.
        through(&mut sender, &mut nic, &tagged(60, &[]));
        nic.receive(64, &mut |_: &[u8], _: &_| ()).unwrap();
        for tags in TAGS {
            // In one piece and in several.
            for length in [60, 1500, 3836, 3840, 8000, 9010 - 4 * tags.len()] {
                for sent in [tagged(length, tags), tagged(length, &[])] {
                    let came = through(&mut sender, &mut nic, &sent);
                    assert_eq!(came.len(), sent.len(), "{kind}: {tags:x?}, {:x?}", &came[..24]);
                    assert_eq!(came, sent, "{kind}: {tags:x?}");
                }
            }
        }
        assert_eq!(nic.drops().total(), 0, "{kind}");
    }
}

#[test]
fn a_chunk_that_had_a_tag_beside_its_frame_gives_none_to_the_next() {
    if !is_inside("tags::a_chunk_that_had_a_tag_beside_its_frame_gives_none_to_the_next") {
        return;
    }
    let mut sender = bridged(" mtu 9000");
    let mut nic = port("nic0", Wanted::Xdp);
    through(&mut sender, &mut nic, &tagged(60, &[]));
    // Every chunk has both kinds in turn: their number is even.
    for round in 0..6000usize {
        // In one piece or in two.
        let length = if round % 2000 < 1000 { 60 } else { 5000 };
        let sent = if round.is_multiple_of(3) { tagged(length, &[(0x8100, 9)]) } else { tagged(length, &[]) };
        assert!(sender.send(&sent));
        sender.flush().unwrap();
        let mut came = receive_until(&mut nic, |frames| frames.iter().any(|f| f[..12] == sent[..12]));
        came.retain(|f| f[..12] == sent[..12]);
        assert_eq!(came, [sent], "frame {round}");
    }
}

#[test]
fn a_kind_that_would_lose_tags_is_refused_with_the_reason() {
    if !is_inside("tags::a_kind_that_would_lose_tags_is_refused_with_the_reason") {
        return;
    }
    // A bridge's own interface takes no program in its driver.
    ip("link add nic0 type bridge");
    ip("link set nic0 up");
    let nic = port("nic0", Wanted::Auto);
    assert_eq!(nic.kind(), PortKind::PacketRing);
    let kinds: Vec<_> = nic.refused().iter().map(|r| r.kind).collect();
    assert_eq!(kinds, [PortKind::XdpZeroCopy, PortKind::XdpCopy, PortKind::XdpGeneric]);
    assert!(nic.refused()[2].why.contains("tags"), "{:?}", nic.refused());
    drop(nic);
    let nic = port("nic0", Wanted::XdpGeneric);
    assert!(nic.notes().iter().any(|note| note.contains("tag")), "{:?}", nic.notes());
}
