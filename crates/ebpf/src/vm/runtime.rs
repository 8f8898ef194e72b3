//! Programs and maps of one tenant.

use super::code::Loaded;
use super::stack::Stack;
use super::{Cpu, Ingress, Machine, Outcome, Packet, Tracer, WORK_LIMIT};
use crate::address::{CONTEXT, frame_pointer};
use crate::helper::Held;
use crate::image::Initial;
use crate::load::LoadError;
use crate::map::update_flags;
use crate::{Fault, FaultReason, Image, MapId, MapSpace, Redirect, Verdict, World, validate};
use std::collections::BTreeMap;

/// One installed image. Not a NIC generation: numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Installed(pub u32);

#[derive(Debug)]
struct Entry {
    /// Number of its first program.
    first: u32,
    programs: u32,
    maps: Vec<MapId>,
}

/// Programs and maps of one tenant, ready to run.
///
/// Several images may be installed; they share the maps that are kept.
#[derive(Debug)]
pub struct Runtime {
    /// The maps.
    pub maps: MapSpace,
    /// Time, random, routes, events.
    pub world: World,
    /// Most taken back edges and calls of one packet.
    pub work_limit: u64,
    /// By program number.
    programs: Vec<Option<Loaded>>,
    images: BTreeMap<Installed, Entry>,
    next: u32,
    stack: Stack,
    /// Of the last packet.
    tail_called: Vec<u32>,
}

impl Runtime {
    /// Without programs.
    pub fn new(cpus: u32, seed: u64) -> Self {
        Self {
            maps: MapSpace::new(cpus),
            world: World::new(seed),
            work_limit: WORK_LIMIT,
            programs: Vec::new(),
            images: BTreeMap::new(),
            next: 0,
            stack: Stack::new(),
            tail_called: Vec::new(),
        }
    }

    /// Validates every program, makes the maps and binds them. `keep` gives, by index in the
    /// image, a map that is there already and is used instead of a new one. Nothing is changed
    /// when it fails.
    pub fn install(&mut self, image: &Image, keep: &dyn Fn(usize) -> Option<MapId>) -> Result<Installed, LoadError> {
        validate::validate(image)?;
        image.unfit_inner().map_or(Ok(()), Err)?;
        self.install_unchecked(image, keep)
    }

    /// [`Runtime::install`] without validation: what is malformed faults when it is reached.
    pub fn install_unchecked(
        &mut self,
        image: &Image,
        keep: &dyn Fn(usize) -> Option<MapId>,
    ) -> Result<Installed, LoadError> {
        let mut made = Vec::new();
        let mut maps = Vec::new();
        for (index, spec) in image.maps.iter().enumerate() {
            match keep(index).map_or_else(|| self.maps.create(spec).inspect(|id| made.push(*id)), Ok) {
                Ok(id) => maps.push(id),
                Err(error) => {
                    made.into_iter().for_each(|id| self.maps.remove(id));
                    return Err(error.into());
                }
            }
        }
        let first = self.free_numbers(image.programs.len());
        self.fill(image, &maps, &made, first);
        for (program, number) in image.programs.iter().zip(first..) {
            let map = |index: u32| maps.get(index as usize).copied();
            let loaded = Loaded::new(program, &map, &|id| self.maps.first_value(id));
            self.programs[number as usize] = Some(loaded);
        }
        let installed = Installed(self.next);
        self.next += 1;
        let programs = image.programs.len() as u32;
        self.images.insert(installed, Entry { first, programs, maps });
        Ok(installed)
    }

    /// First of `count` program numbers that are free.
    fn free_numbers(&mut self, count: usize) -> u32 {
        let fits = |first: &usize| self.programs.iter().skip(*first).take(count).all(Option::is_none);
        let first = (0..self.programs.len()).find(fits).unwrap_or(self.programs.len());
        let needed = self.programs.len().max(first + count);
        self.programs.resize_with(needed, || None);
        first as u32
    }

    /// First contents of the maps that are new: values, inner maps, programs.
    fn fill(&mut self, image: &Image, maps: &[MapId], made: &[MapId], first: u32) {
        for (spec, &id) in image.maps.iter().zip(maps) {
            if !made.contains(&id) {
                continue;
            }
            for (key, initial) in &spec.initial {
                let value = match initial {
                    Initial::Map(index) => maps.get(*index).map(|m| m.0),
                    Initial::Program(name) => {
                        image.programs.iter().position(|p| p.name == *name).map(|i| first + i as u32)
                    }
                };
                if let Some(value) = value {
                    let (key, value) = (key.to_le_bytes(), value.to_le_bytes());
                    // The loader has checked key and inner map; what is refused stays empty.
                    let _ = self.maps.user_update(id, &key, &value, update_flags::ANY);
                }
            }
        }
    }

    /// Removes an image's programs, and its maps but for those that another image uses.
    pub fn remove(&mut self, image: Installed) {
        let Some(entry) = self.images.remove(&image) else { return };
        for number in entry.first..entry.first + entry.programs {
            self.programs[number as usize] = None;
        }
        for map in entry.maps {
            if !self.images.values().any(|other| other.maps.contains(&map)) && self.maps.spec(map).is_some() {
                self.maps.remove(map);
            }
        }
    }

    /// The map with this index in the image.
    pub fn map(&self, image: Installed, index: usize) -> Option<MapId> {
        self.images.get(&image)?.maps.get(index).copied()
    }

    /// Number of a program (index in the image) in program arrays and traces.
    pub fn program_number(&self, image: Installed, program: usize) -> Option<u32> {
        let entry = self.images.get(&image)?;
        (program < entry.programs as usize).then(|| entry.first + program as u32)
    }

    /// What no other program of this process has, nor had; 0 where there is no program.
    pub fn stamp(&self, number: u32) -> u64 {
        self.programs.get(number as usize).and_then(Option::as_ref).map_or(0, |loaded| loaded.stamp)
    }

    /// Numbers of the programs that the last packet's tail calls went on with, in order.
    pub fn tail_called(&self) -> &[u32] {
        &self.tail_called
    }

    /// Runs program `program` (index in the image) on a packet. A program that does not exist
    /// faults.
    pub fn run(&mut self, image: Installed, program: usize, packet: &mut Packet, ingress: Ingress) -> Outcome {
        let number = self.program_number(image, program).unwrap_or(u32::MAX);
        self.run_number(number, packet, ingress, None)
    }

    /// The same, watched.
    pub fn run_traced(
        &mut self,
        image: Installed,
        program: usize,
        packet: &mut Packet,
        ingress: Ingress,
        tracer: &dyn Tracer,
    ) -> Outcome {
        let number = self.program_number(image, program).unwrap_or(u32::MAX);
        self.run_number(number, packet, ingress, Some(tracer))
    }

    /// The same, carried out by a machine that has this program in a form of its own.
    pub fn run_on(
        &mut self,
        machine: &dyn Machine,
        image: Installed,
        program: usize,
        packet: &mut Packet,
        ingress: Ingress,
    ) -> Outcome {
        let number = self.program_number(image, program).unwrap_or(u32::MAX);
        self.start(number, &ENTRY, packet, ingress, (Some(machine), None))
    }

    /// Runs a program by its number.
    pub fn run_number(
        &mut self,
        number: u32,
        packet: &mut Packet,
        ingress: Ingress,
        tracer: Option<&dyn Tracer>,
    ) -> Outcome {
        self.start(number, &ENTRY, packet, ingress, (None, tracer))
    }

    /// Runs a program by its number, carried out by a machine.
    pub fn run_number_on(
        &mut self,
        machine: &dyn Machine,
        number: u32,
        packet: &mut Packet,
        ingress: Ingress,
    ) -> Outcome {
        self.start(number, &ENTRY, packet, ingress, (Some(machine), None))
    }

    /// Runs a program with these registers on entry, by the interpreter unless a machine is given.
    // Inline, so that what is given is not put into memory and read back in other pieces, which costs as much as all else.
    #[inline(always)]
    pub(crate) fn start(
        &mut self,
        number: u32,
        registers: &[u64; 16],
        packet: &mut Packet,
        ingress: Ingress,
        (machine, tracer): (Option<&dyn Machine>, Option<&dyn Tracer>),
    ) -> Outcome {
        self.stack.enter(0);
        self.tail_called.clear();
        let mut cpu = Cpu {
            registers: *registers,
            packet,
            ingress,
            maps: &mut self.maps,
            world: &mut self.world,
            held: Held::default(),
            redirect: None,
            tail_call: None,
            programs: &self.programs,
            tail_called: &mut self.tail_called,
            program: number,
            stack: &mut self.stack,
            instructions: 0,
            work: 0,
            limit: self.work_limit,
            tracer,
            machine,
            place: None,
        };
        let result = match machine {
            Some(machine) => machine.execute(&mut cpu, 0),
            None if tracer.is_some() => cpu.execute::<true>(0),
            None => cpu.execute::<false>(0),
        };
        cpu.finish(result)
    }
}

/// Registers on entry: r1 is the context, r10 the end of the first frame.
static ENTRY: [u64; 16] = {
    let mut registers = [0; 16];
    registers[1] = CONTEXT as u64;
    registers[10] = frame_pointer(0);
    registers
};

impl Cpu<'_> {
    /// The outcome of a run that ended.
    #[inline]
    fn finish(&mut self, result: Result<(), FaultReason>) -> Outcome {
        let instructions = self.instructions;
        let Err(reason) = result else {
            let r0 = self.registers[0];
            let verdict = Verdict::from_r0(r0);
            let redirect = self.redirect.take().filter(|_: &Redirect| verdict == Verdict::Redirect);
            return Outcome { r0, verdict, redirect, instructions, fault: None };
        };
        self.faulted(reason)
    }

    #[cold]
    fn faulted(&mut self, reason: FaultReason) -> Outcome {
        self.abandon_held();
        let (program, pc, registers) = self.place.unwrap_or((self.program, 0, self.registers));
        let name = self.programs.get(program as usize).and_then(Option::as_ref).map(|p| p.name.clone());
        let mut kept = [0; 11];
        kept.copy_from_slice(&registers[..11]);
        let fault = Fault { reason, program: name.unwrap_or_default(), pc, registers: kept };
        Outcome {
            r0: 0,
            verdict: Verdict::Aborted,
            redirect: None,
            instructions: self.instructions,
            fault: Some(fault),
        }
    }
}
