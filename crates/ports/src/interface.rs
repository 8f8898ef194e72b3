//! What all ports of one interface share: the claim, the program, what was switched off.

use crate::claim::{Claim, End};
use crate::error::PortError;
use crate::options::{Options, Wanted};
use crate::packet::{Tried, promiscuous};
use crate::port::{LinkState, PortKind};
use crate::sys::bpf::AttachMode;
use crate::sys::device::{self, Channels, Offload};
use crate::xdp::{Bind, Steering};
use std::io;
use std::os::fd::OwnedFd;

/// Ethernet header and two tags: what a frame has beside its MTU.
pub(crate) const BESIDE_MTU: usize = 14 + 2 * 4;
/// Drivers of devices that have no wire: whoever sends to them may leave its checksums to them.
const WITHOUT_WIRE: [&str; 16] = [
    "veth",
    "tun",
    "bridge",
    "virtio_net",
    "macvlan",
    "ipvlan",
    "dummy",
    "ifb",
    "bonding",
    "team",
    "vxlan",
    "geneve",
    "openvswitch",
    "xen_netfront",
    "vif",
    "hv_netvsc",
];

/// Drivers of devices whose frames are the kernel's own packets, which may have a tag beside them whatever is switched off.
const TAGS_BESIDE: [&str; 9] =
    ["veth", "bridge", "macvlan", "ipvlan", "bonding", "team", "ifb", "openvswitch", "netkit"];

/// What an interface is now, with its index where it is there.
pub(crate) fn state(name: &str) -> (LinkState, Option<u32>) {
    let Ok(index) = device::index(name) else { return (LinkState::Gone, None) };
    match device::flags(name) {
        Ok(flags) if flags & libc::IFF_UP != 0 => (LinkState::Up, Some(index)),
        Ok(_) => (LinkState::Down, Some(index)),
        // Deleted between the two questions.
        Err(_) => (LinkState::Gone, None),
    }
}

/// Bytes of its longest frame, of an interface that is there.
pub(crate) fn longest(name: &str) -> Option<usize> {
    device::mtu(name).ok().map(|mtu| mtu as usize + BESIDE_MTU)
}

/// An interface that is ours.
#[derive(Debug)]
pub(crate) struct Interface {
    pub index: u32,
    pub longest: usize,
    /// Frames may come with checksums that are to be completed.
    pub partial: bool,
    /// A tag may lie beside a frame, where only a program that asks the driver, or AF_PACKET, finds it.
    tags_beside: bool,
    pub steering: Option<Steering>,
    /// AF_PACKET: the group of its rings.
    pub group: Option<u16>,
    /// What was done to the interface, for people.
    pub notes: Vec<String>,
    _promiscuous: Option<OwnedFd>,
    changed: Changed,
    _claim: Claim,
}

/// Settings that were others, and are so again afterwards.
#[derive(Debug, Default)]
struct Changed {
    name: String,
    off: Vec<Offload>,
    channels: Option<Channels>,
}

impl Drop for Changed {
    fn drop(&mut self) {
        // Where the interface is gone, so are its settings.
        for which in &self.off {
            let _ = device::set_offload(&self.name, *which, true);
        }
        if let Some(channels) = self.channels {
            let _ = device::set_channels(&self.name, channels);
        }
    }
}

fn failed(name: &str, what: &'static str) -> impl Fn(io::Error) -> PortError {
    move |error| PortError::Interface { name: name.to_owned(), what, error }
}

impl Interface {
    /// Claims an interface, and sets its MTU where one is wanted.
    pub fn claim(name: &str, options: &Options) -> Result<Self, PortError> {
        let index = device::index(name).map_err(failed(name, "is not there"))?;
        if !device::is_ethernet(name).map_err(failed(name, "its kind"))? {
            return Err(failed(name, "its frames have no Ethernet header")(io::ErrorKind::Unsupported.into()));
        }
        let claim = Claim::take(index, if options.kind == Wanted::Tap { End::Device } else { End::Interface })
            .map_err(failed(name, "claim"))?;
        let claim = claim.ok_or_else(|| PortError::Taken { name: name.to_owned() })?;
        let mut mtu = device::mtu(name).map_err(failed(name, "its MTU"))?;
        if let Some(wanted) = options.mtu
            && wanted != mtu
        {
            device::set_mtu(name, wanted).map_err(failed(name, "setting its MTU (needs CAP_NET_ADMIN)"))?;
            mtu = wanted;
        }
        // Who does not say what it is may be anything.
        let driver = device::driver(name).ok();
        let is_one_of = |list: &[&str]| driver.as_ref().is_none_or(|driver| list.contains(&driver.as_str()));
        Ok(Self {
            index,
            longest: mtu as usize + BESIDE_MTU,
            partial: is_one_of(&WITHOUT_WIRE),
            tags_beside: is_one_of(&TAGS_BESIDE),
            steering: None,
            group: None,
            notes: Vec::new(),
            _promiscuous: None,
            changed: Changed { name: name.to_owned(), off: Vec::new(), channels: None },
            _claim: claim,
        })
    }

    /// Makes it ready for ports of this kind. One that would lose tags is refused, but for `insist`.
    pub fn prepare(&mut self, name: &str, kind: PortKind, queues: u32, insist: bool) -> Tried<()> {
        if kind == PortKind::Tap {
            return Ok(());
        }
        if self._promiscuous.is_none() {
            self._promiscuous = Some(promiscuous(self.index)?);
        }
        self.switch_off(name, Offload::Gro, "merges received frames (GRO)");
        self.switch_off(name, Offload::Lro, "merges received frames in the device (LRO)");
        // One program at a time: the one before goes first.
        self.steering = None;
        let Some((mode, _)) = kind.xdp() else { return Ok(()) };
        let steering =
            Steering::attach(self.index, queues, mode, true).map_err(|error| match error.raw_os_error() {
                // A veth pair's answer.
                Some(libc::ENOSPC) => {
                    ("attaching the program (the other end sends by more queues than this one receives)", error)
                }
                Some(libc::EBUSY | libc::EEXIST) => ("attaching the program (another one is there)", error),
                _ => ("attaching the program (needs CAP_BPF and CAP_NET_ADMIN)", error),
            })?;
        if let Err(why) = steering.reads_tags() {
            let lost = |why: &str| Err(("VLAN tags beside frames would be lost", io::Error::other(why.to_owned())));
            if self.tags_beside && !insist {
                return lost(why);
            }
            self.switch_off(name, Offload::RxVlan, "takes tags out of received frames");
            if self.tags_beside || device::offload(name, Offload::RxVlan).unwrap_or(false) {
                if !insist {
                    return lost(why);
                }
                self.notes.push("VLAN tags beside frames are lost".to_owned());
            }
        }
        self.steering = Some(steering);
        Ok(())
    }

    /// Has the interface receive by so many queues.
    pub fn set_queues(&mut self, name: &str, wanted: u32) -> Tried<()> {
        let said = |error| ("setting how many queues it has", error);
        let before = device::channels(name).map_err(said)?;
        if before.receiving() == wanted {
            return Ok(());
        }
        let mut channels = before;
        if channels.combined > 0 {
            channels.combined = wanted;
        } else {
            (channels.receive, channels.send) = (wanted, channels.send.max(wanted));
        }
        device::set_channels(name, channels).map_err(said)?;
        self.changed.channels.get_or_insert(before);
        self.notes.push(format!("set to {wanted} queues instead of {}", before.receiving()));
        Ok(())
    }

    fn switch_off(&mut self, name: &str, which: Offload, what: &str) {
        if !device::offload(name, which).unwrap_or(false) {
            return;
        }
        if device::set_offload(name, which, false).is_ok() && !device::offload(name, which).unwrap_or(true) {
            self.changed.off.push(which);
            self.notes.push(format!("switched off: {what}"));
        }
    }
}

impl PortKind {
    /// Where the program runs and how memory is shared, of the kinds that are AF_XDP.
    pub(crate) fn xdp(self) -> Option<(AttachMode, Bind)> {
        match self {
            Self::XdpZeroCopy => Some((AttachMode::Native, Bind::ZeroCopy)),
            Self::XdpCopy => Some((AttachMode::Native, Bind::Copy)),
            Self::XdpGeneric => Some((AttachMode::Generic, Bind::Copy)),
            Self::PacketRing | Self::Tap => None,
        }
    }
}
