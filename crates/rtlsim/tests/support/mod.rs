//! What the tests with plug-ins share.
#![allow(dead_code)] // each test uses a part

use sluice_device::{Device, DeviceError, Event, Offer};
use sluice_formats::limits::FORMAT_VERSION;
use sluice_formats::random::{Rng, test_is_long};
use sluice_formats::row::Row;
use sluice_formats::rows::{LimitRow, PortPolicyRow, QuantumRow, VlanRow};
use sluice_formats::xdp::target::Target as XdpTarget;
use sluice_formats::{Node, Table, Target};
use sluice_nic::conformance::sender;
use sluice_object::linker::rmt::{Placer, Quota, RowWrite};
use sluice_object::{Load, Step};
use sluice_rmt::programs::send::Send;
use sluice_rtlsim::{Plugin, Ready, RtlNic, RtlOptions, Stalls, Top, Variant, top};

/// Makes a missing plug-in a failure: any at `1`, which `make test` sets it to, or that of a configuration.
pub const REQUIRED_VARIABLE: &str = "SLUICE_REQUIRE_PLUGINS";

/// Whether a plug-in of the whole NIC is there. Says so when it is not.
pub fn has(config: &str, variant: Variant) -> bool {
    has_top(&top::NIC, config, variant)
}

/// The same of any top. The whole NIC of the default target is for `make long`, as those with external memory are.
pub fn has_top(top: &'static Top, config: &str, variant: Variant) -> bool {
    if top == &top::NIC && config == "default" && variant == Variant::Test && !long() {
        println!("skipped: on the whole NIC of the default target, which is for `make long`");
        return false;
    }
    match Plugin::find(top, config, variant) {
        Ok(_) => true,
        Err(error) => {
            let wanted = std::env::var(REQUIRED_VARIABLE).unwrap_or_default();
            let is_far = top == &top::NIC && XdpTarget::by_name(config).has_outside();
            let all = wanted == "1" && (long() || !is_far);
            let required = (all || wanted == config) && variant == Variant::Test;
            assert!(!required, "{REQUIRED_VARIABLE} is set: {error}");
            match is_far {
                true => println!("skipped: on the NIC with external memory, which is for `make long`"),
                false => println!("skipped: {error}"),
            }
            false
        }
    }
}

/// A Verilated NIC: which of them, of which target, built for what.
#[derive(Clone, Copy, Debug)]
pub struct Build {
    pub top: &'static Top,
    pub target: &'static str,
    pub variant: Variant,
}

impl Build {
    /// One with assertions.
    pub const fn new(top: &'static Top, target: &'static str) -> Self {
        Self { top, target, variant: Variant::Test }
    }

    pub fn is_there(self) -> bool {
        has_top(self.top, self.target, self.variant)
    }

    pub fn options(self, seed: u64) -> RtlOptions {
        RtlOptions { top: self.top, variant: self.variant, seed, ..RtlOptions::default() }
    }

    /// The NIC itself.
    pub fn open(self, options: RtlOptions) -> RtlNic {
        RtlNic::open(self.target, RtlOptions { top: self.top, variant: self.variant, ..options }).unwrap()
    }
}

impl std::fmt::Display for Build {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.top.config(self.target))
    }
}

/// The bare NIC of the tiny target, on which suites run that use neither XDP nor l7.
pub const BARE_TINY: Build = Build::new(&top::BARE, "tiny");
/// The whole NIC of the tiny target, on which each of them has one case.
pub const FULL_TINY: Build = Build::new(&top::NIC, "tiny");
/// Of the default target `make test` has one case of lockstep and one of throughput; the rest is in `make long`.
pub const BARE_DEFAULT: Build = Build::new(&top::BARE, "default");
/// On the whole NIC of the default target all of them run in `make long`.
pub const FULL_DEFAULT: Build = Build::new(&top::NIC, "default");

/// Where a case runs: on these in `make test`, and on every NIC of both targets in `make long`.
pub fn builds(short: &'static [Build]) -> impl Iterator<Item = Build> {
    if short.is_empty() && !long() {
        println!("skipped: for `make long`");
    }
    let all: &[Build] = &[BARE_TINY, FULL_TINY, BARE_DEFAULT, FULL_DEFAULT];
    (if long() { all } else { short }).iter().copied().filter(|build| build.is_there())
}

/// Whether this is a run at full length, as `make long` makes it.
pub fn long() -> bool {
    test_is_long()
}

/// A NIC, or None (with a message) where there is no plug-in.
pub fn open(config: &str, options: RtlOptions) -> Option<RtlNic> {
    has(config, Variant::Test).then(|| RtlNic::open(config, options).unwrap())
}

/// Where waves of a difference go: beside the test's executable, so that they outlive the test.
pub fn waves_folder() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("waves")
}

pub fn stalls() -> Stalls {
    Stalls { port_gaps: 40, ready: Ready::Bursts { chance: 200, longest: 20 }, config_gaps: 60, config_stalls: 60 }
}

pub fn write(node: Node, table: Table, index: u32, words: &[u32]) -> Step {
    Step::Write { node, table, index, words: words.to_vec() }
}

pub fn row(node: Node, table: Table, index: u32, row: &impl Row) -> Step {
    write(node, table, index, &row.pack().unwrap())
}

pub fn load(nic: &dyn Device, steps: Vec<Step>) -> Load {
    Load {
        format_version: FORMAT_VERSION,
        target_hash: nic.capabilities().target.hash(),
        tenant: 0,
        label: "test".into(),
        steps,
    }
}

/// Runs steps to their end; other events of the meantime are lost.
pub fn run_steps(nic: &mut dyn Device, steps: Vec<Step>) -> Result<(), DeviceError> {
    let op = nic.submit(&load(nic, steps))?;
    for _ in 0..1_000 {
        for event in nic.poll(usize::MAX) {
            if let Event::OpDone { op: ended, result } = event
                && ended == op
            {
                return result;
            }
        }
        nic.advance(1_000)?;
    }
    panic!("the load did not end within a million ticks");
}

/// The step that writes a row of a placer.
pub fn write_row(RowWrite { node, table, index, words }: RowWrite) -> Step {
    Step::Write { node, table, index, words }
}

/// Admits a module; both its generations send every packet alike.
pub fn sends(placer: &mut Placer, module: u8, send: &Send, target: &Target) -> Vec<Step> {
    let part = sender(send, target);
    let mut rows = placer.admit(module, &format!("module-{module}"), Quota::of(&part, 0xff)).unwrap();
    for generation in 0..2 {
        rows.extend(placer.place(module, generation, &part).unwrap().rows);
    }
    rows.into_iter().map(write_row).collect()
}

/// VLAN v = module v on every port, for every module; module m sends to port m % 4 and host m % 4.
pub fn set_up(nic: &mut dyn Device) {
    let target = nic.capabilities().target;
    let mut placer = Placer::new(target.rmt);
    let mut steps: Vec<Step> = placer.stage_owners().into_iter().map(write_row).collect();
    for port in 0..target.ports {
        let node = Node::Port(port as u8);
        let policy = PortPolicyRow { min_frame: 14, max_frame: 9216, ..PortPolicyRow::default() };
        steps.push(row(node, Table::PortPolicy, 0, &policy));
        for m in 1..target.modules {
            let vlan = VlanRow { valid: true, keep_tag: false, module_id: m as u8, tenant: m as u16 };
            steps.push(row(node, Table::Vlan, m, &vlan));
        }
    }
    for m in 1..target.modules {
        let destinations = (1u8 << (m % target.ports)) | (1 << (target.ports + m % target.hosts));
        steps.extend(sends(&mut placer, m as u8, &Send::to(destinations), &target));
        steps.push(row(Node::Egress, Table::Quantum, m, &QuantumRow { bytes: 1500 }));
        for d in 0..target.destinations() {
            let cells = (target.cells / target.destinations()) as u16;
            steps.push(row(Node::Egress, Table::Limit, d * target.modules + m, &LimitRow { cells, reserve: 0 }));
        }
    }
    run_steps(nic, steps).unwrap();
}

/// A tagged frame of this VLAN with random contents.
pub fn tagged(vlan: u16, length: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = rng.bytes(length.max(18));
    bytes[12..14].copy_from_slice(&[0x81, 0x00]);
    bytes[14..16].copy_from_slice(&vlan.to_be_bytes());
    bytes
}

/// Offers packets of random modules, ports and sizes.
pub fn offer_some(nic: &mut dyn Device, count: usize, seed: u64) {
    let target = nic.capabilities().target;
    let mut rng = Rng::new(seed);
    let packets: Vec<Offer> = (0..count)
        .map(|_| {
            let module = rng.range(1, u64::from(target.modules) - 1) as u16;
            let length = if rng.chance(1, 2) { rng.range(60, 130) } else { rng.range(60, 1518) };
            let port = rng.below(target.ports.into()) as u8;
            Offer { port, bytes: tagged(module, length as usize, &mut rng), at: 0, bad: rng.chance(1, 50) }
        })
        .collect();
    nic.offer(&packets).unwrap();
}
