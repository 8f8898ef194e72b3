//! Frames of all lengths, both ways.

use crate::lab::{KINDS, frame, is_inside, port, receive, send, veth};
use sluice_ports::Wanted;

#[test]
fn frames_of_all_lengths_go_both_ways() {
    if !is_inside("traffic::frames_of_all_lengths_go_both_ways") {
        return;
    }
    veth(0, "");
    for (wanted, kind) in KINDS {
        let mut nic = port("nic0", wanted);
        assert_eq!(nic.kind(), kind);
        let mut wire = port("wire0", Wanted::Packet);
        for length in (14..200).chain([1000, 1499, 1500, 1513, 1514]) {
            send(&mut wire, &frame(length));
            assert_eq!(receive(&mut nic, 1), [frame(length)], "{kind}: {length} bytes received");
            // In pieces, two of them empty.
            let whole = frame(length);
            assert!(nic.send(&[&whole[..6], &[], &whole[6..14], &whole[14..], &[]]).unwrap());
            nic.flush().unwrap();
            assert_eq!(receive(&mut wire, 1), [whole], "{kind}: {length} bytes sent");
        }
        assert_eq!((nic.drops().total(), wire.drops().total()), (0, 0), "{kind}");
    }
}

#[test]
fn jumbo_frames_go_both_ways() {
    if !is_inside("traffic::jumbo_frames_go_both_ways") {
        return;
    }
    veth(0, " mtu 9000");
    for (wanted, kind) in KINDS {
        let mut nic = port("nic0", wanted);
        assert_eq!(nic.kind(), kind);
        let mut wire = port("wire0", Wanted::Packet);
        for length in [60, 1792, 1793, 2048, 3839, 3840, 3841, 4095, 4096, 4097, 8191, 8192, 8193, 9014] {
            send(&mut wire, &frame(length));
            assert_eq!(receive(&mut nic, 1), [frame(length)], "{kind}: {length} bytes received");
            let whole = frame(length);
            let half = length / 2;
            assert!(nic.send(&[&whole[..half], &whole[half..]]).unwrap());
            nic.flush().unwrap();
            assert_eq!(receive(&mut wire, 1), [whole], "{kind}: {length} bytes sent");
        }
        assert_eq!((nic.drops().total(), wire.drops().total()), (0, 0), "{kind}");
    }
}
