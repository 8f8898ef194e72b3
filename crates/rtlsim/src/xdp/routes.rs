//! Routes of a module's programs: the host writes them into the map that the linker has added, entry by entry while packets run.
//!
//! Each entry is there as a whole or not at all. New and changed ones go first, what leads to others behind these, and what nobody is led
//! to any more is taken out last; only where both do not fit side by side the old ones go first.

use crate::device::RtlNic;
use sluice_device::{Device, DeviceError};
use sluice_ebpf::Errno;
use sluice_ebpf::helper::fib::rows::{Entry, Numbers, entries};
use sluice_ebpf::helper::routes::Routes;
use std::collections::BTreeSet;

/// So many times more lines than entries never fit, though some lines have none of their own.
const FAR_TOO_MANY: usize = 16;

/// Ticks until the place of an entry that is gone is used again: a call that has found it may read it until then.
const GRACE: u64 = 2000;

impl RtlNic {
    /// Keeps what the host says of a module's routes, and writes it where a program asks for them.
    pub(crate) fn say_routes(&mut self, module: u8, routes: Routes) -> Result<(), DeviceError> {
        let known = self.host_mut().known_routes(module)?;
        let before = (std::mem::replace(&mut known.said, routes), known.numbers.clone());
        let done = self.write_routes(module);
        if done.is_err() {
            // Nothing was written.
            let known = self.host_mut().known_routes(module)?;
            (known.said, known.numbers) = before;
        }
        done
    }

    /// Programs that came since routes were said find them, before a packet does.
    pub(crate) fn fill_routes(&mut self) -> Result<(), DeviceError> {
        self.host().without_routes().into_iter().try_for_each(|module| self.write_routes(module))
    }

    fn write_routes(&mut self, module: u8) -> Result<(), DeviceError> {
        let Some((id, map)) = self.host().routes_map(module)? else { return Ok(()) };
        let most = map.spec.max_entries as usize;
        let known = self.host_mut().known_routes(module)?;
        if known.filled != Some(id) {
            (known.numbers, known.filled) = (Numbers::default(), Some(id));
        }
        let refused = |what: String| DeviceError::Routes { what, code: "E0806" };
        let too_many = |found: usize| {
            refused(format!("{found} entries of the engine's map of routes, this NIC gives a program {most}"))
        };
        // What is far too long is not looked at.
        let lines = known.said.len();
        if lines > FAR_TOO_MANY * most {
            return Err(too_many(lines));
        }
        let wanted = entries(&known.said, &mut known.numbers).map_err(|e| refused(e.to_string()))?;
        if wanted.len() > most {
            return Err(too_many(wanted.len()));
        }
        let shadow = self.host_mut().shadow(module)?;
        let (mut gone, mut key) = (Vec::new(), None);
        let keys: BTreeSet<&[u8]> = wanted.iter().map(|(key, _)| key.as_slice()).collect();
        let mut held = 0;
        while let Ok(Some(next)) = shadow.next_key(id, key.as_deref()) {
            held += 1;
            if !keys.contains(next.as_slice()) {
                gone.push(next.clone());
            }
            key = Some(next);
        }
        let changed = |(key, value): &&Entry| shadow.user_lookup(id, key).as_ref() != Ok(value);
        let changes: Vec<Entry> = wanted.iter().filter(changed).cloned().collect();
        let new = changes.iter().filter(|(key, _)| shadow.user_lookup(id, key).is_err()).count();
        let failed = |errno: Errno| DeviceError::Unavailable(format!("an entry of the map of routes: {errno:?}"));
        let first = held + new > most;
        for key in gone.iter().filter(|_| first) {
            self.engine_delete(module, id, &map, key)?.map_err(failed)?;
            self.advance(GRACE)?;
        }
        for (key, value) in &changes {
            let frees = self.host_mut().shadow(module)?.user_lookup(id, key).is_ok();
            self.engine_update(module, id, &map, (key, value, 0))?.map_err(failed)?;
            if frees {
                self.advance(GRACE)?;
            }
        }
        for key in gone.iter().filter(|_| !first) {
            self.engine_delete(module, id, &map, key)?.map_err(failed)?;
            self.advance(GRACE)?;
        }
        Ok(())
    }
}
