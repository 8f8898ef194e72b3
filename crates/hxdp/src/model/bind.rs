//! Compiled programs bound to the maps of a runtime.

use super::{Cores, Loaded};
use crate::sections::Serial;
use crate::warp::begin::Bound;
use crate::warp::{Table, Warped, warp};
use crate::{Bundles, CompileError, Compiled, Op, Target, compile};
use sluice_ebpf::insn::WideValue;
use sluice_ebpf::vm::Installed;
use sluice_ebpf::{Image, Runtime, address};
use std::collections::BTreeMap;

impl Cores {
    /// Compiles every program of an image and binds it as the runtime has installed it.
    pub fn add(
        &mut self,
        image: &Image,
        target: &Target,
        runtime: &Runtime,
        installed: Installed,
    ) -> Result<(), CompileError> {
        for (index, program) in image.programs.iter().enumerate() {
            let Compiled { bundles, flow_serial, sections, .. } = compile(image, program, target)?;
            if let Some(number) = runtime.program_number(installed, index) {
                self.bind(bundles, number, runtime, installed);
                self.mark(number, Serial::of(flow_serial, sections));
            }
        }
        Ok(())
    }

    /// The same where packets pass the programs' tables before a core has them.
    pub fn add_warped(
        &mut self,
        image: &Image,
        target: &Target,
        runtime: &Runtime,
        installed: Installed,
    ) -> Result<(), CompileError> {
        for (index, program) in image.programs.iter().enumerate() {
            let Warped { table, bundles, serial } = warp(image, index, &compile(image, program, target)?, target)?;
            if let Some(number) = runtime.program_number(installed, index) {
                self.bind(bundles, number, runtime, installed);
                self.mark(number, serial);
                self.warp(number, table, runtime, installed);
            }
        }
        Ok(())
    }

    /// Binds compiled rows to the program with this number.
    pub fn bind(&mut self, bundles: Bundles, number: u32, runtime: &Runtime, installed: Installed) {
        let map = |index: u32| runtime.map(installed, index as usize);
        let mut constants = BTreeMap::new();
        for (row, bundle) in (0..).zip(&bundles.rows) {
            for (lane, step) in (0..).zip(&bundle.lanes) {
                let value = match step.op {
                    Op::Constant { value, .. } => value,
                    Op::Helper { handle: Some(map), .. } | Op::Element { map, .. } | Op::Copy { map, .. } => {
                        WideValue::Map(map)
                    }
                    _ => continue,
                };
                let number = match value {
                    WideValue::Number(number) => Some(number),
                    WideValue::Map(index) => map(index).map(|id| u64::from(address::MAP_HANDLES + id.0)),
                    WideValue::MapValue { map: index, offset } => {
                        let first = map(index).and_then(|id| runtime.maps.first_value(id));
                        first.map(|first| u64::from(first) + u64::from(offset))
                    }
                    WideValue::Function(slot) => Some(u64::from(address::FUNCTIONS) + slot as u64),
                };
                constants.insert((row, lane), number.unwrap_or_default());
            }
        }
        self.programs.insert(number, Loaded { bundles, constants, serial: Serial::No, warp: None });
    }

    /// Says which of a program's rows packets of a flow pass one after the other, for what is recorded.
    pub fn mark(&mut self, number: u32, serial: Serial) {
        if let Some(loaded) = self.programs.get_mut(&number) {
            loaded.serial = serial;
        }
    }

    /// Lets a program's packets pass the table that its rows were made with.
    pub fn warp(&mut self, number: u32, table: Table, runtime: &Runtime, installed: Installed) {
        if let Some(loaded) = self.programs.get_mut(&number) {
            loaded.warp = Some(Bound::new(table, |index| runtime.map(installed, index as usize)));
        }
    }
}
