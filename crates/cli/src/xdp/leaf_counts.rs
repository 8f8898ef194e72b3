//! Packets that the warp engine in hardware has counted, by leaf of the program that a tenant runs.

use super::warp;
use serde_json::{Value, json};
use sluice_device::Device;
use sluice_ebpf::tenant;
use sluice_formats::row::Row;
use sluice_formats::xdp::rows::XdpWarpHitsRow;
use sluice_formats::xdp::target::{LANES, Target as Engine};
use sluice_formats::{Node, Table};
use sluice_hxdp::warp::{Table as Leaves, Warped, warp as warped};
use sluice_hxdp::{Compiled, Target, compile};
use sluice_object::{Linker, XdpWarpRoom};

/// A counted leaf.
#[derive(Clone, Debug)]
pub struct LeafCount {
    tenant: u16,
    rule: usize,
    what: Option<String>,
    packets: u64,
}

/// The program that a tenant runs as the engine has it: compiled, and with its table.
pub fn program(linker: &Linker, id: u16) -> Option<(Compiled, Warped)> {
    let (xdp, sizes) = (linker.running_xdp(id)?, Engine::by_name(linker.target().name));
    let (image, main) = (tenant::image(xdp).ok()?, xdp.main as usize);
    let room = XdpWarpRoom { rules: sizes.warp_rules, steps: sizes.warp_steps };
    let target = Target::new(LANES).ok()?.with_warp(room);
    let plain = compile(&image, image.programs.get(main)?, &target).ok()?;
    let warped = warped(&image, main, &plain, &target).ok()?;
    Some((plain, warped))
}

/// Counters of a tenant's leaves; none if its program has no table.
pub fn of_tenant(device: &mut dyn Device, linker: &Linker, id: u16) -> Vec<LeafCount> {
    let rows = linker.warp_hits(id).unwrap_or_default();
    if rows.is_empty() {
        return Vec::new();
    }
    let table: Option<Leaves> = program(linker, id).map(|(_, warped)| warped.table);
    let what = |rule: usize| table.as_ref().and_then(|table| table.leaves.get(rule)).map(warp::action);
    let count = |(rule, row): (usize, u32)| {
        let words = device.read_row(Node::Xdp, Table::XdpWarpHits, row).ok()?;
        let packets = XdpWarpHitsRow::unpack(&words).ok()?.packets;
        Some(LeafCount { tenant: id, rule, what: what(rule), packets })
    };
    rows.into_iter().enumerate().filter_map(count).collect()
}

/// Those of all tenants.
pub fn of_tenants(device: &mut dyn Device, linker: &Linker) -> Vec<LeafCount> {
    let ids: Vec<u16> = linker.tenants().map(|tenant| tenant.spec.id).collect();
    ids.into_iter().flat_map(|id| of_tenant(device, linker, id)).collect()
}

/// Lines of a tenant's leaves that had packets.
pub fn text(all: &[LeafCount], tenant: Option<u16>) -> Vec<String> {
    let own = all.iter().filter(|count| Some(count.tenant) == tenant && count.packets > 0);
    let line = |count: &LeafCount| {
        let what = count.what.as_ref().map_or_else(String::new, |what| format!(" ({what})"));
        format!("leaf {}{what}: {} packets", count.rule, count.packets)
    };
    own.map(line).collect()
}

/// All of a tenant's as JSON.
pub fn value(all: &[LeafCount], tenant: Option<u16>) -> Value {
    let own = all.iter().filter(|count| Some(count.tenant) == tenant);
    own.map(|count| json!({ "leaf": count.rule, "what": count.what, "packets": count.packets })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_control::config::{self, NicConfig, TenantConfig};
    use sluice_device::Offer;
    use sluice_formats::limits::VLAN_ROWS;
    use sluice_formats::target::DEFAULT;
    use sluice_frontends::P4Told;
    use sluice_nic::SoftwareNic;
    use sluice_nic::ports::{HostBinding, PortBinding};
    use sluice_object::{Destination, NicSettings, TenantSpec, VlanGrant};
    use std::path::Path;

    const TENANT: u16 = 1;

    /// Three frames of ARP, on a model that has the rows of a device with a warp engine.
    fn counted(warp: bool) -> Vec<LeafCount> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp/flow_filter/flow_filter.o");
        let mut image = crate::xdp::object::read(&file).unwrap_or_else(|_| panic!("{}", file.display()));
        image.maps.iter_mut().for_each(|map| map.max_entries = map.max_entries.min(64));
        let mut device = SoftwareNic::having(DEFAULT, sluice_nic::engines::ALL);
        let compiler = sluice_hxdp::rows::compiler;
        let mut linker = Linker::of(&DEFAULT, &device.capabilities().engines, Some(compiler));
        let mut spec = TenantSpec::new(TENANT, "red");
        spec.vlans = (0..VLAN_ROWS as u16).map(|vlan| VlanGrant { port: Some(0), vlan }).collect();
        spec.queues = [(Destination::Host(0), 64)].into();
        spec.xdp_warp = warp;
        let object = tenant::object("red", &image, &tenant::Options::default()).unwrap();
        let mut settings = NicSettings::new(&DEFAULT);
        settings.ports[0].untagged = Some(TENANT);
        let config = NicConfig {
            files: Vec::new(),
            p4: P4Told::default(),
            file: "nic.toml".to_owned(),
            target: &DEFAULT,
            seed: Some(1),
            engines: sluice_nic::engines::ALL,
            settings,
            tenants: vec![TenantConfig { spec, object: Some(object), routes: None, rings: Vec::new() }],
            ports: vec![PortBinding::default(); DEFAULT.ports as usize],
            hosts: vec![HostBinding::default(); DEFAULT.hosts as usize],
        };
        config::bring_up(&config, &mut device, &mut linker).unwrap_or_else(|e| panic!("{e}"));
        let mut bytes = vec![0; 64];
        bytes[12..14].copy_from_slice(&[8, 6]);
        let at = device.now();
        let offers: Vec<Offer> = (0..3).map(|_| Offer { port: 0, bytes: bytes.clone(), at, bad: false }).collect();
        device.offer(&offers).unwrap();
        device.quiesce().unwrap();
        of_tenants(&mut device, &linker)
    }

    #[test]
    fn leaves_are_told_by_their_words_and_none_without_a_table() {
        let counts = counted(true);
        let lines = text(&counts, Some(TENANT));
        assert!(
            matches!(&lines[..], [line] if line.starts_with("leaf ") && line.ends_with(" (pass): 3 packets")),
            "{lines:?}"
        );
        assert_eq!(text(&counts, Some(2)), Vec::<String>::new());
        let all = value(&counts, Some(TENANT));
        let packets: u64 = all.as_array().unwrap().iter().map(|leaf| leaf["packets"].as_u64().unwrap()).sum();
        assert_eq!((all.as_array().unwrap().len(), packets, &all[5]["leaf"]), (7, 3, &json!(5)), "{all}");
        assert!(counted(false).is_empty());
    }
}
