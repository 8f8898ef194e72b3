//! Operations of the host on maps that the map engine keeps: by key, per-CPU, tries, devmaps.

use crate::device::RtlNic;
use crate::xdp::host_maps::Placed;
use sluice_device::{DeviceError, MapId};
use sluice_ebpf::image::map_flags::{RDONLY, WRONLY};
use sluice_ebpf::map::update_flags::{LOCK, NOEXIST};
use sluice_ebpf::{Errno, MapType};
use sluice_formats::row::Row;
use sluice_formats::xdp::codes::{XdpMapKind, XdpMapOp};
use sluice_formats::xdp::map::{MapPlacement, search_row};
use sluice_formats::xdp::rows::{XdpHostRow, XdpMapRow, XdpMapState, XdpSearchRow, XdpValueRow};
use sluice_formats::xdp::target::KEY_BYTES;
use sluice_formats::{Node, Table};
use sluice_object::xdp::entry;
use sluice_object::xdp::trie::TrieNode;

/// Bytes of a row of the host's data.
const ROW_BYTES: usize = 32;
/// Flags of an update of a further copy: the entry is there, and this is no use of it.
const FURTHER_COPY: u8 = 3;

/// What the engine said, as an error number of bpf(2).
fn answer(row: XdpHostRow) -> Result<XdpHostRow, Errno> {
    if row.error == 0 { Ok(row) } else { Err(Errno(row.error.into())) }
}

/// Where a map is, as its row says.
fn placement(module: u8, row: &XdpMapRow) -> MapPlacement {
    let XdpMapRow { first, outside, base, state, seed, .. } = *row;
    MapPlacement { module, first, outside, base, search: search_row(state), seed }
}

fn packed(row: &impl Row) -> Result<Vec<u32>, DeviceError> {
    row.pack().map_err(|e| DeviceError::Unavailable(e.to_string()))
}

impl RtlNic {
    /// Whether only the host changes a map, and knows what it holds.
    pub(crate) fn host_keeps(map: &Placed) -> bool {
        entry::is_host_kept(map.spec.kind as u32)
    }

    /// Whether a map is the map engine's. The others are arrays, whose values the host reads itself, if they lie on the chip.
    pub(crate) fn engine_has(map: &Placed) -> bool {
        map.laid.shape.kind != XdpMapKind::Array || map.laid.shape.per_cpu
    }

    fn stage(&mut self, first: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        for (row, chunk) in (first as u32..).zip(bytes.chunks(ROW_BYTES)) {
            let mut padded = [0; ROW_BYTES];
            padded[..chunk.len()].copy_from_slice(chunk);
            let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| padded[8 * at + i]));
            let row_words = packed(&XdpValueRow { words: std::array::from_fn(word) })?;
            self.write_row(Node::Xdp, Table::XdpHostData, row, row_words)?;
        }
        Ok(())
    }

    fn operate(&mut self, with: XdpHostRow, key: &[u8], value: &[u8]) -> Result<XdpHostRow, DeviceError> {
        self.stage(0, key)?;
        self.stage(KEY_BYTES / ROW_BYTES, value)?;
        self.write_row(Node::Xdp, Table::XdpHost, 0, packed(&with)?)?;
        let words = self.read_rows(Node::Xdp, Table::XdpHost, 0..1)?.pop().unwrap_or_default();
        XdpHostRow::unpack(&words).map_err(|e| DeviceError::Unavailable(e.to_string()))
    }

    fn asked(&self, module: u8, map: &Placed, op: XdpMapOp) -> Result<XdpHostRow, DeviceError> {
        let (number, _) = self.host().engine_map(module, map)?;
        Ok(XdpHostRow { op: op.code(), map: number, ..XdpHostRow::default() })
    }

    /// The value of a key, all copies one behind the other.
    pub(crate) fn engine_lookup(
        &mut self,
        module: u8,
        map: &Placed,
        key: &[u8],
    ) -> Result<Result<Vec<u8>, Errno>, DeviceError> {
        if map.spec.flags & WRONLY != 0 {
            return Ok(Err(Errno::PERM));
        }
        if key.len() != map.spec.key_size as usize {
            return Ok(Err(Errno::INVAL));
        }
        if map.laid.shape.kind.is_queue() {
            return self.element(module, map, (XdpMapOp::Peek, &[], 0));
        }
        let (mut all, size) = (Vec::new(), map.spec.value_size as usize);
        for cpu in 0..map.laid.shape.copies() {
            let with = XdpHostRow { cpu: cpu as u8, ..self.asked(module, map, XdpMapOp::Lookup)? };
            if let Err(errno) = answer(self.operate(with, key, &[])?) {
                return Ok(Err(errno));
            }
            let first = (KEY_BYTES / ROW_BYTES) as u32;
            let rows = self.read_rows(Node::Xdp, Table::XdpHostData, first..first + size.div_ceil(ROW_BYTES) as u32)?;
            all.extend(rows.iter().flatten().flat_map(|word| word.to_le_bytes()).take(size));
            if map.laid.shape.per_cpu {
                all.resize(all.len().next_multiple_of(8), 0);
            }
        }
        Ok(Ok(all))
    }

    /// Makes or changes an entry.
    pub(crate) fn engine_update(
        &mut self,
        module: u8,
        id: MapId,
        map: &Placed,
        (key, value, flags): (&[u8], &[u8], u64),
    ) -> Result<Result<(), Errno>, DeviceError> {
        let (shape, size) = (map.laid.shape, map.spec.value_size as usize);
        if map.spec.flags & RDONLY != 0 || map.spec.frozen {
            return Ok(Err(Errno::PERM));
        }
        let (flags, locked) = (flags & !LOCK, flags & LOCK != 0);
        if locked && map.spec.spin_lock.is_none() {
            return Ok(Err(Errno::INVAL));
        }
        let each = if shape.per_cpu { size.next_multiple_of(8) } else { size };
        if key.len() != map.spec.key_size as usize || value.len() != each * shape.copies() as usize || flags > 2 {
            return Ok(Err(Errno::INVAL));
        }
        // Nobody has the lock of an entry that is not there; for that of one that is there the map engine cannot wait.
        if locked && flags != NOEXIST {
            return Err(DeviceError::MapLacks { map: id.0, what: "updates under the value's lock (`BPF_F_LOCK`)" });
        }
        let mut flags = flags as u8;
        match shape.kind {
            XdpMapKind::Trie => return self.trie_update(module, id, map, (key, value, flags.into())),
            kind if kind.is_queue() => {
                return Ok(self.element(module, map, (XdpMapOp::Push, value, flags))?.map(drop));
            }
            XdpMapKind::Devices | XdpMapKind::KeyedReferences => {
                // The shadow says what an interface may be; a devmap's hash looks at no flag but for new ones.
                let mut probe = sluice_ebpf::MapSpace::new(1);
                let one = probe.create(&map.spec).map_err(|e| DeviceError::Unavailable(e.to_string()))?;
                let looked_at = if shape.kind == XdpMapKind::Devices { u64::from(flags) } else { 0 };
                if let Err(errno) = probe.user_update(one, key, value, looked_at) {
                    return Ok(Err(errno));
                }
                if map.spec.kind == MapType::DevmapHash && flags == 2 {
                    flags = 0;
                }
            }
            _ => {}
        }
        for (cpu, copy) in (0..).zip(value.chunks(each)) {
            let further = if shape.searched() { FURTHER_COPY } else { 0 };
            let with = XdpHostRow {
                cpu,
                flags: if cpu == 0 { flags } else { further },
                ..self.asked(module, map, XdpMapOp::Update)?
            };
            if let Err(errno) = answer(self.operate(with, key, &copy[..size])?) {
                return Ok(Err(errno));
            }
        }
        if shape.sent_to_slot().is_some() {
            let known = self.host_mut().shadow(module)?.user_update(id, key, value, 0);
            known.map_err(|errno| DeviceError::Unavailable(format!("an entry that the engine took: {errno:?}")))?;
            return self.write_sent_to(module, id, map).map(Ok);
        }
        Ok(Ok(()))
    }

    /// Tells the engine where a redirect to all entries of a devmap goes now: one operation behind that on the entry.
    fn write_sent_to(&mut self, module: u8, id: MapId, map: &Placed) -> Result<(), DeviceError> {
        let Some(slot) = map.laid.shape.sent_to_slot() else { return Ok(()) };
        let mut value = vec![0; map.spec.value_size as usize];
        value[0] = self.host().sent_to(module, id, self.nic_target())?;
        let with = XdpHostRow { chain: slot, ..self.asked(module, map, XdpMapOp::Put)? };
        let done = answer(self.operate(with, &[], &value)?);
        done.map(drop).map_err(|errno| DeviceError::Unavailable(format!("destinations of a devmap: {errno:?}")))
    }

    /// An operation on a queue or stack: an element goes in, or comes out of what the engine answers.
    fn element(
        &mut self,
        module: u8,
        map: &Placed,
        (op, value, flags): (XdpMapOp, &[u8], u8),
    ) -> Result<Result<Vec<u8>, Errno>, DeviceError> {
        let with = XdpHostRow { flags, ..self.asked(module, map, op)? };
        if let Err(errno) = answer(self.operate(with, &[], value)?) {
            return Ok(Err(errno));
        }
        let (first, size) = ((KEY_BYTES / ROW_BYTES) as u32, map.spec.value_size as usize);
        let rows = self.read_rows(Node::Xdp, Table::XdpHostData, first..first + size.div_ceil(ROW_BYTES) as u32)?;
        Ok(Ok(rows.iter().flatten().flat_map(|word| word.to_le_bytes()).take(size).collect()))
    }

    /// Takes an element out of a queue or stack.
    pub(crate) fn engine_pop(&mut self, module: u8, map: &Placed) -> Result<Result<Vec<u8>, Errno>, DeviceError> {
        if map.spec.flags & (RDONLY | WRONLY) != 0 || map.spec.frozen {
            return Ok(Err(Errno::PERM));
        }
        self.element(module, map, (XdpMapOp::Pop, &[], 0))
    }

    /// The elements of a queue or stack, the oldest first.
    pub(crate) fn engine_elements(
        &mut self,
        module: u8,
        map: &Placed,
    ) -> Result<Result<Vec<Vec<u8>>, Errno>, DeviceError> {
        if map.spec.flags & WRONLY != 0 {
            return Ok(Err(Errno::PERM));
        }
        let (_, row) = self.host().engine_map(module, map)?;
        let (search, shape) = (placement(module, &row).search, map.laid.shape);
        let rows = self.read_rows(Node::Xdp, Table::XdpSearch, search..search + 1)?;
        let state = rows.first().map(|words| XdpMapState::unpack(words)).transpose();
        let state = state.map_err(|e| DeviceError::Unavailable(e.to_string()))?.unwrap_or_default();
        let bytes = self.value_bytes(map, 0, (shape.entries as usize) << shape.shift())?;
        let slots = (0..state.count.min(shape.entries)).map(|behind| (state.hand + behind) % shape.entries);
        let element = |slot: u32| bytes[(slot << shape.shift()) as usize..][..shape.value_bytes as usize].to_vec();
        Ok(Ok(slots.map(element).collect()))
    }

    /// Takes an entry out.
    pub(crate) fn engine_delete(
        &mut self,
        module: u8,
        id: MapId,
        map: &Placed,
        key: &[u8],
    ) -> Result<Result<(), Errno>, DeviceError> {
        if map.spec.flags & RDONLY != 0 || map.spec.frozen {
            return Ok(Err(Errno::PERM));
        }
        if key.len() != map.spec.key_size as usize {
            return Ok(Err(Errno::INVAL));
        }
        let done = match map.laid.shape.kind {
            kind if kind.is_queue() => Err(Errno::INVAL),
            XdpMapKind::Trie => return self.trie_delete(module, id, map, key),
            XdpMapKind::Devices => {
                let zero = vec![0; map.spec.value_size as usize];
                let with = self.asked(module, map, XdpMapOp::Update)?;
                // An index beyond the end is EINVAL here, as in the kernel.
                answer(self.operate(with, key, &zero)?).map(drop).map_err(|_| Errno::INVAL)
            }
            _ => {
                let with = self.asked(module, map, XdpMapOp::Delete)?;
                answer(self.operate(with, key, &[])?).map(drop)
            }
        };
        if done.is_ok() && map.laid.shape.sent_to_slot().is_some() {
            // An index that has no entry is taken out all the same.
            let _ = self.host_mut().shadow(module)?.user_delete(id, key);
            self.write_sent_to(module, id, map)?;
        }
        Ok(done)
    }

    /// Makes or changes an entry that only the host changes: what bpf(2) says of it the shadow knows.
    pub(crate) fn kept_update(
        &mut self,
        module: u8,
        id: MapId,
        map: &Placed,
        (key, value, flags): (&[u8], &[u8], u64),
    ) -> Result<Result<(), Errno>, DeviceError> {
        if value.len() != map.spec.value_size as usize {
            // No entry at all: the shadow says why, and takes none.
            return Ok(self.host_mut().shadow(module)?.user_update(id, key, value, flags).and(Err(Errno::INVAL)));
        }
        let Some(word) = self.host().word(module, map, key, value, self.nic_target()) else {
            return Ok(Err(Errno::BADF));
        };
        if let Err(errno) = self.host_mut().shadow(module)?.user_update(id, key, value, flags) {
            return Ok(Err(errno));
        }
        let with = self.asked(module, map, XdpMapOp::Update)?;
        Ok(answer(self.operate(with, key, &word)?).map(drop))
    }

    /// Takes such an entry out.
    pub(crate) fn kept_delete(
        &mut self,
        module: u8,
        id: MapId,
        map: &Placed,
        key: &[u8],
    ) -> Result<Result<(), Errno>, DeviceError> {
        if let Err(errno) = self.host_mut().shadow(module)?.user_delete(id, key) {
            return Ok(Err(errno));
        }
        let op = if map.laid.shape.has_chains() { XdpMapOp::Delete } else { XdpMapOp::Update };
        let with = self.asked(module, map, op)?;
        Ok(answer(self.operate(with, key, &[0; 8])?).map(drop))
    }

    /// The key behind another one, in the order of chains.
    pub(crate) fn engine_next(
        &mut self,
        module: u8,
        map: &Placed,
        key: Option<&[u8]>,
    ) -> Result<Option<Vec<u8>>, DeviceError> {
        let (_, row) = self.host().engine_map(module, map)?;
        let place = placement(module, &row);
        let mut with = XdpHostRow { key: key.is_some(), ..self.asked(module, map, XdpMapOp::Next)? };
        loop {
            let found = self.operate(with, key.unwrap_or_default(), &[])?;
            match found.slot.checked_sub(1) {
                _ if found.error != 0 => return Ok(None),
                None => with = XdpHostRow { key: false, chain: found.chain, ..with },
                Some(slot) => {
                    let rows = self.read_rows(Node::Xdp, Table::XdpSearch, map.laid.shape.entry(&place, slot))?;
                    let rows: Result<Vec<_>, _> = rows.iter().map(|words| XdpSearchRow::unpack(words)).collect();
                    let rows = rows.map_err(|e| DeviceError::Unavailable(e.to_string()))?;
                    return Ok(Some(map.laid.shape.key(&rows)));
                }
            }
        }
    }

    /// How many entries a map with chains has whose rows of search memory lie outside; none on the chip.
    pub(crate) fn far_entries(&mut self, module: u8, map: &Placed) -> Result<Option<u32>, DeviceError> {
        if !map.laid.shape.has_chains() || Self::host_keeps(map) {
            return Ok(None);
        }
        let (_, row) = self.host().engine_map(module, map)?;
        let place = placement(module, &row);
        if !place.search_outside() {
            return Ok(None);
        }
        let rows = self.read_rows(Node::Xdp, Table::XdpSearch, place.search..place.search + 1)?;
        Ok(rows.first().and_then(|row| row.first().copied()))
    }

    fn trie_update(
        &mut self,
        module: u8,
        id: MapId,
        map: &Placed,
        (key, value, flags): (&[u8], &[u8], u64),
    ) -> Result<Result<(), Errno>, DeviceError> {
        if let Err(errno) = self.host_mut().shadow(module)?.user_update(id, key, value, flags) {
            return Ok(Err(errno));
        }
        // The value first, then what leads to it.
        let nodes = self.host_mut().shadow(module)?.trie(id).unwrap_or_default();
        if let Some(slot) = self.host_mut().shadow(module)?.trie_slot(id, key) {
            let with = XdpHostRow { chain: slot, ..self.asked(module, map, XdpMapOp::Put)? };
            if let Err(errno) = answer(self.operate(with, &[], value)?) {
                return Ok(Err(errno));
            }
        }
        self.write_trie(module, id, map, nodes).map(Ok)
    }

    fn trie_delete(
        &mut self,
        module: u8,
        id: MapId,
        map: &Placed,
        key: &[u8],
    ) -> Result<Result<(), Errno>, DeviceError> {
        if let Err(errno) = self.host_mut().shadow(module)?.user_delete(id, key) {
            return Ok(Err(errno));
        }
        let nodes = self.host_mut().shadow(module)?.trie(id).unwrap_or_default();
        self.write_trie(module, id, map, nodes).map(Ok)
    }

    fn write_trie(
        &mut self,
        module: u8,
        id: MapId,
        map: &Placed,
        nodes: (Option<u32>, Vec<TrieNode>),
    ) -> Result<(), DeviceError> {
        let (_, row) = self.host().engine_map(module, map)?;
        let place = placement(module, &row);
        let shape = map.laid.shape;
        let writes = self.host_mut().trie(module, id)?.becomes(nodes, &shape, &place);
        for (row, words) in writes {
            self.write_row(Node::Xdp, Table::XdpSearch, row, packed(&words)?)?;
        }
        Ok(())
    }
}
