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

/// A beat each tick.
pub(super) const WHOLE: u64 = 1 << 32;
/// The pipeline gives at most one cycle in so many to the host's reads.
pub(super) const MAINTENANCE: u64 = 256;
/// The smallest rate that a row expresses: its `ticks_per_beat` has 28 bits, 16 of them behind the point.
const LEAST_RATE: u64 = WHOLE >> 12;

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
        let there: Vec<Vec<&Tenant>> =
            (0..self.target.ports as usize).map(|port| self.tenants_at(port, None)).collect();
        let mut free =
            self.budget(port.into(), &there, Some(port.into())).map(|budget| (budget.rate, budget.bursts))?;
        for tenant in there.get(usize::from(port))? {
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
        let next = self.plan_shares(None)?;
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
    pub(super) fn is_share_row(&self, leaving: Option<u16>, port: u8, table: Table, index: u32, words: &[u32]) -> bool {
        let says = |shares: &PortShares| {
            let row = match table {
                Table::Share => shares.rows.get(&(index as u8)).copied().unwrap_or_default().pack(),
                _ => excess_row(shares).pack(),
            };
            row.is_ok_and(|row| row == words)
        };
        let after = leaving.and_then(|id| self.plan_shares(Some(id)).ok());
        [Some(&self.shares), after.as_ref()].into_iter().flatten().filter_map(|s| s.get(usize::from(port))).any(says)
    }

    fn plan_shares(&self, without: Option<u16>) -> Result<Vec<PortShares>, LinkError> {
        let ports = 0..self.target.ports as usize;
        let there: Vec<Vec<&Tenant>> = ports.map(|port| self.tenants_at(port, without)).collect();
        (0..there.len()).map(|port| self.divide(port, &there)).collect()
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

    pub(super) fn growth(&self, tenant: &Tenant) -> u16 {
        self.engines.rmt.growth(tenant.module)
    }

    fn divide(&self, port: usize, there: &[Vec<&Tenant>]) -> Result<PortShares, LinkError> {
        let Some(budget) = self.budget(port, there, None) else { return Ok(PortShares::default()) };
        let here = &there[port];
        if let [only] = here[..] {
            // Nobody to be protected from, but his packets may still grow.
            let room = self.target.port_beats - waits(budget.rate, budget.lag);
            let all = Assured { beats_per_round: budget.rate, burst_beats: room };
            let row = ShareRow { growth: self.growth(only), ..ShareRow::default() };
            return Ok(PortShares {
                excess: 0,
                assured: [(only.spec.id, all)].into(),
                wait: wait(&budget, self.target.port_beats),
                rows: [(only.module, row)].into(),
            });
        }
        let assured = self.assured(port, here, &budget)?;
        let rows = here.iter().map(|t| (t.module, assured[&t.spec.id].row(self.growth(t)))).collect();
        let excess = self.target.port_beats - budget.bursts - waits(budget.rate, budget.lag);
        Ok(PortShares { excess, wait: wait(&budget, excess + budget.bursts), assured, rows })
    }

    /// None for a port without tenants, unless one who adds nothing is `coming` there.
    fn budget(&self, port: usize, there: &[Vec<&Tenant>], coming: Option<usize>) -> Option<Budget> {
        let longest = |port: usize| {
            let comes = (coming == Some(port)).then_some(0);
            let growth = there.get(port)?.iter().map(|t| self.growth(t)).chain(comes).max()?;
            let frame = self.settings.ports.get(port).map_or(MAX_FRAME_BYTES as u16, |p| p.max_frame);
            Some(self.longest(frame, growth))
        };
        let own = longest(port)?;
        let others: Vec<u32> = (0..there.len()).filter(|p| *p != port).filter_map(longest).collect();
        // Each other port may be a turn ahead, which its last packet overdrew, and this one's last packet its own turn
        // (docs/decisions/port-merge.md).
        let lag = others.iter().map(|other| u64::from(self.target.beats(MAX_FRAME_BYTES) + other + own - 2)).sum();
        let service = WHOLE * (MAINTENANCE - 1) / MAINTENANCE / (others.len() as u64 + 1);
        // A longest packet beyond its share finds room in an empty FIFO; the rest holds bursts, and what comes during the lag.
        let rest = self.target.port_beats.saturating_sub(own);
        let bursts = rest.saturating_sub(waits(service, lag)).max(rest / 3);
        let for_rate = u64::from(rest - bursts) * WHOLE;
        let rate = for_rate.checked_div(lag).map_or(service, |rate| rate.min(service));
        Some(Budget { rate, bursts, lag, longest: own, service })
    }

    /// Those who asked get it; the others an even part of what is left.
    fn assured(&self, port: usize, here: &[&Tenant], budget: &Budget) -> Result<BTreeMap<u16, Assured>, LinkError> {
        let mut assured = BTreeMap::new();
        let (mut rate, mut bursts) = (budget.rate, budget.bursts);
        let mut even: Vec<u16> = Vec::new();
        for tenant in here {
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
