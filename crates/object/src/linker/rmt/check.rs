//! The ownership check of rows of the rmt pipeline: each row in its tenant's space. It shares with the code that makes
//! the loads only what each tenant holds.

use super::placer::Holding;
use crate::linker::check::{Refusal, unpack};
use sluice_formats::rmt::rows::{ActionRow, ExactRow, GrantedRow, GroupNameRow, GroupRow, KeyRow, PageRow, TernaryRow};
use sluice_formats::rmt::target::{MODULE_PAGES, NODES, PATHS, PATTERNS, Target};
use sluice_formats::{Node, Table};

use Refusal::{Order, Space};

/// A generation of the tenant, or none of the two: a row that packets of both may meet.
type Bank = Option<u8>;

/// Whose rows are looked at.
pub(in crate::linker) struct RmtOwner<'a> {
    pub target: &'a Target,
    pub module: u8,
    pub holding: &'a Holding,
    /// The generation that packets use now.
    pub live: Option<u8>,
}

impl RmtOwner<'_> {
    /// Refuses a row that is not the tenant's, or that has in it what is not; tells which generation it is of.
    pub fn row(&self, node: Node, table: Table, index: u32, words: &[u32]) -> Result<Bank, Refusal> {
        match (table, node.stage()) {
            (Table::StateWord, _) => Err(Space("table state_word is not written by loads".to_owned())),
            (_, Some(stage)) => self.stage_row(stage, table, index, words),
            _ => self.end_row(table, index, words),
        }
    }

    /// A row by module and generation, `each` of them for one.
    fn banked(&self, table: Table, index: u32, each: usize) -> Result<Bank, Refusal> {
        let bank = index / each as u32;
        if bank / 2 != u32::from(self.module) {
            let what = format!("row {index} of {} is module {}'s", table.name(), bank / 2);
            return Err(Space(format!("{what}, tenant `{}` has module {}", self.holding.name, self.module)));
        }
        Ok(Some((bank % 2) as u8))
    }

    fn end_row(&self, table: Table, index: u32, words: &[u32]) -> Result<Bank, Refusal> {
        let (holding, beats) = (self.holding, self.target.window_beats());
        let foreign = |what: String| Err(Space(format!("{what} is not tenant `{}`'s", holding.name)));
        match table {
            Table::First | Table::Patterns => self.banked(table, index, 1),
            Table::Node => self.banked(table, index, NODES),
            Table::Path => self.banked(table, index, PATHS),
            Table::Deparse => self.banked(table, index, PATTERNS * beats),
            Table::Group => {
                let row: GroupRow = unpack(words)?;
                let own = holding.quota.groups.iter().any(|group| u32::from(holding.names.row_of(*group)) == index);
                let good = own && (row.owner == self.module || row == GroupRow::default());
                if good { Ok(None) } else { foreign(format!("group {index} with owner {}", row.owner)) }
            }
            Table::GroupName => {
                let row: GroupNameRow = unpack(words)?;
                let good = index == u32::from(self.module) && (row == holding.names || row == GroupNameRow::default());
                if good { Ok(None) } else { foreign(format!("names of groups {row:?} of module {index}")) }
            }
            Table::Granted => {
                let mask = unpack::<GrantedRow>(words)?.destinations;
                let good = index == u32::from(self.module) && mask & !holding.quota.destinations == 0;
                if good { Ok(None) } else { foreign(format!("grant {mask:#04x} of module {index}")) }
            }
            _ => foreign(format!("table {}", table.name())),
        }
    }

    fn stage_row(&self, stage: u8, table: Table, index: u32, words: &[u32]) -> Result<Bank, Refusal> {
        let RmtOwner { target, module, holding, .. } = *self;
        let foreign = |what: String| Err(Space(format!("stage {stage}: {what} is not tenant `{}`'s", holding.name)));
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
                let sets = held.key_sets(target, g);
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
            _ if table.exact().is_some() => {
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
                let running = self.live.and_then(|g| holding.banks[usize::from(g)].as_ref());
                let used = running.map(|b| (b, b.part.stages.get(&stage).map_or(0, |s| s.pages)));
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
        let target = self.target;
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
