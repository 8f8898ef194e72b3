//! The model of the message table: which message a packet belongs to, and what has been decided of it.
//!
//! An entry lies in one of 4 ways of a set in each of two halves; a secret Toeplitz hash a half chooses the set. A message that begins gets
//! a place that was never used, else one of a finished message of its module, else of any finished message; among several
//! one of the half whose set has more that were never used, or in which fewer messages are on their way, and the first way of it. Messages that
//! are on their way keep theirs.

use crate::came::Came;
use sluice_formats::l7::rows::L7SecretRow;
use sluice_formats::l7::target::{TABLE_HASHES, TABLE_WAYS, Target};

/// Which message a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Whose it is.
    pub module: u8,
    /// IPv4 address of the sender.
    pub source: u32,
    /// UDP port of the sender.
    pub port: u16,
    /// Session of the sender.
    pub session: u32,
    /// Message ID.
    pub message: u32,
}

impl Key {
    /// As the hardware has it, 118 bits.
    fn bits(self) -> u128 {
        let high = u128::from(self.module) << 48 | u128::from(self.source) << 16 | u128::from(self.port);
        high << 64 | u128::from(self.session) << 32 | u128::from(self.message)
    }
}

/// Bit i is the parity of the key's bits and the secret's from i on.
pub fn toeplitz(key: u128, secret: u128, bits: u32) -> usize {
    (0..bits).map(|i| ((key & secret >> i).count_ones() as usize & 1) << i).sum()
}

/// The number of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(pub usize);

/// What becomes of a message's first packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// Its message has an entry now. The packet has come.
    Entered(Place),
    /// Its message has had one before.
    Known(Place),
    /// There is none.
    NoState,
}

/// A packet that says another number of packets than its message's first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message has {message} packets, the packet says {packet}")]
pub struct Contradicts {
    /// By the message's first packet.
    pub message: u8,
    /// By this one.
    pub packet: u8,
}

#[derive(Clone, Debug)]
struct Entry<D> {
    key: Key,
    packets: u8,
    came: Came,
    decision: Option<D>,
    /// It has a buffer that is in use.
    held: bool,
}

impl<D> Entry<D> {
    fn is_finished(&self) -> bool {
        !self.held && self.decision.is_some() && self.came.is_all(self.packets)
    }
}

/// The table of one engine. `D` is what is decided.
#[derive(Clone, Debug)]
pub struct Table<D> {
    /// By half, way and set.
    entries: Vec<Option<Entry<D>>>,
    secrets: [u128; TABLE_HASHES],
    quotas: Vec<u16>,
    messages: usize,
    /// Messages on their way by module.
    live: Vec<usize>,
    /// Entries of finished messages that others got.
    pub evicted: u64,
}

impl<D: Copy> Table<D> {
    /// After a reset: quotas are 0.
    pub fn new(target: &Target) -> Self {
        Self {
            entries: (0..target.entries).map(|_| None).collect(),
            secrets: [0xd0ca_2bcb_ae7b_30b4_77cb_2da3_8030_f20c, 0x6d5a_56da_255b_0ec2_4167_253d_43a3_8fb0],
            quotas: vec![0; target.modules],
            messages: target.messages,
            live: vec![0; target.modules],
            evicted: 0,
        }
    }

    /// Writes a secret, while no message is there.
    pub fn set_secret(&mut self, hash: usize, row: &L7SecretRow) {
        self.secrets[hash] = row.words.iter().rev().fold(0, |all, word| all << 32 | u128::from(*word));
    }

    /// Writes how many messages of a module may be on their way.
    pub fn set_quota(&mut self, module: u8, messages: u16) {
        self.quotas[usize::from(module)] = messages;
    }

    /// Messages that are on their way, of a module or of all.
    pub fn live(&self, module: Option<u8>) -> usize {
        module.map_or_else(|| self.live.iter().sum(), |module| self.live[usize::from(module)])
    }

    /// Changes an entry, and counts its message where it is on its way.
    fn change<T>(&mut self, place: Place, change: impl FnOnce(&mut Option<Entry<D>>) -> T) -> T {
        let count =
            |entry: &Option<Entry<D>>| entry.as_ref().filter(|e| !e.is_finished()).map(|e| usize::from(e.key.module));
        let before = count(&self.entries[place.0]);
        let changed = change(&mut self.entries[place.0]);
        let after = count(&self.entries[place.0]);
        if let Some(module) = before {
            self.live[module] -= 1;
        }
        if let Some(module) = after {
            self.live[module] += 1;
        }
        changed
    }

    /// How many entries there are.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The places that a key may have, in the order of their choice.
    fn places(&self, key: Key) -> impl Iterator<Item = Place> + use<D> {
        let sets = self.entries.len() / TABLE_HASHES / TABLE_WAYS;
        let secrets = self.secrets;
        (0..TABLE_HASHES * TABLE_WAYS)
            .map(move |choice| Place(choice * sets + toeplitz(key.bits(), secrets[choice / TABLE_WAYS], sets.ilog2())))
    }

    /// The entry of a message.
    pub fn find(&self, key: Key) -> Option<Place> {
        self.places(key).find(|place| self.entries[place.0].as_ref().is_some_and(|entry| entry.key == key))
    }

    /// The first packet of a message comes.
    pub fn begin(&mut self, key: Key, packets: u8) -> Begun {
        if let Some(place) = self.find(key) {
            return Begun::Known(place);
        }
        if self.live(Some(key.module)) >= usize::from(self.quotas[usize::from(key.module)])
            || self.live(None) >= self.messages
        {
            return Begun::NoState;
        }
        let rank = |place: &Place| match &self.entries[place.0] {
            None => 0,
            Some(entry) if !entry.is_finished() => 3,
            Some(entry) if entry.key.module == key.module => 1,
            Some(_) => 2,
        };
        let choices: Vec<Place> = self.places(key).collect();
        let unused = choices.iter().any(|place| rank(place) == 0);
        // What a half's set has of those that do not count as free: both halves fill alike.
        let taken = |half: &[Place]| half.iter().filter(|place| rank(place) >= if unused { 1 } else { 3 }).count();
        let mut free: Vec<(u8, usize, Place)> = Vec::new();
        for half in choices.chunks(TABLE_WAYS) {
            free.extend(half.iter().map(|place| (rank(place), taken(half), *place)));
        }
        free.retain(|(rank, ..)| *rank < 3);
        // The first of the least: `min_by_key` gives that.
        let Some(&(_, _, place)) = free.iter().min_by_key(|(rank, taken, _)| (*rank, *taken)) else {
            return Begun::NoState;
        };
        let entry = Entry { key, packets, came: Came::first(), decision: None, held: false };
        let before = self.change(place, |place| place.replace(entry));
        self.evicted += u64::from(before.is_some());
        Begun::Entered(place)
    }

    /// A packet of a message that has an entry comes; gives what has been decided of it.
    pub fn join(&mut self, place: Place, packets: u8, number: u8) -> Result<Option<D>, Contradicts> {
        self.change(place, |entry| {
            let Some(entry) = entry else { return Ok(None) };
            if entry.packets != packets {
                return Err(Contradicts { message: entry.packets, packet: packets });
            }
            entry.came.add(number);
            Ok(entry.decision)
        })
    }

    /// A message has a buffer, or has one no more.
    pub fn hold(&mut self, place: Place, held: bool) {
        self.change(place, |entry| {
            if let Some(entry) = entry {
                entry.held = held;
            }
        });
    }

    /// An entry is given back: nobody finds it any more.
    pub fn forget(&mut self, place: Place) {
        self.change(place, |entry| *entry = None);
    }

    /// Whether a message's entry may have found no room: with so many messages of its module, and of all, that are finished here and may not
    /// be where the table is. Its own entry does not count.
    pub fn may_be_full(&self, place: Place, late: (usize, usize)) -> bool {
        let Some(entry) = &self.entries[place.0] else { return true };
        let own = usize::from(!entry.is_finished());
        let live = |module| self.live(module) - own;
        let quota = usize::from(self.quotas[usize::from(entry.key.module)]);
        live(Some(entry.key.module)) + late.0 >= quota
            || live(None) + late.1 >= self.messages
            || self.places(entry.key).all(|place| self.entries[place.0].is_some())
    }

    /// A message is decided.
    pub fn decide(&mut self, place: Place, decision: D) {
        self.change(place, |entry| {
            if let Some(entry) = entry {
                entry.decision = Some(decision);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::l7::target::{DEFAULT, TINY};
    use sluice_formats::random::{Rng, test_seed};

    fn key(module: u8, message: u32) -> Key {
        Key { module, source: 0x0a00_0001, port: 40_000, session: 0, message }
    }

    fn table(target: &Target) -> Table<u8> {
        let mut table = Table::new(target);
        (0..target.modules).for_each(|m| table.set_quota(m as u8, target.messages as u16));
        table
    }

    fn entered(table: &mut Table<u8>, key: Key, packets: u8) -> Place {
        match table.begin(key, packets) {
            Begun::Entered(place) => place,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn later_packets_follow_the_first_also_late_ones() {
        let mut table = table(&TINY);
        assert_eq!(table.find(key(1, 5)), None);
        let place = entered(&mut table, key(1, 5), 3);
        assert_eq!(table.join(place, 3, 2), Ok(None));
        table.decide(place, 7);
        assert_eq!(table.live(None), 1);
        assert_eq!(table.join(place, 3, 1), Ok(Some(7)));
        assert_eq!((table.live(None), table.find(key(1, 5))), (0, Some(place)));
        assert_eq!(table.begin(key(1, 5), 3), Begun::Known(place));
        assert_eq!(table.join(place, 3, 0), Ok(Some(7)));
        assert_eq!(table.find(key(2, 5)), None);
    }

    #[test]
    fn a_packet_with_another_count_is_refused_and_does_not_count() {
        let mut table = table(&TINY);
        let place = entered(&mut table, key(1, 5), 2);
        table.decide(place, 7);
        assert_eq!(table.join(place, 3, 1), Err(Contradicts { message: 2, packet: 3 }));
        assert_eq!(table.live(None), 1);
    }

    #[test]
    fn a_module_has_its_quota_and_nobody_evicts_what_is_on_its_way() {
        let mut table = table(&TINY);
        table.set_quota(1, 3);
        let places: Vec<_> = (0..3).map(|m| entered(&mut table, key(1, m), 2)).collect();
        assert_eq!(table.begin(key(1, 9), 2), Begun::NoState);
        entered(&mut table, key(2, 9), 2);
        table.decide(places[0], 1);
        assert_eq!(table.begin(key(1, 9), 2), Begun::NoState);
        table.join(places[0], 2, 1).unwrap();
        entered(&mut table, key(1, 9), 2);
        for message in 0..2_000 {
            let place = entered(&mut table, key(3, message), 1);
            table.decide(place, 0);
        }
        assert!(table.evicted > 1_000);
        assert_eq!((1..3).map(|m| table.find(key(1, m))).collect::<Vec<_>>(), [Some(places[1]), Some(places[2])]);
    }

    #[test]
    fn finished_entries_of_the_own_module_go_first() {
        let mut table = table(&TINY);
        // All places belong to finished messages, of two modules in turn.
        let mut message = 0;
        while table.entries.iter().any(Option::is_none) {
            if let Begun::Entered(place) = table.begin(key(1 + (message % 2) as u8, message), 1) {
                table.decide(place, 0);
            }
            message += 1;
        }
        let count = |table: &Table<u8>| table.entries.iter().flatten().filter(|e| e.key.module == 1).count();
        let (before, mut others) = (count(&table), 0);
        for message in message..message + 50 {
            let own = table.places(key(1, message)).any(|p| table.entries[p.0].as_ref().unwrap().key.module == 1);
            let place = entered(&mut table, key(1, message), 1);
            table.decide(place, 0);
            others += usize::from(!own);
        }
        assert_eq!(count(&table), before + others);
    }

    /// The advice: 2,048 places refuse none of 2,020,480 inserts with 512 live messages. `make long` could take more rounds.
    #[test]
    fn with_as_many_messages_as_there_may_be_every_new_one_finds_a_place() {
        let mut rng = Rng::new(test_seed("l7_table"));
        let mut table = table(&DEFAULT);
        let mut live = Vec::new();
        for message in 0..6_000 {
            if live.len() == DEFAULT.messages {
                let place = live.swap_remove(rng.index(live.len()));
                table.decide(place, 0);
            }
            let key = Key { source: rng.next_u32(), ..key((message % 64) as u8, message) };
            live.push(entered(&mut table, key, 1));
        }
        assert!(table.evicted > 1_000);
    }
}
