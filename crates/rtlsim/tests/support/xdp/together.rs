//! Packets that are executed at the same time: the bundle model follows the order that the engine tells, one thread a context.

use super::engine::{Engine, MODULE};
use super::pair::{Fate, Pair, fate};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{MapSpace, Packet, Runtime};
use sluice_formats::xdp::codes::XdpStep;
use sluice_formats::xdp::rows::XdpStepTraceRow;
use sluice_hxdp::Cores;
use sluice_hxdp::model::Gate;
use sluice_object::xdp::routes::NAME;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// A packet's way to the maps: they come when it is its turn, and go back when it has had it.
#[derive(Debug)]
struct Turns {
    go: Receiver<MapSpace>,
    done: SyncSender<MapSpace>,
    own: RefCell<Option<MapSpace>>,
}

impl Gate for Turns {
    fn enter(&self, maps: &mut MapSpace) {
        let shared = self.go.recv().expect("the engine told this access");
        self.own.replace(Some(std::mem::replace(maps, shared)));
    }

    fn leave(&self, maps: &mut MapSpace) {
        let own = self.own.take().expect("it has entered");
        self.done.send(std::mem::replace(maps, own)).expect("somebody waits for the maps");
    }
}

/// A packet that is in the engine.
struct Running {
    go: Sender<MapSpace>,
    done: Receiver<MapSpace>,
    thread: JoinHandle<Fate>,
}

/// Sends packets without waiting for any, and compares what became of each, and the maps.
pub fn together(engine: &mut Engine, pair: &mut Pair, frames: &[(u8, Vec<u8>)], first: u32) -> usize {
    let mut sent = BTreeMap::new();
    for (number, (port, frame)) in (first..).zip(frames) {
        let id = sluice_formats::limits::packet_id(*port, number);
        engine.offer(id, super::engine::MODULE, frame);
        sent.insert(id, (*port, frame.clone()));
    }
    engine.end(frames.len());
    engine.stall(0, 0);
    engine.quiesce();
    let steps = std::mem::take(&mut engine.steps);
    let fates = follow(pair, &sent, &steps);
    let verdicts = std::mem::take(&mut engine.verdicts);
    assert_eq!(verdicts.len(), frames.len(), "{}\nnot every packet ended", pair.listing());
    for verdict in verdicts {
        let found = pair.found(engine, &verdict);
        assert_eq!(Some(&found), fates.get(&verdict.id), "packet {:#x}\n{}", verdict.id, pair.listing());
    }
    engine.order.clear();
    pair.compare_maps(engine);
    engine.early += steps.iter().filter(|(_, row)| row.early).count();
    let accesses = |(step, _): &&(XdpStep, XdpStepTraceRow)| matches!(step, XdpStep::Value | XdpStep::Map);
    steps.iter().filter(accesses).count()
}

fn follow(
    pair: &mut Pair,
    sent: &BTreeMap<u32, (u8, Vec<u8>)>,
    steps: &[(XdpStep, XdpStepTraceRow)],
) -> BTreeMap<u32, Fate> {
    // A packet's lookup may come before it has a processor.
    let (mut slots, mut processors) = (BTreeMap::new(), BTreeMap::new());
    for (step, row) in steps {
        match step {
            XdpStep::Packet => drop(slots.insert(row.slot, row.value as u32)),
            XdpStep::Start => drop(processors.insert(slots[&row.slot], row.processor)),
            _ => {}
        }
    }
    let (mut slots, mut on) = (BTreeMap::new(), BTreeMap::new());
    let mut running: BTreeMap<u32, Running> = BTreeMap::new();
    let contexts = pair.contexts();
    // The engine's own functions look at these, which only the host changes; the model's helpers look elsewhere.
    let only_routes = pair.image.maps.iter().all(|map| map.name == NAME);
    let mut maps = Some(std::mem::replace(&mut pair.runtime.maps, MapSpace::new(contexts)));
    for (step, row) in steps {
        match step {
            XdpStep::Packet => {
                let id = row.value as u32;
                slots.insert(row.slot, id);
                let (port, frame) = sent[&id].clone();
                running.insert(id, start(pair, port, frame, processors.get(&id).copied().unwrap_or(0)));
            }
            XdpStep::Start => drop(on.insert(row.processor, slots[&row.slot])),
            XdpStep::Value | XdpStep::Map if only_routes => {}
            XdpStep::Value | XdpStep::Map => {
                let id = if row.early { slots[&row.slot] } else { on[&row.processor] };
                let packet = &running[&id];
                let wrong = || -> MapSpace {
                    panic!(
                        "the engine reached a map where the model does not: {step:?} {row:?} of {id:#x}\n{}",
                        pair.listing()
                    )
                };
                packet.go.send(maps.take().expect("the maps are here")).unwrap_or_else(|_| drop(wrong()));
                maps = Some(packet.done.recv().unwrap_or_else(|_| wrong()));
            }
            XdpStep::Number => {}
        }
    }
    let ended = |(id, Running { go, done, thread }): (u32, Running)| {
        drop((go, done));
        (id, thread.join().unwrap_or_else(|_| panic!("packet {id:#x} wants more than the engine gave it")))
    };
    let fates = running.into_iter().map(ended).collect();
    pair.runtime.maps = maps.expect("the maps are here");
    fates
}

fn start(pair: &Pair, port: u8, frame: Vec<u8>, processor: u8) -> Running {
    let (go, turn) = channel();
    let (back, done) = sync_channel(1);
    let (image, bundles, limit, contexts) =
        (pair.image.clone(), pair.bundles.clone(), pair.runtime.work_limit, pair.contexts());
    let (routes, table) = (pair.runtime.world.routes.clone(), pair.table.clone());
    let thread = std::thread::spawn(move || {
        let mut runtime = Runtime::new(contexts, 0);
        runtime.work_limit = limit;
        runtime.world.cpu = processor.into();
        runtime.world.routes = routes;
        let installed = runtime.install_unchecked(&image, &|_| None).expect("it was installed before");
        let mut cores = Cores::new();
        let number = runtime.program_number(installed, 0).expect("the first program");
        cores.bind(bundles, number, &runtime, installed);
        if let Some(table) = table {
            cores.warp(number, table, &runtime, installed);
        }
        cores.gate(Box::new(Turns { go: turn, done: back, own: RefCell::new(None) }));
        let mut packet = Packet::new(&frame);
        let ingress = Ingress { ifindex: super::engine::INTERFACES[usize::from(port)], queue: 0 };
        let outcome = runtime.run_on(&cores, installed, 0, &mut packet, ingress);
        fate(&outcome, packet.frame(), port)
    });
    Running { go, done, thread }
}

/// Packets of flows, by their numbers: in a flow one after the other, as they came, each as it is interpreted; and maps.
pub fn in_flows(engine: &mut Engine, pair: &mut Pair, sent: &[(u8, u32, Vec<u8>)]) {
    for (flow, id, frame) in sent {
        engine.offer_flow(*id, MODULE, (*flow).into(), frame);
    }
    engine.end(sent.len());
    engine.stall(0, 0);
    engine.quiesce();
    let verdicts = std::mem::take(&mut engine.verdicts);
    assert_eq!(verdicts.len(), sent.len(), "packets wait for ever");
    for (flow, id, frame) in sent {
        let fate = pair.interpret(0, frame);
        let verdict = verdicts.iter().find(|verdict| verdict.id == *id).expect("each has ended");
        assert_eq!(pair.found(engine, verdict), fate, "flow {flow}, packet {id:#x}");
    }
    engine.forget();
    pair.compare_maps(engine);
}
