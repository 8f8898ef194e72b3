/// An instantiation of the NIC to copy from: every port by name, the slices of one port, one destination, the sideband.
///
/// Frames come from MACs that cannot be stalled and go to sinks that can; docs/guide/rtl.md has the rules. The trace
/// ports are for benches and stay open.
module nic_template
  import sluice_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Target = 0,
    // Engines that are there: EngineRmt alone for a smaller NIC.
    parameter int unsigned Engines = AllEngines,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Ports = Cfg.ports,
    localparam int unsigned Hosts = Cfg.hosts,
    localparam int unsigned Dests = Ports + Hosts
) (
    input logic clk_i,
    input logic rst_ni,

    // From the MACs: never stalled; `bad` with the last beat marks a frame with a wrong FCS, which is dropped.
    input logic [Ports-1:0]              mac_rx_valid_i,
    input logic [Ports-1:0][8*Bytes-1:0] mac_rx_data_i,
    input logic [Ports-1:0][  Bytes-1:0] mac_rx_keep_i,
    input logic [Ports-1:0]              mac_rx_last_i,
    input logic [Ports-1:0]              mac_rx_bad_i,

    // To the MACs.
    output logic [Ports-1:0]              mac_tx_valid_o,
    input  logic [Ports-1:0]              mac_tx_ready_i,
    output logic [Ports-1:0][8*Bytes-1:0] mac_tx_data_o,
    output logic [Ports-1:0][  Bytes-1:0] mac_tx_keep_o,
    output logic [Ports-1:0]              mac_tx_last_o,

    // To the host, a queue each, with what the NIC knows of the packet.
    output logic      [Hosts-1:0]              host_valid_o,
    input  logic      [Hosts-1:0]              host_ready_i,
    output logic      [Hosts-1:0][8*Bytes-1:0] host_data_o,
    output logic      [Hosts-1:0][  Bytes-1:0] host_keep_o,
    output logic      [Hosts-1:0]              host_last_o,
    output sideband_t [Hosts-1:0]              host_sideband_o,

    // Beside the last queue's frames: whether one is a message's packet, and its queue.
    output logic       host_message_o,
    output logic [7:0] host_message_queue_o,

    // Host memory, in the shape of Corundum's DMA descriptors: docs/design/l7.md, "Receive".
    output logic                  dma_read_valid_o,
    input  logic                  dma_read_ready_i,
    output logic [          63:0] dma_read_address_o,
    output logic [          15:0] dma_read_length_o,
    output logic [DmaTagBits-1:0] dma_read_tag_o,
    input  logic                  dma_read_data_valid_i,
    input  logic [DmaTagBits-1:0] dma_read_data_tag_i,
    input  logic [   8*Bytes-1:0] dma_read_data_i,
    output logic                  dma_write_valid_o,
    input  logic                  dma_write_ready_i,
    output logic [          63:0] dma_write_address_o,
    output logic [          15:0] dma_write_length_o,
    output logic [DmaTagBits-1:0] dma_write_tag_o,
    output logic                  dma_write_data_valid_o,
    input  logic                  dma_write_data_ready_i,
    output logic [   8*Bytes-1:0] dma_write_data_o,
    output logic [     Bytes-1:0] dma_write_keep_o,
    output logic                  dma_write_last_o,
    input  logic                  dma_write_done_i,
    input  logic [DmaTagBits-1:0] dma_write_done_tag_i,

    // External memory for maps of XDP programs, AXI4; on targets without it the outputs are constant and the inputs may be 0.
    output logic [  5:0] memory_awid_o,
    output logic [ 31:0] memory_awaddr_o,
    output logic [  7:0] memory_awlen_o,
    output logic [  2:0] memory_awsize_o,
    output logic [  1:0] memory_awburst_o,
    output logic         memory_awvalid_o,
    input  logic         memory_awready_i,
    output logic [127:0] memory_wdata_o,
    output logic [ 15:0] memory_wstrb_o,
    output logic         memory_wlast_o,
    output logic         memory_wvalid_o,
    input  logic         memory_wready_i,
    input  logic [  5:0] memory_bid_i,
    input  logic [  1:0] memory_bresp_i,
    input  logic         memory_bvalid_i,
    output logic         memory_bready_o,
    output logic [  5:0] memory_arid_o,
    output logic [ 31:0] memory_araddr_o,
    output logic [  7:0] memory_arlen_o,
    output logic [  2:0] memory_arsize_o,
    output logic [  1:0] memory_arburst_o,
    output logic         memory_arvalid_o,
    input  logic         memory_arready_i,
    input  logic [  5:0] memory_rid_i,
    input  logic [127:0] memory_rdata_i,
    input  logic [  1:0] memory_rresp_i,
    input  logic         memory_rvalid_i,
    output logic         memory_rready_o,

    // Configuration ring: a word FIFO in each direction.
    input  logic        cfg_in_valid_i,
    output logic        cfg_in_ready_o,
    input  logic [31:0] cfg_in_data_i,
    input  logic        cfg_in_last_i,
    output logic        cfg_out_valid_o,
    input  logic        cfg_out_ready_i,
    output logic [31:0] cfg_out_data_o,
    output logic        cfg_out_last_o
);

  // Destinations are the ports, then the host queues.
  logic [Dests-1:0] valid, ready, last;
  logic [Dests-1:0][8*Bytes-1:0] data;
  logic [Dests-1:0][Bytes-1:0] keep;
  sideband_t [Dests-1:0] sideband;
  // Always 1: a port is never stalled.
  logic [Ports-1:0] unused_ready;

  sluice_nic_top #(
      .Target (Target),
      .Engines(Engines)
  ) u_nic (
      .clk_i,
      .rst_ni,
      .s_axis_port_tvalid            (mac_rx_valid_i),
      .s_axis_port_tready            (unused_ready),
      .s_axis_port_tdata             (mac_rx_data_i),
      .s_axis_port_tkeep             (mac_rx_keep_i),
      .s_axis_port_tlast             (mac_rx_last_i),
      .s_axis_port_tuser             (mac_rx_bad_i),
      .m_axis_tvalid                 (valid),
      .m_axis_tready                 (ready),
      .m_axis_tdata                  (data),
      .m_axis_tkeep                  (keep),
      .m_axis_tlast                  (last),
      .m_axis_tuser                  (sideband),
      .m_axis_message_o              (host_message_o),
      .m_axis_queue_o                (host_message_queue_o),
      .s_axis_cfg_tvalid             (cfg_in_valid_i),
      .s_axis_cfg_tready             (cfg_in_ready_o),
      .s_axis_cfg_tdata              (cfg_in_data_i),
      .s_axis_cfg_tlast              (cfg_in_last_i),
      .m_axis_cfg_tvalid             (cfg_out_valid_o),
      .m_axis_cfg_tready             (cfg_out_ready_i),
      .m_axis_cfg_tdata              (cfg_out_data_o),
      .m_axis_cfg_tlast              (cfg_out_last_o),
      .m_axis_dma_read_desc_tvalid   (dma_read_valid_o),
      .m_axis_dma_read_desc_tready   (dma_read_ready_i),
      .m_axis_dma_read_desc_addr     (dma_read_address_o),
      .m_axis_dma_read_desc_len      (dma_read_length_o),
      .m_axis_dma_read_desc_tag      (dma_read_tag_o),
      .s_axis_dma_read_data_tvalid   (dma_read_data_valid_i),
      .s_axis_dma_read_data_tag      (dma_read_data_tag_i),
      .s_axis_dma_read_data_tdata    (dma_read_data_i),
      .m_axis_dma_write_desc_tvalid  (dma_write_valid_o),
      .m_axis_dma_write_desc_tready  (dma_write_ready_i),
      .m_axis_dma_write_desc_addr    (dma_write_address_o),
      .m_axis_dma_write_desc_len     (dma_write_length_o),
      .m_axis_dma_write_desc_tag     (dma_write_tag_o),
      .m_axis_dma_write_data_tvalid  (dma_write_data_valid_o),
      .m_axis_dma_write_data_tready  (dma_write_data_ready_i),
      .m_axis_dma_write_data_tdata   (dma_write_data_o),
      .m_axis_dma_write_data_tkeep   (dma_write_keep_o),
      .m_axis_dma_write_data_tlast   (dma_write_last_o),
      .s_axis_dma_write_status_tvalid(dma_write_done_i),
      .s_axis_dma_write_status_tag   (dma_write_done_tag_i),
      .m_axi_values_awid             (memory_awid_o),
      .m_axi_values_awaddr           (memory_awaddr_o),
      .m_axi_values_awlen            (memory_awlen_o),
      .m_axi_values_awsize           (memory_awsize_o),
      .m_axi_values_awburst          (memory_awburst_o),
      .m_axi_values_awvalid          (memory_awvalid_o),
      .m_axi_values_awready          (memory_awready_i),
      .m_axi_values_wdata            (memory_wdata_o),
      .m_axi_values_wstrb            (memory_wstrb_o),
      .m_axi_values_wlast            (memory_wlast_o),
      .m_axi_values_wvalid           (memory_wvalid_o),
      .m_axi_values_wready           (memory_wready_i),
      .m_axi_values_bid              (memory_bid_i),
      .m_axi_values_bresp            (memory_bresp_i),
      .m_axi_values_bvalid           (memory_bvalid_i),
      .m_axi_values_bready           (memory_bready_o),
      .m_axi_values_arid             (memory_arid_o),
      .m_axi_values_araddr           (memory_araddr_o),
      .m_axi_values_arlen            (memory_arlen_o),
      .m_axi_values_arsize           (memory_arsize_o),
      .m_axi_values_arburst          (memory_arburst_o),
      .m_axi_values_arvalid          (memory_arvalid_o),
      .m_axi_values_arready          (memory_arready_i),
      .m_axi_values_rid              (memory_rid_i),
      .m_axi_values_rdata            (memory_rdata_i),
      .m_axi_values_rresp            (memory_rresp_i),
      .m_axi_values_rvalid           (memory_rvalid_i),
      .m_axi_values_rready           (memory_rready_o),
      // "Instance pin connected by name with empty reference": the traces are for benches.
      // verilator lint_off PINCONNECTEMPTY
      .ticks_o                       (),
      .trace_epoch_o                 (),
      .trace_port_valid_o            (),
      .trace_port_o                  (),
      .trace_merge_valid_o           (),
      .trace_merge_o                 (),
      .trace_verdict_valid_o         (),
      .trace_verdict_o               (),
      .trace_queue_valid_o           (),
      .trace_queue_o                 (),
      .trace_leave_valid_o           (),
      .trace_leave_o                 (),
      .trace_step_valid_o            (),
      .trace_step_o                  ()
      // verilator lint_on PINCONNECTEMPTY
  );

  assign mac_tx_valid_o = valid[Ports-1:0];
  assign mac_tx_data_o = data[Ports-1:0];
  assign mac_tx_keep_o = keep[Ports-1:0];
  assign mac_tx_last_o = last[Ports-1:0];
  assign host_valid_o = valid[Dests-1:Ports];
  assign host_data_o = data[Dests-1:Ports];
  assign host_keep_o = keep[Dests-1:Ports];
  assign host_last_o = last[Dests-1:Ports];
  assign host_sideband_o = sideband[Dests-1:Ports];
  assign ready = {host_ready_i, mac_tx_ready_i};

  // A MAC has no use for the sideband.
  logic unused_sideband;
  assign unused_sideband = ^sideband[Ports-1:0];

endmodule
