//! A capture of mixed real protocols: hosts on several VLANs that hold conversations.

mod conversations;
mod site;

use sluice_formats::random::Rng;

use crate::capture::Packet;
use conversations::ALL;
use site::{Site, Talk};

pub use site::mixed_host;

/// Stamp at which mixed captures begin: 2026-01-01 00:00:00 UTC, in nanoseconds.
pub const MIXED_START: u64 = 1_767_225_600_000_000_000;

/// `packets` packets of conversations on `vlans`, in the order of their stamps.
///
/// On each VLAN hosts 1 to 12 (see [`mixed_host`]) talk: DHCP, ARP, DNS, HTTP over TCP, TLS,
/// ICMP and ICMPv6 echo, neighbour discovery, multicast DNS, NTP, VXLAN, IP in IP, IPv4 and
/// IPv6 fragments. Every VLAN has the same IP addresses, as tenants of a cloud do, but
/// Ethernet addresses of its own. Each kind of conversation is held once on every VLAN
/// before any is held again; the capture ends in the midst of some, as captures do. No
/// packet is malformed and each checksum is right. Frames have at least 64 bytes with their
/// tag. An empty list of VLANs gives no packets.
pub fn mixed_capture(seed: u64, vlans: &[u16], packets: usize) -> Vec<Packet> {
    if vlans.is_empty() {
        return Vec::new();
    }
    let mut rng = Rng::new(seed);
    let sites: Vec<Site> = vlans.iter().map(|vid| Site::new(*vid)).collect();
    let mut events: Vec<Packet> = Vec::new();
    let mut begin = MIXED_START;
    let total_weight = ALL.iter().map(|c| c.weight).sum();
    let first_round = ALL.len() * sites.len();
    let mut held = 0;
    loop {
        let (site, conversation) = if held < first_round {
            (&sites[held % sites.len()], &ALL[held / sites.len()])
        } else {
            let mut draw = rng.below(total_weight);
            let drawn = ALL.iter().find(|c| match draw.checked_sub(c.weight) {
                Some(left) => {
                    draw = left;
                    false
                }
                None => true,
            });
            (&sites[rng.index(sites.len())], drawn.unwrap_or(&ALL[0]))
        };
        (conversation.hold)(&mut Talk::new(site, begin, &mut rng, &mut events));
        held += 1;
        begin += rng.range(20_000, 400_000);
        // Conversations overlap in time, but none to come begins before this moment. Counting
        // is seldom, so that its cost stays small beside the making.
        if held % 32 == 0 && events.iter().filter(|p| p.stamp < begin).count() >= packets {
            break;
        }
    }
    // Stable: packets of one stamp keep the order in which they were made.
    events.sort_by_key(|p| p.stamp);
    events.truncate(packets);
    events
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
    fn no_vlans_or_no_packets_give_an_empty_capture() {
        assert!(mixed_capture(1, &[], 100).is_empty());
        assert!(mixed_capture(1, &[7], 0).is_empty());
    }
}
