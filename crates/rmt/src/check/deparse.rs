//! Rules of deparser rows.

use super::{Checked, at_most, container, ensure};
use crate::deparser::{DeparseRow, Deparser, Update};
use crate::parser::Parser;
use crate::target::{DELTA, PATTERNS, Target, WINDOW};

/// Bytes of the shortest packet: a frame of 16 bytes whose tag came off.
const LEAST_PACKET: usize = 12;

pub(super) fn check(deparser: &Deparser, parser: &Parser, target: &Target) -> Checked {
    at_most("deparser.patterns", deparser.patterns.len(), PATTERNS)?;
    at_most("deparser.rows", deparser.rows.len(), PATTERNS)?;
    for (i, r) in deparser.rows.iter().enumerate() {
        row(&format!("deparser.rows[{i}]"), r, target)?;
    }
    for (i, p) in deparser.patterns.iter().enumerate() {
        let at = format!("deparser.patterns[{i}]");
        let inside = p.mask >> 20 == 0 && p.value & !p.mask == 0;
        ensure(inside, format!("{at}.value"), "bits outside the mask", "20 bits of mask, values within it")?;
        let Some(row) = deparser.rows.get(usize::from(p.row)) else {
            return ensure(false, format!("{at}.row"), p.row, format!("below {}", deparser.rows.len()));
        };
        // Only the path's number counts: a program may make any header valid.
        for (n, path) in parser.paths.iter().enumerate() {
            if (n as u32 ^ p.value) & p.mask & 0xf == 0 {
                let end = i32::from(path.least) + i32::from(row.delta);
                let found = format!("{end} bytes of header for path {n}");
                ensure((0..=WINDOW as i32).contains(&end), &at, found, "0 to 128")?;
            }
        }
    }
    Ok(())
}

fn row(at: &str, row: &DeparseRow, target: &Target) -> Checked {
    let delta = i32::from(row.delta);
    let good = delta % 2 == 0 && delta.abs() <= DELTA;
    ensure(good, format!("{at}.delta"), delta, "even, -64 to 64")?;
    at_most(format!("{at}.split"), row.split.into(), WINDOW)?;
    let mut needed = LEAST_PACKET.max(usize::from(row.split) + delta.max(0) as usize);
    for (i, lane) in row.lanes.iter().enumerate() {
        let Some((c, b)) = *lane else { continue };
        container(format!("{at}.lanes[{i}]"), c)?;
        at_most(format!("{at}.lanes[{i}]"), b.into(), c.bytes() - 1)?;
        needed = needed.max(i + 1);
    }
    for i in usize::from(row.split)..usize::from(row.split) + delta.max(0) as usize {
        let filled = row.lanes.get(i).is_some_and(Option::is_some);
        ensure(filled, format!("{at}.lanes[{i}]"), "a byte of the packet", "a container in what is added")?;
    }
    for (i, sum) in row.checksums.iter().enumerate() {
        let Some(u) = sum else { continue };
        let (start, at_byte, end) = extent(u);
        let good =
            end <= WINDOW && u.words <= 63 && at_byte >= start && at_byte + 2 <= end && (at_byte - start) % 2 == 0;
        let found = format!("{} words from {start} with the sum at {at_byte}", u.words);
        ensure(good, format!("{at}.checksums[{i}]"), found, "at most 63 words in the window, the sum one of them")?;
        needed = needed.max(end);
    }
    if let [Some(a), Some(b)] = &row.checksums {
        let ((a_start, _, a_end), (b_start, _, b_end)) = (extent(a), extent(b));
        let apart = a_end <= b_start || b_end <= a_start;
        ensure(apart, format!("{at}.checksums"), "spans that overlap", "spans apart")?;
    }
    let least = usize::from(row.least);
    ensure(least >= needed, format!("{at}.least"), least, format!("at least {needed}"))?;
    rotations(at, row, target.bus_bytes)
}

fn extent(u: &Update) -> (usize, usize, usize) {
    (u.start.into(), u.at.into(), usize::from(u.start) + 2 * usize::from(u.words))
}

/// In each beat all bytes of a container are served by one rotation.
fn rotations(at: &str, row: &DeparseRow, beat: usize) -> Checked {
    for lanes in (0..WINDOW).collect::<Vec<_>>().chunks(beat) {
        let mut rotation = [None; 24];
        for &i in lanes {
            let Some((c, b)) = row.lanes[i] else { continue };
            let size = c.bytes();
            let this = (i + size - usize::from(b)) % size;
            let chosen = *rotation[usize::from(c.0)].get_or_insert(this);
            let found = format!("container {} at rotations {chosen} and {this} in one beat", c.0);
            ensure(chosen == this, format!("{at}.lanes[{i}]"), found, "one rotation a beat")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deparser::Pattern;
    use crate::parser::Path;
    use crate::phv::{c2, c4, c6};
    use crate::target::DEFAULT;

    fn of_row(r: DeparseRow) -> String {
        row("row", &r, &DEFAULT).unwrap_err().to_string()
    }

    #[test]
    fn rows_of_additions_and_removals_pass() {
        let mut grow = DeparseRow { delta: 6, split: 12, least: 18, ..DeparseRow::default() };
        grow.put(c6(0), 12);
        assert_eq!(row("row", &grow, &DEFAULT), Ok(()));
        assert_eq!(row("row", &DeparseRow { delta: -64, split: 14, ..DeparseRow::default() }, &DEFAULT), Ok(()));
    }

    #[test]
    fn odd_and_long_deltas_and_unfilled_additions_are_refused() {
        for delta in [1, 66, -66] {
            assert!(of_row(DeparseRow { delta, ..DeparseRow::default() }).starts_with("row.delta"));
        }
        let mut r = DeparseRow { delta: 4, split: 12, least: 18, ..DeparseRow::default() };
        r.put(c2(0), 12);
        assert_eq!(of_row(r), "row.lanes[14]: found a byte of the packet, allowed: a container in what is added");
    }

    #[test]
    fn the_least_length_covers_lanes_split_and_spans() {
        let mut r = DeparseRow::default();
        r.put(c4(0), 20);
        assert_eq!(of_row(r), "row.least: found 14, allowed: at least 24");
        assert!(of_row(DeparseRow { split: 15, ..DeparseRow::default() }).contains("at least 15"));
        let sum = Some(Update { start: 14, words: 10, at: 24 });
        assert!(of_row(DeparseRow { checksums: [sum, None], ..DeparseRow::default() }).contains("at least 34"));
    }

    #[test]
    fn sums_outside_their_span_at_an_odd_distance_or_overlapping_are_refused() {
        let sums = |a, b| {
            let u = |(start, words, at)| Update { start, words, at };
            of_row(DeparseRow { least: 128, checksums: [Some(u(a)), b], ..DeparseRow::default() })
        };
        for bad in [(14, 10, 12), (14, 10, 34), (14, 10, 25), (110, 10, 112)] {
            assert!(sums(bad, None).starts_with("row.checksums[0]"), "{bad:?}");
        }
        let second = Some(Update { start: 32, words: 10, at: 32 });
        assert!(sums((14, 10, 24), second).contains("overlap"));
    }

    #[test]
    fn a_container_may_stand_twice_in_a_beat_only_at_one_rotation() {
        let mut r = DeparseRow { least: 64, ..DeparseRow::default() };
        r.put(c4(0), 14).put(c4(0), 18);
        assert_eq!(row("row", &r, &DEFAULT), Ok(()));
        r.put(c4(0), 24);
        assert_eq!(row("row", &r, &DEFAULT), Ok(()).and(Err(r_problem(24))));
    }

    fn r_problem(lane: usize) -> super::super::Problem {
        super::super::Problem {
            at: format!("row.lanes[{lane}]"),
            found: "container 8 at rotations 2 and 0 in one beat".into(),
            allowed: "one rotation a beat".into(),
        }
    }

    #[test]
    fn a_header_beyond_the_window_is_refused_by_path() {
        let mut r = DeparseRow { delta: 6, split: 12, least: 18, ..DeparseRow::default() };
        r.put(c6(0), 12);
        let deparser = Deparser { patterns: vec![Pattern { value: 1, mask: 0xf, row: 0 }], rows: vec![r] };
        let parser = |least| Parser {
            paths: vec![Path { least: 128, ..Path::default() }, Path { least, ..Path::default() }],
            ..Parser::default()
        };
        assert_eq!(check(&deparser, &parser(122), &DEFAULT), Ok(()));
        assert_eq!(
            check(&deparser, &parser(124), &DEFAULT).unwrap_err().to_string(),
            "deparser.patterns[0]: found 130 bytes of header for path 1, allowed: 0 to 128"
        );
    }
}
