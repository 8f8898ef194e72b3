//! Another grant for a tenant whose packets go on.

use super::rmt::{RmtError, quota_of};
use super::tenants::{Tenant, TenantSpec};
use super::writer::Writer;
use super::{LinkError, Linker};
use crate::destination::Destination;
use crate::load::Load;
use crate::object::Object;
use sluice_formats::rows::{QuantumRow, VidsRow, VlanRow};
use sluice_formats::{Node, Table};
use std::collections::BTreeSet;

impl Linker {
    /// Gives a tenant what `spec` says in place of what he has, and loses no packet of his or of others: rows of the pipeline, queues, VLANs, rate, weight, share of the
    /// ports. `object` is what he runs from then on; it has to be said where rows of the pipeline change while he runs something, for his program is placed anew in the other
    /// generation, or where he loses a queue. So there has to be room for what he gets next to what he has, but for what stays as large as it is. What cannot be had is
    /// refused as a whole.
    ///
    /// ID, name, and what he has of the XDP and l7 engines stay.
    pub fn regrant(&mut self, spec: TenantSpec, object: Option<&Object>) -> Result<Load, LinkError> {
        let before = self.tenant(spec.id)?.clone();
        self.check_stays(&before.spec, &spec)?;
        let quota = quota_of(self.target, &spec)?;
        let moves = quota != quota_of(self.target, &before.spec)?;
        // Where its entries send is known of a program that is said.
        let leaves = before.spec.queues.keys().any(|to| !spec.queues.contains_key(to));
        if let (true, Some(running), None) = (moves || leaves, &before.running, object) {
            let found = format!("`{}` is running", running.object);
            let allowed = "the program too: its rows are placed anew, and it sends where there is a queue then";
            return Err(before.state("regrant", found, allowed));
        }
        if let (None, Some(_)) = (&before.running, object) {
            return Err(before.state("regrant", "nothing is running".to_owned(), "no program; load it after that"));
        }
        let (id, module, granted) = (spec.id, before.module, quota.destinations);
        let mut next = self.clone();
        // As for a tenant who comes: of what the others leave.
        next.tenants.remove(&id);
        let vlans = next.check_spec(&spec)?;
        let mut w = Writer::default();
        let leave: BTreeSet<_> = before.vlans.difference(&vlans).copied().collect();
        for (port, vlan) in &leave {
            w.write(Node::Port(*port), Table::Vlan, (*vlan).into(), &VlanRow::default());
        }
        let tenant = Tenant { spec, vlans: vlans.clone(), ..before.clone() };
        next.tenants.insert(id, tenant.clone());
        let keeps = object.and_then(|object| object.parts.rmt.as_ref()).is_some_and(|part| part.keep_state);
        let mask = next.engines.rmt.granted(module);
        if moves {
            let blank = next.engines.rmt.widen(module, quota, keeps)?;
            w.rows(blank);
            // Where he may send from now on, and where he may still send.
            w.rows([next.engines.rmt.grant(module, mask | granted)]);
        }
        next.write_grant(&before, &tenant, &mut w)?;
        next.write_shares(&mut w)?;
        w.barrier();
        // Rows of both are his until the end.
        let mut between = next.clone();
        if let Some(tenant) = between.tenants.get_mut(&id) {
            tenant.vlans.extend(&leave);
        }
        if let Some(object) = object {
            next.switch_to(id, object, &mut w)?;
        }
        if moves {
            next.engines.rmt.settle(module);
            w.barrier();
            w.rows([next.engines.rmt.grant(module, granted)]);
        }
        w.barrier();
        let came = |at: &&(u8, u16)| !before.vlans.contains(at) || before.spec.keep_tag != tenant.spec.keep_tag;
        for (port, vlan) in vlans.iter().filter(came) {
            w.write(Node::Port(*port), Table::Vlan, (*vlan).into(), &tenant.vlan_row());
        }
        let load = w.load(&next, id, format!("regrant {}", tenant.spec.name));
        between.check(&load)?;
        *self = next;
        Ok(load)
    }

    /// Another program in place of the running one, for which the tenant is given what he lacks of the pipeline: as much as it was compiled with,
    /// or what its entries need where that is not there.
    pub fn grow(&mut self, id: u16, object: &Object) -> Result<Load, LinkError> {
        let (tenant, _) = self.running(id, "replace")?;
        let before = tenant.spec.clone();
        let with = |object: &Object| {
            let mut spec = before.clone();
            spec.make_room(object);
            spec
        };
        let spec = with(object);
        if spec == before {
            return self.replace(id, object);
        }
        let alone = object.parts.rmt.as_ref().and_then(|part| part.with_entries_alone());
        match (self.regrant(spec, Some(object)), alone) {
            (Err(LinkError::Rmt(RmtError::NoRoom { .. })), Some(alone)) => {
                let mut least = object.clone();
                least.parts.rmt = Some(Box::new(alone));
                let spec = with(&least);
                if spec == before { self.replace(id, object) } else { self.regrant(spec, Some(object)) }
            }
            (done, _) => done,
        }
    }

    fn check_stays(&self, before: &TenantSpec, spec: &TenantSpec) -> Result<(), LinkError> {
        let same = "as it is, while the tenant is there";
        if spec.name != before.name {
            return Err(spec.wrong("name", format!("`{}`, he is `{}`", spec.name, before.name), same));
        }
        let stays = [
            ("xdp_work", spec.xdp_work == before.xdp_work),
            ("xdp_growth", spec.xdp_growth == before.xdp_growth),
            ("xdp_share", spec.xdp_share == before.xdp_share),
            ("warp", spec.xdp_warp == before.xdp_warp),
            ("l7", spec.l7 == before.l7),
        ];
        match stays.into_iter().find(|(_, stays)| !stays) {
            Some((what, _)) => Err(spec.wrong(what, "another one", same)),
            None => Ok(()),
        }
    }

    /// Rows of the ports and queues that are others than before.
    fn write_grant(&self, before: &Tenant, tenant: &Tenant, w: &mut Writer) -> Result<(), LinkError> {
        let (old, spec, module) = (&before.spec, &tenant.spec, tenant.module);
        let rate = spec.rate_row()?;
        if old.rate_row()? != rate {
            w.write(Node::Stamp, Table::Rate, module.into(), &rate);
        }
        if old.quantum != spec.quantum {
            w.write(Node::Egress, Table::Quantum, module.into(), &QuantumRow { bytes: spec.quantum });
        }
        if old.any_vids != spec.any_vids {
            w.write(Node::Egress, Table::Vids, module.into(), &VidsRow { any: spec.any_vids });
        }
        for number in 0..self.target.destinations() as u8 {
            let to = Destination::from_number(number, self.target);
            if old.limit_row(to) != spec.limit_row(to) {
                w.write(Node::Egress, Table::Limit, self.queue(number, module), &spec.limit_row(to));
            }
        }
        Ok(())
    }
}
