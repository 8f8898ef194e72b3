//! Files of rules as tenants of one engine: admitted and loaded by the linker, as on a NIC.

use super::{failure, read};
use crate::failure::Failure;
use crate::run::play::failed;
use sluice_device::{Message, RingHost, Rings};
use sluice_formats::l7::target::{Target as Sizes, host};
use sluice_formats::{EngineId, Node, Table, Target};
use sluice_l7::compile::CompileError;
use sluice_l7::device::L7Engine;
use sluice_l7::engine::Fate;
use sluice_l7::object::object;
use sluice_l7::receive::Delivery;
use sluice_l7::rules::Rules;
use sluice_object::{Destination, LinkError, Linker, Load, Step, TenantSpec};
use std::path::PathBuf;

/// Bytes of a buffer: the longest message has 64 packets of 1,500 bytes.
const BUFFER_BYTES: u32 = 96 << 10;

/// The ring of a tenant's queue.
struct Ring {
    id: u16,
    module: u8,
    queue: u8,
    /// Its number on the device.
    ring: u8,
    /// Words of its row, when the linker has opened it.
    row: Option<Vec<u32>>,
}

/// A linker with the tenants, and the engine's rows that it has written.
pub struct Placed {
    target: &'static Target,
    linker: Linker,
    tenants: u16,
    /// In their order.
    pub rows: Vec<(Table, u32, Vec<u32>)>,
    /// Those that are open on some device.
    rings: Vec<Ring>,
}

/// Whether a file of rules fits a target as its only tenant, or its code and why not.
pub fn check_fits(rules: &Rules, target: &'static Target) -> Result<(), (&'static str, String)> {
    let mut placed = Placed::empty(target, 1);
    placed.add(1, rules).map_err(|misfit| match misfit.told() {
        (code, what) if matches!(misfit, Misfit::Compiler(CompileError::Rows { .. })) => {
            (code, format!("{what}, on target {}", target.name))
        }
        told => told,
    })
}

/// Why rules are no tenant.
enum Misfit {
    Compiler(CompileError),
    Linker(LinkError),
}

impl Misfit {
    /// Its code, and why.
    fn told(&self) -> (&'static str, String) {
        match self {
            Self::Compiler(e) => (e.code(), e.to_string()),
            Self::Linker(e) => (e.code(), e.to_string()),
        }
    }
}

impl Placed {
    /// Room for so many tenants.
    fn empty(target: &'static Target, tenants: u16) -> Self {
        let linker = Linker::of(target, &[EngineId::RMT, EngineId::L7], None);
        Self { target, linker, tenants, rows: Vec::new(), rings: Vec::new() }
    }

    /// Rules as the tenant of this number.
    fn add(&mut self, id: u16, rules: &Rules) -> Result<(), Misfit> {
        let object = object("rules", rules, self.target).map_err(Misfit::Compiler)?;
        let mut spec = TenantSpec::new(id, format!("rules-{id}"));
        spec.queues.insert(Destination::Host(host(self.target)), 1);
        spec.make_room(&object);
        if let Some(given) = &mut spec.l7 {
            given.messages = Some((Sizes::by_name(self.target.name).messages / usize::from(self.tenants)) as u16);
        }
        let load = self.linker.admit(spec).map_err(Misfit::Linker)?;
        self.keep(&load);
        let load = self.linker.load(id, &object).map_err(Misfit::Linker)?;
        self.keep(&load);
        Ok(())
    }

    /// The n-th file is tenant n, of module n.
    pub fn new(target: &'static Target, rules: &[PathBuf]) -> Result<Self, Failure> {
        let mut placed = Self::empty(target, rules.len() as u16);
        for (id, path) in (1..).zip(rules) {
            let rules = read(path)?.map_err(|errors| failure(&errors))?;
            placed.add(id, &rules).map_err(|misfit| {
                let (code, what) = misfit.told();
                Failure::input(code, format!("{}: {what}", path.display()))
            })?;
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

    /// The model with these rows.
    pub fn engine(&self) -> Result<L7Engine, Failure> {
        let mut engine = L7Engine::new(self.target);
        self.rows.iter().try_for_each(|(table, index, words)| {
            RingHost::write_row(&mut engine, *table, *index, words).map_err(failed)
        })?;
        Ok(engine)
    }

    /// Opens rings for all queues on a device, each with 2^`log_size` buffers. Each device gives them memory at the same addresses.
    pub fn open_rings(&mut self, host: &mut impl RingHost, log_size: u8) -> Result<(), Failure> {
        if self.rings.is_empty() {
            for id in 1..=self.tenants {
                let module = self.linker.tenant(id)?.module;
                let of = |(queue, ring): (u8, u32)| Ring { id, module, queue, ring: ring as u8, row: None };
                self.rings.extend((0..).zip(self.linker.rings(id)?).map(of));
            }
        }
        for ring in &mut self.rings {
            let memory = host.give_memory(ring.module, ring.ring, log_size).map_err(failed)?;
            // The linker opens a ring once: the second device gets the same row.
            if ring.row.is_none() {
                let load = self.linker.open_ring(ring.id, ring.queue, memory)?;
                ring.row = load.steps.iter().find_map(|step| match step {
                    Step::Write { node: Node::L7, table: Table::L7Ring, words, .. } => Some(words.clone()),
                    _ => None,
                });
            }
            let row = ring.row.as_deref().unwrap_or_default();
            host.write_row(Table::L7Ring, ring.ring.into(), row).map_err(failed)?;
            host.post(ring.module, ring.ring, &vec![BUFFER_BYTES; 1 << log_size]).map_err(failed)?;
        }
        Ok(())
    }

    /// Takes messages out of rings, each with its module and queue, and posts their buffers again.
    pub fn take(&self, host: &mut impl Rings) -> Result<Vec<(u8, u8, Message)>, Failure> {
        let mut all = Vec::new();
        for Ring { module, ring, queue, .. } in &self.rings {
            let taken = host.take(*module, *ring, usize::MAX).map_err(failed)?;
            if !taken.is_empty() {
                host.post(*module, *ring, &vec![BUFFER_BYTES; taken.len()]).map_err(failed)?;
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
