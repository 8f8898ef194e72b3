//! Noise as frames, through every shipped program: it ends, and no program that the kernel takes faults.

use sluice_ebpf::map::as_libbpf_creates;
use sluice_ebpf::vm::{Ingress, Packet};
use sluice_ebpf::{Image, Runtime, load};
use sluice_formats::random::{Rng, test_seed};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn objects() -> Vec<(PathBuf, Image)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/xdp");
    let files = std::fs::read_dir(folder).unwrap().flat_map(|entry| std::fs::read_dir(entry.unwrap().path()));
    let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "o"));
    paths.sort();
    let image = |path: &PathBuf| {
        let mut image = load::load(&std::fs::read(path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        image.maps.iter_mut().for_each(|spec| *spec = as_libbpf_creates(spec, 1));
        image
    };
    paths.iter().map(|path| (path.clone(), image(path))).collect()
}

/// A frame whose first bytes often are those of headers.
fn frame(rng: &mut Rng) -> Vec<u8> {
    let length = match rng.index(4) {
        0 => rng.range(0, 64),
        1 => rng.range(64, 200),
        2 => rng.range(200, 3_600),
        _ => rng.range(3_600, 9_100),
    };
    let mut bytes = rng.bytes(length as usize);
    let types: [&[u8]; 6] = [&[8, 0, 0x45], &[0x86, 0xdd, 0x60], &[0x81, 0], &[0x88, 0xa8], &[8, 6], &[8, 0, 0x4f]];
    let start = types[rng.index(types.len())];
    for (to, from) in bytes.iter_mut().skip(12).zip(start) {
        *to = *from;
    }
    if let Some(protocol) = bytes.get_mut(23) {
        *protocol = [1, 4, 6, 17, 41, 58][rng.index(6)];
    }
    bytes
}

#[test]
fn fuzz_frames_through_shipped_programs() {
    let seed = test_seed("fuzz_frames_through_shipped_programs");
    let seconds = std::env::var("SLUICE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let (mut rng, start, mut inputs) = (Rng::new(seed), Instant::now(), 0u64);
    let mut packet = Packet::new(&[]);
    let mut ready: Vec<_> = objects()
        .into_iter()
        .map(|(path, image)| {
            let mut runtime = Runtime::new(1, seed);
            let installed = runtime.install(&image, &|_| None).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            (path, image.programs.len(), runtime, installed)
        })
        .collect();
    assert!(ready.len() > 20, "{} objects", ready.len());
    while start.elapsed() < Duration::from_secs(seconds) {
        for (path, programs, runtime, installed) in &mut ready {
            for program in 0..*programs {
                packet.set(&frame(&mut rng));
                let ingress = Ingress { ifindex: rng.range(0, 5) as u32, queue: rng.range(0, 3) as u32 };
                let outcome = runtime.run(*installed, program, &mut packet, ingress);
                assert_eq!(outcome.fault, None, "{} program {program}, seed {seed}, input {inputs}", path.display());
                runtime.world.now_ns += rng.below(1 << 30);
                runtime.world.events.clear();
                inputs += 1;
            }
        }
    }
    println!("fuzz: {inputs} inputs");
}
