//! What an object needs from the tenant that runs it.

use crate::destination::{Destination, Destinations};
use crate::error::{ObjectError, bad};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sluice_formats::limits::{COST_FRACTION_BITS, MIN_FRAME_BYTES, TICK_PS};
use sluice_formats::rows::RateRow;
use std::collections::BTreeMap;
use std::fmt;

/// Destinations with cells each.
pub type Queues = BTreeMap<Destination, u16>;

/// Least resources an object runs with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Demands {
    /// Entries of one generation. Room for a replacement is reserved beside them, so that
    /// the table holds twice as many rows.
    pub entries: u32,
    /// Destinations it may use, with the cells it needs at each.
    #[serde(deserialize_with = "queues")]
    pub queues: Queues,
    /// Scheduling weight in bytes; 0 takes any.
    #[serde(default)]
    pub quantum: u16,
    /// Rate it needs; none takes any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

impl Demands {
    /// Destinations it may use.
    pub fn destinations(&self) -> Destinations {
        self.queues.keys().copied().collect()
    }
}

/// A map of destinations, each once.
pub(crate) fn queues<'de, D: Deserializer<'de>>(d: D) -> Result<Queues, D::Error> {
    struct QueuesVisitor;
    impl<'de> Visitor<'de> for QueuesVisitor {
        type Value = Queues;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("destinations with cells, as in {\"port0\": 64}")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Queues, A::Error> {
            let mut all = Queues::new();
            while let Some((destination, cells)) = map.next_entry::<Destination, u16>()? {
                if all.insert(destination, cells).is_some() {
                    return Err(de::Error::custom(format!("{destination} stands twice, once is allowed")));
                }
            }
            Ok(all)
        }
    }
    d.deserialize_map(QueuesVisitor)
}

/// A rate limit as people give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Long-run rate, counted over frames without the tag that ingress took off.
    pub bits_per_second: u64,
    /// Bytes that may come at once.
    pub burst_bytes: u32,
}

const MAX_COST: u128 = (1 << 24) - 1;

impl Rate {
    /// Lowest rate that a rate row expresses.
    pub fn lowest() -> u64 {
        Self::scaled_byte().div_ceil(MAX_COST) as u64
    }

    /// Highest rate that a rate row expresses: what is above it would be no other row.
    pub fn highest() -> u64 {
        u64::try_from(Self::scaled_byte()).unwrap_or(u64::MAX)
    }

    /// Ticks a byte takes at one bit per second, with the row's fraction bits.
    fn scaled_byte() -> u128 {
        let ticks_per_second = 1_000_000_000_000 / u128::from(TICK_PS);
        (8 * ticks_per_second) << COST_FRACTION_BITS
    }

    /// Burst from which on TCP comes near the rate: what is on its way within 100 ms, and no less than twice the 64 KiB
    /// that a host hands to its NIC at once (docs/guide/nic-toml.md).
    pub fn burst_of_tcp(&self) -> u64 {
        (self.bits_per_second / 80).max(2 * 65536)
    }

    /// The row. The cost is rounded up, so that the rate is never above what is asked.
    pub fn row(&self) -> Result<RateRow, ObjectError> {
        if !(Self::lowest()..=Self::highest()).contains(&self.bits_per_second) {
            let allowed = format!("{} to {}, or no rate for no limit", Self::lowest(), Self::highest());
            return Err(bad("rate.bits_per_second", self.bits_per_second, allowed));
        }
        if self.burst_bytes < MIN_FRAME_BYTES {
            let allowed = format!("{MIN_FRAME_BYTES} and more: no frame is shorter, and none would ever pass");
            return Err(bad("rate.burst_bytes", self.burst_bytes, allowed));
        }
        let cost = Self::scaled_byte().div_ceil(u128::from(self.bits_per_second));
        let burst = (u128::from(self.burst_bytes) * cost) >> COST_FRACTION_BITS;
        match u32::try_from(burst) {
            Ok(burst) => Ok(RateRow { cost_per_byte: cost as u32, burst }),
            Err(_) => {
                let most = (u128::from(u32::MAX) << COST_FRACTION_BITS) / cost;
                Err(bad("rate.burst_bytes", self.burst_bytes, format!("at most {most} at this rate")))
            }
        }
    }
}

/// What state outlives a replacement of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survives {
    /// Table entries, those inserted at run time too.
    pub table: bool,
    /// Counters of the module.
    pub counters: bool,
}

impl Survives {
    /// What version 1 does: the new object brings its table, the counters go on.
    pub const VERSION_1: Survives = Survives { table: false, counters: true };

    pub(crate) fn check(&self) -> Result<(), ObjectError> {
        if *self == Self::VERSION_1 {
            return Ok(());
        }
        let found = format!("table {}, counters {}", self.table, self.counters);
        Err(bad("survives", found, "table false, counters true"))
    }
}
