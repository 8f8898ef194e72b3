//! What an rmt part may be: every value fits its field, every position is there, nothing is said that only the
//! linker knows. What the rows mean, `sluice-rmt` checks when it reads a program back from them.

use super::binary::{read_rmt, write_rmt};
use super::part::{RmtKey, RmtPart, RmtStage};
use crate::action::Action;
use crate::bytes::{Reader, Writer};
use crate::error::{ObjectError, bad};
use crate::key::KeySpec;
use crate::object::{Object, TargetNeed, check_name};
use crate::part::Part;
use crate::rows::{at_most, below, packs};
use sluice_formats::EngineId;
use sluice_formats::rmt::rows::{ActionRow, ExactRow, KeyRow, SelectRow, TernaryRow};
use sluice_formats::rmt::target::{CONTAINERS, MODULE_PAGES, NODES, NUMBERS, PATHS, PATTERNS, Target};
use std::collections::HashSet;
use std::fmt;

impl Part for RmtPart {
    const ENGINE: EngineId = EngineId::RMT;
    const SECTION: u32 = 9;

    /// A program of the pipeline is for one target, and stands in the table's place.
    fn check_in(&self, object: &Object) -> Result<(), ObjectError> {
        if object.key != KeySpec::NONE || object.default != Action::DROP || object.demands.entries != 0 {
            let (kind, entries) = (object.key.kind.name(), object.demands.entries);
            let found = format!("key {kind}, default {}, {entries} entries", object.default);
            let allowed = "key none, default drop and 0 entries, for the part stands in the table's place";
            return Err(bad("rmt", found, allowed));
        }
        let hash = if let TargetNeed::Exact { hash, .. } = &object.target { *hash } else { 0 };
        let target = Target::every().find(|t| t.hash() == hash).ok_or_else(|| {
            let all: Vec<String> = Target::every().map(|t| format!("{} ({:08x})", t.name, t.hash())).collect();
            bad("target.hash", format!("{hash:08x}"), format!("a target of the rmt pipeline: {}", all.join(", ")))
        })?;
        self.check(target)
    }

    fn write(&self, w: &mut Writer) {
        write_rmt(w, self);
    }

    fn read(r: &mut Reader) -> Result<Self, ObjectError> {
        read_rmt(r)
    }

    fn show(&self, out: &mut String) -> fmt::Result {
        super::show::render(self, out)
    }
}

impl RmtPart {
    /// Refuses what no rmt part for the target may be. Everything that is decoded or linked has passed it.
    pub fn check(&self, target: &Target) -> Result<(), ObjectError> {
        self.check_ends(target)?;
        for (&number, stage) in &self.stages {
            let at = format!("rmt.stages.{number}");
            if usize::from(number) >= target.stages {
                return Err(bad(at, number, format!("stages below {}", target.stages)));
            }
            stage.check(&at, target)?;
        }
        for (&number, group) in &self.groups {
            let at = format!("rmt.groups.{number}");
            if number == 0 || usize::from(number) >= target.groups {
                return Err(bad(at, number, format!("groups 1 to {}", target.groups - 1)));
            }
            packs(&at, &group.row(0))?;
        }
        let mut seen = HashSet::new();
        for (name, &container) in &self.shared {
            check_name("rmt.shared", name)?;
            if usize::from(container) >= CONTAINERS || !seen.insert(container) {
                let allowed = "containers 0 to 23, each once";
                return Err(bad(format!("rmt.shared.{name}"), format!("container {container}"), allowed));
            }
        }
        self.logical.as_ref().map_or(Ok(()), |logical| logical.check(self))
    }

    fn check_ends(&self, target: &Target) -> Result<(), ObjectError> {
        at_most("rmt.nodes", self.nodes.len(), NODES)?;
        at_most("rmt.paths", self.paths.len(), PATHS)?;
        at_most("rmt.deparse", self.deparse.len(), PATTERNS)?;
        select("rmt.first", &self.first, self.nodes.len())?;
        for (i, node) in self.nodes.iter().enumerate() {
            select(&format!("rmt.nodes[{i}]"), node, self.paths.len())?;
        }
        for (i, path) in self.paths.iter().enumerate() {
            packs(&format!("rmt.paths[{i}]"), path)?;
        }
        packs("rmt.patterns", &self.patterns)?;
        for (i, pattern) in self.patterns.patterns.iter().enumerate().filter(|(_, p)| p.valid) {
            below(&format!("rmt.patterns[{i}].row"), pattern.row.into(), self.deparse.len())?;
        }
        for (i, beats) in self.deparse.iter().enumerate() {
            let at = format!("rmt.deparse[{i}]");
            if beats.len() != target.window_beats() {
                return Err(bad(at, format!("{} beats", beats.len()), format!("{}", target.window_beats())));
            }
            beats.iter().try_for_each(|beat| packs(&at, beat))?;
        }
        Ok(())
    }
}

impl RmtStage {
    fn check(&self, at: &str, target: &Target) -> Result<(), ObjectError> {
        at_most(&format!("{at}.actions"), self.actions.len(), target.actions)?;
        at_most(&format!("{at}.pages"), self.pages.into(), target.pages().min(MODULE_PAGES))?;
        at_most(&format!("{at}.numbers"), self.numbers.into(), NUMBERS)?;
        for (name, room, entries, most) in [
            ("exact_room", self.exact_room, self.exact.len(), target.exact),
            ("ternary_room", self.ternary_room, self.ternary.len(), target.ternary),
        ] {
            if usize::from(room) < entries || usize::from(room) > most {
                let allowed = format!("{entries} (the entries there are) to {most}");
                return Err(bad(format!("{at}.{name}"), room, allowed));
            }
        }
        let key = &self.key;
        packs(&format!("{at}.key"), key)?;
        let placed = KeyRow { set_base: 0, set_bits: 0, hits_base: 0, ..key.clone() };
        virtual_only(&format!("{at}.key"), *key == placed)?;
        if key.default_valid {
            self.leads(&format!("{at}.key.default"), key.default_action, key.default_number)?;
        }
        let mut keys = HashSet::new();
        for (i, entry) in self.exact.iter().enumerate() {
            let (at, row) = (format!("{at}.exact[{i}]"), &entry.row);
            packs(&at, row)?;
            virtual_only(&at, *row == ExactRow { generations: 0, module_id: 0, ..row.clone() })?;
            within(&at, &row.key, &key.mask, "the key mask")?;
            if !keys.insert(row.key) {
                return Err(bad(at, "a key that stands before", "each key once"));
            }
            self.leads(&at, row.action, row.number)?;
        }
        for (i, entry) in self.ternary.iter().enumerate() {
            let (at, row) = (format!("{at}.ternary[{i}]"), &entry.row);
            packs(&at, row)?;
            virtual_only(&at, *row == TernaryRow { generations: 0, module_id: 0, ..row.clone() })?;
            within(&at, &row.mask, &key.mask, "the key mask")?;
            within(&at, &row.value, &row.mask, "its mask")?;
            self.leads(&at, row.action, row.number)?;
        }
        let falling = self.ternary.windows(2).all(|w| ones(&w[0].row.mask) >= ones(&w[1].row.mask));
        if self.longest && !falling {
            return Err(bad(format!("{at}.ternary"), "a longer mask behind a shorter one", "longest first"));
        }
        for (i, action) in self.actions.iter().enumerate() {
            let at = format!("{at}.actions[{i}]");
            packs(&at, action)?;
            virtual_only(&at, *action == ActionRow { owner: 0, ..action.clone() })?;
        }
        Ok(())
    }

    /// An action and a number that are there.
    fn leads(&self, at: &str, action: u16, number: u16) -> Result<(), ObjectError> {
        below(&format!("{at}.action"), action.into(), self.actions.len())?;
        below(&format!("{at}.number"), number.into(), self.numbers.into())
    }
}

/// Number of bits set.
pub(crate) fn ones(key: &RmtKey) -> u32 {
    key.0.iter().map(|b| b.count_ones()).sum()
}

/// Whether the value has no bits outside the mask.
pub(crate) fn inside(value: &RmtKey, mask: &RmtKey) -> bool {
    value.0.iter().zip(&mask.0).all(|(v, m)| v & !m == 0)
}

fn within(at: &str, value: &RmtKey, mask: &RmtKey, what: &str) -> Result<(), ObjectError> {
    match inside(value, mask) {
        true => Ok(()),
        false => Err(bad(at, format!("bits outside {what}"), format!("bits within {what}"))),
    }
}

fn select(at: &str, row: &SelectRow, leads_to: usize) -> Result<(), ObjectError> {
    packs(at, row)?;
    if !row.valid {
        return Err(bad(format!("{at}.valid"), false, "true"));
    }
    for (i, a) in row.alternatives.iter().enumerate().filter(|(_, a)| a.valid) {
        below(&format!("{at}.alternatives[{i}].to"), a.to.into(), leads_to)?;
    }
    Ok(())
}

fn virtual_only(at: &str, good: bool) -> Result<(), ObjectError> {
    let allowed = "0 in what the linker fills in: module, generations, owner, set_base, set_bits, hits_base";
    if good { Ok(()) } else { Err(bad(at, "a place", allowed)) }
}
