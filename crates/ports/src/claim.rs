//! One NIC an interface: two would double every frame.
//!
//! The claim is a socket with a name in the abstract name space, which is that of the network name space. So it is of the interface
//! with this index there, whatever the process sees of a file system, and the kernel takes it back when the process ends.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// An interface that nobody else's NIC may have until this goes.
#[derive(Debug)]
pub(crate) struct Claim(#[allow(dead_code, reason = "held, never used")] UnixDatagram);

/// The ends of an interface, each of which one NIC may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Sockets on it.
    Interface,
    /// What a TAP device has in place of a wire: another NIC may have the interface itself.
    Device,
}

impl Claim {
    /// Claims an end of an interface by its index in this network name space; none where another process or port has it.
    pub fn take(index: u32, end: End) -> io::Result<Option<Self>> {
        let end = if end == End::Interface { "interface" } else { "device" };
        let name = SocketAddr::from_abstract_name(format!("sluice.{end}.{index}"))?;
        match UnixDatagram::bind_addr(&name) {
            Ok(socket) => Ok(Some(Self(socket))),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_claimed_once_until_the_claim_goes() {
        // An index that no interface has.
        let index = i32::MAX as u32 - (std::process::id() & 0xffff);
        let claim = Claim::take(index, End::Interface).unwrap();
        assert!(claim.is_some());
        assert!(Claim::take(index, End::Interface).unwrap().is_none(), "a second claim");
        assert!(Claim::take(index - 0x10000, End::Interface).unwrap().is_some(), "another interface");
        assert!(Claim::take(index, End::Device).unwrap().is_some(), "the other end");
        drop(claim);
        assert!(Claim::take(index, End::Interface).unwrap().is_some(), "after the first is gone");
    }
}
