//! The arithmetic of sharing: entries by tenant and table, of resources of which there is so much.

use super::Policy;

/// How much of each resource is held with so many entries of each table.
pub type Held<'a> = Box<dyn Fn(&[u32]) -> Vec<u32> + 'a>;

/// What one tenant asks for.
pub struct Claimant<'a> {
    /// His weight, 1 or more.
    pub weight: u32,
    /// Entries of each table that he has in any event.
    pub least: Vec<u32>,
    /// Entries of each table that he asks for.
    pub most: Vec<u32>,
    /// How much of each resource he holds with so many entries of each table; more entries never hold less.
    pub held: Held<'a>,
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// How many.
    pub part: u64,
    /// Of so many, 1 or more.
    pub whole: u64,
}

impl Fraction {
    const NOTHING: Self = Self { part: 0, whole: 1 };

    /// In percent, for people.
    pub fn percent(self) -> f64 {
        100.0 * self.part as f64 / self.whole as f64
    }

    pub(super) fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let cross = |a: &Self, b: &Self| u128::from(a.part) * u128::from(b.whole);
        cross(self, other).cmp(&cross(other, self))
    }
}

/// The largest part that an amount is of any resource.
pub fn dominant(amount: &[u32], capacity: &[u32]) -> Fraction {
    let parts = amount.iter().zip(capacity).filter(|(_, whole)| **whole > 0);
    let parts = parts.map(|(part, whole)| Fraction { part: u64::from(*part), whole: u64::from(*whole) });
    parts.max_by(Fraction::cmp).unwrap_or(Fraction::NOTHING)
}

/// Entries of each table of each tenant. What they have in any event is within the capacity.
///
/// [`Policy::Drf`]: the next entry is of the tenant with the smallest dominant part by weight, in his table that has the smallest part of
/// what it asks for. [`Policy::Utility`]: the next entry is where it brings most for what it takes (`Next::worth`). A table whose next entry
/// does not fit gets no more. Of equals the first is taken. With [`Policy::Fixed`] nobody gets more.
pub fn fill(policy: Policy, capacity: &[u32], claims: &[Claimant]) -> Vec<Vec<u32>> {
    let mut state = State::new(capacity, claims);
    match policy {
        Policy::Fixed => {}
        Policy::Drf => while state.drf() {},
        Policy::Utility => state.utility(),
    }
    state.entries
}

struct State<'a> {
    capacity: &'a [u32],
    claims: &'a [Claimant<'a>],
    entries: Vec<Vec<u32>>,
    held: Vec<Vec<u32>>,
    /// Of all tenants together.
    used: Vec<u64>,
    /// Tables that may get more.
    growing: Vec<Vec<usize>>,
}

impl<'a> State<'a> {
    fn new(capacity: &'a [u32], claims: &'a [Claimant<'a>]) -> Self {
        let entries: Vec<Vec<u32>> = claims.iter().map(|claim| claim.least.clone()).collect();
        let held: Vec<Vec<u32>> = claims.iter().map(|claim| (claim.held)(&claim.least)).collect();
        let sum = |at: usize| held.iter().map(|held| u64::from(held[at])).sum();
        let used = (0..capacity.len()).map(sum).collect();
        let tables = |claim: &Claimant| (0..claim.most.len()).filter(|t| claim.least[*t] < claim.most[*t]).collect();
        let growing = claims.iter().map(tables).collect();
        Self { capacity, claims, entries, held, used, growing }
    }

    /// What a tenant holds with one entry more.
    fn with_one(&self, claim: usize, table: usize) -> Vec<u32> {
        let mut entries = self.entries[claim].clone();
        entries[table] += 1;
        (self.claims[claim].held)(&entries)
    }

    /// Gives a tenant an entry; a table for which there is no room gets no more.
    fn give(&mut self, claim: usize, table: usize) {
        let next = self.with_one(claim, table);
        let of = |at: usize| self.used[at] - u64::from(self.held[claim][at]) + u64::from(next[at]);
        let used: Vec<u64> = (0..self.capacity.len()).map(of).collect();
        let fits = used.iter().zip(self.capacity).all(|(used, all)| *used <= u64::from(*all));
        if fits {
            self.entries[claim][table] += 1;
            self.held[claim] = next;
            self.used = used;
        }
        if !fits || self.entries[claim][table] == self.claims[claim].most[table] {
            self.growing[claim].retain(|other| *other != table);
        }
    }

    /// One step of dominant resource fairness; whether there was one.
    fn drf(&mut self) -> bool {
        let weighted = |claim: usize| {
            let Fraction { part, whole } = dominant(&self.held[claim], self.capacity);
            Fraction { part, whole: whole * u64::from(self.claims[claim].weight) }
        };
        let growing = (0..self.claims.len()).filter(|claim| !self.growing[*claim].is_empty());
        let Some((claim, _)) = growing.map(|claim| (claim, weighted(claim))).min_by(|a, b| a.1.cmp(&b.1)) else {
            return false;
        };
        let part = |table: &usize| Fraction {
            part: self.entries[claim][*table].into(),
            whole: self.claims[claim].most[*table].into(),
        };
        let table = self.growing[claim].iter().copied().min_by(|a, b| part(a).cmp(&part(b)));
        table.into_iter().for_each(|table| self.give(claim, table));
        true
    }

    fn utility(&mut self) {
        let mut next: Vec<Vec<Next>> = (0..self.claims.len()).map(|claim| self.next_of(claim)).collect();
        loop {
            let all = next.iter().flatten();
            // The first of equals, not the last.
            let Some(best) = all.reduce(|best, one| if one.is_better(best) { one } else { best }) else { return };
            let (claim, table) = (best.claim, best.table);
            self.give(claim, table);
            next[claim] = self.next_of(claim);
        }
    }

    /// What the next entry of each table of a tenant is worth.
    fn next_of(&self, claim: usize) -> Vec<Next> {
        self.growing[claim].iter().map(|table| self.next(claim, *table)).collect()
    }

    fn next(&self, claim: usize, table: usize) -> Next {
        let (held, with) = (&self.held[claim], self.with_one(claim, table));
        let more: Vec<u32> = with.iter().zip(held).map(|(with, held)| with.saturating_sub(*held)).collect();
        let takes = dominant(&more, self.capacity);
        let first = self.entries[claim][table] + 1;
        let last = if takes.part == 0 { first } else { self.last_for_nothing(claim, table, &with) };
        let weight = u64::from(self.claims[claim].weight);
        Next { claim, table, brings: u128::from(weight * (first..=last).map(value).sum::<u64>()), takes }
    }

    /// The most entries of a table that hold no more than one entry more does.
    fn last_for_nothing(&self, claim: usize, table: usize, with: &[u32]) -> u32 {
        let mut entries = self.entries[claim].clone();
        let (mut least, mut most) = (entries[table] + 1, self.claims[claim].most[table]);
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            entries[table] = middle;
            if (self.claims[claim].held)(&entries) == with {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        least
    }
}

/// What a table's entry of this number is worth, in 2^-32: half as many entries bring the same again, so that nobody gets all.
fn value(number: u32) -> u64 {
    (1 << 32) / u64::from(number)
}

/// The next entry of a table.
struct Next {
    claim: usize,
    table: usize,
    /// Its worth by weight, with that of the entries that take nothing more after it.
    brings: u128,
    /// What it takes, of the resource of which that is the largest part.
    takes: Fraction,
}

impl Next {
    /// Worth for what it takes; what takes nothing comes first.
    fn is_better(&self, other: &Self) -> bool {
        // Worth is below 2^54, parts and wholes below 2^32.
        let worth = |a: &Self, b: &Self| a.brings * u128::from(a.takes.whole) * u128::from(b.takes.part);
        match (self.takes.part, other.takes.part) {
            (0, 0) => self.brings > other.brings,
            (0, _) => true,
            (_, 0) => false,
            _ => worth(self, other) > worth(other, self),
        }
    }
}
