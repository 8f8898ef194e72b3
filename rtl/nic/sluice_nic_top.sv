/// The NIC: ports, one shared match-action pipeline, egress queues, configuration ring.
///
/// docs/design/nic.md and rmt.md say what it does. `Target` chooses the configurations of both (0 default, 1
/// tiny, crates/formats/src/target.rs). Port p, destination d and trace p are the p-th or d-th
/// part of their flat buses, lowest bits first; destinations are the ports, then host queues.
///
/// Ports are never stalled (`s_axis_port_tready` is always 1). `s_axis_port_tuser` marks a bad
/// frame with its last beat. Every output beat carries the sideband as `tuser`.
///
/// A reset empties the NIC and closes its ports (port policy 0); tables and counters are RAM and
/// outlive it, so the host writes the tables again, the policies last, and takes the counters as
/// its new zero (packets that the reset threw away are in no other counter). The pipeline waits for as
/// many cycles as the buffer has cells after a reset.
/// `trace_*` tell what happened in each cycle; they may be left open.
// "Multiple top level modules": sluice_ram_1r1w_clear is in the list for synthesis; no simulated body needs it.
// verilator lint_off MULTITOP
module sluice_nic_top
  // verilator lint_on MULTITOP
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter int unsigned Target = 0,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
    localparam rmt_cfg_t RmtCfg = rmt_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Ports = Cfg.ports,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [        Ports-1:0] s_axis_port_tvalid,
    output logic [        Ports-1:0] s_axis_port_tready,
    input  logic [Ports*8*Bytes-1:0] s_axis_port_tdata,
    input  logic [  Ports*Bytes-1:0] s_axis_port_tkeep,
    input  logic [        Ports-1:0] s_axis_port_tlast,
    input  logic [        Ports-1:0] s_axis_port_tuser,

    output logic [             Dests-1:0] m_axis_tvalid,
    input  logic [             Dests-1:0] m_axis_tready,
    output logic [     Dests*8*Bytes-1:0] m_axis_tdata,
    output logic [       Dests*Bytes-1:0] m_axis_tkeep,
    output logic [             Dests-1:0] m_axis_tlast,
    output logic [Dests*SidebandBits-1:0] m_axis_tuser,

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

    output logic [              Ports-1:0] trace_port_valid_o,
    output logic [Ports*PortTraceBits-1:0] trace_port_o,
    output logic                           trace_merge_valid_o,
    output logic [     MergeTraceBits-1:0] trace_merge_o,
    output logic                           trace_verdict_valid_o,
    output logic [   VerdictTraceBits-1:0] trace_verdict_o,
    output logic                           trace_queue_valid_o,
    output logic [     QueueTraceBits-1:0] trace_queue_o,
    output logic                           trace_leave_valid_o,
    output logic [     LeaveTraceBits-1:0] trace_leave_o
);

  localparam int unsigned Stages = RmtCfg.stages;
  // Between the pipeline and the admission to the queues.
  localparam int unsigned EgressDepth = 16;
  // Positions on the ring.
  localparam int unsigned AtSystem = 0;
  localparam int unsigned AtStamp = 1;
  localparam int unsigned AtEgress = 2;
  localparam int unsigned AtPort0 = 3;
  localparam int unsigned AtPipeline = AtPort0 + Ports;
  localparam int unsigned Nodes = AtPipeline + 2 + Stages;

  if (Target > 1) begin : gen_bad_target
    $fatal(1, "nic_top: Target is %0d, expected 0 (default) or 1 (tiny) (%m)", Target);
  end

  if (RmtCfg.bus_bytes != Cfg.bus_bytes || RmtCfg.modules != Cfg.modules) begin : gen_bad_pair
    $fatal(
        1,
        "nic_top: the pipeline has a bus of %0d bytes and %0d modules, expected %0d and %0d (%m)",
        RmtCfg.bus_bytes,
        RmtCfg.modules,
        Cfg.bus_bytes,
        Cfg.modules
    );
  end

  logic [Nodes-1:0] req_valid, rsp_valid, bad_message, timeout;
  cfg_req_t [AtPipeline-1:0] req;
  cfg_rsp_t [Nodes-1:0] rsp;
  rmt_cfg_req_t [Nodes-1:AtPipeline] rmt_req;
  logic [32*RmtSelectRowWords-1:0] parser_row;
  logic [Stages-1:0][32*RmtActionRowWords-1:0] stage_row;
  logic [32*RmtPatternsRowWords-1:0] deparser_row;

  sluice_nic_ring #(
      .Ports (Ports),
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
  logic hold, clearing, wedged;
  logic merge_waiting, flow_waiting, rmt_waiting, rmt_progress, egress_progress;
  assign trace_epoch_o = epoch;

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

  // Ports.
  logic [Ports-1:0] desc_valid, desc_ready, port_valid, port_ready, port_last;
  port_desc_t [Ports-1:0] desc;
  logic [Ports-1:0][8*Bytes-1:0] port_data;

  assign s_axis_port_tready = '1;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    sluice_nic_port #(
        .Cfg (Cfg),
        .Port(p)
    ) u_port (
        .clk_i,
        .rst_ni,
        .ticks_i      (ticks_o),
        .s_axis_tvalid(s_axis_port_tvalid[p]),
        .s_axis_tdata (s_axis_port_tdata[p*8*Bytes+:8*Bytes]),
        .s_axis_tkeep (s_axis_port_tkeep[p*Bytes+:Bytes]),
        .s_axis_tlast (s_axis_port_tlast[p]),
        .s_axis_tuser (s_axis_port_tuser[p]),
        .desc_valid_o (desc_valid[p]),
        .desc_ready_i (desc_ready[p]),
        .desc_o       (desc[p]),
        .valid_o      (port_valid[p]),
        .ready_i      (port_ready[p]),
        .data_o       (port_data[p]),
        .last_o       (port_last[p]),
        .epoch_i      (epoch),
        .cfg_valid_i  (req_valid[AtPort0+p]),
        .cfg_req_i    (req[AtPort0+p]),
        .cfg_valid_o  (rsp_valid[AtPort0+p]),
        .cfg_rsp_o    (rsp[AtPort0+p]),
        .trace_valid_o(trace_port_valid_o[p]),
        .trace_o      (trace_port_o[p*PortTraceBits+:PortTraceBits])
    );
  end

  // One stream, and what the pipeline has to know of its packets.
  logic merged_valid, merged_ready, merged_last, rmt_tvalid, rmt_tready, rmt_tlast;
  logic [8*Bytes-1:0] merged_data, rmt_tdata;
  logic [Bytes-1:0] rmt_tkeep;
  port_desc_t merged_desc;
  sideband_t rmt_tuser;

  sluice_nic_merge #(
      .Cfg(Cfg)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .desc_valid_i(desc_valid),
      .desc_ready_o(desc_ready),
      .desc_i      (desc),
      .valid_i     (port_valid),
      .ready_o     (port_ready),
      .data_i      (port_data),
      .last_i      (port_last),
      .data_valid_o(merged_valid),
      .data_ready_i(merged_ready),
      .data_o      (merged_data),
      .data_last_o (merged_last),
      .desc_o      (merged_desc),
      .waiting_o   (merge_waiting)
  );

  sluice_nic_flow #(
      .Bytes(Bytes)
  ) u_flow (
      .clk_i,
      .rst_ni,
      .valid_i      (merged_valid),
      .ready_o      (merged_ready),
      .data_i       (merged_data),
      .last_i       (merged_last),
      .desc_i       (merged_desc),
      .m_axis_tvalid(rmt_tvalid),
      .m_axis_tready(rmt_tready),
      .m_axis_tdata (rmt_tdata),
      .m_axis_tkeep (rmt_tkeep),
      .m_axis_tlast (rmt_tlast),
      .m_axis_tuser (rmt_tuser),
      .waiting_o    (flow_waiting)
  );

  // The pipeline; the stamp knows whose packets are in it.
  logic token_valid, generation, system_generation, conform, leave_valid;
  logic [31:0] token_id, verdict_id;
  logic [ModuleBits-1:0] token_module;
  logic [13:0] token_length;
  logic [TickBits-1:0] token_arrival;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  rmt_ctl_t leave_ctl, verdict_ctl;
  // verilator lint_on UNUSEDSIGNAL
  logic [DestBits-1:0] verdict_destinations;
  verdict_trace_t trace_verdict;
  logic out_valid, out_ready, out_last, out_first_q;
  logic [8*Bytes-1:0] out_data;
  logic [Bytes-1:0] unused_out_keep;
  sideband_t out_side;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  rmt_route_t out_route;
  // verilator lint_on UNUSEDSIGNAL

  sluice_rmt_stamp #(
      .Cfg(RmtCfg)
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
      .trace_valid_o      (trace_merge_valid_o),
      .trace_o            (trace_merge_o)
  );

  sluice_rmt #(
      .Cfg(RmtCfg)
  ) u_rmt (
      .clk_i,
      .rst_ni,
      .ticks_i               (ticks_o),
      .epoch_i               (epoch),
      .hold_i                (hold || clearing),
      .s_axis_tvalid         (rmt_tvalid),
      .s_axis_tready         (rmt_tready),
      .s_axis_tdata          (rmt_tdata),
      .s_axis_tkeep          (rmt_tkeep),
      .s_axis_tlast          (rmt_tlast),
      .s_axis_tuser          (rmt_tuser),
      .m_axis_tvalid         (out_valid),
      .m_axis_tready         (out_ready),
      .m_axis_tdata          (out_data),
      .m_axis_tkeep          (unused_out_keep),
      .m_axis_tlast          (out_last),
      .m_axis_side           (out_side),
      .m_axis_route          (out_route),
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
      .waiting_o             (rmt_waiting),
      .progress_o            (rmt_progress)
  );

  assign trace_verdict = '{
          destinations: verdict_destinations,
          reason: rmt_reason(verdict_ctl.reason),
          dropped: verdict_ctl.dropped,
          module_id: verdict_ctl.module_id,
          id: verdict_id
      };
  assign trace_verdict_o = trace_verdict;

  // Verdicts and beats part here and meet again behind the admission.
  logic verdict_in_ready, data_in_ready, verdict_valid, verdict_ready, data_valid, data_ready, data_last;
  verdict_t verdict_in, verdict;
  logic [8*Bytes-1:0] data;
  logic [$clog2(EgressDepth+1)-1:0] unused_verdict_level, unused_data_level;

  assign out_ready  = verdict_in_ready && data_in_ready;
  assign verdict_in = '{tags: out_route.tags, sideband: out_side};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) out_first_q <= 1'b1;
    else if (out_valid && out_ready) out_first_q <= out_last;
  end

  sluice_fifo #(
      .Width($bits(verdict_t)),
      .Depth(EgressDepth)
  ) u_verdicts (
      .clk_i,
      .rst_ni,
      .valid_i(out_valid && out_first_q && data_in_ready),
      .ready_o(verdict_in_ready),
      .data_i (verdict_in),
      .valid_o(verdict_valid),
      .ready_i(verdict_ready),
      .data_o (verdict),
      .level_o(unused_verdict_level)
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
      .Cfg(Cfg)
  ) u_egress (
      .clk_i,
      .rst_ni,
      .clearing_o         (clearing),
      .verdict_valid_i    (verdict_valid),
      .verdict_ready_o    (verdict_ready),
      .verdict_i          (verdict),
      .valid_i            (data_valid),
      .ready_o            (data_ready),
      .data_i             (data),
      .last_i             (data_last),
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser,
      .epoch_i            (epoch),
      .cfg_valid_i        (req_valid[AtEgress]),
      .cfg_req_i          (req[AtEgress]),
      .cfg_valid_o        (rsp_valid[AtEgress]),
      .cfg_rsp_o          (rsp[AtEgress]),
      .queue_trace_valid_o(trace_queue_valid_o),
      .queue_trace_o      (trace_queue_o),
      .leave_trace_valid_o(trace_leave_valid_o),
      .leave_trace_o      (trace_leave_o),
      .progress_o         (egress_progress)
  );

  logic waiting;
  assign waiting = merge_waiting || flow_waiting || rmt_waiting || verdict_valid || data_valid;

  // What waits behind a reset until the queues' tables are clear is no fault.
  sluice_nic_watchdog u_watchdog (
      .clk_i,
      .rst_ni,
      .limit_i   (watchdog_limit),
      .waiting_i (waiting && !clearing),
      .progress_i(rmt_progress || egress_progress),
      .wedged_o  (wedged)
  );

endmodule
