//! A list of which most is blank: pages that are there once something else stands in them. A copy shares pages until either changes.

use std::sync::Arc;

/// Elements of a page.
const PAGE: usize = 256;

/// A list of a fixed length, blank at first.
#[derive(Clone, Debug)]
pub struct Sparse<T> {
    pages: Vec<Option<Arc<[Option<T>; PAGE]>>>,
    len: usize,
}

impl<T: Clone> Sparse<T> {
    /// All blank.
    pub fn new(len: usize) -> Self {
        Self { pages: vec![None; len.div_ceil(PAGE)], len }
    }

    /// Elements, blank ones too.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no place for any.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What stands at a place; nothing where it is blank, or behind the end.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&T> {
        self.pages.get(at / PAGE)?.as_ref()?[at % PAGE].as_ref()
    }

    /// Puts something at a place of the list, or makes it blank; what stood there before.
    ///
    /// # Panics
    ///
    /// Behind the end, as a list does.
    pub fn set(&mut self, at: usize, element: Option<T>) -> Option<T> {
        assert!(at < self.len, "element {at} of {}", self.len);
        let page = &mut self.pages[at / PAGE];
        if page.is_none() && element.is_none() {
            return None;
        }
        let page = page.get_or_insert_with(|| Arc::new([const { None }; PAGE]));
        std::mem::replace(&mut Arc::make_mut(page)[at % PAGE], element)
    }

    /// All that is not blank from one place up to another, with its place.
    pub fn range(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = (usize, &T)> {
        let pages = range.start / PAGE..range.end.min(self.len).div_ceil(PAGE);
        let there = pages.filter_map(|at| Some((at, self.pages.get(at)?.as_deref()?)));
        let all = there.flat_map(|(at, page)| (PAGE * at..).zip(page.iter()));
        all.filter(move |(at, _)| range.contains(at)).filter_map(|(at, element)| Some((at, element.as_ref()?)))
    }
}

impl<T: Clone + PartialEq> PartialEq for Sparse<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.range(0..self.len).eq(other.range(0..other.len))
    }
}

impl<T: Clone + Eq> Eq for Sparse<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Rng, test_seed};

    #[test]
    fn it_is_a_list_and_a_copy_stays_as_it_was() {
        let mut rng = Rng::new(test_seed("sparse"));
        let (mut sparse, mut list) = (Sparse::new(700), vec![None; 700]);
        for step in 0..2000u32 {
            let (at, element) = (rng.below(700) as usize, (rng.below(3) > 0).then_some(step));
            let copy = sparse.clone();
            assert_eq!(sparse.set(at, element), std::mem::replace(&mut list[at], element));
            assert_eq!(copy == sparse, copy.get(at) == sparse.get(at));
            assert_eq!(sparse.get(at), list[at].as_ref());
            let (from, to) = (rng.below(701) as usize, rng.below(701) as usize);
            let expected = (from..to).filter_map(|at| Some((at, list[at].as_ref()?)));
            assert!(sparse.range(from..to).eq(expected));
        }
        assert_eq!((sparse.get(700), sparse.len(), sparse.is_empty()), (None, 700, false));
    }
}
