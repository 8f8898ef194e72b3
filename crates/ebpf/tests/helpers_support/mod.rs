//! One program, run by the kernel and here: a small assembler and the comparison.

use sluice_ebpf::insn::{CALL, EXIT, LD_IMM64, pseudo};
use sluice_ebpf::kernel::{Kernel, TestInput, available};
use sluice_ebpf::vm::{Ingress, Installed, Outcome};
use sluice_ebpf::{Image, Insn, MapSpec, MapType, Packet, Program, Runtime};

/// Prints why and says so when the kernel cannot be asked.
pub fn skipped() -> bool {
    match available() {
        Ok(()) => false,
        Err(reason) => {
            println!("skipped: {reason}");
            true
        }
    }
}

/// Instructions, appended one by one.
#[derive(Clone, Debug, Default)]
pub struct Asm(pub Vec<Insn>);

impl Asm {
    pub fn raw(mut self, op: u8, dst: u8, src: u8, off: i16, imm: i32) -> Self {
        self.0.push(Insn { op, dst, src, off, imm });
        self
    }
    pub fn mov(self, dst: u8, imm: i32) -> Self {
        self.raw(0xb7, dst, 0, 0, imm)
    }
    pub fn mov_reg(self, dst: u8, src: u8) -> Self {
        self.raw(0xbf, dst, src, 0, 0)
    }
    pub fn add(self, dst: u8, imm: i32) -> Self {
        self.raw(0x07, dst, 0, 0, imm)
    }
    pub fn mov64(mut self, dst: u8, value: u64) -> Self {
        self.0.push(Insn { op: LD_IMM64, dst, src: pseudo::NUMBER, off: 0, imm: value as i32 });
        self.0.push(Insn { imm: (value >> 32) as i32, ..Insn::default() });
        self
    }
    /// Handle of map `index` of the image.
    pub fn map(mut self, dst: u8, index: i32) -> Self {
        self.0.push(Insn { op: LD_IMM64, dst, src: pseudo::MAP, off: 0, imm: index });
        self.0.push(Insn::default());
        self
    }
    /// Address `offset` bytes into the first value of map `index`.
    pub fn map_value(mut self, dst: u8, index: i32, offset: i32) -> Self {
        self.0.push(Insn { op: LD_IMM64, dst, src: pseudo::MAP_VALUE, off: 0, imm: index });
        self.0.push(Insn { imm: offset, ..Insn::default() });
        self
    }
    pub fn load(self, bytes: u32, dst: u8, src: u8, off: i16) -> Self {
        self.raw(0x61 | size(bytes), dst, src, off, 0)
    }
    pub fn store(self, bytes: u32, dst: u8, off: i16, src: u8) -> Self {
        self.raw(0x63 | size(bytes), dst, src, off, 0)
    }
    pub fn store_imm(self, bytes: u32, dst: u8, off: i16, imm: i32) -> Self {
        self.raw(0x62 | size(bytes), dst, 0, off, imm)
    }
    pub fn call(self, helper: i32) -> Self {
        self.raw(CALL, 0, pseudo::HELPER, 0, helper)
    }
    pub fn exit(self) -> Self {
        self.raw(EXIT, 0, 0, 0, 0)
    }
    /// Bytes on the stack from r10 - `below` on, and `dst` their address.
    pub fn bytes(mut self, dst: u8, below: i16, bytes: &[u8]) -> Self {
        for (i, b) in bytes.iter().enumerate() {
            self = self.store_imm(1, 10, -below + i as i16, i32::from(*b));
        }
        self.mov_reg(dst, 10).add(dst, -i32::from(below))
    }
    pub fn program(self, name: &str) -> Program {
        Program { name: name.into(), section: "xdp".into(), insns: self.0, ..Program::default() }
    }
}

fn size(bytes: u32) -> u8 {
    match bytes {
        1 => 0x10,
        2 => 0x08,
        4 => 0x00,
        8 => 0x18,
        _ => unreachable!("no width of {bytes} bytes"),
    }
}

pub fn map(name: &str, kind: MapType, key_size: u32, value_size: u32, max_entries: u32) -> MapSpec {
    MapSpec::new(name, kind, key_size, value_size, max_entries)
}

/// An image under the GPL, without type information.
pub fn image(programs: Vec<Program>, maps: Vec<MapSpec>) -> Image {
    Image { programs, maps, license: "GPL".into(), ..Image::default() }
}

/// An image of programs and maps, in the kernel and here.
pub struct Pair {
    pub kernel: Kernel,
    pub ours: Runtime,
    pub installed: Installed,
}

impl Pair {
    pub fn new(programs: Vec<Program>, maps: Vec<MapSpec>) -> Self {
        Self::of(&image(programs, maps))
    }

    pub fn of(image: &Image) -> Self {
        let kernel =
            Kernel::load(image).unwrap_or_else(|e| panic!("{e}\n{}", &e.log[e.log.len().saturating_sub(400)..]));
        let mut ours = Runtime::new(sluice_ebpf::kernel::possible_cpus(), 1);
        let installed = ours.install(image, &|_| None).expect("installs");
        Self { kernel, ours, installed }
    }

    /// One program without maps.
    pub fn one(asm: Asm) -> Self {
        Self::new(vec![asm.program("one")], Vec::new())
    }

    /// Writes a map's entry on both sides.
    pub fn set(&mut self, map: usize, key: &[u8], value: &[u8]) {
        self.kernel.maps[map].update(key, value, 0).expect("the kernel takes it");
        let id = self.ours.map(self.installed, map).unwrap();
        self.ours.maps.user_update(id, key, value, 0).expect("taken here");
    }

    /// A map's entry on both sides, which must agree.
    pub fn get(&mut self, map: usize, key: &[u8]) -> Option<Vec<u8>> {
        let kernel = self.kernel.maps[map].lookup(key);
        let id = self.ours.map(self.installed, map).unwrap();
        let ours = self.ours.maps.user_lookup(id, key);
        assert_eq!(kernel, ours, "map {map}, key {key:?}");
        ours.ok()
    }

    /// Runs program `program` on both sides and compares r0's lower half, frame and metadata.
    pub fn run(&mut self, program: usize, frame: &[u8], what: &str) -> Outcome {
        self.run_with(program, frame, Ingress { ifindex: 1, queue: 0 }, what)
    }

    pub fn run_with(&mut self, program: usize, frame: &[u8], ingress: Ingress, what: &str) -> Outcome {
        let input = TestInput { frame, ifindex: ingress.ifindex, queue: ingress.queue, ..TestInput::default() };
        let kernel = self.kernel.programs[program].test_run(&input).expect("runs");
        let mut packet = Packet::new(frame);
        let ours = self.ours.run(self.installed, program, &mut packet, ingress);
        assert_eq!(ours.fault, None, "{what}");
        assert_eq!(ours.r0 as u32 as i32, kernel.r0 as i32, "{what}: r0");
        if packet.frame() != kernel.frame {
            let differs = packet.frame().iter().zip(&kernel.frame).position(|(a, b)| a != b);
            let lengths = (packet.frame().len(), kernel.frame.len());
            panic!(
                "frames differ first at {differs:?} of {lengths:?} bytes: {:x?}, in the kernel {:x?}; {what}",
                packet.frame(),
                kernel.frame
            );
        }
        assert!(packet.metadata() == kernel.metadata, "{what}: metadata differs");
        ours
    }
}
