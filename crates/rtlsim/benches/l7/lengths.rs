//! Messages a second by bytes of a compare (figure 4.23): of an engine whose rows compare 8 bytes, and of one whose rows compare 32.

use super::engine::Build;
use super::messages::{Fill, Shape, steps};
use super::rates::{Case, Load, TICKS, draw, head, matchers_text, sweep};
use crate::plot::Look;

const LENGTHS: [usize; 9] = [1, 2, 4, 8, 12, 16, 20, 24, 32];
/// Compares of a message.
const COMPARES: usize = 4;
/// What is measured.
pub const BUILDS: [Build; 4] = [Build::Matchers(1), Build::Matchers(4), Build::Wide(1), Build::Wide(4)];

fn shape(length: usize) -> Shape {
    Shape { compares: COMPARES, rules: 32, length, ..Shape::default() }
}

fn name(build: Build) -> String {
    match build {
        Build::Wide(matchers) => format!("{}, rows of 32 bytes", matchers_text(matchers)),
        Build::Matchers(matchers) => matchers_text(matchers),
        _ => matchers_text(build.target().matchers),
    }
}

/// The section of docs/measurements.md.
pub fn table(seed: u64) -> String {
    let mut out = format!(
        "As above, with {COMPARES} compares of so many bytes, one stop byte, 32 rules and 256 bytes a message, which are 4 beats: 62.5 M/s at most. *Rows of 32 bytes*: an engine with \
         `SLUICE_L7_COMPARE_BYTES=32`, `SLUICE_L7_ALTERNATIVES=8` and `SLUICE_L7_VIEW_SEGMENTS=24`. *Steps*: of a message, with rows of 8 and of 32 bytes; a hash is of 8 bytes, so 32 \
         texts of more bytes that differ at their end take one step for what they have in common and one more. The published engine (figure 4.23) stays the same up to 32 bytes, with fewer entries \
         for them.\n"
    );
    out.push_str(&head("bytes of a compare", &[BUILDS.map(name).to_vec(), vec!["steps".into()]].concat()));
    let case = |build| Case {
        name: name(build),
        look: if matches!(build, Build::Wide(_)) { Look::Line } else { Look::Dashed },
        build,
        load: Box::new(|length| Load { shape: shape(length), bytes: 256, fill: Fill::Other }),
    };
    let all_steps = |length| {
        let [short, long] = [Build::Matchers(4), Build::Wide(4)].map(|build| steps(build.target(), shape(length)));
        Some(format!("{short}, {long}"))
    };
    let series = sweep(&mut out, &LENGTHS, BUILDS.map(case).into(), seed, all_steps);
    out.push_str("\n![Messages a second over bytes of a compare](plots/l7_lengths.svg)\n");
    let title = "l7: messages a second by bytes of a compare, 4 compares";
    draw("l7_lengths", title, "bytes of a compare", &LENGTHS, &TICKS, series);
    out
}
