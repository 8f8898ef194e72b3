/// Part of the NIC's top: the engines in line, the match-action pipeline and behind it the XDP engine, if it is there.
///
/// Packets come with their sideband and leave with the new one and with where they go. A packet takes a token where it enters the pipeline
/// and gives it back where it leaves the last engine. Verdicts are the pipeline's, then the XDP engine's. Nodes of the ring are the
/// pipeline's, then the XDP engine's, which answers StatusBadAddress if it is not there.
///
/// Latency, throughput and stalls: as sluice_rmt and sluice_xdp.
module sluice_nic_top_line
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_outside_pkg::*;
#(
    parameter rmt_cfg_t RmtCfg = rmt_cfg(0),
    parameter xdp_cfg_t XdpCfg = xdp_cfg(0),
    parameter bit HasXdp = 1'b1,
    // Packets that have a token at a time, at most.
    parameter int unsigned InFlight = 255,
    localparam int unsigned Bytes = RmtCfg.bus_bytes,
    // Nodes: the pipeline's, the XDP engine's.
    localparam int unsigned AtXdp = 2 + RmtCfg.stages,
    localparam int unsigned Nodes = AtXdp + 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [TickBits-1:0] ticks_i,
    input logic [        31:0] epoch_i,
    input logic                hold_i,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic      [8*Bytes-1:0] s_axis_tdata,
    input  logic      [  Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  sideband_t               s_axis_tuser,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_side,
    output route_t                  m_axis_route,

    output logic   enter_valid_o,
    output enter_t enter_o,
    input  logic   generation_i,
    input  logic   system_generation_i,
    input  logic   conform_i,
    output logic   leave_valid_o,
    output token_t leave_o,

    output logic           [1:0] verdict_valid_o,
    output verdict_trace_t [1:0] verdict_o,
    output logic           [1:0] verdict_generation_o,

    input  logic      [                       Nodes-1:0] cfg_valid_i,
    input  wide_req_t [                       AtXdp-1:0] cfg_wide_i,
    input  logic      [rmt_wide_bits(RmtCfg.stages)-1:0] cfg_rows_i,
    input  cfg_req_t                                     cfg_xdp_i,
    output logic      [                       Nodes-1:0] cfg_valid_o,
    output cfg_rsp_t  [                       Nodes-1:0] cfg_rsp_o,

    // External memory for maps of programs, where the target has one.
    output outside_master_t outside_o,
    input  outside_slave_t  outside_i,

    output logic waiting_o,
    output logic progress_o
);

  // What the pipeline lets through.
  logic passed_tvalid, passed_tready, passed_tlast;
  logic [8*Bytes-1:0] passed_tdata;
  logic [Bytes-1:0] passed_tkeep;
  sideband_t passed_side;
  route_t passed_route;
  logic rmt_leave_valid, rmt_waiting, rmt_progress, xdp_waiting, xdp_progress;
  token_t rmt_leave;

  sluice_rmt #(
      .Cfg  (RmtCfg),
      .Last (!HasXdp),
      .Least(LeastPacketBytes)
  ) u_rmt (
      .clk_i,
      .rst_ni,
      .ticks_i,
      .epoch_i,
      .hold_i,
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_tuser,
      .m_axis_tvalid       (passed_tvalid),
      .m_axis_tready       (passed_tready),
      .m_axis_tdata        (passed_tdata),
      .m_axis_tkeep        (passed_tkeep),
      .m_axis_tlast        (passed_tlast),
      .m_axis_side         (passed_side),
      .m_axis_route        (passed_route),
      .enter_valid_o,
      .enter_o,
      .generation_i,
      .system_generation_i,
      .conform_i,
      .leave_valid_o       (rmt_leave_valid),
      .leave_o             (rmt_leave),
      .verdict_valid_o     (verdict_valid_o[0]),
      .verdict_o           (verdict_o[0]),
      .verdict_generation_o(verdict_generation_o[0]),
      .cfg_valid_i         (cfg_valid_i[AtXdp-1:0]),
      .cfg_req_i           (cfg_wide_i[AtXdp-1:0]),
      .cfg_rows_i,
      .cfg_valid_o         (cfg_valid_o[AtXdp-1:0]),
      .cfg_rsp_o           (cfg_rsp_o[AtXdp-1:0]),
      .waiting_o           (rmt_waiting),
      .progress_o          (rmt_progress)
  );

  // Programs of modules that have one.
  if (HasXdp) begin : gen_xdp
    logic xdp_leave_valid;
    token_t xdp_token, xdp_leave;
    logic [Bytes-1:0] unused_out_keep;
    // The order in which programs reach maps is told by the engine's own top only.
    logic [XdpSteps-1:0] unused_step_valid;
    xdp_step_trace_row_t [XdpSteps-1:0] unused_step;

    sluice_shell_handover #(
        .BackTokens(InFlight)
    ) u_handover (
        .clk_i,
        .rst_ni,
        .leave_valid_i    (rmt_leave_valid),
        .leave_i          (rmt_leave),
        .verdict_valid_i  (verdict_valid_o[0]),
        .verdict_dropped_i(verdict_o[0].dropped),
        .take_i           (passed_tvalid && passed_tready && passed_tlast),
        .token_o          (xdp_token),
        .back_valid_i     (xdp_leave_valid),
        .back_i           (xdp_leave),
        .leave_valid_o,
        .leave_o
    );

    sluice_xdp #(
        .Cfg(XdpCfg)
    ) u_xdp (
        .clk_i,
        .rst_ni,
        .epoch_i,
        .s_axis_tvalid       (passed_tvalid),
        .s_axis_tready       (passed_tready),
        .s_axis_tdata        (passed_tdata),
        .s_axis_tkeep        (passed_tkeep),
        .s_axis_tlast        (passed_tlast),
        .s_axis_side         (passed_side),
        .s_axis_route        (passed_route),
        .token_i             (xdp_token),
        .m_axis_tvalid,
        .m_axis_tready,
        .m_axis_tdata,
        .m_axis_tkeep        (unused_out_keep),
        .m_axis_tlast,
        .m_axis_side,
        .m_axis_route,
        .leave_valid_o       (xdp_leave_valid),
        .leave_o             (xdp_leave),
        .verdict_valid_o     (verdict_valid_o[1]),
        .verdict_o           (verdict_o[1]),
        .verdict_generation_o(verdict_generation_o[1]),
        .cfg_valid_i         (cfg_valid_i[AtXdp]),
        .cfg_req_i           (cfg_xdp_i),
        .cfg_valid_o         (cfg_valid_o[AtXdp]),
        .cfg_rsp_o           (cfg_rsp_o[AtXdp]),
        .outside_o,
        .outside_i,
        .step_valid_o        (unused_step_valid),
        .step_o              (unused_step),
        .waiting_o           (xdp_waiting),
        .progress_o          (xdp_progress)
    );
  end else begin : gen_no_xdp
    sluice_nic_absent u_absent (
        .clk_i,
        .rst_ni,
        .cfg_valid_i(cfg_valid_i[AtXdp]),
        .cfg_valid_o(cfg_valid_o[AtXdp]),
        .cfg_rsp_o  (cfg_rsp_o[AtXdp])
    );
    // "Signal is not used": there is nobody to take it.
    // verilator lint_off UNUSEDSIGNAL
    logic unused;
    // verilator lint_on UNUSEDSIGNAL
    assign unused = ^{cfg_xdp_i, passed_tkeep, outside_i};

    assign leave_valid_o = rmt_leave_valid;
    assign leave_o = rmt_leave;
    assign m_axis_tvalid = passed_tvalid;
    assign passed_tready = m_axis_tready;
    assign m_axis_tdata = passed_tdata;
    assign m_axis_tlast = passed_tlast;
    assign m_axis_side = passed_side;
    assign m_axis_route = passed_route;
    assign verdict_valid_o[1] = 1'b0;
    assign verdict_o[1] = '0;
    assign verdict_generation_o[1] = 1'b0;
    assign outside_o = '0;
    assign xdp_waiting = 1'b0;
    assign xdp_progress = 1'b0;
  end

  assign waiting_o  = rmt_waiting || xdp_waiting;
  assign progress_o = rmt_progress || xdp_progress;

endmodule
