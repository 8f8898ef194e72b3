//! Programs of many tenants placed, replaced and taken away.

mod common;

use common::{Owners, check_rows, random_part};
use sluice_formats::random::{Rng, test_seed};
use sluice_object::RmtPart;
use sluice_object::linker::rmt::{Placer, Quota, RowWrite};
use sluice_rmt::target::{DEFAULT, TINY};
use sluice_rmt::testing::device::Device;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the test knows of a module.
struct Tenant {
    current: u8,
    part: Option<Arc<RmtPart>>,
    /// Programs that it may run.
    parts: Vec<Arc<RmtPart>>,
}

impl Tenant {
    /// State is kept only page for page, and zeroed only where there are pages for it.
    fn may_run(&self, part: &RmtPart) -> bool {
        let pages =
            |p: &RmtPart| p.stages.iter().map(|(s, r)| (*s, r.pages)).filter(|p| p.1 > 0).collect::<BTreeSet<_>>();
        match &self.part {
            Some(running) if part.keep_state => pages(running) == pages(part),
            Some(_) => pages(part)
                .iter()
                .all(|(s, _)| self.parts.iter().any(|p| !p.keep_state && pages(p).iter().any(|q| q.0 == *s))),
            None => true,
        }
    }
}

fn write_all<'a>(device: &mut Device, owners: &mut Owners, module: u8, writes: impl IntoIterator<Item = &'a RowWrite>) {
    for w in writes {
        device.write(w);
        owners.wrote(module, w);
    }
}

#[test]
fn tenants_come_go_and_are_replaced_and_no_two_share_a_row() {
    let mut rng = Rng::new(test_seed("rmt_placer"));
    for target in [TINY, DEFAULT] {
        let most = rng.range(1, target.modules as u64) as usize;
        let mut placer = Placer::new(target);
        let (mut device, mut owners) = (Device::new(target), Owners::default());
        let mut tenants: BTreeMap<u8, Tenant> = BTreeMap::new();
        let (mut refused, mut replaced) = (0, 0);
        let least = 6 * most + 60;
        for step in 0..100_000 {
            if step >= least && replaced >= 30 {
                break;
            }
            let module = rng.below(most as u64) as u8;
            match tenants.get_mut(&module) {
                None => {
                    let parts: Vec<_> = (0..3).map(|_| Arc::new(random_part(&mut rng, &target, module))).collect();
                    let quota = parts.iter().fold(Quota::default(), |q, p| q.or(&Quota::of(p, 0xff)));
                    match placer.admit(module, &format!("t{module}"), quota) {
                        Ok(writes) => {
                            write_all(&mut device, &mut owners, module, &writes);
                            tenants.insert(module, Tenant { current: 1, part: None, parts });
                        }
                        Err(e) => {
                            assert_eq!(e.code(), "E0670", "{e}");
                            refused += 1;
                        }
                    }
                }
                Some(_) if rng.chance(1, 6) => {
                    for generation in 0..2 {
                        write_all(&mut device, &mut owners, module, &placer.clear(module, generation).unwrap());
                    }
                    write_all(&mut device, &mut owners, module, &placer.release(module).unwrap());
                    owners.left(module);
                    assert!(!owners.0.values().any(|&o| o == module), "step {step}: rows of module {module} stay");
                    tenants.remove(&module);
                }
                Some(tenant) => {
                    let part = tenant.parts[rng.index(tenant.parts.len())].clone();
                    if !tenant.may_run(&part) {
                        continue;
                    }
                    let next = 1 - tenant.current;
                    let placed = placer.place(module, next, &part);
                    let placed = placed.unwrap_or_else(|e| panic!("a program within its quota: {e}"));
                    write_all(&mut device, &mut owners, module, placed.all());
                    // The running program is untouched until it is cleared.
                    if let Some(running) = &tenant.part {
                        check_rows(&device, &target, module, tenant.current, running);
                        replaced += 1;
                    }
                    check_rows(&device, &target, module, next, &part);
                    write_all(&mut device, &mut owners, module, [&placer.commit(module, next)]);
                    let clear = placer.clear(module, tenant.current).unwrap();
                    write_all(&mut device, &mut owners, module, &clear);
                    (tenant.current, tenant.part) = (next, Some(part));
                }
            }
        }
        for (&module, tenant) in &tenants {
            let part = tenant.part.clone().unwrap_or_default();
            check_rows(&device, &target, module, tenant.current, &part);
            check_rows(&device, &target, module, 1 - tenant.current, &RmtPart::default());
        }
        println!(
            "{}: {most} modules, {} at the end, {refused} refused, {replaced} replaced",
            target.name,
            tenants.len()
        );
        assert!(replaced >= 30);
        for &module in tenants.keys() {
            (0..2).for_each(|g| drop(placer.clear(module, g).unwrap()));
            placer.release(module).unwrap();
        }
        assert_eq!(placer.left(), Placer::new(target).left(), "freed space comes back");
    }
}
