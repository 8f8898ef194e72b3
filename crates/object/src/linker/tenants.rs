//! Tenants: admission and removal.

use super::l7::L7Given;
use super::rmt::Quota;
use super::writer::Writer;
use super::xdp::XdpShare;
use super::{LinkError, Linker, grants};
use crate::demand::{Queues, Rate};
use crate::destination::{Destination, Destinations};
use crate::key::KeySpec;
use crate::load::Load;
use crate::object::check_name;
use crate::rmt::Outer;
use sluice_formats::limits::{SYSTEM_MODULE, SYSTEM_TENANT, TENANT_BITS, VLAN_ROWS};
use sluice_formats::rows::{LimitRow, QuantumRow, RateRow, VidsRow, VlanRow};
use sluice_formats::{EngineId, Node, Table, Target};
use std::collections::BTreeSet;

/// What a tenant is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantSpec {
    /// ID, 0 to 4095; 0 is the system tenant, owner of module 0.
    pub id: u16,
    /// Name for people, each once.
    pub name: String,
    /// VLANs whose frames are the tenant's.
    pub vlans: Vec<VlanGrant>,
    /// The outer tag stays in the frame.
    pub keep_tag: bool,
    /// Frames may leave in any VLAN that nobody owns at the port, and without a tag where untagged frames are nobody's; otherwise
    /// only in VLANs of the tenant's own.
    pub any_vids: bool,
    /// Rate limit; none is no limit.
    pub rate: Option<Rate>,
    /// What he is assured of at each port where he has frames, counted in whole beats of the most that his programs make of a
    /// packet; none is an even part of what the others there leave.
    pub share: Option<Rate>,
    /// Scheduling weight in bytes, 1 or more.
    pub quantum: u16,
    /// Destinations it may send to, with the cells that its two queues there may hold together.
    pub queues: Queues,
    /// Cells of these that its low queue leaves free for the high one; a destination that is not named has 0.
    pub reserves: Queues,
    /// Entries of its table; room for a replacement is reserved beside them.
    pub max_entries: u32,
    /// Resources of the rmt pipeline for programs of its own, beside those of its table; without any it runs table
    /// and XDP objects. The destinations in it do not count: they are those of `queues`.
    pub rmt: Option<Quota>,
    /// With `rmt`, room too for objects that have no program of the pipeline: tables, and XDP programs or rules alone.
    pub table: bool,
    /// Most taken back edges and calls of a packet in XDP programs; without it 65,536, on every device.
    pub xdp_work: Option<u32>,
    /// Bytes by which XDP programs may make a frame longer: beyond them the helpers fail as at the end of the packet's buffer. What the
    /// programs make use of is charged at the ports. Without it there is no limit but the buffer, and no charge: that is for a NIC of
    /// one's own.
    pub xdp_growth: Option<u16>,
    /// His part of the queues in front of an XDP engine in hardware; without it the usual weight and no rows of his own.
    pub xdp_share: Option<XdpShare>,
    /// Whether packets of his XDP programs pass the programs' tables before a core has them, where the device has a warp engine.
    pub xdp_warp: bool,
    /// His part of the l7 engine; without it he runs no rules.
    pub l7: Option<L7Given>,
}

/// One VLAN on one port, or on all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VlanGrant {
    /// Port; none is every port.
    pub port: Option<u8>,
    /// VLAN ID, 0 to 4095.
    pub vlan: u16,
}

/// An admitted tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// What it was given.
    pub spec: TenantSpec,
    /// Its module.
    pub module: u8,
    /// What it runs.
    pub running: Option<Running>,
    /// Its VLANs as (port, VLAN ID).
    pub vlans: BTreeSet<(u8, u16)>,
}

/// A program that packets go through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Name of the object.
    pub object: String,
    /// What it matches on.
    pub key: KeySpec,
    /// Engines that it has a part for; without any it is a table.
    pub engines: Vec<EngineId>,
}

impl TenantSpec {
    /// A tenant with nothing but a quantum of 1,500 bytes.
    pub fn new(id: u16, name: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
            vlans: Vec::new(),
            keep_tag: false,
            any_vids: false,
            rate: None,
            share: None,
            quantum: 1500,
            queues: Queues::new(),
            reserves: Queues::new(),
            max_entries: 0,
            rmt: None,
            table: false,
            xdp_work: None,
            xdp_growth: None,
            xdp_share: None,
            xdp_warp: true,
            l7: None,
        }
    }

    /// Cells of all its queues.
    pub fn cells(&self) -> u32 {
        self.queues.values().map(|c| u32::from(*c)).sum()
    }

    /// Limit of its queues at a destination; of none, where it may not send.
    pub(super) fn limit_row(&self, destination: Option<Destination>) -> LimitRow {
        let at = |of: &Queues| destination.and_then(|d| of.get(&d)).copied().unwrap_or(0);
        LimitRow { cells: at(&self.queues), reserve: at(&self.reserves) }
    }

    /// Destinations it may send to.
    pub fn destinations(&self) -> Destinations {
        self.queues.keys().copied().collect()
    }

    /// All ports share one bus: a limit above what that carries would be none.
    fn check_rate(&self, target: &Target) -> Result<(), LinkError> {
        let (least, most) = (Rate::lowest(), target.bits_per_second());
        match self.rate {
            Some(rate) if !(least..=most).contains(&rate.bits_per_second) => {
                let allowed = format!(
                    "{least} to {most}, all that the bus of target {} carries, or no rate for no limit",
                    target.name
                );
                Err(self.wrong("rate.bits_per_second", rate.bits_per_second, allowed))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn rate_row(&self) -> Result<RateRow, LinkError> {
        let row = self.rate.map(|r| r.row()).transpose().map_err(|e| match e {
            crate::ObjectError::Value { path, found, allowed } => self.wrong(&path, found, allowed),
            error => LinkError::Object { object: self.name.clone(), error },
        })?;
        Ok(row.unwrap_or_default())
    }

    pub(super) fn wrong(&self, what: &str, found: impl ToString, allowed: impl ToString) -> LinkError {
        let (found, allowed) = (found.to_string(), allowed.to_string());
        LinkError::Setting { what: format!("tenant `{}`: {what}", self.name), found, allowed }
    }
}

impl Tenant {
    /// Whether a frame with this outer tag may leave where that is nobody's: by right, or because it may have come with it.
    pub(super) fn may_leave_unowned(&self, outer: Outer) -> bool {
        match outer {
            Outer::Vlan(vlan) => self.spec.any_vids || vlan != 0 && self.vlans.iter().any(|(_, own)| *own == vlan),
            Outer::Untagged => self.spec.any_vids,
            Outer::Any => true,
        }
    }

    pub(super) fn vlan_row(&self) -> VlanRow {
        VlanRow { valid: true, keep_tag: self.spec.keep_tag, module_id: self.module, tenant: self.spec.id }
    }
}

impl Linker {
    /// Takes a tenant in: module, resources of the pipeline, queues, rate; its VLANs last.
    pub fn admit(&mut self, spec: TenantSpec) -> Result<Load, LinkError> {
        let mut next = self.clone();
        let load = next.build_admit(spec)?;
        next.check(&load)?;
        *self = next;
        Ok(load)
    }

    /// Lets a tenant go: no more packets, then its program, then its resources.
    pub fn remove(&mut self, id: u16) -> Result<Load, LinkError> {
        let mut next = self.clone();
        let load = next.build_remove(id)?;
        self.check(&load)?;
        *self = next;
        Ok(load)
    }

    fn build_admit(&mut self, spec: TenantSpec) -> Result<Load, LinkError> {
        let vlans = self.check_spec(&spec)?;
        let rate = spec.rate_row()?;
        let module = self.free_module(&spec)?;
        let mut w = Writer::default();
        for space in self.engines.all_mut() {
            w.rows(space.admit(self.target, module, &spec)?);
        }
        w.write(Node::Stamp, Table::Rate, module.into(), &rate);
        w.write(Node::Egress, Table::Quantum, module.into(), &QuantumRow { bytes: spec.quantum });
        if spec.any_vids {
            w.write(Node::Egress, Table::Vids, module.into(), &VidsRow { any: true });
        }
        for number in 0..self.target.destinations() as u8 {
            let row = spec.limit_row(Destination::from_number(number, self.target));
            w.write(Node::Egress, Table::Limit, self.queue(number, module), &row);
        }
        let (id, label) = (spec.id, format!("admit {}", spec.name));
        let tenant = Tenant { spec, module, running: None, vlans };
        self.tenants.insert(id, tenant.clone());
        self.write_shares(&mut w)?;
        w.barrier();
        for (port, vlan) in &tenant.vlans {
            w.write(Node::Port(*port), Table::Vlan, (*vlan).into(), &tenant.vlan_row());
        }
        Ok(w.load(self, id, label))
    }

    fn build_remove(&mut self, id: u16) -> Result<Load, LinkError> {
        let tenant = self.tenant(id)?.clone();
        let mut w = Writer::default();
        for (port, vlan) in &tenant.vlans {
            w.write(Node::Port(*port), Table::Vlan, (*vlan).into(), &VlanRow::default());
        }
        for p in 0..self.settings.ports.len() {
            if self.settings.ports[p].untagged == Some(id) {
                self.settings.ports[p].untagged = None;
                let row = self.policy_row(&self.settings.ports[p])?;
                w.write(Node::Port(p as u8), Table::PortPolicy, 0, &row);
            }
        }
        w.barrier();
        if tenant.running.is_some() {
            self.stop(id, &mut w)?;
        }
        w.queues_empty(tenant.module);
        // Packets that waited in the ports' FIFOs have passed the last table now.
        w.drained(tenant.module, 0);
        w.drained(tenant.module, 1);
        for number in 0..self.target.destinations() as u8 {
            w.write(Node::Egress, Table::Limit, self.queue(number, tenant.module), &LimitRow::default());
        }
        w.write(Node::Egress, Table::Quantum, tenant.module.into(), &QuantumRow::default());
        if tenant.spec.any_vids {
            w.write(Node::Egress, Table::Vids, tenant.module.into(), &VidsRow::default());
        }
        for space in self.engines.all_mut() {
            w.rows(space.release(tenant.module)?);
        }
        self.tenants.remove(&id);
        self.write_shares(&mut w)?;
        Ok(w.load(self, id, format!("remove {}", tenant.spec.name)))
    }

    /// Index of a queue's rows.
    pub(super) fn queue(&self, destination: u8, module: u8) -> u32 {
        u32::from(destination) * self.target.modules + u32::from(module)
    }

    pub(super) fn check_spec(&self, spec: &TenantSpec) -> Result<BTreeSet<(u8, u16)>, LinkError> {
        if u32::from(spec.id) >> TENANT_BITS != 0 {
            return Err(spec.wrong("ID", spec.id, "0 to 4095"));
        }
        if let Err(crate::ObjectError::Value { found, allowed, .. }) = check_name("name", &spec.name) {
            return Err(LinkError::Setting { what: format!("tenant {}: name", spec.id), found, allowed });
        }
        for t in self.tenants.values() {
            let what = match (t.spec.id == spec.id, t.spec.name == spec.name) {
                (true, _) => "the ID",
                (_, true) => "the name",
                _ => continue,
            };
            return Err(taken(spec, what, t));
        }
        spec.check_rate(self.target)?;
        spec.asked_share(self.target)?;
        if spec.quantum == 0 {
            return Err(spec.wrong("quantum", 0, "1 to 65535 bytes"));
        }
        for (d, cells) in &spec.queues {
            if d.number(self.target).is_none() {
                return Err(grants::no_destination(self.target, format!("tenant `{}`: queues", spec.name), *d));
            }
            if *cells == 0 {
                return Err(spec.wrong(&format!("cells at {d}"), 0, "1 to 65535, or no queue there"));
            }
        }
        for (d, reserve) in &spec.reserves {
            let found = format!("{reserve} cells at {d}");
            match spec.queues.get(d) {
                None => return Err(spec.wrong("reserve", found, "a destination of `queues`")),
                Some(cells) if reserve >= cells => {
                    let allowed = format!("0 to {}, less than the {cells} cells of both queues there", cells - 1);
                    return Err(spec.wrong("reserve", found, allowed));
                }
                Some(_) => {}
            }
        }
        let left = self.left().cells;
        if spec.cells() > left {
            return Err(LinkError::NoRoom {
                resource: "queue cells",
                asked: spec.cells(),
                left: left.to_string(),
                holders: self.holders(|t| t.spec.cells()),
            });
        }
        self.check_xdp_given(spec)?;
        self.check_vlans(spec)
    }

    fn check_vlans(&self, spec: &TenantSpec) -> Result<BTreeSet<(u8, u16)>, LinkError> {
        let mut vlans = BTreeSet::new();
        for grant in &spec.vlans {
            if u32::from(grant.vlan) >= VLAN_ROWS {
                return Err(spec.wrong("VLAN", grant.vlan, "0 to 4095"));
            }
            match grant.port {
                None => vlans.extend((0..self.target.ports as u8).map(|p| (p, grant.vlan))),
                Some(p) if u32::from(p) < self.target.ports => drop(vlans.insert((p, grant.vlan))),
                Some(p) => {
                    let allowed = format!("0 to {}, or every port", self.target.ports - 1);
                    return Err(spec.wrong(&format!("port of VLAN {}", grant.vlan), p, allowed));
                }
            }
        }
        for t in self.tenants.values() {
            if let Some((port, vlan)) = t.vlans.intersection(&vlans).next() {
                return Err(taken(spec, &format!("VLAN {vlan} on port {port}"), t));
            }
        }
        Ok(vlans)
    }

    fn free_module(&self, spec: &TenantSpec) -> Result<u8, LinkError> {
        if spec.id == SYSTEM_TENANT {
            return Ok(SYSTEM_MODULE);
        }
        let used: BTreeSet<u8> = self.tenants.values().map(|t| t.module).collect();
        let free = (1..self.target.modules as u8).find(|m| !used.contains(m));
        free.ok_or_else(|| LinkError::NoRoom {
            resource: "modules",
            asked: 1,
            left: "0".to_owned(),
            holders: self.holders(|t| u32::from(t.module != SYSTEM_MODULE)),
        })
    }
}

fn taken(spec: &TenantSpec, what: &str, holder: &Tenant) -> LinkError {
    let (name, holder) = (spec.name.clone(), holder.spec.name.clone());
    LinkError::Taken { id: spec.id, name, what: what.to_owned(), holder }
}
