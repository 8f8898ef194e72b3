//! Objects with rows of the pipeline, in both forms and damaged.

use sluice_formats::hash::crc32c;
use sluice_formats::random::{Rng, test_seed};
use sluice_object::{Demands, Object, RmtGroup, RmtPart};
use sluice_rmt::encode::object::{object, program_of};
use sluice_rmt::pipeline::Memory;
use sluice_rmt::target::{DEFAULT, TINY};
use sluice_rmt::testing::{Shape, checked_program};
use sluice_rmt::{Arrival, Pipeline, Role, encode};

fn random_object(rng: &mut Rng) -> Object {
    let target = if rng.chance(1, 2) { DEFAULT } else { TINY };
    let role = if rng.chance(1, 4) { Role::System } else { Role::Tenant };
    let mut part = encode(&checked_program(rng, &target, &Shape { role, ..Shape::TENANT }), &target).unwrap();
    part.system = role == Role::System;
    part.keep_state = rng.chance(1, 2);
    let random = |rng: &mut Rng| RmtGroup { destinations: rng.next_u32() as u8, tags: [rng.next_u32() as u16; 8] };
    part.groups = (0..rng.below(3)).map(|_| (rng.range(1, 15) as u16, random(rng))).collect();
    part.shared = (0..rng.below(3)).map(|i| (format!("c{i}"), i as u8)).collect();
    object("random", part, Demands::default(), &target)
}

#[test]
fn objects_come_back_from_both_forms_and_their_programs_with_them() {
    let mut rng = Rng::new(test_seed("rmt_objects"));
    for _ in 0..100 {
        let object = random_object(&mut rng);
        object.check().unwrap();
        let program = program_of(&object).unwrap();
        assert!(program.is_some());
        for again in [Object::decode(&object.to_binary()), Object::decode(object.to_json().as_bytes())] {
            let again = again.unwrap();
            assert!(again == object);
            assert!(program_of(&again).unwrap() == program);
        }
    }
}

/// The binary form with some bytes changed and its checksum right.
fn damaged(rng: &mut Rng, object: &Object) -> Vec<u8> {
    let mut bytes = object.to_binary();
    for _ in 0..rng.range(1, 6) {
        let at = rng.index(bytes.len());
        match rng.below(6) {
            0 => bytes.insert(at, rng.next_u32() as u8),
            1 => drop(bytes.remove(at)),
            _ => bytes[at] ^= 1 << rng.below(8),
        }
    }
    let end = bytes.len() - 4;
    let total = bytes.len() as u32;
    bytes[8..12].copy_from_slice(&total.to_le_bytes());
    let sum = crc32c(&bytes[..end]);
    bytes[end..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn damaged_objects_are_refused_or_are_programs_that_run_on_every_packet() {
    let mut rng = Rng::new(test_seed("rmt_damaged_objects"));
    let (mut refused, mut no_program, mut ran) = (0, 0, 0);
    for _ in 0..600 {
        let whole = random_object(&mut rng);
        let Ok(object) = Object::decode(&damaged(&mut rng, &whole)) else {
            refused += 1;
            continue;
        };
        assert!(Object::decode(object.to_json().as_bytes()).unwrap() == object);
        let part: &RmtPart = object.parts.rmt.as_ref().expect("only the part is behind the demands");
        let Ok(Some(program)) = program_of(&object) else {
            no_program += 1;
            continue;
        };
        let target = *sluice_rmt::encode::object::target_of(&object).unwrap();
        let mut pipeline = Pipeline::new(target);
        let module = u8::from(!part.system);
        pipeline.load(module, 0, program, Memory::Zeroed).unwrap();
        pipeline.grant(module, 0xff);
        for _ in 0..10 {
            let length = rng.below(300) as usize;
            let packet = rng.bytes(length);
            pipeline.run(&Arrival {
                packet: &packet,
                module,
                generation: 0,
                system_generation: 0,
                tenant: 1,
                port: 0,
                arrival: 0,
                queueing: rng.next_u64() >> 16,
            });
        }
        ran += 1;
    }
    println!("{refused} refused, {no_program} no program, {ran} ran");
    assert!(refused > 20 && ran > 20, "{refused}, {ran}: too few to mean anything");
}
