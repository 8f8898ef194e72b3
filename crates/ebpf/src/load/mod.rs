//! Reads object files. Codes E0401 to E0429.

use crate::{Image, map::MapError};

/// Why an object or program was refused; each with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// A map cannot be made.
    #[error(transparent)]
    Map(#[from] MapError),
    /// A program can never run.
    #[error(transparent)]
    Refused(#[from] crate::validate::Refusal),
}

/// Reads an ELF object. Programs that cannot run are refused by [`crate::validate`], not here,
/// unless they cannot even be represented.
pub fn load(elf: &[u8]) -> Result<Image, LoadError> {
    todo!("{}", elf.len())
}
