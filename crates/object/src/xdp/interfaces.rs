//! Interface indices of a program's ports, and where a redirect to all entries of a devmap goes.

use crate::destination::Destination;
use sluice_formats::Target;
use std::collections::BTreeMap;

/// The index of a port: the one that the program has given it, else its number and 1. A port whose number and 1 was given to another has none, 0.
pub fn ifindex_of(port: u8, given: &BTreeMap<u32, u8>) -> u32 {
    let own = u32::from(port) + 1;
    let named = given.iter().find(|(_, named)| **named == port).map(|(index, _)| *index);
    named.unwrap_or(if given.contains_key(&own) { 0 } else { own })
}

/// The port with this index.
pub fn port_of(ifindex: u32, given: &BTreeMap<u32, u8>, target: &Target) -> Option<Destination> {
    let ports = 0..target.ports as u8;
    ports.filter(|_| ifindex != 0).find(|port| ifindex_of(*port, given) == ifindex).map(Destination::Port)
}

/// What the engine in hardware keeps of a devmap behind its last slot: a bit for each destination that an entry names.
///
/// Whoever changes an entry writes it anew, so that a packet which goes to all of them costs no walk through the map.
pub fn sent_to(named: impl IntoIterator<Item = u32>, given: &BTreeMap<u32, u8>, target: &Target) -> u8 {
    let bit = |ifindex| 1u8.checked_shl(port_of(ifindex, given, target)?.number(target)?.into());
    named.into_iter().filter_map(bit).fold(0, |all, bit| all | bit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::target::DEFAULT;

    #[test]
    fn an_index_is_that_of_one_port() {
        let given = BTreeMap::from([(40, 2), (2, 3)]);
        let all: Vec<u32> = (0..DEFAULT.ports as u8).map(|port| ifindex_of(port, &given)).collect();
        assert_eq!(all, [1, 0, 40, 2]);
        let ports = [0, 1, 2, 3, 4, 40].map(|index| port_of(index, &given, &DEFAULT));
        let port = |n| Some(Destination::Port(n));
        assert_eq!(ports, [None, port(0), port(3), None, None, port(2)]);
    }

    #[test]
    fn each_port_that_is_named_is_a_bit_and_other_interfaces_are_none() {
        let given = BTreeMap::from([(40, 2)]);
        assert_eq!(sent_to([0, 1, 1, 40, 2, 900, u32::MAX], &given, &DEFAULT), 0b111);
        assert_eq!(sent_to([], &given, &DEFAULT), 0);
    }
}
