/// The match-action pipeline alone: configuration ring, system node, stamp, pipeline (docs/design/rmt.md).
///
/// `Target` chooses the configuration (0 default, 1 tiny). Packets come with their sideband as `tuser` (id, arrival
/// as stamp, tenant, module, length, tci, tag_off, flow_hash; the rest is not looked at) and leave with it in
/// the lower bits of `m_axis_tuser` (new length, generation, destinations, queue; tag 0), above it the tags of all
/// destinations, lowest first.
///
/// The configuration ring is that of docs/design/nic.md; nodes in order: system, stamp, parser, stages, deparser.
///
/// A reset empties the pipeline and makes all generations 0; tables, state and counters are RAM and outlive it,
/// the owners of the stages do not.
/// `trace_*` tell what happened in each cycle; they may be left open.
///
/// Latency, throughput and stalls: as sluice_rmt.
// "Multiple top level modules": sluice_ram_1r1w_clear is in the list for synthesis; no simulated body needs it.
// verilator lint_off MULTITOP
module sluice_rmt_top
  // verilator lint_on MULTITOP
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
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

  localparam int unsigned Stages = Cfg.stages;
  localparam int unsigned Nodes = 4 + Stages;
  // Positions on the ring.
  localparam int unsigned AtSystem = 0;
  localparam int unsigned AtStamp = 1;
  localparam int unsigned AtPipeline = 2;

  if (Target > 1) begin : gen_bad_target
    $fatal(1, "rmt_top: Target is %0d, expected 0 (default) or 1 (tiny) (%m)", Target);
  end

  logic [Nodes-1:0] req_valid, rsp_valid, bad_message, timeout;
  cfg_req_t [AtPipeline-1:0] req;
  cfg_rsp_t [Nodes-1:0] rsp;
  rmt_cfg_req_t [Nodes-1:AtPipeline] rmt_req;
  logic [32*RmtSelectRowWords-1:0] parser_row;
  logic [Stages-1:0][32*RmtActionRowWords-1:0] stage_row;
  logic [32*RmtPatternsRowWords-1:0] deparser_row;

  sluice_nic_ring #(
      .Stages(Stages)
  ) u_ring (
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
      .req_valid_o   (req_valid),
      .req_o         (req),
      .rmt_req_o     (rmt_req),
      .parser_row_o  (parser_row),
      .stage_row_o   (stage_row),
      .deparser_row_o(deparser_row),
      .rsp_valid_i   (rsp_valid),
      .rsp_i         (rsp),
      .bad_message_o (bad_message),
      .timeout_o     (timeout)
  );

  logic [31:0] epoch, watchdog_limit;
  logic hold, wedged, waiting, progress;

  sluice_nic_system #(
      .TargetHash(Cfg.target_hash),
      .Nodes     (Nodes)
  ) u_system (
      .clk_i,
      .rst_ni,
      .cfg_valid_i  (req_valid[AtSystem]),
      .cfg_req_i    (req[AtSystem]),
      .cfg_valid_o  (rsp_valid[AtSystem]),
      .cfg_rsp_o    (rsp[AtSystem]),
      .bad_message_i(bad_message),
      .timeout_i    (timeout),
      .wedged_i     (wedged),
      .ticks_o,
      .epoch_o      (epoch),
      .hold_o       (hold),
      .watchdog_o   (watchdog_limit)
  );

  logic token_valid, generation, system_generation, conform, leave_valid;
  logic [31:0] token_id, verdict_id;
  logic [ModuleBits-1:0] token_module;
  logic [13:0] token_length;
  logic [TickBits-1:0] token_arrival;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  rmt_ctl_t verdict_ctl;
  // verilator lint_on UNUSEDSIGNAL
  logic [DestBits-1:0] verdict_destinations;
  rmt_ctl_t leave_ctl;
  verdict_trace_t trace_verdict;

  sluice_rmt_stamp #(
      .Cfg(Cfg)
  ) u_stamp (
      .clk_i,
      .rst_ni,
      .ticks_i            (ticks_o),
      .token_valid_i      (token_valid),
      .token_id_i         (token_id),
      .token_module_i     (token_module),
      .token_length_i     (token_length),
      .token_arrival_i    (token_arrival),
      .generation_o       (generation),
      .system_generation_o(system_generation),
      .conform_o          (conform),
      .leave_valid_i      (leave_valid),
      .leave_ctl_i        (leave_ctl),
      .cfg_valid_i        (req_valid[AtStamp]),
      .cfg_req_i          (req[AtStamp]),
      .cfg_valid_o        (rsp_valid[AtStamp]),
      .cfg_rsp_o          (rsp[AtStamp]),
      .trace_valid_o      (trace_stamp_valid_o),
      .trace_o            (trace_stamp_o)
  );

  sideband_t  m_axis_side;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  rmt_route_t m_axis_route;
  // verilator lint_on UNUSEDSIGNAL

  sluice_rmt #(
      .Cfg(Cfg)
  ) u_rmt (
      .clk_i,
      .rst_ni,
      .ticks_i               (ticks_o),
      .epoch_i               (epoch),
      .hold_i                (hold),
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
      .token_valid_o         (token_valid),
      .token_id_o            (token_id),
      .token_module_o        (token_module),
      .token_length_o        (token_length),
      .token_arrival_o       (token_arrival),
      .generation_i          (generation),
      .system_generation_i   (system_generation),
      .conform_i             (conform),
      .leave_valid_o         (leave_valid),
      .leave_ctl_o           (leave_ctl),
      .verdict_valid_o       (trace_verdict_valid_o),
      .verdict_id_o          (verdict_id),
      .verdict_ctl_o         (verdict_ctl),
      .verdict_destinations_o(verdict_destinations),
      .cfg_valid_i           (req_valid[Nodes-1:AtPipeline]),
      .cfg_req_i             (rmt_req),
      .parser_row_i          (parser_row),
      .stage_row_i           (stage_row),
      .deparser_row_i        (deparser_row),
      .cfg_valid_o           (rsp_valid[Nodes-1:AtPipeline]),
      .cfg_rsp_o             (rsp[Nodes-1:AtPipeline]),
      .waiting_o             (waiting),
      .progress_o            (progress)
  );
  assign trace_epoch_o = epoch;
  assign trace_verdict = '{
          destinations: verdict_destinations,
          reason: rmt_reason(verdict_ctl.reason),
          dropped: verdict_ctl.dropped,
          module_id: verdict_ctl.module_id,
          id: verdict_id
      };
  assign trace_verdict_o = trace_verdict;
  assign m_axis_tuser = {m_axis_route.tags, m_axis_side};

  sluice_nic_watchdog u_watchdog (
      .clk_i,
      .rst_ni,
      .limit_i   (watchdog_limit),
      .waiting_i (waiting),
      .progress_i(progress),
      .wedged_o  (wedged)
  );

endmodule
