/// The match-action pipeline alone: configuration ring, system node, stamp, pipeline (docs/design/rmt.md).
///
/// `Target` chooses the configuration (0 default, 1 tiny). Packets come with their sideband as `tuser` (id, arrival
/// as stamp, tenant, module, length, tci, tag_off, flow_hash; the rest is not looked at) and leave with it in
/// the lower bits of `m_axis_tuser` (new length, generation, destinations), above it the route (queue, tags).
///
/// The configuration ring is that of docs/design/nic.md; nodes in order: system, stamp, parser, stages, deparser.
///
/// A reset empties the pipeline and makes all generations 0; tables, state and counters are RAM and outlive it,
/// the owners of the stages do not.
/// `trace_*` tell what happened in each cycle; they may be left open.
///
/// Latency, throughput and stalls: as sluice_rmt.
module sluice_rmt_top
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter int unsigned Target = 0,
    localparam rmt_cfg_t Cfg = rmt_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned RouteBits = $bits(rmt_route_t),
    localparam int unsigned StampBits = TickBits + 2 + ModuleBits + 32,
    localparam int unsigned VerdictBits = DestBits + $bits(rmt_event_e) + 1 + ModuleBits + 32
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic [     8*Bytes-1:0] s_axis_tdata,
    input  logic [       Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  logic [SidebandBits-1:0] s_axis_tuser,

    output logic                              m_axis_tvalid,
    input  logic                              m_axis_tready,
    output logic [               8*Bytes-1:0] m_axis_tdata,
    output logic [                 Bytes-1:0] m_axis_tkeep,
    output logic                              m_axis_tlast,
    output logic [RouteBits+SidebandBits-1:0] m_axis_tuser,

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

    // A packet is stamped; {queueing, system generation, generation, module, id}.
    output logic                   trace_stamp_valid_o,
    output logic [  StampBits-1:0] trace_stamp_o,
    // It has its verdict; {destinations, reason, dropped, module, id}.
    output logic                   trace_verdict_valid_o,
    output logic [VerdictBits-1:0] trace_verdict_o
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

  function automatic logic [7:0] node_number(int unsigned at);
    if (at == AtSystem) return NodeSystem;
    if (at == AtStamp) return NodeStamp;
    if (at == AtPipeline) return NodeRmtParser;
    if (at == Nodes - 1) return NodeRmtDeparser;
    return NodeRmtStage0 + 8'(at - AtPipeline - 1);
  endfunction

  function automatic int unsigned row_words(int unsigned at);
    if (at < AtPipeline) return MessageDataWords;
    if (at == AtPipeline) return RmtSelectRowWords;
    if (at == Nodes - 1) return RmtPatternsRowWords;
    return RmtActionRowWords;
  endfunction

  logic [Nodes:0] ring_valid, ring_ready, ring_last;
  logic [Nodes:0][31:0] ring_data;
  logic [Nodes-1:0] req_valid, rsp_valid, bad_message, timeout;
  cfg_req_t [Nodes-1:0] req;
  cfg_rsp_t [Nodes-1:0] rsp;
  logic [Nodes-1:0][6:0] words;
  rmt_cfg_req_t [Nodes-1:AtPipeline] rmt_req;
  logic [32*RmtSelectRowWords-1:0] parser_row;
  logic [Stages-1:0][32*RmtActionRowWords-1:0] stage_row;
  logic [32*RmtPatternsRowWords-1:0] deparser_row;

  assign ring_valid[0] = s_axis_cfg_tvalid;
  assign ring_data[0] = s_axis_cfg_tdata;
  assign ring_last[0] = s_axis_cfg_tlast;
  assign s_axis_cfg_tready = ring_ready[0];
  assign m_axis_cfg_tvalid = ring_valid[Nodes];
  assign m_axis_cfg_tdata = ring_data[Nodes];
  assign m_axis_cfg_tlast = ring_last[Nodes];
  assign ring_ready[Nodes] = m_axis_cfg_tready;

  for (genvar n = 0; n < Nodes; n++) begin : gen_node
    logic [32*row_words(n)-1:0] row;

    sluice_cfg_node #(
        .Node    (node_number(n)),
        .RowWords(row_words(n))
    ) u_node (
        .clk_i,
        .rst_ni,
        .s_valid_i    (ring_valid[n]),
        .s_ready_o    (ring_ready[n]),
        .s_data_i     (ring_data[n]),
        .s_last_i     (ring_last[n]),
        .m_valid_o    (ring_valid[n+1]),
        .m_ready_i    (ring_ready[n+1]),
        .m_data_o     (ring_data[n+1]),
        .m_last_o     (ring_last[n+1]),
        .req_valid_o  (req_valid[n]),
        .req_o        (req[n]),
        .row_o        (row),
        .words_o      (words[n]),
        .rsp_valid_i  (rsp_valid[n]),
        .rsp_i        (rsp[n]),
        .bad_message_o(bad_message[n]),
        .timeout_o    (timeout[n])
    );

    if (n < AtPipeline) begin : gen_nic_rows
      logic unused_row;
      assign unused_row = ^row;
    end else begin : gen_request
      assign rmt_req[n] = '{
              write: req[n].write,
              tab: req[n].tab,
              snapshot: req[n].index[SnapshotIndexBit],
              slice: req[n].index[RmtSliceIndexBit+:7],
              index: req[n].index[15:0],
              words: words[n]
          };
      if (n == AtPipeline) begin : gen_parser
        assign parser_row = row;
      end else if (n == Nodes - 1) begin : gen_deparser
        assign deparser_row = row;
      end else begin : gen_stage
        assign stage_row[n-AtPipeline-1] = row;
      end
    end
  end

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
  rmt_ctl_t verdict_ctl;
  logic [DestBits-1:0] verdict_destinations;
  rmt_ctl_t leave_ctl;

  sluice_rmt_stamp #(
      .Cfg(Cfg)
  ) u_stamp (
      .clk_i,
      .rst_ni,
      .ticks_i            (ticks_o),
      .token_valid_i      (token_valid),
      .token_module_i     (token_module),
      .token_length_i     (token_length),
      .generation_o       (generation),
      .system_generation_o(system_generation),
      .conform_o          (conform),
      .leave_valid_i      (leave_valid),
      .leave_ctl_i        (leave_ctl),
      .cfg_valid_i        (req_valid[AtStamp]),
      .cfg_req_i          (req[AtStamp]),
      .cfg_valid_o        (rsp_valid[AtStamp]),
      .cfg_rsp_o          (rsp[AtStamp])
  );

  sideband_t  m_axis_side;
  rmt_route_t m_axis_route;

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
  assign trace_stamp_valid_o = token_valid;
  assign trace_stamp_o = {ticks_o, system_generation, generation, token_module, token_id};
  assign trace_verdict_o = {
    verdict_destinations, verdict_ctl.reason, verdict_ctl.dropped, verdict_ctl.module_id, verdict_id
  };
  assign m_axis_tuser = {m_axis_route, m_axis_side};

  sluice_nic_watchdog u_watchdog (
      .clk_i,
      .rst_ni,
      .limit_i   (watchdog_limit),
      .waiting_i (waiting),
      .progress_i(progress),
      .wedged_o  (wedged)
  );

endmodule
