//! Whether a program fits what its module was given, and the system program.

use super::error::RmtError;
use super::placer::{Bank, Holding, Placer};
use crate::rmt::part::RmtData;
use crate::rmt::{RmtPart, RmtStage};
use sluice_formats::rmt::codes::{AluOp, StateKind};
use sluice_formats::rmt::target::CONTAINERS;

/// Place of the group among the metadata words that an action may write.
const GROUP: usize = 12 - 9;

impl Placer {
    /// Growth and each stage are within the quota, and a tenant's is not the system module's. The part's stages are its own.
    pub(super) fn check_given(&self, module: u8, holding: &Holding, part: &RmtPart) -> Result<(), RmtError> {
        let (asked, given) = (part.growth(), holding.quota.growth);
        if asked > given {
            return Err(RmtError::Growth { tenant: holding.name.clone(), asked, given });
        }
        for (&stage, rows) in &part.stages {
            let tenant = holding.name.clone();
            if module != 0 && self.target.is_system(stage.into()) {
                return Err(RmtError::SystemStage { stage, tenant, found: "rows" });
            }
            let at = holding.at.get(&stage);
            let given = at.and_then(|at| holding.quota.stages.get(at)).copied().unwrap_or_default();
            // What a table asks for by its size is a wish, beside what its entries need.
            let (exact, ternary, numbers) = match part.logical {
                Some(_) => (rows.exact.len() as u32, rows.ternary.len() as u32, rows.numbers_used().into()),
                None => (rows.exact_room.into(), rows.ternary_room.into(), rows.numbers.into()),
            };
            let asked = [
                ("exact entries", exact, given.exact),
                ("ternary entries", ternary, given.ternary),
                ("actions", rows.actions.len() as u32, given.actions),
                ("pages of state", u32::from(rows.pages), given.pages),
                ("logical numbers", numbers, given.numbers),
            ];
            if let Some((resource, asked, given)) = asked.into_iter().find(|(_, asked, given)| asked > given) {
                return Err(RmtError::Given { stage, resource, asked, tenant, given });
            }
            if at.is_none() {
                return Err(RmtError::Given { stage, resource: "stages", asked: 1, tenant, given: 0 });
            }
        }
        Ok(())
    }

    /// Groups are the tenant's own, and those that its rows name for all to see are its own or the system's.
    /// Which group a packet's bytes lead to, only the hardware sees: `no_destination`.
    pub(super) fn check_group_use(
        &self,
        holding: &Holding,
        part: &RmtPart,
        running: Option<&Bank>,
    ) -> Result<(), RmtError> {
        let refuse =
            |found: String, allowed: String| Err(RmtError::Group { tenant: holding.name.clone(), found, allowed });
        let own = &holding.quota.groups;
        for (number, group) in &part.groups {
            if !own.contains(number) {
                return refuse(format!("the program has group {number}"), format!("it was given groups {own:?}"));
            }
            if running.and_then(|b| b.part.groups.get(number)).is_some_and(|g| g != group) {
                let found = format!("group {number} has other destinations or tags in the running program");
                return refuse(found, "the same ones until it is replaced, or another number".to_owned());
            }
        }
        for (&stage, rows) in &part.stages {
            let leads = rows.exact.iter().map(|e| (e.row.action, &e.data));
            let leads = leads.chain(rows.ternary.iter().map(|e| (e.row.action, &e.data)));
            let default = rows.key.default_valid.then_some((rows.key.default_action, &rows.default_data));
            for (action, data) in leads.chain(default) {
                self.check_group_named(holding, stage, rows, action, data)?;
            }
        }
        Ok(())
    }

    /// The group that an action sends to, as far as its row and its data say it.
    pub(super) fn check_group_named(
        &self,
        holding: &Holding,
        stage: u8,
        rows: &RmtStage,
        action: u16,
        data: &RmtData,
    ) -> Result<(), RmtError> {
        let Some(row) = rows.actions.get(usize::from(action)) else { return Ok(()) };
        let write = &row.words[GROUP];
        let at = 2 * usize::from(row.class2.data[0] & 7);
        let number = match (write.mask, write.source) {
            (u16::MAX, 0) => write.immediate,
            (u16::MAX, 1) => u16::from_be_bytes([data.0[at], data.0[at + 1]]),
            _ => 0,
        };
        let own = &holding.quota.groups;
        // A number that its own block hides is none of the system's.
        let systems = holding.names.row_of(number) == number
            && self.holders.get(&0).is_some_and(|h| h.quota.groups.contains(&number));
        if number == 0 || own.contains(&number) || systems {
            return Ok(());
        }
        Err(RmtError::Group {
            tenant: holding.name.clone(),
            found: format!("stage {stage}, action {action} sends to group {number}"),
            allowed: format!("its own, {own:?}, and those of the system module"),
        })
    }

    /// What is exchanged with the system program is in the same containers on both sides.
    pub(super) fn check_shared(&self, module: u8, holding: &Holding, part: &RmtPart) -> Result<(), RmtError> {
        let of = |h: &Holding| h.banks.clone().into_iter().flatten().map(|b| b.part).collect::<Vec<_>>();
        if module == 0 {
            for tenant in self.holders.iter().filter(|(m, _)| **m != 0).map(|(_, h)| h) {
                of(tenant).iter().try_for_each(|p| agree(&tenant.name, p, part))?;
            }
            return Ok(());
        }
        let systems = self.holders.get(&0).map(of).unwrap_or_default();
        if let (true, Some((name, _))) = (systems.is_empty(), part.shared.first_key_value()) {
            let found = format!("the program exchanges `{name}` with the system program, and none is there");
            let allowed = "load the system program first".to_owned();
            return Err(RmtError::Shared { tenant: holding.name.clone(), found, allowed });
        }
        systems.iter().try_for_each(|system| agree(&holding.name, part, system))
    }
}

/// Names are in the same containers; what the tenant does not name, it leaves at zero.
fn agree(tenant: &str, part: &RmtPart, system: &RmtPart) -> Result<(), RmtError> {
    let refuse = |found: String, allowed: String| Err(RmtError::Shared { tenant: tenant.to_owned(), found, allowed });
    for (name, &own) in &part.shared {
        let theirs = system.shared.get(name);
        if theirs != Some(&own) {
            let there = theirs.map_or("does not have it".to_owned(), |&c| format!("has it in {}", container(c)));
            return refuse(
                format!("`{name}` is exchanged in {}", container(own)),
                format!("the system program {there}"),
            );
        }
    }
    for (name, &c) in system.shared.iter().filter(|(name, _)| !part.shared.contains_key(*name)) {
        if fills(part, c.into()) {
            let found = format!("the program fills {}", container(c));
            return refuse(found, format!("the system program takes it as `{name}`: say so, or leave it at zero"));
        }
    }
    Ok(())
}

/// Whether a path, an ALU or a state access writes the container.
fn fills(part: &RmtPart, container: usize) -> bool {
    let result = container.checked_sub(8).filter(|n| *n < 8).map(|n| 8 | n as u8);
    let by_action = |stage: &RmtStage| {
        stage.actions.iter().any(|a| {
            let state = a.state.kind != StateKind::None.code()
                && [a.state.old_to, a.state.new_to].iter().any(|to| Some(*to) == result);
            a.alus.get(container).is_some_and(|alu| alu.op != AluOp::None.code()) || state
        })
    };
    part.paths.iter().any(|p| p.extract.get(container).is_some_and(|e| e.taken)) || part.stages.values().any(by_action)
}

/// `c4[3]`
fn container(number: u8) -> String {
    debug_assert!(usize::from(number) < CONTAINERS);
    format!("c{}[{}]", 2 * (number / 8 + 1), number % 8)
}
