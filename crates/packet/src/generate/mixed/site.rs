//! The hosts of one VLAN, and the frames they send.

use std::net::{Ipv4Addr, Ipv6Addr};

use sluice_formats::random::Rng;

use crate::capture::Packet;
use crate::layers::{LayerKind, PacketSpec};
use crate::mac::MacAddr;

/// Smallest frame without FCS, tag included.
const MIN_FRAME: usize = 64;
/// Largest IP packet.
pub(super) const MTU: usize = 1500;

/// Ethernet and IPv4 address of host `n` (1 to 12) of a mixed capture's VLAN.
///
/// 1 is the gateway, 2 serves DHCP and DNS, 3 HTTP, 4 TLS; 5 to 12 are clients.
pub fn mixed_host(vlan: u16, n: u8) -> (MacAddr, Ipv4Addr) {
    let mac = MacAddr::local(u32::from(vlan) << 16 | u32::from(n));
    (mac, Ipv4Addr::new(10, 0, 0, n))
}

/// One VLAN.
pub(super) struct Site {
    pub vlan: u16,
}

/// A host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Host {
    pub mac: MacAddr,
    pub v4: Ipv4Addr,
    pub v6: Ipv6Addr,
}

impl Site {
    pub fn new(vlan: u16) -> Site {
        Site { vlan }
    }

    pub fn host(&self, n: u8) -> Host {
        let (mac, v4) = mixed_host(self.vlan, n);
        let v6 = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, u16::from(n));
        Host { mac, v4, v6 }
    }
}

/// One conversation in the making: who, when, and where its packets go.
pub(super) struct Talk<'a> {
    pub site: &'a Site,
    pub rng: &'a mut Rng,
    now: u64,
    events: &'a mut Vec<Packet>,
}

impl<'a> Talk<'a> {
    pub fn new(site: &'a Site, now: u64, rng: &'a mut Rng, events: &'a mut Vec<Packet>) -> Self {
        Talk { site, rng, now, events }
    }

    pub fn gateway(&self) -> Host {
        self.site.host(1)
    }

    /// Any of the clients.
    pub fn client(&mut self) -> Host {
        let n = self.rng.range(5, 12) as u8;
        self.site.host(n)
    }

    /// A port that a client picks for itself.
    pub fn port(&mut self) -> u16 {
        self.rng.range(49_152, 65_535) as u16
    }

    /// Lets `min` to `max` microseconds pass.
    pub fn wait(&mut self, min: u64, max: u64) {
        self.now += self.rng.range(min * 1000, max * 1000);
    }

    /// The time it takes a host to answer.
    pub fn turn(&mut self) {
        self.wait(30, 300);
    }

    /// Ethernet and VLAN tag.
    pub fn frame(&self, src: MacAddr, dst: MacAddr) -> PacketSpec {
        PacketSpec::new()
            .layer(LayerKind::Eth)
            .with("src", src)
            .with("dst", dst)
            .layer(LayerKind::Vlan)
            .with("vid", self.site.vlan)
    }

    /// A frame with an IPv4 header.
    pub fn v4(&mut self, src: Host, dst: Host) -> PacketSpec {
        let id = self.rng.next_u32() as u16;
        self.frame(src.mac, dst.mac).layer(LayerKind::Ipv4).with("src", src.v4).with("dst", dst.v4).with("id", id)
    }

    /// A frame with an IPv6 header.
    pub fn v6(&mut self, src: Host, dst: Host) -> PacketSpec {
        let label = self.rng.next_u32() & 0xf_ffff;
        self.frame(src.mac, dst.mac).layer(LayerKind::Ipv6).with("src", src.v6).with("dst", dst.v6).with("flow", label)
    }

    /// Sends a packet now, and lets a little time pass.
    pub fn send(&mut self, spec: PacketSpec) {
        let spec = spec.pad_to(MIN_FRAME);
        if let Ok(bytes) = spec.build() {
            self.events.push(Packet::new(self.now, bytes));
        }
        self.wait(1, 12);
    }
}

/// UDP ports onto an IP header.
pub(super) fn udp(spec: PacketSpec, sport: u16, dport: u16) -> PacketSpec {
    spec.layer(LayerKind::Udp).with("sport", sport).with("dport", dport)
}
