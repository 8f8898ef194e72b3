//! A path in the kernel: its program with the maps of its script, and how long a run takes.

use crate::path_list::{DROP, Path, SWAP};
use crate::steps::{self, Load, Step};
use sluice_ebpf::insn::assemble;
use sluice_ebpf::kernel::{Kernel, TestInput, possible_cpus};
use sluice_ebpf::load::load;
use sluice_ebpf::{Image, MapType};
use sluice_hxdp::{Target, compile};
use std::path::Path as FilePath;

/// Runs of a round, and rounds; of fresh frames, runs.
const REPEAT: u32 = 20_000;
const ROUNDS: usize = 51;
const FRESH: usize = 20_001;
/// Bits of a row of instruction memory for two lanes.
const ROW_BITS: usize = 160;

/// What was measured of a path.
pub struct Found {
    pub nanoseconds: f64,
    /// Each run was on what the one before left.
    pub again: bool,
    /// Bytes of machine code, and of rows, of all programs of the object.
    pub machine_code: u32,
    pub rows: usize,
}

/// A path's program in the kernel.
struct Ready {
    kernel: Kernel,
    image: Image,
    entry: usize,
    /// Interface and frame of each packet of the path.
    frames: Vec<(u32, Vec<u8>)>,
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Nanoseconds of `bare drop`, one run a call: what the timer takes, and two instructions.
pub fn empty() -> Result<f64, String> {
    let ready = bare(DROP)?;
    fresh(&ready, false)
}

/// Measures a path. `empty` is taken off where each run has a frame of its own.
pub fn measure(path: &Path, empty: f64) -> Result<Found, String> {
    let ready = ready(path)?;
    let again = !path.begins_flows() && stays(&ready)?;
    let nanoseconds = if again { repeated(&ready)? } else { fresh(&ready, path.begins_flows())? - empty };
    let (mut machine_code, mut rows) = (0, 0);
    for program in &ready.kernel.programs {
        machine_code += program.machine_code_bytes().map_err(|e| e.to_string())?;
    }
    for program in &ready.image.programs {
        let target = Target::new(2).expect("two lanes");
        let compiled = compile(&ready.image, program, &target).map_err(|e| e.to_string())?;
        rows += compiled.bundles.rows.len() * ROW_BITS / 8;
    }
    Ok(Found { nanoseconds, again, machine_code, rows })
}

/// Whether a run on what a run left leaves the same, and says the same: then the path is the same.
fn stays(ready: &Ready) -> Result<bool, String> {
    let program = &ready.kernel.programs[ready.entry];
    let run = |frame: &[u8]| program.test_run(&TestInput::frame(frame)).map_err(|e| e.to_string());
    for (_, frame) in &ready.frames {
        let first = run(frame)?;
        if first.r0 != run(&first.frame)?.r0 || first.frame != *frame {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Mean over the path's packets of the medians, many runs a call.
fn repeated(ready: &Ready) -> Result<f64, String> {
    let program = &ready.kernel.programs[ready.entry];
    let mut sum = 0.0;
    for (_, frame) in &ready.frames {
        let times: Result<Vec<f64>, _> = (0..ROUNDS).map(|_| program.time(frame, REPEAT).map(f64::from)).collect();
        sum += median(times.map_err(|e| e.to_string())?);
    }
    Ok(sum / ready.frames.len() as f64)
}

/// Median over the path's packets in turns, one run a call.
fn fresh(ready: &Ready, new_flows: bool) -> Result<f64, String> {
    let program = &ready.kernel.programs[ready.entry];
    let mut times = Vec::new();
    for number in 0..FRESH {
        let mut frame = ready.frames[number % ready.frames.len()].1.clone();
        if new_flows {
            // The source port.
            frame[34..36].copy_from_slice(&(10_000 + number as u16).to_be_bytes());
        }
        times.push(f64::from(program.time(&frame, 1).map_err(|e| e.to_string())?));
    }
    Ok(median(times))
}

fn bare(text: &str) -> Result<Ready, String> {
    let program = assemble("bare", text, &[]).expect("a program of the paths");
    let image = Image { programs: vec![program], license: "GPL".into(), ..Image::default() };
    let kernel = Kernel::load(&image).map_err(|e| e.to_string())?;
    Ok(Ready { kernel, image, entry: 0, frames: vec![(0, vec![2; 64])] })
}

fn ready(path: &Path) -> Result<Ready, String> {
    match path.program {
        "bare drop" => return bare(DROP),
        "bare swap" => return bare(SWAP),
        _ => {}
    }
    let root = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let (mut made, mut frames) = (None, Vec::new());
    for step in steps::steps(&root.join(path.program).join("path.pkt")).concat() {
        match step {
            Step::Load(load) => made = Some(loaded(&load)?),
            Step::Set { map, key, mut value, flags, .. } => {
                let (kernel, ..) = made.as_ref().ok_or("an entry before its program")?;
                let found: &sluice_ebpf::kernel::KernelMap = kernel.map(&map).ok_or(format!("no map {map}"))?;
                if MapType::is_per_cpu(found.spec().kind) {
                    let copy = (found.spec().value_size as usize).next_multiple_of(8);
                    value.resize(copy * possible_cpus() as usize, 0);
                }
                found.update(&key, &value, flags).map_err(|e| format!("entry of {map}: {e:?}"))?;
            }
            Step::Packet { ifindex, frame } => frames.push((ifindex, frame)),
            Step::Restore | Step::Look | Step::Pop { .. } | Step::Delete { .. } | Step::Routes(_) => {}
        }
    }
    let (kernel, image, entry) = made.ok_or("no program")?;
    // Those that are not the path's begin its flows.
    if !path.begins_flows() {
        for (_, frame) in (0..frames.len()).filter(|n| !path.packets.contains(n)).map(|n| &frames[n]) {
            kernel.programs[entry].test_run(&TestInput::frame(frame)).map_err(|e| e.to_string())?;
        }
    }
    let frames: Vec<(u32, Vec<u8>)> = path.packets.iter().map(|n| frames[*n].clone()).collect();
    // Time is taken without an interface, so it must not matter.
    for (ifindex, frame) in &frames {
        let run = |ifindex| kernel.programs[entry].test_run(&TestInput { frame, ifindex, ..TestInput::default() });
        let [with, without] = [run(*ifindex), run(0)].map(|out| out.map(|out| (out.r0, out.frame)));
        if with.map_err(|e| e.to_string())? != without.map_err(|e| e.to_string())? {
            return Err("it asks for the interface".into());
        }
    }
    Ok(Ready { kernel, image, entry, frames })
}

fn loaded(from: &Load) -> Result<(Kernel, Image, usize), String> {
    let bytes = std::fs::read(&from.file).map_err(|e| e.to_string())?;
    let mut image = load(&bytes).map_err(|e| e.to_string())?;
    for (map, entries) in &from.max_entries {
        image.set_max_entries(map, *entries).map_err(|e| e.to_string())?;
    }
    let is_it = |program: &sluice_ebpf::Program| {
        from.program.as_ref().is_none_or(|name| *name == program.name)
            && from.section.as_ref().is_none_or(|section| *section == program.section)
    };
    let entry = image.programs.iter().position(is_it).ok_or("no such program")?;
    let kernel = Kernel::load(&image).map_err(|e| e.to_string())?;
    Ok((kernel, image, entry))
}
