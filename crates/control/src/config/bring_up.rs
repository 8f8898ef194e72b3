//! From a configuration to a running device.

use super::NicConfig;
use sluice_device::run_load::run_load;
use sluice_device::{Device, DeviceError};
use sluice_formats::Target;
use sluice_object::{LinkError, Linker, Load};

/// Why a NIC did not come up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BringUpError {
    /// The device or the linker is for another target than the file.
    #[error("{file} is for target {found}, the {what} is {allowed}")]
    Target {
        /// The file.
        file: String,
        /// Its target.
        found: &'static str,
        /// "device" or "linker".
        what: &'static str,
        /// Its target.
        allowed: &'static str,
    },
    /// The linker refuses it.
    #[error("{file}: {error}")]
    Link {
        /// The file.
        file: String,
        /// Why.
        error: Box<LinkError>,
    },
    /// The device failed.
    #[error("{file}: {error}")]
    Device {
        /// The file.
        file: String,
        /// How.
        error: DeviceError,
    },
}

impl BringUpError {
    /// Code for `sluice explain`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Target { .. } => "E0306",
            Self::Link { error, .. } => error.code(),
            Self::Device { error, .. } => error.code(),
        }
    }
}

/// Admits the tenants, loads what they run, and opens the ports last. Nothing has been offered
/// yet: the ports of a device after reset drop every frame as a giant.
pub fn bring_up(config: &NicConfig, device: &mut dyn Device, linker: &mut Linker) -> Result<(), BringUpError> {
    check_target(config, "device", &device.capabilities().target)?;
    let failed = |error: DeviceError| BringUpError::Device { file: config.file.clone(), error };
    let run = |device: &mut dyn Device, load: &Load| run_load(device, load, &mut Vec::new()).map_err(failed);
    let loads = loads(config, linker)?;
    let (tenants, ports) = loads.split_at(loads.len().saturating_sub(1));
    tenants.iter().try_for_each(|load| run(device, load))?;
    for tenant in &config.tenants {
        if let Some(routes) = &tenant.routes {
            let module = linker.tenant(tenant.spec.id).map_err(|e| refused(config, e))?.module;
            device.maps().and_then(|maps| maps.set_routes(module, routes)).map_err(failed)?;
        }
    }
    for tenant in &config.tenants {
        let id = tenant.spec.id;
        let module = linker.tenant(id).map_err(|e| refused(config, e))?.module;
        for ring in &tenant.rings {
            let number = linker.rings(id).map_err(|e| refused(config, e))?.start as u8 + ring.queue;
            let memory = device.rings().and_then(|rings| rings.give_memory(module, number, ring.log_size));
            let open = linker.open_ring(id, ring.queue, memory.map_err(failed)?);
            run(device, &open.map_err(|e| refused(config, e))?)?;
            let lengths = vec![ring.bytes; 1 << ring.log_size];
            device.rings().and_then(|rings| rings.post(module, number, &lengths)).map_err(failed)?;
        }
    }
    ports.iter().try_for_each(|load| run(device, load))
}

/// The loads of a bring-up, in order: each tenant is admitted and gets its program, then the ports open.
pub fn loads(config: &NicConfig, linker: &mut Linker) -> Result<Vec<Load>, BringUpError> {
    check_target(config, "linker", linker.target())?;
    let refused = |error| refused(config, error);
    let mut loads = Vec::new();
    for tenant in &config.tenants {
        loads.push(linker.admit(tenant.spec.clone()).map_err(refused)?);
        if let Some(object) = &tenant.object {
            loads.push(linker.load(tenant.spec.id, object).map_err(refused)?);
        }
    }
    loads.push(linker.nic(config.settings.clone()).map_err(refused)?);
    Ok(loads)
}

fn check_target(config: &NicConfig, what: &'static str, target: &Target) -> Result<(), BringUpError> {
    if target.hash() == config.target.hash() {
        return Ok(());
    }
    let (file, found) = (config.file.clone(), config.target.name);
    Err(BringUpError::Target { file, found, what, allowed: target.name })
}

fn refused(config: &NicConfig, error: LinkError) -> BringUpError {
    BringUpError::Link { file: config.file.clone(), error: Box::new(error) }
}
