//! Steps of a script, in the kernel and here at once.

use super::shipped::roomy_image;
use super::steps::{Load, Step};
use sluice_ebpf::MapType;
use sluice_ebpf::kernel::{Difference, Differential, TestInput, possible_cpus};
use sluice_ebpf::vm::Outcome;
use std::path::{Path, PathBuf};

/// A program that is loaded, if one is.
#[derive(Default)]
pub struct Replay {
    running: Option<(Differential, usize)>,
    /// Packets so far.
    pub packets: usize,
}

impl Replay {
    /// What runs.
    pub fn differential(&self) -> &Differential {
        &self.running.as_ref().expect("a program is loaded").0
    }

    fn running(&mut self) -> &mut (Differential, usize) {
        self.running.as_mut().expect("a program is loaded")
    }

    /// Runs one packet.
    pub fn run(&mut self, input: &TestInput<'_>) -> Result<Outcome, Difference> {
        let program = self.running().1;
        self.run_program(program, input)
    }

    /// Runs one packet through a program of the image, by its index there.
    pub fn run_program(&mut self, program: usize, input: &TestInput<'_>) -> Result<Outcome, Difference> {
        self.packets += 1;
        self.running().0.run(program, input)
    }

    /// Carries out one step on both sides.
    pub fn step(&mut self, step: &Step) -> Result<(), Difference> {
        match step {
            Step::Load(load) => self.load(load),
            Step::Packet { ifindex, frame } => {
                self.run(&TestInput { frame, metadata: &[], ifindex: *ifindex, queue: 0 })?;
                self.differential().compare_maps()
            }
            Step::Restore => self.running().0.restore(),
            Step::Look => self.differential().compare_maps(),
            Step::Set { map, key, value, inner, flags } => {
                let (differential, _) = self.running();
                let Some(index) = differential.map(map) else { return Ok(()) };
                if let Some(inner) = inner {
                    let inner = differential.map(inner).ok_or_else(|| Difference(format!("no map `{inner}`")))?;
                    return differential.set_inner(index, key, inner).map(drop);
                }
                let kind = differential.image().maps[index].kind;
                let value = if kind.is_per_cpu() {
                    let mut one = value.clone();
                    one.resize(value.len().next_multiple_of(8), 0);
                    one.repeat(possible_cpus() as usize)
                } else {
                    value.clone()
                };
                differential.set(index, key, &value, *flags).map(drop)
            }
            Step::Delete { map, key } => {
                let (differential, _) = self.running();
                let Some(index) = differential.map(map) else { return Ok(()) };
                differential.delete(index, key).map(drop)
            }
            Step::Pop { map } => {
                let (differential, _) = self.running();
                let Some(index) = differential.map(map) else { return Ok(()) };
                differential.pop(index).map(drop)
            }
            Step::Routes(file) => Err(Difference(format!("the kernel is not given the routes of {}", file.display()))),
        }
    }

    /// Loads a program; entries of maps that are kept go from the old to the new one.
    fn load(&mut self, load: &Load) -> Result<(), Difference> {
        let mut image = roomy_image(&with_given_time(&load.file));
        // The kernel's LRU forgets far below its size, so such maps keep the room that the other tests give them.
        let is_lru = |name: &str| {
            image
                .maps
                .iter()
                .any(|map| map.name == name && matches!(map.kind, MapType::LruHash | MapType::LruPercpuHash))
        };
        let sized: Vec<_> = load.max_entries.iter().filter(|(name, _)| !is_lru(name)).collect();
        for (name, entries) in sized {
            image.set_max_entries(name, *entries).map_err(|e| Difference(e.to_string()))?;
        }
        let wanted = |p: &sluice_ebpf::Program| {
            load.program.as_ref().is_none_or(|n| *n == p.name) && load.section.as_ref().is_none_or(|s| *s == p.section)
        };
        let program = image.programs.iter().position(wanted).ok_or_else(|| Difference("no such program".into()))?;
        let mut next = Differential::new(&image)?;
        if let Some((old, _)) = self.running.take() {
            for (index, map) in image.maps.iter().enumerate() {
                let kept = map.pinned || load.keep.contains(&map.name);
                let Some(from) = old.map(&map.name).filter(|_| kept) else { continue };
                assert!(
                    !matches!(map.kind, MapType::ArrayOfMaps | MapType::HashOfMaps),
                    "maps in maps are not kept here"
                );
                for (key, value) in old.contents(from) {
                    next.set(index, &key, &value, 0)?.map_err(|e| Difference(format!("keeping an entry: {e:?}")))?;
                }
            }
        }
        self.running = Some((next, program));
        Ok(())
    }
}

/// The build whose time, random numbers and processor come from the map `fed`, if there is one:
/// without it the kernel's clock would be compared with ours.
fn with_given_time(file: &Path) -> PathBuf {
    let fed = file.with_extension("fed.o");
    if fed.exists() { fed } else { file.to_path_buf() }
}
