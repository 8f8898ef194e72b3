//! The Linux kernel as an oracle: maps, programs and test runs through bpf(2).
//!
//! [`available`] says whether this machine and user may do that; tests skip with its reason
//! where not. [`Kernel::load`] makes the maps of an [`crate::Image`] and loads its programs, which gives
//! the kernel verifier's answer; [`KernelProgram::test_run`] runs one packet. What can be
//! compared with the kernel, and how, is docs/design/xdp-oracle.md.

mod compare;
mod error;
mod events;
mod load;
mod mapped;
mod maps;
mod program;
mod sandbox;
mod sys;

pub use compare::{Difference, Differential, hex};
pub use error::KernelError;
pub use events::{PerfReader, RingReader};
pub use load::Kernel;
pub use maps::{Btf, Entry, KernelMap};
pub use program::{KernelProgram, TestInput, TestOutput};
pub use sandbox::{QUEUES, Sandbox};

/// Shortest frame a test run takes: an Ethernet header.
pub const MIN_FRAME: usize = 14;
/// Longest frame a test run takes in one piece: a page less headroom and the kernel's shared info.
pub const MAX_FRAME: usize = 3520;
/// How far `adjust_head` and `adjust_meta` reach back in a test run: 256 less `struct xdp_frame`.
pub const HEADROOM: usize = 216;
/// Most bytes of metadata in front of the frame; a multiple of 4.
pub const MAX_METADATA: usize = HEADROOM;

/// Whether the kernel takes programs and runs them from here, or why not.
pub fn available() -> Result<(), String> {
    if !cfg!(target_os = "linux") {
        return Err("bpf(2) is a Linux system call".into());
    }
    let pass = crate::Program {
        name: "pass".into(),
        section: "xdp".into(),
        insns: vec![
            crate::Insn { op: 0xb7, imm: 2, ..Default::default() },
            crate::Insn { op: crate::insn::EXIT, ..Default::default() },
        ],
        ..Default::default()
    };
    let program = KernelProgram::load(&pass, &[], None, "GPL").map_err(|e| match e.errno.0 {
        1 => "the kernel refuses bpf(2): not permitted, this needs root or CAP_BPF and CAP_NET_ADMIN".to_string(),
        38 => "the kernel has no bpf(2)".to_string(),
        _ => format!("the kernel refuses the smallest program: {e}"),
    })?;
    match program.test_run(&TestInput::frame(&[0; MIN_FRAME])) {
        Ok(out) if out.r0 == 2 => Ok(()),
        Ok(out) => Err(format!("a test run of the smallest program gave {} instead of 2", out.r0)),
        Err(e) => Err(format!("the kernel refuses test runs of XDP programs: {e}")),
    }
}

/// Processors whose copies a per-CPU value has, as the kernel counts them; where it does not
/// say, the most it can be built for, so that no buffer is too short.
pub fn possible_cpus() -> u32 {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    let last = text.trim().rsplit(['-', ',']).next().and_then(|n| n.parse::<u32>().ok());
    last.map_or(8192, |n| n + 1)
}

/// Keeps the calling thread on one processor as long as it lives, so that per-CPU state has one copy.
///
/// The thread moves freely afterwards. Elsewhere than on Linux it does nothing.
pub struct Pinned {
    before: Option<sys::CpuSet>,
    _thread_bound: std::marker::PhantomData<*const ()>,
}

impl Pinned {
    /// Pins the calling thread to processor `cpu`.
    pub fn to(cpu: u32) -> Result<Self, KernelError> {
        let before = sys::affinity().map_err(|e| KernelError::new("the thread's processors", e))?;
        sys::set_affinity(&sys::CpuSet::only(cpu)).map_err(|e| KernelError::new("pinning the thread", e))?;
        Ok(Self { before: Some(before), _thread_bound: std::marker::PhantomData })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = sys::set_affinity(before);
        }
    }
}
