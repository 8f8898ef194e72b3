//! Estimated size of an engine: a function, not a measurement.
//!
//! The terms are those of the first area budget: register files, arithmetic, packet memory and realignment were
//! synthesised alone (Yosys `synth_xilinx -family xcup`), everything else is estimated. So sums say which of two
//! engines is larger, and little about how large either is.

/// Register file for 8 contexts of 16 registers, synthesised with 1, 2 and 4 lanes (2, 4 and 8 reads, 1, 2 and 4 writes).
const REGISTERS: [(usize, f64); 3] = [(1, 749.0), (2, 2925.0), (4, 11_023.0)];
/// Arithmetic and comparison of a lane; two were synthesised with 1,844.
const LANE: f64 = 922.0;
/// Packet and stack memory with the alignment of one access a cycle, synthesised. A second access is taken for as much again.
const PORT: f64 = 2291.0;
/// Fetch, branches by priority, scoreboard and start: estimated with 1,600 for 2 lanes and 8 contexts.
const CONTROL: f64 = 800.0;
const CONTROL_OF_LANE: f64 = 200.0;
const CONTROL_OF_CONTEXT: f64 = 50.0;
/// Map port, calls, multiplication and division: estimated.
const UNITS: f64 = 1900.0;
/// What all cores share: map engines 8,500, helpers 2,200, queues and tickets 4,000, realignment and interfaces 4,300 (3,200
/// of it synthesised).
const AROUND: f64 = 19_000.0;

/// LUTs of one core, estimated.
pub fn core_lut(lanes: usize, contexts: usize, ports: usize) -> f64 {
    let registers = REGISTERS.iter().find(|(of, _)| *of == lanes).map_or(f64::NAN, |(_, lut)| *lut);
    // LUTRAM is 32 words deep: 8 contexts are 4 of them.
    let depth = (contexts * 16).div_ceil(32) as f64 / 4.0;
    let (lanes, contexts, ports) = (lanes as f64, contexts as f64, ports as f64);
    let control = CONTROL + CONTROL_OF_LANE * lanes + CONTROL_OF_CONTEXT * contexts;
    registers * depth + LANE * lanes + PORT * ports + control + UNITS
}

/// LUTs of an engine, estimated.
pub fn lut(cores: usize, lanes: usize, contexts: usize, ports: usize) -> f64 {
    AROUND + cores as f64 * core_lut(lanes, contexts, ports)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_engine_is_the_sum_of_the_budget() {
        assert_eq!(core_lut(2, 8, 1), 2925.0 + 1844.0 + 2291.0 + 1600.0 + 1900.0);
        assert_eq!(lut(2, 2, 8, 1), 19_000.0 + 2.0 * 10_560.0);
        assert_eq!(core_lut(2, 4, 1), core_lut(2, 8, 1) - 2925.0 / 2.0 - 200.0);
        assert_eq!(lut(1, 4, 8, 2) - lut(1, 4, 8, 1), 2291.0);
    }
}
