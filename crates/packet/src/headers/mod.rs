//! Protocol headers: checked views and the descriptions they are made from.

pub mod bits;
pub(crate) mod describe;

mod arp;
mod ethernet;
mod ipv4;
mod ipv6;
mod qnp;
mod transport;
mod tunnel;

pub use arp::{ARP, Arp};
pub use describe::{FieldSpec, Fill, Form, HeaderSpec, Malformed};
pub use ethernet::{ETHERNET, Ethernet, SERVICE_VLAN, ServiceVlan, VLAN, Vlan, ethertype};
pub use ipv4::{IPV4, Ipv4, protocol};
pub use ipv6::{DESTINATION, DestinationOptions, FRAGMENT, Fragment, HOP_BY_HOP, HopByHop, IPV6, Ipv6};
pub use qnp::{QNP, Qnp, TLV, Tlv};
pub use transport::{ICMP, ICMP6, Icmp, Icmp6, TCP, TCP_FLAG_LETTERS, Tcp, UDP, Udp, port, tcp_flags};
pub use tunnel::{GRE, Gre, VXLAN, Vxlan};
