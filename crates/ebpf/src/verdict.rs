//! What an XDP program says of a packet.

/// The five XDP verdicts; numbers as in `enum xdp_action`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// 0, and every fault and every r0 that is no verdict.
    Aborted = 0,
    /// 1.
    Drop = 1,
    /// 2.
    Pass = 2,
    /// 3.
    Tx = 3,
    /// 4.
    Redirect = 4,
}

impl Verdict {
    /// All, by number.
    pub const ALL: [Self; 5] = [Self::Aborted, Self::Drop, Self::Pass, Self::Tx, Self::Redirect];

    /// From the lower half of r0; what is no verdict aborts, as in the kernel's drivers.
    pub fn from_r0(r0: u64) -> Self {
        Self::ALL.get(r0 as u32 as usize).copied().unwrap_or(Self::Aborted)
    }

    /// Name in counters and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Aborted => "aborted",
            Self::Drop => "drop",
            Self::Pass => "pass",
            Self::Tx => "tx",
            Self::Redirect => "redirect",
        }
    }
}

/// Where a redirected packet goes; the last redirect helper that succeeded decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redirect {
    /// To an interface, by its index (`redirect`, or an entry of a devmap).
    Interface(u32),
    /// To every interface of a devmap, by `BPF_F_BROADCAST`.
    Broadcast {
        /// The devmap.
        map: crate::MapId,
        /// Not to the interface the packet came from.
        exclude_ingress: bool,
    },
    /// To a CPU's queue (cpumap).
    Cpu(u32),
    /// To the AF_XDP socket at this index of an XSKMAP.
    Socket {
        /// The map.
        map: crate::MapId,
        /// Index in it.
        index: u32,
    },
}
