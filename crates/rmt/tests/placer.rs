//! Programs of many tenants placed, replaced and taken away.

use crate::common::{Owners, check_rows, random_part};
use sluice_formats::random::{Rng, test_seed};
use sluice_formats::rmt::rows::PageRow;
use sluice_formats::rmt::target::MODULE_PAGES;
use sluice_formats::row::Row;
use sluice_formats::{Node, Table};
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
        let (mut refused, mut replaced, mut moved) = (0, 0, 0);
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
                    let stages = placer.stages_of(module);
                    moved += usize::from(stages.iter().any(|(own, at)| own != at));
                    if let Some(running) = &tenant.part {
                        check_rows(&device, &target, module, tenant.current, &running.moved(&stages));
                        replaced += 1;
                    }
                    check_rows(&device, &target, module, next, &part.moved(&stages));
                    write_all(&mut device, &mut owners, module, [&placer.commit(module, next)]);
                    let clear = placer.clear(module, tenant.current).unwrap();
                    write_all(&mut device, &mut owners, module, &clear);
                    (tenant.current, tenant.part) = (next, Some(part));
                }
            }
        }
        for (&module, tenant) in &tenants {
            let part = tenant.part.clone().unwrap_or_default().moved(&placer.stages_of(module));
            check_rows(&device, &target, module, tenant.current, &part);
            check_rows(&device, &target, module, 1 - tenant.current, &RmtPart::default());
        }
        println!(
            "{}: {most} modules, {} at the end, {refused} refused, {replaced} replaced, {moved} loads in other stages",
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

/// Rows of pages are only written for programs that access state; then also those behind the program's own.
#[test]
fn the_first_program_with_state_blanks_pages_that_were_there_before() {
    let mut rng = Rng::new(test_seed("the_first_program_with_state_blanks_pages_that_were_there_before"));
    let module = 3;
    let mut with_state = 0;
    while with_state < 20 {
        let part = Arc::new(random_part(&mut rng, &DEFAULT, module));
        let mut placer = Placer::new(DEFAULT);
        let mut device = Device::new(DEFAULT);
        let first = 2 * u32::from(module) * MODULE_PAGES as u32;
        let words = PageRow { valid: true, page: 63 }.pack().unwrap();
        for (stage, index) in (0..5).flat_map(|s| (first..first + 2 * MODULE_PAGES as u32).map(move |i| (s, i))) {
            device.write(&RowWrite { node: Node::Stage(stage), table: Table::Page, index, words: words.clone() });
        }
        let valid = |device: &Device, generation: u32, stage: u8| {
            let rows = first + generation * MODULE_PAGES as u32..first + (generation + 1) * MODULE_PAGES as u32;
            rows.filter(|&i| device.read::<PageRow>(Node::Stage(stage), Table::Page, i).valid).count()
        };
        let writes = placer.admit(module, "before", Quota::of(&part, 0xff)).unwrap();
        assert!(!writes.iter().any(|w| w.table == Table::Page));
        writes.iter().for_each(|w| device.write(w));
        for generation in 0..2 {
            let placed = placer.place(module, generation, &part).unwrap();
            placed.all().for_each(|w| device.write(w));
            for (&number, stage) in part.stages.iter().filter(|(_, s)| s.accesses_state()) {
                with_state += 1;
                assert_eq!(valid(&device, generation.into(), number), usize::from(stage.pages));
            }
            placer.clear(module, generation).unwrap().iter().for_each(|w| device.write(w));
            for (&number, _) in part.stages.iter().filter(|(_, s)| s.accesses_state()) {
                assert_eq!(valid(&device, generation.into(), number), 0);
            }
            // A second time nothing of it is left to do.
            let again = placer.place(module, generation, &part).unwrap();
            let pages: usize = part.stages.values().map(|s| usize::from(s.pages)).sum();
            assert_eq!(again.rows.iter().filter(|w| w.table == Table::Page).count(), pages);
            again.all().for_each(|w| device.write(w));
            placer.clear(module, generation).unwrap().iter().for_each(|w| device.write(w));
        }
    }
}
