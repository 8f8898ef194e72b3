-f rtl/rmt/sluice_rmt.f
rtl/common/sluice_arb_drr.sv
rtl/common/sluice_arb_rr.sv
rtl/common/sluice_packet_fifo.sv
rtl/nic/sluice_nic_admit.sv
rtl/nic/sluice_nic_drr.sv
rtl/nic/sluice_nic_egress.sv
rtl/nic/sluice_nic_flow.sv
rtl/nic/sluice_nic_merge.sv
rtl/nic/sluice_nic_next_module.sv
rtl/nic/sluice_nic_port.sv
rtl/nic/sluice_nic_port_tables.sv
rtl/nic/sluice_nic_queues.sv
rtl/nic/sluice_nic_reader.sv
rtl/nic/sluice_nic_tag_insert.sv
rtl/nic/sluice_nic_tag_strip.sv
rtl/nic/sluice_nic_top.sv
rtl/nic/sluice_nic_writer.sv
