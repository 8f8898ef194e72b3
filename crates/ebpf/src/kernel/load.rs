//! A whole image in the kernel.

use super::{Btf, KernelError, KernelMap, KernelProgram};
use crate::image::Initial;
use crate::{Errno, Image};

/// The maps and programs of one image in the kernel; all are gone when dropped.
pub struct Kernel {
    /// Maps, in the image's order.
    pub maps: Vec<KernelMap>,
    /// Programs, in the image's order.
    pub programs: Vec<KernelProgram>,
    /// The image's type information; empty where it has none.
    pub btf: Option<Btf>,
}

impl Kernel {
    /// Makes the maps, loads every program, and sets the entries that the object gives.
    pub fn load(image: &Image) -> Result<Self, KernelError> {
        let btf = image.btf.as_deref().map(Btf::load).transpose()?;
        let maps: Vec<KernelMap> =
            image.maps.iter().map(|spec| KernelMap::create(spec, btf.as_ref())).collect::<Result<_, _>>()?;
        let programs: Vec<KernelProgram> = image
            .programs
            .iter()
            .map(|p| KernelProgram::load(p, &maps, btf.as_ref(), &image.license))
            .collect::<Result<_, _>>()?;
        let kernel = Self { maps, programs, btf };
        for (map, spec) in kernel.maps.iter().zip(&image.maps) {
            for (key, initial) in &spec.initial {
                let refused = |e| KernelError::new(format!("entry {key} of map `{}`", spec.name), e);
                let fd = match initial {
                    Initial::Map(index) => kernel.maps.get(*index).map(KernelMap::fd),
                    Initial::Program(name) => kernel.programs.iter().find(|p| p.name() == name).map(KernelProgram::fd),
                };
                let fd = fd.ok_or_else(|| refused(Errno::NOENT))?;
                map.update(&key.to_le_bytes(), &fd.to_le_bytes(), 0).map_err(refused)?;
            }
        }
        Ok(kernel)
    }

    /// The map with this name.
    pub fn map(&self, name: &str) -> Option<&KernelMap> {
        self.maps.iter().find(|m| m.spec().name == name)
    }

    /// The program with this name.
    pub fn program(&self, name: &str) -> Option<&KernelProgram> {
        self.programs.iter().find(|p| p.name() == name)
    }
}
