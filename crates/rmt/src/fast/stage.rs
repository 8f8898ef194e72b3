//! A stage's node: its tables, and what it does with a packet.

use super::action::{Action, Context};
use super::frame::Frame;
use super::key::Key;
use super::matching::{Entry, Match};
use super::state::Packet;
use super::store::{Counters, Store};
use crate::pipeline::Arrival;
use crate::reason::Reason;
use crate::target::{MODULE_PAGES, PAGE_WORDS, Target};
use sluice_formats::Table;
use sluice_formats::rmt::rows::{ActionRow, DataRow, ExactRow, KeyRow, PageRow, TernaryRow};

/// No page of the stage has this number: its words lie behind every stage's.
const NO_PAGE: u8 = u8::MAX;

/// A stage's tables. Exact rows: way * sets + set, as the rows of the action data.
#[derive(Clone, Debug)]
pub struct StageNode {
    target: Target,
    /// The stage is the system module's.
    pub system: bool,
    key_rows: Store<KeyRow>,
    exact_rows: Store<ExactRow>,
    ternary_rows: Store<TernaryRow>,
    data_rows: Store<DataRow>,
    action_rows: Store<ActionRow>,
    page_rows: Store<PageRow>,
    /// State words by place in the stage's memory.
    pub words: Vec<u32>,
    hits: Counters,
    state_range: Counters,
    /// By bank: what its packets can find; none after a change.
    matches: Vec<Option<Match>>,
    data: Vec<u128>,
    actions: Vec<Option<Action>>,
    pages: Vec<u8>,
}

impl StageNode {
    /// Rows of zeros.
    pub fn new(target: &Target, system: bool) -> Self {
        let rows = |t: Table| t.rows(target.nic()) as usize;
        Self {
            target: *target,
            system,
            key_rows: Store::new(rows(Table::Key)),
            exact_rows: Store::new(target.exact),
            ternary_rows: Store::new(rows(Table::Ternary)),
            data_rows: Store::new(rows(Table::Data)),
            action_rows: Store::new(rows(Table::Action)),
            page_rows: Store::new(rows(Table::Page)),
            words: vec![0; target.words],
            hits: Counters::new(rows(Table::Hits)),
            state_range: Counters::new(rows(Table::StateRange)),
            matches: vec![None; rows(Table::Key)],
            data: vec![0; rows(Table::Data)],
            actions: vec![None; rows(Table::Action)],
            pages: vec![NO_PAGE; rows(Table::Page)],
        }
    }

    /// Writes a row.
    pub fn write(&mut self, table: Table, row: usize, words: &[u32]) {
        match table {
            Table::StageOwner => self.system = words[0] & 1 == 1,
            Table::Key => {
                self.key_rows.write(row, words);
                self.matches[row] = None;
            }
            _ if let Some(way) = table.exact() => {
                let at = usize::from(way) * self.target.sets() + row;
                let before = self.exact_rows.row(at);
                self.exact_rows.write(at, words);
                let after = self.exact_rows.row(at);
                self.change(Entry::Exact(at, &before), false);
                self.change(Entry::Exact(at, &after), true);
            }
            Table::Ternary => {
                let before = self.ternary_rows.row(row);
                self.ternary_rows.write(row, words);
                let after = self.ternary_rows.row(row);
                self.change(Entry::Ternary(row, &before), false);
                self.change(Entry::Ternary(row, &after), true);
            }
            Table::Data => {
                self.data_rows.write(row, words);
                self.data[row] = u128::from_be_bytes(self.data_rows.row(row).data.0);
            }
            Table::Action => {
                self.action_rows.write(row, words);
                self.actions[row] = None;
            }
            Table::Page => {
                self.page_rows.write(row, words);
                let page = self.page_rows.row(row);
                // Pages above the target's are cut off to those that there are.
                let number = (usize::from(page.page) % self.target.pages()) as u8;
                self.pages[row] = if page.valid { number } else { NO_PAGE };
            }
            Table::StateWord => self.words[row] = words[0],
            _ => self.words[row * PAGE_WORDS..(row + 1) * PAGE_WORDS].fill(0),
        }
    }

    /// An entry comes, or goes: what packets find of it changes in place, or is made anew for the next one.
    fn change(&mut self, entry: Entry<'_>, comes: bool) {
        for bank in entry.banks() {
            if let Some(known) = self.matches.get_mut(bank) {
                known.take_if(|known| !known.change(entry, comes, &self.target));
            }
        }
    }

    /// Whether a module has state words in any generation.
    pub fn has_state(&self, module: u8) -> bool {
        let rows = 2 * MODULE_PAGES;
        self.pages.iter().skip(rows * usize::from(module)).take(rows).any(|page| *page != NO_PAGE)
    }

    /// The module that has a state word.
    pub fn owner_of_word(&self, word: usize) -> Option<u8> {
        let at = self.pages.iter().position(|page| usize::from(*page) == word / PAGE_WORDS)?;
        u8::try_from(at / (2 * MODULE_PAGES)).ok()
    }

    /// Reads a row back.
    pub fn read(&self, table: Table, row: usize, slice: usize) -> Vec<u32> {
        match table {
            Table::StageOwner => vec![u32::from(self.system)],
            Table::Key => self.key_rows.read(row, slice),
            _ if let Some(way) = table.exact() => {
                self.exact_rows.read(usize::from(way) * self.target.sets() + row, slice)
            }
            Table::Ternary => self.ternary_rows.read(row, slice),
            Table::Data => self.data_rows.read(row, slice),
            Table::Action => self.action_rows.read(row, slice),
            Table::Page => self.page_rows.read(row, slice),
            Table::StateWord => vec![self.words[row]],
            _ => vec![0],
        }
    }

    /// A counter, now or at the last snapshot.
    pub fn counter(&self, table: Table, row: usize, snapshot: bool) -> u64 {
        let counters = if table == Table::Hits { &self.hits } else { &self.state_range };
        counters.get(row, snapshot)
    }

    /// Keeps all counters as they are now.
    pub fn snapshot(&mut self) {
        self.hits.snapshot();
        self.state_range.snapshot();
    }

    /// Carries out the stage with the rows of `owner`.
    pub fn run(&mut self, owner: u8, bank: usize, arrival: &Arrival, frame: &mut Frame) -> Result<(), Reason> {
        let matches = self.matches[bank].get_or_insert_with(|| {
            Match::compile(bank, &self.target, &self.key_rows.row(bank), &self.exact_rows, &self.ternary_rows)
        });
        if matches.idle {
            return Ok(());
        }
        let (conditions, key): (u8, Key) = matches.key(frame);
        let Some(winner) = matches.find(&key) else { return Ok(()) };
        self.hits.add(winner.hits.into(), 1);
        let row = usize::from(winner.action);
        let action = self.actions[row].get_or_insert_with(|| Action::compile(&self.action_rows.row(row)));
        if action.owner != owner {
            return Err(Reason::RmtFault);
        }
        let context =
            Context { data: self.data[winner.data as usize], number: winner.number, hash: || matches.plan.hash(&key) };
        action.prepare(frame, &context);
        let Some(state) = &action.state else {
            action.write(frame, conditions, self.system);
            return Ok(());
        };
        let mut shown = [None; 2];
        if let Some(index) = state.index(frame, conditions) {
            let place = |page: u8| usize::from(page) * PAGE_WORDS + index % PAGE_WORDS;
            let page =
                Some(index / PAGE_WORDS).filter(|&p| p < MODULE_PAGES).map(|p| self.pages[MODULE_PAGES * bank + p]);
            match page.and_then(|page| self.words.get_mut(place(page))) {
                Some(word) => {
                    let packet = Packet { conditions, queueing: arrival.queueing, length: arrival.packet.len() as u16 };
                    shown = state.access(word, frame, &packet);
                }
                None => self.state_range.add(owner.into(), 1),
            }
        }
        action.write(frame, conditions, self.system);
        shown.into_iter().flatten().for_each(|(to, value)| frame.set(to, value.into()));
        Ok(())
    }
}
