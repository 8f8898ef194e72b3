//! An XDP program as a device takes it.

use super::Xdp;
use super::binary::{read_xdp, write_xdp};
use super::part::MAX_PROGRAMS;
use crate::bytes::{Reader, Writer, wrong};
use crate::destination::{Destination, Destinations};
use crate::error::{ObjectError, bad};
use crate::install::Installed;
use serde::{Deserialize, Serialize};
use sluice_formats::EngineId;
use sluice_formats::xdp::target::{MOST_GROWTH, MOST_WORK};
use std::collections::BTreeMap;

/// Code of `pass` where the engine before the program says where packets go.
const NO_PASS: u8 = 0xff;
/// In the count of kept maps: the most work follows it.
const HAS_WORK: u32 = 1 << 31;
/// In the same: first rows of programs follow.
const HAS_STARTS: u32 = 1 << 30;
/// In the same: the most growth of a frame follows the work.
const HAS_GROWTH: u32 = 1 << 29;

/// An XDP program with its place on a NIC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlacedXdp {
    /// Programs and maps.
    pub xdp: Xdp,
    /// Maps that are not made anew, by position, with the position that each has in the program
    /// of the other generation.
    pub kept: BTreeMap<u32, u32>,
    /// Where `XDP_PASS` goes; without it where the rmt program has sent the packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<Destination>,
    /// Where the program may send.
    pub granted: Destinations,
    /// Most taken back edges and calls of a packet; without it what the device takes for granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<u32>,
    /// Bytes by which a frame may become longer at most; without it what the packet's buffer has room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<u16>,
    /// First row of each program in the instruction memory of an engine in hardware, by position; empty where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<u16>,
}

impl Installed for PlacedXdp {
    const ENGINE: EngineId = EngineId::XDP;

    fn check(&self) -> Result<(), ObjectError> {
        self.xdp.check()?;
        if let Some(work) = self.work.filter(|work| !(1..=MOST_WORK).contains(work)) {
            return Err(bad("work", work, format!("1 to {MOST_WORK}")));
        }
        if let Some(growth) = self.growth.filter(|growth| *growth > MOST_GROWTH) {
            return Err(bad("growth", growth, format!("0 to {MOST_GROWTH}")));
        }
        if !self.starts.is_empty() && self.starts.len() != self.xdp.programs.len() {
            return Err(bad("starts", self.starts.len(), format!("one a program: {}", self.xdp.programs.len())));
        }
        match self.kept.keys().find(|map| !self.xdp.keeps(**map as usize)) {
            Some(map) => Err(bad("kept", format!("map {map}"), "maps that ask to be kept")),
            None => Ok(()),
        }
    }

    fn write(&self, w: &mut Writer) {
        let PlacedXdp { xdp, kept, pass, granted, work, growth, starts } = self;
        w.put(&[pass.map_or(NO_PASS, Destination::code), granted.ports, granted.hosts]);
        let has_starts = if starts.is_empty() { 0 } else { HAS_STARTS };
        let has_growth = growth.map_or(0, |_| HAS_GROWTH);
        w.u32(kept.len() as u32 | work.map_or(0, |_| HAS_WORK) | has_growth | has_starts);
        if let Some(work) = work {
            w.u32(*work);
        }
        if let Some(growth) = growth {
            w.u32((*growth).into());
        }
        if !starts.is_empty() {
            w.u32(starts.len() as u32);
            starts.iter().for_each(|start| w.u32((*start).into()));
        }
        for (new, old) in kept {
            w.u32(*new);
            w.u32(*old);
        }
        write_xdp(w, xdp);
    }

    fn read(r: &mut Reader) -> Result<Self, ObjectError> {
        let at = r.at();
        let [pass, ports, hosts] = r.array("destinations")?;
        let pass = match pass {
            NO_PASS => None,
            code => Some(
                Destination::from_code(code)
                    .ok_or_else(|| wrong(at, format!("destination {code}"), "0 to 15, or 255 for none"))?,
            ),
        };
        let mut kept = BTreeMap::new();
        let at = r.at();
        let count = r.u32("kept maps")?;
        let work = (count & HAS_WORK != 0).then(|| r.u32("most work of a packet")).transpose()?;
        let mut growth = None;
        if count & HAS_GROWTH != 0 {
            let at = r.at();
            let bytes = r.u32("most growth of a frame")?;
            growth = Some(u16::try_from(bytes).map_err(|_| wrong(at, bytes, format!("0 to {MOST_GROWTH}")))?);
        }
        let mut starts = Vec::new();
        if count & HAS_STARTS != 0 {
            let at = r.at();
            let programs = r.u32("first rows of programs")?;
            if !(1..=MAX_PROGRAMS as u32).contains(&programs) {
                return Err(wrong(at, format!("{programs} first rows of programs"), format!("1 to {MAX_PROGRAMS}")));
            }
            for _ in 0..programs {
                let at = r.at();
                let start = r.u32("first row of a program")?;
                starts.push(u16::try_from(start).map_err(|_| wrong(at, start, "0 to 65535"))?);
            }
        }
        let (count, room) = ((count & !(HAS_WORK | HAS_GROWTH | HAS_STARTS)) as usize, r.left() / 8);
        if count > room {
            let allowed = format!("at most {room}, which the section has room for");
            return Err(wrong(at, format!("{count} kept maps"), allowed));
        }
        for _ in 0..count {
            let at = r.at();
            let [new, old] = [r.u32("map")?, r.u32("map of the program before")?];
            if kept.last_key_value().is_some_and(|(last, _)| *last >= new) {
                return Err(wrong(at, new, "maps in rising order, each once"));
            }
            kept.insert(new, old);
        }
        let granted = Destinations { ports, hosts };
        Ok(PlacedXdp { xdp: read_xdp(r)?, kept, pass, granted, work, growth, starts })
    }
}
