//! Leaves of the programs of programs/xdp: all are right, and what is planted in them is found.

use super::*;
use crate::compile::{compile_leaf, peeled_leaf};
use crate::warp::extract::{Extract, Part};
use crate::warp::path::{Path as Leaf, path};
use crate::warp::peel;
use crate::warp::tree::{Node as Branch, Tree};
use crate::warp::walk::{End, State};
use crate::{Compiled, Stored, Target};
use sluice_ebpf::load;
use std::path::{Path, PathBuf};

/// A leaf's code before and behind, with its entry.
pub struct Peeled {
    what: String,
    /// The object.
    pub image: Image,
    /// The path that it begins with.
    pub path: Leaf,
    given: Entry,
    before: Code,
    after: Code,
    renamed: Code,
    entry: Entry,
}

/// Cores in hardware.
pub fn target() -> Target {
    Target::new(2).expect("two lanes")
}

impl Peeled {
    /// Its rows.
    pub fn compiled(&self) -> Compiled {
        compile_leaf(&self.image, &self.path, &target(), (&self.given, peel::STEPS)).expect("it compiles").compiled
    }

    fn check(&self) -> Result<(), String> {
        check(&self.before, &self.after, (&self.entry, self.path.answer), &self.image)
    }

    /// In registers of a core, too.
    fn whole(&self) -> Result<(), String> {
        self.check()?;
        first(&self.before, &self.renamed, (&self.entry, self.path.answer), &self.image)
    }

    /// With another first trace behind `peel`; whether that is found.
    fn finds(&mut self, change: impl FnOnce(&mut Vec<Step>)) -> bool {
        let kept = self.steps().to_vec();
        change(self.trace());
        let found = self.check().is_err();
        *self.trace() = kept;
        found
    }

    fn trace(&mut self) -> &mut Vec<Step> {
        &mut self.after.traces.get_mut(&0).expect("the first trace").steps
    }

    /// With another entry.
    fn finds_entry(&self, entry: &Entry) -> bool {
        check(&self.before, &self.after, (entry, self.path.answer), &self.image).is_err()
    }

    /// What registers hold before each step of the first trace, and at its end.
    fn names(&self, terms: &mut Terms) -> Vec<[Term; NAMES]> {
        let mut side = Side::new(&self.after, terms);
        side.begins_with(&self.entry, terms).expect("it fits");
        let mut number = u32::from(self.entry.lookup.is_some());
        if let Some(lookup) = &self.entry.lookup {
            side.names[0] = terms.node(Node::Given(ANSWER, 0));
            side.answered(lookup, self.path.answer, &self.image, terms).expect("a leaf's lookup");
        }
        let mut all = vec![side.names];
        for step in self.steps() {
            if !side.passes(step, terms) {
                side.pass(step, number, terms);
                number += 1;
            }
            all.push(side.names);
        }
        all
    }

    fn steps(&self) -> &[Step] {
        &self.after.traces[&0].steps
    }
}

fn image(path: &Path) -> Image {
    let bytes = std::fs::read(path).expect("an object of programs/xdp");
    let mut image = load::load(&bytes).expect("an object");
    image.maps.iter_mut().filter(|map| map.max_entries == 0).for_each(|map| map.max_entries = 64);
    image
}

/// A leaf that resumes: its code, or its codes for what a lookup finds, which begin with the same entry.
pub type Codes = Vec<Peeled>;

/// All of them of these programs.
pub fn groups(names: &[&str]) -> Vec<Codes> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let object = |name: &&str| -> PathBuf { root.join(name).join(format!("{name}.o")) };
    let mut all = Vec::new();
    for file in names.iter().map(object) {
        let image = image(&file);
        for program in &image.programs {
            let tree = Tree::of(&image, program, &Stored::default());
            for (at, _) in tree.leaves() {
                let (Branch::Leaf(End::Cut { slot, .. }), state) = &tree.nodes[at] else { continue };
                let of = |state: &State, slot: u32, answer: Answer, given: &Entry| {
                    let path = path(program, state, slot).filter(|_| !state.path.is_empty())?;
                    let path = Leaf { answer, ..path };
                    let [before, after, renamed] = peeled_leaf(&image, &path, (given, peel::STEPS));
                    let (what, entry) = (format!("{} leaf {at}", program.name), after.entry.clone());
                    Some(Peeled {
                        what,
                        image: image.clone(),
                        path,
                        given: given.clone(),
                        before,
                        after,
                        renamed,
                        entry,
                    })
                };
                all.extend(of(state, *slot, Answer::Either, &Entry::default()).map(|leaf| vec![leaf]));
                let on = |found| state.answered(&image, program, found);
                let Some((some, none)) = on(true).zip(on(false)) else { continue };
                let Some(some) = of(&some, some.slot, Answer::Found, &Entry::default()) else { continue };
                let Some(none) = of(&none, none.slot, Answer::Missed, &some.entry) else { continue };
                let entry = none.entry.clone();
                all.push(vec![Peeled { entry, ..some }, none]);
            }
        }
    }
    assert!(!all.is_empty());
    all
}

/// Those that have one code.
fn leaves(names: &[&str]) -> Vec<Peeled> {
    groups(names).into_iter().filter(|codes| codes.len() == 1).flatten().collect()
}

#[test]
fn leaves_of_all_programs_are_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let mut names: Vec<String> = std::fs::read_dir(root)
        .expect("programs")
        .map(|entry| entry.expect("a folder"))
        .filter(|entry| entry.path().is_dir() && entry.file_name() != "include")
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let groups = groups(&names);
    let all: Vec<&Peeled> = groups.iter().flatten().collect();
    let wrong: Vec<String> =
        all.iter().filter_map(|leaf| Some(format!("{}: {}", leaf.what, leaf.whole().err()?))).collect();
    let with_lookup = all.iter().filter(|leaf| leaf.entry.lookup.is_some()).count();
    println!("{} leaves, {} codes, {with_lookup} of them with a lookup", groups.len(), all.len());
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), all.len());
}

/// Programs whose leaves have all that is planted.
const PLANTED: [&str; 4] = ["mac_gate", "nat_basic", "flow_filter", "iptunnel"];

/// What is planted and not found.
#[derive(Default)]
struct Planted {
    all: usize,
    lost: Vec<String>,
}

impl Planted {
    fn note(&mut self, leaf: &Peeled, what: &str, found: bool) {
        self.all += 1;
        if !found {
            self.lost.push(format!("{}: {what}", leaf.what));
        }
    }

    fn end(self, least: usize) {
        println!("{} faults", self.all);
        assert!(self.lost.is_empty(), "{} of {} are not found: {:#?}", self.lost.len(), self.all, self.lost);
        assert!(self.all >= least, "{} faults only", self.all);
    }
}

/// A bit of each byte: not all bytes of a word need be read.
const EACH_BYTE: u64 = 0x0808_0808_0808_0808;

/// Each number of an entry with one field that is another, where that makes another number.
fn others_of(extract: &Extract) -> Vec<(String, Extract)> {
    let mut all = vec![("constant".to_owned(), Extract { constant: extract.constant ^ EACH_BYTE, ..extract.clone() })];
    for (at, part) in extract.parts.iter().enumerate() {
        let fields = [
            ("offset", Part { offset: part.offset + 1, ..*part }),
            ("bytes", Part { bytes: part.bytes % 8 + 1, ..*part }),
            ("bytes less", Part { bytes: part.bytes.max(2) - 1, ..*part }),
            ("swap", Part { swap: !part.swap, ..*part }),
            ("down", Part { down: (part.down + 1) % 8, ..*part }),
            ("width", Part { width: part.width.max(2) - 1, ..*part }),
            ("up", Part { up: (part.up + 1) % 64, ..*part }),
        ];
        for (name, other) in fields {
            let mut changed = extract.clone();
            changed.parts[at] = other;
            all.push((format!("{name} of part {at}"), changed));
        }
    }
    all.retain(|(_, other)| Term::extracted(other) != Term::extracted(extract));
    all
}

/// Registers of an entry.
type Registered = Vec<(u8, Extract)>;

/// Each entry with one thing that is another.
fn entries(entry: &Entry) -> Vec<(String, Entry)> {
    let mut all = Vec::new();
    for (at, (r, extract)) in entry.registers.iter().enumerate() {
        let mut with = |what: &str, change: &dyn Fn(&mut Registered)| {
            let mut changed = entry.clone();
            change(&mut changed.registers);
            all.push((format!("r{r} {what}"), changed));
        };
        others_of(extract).into_iter().for_each(|(name, other)| with(&name, &|all| all[at].1 = other.clone()));
        let free = |r: &u8| entry.registers.iter().all(|(set, _)| set != r);
        let other = (0..CORE as u8).rev().find(free).expect("one is free");
        with("is another", &|all| all[at].0 = other);
        with("is not set", &|all| {
            all.remove(at);
        });
    }
    for (at, (offset, extract)) in entry.stack.iter().enumerate() {
        let mut with = |what: &str, change: &dyn Fn(&mut (i16, Extract))| {
            let mut changed = entry.clone();
            change(&mut changed.stack[at]);
            all.push((format!("word {offset} {what}"), changed));
        };
        others_of(extract).into_iter().for_each(|(name, other)| with(&name, &|word| word.1 = other.clone()));
        with("lies elsewhere", &|word| word.0 -= 8);
    }
    let Some(lookup) = &entry.lookup else { return all };
    let mut with = |what: String, lookup: Option<Lookup>| all.push((what, Entry { lookup, ..entry.clone() }));
    for (at, extract) in lookup.key.iter().enumerate() {
        for (name, other) in others_of(extract) {
            let mut changed = lookup.clone();
            changed.key[at] = other;
            with(format!("{name} of word {at} of the key"), Some(changed));
        }
    }
    with("another map".to_owned(), Some(Lookup { map: lookup.map + 1, ..lookup.clone() }));
    with("a shorter key".to_owned(), Some(Lookup { bytes: lookup.bytes - 1, ..lookup.clone() }));
    with("a word less".to_owned(), Some(Lookup { key: lookup.key[1..].to_vec(), ..lookup.clone() }));
    with("no lookup".to_owned(), None);
    all
}

#[test]
fn another_number_in_an_entry_is_found() {
    let mut planted = Planted::default();
    for codes in groups(&PLANTED) {
        let reads: Vec<Reads<'_>> = codes.iter().map(|leaf| Reads::of(&leaf.after)).collect();
        let is_read = |offset: &i16| {
            let word = Set::of((*offset).into(), 8).expect("a word of the stack");
            reads.iter().any(|reads| reads.at(0).without(word) != reads.at(0))
        };
        // A word whose loads have become registers is set for nobody.
        let kept: Vec<i16> = codes[0].entry.stack.iter().map(|(offset, _)| *offset).filter(is_read).collect();
        for (what, entry) in entries(&codes[0].entry) {
            let same = |(a, b): (&(i16, Extract), &(i16, Extract))| a == b || !kept.contains(&b.0);
            let is_other = (&entry.registers, &entry.lookup) != (&codes[0].entry.registers, &codes[0].entry.lookup);
            if !is_other && entry.stack.iter().zip(&codes[0].entry.stack).all(same) {
                continue;
            }
            // Of two codes one may not need it.
            planted.note(&codes[0], &what, codes.iter().any(|leaf| leaf.finds_entry(&entry)));
        }
    }
    planted.end(1000);
}

#[test]
fn a_missing_or_another_instruction_is_found() {
    let mut planted = Planted::default();
    for mut leaf in leaves(&PLANTED) {
        let mut terms = Terms::default();
        let names = leaf.names(&mut terms);
        for (at, step) in leaf.steps().to_vec().iter().enumerate() {
            let held = names[at];
            // A move to a register that holds the same is none.
            if names[at + 1] != held || !step.op.is_pure() {
                let found = leaf.finds(|steps| {
                    steps.remove(at);
                });
                planted.note(&leaf, &format!("without {step:?}"), found);
            }
            let (_, reads) = shape(step.op);
            for (which, register) in reads.iter().enumerate() {
                let count = std::cell::Cell::new(0);
                let read = |r: u8| {
                    count.set(count.get() + 1);
                    if count.get() - 1 == which { (register + 1) % 10 } else { r }
                };
                let op = step.op.renamed(&read, &|r| r);
                let holds = |r: u8| held[usize::from(r)];
                // Two registers may hold one number, and numbers may have these bits in common.
                let same = match op.is_pure() {
                    true => terms.pure(op, holds) == terms.pure(step.op, holds),
                    false => holds(*register) == holds((register + 1) % 10),
                };
                if same {
                    continue;
                }
                let found = leaf.finds(|steps| steps[at].op = op);
                planted.note(&leaf, &format!("{op:?} for {step:?}"), found);
            }
            if let Op::Store { bytes, base, off, src } = step.op {
                let op = Op::Store { bytes, base, off: off + 1, src };
                let found = leaf.finds(|steps| steps[at].op = op);
                planted.note(&leaf, &format!("{op:?} for {step:?}"), found);
            }
            let mut op = step.op;
            if let Some(to) = op.target_mut() {
                *to += 1;
                let found = leaf.finds(|steps| steps[at].op = op);
                planted.note(&leaf, &format!("{op:?} for {step:?}"), found);
            }
        }
    }
    planted.end(1000);
}

#[test]
fn a_value_in_another_register_of_a_core_is_found() {
    let mut planted = Planted::default();
    for mut leaf in groups(&PLANTED).into_iter().flatten() {
        for at in 0..leaf.renamed.traces[&0].steps.len() {
            let step = leaf.renamed.traces[&0].steps[at];
            for more in [1, 5] {
                let op = step.op.renamed(&|r| r, &|r| (r + more) % CORE as u8);
                if op == step.op {
                    continue;
                }
                let trace = |leaf: &mut Peeled, op: Op| leaf.renamed.traces.get_mut(&0).expect("it").steps[at].op = op;
                trace(&mut leaf, op);
                let found = first(&leaf.before, &leaf.renamed, (&leaf.entry, leaf.path.answer), &leaf.image).is_err();
                trace(&mut leaf, step.op);
                // What gives a register what it holds is none, wherever it leads.
                let is_idle = || {
                    let mut code = leaf.renamed.clone();
                    code.traces.get_mut(&0).expect("it").steps.remove(at);
                    first(&leaf.before, &code, (&leaf.entry, leaf.path.answer), &leaf.image).is_ok()
                };
                let is_pure = step.op.is_pure() || matches!(step.op, Op::Load { quiet: true, .. });
                if !found && is_pure && is_idle() {
                    continue;
                }
                planted.note(&leaf, &format!("{op:?} for {step:?}"), found);
            }
        }
    }
    planted.end(500);
}

#[test]
fn two_instructions_in_another_order_are_found() {
    let mut planted = Planted::default();
    for mut leaf in leaves(&PLANTED) {
        let regions = leaf.after.regions.clone();
        let ordered = |step: &Step| {
            let effect = Effect::of(step, &regions);
            effect.may_fault || effect.stores & !STACK != 0 || step.op.branch().is_some()
        };
        for (at, pair) in leaf.steps().to_vec().windows(2).enumerate() {
            if pair.iter().all(ordered) && pair[0] != pair[1] {
                let found = leaf.finds(|steps| steps.swap(at, at + 1));
                planted.note(&leaf, &format!("{pair:?}"), found);
            }
        }
    }
    planted.end(20);
}

#[test]
fn a_change_of_another_trace_is_found() {
    let mut planted = Planted::default();
    for leaf in leaves(&PLANTED[..2]) {
        for label in leaf.after.traces.keys().filter(|label| **label != 0) {
            let with = |change: &dyn Fn(&mut crate::pass::Trace)| {
                let mut after = leaf.after.clone();
                change(after.traces.get_mut(label).expect("it is there"));
                check(&leaf.before, &after, (&leaf.entry, leaf.path.answer), &leaf.image).is_err()
            };
            let removed = with(&|trace| {
                trace.steps.pop();
            });
            planted.note(&leaf, &format!("trace {label} is shorter"), removed);
            let elsewhere = with(&|trace| trace.next = Some(trace.next.map_or(1, |next| next + 1)));
            planted.note(&leaf, &format!("trace {label} goes on elsewhere"), elsewhere);
            planted.note(&leaf, &format!("trace {label} leads back"), with(&|trace| trace.next = Some(0)));
        }
    }
    planted.end(50);
}

/// As where a leaf has two codes, and one of them begins with a word that the other one takes to be zero.
#[test]
fn a_word_of_the_stack_that_is_taken_to_be_zero_is_found() {
    let (mut found, mut all) = (0, 0);
    for leaf in leaves(&["iptunnel", "flow_filter", "nat_basic"]) {
        for offset in (-peel::STACK_SET..0).step_by(8) {
            let entry = &leaf.entry;
            if entry.stack.iter().all(|(set, _)| *set != offset) {
                let mut changed = entry.clone();
                changed.stack.push((offset, Extract { parts: Vec::new(), constant: u64::MAX }));
                found += usize::from(leaf.finds_entry(&changed));
                all += 1;
            }
        }
    }
    // Most words nobody reads.
    println!("{found} of {all}");
    assert!(found > 0);
}

/// Two that know nothing of each other agree: no store is left that nobody reads.
#[test]
fn stores_that_are_left_are_read() {
    let mut stored = 0;
    for leaf in groups(&PLANTED).iter().flatten() {
        let mut code = leaf.before.clone();
        stores::stores(&mut code);
        let reads = Reads::of(&code);
        for trace in code.traces.values() {
            let mut read = trace.next.map_or(Set::NONE, |next| reads.at(next));
            for step in trace.steps.iter().rev() {
                if let Op::Store { bytes, base: 10, off, .. } = step.op {
                    let written = Set::of(off.into(), bytes.into()).expect("in the stack");
                    assert_ne!(read.without(written), read, "{}: {step:?}", leaf.what);
                    stored += 1;
                }
                read = reads.before(step, read);
            }
        }
    }
    assert!(stored > 100, "{stored}");
}
