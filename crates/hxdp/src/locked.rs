//! Updates of maps under the value's lock (`BPF_F_LOCK`), which the engine in hardware has not. docs/design/hxdp-core.md, "Locks".

use sluice_ebpf::analysis::{At, Call};
use sluice_ebpf::map::update_flags::{EXIST, LOCK};
use sluice_ebpf::{Image, MapSpec};

/// `map_update_elem`.
const UPDATE: i32 = 2;
/// Place of its flags among the arguments.
const FLAGS: usize = 3;
/// What an update under the lock is asked for with: what may be there, or what has to.
const LOCKED: [u64; 2] = [LOCK, LOCK | EXIST];

/// Why only the software NIC makes this call, if it is one that may change a value under its lock.
///
/// All other flags the engine takes as the software NIC does, those of new entries with `BPF_F_LOCK` among them: nobody has the
/// lock of what is not there.
pub fn refused(image: &Image, at: &At) -> Option<String> {
    let call = at.call.as_ref().filter(|call| call.helper == UPDATE)?;
    if !locks(image, call) {
        return None;
    }
    let flags = call.args.get(FLAGS).map(|(_, flags)| *flags);
    if let Some(number) = flags.and_then(|flags| flags.as_constant()) {
        let under = LOCKED.contains(&number);
        return under.then(|| "`map_update_elem` with `BPF_F_LOCK`: updates under the value's lock".to_owned());
    }
    let may = flags.is_none_or(|flags| LOCKED.iter().any(|number| flags.offset.contains(*number)));
    may.then(|| {
        "`map_update_elem` of a map with locks by flags that are not known before: they may be `BPF_F_LOCK`".to_owned()
    })
}

/// Whether the map of a call may be one whose values have a lock.
fn locks(image: &Image, call: &Call) -> bool {
    let has = |spec: &MapSpec| spec.spin_lock.is_some();
    match call.map {
        Some(map) => map.each().into_iter().any(|map| map.spec(image).is_none_or(has)),
        None => image.maps.iter().any(|map| has(map) || map.inner.as_deref().is_some_and(has)),
    }
}
