//! The paths of the aims with the warp engine in front of the cores.

use super::paths::path_list::{DECIDED, LIMITS, PATHS, decided};
use super::paths::{Flood, alone, interval, open, ready_on};
use std::fmt::Write;

/// Cycles back to back and alone.
type Measured = Result<(f64, f64), String>;

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = String::from(
        "The same with the [warp engine](design/warp-engine.md) in front of the cores, and without (`warp = false`): cycles from an end to the next, 64 bytes back to \
         back; *alone* as above.\n*At most* is what is allowed with it; published are its cycles without and with.\n\n\
         | path | program | cycles | with | at most | reached | published | with | alone | with |\n|",
    );
    out.push_str(&" --- |".repeat(10));
    out.push('\n');
    let limits = |what: &str| {
        let known = LIMITS.iter().find(|(known, ..)| *known == what).map(|(_, limit, with)| (*limit, *with));
        known.or(DECIDED.iter().find(|(known, ..)| *known == what).map(|(.., limit, _, with)| (*limit, Some(*with))))
    };
    for path in PATHS.into_iter().chain(decided()) {
        let measured = [false, true].map(|warp| {
            ready_on(open(seed, warp)?, &path, false).map(|mut ready| {
                (interval(&mut ready, path.what, path.begins_flows(), &Flood::default()), alone(&mut ready))
            })
        });
        let (limit, with) = limits(path.what).map_or((None, None), |(limit, with)| (Some(limit), with));
        let limit = limit.filter(|limit| limit.is_finite());
        row(&mut out, (path.what, path.program), measured, limit, (path.published, with));
    }
    out
}

fn row(
    out: &mut String,
    (what, program): (&str, &str),
    measured: [Measured; 2],
    limit: Option<f64>,
    (published, published_with): (f64, Option<f64>),
) {
    let or_none = |number: Option<f64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let fields = match measured {
        [Ok((without, alone)), Ok((with, alone_with))] => {
            let reached = limit.map_or("-", |limit| if with <= limit { "yes" } else { "no" });
            format!(
                "{without:.1} | {with:.1} | {} | {reached} | {published} | {} | {alone:.0} | {alone_with:.0}",
                or_none(limit),
                or_none(published_with)
            )
        }
        [Err(why), _] | [_, Err(why)] => format!("{why} | - | - | - | - | - | - | -"),
    };
    let _ = writeln!(out, "| {what} | {program} | {fields} |");
}
