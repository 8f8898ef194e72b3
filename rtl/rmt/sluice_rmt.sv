/// The match-action pipeline between its entrance and its output (docs/design/rmt.md).
///
/// An engine: sluice_engine_pkg says what its ports are. Packets come with their sideband (`length` as it is); its id's
/// bits 31:28 are the port, its stamp the arrival. They leave in order. A packet enters with its first slot.
///
/// Configuration: one access at a time per node. Nodes in order: parser, stages, deparser (rmt_node).
///
/// `Last`: no engine is behind it, so that it counts copies. `Least`: packets that would leave with fewer bytes are dropped.
///
/// Latency: of a packet of one beat, from its acceptance to its output beat, about 22 + 8 * stages cycles.
/// Throughput: of a packet, the larger of its beats in and out in cycles; no cycle between packets.
/// Stall behaviour: the input stalls when a FIFO behind the entrance is full, at most every 256 cycles for one
/// cycle while a table waits for it, and as sluice_rmt_entrance says.
module sluice_rmt
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_shell_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    parameter bit Last = 1'b1,
    parameter int unsigned Least = 1,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Nodes = 2 + Cfg.stages,
    localparam int unsigned WideBits = rmt_wide_bits(Cfg.stages)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [TickBits-1:0] ticks_i,
    input logic [        31:0] epoch_i,
    input logic                hold_i,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic [     8*Bytes-1:0] s_axis_tdata,
    input  logic [       Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  logic [SidebandBits-1:0] s_axis_tuser,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
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

    output logic           verdict_valid_o,
    output verdict_trace_t verdict_o,
    output logic           verdict_generation_o,

    input  logic      [   Nodes-1:0] cfg_valid_i,
    input  wide_req_t [   Nodes-1:0] cfg_req_i,
    input  logic      [WideBits-1:0] cfg_rows_i,
    output logic      [   Nodes-1:0] cfg_valid_o,
    output cfg_rsp_t  [   Nodes-1:0] cfg_rsp_o,

    output logic waiting_o,
    output logic progress_o
);

  // A packet of one beat holds its credit for about 60 cycles.
  localparam int unsigned Credits = 128;
  localparam int unsigned DataBeats = 512;
  // Packets that wait in the deparser have no credit any more.
  localparam int unsigned Sides = Credits + 16;
  localparam int unsigned AtParser = 0;
  localparam int unsigned AtStage0 = 1;
  localparam int unsigned AtDeparser = 1 + Cfg.stages;

  if (Cfg.stages < 1 || Cfg.stages > 16) begin : gen_bad_stages
    $fatal(1, "rmt: stages is %0d, expected 1 to 16 (%m)", Cfg.stages);
  end

  // Configuration: requests of the nodes, and the rows of writes, the parser's lowest.
  rmt_cfg_req_t [Nodes-1:0] cfg_req;
  logic [32*RmtSelectRowWords-1:0] parser_row;
  logic [Cfg.stages-1:0][32*RmtActionRowWords-1:0] stage_row;
  logic [32*RmtPatternsRowWords-1:0] deparser_row;

  assign {deparser_row, stage_row, parser_row} = cfg_rows_i;
  for (genvar n = 0; n < Nodes; n++) begin : gen_request
    assign cfg_req[n] = '{
            clear: cfg_req_i[n].clear,
            write: cfg_req_i[n].write,
            tab: cfg_req_i[n].tab,
            snapshot: cfg_req_i[n].index[SnapshotIndexBit],
            slice: cfg_req_i[n].index[RmtSliceIndexBit+:7],
            index: cfg_req_i[n].index[15:0],
            words: cfg_req_i[n].words
        };
  end

  // Entrance.
  logic beat_in_valid, beat_in_ready, beat_in_last, beat_valid, beat_ready, beat_last;
  logic [8*Bytes-1:0] beat_in, beat;
  logic side_in_valid, side_in_ready, side_valid, side_ready;
  sideband_t side_in, side_in_q, side;
  logic side_in_valid_q;
  logic slot_valid, slot_first, slot_last;
  logic [8*Bytes-1:0] slot_data;
  rmt_desc_t desc;
  logic token_foreign, window_valid, window_misfit, credit_q, entrance_waiting;
  logic [8*WindowBytes-1:0] token_window;
  logic late_valid, misfit_valid_q;
  logic [ModuleBits-1:0] late_module, misfit_module_q;
  logic [Cfg.stages-1:0] stage_slot_request;
  logic parser_slot_request, deparser_slot_request, slot_request_q;
  logic beat_room_q, side_room_q;
  logic [$clog2(DataBeats+1)-1:0] beat_level;
  logic [$clog2(Sides+1)-1:0] side_level;

  sluice_rmt_entrance #(
      .Cfg    (Cfg),
      .Credits(Credits)
  ) u_entrance (
      .clk_i,
      .rst_ni,
      .hold_i,
      .ticks_i,
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_tuser,
      .beat_valid_o   (beat_in_valid),
      .beat_ready_i   (beat_room_q),
      .beat_data_o    (beat_in),
      .beat_last_o    (beat_in_last),
      .side_valid_o   (side_in_valid),
      .side_ready_i   (side_room_q),
      .side_o         (side_in),
      .slot_valid_o   (slot_valid),
      .slot_first_o   (slot_first),
      .slot_last_o    (slot_last),
      .slot_data_o    (slot_data),
      .desc_o         (desc),
      .token_valid_o  (enter_valid_o),
      .token_id_o     (enter_o.id),
      .token_foreign_o(token_foreign),
      .token_window_o (token_window),
      .generation_i,
      .system_generation_i,
      .credit_i       (credit_q),
      .slot_request_i (slot_request_q),
      .window_valid_o (window_valid),
      .window_misfit_o(window_misfit),
      .late_valid_o   (late_valid),
      .late_module_o  (late_module),
      .waiting_o      (entrance_waiting)
  );
  always_ff @(posedge clk_i) begin
    if (!rst_ni) slot_request_q <= 1'b0;
    else slot_request_q <= parser_slot_request || |stage_slot_request || deparser_slot_request;
  end
  // Misfits are counted in any cycle.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) misfit_valid_q <= 1'b0;
    else misfit_valid_q <= late_valid;
    misfit_module_q <= late_module;
  end
  // The readiness of both FIFOs is known a cycle before: with places for what comes in between. Sidebands, which nobody
  // waits for, go in a cycle later.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      beat_room_q     <= 1'b0;
      side_room_q     <= 1'b0;
      side_in_valid_q <= 1'b0;
    end else begin
      beat_room_q     <= 32'(beat_level) + 32'd1 < DataBeats;
      side_room_q     <= 32'(side_level) + 32'd2 < Sides;
      side_in_valid_q <= side_in_valid;
    end
    side_in_q <= side_in;
  end
  assign enter_o.module_id = desc.ctl.module_id;
  assign enter_o.length = desc.length;
  assign enter_o.arrival = desc.arrival;

  sluice_fifo_ram #(
      .Width(8 * Bytes + 1),
      .Depth(DataBeats)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .valid_i(beat_in_valid),
      .ready_o(beat_in_ready),
      .data_i ({beat_in_last, beat_in}),
      .valid_o(beat_valid),
      .ready_i(beat_ready),
      .data_o ({beat_last, beat}),
      .level_o(beat_level)
  );

  sluice_fifo_ram #(
      .Width(SidebandBits),
      .Depth(Sides)
  ) u_sides (
      .clk_i,
      .rst_ni,
      .valid_i(side_in_valid_q),
      .ready_o(side_in_ready),
      .data_i (side_in_q),
      .valid_o(side_valid),
      .ready_i(side_ready),
      .data_o (side),
      .level_o(side_level)
  );

  // Headers: parser, what the entrance could not say in time, stages.
  logic [Cfg.stages:0] ctl_valid;
  rmt_ctl_t [Cfg.stages:0] ctl;
  rmt_phv_t [Cfg.stages:0] phv;
  rmt_ctl_t parsed;
  logic parser_cfg_valid;
  cfg_rsp_t parser_cfg_rsp;

  sluice_rmt_parser #(
      .Cfg(Cfg)
  ) u_parser (
      .clk_i,
      .rst_ni,
      .slot_valid_i  (slot_valid),
      .slot_first_i  (slot_first),
      .slot_last_i   (slot_last),
      .slot_data_i   (slot_data),
      .desc_i        (desc),
      .ctl_valid_o   (ctl_valid[0]),
      .ctl_o         (parsed),
      .phv_o         (phv[0]),
      .cfg_valid_i   (cfg_valid_i[AtParser]),
      .cfg_req_i     (cfg_req[AtParser]),
      .cfg_row_i     (parser_row),
      .cfg_valid_o   (parser_cfg_valid),
      .cfg_rsp_o     (parser_cfg_rsp),
      .slot_request_o(parser_slot_request)
  );

  sluice_rmt_refuse u_refuse (
      .clk_i,
      .rst_ni,
      .token_valid_i  (enter_valid_o),
      .token_foreign_i(token_foreign),
      .token_length_i (enter_o.length),
      .token_window_i (token_window),
      .conform_i,
      .window_valid_i (window_valid),
      .window_misfit_i(window_misfit),
      .ctl_valid_i    (ctl_valid[0]),
      .ctl_i          (parsed),
      .ctl_o          (ctl[0])
  );

  for (genvar s = 0; s < Cfg.stages; s++) begin : gen_stage
    sluice_rmt_stage #(
        .Cfg  (Cfg),
        .Stage(s)
    ) u_stage (
        .clk_i,
        .rst_ni,
        .epoch_i,
        .ctl_valid_i   (ctl_valid[s]),
        .ctl_i         (ctl[s]),
        .phv_i         (phv[s]),
        .ctl_valid_o   (ctl_valid[s+1]),
        .ctl_o         (ctl[s+1]),
        .phv_o         (phv[s+1]),
        .cfg_valid_i   (cfg_valid_i[AtStage0+s]),
        .cfg_req_i     (cfg_req[AtStage0+s]),
        .cfg_row_i     (stage_row[s]),
        .cfg_valid_o   (cfg_valid_o[AtStage0+s]),
        .cfg_rsp_o     (cfg_rsp_o[AtStage0+s]),
        .slot_request_o(stage_slot_request[s])
    );
  end

  // Destinations, and the PHVs that wait for their packets.
  typedef struct packed {
    rmt_ctl_t ctl;
    route_t   route;
    rmt_phv_t phv;
  } header_t;

  logic header_in_valid, header_in_ready, header_valid, header_ready;
  header_t header_in, header;
  logic [$clog2(Credits+1)-1:0] unused_header_level;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  rmt_ctl_t leave_ctl, verdict_ctl;
  // verilator lint_on UNUSEDSIGNAL
  logic event_valid;
  logic [ModuleBits-1:0] event_module;
  rmt_event_e event_kind;
  logic [3:0] event_amount;
  logic destinations_cfg_valid, deparser_cfg_valid;
  cfg_rsp_t destinations_cfg_rsp, deparser_cfg_rsp;

  sluice_rmt_destinations #(
      .Cfg(Cfg)
  ) u_destinations (
      .clk_i,
      .rst_ni,
      .ctl_valid_i    (ctl_valid[Cfg.stages]),
      .ctl_i          (ctl[Cfg.stages]),
      .phv_i          (phv[Cfg.stages]),
      .valid_o        (header_in_valid),
      .ctl_o          (header_in.ctl),
      .phv_o          (header_in.phv),
      .route_o        (header_in.route),
      .epoch_i,
      .event_valid_i  (event_valid),
      .event_module_i (event_module),
      .event_kind_i   (event_kind),
      .event_amount_i (event_amount),
      .misfit_valid_i (misfit_valid_q),
      .misfit_module_i(misfit_module_q),
      .cfg_valid_i    (cfg_valid_i[AtDeparser]),
      .cfg_req_i      (cfg_req[AtDeparser]),
      .cfg_row_i      (deparser_row),
      .cfg_valid_o    (destinations_cfg_valid),
      .cfg_rsp_o      (destinations_cfg_rsp)
  );

  sluice_fifo_ram #(
      .Width($bits(header_t)),
      .Depth(Credits)
  ) u_headers (
      .clk_i,
      .rst_ni,
      .valid_i(header_in_valid),
      .ready_o(header_in_ready),
      .data_i (header_in),
      .valid_o(header_valid),
      .ready_i(header_ready),
      .data_o (header),
      .level_o(unused_header_level)
  );
  // Credits may come back late.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) credit_q <= 1'b0;
    else credit_q <= header_valid && header_ready;
  end

  sluice_rmt_deparser #(
      .Cfg  (Cfg),
      .Last (Last),
      .Least(Least)
  ) u_deparser (
      .clk_i,
      .rst_ni,
      .phv_valid_i           (header_valid),
      .phv_ready_o           (header_ready),
      .phv_i                 (header.phv),
      .ctl_i                 (header.ctl),
      .route_i               (header.route),
      .side_valid_i          (side_valid),
      .side_ready_o          (side_ready),
      .side_i                (side),
      .valid_i               (beat_valid),
      .ready_o               (beat_ready),
      .data_i                (beat),
      .last_i                (beat_last),
      .m_valid_o             (m_axis_tvalid),
      .m_ready_i             (m_axis_tready),
      .m_data_o              (m_axis_tdata),
      .m_keep_o              (m_axis_tkeep),
      .m_last_o              (m_axis_tlast),
      .m_side_o              (m_axis_side),
      .m_route_o             (m_axis_route),
      .leave_valid_o,
      .leave_ctl_o           (leave_ctl),
      .verdict_valid_o,
      .verdict_id_o          (verdict_o.id),
      .verdict_ctl_o         (verdict_ctl),
      .verdict_destinations_o(verdict_o.destinations),
      .event_valid_o         (event_valid),
      .event_module_o        (event_module),
      .event_kind_o          (event_kind),
      .event_amount_o        (event_amount),
      .cfg_valid_i           (cfg_valid_i[AtDeparser]),
      .cfg_req_i             (cfg_req[AtDeparser]),
      .cfg_row_i             (deparser_row),
      .cfg_valid_o           (deparser_cfg_valid),
      .cfg_rsp_o             (deparser_cfg_rsp),
      .slot_request_o        (deparser_slot_request)
  );

  assign leave_o = '{
          module_id: leave_ctl.module_id,
          generation: leave_ctl.generation,
          system_generation: leave_ctl.system_generation
      };
  assign verdict_o.reason = rmt_reason(verdict_ctl.reason);
  assign verdict_o.dropped = verdict_ctl.dropped;
  assign verdict_o.module_id = verdict_ctl.module_id;
  assign verdict_generation_o = verdict_ctl.generation;

  // Tables that nobody has are answered here; a stage answers for itself.
  logic parser_unknown_q, deparser_unknown_q;
  localparam cfg_rsp_t NoTable = '{status: StatusBadAddress, words: '0, data: '0};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      parser_unknown_q   <= 1'b0;
      deparser_unknown_q <= 1'b0;
    end else begin
      parser_unknown_q   <= cfg_valid_i[AtParser] && cfg_req[AtParser].tab > TableRmtPath;
      deparser_unknown_q <= cfg_valid_i[AtDeparser] && cfg_req[AtDeparser].tab > TableRmtGroupName;
    end
  end

  assign cfg_valid_o[AtParser] = parser_cfg_valid || parser_unknown_q;
  assign cfg_rsp_o[AtParser] = parser_unknown_q ? NoTable : parser_cfg_rsp;
  assign cfg_valid_o[AtDeparser] = deparser_cfg_valid || destinations_cfg_valid || deparser_unknown_q;
  assign cfg_rsp_o[AtDeparser] = deparser_unknown_q ? NoTable :
      destinations_cfg_valid ? destinations_cfg_rsp : deparser_cfg_rsp;

  logic blocked;
  assign blocked = m_axis_tvalid && !m_axis_tready;
  assign waiting_o = (entrance_waiting || beat_valid || header_valid) && !blocked;
  assign progress_o = (m_axis_tvalid && m_axis_tready) || (beat_valid && beat_ready);

`ifndef SYNTHESIS
  HeaderHasRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !header_in_valid || header_in_ready);
  BeatHasRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !beat_in_valid || beat_in_ready);
  SideHasRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !side_in_valid_q || side_in_ready);
  OneAnswerAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(
      {deparser_cfg_valid, destinations_cfg_valid, deparser_unknown_q}
  ));
`endif

endmodule
