// The XDP engine, sluice_xdp: its folder alone. A top reads rtl/shell/sluice_shell.f and what it has of rtl/common
// first. Paths are relative to this file: read it with -F.
../gen/sluice_xdp_rows_pkg.sv
sluice_xdp_pkg.sv
sluice_xdp.sv
sluice_xdp_alu.sv
sluice_xdp_atomic.sv
sluice_xdp_bounds.sv
sluice_xdp_bytes.sv
sluice_xdp_frame.sv
sluice_xdp_core.sv
sluice_xdp_hash.sv
sluice_xdp_helper.sv
sluice_xdp_load.sv
sluice_xdp_maps.sv
sluice_xdp_maps_back.sv
sluice_xdp_maps_front.sv
sluice_xdp_memory.sv
sluice_xdp_muldiv.sv
sluice_xdp_queues.sv
sluice_xdp_reader.sv
sluice_xdp_registers.sv
sluice_xdp_scheduler.sv
sluice_xdp_tables.sv
sluice_xdp_unload.sv
sluice_xdp_values.sv
