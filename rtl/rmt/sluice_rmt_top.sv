/// The match-action pipeline alone, in the shell (docs/design/rmt.md).
///
/// `Target` chooses the configuration (0 default, 1 tiny, 2 wide). Packets come with their sideband as `tuser` (id, arrival
/// as stamp, tenant, module, length, tci, tag_off, flow_hash; the rest is not looked at) and leave with it in
/// the lower bits of `m_axis_tuser` (new length, generation, destinations, queue; tag 0), above it the tags of all
/// destinations, lowest first.
///
/// The configuration ring is that of docs/design/nic.md; nodes in order: system, stamp, parser, stages, deparser.
///
/// A reset empties the pipeline, makes all generations 0 and the owners of the stages those of the target; behind it all
/// tables but state and counters are cleared, while packets and messages wait (docs/design/nic.md, "Reset").
/// `trace_*` tell what happened in each cycle; they may be left open.
///
/// Latency, throughput and stalls: as sluice_rmt.
// "Multiple top level modules": sluice_ram_1r1w_clear is in the list for synthesis; no simulated body needs it.
// verilator lint_off MULTITOP
module sluice_rmt_top
  // verilator lint_on MULTITOP
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter int unsigned Target = 0,
    localparam rmt_cfg_t Cfg = rmt_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned TagsBits = 16 * DestBits
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic [     8*Bytes-1:0] s_axis_tdata,
    input  logic [       Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  logic [SidebandBits-1:0] s_axis_tuser,

    output logic                             m_axis_tvalid,
    input  logic                             m_axis_tready,
    output logic [              8*Bytes-1:0] m_axis_tdata,
    output logic [                Bytes-1:0] m_axis_tkeep,
    output logic                             m_axis_tlast,
    output logic [TagsBits+SidebandBits-1:0] m_axis_tuser,

    input  logic        s_axis_cfg_tvalid,
    output logic        s_axis_cfg_tready,
    input  logic [31:0] s_axis_cfg_tdata,
    input  logic        s_axis_cfg_tlast,
    output logic        m_axis_cfg_tvalid,
    input  logic        m_axis_cfg_tready,
    output logic [31:0] m_axis_cfg_tdata,
    output logic        m_axis_cfg_tlast,

    output logic [TickBits-1:0] ticks_o,
    output logic [        31:0] trace_epoch_o,

    output logic                        trace_stamp_valid_o,
    output logic [  MergeTraceBits-1:0] trace_stamp_o,
    output logic                        trace_verdict_valid_o,
    output logic [VerdictTraceBits-1:0] trace_verdict_o
);

  localparam int unsigned Nodes = 2 + Cfg.stages;

  if (Target > 2) begin : gen_bad_target
    $fatal(1, "rmt_top: Target is %0d, expected 0 (default), 1 (tiny) or 2 (wide) (%m)", Target);
  end

  function automatic node_list_t node_list();
    node_list_t list;
    list = '0;
    for (int unsigned n = 0; n < Nodes; n++) list[n] = rmt_node(n, Cfg.stages);
    return list;
  endfunction

  logic [Nodes-1:0] req_valid, rsp_valid;
  cfg_req_t [Nodes-1:0] unused_req;
  wide_req_t [Nodes-1:0] req;
  logic [rmt_wide_bits(Cfg.stages)-1:0] rows;
  cfg_rsp_t [Nodes-1:0] rsp;
  logic unused_generation;
  logic hold, waiting, progress;
  logic enter_valid, generation, system_generation, conform, leave_valid;
  enter_t enter;
  token_t leave;

  // Flows are hashed before they come here.
  flow_secret_t unused_flow_secret;

  sluice_shell #(
      .TargetHash(Cfg.target_hash),
      .Engines   (EngineRmt),
      .Modules   (Cfg.modules),
      .Nodes     (Nodes),
      .List      (node_list()),
      .ClearRows (rmt_clear_rows(Cfg))
  ) u_shell (
      .clk_i,
      .rst_ni,
      .s_axis_cfg_tvalid,
      .s_axis_cfg_tready,
      .s_axis_cfg_tdata,
      .s_axis_cfg_tlast,
      .m_axis_cfg_tvalid,
      .m_axis_cfg_tready,
      .m_axis_cfg_tdata,
      .m_axis_cfg_tlast,
      .req_valid_o         (req_valid),
      .req_o               (unused_req),
      .wide_req_o          (req),
      .rows_o              (rows),
      .rsp_valid_i         (rsp_valid),
      .rsp_i               (rsp),
      .ticks_o,
      .epoch_o             (trace_epoch_o),
      .hold_o              (hold),
      .flow_secret_o       (unused_flow_secret),
      .enter_valid_i       (enter_valid),
      .enter_i             (enter),
      .generation_o        (generation),
      .system_generation_o (system_generation),
      .conform_o           (conform),
      .leave_valid_i       (leave_valid),
      .leave_i             (leave),
      .behind_enter_valid_i(1'b0),
      .behind_enter_i      ('0),
      .behind_leave_valid_i('0),
      .behind_leave_i      ('0),
      .waiting_i           (waiting),
      .progress_i          (progress),
      .trace_valid_o       (trace_stamp_valid_o),
      .trace_o             (trace_stamp_o)
  );

  sideband_t m_axis_side;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  route_t m_axis_route;
  // verilator lint_on UNUSEDSIGNAL
  assign m_axis_tuser = {m_axis_route.tags, m_axis_side};

  sluice_rmt #(
      .Cfg(Cfg)
  ) u_rmt (
      .clk_i,
      .rst_ni,
      .ticks_i             (ticks_o),
      .epoch_i             (trace_epoch_o),
      .hold_i              (hold),
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_tuser,
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_side,
      .m_axis_route,
      .enter_valid_o       (enter_valid),
      .enter_o             (enter),
      .generation_i        (generation),
      .system_generation_i (system_generation),
      .conform_i           (conform),
      .leave_valid_o       (leave_valid),
      .leave_o             (leave),
      .verdict_valid_o     (trace_verdict_valid_o),
      .verdict_o           (trace_verdict_o),
      .verdict_generation_o(unused_generation),
      .cfg_valid_i         (req_valid),
      .cfg_req_i           (req),
      .cfg_rows_i          (rows),
      .cfg_valid_o         (rsp_valid),
      .cfg_rsp_o           (rsp),
      .waiting_o           (waiting),
      .progress_o          (progress)
  );

endmodule
