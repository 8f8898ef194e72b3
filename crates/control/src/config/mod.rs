//! `nic.toml`: what a NIC is, who its tenants are, and where its ports lead.
//!
//! The guide is `docs/guide/nic-toml.md`. Reading checks everything that can be checked without
//! a device; [`bring_up`] does the rest through the linker.

mod bring_up;
mod error;
mod file;
mod grants;
mod place;
mod policy;
mod program;
mod quota;
mod resolve;
mod words;

pub use bring_up::{BringUpError, bring_up, loads};
pub use error::{ConfigError, ConfigProblem};

use sluice_formats::Target;
use sluice_frontends::P4Told;
use sluice_nic::engines::Models;
use sluice_nic::ports::{HostBinding, PortBinding};
use sluice_object::{NicSettings, Object, TenantSpec};
use sluice_packet::bounded;
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// A NIC as its file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct NicConfig {
    /// Name of the file.
    pub file: String,
    /// Resources of the device.
    pub target: &'static Target,
    /// What secrets of hash tables come from; none: from the system's random source.
    pub seed: Option<u64>,
    /// Engines of the device.
    pub engines: Models,
    /// Port policies and watchdog; written after the tenants.
    pub settings: NicSettings,
    /// Tenants in the order of the file, each with what it runs.
    pub tenants: Vec<TenantConfig>,
    /// What each port is bound to, by port number.
    pub ports: Vec<PortBinding>,
    /// What each host queue is bound to, by queue number.
    pub hosts: Vec<HostBinding>,
    /// Every file that it names to be read: programs, entries of maps, routes, captures.
    pub files: Vec<PathBuf>,
    /// What is told of its P4 programs: warnings, and who sends where.
    pub p4: P4Told,
}

/// A tenant and what it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct TenantConfig {
    /// What it is given.
    pub spec: TenantSpec,
    /// Its program; without one its packets are dropped (`no_module`).
    pub object: Option<Object>,
    /// Routes and neighbours that its XDP program sees.
    pub routes: Option<String>,
    /// Rings of its queues that are open from the beginning.
    pub rings: Vec<RingConfig>,
}

/// The ring of a tenant's queue, full of buffers from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingConfig {
    /// The queue.
    pub queue: u8,
    /// Buffers that it has, as a power of two.
    pub log_size: u8,
    /// Bytes of each.
    pub bytes: u32,
}

impl NicConfig {
    /// Reads a file. Files that it names lie relative to it.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let file = path.display().to_string();
        let unreadable = |what: String| ConfigError::whole(&file, ConfigProblem::Unreadable { what });
        let bytes = bounded::read(path, bounded::MOST_TEXT).map_err(|e| unreadable(e.to_string()))?;
        let text = String::from_utf8(bytes)
            .map_err(|e| unreadable(format!("byte {} is no UTF-8 text", e.utf8_error().valid_up_to())))?;
        Self::parse(&file, &text, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads the text of a file; objects that it names lie in `folder`.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<Self, ConfigError> {
        let parsed = file::parse(file, text)?;
        resolve::Resolver { file, text, folder, p4: RefCell::default() }.config(parsed)
    }
}

#[cfg(test)]
mod policy_tests;
#[cfg(test)]
mod tests;
