//! Whether a program's rows still do what they did when leaves' rows stand behind them and are shared.
//!
//! Both are followed side by side from where they begin: each pair of rows must do the same, in the same order of a flow's packets, and lead on to pairs.

use super::rows::Rows;
use crate::sections::Serial;
use crate::{Compiled, Op, Step};
use sluice_ebpf::insn::WideValue;
use std::collections::BTreeSet;

/// Checks that what begins at row `start` is a compiled program, whose slots are those of the whole one; says what is wrong.
pub fn placed(own: &Compiled, slots: &[u32], start: u32, all: &Rows) -> Result<(), String> {
    let serial = Serial::of(own.flow_serial, own.sections.clone());
    let kept = match (&serial, &all.serial) {
        (Serial::No, _) | (_, Serial::Whole) | (Serial::Sections(_), Serial::Sections(_)) => true,
        (_, Serial::No) | (Serial::Whole, Serial::Sections(_)) => false,
    };
    if !kept {
        return Err("packets of a flow do not wait for each other".to_owned());
    }
    let original = |slot: u32| slots.get(slot as usize).copied().unwrap_or(slot);
    let mut seen = BTreeSet::new();
    let mut open = vec![(0, start)];
    while let Some((one, other)) = open.pop() {
        if !seen.insert((one, other)) {
            continue;
        }
        let rows = (own.bundles.rows.get(one as usize), all.bundles.rows.get(other as usize));
        let (Some(mine), Some(found)) = rows else { return Err(format!("row {other} is not there")) };
        let waits = matches!((&serial, &all.serial), (Serial::No | Serial::Sections(_), Serial::Sections(_)));
        if mine.lanes.len() != found.lanes.len() || waits && serial.at(one) != all.serial.at(other) {
            return Err(format!("row {other} is another than {one}"));
        }
        for (mine, found) in mine.lanes.iter().zip(&found.lanes) {
            let function = |to: u32| own.bundles.functions.iter().find(|(_, row)| **row == to).map(|(slot, _)| *slot);
            let mut wanted = Step { slot: original(mine.slot), ..*mine };
            match (&mut wanted.op, found.op) {
                (Op::Call { to }, _) => {
                    let row = function(*to).and_then(|slot| all.bundles.functions.get(&original(slot)));
                    *to = *row.ok_or_else(|| format!("row {one} calls no function"))?;
                }
                (Op::Constant { value: WideValue::Function(slot), .. }, _) => *slot = original(*slot as u32) as i32,
                (op, found) => {
                    if let (Some(to), Some(leads)) = (op.target_mut(), found.target()) {
                        open.push((*to, leads));
                        *to = leads;
                    }
                }
            }
            if wanted != *found {
                return Err(format!("row {other}: {found:?} stands in the place of {wanted:?}"));
            }
        }
        if !mine.lanes.last().is_some_and(|step| step.op.ends()) {
            open.push((one + 1, other + 1));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warp::check::tests::{groups, target};
    use crate::{Target, compile};

    /// A program with the rows of its leaves behind its own.
    struct Whole {
        rows: Rows,
        plain: Compiled,
        leaves: Vec<(Compiled, Vec<u32>)>,
    }

    impl Whole {
        fn wrong(&self, rows: &Rows) -> Vec<String> {
            let leaves = self.leaves.iter().zip(&rows.starts);
            let of = |((leaf, slots), start): (&(Compiled, Vec<u32>), &u32)| placed(leaf, slots, *start, rows).err();
            placed(&self.plain, &[], 0, rows).err().into_iter().chain(leaves.filter_map(of)).collect()
        }
    }

    fn whole(name: &str) -> Whole {
        let target: Target = target();
        let codes = groups(&[name]);
        let leaf = &codes[0][0];
        let plain = compile(&leaf.image, &leaf.image.programs[0], &target).expect("it compiles");
        let mut rows = Rows::new(plain.clone());
        let mut leaves = Vec::new();
        for leaf in codes.iter().flatten() {
            let compiled = leaf.compiled();
            rows.append(&compiled, &leaf.path.slots);
            leaves.push((compiled, leaf.path.slots.clone()));
        }
        Whole { rows, plain, leaves }
    }

    #[test]
    fn rows_that_are_shared_do_what_they_did() {
        for name in ["mac_gate", "nat_basic", "flow_filter", "iptunnel", "swap", "balancer"] {
            let whole = whole(name);
            assert_eq!(whole.wrong(&whole.rows), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn another_instruction_target_or_order_is_found() {
        let whole = whole("nat_basic");
        let mut planted = 0;
        let begins: Vec<u32> = whole.rows.starts.iter().copied().chain([0]).collect();
        let reached = crate::bundle::reached(&whole.rows.bundles.rows, begins);
        for row in (0..whole.rows.bundles.rows.len()).filter(|row| reached[*row]) {
            for lane in 0..whole.rows.bundles.rows[row].lanes.len() {
                let mut faults = vec![];
                let step = whole.rows.bundles.rows[row].lanes[lane];
                faults.push(Step { slot: step.slot + 1, ..step });
                faults.push(Step { op: step.op.renamed(&|r| r ^ 1, &|r| r ^ 1), ..step });
                let mut op = step.op;
                if let Some(to) = op.target_mut() {
                    *to ^= 1;
                    faults.push(Step { op, ..step });
                }
                for fault in faults.into_iter().filter(|fault| *fault != step) {
                    let mut rows = whole.rows.clone();
                    rows.bundles.rows[row].lanes[lane] = fault;
                    assert_ne!(whole.wrong(&rows), Vec::<String>::new(), "row {row}: {fault:?} for {step:?}");
                    planted += 1;
                }
            }
        }
        for start in 0..whole.rows.starts.len() {
            let mut rows = whole.rows.clone();
            rows.starts[start] += 1;
            assert_ne!(whole.wrong(&rows), Vec::<String>::new(), "start {start}");
            planted += 1;
        }
        println!("{planted} faults");
        assert!(planted > 500, "{planted}");
    }

    #[test]
    fn a_leaf_whose_packets_wait_stays_so() {
        let whole = whole("nat_basic");
        let (mut leaf, slots) = whole.leaves[0].clone();
        let mut rows = whole.rows.clone();
        (leaf.flow_serial, leaf.sections) = (true, None);
        rows.serial = Serial::No;
        assert!(placed(&leaf, &slots, rows.starts[0], &rows).is_err());
        rows.serial = Serial::Whole;
        assert_eq!(placed(&leaf, &slots, rows.starts[0], &rows), Ok(()));
    }
}
