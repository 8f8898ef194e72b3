//! One image in the kernel and in the interpreter: the same entries, the same packets, state carried over.
//!
//! The rules of comparison are docs/design/xdp-oracle.md.

use super::{Entry, Kernel, KernelError, PerfReader, RingReader, TestInput, possible_cpus};
use crate::image::Initial;
use crate::vm::{At, Ingress, Installed, Outcome, Tracer};
use crate::world::Event;
use crate::{Errno, Image, MapId, MapType, Packet, Runtime};
use std::cell::RefCell;
use std::fmt::Write as _;

/// The first difference that was found, ready to print.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Difference(pub String);

impl From<KernelError> for Difference {
    fn from(e: KernelError) -> Self {
        Self(format!("the kernel refuses: {e}"))
    }
}

/// Counts how often each slot of each program ran.
#[derive(Debug, Default)]
struct Hits(RefCell<Vec<Vec<u64>>>);

impl Tracer for Hits {
    fn before(&self, at: At, _: &[u64; 16]) {
        let mut hits = self.0.borrow_mut();
        if let Some(hit) = hits.get_mut(at.program as usize).and_then(|p| p.get_mut(at.pc as usize)) {
            *hit += 1;
        }
    }
}

/// A ring buffer whose records are compared.
struct Ring {
    map: usize,
    reader: RingReader,
}

/// An image that runs in the kernel and here.
pub struct Differential {
    image: Image,
    kernel: Kernel,
    runtime: Runtime,
    installed: Installed,
    packet: Packet,
    hits: Hits,
    rings: Vec<Ring>,
    perfs: Vec<(usize, PerfReader)>,
}

impl Differential {
    /// Makes maps and programs on both sides. The calling thread must be pinned to processor 0
    /// ([`super::Pinned`]), or per-CPU values go to different copies.
    pub fn new(image: &Image) -> Result<Self, Difference> {
        let kernel = Kernel::load(image)?;
        let mut runtime = Runtime::new(possible_cpus(), 0);
        let mut image = image.clone();
        for (spec, made) in image.maps.iter_mut().zip(&kernel.maps) {
            spec.max_entries = made.spec().max_entries;
        }
        let installed = runtime
            .install(&image, &|_| None)
            .map_err(|e| Difference(format!("the kernel accepts what is refused here: {e}")))?;
        // As in a test run, where the host reads between packets only.
        runtime.maps.set_ring_consumer(false);
        let slots = image.programs.iter().map(|p| vec![0; p.insns.len()]).collect();
        let (mut rings, mut perfs) = (Vec::new(), Vec::new());
        for (index, map) in kernel.maps.iter().enumerate() {
            match map.spec().kind {
                MapType::Ringbuf => rings.push(Ring { map: index, reader: RingReader::new(map)? }),
                MapType::PerfEventArray => perfs.push((index, PerfReader::new(map, 0)?)),
                _ => {}
            }
        }
        let hits = Hits(RefCell::new(slots));
        Ok(Self { image, kernel, runtime, installed, packet: Packet::new(&[]), hits, rings, perfs })
    }

    /// The image that runs.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The map with this name, by its index in the image.
    pub fn map(&self, name: &str) -> Option<usize> {
        self.image.maps.iter().position(|m| m.name == name)
    }

    fn id(&self, map: usize) -> MapId {
        self.runtime.map(self.installed, map).expect("every map of the image was made")
    }

    /// Sets an entry on both sides from the user side; they must agree whether that works.
    pub fn set(&mut self, map: usize, key: &[u8], value: &[u8], flags: u64) -> Result<Result<(), Errno>, Difference> {
        let id = self.id(map);
        let there = self.kernel.maps[map].update(key, value, flags);
        let here = self.runtime.maps.user_update(id, key, value, flags);
        self.agree(map, "set", key, there, here)
    }

    /// Removes an entry on both sides from the user side.
    pub fn delete(&mut self, map: usize, key: &[u8]) -> Result<Result<(), Errno>, Difference> {
        let id = self.id(map);
        let there = self.kernel.maps[map].delete(key);
        let here = self.runtime.maps.user_delete(id, key);
        self.agree(map, "delete", key, there, here)
    }

    /// Takes an element out of a queue or stack on both sides from the user side.
    pub fn pop(&mut self, map: usize) -> Result<Result<Vec<u8>, Errno>, Difference> {
        let id = self.id(map);
        let there = self.kernel.maps[map].pop();
        let here = self.runtime.maps.user_pop(id);
        if there != here {
            let name = &self.image.maps[map].name;
            return Err(Difference(format!("pop of `{name}`: kernel {there:02x?}, here {here:02x?}\n")));
        }
        Ok(here)
    }

    /// Puts map `inner` into a map of maps, on both sides.
    pub fn set_inner(&mut self, map: usize, key: &[u8], inner: usize) -> Result<Result<(), Errno>, Difference> {
        let (id, value) = (self.id(map), self.id(inner));
        let there = self.kernel.maps[map].update(key, &self.kernel.maps[inner].fd().to_le_bytes(), 0);
        let here = self.runtime.maps.user_update(id, key, &value.0.to_le_bytes(), 0);
        self.agree(map, "set", key, there, here)
    }

    /// Sets the entries that the object gives (inner maps, programs of program arrays) anew.
    pub fn restore(&mut self) -> Result<(), Difference> {
        for map in 0..self.image.maps.len() {
            for (key, initial) in self.image.maps[map].initial.clone() {
                let key = key.to_le_bytes();
                match initial {
                    Initial::Map(inner) => self.set_inner(map, &key, inner)?,
                    Initial::Program(name) => self.set_program(map, &key, &name)?,
                }
                .map_err(|e| Difference(format!("an entry that the object gives: {e:?}")))?;
            }
        }
        Ok(())
    }

    /// Puts a program into a program array, on both sides.
    pub fn set_program(&mut self, map: usize, key: &[u8], program: &str) -> Result<Result<(), Errno>, Difference> {
        let index = self.image.program(program).ok_or_else(|| Difference(format!("no program `{program}`")))?;
        let number = self.runtime.program_number(self.installed, index).expect("every program of the image is there");
        let there = self.kernel.maps[map].update(key, &self.kernel.programs[index].fd().to_le_bytes(), 0);
        let here = self.runtime.maps.user_update(self.id(map), key, &number.to_le_bytes(), 0);
        self.agree(map, "set", key, there, here)
    }

    /// The value of an entry, which both sides must agree on.
    pub fn get(&self, map: usize, key: &[u8]) -> Result<Result<Vec<u8>, Errno>, Difference> {
        let there = self.kernel.maps[map].lookup(key);
        let here = self.runtime.maps.user_lookup(self.id(map), key);
        self.agree(map, "lookup", key, there, here)
    }

    fn agree<T: PartialEq + std::fmt::Debug>(
        &self,
        map: usize,
        what: &str,
        key: &[u8],
        there: Result<T, Errno>,
        here: Result<T, Errno>,
    ) -> Result<Result<T, Errno>, Difference> {
        if there == here {
            return Ok(here);
        }
        let name = &self.image.maps[map].name;
        Err(Difference(format!("map `{name}`, {what} {}: kernel {there:?}, here {here:?}", hex(key))))
    }

    /// Runs program `program` on one packet on both sides: r0's lower half, frame, metadata and
    /// events must be equal.
    pub fn run(&mut self, program: usize, input: &TestInput<'_>) -> Result<Outcome, Difference> {
        let there = self.kernel.programs[program].test_run(input)?;
        self.packet.set(input.frame);
        if !input.metadata.is_empty() {
            let (data, end) = (self.packet.data(), self.packet.end());
            self.packet.set_bounds(data - input.metadata.len() as u32, data, end);
            self.packet.bytes_mut()[..input.metadata.len()].copy_from_slice(input.metadata);
        }
        let ifindex = if input.ifindex == 0 { 1 } else { input.ifindex };
        let ingress = Ingress { ifindex, queue: input.queue };
        let (runtime, installed) = (&mut self.runtime, self.installed);
        let here = runtime.run_traced(installed, program, &mut self.packet, ingress, &self.hits);
        let mut out = String::new();
        if here.r0 as u32 != there.r0 || here.fault.is_some() {
            let _ = writeln!(out, "r0: kernel {:#x}, here {:#x}", there.r0, here.r0 as u32);
        }
        if let Some(fault) = &here.fault {
            let _ = writeln!(out, "fault here: {}", fault.reason);
            self.context(&mut out, &fault.program, fault.pc);
            let _ = writeln!(out, "registers {:x?}", fault.registers);
        }
        differing(&mut out, "frame", &there.frame, self.packet.frame());
        differing(&mut out, "metadata", &there.metadata, self.packet.metadata());
        if let Err(events) = self.events() {
            out.push_str(&events.0);
        }
        if out.is_empty() {
            return Ok(here);
        }
        let name = &self.image.programs[program].name;
        Err(Difference(format!(
            "program `{name}`, {} bytes from interface {ifindex} queue {}:\n{out}frame in: {}\nmetadata in: {}",
            input.frame.len(),
            input.queue,
            hex(input.frame),
            hex(input.metadata)
        )))
    }

    /// Instructions around a place, with the place marked.
    fn context(&self, out: &mut String, program: &str, pc: u32) {
        let Some(program) = self.image.programs.iter().find(|p| p.name == program) else { return };
        for (slot, i) in program.insns.iter().enumerate().skip((pc as usize).saturating_sub(8)).take(12) {
            if let Some(line) = program.lines.get(&(slot as u32)) {
                let _ = writeln!(out, "  ; {}:{}: {}", line.file, line.line, line.text.trim());
            }
            let mark = if slot == pc as usize { '>' } else { ' ' };
            let _ = writeln!(out, "{mark} {slot:4}: {}", hex(&i.to_bytes()));
        }
    }

    /// Takes the events of both sides and compares them map by map, in order.
    fn events(&mut self) -> Result<(), Difference> {
        let mut events = std::mem::take(&mut self.runtime.world.events);
        for ring in &mut self.rings {
            let there = ring.reader.take();
            let id = self.runtime.map(self.installed, ring.map);
            let of_map = |e: &Event| matches!(e, Event::Ring { map, .. } if Some(*map) == id);
            let here: Vec<Vec<u8>> = events.extract_if(.., |e| of_map(e)).map(data).collect();
            id.into_iter().for_each(|id| self.runtime.maps.ring_consume(id));
            if there != here {
                let name = &self.image.maps[ring.map].name;
                return Err(Difference(format!("ring buffer `{name}`: kernel {there:02x?}, here {here:02x?}\n")));
            }
        }
        for (index, reader) in &mut self.perfs {
            let there = reader.take();
            let id = self.runtime.map(self.installed, *index);
            let of_map = |e: &Event| matches!(e, Event::Perf { map, .. } if Some(*map) == id);
            let here: Vec<Vec<u8>> = events.extract_if(.., |e| of_map(e)).map(data).collect();
            // The kernel rounds a sample and its length word up to 8 bytes; what it adds means nothing.
            let padded = |n: usize| (n + 4).next_multiple_of(8) - 4;
            let equal = |(t, h): (&Vec<u8>, &Vec<u8>)| t.len() == padded(h.len()) && t.starts_with(h);
            if there.len() != here.len() || !there.iter().zip(&here).all(equal) {
                let name = &self.image.maps[*index].name;
                return Err(Difference(format!("perf events of `{name}`: kernel {there:02x?}, here {here:02x?}\n")));
            }
        }
        Ok(())
    }

    /// Compares every map that user space can read.
    pub fn compare_maps(&self) -> Result<(), Difference> {
        for (index, map) in self.kernel.maps.iter().enumerate() {
            let spec = map.spec();
            let values = match spec.kind {
                MapType::Ringbuf | MapType::PerfEventArray | MapType::Xskmap => continue,
                // A kernel's number of the map or program means nothing here.
                MapType::ArrayOfMaps | MapType::HashOfMaps | MapType::ProgArray => false,
                _ => true,
            };
            let there = map.entries().map_err(|e| Difference(format!("reading `{}`: {e:?}", spec.name)))?;
            let here = self.entries(self.id(index));
            let (there, here) = (sorted(there, values), sorted(here, values));
            if there == here {
                continue;
            }
            let mut out = format!("map `{}` ({}) differs:\n", spec.name, spec.kind.name());
            for (side, a, b) in [("kernel", &there, &here), ("here", &here, &there)] {
                for (key, value) in a.iter().filter(|e| b.binary_search(e).is_err()).take(5) {
                    let _ = writeln!(out, "{side:>8}: {} -> {}", hex(key), hex(value));
                }
            }
            let _ = write!(out, "entries: kernel {}, here {}", there.len(), here.len());
            return Err(Difference(out));
        }
        Ok(())
    }

    fn entries(&self, map: MapId) -> Vec<Entry> {
        let maps = &self.runtime.maps;
        let mut out: Vec<Entry> = Vec::new();
        if maps.spec(map).is_some_and(|spec| spec.kind.is_queue()) {
            return maps.user_lookup(map, &[]).map(|value| vec![(Vec::new(), value)]).unwrap_or_default();
        }
        let mut key: Option<Vec<u8>> = None;
        while let Ok(Some(next)) = maps.next_key(map, key.as_deref()) {
            if let Ok(value) = maps.user_lookup(map, &next) {
                out.push((next.clone(), value));
            }
            key = Some(next);
        }
        out
    }

    /// Entries of the map with this index.
    pub fn contents(&self, map: usize) -> Vec<Entry> {
        self.entries(self.id(map))
    }

    /// How often each slot of program `program` ran.
    pub fn hits(&self, program: usize) -> Vec<u64> {
        self.hits.0.borrow().get(program).cloned().unwrap_or_default()
    }
}

fn data(event: Event) -> Vec<u8> {
    match event {
        Event::Ring { data, .. } | Event::Perf { data, .. } => data,
        Event::Trace(text) => text.into_bytes(),
    }
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn sorted(mut entries: Vec<Entry>, values: bool) -> Vec<Entry> {
    if !values {
        entries.iter_mut().for_each(|e| e.1.clear());
    }
    entries.sort_unstable();
    entries
}

fn differing(out: &mut String, what: &str, there: &[u8], here: &[u8]) {
    if there == here {
        return;
    }
    let at = there.iter().zip(here).position(|(a, b)| a != b).unwrap_or(there.len().min(here.len()));
    let from = at - at % 16;
    let part = |b: &[u8]| hex(b.get(from..(from + 32).min(b.len())).unwrap_or_default());
    let _ = writeln!(
        out,
        "{what}: {} bytes in the kernel, {} here; from byte {from}: kernel {}, here {}",
        there.len(),
        here.len(),
        part(there),
        part(here)
    );
}
