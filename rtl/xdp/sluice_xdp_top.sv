/// The XDP engine alone, in the shell (docs/design/hxdp-core.md).
///
/// `Target` chooses the configuration (0 default, 1 tiny, 2 and 3 the same with external memory). Packets come with their sideband as `tuser` and leave with it and the
/// tags of all destinations, as at sluice_rmt_top. The configuration ring is that of docs/design/nic.md; nodes in order: system, stamp,
/// xdp. Rates are not kept: only the rmt pipeline drops for them.
///
/// A reset empties the engine and makes all generations 0; behind it programs, interfaces and pages are cleared, while packets and
/// messages wait. `trace_*` tell what happened in each cycle; they may be left open.
///
/// Latency, throughput and stalls: as sluice_xdp.
// "Multiple top level modules": sluice_ram_1r1w_clear is in the list for synthesis; no simulated body needs it.
// verilator lint_off MULTITOP
module sluice_xdp_top
  // verilator lint_on MULTITOP
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned Target = 0,
    localparam xdp_cfg_t Cfg = xdp_cfg(Target),
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

    // External memory for values; without one nothing is asked.
    output logic [  5:0] m_axi_values_awid,
    output logic [ 31:0] m_axi_values_awaddr,
    output logic [  7:0] m_axi_values_awlen,
    output logic [  2:0] m_axi_values_awsize,
    output logic [  1:0] m_axi_values_awburst,
    output logic         m_axi_values_awvalid,
    input  logic         m_axi_values_awready,
    output logic [127:0] m_axi_values_wdata,
    output logic [ 15:0] m_axi_values_wstrb,
    output logic         m_axi_values_wlast,
    output logic         m_axi_values_wvalid,
    input  logic         m_axi_values_wready,
    input  logic [  5:0] m_axi_values_bid,
    input  logic [  1:0] m_axi_values_bresp,
    input  logic         m_axi_values_bvalid,
    output logic         m_axi_values_bready,
    output logic [  5:0] m_axi_values_arid,
    output logic [ 31:0] m_axi_values_araddr,
    output logic [  7:0] m_axi_values_arlen,
    output logic [  2:0] m_axi_values_arsize,
    output logic [  1:0] m_axi_values_arburst,
    output logic         m_axi_values_arvalid,
    input  logic         m_axi_values_arready,
    input  logic [  5:0] m_axi_values_rid,
    input  logic [127:0] m_axi_values_rdata,
    input  logic [  1:0] m_axi_values_rresp,
    input  logic         m_axi_values_rvalid,
    output logic         m_axi_values_rready,

    output logic [TickBits-1:0] ticks_o,
    output logic [        31:0] trace_epoch_o,

    output logic                                       trace_stamp_valid_o,
    output logic                [  MergeTraceBits-1:0] trace_stamp_o,
    output logic                                       trace_verdict_valid_o,
    output logic                [VerdictTraceBits-1:0] trace_verdict_o,
    output logic                [        XdpSteps-1:0] trace_step_valid_o,
    output xdp_step_trace_row_t [        XdpSteps-1:0] trace_step_o
);

  localparam node_list_t List = '{0: '{wide_words: '0, number: NodeXdp}, default: '0};

  if (Target > 3) begin : gen_bad_target
    $fatal(1, "xdp_top: Target is %0d, expected 0 (default), 1 (tiny), 2 (far) or 3 (tiny_far) (%m)", Target);
  end

  logic req_valid, rsp_valid, hold, waiting, progress;
  cfg_req_t  req;
  wide_req_t unused_wide_req;
  logic unused_rows, unused_conform;
  cfg_rsp_t rsp;
  logic enter_valid, generation, system_generation, leave_valid;
  enter_t enter;
  token_t token, leave;

  // Flows are hashed before they come here.
  flow_secret_t unused_flow_secret;

  sluice_shell #(
      .TargetHash (Cfg.target_hash),
      .Engines    (EngineXdp),
      .Modules    (Cfg.modules),
      .Nodes      (1),
      .List       (List),
      .ClearRows  (xdp_clear_rows(Cfg)),
      .MaxInFlight(Cfg.queue_rows + Cfg.cores * Cfg.packets + 8)
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
      .wide_req_o          (unused_wide_req),
      .rows_o              (unused_rows),
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
      .conform_o           (unused_conform),
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

  logic in_valid, in_ready, in_last;
  logic [8*Bytes-1:0] in_data;
  logic [Bytes-1:0] in_keep;
  sideband_t in_side;

  sluice_shell_entrance #(
      .Bytes     (Bytes),
      .Registered(1'b0)
  ) u_entrance (
      .clk_i,
      .rst_ni,
      .hold_i             (hold),
      .ticks_i            (ticks_o),
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_tuser,
      .m_axis_tvalid      (in_valid),
      .m_axis_tready      (in_ready),
      .m_axis_tdata       (in_data),
      .m_axis_tkeep       (in_keep),
      .m_axis_tlast       (in_last),
      .m_axis_side        (in_side),
      .token_o            (token),
      .enter_valid_o      (enter_valid),
      .enter_o            (enter),
      .generation_i       (generation),
      .system_generation_i(system_generation)
  );

  sideband_t m_axis_side;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  route_t m_axis_route;
  // verilator lint_on UNUSEDSIGNAL
  assign m_axis_tuser = {m_axis_route.tags, m_axis_side};

  outside_master_t outside_out;
  outside_slave_t  outside_in;
  sluice_xdp_outside_axi u_outside_axi (
      .outside_i(outside_out),
      .outside_o(outside_in),
      .m_axi_values_awid,
      .m_axi_values_awaddr,
      .m_axi_values_awlen,
      .m_axi_values_awsize,
      .m_axi_values_awburst,
      .m_axi_values_awvalid,
      .m_axi_values_awready,
      .m_axi_values_wdata,
      .m_axi_values_wstrb,
      .m_axi_values_wlast,
      .m_axi_values_wvalid,
      .m_axi_values_wready,
      .m_axi_values_bid,
      .m_axi_values_bresp,
      .m_axi_values_bvalid,
      .m_axi_values_bready,
      .m_axi_values_arid,
      .m_axi_values_araddr,
      .m_axi_values_arlen,
      .m_axi_values_arsize,
      .m_axi_values_arburst,
      .m_axi_values_arvalid,
      .m_axi_values_arready,
      .m_axi_values_rid,
      .m_axi_values_rdata,
      .m_axi_values_rresp,
      .m_axi_values_rvalid,
      .m_axi_values_rready
  );

  logic unused_generation;
  sluice_xdp #(
      .Cfg(Cfg)
  ) u_xdp (
      .clk_i,
      .rst_ni,
      .epoch_i             (trace_epoch_o),
      .s_axis_tvalid       (in_valid),
      .s_axis_tready       (in_ready),
      .s_axis_tdata        (in_data),
      .s_axis_tkeep        (in_keep),
      .s_axis_tlast        (in_last),
      .s_axis_side         (in_side),
      .s_axis_route        ('0),
      .token_i             (token),
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_side,
      .m_axis_route,
      .leave_valid_o       (leave_valid),
      .leave_o             (leave),
      .verdict_valid_o     (trace_verdict_valid_o),
      .verdict_o           (trace_verdict_o),
      .verdict_generation_o(unused_generation),
      .cfg_valid_i         (req_valid),
      .cfg_req_i           (req),
      .cfg_valid_o         (rsp_valid),
      .cfg_rsp_o           (rsp),
      .outside_o           (outside_out),
      .outside_i           (outside_in),
      .step_valid_o        (trace_step_valid_o),
      .step_o              (trace_step_o),
      .waiting_o           (waiting),
      .progress_o          (progress)
  );

endmodule
