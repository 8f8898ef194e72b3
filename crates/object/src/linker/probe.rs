//! The probe in the linker: a row for each generation that has a limit.

use super::LinkError;
use super::check::{Refusal, no_module};
use super::engine::{At, CheckedRow, Cleared, Placed, Space};
use super::rmt::RowWrite;
use super::tenants::{Tenant, TenantSpec};
use crate::object::Object;
use sluice_formats::{EngineId, Node, Table, Target};
use std::collections::BTreeSet;

/// Generations whose row is not zero, by module.
#[derive(Clone, Debug, Default)]
pub(in crate::linker) struct ProbeSpace {
    limited: BTreeSet<(u8, u8)>,
}

fn row(module: u8, generation: u8, limit: u32) -> RowWrite {
    let index = 2 * u32::from(module) + u32::from(generation);
    RowWrite { node: Node::Probe, table: Table::ProbeLimit, index, words: vec![limit] }
}

impl Space for ProbeSpace {
    fn engine(&self) -> EngineId {
        EngineId::PROBE
    }

    fn admit(&mut self, _: &'static Target, _: u8, _: &TenantSpec) -> Result<Vec<RowWrite>, LinkError> {
        Ok(Vec::new())
    }

    fn release(&mut self, _: u8) -> Result<Vec<RowWrite>, LinkError> {
        Ok(Vec::new())
    }

    fn place(&mut self, at: &At, object: &Object) -> Result<Placed, LinkError> {
        let Some(part) = &object.parts.probe else { return Ok(Placed::default()) };
        self.limited.insert((at.tenant.module, at.generation));
        Ok(Placed { rows: vec![row(at.tenant.module, at.generation, part.limit)], ..Placed::default() })
    }

    fn clear(&mut self, module: u8, generation: u8) -> Result<Cleared, LinkError> {
        let there = self.limited.remove(&(module, generation));
        Ok(Cleared { rows: there.then(|| row(module, generation, 0)).into_iter().collect(), installed: false })
    }

    fn check_row(&self, tenant: Option<&Tenant>, _: Option<u8>, row: CheckedRow) -> Result<Option<u8>, Refusal> {
        let tenant = tenant.ok_or_else(no_module)?;
        let (module, generation) = (row.index / 2, (row.index % 2) as u8);
        if module != u32::from(tenant.module) {
            let what =
                format!("the limit of module {module}, tenant `{}` has module {}", tenant.spec.name, tenant.module);
            return Err(Refusal::Space(what));
        }
        Ok(Some(generation))
    }
}
