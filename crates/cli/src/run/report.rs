//! What a run came to, as a table and as JSON.

use super::cell_counts;
use super::entry_counts;
use super::live::Seen;
use super::play::Played;
use super::rings::RunRing;
use super::sink::Written;
use crate::failure::Failure;
use crate::output::Output;
use crate::table::{Table, group};
use crate::xdp::engine_counts;
use crate::xdp::leaf_counts;
use serde_json::{Value, json};
use sluice_device::{EngineCounts, ModuleCounters};
use sluice_formats::Target;
use sluice_nic::dataplane;
use sluice_object::{Destination, Linker};
use std::collections::BTreeSet;

/// Runs of one command: on the model, on the RTL, or on both.
pub struct Report<'a> {
    pub target: &'static str,
    pub seed: u64,
    pub linker: &'a Linker,
    /// The run of the software NIC.
    pub software: Option<&'a Played>,
    /// The run of the RTL.
    pub rtl: Option<&'a Played>,
    /// The RTL ran with the model in lockstep.
    pub compared: bool,
    pub written: &'a [Written],
    /// What the loop on live interfaces has seen.
    pub live: Option<&'a Seen>,
}

/// Drops that lockstep takes from the RTL.
const FED: [&str; 2] = ["overload", "over_share"];
/// Drops at queues, which lockstep computes.
const TAILS: [&str; 3] = ["tail_limit", "tail_packets", "tail_buffer"];

/// One row of the table.
struct Row {
    id: Option<u16>,
    name: String,
    module: Option<u8>,
    counters: ModuleCounters,
}

impl Report<'_> {
    /// The run whose counters are shown: the RTL's where there is one.
    fn shown(&self) -> Option<&Played> {
        self.rtl.or(self.software)
    }

    /// What does not add up, with its device.
    pub fn open_account(&self) -> Option<String> {
        let runs = [self.software, self.rtl];
        runs.into_iter().flatten().find_map(|run| Some(format!("{}: {}", run.device, run.open_account.as_ref()?)))
    }

    fn rows(&self) -> Vec<Row> {
        let Some(shown) = self.shown() else { return Vec::new() };
        let mut rows = Vec::new();
        let mut total = ModuleCounters::default();
        let tenants = self.linker.tenants().map(|t| (t.module, t.spec.id, t.spec.name.clone()));
        let mut names: Vec<(u8, u16, String)> = tenants.collect();
        if !names.iter().any(|n| n.0 == 0) {
            names.push((0, 0, "system".to_owned()));
        }
        names.sort();
        for (module, id, name) in names {
            let counters = shown.counters.modules.get(&module).cloned().unwrap_or_default();
            total.add(&counters);
            rows.push(Row { id: Some(id), name, module: Some(module), counters });
        }
        rows.push(Row { id: None, name: "total".to_owned(), module: None, counters: total });
        rows
    }

    /// Prints the table.
    pub fn text(&self, out: &mut Output) -> Result<(), Failure> {
        // Without rings nothing is in buffers.
        let has_rings = self.shown().is_some_and(|played| !played.rings.is_empty());
        let mut headings = vec!["tenant", "offered", "copies", "forwarded", "delivered"];
        headings.extend(has_rings.then_some("consumed"));
        headings.push("dropped");
        headings.extend(self.software.map(|_| "packets/s"));
        headings.extend(self.rtl.map(|_| "cycles/packet"));
        headings.push("dropped by reason");
        let last = headings.len() - 1;
        let mut table = Table::new(headings);
        for row in self.rows() {
            let c = &row.counters;
            let dropped: u64 = c.dropped.values().sum();
            let mut cells = vec![row.name.clone()];
            cells.extend([c.offered, c.copies, c.forwarded, c.delivered].map(group));
            cells.extend(has_rings.then(|| group(c.consumed)));
            cells.push(group(dropped));
            cells.extend(
                self.software.map(|played| self.packets_per_second(&row, played).map_or("-".to_owned(), group)),
            );
            cells.extend(self.rtl.map(|played| cycles(&row, played).map_or("-".to_owned(), |c| format!("{c:.1}"))));
            let reasons: Vec<String> =
                c.dropped.iter().filter(|d| *d.1 > 0).map(|(r, n)| format!("{} {n}", r.name())).collect();
            cells.push(reasons.join(", "));
            table.row(cells);
        }
        out.text(&table.left(last).to_string())?;
        out.text("\n")?;
        self.lines(out)
    }

    fn lines(&self, out: &mut Output) -> Result<(), Failure> {
        for row in self.rows() {
            let lines = self.engine(&row).map(|counts| engine_counts::text(counts, None));
            lines.into_iter().flatten().try_for_each(|line| out.line(format!("engine, {}: {line}", row.name)))?;
        }
        let leaves = self.shown().map_or(&[][..], |played| &played.leaves);
        for row in self.rows() {
            let lines = leaf_counts::text(leaves, row.id);
            lines.into_iter().try_for_each(|line| out.line(format!("{}, {line}", row.name)))?;
        }
        let entries = self.shown().map_or(&[][..], |played| &played.entries);
        for row in self.rows() {
            entry_counts::text(entries, row.id, &row.name).into_iter().try_for_each(|line| out.line(line))?;
        }
        let cells = self.shown().map_or(&[][..], |played| &played.cells);
        for row in self.rows() {
            cell_counts::text(cells, row.id, &row.name).into_iter().try_for_each(|line| out.line(line))?;
        }
        for ring in self.shown().map(|played| &played.rings).into_iter().flatten() {
            out.line(ring.text())?;
        }
        if let Some(played) = self.software {
            let (device, packets, seconds) = (played.device, group(played.offered), played.wall.as_secs_f64());
            out.line(format!("{device}: {packets} packets in {:.1} ms of wall time", seconds * 1e3))?;
        }
        if let Some((rtl, ticks)) = self.rtl.and_then(|rtl| Some((rtl, span(rtl)?))) {
            let apart = ticks as f64 / rtl.offered.max(1) as f64;
            let seconds = rtl.wall.as_secs_f64();
            let (packets, cycles) = (group(rtl.offered), group(ticks));
            out.line(format!(
                "rtl: {packets} packets in {cycles} cycles, {apart:.1} cycles from one to the next; simulated in \
                 {seconds:.1} s"
            ))?;
            out.line("     cycles/packet: from the first beat in to the last beat out, mean of what left")?;
        }
        for played in [self.software, self.rtl].into_iter().flatten() {
            let device = played.device;
            for c in &played.changes {
                out.line(format!("{device}: {} begun at packet {}, done by packet {}", c.label, c.before, c.done))?;
            }
        }
        if let Some(seen) = self.live {
            let c = &seen.counts;
            out.line(format!(
                "live: {} received, {} missed, {} sent, {} refused by interfaces, {} longer than a port takes",
                c.received, c.missed, c.sent, c.refused, c.oversize
            ))?;
            seen.outages().into_iter().try_for_each(|line| out.line(line))?;
        }
        if self.compared {
            out.line("compared: model and rtl agree in every packet, byte and counter")?;
        }
        self.crowded(out)?;
        if let Some(played) = self.shown().filter(|played| played.interrupted) {
            out.line(interrupted(played))?;
        }
        if self.open_account().is_none() {
            let has_rings = self.shown().is_some_and(|played| !played.rings.is_empty());
            let consumed = if has_rings { " + consumed" } else { "" };
            let left = if self.shown().is_some_and(|played| played.left) { " + in flight" } else { "" };
            out.line(format!(
                "accounting: closed; offered + copies = forwarded + delivered{consumed} + dropped{left} for every tenant"
            ))?;
        }
        for w in self.written {
            out.line(format!("wrote {}: {} packets of {}", w.path.display(), w.packets, w.from))?;
        }
        Ok(())
    }

    /// Says whose the drops are that depend on the cycle in which a packet comes.
    fn crowded(&self, out: &mut Output) -> Result<(), Failure> {
        let rows = self.rows();
        let dropped = rows.iter().flat_map(|row| &row.counters.dropped).filter(|(_, packets)| **packets > 0);
        let names: BTreeSet<&str> = dropped.map(|(reason, _)| reason.name()).collect();
        let some = |of: &[&'static str]| of.iter().copied().filter(|name| names.contains(name)).collect::<Vec<_>>();
        let (fed, queues) = (some(&FED), some(&TAILS));
        if self.compared && !fed.is_empty() {
            let fed = fed.join(" and ");
            out.line(format!(
                "          {fed}: which packets these are only the RTL's cycles say, and the model follows"
            ))?;
        }
        if self.compared && !queues.is_empty() {
            let queues = queues.join(", ");
            out.line(format!("          {queues}: computed by the model, in the RTL's order of packets"))?;
        }
        let all = [fed, queues].concat();
        let by_ticks = self.software.is_some_and(|played| played.device != dataplane::KIND);
        if by_ticks && self.rtl.is_none() && self.live.is_none() && !all.is_empty() {
            let all = all.join(", ");
            out.line(format!(
                "model: {all}: by the model's own ticks; the RTL, with other cycles, may drop other packets"
            ))?;
        }
        Ok(())
    }

    /// One document.
    pub fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows().iter().map(|row| self.row_json(row)).collect();
        let (tenants, total) = rows.split_at(rows.len().saturating_sub(1));
        let device = |played: &Played| {
            json!({
                "packets": played.offered,
                "wall_seconds": played.wall.as_secs_f64(),
                "ticks": span(played),
                "interrupted": played.interrupted,
                "left_in_flight": left_in_flight(played),
                "wedges": played.counters.wedges,
                "replacements": played.changes.iter().map(|c| json!({
                    "label": c.label, "begun_at_packet": c.before, "done_by_packet": c.done, "ticks": c.ticks,
                })).collect::<Vec<_>>(),
            })
        };
        json!({
            "format_version": sluice_formats::limits::FORMAT_VERSION,
            "target": self.target,
            "seed": self.seed,
            "model": self.software.filter(|played| played.device != dataplane::KIND).map(device),
            "dataplane": self.software.filter(|played| played.device == dataplane::KIND).map(device),
            "rtl": self.rtl.map(device),
            "compared": self.compared,
            "live": self.live.map(Seen::json),
            "accounting_closed": self.open_account().is_none(),
            "rings": self.shown().map(|played| played.rings.iter().map(RunRing::json).collect::<Vec<_>>()),
            "tenants": tenants,
            "total": total.first(),
            "outputs": self.written.iter().map(|w| json!({
                "destination": w.from.to_string(), "file": w.path, "packets": w.packets,
            })).collect::<Vec<_>>(),
        })
    }

    fn row_json(&self, row: &Row) -> Value {
        let mut value = serde_json::to_value(&row.counters).unwrap_or_default();
        value["id"] = json!(row.id);
        value["name"] = json!(row.name);
        value["dropped_by_destination"] = self.dropped_at(row);
        value["packets_per_second"] = json!(self.software.and_then(|played| self.packets_per_second(row, played)));
        value["engine"] = json!(self.engine(row).map(|counts| engine_counts::value(counts, None)));
        let leaves = self.shown().map_or(&[][..], |played| &played.leaves);
        value["leaves"] = leaf_counts::value(leaves, row.id);
        let entries = self.shown().map_or(&[][..], |played| &played.entries);
        value["entries"] = entry_counts::value(entries, row.id);
        let cells = self.shown().map_or(&[][..], |played| &played.cells);
        value["counters"] = cell_counts::value(cells, row.id);
        value["cycles_per_packet"] = json!(self.rtl.and_then(|played| cycles(row, played)));
        value
    }

    /// Drops of copies at destinations, by name and reason; nothing of live interfaces, whose outcomes are not kept.
    fn dropped_at(&self, row: &Row) -> Value {
        let Some(shown) = self.shown().filter(|_| self.live.is_none()) else { return Value::Null };
        let sums = row.module.map_or_else(|| shown.tally.total(), |module| shown.tally.module(module));
        let target = Target::by_name(self.target);
        let name = |number: u8| Some(Destination::from_number(number, target?)?.to_string());
        let named = sums.dropped_at().iter().filter_map(|(number, reasons)| Some((name(*number)?, json!(reasons))));
        named.collect::<serde_json::Map<_, _>>().into()
    }

    /// What an XDP engine in hardware has counted of a tenant.
    fn engine(&self, row: &Row) -> Option<&EngineCounts> {
        self.rtl?.engine.get(&row.module?)
    }

    fn packets_per_second(&self, row: &Row, played: &Played) -> Option<u64> {
        let offered = match row.module {
            Some(module) => played.counters.modules.get(&module).map_or(0, |c| c.offered),
            None => played.offered,
        };
        let seconds = played.wall.as_secs_f64();
        (offered > 0 && seconds > 0.0).then(|| (offered as f64 / seconds) as u64)
    }
}

/// Packets and copies without an outcome in a run that was left, beside those that had not begun to arrive.
fn left_in_flight(played: &Played) -> u64 {
    if played.left { played.counters.modules.values().map(|c| c.in_flight).sum() } else { 0 }
}

fn interrupted(played: &Played) -> String {
    if !played.left {
        return "interrupted: what was in flight has been finished".to_owned();
    }
    let arrived: u64 = played.counters.modules.values().map(|c| c.offered).sum();
    let (waiting, inside) = (played.offered.saturating_sub(arrived), left_in_flight(played));
    format!("interrupted: left are {} packets in flight, and {} that had not arrived", group(inside), group(waiting))
}

/// Mean cycles of the row's packets in the NIC.
fn cycles(row: &Row, played: &Played) -> Option<f64> {
    match row.module {
        Some(module) => played.tally.module(module).cycles_per_packet(),
        None => played.tally.total().cycles_per_packet(),
    }
}

/// Ticks from the first beat in to the last beat out.
fn span(played: &Played) -> Option<u64> {
    played.tally.total().seen.map(|(first, last)| last.saturating_sub(first) + 1)
}
