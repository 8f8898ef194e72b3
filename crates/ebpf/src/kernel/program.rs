//! Programs in the kernel: what its verifier says, and test runs.

use super::maps::text;
use super::{Btf, KernelError, KernelMap, sys};
use crate::insn::{CALL, FIRST_KFUNC, pseudo};
use crate::load::KernelTypes;
use crate::{Errno, Insn, Program, helper};
use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;

/// `BPF_PSEUDO_KFUNC_CALL`: the immediate is the function's BTF ID.
const KFUNC: u8 = 2;

/// `BPF_F_XDP_HAS_FRAGS`: the program takes packets in several pieces.
const HAS_FRAGS: u32 = 1 << 5;
/// Bytes of the verifier's log.
const LOG_BYTES: usize = 16 << 20;

/// One program in the kernel; it is gone when dropped.
pub struct KernelProgram {
    fd: OwnedFd,
    name: String,
}

/// One packet for a test run.
#[derive(Clone, Debug, Default)]
pub struct TestInput<'a> {
    /// The frame, [`super::MIN_FRAME`] to [`super::MAX_FRAME`] bytes.
    pub frame: &'a [u8],
    /// Metadata in front of it: a multiple of 4, at most [`super::MAX_METADATA`].
    pub metadata: &'a [u8],
    /// Interface it came from; 0 leaves it to the kernel (the loopback's). Its receive queues must
    /// be registered for XDP, which holds for the loopback and for devices with an XDP program.
    pub ifindex: u32,
    /// Receive queue; 0 without an interface.
    pub queue: u32,
}

impl<'a> TestInput<'a> {
    /// A frame without metadata from the loopback.
    pub fn frame(frame: &'a [u8]) -> Self {
        Self { frame, ..Self::default() }
    }
}

/// What a test run gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestOutput {
    /// Lower half of r0.
    pub r0: u32,
    /// The frame afterwards.
    pub frame: Vec<u8>,
    /// The metadata afterwards.
    pub metadata: Vec<u8>,
}

/// A call of a kernel function with the number that the running kernel has for it; `None` if it does not have it.
fn numbered(insn: Insn) -> Option<Insn> {
    static IDS: OnceLock<HashMap<i32, u32>> = OnceLock::new();
    if insn.op != CALL || insn.src != pseudo::HELPER || helper::find(insn.imm).is_none() || insn.imm < FIRST_KFUNC {
        return Some(insn);
    }
    let ids = IDS.get_or_init(|| {
        let types = std::fs::read("/sys/kernel/btf/vmlinux").unwrap_or_default();
        let Ok(kernel) = KernelTypes::parse(&types) else { return HashMap::new() };
        let functions = helper::ALL.iter().filter(|h| h.id >= FIRST_KFUNC);
        functions.filter_map(|h| Some((h.id, kernel.function(&format!("bpf_{}", h.name))?))).collect()
    });
    Some(Insn { src: KFUNC, imm: *ids.get(&insn.imm)? as i32, ..insn })
}

impl KernelProgram {
    /// Loads a program. `maps` are the image's in its order; a refusal has the verifier's log.
    ///
    /// Function types go with it where there is BTF that knows each function: the kernel wants
    /// them for callbacks. Source lines do not: they only decorate the log.
    pub fn load(program: &Program, maps: &[KernelMap], btf: Option<&Btf>, license: &str) -> Result<Self, KernelError> {
        let refused = |e| KernelError::new(format!("loading program `{}`", program.name), e);
        for i in &program.insns {
            let names_map = i.is_wide() && (i.src == pseudo::MAP || i.src == pseudo::MAP_VALUE);
            if names_map && usize::try_from(i.imm).map_or(true, |n| n >= maps.len()) {
                return Err(refused(Errno::INVAL));
            }
        }
        let insns: Option<Vec<[u8; 8]>> = program.insns.iter().map(|i| Some(numbered(*i)?.to_bytes())).collect();
        let insns = insns.ok_or_else(|| refused(Errno::NOENT))?;
        let license = std::ffi::CString::new(license).map_err(|_| refused(Errno::INVAL))?;
        let fds: Vec<i32> = maps.iter().map(KernelMap::fd).collect();
        let called = program
            .insns
            .iter()
            .any(|i| i.op == CALL && i.src == pseudo::LOCAL || i.is_wide() && i.src == pseudo::FUNCTION);
        let typed = program.functions.iter().all(|f| f.btf_type != 0) && (called || program.functions.len() == 1);
        let btf = btf.filter(|_| typed && !program.functions.is_empty());
        let functions: Vec<sys::FuncInfo> = match btf {
            Some(_) => {
                program.functions.iter().map(|f| sys::FuncInfo { insn_off: f.start, type_id: f.btf_type }).collect()
            }
            None => Vec::new(),
        };
        let source = sys::ProgramSource {
            name: &program.name,
            insns: &insns,
            license: &license,
            flags: if program.section.starts_with("xdp.frags") { HAS_FRAGS } else { 0 },
            btf: btf.map(|b| &b.0),
            functions: &functions,
            maps: &fds,
        };
        match sys::program_load(&source, &mut []) {
            Ok(fd) => Ok(Self { fd, name: program.name.clone() }),
            Err(errno) => {
                let mut log = vec![0; LOG_BYTES];
                let _ = sys::program_load(&source, &mut log);
                Err(KernelError { log: text(&log), ..refused(errno) })
            }
        }
    }

    /// Its name in the image.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its descriptor: what a program array takes as a value.
    pub fn fd(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// Runs it on one packet. Headroom and tailroom are as [`super::HEADROOM`] and [`super::MAX_FRAME`] say.
    pub fn test_run(&self, input: &TestInput<'_>) -> Result<TestOutput, KernelError> {
        let refused = |e| KernelError::new(format!("test run of `{}`", self.name), e);
        let joined: Vec<u8>;
        let data = if input.metadata.is_empty() {
            input.frame
        } else {
            joined = [input.metadata, input.frame].concat();
            &joined
        };
        let mut context = sys::XdpMd {
            data: input.metadata.len() as u32,
            data_end: data.len() as u32,
            ingress_ifindex: input.ifindex,
            rx_queue_index: input.queue,
            ..sys::XdpMd::default()
        };
        // A program can grow the packet by what a page holds, to either side.
        let mut out = vec![0; data.len().max(4096) + 512];
        let tested = sys::test_run(&self.fd, data, &mut context, &mut out, 1).map_err(refused)?;
        out.truncate(tested.bytes);
        let metadata = (context.data.saturating_sub(context.data_meta) as usize).min(out.len());
        let frame = out.split_off(metadata);
        Ok(TestOutput { r0: tested.r0, frame, metadata: out })
    }

    /// Bytes of machine code that the kernel's JIT has made of it; 0 where it interprets it.
    pub fn machine_code_bytes(&self) -> Result<u32, KernelError> {
        sys::machine_code_bytes(&self.fd).map_err(|e| KernelError::new(format!("asking about `{}`", self.name), e))
    }

    /// Nanoseconds a run takes, over `repeat` runs on this frame (each on what the run before left).
    pub fn time(&self, frame: &[u8], repeat: u32) -> Result<u32, KernelError> {
        let mut context = sys::XdpMd { data_end: frame.len() as u32, ..sys::XdpMd::default() };
        let mut out = vec![0; frame.len().max(4096) + 512];
        sys::test_run(&self.fd, frame, &mut context, &mut out, repeat)
            .map(|t| t.nanoseconds)
            .map_err(|e| KernelError::new(format!("test run of `{}`", self.name), e))
    }
}
