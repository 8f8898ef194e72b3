//! What bundles cost in time: a model, which no RTL has shown yet.

/// What one packet, or several, executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Executed {
    /// Bundles.
    pub bundles: u64,
    /// Instructions in them that were not squashed.
    pub instructions: u64,
    /// Calls of helpers.
    pub helpers: u64,
    /// Loads, stores and atomics of map values and records.
    pub map_accesses: u64,
}

impl std::ops::AddAssign for Executed {
    fn add_assign(&mut self, other: Self) {
        self.bundles += other.bundles;
        self.instructions += other.instructions;
        self.helpers += other.helpers;
        self.map_accesses += other.map_accesses;
    }
}

/// Parameters of the cycle model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    /// Cycles from one bundle of a context to its next.
    pub bundle: u64,
    /// Further cycles of a map access or a helper.
    pub shared: u64,
    /// To load and unload a packet.
    pub packet: u64,
    /// Contexts of a core.
    pub contexts: u64,
}

impl Default for Cycles {
    fn default() -> Self {
        Self { bundle: 5, shared: 8, packet: 4, contexts: 8 }
    }
}

impl Cycles {
    /// Cycles of one packet alone on a core.
    pub fn latency(&self, executed: &Executed) -> u64 {
        let shared = executed.helpers + executed.map_accesses;
        self.packet + self.bundle * executed.bundles + self.shared * shared
    }

    /// Least cycles from one such packet to the next on a core whose contexts are all busy: one bundle issues a
    /// cycle. Nothing waits for a port or a map in this model.
    pub fn interval(&self, executed: &Executed) -> f64 {
        (self.latency(executed) as f64 / self.contexts as f64).max(executed.bundles as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_waits_for_its_bundles_and_a_core_for_its_contexts() {
        let executed = Executed { bundles: 10, instructions: 20, helpers: 1, map_accesses: 1 };
        let cycles = Cycles::default();
        assert_eq!(cycles.latency(&executed), 4 + 50 + 16);
        assert_eq!(cycles.interval(&executed), 10.0);
        assert_eq!(Cycles { contexts: 1, ..cycles }.interval(&executed), 70.0);
    }
}
