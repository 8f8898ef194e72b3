//! `sluice xdp show`: bundles beside the source lines and eBPF instructions that they came from.

use super::object;
use crate::failure::Failure;
use crate::output::Output;
use crate::xdp::warp::{Warps, with_leaves};
use clap::Args;
use serde_json::{Value, json};
use sluice_ebpf::insn::text as ebpf_text;
use sluice_ebpf::{Image, Program};
use sluice_hxdp::{Compiled, Passes, Target, compile_with, listing};
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Shows bundles beside source lines and eBPF instructions
///
/// For each program what it asks of an engine: rows, maps, and whether packets of one flow wait for each other, with the
/// accesses that are why. Then each row with its lanes, the source line and the eBPF instruction that each came from.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice xdp show programs/xdp/mac_gate/mac_gate.o
  sluice xdp show programs/xdp/tail_chain/tail_chain.o --program tail_chain --lanes 4 --json")]
pub struct ShowArgs {
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
    /// Instructions that the core executes at once: 1, 2 or 4
    #[arg(long, value_name = "N", default_value_t = 2)]
    lanes: usize,
    /// Passes that run: all, none, names, or -name for all but it; read from left to right
    #[arg(long, value_name = "LIST", default_value = "all", allow_hyphen_values = true)]
    passes: String,
    /// Whether the rows of leaves are among them (`sluice xdp warp`) [default: on; off with --passes]
    #[arg(long, value_enum, conflicts_with = "passes")]
    warp: Option<Warps>,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

impl ShowArgs {
    /// Compiles and shows.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let target = Target::new(self.lanes).map_err(|e| Failure::input(e.code(), format!("--lanes: {e}")))?;
        let passes: Passes =
            self.passes.parse().map_err(|e| Failure::input("E0804", format!("--passes {}: {e}", self.passes)))?;
        let image = self.kernel.read(&self.object)?;
        let programs = match self.section.is_none() && self.program.is_none() {
            true => (0..image.programs.len()).collect(),
            false => object::choose(&image, &self.object, self.section.as_deref(), self.program.as_deref())?,
        };
        let (mut shown, mut refused) = (Vec::new(), false);
        let warp = self.warp.unwrap_or(if passes == Passes::ALL { Warps::On } else { Warps::Off });
        for index in programs {
            let program = &image.programs[index];
            let compiled = compile_with(&image, program, &target, passes);
            let compiled = match warp {
                Warps::On => compiled.and_then(|compiled| with_leaves(&image, index, compiled, &target)),
                Warps::Off => compiled,
            };
            match compiled {
                Ok(compiled) if self.json => shown.push(entry(&image, program, &compiled)),
                Ok(compiled) => out.text(&text(&image, program, &compiled))?,
                Err(error) => {
                    refused = true;
                    let (code, reason) = (error.code(), error.to_string());
                    match self.json {
                        true => shown.push(json!({ "name": program.name, "section": program.section,
                            "refused": { "code": code, "reason": reason } })),
                        false => out.line(format!("refused: {}: error[{code}]: {reason}", program.name))?,
                    }
                }
            }
        }
        if self.json {
            out.json(&json!({ "object": self.object, "target": target, "programs": shown }))?;
        }
        Ok(ExitCode::from(u8::from(refused)))
    }
}

/// The names of maps in text.
fn map_name(image: &Image, index: u32) -> String {
    image.maps.get(index as usize).map_or_else(|| format!("#{index}"), |map| map.name.clone())
}

/// The eBPF instruction at a slot.
fn instruction(image: &Image, program: &Program, slot: u32) -> String {
    let at = |slot: u32| program.insns.get(slot as usize).copied();
    let kind = at(slot).and_then(|insn| insn.kind(at(slot + 1)).ok());
    kind.map_or_else(String::new, |kind| ebpf_text(kind, &|index| map_name(image, index)))
}

/// File and line of a slot; line 0 is clang's own code.
fn place(program: &Program, slot: u32) -> Option<String> {
    let line = program.line_of(slot)?;
    (line.line > 0).then(|| format!("{}:{}", line.file, line.line))
}

/// Why packets of one flow wait for each other.
fn reasons(program: &Program, compiled: &Compiled) -> Vec<String> {
    let at = |slot: u32| place(program, slot).map_or_else(|| format!("slot {slot}"), |p| format!("{p} (slot {slot})"));
    let pairs = compiled.serial.iter().map(|(read, write)| format!("reads at {}, writes at {}", at(*read), at(*write)));
    match compiled.flow_serial && compiled.serial.is_empty() {
        true => vec!["where some access goes is not known".to_owned()],
        false => pairs.collect(),
    }
}

/// Of a row of the section `>`, of one behind it `<`.
fn mark(compiled: &Compiled, row: usize) -> char {
    let is = |rows: &[bool]| rows.get(row).copied().unwrap_or(false);
    match &compiled.sections {
        Some(sections) if is(&sections.enters) => '>',
        Some(sections) if is(&sections.leaves) => '<',
        _ => ' ',
    }
}

fn text(image: &Image, program: &Program, compiled: &Compiled) -> String {
    let mut out = String::new();
    let rows = &compiled.bundles.rows;
    let _ = writeln!(
        out,
        "{}: {} eBPF instructions, {} rows, {} instructions in them",
        program.name,
        compiled.instructions,
        rows.len(),
        compiled.bundles.instructions()
    );
    for map in &image.maps {
        let _ = writeln!(
            out,
            "map {} ({}): {} entries, keys of {} bytes, values of {}",
            map.name,
            map.kind.name(),
            map.max_entries,
            map.key_size,
            map.value_size
        );
    }
    match compiled.flow_serial {
        false => out.push_str("packets of one flow run beside each other\n"),
        true if compiled.sections.is_some() => {
            out.push_str("flow-serial: packets of one flow pass the rows marked > one after the other, until <\n")
        }
        true => out.push_str("flow-serial: packets of one flow wait for each other\n"),
    }
    for reason in reasons(program, compiled) {
        let _ = writeln!(out, "  {reason}");
    }
    let mut last = None;
    for (row, bundle) in rows.iter().enumerate() {
        for (lane, step) in bundle.lanes.iter().enumerate() {
            let line = program.line_of(step.slot);
            if let Some(line) = line.filter(|line| last != Some((&line.file, line.line))) {
                let _ = writeln!(out, "; {} @ {}:{}", line.text.trim(), line.file, line.line);
                last = Some((&line.file, line.line));
            }
            let number = if lane == 0 { format!("{}{row:4}", mark(compiled, row)) } else { " ".repeat(5) };
            let bundled = listing::text(&step.op, &|index| map_name(image, index));
            let from = instruction(image, program, step.slot);
            let _ = writeln!(out, "{number} .{lane}  {bundled:44} {:4}: {from}", step.slot);
        }
    }
    out.push('\n');
    out
}

fn numbers(rows: &[bool]) -> Vec<usize> {
    rows.iter().enumerate().filter(|(_, is)| **is).map(|(row, _)| row).collect()
}

fn entry(image: &Image, program: &Program, compiled: &Compiled) -> Value {
    let lane = |step: &sluice_hxdp::Step| {
        let line = program.line_of(step.slot);
        json!({
            "does": listing::text(&step.op, &|index| map_name(image, index)),
            "slot": step.slot,
            "ebpf": instruction(image, program, step.slot),
            "file": line.map(|line| &line.file),
            "line": line.map(|line| line.line),
        })
    };
    let rows: Vec<Vec<Value>> =
        compiled.bundles.rows.iter().map(|bundle| bundle.lanes.iter().map(lane).collect()).collect();
    let maps: Vec<Value> = image
        .maps
        .iter()
        .map(|map| {
            json!({ "name": map.name, "kind": map.kind.name(), "max_entries": map.max_entries,
            "key_size": map.key_size, "value_size": map.value_size })
        })
        .collect();
    json!({
        "name": program.name,
        "section": program.section,
        "instructions": compiled.instructions,
        "maps": maps,
        "flow_serial": compiled.flow_serial,
        "section_rows": compiled.sections.as_ref().map(|sections| numbers(&sections.enters)),
        "rows_behind_the_section": compiled.sections.as_ref().map(|sections| numbers(&sections.leaves)),
        "because": reasons(program, compiled),
        "rows": rows,
        "refused": null,
    })
}
