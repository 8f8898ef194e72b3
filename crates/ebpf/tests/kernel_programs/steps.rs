//! A packet script as what a program and its maps see of it.

use sluice_ebpf::map::notation;
use sluice_packet::script::{Command, MapOnly, MapOperation, Script, Tenant};
use std::path::{Path, PathBuf};

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// The program is loaded or replaced.
    Load(Load),
    /// Entries that the object gives are set anew, where a script begins again.
    Restore,
    /// An entry is set.
    Set {
        map: String,
        key: Vec<u8>,
        value: Vec<u8>,
        /// The value is the map with this name.
        inner: Option<String>,
        flags: u64,
    },
    /// An entry is deleted.
    Delete { map: String, key: Vec<u8> },
    /// An element is taken out of a queue or stack.
    Pop { map: String },
    /// The maps are looked at.
    Look,
    /// A packet comes in, without the tenant's tag.
    Packet { ifindex: u32, frame: Vec<u8> },
    /// Routes and neighbours change.
    Routes(PathBuf),
}

/// A statement that loads a program.
#[derive(Clone, Debug)]
pub struct Load {
    pub file: PathBuf,
    pub section: Option<String>,
    pub program: Option<String>,
    pub keep: Vec<String>,
    pub max_entries: Vec<(String, u32)>,
}

/// The steps of each tenant of a script that runs an XDP program.
pub fn steps(path: &Path) -> Vec<Vec<Step>> {
    let script = Script::read(path).unwrap_or_else(|e| panic!("{e}"));
    let mut tenants: Vec<Tenant> = Vec::new();
    let mut ports: Vec<(u32, u8)> = Vec::new();
    let mut out: Vec<(String, Vec<Step>)> = Vec::new();
    let beside = |file: &Path| path.parent().expect("a folder").join(file);
    for statement in &script.statements {
        let (tenant, step) = match &statement.command {
            Command::Tenant(tenant) => {
                tenants.push(tenant.clone());
                continue;
            }
            Command::Xdp(xdp) => {
                ports = xdp.interfaces.clone();
                let load = Load {
                    file: beside(&xdp.file),
                    section: xdp.section.clone(),
                    program: xdp.program.clone(),
                    keep: xdp.keep.clone(),
                    max_entries: xdp.max_entries.clone(),
                };
                (&xdp.tenant, Step::Load(load))
            }
            Command::Routes { tenant, file } => (tenant, Step::Routes(beside(file))),
            Command::Map(map) => {
                let bytes = |text: &str| {
                    notation::items(text).unwrap_or_else(|e| panic!("{}: {}: {e}", path.display(), statement.text))
                };
                let step = match &map.operation {
                    MapOperation::Set { value, only } => {
                        let flags = match only {
                            MapOnly::Any => 0,
                            MapOnly::NoExist => 1,
                            MapOnly::Exist => 2,
                        };
                        let inner = value.strip_prefix("map:").map(str::to_string);
                        let value = if inner.is_some() { Vec::new() } else { bytes(value) };
                        Step::Set { map: map.map.clone(), key: bytes(&map.key), value, inner, flags }
                    }
                    MapOperation::Delete => Step::Delete { map: map.map.clone(), key: bytes(&map.key) },
                    MapOperation::Pop(_) => Step::Pop { map: map.map.clone() },
                    MapOperation::Expect(_) => Step::Look,
                };
                (&map.tenant, step)
            }
            Command::Send(send) => {
                let Some((tenant, frame)) = seen(&tenants, &send.bytes) else { continue };
                let ifindex =
                    ports.iter().find(|p| p.1 == send.port).map_or(u32::from(send.port) + 1, |(ifindex, _)| *ifindex);
                let Some(steps) = out.iter_mut().find(|o| o.0 == *tenant) else { continue };
                let packet = Step::Packet { ifindex, frame };
                steps.1.extend(std::iter::repeat_n(packet, send.count as usize));
                continue;
            }
            _ => continue,
        };
        match out.iter_mut().find(|o| o.0 == *tenant) {
            Some(steps) => steps.1.push(step),
            None => out.push((tenant.clone(), vec![step])),
        }
    }
    out.into_iter().map(|o| o.1).collect()
}

/// Whose packet it is, and what its program sees.
fn seen<'a>(tenants: &'a [Tenant], frame: &[u8]) -> Option<(&'a String, Vec<u8>)> {
    let tag = frame.get(12..16).filter(|t| t[..2] == [0x81, 0])?;
    let vid = u16::from_be_bytes([tag[2], tag[3]]) & 0xfff;
    let tenant = tenants.iter().find(|t| t.vlans.contains(&vid))?;
    let mut frame = frame.to_vec();
    if !tenant.keep_tag {
        frame.drain(12..16);
    }
    Some((&tenant.name, frame))
}
