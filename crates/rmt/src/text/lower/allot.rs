//! Operands of an action to the places that the row has for them.

use super::Lower;
use super::action::{AluWork, Work};
use super::operands::{Allotment, Cut, Need, Source, whole};
use crate::action::{A, Action, Alu, B, WordOp, WordSource};
use crate::phv::{Class, Container};
use crate::text::error::Read;
use sluice_packet::text::Span;

impl Lower<'_> {
    /// Allots the operands and writes the row.
    pub(super) fn allot(&mut self, work: Work, at: &str) -> Action {
        let mut action = work.raw;
        let mut shared = Allotment::new(self.scope.text, work.context.stage, work.name);
        for class in Class::ALL {
            if work.fixed[class as usize] {
                shared.fix(class, &action.picks[class as usize]);
            }
        }
        for (i, span) in work.raw_alus.iter().enumerate() {
            self.places.put(format!("{at}.alus[{i}]"), *span);
        }
        for (i, span) in work.raw_words.iter().enumerate() {
            self.places.put(format!("{at}.words[{i}]"), *span);
        }
        if work.fixed_cross {
            let fixed = (action.cross, action.cross_shift, Cut::Exactly(action.cross_cut));
            let _ = shared.cross(fixed, Need { span: Span::default() });
        }
        // Operands that can be in one place only come first, first operands next.
        for alu in &work.alus {
            for (source, span) in alu.a.iter().chain([&alu.b]) {
                let need = Need { span: *span };
                let result = match *source {
                    Source::Cross(from, shift, cut) => shared.cross((from, shift, cut), need),
                    Source::Rotated(c, amount, mask) => shared.rotated(c, amount, mask, need),
                    _ => Ok(()),
                };
                self.notes.ok(result);
            }
        }
        if let Some((state, span)) = &work.state {
            let op = self.state_row(state, &mut shared);
            action.state = self.notes.ok(op);
            self.places.put(format!("{at}.state"), *span);
        }
        for word in &work.words {
            let need = Need { span: word.source.1 };
            let source = match word.source.0 {
                Source::Imm(v) => Ok(WordSource::Imm(v as u16)),
                Source::Pick(c) => match shared.fixed(c, 0, need) {
                    Ok(()) => Ok(WordSource::P0),
                    Err(e) => shared.cross(whole(c), need).map(|()| WordSource::X).map_err(|_| e),
                },
                Source::Data(position) => shared.fixed_data(Class::C2, 0, position, need).map(|()| WordSource::Data),
                Source::Cross(from, shift, cut) => shared.cross((from, shift, cut), need).map(|()| WordSource::X),
                Source::Rotated(..) => continue,
            };
            let Some(source) = self.notes.ok(source) else { continue };
            self.places.put(format!("{at}.words[{}]", action.words.len()), word.span);
            action.words.push(WordOp { word: word.word, source, mask: word.mask, when: word.when });
        }
        self.containers(&work.alus, &mut shared);
        let firsts: Vec<Read<A>> = work
            .alus
            .iter()
            .map(|alu| match alu.a {
                None => Ok(A::Own),
                Some((Source::Pick(c), span)) => shared.first(c, Need { span }),
                Some(_) => Ok(A::X),
            })
            .collect();
        for (alu, a) in work.alus.iter().zip(firsts) {
            let need = Need { span: alu.b.1 };
            let b = match alu.b.0 {
                Source::Imm(v) => Ok(B::Imm(v)),
                Source::Pick(c) => shared.second(c, need),
                Source::Rotated(..) => Ok(B::R),
                Source::Data(position) => shared.any_data(alu.own.class(), position, need),
                Source::Cross(..) => Ok(B::X),
            };
            let (Some(a), Some(b)) = (self.notes.ok(a), self.notes.ok(b)) else { continue };
            self.places.put(format!("{at}.alus[{}]", action.alus.len()), alu.span);
            action.alus.push(Alu { own: alu.own, op: alu.op, a, b, mask: alu.mask, when: alu.when });
        }
        (action.picks, action.cross, action.cross_shift, action.cross_cut) = shared.rows();
        action
    }

    /// Picks in the order of the containers, so that the order of statements changes nothing: first
    /// operands before second ones, which may be the rotator too.
    fn containers(&mut self, alus: &[AluWork], shared: &mut Allotment) {
        let picked = |s: &(Source, Span)| match s.0 {
            Source::Pick(c) => Some((c, s.1)),
            _ => None,
        };
        let mut firsts: Vec<(Container, Span)> = alus.iter().filter_map(|a| a.a.as_ref().and_then(picked)).collect();
        let mut seconds: Vec<(Container, Span)> = alus.iter().filter_map(|a| picked(&a.b)).collect();
        firsts.sort_by_key(|f| f.0);
        seconds.sort_by_key(|s| s.0);
        for (c, span) in firsts {
            let result = shared.first(c, Need { span });
            self.notes.ok(result);
        }
        for (c, span) in seconds {
            let result = shared.second(c, Need { span });
            self.notes.ok(result);
        }
    }
}
