//! The XDP engine in the linker: which maps a replacement takes over, and where a program may send; for an engine in
//! hardware also its rows.

mod bays;
mod check;
mod error;
mod given;
mod hardware;
mod maps;
mod places;
mod values;
mod warp;

pub use error::{Fit, XdpError};
pub use given::{WEIGHT, XdpShare};
pub use places::MapPlace;

use super::LinkError;
use super::check::Refusal;
use super::engine::{At, CheckedRow, Cleared, Placed, Space};
use super::rmt::RowWrite;
use super::secrets::Secrets;
use super::tenants::{Tenant, TenantSpec};
use crate::install::Install;
use crate::object::Object;
use crate::xdp::{PlacedXdp, Xdp, XdpBound, XdpCompiler, routes};
use hardware::Hardware;
use sluice_formats::xdp::target::Target as Engine;
use sluice_formats::{EngineId, Target};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Programs by module and generation.
#[derive(Clone, Debug)]
pub(in crate::linker) struct XdpSpace {
    target: &'static Target,
    programs: BTreeMap<u8, [Option<Arc<Xdp>>; 2]>,
    /// Bytes by which a module's programs make a frame longer, as the ports charge them from its first program on.
    charged: BTreeMap<u8, u16>,
    bound: Option<XdpBound>,
    hardware: Option<Hardware>,
}

impl XdpSpace {
    /// Of an engine after reset; with a compiler, of one in hardware.
    pub fn new(target: &'static Target, compile: Option<XdpCompiler>) -> Self {
        let hardware = compile.map(|compile| Hardware::new(target, compile));
        Self { target, programs: BTreeMap::new(), charged: BTreeMap::new(), bound: None, hardware }
    }

    /// Seeds of maps are of these.
    pub fn set_secrets(&mut self, secrets: Secrets) {
        if let Some(hardware) = &mut self.hardware {
            hardware.secrets = secrets;
        }
    }

    fn program(&self, module: u8, generation: u8) -> Option<&Xdp> {
        self.programs.get(&module)?[usize::from(generation & 1)].as_deref()
    }

    /// Programs need not be charged for more than this says.
    pub fn bound_by(&mut self, bound: XdpBound) {
        self.bound = Some(bound);
    }

    /// Bytes by which a module's programs make a frame longer at most, as they are charged; none before its first program.
    pub fn charged(&self, module: u8) -> Option<u16> {
        self.charged.get(&module).copied()
    }

    /// What is charged from a program on that makes frames longer by so many bytes.
    ///
    /// It is never less than before, and rises twice at most: to what the first program that adds bytes needs, and to all that the tenant
    /// is given. A row of shares that changes makes buckets full; nobody is to have that for each replacement.
    pub fn charged_with(&self, module: u8, spec: &TenantSpec, growth: u16) -> u16 {
        match (self.charged(module).unwrap_or(0), spec.xdp_growth) {
            (before, _) if growth <= before => before,
            (1.., Some(given)) => given.max(growth),
            _ => growth,
        }
    }

    /// The part as hardware takes it: calls that ask for routes need a map, which is kept over a replacement.
    fn with_routes<'a>(&self, xdp: &'a Xdp) -> Cow<'a, Xdp> {
        if self.hardware.is_none() || !routes::is_needed(xdp) {
            return Cow::Borrowed(xdp);
        }
        let mut xdp = xdp.clone();
        xdp.maps.push(routes::map(Engine::by_name(self.target.name)));
        xdp.keep.push(routes::NAME.to_owned());
        Cow::Owned(xdp)
    }

    /// Bytes that the helpers of a program leave to it.
    fn growth_of(&self, spec: &TenantSpec, xdp: &Xdp) -> Option<u16> {
        spec.xdp_growth_of(self.bound.and_then(|bound| bound(xdp)))
    }
}

impl Space for XdpSpace {
    fn engine(&self) -> EngineId {
        EngineId::XDP
    }

    /// Without hardware there are no queues in front of programs: a share has no row.
    fn admit(&mut self, _: &'static Target, module: u8, spec: &TenantSpec) -> Result<Vec<RowWrite>, LinkError> {
        let hardware = self.hardware.as_mut();
        hardware.map_or(Ok(Vec::new()), |hardware| hardware.bays.admit(&hardware.engine, module, spec))
    }

    fn release(&mut self, module: u8) -> Result<Vec<RowWrite>, LinkError> {
        self.programs.remove(&module);
        self.charged.remove(&module);
        let hardware = self.hardware.as_mut();
        Ok(hardware.map(|hardware| hardware.bays.release(&hardware.engine, module)).unwrap_or_default())
    }

    /// The program for the device, with the maps that it takes over from the running one.
    fn place(&mut self, at: &At, object: &Object) -> Result<Placed, LinkError> {
        let Some(xdp) = object.parts.xdp.as_deref() else { return Ok(Placed::default()) };
        let with_routes = self.with_routes(xdp);
        let xdp: &Xdp = &with_routes;
        self.check_places(at, object, xdp)?;
        let running = self.program(at.tenant.module, 1 - at.generation);
        let mut kept = BTreeMap::new();
        for (new, map) in xdp.maps.iter().enumerate().filter(|(i, _)| xdp.keeps(*i)) {
            let olds = running.iter().flat_map(|old| old.maps.iter().enumerate());
            let Some((old, before)) = olds.into_iter().find(|(_, old)| old.name == map.name) else { continue };
            if let Some(difference) = map.differs(before).map(Box::new) {
                let (tenant, object, map) = (at.tenant.spec.name.clone(), object.name.clone(), map.name.clone());
                return Err(LinkError::KeptMap { tenant, object, map, difference });
            }
            kept.insert(new as u32, old as u32);
        }
        // Its default action, which was checked, is one destination, or none beside an rmt part.
        let pass = object.default.to.iter().next();
        let granted = at.tenant.spec.destinations();
        let spec = &at.tenant.spec;
        let work = if self.hardware.is_some() { Some(spec.packet_work()) } else { spec.xdp_work };
        let growth = self.growth_of(spec, xdp);
        let mut placed = PlacedXdp { xdp: xdp.clone(), kept, pass, granted, work, growth, starts: Vec::new() };
        let hardware = self.hardware.as_mut().map(|hardware| hardware.place(at, object, &placed)).transpose()?;
        let rows = hardware.unwrap_or_default();
        placed.starts = rows.starts;
        let places = self.programs.entry(at.tenant.module).or_default();
        places[usize::from(at.generation & 1)] = Some(Arc::new(xdp.clone()));
        if let Some(growth) = growth {
            let charged = self.charged_with(at.tenant.module, spec, growth);
            self.charged.insert(at.tenant.module, charged);
        }
        Ok(Placed { zero: rows.values, rows: rows.rows, install: Some(Install::Xdp(Box::new(placed))) })
    }

    fn clear(&mut self, module: u8, generation: u8) -> Result<Cleared, LinkError> {
        let place = self.programs.get_mut(&module).map(|places| &mut places[usize::from(generation & 1)]);
        let installed = place.and_then(Option::take).is_some();
        let rows = self.hardware.as_mut().map(|hardware| hardware.clear(module, generation)).unwrap_or_default();
        Ok(Cleared { rows, installed })
    }

    fn check_row(&self, tenant: Option<&Tenant>, live: Option<u8>, row: CheckedRow) -> Result<Option<u8>, Refusal> {
        match &self.hardware {
            Some(hardware) => check::check(hardware, self.target, tenant, live, row),
            None => Err(Refusal::Space(format!("table {} is not written", row.table.name()))),
        }
    }

    /// It sends only where its tenant may, and keeps only maps that are there and alike.
    fn check_install(&self, tenant: &Tenant, generation: u8, install: &Install) -> Result<(), Refusal> {
        let Install::Xdp(program) = install;
        install.check().map_err(|e| Refusal::Space(e.to_string()))?;
        let allowed = tenant.spec.destinations();
        let given = program.granted.iter().chain(program.pass);
        if let Some(found) = given.into_iter().find(|d| !allowed.contains(*d)) {
            let name = &tenant.spec.name;
            return Err(Refusal::Space(format!(
                "a program that may send to {found}, tenant `{name}` may use: {allowed}"
            )));
        }
        let given = if self.hardware.is_some() { Some(tenant.spec.packet_work()) } else { tenant.spec.xdp_work };
        if program.work != given {
            let (name, shown) = (&tenant.spec.name, |work: Option<u32>| work.map_or("any".into(), |w| w.to_string()));
            return Err(Refusal::Space(format!(
                "a program of {} back edges and calls a packet, tenant `{name}` is given {}",
                shown(program.work),
                shown(given)
            )));
        }
        let given = self.growth_of(&tenant.spec, &program.xdp);
        if program.growth.unwrap_or(u16::MAX) > given.unwrap_or(u16::MAX) {
            let (name, shown) = (&tenant.spec.name, |bytes: Option<u16>| bytes.map_or("any".into(), |n| n.to_string()));
            return Err(Refusal::Space(format!(
                "a program that makes frames longer by {} bytes, tenant `{name}` is given {} (xdp_growth)",
                shown(program.growth),
                shown(given)
            )));
        }
        let running = self.program(tenant.module, 1 - generation);
        for (new, old) in &program.kept {
            let map = program.xdp.maps.get(*new as usize);
            let old = running.and_then(|xdp| xdp.maps.get(*old as usize));
            if !map.zip(old).is_some_and(|(map, old)| map.name == old.name && map.differs(old).is_none()) {
                let what = format!("map {new} of the program is kept, but no map like it is running");
                return Err(Refusal::Space(what));
            }
        }
        Ok(())
    }
}
