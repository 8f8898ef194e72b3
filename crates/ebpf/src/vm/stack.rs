//! Stack frames of a run: memory, and what calls save.

use crate::address::{STACK, STACK_BYTES, STACK_FRAMES, STACK_STRIDE};

const BYTES: usize = STACK_BYTES as usize;
const FRAMES: usize = STACK_FRAMES as usize;

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
    memory: Box<[u8; BYTES * FRAMES]>,
    /// Lowest byte written of each frame.
    low: [u16; FRAMES],
    /// By the frame that was called.
    pub saved: [Saved; FRAMES],
    /// Frame that runs.
    pub frame: usize,
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
            self.memory[frame * BYTES + usize::from(*low)..(frame + 1) * BYTES].fill(0);
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
        let start = inner.wrapping_sub((STACK_STRIDE - STACK_BYTES) as usize);
        (frame <= self.frame && start <= BYTES && bytes <= BYTES - start).then_some((frame, start))
    }

    /// Bytes at a stack address.
    #[inline(always)]
    pub fn read(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        let (frame, start) = self.place(address, bytes)?;
        self.memory.get(frame * BYTES + start..frame * BYTES + start + bytes)
    }

    /// The same to write.
    #[inline(always)]
    pub fn write(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        let (frame, start) = self.place(address, bytes)?;
        let low = self.low.get_mut(frame)?;
        *low = (*low).min(start as u16);
        self.memory.get_mut(frame * BYTES + start..frame * BYTES + start + bytes)
    }
}
