//! The area that `make synth` has measured.

/// Written by tools/synth.py beside docs/synth.md.
const SUMS: &str = include_str!("../../../../synth/sums.toml");

/// LUT of the default engine, the sum of its blocks, and the day of that measurement.
pub fn engine() -> (f64, &'static str) {
    let section = SUMS.split("[\"the XDP engine\"]").nth(1).expect("synth/sums.toml has no XDP engine");
    let field = |name: &str| {
        let line = section.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "));
        line.unwrap_or_else(|| panic!("synth/sums.toml: the XDP engine has no {name}"))
    };
    (field("lut").parse().expect("LUT are a number"), field("day").trim_matches('"'))
}
