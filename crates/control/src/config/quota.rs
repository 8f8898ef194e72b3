//! What a tenant is given of the rmt pipeline and of the l7 engine.

use super::error::ConfigError;
use super::file::{L7Table, RmtTable, StageTable, TenantTable};
use super::resolve::Resolver;
use sluice_formats::Target;
use sluice_object::linker::rmt::{Quota, StageQuota};
use sluice_object::linker::shares::MOST_GROWTH;
use sluice_object::{L7Given, L7Part, Object};

impl Resolver<'_> {
    /// What `[tenant.rmt]` says, and what the module at hand needs where it says nothing. Less than that the linker
    /// refuses; more is room for a module that replaces it.
    pub(super) fn quota(
        &self,
        tenant: &TenantTable,
        table: &RmtTable,
        object: Option<&Object>,
        target: &Target,
    ) -> Result<Quota, ConfigError> {
        let span = |path: &[&str]| self.key(tenant, path);
        let part = object.and_then(|object| object.parts.rmt.as_ref());
        let needs = part.map(|part| Quota::of(part, 0)).unwrap_or_default();
        let mut quota = needs.clone();
        if let Some(groups) = &table.groups {
            quota.groups.clear();
            for group in groups {
                if !quota.groups.insert(*group) {
                    let found = format!("group {group} twice");
                    return Err(self.wrong(span(&["rmt", "groups"]), "rmt.groups", found, "each group once"));
                }
            }
        }
        quota.growth = table.growth.unwrap_or(needs.growth);
        if quota.growth > MOST_GROWTH {
            return Err(self.wrong(
                span(&["rmt", "growth"]),
                "rmt.growth",
                quota.growth,
                &format!("0 to {MOST_GROWTH}"),
            ));
        }
        let mut seen = Vec::new();
        for stage in &table.stage {
            let number = stage.number;
            if usize::from(number) >= target.rmt.stages {
                let allowed = format!("0 to {}", target.rmt.stages - 1);
                return Err(self.wrong(
                    span(&["rmt", "stage", &number.to_string(), "number"]),
                    "rmt.stage",
                    number,
                    &allowed,
                ));
            }
            if seen.contains(&number) {
                let found = format!("stage {number} twice");
                return Err(self.wrong(
                    span(&["rmt", "stage", &number.to_string(), "number"]),
                    "rmt.stage",
                    found,
                    "each stage once",
                ));
            }
            seen.push(number);
            quota.stages.insert(number, given(stage, needs.stages.get(&number)));
        }
        Ok(quota)
    }
}

/// What a stage's table says, with what the module at hand needs where it says nothing.
fn given(stage: &StageTable, needs: Option<&StageQuota>) -> StageQuota {
    let needs = needs.copied().unwrap_or_default();
    let (exact, ternary) = (stage.exact.unwrap_or(needs.exact), stage.ternary.unwrap_or(needs.ternary));
    // One for each entry, and one for the default.
    let numbers = exact.saturating_add(ternary).saturating_add(1);
    StageQuota {
        exact,
        ternary,
        actions: stage.actions.unwrap_or(needs.actions),
        pages: stage.pages.unwrap_or(needs.pages),
        fresh_pages: stage.fresh_pages.unwrap_or(needs.fresh_pages),
        numbers: stage.numbers.unwrap_or(numbers.max(needs.numbers)),
    }
}

/// What `[tenant.l7]` says, and what the rules at hand need where it says nothing. Less than that the linker refuses; more is room
/// for rules that replace them.
pub(super) fn l7_given(table: &L7Table, part: Option<&L7Part>) -> L7Given {
    let needs = part.map(|part| L7Given::default().or(part)).unwrap_or_default();
    L7Given {
        ports: table.ports.unwrap_or(needs.ports),
        starts: table.starts.unwrap_or(needs.starts),
        rows: table.rows.unwrap_or(needs.rows),
        groups: table.groups.unwrap_or(needs.groups),
        rings: table.rings.unwrap_or(needs.rings),
        messages: table.messages,
        packets: table.packets.unwrap_or(0),
        beats: table.beats.unwrap_or(0),
        weight: table.weight,
    }
}
