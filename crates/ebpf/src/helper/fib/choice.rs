//! Which route a lookup takes, and what it says of it: the same for a packet and for the rows of an engine in hardware.

use crate::helper::routes::{DEFAULT, Kind, LOCAL, Link, MAIN, Route, Routes};
use std::net::IpAddr;

/// Results, `BPF_FIB_LKUP_RET_*`.
pub mod result {
    /// The packet goes on.
    pub const SUCCESS: u64 = 0;
    /// Its destination is dropped.
    pub const BLACKHOLE: u64 = 1;
    /// As the code says.
    pub const UNREACHABLE: u64 = 2;
    /// As the code says.
    pub const PROHIBIT: u64 = 3;
    /// There is no route, or one to the host itself.
    pub const NOT_FORWARDED: u64 = 4;
    /// The interface it came from does not forward.
    pub const FORWARDING_DISABLED: u64 = 5;
    /// The next hop's MAC address is not known.
    pub const NO_NEIGHBOUR: u64 = 7;
    /// It is longer than the route's MTU.
    pub const FRAGMENTATION_NEEDED: u64 = 8;
    /// There is no source address.
    pub const NO_SOURCE: u64 = 9;
}

/// What a lookup asks for beside the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// The one table of a direct lookup; without one those that the rules name.
    pub from: Option<u32>,
    /// Of IPv4: only routes by this interface, and errors.
    pub only: Option<u32>,
    /// Of IPv6: among equal routes one by this interface.
    pub prefer: u32,
    /// Of IPv4: type of service.
    pub class: u8,
}

impl Query {
    /// The route to an address; of prefixes none longer than `longest` bits.
    pub fn find<'a>(&self, routes: &'a Routes, to: IpAddr, longest: u8) -> Option<&'a Route> {
        let v6 = to.is_ipv6();
        let fits = |route: &Route| {
            let out = self.only.is_none_or(|only| route.interface == only || is_error(route.kind));
            v6 || out && (route.tos == 0 || route.tos & 0xfc == self.class)
        };
        let look = |table| routes.lookup(table, (to, longest), self.prefer, &fits);
        match self.from {
            Some(table) => routes.has_table(v6, table).then(|| look(table)).flatten(),
            None if v6 => [LOCAL, MAIN].into_iter().find_map(look),
            None => [MAIN, DEFAULT].into_iter().filter_map(look).find(|route| route.kind != Kind::Throw),
        }
    }
}

fn is_error(kind: Kind) -> bool {
    matches!(kind, Kind::Blackhole | Kind::Unreachable | Kind::Prohibit | Kind::Throw)
}

/// The route if packets are forwarded by it, with its interface and the bytes of the longest packet; else the result.
pub fn taken<'a>(routes: &'a Routes, route: Option<&'a Route>, v6: bool) -> Result<(&'a Route, &'a Link, u32), u64> {
    let route = match route.map(|r| r.kind) {
        Some(Kind::Unicast) => route.ok_or(result::NOT_FORWARDED)?,
        Some(Kind::Blackhole) => return Err(result::BLACKHOLE),
        Some(Kind::Unreachable) => return Err(result::UNREACHABLE),
        Some(Kind::Prohibit) => return Err(result::PROHIBIT),
        Some(Kind::Local | Kind::Throw) | None => return Err(result::NOT_FORWARDED),
    };
    let out = routes.link(route.interface).ok_or(result::NOT_FORWARDED)?;
    let of_link = if v6 { out.mtu.clamp(1280, 0xffff + 40) } else { out.mtu.min(0xffff) };
    Ok((route, out, route.mtu.filter(|m| *m != 0).unwrap_or(of_link)))
}

/// The source address of IPv4 packets by a route.
pub fn source_v4(routes: &Routes, route: &Route, out: &Link) -> IpAddr {
    let hop = if let Some(IpAddr::V4(a)) = route.gateway { Some(a) } else { None };
    route.source.unwrap_or_else(|| routes.source_v4(out.index, hop).into())
}
