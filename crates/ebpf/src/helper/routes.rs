//! Routes, neighbours and interfaces that `fib_lookup` and `check_mtu` see.
//!
//! The file is what `ip route`, `ip neigh`, `ip link` and `ip addr` print, with a few words of its
//! own; docs/design/xdp-helpers.md describes it. Lookups are those of the kernel without policy
//! rules: the longest prefix, then the lowest metric. IPv4 has the tables local and main in one (as
//! the kernel has while there are no rules), then default; IPv6 has local, then main.

mod error;
mod line;
mod parse;
#[cfg(test)]
mod tests;

pub use error::{Mistake, RoutesError};

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Most interfaces, routes, addresses and neighbours together.
pub const MAX_ENTRIES: usize = 1 << 20;

/// Table `local`.
pub const LOCAL: u32 = 255;
/// Table `default`, of IPv4 only.
pub const DEFAULT: u32 = 253;
/// Table `main`.
pub const MAIN: u32 = 254;

/// Routes, neighbours and interfaces of one tenant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    links: BTreeMap<u32, Link>,
    tables: BTreeMap<(bool, u32), Table>,
    neighbours: BTreeMap<(u32, IpAddr), [u8; 6]>,
    entries: usize,
}

/// An interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Name, such as `eth1`.
    pub name: String,
    /// `ifindex`, from 1.
    pub index: u32,
    /// MAC address.
    pub address: [u8; 6],
    /// Bytes of the longest IP packet.
    pub mtu: u32,
    /// Whether packets that came in here are forwarded: IPv4, IPv6.
    pub forwarding: [bool; 2],
    /// Its own addresses with their prefix lengths.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// What becomes of packets to a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// They are forwarded.
    Unicast,
    /// To the host, or to many: not forwarded.
    Local,
    /// Silently dropped.
    Blackhole,
    /// Dropped, the sender hears that the host is unreachable.
    Unreachable,
    /// Dropped, the sender hears that it is prohibited.
    Prohibit,
    /// As if the table had no route.
    Throw,
}

/// One route.
///
/// The first of a prefix's routes that fits is taken: of table local before main, with a type of
/// service before without, of a low metric before a high one, the earlier one before the later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// What becomes of packets.
    pub kind: Kind,
    /// Its table.
    pub table: u32,
    /// Interface of the next hop; 0 where there is none.
    pub interface: u32,
    /// Next hop, if not the destination itself.
    pub gateway: Option<IpAddr>,
    /// Lower ones win.
    pub metric: u32,
    /// Locked MTU of the path (`mtu lock N`); one that is not locked does not count.
    pub mtu: Option<u32>,
    /// Preferred source address.
    pub source: Option<IpAddr>,
    /// Only packets with this type of service; 0 for all.
    pub tos: u8,
}

/// Routes of one family and table, by rising metric for each prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Table {
    /// Routes by prefix length, longest first, and prefix.
    lengths: BTreeMap<std::cmp::Reverse<u8>, BTreeMap<u128, Vec<Route>>>,
}

impl Routes {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Interfaces, routes, addresses and neighbours together.
    pub fn len(&self) -> usize {
        self.entries
    }

    /// The interface with this index.
    pub fn link(&self, index: u32) -> Option<&Link> {
        self.links.get(&index)
    }

    /// All interfaces, by index.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.values()
    }

    /// MAC address of a neighbour.
    pub fn neighbour(&self, interface: u32, address: IpAddr) -> Option<[u8; 6]> {
        self.neighbours.get(&(interface, address)).copied()
    }

    /// Whether a table has any route for this family.
    pub fn has_table(&self, v6: bool, table: u32) -> bool {
        // The kernel always has these.
        matches!(table, LOCAL | MAIN | DEFAULT) || self.tables.contains_key(&(v6, trie(v6, table)))
    }

    /// The route to an address in one table that `fits`: longest prefix, of `longest` bits at most, then lowest metric, then
    /// one by interface `prefer`.
    pub fn lookup(
        &self,
        table: u32,
        (to, longest): (IpAddr, u8),
        prefer: u32,
        fits: &dyn Fn(&Route) -> bool,
    ) -> Option<&Route> {
        let table = self.tables.get(&(to.is_ipv6(), trie(to.is_ipv6(), table)))?;
        let bits = bits(to);
        table.lengths.range(std::cmp::Reverse(longest)..).find_map(|(length, prefixes)| {
            let routes = prefixes.get(&(bits & mask(length.0, to.is_ipv6())))?;
            let first = routes.iter().find(|r| fits(r))?;
            let same =
                |r: &&Route| (r.table, r.metric) == (first.table, first.metric) && r.interface == prefer && fits(r);
            Some(routes.iter().find(same).unwrap_or(first))
        })
    }

    /// Tables that have routes for this family.
    pub fn tables(&self, v6: bool) -> impl Iterator<Item = u32> {
        self.tables.keys().filter(move |(family, _)| *family == v6).map(|(_, table)| *table)
    }

    /// Prefixes of a table: address and length.
    pub fn prefixes(&self, v6: bool, table: u32) -> impl Iterator<Item = (IpAddr, u8)> {
        let lengths = self.tables.get(&(v6, trie(v6, table))).into_iter().flat_map(|table| &table.lengths);
        lengths.flat_map(move |(length, prefixes)| prefixes.keys().map(move |bits| (address(*bits, v6), length.0)))
    }

    /// All routes of a family.
    pub fn all(&self, v6: bool) -> impl Iterator<Item = &Route> {
        let tables = self.tables.iter().filter(move |((family, _), _)| *family == v6);
        tables.flat_map(|(_, table)| table.lengths.values()).flat_map(BTreeMap::values).flatten()
    }

    /// Neighbours: interface, address, MAC address.
    pub fn neighbours(&self) -> impl Iterator<Item = (u32, IpAddr, [u8; 6])> {
        self.neighbours.iter().map(|((interface, address), mac)| (*interface, *address, *mac))
    }

    /// The IPv4 source address for packets by an interface to a next hop, as `inet_select_addr`: an
    /// address in the next hop's subnet, else the first, else that of another interface.
    pub fn source_v4(&self, interface: u32, next_hop: Option<Ipv4Addr>) -> Ipv4Addr {
        let own = |link: &Link| -> Vec<(Ipv4Addr, u8)> {
            let v4 = |(a, n): &(IpAddr, u8)| if let IpAddr::V4(a) = a { Some((*a, *n)) } else { None };
            link.addresses.iter().filter_map(v4).collect()
        };
        let addresses = self.links.get(&interface).map(own).unwrap_or_default();
        let near = |(a, length): &&(Ipv4Addr, u8)| {
            let mask = mask(*length, false);
            next_hop.is_some_and(|to| bits(IpAddr::V4(*a)) & mask == bits(IpAddr::V4(to)) & mask)
        };
        let found = addresses.iter().find(near).or(addresses.first()).copied();
        let elsewhere = || self.links.values().find_map(|link| own(link).first().copied());
        found.or_else(elsewhere).map_or(Ipv4Addr::UNSPECIFIED, |(a, _)| a)
    }

    /// The IPv6 source address for packets by an interface: of the destination's scope if there is
    /// one, then the interface's own, then the one with the longest common prefix, of which `longest` bits count.
    ///
    /// The destination is none of a link's own addresses: packets to these are never forwarded.
    pub fn source_v6(&self, interface: u32, to: Ipv6Addr, longest: u8) -> Option<Ipv6Addr> {
        let candidates = self.links.values().flat_map(|link| link.addresses.iter().map(move |a| (link.index, a)));
        let rated = candidates.filter_map(|(index, (address, length))| {
            let IpAddr::V6(a) = *address else { return None };
            let common = (a.to_bits() ^ to.to_bits()).leading_zeros().min((*length).min(longest).into());
            Some(((!a.is_unicast_link_local(), index == interface, common), a))
        });
        // Of equal ones the first.
        rated.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, a)| a)
    }

    /// Adds a route to `prefix`.
    fn add_route(&mut self, prefix: IpAddr, length: u8, route: Route) {
        let v6 = prefix.is_ipv6();
        let table = self.tables.entry((v6, trie(v6, route.table))).or_default();
        let prefixes = table.lengths.entry(std::cmp::Reverse(length)).or_default();
        let routes = prefixes.entry(bits(prefix) & mask(length, v6)).or_default();
        let rank = |r: &Route| (u32::MAX - r.table, u8::MAX - r.tos, r.metric);
        let at = routes.partition_point(|r| rank(r) <= rank(&route));
        routes.insert(at, route);
    }
}

/// Where the routes of a table are kept.
fn trie(v6: bool, table: u32) -> u32 {
    if table == LOCAL && !v6 { MAIN } else { table }
}

/// The address of a number.
fn address(bits: u128, v6: bool) -> IpAddr {
    if v6 { Ipv6Addr::from_bits(bits).into() } else { Ipv4Addr::from_bits(bits as u32).into() }
}

/// An address as a number; IPv4 in the lower 32 bits.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(a) => a.to_bits().into(),
        IpAddr::V6(a) => a.to_bits(),
    }
}

/// The upper `length` bits of an address.
fn mask(length: u8, v6: bool) -> u128 {
    let all = if v6 { 128 } else { 32 };
    let low = all - u32::from(length).min(all);
    u128::MAX.checked_shl(low).unwrap_or(0)
}
