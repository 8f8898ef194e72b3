//! The paths of the aims (docs/hxdp-cycles.md) on the engine in RTL: shipped objects through the linker, with the maps of their scripts.

#[path = "../../../hxdp/tests/cycle_figures/path_list.rs"]
#[allow(dead_code)] // Others use more of it.
pub mod path_list;
#[path = "../../../ebpf/tests/kernel_programs/steps.rs"]
#[allow(dead_code)]
mod steps;

use super::support::device::{Nic, object};
use super::{VARIANT, area};
use crate::traffic::frames::with_tag;
use path_list::{DROP, PATHS, PUBLISHED_LUT, Path, SWAP};
use sluice_device::{Device, Event, Offer, Outcome};
use sluice_ebpf::{MapSpec, MapType, load, tenant};
use sluice_object::{Object, XdpMemory};
use sluice_rtlsim::{RtlNic, RtlOptions, top};
use std::fmt::Write;
use std::path::{Path as FilePath, PathBuf};
use steps::{Load, Step};

/// Packets before those that are measured, and these.
pub const WARM: usize = 200;
pub const MEASURED: usize = 1000;
/// Packets that wait in the queue at most, so that none is dropped, and at least, so that the cores are never idle.
const WAITING: usize = 300;
/// Entries of a map at most: what the objects ask for is more than the value memory has.
const MOST_ENTRIES: u32 = 1024;
/// Tenant, and his VLAN.
pub const TENANT: u16 = 1;

/// A lone packet takes at most so many times the published cycles, on the first paths.
const ALONE: (usize, f64) = (7, 4.0);

/// A path's engine, and what a packet of it is.
pub struct Ready {
    /// The engine, loaded.
    pub nic: Nic<RtlNic>,
    /// Frames as they come to the NIC, tag included.
    pub frames: Vec<Vec<u8>>,
}

/// How packets are offered.
pub struct Flood {
    /// Most that wait.
    pub waiting: usize,
}

impl Default for Flood {
    fn default() -> Self {
        Self { waiting: WAITING }
    }
}

/// The path with this name.
pub fn named(what: &str) -> &'static Path {
    PATHS.iter().find(|path| path.what == what).unwrap_or_else(|| panic!("no path {what}"))
}

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = String::from(
        "The [paths of the aims](hxdp-cycles.md#the-paths-of-the-aims) on the engine alone, default target, from the shipped objects on \
         through the linker, all of it on the cores (`warp = false`).\nFrames of 64 bytes back to back, the path's packets in turns: cycles from an end to the next, the mean of \
         1,000 behind 200 others, all\nmaps with at most 1,024 entries. *Alone*: cycles from a packet's first beat in to its first beat \
         out, or to its drop. The published core is one\npacket at a time of 42 k LUT. *Of 4 times*: 4 times the published cycles, where that is the aim of a packet alone. *Density*: packets in 1,000 \
         cycles for each 10,000 LUT,\nof the published core and of this one",
    );
    let (lut, day) = area::engine();
    let _ = write!(
        out,
        ", whose LUT are the sum of its blocks, {lut:.0} ([area](synth.md#the-xdp-engine), {day}).\n\n\
         | path | program | published | aim | cycles | reached | alone | of 4 times | reached | density, published | density |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (at, path) in PATHS.iter().enumerate() {
        let yes = |reached: bool| if reached { "yes" } else { "no" };
        let density = |cycles: f64, lut: f64| 1e7 / cycles / lut;
        let measured = ready(path, seed).map(|mut ready| {
            (alone(&mut ready), interval(&mut ready, path.what, path.begins_flows(), &Flood::default()))
        });
        let fields = match measured {
            Ok((alone, cycles)) => {
                let most = ALONE.1 * path.published;
                let of = if at < ALONE.0 { format!("{most:.0} | {}", yes(alone <= most)) } else { "- | -".to_owned() };
                format!(
                    "{cycles:.1} | {} | {alone:.0} | {of} | {:.2} | {:.2}",
                    yes(cycles <= path.aim),
                    density(path.published, PUBLISHED_LUT),
                    density(cycles, lut)
                )
            }
            Err(why) => format!("{why} | - | - | - | - | - | -"),
        };
        let _ = writeln!(out, "| {} | {} | {} | {} | {fields} |", path.what, path.program, path.published, path.aim);
    }
    out
}

/// An engine of the default target, with or without tables in front of the cores.
pub fn open(seed: u64, warp: bool) -> Result<Nic<RtlNic>, String> {
    let options = RtlOptions { top: &top::XDP, variant: VARIANT, seed, ..RtlOptions::default() };
    let nic = RtlNic::open("default", options).map_err(|e| e.to_string())?;
    Ok(Nic::given(nic, |spec| spec.xdp_warp = warp))
}

/// Loads the path's program and sets its maps; its other packets have passed. The cores have all of it.
pub fn ready(path: &Path, seed: u64) -> Result<Ready, String> {
    ready_on(open(seed, false)?, path, false)
}

/// The same on an engine that is there, with all maps in external memory that may lie there, or with none.
pub fn ready_on(mut nic: Nic<RtlNic>, path: &Path, outside: bool) -> Result<Ready, String> {
    let bare = match path.program {
        "bare drop" => Some(DROP),
        "bare swap" => Some(SWAP),
        _ => None,
    };
    if let Some(text) = bare {
        nic.put(TENANT, &object("bare", text, Vec::new(), &[])).map_err(|e| e.to_string())?;
        return Ok(Ready { nic, frames: vec![with_tag(vec![2; 64], TENANT)] });
    }
    let script =
        FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp").join(path.program).join("path.pkt");
    let frames = scripted(&mut nic, &script, outside)?;
    let mut frames: Vec<Vec<u8>> = frames.into_iter().map(|(_, frame)| frame).collect();
    // Those that are not the path's begin its flows.
    let others: Vec<Vec<u8>> =
        (0..frames.len()).filter(|n| !path.packets.contains(n)).map(|n| frames[n].clone()).collect();
    for frame in if path.begins_flows() { Vec::new() } else { others } {
        run(&mut nic, &mut std::iter::once(frame), &Flood::default());
    }
    frames = path.packets.iter().map(|n| frames[*n].clone()).collect();
    Ok(Ready { nic, frames })
}

/// Loads a script's program and sets its maps: its frames, with the ports where they come.
fn scripted(nic: &mut Nic<RtlNic>, script: &FilePath, outside: bool) -> Result<Vec<(u8, Vec<u8>)>, String> {
    let mut frames = Vec::new();
    for step in steps::steps(script).concat() {
        match step {
            Step::Load(load) => nic.put(TENANT, &loaded(&load, outside)).map_err(|e| e.to_string())?,
            Step::Set { map, key, value, flags, .. } => set(nic, &map, &key, value, flags)?,
            Step::Packet { ifindex, frame } => frames.push((ifindex as u8 - 1, with_tag(frame, TENANT))),
            Step::Restore | Step::Look | Step::Pop { .. } | Step::Delete { .. } | Step::Routes(_) => {}
        }
    }
    Ok(frames)
}

/// Sets an entry of one of the tenant's maps.
pub fn set(nic: &mut Nic<RtlNic>, map: &str, key: &[u8], mut value: Vec<u8>, flags: u64) -> Result<(), String> {
    let module = nic.module(TENANT);
    let maps = nic.device.maps().map_err(|e| e.to_string())?;
    let found = maps.list(module).map_err(|e| e.to_string())?;
    let found = found.iter().find(|m| m.declared.name == map).ok_or(format!("no map {map}"))?;
    // The value given is for other processors than the engine has; further copies are zeros.
    if MapType::from_number(found.declared.kind).is_some_and(MapType::is_per_cpu) {
        let copy = (found.declared.value_size as usize).next_multiple_of(8);
        value.resize(copy * maps.cpus() as usize, 0);
    }
    maps.update(module, found.id, key, &value, flags).map_err(|e| e.to_string())
}

/// Flow-serial programs: object, script, and the packet of it that comes again and again.
const SERIAL: [(&str, &str, usize); 4] = [
    ("learning_switch", "learning_switch", 2),
    ("firewall", "firewall", 2),
    ("nat.fed", "nat", 0),
    ("lru_conntrack.fed", "lru_conntrack", 2),
];

/// The section of docs/measurements.md about packets of one flow.
pub fn flows(seed: u64) -> String {
    let mut out = String::from(
        "Programs whose packets of one flow wait for each other, on the engine alone, default target, as above: a packet of the object's script \
         comes again and again,\nonce in one flow, once with 64 source ports in turns. *Alone*: from its first beat in to its first beat out, or to its drop.\n\n\
         | program | one flow, cycles a packet | 64 flows | alone |\n| --- | --- | --- | --- |\n",
    );
    for (object, script, packet) in SERIAL {
        let mut nic = open(seed, false).unwrap_or_else(|e| panic!("{e}"));
        let folder = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp").join(script);
        let frames = scripted(&mut nic, &folder.join(format!("{script}.pkt")), false).unwrap_or_else(|e| panic!("{e}"));
        // What those before it leave behind.
        for (port, bytes) in frames[..packet].iter().cloned() {
            let at = nic.device.now();
            nic.device.offer_owned(vec![Offer { port, bytes, at, bad: false }]).unwrap_or_else(|e| panic!("{e}"));
            nic.device.advance(5_000).unwrap_or_else(|e| panic!("{e}"));
            nic.device.poll(usize::MAX);
        }
        assert_eq!(frames[packet].0, 0, "packets come at port 0");
        let mut ready = Ready { nic, frames: vec![frames[packet].1.clone()] };
        let flow = |number: u16| {
            let mut frame = frames[packet].1.clone();
            frame[38..40].copy_from_slice(&(10_000 + number).to_be_bytes());
            frame
        };
        let one = interval(&mut ready, script, false, &Flood::default());
        let alone = alone(&mut ready);
        ready.frames = (0..64).map(flow).collect();
        let many = interval(&mut ready, script, false, &Flood::default());
        let _ = writeln!(out, "| {object} | {one:.1} | {many:.1} | {alone:.0} |");
    }
    out
}

/// Whether a map may lie in external memory.
fn may_be_outside(map: &MapSpec) -> bool {
    use MapType::{Array, Hash, LpmTrie, LruHash, LruPercpuHash, PercpuArray, PercpuHash};
    let kinds = [Array, Hash, LpmTrie, LruHash, LruPercpuHash, PercpuArray, PercpuHash];
    kinds.contains(&map.kind) && !map.name.starts_with('.')
}

fn loaded(load: &Load, outside: bool) -> Object {
    let file: &PathBuf = &load.file;
    let bytes = std::fs::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut image = load::load(&bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    image.maps.iter_mut().for_each(|map| map.max_entries = map.max_entries.clamp(1, MOST_ENTRIES));
    let places = image.maps.iter().filter(|map| outside && may_be_outside(map));
    let options = tenant::Options {
        places: places.map(|map| (map.name.clone(), XdpMemory::Outside)).collect(),
        section: load.section.clone(),
        program: load.program.clone(),
        keep: load.keep.clone(),
        ..tenant::Options::default()
    };
    tenant::object("path", &image, &options).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

/// Plays frames, and gives what became of them in the order in which they ended.
pub fn run(nic: &mut Nic<RtlNic>, frames: &mut dyn Iterator<Item = Vec<u8>>, flood: &Flood) -> Vec<Outcome> {
    let (mut offered, mut ended) = (0, Vec::new());
    let mut more = true;
    while more || ended.len() < offered {
        let at = nic.device.now();
        let offers: Vec<Offer> = frames
            .take(flood.waiting.saturating_sub(offered - ended.len()))
            .map(|bytes| Offer { port: 0, bytes, at, bad: false })
            .collect();
        more = !offers.is_empty() || ended.len() + flood.waiting <= offered;
        offered += offers.len();
        nic.device.offer_owned(offers).unwrap_or_else(|e| panic!("{e}"));
        nic.device.advance(50).unwrap_or_else(|e| panic!("{e}"));
        ended.extend(nic.device.poll(usize::MAX).into_iter().filter_map(|event| match event {
            Event::Outcome(outcome) => Some(outcome),
            Event::OpDone { .. } => None,
        }));
    }
    ended
}

fn end(outcome: &Outcome) -> u64 {
    outcome.first_out.or(outcome.last_out).unwrap_or_default()
}

/// Mean of the path's packets, each alone in the engine.
pub fn alone(ready: &mut Ready) -> f64 {
    let mut sum = 0;
    for frame in ready.frames.clone() {
        let outcomes = run(&mut ready.nic, &mut std::iter::once(frame), &Flood::default());
        sum += end(&outcomes[0]) - outcomes[0].first_in.unwrap_or_default();
    }
    sum as f64 / ready.frames.len() as f64
}

/// Cycles from the end of a packet to the next one's, back to back.
pub fn interval(ready: &mut Ready, what: &str, begins_flows: bool, flood: &Flood) -> f64 {
    let frames = ready.frames.clone();
    let numbered = |number: usize| {
        let mut frame = frames[number % frames.len()].clone();
        if begins_flows {
            // The source port.
            frame[38..40].copy_from_slice(&(10_000 + number as u16).to_be_bytes());
        }
        frame
    };
    let outcomes = run(&mut ready.nic, &mut (0..2 * WARM + MEASURED).map(numbered), flood);
    let lost = outcomes.iter().filter(|o| matches!(o.verdict, sluice_device::Verdict::Dropped { reason, .. } if reason == sluice_formats::Reason::XdpQueue));
    assert_eq!(lost.count(), 0, "{what}: the queue was full");
    let mut ends: Vec<u64> = outcomes.iter().map(end).collect();
    ends.sort_unstable();
    (ends[WARM + MEASURED] - ends[WARM]) as f64 / MEASURED as f64
}
