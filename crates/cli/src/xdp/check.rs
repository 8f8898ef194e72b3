//! `sluice xdp check`: what an object holds, and what of it cannot be run.

use super::object;
use super::prepare::Prepare;
use crate::failure::Failure;
use crate::output::Output;
use crate::table::Table;
use clap::Args;
use serde_json::{Value, json};
use sluice_ebpf::analysis::{self, MayBeNull};
use sluice_ebpf::load::report::{MapReport, ProgramReport};
use sluice_ebpf::load::{Report, Variable};
use sluice_ebpf::map::{MapError, as_libbpf_creates};
use sluice_ebpf::{Image, MapSpace, MapSpec, validate};
use std::path::PathBuf;
use std::process::ExitCode;

/// Says what an object holds, and what of it is refused and why
///
/// Lists programs, maps and the variables that --set changes; warns of lookups whose result is given to
/// a helper unchecked. Exits with 0 when every program can be run, 1 when a program or map is refused, 2 when the file
/// is no object or has no program.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice xdp check programs/xdp/firewall/firewall.o")]
pub struct Check {
    /// Object file that clang wrote for the target bpf
    object: PathBuf,
    #[command(flatten)]
    kernel: object::KernelFile,
    #[command(flatten)]
    prepare: Prepare,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

impl Check {
    /// Reads, validates and reports.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let mut image = self.kernel.inspect(&self.object)?;
        self.prepare.apply(&mut image, &self.object)?;
        let report = sluice_ebpf::load::report(&image);
        let mut invalid = invalid(&image);
        invalid.extend(unmade(&image, &self.prepare));
        let warnings = warnings(&image, &invalid);
        if self.json {
            let mut value = json!(report);
            value["warnings"] = json!(warnings);
            if let Some(list) = value["refused"].as_array_mut() {
                list.extend(
                    invalid
                        .iter()
                        .map(|r| json!({ "what": r.what, "name": r.name, "code": r.code, "reason": r.reason })),
                );
            }
            out.json(&value)?;
        } else {
            text(&report, &invalid, out)?;
            for warning in &warnings {
                out.line(format!("\nwarning: {warning}"))?;
            }
        }
        Ok(ExitCode::from(u8::from(!report.refused.is_empty() || !invalid.is_empty())))
    }
}

/// What the loader took and cannot be run all the same.
struct Invalid {
    what: &'static str,
    name: String,
    code: &'static str,
    reason: String,
}

/// Maps that cannot be made, one after the other as a run makes them. Those whose size is still to
/// be set are left out, but not those that are given none.
fn unmade(image: &Image, prepare: &Prepare) -> Vec<Invalid> {
    let given = |spec: &MapSpec| prepare.max_entries.iter().any(|(map, _)| *map == spec.name);
    let mut space = MapSpace::new(1);
    let specs =
        image.maps.iter().map(|spec| as_libbpf_creates(spec, 1)).filter(|spec| spec.max_entries > 0 || given(spec));
    let refused = |spec: MapSpec| {
        let error = space.create(&spec).err()?;
        Some(Invalid { what: "map", name: spec.name, code: error.code(), reason: error.to_string() })
    };
    let mut unmade: Vec<Invalid> = specs.filter_map(refused).collect();
    unmade.extend(image.unfit_inner().map(|error| {
        let (code, reason) = (error.code(), error.to_string());
        let name = if let MapError::Inner { map, .. } = error { map } else { String::new() };
        Invalid { what: "map", name, code, reason }
    }));
    unmade
}

/// What programs that can be run do wrong on some way through them.
fn warnings(image: &Image, invalid: &[Invalid]) -> Vec<MayBeNull> {
    let valid = image.programs.iter().filter(|p| !invalid.iter().any(|i| i.what == "program" && i.name == p.name));
    valid.flat_map(|p| analysis::may_be_null(image, p, &analysis::analyze(image, p))).collect()
}

/// Programs that the loader took and validation refuses.
fn invalid(image: &Image) -> Vec<Invalid> {
    let mut refused = Vec::new();
    for program in &image.programs {
        let alone = Image { programs: vec![program.clone()], ..image.clone() };
        if let Err(error) = validate::validate(&alone) {
            let (name, code) = (program.name.clone(), error.code());
            refused.push(Invalid { what: "program", name, code, reason: error.to_string() });
        }
    }
    refused
}

fn text(report: &Report, invalid: &[Invalid], out: &mut Output) -> Result<(), Failure> {
    let types = if report.btf { "with BTF" } else { "without BTF" };
    out.line(format!("license {}, {types}", if report.license.is_empty() { "none" } else { &report.license }))?;
    let mut table = Table::new(["program", "section", "insns", "functions", "maps", "helpers", "features"]);
    for column in [1, 4, 5, 6] {
        table = table.left(column);
    }
    for program in &report.programs {
        table.row(program_row(program));
    }
    if !report.programs.is_empty() {
        out.text(&format!("\n{table}"))?;
    }
    if !report.maps.is_empty() {
        let mut table = Table::new(["map", "type", "key", "value", "entries", "flags", ""]).left(1).left(6);
        for map in &report.maps {
            table.row(map_row(map));
        }
        out.text(&format!("\n{table}"))?;
    }
    if !report.variables.is_empty() {
        let mut table = Table::new(["variable", "type", "bytes", "section", "value"]).left(1).left(3).left(4);
        for Variable { name, section, kind, size, value } in &report.variables {
            table.row([name.clone(), kind.clone(), size.to_string(), section.clone(), value.clone()]);
        }
        out.text(&format!("\n{table}"))?;
    }
    for note in &report.notes {
        out.line(format!("\nnote: {}", note.text))?;
    }
    let refused = report.refused.iter().map(|r| (&r.name, r.code, &r.reason));
    for (name, code, why) in refused.chain(invalid.iter().map(|r| (&r.name, r.code, &r.reason))) {
        let why = why.replacen(&format!("[{code}] "), "", 1);
        out.line(format!("\nrefused: {name}: error[{code}]: {why}"))?;
    }
    Ok(())
}

fn program_row(program: &ProgramReport) -> Vec<String> {
    let helpers: Vec<&str> = program.helpers.keys().copied().collect();
    let names = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let features: Vec<String> = program.features.iter().map(|f| names(json!(f))).collect();
    vec![
        program.name.clone(),
        program.section.clone(),
        program.instructions.to_string(),
        program.functions.len().to_string(),
        program.maps.join(" "),
        helpers.join(" "),
        features.join(" "),
    ]
}

fn map_row(map: &MapReport) -> Vec<String> {
    let mut notes = Vec::new();
    if map.max_entries == 0 && map.kind != "perf_event_array" {
        notes.push("size is set by --max-entries".to_owned());
    }
    notes.extend(map.pinned.then(|| "outlives replacements".to_owned()));
    notes.extend(map.frozen.then(|| "read-only".to_owned()));
    notes.extend(map.inner.as_ref().map(|inner| format!("of {}", inner.kind)));
    vec![
        map.name.clone(),
        map.kind.to_owned(),
        map.key_size.to_string(),
        map.value_size.to_string(),
        map.max_entries.to_string(),
        format!("{:#x}", map.flags),
        notes.join(", "),
    ]
}
