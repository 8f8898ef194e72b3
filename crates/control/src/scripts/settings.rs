//! The `nic` statement: settings of the ports.

use super::ScriptFailure;
use sluice_object::NicSettings;
use sluice_packet::script::Setting;

const NAMES: &str = "port, untagged, min_frame, max_frame, double_tag, watchdog";

/// Carries the settings of one `nic` statement into `settings`. `port=` picks one port, otherwise
/// they are for all; `tenant` gives the ID of a tenant's name.
pub(super) fn apply(
    settings: &mut NicSettings,
    given: &[Setting],
    tenant: impl Fn(&str) -> Option<u16>,
) -> Result<(), ScriptFailure> {
    let ports = settings.ports.len();
    let mut chosen = 0..ports;
    if let Some(setting) = given.iter().find(|s| s.name == "port") {
        let port = number(setting, 0, ports as u64 - 1)? as usize;
        chosen = port..port + 1;
    }
    if given.len() == 1 && given[0].name == "port" {
        return Err(ScriptFailure::value("nic", "port= alone", "a setting of that port beside it"));
    }
    for setting in given {
        match setting.name.as_str() {
            "port" => {}
            "watchdog" if chosen != (0..ports) => {
                return Err(ScriptFailure::value("watchdog", "port= beside it", "no port: it is the NIC's"));
            }
            "watchdog" => settings.watchdog = number(setting, 0, u64::from(u32::MAX))? as u32,
            "untagged" | "double_tag" | "min_frame" | "max_frame" => {
                for port in &mut settings.ports[chosen.clone()] {
                    match setting.name.as_str() {
                        "untagged" if setting.value == "drop" => port.untagged = None,
                        "untagged" => {
                            let id = tenant(&setting.value).ok_or_else(|| {
                                let allowed = "drop, or the name of a tenant declared before";
                                ScriptFailure::value("untagged", format!("`{}`", setting.value), allowed)
                            })?;
                            port.untagged = Some(id);
                        }
                        "double_tag" => {
                            port.drop_double_tag = match setting.value.as_str() {
                                "drop" => true,
                                "pass" => false,
                                other => {
                                    let found = format!("`{other}`");
                                    return Err(ScriptFailure::value("double_tag", found, "drop or pass"));
                                }
                            };
                        }
                        "min_frame" => port.min_frame = number(setting, 0, 16_383)? as u16,
                        _ => port.max_frame = number(setting, 0, 16_383)? as u16,
                    }
                }
            }
            other => return Err(ScriptFailure::value("setting of the NIC", format!("`{other}`"), NAMES)),
        }
    }
    Ok(())
}

fn number(setting: &Setting, min: u64, max: u64) -> Result<u64, ScriptFailure> {
    setting.value.parse().ok().filter(|n| (min..=max).contains(n)).ok_or_else(|| {
        ScriptFailure::value(setting.name.clone(), format!("`{}`", setting.value), format!("{min} to {max}"))
    })
}
