//! From a description of the NIC to a running device.

use super::assign::{Input, OutputFile};
use super::device::Set;
use crate::failure::Failure;
use crate::files;
use crate::printable;
use sluice_control::config::{BringUpError, ConfigError, NicConfig, bring_up};
use sluice_device::{Device, DeviceError};
use sluice_formats::Target;
use sluice_nic::engines;
use sluice_object::linker::XdpError;
use sluice_object::{Destination, LinkError, Linker, Secrets, Warning};
use sluice_packet::bounded::MOST_TEXT;
use std::path::Path;

/// A NIC as described.
pub struct Nic {
    pub config: NicConfig,
    pub target: &'static Target,
    /// Of its hash tables, the same for every device that it is brought up on.
    pub secrets: Secrets,
}

/// Secrets of a NIC's hash tables: those of the seed, or new ones.
pub fn secrets(seed: Option<u64>) -> Result<Secrets, Failure> {
    Secrets::of(seed)
        .map_err(|e| Failure::input("E0501", format!("the system's random source: {e}")).help("`--seed N`"))
}

/// Reads a description; `target`, `engines` and `seed` take the place of what it says of them.
pub fn read(
    path: &Path,
    target: Option<&'static Target>,
    engines: Option<Set>,
    seed: Option<u64>,
) -> Result<Nic, Failure> {
    let config = NicConfig::read(path);
    let fits = |config: &NicConfig| {
        target.is_none_or(|t| t.name == config.target.name) && engines.is_none_or(|e| e.0 == config.engines)
    };
    let config = match config {
        Ok(config) if fits(&config) => config,
        // What only fits on another device is no mistake.
        Err(error) if engines.is_none() => return Err(wrong(error)),
        _ => of_device(path, target, engines)?,
    };
    Ok(Nic { target: config.target, secrets: secrets(seed.or(config.seed))?, config })
}

/// The same description for another target, or other engines. What does not fit there is told as always.
fn of_device(path: &Path, target: Option<&Target>, engines: Option<Set>) -> Result<NicConfig, Failure> {
    let mut file = path.display().to_string();
    let text = String::from_utf8_lossy(&files::read_at_most(path, MOST_TEXT)?).into_owned();
    let mut table: toml::Table = text.parse().unwrap_or_default();
    let device = table.get_mut("device").and_then(|d| d.as_table_mut());
    if let Some(device) = device {
        if let Some(target) = target {
            file += &format!(" for target {}", target.name);
            device.insert("target".to_owned(), target.name.into());
        }
        if let Some(engines) = engines {
            file += &format!(" for engines {engines}");
            let names: Vec<toml::Value> = engines::ids(engines.0).map(|engine| engine.name().into()).collect();
            device.insert("engines".to_owned(), names.into());
        }
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    // Lines and columns would be those of the changed text.
    NicConfig::parse(&file, &table.to_string(), folder).map_err(|e| wrong(ConfigError { place: None, ..e }))
}

fn wrong(error: ConfigError) -> Failure {
    Failure::input(error.code(), error)
}

/// Why a NIC did not come up.
pub fn failed(error: BringUpError) -> Failure {
    match &error {
        BringUpError::Device { error: DeviceError::Stopped, .. } => Failure::stopped(error),
        BringUpError::Device { error: device, .. } if !device.is_refusal() => Failure::difference("E0505", error),
        _ => {
            let help = fit(&error).map(|(map, entries)| format!("`map_sizes = {{ {map} = {entries} }}` of the tenant"));
            Failure::input(error.code(), error).help_if(help)
        }
    }
}

/// With how many entries the map for which the XDP engine has no room would fit.
pub fn fit(error: &BringUpError) -> Option<(String, u32)> {
    xdp_error(error)?.fit().map(|(map, entries)| (map.to_owned(), entries))
}

/// What the linker says of an XDP program, if that is why.
pub fn xdp_error(error: &BringUpError) -> Option<&XdpError> {
    let BringUpError::Link { error, .. } = error else { return None };
    let LinkError::Xdp(error) = &**error else { return None };
    Some(&**error)
}

impl Nic {
    /// Configures a device after reset; the linker stands for what it holds then.
    pub fn start(&self, device: &mut dyn Device) -> Result<Linker, Failure> {
        let mut linker = sluice_control::linker(self.target, device.capabilities()).with_secrets(self.secrets);
        bring_up(&self.config, device, &mut linker).map_err(failed)?;
        if let Ok(maps) = device.maps() {
            for tenant in linker.tenants() {
                for remark in maps.remarks(tenant.module) {
                    printable::tell(printable::message(&format!("note: tenant `{}`: {remark}", tenant.spec.name)));
                }
            }
        }
        Ok(linker)
    }

    /// Shows what the linker warns of and has not warned of before.
    pub fn warn(&self, linker: &Linker, before: &[Warning]) {
        for warning in linker.warnings().iter().filter(|warning| !before.contains(warning)) {
            let text = format!("warning: {}: [{}] {warning}", self.config.file, warning.code());
            printable::tell(printable::message(&text));
        }
    }

    /// ID of a tenant by name or ID.
    pub fn tenant(&self, text: &str) -> Result<u16, Failure> {
        let specs = || self.config.tenants.iter().map(|t| &t.spec);
        let found = specs().find(|s| s.name == text || s.id.to_string() == text);
        found.map(|s| s.id).ok_or_else(|| {
            let names: Vec<String> = specs().map(|s| format!("{} ({})", s.name, s.id)).collect();
            let what = format!("--replace: tenant `{text}` is not in {}", self.config.file);
            Failure::input("E0509", format!("{what}, it has: {}", names.join(", ")))
        })
    }

    /// Captures to play: those of the command line, and of the description for other ports.
    pub fn inputs(&self, given: &[Input]) -> Vec<Input> {
        let mut inputs = given.to_vec();
        for (port, binding) in (0..).zip(&self.config.ports) {
            let taken = given.iter().any(|i| i.port.is_none_or(|p| p == port));
            if let (Some(file), false) = (&binding.input, taken) {
                inputs.push(Input { port: Some(port), file: file.clone() });
            }
        }
        inputs
    }

    /// Captures to write, in the same way.
    pub fn outputs(&self, given: &[OutputFile]) -> Vec<OutputFile> {
        let ports = (0..).map(Destination::Port).zip(self.config.ports.iter().map(|p| &p.output));
        let hosts = (0..).map(Destination::Host).zip(self.config.hosts.iter().map(|h| &h.output));
        let mut outputs = given.to_vec();
        for (from, file) in ports.chain(hosts) {
            if let (Some(file), false) = (file, given.iter().any(|o| o.from == from)) {
                outputs.push(OutputFile { from, file: file.clone() });
            }
        }
        outputs
    }
}
