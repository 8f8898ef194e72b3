//! A NIC whose tenants the linker lets in, and whose packets are numbered as they are offered.

use sluice_device::{Capabilities, Device, Event, Offer, OpId, Outcome};
use sluice_formats::Target;
use sluice_formats::limits::packet_id;
use sluice_object::{Linker, Load, NicSettings, Object, TenantSpec};

/// Ticks between two looks at a load that is under way.
const PIECE: u64 = 64;

/// The linker for a device: it asks programs of the XDP engine by how much they make frames longer.
pub fn linker(target: &'static Target, device: &Capabilities) -> Linker {
    let compile = device.xdp_in_hardware.then_some(sluice_hxdp::rows::compiler as _);
    Linker::of(target, &device.engines, compile).bounded_by(sluice_ebpf::tenant::growth)
}

/// A device and the linker that placed everything in it.
pub struct Field {
    pub nic: Box<dyn Device>,
    pub linker: Linker,
    pub target: &'static Target,
    /// Frames offered, by port.
    numbers: Vec<u32>,
    /// What has not been taken yet.
    outcomes: Vec<Outcome>,
    ended: Vec<OpId>,
}

impl Field {
    /// Ports that take frames of every length, and nobody.
    pub fn new(nic: impl Device + 'static) -> Self {
        let target = Target::by_name(nic.capabilities().target.name).expect("a target has a name");
        let linker = linker(target, nic.capabilities());
        let mut field = Self {
            nic: Box::new(nic),
            linker,
            target,
            numbers: vec![0; target.ports as usize],
            outcomes: Vec::new(),
            ended: Vec::new(),
        };
        let first = field.linker.nic(NicSettings::new(target)).expect("these are the defaults");
        field.run(&first);
        field
    }

    /// Runs a load to its end.
    pub fn run(&mut self, load: &Load) {
        let op = self.nic.submit(load).unwrap_or_else(|e| panic!("{e}"));
        while !self.is_done(op) {
            self.advance(PIECE);
        }
    }

    /// Lets a tenant in.
    pub fn admit(&mut self, spec: TenantSpec) {
        let load = self.linker.admit(spec).unwrap_or_else(|e| panic!("{e}"));
        self.run(&load);
    }

    /// A tenant's first program.
    pub fn load(&mut self, id: u16, object: &Object) {
        let load = self.linker.load(id, object).unwrap_or_else(|e| panic!("{e}"));
        self.run(&load);
    }

    /// Submits a load that runs while packets flow.
    pub fn submit(&mut self, load: &Load) -> OpId {
        self.nic.submit(load).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Whether it has ended.
    pub fn is_done(&mut self, op: OpId) -> bool {
        self.collect();
        self.ended.iter().position(|ended| *ended == op).map(|at| self.ended.swap_remove(at)).is_some()
    }

    /// Offers a frame, and says what its ID is.
    pub fn offer(&mut self, offer: Offer) -> u32 {
        let number = &mut self.numbers[usize::from(offer.port)];
        let id = packet_id(offer.port, *number);
        *number += 1;
        self.nic.offer_owned(vec![offer]).unwrap_or_else(|e| panic!("{e}"));
        id
    }

    pub fn advance(&mut self, ticks: u64) {
        self.nic.advance(ticks).unwrap_or_else(|e| panic!("{e}"));
    }

    /// Until every packet has ended.
    pub fn quiesce(&mut self) {
        self.nic.quiesce().unwrap_or_else(|e| panic!("{e}"));
    }

    /// Outcomes since the last call.
    pub fn take(&mut self) -> Vec<Outcome> {
        self.collect();
        std::mem::take(&mut self.outcomes)
    }

    fn collect(&mut self) {
        for event in self.nic.poll(usize::MAX) {
            match event {
                Event::Outcome(outcome) => self.outcomes.push(outcome),
                Event::OpDone { op, result } => {
                    result.unwrap_or_else(|e| panic!("{e}"));
                    self.ended.push(op);
                }
            }
        }
    }
}

/// The frame with a tag.
pub fn tagged(vlan: u16, mut bytes: Vec<u8>) -> Vec<u8> {
    let [high, low] = vlan.to_be_bytes();
    bytes.splice(12..12, [0x81, 0x00, high, low]);
    bytes
}
