//! What a tenant is called and which VLANs are its own.

use super::error::ConfigError;
use super::file::{Only, PortTable, TenantTable, VlanEntry};
use super::resolve::Resolver;
use sluice_formats::limits::SYSTEM_TENANT;
use sluice_object::VlanGrant;

/// Longest name of a tenant.
const TENANT_NAME: usize = 63;

/// Names that reports use for themselves; the system tenant may have the first.
const RESERVED: [&str; 2] = ["system", "total"];

/// What `untagged` says where no tenant gets those frames.
pub(super) const NOBODY: &str = "drop";

impl Resolver<'_> {
    /// A name that scripts, command lines and reports can write without quotes.
    pub(super) fn tenant_name(&self, table: &TenantTable) -> Result<String, ConfigError> {
        let name = table.name.get_ref();
        let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
        let found = format!("`{}`", name.escape_default());
        if !first || !rest || name.len() > TENANT_NAME {
            let allowed = "a letter or `_`, then letters, digits, `_`, `.` and `-`; 63 characters at most";
            return Err(self.wrong(table.name.span(), "name of a tenant", found, allowed));
        }
        let own = table.id == SYSTEM_TENANT && name == RESERVED[0];
        if (RESERVED.contains(&name.as_str()) || name == NOBODY) && !own {
            let allowed = "a name of its own: not `total` or `drop`, and `system` for ID 0 only";
            return Err(self.wrong(table.name.span(), "name of a tenant", found, allowed));
        }
        Ok(name.clone())
    }

    /// Each VLAN of a list once on a port; 0 and 4095 are no VLANs (IEEE 802.1Q, table 9-2). A tenant without any gets
    /// the untagged frames of a port, or is the system tenant.
    pub(super) fn vlans(&self, table: &TenantTable, ports: &[PortTable]) -> Result<Vec<VlanGrant>, ConfigError> {
        let name = table.name.get_ref();
        let is_untagged = ports.iter().filter_map(|port| port.untagged.as_ref()).any(|to| to.get_ref() == name);
        if table.vlans.get_ref().is_empty() && !is_untagged && table.id != SYSTEM_TENANT {
            let allowed = format!("at least one, or `untagged = \"{name}\"` of a port");
            return Err(self.wrong(table.vlans.span(), "vlans", "none", &allowed));
        }
        let mut grants: Vec<VlanGrant> = Vec::new();
        for entry in table.vlans.get_ref() {
            let grant = match entry.get_ref() {
                VlanEntry::Everywhere(vlan) => VlanGrant { port: None, vlan: *vlan },
                VlanEntry::OnPort(Only(on)) => VlanGrant { port: Some(on.port), vlan: on.vlan },
            };
            if !(1..=4094).contains(&grant.vlan) {
                return Err(self.wrong(entry.span(), "vlans", grant.vlan, "1 to 4094"));
            }
            let meets = |g: &VlanGrant| g.port.is_none() || grant.port.is_none() || g.port == grant.port;
            if grants.iter().any(|g| g.vlan == grant.vlan && meets(g)) {
                let found = format!("VLAN {} twice", grant.vlan);
                return Err(self.wrong(entry.span(), "vlans", found, "each VLAN once on a port"));
            }
            grants.push(grant);
        }
        Ok(grants)
    }

    /// Untagged frames have no tag that could stay.
    pub(super) fn keep_tag(&self, table: &TenantTable) -> Result<bool, ConfigError> {
        let Some(keep) = table.keep_tag.as_ref().filter(|keep| *keep.get_ref()) else { return Ok(false) };
        if table.vlans.get_ref().is_empty() {
            return Err(self.wrong(
                keep.span(),
                "keep_tag",
                true,
                "with a VLAN in `vlans`: untagged frames have no tag",
            ));
        }
        Ok(true)
    }
}
