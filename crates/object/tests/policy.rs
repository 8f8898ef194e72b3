//! Sharing policies: the papers' example, and an independent calculation for tenants of whom each has one table.

use sluice_formats::random::{Rng, test_seed};
use sluice_object::linker::policy::{Claimant, Policy, dominant, fill};
use std::cmp::Ordering;

/// A tenant with one table, whose entries take the same each.
#[derive(Clone, Debug)]
struct One {
    weight: u32,
    most: u32,
    takes: Vec<u32>,
}

impl One {
    fn claimant(&self) -> Claimant<'_> {
        let held = |entries: &[u32]| self.takes.iter().map(|takes| takes * entries[0]).collect();
        Claimant { weight: self.weight, least: vec![0], most: vec![self.most], held: Box::new(held) }
    }

    /// What an entry takes of the resource of which that is most, as a fraction.
    fn dominant(&self, capacity: &[u32]) -> (u128, u128) {
        let parts = self.takes.iter().zip(capacity).map(|(takes, all)| (u128::from(*takes), u128::from(*all)));
        parts.reduce(|a, b| if a.0 * b.1 >= b.0 * a.1 { a } else { b }).unwrap()
    }
}

fn filled(policy: Policy, capacity: &[u32], all: &[One]) -> Vec<u32> {
    let claims: Vec<Claimant> = all.iter().map(One::claimant).collect();
    fill(policy, capacity, &claims).into_iter().map(|entries| entries[0]).collect()
}

/// All entries that anybody asks for, sorted by when they are given; then one after the other, until one of a tenant does not fit.
fn swept(policy: Policy, capacity: &[u32], all: &[One]) -> Vec<u32> {
    let mut asked: Vec<(usize, u32)> =
        all.iter().enumerate().flat_map(|(at, one)| (1..=one.most).map(move |number| (at, number))).collect();
    let before = |a: &(usize, u32), b: &(usize, u32)| -> Ordering {
        let [(part_a, whole_a), (part_b, whole_b)] = [a, b].map(|(at, _)| all[*at].dominant(capacity));
        let [weight_a, weight_b] = [a, b].map(|(at, _)| u128::from(all[*at].weight));
        match policy {
            // By the part that the tenant holds without it.
            Policy::Drf => {
                let [held_a, held_b] = [a, b].map(|(_, number)| u128::from(number - 1));
                (held_a * part_a * whole_b * weight_b).cmp(&(held_b * part_b * whole_a * weight_a))
            }
            // By what it brings for what it takes, most first.
            _ => {
                let [value_a, value_b] = [a, b].map(|(_, number)| (1u128 << 32) / u128::from(*number));
                (weight_b * value_b * whole_b * part_a).cmp(&(weight_a * value_a * whole_a * part_b))
            }
        }
    };
    asked.sort_by(|a, b| before(a, b).then(a.0.cmp(&b.0)).then(a.1.cmp(&b.1)));
    let (mut got, mut ended) = (vec![0; all.len()], vec![false; all.len()]);
    let mut left: Vec<u32> = capacity.to_vec();
    for (at, _) in asked {
        ended[at] |= all[at].takes.iter().zip(&left).any(|(takes, left)| takes > left);
        if !ended[at] {
            got[at] += 1;
            left.iter_mut().zip(&all[at].takes).for_each(|(left, takes)| *left -= takes);
        }
    }
    got
}

fn random(rng: &mut Rng, tenants: u64, resources: usize) -> (Vec<u32>, Vec<One>) {
    let capacity: Vec<u32> = (0..resources).map(|_| 1 + rng.below(2000) as u32).collect();
    let one = |rng: &mut Rng| {
        let mut takes: Vec<u32> = (0..resources).map(|_| rng.below(12) as u32).collect();
        takes[rng.below(resources as u64) as usize] += 1;
        One { weight: 1 + rng.below(4) as u32, most: rng.below(60) as u32, takes }
    };
    let all = (0..1 + rng.below(tenants)).map(|_| one(rng)).collect();
    (capacity, all)
}

/// Nine processors and 18 GB; tasks of one tenant take one and 4 GB, of the other 3 and one (Ghodsi et al., NSDI 2011, section 4.1).
#[test]
fn drf_gives_what_its_paper_says() {
    let all = [(1, 4), (3, 1)].map(|(cpu, memory)| One { weight: 1, most: 100, takes: vec![cpu, memory] });
    assert_eq!(filled(Policy::Drf, &[9, 18], &all), [3, 2]);
    let twice = [One { weight: 2, ..all[0].clone() }, all[1].clone()];
    assert_eq!(filled(Policy::Drf, &[9, 18], &twice), [4, 1]);
}

#[test]
fn both_policies_are_what_an_independent_calculation_says() {
    let mut rng = Rng::new(test_seed("both_policies"));
    let mut given = 0;
    for round in 0..1000 {
        let resources = 1 + rng.below(5) as usize;
        let (capacity, all) = random(&mut rng, 20, resources);
        for policy in [Policy::Drf, Policy::Utility] {
            let found = filled(policy, &capacity, &all);
            assert_eq!(found, swept(policy, &capacity, &all), "round {round}, {policy}: {capacity:?} {all:?}");
            given += found.iter().map(|entries| u64::from(*entries)).sum::<u64>();
        }
    }
    assert!(given > 100_000, "{given} entries");
    // A thousand at once.
    let (_, mut all) = random(&mut rng, 1, 5);
    while all.len() < 1000 {
        all.extend(random(&mut rng, 20, 5).1);
    }
    all.truncate(1000);
    let capacity = [9000, 12_000, 20_000, 15_000, 11_000];
    for policy in [Policy::Drf, Policy::Utility] {
        assert_eq!(filled(policy, &capacity, &all), swept(policy, &capacity, &all), "{policy}");
    }
}

/// With one resource and entries that take one of it each, no other sharing brings more: all that is possible is tried.
#[test]
fn utility_is_the_largest_that_there_is() {
    let mut rng = Rng::new(test_seed("utility_is_the_largest"));
    for _ in 0..200 {
        let room = 1 + rng.below(60) as usize;
        let one = |rng: &mut Rng| One { weight: 1 + rng.below(5) as u32, most: rng.below(30) as u32, takes: vec![1] };
        let all: Vec<One> = (0..1 + rng.below(6)).map(|_| one(&mut rng)).collect();
        let worth = |one: &One, entries: u32| -> u64 {
            (1..=entries).map(|number| u64::from(one.weight) * ((1 << 32) / u64::from(number))).sum()
        };
        // The best of so much room, tenant by tenant.
        let mut best = vec![0u64; room + 1];
        for tenant in &all {
            let of = |space: usize| {
                (0..=space.min(tenant.most as usize)).map(|n| best[space - n] + worth(tenant, n as u32)).max().unwrap()
            };
            best = (0..=room).map(of).collect();
        }
        let found = filled(Policy::Utility, &[room as u32], &all);
        let total: u64 = all.iter().zip(&found).map(|(one, entries)| worth(one, *entries)).sum();
        assert_eq!(total, best[room], "{room} {all:?}: {found:?}");
    }
}

/// What dominant resource fairness promises (section 3 of its paper), up to one task of each: nobody has less than an equal part, nobody
/// would rather have what another has, and nobody can have more without another having less.
#[test]
fn drf_is_fair() {
    let mut rng = Rng::new(test_seed("drf_is_fair"));
    for _ in 0..300 {
        let (capacity, mut all) = random(&mut rng, 8, 3);
        all.iter_mut().for_each(|one| (one.weight, one.most) = (1, 5000));
        let got = filled(Policy::Drf, &capacity, &all);
        let fits = |takes: &[u32], n: u32, of: &dyn Fn(usize) -> u32| (0..3).all(|r| takes[r] * n <= of(r));
        let used = |r: usize| all.iter().zip(&got).map(|(one, n)| one.takes[r] * n).sum::<u32>();
        let of_task = |one: &One| dominant(&one.takes, &capacity).percent();
        let largest = all.iter().map(of_task).fold(0.0, f64::max);
        for (one, n) in all.iter().zip(&got) {
            let equal = 100.0 / all.len() as f64;
            assert!(f64::from(n + 1) * of_task(one) + largest >= equal, "{capacity:?} {all:?} {got:?}");
            assert!(!fits(&one.takes, 1, &|r| capacity[r] - used(r)), "{capacity:?} {all:?} {got:?}");
            for (other, m) in all.iter().zip(&got) {
                let others = |r: usize| other.takes[r] * m.saturating_sub(1);
                assert!(!fits(&one.takes, n + 1, &others), "{capacity:?} {all:?} {got:?}");
            }
        }
    }
}

/// Two tables of a tenant fill a block of rows alike, and what takes nothing more is given before what does.
#[test]
fn rows_that_are_held_anyway_are_used() {
    let block = |entries: &[u32]| vec![(entries[0] + entries[1]).div_ceil(8) * 8];
    for policy in [Policy::Drf, Policy::Utility] {
        let claim = |weight| Claimant { weight, least: vec![1, 0], most: vec![100, 100], held: Box::new(block) };
        assert_eq!(fill(policy, &[16], &[claim(1), claim(9)]), [[4, 4], [4, 4]], "{policy}");
        assert_eq!(fill(policy, &[15], &[claim(1)]), [[4, 4]], "{policy}");
    }
    let claim = Claimant { weight: 1, least: vec![1, 0], most: vec![100, 100], held: Box::new(block) };
    assert_eq!(fill(Policy::Fixed, &[16], &[claim]), [[1, 0]]);
    assert_eq!(dominant(&[1, 6], &[4, 16]).percent(), 37.5);
}
