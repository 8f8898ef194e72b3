//! Programs that touch values and change maps in external memory, and their frames.

use super::device::frame;

/// Stores the packet's number to the value that it names (1), adds it there (2), or shows the value behind it; out of bounds it drops.
pub const TOUCH: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 40\nr0 = 1\nif r3 > r2 goto out\n\
    r4 = *(u32 *)(r6 +16)\n*(u32 *)(r10 -4) = r4\nr7 = *(u64 *)(r6 +24)\nr8 = *(u8 *)(r6 +14)\n\
    r2 = r10\nr2 += -4\nr1 = map[counts]\ncall bpf_map_lookup_elem\nif r0 == 0 goto drop\n\
    if r8 == 1 goto store\nif r8 == 2 goto add\nr1 = *(u64 *)(r0 +0)\n*(u64 *)(r6 +32) = r1\nr0 = 3\nexit\n\
    store:\n*(u64 *)(r0 +0) = r7\nr0 = 3\nexit\nadd:\nlock *(u64 *)(r0 +0) += r7\nr0 = 3\nexit\n\
    drop:\nr0 = 1\nout:\nexit\n";

/// A frame for it.
pub fn touch(vlan: u16, op: u8, index: u32, number: u64) -> Vec<u8> {
    let mut rest = vec![0];
    rest.extend(index.to_le_bytes());
    rest.extend([0; 4]);
    rest.extend(number.to_le_bytes());
    rest.extend([0; 24]);
    frame(vlan, op, &rest)
}

/// Makes the entry of a packet's key its number (1), takes it out (2), or shows its value. A key has 4 bytes in front of 8.
pub const CHANGE: &str = "r6 = *(u32 *)(r1 +0)\nr2 = *(u32 *)(r1 +4)\nr3 = r6\nr3 += 40\nr0 = 1\nif r3 > r2 goto out\n\
    r4 = *(u32 *)(r6 +16)\n*(u32 *)(r10 -12) = r4\n*(u64 *)(r10 -8) = r4\nr7 = *(u64 *)(r6 +24)\n*(u64 *)(r10 -24) = r7\n\
    r8 = *(u8 *)(r6 +14)\nr2 = r10\nr2 += -12\nr1 = map[flows]\nif r8 == 1 goto update\nif r8 == 2 goto delete\n\
    call bpf_map_lookup_elem\nif r0 == 0 goto drop\nr1 = *(u64 *)(r0 +0)\n*(u64 *)(r6 +32) = r1\nr0 = 3\nexit\n\
    update:\nr3 = r10\nr3 += -24\nr4 = 0\ncall bpf_map_update_elem\n*(u64 *)(r6 +32) = r0\nr0 = 3\nexit\n\
    delete:\ncall bpf_map_delete_elem\n*(u64 *)(r6 +32) = r0\nr0 = 3\nexit\ndrop:\nr0 = 1\nout:\nexit\n";

/// A frame for it.
pub fn change(vlan: u16, op: u8, key: u32, number: u64) -> Vec<u8> {
    let mut rest = vec![0];
    rest.extend(key.to_le_bytes());
    rest.extend([0; 4]);
    rest.extend(number.to_le_bytes());
    rest.extend([0; 24]);
    frame(vlan, op, &rest)
}

/// The map's key.
pub fn key(number: u32) -> Vec<u8> {
    [number.to_le_bytes().to_vec(), u64::from(number).to_le_bytes().to_vec()].concat()
}

/// A frame as an engine alone has it, without its tag.
pub fn engine_alone(mut frame: Vec<u8>) -> Vec<u8> {
    frame.drain(12..16);
    frame
}
