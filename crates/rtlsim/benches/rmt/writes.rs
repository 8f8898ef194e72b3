//! Time to write a row of each table, entries one after the other, and whole modules.

use super::{CYCLES_A_MICROSECOND, alone, timed};
use crate::pipeline::Pipeline;
use sluice_device::Device;
use sluice_formats::address::Access;
use sluice_formats::rmt::target::DEFAULT;
use sluice_formats::{Node, Table};
use sluice_frontends::Reading;
use sluice_object::{Load, Object, Step};
use sluice_rtlsim::RtlNic;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

/// Rows that are written behind one another.
const BURST: usize = 32;
/// Entries that are written behind one another.
const ENTRIES: [usize; 5] = [1, 16, 64, 256, 960];

const INTRODUCTION: &str = "\
Default target. A row is one message on the configuration ring: a word of 32 bits a cycle, three words more than the row
has. Cycles count from the first word of the message to the last word of its answer. Idle: no packets. Full: packets of 64
bytes back to back. Behind one another: cycles a row of 32 messages, eight of them under way at a time, under packets; a row is
not sent again before it is answered, so that the one row of `stage_owner` waits each time. Each row is written with what it
held; `zero_page` zeroes the 64 words of a page before it answers.

| table | node | words | idle: cycles | us | full: cycles | us | behind one another: cycles a row |
| --- | --- | --- | --- | --- | --- | --- | --- |
";
const OF_ENTRIES: &str = "
An exact entry is two rows, its key and its data. Entries written behind one another while packets come back to back:

| entries | words of their messages | cycles | us | cycles an entry |
| --- | --- | --- | --- | --- |
";
const OF_MODULES: &str = "
Whole modules of `programs/rmt`, one after the other into one pipeline, without packets. Rows and words of the program; cycles from
the first word, of a read that asks whether the other generation has drained, to the answer of the last row, and to that of the
commit. Letting a module in comes before and writes zeros wherever its packets could look, but for rows of pages: the first
program of a generation that accesses state blanks those of the stage itself, 64 with its own.

| module | rows | words | written: cycles | us | committed: cycles | us | let in: cycles |
| --- | --- | --- | --- | --- | --- | --- | --- |
";
const PUBLISHED: &str = "
Published (Menshen, NSDI 2022): figure 9 has the time over the number of entries written by software through the host's interface, and
the text says of it only that it is like that of a Tofino's run-time interface; the list of entries above is the hardware's part of such a
time, linear in the entries. Appendix A (figure 12) compares its daisy chain with AXI-Lite: an entry of the VLIW table (625 bits) is 20
writes of 32 bits there, one of the CAM (205 bits) 7, each a transaction of its own over PCIe; on the chain each is one packet. Its RTL,
simulated: 7 to 55 cycles an entry, with a host that has to pace its packets, since nothing answers; 88 cycles for CALC's 8 packets, on a chain
as wide as the bus, to 24 rows here. The ring has 32 bits, a node takes the next message when it has answered the one before,
every row is answered, and packets neither wait nor are dropped meanwhile.
";

fn microseconds(cycles: u64) -> f64 {
    cycles as f64 / CYCLES_A_MICROSECOND
}

/// Packets of 64 bytes back to back, for so many cycles.
fn fill(pipeline: &mut Pipeline<RtlNic>, cycles: usize) {
    pipeline.offer((0..cycles).map(|_| (1, vec![0x55; 64], 0)));
    pipeline.nic.advance(200).expect("it runs");
}

/// Until they have ended.
fn settle(pipeline: &mut Pipeline<RtlNic>) {
    pipeline.nic.quiesce().expect("packets end");
    drop(pipeline.take());
}

/// The section's text.
pub fn writes(seed: u64) -> String {
    let (rows, entries) = tables(seed);
    format!("{INTRODUCTION}{rows}{OF_ENTRIES}{entries}{OF_MODULES}{}{PUBLISHED}", modules(seed))
}

fn tables(seed: u64) -> (String, String) {
    let mut pipeline = alone(DEFAULT.name, seed);
    let calc = object(&pipeline, "calc.rmt");
    pipeline.admit(1, &[&calc], 1);
    let load = pipeline.linker.load(1, &calc).expect("there is room");
    pipeline.run(&load);
    let time = |pipeline: &mut Pipeline<RtlNic>, steps| {
        let ticks = timed(&mut pipeline.nic, &load, steps);
        ticks.end - ticks.start
    };
    let mut text = String::new();
    for node in [Node::Stamp, Node::Parser, Node::Stage(1), Node::Deparser] {
        let writable = |t: &Table| t.is_of(node) && t.access() == Access::ReadWrite;
        for table in Table::ALL.into_iter().filter(writable) {
            // The last row of a table is of a module that is not there.
            let index = table.rows(pipeline.target) - 1;
            let words = match table {
                Table::ZeroPage => vec![0; table.words()],
                _ => pipeline.nic.read_row(node, table, index).expect("it can be read"),
            };
            let count = words.len();
            let write = |times: usize| vec![Step::Write { node, table, index, words: words.clone() }; times];
            let idle = time(&mut pipeline, write(1));
            fill(&mut pipeline, 600);
            let full = time(&mut pipeline, write(1));
            settle(&mut pipeline);
            // One row is not written again before it has been answered: rows of the table in turn.
            fill(&mut pipeline, 600 + BURST * (count + 3 + 80));
            let rows = table.rows(pipeline.target).min(BURST as u32);
            let behind = (0..BURST as u32).map(|i| {
                let index = table.rows(pipeline.target) - 1 - i % rows;
                (index, Vec::new())
            });
            let mut behind: Vec<(u32, Vec<u32>)> = behind.collect();
            for (index, words) in &mut behind {
                *words = match table {
                    Table::ZeroPage => vec![0; count],
                    _ => pipeline.nic.read_row(node, table, *index).expect("it can be read"),
                };
            }
            let steps = behind.into_iter().map(|(index, words)| Step::Write { node, table, index, words });
            let burst = time(&mut pipeline, steps.collect()) as f64 / BURST as f64;
            settle(&mut pipeline);
            let (name, place) = (table.name(), format!("{node:?}").to_lowercase());
            let _ = writeln!(
                text,
                "| `{name}` | {place} | {count} | {idle} | {:.3} | {full} | {:.3} | {burst:.1} |",
                microseconds(idle),
                microseconds(full)
            );
        }
    }
    let mut list = String::new();
    for count in ENTRIES {
        let node = Node::Stage(1);
        // Sets of nobody, from the last one down.
        let mut rows = Vec::new();
        for i in 0..count {
            let (set, way) = (DEFAULT.sets() - 1 - i / 4, i % 4);
            let (key, data) = (vec![0; Table::Exact(0).words()], vec![0; Table::Data.words()]);
            rows.push(Step::Write { node, table: Table::Exact(way as u8), index: set as u32, words: key });
            rows.push(Step::Write { node, table: Table::Data, index: (4 * set + way) as u32, words: data });
        }
        // What CALC owns lies at the other end.
        let own = pipeline.nic.read_row(node, Table::Exact(0), 0).expect("it can be read");
        let words: usize = rows.iter().map(|step| words_of(step) + 3).sum();
        fill(&mut pipeline, 600 + 2 * words);
        let cycles = time(&mut pipeline, rows);
        settle(&mut pipeline);
        assert_eq!(own, pipeline.nic.read_row(node, Table::Exact(0), 0).expect("it can be read"));
        let each = cycles as f64 / count as f64;
        let _ = writeln!(list, "| {count} | {words} | {cycles} | {:.3} | {each:.1} |", microseconds(cycles));
    }
    (text, list)
}

/// Words of a row that a step writes.
fn words_of(step: &Step) -> usize {
    if let Step::Write { words, .. } = step { words.len() } else { 0 }
}

fn object(pipeline: &Pipeline<RtlNic>, name: &str) -> Object {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt").join(name);
    sluice_frontends::read(&path, &Reading::new(pipeline.target, name)).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs the writes and the other steps of a load in turn, and says of each group where it ends in the load, and its ticks.
fn in_turn(nic: &mut RtlNic, load: &Load) -> Vec<(usize, Range<u64>)> {
    let is_write = |step: &Step| matches!(step, Step::Write { .. });
    let steps: Vec<&Step> = load.steps.iter().filter(|step| !matches!(step, Step::Barrier)).collect();
    let (mut done, mut groups) = (0, Vec::new());
    for group in steps.chunk_by(|a, b| is_write(a) && is_write(b)) {
        done += group.len();
        groups.push((done, timed(nic, load, group.iter().map(|step| (*step).clone()).collect())));
    }
    groups
}

fn modules(seed: u64) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt");
    let listed = std::fs::read_dir(&folder).expect("programs/rmt is there").filter_map(|entry| entry.ok());
    let mut names: Vec<String> =
        listed.map(|e| e.file_name().to_string_lossy().into_owned()).filter(|n| n.ends_with(".rmt")).collect();
    names.sort();
    let mut pipeline = alone(DEFAULT.name, seed);
    let (mut text, mut next) = (String::new(), 1);
    let share = names.len() as u32;
    for name in names {
        let object = object(&pipeline, &name);
        let is_system = object.parts.rmt.as_ref().is_some_and(|part| part.system);
        let module = if is_system { 0 } else { next };
        next += u8::from(!is_system);
        let admission = pipeline.admission(module, &[&object], share);
        let let_in: u64 =
            in_turn(&mut pipeline.nic, &admission).into_iter().map(|(_, ticks)| ticks.end - ticks.start).sum();
        let load = pipeline.linker.load(module.into(), &object).unwrap_or_else(|e| panic!("{e}"));
        let steps: Vec<&Step> = load.steps.iter().filter(|step| !matches!(step, Step::Barrier)).collect();
        let commit = steps.iter().position(|step| matches!(step, Step::Commit { .. })).expect("it is committed");
        let rows = steps[..commit].iter().filter(|step| matches!(step, Step::Write { .. })).count();
        let words: usize = steps[..commit].iter().map(|step| words_of(step)).sum();
        let ticks = in_turn(&mut pipeline.nic, &load);
        let since = |end: usize| {
            let of = ticks.iter().find(|(done, _)| *done == end).expect("groups end there");
            of.1.end - ticks[0].1.start
        };
        let (written, committed) = (since(commit), since(commit + 1));
        let _ = writeln!(
            text,
            "| {} | {rows} | {words} | {written} | {:.2} | {committed} | {:.2} | {let_in} |",
            name.trim_end_matches(".rmt"),
            microseconds(written),
            microseconds(committed)
        );
    }
    text
}
