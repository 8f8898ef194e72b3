// sluice_probe_top: the pipeline with the probe behind it, for tests of the seam. Paths are relative to this file: read it with -F.
-F ../../../rtl/shell/sluice_shell.f
../../../rtl/common/sluice_agree.sv
../../../rtl/common/sluice_counter_bank.sv
../../../rtl/common/sluice_fifo.sv
../../../rtl/common/sluice_fifo_ram.sv
../../../rtl/common/sluice_prio_enc.sv
../../../rtl/common/sluice_ram_1r1w.sv
../../../rtl/common/sluice_ram_1r1w_clear.sv
../../../rtl/common/sluice_ram_prefetch.sv
../../../rtl/common/sluice_tcam_lut.sv
-F ../../../rtl/rmt/sluice_rmt_engine.f
-F ../../../rtl/shell/sluice_shell_inline.f
../gen/sluice_probe_rows_pkg.sv
sluice_probe.sv
sluice_probe_tables.sv
sluice_probe_top.sv
