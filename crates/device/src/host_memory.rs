//! The memory of a simulated host.

use std::collections::BTreeMap;

const PAGE_BYTES: u64 = 4096;

/// Bytes by address. What nobody wrote is zero.
#[derive(Clone, Debug, Default)]
pub struct HostMemory {
    pages: BTreeMap<u64, Vec<u8>>,
}

impl HostMemory {
    /// Writes bytes, which may go over the end of the address space and begin at its start.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        let mut left = bytes;
        let mut at = address;
        while !left.is_empty() {
            let offset = (at % PAGE_BYTES) as usize;
            let (now, later) = left.split_at(left.len().min(PAGE_BYTES as usize - offset));
            let page = self.pages.entry(at / PAGE_BYTES).or_insert_with(|| vec![0; PAGE_BYTES as usize]);
            page[offset..offset + now.len()].copy_from_slice(now);
            (at, left) = (at.wrapping_add(now.len() as u64), later);
        }
    }

    /// Reads bytes.
    pub fn read(&self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count);
        while bytes.len() < count {
            let at = address.wrapping_add(bytes.len() as u64);
            let offset = (at % PAGE_BYTES) as usize;
            let now = (count - bytes.len()).min(PAGE_BYTES as usize - offset);
            match self.pages.get(&(at / PAGE_BYTES)) {
                Some(page) => bytes.extend_from_slice(&page[offset..offset + now]),
                None => bytes.resize(bytes.len() + now, 0),
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_over_pages_and_the_rest_is_zero() {
        let mut memory = HostMemory::default();
        let bytes: Vec<u8> = (0..=255).cycle().take(9_000).collect();
        memory.write(PAGE_BYTES - 3, &bytes);
        assert_eq!(memory.read(PAGE_BYTES - 3, 9_000), bytes);
        assert_eq!(memory.read(PAGE_BYTES - 5, 4), [0, 0, 0, 1]);
        memory.write(u64::MAX - 1, &[1, 2, 3, 4]);
        assert_eq!(memory.read(u64::MAX - 2, 6), [0, 1, 2, 3, 4, 0]);
    }
}
