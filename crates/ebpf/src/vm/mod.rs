//! The interpreter: the executable specification of XDP programs.

mod packet;

pub use packet::{Packet, RESERVED};

use crate::{Fault, FaultReason, Image, MapId, MapSpace, Redirect, Verdict, World};

/// Where a packet came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ingress {
    /// `ingress_ifindex`.
    pub ifindex: u32,
    /// `rx_queue_index`.
    pub queue: u32,
}

/// What became of one packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// r0 at the end; 0 after a fault.
    pub r0: u64,
    /// Verdict.
    pub verdict: Verdict,
    /// Destination, when the verdict is `Redirect` and a redirect helper succeeded.
    pub redirect: Option<Redirect>,
    /// Instructions executed, tail-called programs included; a 64-bit immediate load counts once.
    pub instructions: u64,
    /// The fault, if one ended it.
    pub fault: Option<Fault>,
}

/// Programs and maps of one tenant, ready to run.
///
/// Several generations may be installed; they share the maps that are kept.
pub struct Runtime {
    /// The maps.
    pub maps: MapSpace,
    /// Time, random, routes, events.
    pub world: World,
}

/// One installed image. Not a NIC generation: numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Installed(pub u32);

impl Runtime {
    /// Without programs.
    pub fn new(cpus: u32, seed: u64) -> Self {
        Self { maps: MapSpace::new(cpus), world: World::new(seed) }
    }

    /// Validates every program, makes the maps and binds them. `keep` gives, by index in the
    /// image, a map that is there already and is used instead of a new one.
    pub fn install(&mut self, image: &Image, keep: &dyn Fn(usize) -> Option<MapId>) -> Result<Installed, crate::load::LoadError> {
        let _ = (image, keep);
        todo!()
    }

    /// Removes an image's programs, and its maps but for those that another image uses.
    pub fn remove(&mut self, image: Installed) {
        todo!("{image:?}")
    }

    /// The map with this index in the image.
    pub fn map(&self, image: Installed, index: usize) -> Option<MapId> {
        todo!("{image:?} {index}")
    }

    /// Runs program `program` (index in the image) on a packet.
    pub fn run(&mut self, image: Installed, program: usize, packet: &mut Packet, ingress: Ingress) -> Outcome {
        todo!("{image:?} {program} {packet:?} {ingress:?}")
    }
}

/// One execution: what helpers work on.
pub struct Cpu<'a> {
    /// r0 to r10.
    pub registers: [u64; 11],
    /// The packet.
    pub packet: &'a mut Packet,
    /// Where it came in.
    pub ingress: Ingress,
    /// The tenant's maps.
    pub maps: &'a mut MapSpace,
    /// Time, random, routes, events.
    pub world: &'a mut World,
    /// Set by redirect helpers.
    pub redirect: Option<Redirect>,
    /// Set by `tail_call`: the program number (a program array's value) to go on with.
    pub tail_call: Option<u32>,
    /// Locks, ring-buffer records and keys that helpers hold; `read` and `write` of region 9 go there, and
    /// `Held::at_exit` is asked at the program's end and before a tail call.
    pub held: crate::helper::Held,
}

impl Cpu<'_> {
    /// Memory at a device address, if one object holds all of it.
    pub fn read(&self, access: &'static str, address: u64, bytes: u32) -> Result<&[u8], FaultReason> {
        todo!("{access} {address} {bytes}")
    }

    /// The same to write.
    pub fn write(&mut self, access: &'static str, address: u64, bytes: u32) -> Result<&mut [u8], FaultReason> {
        todo!("{access} {address} {bytes}")
    }

    /// The map of a handle.
    pub fn map(&self, helper: &'static str, argument: u8, handle: u64) -> Result<MapId, FaultReason> {
        todo!("{helper} {argument} {handle}")
    }

    /// Calls a function of the running program from a helper (`loop`, `for_each_map_elem`).
    pub fn call(&mut self, function: u64, args: [u64; 5]) -> Result<u64, FaultReason> {
        todo!("{function} {args:?}")
    }
}

#[doc(hidden)]
pub type FaultOf = Fault;
