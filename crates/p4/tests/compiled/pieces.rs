//! Programs written as the pieces of a frame, each run on several places. What is accepted gives the packets of the reference.

use crate::compare::{Came, Place, run};

/// Names of places in a frame, with the text for each.
pub type Pieces = &'static [(&'static str, &'static str)];

macro_rules! program {
    ($($piece:ident: $text:literal),* $(,)?) => { &[$((stringify!($piece), $text)),*] };
}
pub(crate) use program;

/// Runs programs, or the one that SLUICE_SAMPLE names, and counts those that are accepted: at least so many. `whole` gives a
/// program's text and its entries.
pub fn all_agree(
    programs: &[Pieces],
    whole: fn(Pieces) -> (String, String),
    places: &[(&str, Place)],
    packets: &[(u16, Vec<u8>)],
    least: usize,
) {
    let only = std::env::var("SLUICE_SAMPLE").ok().and_then(|text| text.parse::<usize>().ok());
    let (mut wrong, mut agreed) = (Vec::new(), 0);
    for (number, pieces) in programs.iter().enumerate().filter(|(number, _)| only.is_none_or(|only| only == *number)) {
        let (text, entries) = whole(pieces);
        for (name, place) in places {
            match run(&text, &entries, *place, packets) {
                Came::Agreed(sent) => {
                    assert!(sent > 0, "{text}");
                    agreed += 1;
                }
                Came::Refused(why) => println!("{number} {name} refused: {why}"),
                other => wrong.push(format!("{number} {name}: {other:?}\n{pieces:?}")),
            }
        }
    }
    println!("{agreed} agreed");
    // What is refused shows nothing.
    assert!(only.is_some() || agreed >= least, "{agreed} agreed");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
