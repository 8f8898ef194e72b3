//! The paths of the aims with the warp engine in front of the cores.

use super::paths::path_list::{BACK, BY_HEADER, LIMITS, PATHS, dropped};
use super::paths::{Flood, Ready, TENANT, alone, interval, open, ready_on};
use super::support::device::object;
use crate::traffic::frames::with_tag;
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
    for path in &PATHS {
        let measured = [false, true].map(|warp| {
            ready_on(open(seed, warp)?, path, false).map(|mut ready| {
                (interval(&mut ready, path.what, path.begins_flows(), &Flood::default()), alone(&mut ready))
            })
        });
        let known = LIMITS.iter().find(|(what, ..)| *what == path.what);
        let (limit, with) = known.map_or((None, None), |(_, limit, with)| (Some(*limit), *with));
        row(
            &mut out,
            (path.what, path.program),
            measured,
            limit.filter(|limit| limit.is_finite()),
            (path.published, with),
        );
    }
    let bare = [
        ("Suricata #23, by header", BY_HEADER, dropped(), 1.05, 58.0, 3.0),
        ("TX by verdict", BACK, vec![2; 64], 2.0, 6.9, 5.05),
    ];
    for (what, text, frame, limit, published, with) in bare {
        let measured = [false, true].map(|warp| {
            let mut nic = open(seed, warp)?;
            nic.put(TENANT, &object("bare", text, Vec::new(), &[])).map_err(|e| e.to_string())?;
            let mut ready = Ready { nic, frames: vec![with_tag(frame.clone(), TENANT)] };
            Ok((interval(&mut ready, what, false, &Flood::default()), alone(&mut ready)))
        });
        row(&mut out, (what, "not shipped"), measured, Some(limit), (published, Some(with)));
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
