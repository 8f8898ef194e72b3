//! Events that programs on the engine told.

use super::engine::Engine;
use super::pair::Pair;
use sluice_ebpf::analysis::{print_formats, written};
use sluice_ebpf::world::Event;
use sluice_formats::Table;
use sluice_formats::row::Row;
use sluice_formats::xdp::codes::XdpEventKind;
use sluice_formats::xdp::rows::{XdpEventsRow, XdpEventsTakenRow};
use sluice_formats::xdp::target::EVENT_WORDS;
use sluice_rtlsim::xdp::events::{Told, told};

/// What a module's ring says of itself.
pub fn ring(engine: &mut Engine, module: u8) -> XdpEventsRow {
    XdpEventsRow::unpack(&engine.read(Table::XdpEvents, module.into())).unwrap()
}

/// Takes all events of a module, as a host does.
pub fn take(engine: &mut Engine, module: u8) -> Vec<Told> {
    let produced = ring(engine, module).produced;
    let row = engine.read(Table::XdpEventsTaken, module.into());
    let taken = XdpEventsTakenRow::unpack(&row).unwrap().taken;
    let places = 2 * EVENT_WORDS as u16;
    let count = produced.wrapping_sub(taken) % places;
    assert!(usize::from(count) <= EVENT_WORDS);
    let mut words = Vec::new();
    for place in (0..count).map(|n| u32::from(taken + n) % EVENT_WORDS as u32) {
        let row = engine.read(Table::XdpEventData, u32::from(module) * EVENT_WORDS as u32 + place);
        words.push(u64::from(row[0]) | u64::from(row[1]) << 32);
    }
    engine.write(Table::XdpEventsTaken, module.into(), &XdpEventsTakenRow { taken: produced });
    told(&words).unwrap_or_else(|e| panic!("{e}: {words:x?}"))
}

/// What an event of a pair's program is to the interpreter, the processor left out.
pub fn plain(pair: &Pair, told: &Told) -> Event {
    let map = || pair.map(usize::from(told.channel));
    match told.kind {
        XdpEventKind::Print => {
            let format = print_formats(&pair.image)[usize::from(told.channel)].clone().expect("a format");
            Event::Trace(written(&format, &told.numbers()).expect("numbers"))
        }
        XdpEventKind::Perf => Event::Perf { map: map(), cpu: 0, data: told.data.clone() },
        XdpEventKind::Ring => Event::Ring { map: map(), data: told.data.clone() },
    }
}
