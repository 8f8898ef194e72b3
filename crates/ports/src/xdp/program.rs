//! The program in the kernel that gives frames to the sockets of their queues, and does nothing else.
//!
//! A frame of a queue without a socket goes on to the host's stack. No frame is dropped or sent by it. It is attached by a
//! link of this process, so the kernel detaches it when the process ends, however it ends.

use super::btf;
use crate::sys::bpf::{self, AttachMode};
use sluice_ebpf::insn::{self, CALL, assemble};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// `*(u64 *)` in front of a frame that says a tag was beside it: the EtherType as it is on the wire, the tag's value as a
/// number of the host, and this in the upper half.
pub(crate) const TAG_MARK: u32 = 0x5147_4154;
/// Bytes of that in front of the frame.
pub(crate) const TAG_MARK_BYTES: usize = 8;

/// Gives the frame to its queue's socket; without one it passes (2, `XDP_PASS`).
const STEER: &str = "
steer:
    r2 = *(u32 *)(r6 +16)
    r1 = map[sockets]
    r3 = 2
    call bpf_redirect_map#51
    exit
";

/// Before: asks the driver for a tag that lies beside the frame, and writes it in front. `get_prandom_u32` stands for the
/// kernel's `bpf_xdp_metadata_rx_vlan_tag`, which has no number.
const READ_TAG: &str = "
    r6 = r1
    r2 = 0
    *(u64 *)(r10 -8) = r2
    r2 = r10
    r2 += -8
    r3 = r10
    r3 += -6
    call bpf_get_prandom_u32#7
    if r0 != 0 goto steer
    r1 = r6
    r2 = -8
    call bpf_xdp_adjust_meta#54
    if r0 != 0 goto steer
    r2 = *(u32 *)(r6 +8)
    r3 = *(u32 *)(r6 +0)
    r4 = r2
    r4 += 8
    if r4 > r3 goto steer
    r5 = *(u32 *)(r10 -8)
    *(u32 *)(r2 +0) = r5
    *(u32 *)(r2 +4) = 1363624276
";

/// What is attached to an interface; gone when dropped.
#[derive(Debug)]
pub(crate) struct Steering {
    sockets: OwnedFd,
    reads_tags: Result<(), String>,
    _program: OwnedFd,
    _link: OwnedFd,
}

/// Instructions in the kernel's bytes, with the map's descriptor in its place.
fn instructions(sockets: &OwnedFd, tag_function: Option<u32>) -> Vec<[u8; 8]> {
    /// Source of a call: a function of the kernel by its type's number.
    const KERNEL_FUNCTION: u8 = 2;
    /// Source of a 64-bit load: a map by its descriptor.
    const MAP_BY_FD: u8 = 1;
    let text = match tag_function {
        Some(_) => format!("{READ_TAG}{STEER}"),
        None => format!("    r6 = r1\n{STEER}"),
    };
    let mut program = assemble("steer", &text, &["sockets"]).expect("the text of ours is a program");
    for i in &mut program.insns {
        if i.is_wide() && i.src == insn::pseudo::MAP {
            (i.src, i.imm) = (MAP_BY_FD, sockets.as_raw_fd());
        }
        if let (CALL, 7, Some(function)) = (i.op, i.imm, tag_function) {
            (i.src, i.imm) = (KERNEL_FUNCTION, function as i32);
        }
    }
    program.insns.iter().map(|i| i.to_bytes()).collect()
}

impl Steering {
    /// Loads the program and attaches it. With `tags` it also asks the driver for them, where the kernel has that:
    /// [`Self::reads_tags`] says.
    pub fn attach(interface: u32, queues: u32, mode: AttachMode, tags: bool) -> io::Result<Self> {
        let sockets = bpf::socket_map(queues)?;
        // The kernel gives what we ask the driver only to programs that say so. A few instructions of ours are under MIT
        // or GPL for that.
        let license = c"Dual MIT/GPL";
        let bound = || -> io::Result<OwnedFd> {
            let function = btf::function("bpf_xdp_metadata_rx_vlan_tag")?;
            let code = instructions(&sockets, Some(function));
            bpf::load(&code, license, bpf::HAS_FRAGS | bpf::BOUND, interface)
        };
        let mut reads_tags = Err("a program behind the driver is not told of them".to_owned());
        if tags && mode == AttachMode::Native {
            match bound().and_then(|program| Ok((bpf::attach(&program, interface, mode)?, program))) {
                Ok((link, program)) => {
                    return Ok(Self { sockets, reads_tags: Ok(()), _program: program, _link: link });
                }
                Err(error) => reads_tags = Err(error.to_string()),
            }
        }
        let program = bpf::load(&instructions(&sockets, None), license, bpf::HAS_FRAGS, 0)?;
        let link = bpf::attach(&program, interface, mode)?;
        Ok(Self { sockets, reads_tags, _program: program, _link: link })
    }

    /// Whether tags beside frames are read, or why not.
    pub fn reads_tags(&self) -> Result<(), &str> {
        self.reads_tags.as_ref().copied().map_err(String::as_str)
    }

    /// Frames of this queue are the socket's from now on.
    pub fn give(&self, queue: u32, socket: &OwnedFd) -> io::Result<()> {
        bpf::put_socket(&self.sockets, queue, socket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_in_the_program_is_the_one_that_is_read() {
        assert!(READ_TAG.contains(&format!("= {TAG_MARK}\n")));
        assert_eq!(TAG_MARK.to_le_bytes(), *b"TAGQ");
    }

    #[test]
    fn both_texts_are_programs_with_the_map_and_the_function_in_place() {
        let map: OwnedFd = std::fs::File::open("/dev/null").unwrap().into();
        let short = instructions(&map, None);
        let long = instructions(&map, Some(77));
        assert_eq!((short.len(), long.len()), (7, 27));
        let wide = short.iter().find(|i| i[0] == insn::LD_IMM64).unwrap();
        assert_eq!((wide[1] >> 4, i32::from_le_bytes([wide[4], wide[5], wide[6], wide[7]])), (1, map.as_raw_fd()));
        let calls: Vec<_> = long.iter().filter(|i| i[0] == CALL).map(|i| (i[1] >> 4, i[4])).collect();
        assert_eq!(calls, [(2, 77), (0, 54), (0, 51)]);
    }
}
