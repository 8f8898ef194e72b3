//! Rows as the host wrote them, and counters.

use sluice_formats::address::SLICE_WORDS;
use sluice_formats::row::Row;
use std::marker::PhantomData;

/// A table's rows in words, to be read back and to be compiled from.
#[derive(Clone, Debug)]
pub struct Store<R> {
    words: Vec<u32>,
    layout: PhantomData<R>,
}

impl<R: Row> Store<R> {
    /// Rows of zeros.
    pub fn new(rows: usize) -> Self {
        Self { words: vec![0; rows * R::words()], layout: PhantomData }
    }

    /// Writes a row; bits above the layout are not kept.
    pub fn write(&mut self, row: usize, words: &[u32]) {
        let n = R::words();
        let at = &mut self.words[row * n..(row + 1) * n];
        at.copy_from_slice(words);
        if let (Some(last), used @ 1..) = (at.last_mut(), R::width() % 32) {
            *last &= (1 << used) - 1;
        }
    }

    /// Eight words of a row, fewer at its end.
    pub fn read(&self, row: usize, slice: usize) -> Vec<u32> {
        let n = R::words();
        let first = slice * SLICE_WORDS;
        self.words[row * n + first..row * n + n.min(first + SLICE_WORDS)].to_vec()
    }

    /// The lowest 32 bits of a row.
    #[inline]
    pub fn first_word(&self, row: usize) -> u32 {
        self.words[row * R::words()]
    }

    /// A row by its fields.
    pub fn row(&self, row: usize) -> R {
        let n = R::words();
        // Length and padding are right here, and those are all that `unpack` refuses.
        R::unpack(&self.words[row * n..(row + 1) * n]).unwrap_or_default()
    }
}

/// Counters of 48 bits with their values at the last snapshot.
#[derive(Clone, Debug)]
pub struct Counters {
    now: Vec<u64>,
    then: Vec<u64>,
}

impl Counters {
    /// Zeros.
    pub fn new(count: usize) -> Self {
        Self { now: vec![0; count], then: vec![0; count] }
    }

    /// Adds to one, if it is there.
    #[inline]
    pub fn add(&mut self, index: usize, amount: u64) {
        if let Some(c) = self.now.get_mut(index) {
            *c = c.wrapping_add(amount);
        }
    }

    /// A counter's value, now or at the last snapshot.
    pub fn get(&self, index: usize, snapshot: bool) -> u64 {
        let values = if snapshot { &self.then } else { &self.now };
        values[index] & ((1 << 48) - 1)
    }

    /// Keeps all values as they are now.
    pub fn snapshot(&mut self) {
        self.then.clone_from(&self.now);
    }
}
