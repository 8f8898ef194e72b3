//! The engine's space on a NIC: each tenant has ranges of rows, one half for each generation.

use super::given::{L7Given, MESSAGES_PART, PORTS, RESOURCES, Resource};
use super::place::{Bases, Place, write, zero};
use crate::l7::L7Part;
use crate::linker::LinkError;
use crate::linker::check::Refusal;
use crate::linker::engine::{At, CheckedRow, Cleared, Placed, Space};
use crate::linker::ranges::RangeSpace;
use crate::linker::rmt::RowWrite;
use crate::linker::secrets::Secrets;
use crate::linker::spaces::Holder;
use crate::linker::tenants::{Tenant, TenantSpec};
use crate::object::Object;
use sluice_formats::l7::rows::{L7PortRow, L7QuotaRow, L7RingRow, L7SecretRow, L7ShareRow};
use sluice_formats::l7::target::{TABLE_HASHES, Target as L7Target, WEIGHT};
use sluice_formats::{EngineId, Table, Target};
use std::collections::{BTreeMap, BTreeSet};

/// What a module holds.
#[derive(Clone, Debug)]
pub(super) struct Holding {
    /// Its tenant's name.
    pub name: String,
    /// What it was given.
    pub given: L7Given,
    /// First numbers of what it was given.
    pub bases: Bases,
    /// Programs by generation.
    pub banks: [Option<L7Part>; 2],
    /// Rings that are open.
    pub open: BTreeSet<u32>,
}

impl Holding {
    /// First numbers of a generation.
    pub fn bases_of(&self, generation: u8) -> Bases {
        std::array::from_fn(|i| {
            let half = if RESOURCES[i].copies == 2 { u32::from(generation) * self.count(i) } else { 0 };
            self.bases[i] + half
        })
    }

    /// Numbers of a resource that each generation has.
    pub fn count(&self, resource: usize) -> u32 {
        (RESOURCES[resource].given)(&self.given)
    }

    /// A port of a program as it was placed.
    pub fn running_port(&self, module: u8, generation: u8, index: u32) -> Option<L7PortRow> {
        let place = self.place(module, generation);
        let part = self.banks[usize::from(generation)].as_ref()?;
        let application = part.applications.get(index.checked_sub(place.bases[PORTS])? as usize)?;
        Some(place.port(&application.row))
    }

    fn place(&self, module: u8, generation: u8) -> Place {
        Place { module, generation, bases: self.bases_of(generation) }
    }
}

/// Spaces of the engine.
#[derive(Clone, Debug)]
pub(in crate::linker) struct L7Space {
    pub(super) target: &'static L7Target,
    free: [RangeSpace; RESOURCES.len()],
    /// By module.
    pub(super) holders: BTreeMap<u8, Holding>,
    /// Secrets of the message table are of these.
    pub(in crate::linker) secrets: Secrets,
}

impl L7Space {
    /// All of a target's engine free.
    pub fn new(target: &Target) -> Self {
        let target = L7Target::by_name(target.name);
        Self {
            target,
            free: RESOURCES.map(|resource| RangeSpace::new((resource.all)(target))),
            holders: BTreeMap::new(),
            secrets: Secrets::default(),
        }
    }

    /// Secrets of the message table.
    pub(super) fn secrets(&self) -> [L7SecretRow; TABLE_HASHES] {
        self.secrets.messages()
    }

    /// Who holds how much, most first.
    fn held_by(&self, amount: impl Fn(&Holding) -> u32) -> Vec<Holder> {
        let holder = |h: &Holding| Holder { tenant: h.name.clone(), amount: amount(h) };
        Holder::most_first(self.holders.values().map(holder))
    }

    /// Refuses more than there is in all, and what others hold.
    fn check_sums(&self, spec: &TenantSpec, given: &L7Given) -> Result<(), LinkError> {
        let target = self.target;
        let messages = |given: &L7Given| u32::from(given.most_messages(target));
        type Amount<'a> = &'a dyn Fn(&L7Given) -> u32;
        let sums: [(&'static str, &str, Amount, usize); 3] = [
            ("messages on their way", "l7.messages", &messages, target.messages),
            ("packets of the staging buffer", "l7.packets", &|given| given.packets.into(), target.own_packets()),
            ("beats of the staging buffer", "l7.beats", &|given| given.beats.into(), target.own_beats()),
        ];
        if given.messages == Some(0) {
            let all = target.messages;
            return Err(spec.wrong("l7.messages", 0, format!("1 to {all}, or no number for one of {MESSAGES_PART}")));
        }
        if given.weight == Some(0) {
            return Err(spec.wrong("l7.weight", 0, format!("1 to 65535, or no weight for {WEIGHT}")));
        }
        for (resource, key, amount, all) in sums {
            let (asked, all) = (amount(given), all as u32);
            if asked > all {
                return Err(spec.wrong(key, asked, format!("at most {all} on target {}", target.name)));
            }
            let left = all.saturating_sub(self.holders.values().map(|h| amount(&h.given)).sum());
            if asked > left {
                let holders = self.held_by(|h| amount(&h.given));
                return Err(LinkError::NoRoom { resource, asked, left: left.to_string(), holders });
            }
        }
        Ok(())
    }

    fn take(&mut self, i: usize, spec: &TenantSpec, given: &L7Given) -> Result<u32, LinkError> {
        let Resource { name, given: amount, copies, .. } = RESOURCES[i];
        let asked = copies * amount(given);
        let all = (RESOURCES[i].all)(self.target);
        if asked > all {
            let each = if copies == 2 { ", for one program and its replacement" } else { "" };
            let found = format!("{} {name}", amount(given));
            return Err(spec.wrong(
                "l7",
                found,
                format!("at most {} on target {}{each}", all / copies, self.target.name),
            ));
        }
        self.free[i].take(asked).ok_or_else(|| {
            let (free, longest) = (self.free[i].free(), self.free[i].longest());
            let left = if free == longest { free.to_string() } else { format!("{free}, {longest} side by side") };
            LinkError::NoRoom { resource: name, asked, left, holders: self.held_by(|h| copies * h.count(i)) }
        })
    }
}

impl Space for L7Space {
    fn engine(&self) -> EngineId {
        EngineId::L7
    }

    fn first_rows(&self) -> Vec<RowWrite> {
        let secrets = self.secrets().into_iter().enumerate();
        secrets.map(|(i, row)| write(Table::L7Secret, i as u32, &row)).collect()
    }

    fn admit(&mut self, _: &'static Target, module: u8, spec: &TenantSpec) -> Result<Vec<RowWrite>, LinkError> {
        let Some(given) = spec.l7 else { return Ok(Vec::new()) };
        self.check_sums(spec, &given)?;
        let mut bases = Bases::default();
        for (i, base) in bases.iter_mut().enumerate() {
            *base = self.take(i, spec, &given)?;
        }
        let holding = Holding { name: spec.name.clone(), given, bases, banks: [None, None], open: BTreeSet::new() };
        self.holders.insert(module, holding);
        let share = given.share_row();
        let quota = L7QuotaRow { messages: given.most_messages(self.target) };
        Ok(vec![write(Table::L7Share, module.into(), &share), write(Table::L7Quota, module.into(), &quota)])
    }

    fn release(&mut self, module: u8) -> Result<Vec<RowWrite>, LinkError> {
        let Some(holding) = self.holders.remove(&module) else { return Ok(Vec::new()) };
        for (i, space) in self.free.iter_mut().enumerate() {
            space.give_back(holding.bases[i], RESOURCES[i].copies * holding.count(i));
        }
        let index = module.into();
        let mut rows: Vec<RowWrite> = holding.open.iter().map(|ring| zero::<L7RingRow>(Table::L7Ring, *ring)).collect();
        rows.extend([zero::<L7ShareRow>(Table::L7Share, index), zero::<L7QuotaRow>(Table::L7Quota, index)]);
        Ok(rows)
    }

    fn place(&mut self, at: &At, object: &Object) -> Result<Placed, LinkError> {
        let Some(part) = &object.parts.l7 else { return Ok(Placed::default()) };
        let spec = &at.tenant.spec;
        spec.l7.unwrap_or_default().check(&object.name, spec, part)?;
        let (module, generation) = (at.tenant.module, at.generation);
        let nothing = || at.tenant.state("load", "it was given nothing of l7".to_owned(), "a tenant with a part of it");
        let holding = self.holders.get_mut(&module).ok_or_else(nothing)?;
        // Who asked for it loses packets from here to the commit.
        let running = holding.banks[usize::from(1 - generation)].as_ref();
        let zero = running.map(|old| holding.place(module, 1 - generation).updating(old)).unwrap_or_default();
        let rows = holding.place(module, generation).rows(part);
        holding.banks[usize::from(generation)] = Some((**part).clone());
        Ok(Placed { zero, rows, install: None })
    }

    fn clear(&mut self, module: u8, generation: u8) -> Result<Cleared, LinkError> {
        let Some(holding) = self.holders.get_mut(&module) else { return Ok(Cleared::default()) };
        let old = holding.banks[usize::from(generation)].take();
        let rows = old.map(|part| holding.place(module, generation).zeros(&part)).unwrap_or_default();
        Ok(Cleared { rows, installed: false })
    }

    fn check_row(&self, tenant: Option<&Tenant>, live: Option<u8>, row: CheckedRow) -> Result<Option<u8>, Refusal> {
        self.row(tenant, live, row)
    }
}
