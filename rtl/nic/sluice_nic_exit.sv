/// Where packets go out: one stream of what the engines let through, judged, admitted to queues, and sent to each destination.
///
/// A verdict and its beats part behind sluice_nic_sources and meet again behind the admission; meanwhile sluice_nic_vlan_guard
/// judges the frames as they will leave, by who owns their VLANs. Queues and the rest are sluice_nic_egress.
///
/// `admitted_o` is whose packet is looked at where the queues' trace tells what becomes of it.
///
/// Latency, throughput and stalls: as these blocks.
module sluice_nic_exit
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = nic_cfg(0),
    // The destination with an engine behind it, or 8; places that the engine has in it, and to spare: sluice_nic_egress.
    parameter int unsigned Late = 8,
    parameter int unsigned Places = 1,
    parameter int unsigned Spare = 1,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Ports = Cfg.ports,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned IndexBits = $clog2(Cfg.modules)
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

    output logic      [Dests-1:0]              m_axis_tvalid,
    input  logic      [Dests-1:0]              m_axis_tready,
    output logic      [Dests-1:0][8*Bytes-1:0] m_axis_tdata,
    output logic      [Dests-1:0][  Bytes-1:0] m_axis_tkeep,
    output logic      [Dests-1:0]              m_axis_tlast,
    output sideband_t [Dests-1:0]              m_axis_tuser,

    // Room and turns of the engine behind `Late`.
    output room_ask_t                  ask_o,
    output room_take_t                 take_o,
    input  room_t                      room_i,
    input  logic                       charge_valid_i,
    input  logic       [IndexBits-1:0] charge_module_i,
    input  logic       [          9:0] charge_i,
    output logic       [IndexBits-1:0] weight_index_o,
    input  logic       [         15:0] weight_i,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    output token_t                            admitted_o,
    output logic         [         Dests-1:0] queue_trace_valid_o,
    output queue_trace_t [         Dests-1:0] queue_trace_o,
    output logic                              leave_trace_valid_o,
    output logic         [LeaveTraceBits-1:0] leave_trace_o,
    output logic                              waiting_o,
    output logic                              progress_o
);

  localparam int unsigned Sources = 1;
  // Between the engines and the admission to the queues.
  localparam int unsigned EgressDepth = 16;

  logic out_valid, out_ready, out_last, out_first_q;
  logic [8*Bytes-1:0] out_data;
  verdict_t verdict_in;

  sluice_nic_sources #(
      .Sources(Sources),
      .Bytes  (Bytes)
  ) u_sources (
      .clk_i,
      .rst_ni,
      .valid_i  (s_axis_tvalid),
      .ready_o  (s_axis_tready),
      .data_i   (s_axis_tdata),
      .last_i   (s_axis_tlast),
      .verdict_i(s_axis_verdict),
      .valid_o  (out_valid),
      .ready_i  (out_ready),
      .data_o   (out_data),
      .last_o   (out_last),
      .verdict_o(verdict_in)
  );

  // Verdicts and beats part here and meet again behind the admission; meanwhile the frames are judged as they will leave.
  logic verdict_in_ready, data_in_ready, verdict_valid, verdict_ready, data_valid, data_ready, data_last;
  verdict_t verdict;
  logic [8*Bytes-1:0] data;
  logic [DestBits-1:0] denied;
  logic [Cfg.modules-1:0] any_vids;
  logic [$clog2(EgressDepth+1)-1:0] unused_data_level;

  assign out_ready = verdict_in_ready && data_in_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) out_first_q <= 1'b1;
    else if (out_valid && out_ready) out_first_q <= out_last;
  end

  sluice_nic_vlan_guard #(
      .Ports  (Ports),
      .Modules(Cfg.modules),
      .Depth  (EgressDepth)
  ) u_vlan_guard (
      .clk_i,
      .rst_ni,
      .valid_i      (out_valid && out_first_q && data_in_ready),
      .ready_o      (verdict_in_ready),
      .verdict_i    (verdict_in),
      .outer_i      ({out_data[8*12+:8], out_data[8*13+:8], out_data[8*14+:8], out_data[8*15+:8]}),
      .lookup_o     (owner_read_o),
      .lookup_vlan_o(owner_vlan_o),
      .owner_i      (owners_i),
      .untagged_i   (untagged_i),
      .any_vids_i   (any_vids),
      .valid_o      (verdict_valid),
      .ready_i      (verdict_ready),
      .verdict_o    (verdict),
      .denied_o     (denied)
  );

  sluice_fifo #(
      .Width(8 * Bytes + 1),
      .Depth(EgressDepth)
  ) u_data (
      .clk_i,
      .rst_ni,
      .valid_i(out_valid && verdict_in_ready),
      .ready_o(data_in_ready),
      .data_i ({out_last, out_data}),
      .valid_o(data_valid),
      .ready_i(data_ready),
      .data_o ({data_last, data}),
      .level_o(unused_data_level)
  );

  sluice_nic_egress #(
      .Cfg   (Cfg),
      .Late  (Late),
      .Places(Places),
      .Spare (Spare)
  ) u_egress (
      .clk_i,
      .rst_ni,
      .clearing_o,
      .verdict_valid_i(verdict_valid),
      .verdict_ready_o(verdict_ready),
      .verdict_i      (verdict),
      .denied_i       (denied),
      .valid_i        (data_valid),
      .ready_o        (data_ready),
      .data_i         (data),
      .last_i         (data_last),
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser,
      .ask_o,
      .take_o,
      .room_i,
      .charge_valid_i,
      .charge_module_i,
      .charge_i,
      .weight_index_o,
      .weight_i,
      .any_vids_o     (any_vids),
      .epoch_i,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o,
      .queue_trace_valid_o,
      .queue_trace_o,
      .leave_trace_valid_o,
      .leave_trace_o,
      .progress_o
  );

  assign admitted_o = '{
          module_id: verdict.sideband.module_id,
          generation: verdict.sideband.generation,
          system_generation: 1'b0
      };
  assign waiting_o = verdict_valid || data_valid;

endmodule
