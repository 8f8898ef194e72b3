//! `sluice object shares`: what each tenant of a NIC is assured of.

use crate::failure::Failure;
use crate::output::Output;
use crate::p4::WarnArgs;
use crate::run::bring_up;
use crate::run::device::{self, Set};
use crate::table::{Table, group};
use crate::xdp::places;
use clap::Args;
use serde_json::json;
use sluice_control::config::{self, NicConfig};
use sluice_formats::Target;
use sluice_formats::xdp::target::Target as XdpTarget;
use sluice_object::linker::MapPlace;
use sluice_object::linker::delivery::Delivery;
use sluice_object::linker::shares::{Assured, PortShares};
use sluice_object::{Destination, Linker, TenantSpec, XdpShare};
use std::path::PathBuf;

/// Bytes of frames whose rates are shown.
const LENGTHS: [u32; 3] = [64, 512, 1518];

/// Shows what each tenant of a NIC is assured of, whatever the others do
///
/// At a port: bits a second and burst of the frames that are stored, and how long they wait for the pipeline at most. At a
/// destination: the rates at which frames of 64, 512 and 1518 bytes, one at a time, are sure to find room in the tenant's
/// queue, all his ports together. Beyond that he gets what is free, and the last line says what
/// a tenant who comes may be given. `growth` are the bytes by which his programs may
/// make a packet longer, which his ports charge. At the XDP engine in hardware: weight, reserved rows of the queue in front of it,
/// how much work a packet may make, and the bytes that a frame may gain (`xdp_growth`). Where the target has external memory: which maps
/// of XDP programs lie in it, and which on the chip.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  sluice object shares --config programs/nic/nic.toml")]
pub struct Shares {
    /// Description of the NIC and its tenants (docs/guide/nic-toml.md)
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Target, default, tiny, far, tiny_far or soft; otherwise the one that the description says
    #[arg(long, value_parser = device::target)]
    target: Option<&'static Target>,
    /// Engines of the NIC: rmt and, after commas, xdp, l7 or both; otherwise those that the description says
    #[arg(long, value_name = "ENGINE,...", value_parser = device::engines)]
    engines: Option<Set>,
    #[command(flatten)]
    warn: WarnArgs,
    /// One JSON document instead
    #[arg(short = 'j', long)]
    json: bool,
}

/// A tenant's share at a port.
struct AtPort {
    port: Destination,
    assured: Assured,
    wait: u64,
}

/// What is said of one tenant.
struct Of {
    id: u16,
    name: String,
    ports: Vec<AtPort>,
    queues: Vec<(Destination, Delivery)>,
    xdp: AtXdp,
    /// Where maps of his XDP program lie on an engine with external memory.
    maps: Vec<(String, MapPlace)>,
    /// Bytes by which all his programs make a packet longer at most: what his ports charge.
    growth: u16,
}

/// What a tenant is given of the XDP engine.
struct AtXdp {
    share: XdpShare,
    work: u32,
    /// Bytes by which his XDP programs may make a frame longer; none is any number.
    growth: Option<u16>,
}

impl Shares {
    /// Prints it.
    pub fn run(&self, out: &mut Output) -> Result<(), Failure> {
        let nic = bring_up::read(&self.config, self.target, self.engines, None)?;
        self.warn.tell_all(&nic.config.p4.warnings)?;
        let mut linker = sluice_control::linker_of(&nic.config);
        config::loads(&nic.config, &mut linker).map_err(|e| Failure::input(e.code(), e))?;
        nic.warn(&linker, &[]);
        let engine = engine(&nic.config);
        let places = |id: u16| engine.as_ref().ok().and_then(Option::as_ref)?.map_places(id).ok();
        let of = |id: u16| of(&linker, id).map(|one| Of { maps: places(id).unwrap_or_default(), ..one });
        let all = nic.config.tenants.iter().map(|tenant| of(tenant.spec.id)).collect::<Result<Vec<_>, _>>()?;
        // Without external memory there is one place for all.
        let maps = engine.as_ref().map(Option::is_some).map_err(String::as_str);
        match self.json {
            true => out.json(&document(nic.target, &all, maps, &linker)),
            false => out.text(&text(nic.target, &all, maps, &linker)),
        }
    }
}

/// What the linker gives an XDP engine in hardware that has external memory; an error is why it does not take the programs.
fn engine(config: &NicConfig) -> Result<Option<Linker>, String> {
    if !XdpTarget::by_name(config.target.name).has_outside() {
        return Ok(None);
    }
    let mut linker = sluice_control::hardware_linker_of(config);
    config::loads(config, &mut linker).map(|_| Some(linker)).map_err(|error| error.to_string())
}

fn of(linker: &Linker, id: u16) -> Result<Of, Failure> {
    let tenant = linker.tenant(id)?;
    let at = |(port, shares): (u8, &PortShares)| AtPort {
        port: Destination::Port(port),
        assured: shares.assured[&id],
        wait: shares.wait,
    };
    let ports = linker.ports_of(id).map(at).collect();
    let to = |d: &Destination| Some((*d, linker.delivery(id, *d).ok().flatten()?));
    let TenantSpec { xdp_share, xdp_growth, .. } = tenant.spec;
    let xdp = AtXdp { share: xdp_share.unwrap_or_default(), work: tenant.spec.packet_work(), growth: xdp_growth };
    let queues = tenant.spec.queues.keys().filter_map(to).collect();
    let growth = linker.growth_of(id).unwrap_or(0);
    Ok(Of { id, name: tenant.spec.name.clone(), ports, queues, xdp, maps: Vec::new(), growth })
}

/// Each port, with the share that a tenant who comes there may ask for.
fn free_shares(linker: &Linker) -> impl Iterator<Item = (Destination, Assured)> + '_ {
    (0..linker.target().ports as u8).filter_map(|n| Some((Destination::Port(n), linker.free_share(n)?)))
}

/// What a tenant who comes may be given, in a line.
fn free(linker: &Linker) -> String {
    let (left, target) = (linker.left(), linker.target());
    let share = |(port, share): (Destination, Assured)| {
        format!("{port} {} Mbit/s", group(share.bits_per_second(target) / 1_000_000))
    };
    let shares: Vec<String> = free_shares(linker).map(share).collect();
    let [modules, cells] = [left.modules, left.cells].map(|n| group(n.into()));
    format!("what is free: modules {modules}, cells {cells}, shares to ask for {}\n", shares.join(", "))
}

fn text(target: &Target, all: &[Of], maps: Result<bool, &str>, linker: &Linker) -> String {
    let megabits = |bits: u64| group(bits / 1_000_000);
    let mut ports = Table::new(["tenant", "from", "Mbit/s", "burst bytes", "waits, ticks", "growth"]).left(1);
    let mut queues = Table::new(["tenant", "to", "packets", "cells", "Mbit/s of 64 B", "512 B", "1518 B"]).left(1);
    let mut xdp =
        Table::new(["tenant", "weight", "rows", "bytes", "contexts", "KiB each", "work of a packet", "growth"]).left(1);
    for one in all {
        let XdpShare { weight, rows, contexts, .. } = one.xdp.share;
        let memory = one.xdp.share.memory_each();
        let bytes = u64::from(rows) * u64::from(target.bus_bytes);
        let work = u64::from(one.xdp.work);
        let growth = one.xdp.growth.map_or_else(|| "any".to_owned(), |bytes| group(bytes.into()));
        let numbers = [weight.into(), rows.into(), bytes, contexts.into(), memory.into(), work].map(group);
        xdp.row([one.name.clone()].into_iter().chain(numbers).chain([growth]));
        for AtPort { port, assured, wait } in &one.ports {
            let burst = group(u64::from(assured.burst_beats * target.bus_bytes));
            let rate = megabits(assured.bits_per_second(target));
            ports.row([one.name.clone(), port.to_string(), rate, burst, group(*wait), group(one.growth.into())]);
        }
        for (to, delivery) in &one.queues {
            let room = [u64::from(delivery.packets), u64::from(delivery.cells)].map(group);
            let rates = LENGTHS.map(|length| megabits(delivery.bits_per_second(length, 1)));
            queues.row([one.name.clone(), to.to_string()].into_iter().chain(room).chain(rates));
        }
    }
    let part = "its part of the XDP engine in hardware: reserved rows of the queue, contexts of its own with packet memory each, back edges and calls, bytes that a frame may gain";
    let free = free(linker);
    let maps = match maps {
        Ok(false) => String::new(),
        Ok(true) => format!("where maps of XDP programs lie on the engine in hardware\n{}\n", placed(all)),
        Err(why) => format!(
            "where maps of XDP programs lie is not known, for the engine in hardware does not take them: {why}\n\n"
        ),
    };
    format!(
        "stored at its ports\n{ports}\ntaken by its queues, frames one at a time\n{queues}\n{part}\n{xdp}\n{maps}{free}"
    )
}

fn placed(all: &[Of]) -> Table {
    let mut table = Table::new(["tenant", "map", "values", "bytes", "search rows", "rows"]).left(1).left(2).left(4);
    for (one, (map, place)) in all.iter().flat_map(|one| one.maps.iter().map(move |map| (one, map))) {
        let (memory, rows) = place.search.map_or(("-", 0), |(memory, rows)| (memory.name(), rows));
        let values = place.values.name().to_owned();
        let cells = [one.name.clone(), map.clone(), values, group(place.bytes), memory.to_owned(), group(rows.into())];
        table.row(cells);
    }
    table
}

fn document(target: &Target, all: &[Of], maps: Result<bool, &str>, linker: &Linker) -> serde_json::Value {
    let port = |at: &AtPort| {
        json!({
            "from": at.port.to_string(),
            "bits_per_second": at.assured.bits_per_second(target),
            "burst_bytes": at.assured.burst_beats * target.bus_bytes,
            "wait_ticks": at.wait,
        })
    };
    let queue = |(to, delivery): &(Destination, Delivery)| {
        let rate = |length: &u32| json!({ "bytes": length, "bits_per_second": delivery.bits_per_second(*length, 1) });
        json!({
            "to": to.to_string(),
            "packets": delivery.packets,
            "cells": delivery.cells,
            "held_ticks": delivery.held,
            "frames": LENGTHS.iter().map(rate).collect::<Vec<_>>(),
        })
    };
    let tenant = |one: &Of| {
        let mut value = json!({
            "tenant": one.name,
            "id": one.id,
            "ports": one.ports.iter().map(port).collect::<Vec<_>>(),
            "queues": one.queues.iter().map(queue).collect::<Vec<_>>(),
            "growth": one.growth,
            "xdp": {
                "weight": one.xdp.share.weight,
                "rows": one.xdp.share.rows,
                "contexts": one.xdp.share.contexts,
                "memory": one.xdp.share.memory_each(),
                "work": one.xdp.work,
                "growth": one.xdp.growth,
            },
        });
        if maps == Ok(true) {
            value["xdp"]["maps"] = places::value(&one.maps);
        }
        value
    };
    let free_share = |(port, share): (Destination, Assured)| {
        json!({
            "port": port.to_string(),
            "bits_per_second": share.bits_per_second(target),
            "burst_bytes": share.burst_beats * target.bus_bytes,
        })
    };
    let left = linker.left();
    json!({
        "target": target.name,
        "tenants": all.iter().map(tenant).collect::<Vec<_>>(),
        "free": {
            "modules": left.modules,
            "cells": left.cells,
            "shares": free_shares(linker).map(free_share).collect::<Vec<_>>(),
        },
    })
}
