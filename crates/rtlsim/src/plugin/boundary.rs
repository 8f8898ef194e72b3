//! The C boundary: a plug-in (`libsluice_rtl_<config>.so`) and the instances in it.
//!
//! The C side is `cpp/sluice_rtl.h`. All `unsafe` of this crate is here.
#![allow(unsafe_code)]

use crate::plugin::error::RtlError;
use crate::plugin::locate::{self, Variant};
use crate::plugin::top::Top;
use libloading::Library;
use sluice_device::Offer;
use sluice_formats::Target;
use sluice_formats::row::Row;
use sluice_formats::rows::SidebandRow;
use std::ffi::{CStr, CString, c_char, c_int};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

/// Version of the C interface, `SLUICE_RTL_ABI`.
pub const ABI: u32 = 8;

#[repr(C)]
struct RawInfo {
    abi: u32,
    flags: u32,
    config: *const c_char,
}

/// What a top looks like; the shim checks it against the widths of the ports.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawLayout {
    pub bus_bytes: u32,
    pub ports: u32,
    pub destinations: u32,
    pub sideband_bits: u32,
    pub port_trace_bits: u32,
    pub merge_trace_bits: u32,
    pub verdict_trace_bits: u32,
    pub queue_trace_bits: u32,
    pub leave_trace_bits: u32,
    pub engines: u32,
    pub steps: u32,
    pub step_trace_bits: u32,
    pub input_user_bits: u32,
}

/// When `Instance::run` ends, besides errors; zero: not looked at.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Until {
    /// Cycles at most.
    pub max_cycles: u64,
    /// Frames have left.
    pub frames: u32,
    /// Configuration messages have left.
    pub replies: u32,
    /// All inputs are sent and nothing has happened for so many cycles.
    pub quiet_cycles: u32,
    /// The event buffer holds this much.
    pub event_bytes: u32,
}

/// Why `Instance::run` ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop(u32);

impl Stop {
    /// All cycles have passed.
    pub fn cycles(self) -> bool {
        self.0 & 1 != 0
    }
    /// Enough frames have left.
    pub fn frames(self) -> bool {
        self.0 & 2 != 0
    }
    /// Enough configuration messages have left.
    pub fn replies(self) -> bool {
        self.0 & 4 != 0
    }
    /// It was quiet for long enough.
    pub fn quiet(self) -> bool {
        self.0 & 8 != 0
    }
    /// The event buffer is full.
    pub fn buffer(self) -> bool {
        self.0 & 16 != 0
    }
}
const STOP_ERROR: u32 = 32;

/// The shim's instance; only its address is used.
#[repr(C)]
struct RawNic {
    _opaque: [u8; 0],
}

struct Api {
    info: unsafe extern "C" fn() -> *const RawInfo,
    open: unsafe extern "C" fn(*const RawLayout, u64, *mut c_char, usize) -> *mut RawNic,
    close: unsafe extern "C" fn(*mut RawNic),
    now: unsafe extern "C" fn(*const RawNic) -> u64,
    cycles: unsafe extern "C" fn(*const RawNic) -> u64,
    error_text: unsafe extern "C" fn(*const RawNic) -> *const c_char,
    offer: unsafe extern "C" fn(*mut RawNic, *const u8, usize) -> c_int,
    send: unsafe extern "C" fn(*mut RawNic, *const u32, usize, c_int),
    set_ready: unsafe extern "C" fn(*mut RawNic, u32, u32, u32) -> c_int,
    set_gaps: unsafe extern "C" fn(*mut RawNic, u32, u32) -> c_int,
    set_config_stalls: unsafe extern "C" fn(*mut RawNic, u32, u32),
    memory_write: unsafe extern "C" fn(*mut RawNic, u64, *const u8, usize),
    memory_read: unsafe extern "C" fn(*mut RawNic, u64, *mut u8, usize),
    set_memory: unsafe extern "C" fn(*mut RawNic, u32, u32, u32) -> c_int,
    /// None in a plug-in that was built before there was one.
    set_values_memory: Option<unsafe extern "C" fn(*mut RawNic, u32, u32, u32, u32, u32) -> c_int>,
    run: unsafe extern "C" fn(*mut RawNic, *const Until) -> u32,
    /// None in a plug-in that was built before there was one.
    skip: Option<unsafe extern "C" fn(*mut RawNic, u64, c_int) -> c_int>,
    take_events: unsafe extern "C" fn(*mut RawNic, *mut *const u8) -> usize,
    waves: unsafe extern "C" fn(*mut RawNic, *const c_char, u64, u64) -> c_int,
    /// Keeps the code behind the pointers mapped; dropped last.
    _library: Library,
}

impl Api {
    fn load(path: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: a plug-in of this project runs only constructors of Verilator's runtime on
        // load; the signatures are those of cpp/sluice_rtl.h, whose version is checked before
        // any other function is called; the pointers live no longer than the library.
        unsafe {
            let library = Library::new(path)?;
            Ok(Self {
                info: *library.get(b"sluice_rtl_info_get\0")?,
                open: *library.get(b"sluice_rtl_open\0")?,
                close: *library.get(b"sluice_rtl_close\0")?,
                now: *library.get(b"sluice_rtl_now\0")?,
                cycles: *library.get(b"sluice_rtl_cycles\0")?,
                error_text: *library.get(b"sluice_rtl_error_text\0")?,
                offer: *library.get(b"sluice_rtl_offer_frames\0")?,
                send: *library.get(b"sluice_rtl_send\0")?,
                set_ready: *library.get(b"sluice_rtl_set_ready\0")?,
                set_gaps: *library.get(b"sluice_rtl_set_gaps\0")?,
                set_config_stalls: *library.get(b"sluice_rtl_set_config_stalls\0")?,
                memory_write: *library.get(b"sluice_rtl_memory_write\0")?,
                memory_read: *library.get(b"sluice_rtl_memory_read\0")?,
                set_memory: *library.get(b"sluice_rtl_set_memory\0")?,
                set_values_memory: library.get(b"sluice_rtl_set_values_memory\0").ok().map(|symbol| *symbol),
                run: *library.get(b"sluice_rtl_run\0")?,
                skip: library.get(b"sluice_rtl_skip\0").ok().map(|symbol| *symbol),
                take_events: *library.get(b"sluice_rtl_take_events\0")?,
                waves: *library.get(b"sluice_rtl_waves\0")?,
                _library: library,
            })
        }
    }
}

/// A loaded plug-in of a top.
#[derive(Clone)]
pub struct Plugin {
    api: Arc<Api>,
    path: PathBuf,
    top: &'static Top,
    target: Target,
}

impl Plugin {
    /// Finds and loads the plug-in of a top for a target.
    pub fn find(top: &'static Top, target: &str, variant: Variant) -> Result<Self, RtlError> {
        let config = top.config(target);
        let path = locate::find(&config, variant).map_err(|places| RtlError::Missing {
            name: locate::file_name(&config, variant),
            searched: places.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", "),
            recipe: variant.recipe(&config),
        })?;
        Self::read(top, &path, Some(config))
    }

    /// Loads one file.
    pub fn load(top: &'static Top, path: &Path) -> Result<Self, RtlError> {
        Self::read(top, path, None)
    }

    /// Loads a file of this configuration, or of any target of the top.
    fn read(top: &'static Top, path: &Path, wanted: Option<String>) -> Result<Self, RtlError> {
        let shown = path.display().to_string();
        // A bare name would be searched in the system's library folders.
        let full = path.canonicalize().map_err(|e| RtlError::Load { path: shown.clone(), what: e.to_string() })?;
        let api = Api::load(&full).map_err(|e| RtlError::Load { path: shown.clone(), what: e.to_string() })?;
        // SAFETY: the function takes nothing and returns a constant of the library; `abi` is its
        // first field in every version.
        let (abi, info) = unsafe {
            let info = (api.info)();
            ((*info).abi, info)
        };
        if abi != ABI {
            return Err(mismatch(path, "interface version", abi.to_string(), ABI.to_string()));
        }
        // SAFETY: the version matches, so the layout does; `config` is a terminated constant.
        let config = unsafe { CStr::from_ptr((*info).config).to_string_lossy().into_owned() };
        let mismatch = |allowed| mismatch(path, "configuration", config.clone(), allowed);
        if let Some(wanted) = wanted.filter(|wanted| *wanted != config) {
            return Err(mismatch(wanted));
        }
        let Some(target) = Target::every().find(|t| top.config(t.name) == config) else {
            return Err(mismatch(Target::every().map(|t| top.config(t.name)).collect::<Vec<_>>().join(", ")));
        };
        Ok(Self { api: Arc::new(api), path: path.to_path_buf(), top, target: *target })
    }

    /// Its top.
    pub fn top(&self) -> &'static Top {
        self.top
    }

    /// The configuration it was built for.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn mismatch(&self, what: &'static str, found: String, allowed: String) -> RtlError {
        mismatch(&self.path, what, found, allowed)
    }

    /// A top after its reset; `seed` decides initial values, padding, gaps and stalls.
    pub fn open(&self, seed: u64) -> Result<Instance, RtlError> {
        let layout = self.top.layout(&self.target);
        let mut error = [0u8; 1024];
        // SAFETY: the layout outlives the call, and the shim writes at most `error.len()` bytes,
        // the last of them zero.
        let nic = unsafe { (self.api.open)(&layout, seed, error.as_mut_ptr().cast(), error.len()) };
        match NonNull::new(nic) {
            Some(nic) => Ok(Instance { api: Arc::clone(&self.api), nic }),
            None => {
                let end = error.iter().position(|&b| b == 0).unwrap_or(error.len());
                let what = String::from_utf8_lossy(&error[..end]).into_owned();
                Err(RtlError::Open { path: self.path.display().to_string(), what })
            }
        }
    }
}

fn mismatch(path: &Path, what: &'static str, found: String, allowed: String) -> RtlError {
    RtlError::Mismatch { path: path.display().to_string(), what, found, allowed }
}

/// Frames on their way to the shim.
#[derive(Default)]
pub(crate) struct OfferBuffer(Vec<u8>);

impl OfferBuffer {
    /// Appends a frame with the words of its sideband.
    pub fn push(&mut self, port: u8, bad: bool, at: u64, user: &[u32], bytes: &[u8]) {
        let out = &mut self.0;
        out.extend((4 * user.len() as u32 + bytes.len() as u32).to_le_bytes());
        out.extend([port, u8::from(bad), 0, 0]);
        out.extend(at.to_le_bytes());
        user.iter().for_each(|w| out.extend(w.to_le_bytes()));
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(8), 0);
    }
}

/// A simulated top and everything around its pins.
pub struct Instance {
    api: Arc<Api>,
    nic: NonNull<RawNic>,
}

// SAFETY: an instance shares nothing with others and keeps nothing in thread-local storage
// between calls; `&mut self` and the absence of `Sync` keep it to one thread at a time.
unsafe impl Send for Instance {}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the handle came from `open` of the same library and is used no more.
        unsafe { (self.api.close)(self.nic.as_ptr()) }
    }
}

impl Instance {
    /// Tick of the cycle that comes next.
    pub fn now(&self) -> u64 {
        // SAFETY: the handle is alive as long as self.
        unsafe { (self.api.now)(self.nic.as_ptr()) }
    }

    /// Cycles since the start, reset included.
    pub fn cycles(&self) -> u64 {
        // SAFETY: the handle is alive as long as self.
        unsafe { (self.api.cycles)(self.nic.as_ptr()) }
    }

    /// Queues frames on their ports.
    pub fn offer(&mut self, packets: &[Offer]) -> Result<(), RtlError> {
        let mut buffer = OfferBuffer::default();
        packets.iter().for_each(|p| buffer.push(p.port, p.bad, p.at, &[], &p.bytes));
        self.offer_buffer(&buffer)
    }

    /// Queues a packet for a top that is one engine alone, with what a port would have said of it.
    pub fn offer_with(&mut self, sideband: &SidebandRow, at: u64, bytes: &[u8]) -> Result<(), RtlError> {
        let user = sideband.pack().map_err(|e| RtlError::Failed { what: e.to_string() })?;
        let mut buffer = OfferBuffer::default();
        buffer.push(0, false, at, &user, bytes);
        self.offer_buffer(&buffer)
    }

    /// Queues the frames of a buffer.
    pub(crate) fn offer_buffer(&mut self, buffer: &OfferBuffer) -> Result<(), RtlError> {
        let buffer = &buffer.0;
        // SAFETY: pointer and length are those of a live buffer that the shim only reads.
        match unsafe { (self.api.offer)(self.nic.as_ptr(), buffer.as_ptr(), buffer.len()) } {
            0 => Ok(()),
            _ => Err(RtlError::Failed { what: "a frame is empty or its port does not exist".into() }),
        }
    }

    /// Queues words for the configuration ring; `last` marks the final one.
    pub fn send(&mut self, words: &[u32], last: bool) {
        // SAFETY: pointer and length are those of a live slice that the shim only reads.
        unsafe { (self.api.send)(self.nic.as_ptr(), words.as_ptr(), words.len(), c_int::from(last)) }
    }

    /// When a destination is ready.
    pub fn set_ready(&mut self, destination: u8, pattern: crate::plugin::options::Ready) -> Result<(), RtlError> {
        let (chance, burst) = pattern.chance_and_burst();
        // SAFETY: plain values and a live handle; the shim checks the number.
        match unsafe { (self.api.set_ready)(self.nic.as_ptr(), destination.into(), chance, burst) } {
            0 => Ok(()),
            _ => Err(RtlError::Parameter {
                what: "destination",
                found: destination.to_string(),
                allowed: "ports first, then host queues".into(),
            }),
        }
    }

    /// Chance in 256ths of a gap before each beat on a port, at most 255.
    pub fn set_gaps(&mut self, port: u8, chance: u8) -> Result<(), RtlError> {
        // SAFETY: plain values and a live handle; the shim checks the number.
        match unsafe { (self.api.set_gaps)(self.nic.as_ptr(), port.into(), chance.into()) } {
            0 => Ok(()),
            _ => Err(RtlError::Parameter { what: "port", found: port.to_string(), allowed: "the top's ports".into() }),
        }
    }

    /// Chances in 256ths of a gap before a configuration word in, and of a stall of one out.
    pub fn set_config_stalls(&mut self, gap: u8, stall: u8) {
        // SAFETY: plain values and a live handle.
        unsafe { (self.api.set_config_stalls)(self.nic.as_ptr(), gap.into(), stall.into()) }
    }

    /// Writes to the host memory behind the top's DMA port.
    pub fn memory_write(&mut self, address: u64, bytes: &[u8]) {
        // SAFETY: pointer and length are those of a live slice that the shim only reads.
        unsafe { (self.api.memory_write)(self.nic.as_ptr(), address, bytes.as_ptr(), bytes.len()) }
    }

    /// Reads from the host memory behind the top's DMA port; what nobody wrote is zero.
    pub fn memory_read(&mut self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        // SAFETY: the shim writes as many bytes as the buffer has.
        unsafe { (self.api.memory_read)(self.nic.as_ptr(), address, bytes.as_mut_ptr(), count) }
        bytes
    }

    /// Cycles until a read or write of host memory is done, drawn for each, and the chance in 256ths that what is offered is taken.
    pub fn set_memory(&mut self, cycles: std::ops::RangeInclusive<u32>, ready: u32) -> Result<(), RtlError> {
        // SAFETY: plain values and a live handle; the shim checks them.
        match unsafe { (self.api.set_memory)(self.nic.as_ptr(), *cycles.start(), *cycles.end(), ready) } {
            0 => Ok(()),
            _ => Err(RtlError::Parameter {
                what: "memory",
                found: format!("{cycles:?} cycles, ready {ready}"),
                allowed: "least up to most, ready above 0".into(),
            }),
        }
    }

    /// The same of the external memory for values of maps, until the next reset, and the chances in 256ths that an answer is an error, and that none comes
    /// as long as that chance is not 0.
    pub fn set_values_memory(
        &mut self,
        cycles: std::ops::RangeInclusive<u32>,
        ready: u32,
        errors: u32,
        lost: u32,
    ) -> Result<(), RtlError> {
        let set = self.api.set_values_memory;
        // SAFETY: plain values and a live handle; the shim checks them.
        match set.map(|set| unsafe { set(self.nic.as_ptr(), *cycles.start(), *cycles.end(), ready, errors, lost) }) {
            Some(0) => Ok(()),
            _ => Err(RtlError::Parameter {
                what: "memory of values",
                found: format!("{cycles:?} cycles, ready {ready}, errors {errors}, lost {lost}"),
                allowed: "least up to most, ready above 0, errors and lost up to 256, in a plug-in that has one".into(),
            }),
        }
    }

    /// Runs until a condition holds.
    pub fn run(&mut self, until: &Until) -> Result<Stop, RtlError> {
        // SAFETY: the conditions outlive the call; the handle is alive.
        let stop = unsafe { (self.api.run)(self.nic.as_ptr(), until) };
        if stop & STOP_ERROR == 0 {
            return Ok(Stop(stop));
        }
        // SAFETY: a terminated text that the instance owns; copied before the next call.
        let text = unsafe { CStr::from_ptr((self.api.error_text)(self.nic.as_ptr())) };
        Err(RtlError::Failed { what: format!("before tick {}: {}", self.now(), text.to_string_lossy().trim()) })
    }

    /// Runs a cycle in which nothing happens, and lets time pass as if `cycles` more had been run; false where the top cannot.
    /// `has_messages`: the top has a message table, whose time goes on too.
    pub fn skip(&mut self, cycles: u64, has_messages: bool) -> bool {
        // SAFETY: takes numbers; the handle is alive.
        self.api.skip.is_some_and(|skip| unsafe { skip(self.nic.as_ptr(), cycles, c_int::from(has_messages)) } == 0)
    }

    /// All events since the last call, as the shim wrote them (`crate::plugin::event::decode`).
    pub fn take_events(&mut self) -> &[u8] {
        let mut start = std::ptr::null();
        // SAFETY: the bytes stay valid until the next call with this handle, which the borrow
        // of self forbids while they are in use; an empty buffer may have a null pointer.
        unsafe {
            let length = (self.api.take_events)(self.nic.as_ptr(), &mut start);
            if length == 0 { &[] } else { std::slice::from_raw_parts(start, length) }
        }
    }

    /// Writes waves of the cycles with `from <= tick < to`.
    pub fn waves(&mut self, path: &Path, from: u64, to: u64) -> Result<(), RtlError> {
        let shown = path.display().to_string();
        let refused = |what: &str| RtlError::Waves { path: shown.clone(), what: what.into() };
        let name = CString::new(shown.as_bytes()).map_err(|_| refused("the name has a zero byte"))?;
        // SAFETY: a terminated name that outlives the call; the handle is alive.
        match unsafe { (self.api.waves)(self.nic.as_ptr(), name.as_ptr(), from, to) } {
            0 => Ok(()),
            _ => Err(refused("the plug-in has no waves, or the file cannot be made")),
        }
    }
}
