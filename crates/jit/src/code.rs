//! Code memory: written, then only executed, and given back when it is dropped.
#![allow(unsafe_code)] // Each use says why it is right.

use cranelift_jit::JITModule;
use cranelift_module::FuncId;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Machine code of a program's functions.
pub struct Code {
    /// Behind a lock so that threads may share the code; nobody asks for it before it is dropped.
    module: Mutex<Option<JITModule>>,
    /// By first slot.
    functions: BTreeMap<u32, Entry>,
    /// The program itself.
    main: Entry,
    bytes: usize,
}

/// Where a function begins.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// First instruction.
    at: usize,
    /// Bytes of its stack frame that it writes to, counted from the end.
    pub written: u16,
}

impl Entry {
    /// First instruction.
    #[inline]
    pub fn address(self) -> *const u8 {
        self.at as *const u8
    }
}

impl Code {
    /// Makes what was compiled ready to run: the module makes its memory readable and executable, and no more writable.
    /// `functions` are those that were defined, by first slot, each with the bytes of its stack frame that it writes to; the one
    /// at slot 0 is among them.
    pub fn new(mut module: JITModule, functions: &BTreeMap<u32, (FuncId, u16)>, bytes: usize) -> Result<Self, String> {
        module.finalize_definitions().map_err(|e| e.to_string())?;
        let entry = |(id, written): &(FuncId, u16)| Entry {
            at: module.get_finalized_function(*id) as usize,
            written: *written,
        };
        let functions: BTreeMap<u32, Entry> =
            functions.iter().map(|(slot, function)| (*slot, entry(function))).collect();
        let main = *functions.get(&0).ok_or("no function at slot 0")?;
        Ok(Self { module: Mutex::new(Some(module)), functions, main, bytes })
    }

    /// The function at a slot.
    #[inline]
    pub fn function(&self, slot: u32) -> Option<Entry> {
        if slot == 0 { Some(self.main) } else { self.functions.get(&slot).copied() }
    }

    /// Bytes of machine code.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.get_mut().ok().and_then(Option::take) {
            // SAFETY: whoever runs it borrows the code, so nothing of it runs now, and its addresses go with it.
            unsafe { module.free_memory() };
        }
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("functions", &self.functions.len()).field("bytes", &self.bytes).finish()
    }
}
