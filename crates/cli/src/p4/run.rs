//! `sluice p4 run`: captures through a program.

use super::allow::AllowArgs;
use super::alone::Alone;
use super::device::Device;
use super::{PlaceArgs, ReadArgs, check_alone, failure, ports_json, refused, tell_ports};
use crate::captures::{self, Capture, Writer};
use crate::failure::Failure;
use crate::files;
use crate::output::Output;
use clap::Args;
use serde_json::json;
use sluice_p4::stf::{Carrier, CarrierError};
use sluice_p4::{Model, PortMap, Reference, Sent, Traffic, Undefined};
use sluice_packet::capture::{Format, Packet};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

/// Interfaces of the capture that is written: one a port, and one for ports that the pipeline does not have.
const INTERFACES: [&str; 9] = ["port0", "port1", "port2", "port3", "port4", "port5", "port6", "port7", "other"];

/// Plays a capture through a P4-16 program for v1model
///
/// Every packet arrives on one port. On the reference the program runs as the specification says; the other devices run what `sluice p4 compile` makes of it. Exits with 0 when all packets went through, 1 when one did not or a device differs from the reference, 2 when something cannot be read, 3 when the device does not run the program.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  sluice p4 run programs/p4/reflector.p4 --in programs/xdp/mixed.pcap
  sluice p4 run programs/p4/qos.p4 --entries programs/p4/all.entries --in programs/xdp/mixed.pcap --device model --out qos.pcapng")]
pub struct Run {
    /// Program, *.p4
    program: PathBuf,
    #[command(flatten)]
    read: ReadArgs,
    /// Capture to play, `-` is standard input
    #[arg(long = "in", value_name = "CAPTURE")]
    input: PathBuf,
    /// Entries of its tables: `add`, `setdefault` and `remove`
    #[arg(long, value_name = "FILE")]
    entries: Option<PathBuf>,
    /// What runs the program
    #[arg(long, value_enum, default_value = "reference")]
    device: Device,
    #[command(flatten)]
    place: PlaceArgs,
    #[command(flatten)]
    allow: AllowArgs,
    /// Port on which the packets arrive
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..511))]
    port: u16,
    /// Capture of what leaves; pcapng has an interface for each port
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Shows what each packet does: statements, tables, and what is written, as the reference does it
    #[arg(long)]
    trace: bool,
    /// One JSON document instead of text
    #[arg(short = 'j', long)]
    json: bool,
}

/// What became of the packets.
#[derive(Default)]
struct Tally {
    packets: u64,
    dropped: u64,
    ports: BTreeMap<u16, u64>,
    failures: Vec<(u64, String)>,
    traces: Vec<(u64, Vec<String>)>,
}

impl Run {
    /// Reads, plays and reports.
    pub fn run(&self, out: &mut Output) -> Result<ExitCode, Failure> {
        let program = self.allow.check(&self.read, &self.program)?;
        if let Err(why) = check_alone(&program) {
            return refused(out, &why);
        }
        if let Some(output) = &self.out {
            files::check_other(&self.input, output)?;
        }
        let reference = match self.trace {
            false => program.reference(Undefined::Zero, 1),
            true => program.traced(Undefined::Zero, 1),
        };
        let mut reference = match reference {
            Ok(reference) => reference,
            Err(errors) => return refused(out, &failure(&errors)),
        };
        if let Some(file) = &self.entries {
            sluice_frontends::fill(&mut reference, file).map_err(|e| Failure::input(e.code, e.what))?;
        }
        let mut carrier: Option<Box<dyn Carrier>> = None;
        let mut ports = PortMap::default();
        let mut compiled_for = None;
        if self.device != Device::Reference || self.allow.asks_target() {
            let traffic = Traffic { entries: &reference, script: None, arrivals: &[self.port] };
            let compiled = match self.place.compile(&program, Some(&traffic)) {
                Ok(compiled) => compiled,
                Err(why) => return refused(out, &why),
            };
            compiled.teach(&mut reference);
            compiled_for = Some(compiled);
        }
        if let Some(compiled) = compiled_for.filter(|_| self.device != Device::Reference) {
            ports = compiled.ports().clone();
            if let Err(why) = self.device.check_beside(self.trace, &compiled) {
                return refused(out, &why);
            }
            let mut new: Box<dyn Carrier> = match self.device {
                Device::Model => Box::new(Model::new(compiled)),
                device => Box::new(Alone::rtl(compiled, device != Device::Rtl, 1)?),
            };
            if let Err(error) = new.load(&reference) {
                return refused(out, &Failure::input(error.code, error.what));
            }
            carrier = Some(new);
        }
        reference.bound_ports(None);
        let tally = self.play(&mut reference, &mut carrier)?;
        self.report(out, &tally, &ports)?;
        Ok(ExitCode::from(u8::from(!tally.failures.is_empty())))
    }

    fn play(&self, reference: &mut Reference, carrier: &mut Option<Box<dyn Carrier>>) -> Result<Tally, Failure> {
        let mut capture = Capture::open(&self.input)?;
        let has_interfaces = self.out.as_deref().map(captures::format).transpose()? == Some(Format::PcapNg);
        let names = if has_interfaces { &INTERFACES[..] } else { &INTERFACES[..1] };
        let mut sink: Option<Writer> = self.out.as_deref().map(|path| captures::create(path, names)).transpose()?;
        let (mut tally, mut packet) = (Tally::default(), Packet::default());
        while capture.read(&mut packet)? {
            let number = tally.packets;
            tally.packets += 1;
            let is_compared = carrier.is_some() && (self.trace || self.device == Device::All);
            let by_reference = match carrier.is_none() || is_compared {
                true => Some(by_reference(reference, self.port, &packet.bytes)),
                false => None,
            };
            if self.trace {
                tally.traces.push((number, reference.events()));
            }
            let carried = carrier.as_mut().map(|carrier| carrier.packet(self.port, &packet.bytes));
            if is_compared && carried != by_reference {
                tally.failures.push((number, "the device sends other packets than the reference".to_owned()));
            }
            match carried.or(by_reference).unwrap_or_else(|| Ok(Vec::new())) {
                Err(CarrierError { code, what }) => tally.failures.push((number, format!("error[{code}]: {what}"))),
                Ok(all) if all.is_empty() => tally.dropped += 1,
                Ok(all) => {
                    for Sent { port, bytes } in all {
                        *tally.ports.entry(port).or_default() += 1;
                        let interface = if has_interfaces { u32::from(port).min(8) } else { 0 };
                        if let Some(sink) = &mut sink {
                            sink.write(&Packet { interface, ..Packet::new(packet.stamp, bytes) })?;
                        }
                    }
                }
            }
        }
        sink.map_or(Ok(()), Writer::finish)?;
        Ok(tally)
    }

    fn report(&self, out: &mut Output, tally: &Tally, map: &PortMap) -> Result<(), Failure> {
        let sent: u64 = tally.ports.values().sum();
        if self.json {
            let pair = |(packet, what): &(u64, String)| json!({ "packet": packet, "what": what });
            let trace = |(packet, events): &(u64, Vec<String>)| json!({ "packet": packet, "events": events });
            return out.json(&json!({
                "device": self.device.name(),
                "passed": tally.failures.is_empty(),
                "packets": tally.packets,
                "sent": sent,
                "dropped": tally.dropped,
                "ports": tally.ports,
                "port_map": ports_json(map),
                "failures": tally.failures.iter().map(pair).collect::<Vec<_>>(),
                "traces": tally.traces.iter().map(trace).collect::<Vec<_>>(),
            }));
        }
        tell_ports(out, map)?;
        for (packet, events) in &tally.traces {
            out.line(format!("packet {packet}"))?;
            events.iter().try_for_each(|event| out.line(format!("  {event}")))?;
        }
        for (packet, what) in &tally.failures {
            out.line(format!("packet {packet}: {what}"))?;
        }
        let ports: Vec<String> = tally.ports.iter().map(|(port, count)| format!("port {port}: {count}")).collect();
        let ports = if ports.is_empty() { "none".to_owned() } else { ports.join(", ") };
        out.line(format!("packets in {}, out {sent} ({ports}), dropped {}", tally.packets, tally.dropped))
    }
}

/// What leaves the reference, in the order of the ports, as a device tells it.
fn by_reference(reference: &mut Reference, port: u16, bytes: &[u8]) -> Result<Vec<Sent>, CarrierError> {
    let mut all = reference.packet(port, bytes).map_err(|what| CarrierError { code: "E0795", what })?;
    all.sort_by_key(|sent| sent.port);
    Ok(all)
}
