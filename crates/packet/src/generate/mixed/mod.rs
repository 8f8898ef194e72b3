//! A capture of mixed real protocols: hosts on several VLANs that hold conversations.

mod conversations;
mod site;

use std::collections::BTreeMap;

use sluice_formats::random::Rng;

use crate::capture::Packet;
use conversations::ALL;
use site::{Site, Talk};

pub use site::mixed_host;

/// Stamp at which mixed captures begin: 2026-01-01 00:00:00 UTC, in nanoseconds.
pub const MIXED_START: u64 = 1_767_225_600_000_000_000;

/// Packets of conversations on some VLANs without end, in the order of their stamps.
///
/// On each VLAN hosts 1 to 12 (see [`mixed_host`]) talk: DHCP, ARP, DNS, HTTP over TCP, TLS,
/// ICMP and ICMPv6 echo, neighbour discovery, multicast DNS, NTP, VXLAN, IP in IP, IPv4 and
/// IPv6 fragments. Every VLAN has the same IP addresses, as tenants of a cloud do, but
/// Ethernet addresses of its own. Each kind of conversation is held once on every VLAN
/// before any is held again. No packet is malformed and each checksum is right. Frames have
/// at least 64 bytes with their tag. An empty list of VLANs gives no packets. What is kept
/// are the packets of conversations that overlap, however many packets are taken.
pub struct Mixed {
    rng: Rng,
    sites: Vec<Site>,
    /// When the next conversation begins: none to come has a packet before.
    begin: u64,
    /// Conversations held.
    held: usize,
    /// Packets made.
    made: u64,
    /// Packets to come by stamp; those of one stamp in the order in which they were made.
    waiting: BTreeMap<(u64, u64), Packet>,
}

impl Mixed {
    /// The stream of this seed.
    pub fn new(seed: u64, vlans: &[u16]) -> Mixed {
        Mixed {
            rng: Rng::new(seed),
            sites: vlans.iter().map(|vid| Site::new(*vid)).collect(),
            begin: MIXED_START,
            held: 0,
            made: 0,
            waiting: BTreeMap::new(),
        }
    }

    fn hold(&mut self) {
        let Mixed { rng, sites, held, .. } = self;
        let (site, conversation) = if *held < ALL.len() * sites.len() {
            (&sites[*held % sites.len()], &ALL[*held / sites.len()])
        } else {
            let mut draw = rng.below(ALL.iter().map(|c| c.weight).sum());
            let drawn = ALL.iter().find(|c| match draw.checked_sub(c.weight) {
                Some(left) => {
                    draw = left;
                    false
                }
                None => true,
            });
            (&sites[rng.index(sites.len())], drawn.unwrap_or(&ALL[0]))
        };
        let mut events = Vec::new();
        (conversation.hold)(&mut Talk::new(site, self.begin, rng, &mut events));
        self.held += 1;
        self.begin += rng.range(20_000, 400_000);
        for packet in events {
            self.waiting.insert((packet.stamp, self.made), packet);
            self.made += 1;
        }
    }
}

impl Iterator for Mixed {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        if self.sites.is_empty() {
            return None;
        }
        while self.waiting.first_key_value().is_none_or(|((stamp, _), _)| *stamp >= self.begin) {
            self.hold();
        }
        self.waiting.pop_first().map(|(_, packet)| packet)
    }
}

/// The first `packets` packets of [`Mixed`]; the last conversations end in the midst, as in captures.
pub fn mixed_capture(seed: u64, vlans: &[u16], packets: usize) -> Vec<Packet> {
    Mixed::new(seed, vlans).take(packets).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::vlan_id;

    #[test]
    fn the_same_seed_gives_the_same_capture_and_another_seed_another() {
        let capture = mixed_capture(1, &[10, 20, 30], 500);
        assert_eq!(capture, mixed_capture(1, &[10, 20, 30], 500));
        assert_ne!(capture, mixed_capture(2, &[10, 20, 30], 500));
        assert_eq!(capture.len(), 500);
    }

    #[test]
    fn stamps_rise_frames_have_their_minimum_and_every_vlan_speaks() {
        let capture = mixed_capture(3, &[10, 20, 30], 4_000);
        assert!(capture.windows(2).all(|w| w[0].stamp <= w[1].stamp));
        assert!(capture.iter().all(|p| (64..=1518).contains(&p.bytes.len())));
        for vid in [10, 20, 30] {
            let count = capture.iter().filter(|p| vlan_id(&p.bytes) == Some(vid));
            assert!(count.count() > 800);
        }
    }

    #[test]
    fn a_shorter_capture_is_the_beginning_of_a_longer_one() {
        let longer = mixed_capture(5, &[1, 2], 900);
        assert_eq!(mixed_capture(5, &[1, 2], 333), longer[..333]);
    }

    #[test]
    fn what_waits_does_not_grow_with_the_packets_taken() {
        let mut mixed = Mixed::new(1, &[10, 20]);
        let most = |mixed: &mut Mixed, n| (0..n).map(|_| mixed.next().map_or(0, |_| mixed.waiting.len())).max();
        let early = most(&mut mixed, 5_000).unwrap_or(0);
        let late = most(&mut mixed, 50_000).unwrap_or(0);
        assert!(0 < early && late < 2 * early, "{early} waited at most at first, {late} later");
    }

    #[test]
    fn no_vlans_or_no_packets_give_an_empty_capture() {
        assert!(mixed_capture(1, &[], 100).is_empty());
        assert!(mixed_capture(1, &[7], 0).is_empty());
    }
}
