//! `sluice generate`: a capture for whoever has none.

use crate::captures;
use crate::failure::Failure;
use crate::output::Output;
use crate::run::interrupt;
use clap::Args;
use sluice_packet::capture::Packet;
use sluice_packet::generate::{Mixed, mixed_host};
use std::path::PathBuf;
use std::process::ExitCode;

/// Hosts 1 to 4 of a VLAN are servers.
const SERVERS: u8 = 4;
/// One packet of so many is of the VLAN that speaks seldom.
const SELDOM: usize = 25;
/// One packet of so many has no tag.
const UNTAGGED: usize = 50;

/// Makes a capture of mixed protocols on several VLANs, the same from the same seed
///
/// On each VLAN twelve hosts hold conversations: DHCP, ARP, DNS, HTTP, TLS, ICMP, IPv6
/// neighbour discovery, multicast DNS, NTP, VXLAN, IP in IP and fragments. What the clients
/// send arrives on port0, what the four servers send on port1.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice generate --seed 7 --vlan 10,20 --packets 500 -o out/mixed.pcapng
  sluice generate --vlan 1 --seldom 2 --untagged -o - | \\
    sluice rmt run programs/rmt/l3_router.rmt --in - -j")]
pub struct Generate {
    /// VLANs on which hosts talk
    #[arg(long = "vlan", value_delimiter = ',', required = true, value_parser = clap::value_parser!(u16).range(1..=4094))]
    vlans: Vec<u16>,
    /// Packets in all
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    packets: u64,
    /// A VLAN that speaks seldom, one packet of 25
    #[arg(long, value_name = "VLAN", value_parser = clap::value_parser!(u16).range(1..=4094))]
    seldom: Option<u16>,
    /// Mixes in frames without a tag, one packet of 50
    #[arg(long)]
    untagged: bool,
    /// Seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Capture to write, .pcapng; `-` is standard output
    #[arg(short, long)]
    output: PathBuf,
}

impl Generate {
    /// Writes the capture.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        self.check_shares()?;
        interrupt::listen();
        let mut beside = captures::is_standard(&self.output).then(Output::stderr);
        let mut writer = captures::create(&self.output, &["port0", "port1"])?;
        for packet in self.capture().into_iter().flatten() {
            if interrupt::asked() {
                break;
            }
            writer.write(&packet)?;
        }
        let packets = writer.packets();
        writer.finish()?;
        let out = beside.as_mut().unwrap_or(out);
        out.line(format!("{}: {packets} packets, seed {}", self.output.display(), self.seed))?;
        out.flush()?;
        Ok(interrupt::exit_code(ExitCode::SUCCESS))
    }

    /// Refuses what would make no packet of its own.
    fn check_shares(&self) -> Result<(), Failure> {
        if let Some((_, vlan)) = self.vlans.iter().enumerate().find(|(at, vlan)| self.vlans[..*at].contains(vlan)) {
            let what = format!("--vlan: {vlan} is given twice, expected each VLAN once");
            return Err(Failure::input("E0502", what));
        }
        if let Some(vlan) = self.seldom.filter(|vlan| self.vlans.contains(vlan)) {
            let what = format!("--seldom {vlan}: it is one of --vlan, expected another VLAN");
            return Err(Failure::input("E0502", what));
        }
        let shares = [("--seldom", self.seldom.is_some(), SELDOM), ("--untagged", self.untagged, UNTAGGED)];
        match shares.iter().find(|(_, given, share)| *given && self.packets < *share as u64) {
            None => Ok(()),
            Some((option, _, share)) => {
                let what = format!("{option}: one packet of {share} is, and --packets is {}", self.packets);
                Err(Failure::input("E0502", format!("{what}; expected {share} or more")))
            }
        }
    }

    /// The packets one by one; none is kept. None when a signal came before the first.
    fn capture(&self) -> Option<impl Iterator<Item = Packet>> {
        let packets = self.packets as usize;
        let seldom = self.seldom.map_or(0, |_| packets / SELDOM);
        let untagged = if self.untagged { packets / UNTAGGED } else { 0 };
        let most = packets - seldom - untagged;
        // What is mixed in is spread up to the last packet of the others: they are made once for its stamp alone.
        let end = if seldom + untagged > 0 {
            Mixed::new(self.seed, &self.vlans)
                .take(most)
                .try_fold(0, |_, p| (!interrupt::asked()).then_some(p.stamp))?
        } else {
            0
        };
        let mut vlans = self.vlans.clone();
        vlans.extend(self.seldom);
        let rare: Vec<u16> = self.seldom.into_iter().collect();
        let of_seldom = spread(Mixed::new(self.seed.wrapping_add(1), &rare), seldom, end);
        let bare = spread(Mixed::new(self.seed.wrapping_add(2), &self.vlans), untagged, end).map(without_tag);
        let all = merge(merge(Mixed::new(self.seed, &self.vlans).take(most), of_seldom), bare);
        Some(all.map(move |mut packet| {
            packet.interface = u32::from(from_server(&packet.bytes, &vlans));
            packet
        }))
    }
}

/// The first `count` of the packets, spread evenly up to `end`.
fn spread(packets: Mixed, count: usize, end: u64) -> impl Iterator<Item = Packet> {
    let mut first = None;
    packets.take(count).zip(0..).map(move |(mut packet, n)| {
        let first = *first.get_or_insert(packet.stamp);
        packet.stamp = first + n * (end.saturating_sub(first) / count as u64);
        packet
    })
}

/// Both in the order of stamps; of two at the same stamp the one of `left` comes first.
fn merge(left: impl Iterator<Item = Packet>, right: impl Iterator<Item = Packet>) -> impl Iterator<Item = Packet> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    std::iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some(l), Some(r)) if r.stamp < l.stamp => right.next(),
        (Some(_), _) => left.next(),
        (None, _) => right.next(),
    })
}

fn without_tag(mut packet: Packet) -> Packet {
    packet.bytes.drain(12..16);
    packet.wire_len = packet.bytes.len() as u32;
    packet
}

fn from_server(frame: &[u8], vlans: &[u16]) -> bool {
    let servers = vlans.iter().flat_map(|vlan| (1..=SERVERS).map(|n| mixed_host(*vlan, n).0));
    servers.into_iter().any(|mac| frame.get(6..12) == Some(&mac.0[..]))
}
