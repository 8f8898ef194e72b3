//! `sluice xdp warp`: what of a program is decided before a core sees a packet.

use super::{object, warp_paper};
use crate::captures;
use crate::failure::Failure;
use crate::output::Output;
use crate::run::device::engine_target;
use clap::Args;
use serde_json::{Value, json};
use sluice_ebpf::vm::{Ingress, Packet};
use sluice_ebpf::{Image, MapSpec, Program, Runtime};
use sluice_formats::Target as NicTarget;
use sluice_formats::row::Row;
use sluice_formats::xdp::target::Target as Engine;
use sluice_hxdp::warp::encode::encode;
use sluice_hxdp::warp::key::{Limit, Predicate};
use sluice_hxdp::warp::test::{Test, bytes_of};
use sluice_hxdp::warp::walk::End;
use sluice_hxdp::warp::{Action, Leaf, Warped, paper, warp};
use sluice_hxdp::{CompileError, Compiled, Cores, Target, compile};
use sluice_object::XdpWarpRoom;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Shows what of programs is decided before a core sees a packet
///
/// Prints the leaves of each program's table in the order in which their rules are asked: what becomes of a packet, which tests it has passed, what a leaf
/// saves, and where and why its path was cut. With --check every packet of a capture runs through the interpreter and through the table; what
/// differs is an error, and each leaf says how many packets it had. With --paper the rules are those of the published algorithm, whose packets go
/// on by the interpreter: with --check each rule says what it saves, and packets that it judges wrongly are counted, for it knows no length.
/// Exits with 1 when a program is refused.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice xdp warp programs/xdp/router_basic/router_basic.o
  sluice xdp warp programs/xdp/mac_gate/mac_gate.o --check programs/xdp/mixed.pcap
  sluice xdp warp programs/xdp/flow_filter/flow_filter.o --paper
  sluice xdp warp programs/xdp/flow_filter/flow_filter.o --target tiny --json")]
pub struct WarpArgs {
    /// Object file that clang wrote for the target bpf
    object: PathBuf,
    #[command(flatten)]
    kernel: object::KernelFile,
    /// Only the program of this section
    #[arg(long)]
    section: Option<String>,
    /// Only the program with this name
    #[arg(long)]
    program: Option<String>,
    /// Runs the packets of a capture, and counts each leaf's; `-` is standard input
    #[arg(long, value_name = "CAPTURE")]
    check: Option<PathBuf>,
    /// The rules of the published algorithm in place of ours
    #[arg(long)]
    paper: bool,
    /// Target whose warp engine the table is for: default, tiny, or with external memory far, tiny_far
    #[arg(long, value_parser = engine_target, default_value = "default")]
    target: &'static NicTarget,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

/// Whether packets pass a program's table before a core has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Warps {
    /// They do
    On,
    /// Cores run the program from its start
    Off,
}

/// A compiled program, with the rows of its leaves.
pub fn with_leaves(image: &Image, index: usize, compiled: Compiled, target: &Target) -> Result<Compiled, CompileError> {
    Ok(warp(image, index, &compiled, target)?.compiled(&compiled))
}

/// Lanes of the cores in hardware.
const LANES: usize = 2;

impl WarpArgs {
    /// Shows, and checks.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let engine = Engine::by_name(self.target.name);
        let room = XdpWarpRoom { rules: engine.warp_rules, steps: engine.warp_steps };
        let target = Target::new(LANES).map_err(|e| Failure::input(e.code(), e.to_string()))?.with_warp(room);
        let image = self.kernel.read(&self.object)?;
        let programs = match self.section.is_none() && self.program.is_none() {
            true => (0..image.programs.len()).collect(),
            false => object::choose(&image, &self.object, self.section.as_deref(), self.program.as_deref())?,
        };
        let frames = self.check.as_deref().map(captures::frames).transpose()?;
        let (mut all, mut refused) = (Vec::new(), false);
        for index in programs {
            let program = &image.programs[index];
            if self.paper {
                let table = paper::optimize(program);
                let played = |frames: &Vec<_>| warp_paper::check(&image, index, &table, frames, &self.object);
                let hits = frames.as_ref().map(played).transpose()?;
                match self.json {
                    true => all.push(warp_paper::document(program, &table, hits.as_deref())),
                    false => out.text(&warp_paper::text(program, &table, hits.as_deref()))?,
                }
                continue;
            }
            let warped = compile(&image, program, &target).and_then(|plain| warp(&image, index, &plain, &target));
            let warped = match warped {
                Ok(warped) => warped,
                Err(e) => {
                    refused = true;
                    match self.json {
                        true => all.push(
                            json!({ "name": program.name, "refused": { "code": e.code(), "what": e.to_string() } }),
                        ),
                        false => out.line(format!("{}: {e} [{}]", program.name, e.code()))?,
                    }
                    continue;
                }
            };
            let hits = frames.as_ref().map(|frames| check(&image, index, &warped, frames, &self.object)).transpose()?;
            match self.json {
                true => all.push(document(program, &warped, hits.as_deref())),
                false => out.text(&text(program, &warped, hits.as_deref()))?,
            }
        }
        if self.json {
            let map = |map: &MapSpec| {
                json!({ "name": map.name, "kind": map.kind, "key_size": map.key_size, "value_size": map.value_size,
                    "max_entries": map.max_entries, "frozen": map.frozen, "spin_lock": map.spin_lock })
            };
            let maps: Vec<Value> = image.maps.iter().map(map).collect();
            out.json(&json!({ "object": self.object, "maps": maps, "programs": all }))?;
        }
        Ok(ExitCode::from(u8::from(refused)))
    }
}

/// Packets of each leaf, and behind them those of none; every packet on both sides.
fn check(
    image: &Image,
    index: usize,
    warped: &Warped,
    frames: &[(u64, Vec<u8>)],
    object: &Path,
) -> Result<Vec<u64>, Failure> {
    let refused = |e: String| Failure::input("E0810", format!("{}: {e}", object.display()));
    let side = || -> Result<_, Failure> {
        let mut runtime = Runtime::new(2, 1);
        let failure = |e: sluice_ebpf::load::LoadError| Failure::input(e.code(), format!("{}: {e}", object.display()));
        let installed = runtime.install(image, &|_| None).map_err(failure)?;
        Ok((runtime, installed))
    };
    let ((mut plain, on_plain), (mut other, on_other)) = (side()?, side()?);
    let mut cores = Cores::new();
    if let Some(number) = other.program_number(on_other, index) {
        cores.bind(warped.bundles.clone(), number, &other, on_other);
        cores.warp(number, warped.table.clone(), &other, on_other);
    }
    let mut hits = vec![0; warped.table.leaves.len() + 1];
    for (number, (stamp, frame)) in frames.iter().enumerate() {
        let ingress = Ingress { ifindex: 1, queue: 0 };
        (plain.world.now_ns, other.world.now_ns) = (*stamp, *stamp);
        let (mut packet, mut other_packet) = (Packet::new(frame), Packet::new(frame));
        let expected = plain.run(on_plain, index, &mut packet, ingress);
        let found = other.run_on(&cores, on_other, index, &mut other_packet, ingress);
        let end =
            |o: &sluice_ebpf::vm::Outcome| (o.r0, o.verdict, o.redirect, o.fault.as_ref().map(|f| (f.reason, f.pc)));
        if end(&expected) != end(&found) || packet.frame() != other_packet.frame() {
            let what = format!(
                "packet {number}: {:?} from the first instruction on, {:?} by the table",
                end(&expected),
                end(&found)
            );
            return Err(refused(what));
        }
        let leaf = warped.table.leaf(&sluice_hxdp::warp::bits::Seen::new(frame, ingress));
        hits[leaf.unwrap_or(warped.table.leaves.len())] += 1;
    }
    Ok(hits)
}

fn text(program: &Program, warped: &Warped, hits: Option<&[u64]>) -> String {
    let table = &warped.table;
    let mut out = String::new();
    let resumed = table.leaves.iter().filter(|leaf| matches!(leaf.action, Action::Resume { .. })).count();
    let verdicts = table.leaves.iter().filter(|leaf| matches!(leaf.action, Action::Verdict { .. })).count();
    let lanes = table.key.lanes.iter().flatten().count();
    let _ = writeln!(
        out,
        "{}: {} leaves: {verdicts} verdicts, {resumed} resume, the rest from the program's start; {lanes} bytes and {} predicates of a key, {} rows",
        program.name,
        table.leaves.len() + 1,
        table.key.predicates.len(),
        warped.bundles.rows.len()
    );
    for (at, leaf) in table.leaves.iter().enumerate() {
        let _ = write!(out, "  {at:2}  {}", action(leaf));
        if let Some((without, with)) = leaf.issues {
            let _ = write!(out, ", {without:.0} issues become {with:.0}");
        }
        if let Some(hits) = hits {
            let _ = write!(out, ", {} packets", hits[at]);
        }
        out.push('\n');
        if let End::Cut { slot, why } = leaf.end {
            let _ = writeln!(out, "      cut at {}: it {}", place(program, slot), why.text());
        }
        for (test, answer) in &leaf.tests {
            let _ = writeln!(out, "      {}", sentence(test, *answer));
        }
    }
    let _ = write!(out, "  --  every other packet from the program's start");
    if let Some(hits) = hits {
        let _ = write!(out, ", {} packets", hits[table.leaves.len()]);
    }
    out.push('\n');
    out
}

/// What becomes of a leaf's packets.
pub fn action(leaf: &Leaf) -> String {
    match &leaf.action {
        Action::Plain => "from the program's start".to_owned(),
        Action::Verdict { r0, counts } => {
            let verdict = sluice_ebpf::Verdict::from_r0(*r0).name();
            if counts.is_empty() { verdict.to_owned() } else { format!("{verdict}, counts {}", counts.len()) }
        }
        Action::Resume { row, missed, entry } => {
            let registers: Vec<String> = entry.registers.iter().map(|(r, _)| format!("r{r}")).collect();
            let set = if registers.is_empty() { "nothing".to_owned() } else { registers.join(" ") };
            let stack = if entry.stack.is_empty() {
                String::new()
            } else {
                format!(", {} words of the stack", entry.stack.len())
            };
            let missed = missed.map_or_else(String::new, |row| format!(", at row {row} if it finds nothing"));
            let lookup = if entry.lookup.is_some() { ", the first lookup under way" } else { "" };
            format!("resumes at row {row} with {set}{stack} set in {} steps{lookup}{missed}", entry.steps())
        }
    }
}

pub fn place(program: &Program, slot: u32) -> String {
    match program.line_of(slot).filter(|line| line.line > 0) {
        Some(line) => format!("{}:{} (slot {slot})", line.file, line.line),
        None => format!("slot {slot}"),
    }
}

/// What a byte has to be, by mask and value.
pub fn asked(at: u16, (mask, value): (u8, u8)) -> String {
    match mask {
        0xff => format!("byte {at} is {value:#04x}"),
        mask => format!("byte {at} & {mask:#04x} is {value:#04x}"),
    }
}

/// A test with its answer, as a condition.
fn sentence(test: &Test, answer: bool) -> String {
    let not = if answer { "" } else { "not " };
    match test {
        Test::Bits(bits) => {
            let bytes: Vec<String> = bytes_of(bits).into_iter().map(|(at, of)| asked(at, of)).collect();
            format!("{not}({})", bytes.join(" and "))
        }
        Test::Between { bits, low, high } => format!("{not}{low} <= {} <= {high}", number(bits)),
        Test::Long(bytes) if answer => format!("at least {bytes} bytes"),
        Test::Long(bytes) => format!("less than {bytes} bytes"),
        Test::Reaches { bits, more } => format!("{not}{} + {more} <= length", number(bits)),
    }
}

fn number(bits: &sluice_hxdp::warp::bits::Bits) -> String {
    let shown: Vec<u16> = bits.0.iter().filter_map(|bit| bit.source()).map(|n| n / 8).collect();
    match (shown.iter().min(), shown.iter().max()) {
        (Some(first), Some(last)) if first == last => format!("number of byte {first}"),
        (Some(first), Some(last)) => format!("number of bytes {first} to {last}"),
        _ => "number".to_owned(),
    }
}

fn words<R: Row>(row: &R) -> Vec<u32> {
    row.pack().unwrap_or_default()
}

fn document(program: &Program, warped: &Warped, hits: Option<&[u64]>) -> Value {
    let rows = encode(&warped.table);
    let predicate = |p: &Predicate| {
        json!({ "pair": p.pair, "mask": p.mask, "down": p.down, "add": p.add,
            "limit": match p.limit { Limit::Number(limit) => json!(limit), Limit::Length => json!("length") } })
    };
    let leaf = |(at, leaf): (usize, &Leaf)| {
        let (cut, why) = match leaf.end {
            End::Exit(_) => (None, None),
            End::Cut { slot, why } => (Some(slot), Some(why)),
        };
        let action = match &leaf.action {
            Action::Plain => json!({ "kind": "plain" }),
            Action::Verdict { r0, counts } => json!({ "kind": "verdict", "r0": r0, "counts": counts }),
            Action::Resume { row, missed, entry } => {
                json!({ "kind": "resume", "row": row, "missed": missed, "entry": entry })
            }
        };
        let line = cut.and_then(|slot| program.line_of(slot));
        json!({
            "action": action,
            "tests": leaf.tests.iter().map(|(test, answer)| sentence(test, *answer)).collect::<Vec<_>>(),
            "path": leaf.slots,
            "answered": leaf.answered.as_ref().map(|[found, missed]| json!({ "found": found, "missed": missed })),
            "work": leaf.work,
            "cut": cut,
            "why": why,
            "file": line.map(|line| &line.file),
            "line": line.map(|line| line.line),
            "issues": leaf.issues.map(|(without, with)| json!({ "without": without, "with": with })),
            "packets": hits.map(|hits| hits[at]),
        })
    };
    json!({
        "name": program.name,
        "insns": program.insns.iter().map(|insn| insn.to_bytes().iter().fold(String::new(), |mut all, byte| {
            let _ = write!(all, "{byte:02x}");
            all
        })).collect::<Vec<_>>(),
        "key": { "lanes": warped.table.key.lanes, "predicates": warped.table.key.predicates.iter().map(predicate).collect::<Vec<_>>() },
        "leaves": warped.table.leaves.iter().enumerate().map(leaf).collect::<Vec<_>>(),
        "plain_packets": hits.map(|hits| hits[warped.table.leaves.len()]),
        "rows": warped.bundles.rows.len(),
        "encoded": {
            "key": words(&rows.key),
            "predicates": rows.predicates.iter().map(words).collect::<Vec<_>>(),
            "chunks": rows.chunks.iter().map(words).collect::<Vec<_>>(),
            "leaves": rows.leaves.iter().map(words).collect::<Vec<_>>(),
            "steps": rows.steps.iter().map(words).collect::<Vec<_>>(),
        },
        "refused": null,
    })
}
