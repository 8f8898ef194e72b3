//! Nothing of one packet is seen by the next one.

use super::image;
use crate::vm::{HEADROOM, Ingress, MAX_GROWN, Packet, RESERVED, Runtime};
use sluice_formats::random::{Rng, test_seed};

#[test]
fn the_stack_of_the_next_packet_is_zero() {
    let mut runtime = Runtime::new(1, 1);
    let write = "
        *(u64 *)(r10 -512) = -1
        *(u64 *)(r10 -8) = -1
        call f
        exit
      f:
        *(u64 *)(r10 -512) = -1
        *(u8 *)(r10 -1) = -1
        r0 = *(u8 *)(r0 +0)
        exit";
    let read = "
        r0 = *(u64 *)(r10 -512)
        r1 = *(u64 *)(r10 -8)
        r0 |= r1
        r6 = r0
        call f
        r0 |= r6
        exit
      f:
        r0 = *(u64 *)(r10 -512)
        r1 = *(u64 *)(r10 -8)
        r0 |= r1
        exit";
    let installed = runtime.install(&image(&[write, read]), &|_| None).unwrap();
    let mut packet = Packet::new(&[0; 64]);
    // The writer even faults in its function.
    assert!(runtime.run(installed, 0, &mut packet, Ingress::default()).fault.is_some());
    let outcome = runtime.run(installed, 1, &mut packet, Ingress::default());
    assert_eq!((outcome.fault, outcome.r0), (None, 0));
}

/// All bytes a program could ever see, beside the frame.
fn surroundings(packet: &mut Packet) -> Vec<u8> {
    let (data, end) = (packet.data(), packet.end());
    let limit = packet.limit().max(end);
    assert!(packet.set_bounds(RESERVED, data, limit));
    let mut bytes = packet.metadata().to_vec();
    bytes.extend_from_slice(&packet.frame()[(end - data) as usize..]);
    bytes
}

#[test]
fn the_buffer_around_the_next_frame_is_zero() {
    let seed = test_seed("packet_leaks");
    let mut rng = Rng::new(seed);
    let mut packet = Packet::new(&[]);
    for _ in 0..2000 {
        let length = [0, 14, 60, 64, 1500, 3520, 9000][rng.index(7)];
        packet.set(&vec![0xff; length]);
        assert_eq!((packet.data(), packet.meta(), packet.frame().len()), (HEADROOM, HEADROOM, length));
        assert!(surroundings(&mut packet).iter().all(|b| *b == 0), "seed {seed}");
        // Bounds move to and fro, and all in them is written.
        packet.set(&vec![0xff; length]);
        for _ in 0..rng.index(4) {
            let end = rng.range(RESERVED.into(), (HEADROOM + MAX_GROWN).into()) as u32;
            let data = rng.range(RESERVED.into(), end.into()) as u32;
            let meta = rng.range(RESERVED.into(), data.into()) as u32;
            assert!(packet.set_bounds(meta, data, end), "seed {seed}");
            packet.bytes_mut().fill(0xff);
        }
    }
}

#[test]
fn bytes_that_come_into_view_at_the_end_are_zero() {
    let mut packet = Packet::new(&[0xff; 64]);
    let (data, end) = (packet.data(), packet.end());
    assert!(packet.set_bounds(data, data, end - 10) && packet.set_bounds(data, data, end + 10));
    assert_eq!(packet.frame()[54..], [0; 20]);
}

#[test]
fn bounds_that_are_none_change_nothing() {
    let mut packet = Packet::new(&[1; 64]);
    let (data, end) = (packet.data(), packet.end());
    let full = HEADROOM + MAX_GROWN;
    for (meta, data, end) in
        [(RESERVED - 1, data, end), (data + 1, data, end), (data, end + 1, end), (data, data, full + 1)]
    {
        assert!(!packet.set_bounds(meta, data, end));
    }
    assert_eq!((packet.frame(), packet.metadata()), (&[1; 64][..], &[][..]));
}
