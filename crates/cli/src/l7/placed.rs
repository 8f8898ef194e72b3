//! Files of rules as tenants of one engine: admitted and loaded by the linker, as on a NIC.

use super::compile::misfit;
use super::{failure, read};
use crate::failure::Failure;
use crate::run::play::failed;
use sluice_device::{DeviceError, Engine, Message, RingError, Rings};
use sluice_formats::l7::target::{Target as Sizes, host};
use sluice_formats::{EngineId, Node, Status, Table, Target};
use sluice_l7::device::L7Engine;
use sluice_l7::engine::Fate;
use sluice_l7::object::object;
use sluice_l7::receive::Delivery;
use sluice_object::{Destination, LinkError, Linker, Load, Step, TenantSpec};
use std::path::PathBuf;

/// Buffers of a ring, as a power of two, and bytes of each: the longest message has 64 packets of 1,500 bytes.
const LOG_BUFFERS: u8 = 4;
const BUFFER_BYTES: u32 = 96 << 10;

/// A linker with the tenants, and the engine's rows that it has written.
pub struct Placed {
    target: &'static Target,
    linker: Linker,
    tenants: u16,
    /// In their order.
    pub rows: Vec<(Table, u32, Vec<u32>)>,
    /// Module and number of rings that are open, with their queue.
    rings: Vec<(u8, u8, u8)>,
}

impl Placed {
    /// The n-th file is tenant n, of module n.
    pub fn new(target: &'static Target, rules: &[PathBuf]) -> Result<Self, Failure> {
        let linker = Linker::of(target, &[EngineId::RMT, EngineId::L7], None);
        let tenants = rules.len() as u16;
        let mut placed = Self { target, linker, tenants, rows: Vec::new(), rings: Vec::new() };
        let sizes = Sizes::by_name(target.name);
        for (id, path) in (1..).zip(rules) {
            let wrong = |e: LinkError| Failure::input(e.code(), format!("{}: {e}", path.display()));
            let rules = read(path)?.map_err(|errors| failure(&errors))?;
            let object = object("rules", &rules, target).map_err(|e| misfit(path, &e))?;
            let mut spec = TenantSpec::new(id, format!("rules-{id}"));
            spec.queues.insert(Destination::Host(host(target)), 1);
            spec.make_room(&object);
            if let Some(given) = &mut spec.l7 {
                given.messages = Some((sizes.messages / usize::from(tenants)) as u16);
            }
            let load = placed.linker.admit(spec).map_err(wrong)?;
            placed.keep(&load);
            let load = placed.linker.load(id, &object).map_err(wrong)?;
            placed.keep(&load);
        }
        let settings = placed.linker.settings().clone();
        let load = placed.linker.nic(settings)?;
        placed.keep(&load);
        Ok(placed)
    }

    /// The engine's rows of a load. What a replacement would clear is as after a reset.
    fn keep(&mut self, load: &Load) {
        self.rows.extend(load.steps.iter().filter_map(|step| match step {
            Step::Write { node: Node::L7, table, index, words } => Some((*table, *index, words.clone())),
            _ => None,
        }));
    }

    /// The model with these rows; with rings for all queues, if they are wanted.
    pub fn engine(&mut self, rings: bool) -> Result<L7Engine, Failure> {
        let mut engine = L7Engine::new(self.target);
        self.rows.iter().try_for_each(|(table, index, words)| write(&mut engine, *table, *index, words))?;
        for id in (1..=self.tenants).filter(|_| rings) {
            let module = self.linker.tenant(id)?.module;
            for (queue, ring) in (0..).zip(self.linker.rings(id)?) {
                let ring = ring as u8;
                let memory = engine.give_memory(module, ring, LOG_BUFFERS).map_err(failed)?;
                let load = self.linker.open_ring(id, queue, memory)?;
                for step in &load.steps {
                    if let Step::Write { node: Node::L7, table, index, words } = step {
                        write(&mut engine, *table, *index, words)?;
                    }
                }
                engine.post(module, ring, &[BUFFER_BYTES; 1 << LOG_BUFFERS]).map_err(failed)?;
                self.rings.push((module, ring, queue));
            }
        }
        Ok(engine)
    }

    /// Takes messages out of rings, each with its module and queue, and posts their buffers again.
    pub fn take(&self, engine: &mut L7Engine) -> Result<Vec<(u8, u8, Message)>, Failure> {
        let mut all = Vec::new();
        for (module, ring, queue) in &self.rings {
            let taken = engine.take(*module, *ring, usize::MAX).map_err(failed)?;
            if !taken.is_empty() {
                engine.post(*module, *ring, &vec![BUFFER_BYTES; taken.len()]).map_err(failed)?;
            }
            all.extend(taken.into_iter().map(|message| (*module, *queue, message)));
        }
        Ok(all)
    }

    /// The same with the tenant's own number of its queue.
    pub fn own(&self, module: u8, delivery: Delivery) -> Delivery {
        let first = self.linker.rings(module.into()).map_or(0, |rings| rings.start as u8);
        match delivery {
            Delivery::Left(Fate::Queue(ring)) => Delivery::Left(Fate::Queue(ring.wrapping_sub(first))),
            Delivery::Consumed(ring) => Delivery::Consumed(ring.wrapping_sub(first)),
            other => other,
        }
    }
}

fn write(engine: &mut L7Engine, table: Table, index: u32, words: &[u32]) -> Result<(), Failure> {
    match Engine::write(engine, Node::L7, table, index, words) {
        Status::Ok => Ok(()),
        status => Err(failed(DeviceError::from(RingError::Row { table, index, status }))),
    }
}
