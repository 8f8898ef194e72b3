/// The match-action pipeline and the probe behind it, in the shell: a second engine in line (docs/decisions/engine-seam.md).
///
/// Ports, `Target`, ring and reset: as sluice_rmt_top, with the probe's node behind the pipeline's, and a verdict for each
/// engine in `trace_verdict_*`, the pipeline's lowest.
// "Multiple top level modules": sluice_ram_1r1w_clear is in the list for synthesis; no simulated body needs it.
// verilator lint_off MULTITOP
module sluice_probe_top
  // verilator lint_on MULTITOP
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_probe_rows_pkg::*;
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

    output logic                          trace_stamp_valid_o,
    output logic [    MergeTraceBits-1:0] trace_stamp_o,
    output logic [                   1:0] trace_verdict_valid_o,
    output logic [2*VerdictTraceBits-1:0] trace_verdict_o
);

  localparam int unsigned AtProbe = 2 + Cfg.stages;
  localparam int unsigned Nodes = AtProbe + 1;

  if (Target > 1) begin : gen_bad_target
    $fatal(1, "probe_top: Target is %0d, expected 0 (default) or 1 (tiny) (%m)", Target);
  end

  function automatic node_list_t node_list();
    node_list_t list;
    list = '0;
    for (int unsigned n = 0; n < AtProbe; n++) list[n] = rmt_node(n, Cfg.stages);
    list[AtProbe].number = NodeProbe;
    return list;
  endfunction

  logic [Nodes-1:0] req_valid, rsp_valid;
  // "Bits of signal are not used": a node has one of both.
  // verilator lint_off UNUSEDSIGNAL
  cfg_req_t [Nodes-1:0] req;
  wide_req_t [Nodes-1:0] wide_req;
  // verilator lint_on UNUSEDSIGNAL
  logic [rmt_wide_bits(Cfg.stages)-1:0] rows;
  cfg_rsp_t [Nodes-1:0] rsp;
  logic unused_generation;
  logic hold, rmt_waiting, rmt_progress, probe_waiting, probe_progress;
  logic enter_valid, generation, system_generation, conform, leave_valid, rmt_leave_valid, probe_leave_valid;
  logic [1:0] verdict_valid;
  verdict_trace_t [1:0] verdict;
  enter_t enter;
  token_t leave, rmt_leave, probe_token, probe_leave;

  // Flows are hashed before they come here.
  flow_secret_t unused_flow_secret;

  sluice_shell #(
      .TargetHash(Cfg.target_hash),
      .Engines   (EngineRmt | EngineProbe),
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
      .req_o               (req),
      .wide_req_o          (wide_req),
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
      .waiting_i           (rmt_waiting || probe_waiting),
      .progress_i          (rmt_progress || probe_progress),
      .trace_valid_o       (trace_stamp_valid_o),
      .trace_o             (trace_stamp_o)
  );

  assign trace_verdict_valid_o = verdict_valid;
  assign trace_verdict_o = verdict;

  // Between the engines.
  logic tvalid, tready, tlast;
  logic [8*Bytes-1:0] tdata;
  logic [  Bytes-1:0] tkeep;
  sideband_t side, m_axis_side;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  route_t route, m_axis_route;
  // verilator lint_on UNUSEDSIGNAL
  assign m_axis_tuser = {m_axis_route.tags, m_axis_side};

  sluice_rmt #(
      .Cfg  (Cfg),
      .Last (1'b0),
      .Least(LeastPacketBytes)
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
      .m_axis_tvalid       (tvalid),
      .m_axis_tready       (tready),
      .m_axis_tdata        (tdata),
      .m_axis_tkeep        (tkeep),
      .m_axis_tlast        (tlast),
      .m_axis_side         (side),
      .m_axis_route        (route),
      .enter_valid_o       (enter_valid),
      .enter_o             (enter),
      .generation_i        (generation),
      .system_generation_i (system_generation),
      .conform_i           (conform),
      .leave_valid_o       (rmt_leave_valid),
      .leave_o             (rmt_leave),
      .verdict_valid_o     (verdict_valid[0]),
      .verdict_o           (verdict[0]),
      .verdict_generation_o(unused_generation),
      .cfg_valid_i         (req_valid[AtProbe-1:0]),
      .cfg_req_i           (wide_req[AtProbe-1:0]),
      .cfg_rows_i          (rows),
      .cfg_valid_o         (rsp_valid[AtProbe-1:0]),
      .cfg_rsp_o           (rsp[AtProbe-1:0]),
      .waiting_o           (rmt_waiting),
      .progress_o          (rmt_progress)
  );

  sluice_shell_handover u_handover (
      .clk_i,
      .rst_ni,
      .leave_valid_i    (rmt_leave_valid),
      .leave_i          (rmt_leave),
      .verdict_valid_i  (verdict_valid[0]),
      .verdict_dropped_i(verdict[0].dropped),
      .take_i           (tvalid && tready && tlast),
      .token_o          (probe_token),
      .back_valid_i     (probe_leave_valid),
      .back_i           (probe_leave),
      .leave_valid_o    (leave_valid),
      .leave_o          (leave)
  );

  sluice_probe #(
      .Bytes  (Bytes),
      .Modules(Cfg.modules)
  ) u_probe (
      .clk_i,
      .rst_ni,
      .epoch_i        (trace_epoch_o),
      .s_axis_tvalid  (tvalid),
      .s_axis_tready  (tready),
      .s_axis_tdata   (tdata),
      .s_axis_tkeep   (tkeep),
      .s_axis_tlast   (tlast),
      .s_axis_side    (side),
      .s_axis_route   (route),
      .token_i        (probe_token),
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_side,
      .m_axis_route,
      .leave_valid_o  (probe_leave_valid),
      .leave_o        (probe_leave),
      .verdict_valid_o(verdict_valid[1]),
      .verdict_o      (verdict[1]),
      .cfg_valid_i    (req_valid[AtProbe]),
      .cfg_req_i      (req[AtProbe]),
      .cfg_valid_o    (rsp_valid[AtProbe]),
      .cfg_rsp_o      (rsp[AtProbe]),
      .waiting_o      (probe_waiting),
      .progress_o     (probe_progress)
  );

endmodule
