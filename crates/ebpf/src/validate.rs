//! Refuses what can never run. Codes E0440 to E0459.

use crate::Image;

/// Why a program was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {}

/// Checks every program of an image.
pub fn validate(image: &Image) -> Result<(), Refusal> {
    let _ = image;
    Ok(())
}
