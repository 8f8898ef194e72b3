//! Rows in parts of objects. In the binary form a row is its words, as on the configuration ring.

use crate::bytes::{Reader, Writer, wrong};
use crate::error::{ObjectError, bad};
use sluice_formats::row::Row;

/// How many, and each.
pub(crate) fn write_rows(w: &mut Writer, rows: &[impl Row]) {
    w.u32(rows.len() as u32);
    rows.iter().for_each(|row| write_row(w, row));
}

/// One row.
pub(crate) fn write_row(w: &mut Writer, row: &impl Row) {
    // Objects that do not pass their check have no binary form that is read again.
    row.pack().unwrap_or_default().iter().for_each(|word| w.u32(*word));
}

/// Bytes of a row.
pub(crate) fn bytes<L: Row>() -> usize {
    4 * L::words()
}

/// What `write_rows` has written.
pub(crate) fn read_rows<L: Row>(r: &mut Reader) -> Result<Vec<L>, ObjectError> {
    (0..r.count(bytes::<L>(), L::NAME)?).map(|_| read_row(r)).collect()
}

/// One row.
pub(crate) fn read_row<L: Row>(r: &mut Reader) -> Result<L, ObjectError> {
    let at = r.at();
    let words = (0..L::words()).map(|_| r.u32(L::NAME)).collect::<Result<Vec<_>, _>>()?;
    L::unpack(&words).map_err(|e| wrong(at, e, format!("a row {}", L::NAME)))
}

/// Refuses a row with a value that its field does not hold.
pub(crate) fn packs(at: &str, row: &impl Row) -> Result<(), ObjectError> {
    row.pack().map(drop).map_err(|e| bad(at, e, "values within their fields"))
}

/// Refuses more than so many.
pub(crate) fn at_most(at: &str, found: usize, most: usize) -> Result<(), ObjectError> {
    if found <= most { Ok(()) } else { Err(bad(at, found, format!("at most {most}"))) }
}

/// Refuses a position that is not there.
pub(crate) fn below(at: &str, found: usize, limit: usize) -> Result<(), ObjectError> {
    if found < limit { Ok(()) } else { Err(bad(at, found, format!("below {limit}"))) }
}
