//! What the packets executed of a program, and what they did not, by source line.

use sluice_ebpf::{Program, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Reasons for what packets do not reach, from the file `NAME.uncovered` beside a program.
///
/// Each line is `source TEXT OF THE LINE => REASON` or `verdict NAME => REASON`; the text is `(none)`
/// for instructions that the compiler gives no line.
pub struct Reasons {
    sources: BTreeMap<String, String>,
    verdicts: BTreeMap<String, String>,
}

impl Reasons {
    /// Reads the file's text; `name` is for messages.
    pub fn parse(name: &str, text: &str) -> Self {
        let (mut sources, mut verdicts) = (BTreeMap::new(), BTreeMap::new());
        for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
            let (what, reason) = line.split_once(" => ").unwrap_or_else(|| panic!("{name}.uncovered: `{line}`"));
            match what.split_once(' ') {
                Some(("source", source)) => sources.insert(source.trim().to_string(), reason.to_string()),
                Some(("verdict", verdict)) => verdicts.insert(verdict.trim().to_string(), reason.to_string()),
                _ => panic!("{name}.uncovered: `{line}` names neither source nor verdict"),
            };
        }
        Self { sources, verdicts }
    }

    /// Why a verdict does not occur.
    pub fn verdict(&self, verdict: Verdict) -> Option<&str> {
        self.verdicts.get(verdict.name()).map(String::as_str)
    }

    /// Entries that none of these programs has any more.
    pub fn stale(&self, programs: &[Program]) -> Vec<&str> {
        let known: BTreeSet<&str> = programs.iter().flat_map(|p| p.lines.values()).map(|l| l.text.trim()).collect();
        self.sources.keys().map(String::as_str).filter(|s| *s != "(none)" && !known.contains(s)).collect()
    }
}

/// Instructions of one source line that were not executed.
pub struct Rest {
    /// File and line.
    pub place: String,
    /// The line's text.
    pub text: String,
    /// Their slots.
    pub slots: Vec<usize>,
    /// Why, if it is known.
    pub reason: Option<String>,
}

/// Coverage of one program.
pub struct Coverage {
    /// Instructions; a wide load is one.
    pub all: usize,
    /// Of them executed.
    pub executed: usize,
    /// The rest, by source line.
    pub rest: Vec<Rest>,
}

/// Coverage of a program by how often each slot ran.
pub fn coverage(program: &Program, hits: &[u64], reasons: &Reasons) -> Coverage {
    let mut out = Coverage { all: 0, executed: 0, rest: Vec::new() };
    let mut rest: BTreeMap<(String, u32, String), Vec<usize>> = BTreeMap::new();
    let mut next = 0;
    for (slot, insn) in program.insns.iter().enumerate() {
        if slot < next {
            continue;
        }
        next = slot + if insn.is_wide() { 2 } else { 1 };
        out.all += 1;
        if hits[slot] > 0 {
            out.executed += 1;
            continue;
        }
        let line = program.lines.range(..=slot as u32).next_back().map(|l| l.1);
        let key = line.map_or((String::new(), 0, String::new()), |l| {
            let file = l.file.rsplit('/').next().unwrap_or_default();
            let text = if l.line == 0 { "(none)" } else { l.text.trim() };
            (file.to_string(), l.line, text.to_string())
        });
        rest.entry(key).or_default().push(slot);
    }
    for ((file, line, text), slots) in rest {
        let reason = reasons.sources.get(&text).cloned();
        out.rest.push(Rest { place: format!("{file}:{line}"), text, slots, reason });
    }
    out
}

impl Coverage {
    /// Executed instructions in percent.
    pub fn percent(&self) -> f64 {
        100.0 * self.executed as f64 / self.all.max(1) as f64
    }
}
