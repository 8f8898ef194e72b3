//! Time to write a row of each table, entries one after the other, and whole modules.

use super::{CYCLES_A_MICROSECOND, open};
use crate::replacing::{Step, Watched};
use sluice_formats::address::Access;
use sluice_formats::rmt::target::{DEFAULT, Target};
use sluice_formats::rows::SidebandRow;
use sluice_formats::{Node, Table};
use sluice_rmt::fast::Fast;
use sluice_rtlsim::plugin::Until;
use sluice_rtlsim::rmt::{Lockstep, ModuleFile, RmtOffer};
use std::fmt::Write;
use std::path::Path;

/// Rows that are written behind one another.
const BURST: usize = 32;
/// Entries that are written behind one another.
const ENTRIES: [usize; 5] = [1, 16, 64, 256, 960];

const INTRODUCTION: &str = "\
Default target. A row is one message on the configuration ring: a word of 32 bits a cycle, three words more than the row
has. Cycles count from the first word of the message to the last word of its answer. Idle: no packets. Full: packets of 64
bytes back to back. Behind one another: cycles a row of 32 messages sent without waiting for answers, under packets. Each
row is written with what it held; `zero_page` zeroes the 64 words of a page before it answers.

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
fn fill(lockstep: &mut Lockstep<Fast>, sent: &mut u32, cycles: usize) {
    let packet = |id| {
        let sideband = SidebandRow { id, module_id: 1, tenant: 1, length: 64, ..SidebandRow::default() };
        RmtOffer { sideband, bytes: vec![0x55; 64], at: 0 }
    };
    let packets: Vec<RmtOffer> = (*sent..*sent + cycles as u32).map(packet).collect();
    *sent += cycles as u32;
    lockstep.offer(&packets).expect("they are taken");
    lockstep.run(&Until { max_cycles: 200, ..Until::default() }).expect("it runs");
}

/// The section's text.
pub fn writes(seed: u64) -> String {
    let (rows, entries) = tables(&DEFAULT, seed);
    format!("{INTRODUCTION}{rows}{OF_ENTRIES}{entries}{OF_MODULES}{}{PUBLISHED}", modules(&DEFAULT, seed))
}

fn tables(target: &Target, seed: u64) -> (String, String) {
    let (mut lockstep, mut tenants) = open(target, seed);
    let calc = file(target, "calc.rmt");
    tenants.admit(&mut lockstep, 1, "calc", calc.quota(target)).expect("there is room");
    tenants.load(&mut lockstep, 1, &calc.part).expect("it loads");
    let (mut text, mut sent) = (String::new(), 0);
    for node in [Node::Stamp, Node::Parser, Node::Stage(1), Node::Deparser] {
        let writable = |t: &Table| t.is_of(node) && t.access() == Access::ReadWrite;
        for table in Table::ALL.into_iter().filter(writable) {
            // The last row of a table is of a module that is not there.
            let index = table.rows(target.nic()) - 1;
            let words = match table {
                Table::ZeroPage => vec![0; table.words()],
                _ => lockstep.rtl.read_row(node, table, index).expect("it can be read"),
            };
            let write = |lockstep: &mut Lockstep<Fast>, count| {
                let rows = std::iter::repeat_n((node, table, index, &words[..]), count);
                lockstep.rtl.write_all(rows).expect("it is written")
            };
            let idle = write(&mut lockstep, 1);
            fill(&mut lockstep, &mut sent, 600);
            let full = write(&mut lockstep, 1);
            lockstep.finish().expect("packets end");
            fill(&mut lockstep, &mut sent, 600 + BURST * (table.words() + 3 + 80));
            let burst = write(&mut lockstep, BURST) as f64 / BURST as f64;
            lockstep.finish().expect("packets end");
            let (name, place) = (table.name(), format!("{node:?}").to_lowercase());
            let _ = writeln!(
                text,
                "| `{name}` | {place} | {} | {idle} | {:.3} | {full} | {:.3} | {burst:.1} |",
                words.len(),
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
            let (set, way) = (target.sets() - 1 - i / 4, i % 4);
            rows.push((node, Table::Exact(way as u8), set as u32, vec![0; Table::Exact(0).words()]));
            rows.push((node, Table::Data, (4 * set + way) as u32, vec![0; Table::Data.words()]));
        }
        // What CALC owns lies at the other end.
        let own = lockstep.rtl.read_row(node, Table::Exact(0), 0).expect("it can be read");
        let words: usize = rows.iter().map(|r| r.3.len() + 3).sum();
        fill(&mut lockstep, &mut sent, 600 + 2 * words);
        let cycles = lockstep.rtl.write_all(rows.iter().map(|r| (r.0, r.1, r.2, &r.3[..]))).expect("they are written");
        lockstep.finish().expect("packets end");
        assert_eq!(own, lockstep.rtl.read_row(node, Table::Exact(0), 0).expect("it can be read"));
        let each = cycles as f64 / count as f64;
        let _ = writeln!(list, "| {count} | {words} | {cycles} | {:.3} | {each:.1} |", microseconds(cycles));
    }
    (text, list)
}

fn file(target: &Target, name: &str) -> ModuleFile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt").join(name);
    ModuleFile::read(&path, target).unwrap_or_else(|e| panic!("{e}"))
}

fn modules(target: &Target, seed: u64) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/rmt");
    let listed = std::fs::read_dir(&folder).expect("programs/rmt is there").filter_map(|entry| entry.ok());
    let mut names: Vec<String> =
        listed.map(|e| e.file_name().to_string_lossy().into_owned()).filter(|n| n.ends_with(".rmt")).collect();
    names.sort();
    let (mut lockstep, mut tenants) = open(target, seed);
    let (mut text, mut next) = (String::new(), 1);
    for name in names {
        let file = file(target, &name);
        let module = file.module(&mut next);
        let mut watched = Watched::new(&mut lockstep);
        tenants.admit(&mut watched, module, &name, file.quota(target)).expect("there is room");
        let let_in: u64 = watched.steps.drain(..).map(|(_, ticks)| ticks.end - ticks.start).sum();
        tenants.load(&mut watched, module, &file.part).expect("it loads");
        let steps = watched.steps;
        let commit = steps.iter().position(|(step, _)| *step == Step::Commit).expect("it is committed");
        let (rows, words) = steps[..commit].iter().fold((0, 0), |(r, w), (step, _)| match step {
            Step::Write { rows, words } => (r + rows, w + words),
            _ => (r, w),
        });
        let since = |step: usize| steps[step].1.end - steps[0].1.start;
        let (written, committed) = (since(commit - 1), since(commit));
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
