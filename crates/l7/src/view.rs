//! What the matchers see of a message.

use sluice_formats::l7::target::{FIELDS, SEGMENT_BYTES, VIEW_BYTES};
use std::ops::Range;

/// The bytes that rules see, and where fields lie in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View<'a> {
    bytes: &'a [u8],
    /// By index; 0 is none.
    fields: [Option<(u16, u16)>; FIELDS + 1],
    /// The payload goes on behind the view: the field's end is not in it.
    open: bool,
}

/// A message whose fields cannot be told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} of the view: {what}")]
pub struct Malformed {
    /// Offset in the view.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl<'a> View<'a> {
    /// Of a message's first packet: `payload` is what lies behind its headers. On the targets rules see [`VIEW_BYTES`] of it.
    pub fn of_message(payload: &'a [u8], seg_cnt: u8) -> Result<Self, Malformed> {
        Self::of_message_up_to(payload, seg_cnt, VIEW_BYTES)
    }

    /// The same where rules see `most` bytes.
    pub fn of_message_up_to(payload: &'a [u8], seg_cnt: u8, most: usize) -> Result<Self, Malformed> {
        let segments = if seg_cnt == 0 { most } else { SEGMENT_BYTES * usize::from(seg_cnt) };
        let bytes = &payload[..payload.len().min(segments).min(most)];
        let mut fields = [None; FIELDS + 1];
        let (mut at, mut last) = (0, 0);
        while let Some(&index) = bytes.get(at) {
            if usize::from(index) > FIELDS {
                break;
            }
            if index <= last {
                let what = if index == 0 {
                    "a field has index 0"
                } else {
                    "a field does not have a higher index than the one before"
                };
                return Err(Malformed { at, what });
            }
            let length = *bytes.get(at + 1).ok_or(Malformed { at, what: "a field's length is not there" })?;
            let (start, end) = (at + 2, at + 2 + usize::from(length));
            if end > bytes.len() {
                return Err(Malformed { at, what: "a field ends behind what the NIC sees" });
            }
            fields[usize::from(index)] = Some((start as u16, end as u16));
            (at, last) = (end, index);
        }
        Ok(Self { bytes, fields, open: false })
    }

    /// Of a raw application's packet: `payload` is what lies behind the UDP header.
    pub fn of_raw(payload: &'a [u8]) -> Self {
        Self::of_raw_up_to(payload, VIEW_BYTES)
    }

    /// The same where rules see `most` bytes.
    pub fn of_raw_up_to(payload: &'a [u8], most: usize) -> Self {
        let bytes = &payload[..payload.len().min(most)];
        let mut fields = [None; FIELDS + 1];
        fields[1] = Some((0, bytes.len() as u16));
        Self { bytes, fields, open: payload.len() > most }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where a field's value lies; none for one that is absent.
    pub fn field(&self, index: u8) -> Option<Range<usize>> {
        self.fields.get(usize::from(index)).copied().flatten().map(|(start, end)| usize::from(start)..usize::from(end))
    }

    /// A field's value.
    pub fn value(&self, index: u8) -> Option<&'a [u8]> {
        self.field(index).map(|range| &self.bytes[range])
    }

    /// Whether the last field's end is not to be seen.
    pub fn is_open(&self) -> bool {
        self.open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_up_to_the_first_other_one() {
        let view = View::of_message(b"\x01\x02ab\x03\x00\x0f\x01c\x10\xffrest", 0).unwrap();
        let values = [1, 2, 3, 15, 16].map(|index| view.value(index));
        assert_eq!(values, [Some(&b"ab"[..]), None, Some(b""), Some(b"c"), None]);
    }

    #[test]
    fn a_field_that_the_view_cuts_is_malformed_and_one_that_ends_with_it_is_not() {
        let mut payload = vec![1, 62];
        payload.extend([7; 62]);
        payload.extend([2, 1, 9]);
        assert!(View::of_message(&payload, 1).unwrap().value(2).is_none());
        assert_eq!(View::of_message(&payload, 0).unwrap().value(2), Some(&[9][..]));
        payload[1] = 63;
        assert_eq!(View::of_message(&payload, 1).unwrap_err().at, 0);
        for (payload, at) in
            [(&b"\x00"[..], 0), (b"\x02\x01a\x02\x00", 3), (b"\x01\x01a\x02", 3), (b"\x01", 0), (b"\x01\x02a", 0)]
        {
            assert_eq!(View::of_message(payload, 0).unwrap_err().at, at, "{payload:?}");
        }
    }

    #[test]
    fn a_raw_payload_that_goes_on_has_no_end_in_the_view() {
        let payload = vec![5; 513];
        assert!(View::of_raw(&payload).is_open());
        assert!(!View::of_raw(&payload[..512]).is_open());
        assert_eq!(View::of_raw(&payload).field(1), Some(0..512));
    }
}
