//! One program run twice, by the interpreter and compiled, on worlds of their own that must stay alike.

pub mod defined;
#[path = "../../../ebpf/tests/analysis_support/packets.rs"]
pub mod packets;
#[path = "../../../ebpf/tests/analysis_support/programs.rs"]
pub mod programs;
#[path = "../../../ebpf/tests/analysis_support/shipped.rs"]
mod shipped;
#[path = "../../../ebpf/tests/kernel_programs/steps.rs"]
#[allow(dead_code)] // Others use more of it.
pub mod steps;

pub use shipped::shipped;
use sluice_ebpf::helper::routes::Routes;
use sluice_ebpf::map::as_libbpf_creates;
use sluice_ebpf::state::State;
use sluice_ebpf::vm::{Ingress, Installed, Outcome};
use sluice_ebpf::{Image, MapType, Packet, Runtime, load};
use sluice_formats::random::Rng;
use sluice_jit::{Jit, Refused};
use std::path::Path;
use steps::{Load, Step};

/// Processors of both sides' maps.
const CPUS: u32 = 2;

/// Numbers of helpers that run functions of the program.
const LOOP: i32 = 181;
const FOR_EACH: i32 = 164;

/// Both sides: interpreted, compiled.
pub struct Twins {
    /// What both run.
    pub image: Image,
    /// The compiled side's code.
    pub jit: Jit,
    /// Programs that are not compiled.
    pub refused: Vec<Refused>,
    /// Both sides.
    pub sides: [(Runtime, Installed, Packet); 2],
}

impl Twins {
    /// Installs an image on both sides.
    pub fn new(image: Image, work: Option<u64>) -> Self {
        let side = || {
            let mut runtime = Runtime::new(CPUS, 7);
            runtime.work_limit = work.unwrap_or(runtime.work_limit);
            let installed = runtime.install_unchecked(&image, &|_| None).unwrap_or_else(|e| panic!("{e}"));
            (runtime, installed, Packet::new(&[]))
        };
        let sides = [side(), side()];
        let mut jit = Jit::new();
        let refused = jit.compile(&sides[1].0, &image, sides[1].1);
        Self { image, jit, refused, sides }
    }

    /// Runs a packet on both sides and compares what became of it.
    pub fn run(&mut self, program: usize, frame: &[u8], ingress: Ingress) -> Result<Outcome, String> {
        let [(runtime, installed, packet), (other, other_installed, other_packet)] = &mut self.sides;
        packet.set(frame);
        other_packet.set(frame);
        let expected = runtime.run(*installed, program, packet, ingress);
        let found = other.run_on(&self.jit, *other_installed, program, other_packet, ingress);
        let place = |o: &Outcome| o.fault.as_ref().map(|f| (f.reason, f.program.clone(), f.pc));
        let end = |o: &Outcome| (o.r0, o.verdict, o.redirect, o.instructions, place(o));
        same("outcome", &end(&expected), &end(&found))?;
        if let (Some(a), Some(b)) = (&expected.fault, &found.fault) {
            // Registers that nobody reads any more hold nothing. In front of a helper that ran functions the interpreter shows
            // what these left in r1 to r5.
            let slot = self.image.programs[0].insns.get(a.pc as usize).map_or(0, |insn| insn.imm);
            let shown = |r: usize| ![LOOP, FOR_EACH].contains(&slot) || !(1..6).contains(&r);
            let pairs = a.registers.iter().zip(&b.registers).enumerate();
            let differ = pairs.filter(|(r, _)| shown(*r)).any(|(_, (a, b))| *b != 0 && a != b);
            if differ {
                same("registers", &a.registers, &b.registers)?;
            }
        }
        same("tail calls", &runtime.tail_called(), &other.tail_called())?;
        same("events", &runtime.world.take_events(), &other.world.take_events())?;
        same("frame", &packet.frame(), &other_packet.frame())?;
        same("metadata", &packet.metadata(), &other_packet.metadata())?;
        Ok(expected)
    }

    /// Compares all maps.
    pub fn compare_maps(&self) -> Result<(), String> {
        let [a, b] = [&self.sides[0].0.maps, &self.sides[1].0.maps].map(|maps| State::of(maps).to_json());
        same("maps", &a, &b)
    }

    /// The same change of both sides.
    pub fn each(&mut self, change: impl Fn(&mut Runtime, Installed)) {
        self.sides.iter_mut().for_each(|(runtime, installed, _)| change(runtime, *installed));
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what}: expected {expected:02x?}\nfound {found:02x?}")) }
}

/// An object file, with sizes for maps that it leaves open.
pub fn image(path: &Path) -> Result<Image, String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let mut image = load::load(&bytes).map_err(|e| e.to_string())?;
    for map in &mut image.maps {
        let inner = map.inner.as_deref_mut().into_iter();
        inner.filter(|inner| inner.max_entries == 0).for_each(|inner| inner.max_entries = 64);
        if map.max_entries == 0 {
            map.max_entries = 64;
        }
        *map = as_libbpf_creates(map, CPUS);
    }
    Ok(image)
}

/// Carries out a script's steps on both sides; gives its packets.
pub fn play(steps: &[Step]) -> Result<u64, String> {
    let mut running: Option<(Twins, usize)> = None;
    let mut packets = 0;
    for step in steps {
        if let Step::Load(load) = step {
            running = Some(loaded(load)?);
            continue;
        }
        let (twins, program) = running.as_mut().ok_or("no program is loaded")?;
        let index = |name: &str| twins.image.map(name);
        match step {
            Step::Packet { ifindex, frame } => {
                packets += 1;
                twins.run(*program, frame, Ingress { ifindex: *ifindex, queue: 0 })?;
                twins.compare_maps()?;
            }
            Step::Set { map, key, value, inner, flags } => {
                let Some(at) = index(map) else { continue };
                let inner = inner.as_ref().and_then(|inner| index(inner));
                let kind = twins.image.maps[at].kind;
                twins.each(|runtime, installed| {
                    let id = runtime.map(installed, at).unwrap();
                    let mut value = value.clone();
                    if let Some(inner) = inner.and_then(|inner| runtime.map(installed, inner)) {
                        value = inner.0.to_le_bytes().to_vec();
                    } else if kind.is_per_cpu() {
                        value.resize(value.len().next_multiple_of(8), 0);
                        value = value.repeat(CPUS as usize);
                    }
                    let _ = runtime.maps.user_update(id, key, &value, *flags);
                });
            }
            Step::Delete { map, key } => {
                let Some(at) = index(map) else { continue };
                twins.each(|runtime, installed| {
                    let _ = runtime.maps.user_delete(runtime.map(installed, at).unwrap(), key);
                });
            }
            Step::Pop { map } => {
                let Some(at) = index(map) else { continue };
                twins.each(|runtime, installed| {
                    let _ = runtime.maps.user_pop(runtime.map(installed, at).unwrap());
                });
            }
            Step::Routes(file) => {
                let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
                let routes = Routes::parse(&text).map_err(|e| e.to_string())?;
                twins.each(|runtime, _| runtime.world.routes = routes.clone());
            }
            Step::Look | Step::Restore | Step::Load(_) => {}
        }
    }
    Ok(packets)
}

/// Entries that a replacement keeps are not kept here: both sides begin anew.
fn loaded(load: &Load) -> Result<(Twins, usize), String> {
    let mut image = image(&load.file)?;
    for (name, entries) in &load.max_entries {
        image.set_max_entries(name, *entries).map_err(|e| e.to_string())?;
    }
    let wanted = |p: &sluice_ebpf::Program| {
        load.program.as_ref().is_none_or(|n| *n == p.name) && load.section.as_ref().is_none_or(|s| *s == p.section)
    };
    let program = image.programs.iter().position(wanted).ok_or("no such program")?;
    let twins = Twins::new(image, None);
    assert!(twins.refused.is_empty(), "{}: {:?}", load.file.display(), twins.refused);
    Ok((twins, program))
}

/// Puts entries of few different bytes into every map.
pub fn fill(twins: &mut Twins, rng: &mut Rng) {
    let maps: Vec<(usize, MapType, u32, u32)> =
        twins.image.maps.iter().enumerate().map(|(i, m)| (i, m.kind, m.key_size, m.value_size)).collect();
    for (index, kind, key_size, value_size) in maps {
        if kind.holds_maps() || matches!(kind, MapType::ProgArray) {
            continue;
        }
        for entry in 0..16u32 {
            let few = |rng: &mut Rng, n: u32| -> Vec<u8> {
                (0..n).map(|_| [0, 0, 0, 1, 2, 10, 80, 255][rng.index(8)]).collect()
            };
            let mut key = few(rng, key_size);
            if key_size == 4 && rng.chance(3, 4) {
                key = entry.to_le_bytes().to_vec();
            }
            let mut value = few(rng, value_size);
            if kind.is_per_cpu() {
                value.resize(value.len().next_multiple_of(8), 0);
                value = value.repeat(CPUS as usize);
            }
            twins.each(|runtime, installed| {
                if let Some(id) = runtime.map(installed, index) {
                    let _ = runtime.maps.user_update(id, &key, &value, 0);
                }
            });
        }
    }
}

/// How long a fuzz test goes on.
pub fn seconds() -> std::time::Duration {
    let asked = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok());
    std::time::Duration::from_secs(asked.unwrap_or(1))
}
