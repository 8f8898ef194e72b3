// sluice_rmt_top: the match-action pipeline with a top of its own. Paths are relative to this file: read it with -F.
-F ../shell/sluice_shell.f
../common/sluice_agree.sv
../common/sluice_counter_bank.sv
../common/sluice_fifo.sv
../common/sluice_fifo_ram.sv
../common/sluice_prio_enc.sv
../common/sluice_ram_1r1w.sv
../common/sluice_ram_1r1w_clear.sv
../common/sluice_ram_prefetch.sv
../common/sluice_tcam_lut.sv
-F sluice_rmt_engine.f
sluice_rmt_top.sv
