//! A NIC whose XDP engine is hardware, its linker, and programs with arrays in text.

use sluice_device::{Device, DeviceError, Event, MapId, Offer, Outcome, run_load::run_load};
use sluice_ebpf::{Image, MapSpec, MapType, Program, tenant};
use sluice_object::{Destination, LinkError, Linker, Load, NicSettings, Object, TenantSpec, VlanGrant};

/// Adds one to the counter that the first byte behind the MAC addresses and the type names, and passes.
pub const COUNT: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 15\nr0 = 1\nif r3 > r2 goto out\n\
    r4 = *(u8 *)(r6 +14)\n*(u32 *)(r10 -4) = r4\nr2 = r10\nr2 += -4\nr1 = map[counts]\ncall bpf_map_lookup_elem\n\
    if r0 == 0 goto drop\nr1 = 1\nlock *(u64 *)(r0 +0) += r1\nr0 = 2\nexit\ndrop:\nr0 = 1\nout:\nexit\n";

/// The same, and the frame goes back with the number in front of its bytes.
pub const SHOW: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 24\nr0 = 1\nif r3 > r2 goto out\n\
    r4 = *(u8 *)(r6 +14)\n*(u32 *)(r10 -4) = r4\nr2 = r10\nr2 += -4\nr1 = map[counts]\ncall bpf_map_lookup_elem\n\
    if r0 == 0 goto drop\nr1 = 1\nr1 = atomic64_fetch_add((u64 *)(r0 +0), r1)\n*(u64 *)(r6 +15) = r1\nr0 = 3\nexit\n\
    drop:\nr0 = 1\nout:\nexit\n";

/// An array.
pub fn array(name: &str, value_size: u32, max_entries: u32) -> MapSpec {
    MapSpec::new(name, MapType::Array, 4, value_size, max_entries)
}

/// The object of a program in text with these maps; those in `keep` outlive it.
pub fn object(name: &str, text: &str, maps: Vec<MapSpec>, keep: &[&str]) -> Object {
    object_of(name, &[("main", text)], maps, keep)
}

/// The same of several programs, of which `main` is run; the others are in the program arrays of the maps.
pub fn object_of(name: &str, programs: &[(&str, &str)], maps: Vec<MapSpec>, keep: &[&str]) -> Object {
    let names: Vec<&str> = maps.iter().map(|map| map.name.as_str()).collect();
    let program = |(name, text): &(&str, &str)| {
        let program = sluice_ebpf::insn::assemble(name, text, &names).unwrap_or_else(|e| panic!("{e}\n{text}"));
        Program { section: "xdp".to_owned(), ..program }
    };
    let image = Image { programs: programs.iter().map(program).collect(), maps, ..Image::default() };
    let keep = keep.iter().map(|name| (*name).to_owned()).collect();
    let files = all_maps(&image.maps);
    let options = tenant::Options { keep, files, program: Some("main".to_owned()), ..tenant::Options::default() };
    tenant::object(name, &image, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// Has a tenant say something of maps that only the host uses, so that they are his: they begin without entries.
pub fn all_maps(maps: &[MapSpec]) -> Vec<(String, String)> {
    use MapType::{PerfEventArray, ProgArray, Ringbuf};
    let is_state = |map: &&MapSpec| !map.frozen && ![PerfEventArray, ProgArray, Ringbuf].contains(&map.kind);
    maps.iter().filter(is_state).map(|map| (map.name.clone(), String::new())).collect()
}

/// A device and what its linker knows of it.
pub struct Nic<D> {
    pub device: D,
    pub linker: Linker,
    pub outcomes: Vec<Outcome>,
}

impl<D: Device> Nic<D> {
    /// Admits tenants 1 to 4 with VLANs of these numbers.
    pub fn new(device: D) -> Self {
        Self::given(device, |_| ())
    }

    /// The same, each with what `give` says beside.
    pub fn given(device: D, give: impl Fn(&mut TenantSpec)) -> Self {
        Self::of(device, 4, give)
    }

    /// The same with so many tenants.
    pub fn of(device: D, tenants: u16, give: impl Fn(&mut TenantSpec)) -> Self {
        let target = sluice_formats::Target::by_name(device.capabilities().target.name).unwrap();
        let linker = Linker::of(target, &device.capabilities().engines, Some(sluice_hxdp::rows::compiler));
        let mut nic = Self { device, linker, outcomes: Vec::new() };
        let load = nic.linker.nic(NicSettings::new(target)).unwrap();
        nic.run(&load).unwrap();
        for id in 1..=tenants {
            let mut spec = TenantSpec::new(id, format!("tenant{id}"));
            spec.vlans = vec![VlanGrant { port: None, vlan: id }];
            let ports = (0..target.ports as u8).map(Destination::Port);
            let all = ports.chain((0..target.hosts as u8).map(Destination::Host));
            spec.queues = all.map(|d| (d, (target.cells / (2 + 12 * u32::from(tenants))) as u16)).collect();
            give(&mut spec);
            let load = nic.linker.admit(spec).unwrap();
            nic.run(&load).unwrap();
        }
        nic
    }

    pub fn run(&mut self, load: &Load) -> Result<(), DeviceError> {
        run_load(&mut self.device, load, &mut self.outcomes)
    }

    /// Loads a program, or puts it in the place of the one that runs.
    pub fn put(&mut self, id: u16, object: &Object) -> Result<(), LinkError> {
        let running = self.linker.tenant(id)?.running.is_some();
        let load = if running { self.linker.replace(id, object)? } else { self.linker.load(id, object)? };
        self.run(&load).unwrap_or_else(|e| panic!("{e}"));
        Ok(())
    }

    pub fn unload(&mut self, id: u16) {
        let load = self.linker.unload(id).unwrap();
        self.run(&load).unwrap_or_else(|e| panic!("{e}"));
    }

    pub fn module(&self, id: u16) -> u8 {
        self.linker.tenant(id).unwrap().module
    }

    /// Offers frames to a port, one behind the other.
    pub fn offer(&mut self, port: u8, frames: impl IntoIterator<Item = Vec<u8>>) {
        let at = self.device.now();
        let offers: Vec<Offer> = frames.into_iter().map(|bytes| Offer { port, bytes, at, bad: false }).collect();
        self.device.offer(&offers).unwrap();
    }

    /// A number of a module's array.
    pub fn number(&mut self, id: u16, map: &str, index: u32) -> u64 {
        let (module, id) = (self.module(id), self.map(id, map));
        let value =
            self.device.maps().unwrap().lookup(module, id, &index.to_le_bytes()).unwrap_or_else(|e| panic!("{e}"));
        u64::from_le_bytes(value[..8].try_into().unwrap())
    }

    /// A map of a module's program.
    pub fn map(&mut self, id: u16, name: &str) -> MapId {
        let module = self.module(id);
        let all = self.device.maps().unwrap().list(module).unwrap();
        all.iter().find(|map| map.declared.name == name).unwrap_or_else(|| panic!("no map {name}")).id
    }

    /// What became of packets since this was last asked.
    pub fn outcomes(&mut self) -> Vec<Outcome> {
        let mut all = std::mem::take(&mut self.outcomes);
        all.extend(self.device.poll(usize::MAX).into_iter().filter_map(|event| match event {
            Event::Outcome(outcome) => Some(outcome),
            Event::OpDone { .. } => None,
        }));
        all
    }

    /// The same of all packets that were offered.
    pub fn ended(&mut self) -> Vec<Outcome> {
        self.device.quiesce().unwrap();
        self.outcomes()
    }
}

/// A frame of a VLAN whose first byte behind the type is given.
pub fn frame(vlan: u16, first: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x81, 0, (vlan >> 8) as u8, vlan as u8, 0x88, 0xb5, first];
    bytes.extend(rest);
    bytes
}
