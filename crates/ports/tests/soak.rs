//! Ports between threads that forward, while their interfaces go down, away, come back and change their MTU.
//!
//! Two seconds for each kind; `SLUICE_SOAK_SECONDS` for longer.

use crate::lab::{KINDS, PATIENCE, ip, is_inside, port};
use sluice_formats::random::{Rng, test_seed};
use sluice_ports::{Meta, Port, Sender, Wanted};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const FIRST: [u8; 14] = [2, 0, 0, 0, 7, 1, 2, 0, 0, 0, 7, 2, 0x88, 0xb5];

/// A frame whose bytes follow from its number.
fn numbered(number: u32) -> Vec<u8> {
    let length = 64 + (number as usize * 37) % 1400;
    let mut frame = FIRST.to_vec();
    frame.extend(number.to_be_bytes());
    frame.extend((18..length).map(|at| (number as usize + at * 31) as u8));
    frame
}

/// The number of a frame of ours; it is checked to the last byte.
fn number_of(frame: &[u8]) -> Option<u32> {
    if frame.len() < 64 || frame[..14] != FIRST {
        return None;
    }
    let number = u32::from_be_bytes(frame[14..18].try_into().ok()?);
    assert_eq!(frame, numbered(number), "frame {number} has other bytes");
    Some(number)
}

/// Forwards from one port to another until it is told to stop.
fn forward(from: &mut Port, to: &mut Port) {
    let mut frames = Vec::new();
    from.receive(64, &mut |frame: &[u8], _: &Meta| frames.push(frame.to_vec())).unwrap();
    for frame in frames {
        to.send(&[&frame[..7], &frame[7..]]).unwrap();
    }
    to.flush().unwrap();
    from.look();
    to.look();
}

fn pair(number: u8) {
    ip(&format!("link add nic{number} type veth peer name wire{number}"));
    for end in ["nic", "wire"] {
        ip(&format!("link set {end}{number} up"));
    }
}

/// One thing that may happen to an interface.
fn disturb(rng: &mut Rng) {
    let number = rng.index(2) as u8;
    match rng.index(5) {
        0 => {
            ip(&format!("link del nic{number}"));
            std::thread::sleep(Duration::from_millis(rng.index(200) as u64));
            pair(number);
        }
        1 => {
            ip(&format!("link set nic{number} down"));
            std::thread::sleep(Duration::from_millis(rng.index(200) as u64));
            ip(&format!("link set nic{number} up"));
        }
        2 => {
            ip(&format!("link set wire{number} down"));
            ip(&format!("link set wire{number} up"));
        }
        3 => {
            let mtu = 1500 + 100 * rng.index(3);
            ip(&format!("link set wire{number} mtu {mtu}"));
            ip(&format!("link set nic{number} mtu {mtu}"));
        }
        _ => std::thread::sleep(Duration::from_millis(rng.index(300) as u64)),
    }
}

/// Sends into the one end and counts at the other, whichever interfaces are there.
fn play(from: &str, to: &str, stop: &AtomicBool, came: &AtomicU64) {
    let mut number = 0;
    while !stop.load(Relaxed) {
        let (Ok(mut sender), Ok(mut ports)) = (
            Sender::open(from, 64),
            sluice_ports::open(to, &sluice_ports::Options { kind: Wanted::Packet, slots: 256, ..Default::default() }),
        ) else {
            continue;
        };
        // An interface that was made again is another: both are opened anew every so often.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(50) && !stop.load(Relaxed) {
            for _ in 0..16 {
                sender.send(&numbered(number));
                number = number.wrapping_add(1);
            }
            let _ = sender.flush();
            let mut take = |frame: &[u8], _: &Meta| {
                came.fetch_add(u64::from(number_of(frame).is_some()), Relaxed);
            };
            ports[0].receive(64, &mut take).unwrap();
        }
    }
}

#[test]
fn disturbed_interfaces_give_no_wrong_frames_and_traffic_goes_on() {
    if !is_inside("soak::disturbed_interfaces_give_no_wrong_frames_and_traffic_goes_on") {
        return;
    }
    let seconds = std::env::var("SLUICE_SOAK_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2);
    let mut rng = Rng::new(test_seed("ports_soak"));
    pair(0);
    pair(1);
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    for (wanted, kind) in KINDS {
        let before = descriptors();
        let (mut nic0, mut nic1) = (port("nic0", wanted), port("nic1", wanted));
        let (stop, came) = (AtomicBool::new(false), AtomicU64::new(0));
        let disturbances = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    forward(&mut nic0, &mut nic1);
                    forward(&mut nic1, &mut nic0);
                }
            });
            scope.spawn(|| play("wire0", "wire1", &stop, &came));
            let (begun, mut disturbances) = (Instant::now(), 0);
            while begun.elapsed() < Duration::from_secs(seconds) {
                disturb(&mut rng);
                disturbances += 1;
            }
            // Undisturbed, it goes on.
            let (begun, seen) = (Instant::now(), came.load(Relaxed));
            while came.load(Relaxed) < seen + 1000 && begun.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(10));
            }
            let after = came.load(Relaxed) - seen;
            stop.store(true, Relaxed);
            assert!(after >= 1000, "{kind}: {after} frames after all");
            disturbances
        });
        println!(
            "{kind}: {} frames, {disturbances} disturbances; {:?}, {:?}",
            came.into_inner(),
            nic0.drops(),
            nic1.drops()
        );
        drop((nic0, nic1));
        assert_eq!(descriptors(), before, "{kind}");
    }
}
