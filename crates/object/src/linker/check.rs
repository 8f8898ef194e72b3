//! The ownership and order check: each write within its tenant's space, no write that
//! packets in flight would notice.

use super::engine::{self, CheckedRow};
use super::tenants::Tenant;
use super::{LinkError, Linker};
use crate::install::Install;
use crate::load::{Load, Step};
use sluice_formats::address::control;
use sluice_formats::limits::{FORMAT_VERSION, SYSTEM_TENANT};
use sluice_formats::rows::{LimitRow, PortPolicyRow, QuantumRow, VidsRow, VlanRow};
use sluice_formats::{EngineId, Node, Row, Table};
use std::collections::HashSet;

impl Linker {
    /// Refuses a load that its tenant may not run, or that packets in flight would notice.
    ///
    /// Every load that the linker returns has passed it; loads from elsewhere pass it before
    /// a device sees them. It looks at the tenant as it is before the load.
    pub fn check(&self, load: &Load) -> Result<(), LinkError> {
        let foreign = |what, found, allowed| Err(LinkError::Foreign { load: load.label.clone(), what, found, allowed });
        if load.format_version != FORMAT_VERSION {
            return foreign("format version", load.format_version.to_string(), FORMAT_VERSION.to_string());
        }
        if load.target_hash != self.target.hash() {
            let allowed = format!("{:08x} ({})", self.target.hash(), self.target.name);
            return foreign("target", format!("{:08x}", load.target_hash), allowed);
        }
        let tenant = match load.tenant {
            SYSTEM_TENANT => self.tenants.get(&SYSTEM_TENANT),
            id => Some(self.tenant(id)?),
        };
        let mut checker = Checker {
            linker: self,
            tenant,
            current: tenant.map_or(0, |t| self.generations[usize::from(t.module)]),
            live: tenant.is_some_and(|t| t.running.is_some()),
            drained: [false; 2],
            growths: Vec::new(),
            batch: HashSet::new(),
        };
        for (step, s) in load.steps.iter().enumerate() {
            let label = load.label.clone();
            checker.step(s).map_err(|refusal| match refusal {
                Refusal::Space(what) => LinkError::Space { load: label, step, what },
                Refusal::Order(what) => LinkError::Order { load: label, step, what },
            })?;
        }
        Ok(())
    }
}

pub(super) enum Refusal {
    Space(String),
    Order(String),
}

use Refusal::{Order, Space};

/// Follows a load step by step.
struct Checker<'a> {
    linker: &'a Linker,
    /// None: the system, without a module.
    tenant: Option<&'a Tenant>,
    current: u8,
    /// Packets may be using the current generation.
    live: bool,
    /// No packet of this generation is in flight, and none can come.
    drained: [bool; 2],
    /// Bytes by which the XDP programs that the load has brought make frames longer.
    growths: Vec<u16>,
    /// Rows written since the last other step.
    batch: HashSet<(Node, Table, u32)>,
}

impl Checker<'_> {
    fn step(&mut self, step: &Step) -> Result<(), Refusal> {
        if let Step::Write { node, table, index, words } = step {
            if !self.batch.insert((*node, *table, *index)) {
                let what = format!("row {index} of {} is written twice without a barrier between", table.name());
                return Err(Order(what));
            }
            return self.write(*node, *table, *index, words);
        }
        self.batch.clear();
        let (module, generation) = match step {
            Step::WaitDrained { module, generation }
            | Step::Commit { module, generation }
            | Step::Install { module, generation, .. } => (*module, *generation),
            Step::WaitQueuesEmpty { module } => (*module, 0),
            Step::Write { .. } | Step::Barrier => return Ok(()),
        };
        self.own_module(module)?;
        if generation > 1 {
            return Err(Space(format!("generation {generation}, there are 0 and 1")));
        }
        match step {
            // After a wait for everything of the module, nobody uses the current one either.
            Step::WaitDrained { .. } if generation != self.current || !self.live => {
                self.drained[usize::from(generation)] = true;
            }
            Step::Commit { .. } if generation != self.current => {
                self.current = generation;
                self.live = true;
                self.drained = [false; 2];
            }
            Step::Install { engine, install, .. } => self.install(*engine, generation, install.as_ref())?,
            _ => {}
        }
        Ok(())
    }

    /// A program comes into, and goes from, a generation that no packet uses.
    fn install(&mut self, engine: EngineId, generation: u8, install: Option<&Install>) -> Result<(), Refusal> {
        let tenant = self.module()?;
        let linker = self.linker;
        let unknown = || Space(format!("a program for the engine {engine}, which this NIC does not have"));
        let space = linker.engines.of(engine).ok_or_else(unknown)?;
        if (self.live || install.is_some()) && (generation == self.current || !self.drained[usize::from(generation)]) {
            return Err(Order(self.not_drained("program", generation)));
        }
        match install {
            Some(install) if install.engine() != engine => {
                Err(Space(format!("a program of the engine {} for the engine {engine}", install.engine())))
            }
            Some(install) => {
                space.check_install(tenant, generation, install)?;
                let Install::Xdp(placed) = install;
                self.growths.extend(placed.growth);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn write(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Result<(), Refusal> {
        let target = self.linker.target;
        if !table.is_of(node) || !node.is_on(target) {
            return Err(Space(format!("node {node:?} has no table {}", table.name())));
        }
        if !table.access().is_written() || table == Table::Generation {
            return Err(Space(format!("table {} is not written; generations change by commit", table.name())));
        }
        if index >= table.rows(target) || words.len() != table.words() {
            let (rows, n, each) = (table.rows(target), words.len(), table.words());
            let what = format!("row {index} of {}, {n} words; the table has {rows} rows of {each}", table.name());
            return Err(Space(what));
        }
        if let Some(space) = table.engine().and_then(|engine| self.linker.engines.of(engine)) {
            return self.engine_row(space, CheckedRow { node, table, index, words });
        }
        match table {
            Table::Control => self.control(index, words),
            Table::PortPolicy => self.policy(node.index(), unpack(words)?),
            Table::Vlan => self.vlan(node.index(), index, unpack(words)?),
            Table::Rate => {
                let tenant = self.own_row(table, index)?;
                let granted = tenant.spec.rate_row().map_err(|e| Space(e.to_string()))?;
                equal(table, &unpack(words)?, &granted)
            }
            Table::Share | Table::Excess => {
                let leaving = self.tenant.map(|t| t.spec.id);
                if self.linker.is_share_row(leaving, &self.growths, (node.index(), table, index), words) {
                    return Ok(());
                }
                Err(Space(format!(
                    "row {index} of {} at port {}: not what its tenants are assured of",
                    table.name(),
                    node.index()
                )))
            }
            Table::Quantum => {
                let granted = self.own_row(table, index)?.spec.quantum;
                at_most("quantum", unpack::<QuantumRow>(words)?.bytes, granted)
            }
            Table::Vids => {
                let granted = self.own_row(table, index)?.spec.any_vids;
                match unpack::<VidsRow>(words)?.any && !granted {
                    true => {
                        Err(Space("the right to VLANs that nobody owns, which the tenant was not given".to_owned()))
                    }
                    false => Ok(()),
                }
            }
            Table::Limit => self.limit(index, unpack(words)?),
            _ => Err(Space(format!("table {} is not written", table.name()))),
        }
    }

    fn module(&self) -> Result<&'_ Tenant, Refusal> {
        self.tenant.ok_or_else(no_module)
    }

    fn own_module(&self, module: u8) -> Result<&Tenant, Refusal> {
        let tenant = self.module()?;
        if module != tenant.module {
            let (name, own) = (&tenant.spec.name, tenant.module);
            return Err(Space(format!("module {module}{}, tenant `{name}` has module {own}", self.owner(module))));
        }
        Ok(tenant)
    }

    /// A row whose index is the module.
    fn own_row(&self, table: Table, index: u32) -> Result<&Tenant, Refusal> {
        let module = u8::try_from(index).map_err(|_| Space(format!("row {index} of {}", table.name())))?;
        self.own_module(module)
    }

    fn owner(&self, module: u8) -> String {
        let owner = self.linker.tenants.values().find(|t| t.module == module);
        owner.map_or(String::new(), |t| format!(" of tenant `{}`", t.spec.name))
    }

    fn control(&self, index: u32, words: &[u32]) -> Result<(), Refusal> {
        system_only(self.tenant, "the control table")?;
        let secret = index
            .checked_sub(control::FLOW_SECRET)
            .and_then(|word| self.linker.secrets.flows().and_then(|words| words.get(word as usize).copied()));
        if let (Some(secret), &[word]) = (secret, words) {
            return if word == secret {
                Ok(())
            } else {
                Err(Space("a secret of the flow hash that is not the NIC's".into()))
            };
        }
        if index != control::WATCHDOG || words.len() != 1 {
            let (n, watchdog) = (words.len(), control::WATCHDOG);
            return Err(Space(format!("{n} words to control register {index}, loads write one to {watchdog}")));
        }
        Ok(())
    }

    fn policy(&self, port: u8, row: PortPolicyRow) -> Result<(), Refusal> {
        if let Some(t) = self.tenant.filter(|t| t.spec.id != SYSTEM_TENANT) {
            // A tenant that leaves takes itself, and nothing else, out of the policy.
            let settings = self.linker.settings.ports.get(usize::from(port)).copied().unwrap_or_default();
            if settings.untagged != Some(t.spec.id) {
                return system_only(self.tenant, &format!("the policy of port {port}"));
            }
            let settings = super::PortSettings { untagged: None, ..settings };
            let allowed = self.linker.policy_row(&settings).map_err(|e| Space(e.to_string()))?;
            return equal(Table::PortPolicy, &row, &allowed);
        }
        let owner = self.linker.tenants.get(&row.untagged_tenant).map(|t| t.module);
        match (row.untagged_valid, owner) {
            (true, Some(module)) if module == row.untagged_module => Ok(()),
            (true, _) => {
                let (tenant, module) = (row.untagged_tenant, row.untagged_module);
                Err(Space(format!("untagged frames to tenant {tenant} in module {module}, which is not its module")))
            }
            (false, _) if row.untagged_module == 0 && row.untagged_tenant == 0 => Ok(()),
            (false, _) => Err(Space("untagged module or tenant without untagged_valid".to_owned())),
        }
    }

    fn vlan(&self, port: u8, index: u32, row: VlanRow) -> Result<(), Refusal> {
        let tenant = self.module()?;
        let owns = u16::try_from(index).is_ok_and(|vlan| tenant.vlans.contains(&(port, vlan)));
        if !owns {
            return Err(Space(format!("VLAN {index} on port {port} is not tenant `{}`'s", tenant.spec.name)));
        }
        if row == VlanRow::default() { Ok(()) } else { equal(Table::Vlan, &row, &tenant.vlan_row()) }
    }

    fn limit(&self, index: u32, row: LimitRow) -> Result<(), Refusal> {
        let target = self.linker.target;
        let tenant = self.own_module((index % target.modules) as u8)?;
        let d = crate::Destination::from_number((index / target.modules) as u8, target);
        let granted = tenant.spec.limit_row(d);
        at_most(&format!("limit of queue {index} in cells"), row.cells, granted.cells)?;
        at_most(&format!("reserve of queue {index} in cells"), row.reserve, granted.reserve)
    }

    /// A row of an engine. Packets do not notice what only the other generation has, once it is drained.
    fn engine_row(&self, space: &dyn engine::Space, row: CheckedRow) -> Result<(), Refusal> {
        let live = self.live.then_some(self.current);
        match space.check_row(self.tenant, live, row)? {
            Some(g) if self.live && (g == self.current || !self.drained[usize::from(g)]) => {
                Err(Order(self.not_drained(&format!("row {} of {}", row.index, row.table.name()), g)))
            }
            _ => Ok(()),
        }
    }

    fn not_drained(&self, what: &str, bank: u8) -> String {
        if bank == self.current {
            format!("{what} of generation {bank}, which new packets are stamped with")
        } else {
            format!("{what} of generation {bank}, without a wait until its packets have left")
        }
    }
}

/// A tenant without a module: the system, before it is admitted.
pub(super) fn no_module() -> Refusal {
    Space("the system tenant has no module: it is not admitted".to_owned())
}

/// Only the system writes registers, policies and what all modules share.
pub(super) fn system_only(tenant: Option<&Tenant>, what: &str) -> Result<(), Refusal> {
    match tenant {
        Some(t) if t.spec.id != SYSTEM_TENANT => {
            Err(Space(format!("{what} belongs to the system, the load is tenant `{}`'s", t.spec.name)))
        }
        _ => Ok(()),
    }
}

/// The row that words stand for.
pub(super) fn unpack<R: Row>(words: &[u32]) -> Result<R, Refusal> {
    R::unpack(words).map_err(|e| Space(e.to_string()))
}

fn equal<R: Row>(table: Table, found: &R, allowed: &R) -> Result<(), Refusal> {
    if found == allowed {
        return Ok(());
    }
    Err(Space(format!("row of {}: found {found:?}, granted is {allowed:?}", table.name())))
}

fn at_most(what: &str, found: u16, granted: u16) -> Result<(), Refusal> {
    if found <= granted { Ok(()) } else { Err(Space(format!("{what}: found {found}, granted are {granted}"))) }
}
