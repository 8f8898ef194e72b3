//! As many messages as may be on their way find places in the message table, whoever sends them. The table is the model's; the lockstep
//! tests show that the RTL's gives the same places.

use sluice_formats::l7::rows::L7SecretRow;
use sluice_formats::l7::target::{DEFAULT, Target};
use sluice_formats::random::{Rng, test_is_long, test_seed};
use sluice_l7::table::{Begun, Key, Place, Table};

/// Messages that begin while all others are on their way; a run of full length has a million of them.
fn tries() -> u32 {
    if test_is_long() { 1_000_000 } else { 20_000 }
}

/// Messages that found no place, of so many that begin while `live` others are on their way.
fn refused(target: &Target, live: usize, tries: u32, rng: &mut Rng) -> u32 {
    let mut table: Table<u8> = Table::new(target);
    for module in 0..target.modules as u8 {
        table.set_quota(module, target.messages as u16);
    }
    for hash in 0..2 {
        table.set_secret(hash, &L7SecretRow { words: std::array::from_fn(|_| rng.next_u32()) });
    }
    let (mut open, mut refused, mut message): (Vec<Place>, _, _) = (Vec::new(), 0, 0);
    for _ in 0..tries + live as u32 {
        // Few senders that count their messages, as those of a service do, and many that do not.
        message += 1;
        let module = 1 + rng.below(16) as u8;
        let key = if rng.chance(1, 2) {
            Key { module, source: 0x0a00_0000 | rng.below(8) as u32, port: 40_000, session: 0, message }
        } else {
            let (source, port, session) = (rng.next_u32(), rng.next_u32() as u16, rng.next_u32());
            Key { module, source, port, session, message: rng.next_u32() }
        };
        match table.begin(key, 1) {
            Begun::Entered(place) => open.push(place),
            Begun::Known(_) => {}
            Begun::NoState => refused += 1,
        }
        if open.len() > live {
            table.decide(open.swap_remove(rng.index(open.len())), 0);
        }
    }
    refused
}

#[test]
fn all_messages_in_flight_find_places() {
    let mut rng = Rng::new(test_seed("l7_places"));
    let refused = refused(&DEFAULT, DEFAULT.messages - 1, tries(), &mut rng);
    println!("{} messages, {refused} without a place", tries());
    assert_eq!(refused, 0);
}

/// That the test above can fail: a table of half as many places refuses some.
#[test]
fn half_as_many_places_are_too_few() {
    let mut rng = Rng::new(test_seed("l7_places_half"));
    let half = Target { entries: DEFAULT.entries / 2, ..DEFAULT };
    assert!(refused(&half, half.messages - 1, 20_000, &mut rng) > 0);
}
