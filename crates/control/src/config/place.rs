//! Where in the file a key stands whose value is not allowed.

use super::file::TenantTable;
use super::resolve::Resolver;
use sluice_formats::EngineId;
use sluice_object::LinkError;
use sluice_object::linker::XdpError;
use sluice_object::linker::rmt::RmtError;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

impl Resolver<'_> {
    /// The value of a tenant's key, as `["l7", "rows"]`, or as much of the way there as is written; its name, if nothing is.
    pub(super) fn key(&self, table: &TenantTable, path: &[impl AsRef<str>]) -> Range<usize> {
        self.written(table, path).unwrap_or_else(|| table.name.span())
    }

    /// The same for what the linker refuses.
    pub(super) fn refused(&self, table: &TenantTable, error: &LinkError) -> Range<usize> {
        if let LinkError::NoEngine { engine, .. } = error {
            let own = if *engine == EngineId::L7 { "rules" } else { "xdp" };
            let file = [own, "object"].into_iter().find_map(|key| self.written(table, &[key]));
            return file.unwrap_or_else(|| table.name.span());
        }
        self.key(table, &path(error).unwrap_or_default())
    }

    fn written(&self, table: &TenantTable, path: &[impl AsRef<str>]) -> Option<Range<usize>> {
        let document = DeTable::parse(self.text).ok()?;
        let tenants = document.get_ref().get("tenant")?.get_ref();
        let name = |tenant: &Spanned<DeValue>| tenant.get_ref().get("name").map(Spanned::span);
        let tenant = tenants.as_array()?.iter().find(|tenant| name(tenant) == Some(table.name.span()))?;
        let mut at = tenant;
        for step in path {
            match next(at.get_ref(), step.as_ref()) {
                Some(inner) => at = inner,
                None => break,
            }
        }
        (!std::ptr::eq(at, tenant)).then(|| at.span())
    }
}

/// A key of a table, or the table of a list that has this number.
fn next<'a, 'i>(value: &'a DeValue<'i>, step: &str) -> Option<&'a Spanned<DeValue<'i>>> {
    let has_number = |table: &&Spanned<DeValue>| {
        let number = table.get_ref().get("number").and_then(|number| number.get_ref().as_integer());
        number.is_some_and(|number| number.to_string() == step)
    };
    value.as_array().map_or_else(|| value.get(step), |list| list.iter().find(has_number))
}

/// Keys of a tenant's table whose value the linker refuses.
fn path(error: &LinkError) -> Option<Vec<String>> {
    let keys = |path: &str| Some(path.split('.').map(str::to_owned).collect());
    match error {
        LinkError::Setting { what, found, .. } => {
            let what = what.split_once("`: ").map_or(what.as_str(), |(_, what)| what);
            let at = |text: &str| text.rsplit_once(" at ").map(|(_, destination)| destination.to_owned());
            match what {
                "ID" => keys("id"),
                "rate.bits_per_second" => keys("rate"),
                "rate.burst_bytes" => keys("burst"),
                "share.bits_per_second" => keys("share.rate"),
                "share.burst_bytes" => keys("share.burst"),
                "reserve" => Some(vec!["reserve".to_owned(), at(found)?]),
                "l7" => keys(given(found.split_once(' ')?.1)?),
                _ if what.starts_with("cells at ") => Some(vec!["queues".to_owned(), at(what)?]),
                _ if what.contains("VLAN") => keys("vlans"),
                _ => keys(what),
            }
        }
        LinkError::NoDestination { what, found, .. } if what.ends_with("`: queues") => {
            Some(vec!["queues".to_owned(), found.to_string()])
        }
        LinkError::NoRoom { resource, .. } => keys(given(resource)?),
        LinkError::Demand { what, .. } => keys(given(what)?),
        LinkError::Taken { what, .. } if what == "the ID" => keys("id"),
        LinkError::Taken { what, .. } if what.starts_with("VLAN ") => keys("vlans"),
        LinkError::Rmt(error) => rmt(error),
        LinkError::Xdp(error) => match &**error {
            XdpError::Place { map, .. } => Some(vec!["map_places".to_owned(), map.clone()]),
            _ => None,
        },
        _ => None,
    }
}

/// The key that gives a resource.
fn given(resource: &str) -> Option<&'static str> {
    Some(match resource {
        "queue cells" => "queues",
        "rows of the XDP queues" => "xdp_share.rows",
        "contexts of the XDP cores" => "xdp_share.contexts",
        "match sets at least" => "max_entries",
        "UDP ports of l7" => "l7.ports",
        "start rows of l7" => "l7.starts",
        "match rows of l7" => "l7.rows",
        "groups of l7" => "l7.groups",
        "rings" => "l7.rings",
        _ => return None,
    })
}

fn rmt(error: &RmtError) -> Option<Vec<String>> {
    let of_stage = |stage: &str, resource: &str| {
        let key = match resource {
            "exact entries" => "exact",
            "ternary entries" => "ternary",
            "actions" => "actions",
            "pages of state" => "pages",
            "hit counters (side by side)" => "numbers",
            _ => "number",
        };
        ["rmt", "stage", stage, key].map(str::to_owned).to_vec()
    };
    match error {
        RmtError::NoRoom { place, resource, .. } => Some(of_stage(place.strip_prefix("stage ")?, resource)),
        RmtError::Given { stage, resource, .. } => Some(of_stage(&stage.to_string(), resource)),
        RmtError::SystemStage { stage, .. } => Some(of_stage(&stage.to_string(), "")),
        RmtError::Growth { .. } => Some(["rmt", "growth"].map(str::to_owned).to_vec()),
        RmtError::Group { .. } => Some(["rmt", "groups"].map(str::to_owned).to_vec()),
        _ => None,
    }
}
