// What every top has around its engines: rtl/shell, and what of rtl/common is in it. Paths are relative to this file:
// read it with -F.
../gen/sluice_pkg.sv
sluice_engine_pkg.sv
sluice_shell_pkg.sv
../common/sluice_crc32c.sv
../common/sluice_mux.sv
../common/sluice_ram_dp.sv
../common/sluice_ram_lut.sv
../common/sluice_skid.sv
../common/sluice_token_bucket.sv
sluice_shell.sv
sluice_shell_cfg_node.sv
sluice_shell_clear.sv
sluice_shell_extract.sv
sluice_shell_behind.sv
sluice_shell_generation.sv
sluice_shell_ring.sv
sluice_shell_stamp.sv
sluice_shell_system.sv
sluice_shell_watchdog.sv
