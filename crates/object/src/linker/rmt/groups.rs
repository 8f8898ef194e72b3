//! Multicast groups: which rows of the target a module's numbers are.
//!
//! Numbers are a module's own names: packets, entries and programs say them, and two tenants with the same program have the same ones. Where a
//! tenant's numbers are free as rows, each is the row of its number, and nothing is written. Otherwise the least aligned block of numbers that has
//! all of them goes to an aligned block of rows that nobody holds, and one row of the module says so (`GroupNameRow`). Numbers outside of the
//! block are those of the system module, which has no names but the rows.

use super::error::RmtError;
use super::placer::Placer;
use super::quota::Quota;
use sluice_formats::rmt::rows::GroupNameRow;
use std::collections::BTreeSet;

impl Placer {
    /// The names of a module that is admitted.
    pub(super) fn name_groups(&self, module: u8, name: &str, quota: &Quota) -> Result<GroupNameRow, RmtError> {
        let refuse = |found: String, allowed: String| Err(RmtError::Group { tenant: name.to_owned(), found, allowed });
        let all = self.target.groups as u32;
        let (Some(&first), Some(&last)) = (quota.groups.first(), quota.groups.last()) else {
            return Ok(GroupNameRow::default());
        };
        if first == 0 || module == 0 && u32::from(last) >= all {
            let found = format!("group {}", if first == 0 { 0 } else { last });
            let most = if module == 0 { all - 1 } else { u16::MAX.into() };
            return refuse(found, format!("groups 1 to {most} for {name} on this target"));
        }
        let held = self.group_rows(module);
        let taken = quota.groups.iter().find(|group| u32::from(**group) >= all || held.contains(group));
        let Some(taken) = taken else { return Ok(GroupNameRow::default()) };
        if module == 0 {
            let holder = self.holders.values().find(|h| h.quota.groups.iter().any(|g| h.names.row_of(*g) == *taken));
            let by = holder.map_or("taken".to_owned(), |h| format!("tenant `{}`'s", h.name));
            return refuse(format!("group {taken} is {by}"), "a group that nobody has".to_owned());
        }
        // The bits in which any two of them differ, and those below.
        let length = 1 << (16 - (first ^ last).leading_zeros());
        let free = |at: u32| (at..at + length).all(|row| row > 0 && !held.contains(&(row as u16)));
        // The highest ones, for the system module and those who come first have the low numbers.
        let place = (0..all / length.max(1)).rev().map(|n| n * length).find(|at| free(*at));
        let Some(place) = place else {
            let left = all - 1 - held.len() as u32;
            let numbers = format!("groups {first} to {last} take {length} rows side by side");
            return refuse(
                numbers,
                format!("{left} of {} are free, in pieces; numbers that are nearer to each other", all - 1),
            );
        };
        let mask = !(length - 1) as u16;
        Ok(GroupNameRow { mask, name: first & mask, first: place as u16 })
    }

    /// Rows that other modules hold: all of a block, for its numbers lead there.
    fn group_rows(&self, module: u8) -> BTreeSet<u16> {
        let mut rows = BTreeSet::new();
        for holding in self.holders.iter().filter(|(m, _)| **m != module).map(|(_, h)| h) {
            rows.extend(holding.quota.groups.iter().map(|group| holding.names.row_of(*group)));
            if holding.names != GroupNameRow::default() {
                rows.extend(holding.names.first..=holding.names.first | !holding.names.mask);
            }
        }
        rows
    }
}
