//! Messages in the rings of two devices, compared.

use sluice_device::Message;
use sluice_formats::Row;
use sluice_formats::l7::rows::L7CompletionRow;
use std::fmt;

/// Module, queue and message.
pub type InRing = (u8, u8, Message);

/// The device that has a message which the other one has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// The model.
    Model,
    /// The RTL.
    Rtl,
}

impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Model => "model",
            Self::Rtl => "RTL",
        })
    }
}

/// What two messages have to have in common. Messages end in another order there, so buffers and places are other ones.
fn key((module, queue, message): &InRing) -> (u8, u8, Vec<u32>, &[u8]) {
    let completion = L7CompletionRow { cookie: 0, phase: false, ..message.completion };
    (*module, *queue, completion.pack().unwrap_or_default(), &message.bytes)
}

/// Messages that only one of both has.
pub fn apart(model: &[InRing], rtl: &[InRing]) -> Vec<(InRing, Only)> {
    let sorted = |all: &[InRing]| {
        let mut all = all.to_vec();
        all.sort_by(|a, b| key(a).cmp(&key(b)));
        all
    };
    let (model, rtl) = (sorted(model), sorted(rtl));
    let (mut left, mut right) = (model.into_iter().peekable(), rtl.into_iter().peekable());
    let mut apart = Vec::new();
    loop {
        match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if key(a) == key(b) => drop((left.next(), right.next())),
            (Some(a), b) if b.is_none_or(|b| key(a) < key(b)) => {
                apart.extend(left.next().map(|message| (message, Only::Model)));
            }
            (_, Some(_)) => apart.extend(right.next().map(|message| (message, Only::Rtl))),
            _ => return apart,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_formats::l7::codes::L7Status;

    fn message(queue: u8, number: u32, cookie: u32, bytes: &[u8]) -> InRing {
        let completion = L7CompletionRow { message: number, cookie, ..L7CompletionRow::default() };
        (1, queue, Message { completion, status: L7Status::Whole, bytes: bytes.to_vec() })
    }

    #[test]
    fn order_and_buffers_are_free_and_each_message_counts_once() {
        let model = [message(0, 1, 0, b"a"), message(0, 2, 1, b"b"), message(0, 2, 2, b"b"), message(3, 9, 3, b"c")];
        let mut rtl = [message(3, 9, 7, b"c"), message(0, 2, 4, b"b"), message(0, 1, 5, b"a"), message(0, 2, 6, b"b")];
        assert_eq!(apart(&model, &rtl), []);
        rtl[0] = message(3, 9, 7, b"d");
        rtl[1].1 = 1;
        let only: Vec<_> = apart(&model, &rtl).into_iter().map(|((_, queue, _), device)| (queue, device)).collect();
        assert_eq!(only, [(0, Only::Model), (1, Only::Rtl), (3, Only::Model), (3, Only::Rtl)]);
        assert_eq!(apart(&model[..1], &[]).len(), 1);
        assert_eq!(apart(&[], &rtl).len(), 4);
    }
}
