//! A device's model that is given a linker's rows: which leaf its packets have, by the rows, is what the table says, and what the program does is what its leaf says.

use crate::support::{LOOP, image, objects};
use sluice_device::{Engine, Frame, Packet, Route, Stamped};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, XdpEngine, tenant};
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::xdp::codes::XdpWarpKind;
use sluice_formats::xdp::rows::{XdpWarpHitsRow, XdpWarpLeafRow};
use sluice_formats::xdp::target::Target as Sizes;
use sluice_formats::{EngineId, Node, Row, Table, Target};
use sluice_hxdp::rows::compiler;
use sluice_hxdp::warp::bits::Seen;
use sluice_hxdp::warp::tree::Tree;
use sluice_hxdp::warp::witness::witness;
use sluice_hxdp::warp::{Action, warp};
use sluice_hxdp::{Stored, Target as Core, compile};
use sluice_object::{Destination, Linker, Load, Object, Step, TenantSpec, XdpWarpRoom};
use std::path::Path;

const TENANT: u16 = 7;

/// A device with one tenant.
struct Device {
    linker: Linker,
    engine: XdpEngine,
}

impl Device {
    fn new(target: &'static Target, work: Option<u32>) -> Self {
        let mut linker = Linker::of(target, &[EngineId::XDP], Some(compiler));
        let mut spec = TenantSpec::new(TENANT, "red");
        spec.xdp_work = work;
        let cells = (linker.grantable_cells() / (target.ports + target.hosts)).min(0xffff) as u16;
        let ports = (0..target.ports as u8).map(Destination::Port);
        let hosts = (0..target.hosts as u8).map(Destination::Host);
        spec.queues = ports.chain(hosts).map(|to| (to, cells)).collect();
        linker.admit(spec).unwrap();
        Self { linker, engine: XdpEngine::new(*target) }
    }

    fn load(&mut self, object: &Object, change: impl Fn(&mut Step)) -> bool {
        let load: Load = match self.linker.load(TENANT, object) {
            Ok(load) => load,
            // It has not the room.
            Err(_) => return false,
        };
        for mut step in load.steps {
            change(&mut step);
            match step {
                Step::Write { node: Node::Xdp, table, index, words } => {
                    self.engine.write(Node::Xdp, table, index, &words);
                }
                Step::Commit { module, generation } => self.engine.commit(module, generation),
                Step::Install { module, generation, install: Some(install), .. } => {
                    self.engine.install(module, generation, &install).unwrap();
                }
                _ => {}
            }
        }
        true
    }

    fn of(&self) -> (u8, u8) {
        (self.linker.tenant(TENANT).unwrap().module, self.linker.generation(TENANT).unwrap())
    }

    fn run(&mut self, frame: &[u8], ingress: Ingress) {
        let (module, generation) = self.of();
        let mut packet = Packet {
            id: 0,
            port: ingress.ifindex as u8 - 1,
            module,
            tenant: TENANT,
            tci: 0,
            stamped: Stamped { generation, system_generation: 0 },
            arrival: 0,
            stamp: 0,
            first_in: 0,
            conform: true,
            frame: Frame::new(frame.to_vec(), false),
            route: Route::default(),
            given: Vec::new(),
        };
        self.engine.run(&mut packet);
    }

    fn hits(&mut self) -> Vec<u64> {
        let (module, generation) = self.of();
        let first = 64 * (2 * u32::from(module) + u32::from(generation));
        let row = |rule| self.engine.read(Node::Xdp, Table::XdpWarpHits, first + rule).unwrap();
        (0..64).map(|rule| XdpWarpHitsRow::unpack(&row(rule)).unwrap().packets).collect()
    }

    fn faults(&mut self) -> Vec<String> {
        let (module, _) = self.of();
        let counts = self.engine.maps().unwrap().counts(module).unwrap();
        counts.faults.into_keys().filter(|fault| fault.contains("rule ")).collect()
    }
}

/// An object with maps for which tiny has room.
fn small(path: &Path) -> Image {
    let mut image = image(path);
    for map in &mut image.maps {
        map.max_entries = map.max_entries.min(64);
        if let Some(inner) = &mut map.inner {
            inner.max_entries = inner.max_entries.min(64);
        }
    }
    image
}

/// Packets of an object's leaves, and the leaves that had some.
fn played(path: &Path, target: &'static Target, rng: &mut Rng, rounds: usize) -> (u64, usize) {
    let Ok(object) = tenant::object("red", &small(path), &tenant::Options::default()) else { return (0, 0) };
    let mut device = Device::new(target, None);
    if !device.load(&object, |_| {}) {
        return (0, 0);
    }
    let leaves = device.linker.warp_hits(TENANT).unwrap().len();
    let xdp = object.parts.xdp.as_deref().unwrap();
    let (image, main) = (tenant::image(xdp).unwrap(), xdp.main as usize);
    let sizes = Sizes::by_name(target.name);
    let core = Core::new(2).unwrap().with_warp(XdpWarpRoom { rules: sizes.warp_rules, steps: sizes.warp_steps });
    let plain = compile(&image, &image.programs[main], &core).unwrap();
    let table = warp(&image, main, &plain, &core).unwrap().table;
    // Rows of leaves may have no pages on tiny.
    assert!(leaves == table.leaves.len() || leaves == 0 && target.name == TINY.name, "{}", path.display());
    let mut expected = vec![0; 64];
    for (_, tests) in Tree::of(&image, &image.programs[main], &Stored::default()).leaves() {
        for _ in 0..rounds {
            let Some((mut frame, ingress)) = witness(&tests, rng) else { continue };
            let ingress = Ingress { ifindex: 1 + ingress.ifindex % target.ports, queue: 0 };
            match rng.index(4) {
                0 => frame.truncate(1 + rng.index(frame.len())),
                1 => {
                    let at = rng.index(frame.len());
                    frame[at] ^= 1 << rng.index(8);
                }
                _ => {}
            }
            let leaf = table.leaf(&Seen::new(&frame, ingress));
            if let Some(leaf) = leaf.filter(|leaf| *leaf < leaves && table.leaves[*leaf].action != Action::Plain) {
                expected[leaf] += 1;
            }
            device.run(&frame, ingress);
        }
    }
    assert_eq!(device.hits(), expected, "{} on {}", path.display(), target.name);
    assert_eq!(device.faults(), Vec::<String>::new(), "{} on {}", path.display(), target.name);
    (expected.iter().sum(), expected.iter().filter(|packets| **packets > 0).count())
}

#[test]
fn a_model_counts_leaves_packets_by_rows_alone() {
    let mut rng = Rng::new(test_seed("warp_engine"));
    let rounds = if test_is_long() { 400 } else { 10 };
    for target in [&DEFAULT, &TINY] {
        let (mut packets, mut leaves) = (0, 0);
        for object in objects() {
            let (more, of) = played(&object, target, &mut rng, rounds);
            (packets, leaves) = (packets + more, leaves + of);
        }
        println!("{}: {packets} packets of {leaves} leaves", target.name);
        assert!(packets > 500 && leaves > 80, "{}: {packets} packets of {leaves} leaves", target.name);
    }
}

fn filter() -> Object {
    let path = objects().into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == "flow_filter")).unwrap();
    tenant::object("red", &small(&path), &tenant::Options::default()).unwrap()
}

/// Makes every verdict a drop.
fn drops(step: &mut Step) {
    if let Step::Write { table: Table::XdpWarpLeaf, words, .. } = step {
        let leaf = XdpWarpLeafRow::unpack(words).unwrap();
        if leaf.kind == XdpWarpKind::Verdict.code() {
            *words = XdpWarpLeafRow { verdict: 1, ..leaf }.pack().unwrap();
        }
    }
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "says verdict 1, the program pass"))]
fn a_leaf_whose_verdict_is_not_the_programs_is_told() {
    let mut device = Device::new(&TINY, None);
    assert!(device.load(&filter(), drops));
    // ARP.
    let mut frame = vec![0; 64];
    frame[12..14].copy_from_slice(&[8, 6]);
    device.run(&frame, Ingress { ifindex: 1, queue: 0 });
    assert_eq!(device.faults().len(), 1);
}

#[test]
fn at_the_limit_on_work_a_packet_is_plain() {
    let program = sluice_ebpf::insn::assemble("loop", LOOP, &[]).unwrap();
    let program = sluice_ebpf::Program { section: "xdp".to_owned(), ..program };
    let image = Image { programs: vec![program], ..Default::default() };
    let object = tenant::object("red", &image, &tenant::Options::default()).unwrap();
    for limit in 1..6 {
        let mut device = Device::new(&TINY, Some(limit));
        assert!(device.load(&object, |_| {}));
        for rounds in 0..6 {
            let mut frame = vec![0; 64];
            frame[14] = rounds;
            device.run(&frame, Ingress { ifindex: 1, queue: 0 });
        }
        // Once around is no way back.
        assert_eq!(device.hits().iter().sum::<u64>(), u64::from(limit + 2).min(6), "at the limit {limit}");
        let module = device.of().0;
        let counts = device.engine.maps().unwrap().counts(module).unwrap();
        assert_eq!(counts.verdicts[0], u64::from(6 - (limit + 2).min(6)), "at the limit {limit}");
    }
}

#[test]
fn a_counter_comes_to_0_behind_its_last_number() {
    let mut device = Device::new(&TINY, None);
    assert!(device.load(&filter(), |_| {}));
    let mut frame = vec![0; 64];
    frame[12..14].copy_from_slice(&[8, 6]);
    device.run(&frame, Ingress { ifindex: 1, queue: 0 });
    let rule = device.hits().iter().position(|hits| *hits == 1).unwrap() as u32;
    let (module, generation) = device.of();
    let index = 64 * (2 * u32::from(module) + u32::from(generation)) + rule;
    let last = XdpWarpHitsRow { packets: (1 << 36) - 1 }.pack().unwrap();
    device.engine.write(Node::Xdp, Table::XdpWarpHits, index, &last);
    device.run(&frame, Ingress { ifindex: 1, queue: 0 });
    assert_eq!(device.hits()[rule as usize], 0);
}
