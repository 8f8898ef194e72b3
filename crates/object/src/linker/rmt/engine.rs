//! The rmt pipeline in the linker: what its placer does for objects and tenants.

use super::check::RmtOwner;
use super::{Placer, Quota, RmtError, RowWrite};
use crate::key::describe;
use crate::linker::LinkError;
use crate::linker::check::{Refusal, no_module, system_only};
use crate::linker::engine::{At, CheckedRow, Cleared, Placed, Space};
use crate::linker::grants;
use crate::linker::spaces::Region;
use crate::linker::tenants::{Tenant, TenantSpec};
use crate::lower;
use crate::object::Object;
use crate::rmt::RmtPart;
use sluice_formats::{EngineId, Table, Target};
use std::sync::Arc;

impl Space for Placer {
    fn engine(&self) -> EngineId {
        EngineId::RMT
    }

    fn first_rows(&self) -> Vec<RowWrite> {
        self.stage_owners()
    }

    fn admit(&mut self, target: &'static Target, module: u8, spec: &TenantSpec) -> Result<Vec<RowWrite>, LinkError> {
        Ok(self.admit(module, &spec.name, quota_of(target, spec)?)?)
    }

    fn release(&mut self, module: u8) -> Result<Vec<RowWrite>, LinkError> {
        Ok(self.release(module)?)
    }

    /// Its part, or the object's table as one.
    fn place(&mut self, at: &At, object: &Object) -> Result<Placed, LinkError> {
        let part = match &object.parts.rmt {
            Some(part) => Arc::new((**part).clone()),
            None => self.lowered(at, object)?,
        };
        let placed = self.place(at.tenant.module, at.generation, &part).map_err(|e| in_table_terms(e, object))?;
        Ok(Placed { zero: placed.zero, rows: placed.rows, install: None })
    }

    fn clear(&mut self, module: u8, generation: u8) -> Result<Cleared, LinkError> {
        Ok(Cleared { rows: self.clear(module, generation)?, installed: false })
    }

    fn check_row(&self, tenant: Option<&Tenant>, live: Option<u8>, row: CheckedRow) -> Result<Option<u8>, Refusal> {
        let CheckedRow { node, table, index, words } = row;
        if let (Table::StageOwner, Some(s)) = (table, node.stage()) {
            system_only(tenant, "the owner of a stage")?;
            return self.check_owner(s, words);
        }
        let tenant = tenant.ok_or_else(no_module)?;
        let nothing = || Refusal::Space(format!("tenant `{}` holds nothing of the pipeline", tenant.spec.name));
        let holding = self.holders.get(&tenant.module).ok_or_else(nothing)?;
        let owner = |holding, live| RmtOwner { target: self.target(), module: tenant.module, holding, live };
        let Some(before) = &holding.before else { return owner(holding, live).row(node, table, index, words) };
        // Rows of what it had, or of what it is given from now on, in which nothing runs yet.
        match owner(before, live).row(node, table, index, words) {
            Err(Refusal::Space(_)) => owner(holding, None).row(node, table, index, words),
            done => done,
        }
    }
}

impl Placer {
    fn lowered(&self, at: &At, object: &Object) -> Result<Arc<RmtPart>, LinkError> {
        let check = |what: String, action| grants::check_action(at.target, &at.tenant.spec, &what, action);
        check(format!("object `{}`, default", object.name), &object.default)?;
        for (i, entry) in object.entries.iter().enumerate() {
            check(format!("object `{}`, entries[{i}]", object.name), &entry.action)?;
        }
        let systems = self.shared();
        lower::lower(object, at.target, &systems).map(Arc::new).ok_or_else(|| {
            let found = format!("the system program exchanges {} containers", systems.len());
            let allowed = "at least two of each size left, for the key and the action of a table".to_owned();
            RmtError::Shared { tenant: at.tenant.spec.name.clone(), found, allowed }.into()
        })
    }

    /// Who a stage belongs to is the target's matter.
    fn check_owner(&self, stage: u8, words: &[u32]) -> Result<Option<u8>, Refusal> {
        let expected = u32::from(self.target().is_system(stage.into()));
        if words == [expected] {
            return Ok(None);
        }
        Err(Refusal::Space(format!("owner {words:?} of stage {stage}, which is {expected}")))
    }
}

impl TenantSpec {
    /// Raises what the tenant is given of the pipeline, and of the l7 engine, to what the object needs.
    pub fn make_room(&mut self, object: &Object) {
        if let Some(part) = &object.parts.l7 {
            self.l7 = Some(self.l7.unwrap_or_default().or(part));
        }
        match &object.parts.rmt {
            Some(part) => {
                let needs = Quota::of(part, 0);
                self.rmt = Some(self.rmt.take().map_or_else(|| needs.clone(), |given| given.or(&needs)));
            }
            None => {
                self.table = true;
                self.max_entries = self.max_entries.max(object.demands.entries);
            }
        }
    }
}

/// What the tenant is given of the pipeline: its programs', and its table's where it has one.
pub(in crate::linker) fn quota_of(target: &'static Target, spec: &TenantSpec) -> Result<Quota, LinkError> {
    let table_bits = (target.rmt.sets() as u32).trailing_zeros();
    if spec.max_entries > 0 && Region::bits_for(spec.max_entries, table_bits).is_none() {
        let most = Region::most_entries(table_bits);
        let allowed = format!("at most {most} on target {}", target.name);
        return Err(spec.wrong("max_entries", spec.max_entries, allowed));
    }
    let mut quota = spec.rmt.clone().unwrap_or_default();
    if spec.max_entries > 0 || spec.table || spec.rmt.is_none() {
        let stages = [(lower::stage_of(target), lower::quota(spec.max_entries))].into();
        quota = quota.or(&Quota { stages, ..Quota::default() });
    }
    let mask = spec.destinations().mask(target);
    let none = |d| grants::no_destination(target, format!("tenant `{}`: queues", spec.name), d);
    quota.destinations = mask.map_err(none)?;
    Ok(quota)
}

/// A refusal of an entry's place, with the key as the object names it.
fn in_table_terms(error: RmtError, object: &Object) -> LinkError {
    match error {
        RmtError::NoPlace { tenant, key, set0, set1, used, rows, .. } if object.parts.rmt.is_none() => {
            let key = describe(&object.key, &lower::key_bytes(&object.key, &key));
            LinkError::NoPlace { tenant, key, set0, set1, used, rows }
        }
        error => error.into(),
    }
}
