//! Frames that a test run does not take: 3,521 to 9,000 bytes. The rule for them is that nothing
//! but the length is new: no fault, a frame that `adjust_tail` can shorten and not lengthen, and
//! headroom as ever.

use super::shipped;
use super::steps::{Step, steps};
use sluice_ebpf::kernel::{HEADROOM, MAX_FRAME, possible_cpus};
use sluice_ebpf::vm::Ingress;
use sluice_ebpf::{Packet, Runtime};
use sluice_formats::random::{Rng, test_seed};

/// Longest frame.
const JUMBO: usize = 9000;

#[test]
fn frames_of_up_to_9000_bytes_run_without_a_fault_and_grow_by_headroom_only() {
    let mut rng = Rng::new(test_seed("jumbo"));
    for program in shipped::all() {
        let image = shipped::image(program.compared());
        let mut runtime = Runtime::new(possible_cpus().min(8), 0);
        let installed = runtime.install(&image, &|_| None).unwrap_or_else(|e| panic!("{}: {e}", program.name));
        let entry = image.program(&program.name).unwrap_or(0);
        let mut packets = 0;
        for step in program.scripts.iter().flat_map(|s| steps(s)).flatten() {
            match step {
                Step::Set { map, key, value, flags, .. } => {
                    // What the declared size does not take stays out, as for every user.
                    let id = image.map(&map).and_then(|m| runtime.map(installed, m));
                    let _ = id.map(|id| runtime.maps.user_update(id, &key, &value, flags));
                }
                Step::Packet { ifindex, mut frame } => {
                    let length = rng.range(MAX_FRAME as u64 + 1, JUMBO as u64) as usize;
                    let more = rng.bytes(length.saturating_sub(frame.len()));
                    frame.extend(more);
                    let mut packet = Packet::new(&frame);
                    let outcome = runtime.run(installed, entry, &mut packet, Ingress { ifindex, queue: 0 });
                    assert!(outcome.fault.is_none(), "{}: {:?}", program.name, outcome.fault);
                    assert!(packet.frame().len() <= frame.len() + HEADROOM, "{}", program.name);
                    packets += 1;
                }
                _ => {}
            }
        }
        println!("{:14} {packets} frames of {} to {JUMBO} bytes", program.name, MAX_FRAME + 1);
        assert!(packets > 0, "{}: no script sends anything", program.name);
    }
}
