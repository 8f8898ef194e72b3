//! A NIC with tenants that run XDP programs, through the linker.

use sluice_device::run_load::run_load;
use sluice_device::{Device, DeviceError, Event, Map, Offer, OpId, Outcome};
use sluice_ebpf::tenant::{self, Options};
use sluice_formats::Target;
use sluice_formats::target;
use sluice_object::{Destination, Linker, Load, Object, TenantSpec, VlanGrant};
use std::collections::BTreeSet;
use std::path::Path;

/// The object of a file of `scripts/xdp`.
pub fn object(file: &str, options: &Options) -> Object {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/xdp").join(file);
    let elf = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    tenant::read("program", &elf, options).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// A tagged frame of `length` bytes without its tag, with some random ones.
pub fn frame(vlan: u16, length: usize, random: u32) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x81, 0];
    bytes.extend(vlan.to_be_bytes());
    bytes.extend([0x88, 0xb5]);
    bytes.resize(length.max(14) + 4, random as u8);
    for (to, from) in bytes[18..].iter_mut().zip(random.to_le_bytes()) {
        *to = from;
    }
    bytes
}

pub struct Nic<'a> {
    pub device: &'a mut dyn Device,
    pub linker: Linker,
    pub outcomes: Vec<Outcome>,
    ended: BTreeSet<OpId>,
}

impl<'a> Nic<'a> {
    /// Tenants by ID and VLAN, each with an even share of every queue.
    pub fn new(device: &'a mut dyn Device, tenants: &[(u16, u16)]) -> Self {
        let found: Target = device.capabilities().target;
        let target = target::ALL.iter().find(|t| t.hash() == found.hash()).unwrap();
        let mut nic = Self { linker: Linker::new(target), device, outcomes: Vec::new(), ended: BTreeSet::new() };
        let each = nic.linker.grantable_cells() / (target.destinations() * tenants.len() as u32);
        for (id, vlan) in tenants {
            let all = (0..target.destinations() as u8).filter_map(|n| Destination::from_number(n, target));
            let spec = TenantSpec {
                vlans: vec![VlanGrant { port: None, vlan: *vlan }],
                queues: all.map(|d| (d, each as u16)).collect(),
                ..TenantSpec::new(*id, format!("tenant-{id}"))
            };
            let load = nic.linker.admit(spec).unwrap();
            nic.run(&load);
        }
        let load = nic.linker.nic(nic.linker.settings().clone()).unwrap();
        nic.run(&load);
        nic
    }

    pub fn ports(&self) -> u32 {
        self.device.capabilities().target.ports
    }

    pub fn try_run(&mut self, load: &Load) -> Result<(), DeviceError> {
        run_load(self.device, load, &mut self.outcomes)
    }

    pub fn run(&mut self, load: &Load) {
        self.try_run(load).unwrap_or_else(|e| panic!("{e}"));
    }

    pub fn load(&mut self, id: u16, object: &Object) {
        let load = self.linker.load(id, object).unwrap_or_else(|e| panic!("{e}"));
        self.run(&load);
    }

    pub fn replace(&mut self, id: u16, object: &Object) {
        let load = self.linker.replace(id, object).unwrap_or_else(|e| panic!("{e}"));
        self.run(&load);
    }

    pub fn poll(&mut self) {
        for event in self.device.poll(usize::MAX) {
            match event {
                Event::Outcome(outcome) => self.outcomes.push(outcome),
                Event::OpDone { op, result } => {
                    result.unwrap_or_else(|e| panic!("{e}"));
                    self.ended.insert(op);
                }
            }
        }
    }

    pub fn ended(&self, op: OpId) -> bool {
        self.ended.contains(&op)
    }

    pub fn rest(&mut self) {
        self.device.quiesce().unwrap();
        self.poll();
    }

    pub fn send(&mut self, port: u8, bytes: Vec<u8>) {
        self.device.offer(&[Offer { port, bytes, at: 0, bad: false }]).unwrap();
        self.rest();
    }

    pub fn module(&self, id: u16) -> u8 {
        self.linker.tenant(id).unwrap().module
    }

    pub fn map(&mut self, id: u16, name: &str) -> Map {
        let module = self.module(id);
        let maps = self.device.maps().unwrap().list(module).unwrap();
        maps.into_iter().find(|m| m.declared.name == name).unwrap_or_else(|| panic!("{name}"))
    }

    /// The number in entry 0 of an array.
    pub fn count(&mut self, id: u16, name: &str) -> u64 {
        let (module, map) = (self.module(id), self.map(id, name).id);
        let value = self.device.maps().unwrap().lookup(module, map, &[0; 4]).unwrap();
        u64::from_le_bytes(value[..8].try_into().unwrap())
    }
}
