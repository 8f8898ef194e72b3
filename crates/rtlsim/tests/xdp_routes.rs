//! Routes that programs ask for, on the XDP engine in RTL with the interpreter beside it: equality of every call, tenants with routes
//! of their own, and a host that changes them while packets run.

use crate::random_routes::{ASK_LENGTH, ASK_ROUTES, file, frame, length_frame};
use crate::support;
use crate::xdp::device::{COUNT, Nic, array, object};
use crate::xdp::engine::open_tiny;
use crate::xdp::pair::{Pair, image};
use crate::xdp::together::together;
use sluice_device::{Device, Outcome};
use sluice_ebpf::helper::fib::rows::Numbers;
use sluice_ebpf::insn::assemble;
use sluice_ebpf::{Image, Program};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::target::TINY;
use sluice_object::Object;
use sluice_rtlsim::{Comparison, RtlNic, RtlOptions, Variant, top};

/// Files of routes, and packets of each.
const FILES: usize = 12;
const PACKETS: u32 = 40;

fn equal(test: &str, text: &str, helper: &str, draw: impl Fn(&mut Rng) -> Vec<u8>, results: &[i64]) {
    let Some((mut engine, mut rng)) = open_tiny(test) else { return };
    let mut pair = Pair::new(&mut engine, image(&text.replace("CALLED", helper))).expect("the engine has all of it");
    let (mut numbers, mut found) = (Numbers::default(), std::collections::BTreeMap::<i64, u32>::new());
    let (mut files, mut number) = (0, 0);
    while files < FILES * if support::long() { 40 } else { 1 } {
        let text = file(&mut rng);
        if !pair.set_routes(&mut engine, &text, &mut numbers) {
            continue;
        }
        files += 1;
        let frames: Vec<Vec<u8>> = (0..PACKETS).map(|_| draw(&mut rng)).collect();
        if files % 2 == 0 {
            engine.steps.clear();
            let sent: Vec<(u8, Vec<u8>)> = frames.iter().map(|frame| (0, frame.clone())).collect();
            together(&mut engine, &mut pair, &sent, number);
            number += PACKETS;
            continue;
        }
        for frame in frames {
            pair.send(&mut engine, (number % 2) as u8, number, &frame);
            number += 1;
            if let Some(bytes) = pair.last_left() {
                *found.entry(i64::from_le_bytes(bytes[..8].try_into().unwrap())).or_default() += 1;
            }
        }
        pair.compare(&mut engine);
    }
    println!("{found:?}");
    for result in results {
        assert!(found.contains_key(result), "{result}: {found:?}");
    }
}

#[test]
fn routes_are_looked_up_the_same() {
    let results = [0, 1, 2, 3, 4, 5, 7, 8, -22, -19, -97];
    equal("routes_are_looked_up_the_same", ASK_ROUTES, "bpf_fib_lookup", frame, &results);
}

#[test]
fn lengths_are_checked_the_same() {
    equal("lengths_are_checked_the_same", ASK_LENGTH, "bpf_check_mtu", length_frame, &[0, 1, -22, -19]);
}

/// Where the parameters lie: the frame, the stack, a value and its neighbour, the frame of the function that looks them up.
fn place(rng: &mut Rng, bytes: i32) -> String {
    let near = rng.below(9) as i32 - 4;
    let (base, at) = match rng.below(6) {
        0 => ("r7", 22 + near),
        // Around the frame's end.
        1 => ("r8", -bytes + near),
        2 => ("r9", near.min(0)),
        3 => ("r9", 64 - bytes + near),
        4 => ("r10", -bytes + near.min(1)),
        _ => ("r10", 1024 - rng.below(640) as i32),
    };
    format!("r2 = {base}\nr2 += {at}\n")
}

#[test]
fn parameters_anywhere_are_taken_or_fault_the_same() {
    let Some((mut engine, mut rng)) = open_tiny("parameters_anywhere_are_taken_or_fault_the_same") else { return };
    let begin = "r6 = r1\n*(u32 *)(r10 -4) = 1\nr2 = r10\nr2 += -4\nr1 = map[values]\ncall bpf_map_lookup_elem\nif r0 == 0 goto end\nr9 = r0\n\
        r7 = *(u32 *)(r6 +0)\nr8 = *(u32 *)(r6 +4)\nr0 = r7\nr0 += 90\nif r0 > r8 goto end\n";
    let words = (0..8).map(|word| {
        format!(
            "r1 = *(u64 *)(r7 +{})\n*(u64 *)(r9 +{}) = r1\n*(u64 *)(r10 -{}) = r1\n",
            22 + 8 * word,
            8 * word,
            64 - 8 * word
        )
    });
    let filled = begin.to_owned() + &words.collect::<String>();
    let (mut sent, mut went_on) = (0, 0);
    while sent < if support::long() { 6000 } else { 240 } {
        let context = if rng.chance(1, 12) { "r1 = r7\n" } else { "r1 = r6\n" };
        let call = match rng.chance(2, 3) {
            true => format!(
                "{}{context}r3 = 64\nr4 = *(u8 *)(r7 +14)\nr4 &= 63\ncall bpf_fib_lookup\n",
                place(&mut rng, 64)
            ),
            false => format!(
                "{}r3 = r2\n{context}r2 = *(u8 *)(r7 +30)\nr4 = 0\nr5 = 0\ncall bpf_check_mtu\n",
                place(&mut rng, 4)
            ),
        };
        let text = format!(
            "{filled}{call}*(u64 *)(r7 +0) = r0\nr1 = *(u64 *)(r10 -64)\n*(u64 *)(r7 +86) = r1\nr0 = 3\nexit\nend:\nr0 = 1\nexit\n"
        );
        let program = assemble("test", &text, &["values"]).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let maps = vec![array("values", 64, 3)];
        let image = Image { programs: vec![Program { section: "xdp".into(), ..program }], maps, ..Image::default() };
        let mut pair = Pair::new(&mut engine, image).expect("the engine has all of it");
        while !pair.set_routes(&mut engine, &file(&mut rng), &mut Numbers::default()) {}
        for _ in 0..8 {
            pair.send(&mut engine, 0, sent, &frame(&mut rng));
            sent += 1;
            // One at a time: they share a value.
            went_on += pair.compare(&mut engine);
        }
    }
    println!("{went_on} of {sent}");
    assert!(went_on > sent as usize / 4 && went_on < sent as usize * 3 / 4, "{went_on} of {sent}");
}

fn asking() -> Object {
    object("asking", &ASK_ROUTES.replace("CALLED", "bpf_fib_lookup"), Vec::new(), &[])
}

/// Two interfaces, a route to 10.9.0.0/16 by one of them, and some by the other one.
fn by(interface: u32) -> String {
    let via = |to: u32, interface: u32| {
        format!("10.{to}.0.0/16 via 10.{interface}.0.1 dev {}\n", ["a", "b"][interface as usize - 1])
    };
    let others: String = (10..16).map(|to| via(to, 3 - interface)).collect();
    format!(
        "link a index 1 address 02:00:00:00:0a:01\nlink b index 2 address 02:00:00:00:0a:02\n{}{others}\
         10.1.0.1 dev a lladdr 02:00:00:00:0b:01\n10.2.0.1 dev b lladdr 02:00:00:00:0b:02\n",
        via(9, interface)
    )
}

/// A frame of a VLAN that asks for the route from interface 1 to 10.9.1.1, and the result with what was written of the parameters.
fn question(vlan: u16) -> Vec<u8> {
    let mut frame = vec![0; 90];
    frame[12..18].copy_from_slice(&[0x81, 0, (vlan >> 8) as u8, vlan as u8, 0x88, 0xb5]);
    frame[22] = 64;
    frame[26] = 2;
    frame[34] = 1;
    frame[58..62].copy_from_slice(&[10, 9, 1, 1]);
    frame
}

fn answer(outcome: &Outcome) -> (i64, u32, [u8; 12]) {
    let bytes = &outcome.bytes;
    // The host gets the frame without its tag.
    let params = &bytes[22..];
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().unwrap());
    (i64::from_le_bytes(bytes[..8].try_into().unwrap()), number(&params[8..]), params[52..64].try_into().unwrap())
}

/// What a packet is told where the route leads by this interface.
fn told(interface: u32) -> (i64, u32, [u8; 12]) {
    let n = interface as u8;
    (0, interface, [2, 0, 0, 0, 0x0a, n, 2, 0, 0, 0, 0x0b, n])
}

/// Without an interface of that number.
const NO_DEVICE: i64 = -19;

#[test]
fn routes_are_a_tenants_own_and_outlive_its_programs() {
    let name = "routes_are_a_tenants_own_and_outlive_its_programs";
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return;
    }
    let options = RtlOptions { top: &top::XDP, seed: test_seed(name), check_accounting: true, ..RtlOptions::default() };
    let mut nic = Nic::new(Comparison::open(TINY.name, options, support::waves_folder()).unwrap());
    let ask = |nic: &mut Nic<Comparison>| {
        nic.offer(0, [1, 2, 3].map(question));
        let mut outcomes = nic.ended();
        outcomes.sort_by_key(|outcome| outcome.id);
        outcomes.iter().map(answer).collect::<Vec<_>>()
    };
    let say = |nic: &mut Nic<Comparison>, tenant: u16, text: &str| {
        let module = nic.module(tenant);
        nic.device.maps().unwrap().set_routes(module, text)
    };
    for tenant in 1..=3 {
        nic.put(tenant, &asking()).unwrap();
    }
    assert!(ask(&mut nic).iter().all(|found| found.0 == NO_DEVICE));
    say(&mut nic, 1, &by(1)).unwrap();
    say(&mut nic, 2, &by(2)).unwrap();
    let found = ask(&mut nic);
    assert_eq!((found[0], found[1], found[2].0), (told(1), told(2), NO_DEVICE));
    // No list of maps has them.
    let module = nic.module(1);
    assert!(nic.device.maps().unwrap().list(module).unwrap().is_empty());
    // Another tenant's change is nothing to the first one, nor are replacements; a program that asks for none keeps what was said.
    say(&mut nic, 2, &by(1)).unwrap();
    nic.put(1, &asking()).unwrap();
    let found = ask(&mut nic);
    assert_eq!((found[0], found[1]), (told(1), told(1)));
    nic.put(2, &object("count", COUNT, vec![array("counts", 8, 2)], &[])).unwrap();
    say(&mut nic, 2, &by(2)).unwrap();
    nic.put(2, &asking()).unwrap();
    assert_eq!(ask(&mut nic)[1], told(2));
    // More than the map has is refused as a whole; with the tenant's last program all of it is gone.
    let many: String = (0..80).map(|n| format!("10.{n}.0.0/16 dev a\n")).collect();
    let error = say(&mut nic, 1, &(by(1) + &many)).unwrap_err();
    assert!(error.to_string().contains("this NIC gives a program 64"), "{error}");
    assert_eq!(ask(&mut nic)[0], told(1));
    nic.unload(1);
    nic.put(1, &asking()).unwrap();
    let found = ask(&mut nic);
    assert_eq!((found[0].0, found[1]), (NO_DEVICE, told(2)));
    nic.device.counters().unwrap();
}

#[test]
fn a_packet_finds_the_old_routes_or_the_new_ones_while_the_host_writes() {
    let name = "a_packet_finds_the_old_routes_or_the_new_ones_while_the_host_writes";
    if !support::has_top(&top::XDP, TINY.name, Variant::Test) {
        return;
    }
    let options = RtlOptions { top: &top::XDP, seed: test_seed(name), check_accounting: true, ..RtlOptions::default() };
    let mut nic = Nic::new(RtlNic::open(TINY.name, options).unwrap());
    nic.put(1, &asking()).unwrap();
    let module = nic.module(1);
    nic.device.maps().unwrap().set_routes(module, &by(1)).unwrap();
    let (mut mixed, mut rng) = (0, Rng::new(test_seed(name)));
    for round in 0..if support::long() { 200 } else { 12 } {
        nic.offer(0, (0..600).map(|_| question(1)));
        nic.device.advance(1000 + rng.below(4000)).unwrap();
        nic.device.maps().unwrap().set_routes(module, &by(2 - round % 2)).unwrap();
        let mut here = [0, 0];
        for outcome in nic.ended().into_iter().filter(|outcome| !outcome.bytes.is_empty()) {
            let found = answer(&outcome);
            let which = [1, 2].iter().position(|interface| found == told(*interface));
            here[which.unwrap_or_else(|| panic!("{found:x?}"))] += 1;
        }
        println!("{here:?}");
        mixed += u32::from(here.iter().all(|packets| *packets > 5));
    }
    assert!(mixed > 4, "{mixed} rounds in which packets saw both");
}
