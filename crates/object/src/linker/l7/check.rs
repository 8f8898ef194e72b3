//! Whether a row of the engine is its tenant's, and of which generation it is.

use super::given::{GROUPS, PORTS, RINGS, ROWS, STARTS};
use super::place::{Bases, within};
use super::ring::RingMemory;
use super::space::{Holding, L7Space};
use crate::linker::check::{Refusal, no_module, system_only, unpack};
use crate::linker::engine::CheckedRow;
use crate::linker::tenants::Tenant;
use sluice_formats::l7::rows::{
    L7GroupRow, L7MatchRow, L7PortRow, L7QuotaRow, L7RingRow, L7SecretRow, L7StartRow, L7TargetPart,
};
use sluice_formats::{Row, Table};

use Refusal::Space;

impl L7Space {
    /// The row's generation; none of one that packets of both meet.
    pub(super) fn row(
        &self,
        tenant: Option<&Tenant>,
        live: Option<u8>,
        row: CheckedRow,
    ) -> Result<Option<u8>, Refusal> {
        if row.table == Table::L7Secret {
            system_only(tenant, "a secret of the message table")?;
            let allowed = self.secrets().get(row.index as usize).copied().unwrap_or_default();
            return granted(&unpack::<L7SecretRow>(row.words)?, &allowed).map(|()| None);
        }
        let tenant = tenant.ok_or_else(no_module)?;
        let nothing = || Space(format!("tenant `{}` holds nothing of the l7 engine", tenant.spec.name));
        let holding = self.holders.get(&tenant.module).ok_or_else(nothing)?;
        let owner = Owner { module: tenant.module, name: &tenant.spec.name, holding };
        match row.table {
            Table::L7Share => {
                owner.own_module(row)?;
                granted(&unpack(row.words)?, &holding.given.share_row())?;
                Ok(None)
            }
            Table::L7Quota => {
                owner.own_module(row)?;
                granted(&unpack(row.words)?, &L7QuotaRow { messages: holding.given.most_messages(self.target) })?;
                Ok(None)
            }
            Table::L7Port => owner.port(row, live),
            Table::L7Start => owner.start(row).map(Some),
            Table::L7Match => owner.matched(row).map(Some),
            Table::L7Group => owner.group(row).map(Some),
            Table::L7Ring => owner.ring(row).map(|()| None),
            table => Err(Space(format!("table {} is not written", table.name()))),
        }
    }
}

/// A tenant's rows.
struct Owner<'a> {
    module: u8,
    name: &'a str,
    holding: &'a Holding,
}

impl Owner<'_> {
    fn own_module(&self, row: CheckedRow) -> Result<(), Refusal> {
        if row.index == u32::from(self.module) {
            return Ok(());
        }
        let (table, index, own) = (row.table.name(), row.index, self.module);
        Err(Space(format!("row {index} of {table}, tenant `{}` has module {own}", self.name)))
    }

    /// The generation in whose half of the tenant's rows the index is.
    fn generation(&self, resource: usize, row: CheckedRow) -> Result<u8, Refusal> {
        let count = self.holding.count(resource);
        let inside = |generation: &u8| {
            let base = self.holding.bases_of(*generation)[resource];
            (base..base + count).contains(&row.index)
        };
        [0, 1].into_iter().find(inside).ok_or_else(|| {
            let first = self.holding.bases[resource];
            let (table, index, end) = (row.table.name(), row.index, first + 2 * count);
            Space(format!("row {index} of {table}, tenant `{}` has rows {first} to {end}, the last one not", self.name))
        })
    }

    fn counts(&self) -> Bases {
        std::array::from_fn(|resource| self.holding.count(resource))
    }

    fn leads(&self, generation: u8, target: L7TargetPart) -> Result<(), Refusal> {
        if within(target, &self.holding.bases_of(generation), &self.counts()) {
            return Ok(());
        }
        Err(Space(format!("a target {target:?} that is not of tenant `{}`'s generation {generation}", self.name)))
    }

    fn owned(&self, module: u8) -> Result<(), Refusal> {
        if module == self.module {
            return Ok(());
        }
        Err(Space(format!("a row of module {module}, tenant `{}` has module {}", self.name, self.module)))
    }

    /// While packets use a port's generation, only its mark of an update changes.
    fn port(&self, row: CheckedRow, live: Option<u8>) -> Result<Option<u8>, Refusal> {
        let generation = self.generation(PORTS, row)?;
        let new: L7PortRow = unpack(row.words)?;
        if new == L7PortRow::default() {
            return Ok(Some(generation));
        }
        self.owned(new.module_id)?;
        if new.generation != (generation == 1) {
            let stands = u8::from(new.generation);
            return Err(Space(format!("a port of generation {stands} among those of generation {generation}")));
        }
        let (first, count) = (self.holding.bases_of(generation)[STARTS], self.holding.count(STARTS));
        let (start, end) = (u32::from(new.start), u32::from(new.start) + u32::from(new.types));
        if start < first || end > first + count {
            let last = first + count;
            return Err(Space(format!("start rows {start} to {end}, the generation has {first} to {last}")));
        }
        self.leads(generation, new.otherwise)?;
        let running = self.holding.running_port(self.module, generation, row.index);
        let same = running.is_some_and(|old| L7PortRow { updating: false, ..new } == old);
        Ok(if live == Some(generation) && same { None } else { Some(generation) })
    }

    fn start(&self, row: CheckedRow) -> Result<u8, Refusal> {
        let generation = self.generation(STARTS, row)?;
        let new: L7StartRow = unpack(row.words)?;
        if new != L7StartRow::default() {
            self.owned(new.module_id)?;
            self.leads(generation, new.target)?;
        }
        Ok(generation)
    }

    fn matched(&self, row: CheckedRow) -> Result<u8, Refusal> {
        let generation = self.generation(ROWS, row)?;
        let new: L7MatchRow = unpack(row.words)?;
        if new != L7MatchRow::default() {
            self.owned(new.module_id)?;
            self.leads(generation, new.miss)?;
            let valid = new.alternatives.iter().filter(|a| a.valid);
            valid.map(|a| a.target).try_for_each(|target| self.leads(generation, target))?;
        }
        Ok(generation)
    }

    /// A ring is of both generations. Where it lies the host's IOMMU judges.
    fn ring(&self, row: CheckedRow) -> Result<(), Refusal> {
        let (first, end) = (self.holding.bases[RINGS], self.holding.bases[RINGS] + self.holding.count(RINGS));
        if !(first..end).contains(&row.index) {
            return Err(Space(format!(
                "ring {}, tenant `{}` has rings {first} to {end}, the last one not",
                row.index, self.name
            )));
        }
        let new: L7RingRow = unpack(row.words)?;
        if new == L7RingRow::default() {
            return Ok(());
        }
        self.owned(new.module_id)?;
        let L7RingRow { log_size, descriptors, completions, .. } = new;
        if !new.valid {
            return Err(Space(format!("a ring that is not valid and not zero: {new:?}")));
        }
        match (RingMemory { log_size, descriptors, completions }).mistake() {
            Some((what, found, allowed)) => Err(Space(format!("{what}: found {found}, allowed {allowed}"))),
            None => Ok(()),
        }
    }

    fn group(&self, row: CheckedRow) -> Result<u8, Refusal> {
        let generation = self.generation(GROUPS, row)?;
        let new: L7GroupRow = unpack(row.words)?;
        if new != L7GroupRow::default() {
            self.owned(new.module_id)?;
            let (first, count) = (self.holding.bases[RINGS], self.holding.count(RINGS));
            if let Some(ring) = new.slots.iter().find(|ring| !(first..first + count).contains(&u32::from(**ring))) {
                let end = first + count;
                return Err(Space(format!(
                    "a group with ring {ring}, tenant `{}` has rings {first} to {end}, the last one not",
                    self.name
                )));
            }
        }
        Ok(generation)
    }
}

/// What is granted, or nothing.
fn granted<R: Row + Default + PartialEq + std::fmt::Debug>(found: &R, allowed: &R) -> Result<(), Refusal> {
    if found == allowed || *found == R::default() {
        return Ok(());
    }
    Err(Space(format!("found {found:?}, granted is {allowed:?}")))
}
