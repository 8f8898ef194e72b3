// sluice_nic_top: the NIC. Paths are relative to this file: read it with -F. Of rtl/common here is what the NIC and its
// engines have; an engine is a line.
-F ../shell/sluice_shell.f
../common/sluice_agree.sv
../common/sluice_counter_bank.sv
../common/sluice_fifo.sv
../common/sluice_fifo_ram.sv
../common/sluice_late_drr.sv
../common/sluice_prio_enc.sv
../common/sluice_ram_1r1w.sv
../common/sluice_ram_banks.sv
../common/sluice_ram_1r1w_clear.sv
../common/sluice_ram_prefetch.sv
../common/sluice_tcam_lut.sv
../common/sluice_toeplitz.sv
../common/sluice_arb_drr.sv
../common/sluice_arb_rr.sv
../common/sluice_axis_narrow.sv
../common/sluice_axis_register.sv
../common/sluice_axis_widen.sv
../common/sluice_axis_width.sv
../common/sluice_packet_fifo.sv
-F ../rmt/sluice_rmt_engine.f
-F ../xdp/sluice_xdp_engine.f
-F ../l7/sluice_l7_engine.f
-F ../shell/sluice_shell_inline.f
sluice_nic_pkg.sv
sluice_nic_absent.sv
sluice_nic_admit.sv
sluice_nic_drr.sv
sluice_nic_egress.sv
sluice_nic_entrance.sv
sluice_nic_exit.sv
sluice_nic_flow.sv
sluice_nic_merge.sv
sluice_nic_next_module.sv
sluice_nic_port.sv
sluice_nic_port_tables.sv
sluice_nic_queues.sv
sluice_nic_reader.sv
sluice_nic_ring.sv
sluice_nic_share.sv
sluice_nic_slots.sv
sluice_nic_sources.sv
sluice_nic_tag_insert.sv
sluice_nic_tag_strip.sv
sluice_nic_top.sv
sluice_nic_top_l7.sv
sluice_nic_top_line.sv
sluice_nic_top_out.sv
sluice_nic_vlan_guard.sv
sluice_nic_writer.sv
