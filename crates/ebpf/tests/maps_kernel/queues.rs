//! Queues and stacks: pushes, pops and looks of the host.

use super::sys::KernelMap;
use super::{kernel_cpus, spec};
use sluice_ebpf::{MapSpace, MapType};
use sluice_formats::random::{Rng, test_seed};

const RDONLY: u32 = 8;
const WRONLY: u32 = 16;
const RDONLY_PROG: u32 = 128;

#[test]
fn queues_and_stacks_answer_as_the_kernels() {
    let Some(cpus) = kernel_cpus() else { return };
    let mut rng = Rng::new(test_seed("queues_and_stacks_answer_as_the_kernels"));
    for kind in [MapType::Queue, MapType::Stack] {
        for (value_size, entries, flags) in
            [(1, 1, 0), (4, 3, 0), (12, 8, 0), (100, 5, 0), (8, 2, RDONLY), (8, 2, WRONLY), (8, 2, RDONLY_PROG)]
        {
            let declared = spec(kind, 0, value_size, entries, flags);
            let kernel = KernelMap::create(&declared, None).unwrap_or_else(|e| panic!("{declared:?}: {e:?}"));
            let mut maps = MapSpace::new(cpus);
            let map = maps.create(&declared).expect("the kernel takes it");
            let (mut popped, mut refused) = (0, 0);
            for _ in 0..1000 {
                match rng.below(8) {
                    0..=3 => {
                        let flags = [0, 0, 0, 1, 2, 2, 3, 4, 8, 1 << 40][rng.index(10)];
                        let value = rng.bytes(value_size as usize);
                        let there = kernel.update(&[], &value, flags);
                        refused += u32::from(there.is_err());
                        assert_eq!(maps.user_update(map, &[], &value, flags), there, "{flags}, {declared:?}");
                    }
                    4 => assert_eq!(maps.user_delete(map, &[]), kernel.delete(&[]), "{declared:?}"),
                    5 => assert_eq!(maps.next_key(map, None), kernel.next_key(None, 0), "{declared:?}"),
                    6 => {
                        let there = kernel.lookup(&[], value_size as usize);
                        assert_eq!(maps.user_lookup(map, &[]), there, "{declared:?}");
                    }
                    _ => {
                        let there = kernel.pop(value_size as usize);
                        popped += u32::from(there.is_ok());
                        assert_eq!(maps.user_pop(map), there, "{declared:?}");
                    }
                }
            }
            assert!(refused > 0 && (popped > 0 || flags & (RDONLY | WRONLY) != 0), "{declared:?}");
        }
    }
}
