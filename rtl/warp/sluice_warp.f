// The Warp Engine, a part of the XDP engine in a folder of its own. Paths are relative to this file: read it with -F, behind
// rtl/xdp/sluice_xdp_engine.f and what it reads.
sluice_warp_pkg.sv
sluice_warp.sv
sluice_warp_extract.sv
sluice_warp_gather.sv
sluice_warp_hits.sv
sluice_warp_match.sv
sluice_warp_predicate.sv
sluice_warp_predicates.sv
sluice_warp_steps.sv
sluice_warp_table.sv
