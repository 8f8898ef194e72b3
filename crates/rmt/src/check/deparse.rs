//! Rules of deparser rows.

use super::{Checked, at_most, container, ensure};
use crate::deparser::{Adjust, DeparseRow, Deparser, Update};
use crate::parser::Parser;
use crate::target::{DELTA, PATTERNS, Target, WINDOW};

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
    ensure(delta.abs() <= DELTA, format!("{at}.delta"), delta, "-64 to 64")?;
    at_most(format!("{at}.split"), row.split.into(), WINDOW)?;
    let mut needed = 1.max(usize::from(row.split) + delta.max(0) as usize);
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
        let ((a_start, a_at, a_end), (b_start, b_at, b_end)) = (extent(a), extent(b));
        let within = |sum: usize, start: usize, end: usize| sum + 2 > start && sum < end;
        let found = [(a_at, b_start, b_end), (b_at, a_start, a_end)].into_iter().find(|(s, b, e)| within(*s, *b, *e));
        if let Some((sum, start, end)) = found {
            let found = format!("a sum at {sum} that overlaps the other's span, {start} to {end}");
            ensure(false, format!("{at}.checksums"), found, "neither sum in the other's span")?;
        }
    }
    if let Some(a) = &row.adjust {
        needed = needed.max(adjust(&format!("{at}.adjust"), a, row)?);
    }
    let least = usize::from(row.least);
    ensure(least >= needed, format!("{at}.least"), least, format!("at least {needed}"))?;
    rotations(at, row, target.bus_bytes)
}

/// The incoming span; returns the fewest bytes that the outgoing packet has if the incoming one has the span.
fn adjust(at: &str, a: &Adjust, row: &DeparseRow) -> Result<usize, super::Problem> {
    let (start, end) = (usize::from(a.start), usize::from(a.start) + 2 * usize::from(a.words));
    let found = format!("{} words from {start}", a.words);
    ensure((1..=63).contains(&a.words) && end <= WINDOW, at, found, "1 to 63 words in the window")?;
    let Some(u) = row.checksums[1] else {
        return ensure(false, at, "no second checksum", "one that it adjusts").map(|()| 0);
    };
    let (delta, split, sum) = (i32::from(row.delta), i32::from(row.split), i32::from(u.at));
    // Where the checksum's bytes come from, if they are the packet's.
    let moved = sum >= split;
    let from = if moved { sum - delta } else { sum };
    let of_packet = |i: i32| row.lanes.get(i as usize).is_some_and(Option::is_none);
    if of_packet(sum) || of_packet(sum + 1) {
        let whole = of_packet(sum) && of_packet(sum + 1) && (moved || sum + 1 < split);
        let found = format!("the sum at {sum}, of which not both bytes are the packet's");
        ensure(whole, at, found, "a sum whose bytes follow each other in the packet, or are of containers")?;
        let inside = from >= start as i32 && from + 2 <= end as i32 && (from - start as i32) % 2 == 0;
        let found = format!("the old sum at {from}");
        ensure(inside, at, found, format!("one of the words of {start} to {end}"))?;
    }
    Ok((end as i32 + delta).max(0) as usize)
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
    fn a_packet_leaves_with_a_byte_at_least() {
        let of = |delta, least| row("row", &DeparseRow { delta, least, ..DeparseRow::default() }, &DEFAULT);
        for delta in [0, -1, -2, -63, -64] {
            assert_eq!(of(delta, 1), Ok(()), "{delta}");
            assert_eq!(of(delta, 0).unwrap_err().to_string(), "row.least: found 0, allowed: at least 1");
        }
    }

    #[test]
    fn long_deltas_and_unfilled_additions_are_refused() {
        for delta in [65, 66, -65, -66] {
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
        let second = |start, words, at| Some(Update { start, words, at });
        assert_eq!(
            sums((14, 10, 24), second(32, 10, 32)),
            "row.checksums: found a sum at 32 that overlaps the other's span, 14 to 34, allowed: neither sum in the \
             other's span"
        );
        // Half of it, and the first in the second's.
        assert!(sums((14, 10, 24), second(33, 10, 33)).contains("a sum at 33"));
        assert!(sums((14, 10, 24), second(24, 10, 42)).contains("a sum at 24"));
        assert!(sums((14, 10, 24), second(25, 10, 43)).contains("a sum at 24"));
    }

    #[test]
    fn spans_may_overlap_if_no_sum_is_in_the_other_span() {
        let sums = |a, b| {
            let u = |(start, words, at)| Some(Update { start, words, at });
            row("row", &DeparseRow { least: 128, checksums: [u(a), u(b)], ..DeparseRow::default() }, &DEFAULT)
        };
        assert_eq!(sums((14, 10, 24), (26, 13, 50)), Ok(()));
        assert_eq!(sums((26, 13, 50), (14, 10, 24)), Ok(()));
        assert_eq!(sums((14, 10, 24), (34, 10, 34)), Ok(()));
    }

    /// IPv4 and UDP with a second span, and what is changed in it.
    fn adjusting(start: u8, words: u8, change: impl Fn(&mut DeparseRow)) -> Result<(), String> {
        let checksums = [None, Some(Update { start: 26, words: 8, at: 40 })];
        let adjust = Some(Adjust { start, words, udp: true });
        let mut r = DeparseRow { least: 42, checksums, adjust, ..DeparseRow::default() };
        change(&mut r);
        row("row", &r, &DEFAULT).map_err(|e| e.to_string())
    }

    fn sum_of_container(row: &mut DeparseRow) {
        row.put(c2(0), 40);
        row.least = 68;
    }

    #[test]
    fn an_incremental_checksum_passes_where_the_old_one_is_in_its_span() {
        assert_eq!(adjusting(26, 8, |_| ()), Ok(()));
        assert_eq!(adjusting(40, 1, |_| ()), Ok(()));
        // 4 bytes are removed in front of it, or added.
        assert_eq!(adjusting(30, 8, |r| (r.delta, r.split) = (-4, 12)), Ok(()));
        let add = |r: &mut DeparseRow| {
            (r.delta, r.split) = (4, 12);
            r.put(c4(0), 12);
        };
        assert_eq!(adjusting(22, 8, add), Ok(()));
        // The sum's bytes are a container's: nobody knows where they were.
        assert_eq!(adjusting(60, 4, sum_of_container), Ok(()));
        assert_eq!(adjusting(61, 3, sum_of_container), Ok(()));
        // An odd number of bytes is removed in front of it: the old words begin at an odd byte.
        assert_eq!(adjusting(29, 8, |r| (r.delta, r.split) = (-3, 12)), Ok(()));
    }

    #[test]
    fn an_incremental_checksum_is_refused_where_its_old_span_cannot_be_right() {
        let refused = |start, words| adjusting(start, words, |_| ()).unwrap_err();
        for (start, words) in [(26, 0), (26, 64), (120, 5)] {
            let found = format!("row.adjust: found {words} words from {start}, allowed: 1 to 63 words in the window");
            assert_eq!(refused(start, words), found);
        }
        for (start, words, end) in [(26, 7, 40), (42, 4, 50), (27, 8, 43)] {
            let found = format!("row.adjust: found the old sum at 40, allowed: one of the words of {start} to {end}");
            assert_eq!(refused(start, words), found);
        }
        assert_eq!(
            adjusting(26, 8, |r| r.checksums[1] = None).unwrap_err(),
            "row.adjust: found no second checksum, allowed: one that it adjusts"
        );
        let none = adjusting(26, 8, |r| r.checksums.swap(0, 1));
        assert!(none.unwrap_err().contains("no second checksum"));
        let half = adjusting(26, 8, |r| (r.delta, r.split) = (-4, 41)).unwrap_err();
        assert!(half.contains("the sum at 40, of which not both bytes are the packet's"), "{half}");
    }

    #[test]
    fn the_least_length_covers_the_incoming_span() {
        // 46 bytes came in if 42 go out: the old span ends there, and not two bytes later.
        let shrunk = |words| adjusting(30, words, |r| (r.delta, r.split) = (-4, 12));
        assert_eq!(shrunk(8), Ok(()));
        assert_eq!(shrunk(9), Err("row.least: found 42, allowed: at least 44".into()));
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
