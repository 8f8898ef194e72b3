//! What packets meet by the entries of logical tables, looked at one after the other.

use sluice_formats::row::Wide;
use sluice_object::rmt::logical::{LogicalCase, LogicalLeads, LogicalLookup, LogicalMatch, LogicalPiece};
use sluice_object::rmt::{Logical, LogicalValue};

/// A stage's key.
pub type Key = [u8; 25];

/// What a packet meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Met {
    /// The entry, by table and place; none by a miss or a case without a table.
    pub entry: Option<(usize, usize)>,
    pub action: u16,
    /// Action data, without what an entry's position gives it.
    pub data: [u8; 16],
}

pub fn asks(value: &Wide<25>, mask: &Wide<25>, key: &Key) -> bool {
    (0..25).all(|i| (value.0[i] ^ key[i]) & mask.0[i] == 0)
}

fn bit(key: &Key, at: u32) -> bool {
    key[(at / 8) as usize] >> (at % 8) & 1 == 1
}

fn value_of(pieces: &[LogicalPiece], key: &Key) -> u128 {
    let mut value = 0;
    for piece in pieces {
        for i in 0..u32::from(piece.bits) {
            let set = match piece.at {
                Some(at) => bit(key, u32::from(at) + i),
                None => piece.known >> i & 1 == 1,
            };
            value |= u128::from(set) << (u32::from(piece.low) + i);
        }
    }
    value
}

fn number(value: &LogicalValue) -> u128 {
    (0..128).filter(|at| value.bit(*at)).fold(0, |all, at| all | 1 << at)
}

fn led(leads: &[LogicalLeads], values: &[LogicalValue], key: &Key, entry: Option<(usize, usize)>) -> Option<Met> {
    let leads = leads.iter().find(|leads| asks(&leads.value, &leads.mask, key))?;
    let mut data = leads.data.0;
    // The one move of a value that the generator makes.
    if leads.moves.iter().any(|to| to.bits == 6) {
        let port = (number(&values[0]) >> 3 & 0x3f) << 6;
        data[11] |= port as u8;
        data[10] |= (port >> 8) as u8;
    }
    Some(Met { entry, action: leads.action, data })
}

/// What it meets by the tables' entries.
pub fn by_entries(logical: &Logical, key: &Key) -> Option<Met> {
    let looks = |lookup: &LogicalLookup| {
        if !asks(&lookup.value, &lookup.mask, key) {
            return None;
        }
        let table = &logical.tables[usize::from(lookup.table)];
        // An entry that leads nowhere with this key, because of what else is asked, leaves it to those behind it.
        let hits = table.entries.iter().enumerate().filter(|(_, entry)| {
            entry.matches.iter().zip(&lookup.keys).all(|(asked, pieces)| {
                let found = value_of(pieces, key);
                match asked {
                    LogicalMatch::Masked { value, mask } => found & number(mask) == number(value),
                    LogicalMatch::Range { low, high } => (number(low)..=number(high)).contains(&found),
                }
            })
        });
        let outcome = |hit: bool, action: u16| {
            lookup.outcomes.iter().find(|o| (o.hit, o.action) == (hit, action)).map_or(&[][..], |o| &o.leads[..])
        };
        let mut hits = hits.map(|(at, entry)| {
            let here = Some((usize::from(lookup.table), at));
            led(outcome(true, entry.call.action), &entry.call.values, key, here)
        });
        let default = &table.default;
        hits.find_map(|met| met).or_else(|| led(outcome(false, default.action), &default.values, key, None))
    };
    logical.stages[&1].iter().find_map(|case| match case {
        LogicalCase::Leads(leads) => led(std::slice::from_ref(leads), &[], key, None),
        LogicalCase::Looks(lookup) => looks(lookup),
        LogicalCase::Hashes(_) => None,
    })
}
