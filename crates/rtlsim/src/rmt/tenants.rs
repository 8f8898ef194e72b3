//! Modules on a pipeline: admitted, loaded, replaced, unloaded, in the order that loses and mixes nothing.

use sluice_object::linker::rmt::{Placer, Quota, RmtError, RowWrite};
use sluice_object::rmt::RmtPart;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What takes rows.
pub trait RowSink {
    /// Why it does not.
    type Error: From<RmtError>;
    /// Writes rows; those after a row may overtake it, but not those of a later call.
    fn write(&mut self, rows: &[RowWrite]) -> Result<(), Self::Error>;
    /// Makes a generation current; waits while packets of it are in flight.
    fn commit(&mut self, module: u8, generation: u8) -> Result<(), Self::Error>;
    /// Waits until no packet of a generation is in flight.
    fn drained(&mut self, module: u8, generation: u8) -> Result<(), Self::Error>;
}

/// The modules of one pipeline.
#[derive(Clone, Debug)]
pub struct Tenants {
    placer: Placer,
    /// The generation that runs, by module.
    current: BTreeMap<u8, u8>,
}

impl Tenants {
    /// None, on the pipeline that the placer owns.
    pub fn new(placer: Placer) -> Self {
        Self { placer, current: BTreeMap::new() }
    }

    /// Who holds what.
    pub fn placer(&self) -> &Placer {
        &self.placer
    }

    /// The generation that a module runs.
    pub fn generation(&self, module: u8) -> u8 {
        self.current.get(&module).copied().unwrap_or(0)
    }

    /// Gives a module its room.
    pub fn admit<S: RowSink>(&mut self, to: &mut S, module: u8, name: &str, quota: Quota) -> Result<(), S::Error> {
        let rows = self.placer.admit(module, name, quota)?;
        to.write(&rows)
    }

    /// Puts a program in the place of what a module runs; no packet is lost or sees a mixture. Returns the generation
    /// that it has, which runs from then on.
    pub fn load<S: RowSink>(&mut self, to: &mut S, module: u8, part: &Arc<RmtPart>) -> Result<u8, S::Error> {
        let generation = self.prepare(to, module, part)?;
        self.commit(to, module)?;
        Ok(generation)
    }

    /// Writes a program where no packet sees it.
    pub fn prepare<S: RowSink>(&mut self, to: &mut S, module: u8, part: &Arc<RmtPart>) -> Result<u8, S::Error> {
        let next = 1 - self.generation(module);
        to.drained(module, next)?;
        let placed = self.placer.place(module, next, part)?;
        to.write(&placed.zero)?;
        to.write(&placed.rows)?;
        Ok(next)
    }

    /// Makes what was prepared run, and clears what ran before.
    pub fn commit<S: RowSink>(&mut self, to: &mut S, module: u8) -> Result<(), S::Error> {
        let old = self.generation(module);
        to.commit(module, 1 - old)?;
        self.current.insert(module, 1 - old);
        to.drained(module, old)?;
        let rows = self.placer.clear(module, old)?;
        to.write(&rows)
    }

    /// Takes a module's program and room away; its packets are dropped from then on.
    pub fn remove<S: RowSink>(&mut self, to: &mut S, module: u8) -> Result<(), S::Error> {
        self.commit(to, module)?;
        let rows = self.placer.release(module)?;
        to.write(&rows)
    }
}
