//! Leaves of the programs of programs/xdp: all are right, and what is planted in them is found.

use super::*;
use crate::compile::peeled_leaf;
use crate::warp::extract::{Extract, Part};
use crate::warp::path::path;
use crate::warp::peel;
use crate::warp::tree::{Node as Branch, Tree};
use crate::warp::walk::End;
use sluice_ebpf::load;
use std::path::{Path, PathBuf};

/// A leaf's code before and behind, with its entry.
struct Peeled {
    what: String,
    image: Image,
    before: Code,
    after: Code,
}

impl Peeled {
    fn check(&self) -> Result<(), String> {
        check(&self.before, &self.after, &self.after.entry, &self.image)
    }

    /// With another first trace behind `peel`; whether that is found.
    fn finds(&self, change: impl FnOnce(&mut Vec<Step>)) -> bool {
        let mut after = self.after.clone();
        change(&mut after.traces.get_mut(&0).expect("the first trace").steps);
        check(&self.before, &after, &after.entry, &self.image).is_err()
    }

    /// With another entry.
    fn finds_entry(&self, entry: &Entry) -> bool {
        check(&self.before, &self.after, entry, &self.image).is_err()
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

/// All leaves of these programs that resume.
fn leaves(names: &[&str]) -> Vec<Peeled> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let object = |name: &&str| -> PathBuf { root.join(name).join(format!("{name}.o")) };
    let mut found = Vec::new();
    for file in names.iter().map(object) {
        let image = image(&file);
        for program in &image.programs {
            let tree = Tree::of(&image, program);
            for (at, _) in tree.leaves() {
                let (Branch::Leaf(End::Cut { slot, .. }), state) = &tree.nodes[at] else { continue };
                let Some(path) = path(program, state, *slot).filter(|_| !state.path.is_empty()) else { continue };
                let (before, after) = peeled_leaf(&image, &path, (&Entry::default(), peel::STEPS));
                let what = format!("{} leaf {at}", program.name);
                found.push(Peeled { what, image: image.clone(), before, after });
            }
        }
    }
    assert!(!found.is_empty());
    found
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
    let all = leaves(&names);
    let wrong: Vec<String> =
        all.iter().filter_map(|leaf| Some(format!("{}: {}", leaf.what, leaf.check().err()?))).collect();
    println!("{} leaves, {} with a lookup", all.len(), all.iter().filter(|leaf| leaf.after.entry.lookup.is_some()).count());
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), all.len());
}

/// Programs whose leaves have all that is planted.
const PLANTED: [&str; 6] = ["mac_gate", "nat_basic", "balancer", "iptunnel", "swap", "flow_filter"];

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

/// Each number of an entry with one field that is another, where that makes another number.
fn others_of(extract: &Extract) -> Vec<(String, Extract)> {
    let mut all = vec![("constant".to_owned(), Extract { constant: extract.constant ^ 1 << 3, ..extract.clone() })];
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

#[test]
fn another_number_in_an_entry_is_found() {
    let mut planted = Planted::default();
    for leaf in leaves(&PLANTED) {
        let entry = &leaf.after.entry;
        for (at, (r, extract)) in entry.registers.iter().enumerate() {
            for (name, other) in others_of(extract) {
                let mut changed = entry.clone();
                changed.registers[at].1 = other;
                planted.note(&leaf, &format!("{name} of r{r}, {extract:?}"), leaf.finds_entry(&changed));
            }
            let mut changed = entry.clone();
            changed.registers[at].0 = (0..CORE as u8).rev().find(|r| entry.registers.iter().all(|(s, _)| s != r)).expect("one");
            planted.note(&leaf, &format!("r{r} is another"), leaf.finds_entry(&changed));
            changed.registers.remove(at);
            planted.note(&leaf, &format!("r{r} is not set"), leaf.finds_entry(&changed));
        }
        for (at, (offset, extract)) in entry.stack.iter().enumerate() {
            for (name, other) in others_of(extract) {
                let mut changed = entry.clone();
                changed.stack[at].1 = other;
                planted.note(&leaf, &format!("{name} of the word at {offset}"), leaf.finds_entry(&changed));
            }
            let mut changed = entry.clone();
            changed.stack[at].0 -= 8;
            planted.note(&leaf, &format!("the word at {offset} lies elsewhere"), leaf.finds_entry(&changed));
        }
        let Some(lookup) = &entry.lookup else { continue };
        let mut with = |what: &str, lookup: Option<Lookup>| {
            let changed = Entry { lookup, ..entry.clone() };
            planted.note(&leaf, what, leaf.finds_entry(&changed));
        };
        for (at, extract) in lookup.key.iter().enumerate() {
            for (name, other) in others_of(extract) {
                let mut changed = lookup.clone();
                changed.key[at] = other;
                with(&format!("{name} of word {at} of the key"), Some(changed));
            }
        }
        with("another map", Some(Lookup { map: lookup.map + 1, ..lookup.clone() }));
        with("a shorter key", Some(Lookup { bytes: lookup.bytes - 1, ..lookup.clone() }));
        with("a word less", Some(Lookup { key: lookup.key[1..].to_vec(), ..lookup.clone() }));
        with("no lookup", None);
    }
    planted.end(1000);
}

#[test]
fn a_missing_or_another_instruction_is_found() {
    let mut planted = Planted::default();
    for leaf in leaves(&PLANTED) {
        for (at, step) in leaf.steps().iter().enumerate() {
            let found = leaf.finds(|steps| {
                steps.remove(at);
            });
            planted.note(&leaf, &format!("without {step:?}"), found);
            let (_, reads) = shape(step.op);
            for (which, register) in reads.iter().enumerate() {
                let count = std::cell::Cell::new(0);
                let read = |r: u8| {
                    count.set(count.get() + 1);
                    if count.get() - 1 == which { (register + 1) % 10 } else { r }
                };
                let op = step.op.renamed(&read, &|r| r);
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
