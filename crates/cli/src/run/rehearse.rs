//! Replacements are tried before an output changes.

use super::bring_up::Nic;
use super::device;
use super::play::{Change, failed};
use crate::failure::Failure;
use sluice_device::run_load::run_load;

/// Does the replacements on a model of their own, without packets: what the linker or the engine refuses is told while
/// outputs are as they were.
pub fn rehearse(nic: &Nic, changes: &[Change]) -> Result<(), Failure> {
    if changes.is_empty() {
        return Ok(());
    }
    let mut model = device::model(nic.target, nic.config.engines);
    let mut linker = nic.start(&mut *model)?;
    let before = linker.warnings();
    for change in changes {
        let load = linker.replace(change.tenant, &change.object);
        let load = load.map_err(|error| error.sent_from(|to| change.told.sender(&change.object.name, to)))?;
        run_load(&mut *model, &load, &mut Vec::new()).map_err(failed)?;
        nic.warn(&linker, &before);
    }
    Ok(())
}
