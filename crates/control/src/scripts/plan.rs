//! What each tenant of a script needs, read from the whole script before it runs: the linker
//! wants to know it at admission.

use super::tables::{read_object, read_rules, rmt_object, running};
use super::{FailedStatement, ScriptFailure};
use sluice_formats::Target;
use sluice_frontends::{P4Told, Tables};
use sluice_object::linker::rmt::Quota;
use sluice_object::{Destination, L7Given, Linker, Object};
use sluice_packet::script::{
    Action, Command, Destination as ScriptDestination, Forward, Key, SYSTEM, Script, Statement, Tenant,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Needs of one tenant.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Need {
    /// Where its actions send.
    pub destinations: BTreeSet<Destination>,
    /// Different keys it ever has.
    keys: BTreeSet<Key>,
    /// Entries of the largest object it loads.
    loaded: u32,
    /// Whether it looks anything up.
    pub has_table: bool,
    /// Whether anything that it loads has no program of the pipeline.
    pub has_no_module: bool,
    /// What its rmt modules need of the pipeline, whichever runs.
    pub rmt: Option<Quota>,
    /// What its rules need of the l7 engine, whichever run.
    pub l7: Option<L7Given>,
    /// Cells of each of its queues.
    pub cells: u16,
}

impl Need {
    /// Entries to be admitted with.
    pub fn entries(&self) -> u32 {
        (self.keys.len() as u32).max(self.loaded).max(u32::from(self.has_table))
    }

    /// Room for an object; a module that demands no destination may send everywhere.
    fn add_object(&mut self, object: &Object, target: &Target) {
        if let Some(part) = &object.parts.l7 {
            self.l7 = Some(self.l7.unwrap_or_default().or(part));
        }
        let Some(part) = &object.parts.rmt else {
            self.has_table |= !object.entries.is_empty();
            self.has_no_module = true;
            self.loaded = self.loaded.max(object.demands.entries);
            self.destinations.extend(object.demands.queues.keys().copied());
            return;
        };
        let quota = Quota::of(part, 0);
        self.rmt = Some(match self.rmt.take() {
            Some(before) => before.or(&quota),
            None => quota,
        });
        // What the system module sends, it sends for tenants, to their queues.
        // A P4 program demands those that it and its entries name, and may send to others.
        if (object.demands.queues.is_empty() || part.logical.is_some()) && !part.system {
            self.destinations.extend(everywhere(target));
        } else {
            self.destinations.extend(object.demands.queues.keys().copied());
        }
    }

    fn add(&mut self, action: &Action) {
        let destinations: Vec<ScriptDestination> = match &action.forward {
            Forward::Drop => Vec::new(),
            Forward::To(destination) => vec![*destination],
            Forward::Multicast { destinations, .. } => destinations.clone(),
        };
        self.destinations.extend(destinations.into_iter().map(destination));
    }
}

/// The linker's name of a script's destination.
pub(super) fn destination(destination: ScriptDestination) -> Destination {
    match destination {
        ScriptDestination::Port(n) => Destination::Port(n),
        ScriptDestination::Host(n) => Destination::Host(n),
    }
}

fn everywhere(target: &Target) -> impl Iterator<Item = Destination> {
    (0..8).filter_map(|n| Destination::from_number(n, target))
}

/// Needs of every tenant by name.
pub(super) fn needs(
    script: &Script,
    target: &'static Target,
    told: &RefCell<P4Told>,
) -> Result<BTreeMap<String, Need>, Box<FailedStatement>> {
    let mut needs: BTreeMap<String, Need> = BTreeMap::new();
    let mut named: BTreeMap<String, BTreeSet<Destination>> = BTreeMap::new();
    let mut limits: BTreeMap<String, u64> = BTreeMap::new();
    let mut limited: Vec<&Statement> = Vec::new();
    // Programs whose entries change one by one.
    let mut p4: BTreeMap<&str, Tables> = BTreeMap::new();
    let mut grown: BTreeSet<&str> = BTreeSet::new();
    for statement in &script.statements {
        let here = |failure| Box::new(FailedStatement { statement: Some(statement.clone()), failure });
        match &statement.command {
            Command::Tenant(tenant) => {
                needs.entry(tenant.name.clone()).or_default();
                let to = |to: &Vec<ScriptDestination>| to.iter().map(|d| destination(*d)).collect();
                named.extend(tenant.to.as_ref().map(|list| (tenant.name.clone(), to(list))));
                limits.extend(tenant.limit.map(|limit| (tenant.name.clone(), limit)));
                limited.extend(tenant.limit.or(tenant.reserve).map(|_| statement));
            }
            Command::Table(table) => {
                let need = needs.entry(table.tenant.clone()).or_default();
                need.has_table = true;
                need.add(&table.default);
            }
            Command::Add { tenant, key, action } => {
                let need = needs.entry(tenant.clone()).or_default();
                need.keys.insert(*key);
                need.add(action);
            }
            Command::Load { tenant, file } => {
                p4.remove(&**tenant);
                let object = read_object(&script.file, file, tenant, target, Some(told)).map_err(here)?;
                needs.entry(tenant.clone()).or_default().add_object(&object, target);
            }
            Command::Rmt(rmt) => {
                let running = p4.remove(&*rmt.tenant);
                let (object, tables) =
                    rmt_object(&script.file, rmt, target, running.as_ref(), Some(told)).map_err(here)?;
                if rmt.tenant != SYSTEM && object.parts.rmt.as_ref().is_some_and(|part| part.system) {
                    let found = format!("the system module {}", rmt.file.display());
                    let allowed = "a tenant's module: `rmt system FILE` loads that one";
                    return Err(here(ScriptFailure::value(format!("rmt {}", rmt.tenant), found, allowed)));
                }
                let need = needs.entry(rmt.tenant.clone()).or_default();
                match rmt.grow {
                    // He is given it when it comes.
                    true => drop(grown.insert(&*rmt.tenant)),
                    false => need.add_object(&object, target),
                }
                p4.extend(tables.map(|tables| (&*rmt.tenant, tables)));
            }
            Command::Entry { tenant, entry } => {
                let tables = running(&mut p4, tenant).map_err(here)?;
                // What rows are reserved for is in the need of the program that was loaded.
                let change = tables.change(entry).map_err(|e| here(e.into()))?;
                if !change.is_reserved && !grown.contains(&**tenant) {
                    let object = tables.object().map_err(|e| here(e.into()))?;
                    needs.entry(tenant.clone()).or_default().add_object(&object, target);
                }
            }
            Command::Rules { tenant, file } => {
                let object = read_rules(&script.file, file, tenant, target).map_err(here)?;
                needs.entry(tenant.clone()).or_default().add_object(&object, target);
            }
            // Where a program sends, it decides itself.
            Command::Xdp(xdp) => {
                let need = needs.entry(xdp.tenant.clone()).or_default();
                match &xdp.rmt {
                    Some(module) => {
                        let (object, _) =
                            rmt_object(&script.file, module, target, p4.get(&*xdp.tenant), Some(told)).map_err(here)?;
                        need.add_object(&object, target);
                    }
                    None => need.has_no_module = true,
                }
                need.destinations.extend(everywhere(target));
            }
            _ => {}
        }
    }
    for (name, to) in named {
        needs.entry(name).or_default().destinations = to;
    }
    limited.into_iter().try_for_each(|statement| check_limit(statement, &needs))?;
    script.statements.iter().try_for_each(|statement| check_l7_weight(statement, &needs))?;
    check_cells(script, &needs, &limits, target)?;
    share_cells(&mut needs, &limits, target)
        .map_err(|failure| Box::new(FailedStatement { statement: None, failure }))?;
    Ok(needs)
}

/// That a tenant with a limit or a reserve has a queue to which it applies.
fn check_limit(statement: &Statement, needs: &BTreeMap<String, Need>) -> Result<(), Box<FailedStatement>> {
    let Command::Tenant(Tenant { name, limit, reserve, .. }) = &statement.command else { return Ok(()) };
    let given = [("limit", limit), ("reserve", reserve)].into_iter().find_map(|(what, cells)| Some((what, (*cells)?)));
    let Some((what, cells)) = given else { return Ok(()) };
    if needs.get(name).is_some_and(|need| !need.destinations.is_empty()) {
        return Ok(());
    }
    let allowed = "one with `to=`, or of a tenant whose table or program sends somewhere";
    let failure = ScriptFailure::value(format!("{what} of `{name}`"), format!("{cells} cells and no queue"), allowed);
    Err(Box::new(FailedStatement { statement: Some(statement.clone()), failure }))
}

/// That a tenant with a weight at the l7 engine has rules there.
fn check_l7_weight(statement: &Statement, needs: &BTreeMap<String, Need>) -> Result<(), Box<FailedStatement>> {
    let Command::Tenant(Tenant { name, l7_weight: Some(weight), .. }) = &statement.command else { return Ok(()) };
    if needs.get(name).is_some_and(|need| need.l7.is_some()) {
        return Ok(());
    }
    let found = format!("{weight} and no rules");
    let failure = ScriptFailure::value(format!("l7_weight of `{name}`"), found, "one of a tenant with `rules`");
    Err(Box::new(FailedStatement { statement: Some(statement.clone()), failure }))
}

/// That limits leave a cell for each queue without one. The first statement that takes too many is to blame, not who finds none left.
fn check_cells(
    script: &Script,
    needs: &BTreeMap<String, Need>,
    limits: &BTreeMap<String, u64>,
    target: &'static Target,
) -> Result<(), Box<FailedStatement>> {
    let queues = |name: &str| needs.get(name).map_or(0, |need| need.destinations.len() as u64);
    let shared: u64 = needs.keys().filter(|name| !limits.contains_key(*name)).map(|name| queues(name)).sum();
    let all = u64::from(Linker::new(target).grantable_cells());
    let mut left = all.saturating_sub(shared);
    for statement in &script.statements {
        let Command::Tenant(Tenant { name, limit: Some(limit), .. }) = &statement.command else { continue };
        let (own, before) = (queues(name), left);
        let asked = limit.saturating_mul(own);
        if asked > left {
            let found = format!("{limit} cells for each of {own} queues");
            let allowed = format!(
                "at most {} for each: of {all} cells other limits take {}, and {shared} queues without a limit need one each",
                before / own.max(1),
                all.saturating_sub(shared) - before
            );
            let failure = ScriptFailure::value(format!("limit of `{name}`"), found, allowed);
            return Err(Box::new(FailedStatement { statement: Some(statement.clone()), failure }));
        }
        left -= asked;
    }
    Ok(())
}

/// Queues with a limit get that; the others share evenly what is left.
fn share_cells(
    needs: &mut BTreeMap<String, Need>,
    limits: &BTreeMap<String, u64>,
    target: &'static Target,
) -> Result<(), ScriptFailure> {
    let grantable = u64::from(Linker::new(target).grantable_cells());
    let queues = |need: &Need| need.destinations.len() as u64;
    let fixed: u64 = needs.iter().filter_map(|(name, need)| Some(limits.get(name)?.saturating_mul(queues(need)))).sum();
    let shared: u64 = needs.iter().filter(|(name, _)| !limits.contains_key(*name)).map(|(_, need)| queues(need)).sum();
    let each = grantable.saturating_sub(fixed) / shared.max(1);
    for (name, need) in needs.iter_mut() {
        let cells = limits.get(name).copied().unwrap_or(each);
        need.cells = u16::try_from(cells)
            .map_err(|_| ScriptFailure::value(format!("tenant `{name}`: limit"), cells, "0 to 65535 cells a queue"))?;
    }
    Ok(())
}

/// A file named by a script, relative to the script.
pub(super) fn beside(script: &str, file: &std::path::Path) -> PathBuf {
    std::path::Path::new(script).parent().map_or_else(|| file.to_owned(), |folder| folder.join(file))
}
