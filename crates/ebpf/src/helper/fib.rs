//! `fib_lookup` and `check_mtu`: what the host's routing would do, from the routes file.
//!
//! Which route is taken says [`choice`]; what an engine in hardware looks up instead says [`rows`].

mod choice;
pub mod rows;

use super::held::context;
use super::memory;
use super::routes::{Link, MAIN, Route, Routes};
use super::{Arg, Helper, Ret};
use crate::map::Class;
use crate::vm::Cpu;
use crate::{Errno, FaultReason};
use choice::{Query, result, source_v4, taken};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `long bpf_fib_lookup(ctx, params, plen, flags)`.
pub const FIB_LOOKUP: Helper = Helper {
    id: 69,
    name: "fib_lookup",
    args: &[Arg::Context, Arg::Write, Arg::Size, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: fib_lookup,
};

/// `long bpf_check_mtu(ctx, ifindex, mtu_len, len_diff, flags)`.
pub const CHECK_MTU: Helper = Helper {
    id: 163,
    name: "check_mtu",
    args: &[Arg::Context, Arg::Number, Arg::WriteExact(4), Arg::Number, Arg::Number],
    ret: Ret::Number,
    class: Class::Exact,
    moves_packet: false,
    run: check_mtu,
};

/// Flags of `fib_lookup`, as in the kernel's `bpf.h`.
mod flag {
    pub const DIRECT: u32 = 1;
    pub const OUTPUT: u32 = 2;
    pub const SKIP_NEIGH: u32 = 4;
    pub const TBID: u32 = 8;
    pub const SRC: u32 = 16;
    /// The mark selects policy rules, of which there are none.
    pub const MARK: u32 = 32;
    pub const ALL: u32 = DIRECT | OUTPUT | SKIP_NEIGH | TBID | SRC | MARK;
}

/// `AF_INET`.
pub const AF_INET: u8 = 2;
/// `AF_INET6`.
pub const AF_INET6: u8 = 10;
/// Bytes of an Ethernet header.
const HEADER: i32 = 14;

/// `struct bpf_fib_lookup`.
struct Params([u8; 64]);

impl Params {
    const FAMILY: usize = 0;
    const TOT_LEN: usize = 6;
    const IFINDEX: usize = 8;
    /// `tos` and `flowinfo` before, `rt_metric` after.
    const METRIC: usize = 12;
    const SOURCE: usize = 16;
    const DESTINATION: usize = 32;
    /// `tbid` before, VLAN protocol and tag after.
    const TABLE: usize = 48;
    const SOURCE_MAC: usize = 52;
    const DESTINATION_MAC: usize = 58;

    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|i| self.0[at + i]))
    }

    fn v4(&self, at: usize) -> Ipv4Addr {
        Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|i| self.0[at + i]))
    }

    fn v6(&self, at: usize) -> Ipv6Addr {
        Ipv6Addr::from(std::array::from_fn::<u8, 16, _>(|i| self.0[at + i]))
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn put_address(&mut self, at: usize, address: IpAddr) {
        match address {
            IpAddr::V4(a) => self.put(at, &a.octets()),
            IpAddr::V6(a) => self.put(at, &a.octets()),
        }
    }
}

fn fib_lookup(cpu: &mut Cpu<'_>, [ctx, address, len, flags, _]: [u64; 5]) -> Result<u64, FaultReason> {
    context(FIB_LOOKUP.name, 1, ctx)?;
    let (len, flags) = (len as i32, flags as u32);
    if len < 64 || flags & !flag::ALL != 0 {
        return Ok(Errno::INVAL.result());
    }
    let mut params = Params([0; 64]);
    params.0.copy_from_slice(cpu.read(FIB_LOOKUP.name, address, 64)?);
    let routes = &cpu.world.routes;
    let found = match params.0[Params::FAMILY] {
        AF_INET => lookup_v4(routes, &mut params, flags),
        AF_INET6 => lookup_v6(routes, &mut params, flags),
        _ => Errno::AFNOSUPPORT.result(),
    };
    memory::write(cpu, FIB_LOOKUP.name, address, &params.0)?;
    Ok(found)
}

fn lookup_v4(routes: &Routes, params: &mut Params, flags: u32) -> u64 {
    let ifindex = params.u32(Params::IFINDEX);
    let Some(link) = routes.link(ifindex) else {
        return Errno::NODEV.result();
    };
    if !link.forwarding[0] {
        return result::FORWARDING_DISABLED;
    }
    let to = params.v4(Params::DESTINATION);
    let only = (flags & flag::OUTPUT != 0).then_some(ifindex);
    let query = Query { from: table(params, flags), only, prefer: 0, class: params.0[Params::METRIC] & 0xfc };
    let (route, out, mtu) = match taken(routes, query.find(routes, to.into(), 32), false) {
        Ok(taken) => taken,
        Err(result) => return result,
    };
    if let Some(result) = too_long(params, mtu) {
        return result;
    }
    leave_by(params, route, out);
    if flags & flag::SRC != 0 {
        params.put_address(Params::SOURCE, source_v4(routes, route, out));
    }
    if let Some(gateway) = route.gateway {
        if gateway.is_ipv6() {
            params.0[Params::FAMILY] = AF_INET6;
        }
        params.put_address(Params::DESTINATION, gateway);
    }
    finish(routes, params, flags, out, route.gateway.unwrap_or(to.into()), mtu)
}

fn lookup_v6(routes: &Routes, params: &mut Params, flags: u32) -> u64 {
    let (from, to) = (params.v6(Params::SOURCE), params.v6(Params::DESTINATION));
    // These are never forwarded.
    let strict = |a: &Ipv6Addr| a.is_multicast() || a.is_unicast_link_local() || a.is_loopback();
    if strict(&to) || strict(&from) {
        return result::NOT_FORWARDED;
    }
    let ifindex = params.u32(Params::IFINDEX);
    let Some(link) = routes.link(ifindex) else {
        return Errno::NODEV.result();
    };
    if !link.forwarding[1] {
        return result::FORWARDING_DISABLED;
    }
    let query = Query { from: table(params, flags), only: None, prefer: ifindex, class: 0 };
    let (route, out, mtu) = match taken(routes, query.find(routes, to.into(), 128), true) {
        Ok(taken) => taken,
        Err(result) => return result,
    };
    if let Some(result) = too_long(params, mtu) {
        return result;
    }
    if let Some(gateway) = route.gateway {
        params.put_address(Params::DESTINATION, gateway);
    }
    leave_by(params, route, out);
    if flags & flag::SRC != 0 {
        match route.source.or_else(|| routes.source_v6(out.index, to, 128).map(IpAddr::V6)) {
            Some(source) => params.put_address(Params::SOURCE, source),
            None => return result::NO_SOURCE,
        }
    }
    finish(routes, params, flags, out, route.gateway.unwrap_or(to.into()), mtu)
}

/// The one table that a direct lookup looks into. Reading its number clears it.
fn table(params: &mut Params, flags: u32) -> Option<u32> {
    if flags & flag::DIRECT == 0 {
        return None;
    }
    let mut table = MAIN;
    if flags & flag::TBID != 0 {
        table = params.u32(Params::TABLE);
        params.put(Params::TABLE, &[0; 4]);
    }
    // The kernel takes 0 for main.
    Some(if table == 0 { MAIN } else { table })
}

fn too_long(params: &mut Params, mtu: u32) -> Option<u64> {
    if u32::from(params.u16(Params::TOT_LEN)) <= mtu {
        return None;
    }
    params.put(Params::TOT_LEN, &(mtu as u16).to_le_bytes());
    Some(result::FRAGMENTATION_NEEDED)
}

fn leave_by(params: &mut Params, route: &Route, out: &Link) {
    params.put(Params::METRIC, &route.metric.to_le_bytes());
    params.put(Params::IFINDEX, &out.index.to_le_bytes());
}

fn finish(routes: &Routes, params: &mut Params, flags: u32, out: &Link, hop: IpAddr, mtu: u32) -> u64 {
    if flags & flag::SKIP_NEIGH == 0 {
        let Some(mac) = routes.neighbour(out.index, hop) else {
            return result::NO_NEIGHBOUR;
        };
        params.put(Params::DESTINATION_MAC, &mac);
        params.put(Params::SOURCE_MAC, &out.address);
    }
    params.put(Params::TABLE, &[0; 4]);
    params.put(Params::TOT_LEN, &(mtu as u16).to_le_bytes());
    result::SUCCESS
}

fn check_mtu(cpu: &mut Cpu<'_>, [ctx, ifindex, address, diff, flags]: [u64; 5]) -> Result<u64, FaultReason> {
    context(CHECK_MTU.name, 1, ctx)?;
    let asked = memory::copy(cpu, CHECK_MTU.name, address, 4)?;
    let asked = asked.bytes().iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b)) as i32;
    if flags != 0 {
        return Ok(Errno::INVAL.result());
    }
    let ifindex = if ifindex as u32 == 0 { cpu.ingress.ifindex } else { ifindex as u32 };
    let Some(link) = cpu.world.routes.link(ifindex) else {
        return Ok(Errno::NODEV.result());
    };
    let mtu = link.mtu;
    // What is asked for is an IP length; without it the frame's counts.
    let len = if asked != 0 { asked.wrapping_add(HEADER) } else { cpu.packet.frame().len() as i32 };
    let too_long = len.wrapping_add(diff as i32) > (mtu as i32).wrapping_add(HEADER);
    memory::write(cpu, CHECK_MTU.name, address, &mtu.to_le_bytes())?;
    Ok(too_long.into())
}
