//! What programs in hardware tell: the host empties the rings of modules whose programs tell events, every so often and when it is asked.

use crate::device::RtlNic;
use crate::xdp::events::{Told, told};
use sluice_device::{DeviceError, ProgramEvent};
use sluice_ebpf::Image;
use sluice_ebpf::analysis::{print_formats, written};
use sluice_formats::row::Row;
use sluice_formats::xdp::codes::XdpEventKind;
use sluice_formats::xdp::rows::{XdpEventsRow, XdpEventsTakenRow};
use sluice_formats::xdp::target::EVENT_WORDS;
use sluice_formats::{Node, Table};
use std::collections::{BTreeMap, BTreeSet};

/// Ticks between two looks at a ring.
const PERIOD: u64 = 500;
/// Most events of a module that are kept until somebody takes them, as in the software NIC.
const MOST_KEPT: usize = 1 << 16;

/// What a program's events are about.
#[derive(Debug)]
struct Teller {
    maps: Vec<String>,
    formats: Vec<Option<Vec<u8>>>,
}

impl Teller {
    /// Of a program that tells events; none of others.
    fn of(image: &Image) -> Option<Self> {
        let formats = print_formats(image);
        let any = !formats.is_empty() || image.maps.iter().any(|map| map.kind.takes_events());
        any.then(|| Self { maps: image.maps.iter().map(|map| map.name.clone()).collect(), formats })
    }

    fn event(&self, told: Told) -> Option<ProgramEvent> {
        let map = || self.maps.get(usize::from(told.channel)).cloned();
        Some(match told.kind {
            XdpEventKind::Print => {
                let format = self.formats.get(usize::from(told.channel))?.as_ref()?;
                ProgramEvent::Trace { line: written(format, &told.numbers())? }
            }
            XdpEventKind::Perf => ProgramEvent::Perf { map: map()?, cpu: told.processor.into(), data: told.data },
            XdpEventKind::Ring => ProgramEvent::Ring { map: map()?, data: told.data },
        })
    }
}

/// Rings of all modules, as far as they were read.
#[derive(Debug, Default)]
pub(crate) struct HostEvents {
    /// By module and generation; a program that is gone is known until another one takes its place.
    tellers: BTreeMap<(u8, u8), Teller>,
    /// Modules with a program that tells events.
    modules: BTreeSet<u8>,
    /// How far rings were read, and how many events had found no room then. A ring outlives its module's programs.
    read: BTreeMap<u8, (u16, u32)>,
    kept: BTreeMap<u8, Vec<ProgramEvent>>,
    lost: BTreeMap<u8, u64>,
    /// Modules whose last program has gone: nobody reads what it told.
    left: BTreeSet<u8>,
    looked: u64,
    looking: bool,
}

impl HostEvents {
    /// A module's program of a generation is this one, or none. The module has none left, if `last`.
    pub fn install(&mut self, module: u8, generation: u8, image: Option<&Image>, last: bool) {
        match image {
            Some(image) => {
                if let Some(teller) = Teller::of(image) {
                    self.tellers.insert((module, generation & 1), teller);
                    self.modules.insert(module);
                }
            }
            None if last && self.modules.remove(&module) => {
                self.left.insert(module);
                self.kept.remove(&module);
                self.lost.remove(&module);
            }
            None => {}
        }
    }

    fn keep(&mut self, module: u8, told: Vec<Told>) {
        let kept = self.kept.entry(module).or_default();
        for told in told {
            let event = self.tellers.get(&(module, told.generation)).and_then(|teller| teller.event(told));
            match event.filter(|_| kept.len() < MOST_KEPT) {
                Some(event) => kept.push(event),
                None => *self.lost.entry(module).or_default() += 1,
            }
        }
    }
}

impl RtlNic {
    /// Looks at the rings if it is time to: between two steps of the simulation.
    pub(crate) fn look_at_events(&mut self) -> Result<(), DeviceError> {
        let now = sluice_device::Device::now(self);
        let events = self.events_mut();
        if events.looking || (events.left.is_empty() && (events.modules.is_empty() || now < events.looked + PERIOD)) {
            return Ok(());
        }
        (events.looking, events.looked) = (true, now);
        let modules: Vec<u8> = events.modules.iter().copied().collect();
        let left = std::mem::take(&mut events.left);
        let done = left
            .into_iter()
            .try_for_each(|module| self.read_ring(module, false))
            .and_then(|()| modules.into_iter().try_for_each(|module| self.read_ring(module, true)));
        self.events_mut().looking = false;
        done
    }

    /// Takes all that is in a module's ring, to keep or to forget it.
    fn read_ring(&mut self, module: u8, keep: bool) -> Result<(), DeviceError> {
        let row = sluice_device::Device::read_row(self, Node::Xdp, Table::XdpEvents, module.into())?;
        let unpacked = |e: sluice_formats::row::RowError| DeviceError::Unavailable(e.to_string());
        let XdpEventsRow { produced, lost, .. } = XdpEventsRow::unpack(&row).map_err(unpacked)?;
        let (taken, lost_before) = self.events_mut().read.insert(module, (produced, lost)).unwrap_or_default();
        let words = EVENT_WORDS as u16;
        let count = u32::from(produced.wrapping_sub(taken) % (2 * words));
        if count > 0 {
            // Up to the ring's end, and from its beginning on.
            let (base, begin) = (u32::from(module) * u32::from(words), u32::from(taken % words));
            let first = count.min(u32::from(words) - begin);
            let mut rows = self.read_rows(Node::Xdp, Table::XdpEventData, base + begin..base + begin + first)?;
            rows.extend(self.read_rows(Node::Xdp, Table::XdpEventData, base..base + count - first)?);
            let taken = XdpEventsTakenRow { taken: produced }.pack().map_err(unpacked)?;
            self.write_row(Node::Xdp, Table::XdpEventsTaken, module.into(), taken)?;
            let word = |row: &Vec<u32>| row.iter().rev().fold(0, |word, half| word << 32 | u64::from(*half));
            let told = told(&rows.iter().map(word).collect::<Vec<u64>>()).map_err(DeviceError::Unavailable)?;
            if keep {
                self.events_mut().keep(module, told);
            }
        }
        if keep {
            *self.events_mut().lost.entry(module).or_default() += u64::from(lost.wrapping_sub(lost_before));
        }
        Ok(())
    }

    /// Takes what a module's programs told until now.
    pub(crate) fn told(&mut self, module: u8) -> Result<Vec<ProgramEvent>, DeviceError> {
        if self.events_mut().modules.contains(&module) && !self.events_mut().looking {
            self.events_mut().looking = true;
            let read = self.read_ring(module, true);
            self.events_mut().looking = false;
            read?;
        }
        let events = self.events_mut();
        let mut told = events.kept.remove(&module).unwrap_or_default();
        let lost = events.lost.remove(&module).filter(|lost| *lost > 0);
        told.extend(lost.map(|events| ProgramEvent::Lost { events }));
        Ok(told)
    }
}
