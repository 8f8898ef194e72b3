//! The paths of the aims with their maps in external memory, which answers after exactly 100 cycles.
//!
//! The cache of the engine has room for all that the paths touch. So the plug-ins are built to forget lines behind some of the accesses
//! (`SLUICE_XDP_FORGET`, in 256ths): behind a tenth of them, and behind all.

use super::VARIANT;
use super::paths::path_list::{PATHS, Path};
use super::paths::{Flood, MEASURED, WARM, alone, interval, ready_on};
use super::support::device::{Nic, array, object};
use sluice_device::Device;
use sluice_ebpf::{MapSpec, MapType};
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
/// Tenant whose maps fill the chip.
const FILLER: u16 = 2;
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

/// An engine on whose chip no map finds room but in so many pages.
fn engine(forget: u32, seed: u64, free: Option<usize>) -> Nic<RtlNic> {
    let path = plugin(forget).unwrap_or_else(|| panic!("no plug-in {CONFIG}"));
    let options = RtlOptions { top: &top::XDP, variant: VARIANT, seed, ..RtlOptions::default() };
    let plugin = Plugin::load(&top::XDP, &path).unwrap_or_else(|e| panic!("{e}"));
    let mut nic = Nic::new(RtlNic::start(plugin, options).unwrap_or_else(|e| panic!("{e}")));
    nic.device.set_values_memory(LATENCY..=LATENCY, 256, 0).unwrap_or_else(|e| panic!("{e}"));
    if let Some(free) = free {
        // Each takes half of what is left: values, then rows of search memory. The smallest of values are a page.
        let pages = (0..8).map(|half| 128 >> half).chain([1]).take(9 - free);
        let mut maps: Vec<MapSpec> =
            pages.enumerate().map(|(n, pages)| array(&format!("values{n}"), 8, 512 * pages)).collect();
        maps.extend((4..15).rev().map(|bits| MapSpec::new(format!("rows{bits}"), MapType::Hash, 4, 4, 1 << bits)));
        nic.put(FILLER, &object("fill", "r0 = 2\nexit\n", maps, &[])).unwrap_or_else(|e| panic!("{e}"));
    }
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
}

/// Each path on the chip, or outside with so many lines forgotten: on one engine, one behind the other.
fn measured(seed: u64, forget: Option<u32>) -> Vec<Result<Measured, String>> {
    let open = |free| engine(forget.unwrap_or(0), seed, forget.is_some().then_some(free));
    let (mut nic, mut free) = (None, 2);
    let paths = PATHS.iter().filter(is_measured);
    let one = |path: &Path| {
        // Maps that lie on the chip alone find the pages that they need.
        let mut found = ready_on(nic.take().unwrap_or_else(|| open(free)), path);
        while found.is_err() && free < 6 && forget.is_some() {
            free += 1;
            found = ready_on(open(free), path);
        }
        let mut ready = found?;
        let maps = outside(&mut ready.nic);
        let alone = alone(&mut ready);
        let before = counts(&mut ready.nic);
        let cycles = interval(&mut ready, path.what, path.begins_flows(), &Flood::default());
        let after = counts(&mut ready.nic);
        let each = |after: u32, before: u32| f64::from(after.wrapping_sub(before)) / (2 * WARM + MEASURED) as f64;
        let (accesses, misses) = (each(after.accesses, before.accesses), each(after.lines, before.lines));
        println!(
            "{forget:?} {}: {} of {} maps outside, {cycles:.1} cycles, {accesses:.1} accesses, {misses:.1} misses",
            path.what, maps.1, maps.0
        );
        let mut after = ready.nic;
        after.unload(super::paths::TENANT);
        nic = Some(after);
        Ok(Measured { maps, cycles, alone, accesses, misses })
    };
    paths.map(one).collect()
}

fn is_measured(path: &&Path) -> bool {
    !path.program.starts_with("bare")
}

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = format!(
        "The same paths on the engine of `far`, alone, with another tenant's maps on the chip, so that all of a path's maps that may lie in external memory lie there. Memory answers after \
         {LATENCY} cycles.\n*Maps*: how many lie outside, values or rows. *Accesses*: of values and rows in external memory, each packet. *At 90 %*: the line is forgotten behind a tenth of all accesses; *without hits*: behind \
         all. *Misses*: lines that are asked for, each packet.\n*Aims*: 1.5 times the cycles on the chip of `default`; 1.15 times the larger one of these and (cycles alone + misses x {LATENCY}) / 16.\n\n\
         | path | program | maps | on the chip: `default` | `far` | outside, all hits | accesses | at 90 %: cycles | misses | aim | reached | without hits: cycles | misses | aim | reached |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    let all = [None, Some(0), Some(TENTH), Some(ALL)].map(|forget| measured(seed, forget).into_iter());
    let [mut chip, mut hits, mut tenth, mut none] = all;
    for path in PATHS.iter().filter(is_measured) {
        let all = [&mut chip, &mut hits, &mut tenth, &mut none].map(|all| all.next().expect("as many as paths"));
        let fields = match all {
            [Ok(chip), Ok(hits), Ok(tenth), Ok(none)] => {
                let yes = |reached: bool| if reached { "yes" } else { "no" };
                let (on_chip, _) = path.of_rtl();
                let few = 1.5 * on_chip;
                let most = 1.15 * on_chip.max((chip.alone + none.misses * f64::from(LATENCY)) / CONTEXTS);
                format!(
                    "{} of {} | {on_chip:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {few:.1} | {} | {:.1} | {:.1} | {most:.1} | {}",
                    hits.maps.1,
                    hits.maps.0,
                    chip.cycles,
                    hits.cycles,
                    hits.accesses,
                    tenth.cycles,
                    tenth.misses,
                    yes(tenth.cycles <= few),
                    none.cycles,
                    none.misses,
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
