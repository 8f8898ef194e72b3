//! What of an object file a program needs: programs that it may call, and maps that they name.

use crate::Image;
use crate::image::Initial;
use crate::insn::pseudo;
use crate::map::file::unlike;
use std::collections::BTreeSet;

impl Image {
    /// One program first, those that it may call through program arrays, and the maps that these name; maps for which `is_asked` answers yes stay, too.
    ///
    /// A map of maps names those that it begins with, and all that fit it, for a host may put them in. What a section has for other
    /// programs alone takes no room on a NIC.
    pub fn of_program(&self, main: usize, is_asked: &dyn Fn(&str) -> bool) -> Image {
        let (mut programs, mut maps) = (vec![main], BTreeSet::new());
        let asked = (0..self.maps.len()).filter(|at| is_asked(&self.maps[*at].name));
        let mut left: Vec<usize> = asked.chain(self.programs[main].maps()).collect();
        while let Some(map) = left.pop() {
            // One that is not there is refused where the program is checked.
            let Some(spec) = self.maps.get(map).filter(|_| maps.insert(map)) else { continue };
            for (_, initial) in &spec.initial {
                match initial {
                    Initial::Map(index) => left.push(*index),
                    Initial::Program(name) => {
                        let called = self.program(name).filter(|at| !programs.contains(at));
                        programs.extend(called);
                        left.extend(called.into_iter().flat_map(|at| self.programs[at].maps()));
                    }
                }
            }
            if let Some(template) = spec.inner.as_deref() {
                left.extend((0..self.maps.len()).filter(|at| unlike(&self.maps[*at], template).is_none()));
            }
        }
        programs[1..].sort_unstable();
        let place = |index: usize| maps.iter().position(|map| *map == index);
        let mut image = Image { programs: Vec::new(), maps: Vec::new(), ..self.clone() };
        for mut program in programs.iter().map(|at| self.programs[*at].clone()) {
            let mut is_second = false;
            for insn in &mut program.insns {
                let is_first = !is_second;
                is_second = is_first && insn.is_wide();
                if is_second && matches!(insn.src, pseudo::MAP | pseudo::MAP_VALUE) {
                    insn.imm = place(insn.imm as usize).map_or(i32::MAX, |at| at as i32);
                }
            }
            image.programs.push(program);
        }
        for mut spec in maps.iter().map(|at| self.maps[*at].clone()) {
            for (_, initial) in &mut spec.initial {
                if let Initial::Map(index) = initial {
                    *index = place(*index).unwrap_or(*index);
                }
            }
            image.maps.push(spec);
        }
        image
    }
}
