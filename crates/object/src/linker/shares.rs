//! Shares of the ports: how much of each its tenants are assured of, and the rows that say so.
//!
//! docs/decisions/isolation.md, "Share at ingress", derives every number here. All of it is counted in *cost beats*: the
//! beats of the most bytes that a tenant's programs can make of a packet. Rates are in beats per 2^32 ticks.

use super::spaces::Holder;
use super::writer::Writer;
use super::{LinkError, Linker, Tenant, TenantSpec};
use crate::demand::Rate;
use sluice_formats::limits::{COST_FRACTION_BITS, MAX_FRAME_BYTES};
use sluice_formats::rows::{ExcessRow, ShareRow};
use sluice_formats::{Node, Row, Table, Target};
use std::collections::BTreeMap;

/// The most that a row's `growth` says.
pub const MOST_GROWTH: u16 = (1 << 12) - 1;
/// A beat each tick.
pub(super) const WHOLE: u64 = 1 << 32;
/// The pipeline gives at most one cycle in so many to the host's reads.
pub(super) const MAINTENANCE: u64 = 256;
/// The smallest rate that a row expresses: its `ticks_per_beat` has 28 bits, 16 of them behind the point.
const LEAST_RATE: u64 = WHOLE >> 12;
/// Where there are XDP programs, packets that have used up what was paid for them take one beat in so many (rtl/xdp/sluice_xdp_out.sv).
const XDP_FLOOR: u64 = 64;

/// What the tenants of one port are assured of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortShares {
    /// Cost beats that the FIFO may hold with a packet beyond its share.
    pub excess: u32,
    /// What each tenant there is assured of, by ID.
    pub assured: BTreeMap<u16, Assured>,
    /// Ticks from the end of a packet within its share to its entry into the pipeline, at most.
    pub wait: u64,
    /// Rows by module; the others are zeros.
    pub(super) rows: BTreeMap<u8, ShareRow>,
}

/// What one tenant is assured of at one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assured {
    /// Cost beats in 2^32 ticks.
    pub beats_per_round: u64,
    /// Cost beats that may come at once.
    pub burst_beats: u32,
}

impl Assured {
    /// Bits a second, of packets that fill their beats.
    pub fn bits_per_second(&self, target: &Target) -> u64 {
        ((u128::from(self.beats_per_round) * u128::from(target.bits_per_second())) >> 32) as u64
    }

    /// Both are rounded so that a packet of the burst conforms and the rate is not above what is assured.
    fn row(&self, growth: u16) -> ShareRow {
        let ticks_per_beat = (WHOLE << COST_FRACTION_BITS).div_ceil(self.beats_per_round);
        let burst = (u64::from(self.burst_beats) * ticks_per_beat).div_ceil(1 << COST_FRACTION_BITS);
        ShareRow { ticks_per_beat: ticks_per_beat as u32, burst: burst as u32, growth }
    }
}

/// What a port has for its tenants together.
struct Budget {
    /// Beats in 2^32 ticks.
    rate: u64,
    /// Beats of all bursts.
    bursts: u32,
    /// Ticks that the merge may serve other ports before this one.
    lag: u64,
    /// Cost of its longest packet.
    longest: u32,
    /// Beats in 2^32 ticks that the merge leaves the port at least.
    service: u64,
}

/// Who has frames where, with the bytes by which each makes a packet longer at most.
struct There<'a> {
    ports: Vec<Vec<(&'a Tenant, u16)>>,
    /// Beats in 2^32 ticks that packets with an XDP program may take of the others, whatever was paid.
    floor: u64,
}

impl TenantSpec {
    /// The share that was asked for, as beats; none is an even part of what the others leave.
    pub(super) fn asked_share(&self, target: &Target) -> Result<Option<Assured>, LinkError> {
        let Some(Rate { bits_per_second, burst_bytes }) = self.share else { return Ok(None) };
        let bus = u128::from(target.bits_per_second());
        let rate = (u128::from(bits_per_second) << 32) / bus;
        if !(u128::from(LEAST_RATE)..=u128::from(WHOLE)).contains(&rate) {
            let least = (u128::from(LEAST_RATE) * bus).div_ceil(1 << 32);
            let allowed = format!("{least} to {bus}, or no share for an even part of what is left");
            return Err(self.wrong("share.bits_per_second", bits_per_second, allowed));
        }
        let most = target.port_beats * target.bus_bytes;
        if !(target.bus_bytes..=most).contains(&burst_bytes) {
            let allowed = format!("{} to {most}, a beat to all that a port stores", target.bus_bytes);
            return Err(self.wrong("share.burst_bytes", burst_bytes, allowed));
        }
        Ok(Some(Assured { beats_per_round: rate as u64, burst_beats: burst_bytes / target.bus_bytes }))
    }
}

impl Linker {
    /// What the tenants of a port are assured of.
    pub fn shares(&self, port: u8) -> Option<&PortShares> {
        self.shares.get(usize::from(port))
    }

    /// What a tenant who comes to a port may ask for at most: all that no other has asked for. Others with even parts keep the least there is.
    pub fn free_share(&self, port: u8) -> Option<Assured> {
        let there = self.there(None, None);
        let budget = self.budget(port.into(), &there, Some(port.into()))?;
        let mut free = (budget.rate, budget.bursts);
        for (tenant, _) in there.ports.get(usize::from(port))? {
            let least = Assured { beats_per_round: LEAST_RATE, burst_beats: 1 };
            let taken = tenant.spec.asked_share(self.target).ok()?.unwrap_or(least);
            free = (free.0.saturating_sub(taken.beats_per_round), free.1.saturating_sub(taken.burst_beats));
        }
        Some(Assured { beats_per_round: free.0, burst_beats: free.1 })
    }

    /// Ports where a tenant has frames, with what all are assured of there.
    pub fn ports_of(&self, id: u16) -> impl Iterator<Item = (u8, &PortShares)> {
        (0..).zip(&self.shares).filter(move |(_, shares)| shares.assured.contains_key(&id))
    }

    /// Beats of the longest packet that a port's frames of so many bytes may become with a tenant's programs.
    pub(super) fn longest(&self, frame: u16, growth: u16) -> u32 {
        self.target.beats((u32::from(frame) + u32::from(growth)).min(MAX_FRAME_BYTES))
    }

    /// Divides the ports among their tenants anew, and writes the rows that change.
    pub(super) fn write_shares(&mut self, w: &mut Writer) -> Result<(), LinkError> {
        let next = self.plan_shares(None, None)?;
        for (port, (old, new)) in self.shares.iter().zip(&next).enumerate() {
            let node = Node::Port(port as u8);
            for module in 0..self.target.modules as u8 {
                let row = |shares: &PortShares| shares.rows.get(&module).copied().unwrap_or_default();
                if row(old) != row(new) {
                    w.write(node, Table::Share, module.into(), &row(new));
                }
            }
            if old.excess != new.excess {
                w.write(node, Table::Excess, 0, &excess_row(new));
            }
        }
        self.shares = next;
        Ok(())
    }

    /// Whether a row is what the ports' tenants are assured of, those of now or without one that goes.
    ///
    /// `growths` are those of XDP programs that the load brings for the tenant.
    pub(super) fn is_share_row(
        &self,
        leaving: Option<u16>,
        growths: &[u16],
        (port, table, index): (u8, Table, u32),
        words: &[u32],
    ) -> bool {
        let says = |shares: &PortShares| {
            let row = match table {
                Table::Share => shares.rows.get(&(index as u8)).copied().unwrap_or_default().pack(),
                _ => excess_row(shares).pack(),
            };
            row.is_ok_and(|row| row == words)
        };
        if self.shares.get(usize::from(port)).is_some_and(says) {
            return true;
        }
        let Some(tenant) = leaving.and_then(|id| self.tenants.get(&id)) else { return false };
        let without = self.plan_shares(Some(tenant.spec.id), None).into_iter();
        let xdp = |growth: &u16| (tenant.module, self.engines.xdp.charged_with(tenant.module, &tenant.spec, *growth));
        let with = growths.iter().filter_map(|growth| self.plan_shares(None, Some(xdp(growth))).ok());
        without.chain(with).filter_map(|s| s.get(usize::from(port)).cloned()).any(|shares| says(&shares))
    }

    /// The shares without a tenant, or with another charge for XDP programs of a module.
    fn plan_shares(&self, without: Option<u16>, xdp: Option<(u8, u16)>) -> Result<Vec<PortShares>, LinkError> {
        let there = self.there(without, xdp);
        (0..there.ports.len()).map(|port| self.divide(port, &there)).collect()
    }

    fn there(&self, without: Option<u16>, xdp: Option<(u8, u16)>) -> There<'_> {
        let of = |t: &Tenant| match xdp.filter(|(module, _)| *module == t.module) {
            Some((_, growth)) => Some(growth),
            None => self.engines.xdp.charged(t.module),
        };
        let has_xdp = |t: &Tenant| Some(t.spec.id) != without && of(t).is_some();
        let floor = if self.tenants.values().any(has_xdp) { WHOLE / XDP_FLOOR } else { 0 };
        let grown = |t| (t, self.grown(t, of(t).unwrap_or(0)));
        let ports = 0..self.target.ports as usize;
        let there = ports.map(|port| self.tenants_at(port, without).into_iter().map(grown).collect()).collect();
        There { ports: there, floor }
    }

    /// Tenants whose frames a port takes.
    fn tenants_at(&self, port: usize, without: Option<u16>) -> Vec<&Tenant> {
        let untagged = self.settings.ports.get(port).and_then(|settings| settings.untagged);
        let is_there = |t: &&Tenant| {
            Some(t.spec.id) != without
                && (t.vlans.iter().any(|(p, _)| usize::from(*p) == port) || untagged == Some(t.spec.id))
        };
        self.tenants.values().filter(is_there).collect()
    }

    /// Bytes by which a tenant's programs make a packet longer: those of the pipeline, and behind it those of the XDP engine.
    pub(super) fn growth(&self, tenant: &Tenant) -> u16 {
        self.grown(tenant, self.engines.xdp.charged(tenant.module).unwrap_or(0))
    }

    /// Whether a tenant has, or had, an XDP program that is charged.
    pub(super) fn has_xdp(&self) -> bool {
        self.tenants.values().any(|t| self.engines.xdp.charged(t.module).is_some())
    }

    fn grown(&self, tenant: &Tenant, xdp: u16) -> u16 {
        self.engines.rmt.growth(tenant.module).saturating_add(xdp).min(MOST_GROWTH)
    }

    /// Bytes by which a tenant's programs make a packet longer at most, as the ports charge them; none of nobody.
    pub fn growth_of(&self, id: u16) -> Option<u16> {
        self.tenants.get(&id).map(|tenant| self.growth(tenant))
    }

    fn divide(&self, port: usize, there: &There<'_>) -> Result<PortShares, LinkError> {
        let Some(budget) = self.budget(port, there, None) else { return Ok(PortShares::default()) };
        let here = &there.ports[port];
        if let [(only, growth)] = here[..] {
            // Nobody to be protected from, but his packets may still grow.
            let room = self.target.port_beats - waits(budget.rate, budget.lag);
            let all = Assured { beats_per_round: budget.rate, burst_beats: room };
            let row = ShareRow { growth, ..ShareRow::default() };
            return Ok(PortShares {
                excess: 0,
                assured: [(only.spec.id, all)].into(),
                wait: wait(&budget, self.target.port_beats),
                rows: [(only.module, row)].into(),
            });
        }
        let assured = self.assured(port, here, &budget)?;
        let rows = here.iter().map(|(t, growth)| (t.module, assured[&t.spec.id].row(*growth))).collect();
        let excess = self.target.port_beats - budget.bursts - waits(budget.rate, budget.lag);
        Ok(PortShares { excess, wait: wait(&budget, excess + budget.bursts), assured, rows })
    }

    /// None for a port without tenants, unless one who adds nothing is `coming` there.
    fn budget(&self, port: usize, there: &There<'_>, coming: Option<usize>) -> Option<Budget> {
        let longest = |port: usize| {
            let comes = (coming == Some(port)).then_some(0);
            let growth = there.ports.get(port)?.iter().map(|(_, growth)| *growth).chain(comes).max()?;
            let frame = self.settings.ports.get(port).map_or(MAX_FRAME_BYTES as u16, |p| p.max_frame);
            Some(self.longest(frame, growth))
        };
        let own = longest(port)?;
        let others: Vec<u32> = (0..there.ports.len()).filter(|p| *p != port).filter_map(longest).collect();
        // Each other port may be a turn ahead, which its last packet overdrew, and this one's last packet its own turn
        // (docs/decisions/port-merge.md).
        let lag = others.iter().map(|other| u64::from(self.target.beats(MAX_FRAME_BYTES) + other + own - 2)).sum();
        let service = (WHOLE * (MAINTENANCE - 1) / MAINTENANCE - there.floor) / (others.len() as u64 + 1);
        // A longest packet beyond its share finds room in an empty FIFO; the rest holds bursts, and what comes during the lag.
        let rest = self.target.port_beats.saturating_sub(own);
        let bursts = rest.saturating_sub(waits(service, lag)).max(rest / 3);
        let for_rate = u64::from(rest - bursts) * WHOLE;
        let rate = for_rate.checked_div(lag).map_or(service, |rate| rate.min(service));
        Some(Budget { rate, bursts, lag, longest: own, service })
    }

    /// Those who asked get it; the others an even part of what is left.
    fn assured(
        &self,
        port: usize,
        here: &[(&Tenant, u16)],
        budget: &Budget,
    ) -> Result<BTreeMap<u16, Assured>, LinkError> {
        let mut assured = BTreeMap::new();
        let (mut rate, mut bursts) = (budget.rate, budget.bursts);
        let mut even: Vec<u16> = Vec::new();
        for (tenant, _) in here {
            let Some(asked) = tenant.spec.asked_share(self.target)? else {
                even.push(tenant.spec.id);
                continue;
            };
            let megabits = |a: &Assured| (a.bits_per_second(self.target) / 1_000_000) as u32;
            if asked.beats_per_round > rate {
                let left = megabits(&Assured { beats_per_round: rate, ..asked });
                return Err(self.no_share("Mbit/s of shares", port, megabits(&asked), left, &assured, megabits));
            }
            if asked.burst_beats > bursts {
                let what = |a: &Assured| a.burst_beats * self.target.bus_bytes;
                let (asked, left) = (what(&asked), bursts * self.target.bus_bytes);
                return Err(self.no_share("bytes of bursts of shares", port, asked, left, &assured, what));
            }
            rate -= asked.beats_per_round;
            bursts -= asked.burst_beats;
            assured.insert(tenant.spec.id, asked);
        }
        let parts = even.len() as u32;
        if parts > 0 && (rate / u64::from(parts) < LEAST_RATE || bursts / parts == 0) {
            let what = |a: &Assured| a.burst_beats * self.target.bus_bytes;
            let (asked, left) = (parts * self.target.bus_bytes, bursts * self.target.bus_bytes);
            return Err(self.no_share("bytes of bursts of shares", port, asked, left, &assured, what));
        }
        for id in even {
            let part = Assured { beats_per_round: rate / u64::from(parts), burst_beats: bursts / parts };
            assured.insert(id, part);
        }
        Ok(assured)
    }

    fn no_share(
        &self,
        resource: &'static str,
        port: usize,
        asked: u32,
        left: u32,
        assured: &BTreeMap<u16, Assured>,
        what: impl Fn(&Assured) -> u32,
    ) -> LinkError {
        let name = |id: &u16| self.tenants.get(id).map_or_else(String::new, |t| t.spec.name.clone());
        let holders = assured.iter().map(|(id, a)| Holder { tenant: name(id), amount: what(a) }).collect();
        LinkError::NoRoom { resource, asked, left: format!("{left} at port {port}"), holders }
    }
}

/// Beats that come at a rate while a port waits.
fn waits(rate: u64, lag: u64) -> u32 {
    (u128::from(rate) * u128::from(lag)).div_ceil(u128::from(WHOLE)) as u32
}

/// Ticks until so many beats, and what the merge serves before them, are in the pipeline.
fn wait(budget: &Budget, beats: u32) -> u64 {
    budget.lag + (u64::from(beats + budget.longest) * WHOLE).div_ceil(budget.service)
}

fn excess_row(shares: &PortShares) -> ExcessRow {
    ExcessRow { beats: shares.excess as u16 }
}
