//! The ownership and order check of loads for the rmt pipeline: each row in its tenant's space, no row that packets
//! in flight would notice. It shares with the code that makes the loads only what each tenant holds.

use super::error::RmtError;
use super::loads::{RmtLinker, RmtTenant};
use super::placer::Holding;
use crate::linker::error::LinkError;
use crate::load::{Load, Step};
use sluice_formats::address::Access;
use sluice_formats::limits::{FORMAT_VERSION, SYSTEM_TENANT};
use sluice_formats::rmt::layout::Layout;
use sluice_formats::rmt::rows::{ActionRow, ExactRow, GrantedRow, GroupRow, KeyRow, PageRow, TernaryRow};
use sluice_formats::rmt::tables::{Node, Table};
use sluice_formats::rmt::target::{MODULE_PAGES, NODES, PATHS, PATTERNS};
use std::collections::HashSet;

enum Refusal {
    Space(String),
    Order(String),
}

use Refusal::{Order, Space};

/// A generation of the tenant, or none of the two: a row that packets of both may meet.
type Bank = Option<u8>;

impl RmtLinker {
    /// Refuses a load that its tenant may not run, or that packets in flight would notice. It looks at the tenant as
    /// it is before the load.
    pub fn check(&self, load: &Load) -> Result<(), RmtError> {
        let foreign = |what, found, allowed| {
            Err(RmtError::Link(LinkError::Foreign { load: load.label.clone(), what, found, allowed }))
        };
        let target = self.placer.target();
        if load.format_version != FORMAT_VERSION {
            return foreign("format version", load.format_version.to_string(), FORMAT_VERSION.to_string());
        }
        if load.target_hash != target.hash() {
            let allowed = format!("{:08x} ({})", target.hash(), target.name);
            return foreign("target", format!("{:08x}", load.target_hash), allowed);
        }
        let tenant = match load.tenant {
            SYSTEM_TENANT => self.tenants.get(&SYSTEM_TENANT),
            id => Some(self.tenant(id)?),
        };
        let holding = tenant.and_then(|t| self.placer.holders.get(&t.module));
        let mut checker = Checker {
            linker: self,
            owner: tenant.zip(holding),
            current: tenant.map_or(0, |t| self.generations[usize::from(t.module)]),
            live: tenant.is_some_and(|t| t.running.is_some()),
            drained: [false; 2],
            batch: HashSet::new(),
        };
        for (step, s) in load.steps.iter().enumerate() {
            let label = load.label.clone();
            checker.step(s).map_err(|refusal| match refusal {
                Space(what) => LinkError::Space { load: label, step, what },
                Order(what) => LinkError::Order { load: label, step, what },
            })?;
        }
        Ok(())
    }
}

/// Follows a load step by step.
struct Checker<'a> {
    linker: &'a RmtLinker,
    /// None: the system, without a module.
    owner: Option<(&'a RmtTenant, &'a Holding)>,
    current: u8,
    /// Packets may be using the current generation.
    live: bool,
    drained: [bool; 2],
    /// Rows written since the last other step.
    batch: HashSet<(Node, Table, u32)>,
}

impl Checker<'_> {
    fn step(&mut self, step: &Step) -> Result<(), Refusal> {
        if let Step::Row { node, table, index, words } = step {
            if !self.batch.insert((*node, *table, *index)) {
                let what = format!("row {index} of {} is written twice without a barrier between", table.name());
                return Err(Order(what));
            }
            return self.row(*node, *table, *index, words);
        }
        self.batch.clear();
        let (module, generation) = match step {
            Step::WaitDrained { module, generation } | Step::Commit { module, generation } => (*module, *generation),
            Step::WaitQueuesEmpty { module } => (*module, 0),
            Step::Barrier | Step::Row { .. } => return Ok(()),
            Step::Write { .. } | Step::Program { .. } => {
                return Err(Space("a step for a NIC, this is an rmt pipeline".to_owned()));
            }
        };
        let own = self.own()?.0.module;
        if module != own || generation > 1 {
            return Err(Space(format!("module {module}, generation {generation}; the tenant's module is {own}")));
        }
        match step {
            Step::WaitDrained { .. } if generation != self.current => self.drained[usize::from(generation)] = true,
            // After a wait for everything of the module, nobody uses the current one either.
            Step::WaitDrained { .. } if !self.live => self.drained[usize::from(generation)] = true,
            Step::Commit { .. } if generation != self.current => {
                self.current = generation;
                self.live = true;
                self.drained = [false; 2];
            }
            _ => {}
        }
        Ok(())
    }

    fn own(&self) -> Result<(&RmtTenant, &Holding), Refusal> {
        self.owner.ok_or_else(|| Space("the system tenant has no module: it is not admitted".to_owned()))
    }

    fn row(&mut self, node: Node, table: Table, index: u32, words: &[u32]) -> Result<(), Refusal> {
        let target = self.linker.placer.target();
        if !Node::all(target).contains(&node) || !table.is_of(node) {
            return Err(Space(format!("node {node:?} has no table {}", table.name())));
        }
        if table.access() != Access::ReadWrite || matches!(table, Table::Generation | Table::StateWord) {
            return Err(Space(format!("table {} is not written by loads", table.name())));
        }
        if index as usize >= table.rows(target) || words.len() != table.words() {
            let (rows, n) = (table.rows(target), words.len());
            return Err(Space(format!("row {index} of {n} words of {}, which has {rows}", table.name())));
        }
        if table == Table::StageOwner {
            let Node::Stage(s) = node else { return Ok(()) };
            let expected = u32::from(target.is_system(s.into()));
            let good = self.owner.is_none_or(|(t, _)| t.id == SYSTEM_TENANT) && words == [expected];
            return if good { Ok(()) } else { Err(Space(format!("owner of stage {s}, which is the system's to say"))) };
        }
        let bank = match node {
            Node::Stage(stage) => self.stage_row(stage, table, index, words)?,
            _ => self.end_row(table, index, words)?,
        };
        // Packets do not notice what only the other generation has, once it is drained.
        match bank {
            Some(g) if self.live && (g == self.current || !self.drained[usize::from(g)]) => {
                let what = format!("row {index} of {} in generation {g}, which packets may carry", table.name());
                Err(Order(what))
            }
            _ => Ok(()),
        }
    }

    /// A row by module and generation, `each` of them for one.
    fn banked(&self, table: Table, index: u32, each: usize) -> Result<Bank, Refusal> {
        let (tenant, _) = self.own()?;
        let bank = index / each as u32;
        if bank / 2 != u32::from(tenant.module) {
            let what = format!("row {index} of {} is module {}'s", table.name(), bank / 2);
            return Err(Space(format!("{what}, tenant `{}` has module {}", tenant.name, tenant.module)));
        }
        Ok(Some((bank % 2) as u8))
    }

    fn end_row(&self, table: Table, index: u32, words: &[u32]) -> Result<Bank, Refusal> {
        let (tenant, holding) = self.own()?;
        let beats = self.linker.placer.target().window_beats();
        let foreign = |what: String| Err(Space(format!("{what} is not tenant `{}`'s", tenant.name)));
        match table {
            Table::First | Table::Patterns => self.banked(table, index, 1),
            Table::Node => self.banked(table, index, NODES),
            Table::Path => self.banked(table, index, PATHS),
            Table::Deparse => self.banked(table, index, PATTERNS * beats),
            Table::Group => {
                let row: GroupRow = unpack(words)?;
                let own = holding.quota.groups.contains(&(index as u16));
                let good = own && (row.owner == tenant.module || row == GroupRow::default());
                if good { Ok(None) } else { foreign(format!("group {index} with owner {}", row.owner)) }
            }
            Table::Granted => {
                let mask = unpack::<GrantedRow>(words)?.destinations;
                let good = index == u32::from(tenant.module) && mask & !holding.quota.destinations == 0;
                if good { Ok(None) } else { foreign(format!("grant {mask:#04x} of module {index}")) }
            }
            _ => foreign(format!("table {}", table.name())),
        }
    }

    fn stage_row(&self, stage: u8, table: Table, index: u32, words: &[u32]) -> Result<Bank, Refusal> {
        let (tenant, holding) = self.own()?;
        let module = tenant.module;
        let target = self.linker.placer.target();
        let foreign = |what: String| Err(Space(format!("stage {stage}: {what} is not tenant `{}`'s", tenant.name)));
        if module != 0 && target.is_system(stage.into()) {
            return foreign(format!("a row of {} in a stage of the system module", table.name()));
        }
        // A stage in which it holds nothing: only zeros, where its packets look.
        let held = holding.stages.get(&stage).zip(holding.quota.stages.get(&stage));
        if table == Table::Key {
            let row: KeyRow = unpack(words)?;
            let bank = self.banked(table, index, 1)?;
            let g = bank.unwrap_or(0);
            let good = held.map_or(row == KeyRow::default(), |(held, quota)| {
                let sets = held.bank(g).map_or((0, 0), |r| (r.base as u8, r.bits as u8));
                let action = !row.default_valid || held.action_rows(quota, g).contains(&row.default_action.into());
                let placed = (row.set_base, row.set_bits, u32::from(row.hits_base)) == (sets.0, sets.1, held.hits_base);
                row == KeyRow::default() || placed && action
            });
            return if good { Ok(bank) } else { foreign(format!("sets, counters or default of key row {index}")) };
        }
        let Some((held, quota)) = held else { return foreign(format!("table {}", table.name())) };
        let half = |set: u32| (0..2u8).find(|&g| held.bank(g).is_some_and(|r| r.contains(set)));
        let ternary = |row: u32| (0..2u8).find(|&g| held.ternary_rows(quota, g).contains(&row));
        let action = |row: u32| (0..2u8).find(|&g| held.action_rows(quota, g).contains(&row));
        match table {
            Table::Exact(_) => {
                let row: ExactRow = unpack(words)?;
                let at = half(index);
                let own = at.filter(|&g| {
                    let good = (row.module_id, row.generations, action(row.action.into())) == (module, 1 << g, Some(g));
                    row == ExactRow::default() || good
                });
                // Entries may come and go in the running generation too, each in one write.
                if own.is_some() { Ok(None) } else { foreign(format!("exact entry in set {index}")) }
            }
            Table::Ternary => {
                let row: TernaryRow = unpack(words)?;
                let own = ternary(index).filter(|&g| {
                    let good = (row.module_id, row.generations, action(row.action.into())) == (module, 1 << g, Some(g));
                    row == TernaryRow::default() || good
                });
                if own.is_some() { Ok(None) } else { foreign(format!("ternary entry {index}")) }
            }
            Table::Data => self.data_row(index, half, ternary, foreign),
            Table::Action => {
                let row: ActionRow = unpack(words)?;
                let bank = action(index).filter(|_| row.owner == module || row == ActionRow::default());
                if bank.is_some() { Ok(bank) } else { foreign(format!("action row {index} with owner {}", row.owner)) }
            }
            Table::Page => {
                let row: PageRow = unpack(words)?;
                let good = !row.valid || held.pages.contains(&row.page.into());
                let bank = self.banked(table, index, MODULE_PAGES)?;
                if good { Ok(bank) } else { foreign(format!("page {} of the state", row.page)) }
            }
            Table::ZeroPage => {
                if !held.pages.contains(&index) {
                    return foreign(format!("page {index} of the state"));
                }
                let running = holding.banks[usize::from(self.current)].as_ref();
                let used = running.filter(|_| self.live).map(|b| (b, b.part.stages.get(&stage).map_or(0, |s| s.pages)));
                let live = used.is_some_and(|(b, n)| held.page_set(quota, b.page_set)[..n.into()].contains(&index));
                if live { Err(Order(format!("page {index} of the state, which packets use"))) } else { Ok(None) }
            }
            _ => foreign(format!("table {}", table.name())),
        }
    }

    fn data_row(
        &self,
        index: u32,
        half: impl Fn(u32) -> Bank,
        ternary: impl Fn(u32) -> Bank,
        foreign: impl Fn(String) -> Result<Bank, Refusal>,
    ) -> Result<Bank, Refusal> {
        let target = self.linker.placer.target();
        let (sets, exact) = (target.sets() as u32, target.exact as u32);
        let defaults = exact + target.ternary as u32;
        let own = match index {
            i if i < exact => half(i % sets),
            i if i < defaults => ternary(i - exact),
            i => return self.banked(Table::Data, i - defaults, 1),
        };
        if own.is_some() { Ok(None) } else { foreign(format!("action data {index}")) }
    }
}

fn unpack<L: Layout>(words: &[u32]) -> Result<L, Refusal> {
    L::unpack(words).map_err(|e| Space(e.to_string()))
}
