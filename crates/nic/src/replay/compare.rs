//! Differences between model and device, in words.

/// Bytes shown around the first difference.
const SHOWN_BYTES: usize = 16;

/// A difference between the model and the device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: the model has {model}, the device has {device}", self.place())]
pub struct Mismatch {
    /// Packet ID, where a packet is concerned.
    pub packet: Option<u32>,
    /// Event of the trace.
    pub at: &'static str,
    /// What the model has.
    pub model: String,
    /// What the device had.
    pub device: String,
}

impl Mismatch {
    fn place(&self) -> String {
        match self.packet {
            Some(id) => format!("packet {} of port {} (id {id:#010x}) at {}", id & 0x0fff_ffff, id >> 28, self.at),
            None => self.at.to_owned(),
        }
    }
}

pub(super) fn mismatch(id: u32, at: &'static str, model: String, device: String) -> Mismatch {
    Mismatch { packet: Some(id), at, model, device }
}

/// Nothing when `same`, otherwise the mismatch that `describe` words (model, device).
pub(super) fn check<M: Into<String>, D: Into<String>>(
    same: bool,
    id: u32,
    at: &'static str,
    describe: impl FnOnce() -> (M, D),
) -> Result<(), Mismatch> {
    if same {
        return Ok(());
    }
    let (model, device) = describe();
    Err(mismatch(id, at, model.into(), device.into()))
}

/// Both frames around their first difference.
pub(super) fn describe_bytes(model: &[u8], device: &[u8]) -> (String, String) {
    let at = model.iter().zip(device).position(|(m, d)| m != d).unwrap_or(model.len().min(device.len()));
    let from = at.saturating_sub(SHOWN_BYTES / 2);
    let show = |bytes: &[u8]| {
        let shown = &bytes[from.min(bytes.len())..(from + SHOWN_BYTES).min(bytes.len())];
        let hex: Vec<String> = shown.iter().map(|b| format!("{b:02x}")).collect();
        format!("{} bytes, from byte {from}: {}", bytes.len(), hex.join(" "))
    };
    (show(model), show(device))
}
