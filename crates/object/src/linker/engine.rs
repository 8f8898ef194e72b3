//! What an engine's folder says of its space on a NIC. This file is the registry of those that have some.
//!
//! The linker asks every engine in the order of [`Engines::all`], which is the order in which a packet meets them.

use super::LinkError;
use super::check::Refusal;
use super::l7::L7Space;
use super::rmt::{Placer, RowWrite};
use super::tenants::{Tenant, TenantSpec};
use super::xdp::XdpSpace;
use crate::install::Install;
use crate::object::Object;
use crate::xdp::XdpCompiler;
use sluice_formats::{EngineId, Node, Table, Target};

/// One operation of a tenant's on a generation that no packet uses.
pub(super) struct At<'a> {
    /// Target of the NIC.
    pub target: &'static Target,
    /// The tenant.
    pub tenant: &'a Tenant,
    /// The generation.
    pub generation: u8,
}

/// What an engine puts into a generation.
#[derive(Debug, Default)]
pub(super) struct Placed {
    /// Rows that are written before any other.
    pub zero: Vec<RowWrite>,
    /// Rows in any order.
    pub rows: Vec<RowWrite>,
    /// A program that no row describes.
    pub install: Option<Install>,
}

/// What takes a generation's program away.
#[derive(Debug, Default)]
pub(super) struct Cleared {
    /// Rows in any order.
    pub rows: Vec<RowWrite>,
    /// An install was there.
    pub installed: bool,
}

/// A row as the check of loads sees it.
#[derive(Clone, Copy)]
pub(super) struct CheckedRow<'a> {
    /// Node.
    pub node: Node,
    /// Table.
    pub table: Table,
    /// Row.
    pub index: u32,
    /// All its words.
    pub words: &'a [u32],
}

/// The space of one engine. Operations change it only when they succeed.
pub(super) trait Space {
    /// The engine.
    fn engine(&self) -> EngineId;

    /// Rows that are written once, before the first packet.
    fn first_rows(&self) -> Vec<RowWrite> {
        Vec::new()
    }

    /// Gives a module what its tenant is given.
    fn admit(&mut self, target: &'static Target, module: u8, spec: &TenantSpec) -> Result<Vec<RowWrite>, LinkError>;

    /// Takes it back from a module that runs nothing.
    fn release(&mut self, module: u8) -> Result<Vec<RowWrite>, LinkError>;

    /// Puts the engine's part of an object, or what an object without one is to it, into a generation.
    fn place(&mut self, at: &At, object: &Object) -> Result<Placed, LinkError>;

    /// Takes a generation's program away; none may be there.
    fn clear(&mut self, module: u8, generation: u8) -> Result<Cleared, LinkError>;

    /// Refuses a row of the engine that is not the tenant's, whose live generation is given; none is the system
    /// without a module. The generation that the row is of; none if packets of both may meet it.
    fn check_row(&self, tenant: Option<&Tenant>, live: Option<u8>, row: CheckedRow) -> Result<Option<u8>, Refusal>;

    /// Refuses a program that the tenant may not have beside what runs in his other generation.
    fn check_install(&self, tenant: &Tenant, generation: u8, install: &Install) -> Result<(), Refusal> {
        let (_, _) = (generation, install);
        Err(Refusal::Space(format!(
            "a program for the engine {}, which takes rows only; tenant `{}`",
            self.engine(),
            tenant.spec.name
        )))
    }
}

macro_rules! spaces {
    ($($(#[doc = $doc:literal])+ $(#[cfg($cfg:meta)])? $name:ident: $space:ty = $new:expr,)*) => {
        /// The spaces of all engines.
        #[derive(Clone, Debug)]
        pub(super) struct Engines {
            /// Those that the device has.
            present: Vec<EngineId>,
            $($(#[doc = $doc])+ $(#[cfg($cfg)])? pub $name: $space,)*
        }

        impl Engines {
            pub fn new(target: &'static Target, present: &[EngineId], compile: Option<XdpCompiler>) -> Self {
                Self { present: present.to_vec(), $($(#[cfg($cfg)])? $name: $new(target, compile),)* }
            }

            pub fn all(&self) -> impl Iterator<Item = &dyn Space> {
                let all: Vec<&dyn Space> = vec![$($(#[cfg($cfg)])? &self.$name,)*];
                all.into_iter().filter(|space| self.present.contains(&space.engine()))
            }

            pub fn all_mut(&mut self) -> impl Iterator<Item = &mut dyn Space> {
                let present = &self.present;
                let all: Vec<&mut dyn Space> = vec![$($(#[cfg($cfg)])? &mut self.$name,)*];
                all.into_iter().filter(|space| present.contains(&space.engine()))
            }
        }
    };
}
spaces! {
    /// The rmt pipeline's.
    rmt: Placer = |target: &'static Target, _| Placer::new(target.rmt),
    /// The XDP engine's.
    xdp: XdpSpace = XdpSpace::new,
    /// The l7 engine's.
    l7: L7Space = |target: &'static Target, _: Option<XdpCompiler>| L7Space::new(target),
    /// The probe's.
    #[cfg(feature = "probe")]
    probe: super::probe::ProbeSpace = |_, _: Option<XdpCompiler>| super::probe::ProbeSpace::default(),
}

impl Engines {
    /// Whether the device has an engine.
    pub fn has(&self, engine: EngineId) -> bool {
        self.present.contains(&engine)
    }

    /// The space of an engine; none of one that this linker does not know.
    pub fn of(&self, engine: EngineId) -> Option<&dyn Space> {
        self.all().find(|space| space.engine() == engine)
    }
}
