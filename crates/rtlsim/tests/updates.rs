//! Updates of different engines do not wait for each other: while packets hold one tenant's rules, another's XDP program is replaced.

use crate::support;
use sluice_device::run_load::run_load;
use sluice_device::{Device, Event, Offer, OpId};
use sluice_formats::target::TINY;
use sluice_l7::message::{Addresses, frame};
use sluice_l7::object::object;
use sluice_l7::rules::read;
use sluice_nic::SoftwareNic;
use sluice_object::{Action, Destination, KeySpec, Linker, Object, PortSettings, TenantSpec, VlanGrant};
use sluice_rtlsim::{RtlNic, RtlOptions, Variant};

const HOST: Destination = Destination::Host(3);

fn rules(queue: u8) -> Object {
    let text = format!("application a {{ port 9000 id 1 default queue {queue} message m = 1 {{ }} }}\n");
    object("rules", &read("a.l7", &text).unwrap(), &TINY).unwrap()
}

fn xdp(verdict: u8) -> Object {
    crate::xdp::device::object("program", &format!("r0 = {verdict}\nexit\n"), Vec::new(), &[])
}

fn table(port: u8) -> Object {
    Object::new("to", KeySpec::NONE, Action::to([Destination::Port(port)]))
}

fn tenant(id: u16, vlan: u16, to: Destination, object: &Object) -> TenantSpec {
    let mut spec = TenantSpec::new(id, format!("tenant{id}"));
    spec.vlans = vec![VlanGrant { port: None, vlan }];
    spec.queues.insert(to, 180);
    if object.parts.xdp.is_none() {
        spec.make_room(object);
    }
    spec
}

/// Loads that have ended.
fn ended(nic: &mut dyn Device) -> Vec<OpId> {
    let done = |event| if let Event::OpDone { op, result } = event { Some((op, result)) } else { None };
    let ended: Vec<_> = nic.poll(usize::MAX).into_iter().filter_map(done).collect();
    ended.into_iter().map(|(op, result)| result.map(|()| op).unwrap()).collect()
}

/// Tenant 1 has rules, tenant 2 an XDP program, tenants 3 and 4 tables. Packets of tenant 1 wait behind a blocked queue.
fn check(nic: &mut dyn Device) {
    let kind = nic.capabilities().kind;
    let mut linker = Linker::of(&TINY, &nic.capabilities().engines, Some(sluice_hxdp::rows::compiler));
    let mut settings = linker.settings().clone();
    settings.ports[0] = PortSettings { untagged: Some(1), ..PortSettings::default() };
    let mut loads = vec![linker.admit(tenant(1, 10, HOST, &rules(1))).unwrap(), linker.load(1, &rules(0)).unwrap()];
    for (id, object) in [(2, xdp(1)), (3, table(1)), (4, table(1))] {
        let to = if id == 2 { Destination::Host(0) } else { Destination::Port(1) };
        loads.push(linker.admit(tenant(id, 10 * id, to, &object)).unwrap());
        loads.push(linker.load(id, &object).unwrap());
    }
    loads.push(linker.nic(settings).unwrap());
    loads.iter().for_each(|load| run_load(nic, load, &mut Vec::new()).unwrap());
    nic.set_blocked(TINY.destinations() as u8 - 1, true).unwrap();
    let header =
        sluice_formats::l7::qnp::Header { app_id: 1, msg_type: 1, msg_id: 1, msg_len_in_pkts: 1, ..Default::default() };
    let bytes = frame(&Addresses::to_port(9000), header, &[]);
    let offers: Vec<Offer> =
        (0..12).map(|_| Offer { port: 0, bytes: bytes.clone(), at: nic.now(), bad: false }).collect();
    nic.offer(&offers).unwrap();
    nic.advance(3_000).unwrap();
    let changed = [(1, rules(1)), (2, xdp(2)), (3, table(1)), (4, table(1)), (1, rules(0))];
    let ops: Vec<OpId> =
        changed.iter().map(|(id, object)| nic.submit(&linker.replace(*id, object).unwrap()).unwrap()).collect();
    // As long as all rows of a program's table take.
    nic.advance(60_000).unwrap();
    let done = ended(nic);
    let number = |wanted: usize| done.iter().position(|op| *op == ops[wanted]);
    assert_eq!((done.len(), number(1).is_some()), (3, true), "{kind}: {done:?} of {ops:?}");
    assert!(number(2) < number(3) && number(2).is_some(), "{kind}: those of one engine keep their order");
    // The rules wait for their packets, and the later rules for them.
    nic.set_blocked(TINY.destinations() as u8 - 1, false).unwrap();
    nic.quiesce().unwrap();
    assert_eq!(ended(nic), [ops[0], ops[4]], "{kind}");
}

#[test]
fn updates_of_other_engines_pass_one_that_waits() {
    check(&mut SoftwareNic::new(TINY));
    if support::has("tiny", Variant::Test) {
        check(&mut RtlNic::open("tiny", RtlOptions::default()).unwrap());
    }
}
