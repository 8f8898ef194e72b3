//! Pages of this crate's error codes, for `sluice explain`.

macro_rules! pages {
    ($($code:literal),+ $(,)?) => {
        &[$(($code, include_str!(concat!("../../../docs/errors/", $code, ".md")))),+]
    };
}

/// Codes with their pages, in rising order.
pub fn codes() -> &'static [(&'static str, &'static str)] {
    pages![
        "E0201", "E0202", "E0203", "E0204", "E0205", "E0206", "E0207", "E0220", "E0221", "E0222", "E0223", "E0224",
        "E0225", "E0226", "E0227", "E0228", "E0229", "E0230", "E0231", "E0232", "E0233", "E0234", "E0235", "E0236",
        "E0237", "E0238", "E0239",
    ]
}
