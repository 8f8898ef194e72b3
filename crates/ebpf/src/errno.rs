//! Linux error numbers, as maps and helpers return them.

use sluice_object::xdp::trie::TrieRefusal;

/// A positive Linux error number; helpers return its negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Errno(pub i32);

impl Errno {
    /// Operation not permitted.
    pub const PERM: Self = Self(1);
    /// No such entry.
    pub const NOENT: Self = Self(2);
    /// Bad file descriptor: no such map or program.
    pub const BADF: Self = Self(9);
    /// Argument list too long: the map is full.
    pub const TOOBIG: Self = Self(7);
    /// Try again.
    pub const AGAIN: Self = Self(11);
    /// Out of memory.
    pub const NOMEM: Self = Self(12);
    /// Permission denied.
    pub const ACCES: Self = Self(13);
    /// Bad address.
    pub const FAULT: Self = Self(14);
    /// Busy.
    pub const BUSY: Self = Self(16);
    /// The entry is there already.
    pub const EXIST: Self = Self(17);
    /// No such device.
    pub const NODEV: Self = Self(19);
    /// Invalid argument.
    pub const INVAL: Self = Self(22);
    /// No space left.
    pub const NOSPC: Self = Self(28);
    /// Out of range.
    pub const RANGE: Self = Self(34);
    /// Not supported (the kernel's own number).
    pub const NOTSUPP: Self = Self(524);
    /// Address family not supported.
    pub const AFNOSUPPORT: Self = Self(97);
    /// Operation not supported.
    pub const OPNOTSUPP: Self = Self(95);

    /// What a helper returns in r0.
    pub fn result(self) -> u64 {
        -i64::from(self.0) as u64
    }
}

impl From<TrieRefusal> for Errno {
    fn from(refusal: TrieRefusal) -> Self {
        match refusal {
            TrieRefusal::Invalid => Self::INVAL,
            TrieRefusal::Exists => Self::EXIST,
            TrieRefusal::Missing => Self::NOENT,
            TrieRefusal::Full => Self::NOSPC,
        }
    }
}
