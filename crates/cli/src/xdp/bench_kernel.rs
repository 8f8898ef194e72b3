//! The kernel's side of `sluice xdp bench`: the same program, entries and frames in test runs.

use sluice_ebpf::kernel::{Kernel, KernelProgram, MIN_FRAME, Pinned, TestInput, available, possible_cpus};
use sluice_ebpf::state::held_entries;
use sluice_ebpf::vm::Installed;
use sluice_ebpf::{Image, MapType, Runtime};

/// Calls for all frames together, and the least and most of one frame. The kernel takes up to 50 ms to begin and end one.
const CALLS: usize = 60;
const ROUNDS: (usize, usize) = (1, 31);
/// Most runs of a call.
const MOST_RUNS: u64 = 100_000;

/// What the kernel took.
#[derive(Debug)]
pub struct InKernel {
    /// A packet.
    pub nanoseconds: f64,
    /// Frames that were given anew for each run, because the program does not run the same on what it leaves.
    pub fresh: usize,
    frames: usize,
    /// Entries that it did not take.
    left_out: usize,
}

impl InKernel {
    /// How it was measured.
    pub fn how(&self) -> String {
        let again = self.frames - self.fresh;
        let mut text = format!("{again} frames run again on what the run before left, {} fresh ones", self.fresh);
        if self.left_out > 0 {
            text += &format!("; {} entries of maps were not taken", self.left_out);
        }
        text
    }
}

/// The median; 0 of nothing.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

/// Runs a program on the frames, with the entries that a runtime has.
pub fn measure(
    (image, index): (&Image, usize),
    (runtime, installed): (&Runtime, Installed),
    frames: &[Vec<u8>],
    repeat: u64,
) -> Result<InKernel, String> {
    available()?;
    let said = |e: &dyn std::fmt::Display| e.to_string().lines().next().unwrap_or_default().to_owned();
    let _pinned = Pinned::to(0).map_err(|e| said(&e))?;
    let kernel = Kernel::load(image).map_err(|e| said(&e))?;
    let left_out = fill(&kernel, image, (runtime, installed));
    let program = kernel.programs.get(index).ok_or("the kernel has no such program")?;
    let rounds = (CALLS / frames.len()).clamp(ROUNDS.0, ROUNDS.1);
    let runs = (repeat / (frames.len() * rounds) as u64).clamp(1000, MOST_RUNS) as u32;
    let (mut sum, mut fresh, mut counted) = (0.0, 0, 0);
    // What the timer takes of one run a call: two instructions more than nothing.
    let mut empty = None;
    for frame in frames.iter().filter(|frame| frame.len() >= MIN_FRAME) {
        counted += 1;
        let time = |frame: &[u8], runs| program.time(frame, runs).map(f64::from).map_err(|e| said(&e));
        if stays(program, frame).map_err(|e| said(&e))? {
            let times: Result<Vec<f64>, String> = (0..rounds).map(|_| time(frame, runs)).collect();
            sum += median(times?);
        } else {
            fresh += 1;
            let empty = match empty {
                Some(empty) => empty,
                None => *empty.insert(nothing().map_err(|e| said(&e))?),
            };
            let times: Result<Vec<f64>, String> = (0..rounds.max(3)).map(|_| time(frame, 1)).collect();
            sum += (median(times?) - empty).max(0.0);
        }
    }
    if counted == 0 {
        return Err(format!("no frame has the {MIN_FRAME} bytes that the kernel takes"));
    }
    Ok(InKernel { nanoseconds: sum / f64::from(counted), fresh, frames: counted as usize, left_out })
}

/// Whether a run on what a run left leaves the same, and says the same.
fn stays(program: &KernelProgram, frame: &[u8]) -> Result<bool, sluice_ebpf::kernel::KernelError> {
    let first = program.test_run(&TestInput::frame(frame))?;
    Ok(first.frame == *frame && first.metadata.is_empty() && first.r0 == program.test_run(&TestInput::frame(frame))?.r0)
}

/// Nanoseconds of one run a call that does nothing.
fn nothing() -> Result<f64, sluice_ebpf::kernel::KernelError> {
    let program = sluice_ebpf::insn::assemble("nothing", "r0 = 1\nexit", &[]).unwrap_or_default();
    let image = Image { programs: vec![program], license: "GPL".into(), ..Image::default() };
    let kernel = Kernel::load(&image)?;
    let times: Result<Vec<f64>, _> =
        (0..ROUNDS.1).map(|_| kernel.programs[0].time(&[0; 64], 1).map(f64::from)).collect();
    Ok(median(times?))
}

/// Puts the entries of a runtime's maps into the kernel's; gives how many it did not take.
fn fill(kernel: &Kernel, image: &Image, (runtime, installed): (&Runtime, Installed)) -> usize {
    let mut left_out = 0;
    for (index, spec) in image.maps.iter().enumerate() {
        if spec.kind.holds_maps() || spec.kind.is_queue() || spec.kind == MapType::ProgArray || spec.frozen {
            continue;
        }
        let (Some(map), Some(there)) = (runtime.map(installed, index), kernel.map(&spec.name)) else { continue };
        for (key, mut value) in held_entries(&runtime.maps, map) {
            if spec.kind.is_per_cpu() {
                value.resize((spec.value_size as usize).next_multiple_of(8) * possible_cpus() as usize, 0);
            }
            left_out += usize::from(there.update(&key, &value, 0).is_err());
        }
    }
    left_out
}
