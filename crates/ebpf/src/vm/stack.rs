//! Stack frames of a run: memory, and what calls save.

use crate::address::{STACK, STACK_BYTES, STACK_FRAMES, STACK_STRIDE};

const BYTES: usize = STACK_BYTES as usize;
const FRAMES: usize = STACK_FRAMES as usize;
const STRIDE: usize = STACK_STRIDE as usize;
/// Unused bytes in front of each frame.
const GUARD: usize = STRIDE - BYTES;

/// What a call keeps of its caller.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Saved {
    /// Program number.
    pub program: u32,
    /// Slot to go on with.
    pub pc: u32,
    /// r6 to r9.
    pub registers: [u64; 4],
}

/// Frames of one run. They are cleared when they are entered, and only what was written.
#[derive(Debug)]
pub(super) struct Stack {
    /// As at the device's addresses, so that an offset in the region is one here.
    pub memory: Box<[u8; STRIDE * FRAMES]>,
    /// Lowest byte written of each frame.
    pub low: [u16; FRAMES],
    /// By the frame that was called.
    pub saved: [Saved; FRAMES],
    /// Frame that runs.
    pub frame: usize,
}

/// Clears the last bytes.
#[inline]
fn clear<const N: usize>(memory: &mut [u8]) {
    if let Some(last) = memory.last_chunk_mut::<N>() {
        *last = [0; N];
    }
}

impl Stack {
    pub fn new() -> Self {
        Self { memory: Box::new([0; _]), low: [STACK_BYTES as u16; FRAMES], saved: Default::default(), frame: 0 }
    }

    /// Makes `frame` the one that runs, with every byte zero.
    #[inline]
    pub fn enter(&mut self, frame: usize) {
        let low = &mut self.low[frame];
        if usize::from(*low) < BYTES {
            // Lengths that are known need no call of memset: most frames are short.
            let memory = &mut self.memory[..(frame + 1) * STRIDE];
            match BYTES - usize::from(*low) {
                0..=128 => clear::<128>(memory),
                129..=256 => clear::<256>(memory),
                _ => clear::<BYTES>(memory),
            }
            *low = BYTES as u16;
        }
        self.frame = frame;
    }

    /// Frame and offset in it, if the access lies in one frame that is in use.
    #[inline(always)]
    fn place(&self, address: u64, bytes: usize) -> Option<(usize, usize)> {
        let offset = address.wrapping_sub(STACK.into());
        let frame = (offset / u64::from(STACK_STRIDE)) as usize;
        let inner = (offset % u64::from(STACK_STRIDE)) as usize;
        let start = inner.wrapping_sub(GUARD);
        (frame <= self.frame && start <= BYTES && bytes <= BYTES - start).then_some((frame, start))
    }

    /// Bytes at a stack address.
    #[inline(always)]
    pub fn read(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        let (frame, start) = self.place(address, bytes)?;
        let at = frame * STRIDE + GUARD + start;
        self.memory.get(at..at + bytes)
    }

    /// The same to write.
    #[inline(always)]
    pub fn write(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        let (frame, start) = self.place(address, bytes)?;
        let low = self.low.get_mut(frame)?;
        *low = (*low).min(start as u16);
        let at = frame * STRIDE + GUARD + start;
        self.memory.get_mut(at..at + bytes)
    }
}
