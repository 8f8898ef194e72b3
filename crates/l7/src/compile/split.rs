//! Where a compare of many texts is split: what all have in common first, once, or as many bytes as a row compares.
//!
//! Texts that are longer than a row compares are compared in pieces, and behind every different first piece stand rows of its own. So the
//! first piece ends best where the texts begin to differ, when the rest of each then fits into the second one.

use std::collections::HashMap;

/// Rows that have to be saved for a step more.
const WORTH: usize = 4;

/// Bytes that all texts begin with.
pub(super) fn common(texts: &[&[u8]]) -> usize {
    let Some((first, others)) = texts.split_first() else { return 0 };
    let same = |other: &&[u8]| first.iter().zip(other.iter()).take_while(|(a, b)| a == b).count();
    others.iter().map(same).min().unwrap_or(first.len())
}

/// How many bytes all of these have in common, where comparing those first takes fewer rows than beginning with `length` bytes.
pub(super) fn common_first(mut texts: Vec<&[u8]>, length: usize, alternatives: usize) -> Option<usize> {
    texts.sort_unstable();
    texts.dedup();
    let common = common(&texts);
    if common == 0 || common >= length || texts.iter().all(|text| text.len() <= length) {
        return None;
    }
    let mut rows = Rows { texts: &texts, length, alternatives, known: HashMap::new() };
    let all = (0, texts.len());
    (1 + rows.pieces(all, common) + WORTH <= rows.pieces(all, 0)).then_some(common)
}

/// Rows that texts take, about: those for what is behind them are the same however they are compared.
struct Rows<'a> {
    /// Sorted, all different.
    texts: &'a [&'a [u8]],
    length: usize,
    alternatives: usize,
    known: HashMap<((usize, usize), usize), usize>,
}

impl Rows<'_> {
    /// Of these texts, which are the same up to a byte, from there on.
    fn of(&mut self, group: (usize, usize), from: usize) -> usize {
        let texts = &self.texts[group.0..group.1];
        if let [text] = texts {
            return (text.len() - from).div_ceil(self.length);
        }
        if let Some(rows) = self.known.get(&(group, from)) {
            return *rows;
        }
        let common = common(texts);
        let mut rows = self.pieces(group, from);
        if common > from && common - from < self.length {
            rows = rows.min(1 + self.pieces(group, common));
        }
        self.known.insert((group, from), rows);
        rows
    }

    /// The same with a first compare of as many bytes as all of them have, up to what a row compares.
    fn pieces(&mut self, (mut begin, end): (usize, usize), from: usize) -> usize {
        let texts = self.texts;
        // A text that ends here is no more to be compared.
        begin += usize::from(texts[begin].len() == from);
        if begin == end {
            return 0;
        }
        let to = texts[begin..end].iter().map(|text| text.len()).min().unwrap_or(from).min(from + self.length);
        let (mut keys, mut rows) = (0, 0);
        while begin < end {
            let key = &texts[begin][from..to];
            let same = texts[begin..end].partition_point(|text| &text[from..to] <= key);
            (keys, rows) = (keys + 1, rows + self.of((begin, begin + same), to));
            begin += same;
        }
        rows + self.row_count(keys)
    }

    /// Rows of so many alternatives: wide ones mostly have twice as many as would do if all were full.
    fn row_count(&self, keys: usize) -> usize {
        match keys.div_ceil(self.alternatives) {
            0 | 1 => 1,
            rows => 2 * rows.next_power_of_two(),
        }
    }
}
