//! By how many bytes a program makes a frame longer at most.

use super::graph::Graph;
use super::regions::{Regions, analyze};
use super::transfer::Code;
use crate::helper::packet::{ADJUST_HEAD, ADJUST_TAIL};
use crate::helper::{iterate, tail_call};
use crate::insn::Kind;
use crate::{Image, Program};

/// The most that all programs of an image add to a frame; none where that is not known.
///
/// A program that calls functions, other programs or loops may come to a call again and again: of one that moves bounds nothing is known then.
/// Else what each call adds at most is added up, for a packet comes to each once.
pub fn growth(image: &Image) -> Option<u32> {
    let of = |program: &Program| calls(image, program);
    let all: Vec<Calls> = image.programs.iter().map(of).collect();
    if all.iter().all(|calls| calls.moves.is_empty()) {
        return Some(0);
    }
    if all.iter().any(|calls| calls.again) {
        return None;
    }
    // Without calls from program to program a packet meets one of them.
    let each = image.programs.iter().zip(&all).map(|(program, calls)| added(image, program, calls));
    each.max_by_key(|bytes| bytes.unwrap_or(u32::MAX)).flatten()
}

/// Calls of a program that concern its frame.
struct Calls {
    /// Slots that move the frame's bounds outwards, perhaps.
    moves: Vec<u32>,
    /// One may be reached more than once.
    again: bool,
}

fn calls(image: &Image, program: &Program) -> Calls {
    let code = Code::new(image, program);
    let graph = Graph::new(&code);
    let mut found = Calls { moves: Vec::new(), again: false };
    for pc in 0..program.insns.len() as u32 {
        match code.kind(pc) {
            Some(Kind::CallHelper { id }) if [ADJUST_HEAD.id, ADJUST_TAIL.id].contains(&id) => found.moves.push(pc),
            Some(Kind::CallHelper { id }) => {
                found.again |= [tail_call::TAIL_CALL.id, iterate::LOOP.id, iterate::FOR_EACH.id].contains(&id);
            }
            Some(Kind::CallLocal { .. }) => found.again = true,
            _ => {}
        }
    }
    // Whoever goes round comes back from a slot behind to one in front.
    let rounds = (0..program.insns.len() as u32).filter_map(|pc| Some((code.target(pc)?, pc)));
    let rounds: Vec<(u32, u32)> = rounds.filter(|(to, pc)| to <= pc && graph.reached[*pc as usize]).collect();
    found.again |= found.moves.iter().any(|pc| rounds.iter().any(|(first, last)| (first..=last).contains(&pc)));
    found
}

fn added(image: &Image, program: &Program, calls: &Calls) -> Option<u32> {
    if calls.moves.is_empty() {
        return Some(0);
    }
    let regions: Regions = analyze(image, program);
    if !regions.complete {
        return None;
    }
    calls.moves.iter().try_fold(0u32, |sum, pc| {
        let at = &regions.slots[*pc as usize];
        // A call that is never reached adds nothing.
        let Some(before) = &at.before else { return Some(sum) };
        let delta = before[2].as_number().half;
        let head = at.call.as_ref()?.helper == ADJUST_HEAD.id;
        let most = if head { delta.smin.checked_neg()? } else { delta.smax };
        sum.checked_add(u32::try_from(most.max(0)).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::growth;
    use crate::Image;
    use crate::insn::assemble;

    fn image(text: &str) -> Image {
        let program = assemble("test", text, &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
        Image { programs: vec![program], ..Image::default() }
    }

    #[test]
    fn what_calls_add_at_most_is_added_up() {
        let head = |n: i32| format!("r1 = r6\nr2 = {n}\ncall bpf_xdp_adjust_head\n");
        let tail = |n: i32| format!("r1 = r6\nr2 = {n}\ncall bpf_xdp_adjust_tail\n");
        let bound = |text: &str| growth(&image(&format!("r6 = r1\n{text}r0 = 2\nexit\n")));
        assert_eq!(bound(""), Some(0));
        assert_eq!(bound(&tail(-4)), Some(0), "it only becomes shorter");
        assert_eq!(bound(&head(-20)), Some(20));
        assert_eq!(bound(&(head(-20) + &tail(30) + &head(8))), Some(50));
        let masked = "r1 = r6\nr2 = *(u32 *)(r6 + 16)\nr2 &= 31\ncall bpf_xdp_adjust_tail\n";
        assert_eq!(bound(masked), Some(31));
        let unknown = "r1 = r6\nr2 = *(u32 *)(r6 + 16)\ncall bpf_xdp_adjust_tail\n";
        assert!(bound(unknown).is_none_or(|bytes| bytes > 4096));
        // Round and round.
        let round = format!("r7 = 0\nagain:\n{}r7 += 1\nif r7 < 9 goto again\n", tail(8));
        assert_eq!(bound(&round), None);
        let beside = format!("{}r7 = 0\nagain:\nr7 += 1\nif r7 < 9 goto again\n", tail(8));
        assert_eq!(bound(&beside), Some(8), "the loop is behind the call");
    }
}
