//! Each module has a table of its own in front of the cores: on all modules that there are random parsers run, and packets of all of them come between each
//! other. Each ends as on the software NIC, and is counted for its leaf.

use crate::parsers::parser;
use crate::support;
use crate::xdp::device::{Nic, all_maps};
use crate::xdp::leaves::{hits, table_of, tagged};
use sluice_device::{Device, Offer, Verdict};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Image, MapType, tenant};
use sluice_formats::Target;
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::{DEFAULT, TINY};
use sluice_formats::xdp::target::PAGE_ROWS;
use sluice_hxdp::warp::bits::Seen;
use sluice_hxdp::warp::test::Test;
use sluice_hxdp::warp::witness::witness;
use sluice_hxdp::warp::{Action, Table as WarpTable};
use sluice_nic::SoftwareNic;
use sluice_rtlsim::{RtlNic, RtlOptions, Variant, top};
use std::collections::BTreeMap;

/// Pages of a program, so that those of all tenants have room, and one that is to come: leaves take none of the last quarter.
const PAGES_EACH: usize = 1;
/// Packets that are offered together.
const WINDOW: usize = 40;
/// Keys that are in a tenant's map; it has room for 8.
const KEYS: usize = 6;
/// Packets of a tenant and a generation.
const PACKETS_EACH: usize = 120;

/// The parser with one map: value memory of the tiny target has a page for each tenant and one more. What was counted is looked up among the flows.
fn without_counters(image: Image, text: &str) -> Image {
    let text = text.replace("r2 += -4\n    r1 = map[counters]", "r2 += -8\n    r1 = map[flows]");
    let program = sluice_ebpf::insn::assemble("parser", &text, &["flows"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Image { programs: vec![program], maps: image.maps.into_iter().skip(1).collect(), ..Image::default() }
}

/// Both devices, each with its linker: what is done to one is done to the other, and their packets end alike.
struct Both {
    rtl: Nic<RtlNic>,
    model: Nic<SoftwareNic>,
    rng: Rng,
}

impl Both {
    /// A random parser for a tenant, in the place of the one before. Gives it with its table.
    fn put(&mut self, id: u16, target: &Target) -> (Image, WarpTable) {
        loop {
            let (mut image, text) = parser(&mut self.rng);
            if target.name == "tiny" {
                image = without_counters(image, &text);
            }
            image.programs[0].section = "xdp".into();
            // Maps of all tenants have room.
            image.maps.iter_mut().for_each(|map| map.max_entries = map.max_entries.min(8));
            let (table, rows) = table_of(&image, target);
            let decided = table.leaves.iter().filter(|leaf| leaf.action != Action::Plain).count();
            if rows > PAGES_EACH * PAGE_ROWS || decided < 3 {
                continue;
            }
            let options = tenant::Options { files: all_maps(&image.maps), ..tenant::Options::default() };
            // Some have code to which nothing leads.
            let Ok(object) = tenant::object("parser", &image, &options) else { continue };
            self.model.put(id, &object).unwrap_or_else(|e| panic!("tenant {id}: {e}"));
            self.rtl.put(id, &object).unwrap_or_else(|e| panic!("tenant {id}: {e}"));
            let rows = self.rtl.linker.warp_hits(id).expect("a tenant");
            assert_eq!(rows.len(), table.leaves.len(), "tenant {id} has its table");
            return (image, table);
        }
    }

    /// A frame that a leaf has, now and then with a byte that is another, and the port that it comes to.
    fn frame(&mut self, tests: &[(Test, bool)], ports: usize) -> (u8, Vec<u8>) {
        let (mut frame, ingress) =
            witness(tests, &mut self.rng).unwrap_or_else(|| (self.rng.bytes(64), Ingress::default()));
        if self.rng.chance(1, 6) {
            let byte = self.rng.index(frame.len().min(64));
            frame[byte] ^= 1 << self.rng.index(8);
        }
        frame.resize(frame.len().max(14), 0);
        let port = (ingress.ifindex as usize).wrapping_sub(1);
        (if port < ports { port } else { self.rng.index(ports) } as u8, frame)
    }

    /// An entry of a tenant's map `flows`, the same for all processors.
    fn update(&mut self, id: u16, key: &[u8]) {
        let value = self.rng.bytes(8);
        put_entry(&mut self.rtl, id, key, &value);
        put_entry(&mut self.model, id, key, &value);
    }
}

fn put_entry<D: Device>(nic: &mut Nic<D>, id: u16, key: &[u8], value: &[u8]) {
    let (module, map) = (nic.module(id), nic.map(id, "flows"));
    let maps = nic.device.maps().unwrap();
    let declared = maps.list(module).unwrap().into_iter().find(|other| other.id == map).expect("the map").declared;
    let is_per_cpu = MapType::from_number(declared.kind).is_some_and(MapType::is_per_cpu);
    let copies = if is_per_cpu { maps.cpus() as usize } else { 1 };
    maps.update(module, map, key, &value.repeat(copies), 0).unwrap_or_else(|e| panic!("{e}"));
}

/// What becomes of packets that come one behind the other, by ID.
fn ended<D: Device>(nic: &mut Nic<D>, frames: &[(u8, Vec<u8>)]) -> BTreeMap<u32, (Verdict, Vec<u8>)> {
    let at = nic.device.now();
    let offer = |(port, bytes): &(u8, Vec<u8>)| Offer { port: *port, bytes: bytes.clone(), at, bad: false };
    let offers: Vec<Offer> = frames.iter().map(offer).collect();
    nic.device.offer(&offers).unwrap_or_else(|e| panic!("{e}"));
    nic.ended().into_iter().map(|outcome| (outcome.id, (outcome.verdict, outcome.bytes))).collect()
}

/// Tenants that are all there are, each with a parser of its own, and packets of all of them between each other.
fn all_modules(target: &'static Target, seed: u64, rounds: usize) {
    let options = RtlOptions { top: &top::XDP, seed, check_accounting: true, ..RtlOptions::default() };
    let device = RtlNic::open(target.name, options).unwrap_or_else(|e| panic!("{e}"));
    let (tenants, ports) = (target.modules as u16 - 1, target.ports as usize);
    let rtl = Nic::of(device, tenants, |_| ());
    let model = Nic::of(SoftwareNic::having(*target, sluice_nic::engines::ALL), tenants, |_| ());
    let mut both = Both { rtl, model, rng: Rng::new(seed) };
    let (mut packets, mut seen) = (0, [0; 4]);
    for _ in 0..rounds {
        // The other generation of each has another table; what stands there of the one before is nobody's.
        let programs: Vec<(Image, WarpTable)> = (1..=tenants).map(|id| both.put(id, target)).collect();
        let mut wanted: Vec<Vec<u64>> = programs.iter().map(|(_, table)| vec![0; table.leaves.len()]).collect();
        // Packets of each that find something.
        let mut known: Vec<Vec<(u8, Vec<u8>)>> = vec![Vec::new(); programs.len()];
        for _ in 0..PACKETS_EACH * programs.len() / WINDOW {
            let mut offers = Vec::new();
            for _ in 0..WINDOW {
                let id = both.rng.range(1, tenants.into()) as u16;
                let (_, table) = &programs[usize::from(id) - 1];
                let leaf = both.rng.index(table.leaves.len());
                let known = &mut known[usize::from(id) - 1];
                let (port, frame) = match known.get(both.rng.index(2 * KEYS)) {
                    Some(found) => found.clone(),
                    None => both.frame(&table.leaves[leaf].tests, ports),
                };
                let packet = Seen::new(&frame, Ingress { ifindex: u32::from(port) + 1, queue: 0 });
                offers.push((port, tagged(id, &frame)));
                let Some(leaf) = table.leaf(&packet) else { continue };
                match &table.leaves[leaf].action {
                    Action::Plain => {
                        seen[0] += 1;
                        continue;
                    }
                    Action::Verdict { .. } => seen[1] += 1,
                    Action::Resume { entry, .. } => {
                        seen[2] += 1;
                        // Some of what is looked up is there.
                        if let Some(lookup) = &entry.lookup {
                            seen[3] += 1;
                            if known.len() < KEYS {
                                both.update(id, &lookup.key_of(&packet));
                                known.push((port, frame));
                            }
                        }
                    }
                }
                wanted[usize::from(id) - 1][leaf] += 1;
            }
            packets += offers.len();
            let (found, expected) = (ended(&mut both.rtl, &offers), ended(&mut both.model, &offers));
            assert_eq!(found.len(), offers.len(), "packets are lost");
            for (id, expected) in &expected {
                assert_eq!(&found[id], expected, "packet {id:#x}");
            }
        }
        for (id, wanted) in (1..).zip(&wanted) {
            let rows = both.rtl.linker.warp_hits(id).expect("a tenant");
            assert_eq!(&hits(&mut both.rtl, &rows), wanted, "packets of leaves of tenant {id}");
        }
    }
    println!("{}: {packets} packets; plain, verdicts, resumes, of them with a lookup: {seen:?}", target.name);
    assert!(seen[1..].iter().all(|seen| seen * 8 > packets), "{packets}, {seen:?}");
}

#[test]
fn all_modules_have_tables_of_their_own() {
    let seed = test_seed("all_modules_have_tables_of_their_own");
    for (target, rounds) in
        [(&TINY, if support::long() { 10 } else { 3 }), (&DEFAULT, if support::long() { 2 } else { 0 })]
    {
        if rounds > 0 && support::has_top(&top::XDP, target.name, Variant::Test) {
            all_modules(target, seed, rounds);
        }
    }
}
