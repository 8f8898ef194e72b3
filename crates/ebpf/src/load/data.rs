//! Data sections: each becomes an array of one value.

use super::btf::{Btf, kind};
use super::btf_maps::is_spin_lock;
use super::elf::{Elf, Section};
use super::error::LoadError;
use super::maps::Declared;
use crate::MapType;
use crate::image::{MapSpec, map_flags};
use std::collections::HashMap;

/// Largest section: all writable values together have no more addresses.
pub(super) const MAX_DATA: u64 = 1 << 30;

/// `.rodata` and its like first, then `.data`, then `.bss`.
pub(super) fn read(elf: &Elf<'_>, btf: Option<&Btf<'_>>) -> Vec<Declared> {
    let mut found = Vec::new();
    let datasecs = btf.iter().flat_map(|b| b.iter()).filter(|(_, t)| t.kind == kind::DATASEC);
    let datasecs: HashMap<&str, u32> = datasecs.map(|(id, t)| (t.name, id)).collect();
    for family in [".rodata", ".data", ".bss"] {
        for (index, section) in elf.sections.iter().enumerate() {
            let suffix = section.name.strip_prefix(family);
            if section.size != 0 && suffix.is_some_and(|s| s.is_empty() || s.starts_with('.')) {
                found.push(Declared {
                    name: section.name.to_string(),
                    section: index,
                    offset: 0,
                    size: section.size,
                    is_data: true,
                    spec: map(section, family == ".rodata", btf, datasecs.get(section.name).copied()),
                    odd_pinning: None,
                    id: 0,
                    index: 0,
                });
            }
        }
    }
    found
}

fn map(
    section: &Section<'_>,
    read_only: bool,
    btf: Option<&Btf<'_>>,
    datasec: Option<u32>,
) -> Result<MapSpec, LoadError> {
    let size = u32::try_from(section.size).ok().filter(|s| u64::from(*s) <= MAX_DATA);
    let size = size.ok_or_else(|| LoadError::TooLarge {
        what: format!("section `{}`", section.name),
        found: section.size,
        allowed: MAX_DATA,
        unit: "bytes",
    })?;
    let mut spec = MapSpec::new(section.name, MapType::Array, 4, size, 1);
    spec.frozen = read_only;
    spec.contents = (!section.is_bss).then(|| section.data.to_vec());
    if read_only {
        spec.flags |= map_flags::RDONLY_PROG;
    }
    // As libbpf: mapped into user space's memory, unless types say that it can name nothing there.
    let mut mapped = true;
    if let (Some(id), Some(btf)) = (datasec, btf)
        && let Some(datasec) = btf.get(id)
    {
        spec.btf = (0, id);
        mapped = datasec.variables().any(|v| btf.get(v.kind).map_or(0, |v| v.linkage()) != 0);
        let is_lock = |id| btf.get(id).is_some_and(|v| is_spin_lock(btf, v.size_or_type));
        spec.spin_lock = datasec.variables().find(|v| is_lock(v.kind)).map(|v| v.offset);
    }
    if mapped {
        spec.flags |= map_flags::MMAPABLE;
    }
    Ok(spec)
}
