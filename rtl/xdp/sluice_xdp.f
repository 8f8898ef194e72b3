// sluice_xdp_top: the XDP engine with a top of its own. Paths are relative to this file: read it with -F.
-F ../shell/sluice_shell.f
../shell/sluice_shell_entrance.sv
../common/sluice_arb_rr.sv
../common/sluice_axis_narrow.sv
../common/sluice_axis_register.sv
../common/sluice_axis_widen.sv
../common/sluice_axis_width.sv
../common/sluice_counter_bank.sv
../common/sluice_fifo.sv
../common/sluice_fifo_ram.sv
../common/sluice_late_drr.sv
../common/sluice_prio_enc.sv
../common/sluice_ram_1r1w.sv
../common/sluice_ram_banks.sv
../common/sluice_ram_prefetch.sv
-F sluice_xdp_engine.f
sluice_xdp_top.sv
