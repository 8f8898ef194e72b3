//! A tracer that compares every register and access of a run with the claims.

use sluice_ebpf::address::{CONTEXT, MAP_HANDLES, PACKET, Region, frame_pointer};
use sluice_ebpf::analysis::{Base, Generation, MapRef, Regions, Value, analyze};
use sluice_ebpf::insn::Kind;
use sluice_ebpf::vm::{Access, At, Ingress, Installed, Outcome, Tracer};
use sluice_ebpf::{FaultReason, Image, MapId, Packet, Runtime, helper};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet};

/// An address that is claimed to count from some value of a map; maps are asked after the run.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct InMap {
    program: u32,
    pc: u32,
    map: MapRef,
    address: u64,
    least: i64,
    greatest: i64,
    /// Bytes that are claimed to be in the value; 0 for a register.
    bytes: u32,
}

#[derive(Default)]
struct Seen {
    /// The packet's start, end and metadata, if they were loaded since they moved.
    bounds: [Option<u64>; 3],
    last: Option<At>,
    /// Frame that the program in charge began in, and the frames below that it returns to.
    bases: Vec<u32>,
    in_maps: HashSet<InMap>,
    violations: Vec<String>,
}

/// An image with its claims, ready to run.
pub struct Checked<'a> {
    image: &'a Image,
    pub runtime: Runtime,
    pub installed: Installed,
    pub regions: Vec<Regions>,
    kinds: Vec<Vec<Option<Kind>>>,
    handles: Vec<u64>,
    seen: RefCell<Seen>,
    checks: RefCell<u64>,
    executed: RefCell<BTreeMap<u32, HashSet<u32>>>,
}

impl<'a> Checked<'a> {
    /// Analyses and installs.
    pub fn new(image: &'a Image, seed: u64) -> Self {
        let mut runtime = Runtime::new(2, seed);
        runtime.work_limit = 300;
        let installed = runtime.install_unchecked(image, &|_| None).expect("it installs");
        let regions = image.programs.iter().map(|p| analyze(image, p)).collect();
        let kinds = image
            .programs
            .iter()
            .map(|p| (0..p.insns.len()).map(|i| p.insns[i].kind(p.insns.get(i + 1).copied()).ok()).collect())
            .collect();
        let id = |i| runtime.map(installed, i).map_or(0, |m| u64::from(MAP_HANDLES) + u64::from(m.0));
        let handles = (0..image.maps.len()).map(id).collect();
        let (seen, checks, executed) = Default::default();
        Self { image, runtime, installed, regions, kinds, handles, seen, checks, executed }
    }

    /// Registers and accesses compared so far.
    pub fn checks(&self) -> u64 {
        *self.checks.borrow()
    }

    /// Slots of a program that were executed so far.
    pub fn executed(&self, program: u32) -> usize {
        self.executed.borrow().get(&program).map_or(0, HashSet::len)
    }

    /// Runs one packet; the first violations in words.
    pub fn run(&mut self, program: usize, packet: &mut Packet, ingress: Ingress) -> Result<Outcome, String> {
        *self.seen.borrow_mut() = Seen::default();
        // The tracer looks at the claims while the runtime runs.
        let mut runtime = std::mem::replace(&mut self.runtime, Runtime::new(1, 0));
        let outcome = runtime.run_traced(self.installed, program, packet, ingress, &*self);
        self.runtime = runtime;
        let mut seen = std::mem::take(&mut *self.seen.borrow_mut());
        if let Some(fault) = &outcome.fault
            && let FaultReason::Access { access: "load" | "store" | "atomic", .. } = fault.reason
        {
            let number = self.image.program(&fault.program).unwrap_or(program);
            let access = &self.regions[number].slots[fault.pc as usize].access;
            if access.as_ref().is_some_and(|a| a.in_bounds) {
                seen.violations.push(format!("slot {}: proven in bounds, but {}", fault.pc, fault.reason));
            }
        }
        for claim in &seen.in_maps {
            if let Err(what) = self.check_map(claim) {
                seen.violations.push(format!("program {} slot {}: {what}", claim.program, claim.pc));
            }
        }
        if seen.violations.is_empty() {
            Ok(outcome)
        } else {
            Err(seen.violations[..seen.violations.len().min(5)].join("\n"))
        }
    }

    fn map_is(&self, claimed: MapRef, found: MapId) -> bool {
        match claimed {
            MapRef::OneOf(_) => claimed.each().into_iter().any(|one| self.map_is(one, found)),
            MapRef::Map(index) => self.runtime.map(self.installed, index as usize) == Some(found),
            MapRef::Inner(_) => {
                let (found, inner) = (self.runtime.maps.spec(found), claimed.spec(self.image));
                found.zip(inner).is_some_and(|(f, i)| (f.kind, f.value_size) == (i.kind, i.value_size))
            }
        }
    }

    fn check_map(&self, c: &InMap) -> Result<(), String> {
        let found = self.runtime.maps.owner(c.address);
        if c.bytes > 0 {
            let (map, offset) = found.ok_or_else(|| format!("{:#x} is in no map, claimed {:?}", c.address, c.map))?;
            let size = self.runtime.maps.spec(map).map_or(0, |s| s.value_size);
            let within = offset + c.bytes <= size && (c.least..=c.greatest).contains(&i64::from(offset));
            return if self.map_is(c.map, map) && within {
                Ok(())
            } else {
                Err(format!(
                    "access at {:#x} is in {map:?}+{offset}, claimed {:?}+{}..{}",
                    c.address, c.map, c.least, c.greatest
                ))
            };
        }
        // Some first byte of a value must lie as far before it as the offset says.
        if c.greatest.checked_sub(c.least).is_none_or(|n| n > 1 << 16) {
            return Ok(());
        }
        let starts = |k: i64| {
            let owner = self.runtime.maps.owner(c.address.wrapping_sub(k as u64));
            owner.is_some_and(|(map, offset)| offset == 0 && self.map_is(c.map, map))
        };
        if (c.least..=c.greatest).any(starts) {
            Ok(())
        } else {
            Err(format!("{:#x} is {found:?}, claimed {:?}+{}..{}", c.address, c.map, c.least, c.greatest))
        }
    }

    fn check(&self, s: &mut Seen, at: At, what: &str, v: &Value, generation: Option<Generation>, x: u64) {
        *self.checks.borrow_mut() += 1;
        if !v.as_number().contains(x) {
            s.violations.push(format!("program {} slot {}: {what} is {x:#x}, claimed {v:?}", at.program, at.pc));
            return;
        }
        if v.nullable && x == 0 {
            return;
        }
        let bound = |g: Generation, n: usize| if Some(g) == generation { s.bounds[n] } else { None };
        let base = match v.base {
            Base::Number => Some(0),
            Base::Packet(g) => bound(g, 0),
            Base::End(g) => bound(g, 1),
            Base::Meta(g) => bound(g, 2),
            Base::Stack(frame) => Some(frame_pointer(s.bases.last().copied().unwrap_or(0) + u32::from(frame))),
            Base::Map(map) => {
                let (least, greatest) = v.offsets();
                let claim = InMap { program: at.program, pc: at.pc, map, address: x, least, greatest, bytes: 0 };
                s.in_maps.insert(claim);
                None
            }
            Base::Handle(map) => {
                let MapRef::Map(index) = map else { return };
                self.handles.get(index as usize).copied()
            }
            Base::Record(_) | Base::Key(_) => {
                let inside = v.offset.as_constant().is_none_or(|k| Region::of(x.wrapping_sub(k)) == Region::Record);
                if !inside {
                    s.violations.push(format!("slot {}: {what} is {x:#x}, claimed {v:?}", at.pc));
                }
                None
            }
        };
        if let Some(base) = base
            && !v.offset.contains(x.wrapping_sub(base))
        {
            let program = at.program;
            s.violations
                .push(format!("program {program} slot {}: {what} is {x:#x}, base {base:#x}, claimed {v:?}", at.pc));
        }
    }
}

impl Tracer for Checked<'_> {
    fn before(&self, at: At, registers: &[u64; 16]) {
        let s = &mut *self.seen.borrow_mut();
        let kind = |at: At| self.kinds[at.program as usize][at.pc as usize];
        let entered = s.last.is_none_or(|last| matches!(kind(last), Some(Kind::CallHelper { id: 12 })) && at.pc == 0);
        while s.bases.last().is_some_and(|b| *b > at.frame || entered && *b == at.frame) {
            s.bases.pop();
        }
        if entered {
            s.bases.push(at.frame);
        }
        s.last = Some(at);
        self.executed.borrow_mut().entry(at.program).or_default().insert(at.pc);
        let claims = &self.regions[at.program as usize].slots[at.pc as usize];
        let Some(before) = &claims.before else {
            s.violations.push(format!("program {} slot {} is executed, claimed dead", at.program, at.pc));
            return;
        };
        for (r, v) in before.iter().enumerate() {
            self.check(s, at, &format!("r{r}"), v, claims.generation, registers[r]);
        }
    }

    fn access(&self, kind: Access, address: u64, bytes: u32) {
        let s = &mut *self.seen.borrow_mut();
        let Some(at) = s.last else { return };
        if matches!(kind, Access::HelperRead | Access::HelperWrite) {
            return;
        }
        let claims = &self.regions[at.program as usize].slots[at.pc as usize];
        let Some(access) = claims.access.as_deref() else {
            s.violations.push(format!("slot {}: an access, none claimed", at.pc));
            return;
        };
        self.check(s, at, "the address", &access.address, claims.generation, address);
        if access.region.is_some_and(|r| r != Region::of(address)) || access.width != bytes {
            s.violations.push(format!("slot {}: {bytes} bytes at {address:#x}, claimed {access:?}", at.pc));
        }
        let counted = match access.address.base {
            Base::Number | Base::Stack(_) | Base::Map(_) | Base::Record(_) => true,
            Base::Packet(_) | Base::End(_) | Base::Meta(_) | Base::Handle(_) | Base::Key(_) => false,
        };
        if counted && !address.is_multiple_of(access.alignment.into()) {
            s.violations.push(format!("slot {}: {address:#x} is not aligned to {}", at.pc, access.alignment));
        }
        if let Some(map) = access.map {
            let (least, greatest) = access.address.offsets();
            s.in_maps.insert(InMap { program: at.program, pc: at.pc, map, address, least, greatest, bytes });
        }
    }

    fn after(&self, at: At, registers: &[u64; 16]) {
        let s = &mut *self.seen.borrow_mut();
        let Some(last) = s.last else { return };
        match self.kinds[last.program as usize][last.pc as usize] {
            Some(Kind::CallHelper { id }) if helper::find(id).is_some_and(|h| h.moves_packet) => s.bounds = [None; 3],
            Some(Kind::Load { dst, size: 4, signed: false, .. }) if last == at => {
                let loaded = registers[usize::from(dst)];
                let claims = &self.regions[last.program as usize].slots[last.pc as usize];
                let base = claims.access.as_deref().and_then(|a| a.address.as_constant());
                for n in 0..3 {
                    if base == Some(u64::from(CONTEXT) + 4 * n as u64) && loaded >= u64::from(PACKET) {
                        s.bounds[n] = Some(loaded);
                    }
                }
            }
            _ => {}
        }
    }
}
