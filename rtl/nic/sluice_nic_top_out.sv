/// Part of the NIC's top: queues to every destination, and the l7 engine behind the last one.
///
/// Frames come with where they go and leave by their destinations (sluice_nic_exit); what the queues send to the last destination goes
/// through sluice_nic_top_l7. Nodes of the ring: the queues', the l7 engine's.
///
/// `behind_*`: packets that the l7 engine may still decide over, for the shell.
///
/// Latency, throughput and stalls: as these blocks.
module sluice_nic_top_out
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter nic_cfg_t Cfg = nic_cfg(0),
    parameter l7_cfg_t L7Cfg = l7_cfg(0),
    parameter bit HasL7 = 1'b1,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Ports = Cfg.ports,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned L7RowBits = 32 * L7MatchRowWords
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [31:0] epoch_i,
    // High while the queues' tables are cleared behind a reset.
    output logic        clearing_o,

    input  logic                   s_axis_tvalid,
    output logic                   s_axis_tready,
    input  logic     [8*Bytes-1:0] s_axis_tdata,
    input  logic                   s_axis_tlast,
    input  verdict_t               s_axis_verdict,

    // Who owns a VLAN, from the ports.
    output logic                    owner_read_o,
    output logic        [     11:0] owner_vlan_o,
    input  vlan_owner_t [Ports-1:0] owners_i,
    input  vlan_owner_t [Ports-1:0] untagged_i,

    output logic [             Dests-1:0] m_axis_tvalid,
    input  logic [             Dests-1:0] m_axis_tready,
    output logic [     Dests*8*Bytes-1:0] m_axis_tdata,
    output logic [       Dests*Bytes-1:0] m_axis_tkeep,
    output logic [             Dests-1:0] m_axis_tlast,
    output logic [Dests*SidebandBits-1:0] m_axis_tuser,
    output logic                          m_axis_message_o,
    output logic [                   7:0] m_axis_queue_o,

    output logic                  m_axis_dma_read_desc_tvalid,
    input  logic                  m_axis_dma_read_desc_tready,
    output logic [          63:0] m_axis_dma_read_desc_addr,
    output logic [          15:0] m_axis_dma_read_desc_len,
    output logic [DmaTagBits-1:0] m_axis_dma_read_desc_tag,
    input  logic                  s_axis_dma_read_data_tvalid,
    input  logic [DmaTagBits-1:0] s_axis_dma_read_data_tag,
    input  logic [   8*Bytes-1:0] s_axis_dma_read_data_tdata,
    output logic                  m_axis_dma_write_desc_tvalid,
    input  logic                  m_axis_dma_write_desc_tready,
    output logic [          63:0] m_axis_dma_write_desc_addr,
    output logic [          15:0] m_axis_dma_write_desc_len,
    output logic [DmaTagBits-1:0] m_axis_dma_write_desc_tag,
    output logic                  m_axis_dma_write_data_tvalid,
    input  logic                  m_axis_dma_write_data_tready,
    output logic [   8*Bytes-1:0] m_axis_dma_write_data_tdata,
    output logic [     Bytes-1:0] m_axis_dma_write_data_tkeep,
    output logic                  m_axis_dma_write_data_tlast,
    input  logic                  s_axis_dma_write_status_tvalid,
    input  logic [DmaTagBits-1:0] s_axis_dma_write_status_tag,

    // Verdicts of the last engine in line.
    input  logic                 verdict_valid_i,
    input  verdict_trace_t       verdict_i,
    input  logic                 verdict_generation_i,
    output logic                 behind_enter_valid_o,
    output token_t               behind_enter_o,
    output logic           [1:0] behind_leave_valid_o,
    output token_t         [1:0] behind_leave_o,

    input  logic      [          1:0] cfg_valid_i,
    input  cfg_req_t                  cfg_req_i,
    input  wide_req_t                 cfg_wide_i,
    input  logic      [L7RowBits-1:0] cfg_row_i,
    output logic      [          1:0] cfg_valid_o,
    output cfg_rsp_t  [          1:0] cfg_rsp_o,

    output logic [               Dests-1:0] trace_queue_valid_o,
    output logic [Dests*QueueTraceBits-1:0] trace_queue_o,
    output logic                            trace_leave_valid_o,
    output logic [      LeaveTraceBits-1:0] trace_leave_o,
    output logic [                     2:0] trace_step_valid_o,
    output logic [    3*L7TraceRowBits-1:0] trace_step_o,
    output logic                            waiting_o,
    output logic                            progress_o
);

  // The destination that the l7 engine stands behind, if it is there.
  localparam int unsigned L7Dest = Dests - 1;
  localparam int unsigned NoLateDest = 8;
  localparam int unsigned IndexBits = $clog2(Cfg.modules);

  token_t admitted;
  logic exit_waiting, exit_progress, l7_waiting, l7_progress;
  logic [Dests-1:0] egress_tvalid, egress_tready, egress_tlast;
  logic [Dests-1:0][8*Bytes-1:0] egress_tdata;
  logic [Dests-1:0][Bytes-1:0] egress_tkeep;
  sideband_t [Dests-1:0] egress_tuser;
  queue_trace_t [Dests-1:0] queue_trace;
  assign trace_queue_o = queue_trace;

  // What the queues ask the l7 engine. No module has all places of a matcher: what it sends finds one when it gets there.
  room_ask_t room_ask;
  room_take_t room_take;
  room_t room;
  logic charge_valid;
  // "Bits of signal are not used": modules are numbered as for the largest target.
  // verilator lint_off UNUSEDSIGNAL
  logic [ModuleBits-1:0] charge_module;
  // verilator lint_on UNUSEDSIGNAL
  logic [9:0] charge;
  logic [IndexBits-1:0] weight_index;
  logic [15:0] weight;

  sluice_nic_exit #(
      .Cfg   (Cfg),
      .Late  (HasL7 ? L7Dest : NoLateDest),
      .Places(L7Cfg.matchers * (L7Cfg.places - 1)),
      .Spare (L7Cfg.matchers)
  ) u_exit (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .clearing_o,
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tlast,
      .s_axis_verdict,
      .owner_read_o,
      .owner_vlan_o,
      .owners_i,
      .untagged_i,
      .m_axis_tvalid      (egress_tvalid),
      .m_axis_tready      (egress_tready),
      .m_axis_tdata       (egress_tdata),
      .m_axis_tkeep       (egress_tkeep),
      .m_axis_tlast       (egress_tlast),
      .m_axis_tuser       (egress_tuser),
      .ask_o              (room_ask),
      .take_o             (room_take),
      .room_i             (room),
      .charge_valid_i     (charge_valid),
      .charge_module_i    (charge_module[IndexBits-1:0]),
      .charge_i           (charge),
      .weight_index_o     (weight_index),
      .weight_i           (weight),
      .cfg_valid_i        (cfg_valid_i[0]),
      .cfg_req_i,
      .cfg_valid_o        (cfg_valid_o[0]),
      .cfg_rsp_o          (cfg_rsp_o[0]),
      .admitted_o         (admitted),
      .queue_trace_valid_o(trace_queue_valid_o),
      .queue_trace_o      (queue_trace),
      .leave_trace_valid_o(trace_leave_valid_o),
      .leave_trace_o      (trace_leave_o),
      .waiting_o          (exit_waiting),
      .progress_o         (exit_progress)
  );

  // Destinations without the l7 engine.
  assign m_axis_tvalid[L7Dest-1:0] = egress_tvalid[L7Dest-1:0];
  assign egress_tready[L7Dest-1:0] = m_axis_tready[L7Dest-1:0];
  assign m_axis_tdata[L7Dest*8*Bytes-1:0] = egress_tdata[L7Dest-1:0];
  assign m_axis_tkeep[L7Dest*Bytes-1:0] = egress_tkeep[L7Dest-1:0];
  assign m_axis_tlast[L7Dest-1:0] = egress_tlast[L7Dest-1:0];
  assign m_axis_tuser[L7Dest*SidebandBits-1:0] = egress_tuser[L7Dest-1:0];

  sluice_nic_top_l7 #(
      .Cfg    (L7Cfg),
      .Present(HasL7),
      .Dest   (L7Dest)
  ) u_l7 (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .s_axis_tvalid  (egress_tvalid[L7Dest]),
      .s_axis_tready  (egress_tready[L7Dest]),
      .s_axis_tdata   (egress_tdata[L7Dest]),
      .s_axis_tkeep   (egress_tkeep[L7Dest]),
      .s_axis_tlast   (egress_tlast[L7Dest]),
      .s_axis_tuser   (egress_tuser[L7Dest]),
      .m_axis_tvalid  (m_axis_tvalid[L7Dest]),
      .m_axis_tready  (m_axis_tready[L7Dest]),
      .m_axis_tdata   (m_axis_tdata[L7Dest*8*Bytes+:8*Bytes]),
      .m_axis_tkeep   (m_axis_tkeep[L7Dest*Bytes+:Bytes]),
      .m_axis_tlast   (m_axis_tlast[L7Dest]),
      .m_axis_tuser   (m_axis_tuser[L7Dest*SidebandBits+:SidebandBits]),
      .m_axis_message_o,
      .m_axis_queue_o,
      .verdict_valid_i,
      .verdict_i,
      .verdict_generation_i,
      .tail_drop_i    (trace_queue_valid_o[L7Dest] && queue_trace[L7Dest].dropped),
      .admitted_i     (admitted),
      .behind_enter_valid_o,
      .behind_enter_o,
      .behind_leave_valid_o,
      .behind_leave_o,
      .ask_i          (room_ask),
      .take_i         (room_take),
      .room_o         (room),
      .charge_valid_o (charge_valid),
      .charge_module_o(charge_module),
      .charge_o       (charge),
      .weight_index_i (weight_index),
      .weight_o       (weight),
      .m_axis_dma_read_desc_tvalid,
      .m_axis_dma_read_desc_tready,
      .m_axis_dma_read_desc_addr,
      .m_axis_dma_read_desc_len,
      .m_axis_dma_read_desc_tag,
      .s_axis_dma_read_data_tvalid,
      .s_axis_dma_read_data_tag,
      .s_axis_dma_read_data_tdata,
      .m_axis_dma_write_desc_tvalid,
      .m_axis_dma_write_desc_tready,
      .m_axis_dma_write_desc_addr,
      .m_axis_dma_write_desc_len,
      .m_axis_dma_write_desc_tag,
      .m_axis_dma_write_data_tvalid,
      .m_axis_dma_write_data_tready,
      .m_axis_dma_write_data_tdata,
      .m_axis_dma_write_data_tkeep,
      .m_axis_dma_write_data_tlast,
      .s_axis_dma_write_status_tvalid,
      .s_axis_dma_write_status_tag,
      .cfg_valid_i    (cfg_valid_i[1]),
      .cfg_req_i      (cfg_wide_i),
      .cfg_row_i,
      .cfg_valid_o    (cfg_valid_o[1]),
      .cfg_rsp_o      (cfg_rsp_o[1]),
      .trace_step_valid_o,
      .trace_step_o,
      .waiting_o      (l7_waiting),
      .progress_o     (l7_progress)
  );

  assign waiting_o  = exit_waiting || l7_waiting;
  assign progress_o = exit_progress || l7_progress;

endmodule
