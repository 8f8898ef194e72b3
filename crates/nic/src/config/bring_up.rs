//! From a configuration to a running device.

use super::NicConfig;
use crate::device::{Device, DeviceError};
use crate::run_load::run_load;
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
            Self::Device { .. } => "E0307",
        }
    }
}

/// Admits the tenants, loads what they run, and opens the ports last. Nothing has been offered
/// yet: the ports of a device after reset drop every frame as a giant.
pub fn bring_up(config: &NicConfig, device: &mut dyn Device, linker: &mut Linker) -> Result<(), BringUpError> {
    let file = || config.file.clone();
    let found = config.target.name;
    for (what, target) in [("device", device.capabilities().target), ("linker", *linker.target())] {
        if target.hash() != config.target.hash() {
            return Err(BringUpError::Target { file: file(), found, what, allowed: target.name });
        }
    }
    let refused = |error: LinkError| BringUpError::Link { file: file(), error: Box::new(error) };
    let failed = |error: DeviceError| BringUpError::Device { file: file(), error };
    let run = |device: &mut dyn Device, load: Load| run_load(device, &load, &mut Vec::new()).map_err(failed);
    for tenant in &config.tenants {
        run(device, linker.admit(tenant.spec.clone()).map_err(refused)?)?;
        if let Some(object) = &tenant.object {
            run(device, linker.load(tenant.spec.id, object).map_err(refused)?)?;
        }
        if let Some(routes) = &tenant.routes {
            let module = linker.tenant(tenant.spec.id).map_err(refused)?.module;
            device.set_routes(module, routes.clone()).map_err(failed)?;
        }
    }
    run(device, linker.nic(config.settings.clone()).map_err(refused)?)
}
