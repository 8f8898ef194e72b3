//! Pages of this crate's error codes, for `sluice explain`.

macro_rules! pages {
    ($($code:literal),+ $(,)?) => {
        &[$(($code, include_str!(concat!("../../../docs/errors/", $code, ".md")))),+]
    };
}

/// Codes with their pages, in rising order.
pub fn codes() -> &'static [(&'static str, &'static str)] {
    pages![
        "E0401", "E0402", "E0403", "E0404", "E0405", "E0406", "E0407", "E0408", "E0409", "E0410", "E0411", "E0412",
        "E0413", "E0414", "E0415", "E0416", "E0417", "E0418", "E0419", "E0420", "E0421", "E0422", "E0423", "E0424",
        "E0425", "E0426", "E0427", "E0428", "E0430", "E0431", "E0432", "E0433", "E0434", "E0435", "E0436", "E0437",
        "E0440", "E0441", "E0442", "E0443", "E0444", "E0445", "E0446", "E0447", "E0448", "E0449", "E0450", "E0451",
        "E0452", "E0453", "E0454", "E0455", "E0460", "E0461", "E0462", "E0463", "E0464", "E0465", "E0470", "E0471",
    ]
}
