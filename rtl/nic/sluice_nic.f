// sluice_nic_top: the NIC. Paths are relative to this file: read it with -F.
-F ../rmt/sluice_rmt_pipeline.f
../common/sluice_arb_drr.sv
../common/sluice_arb_rr.sv
../common/sluice_packet_fifo.sv
sluice_nic_admit.sv
sluice_nic_drr.sv
sluice_nic_egress.sv
sluice_nic_flow.sv
sluice_nic_merge.sv
sluice_nic_next_module.sv
sluice_nic_port.sv
sluice_nic_port_tables.sv
sluice_nic_queues.sv
sluice_nic_reader.sv
sluice_nic_tag_insert.sv
sluice_nic_tag_strip.sv
sluice_nic_top.sv
sluice_nic_writer.sv
