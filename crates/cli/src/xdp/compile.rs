//! `sluice xdp compile`: programs as bundles of the hXDP cores.

use super::object;
use super::prepare::named_file;
use super::profile::Replay;
use super::warp::{Warps, with_leaves};
use crate::failure::Failure;
use crate::output::Output;
use crate::table::Table;
use clap::Args;
use serde_json::{Value, json};
use sluice_ebpf::Image;
use sluice_hxdp::gain::{Gain, gains};
use sluice_hxdp::{CompileError, Compiled, Passes, Target, compile_profiled, compile_with, encode, listing};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compiles programs to bundles of a core with several lanes
///
/// Prints eBPF instructions, rows (a bundle each), instructions in them, and eBPF instructions a row. Exits with 0 when
/// every program is compiled and 1 when one is refused. `sluice xdp run --device bundles` executes bundles.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice xdp compile programs/xdp/firewall/firewall.o --lanes 4
  sluice xdp compile programs/xdp/swap/swap.o --lanes 2 --show
  sluice xdp compile programs/xdp/router/router.o --lanes 4 --gain
  sluice xdp compile programs/xdp/router/router.o --passes=-superblocks,-rename
  sluice xdp compile programs/xdp/udp_firewall/udp_firewall.o --profile programs/xdp/mixed.pcap")]
pub struct CompileArgs {
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
    /// Whether the rows of leaves are among them (`sluice xdp warp`) [default: on; off with --passes, --gain or --profile]
    #[arg(long, value_enum, conflicts_with_all = ["passes", "gain", "profile"])]
    warp: Option<Warps>,
    /// Prints what each pass brings: rows and instructions with it and those before it, rows without it alone
    #[arg(long, conflicts_with = "passes")]
    gain: bool,
    /// Lets likely ways be those of this capture's packets, and prints what that brings to them; `-` is standard input
    #[arg(long, value_name = "CAPTURE", conflicts_with = "gain")]
    profile: Option<PathBuf>,
    /// Entries of a map before the first packet of --profile (docs/guide/xdp.md)
    #[arg(long = "map", value_name = "NAME=FILE", value_parser = named_file, requires = "profile")]
    maps: Vec<(String, PathBuf)>,
    /// Prints every row, with slot and source line of each instruction
    #[arg(long, conflicts_with = "json")]
    show: bool,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

impl CompileArgs {
    /// Compiles and reports.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let target = Target::new(self.lanes).map_err(|e| Failure::input(e.code(), format!("--lanes: {e}")))?;
        let passes: Passes =
            self.passes.parse().map_err(|e| Failure::input("E0804", format!("--passes {}: {e}", self.passes)))?;
        let image = self.kernel.read(&self.object)?;
        let programs = match self.section.is_none() && self.program.is_none() {
            true => (0..image.programs.len()).collect(),
            false => object::choose(&image, &self.object, self.section.as_deref(), self.program.as_deref())?,
        };
        let replay = self.profile.as_deref().map(|path| Replay::read(&image, path, &self.maps)).transpose()?;
        let alone = passes == Passes::ALL && !self.gain && self.profile.is_none();
        let warp = self.warp.unwrap_or(if alone { Warps::On } else { Warps::Off });
        let (mut results, mut brought) = (Vec::new(), BTreeMap::new());
        for index in programs {
            let program = &image.programs[index];
            let fixed = compile_with(&image, program, &target, passes);
            let fixed = match warp {
                Warps::On => fixed.and_then(|compiled| with_leaves(&image, index, compiled, &target)),
                Warps::Off => fixed,
            };
            let (Some(replay), Ok(fixed)) = (&replay, &fixed) else {
                results.push((index, fixed));
                continue;
            };
            let profile = replay.profile(index, &self.object)?;
            let profiled = compile_profiled(&image, program, &target, passes, &profile);
            if let Ok(profiled) = &profiled {
                brought.insert(index, replay.brought(index, &fixed.bundles, &profiled.bundles, &self.object)?);
            }
            results.push((index, profiled));
        }
        // What is refused has no gain.
        let gain = |index: usize| match self.gain {
            true => gains(&image, &image.programs[index], &target).ok(),
            false => None,
        };
        if self.json {
            let of = |(index, result): &(usize, Result<Compiled, CompileError>)| {
                let mut entry = entry(&image, (*index, result), gain(*index));
                entry["profile"] = json!(brought.get(index));
                entry
            };
            let programs: Vec<Value> = results.iter().map(of).collect();
            out.json(&json!({ "object": self.object, "target": target, "programs": programs }))?;
        } else {
            text(&image, &results, out)?;
            for (index, gains) in results.iter().filter_map(|(index, _)| Some((*index, gain(*index)?))) {
                out.text(&format!("\n{}:\n{}", image.programs[index].name, of_passes(&gains)))?;
            }
            for (index, brought) in &brought {
                out.line(format!("{}: {}", image.programs[*index].name, brought.text()))?;
            }
        }
        if self.show {
            for (index, result) in &results {
                if let Ok(compiled) = result {
                    let rows = listing::listing(&compiled.bundles, &image.programs[*index], &image.maps);
                    out.text(&format!("\n{rows}"))?;
                }
            }
        }
        Ok(ExitCode::from(u8::from(results.iter().any(|(_, result)| result.is_err()))))
    }
}

/// Passes in their order, each with what it brings.
fn of_passes(gains: &[Gain]) -> Table {
    let mut table = Table::new(["pass", "rows", "bundled", "rows without it"]);
    for gain in gains {
        let numbers = [gain.rows, gain.instructions, gain.rows_without].map(|number| number.to_string());
        table.row([gain.pass.to_owned()].into_iter().chain(numbers));
    }
    table
}

fn entry(image: &Image, (index, result): (usize, &Result<Compiled, CompileError>), gains: Option<Vec<Gain>>) -> Value {
    let (name, section) = (&image.programs[index].name, &image.programs[index].section);
    match result {
        Ok(compiled) => json!({
            "name": name, "section": section,
            "instructions": compiled.instructions,
            "rows": compiled.bundles.rows.len(),
            "bundled": compiled.bundles.instructions(),
            "bytes": encode::encode(&compiled.bundles).len(),
            "flow_serial": compiled.flow_serial,
            "gain": gains,
            "refused": null,
        }),
        Err(error) => json!({
            "name": name, "section": section,
            "refused": { "code": error.code(), "reason": error.to_string() },
        }),
    }
}

fn text(image: &Image, results: &[(usize, Result<Compiled, CompileError>)], out: &mut Output) -> Result<(), Failure> {
    let mut table = Table::new(["program", "section", "insns", "rows", "bundled", "insns/row"]).left(1);
    for (index, result) in results {
        let program = &image.programs[*index];
        if let Ok(compiled) = result {
            let rows = compiled.bundles.rows.len();
            table.row([
                program.name.clone(),
                program.section.clone(),
                compiled.instructions.to_string(),
                rows.to_string(),
                compiled.bundles.instructions().to_string(),
                format!("{:.2}", compiled.instructions as f64 / rows as f64),
            ]);
        }
    }
    if results.iter().any(|(_, result)| result.is_ok()) {
        out.text(&table.to_string())?;
    }
    for (index, result) in results {
        if let Err(error) = result {
            out.line(format!("refused: {}: error[{}]: {error}", image.programs[*index].name, error.code()))?;
        }
    }
    Ok(())
}
