//! A unit whose cycles are given away before they come.

/// Which cycles are taken. Who arrives takes the first free ones from then on, also before such that somebody has who arrives later.
#[derive(Clone, Debug, Default)]
pub struct Calendar {
    /// First cycle, and the one behind the last, rising.
    taken: Vec<(u64, u64)>,
    /// Things that it did.
    pub done: u64,
}

impl Calendar {
    /// Whether a cycle is taken.
    #[cfg(test)]
    fn is_taken(&self, at: u64) -> bool {
        self.taken.iter().any(|(from, to)| (*from..*to).contains(&at))
    }

    /// When it begins with what arrives then and takes so many cycles.
    pub fn begin(&mut self, arrives: u64, cycles: u64) -> u64 {
        self.done += 1;
        self.take(arrives, cycles)
    }

    /// Takes cycles for nothing that it does.
    pub fn take(&mut self, arrives: u64, cycles: u64) -> u64 {
        let (begins, place) = self.first(arrives, cycles);
        self.taken.insert(place, (begins, begins + cycles));
        begins
    }

    /// The first so many free cycles from then on, and their place among those that are taken.
    pub fn first(&self, arrives: u64, cycles: u64) -> (u64, usize) {
        let (mut begins, mut place) = (arrives, 0);
        for (from, to) in &self.taken {
            if begins + cycles <= *from {
                break;
            }
            begins = begins.max(*to);
            place += 1;
        }
        (begins, place)
    }

    /// Forgets what is over.
    pub fn forget(&mut self, now: u64) {
        self.taken.retain(|(_, to)| *to > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_arrives_before_another_one_goes_before_him_if_there_is_room() {
        let mut calendar = Calendar::default();
        assert_eq!(
            (calendar.begin(10, 5), calendar.begin(3, 7), calendar.begin(4, 1), calendar.begin(0, 3)),
            (10, 3, 15, 0)
        );
        assert!(calendar.is_taken(9) && calendar.is_taken(15) && !calendar.is_taken(16));
        calendar.forget(10);
        assert!(!calendar.is_taken(9) && calendar.is_taken(14));
        assert_eq!(calendar.done, 4);
    }
}
