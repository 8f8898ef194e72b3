//! What each pass brings.

use crate::{CompileError, Pass, Passes, Target, compile_with};
use sluice_ebpf::{Image, Program};

/// A program with the passes up to one, and with all but that one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Gain {
    /// Name of the pass; `none` is what there is before the first.
    pub pass: &'static str,
    /// Rows with it and those before it.
    pub rows: usize,
    /// Instructions in these rows.
    pub instructions: usize,
    /// Rows with all passes but it; with all of them for `none`.
    pub rows_without: usize,
}

/// The passes in the order in which they run, `none` first.
pub fn gains(image: &Image, program: &Program, target: &Target) -> Result<Vec<Gain>, CompileError> {
    let made = |passes| compile_with(image, program, target, passes).map(|compiled| compiled.bundles);
    let gain = |pass, up_to, without| -> Result<Gain, CompileError> {
        let (bundles, without) = (made(up_to)?, made(without)?);
        let (rows, instructions) = (bundles.rows.len(), bundles.instructions());
        Ok(Gain { pass, rows, instructions, rows_without: without.rows.len() })
    };
    let mut up_to = Passes::NONE;
    let mut gains = vec![gain("none", up_to, Passes::ALL)?];
    for pass in Pass::ALL {
        up_to = up_to.with(pass);
        gains.push(gain(pass.name(), up_to, Passes::ALL.without(pass))?);
    }
    Ok(gains)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_ebpf::insn::assemble;

    #[test]
    fn passes_are_added_one_by_one_from_none_to_all() {
        let source = "r2 = *(u8 *)(r10 -2)\nr3 = *(u8 *)(r10 -1)\nr3 <<= 8\nr2 |= r3\nr0 = r2\nexit";
        let program = assemble("gain", source, &[]).unwrap();
        let image = Image { programs: vec![program], ..Image::default() };
        let gains = gains(&image, &image.programs[0], &Target::new(1).unwrap()).unwrap();
        let of = |name: &str| gains.iter().find(|gain| gain.pass == name).unwrap();
        assert_eq!(gains.len(), Pass::ALL.len() + 1);
        assert_eq!((of("none").rows, of("none").rows_without), (6, 2));
        assert_eq!(gains.last().unwrap().rows, of("none").rows_without);
        assert_eq!(of("bytes").rows_without, 5);
        assert!(of("dead").rows < of("bytes").rows);
    }
}
