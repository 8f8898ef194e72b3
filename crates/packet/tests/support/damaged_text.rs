//! Texts of a language, damaged at random: for fuzzers of readers.

use sluice_formats::random::Rng;

/// Words of a text, with what stands between them.
fn words(text: &[u8], word: fn(u8) -> bool) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for &b in text {
        match all.last_mut() {
            Some(last) if last.last().is_some_and(|l| word(*l) && word(b)) => last.push(b),
            _ => all.push(vec![b]),
        }
    }
    all
}

/// One of the texts with some of its words changed, moved or left out; `word` says what belongs to a word.
pub fn damaged(rng: &mut Rng, all: &[Vec<u8>], word: fn(u8) -> bool) -> Vec<u8> {
    let mut pieces = words(&all[rng.index(all.len())], word);
    let others = words(&all[rng.index(all.len())], word);
    for _ in 0..rng.range(1, 4) {
        let at = rng.index(pieces.len());
        match rng.below(6) {
            0 => pieces.truncate(at + 1),
            1 => drop(pieces.remove(at)),
            2 => pieces[at] = others[rng.index(others.len())].clone(),
            3 => pieces.insert(at, others[rng.index(others.len())].clone()),
            4 => pieces[at] = format!("{}", rng.next_u64() >> rng.below(64)).into_bytes(),
            _ => {
                let bytes = rng.range(1, 4) as usize;
                pieces[at] = rng.bytes(bytes);
            }
        }
        if pieces.is_empty() {
            break;
        }
    }
    pieces.concat()
}
