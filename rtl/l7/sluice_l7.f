// sluice_l7_top: the l7 engine with a top of its own. Paths are relative to this file: read it with -F.
-F ../shell/sluice_shell.f
../shell/sluice_shell_entrance.sv
../common/sluice_arb_rr.sv
../common/sluice_counter_bank.sv
../common/sluice_fifo.sv
../common/sluice_fifo_ram.sv
../common/sluice_prio_enc.sv
../common/sluice_ram_1r1w.sv
../common/sluice_ram_prefetch.sv
../common/sluice_ram_1r1w_clear.sv
../common/sluice_toeplitz.sv
-F sluice_l7_engine.f
sluice_l7_top.sv
