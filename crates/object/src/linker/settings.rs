//! Settings of the NIC that belong to no tenant.

use super::writer::Writer;
use super::{LinkError, Linker};
use crate::load::Load;
use sluice_formats::address::control;
use sluice_formats::limits::{MAX_FRAME_BYTES, MIN_FRAME_BYTES, SYSTEM_TENANT};
use sluice_formats::rows::PortPolicyRow;
use sluice_formats::{Node, Table, Target};

/// Settings of the NIC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NicSettings {
    /// One for each port.
    pub ports: Vec<PortSettings>,
    /// Cycles without progress while there is work before the watchdog counts; 0 is off.
    pub watchdog: u32,
}

/// Policy of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSettings {
    /// Tenant of untagged frames; without one they are dropped as unmapped.
    pub untagged: Option<u16>,
    /// Frames with a second tag are dropped.
    pub drop_double_tag: bool,
    /// Shortest frame in bytes as received.
    pub min_frame: u16,
    /// Longest frame in bytes as received.
    pub max_frame: u16,
}

impl Default for PortSettings {
    /// Every length the NIC can take, no untagged frames, second tags pass.
    fn default() -> Self {
        let (min_frame, max_frame) = (MIN_FRAME_BYTES as u16, MAX_FRAME_BYTES as u16);
        Self { untagged: None, drop_double_tag: false, min_frame, max_frame }
    }
}

impl NicSettings {
    /// Default policy on every port, no watchdog.
    pub fn new(target: &Target) -> Self {
        Self { ports: vec![PortSettings::default(); target.ports as usize], watchdog: 0 }
    }
}

impl Linker {
    /// Port policies, watchdog, and which stages are the system module's. Tenants of untagged frames are admitted
    /// before.
    pub fn nic(&mut self, settings: NicSettings) -> Result<Load, LinkError> {
        let wrong = |what: String, found: String, allowed: String| Err(LinkError::Setting { what, found, allowed });
        if settings.ports.len() != self.target.ports as usize {
            let allowed = format!("{}, the ports of target {}", self.target.ports, self.target.name);
            return wrong("port policies".to_owned(), settings.ports.len().to_string(), allowed);
        }
        for (p, port) in settings.ports.iter().enumerate() {
            let (min, max) = (u32::from(port.min_frame), u32::from(port.max_frame));
            if !(MIN_FRAME_BYTES..=max).contains(&min) || max > MAX_FRAME_BYTES {
                let allowed = format!("{MIN_FRAME_BYTES} <= min_frame <= max_frame <= {MAX_FRAME_BYTES}");
                return wrong(format!("port {p}: frame lengths"), format!("{min} to {max}"), allowed);
            }
        }
        // The system module meets everybody's packets and parses none of its own.
        if let Some((p, _)) = settings.ports.iter().enumerate().find(|(_, port)| port.untagged == Some(SYSTEM_TENANT)) {
            let what = format!("port {p}: untagged");
            return wrong(what, "the system tenant".to_owned(), "a tenant that is not the system, or none".to_owned());
        }
        let mut next = Self { settings, ..self.clone() };
        let mut w = Writer::default();
        next.write_shares(&mut w)?;
        // Before ports are open: secrets are changed while no packet is there.
        for (word, value) in (control::FLOW_SECRET..).zip(next.secrets.flows().into_iter().flatten()) {
            w.words(Node::System, Table::Control, word, vec![value]);
        }
        next.engines.all().for_each(|space| w.rows(space.first_rows()));
        w.barrier();
        for (p, port) in next.settings.ports.iter().enumerate() {
            w.write(Node::Port(p as u8), Table::PortPolicy, 0, &next.policy_row(port)?);
        }
        w.words(Node::System, Table::Control, control::WATCHDOG, vec![next.settings.watchdog]);
        let load = w.load(&next, SYSTEM_TENANT, "nic settings".to_owned());
        next.check(&load)?;
        *self = next;
        Ok(load)
    }

    pub(super) fn policy_row(&self, port: &PortSettings) -> Result<PortPolicyRow, LinkError> {
        let module = port.untagged.map(|id| self.tenant(id).map(|t| t.module)).transpose()?;
        Ok(PortPolicyRow {
            untagged_valid: module.is_some(),
            untagged_module: module.unwrap_or(0),
            untagged_tenant: port.untagged.unwrap_or(0),
            drop_double_tag: port.drop_double_tag,
            min_frame: port.min_frame,
            max_frame: port.max_frame,
        })
    }
}
