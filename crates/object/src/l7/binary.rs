//! The binary form of an l7 part.

use super::{L7Application, L7Part};
use crate::binary::read_flags;
use crate::bytes::{Reader, Writer};
use crate::error::ObjectError;
use crate::rows::{bytes, read_row, read_rows, write_row, write_rows};
use sluice_formats::l7::rows::L7PortRow;

const DISCARD: u8 = 1;

pub(super) fn write(w: &mut Writer, part: &L7Part) {
    w.u32(part.applications.len() as u32);
    for application in &part.applications {
        w.name(&application.name);
        w.u8(if application.discard { DISCARD } else { 0 });
        write_row(w, &application.row);
    }
    write_rows(w, &part.starts);
    write_rows(w, &part.rows);
    write_rows(w, &part.groups);
}

pub(super) fn read(r: &mut Reader) -> Result<L7Part, ObjectError> {
    // A name's length and the flags.
    let least = 2 + bytes::<L7PortRow>();
    let applications = (0..r.count(least, "applications")?).map(|_| {
        let name = r.name("name of an application")?;
        let discard = read_flags(r, DISCARD, "flags of an application")? & DISCARD != 0;
        Ok(L7Application { name, row: read_row(r)?, discard })
    });
    let applications = applications.collect::<Result<_, ObjectError>>()?;
    Ok(L7Part { applications, starts: read_rows(r)?, rows: read_rows(r)?, groups: read_rows(r)? })
}
