//! List.
use sluice_ebpf::load;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let image = load::load(&std::fs::read(&a[1]).unwrap()).unwrap();
    let t = sluice_hxdp::Target::new(a[2].parse().unwrap()).unwrap();
    let passes = a.get(3).map_or(sluice_hxdp::Passes::ALL, |p| p.parse().unwrap());
    for p in &image.programs {
        let c = sluice_hxdp::compile_with(&image, p, &t, passes).unwrap();
        println!("== {}", p.name);
        println!("{}", sluice_hxdp::listing::listing(&c.bundles, p, &image.maps));
    }
}
