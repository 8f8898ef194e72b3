//! Pages of this crate's error codes, for `sluice explain`.

macro_rules! pages {
    ($($code:literal),+ $(,)?) => {
        &[$(($code, include_str!(concat!("../../../docs/errors/", $code, ".md")))),+]
    };
}

/// Codes with their pages, in rising order.
pub fn codes() -> &'static [(&'static str, &'static str)] {
    pages!["E0801", "E0802", "E0803", "E0804", "E0805", "E0806", "E0807", "E0808", "E0809", "E0810", "E0820", "E0821"]
}
