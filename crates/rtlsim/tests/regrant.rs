//! Tenants grow, shrink, move and change programs while packets fill the pipeline: none is lost, none meets half of a change, and what
//! is given back is zero.
//!
//! `SLUICE_LONG=1` does 1,000 operations on the RTL and 10,000 on the software NIC.

use crate::pipeline::Pipeline;
use crate::replacing::{self, Version, asked, question};
use crate::support;
use sluice_device::{Device, Verdict};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::{Node, Table, Target, target};
use sluice_frontends::Reading;
use sluice_nic::SoftwareNic;
use sluice_object::{LinkError, Load, Object, Rate, TenantSpec, VlanGrant};
use sluice_rtlsim::{RtlNic, RtlOptions, Variant, top};
use std::collections::BTreeMap;

/// Tenants that packets are of.
const TENANTS: u8 = 3;
/// One who comes and goes.
const GUEST: u8 = 4;
/// One of them, who has two P4 programs in sequence.
const SEQUENCE: u8 = 3;
/// What each of both writes, by version: the first to the address of the receiver, the second to that of the sender.
const MARKS: [[u64; 2]; 2] = [[0x0a0a_0a0a_0a0a, 0x0b0b_0b0b_0b0b], [0x1a1a_1a1a_1a1a, 0x1b1b_1b1b_1b1b]];
/// Packets that are offered with each operation.
const PACKETS: usize = 120;

/// The program of a tenant.
fn module(version: Version, tenant: u8, target: &Target) -> Object {
    if tenant != SEQUENCE {
        return replacing::module(version, tenant, target);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let marks = MARKS[usize::from(version == Version::New)];
    for (name, field, mark) in [("first.p4", "to", marks[0]), ("second.p4", "from", marks[1])] {
        std::fs::write(folder.path().join(name), marking(field, mark)).expect("it is written");
    }
    let files = folder.path().join("first.p4+second.p4");
    sluice_frontends::read(&files, &Reading::new(target, "sequence")).unwrap_or_else(|e| panic!("{e}"))
}

/// A program that writes a mark to a field, and sends to port 0.
fn marking(field: &str, mark: u64) -> String {
    format!(
        "#include <core.p4>
#include <v1model.p4>
header e_t {{ bit<48> to; bit<48> from; bit<16> kind; }}
struct headers_t {{ e_t e; }}
struct meta_t {{ }}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    state start {{ packet.extract(hdr.e); transition accept; }}
}}
control V(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{
    apply {{ hdr.e.{field} = {mark}; standard.egress_spec = 0; }}
}}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {{ apply {{ }} }}
control C(inout headers_t hdr, inout meta_t meta) {{ apply {{ }} }}
control D(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.e); }} }}
V1Switch(P(), V(), I(), E(), C(), D()) main;
"
    )
}

/// What comes back, worked out apart from any model.
fn answer(question: &[u8], version: Version, tenant: u8) -> Vec<u8> {
    if tenant != SEQUENCE {
        return replacing::answer(question, version, tenant);
    }
    let marks = MARKS[usize::from(version == Version::New)].map(|mark| mark.to_be_bytes());
    [&marks[0][2..], &marks[1][2..], &question[12..]].concat()
}

/// What is known of one of the tenants.
struct Known {
    version: Version,
    /// Operations that changed it.
    changes: usize,
}

/// What was seen.
#[derive(Debug, Default)]
struct Done {
    operations: BTreeMap<&'static str, usize>,
    refused: usize,
    packets: usize,
}

struct Field<D> {
    pipeline: Pipeline<D>,
    rng: Rng,
    known: BTreeMap<u8, Known>,
    done: Done,
}

impl<D: Device> Field<D> {
    fn new(nic: D, seed: u64) -> Self {
        let mut pipeline = Pipeline::new(nic);
        let mut known = BTreeMap::new();
        for tenant in 1..=TENANTS {
            let object = module(Version::Old, tenant, pipeline.target);
            pipeline.admit(tenant, &[&object], 8);
            pipeline.load(tenant, &object);
            known.insert(tenant, Known { version: Version::Old, changes: 0 });
        }
        Self { pipeline, rng: Rng::new(seed), known, done: Done::default() }
    }

    /// One operation, as a load.
    fn operation(&mut self) -> (&'static str, Result<Load, LinkError>) {
        let tenant = 1 + self.rng.below(TENANTS.into()) as u8;
        let (linker, target) = (&mut self.pipeline.linker, self.pipeline.target);
        let spec = linker.tenant(tenant.into()).expect("he is in").spec.clone();
        let other = if self.known[&tenant].version == Version::Old { Version::New } else { Version::Old };
        match self.rng.below(8) {
            0 => {
                let load = linker.replace(tenant.into(), &module(other, tenant, target));
                ("replace", self.turned(tenant, other, load))
            }
            1 => ("ports and queues", linker.regrant(elsewhere(&mut self.rng, spec), None)),
            2 => match linker.tenant(GUEST.into()).is_ok() {
                true => ("guest goes", linker.remove(GUEST.into())),
                false => {
                    let mut guest = TenantSpec::new(GUEST.into(), "guest");
                    guest.make_room(&module(Version::Old, GUEST, target));
                    ("guest comes", linker.admit(guest))
                }
            },
            _ => {
                let version = if self.rng.chance(1, 2) { other } else { self.known[&tenant].version };
                let object = module(version, tenant, target);
                let mut spec = elsewhere(&mut self.rng, spec);
                spec.rmt = None;
                spec.make_room(&object);
                for given in spec.rmt.iter_mut().flat_map(|quota| quota.stages.values_mut()) {
                    given.exact += self.rng.below(4) as u32;
                    given.ternary += self.rng.below(2) as u32;
                    given.actions += self.rng.below(4) as u32;
                    given.numbers += self.rng.below(9) as u32;
                    given.pages += self.rng.below(2) as u32;
                }
                let load = linker.regrant(spec, Some(&object));
                ("regrant", self.turned(tenant, version, load))
            }
        }
    }

    /// Takes note of what a tenant runs then.
    fn turned(&mut self, tenant: u8, version: Version, load: Result<Load, LinkError>) -> Result<Load, LinkError> {
        let known = self.known.get_mut(&tenant).expect("he is in");
        if load.is_ok() && known.version != version {
            *known = Known { version, changes: known.changes + 1 };
        }
        load
    }

    /// So many operations that are not refused, while packets come, and what all packets came back with.
    fn run(mut self, operations: usize) -> Done {
        let mut questions: Vec<(u8, Vec<u8>)> = Vec::new();
        let mut seen: BTreeMap<u8, Vec<(u64, Option<Version>)>> = BTreeMap::new();
        let target = self.pipeline.target;
        let first = self.pipeline.take().len();
        assert_eq!(first, 0);
        while self.done.operations.values().sum::<usize>() < operations {
            let more: Vec<_> = (0..PACKETS)
                .map(|_| (1 + self.rng.below(TENANTS.into()) as u8, question(&mut self.rng, asked(target))))
                .collect();
            questions.extend(more.clone());
            self.pipeline.offer(more.into_iter().map(|(tenant, bytes)| (tenant, bytes, 0)));
            self.pipeline.nic.advance(1 + self.rng.below(40)).expect("it runs");
            let (what, load) = self.operation();
            match load {
                Ok(load) => {
                    *self.done.operations.entry(what).or_default() += 1;
                    self.pipeline.run(&load);
                }
                Err(error) => {
                    assert!(["E0670", "E0223", "E0671"].contains(&error.code()), "{what}: {error}");
                    self.done.refused += 1;
                }
            }
            self.see(&questions, &mut seen);
        }
        self.pipeline.nic.quiesce().expect("packets end");
        self.see(&questions, &mut seen);
        self.done.packets = seen.values().map(Vec::len).sum();
        assert_eq!(self.done.packets, questions.len(), "all packets came back");
        for (tenant, mut answers) in seen {
            answers.sort_by_key(|(id, _)| *id);
            let versions: Vec<Version> =
                answers.into_iter().map(|(_, version)| version.expect("a whole program's")).collect();
            let turns = versions.windows(2).filter(|two| two[0] != two[1]).count();
            let known = &self.known[&tenant];
            assert!(turns <= known.changes, "tenant {tenant}: {turns} turns, {} changes", known.changes);
        }
        self.end();
        self.done
    }

    fn see(&mut self, questions: &[(u8, Vec<u8>)], seen: &mut BTreeMap<u8, Vec<(u64, Option<Version>)>>) {
        for outcome in self.pipeline.take() {
            assert!(matches!(outcome.verdict, Verdict::Forwarded { .. }), "lost: {:?}", outcome.verdict);
            let (tenant, question) = &questions[outcome.id as usize];
            let is = |version: &Version| answer(question, *version, *tenant) == outcome.bytes;
            let version = [Version::Old, Version::New].into_iter().find(is);
            assert!(version.is_some(), "packet {} of tenant {tenant} met neither program", outcome.id);
            seen.entry(*tenant).or_default().push((outcome.id.into(), version));
        }
    }

    /// Everybody goes; no row of a stage has anything then.
    fn end(&mut self) {
        let there: Vec<u16> = self.pipeline.linker.tenants().map(|tenant| tenant.spec.id).collect();
        for id in there {
            let load = self.pipeline.linker.remove(id).expect("he goes");
            self.pipeline.run(&load);
        }
        let target = self.pipeline.target;
        for stage in (0..target.rmt.stages as u8).filter(|stage| !target.rmt.is_system((*stage).into())) {
            let exact = (0..4).map(Table::Exact);
            for table in exact.chain([Table::Ternary, Table::Data, Table::Action, Table::Key, Table::Page]) {
                for row in 0..table.rows(target) {
                    let words = self.pipeline.nic.read_row(Node::Stage(stage), table, row).expect("it is read");
                    assert!(
                        words.iter().all(|word| *word == 0),
                        "stage {stage}, row {row} of {}: {words:x?}",
                        table.name()
                    );
                }
            }
        }
    }
}

/// The tenant with other VLANs beside the one that his packets have, other cells, a rate that limits nothing, another weight.
fn elsewhere(rng: &mut Rng, spec: TenantSpec) -> TenantSpec {
    let own = spec.id;
    let more = (0..rng.below(3) as u16).map(|n| VlanGrant { port: Some(n as u8), vlan: 100 * own + n });
    let vlans = [VlanGrant { port: None, vlan: own }].into_iter().chain(more).collect();
    let queues = spec.queues.iter().map(|(to, cells)| (*to, cells - cells / 16 + rng.below(4) as u16)).collect();
    let rate = rng.chance(1, 2).then_some(Rate { bits_per_second: 60_000_000_000, burst_bytes: 4_000_000_000 });
    TenantSpec { vlans, queues, rate, quantum: rng.range(1500, 3000) as u16, ..spec }
}

fn operations(quick: usize, long: usize) -> usize {
    if support::long() { long } else { quick }
}

fn told(what: &str, done: &Done) {
    println!("{what}: {done:?}");
    let regrants = done.operations.get("regrant").copied().unwrap_or(0);
    assert!(regrants * 6 > done.operations.values().sum::<usize>(), "{done:?}: too few regrants to mean anything");
}

#[test]
fn tenants_grow_and_move_under_full_load_on_the_software_nic() {
    for target in [&target::TINY, &target::DEFAULT] {
        let field = Field::new(SoftwareNic::new(*target), test_seed("regrant_model"));
        told(target.name, &field.run(operations(200, 10_000)));
    }
}

#[test]
fn tenants_grow_and_move_under_full_load_on_the_rtl() {
    let target: &Target = &target::TINY;
    if !support::has_top(&top::RMT, target.name, Variant::Test) {
        return;
    }
    let seed = test_seed("regrant_rtl");
    let nic = RtlNic::open(target.name, RtlOptions { top: &top::RMT, seed, ..RtlOptions::default() }).unwrap();
    told("rtl", &Field::new(nic, seed).run(operations(40, 1_000)));
}
