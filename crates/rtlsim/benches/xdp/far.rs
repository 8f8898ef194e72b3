//! The paths of the aims with their maps in external memory, which answers after exactly 100 cycles.
//!
//! The cache of the engine has room for all that the paths touch. So the plug-ins are built to forget lines behind some of the accesses
//! (`SLUICE_XDP_FORGET`, in 256ths): behind a tenth of them, and behind all.

use super::VARIANT;
use super::far_flows::{self, FLOWS, alone, is_listed, spread};
use super::paths::path_list::{PATHS, Path};
use super::paths::{Flood, MEASURED, Ready, WARM, interval, ready_on};
use super::support::device::Nic;
use sluice_device::Device;
use sluice_formats::row::Row;
use sluice_formats::xdp::rows::{XdpMapRow, XdpOutsideRow};
use sluice_formats::{Node, Table};
use sluice_rtlsim::plugin::boundary::Plugin;
use sluice_rtlsim::{RtlNic, RtlOptions, locate, top};
use std::fmt::Write;
use std::path::PathBuf;

/// Cycles until memory answers.
const LATENCY: u32 = 100;
/// Of both cores.
const CONTEXTS: f64 = 16.0;
/// Accesses of 256 behind which a line is forgotten.
const TENTH: u32 = 26;
const ALL: u32 = 256;
const CONFIG: &str = "xdp_far";

fn plugin(forget: u32) -> Option<PathBuf> {
    if forget == 0 {
        return locate::find(CONFIG, VARIANT).ok();
    }
    let name = locate::file_name(CONFIG, VARIANT);
    let folder = format!("SLUICE_XDP_FORGET-{forget}");
    locate::directories().iter().map(|at| at.join(&folder).join(&name)).find(|path| path.is_file())
}

/// Whether the plug-ins are there.
pub fn is_there() -> bool {
    let missing: Vec<u32> = [0, TENTH, ALL].into_iter().filter(|forget| plugin(*forget).is_none()).collect();
    for forget in &missing {
        let set = if *forget == 0 { String::new() } else { format!(" --set SLUICE_XDP_FORGET={forget}") };
        println!("xdp-far: no plug-in, so it is skipped: tools/plugin.py --variant bench{set} {CONFIG}");
    }
    missing.is_empty()
}

/// An engine with external memory.
fn engine(forget: u32, seed: u64) -> Nic<RtlNic> {
    let path = plugin(forget).unwrap_or_else(|| panic!("no plug-in {CONFIG}"));
    let options = RtlOptions { top: &top::XDP, variant: VARIANT, seed, ..RtlOptions::default() };
    let plugin = Plugin::load(&top::XDP, &path).unwrap_or_else(|e| panic!("{e}"));
    let mut nic = Nic::new(RtlNic::start(plugin, options).unwrap_or_else(|e| panic!("{e}")));
    nic.device.set_values_memory(LATENCY..=LATENCY, 256, 0).unwrap_or_else(|e| panic!("{e}"));
    nic
}

/// Maps of the path's module, and how many of them have something in external memory.
fn outside(nic: &mut Nic<RtlNic>) -> (usize, usize) {
    let module = nic.module(super::paths::TENANT);
    let (mut all, mut far) = (0, 0);
    for index in 0..256 {
        let words = nic.device.read_row(Node::Xdp, Table::XdpMap, index).unwrap_or_else(|e| panic!("{e}"));
        let row = XdpMapRow::unpack(&words).unwrap_or_else(|e| panic!("{e}"));
        if row.valid && row.module_id == module {
            all += 1;
            far += usize::from(row.outside || row.state >= 1 << 15);
        }
    }
    (all, far)
}

fn counts(nic: &mut Nic<RtlNic>) -> XdpOutsideRow {
    let words = nic.device.read_row(Node::Xdp, Table::XdpOutside, 0).unwrap_or_else(|e| panic!("{e}"));
    XdpOutsideRow::unpack(&words).unwrap_or_else(|e| panic!("{e}"))
}

/// What packets take, and what they ask of external memory, each.
struct Measured {
    maps: (usize, usize),
    cycles: f64,
    alone: f64,
    accesses: f64,
    misses: f64,
    /// Lines that a packet alone waits for.
    waits: f64,
}

/// The engine of `default`, which has no external memory.
fn on_chip(seed: u64) -> Nic<RtlNic> {
    let options = RtlOptions { top: &top::XDP, variant: VARIANT, seed, ..RtlOptions::default() };
    Nic::new(RtlNic::open("default", options).unwrap_or_else(|e| panic!("{e}")))
}

/// Each path on the chip, or outside with so many lines forgotten: on one engine, one behind the other.
fn measured(seed: u64, forget: Option<u32>) -> Vec<Result<Measured, String>> {
    let open = || forget.map_or_else(|| on_chip(seed), |forget| engine(forget, seed));
    let mut nic = None;
    let paths = PATHS.iter().filter(|path| is_listed(path));
    let one = |path: &Path| {
        let found = ready_on(nic.take().unwrap_or_else(open), path, forget.is_some());
        let mut ready = found.inspect_err(|why| println!("{forget:?} {}: {why}", path.what))?;
        spread(&mut ready, path).inspect_err(|why| println!("{forget:?} {}: {why}", path.what))?;
        let maps = outside(&mut ready.nic);
        let asked =
            |ready: &mut Ready| if forget.is_some() { counts(&mut ready.nic) } else { XdpOutsideRow::default() };
        let begin = asked(&mut ready);
        let alone = alone(&mut ready);
        let before = asked(&mut ready);
        let cycles = interval(&mut ready, path.what, path.begins_flows(), &Flood::default());
        let after = asked(&mut ready);
        let each = |after: u32, before: u32| f64::from(after.wrapping_sub(before)) / (2 * WARM + MEASURED) as f64;
        let (accesses, misses) = (each(after.accesses, before.accesses), each(after.lines, before.lines));
        let waits = f64::from(before.lines.wrapping_sub(begin.lines)) / far_flows::ALONE.min(ready.frames.len()) as f64;
        println!(
            "{forget:?} {}: {} of {} maps outside, {cycles:.1} cycles, {alone:.0} alone, {accesses:.1} accesses, {misses:.1} misses, {waits:.1} of one alone",
            path.what, maps.1, maps.0
        );
        ready.nic.unload(super::paths::TENANT);
        nic = Some(ready.nic);
        Ok(Measured { maps, cycles, alone, accesses, misses, waits })
    };
    paths.map(one).collect()
}

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = format!(
        "The same paths with packets of {FLOWS} flows in turns, each with entries of its own, so that they touch different lines; redirect_map has one entry for each port. On the chip of `default`; and on the engine \
         of `far`, alone, with all maps in external memory that may lie there. It answers after\n{LATENCY} cycles.\n*Maps*: how many lie outside, values or rows. *Accesses*: of values and rows in external memory, each packet. *At 90 %*: the \
         line is forgotten behind a tenth of all accesses; *without hits*: behind all.\nWhere the next access to a line waits already, it is done first. *Misses*: lines that are asked for, each packet; *alone*: by a packet that is alone. It waits for each of these, as packets back to back do, of which several may wait for one line.\n*Aims*: 1.5 times the cycles on the chip; 1.15 times the larger one of these and (cycles alone on the chip + lines of a packet alone x {LATENCY}) / 16.\n\n\
         | path | program | maps | on the chip | outside, all hits | accesses | at 90 %: cycles | misses | aim | reached | without hits: cycles | misses | alone | aim | reached |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    // Two at a time.
    let two = |first: Option<u32>, second: Option<u32>| {
        std::thread::scope(|scope| {
            let first = scope.spawn(move || measured(seed, first));
            let second = measured(seed, second);
            (first.join().expect("it ends").into_iter(), second.into_iter())
        })
    };
    let ((mut chip, mut hits), (mut tenth, mut none)) = (two(None, Some(0)), two(Some(TENTH), Some(ALL)));
    for path in PATHS.iter().filter(|path| is_listed(path)) {
        let all = [&mut chip, &mut hits, &mut tenth, &mut none].map(|all| all.next().expect("as many as paths"));
        let fields = match all {
            [Ok(chip), Ok(hits), Ok(tenth), Ok(none)] => {
                let yes = |reached: bool| if reached { "yes" } else { "no" };
                let on_chip = chip.cycles;
                let few = 1.5 * on_chip;
                let most = 1.15 * on_chip.max((chip.alone + none.waits * f64::from(LATENCY)) / CONTEXTS);
                format!(
                    "{} of {} | {on_chip:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {few:.1} | {} | {:.1} | {:.1} | {:.1} | {most:.1} | {}",
                    hits.maps.1,
                    hits.maps.0,
                    hits.cycles,
                    hits.accesses,
                    tenth.cycles,
                    tenth.misses,
                    yes(tenth.cycles <= few),
                    none.cycles,
                    none.misses,
                    none.waits,
                    yes(none.cycles <= most)
                )
            }
            all => {
                let why = all.into_iter().find_map(Result::err).unwrap_or_default();
                format!("{why} | - | - | - | - | - | - | - | - | - | - | - | -")
            }
        };
        println!("{}: {fields}", path.what);
        let _ = writeln!(out, "| {} | {} | {fields} |", path.what, path.program);
    }
    out
}
