//! Routes as entries of a trie, in which an engine in hardware finds what `fib_lookup` and `check_mtu` say.
//!
//! A key is a prefix: the length, then a *space* of 32 bits, then the address. A lookup asks for the interface that it came from, which names
//! the spaces of its routes; for the route; for the next hop's MAC address. What depends on more than the address has spaces of its own:
//! a table, a type of service, an interface that routes have to go by. Each prefix of a space has what [`Query`] finds for
//! its addresses, so that its longest match is the answer, whatever routes the query passes over.
//!
//! A space never changes its meaning, and entries come in an order in which none leads to what is not there yet.

use super::choice::{Query, result, source_v4, taken};
use crate::helper::routes::{DEFAULT, LOCAL, MAIN, Route, Routes};
use sluice_object::xdp::routes::{KEY_BYTES, SPACE_BITS, VALUE_BYTES};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};

/// Key and value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// Where fields of an interface's value lie: of IPv4, and [`link::V6`] further of IPv6.
pub mod link {
    /// Whether packets from it are forwarded.
    pub const FORWARDING: usize = 0;
    /// Space of the tables that the rules name.
    pub const RULES: usize = 4;
    /// Space of table main.
    pub const MAIN: usize = 8;
    /// Bits of spaces in which this interface counts: of IPv4 for lookups by output, of IPv6 for all.
    pub const OWN: usize = 12;
    /// Space of tables by number.
    pub const TABLES: usize = 16;
    /// From the fields of IPv4 to those of IPv6.
    pub const V6: usize = 20;
    /// Types of service that routes tell apart: a bit for each.
    pub const CLASSES: usize = 40;
    /// MTU.
    pub const MTU: usize = 48;
}

/// Where fields of a route's value lie.
pub mod route {
    /// Result, 0 where packets are forwarded.
    pub const RESULT: usize = 0;
    /// Bytes of the longest packet, at most 65,535.
    pub const LIMIT: usize = 4;
    /// The MTU's lower half, as it is told.
    pub const MTU: usize = 6;
    /// Interface, and behind it the metric.
    pub const INTERFACE: usize = 8;
    /// Next hop, if not the destination itself.
    pub const GATEWAY: usize = 16;
    /// Source address.
    pub const SOURCE: usize = 32;
    /// MAC address of the interface.
    pub const ADDRESS: usize = 48;
    /// What there is: bits of [`super::has`].
    pub const HAS: usize = 54;
    /// Address family behind the lookup.
    pub const FAMILY: usize = 55;
    /// Space of the next hop's neighbours.
    pub const NEIGHBOURS: usize = 56;
    /// Space of source addresses by destination.
    pub const SOURCES: usize = 60;
}

/// What a route's value has.
pub mod has {
    /// A next hop of 4 bytes.
    pub const GATEWAY4: u8 = 1;
    /// One of 16.
    pub const GATEWAY6: u8 = 2;
    /// A source address of 4 bytes.
    pub const SOURCE4: u8 = 4;
    /// One of 16.
    pub const SOURCE6: u8 = 8;
    /// The source address depends on the destination.
    pub const SOURCES: u8 = 16;
    /// The next hop is one of IPv6.
    pub const HOP6: u8 = 32;
}

/// Interfaces by index.
pub const LINKS: u32 = 1 << 30;
/// Tables by number, of IPv4; of IPv6 [`TABLES6`].
const TABLES4: u32 = LINKS | 1 << 22;
const TABLES6: u32 = LINKS | 2 << 22;
const NEIGHBOURS: u32 = 2 << 30;
const SOURCES: u32 = 3 << 30;
/// Where bits of a table, a type of service and an interface begin in a space of routes.
const TABLE_AT: u32 = 22;
/// As above.
pub const CLASS_AT: u32 = 15;
/// Most tables and interfaces: their bits.
const MOST_TABLES: usize = 255;
const MOST_LINKS: usize = (1 << CLASS_AT) - 1;

/// Numbers of tables and interfaces in spaces, which they keep for as long as the map is there.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// By family and table; none is what the rules name.
    tables: BTreeMap<(bool, Option<u32>), u32>,
    links: BTreeMap<u32, u32>,
}

/// More tables or interfaces than spaces have numbers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more {what}, as long as the program runs, than {most}")]
pub struct TooMany {
    what: &'static str,
    most: usize,
}

impl Numbers {
    fn table(&mut self, v6: bool, table: Option<u32>) -> Result<u32, TooMany> {
        let next = self.tables.len() as u32 + 1;
        let number = *self.tables.entry((v6, table)).or_insert(next);
        if number as usize > MOST_TABLES {
            return Err(TooMany { what: "tables of routes", most: MOST_TABLES });
        }
        Ok(number << TABLE_AT)
    }

    fn link(&mut self, index: u32) -> Result<u32, TooMany> {
        let next = self.links.len() as u32 + 1;
        let number = *self.links.entry(index).or_insert(next);
        if number as usize > MOST_LINKS {
            return Err(TooMany { what: "interfaces", most: MOST_LINKS });
        }
        Ok(number)
    }
}

/// What a space has: values by prefix.
type Contents = BTreeMap<(u8, u128), Vec<u8>>;

/// Entries of these routes: those that lead to others behind them.
pub fn entries(routes: &Routes, numbers: &mut Numbers) -> Result<Vec<Entry>, TooMany> {
    let mut made = Vec::new();
    let mut links: BTreeMap<u32, [u8; VALUE_BYTES]> = routes.links().map(|l| (l.index, [0; VALUE_BYTES])).collect();
    for (interface, address, mac) in routes.neighbours() {
        let space = neighbours(address.is_ipv6(), numbers.link(interface)?);
        made.push((key(space, address, if address.is_ipv6() { 128 } else { 32 }), padded(&mac)));
    }
    for v6 in [false, true] {
        family(routes, numbers, v6, &mut links, &mut made)?;
    }
    for link in routes.links() {
        let value = links.entry(link.index).or_insert([0; VALUE_BYTES]);
        put(value, link::MTU, &link.mtu.to_le_bytes());
        put(value, link::CLASSES, &classes(routes).iter().fold(0u64, |all, c| all | 1 << (c >> 2)).to_le_bytes());
        made.push((number_key(LINKS, link.index), value.to_vec()));
    }
    Ok(made)
}

/// Spaces of one family.
fn family(
    routes: &Routes,
    numbers: &mut Numbers,
    v6: bool,
    links: &mut BTreeMap<u32, [u8; VALUE_BYTES]>,
    made: &mut Vec<Entry>,
) -> Result<(), TooMany> {
    let known: BTreeSet<u32> = routes.tables(v6).chain([LOCAL, MAIN, DEFAULT]).collect();
    let tables: Vec<Option<u32>> = known.iter().copied().map(Some).chain([None]).collect();
    let forwarding: Vec<u32> =
        routes.links().filter(|link| link.forwarding[usize::from(v6)]).map(|link| link.index).collect();
    let classes: Vec<Option<u8>> = match v6 {
        true => vec![None],
        false => classes(routes).into_iter().map(Some).chain([None]).collect(),
    };
    let mut spaces: BTreeMap<u32, Contents> = BTreeMap::new();
    let mut bases: BTreeMap<Option<u32>, u32> = BTreeMap::new();
    let mut outs = BTreeSet::new();
    let mut contents = |query: Query, numbers: &mut Numbers| of_query(routes, numbers, (v6, query), &mut outs);
    let plain = Query { from: None, only: None, prefer: 0, class: NO_CLASS };
    for table in &tables {
        let base = numbers.table(v6, *table)?;
        bases.insert(*table, base);
        for class in &classes {
            let of_class = class.map_or(0, |class| (u32::from(class >> 2) + 1) << CLASS_AT);
            let query = Query { from: *table, class: class.unwrap_or(NO_CLASS), ..plain };
            let any = contents(query, numbers)?;
            for link in &forwarding {
                let own = match v6 {
                    true => Query { prefer: *link, ..query },
                    false => Query { only: Some(*link), ..query },
                };
                spaces.insert(base | of_class | numbers.link(*link)?, contents(own, numbers)?);
            }
            spaces.insert(base | of_class, any);
        }
    }
    // An interface counts only where some space of its own says something else.
    let mut own = BTreeSet::new();
    for link in &forwarding {
        let number = numbers.link(*link)?;
        let differs = |space: &u32| spaces.get(&(space | number)) != spaces.get(space);
        if !v6 || spaces.keys().filter(|space| *space & MOST_LINKS as u32 == 0).any(differs) {
            own.insert(number);
        }
    }
    spaces.retain(|space, _| space & MOST_LINKS as u32 == 0 || own.contains(&(space & MOST_LINKS as u32)));
    // Tables that say the same have one space: mostly the rules say what main does.
    let of_table = |base: u32| -> Vec<(u32, &Contents)> {
        let mask = (MOST_TABLES as u32) << TABLE_AT;
        spaces.iter().filter(|(space, _)| *space & mask == base).map(|(space, all)| (space & !mask, all)).collect()
    };
    let main = bases[&Some(MAIN)];
    let same: BTreeSet<u32> =
        bases.values().copied().filter(|base| *base != main && of_table(*base) == of_table(main)).collect();
    let mask = (MOST_TABLES as u32) << TABLE_AT;
    spaces.retain(|space, _| !same.contains(&(space & mask)));
    for base in bases.values_mut().filter(|base| same.contains(base)) {
        *base = main;
    }
    for out in outs {
        let space = SOURCES | numbers.link(out)?;
        made.extend(
            sources(routes, out)
                .into_iter()
                .map(|((length, bits), value)| (key(space, Ipv6Addr::from_bits(bits).into(), length), value)),
        );
    }
    for (space, contents) in spaces {
        made.extend(contents.into_iter().map(|((length, bits), value)| {
            let address = if v6 { Ipv6Addr::from_bits(bits).into() } else { IpAddr::V4((bits as u32).into()) };
            (key(space, address, length), value)
        }));
    }
    let dictionary = if v6 { TABLES6 } else { TABLES4 };
    // The kernel takes 0 for main.
    let numbered = bases.iter().filter_map(|(table, base)| Some(((*table)?, *base))).chain([(0, main)]);
    made.extend(numbered.map(|(table, base)| (number_key(dictionary, table), padded(&base.to_le_bytes()))));
    for (index, value) in links {
        let forwards = forwarding.contains(index);
        let number = if forwards { numbers.link(*index)? } else { 0 };
        let own = if own.contains(&number) { number } else { 0 };
        for (at, field) in [
            (link::FORWARDING, forwards.into()),
            (link::RULES, bases[&None]),
            (link::MAIN, main),
            (link::OWN, own),
            (link::TABLES, dictionary),
        ] {
            put(value, at + if v6 { link::V6 } else { 0 }, &field.to_le_bytes());
        }
    }
    Ok(())
}

/// No packet has this type of service: only routes without one fit.
const NO_CLASS: u8 = 1;

/// Types of service that routes tell apart.
fn classes(routes: &Routes) -> BTreeSet<u8> {
    routes.all(false).filter(|route| route.tos != 0).map(|route| route.tos & 0xfc).collect()
}

/// What a query says of every prefix, without those that say what the next shorter one does. `outs` gets interfaces whose source addresses are asked for.
fn of_query(
    routes: &Routes,
    numbers: &mut Numbers,
    (v6, query): (bool, Query),
    outs: &mut BTreeSet<u32>,
) -> Result<Contents, TooMany> {
    let tables = match query.from {
        Some(table) => vec![table],
        None if v6 => vec![LOCAL, MAIN],
        None => vec![MAIN, DEFAULT],
    };
    let prefixes: BTreeSet<(u8, u128)> =
        tables.iter().flat_map(|table| routes.prefixes(v6, *table)).map(|(a, length)| (length, bits(a))).collect();
    let mut contents = Contents::new();
    for (length, bits) in prefixes {
        let to: IpAddr = if v6 { Ipv6Addr::from_bits(bits).into() } else { IpAddr::V4((bits as u32).into()) };
        let value = match taken(routes, query.find(routes, to, length), v6) {
            Err(result) => padded(&result.to_le_bytes()),
            Ok((route, out, mtu)) => {
                let number = numbers.link(out.index)?;
                if v6 && route.source.is_none() {
                    outs.insert(out.index);
                }
                forwards(routes, (route, out, mtu), number, v6)
            }
        };
        keep(&mut contents, (length, bits), value, v6);
    }
    Ok(contents)
}

/// The value of a route by which packets are forwarded.
fn forwards(
    routes: &Routes,
    (route, out, mtu): (&Route, &crate::helper::routes::Link, u32),
    number: u32,
    v6: bool,
) -> Vec<u8> {
    let mut value = [0; VALUE_BYTES];
    let (mut what, mut family) = (0, if v6 { super::AF_INET6 } else { super::AF_INET });
    put(&mut value, route::LIMIT, &(mtu.min(0xffff) as u16).to_le_bytes());
    put(&mut value, route::MTU, &(mtu as u16).to_le_bytes());
    put(&mut value, route::INTERFACE, &out.index.to_le_bytes());
    put(&mut value, route::INTERFACE + 4, &route.metric.to_le_bytes());
    put(&mut value, route::ADDRESS, &out.address);
    match route.gateway {
        Some(IpAddr::V4(gateway)) => {
            put(&mut value, route::GATEWAY, &gateway.octets());
            what |= has::GATEWAY4;
        }
        Some(IpAddr::V6(gateway)) => {
            put(&mut value, route::GATEWAY, &gateway.octets());
            (what, family) = (what | has::GATEWAY6, super::AF_INET6);
        }
        None => {}
    }
    let source = if v6 { route.source } else { Some(source_v4(routes, route, out)) };
    match source {
        Some(IpAddr::V4(source)) => {
            put(&mut value, route::SOURCE, &source.octets());
            what |= has::SOURCE4;
        }
        Some(IpAddr::V6(source)) => {
            put(&mut value, route::SOURCE, &source.octets());
            what |= has::SOURCE6;
        }
        None => {
            put(&mut value, route::SOURCES, &(SOURCES | number).to_le_bytes());
            what |= has::SOURCES;
        }
    }
    let hop6 = route.gateway.map_or(v6, |gateway| gateway.is_ipv6());
    what |= if hop6 { has::HOP6 } else { 0 };
    put(&mut value, route::NEIGHBOURS, &neighbours(hop6, number).to_le_bytes());
    (value[route::HAS], value[route::FAMILY]) = (what, family);
    value.to_vec()
}

/// Source addresses for packets by an interface, by destination: the prefixes at which another one is nearest.
fn sources(routes: &Routes, out: u32) -> Contents {
    let all = routes.links().flat_map(|link| &link.addresses);
    let candidates = all.filter_map(|(address, length)| match address {
        IpAddr::V6(address) => Some((address.to_bits(), (*length).min(128))),
        IpAddr::V4(_) => None,
    });
    let cut = |bits: u128, length: u8| bits & u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
    let prefixes: BTreeSet<(u8, u128)> =
        candidates.flat_map(|(bits, most)| (0..=most).map(move |length| (length, cut(bits, length)))).collect();
    let mut contents = Contents::new();
    for (length, bits) in prefixes {
        if let Some(source) = routes.source_v6(out, Ipv6Addr::from_bits(bits), length) {
            keep(&mut contents, (length, bits), padded(&source.octets()), true);
        }
    }
    contents
}

/// Keeps a prefix, unless the next shorter one says the same. Prefixes come by rising length.
fn keep(contents: &mut Contents, (length, bits): (u8, u128), value: Vec<u8>, v6: bool) {
    let all: u8 = if v6 { 128 } else { 32 };
    let cut = |to: u8| bits & u128::MAX.checked_shl(u32::from(all - to)).unwrap_or(0);
    let before = (0..length).rev().find_map(|shorter| contents.get(&(shorter, cut(shorter))));
    // Where nothing is found packets are not forwarded.
    if before.map_or(value != padded(&result::NOT_FORWARDED.to_le_bytes()), |before| *before != value) {
        contents.insert((length, bits), value);
    }
}

fn neighbours(v6: bool, number: u32) -> u32 {
    NEIGHBOURS | u32::from(v6) << TABLE_AT | number
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(a) => a.to_bits().into(),
        IpAddr::V6(a) => a.to_bits(),
    }
}

fn put(value: &mut [u8], at: usize, bytes: &[u8]) {
    value[at..at + bytes.len()].copy_from_slice(bytes);
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut value = vec![0; VALUE_BYTES];
    put(&mut value, 0, bytes);
    value
}

fn key(space: u32, address: IpAddr, length: u8) -> Vec<u8> {
    let mut key = [&(SPACE_BITS + u32::from(length)).to_le_bytes()[..], &space.to_le_bytes()].concat();
    match address {
        IpAddr::V4(a) => key.extend(a.octets()),
        IpAddr::V6(a) => key.extend(a.octets()),
    }
    key.resize(KEY_BYTES, 0);
    key
}

/// The key of a number, as a lookup has it in the address's place.
fn number_key(space: u32, number: u32) -> Vec<u8> {
    key(space, IpAddr::V4(number.to_le_bytes().into()), 32)
}
