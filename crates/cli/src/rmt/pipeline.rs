//! The pipeline that `sluice rmt run` plays captures through: a module a tenant, and queues that are always empty.

use crate::failure::Failure;
use crate::run::play::failed;
use sluice_device::Device;
use sluice_device::run_load::run_load;
use sluice_formats::row::Row;
use sluice_formats::rows::LimitRow;
use sluice_formats::{Node, Table, Target};
use sluice_frontends::Reading;
use sluice_nic::software::{Options, Service};
use sluice_nic::{SoftwareNic, engines};
use sluice_object::{Destination, Linker, Load, NicSettings, Object, RmtPart, Step, TenantSpec, VlanGrant};
use sluice_rmt::Program;
use sluice_rmt::encode::object::program_of;
use sluice_rtlsim::top;
use std::path::Path;

/// A program with its module.
pub struct Module {
    /// Module, tenant and VLAN of its frames; 0 is the system's.
    pub number: u8,
    /// As its file says.
    pub name: String,
    object: Object,
    /// Destinations that it demands; all where it demands none.
    pub destinations: Vec<Destination>,
}

impl Module {
    /// Reads one, without a number.
    pub fn read(path: &Path, target: &Target) -> Result<Self, Failure> {
        let mut object = sluice_frontends::read(path, &Reading::new(target, "program"))
            .map_err(|e| Failure::input(e.code, e.what))?;
        if object.parts.rmt.is_none() {
            let what = format!("{}: object `{}` has no rmt part, expected a module", path.display(), object.name);
            return Err(Failure::input("E0690", what));
        }
        // It gets all that it needs.
        let demanded: Vec<Destination> = std::mem::take(&mut object.demands).queues.into_keys().collect();
        let all = (0..target.destinations() as u8).filter_map(|number| Destination::from_number(number, target));
        // A P4 program demands those that it and its entries name, and may send to others.
        let is_p4 = object.parts.rmt.as_ref().is_some_and(|part| part.logical.is_some());
        let destinations = if demanded.is_empty() || is_p4 { all.collect() } else { demanded };
        Ok(Self { number: 0, name: object.name.clone(), object, destinations })
    }

    /// What it runs.
    pub fn program(&self) -> Result<Program, Failure> {
        let program = program_of(&self.object).map_err(|e| Failure::input("E0650", format!("{}: {e}", self.name)))?;
        Ok(program.expect("read with rows for a target"))
    }

    /// Its rows.
    pub fn part(&self) -> &RmtPart {
        self.object.parts.rmt.as_ref().expect("read with one")
    }
}

/// Modules with their numbers: 0 for a system module, 1 and so on for the others.
pub fn numbered(mut modules: Vec<Module>) -> Vec<Module> {
    let tenants = modules.iter_mut().filter(|module| !module.part().system);
    tenants.zip(1..).for_each(|(module, number)| module.number = number);
    modules
}

/// The model: every destination takes a packet a tick, so that none waits, as around the RTL's pipeline alone.
pub fn model(target: &Target) -> Box<dyn Device> {
    let service = Service::PerDestination { bytes_per_tick: u32::MAX };
    let options = Options { service, shortest_frame: top::RMT.shortest_frame, ..Options::default() };
    Box::new(SoftwareNic::with_engines(*target, options, engines::these(&[&engines::RMT], target)))
}

/// Lets the modules in. Untagged frames are the first one's.
pub fn bring_up(device: &mut dyn Device, modules: &[Module], target: &'static Target) -> Result<(), Failure> {
    let mut linker = Linker::new(target);
    let mut run = |load: &Load| run_load(device, load, &mut Vec::new()).map_err(failed);
    for module in modules {
        let mut spec = TenantSpec::new(module.number.into(), format!("module{}", module.number));
        spec.vlans.extend((module.number > 0).then_some(VlanGrant { port: None, vlan: module.number.into() }));
        spec.queues = module.destinations.iter().map(|destination| (*destination, 1)).collect();
        spec.any_vids = true;
        spec.make_room(&module.object);
        let admission = linker.admit(spec)?;
        let limits = Load { steps: limits(module, target), label: "queues".to_owned(), ..admission.clone() };
        run(&admission)?;
        run(&limits)?;
        run(&linker.load(module.number.into(), &module.object)?)?;
    }
    let mut settings = NicSettings::new(target);
    settings.ports[0].untagged = modules.iter().any(|module| module.number == 1).then_some(1);
    run(&linker.nic(settings)?)
}

/// Queues are empty, so that each module may fill the buffer: a frame of every length fits.
fn limits(module: &Module, target: &Target) -> Vec<Step> {
    let words = LimitRow { cells: target.cells as u16, reserve: 0 }.pack().expect("cells fit their field");
    let queue = |d: &Destination| Some(u32::from(d.number(target)?) * target.modules + u32::from(module.number));
    let rows = module.destinations.iter().filter_map(queue);
    rows.map(|index| Step::Write { node: Node::Egress, table: Table::Limit, index, words: words.clone() }).collect()
}
