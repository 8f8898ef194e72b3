//! Fuzzers, each for `SLUICE_FUZZ_SECONDS` (1 when not set): no input panics.

use arbtest::arbitrary::{Result, Unstructured};
use sluice_device::{Device, Event, Offer, Outcome, Verdict};
use sluice_device::{Frame, Packet, Passed, Route};
use sluice_formats::{Node, Status, Table, Target, address::Access, target};
use sluice_nic::{DataPlane, SoftwareNic, Tables, engines, forward};

fn fuzz(name: &str, property: impl FnMut(&mut Unstructured<'_>) -> Result<()>) {
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("{name}: {seconds} s; arbtest prints the seed of a failure");
    arbtest::arbtest(property).budget_ms(1000 * seconds).run();
}

fn any_target(u: &mut Unstructured<'_>) -> Result<Target> {
    Ok(*u.choose(&target::ALL)?)
}

/// A row of any writable table, often with every bit free, always one that exists.
fn any_write(u: &mut Unstructured<'_>, target: &Target) -> Result<(Node, Table, u32, Vec<u32>)> {
    let node = *u.choose(&Node::all(target))?;
    let tables: Vec<Table> =
        Table::ALL.into_iter().filter(|t| t.is_of(node) && t.access() == Access::ReadWrite).collect();
    let table = *u.choose(&tables)?;
    let index = u.int_in_range(0..=table.rows(target) - 1)?;
    let words = (0..table.words()).map(|_| u.arbitrary()).collect::<Result<_>>()?;
    Ok((node, table, index, words))
}

/// A frame of any length that looks like something: tags, IPv4, or noise.
fn any_frame(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let length = match u.int_in_range(0..=3)? {
        0 => u.int_in_range(1..=80)?,
        1 => u.int_in_range(1..=1600)?,
        2 => *u.choose(&[13, 14, 15, 16, 17, 18, 33, 34, 37, 38, 41, 42, 9216, 9217, 16_383])?,
        _ => u.int_in_range(1..=16_383)?,
    };
    let mut bytes = vec![u.arbitrary()?; 12];
    for _ in 0..u.int_in_range(0..=2)? {
        bytes.extend(*u.choose(&[[0x81, 0x00], [0x88, 0xa8]])?);
        bytes.extend(u.arbitrary::<[u8; 2]>()?);
    }
    if u.ratio(3, 4)? {
        bytes.extend([0x08, 0x00, *u.choose(&[0x45, 0x45, 0x45, 0x46, 0x55])?, 0, 0, 0, 0, 0]);
        bytes.extend(*u.choose(&[[0, 0], [0x20, 0], [0, 1]])?);
        bytes.extend([64, *u.choose(&[6, 17, 1])?]);
        bytes.extend(u.arbitrary::<[u8; 14]>()?);
    }
    bytes.resize(length, u.arbitrary()?);
    Ok(bytes)
}

#[test]
fn fuzz_frames_and_tables() {
    fuzz("fuzz_frames_and_tables", |u| {
        let target = any_target(u)?;
        let mut tables = Tables::new(target, engines::all(&target));
        for _ in 0..u.int_in_range(0..=40)? {
            let (node, table, index, words) = any_write(u, &target)?;
            assert!(matches!(tables.write(node, table, index, &words), Status::Ok), "{node:?} {table:?} {index}");
        }
        let bytes = any_frame(u)?;
        let port = u.int_in_range(0..=target.ports as u8 - 1)?;
        let classified = forward::classify(port, &bytes, u.arbitrary()?, &tables);
        assert!(u32::from(classified.owner) < target.modules);
        let Ok(accepted) = classified.result else { return Ok(()) };
        let frame = Frame::new(bytes.clone(), accepted.tag_off);
        assert_eq!(frame.clone().into_port(accepted.tci), bytes, "a tag taken off goes back");
        let length = frame.bytes().len() as u32;
        let conform = forward::conforms(&mut tables, accepted.module, u.arbitrary()?, length);
        let mut packet = Packet {
            id: 0,
            port,
            module: accepted.module,
            tenant: accepted.tenant,
            tci: accepted.tci,
            stamped: tables.enter(accepted.module),
            arrival: u.arbitrary()?,
            stamp: u.arbitrary()?,
            first_in: 0,
            conform,
            frame,
            route: Route::default(),
            given: Vec::new(),
        };
        match tables.engines_mut().run(&mut packet) {
            Passed::Through => assert!(conform && packet.route.destinations != 0),
            passed => assert!(matches!(passed, Passed::Dropped(_)), "{passed:?}"),
        }
        Ok(())
    });
}

#[test]
fn fuzz_words_on_the_tables() {
    fuzz("fuzz_words_on_the_tables", |u| {
        let target = any_target(u)?;
        let mut tables = Tables::new(target, engines::all(&target));
        let mut nodes = vec![Node::Port(u.arbitrary()?), Node::Stage(u.arbitrary()?)];
        nodes.extend(Node::all(&target));
        let (node, table) = (*u.choose(&nodes)?, *u.choose(&Table::ALL)?);
        let index = if u.ratio(1, 2)? { u.arbitrary()? } else { u.int_in_range(0..=63)? };
        let words: Vec<u32> = u.arbitrary()?;
        let status = tables.write(node, table, index, &words);
        if status == Status::Ok {
            assert_eq!(tables.row(node, table, index).map(|row| row.len()), Ok(table.words()));
        }
        Ok(())
    });
}

#[test]
fn fuzz_the_device_keeps_account_under_random_rows_and_frames() {
    fuzz("fuzz_the_device_keeps_account_under_random_rows_and_frames", |u| {
        let target = any_target(u)?;
        let mut nic: Box<dyn Device> =
            if u.ratio(1, 3)? { Box::new(SoftwareNic::new(target)) } else { Box::new(any_plane(u, target)?) };
        let mut offered = 0usize;
        let (mut first, mut more) = (0usize, 0u64);
        for _ in 0..u.int_in_range(1..=6)? {
            let mut load = sluice_nic::conformance::RawLoad::new(&target, "fuzz");
            for _ in 0..u.int_in_range(0..=12)? {
                let (node, table, index, words) = any_write(u, &target)?;
                // A held merge never comes to rest; it has a test of its own.
                if table != Table::Control {
                    load = load.step(sluice_object::Step::Write { node, table, index, words });
                }
            }
            let submitted = nic.submit(&load.load());
            // Several workers refuse state of the system module that comes late.
            assert!(submitted.is_ok() || submitted.is_err_and(|refused| refused.code() == "E0314"));
            for _ in 0..u.int_in_range(0..=6)? {
                let port = u.int_in_range(0..=target.ports as u8 - 1)?;
                nic.offer(&[Offer {
                    port,
                    bytes: any_frame(u)?,
                    at: u.arbitrary::<u8>()?.into(),
                    bad: u.ratio(1, 9)?,
                }])
                .unwrap();
                offered += 1;
            }
            nic.advance(u.arbitrary::<u8>()?.into()).unwrap();
            let counters = nic.counters().unwrap();
            assert!(counters.modules.values().all(|c| c.closes()), "{counters:?}");
        }
        nic.quiesce().unwrap();
        for event in nic.poll(usize::MAX) {
            if let Event::Outcome(outcome) = event {
                first += 1;
                assert_eq!(outcome.bytes.is_empty(), matches!(outcome.verdict, Verdict::Dropped { .. }));
            }
        }
        for c in nic.counters().unwrap().modules.values() {
            assert!(c.closes() && c.in_flight == 0, "{c:?}");
            more += c.copies;
        }
        assert_eq!(first as u64, offered as u64 + more, "an outcome for each packet and copy");
        Ok(())
    });
}

fn any_plane(u: &mut Unstructured<'_>, target: Target) -> Result<DataPlane> {
    Ok(DataPlane::with_workers(target, engines::ALL, u.int_in_range(1..=3)?))
}

/// Packets one at a time: the same becomes of each on both, whatever the rows. Rates are left out, for they are of time.
#[test]
fn fuzz_the_data_plane_is_the_model() {
    let (mut left, mut dropped) = (0, 0);
    fuzz("fuzz_the_data_plane_is_the_model", |u| {
        let target = any_target(u)?;
        let (mut model, mut plane) = (SoftwareNic::new(target), any_plane(u, target)?);
        let several = plane.workers() > 1;
        for _ in 0..u.int_in_range(1..=6)? {
            let mut load = sluice_nic::conformance::RawLoad::new(&target, "fuzz");
            for _ in 0..u.int_in_range(0..=40)? {
                let (node, table, index, words) = any_write(u, &target)?;
                // Where pages go from one module to another without being cleared, workers have other words in them.
                let left_out = matches!(table, Table::Control | Table::Rate) || several && table == Table::Page;
                if !left_out {
                    load = load.step(sluice_object::Step::Write { node, table, index, words });
                }
            }
            let load = load.load();
            for device in [&mut model as &mut dyn Device, &mut plane] {
                device.submit(&load).unwrap();
                device.quiesce().unwrap();
            }
            for _ in 0..u.int_in_range(0..=4)? {
                let port = u.int_in_range(0..=target.ports as u8 - 1)?;
                let offer = Offer { port, bytes: any_frame(u)?, at: 0, bad: u.ratio(1, 9)? };
                let seen = [&mut model as &mut dyn Device, &mut plane].map(|device| {
                    device.offer(std::slice::from_ref(&offer)).unwrap();
                    device.quiesce().unwrap();
                    let mut ends: Vec<_> = device.poll(usize::MAX).into_iter().filter_map(without_time).collect();
                    ends.sort_by_key(|end| format!("{:?}", end.verdict));
                    ends
                });
                left += usize::from(seen[0].iter().any(|end| !end.bytes.is_empty()));
                dropped += usize::from(seen[0].iter().any(|end| end.bytes.is_empty()));
                assert_eq!(seen[0], seen[1]);
            }
        }
        let counted = [&mut model as &mut dyn Device, &mut plane].map(|device| device.counters().unwrap().modules);
        assert_eq!(counted[0], counted[1]);
        assert_eq!(model.snapshot().unwrap(), plane.snapshot().unwrap());
        Ok(())
    });
    println!("{left} packets left, {dropped} were dropped");
}

/// What became of a packet, without the ticks at which it did.
fn without_time(event: Event) -> Option<Outcome> {
    let Event::Outcome(outcome) = event else { return None };
    Some(Outcome { stamp: None, first_in: None, first_out: None, last_out: None, ..outcome })
}
