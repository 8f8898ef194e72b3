// The l7 engine, sluice_l7: its folder alone. A top reads rtl/shell/sluice_shell.f and what it has of rtl/common
// first. Paths are relative to this file: read it with -F.
../gen/sluice_l7_rows_pkg.sv
sluice_l7_pkg.sv
sluice_l7.sv
sluice_l7_accounts.sv
sluice_l7_checksum.sv
sluice_l7_classify.sv
sluice_l7_detour.sv
sluice_l7_exit.sv
sluice_l7_feeder.sv
sluice_l7_filter.sv
sluice_l7_header.sv
sluice_l7_messages.sv
sluice_l7_places.sv
sluice_l7_ports.sv
sluice_l7_shares.sv
sluice_l7_slots.sv
sluice_l7_staging.sv
sluice_l7_toeplitz.sv
