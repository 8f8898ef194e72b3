/// The l7 engine alone, in the shell (docs/design/l7.md).
///
/// `Target` chooses the configuration (0 default, 1 tiny). Packets come with their sideband as `tuser`. They leave with it and 128 bits in
/// front of it, as at the other tops: bits 7:0 of these are the queue, bit 8 says that the packet belongs to a message. The configuration
/// ring is that of docs/design/nic.md; nodes in order: system, stamp, l7. Rates are not kept: only the rmt pipeline drops for them.
///
/// A reset empties the engine and makes all generations 0; behind it all tables but counters are cleared, while packets and messages wait.
/// `*_axis_dma_*`: host memory ("Receive"). `trace_*` tell what happened in each cycle; they may be left open.
///
/// Latency, throughput and stalls: as sluice_l7, with a cycle of the entrance.
// "Multiple top level modules": sluice_ram_1r1w_clear is in the list for synthesis; no simulated body needs it.
// verilator lint_off MULTITOP
module sluice_l7_top
  // verilator lint_on MULTITOP
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Target = 0,
    parameter int unsigned Matchers = 0,  // 0: as many as the target has
    parameter int unsigned MessagePackets = 0,  // of a message at most; 0: as many as the target has
    localparam l7_cfg_t Cfg = l7_cfg_of(Target, Matchers, MessagePackets),
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

    output logic [TickBits-1:0] ticks_o,
    output logic [        31:0] trace_epoch_o,

    output logic                        trace_stamp_valid_o,
    output logic [  MergeTraceBits-1:0] trace_stamp_o,
    output logic                        trace_verdict_valid_o,
    output logic [VerdictTraceBits-1:0] trace_verdict_o,
    // Decisions, what happens at rings, and what the message table forgets.
    output logic [                 2:0] trace_step_valid_o,
    output logic [3*L7TraceRowBits-1:0] trace_step_o
);

  localparam node_list_t List = '{0: '{wide_words: 7'(L7MatchRowWords), number: NodeL7}, default: '0};

  if (Target > 1) begin : gen_bad_target
    $fatal(1, "l7_top: Target is %0d, expected 0 (default) or 1 (tiny) (%m)", Target);
  end

  logic req_valid, rsp_valid, hold, waiting, progress;
  cfg_req_t unused_req;
  wide_req_t req;
  logic [32*L7MatchRowWords-1:0] rows;
  logic unused_conform;
  cfg_rsp_t rsp;
  logic enter_valid, generation, system_generation, leave_valid;
  enter_t enter;
  token_t token, leave;

  // Flows are hashed before they come here.
  flow_secret_t unused_flow_secret;

  sluice_shell #(
      .TargetHash (Cfg.target_hash),
      .Engines    (EngineL7),
      .Modules    (Cfg.modules),
      .Nodes      (1),
      .List       (List),
      .ClearRows  (l7_clear_rows(Cfg)),
      .MaxInFlight(Cfg.packets + 16)
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

  logic in_valid, in_ready, in_last, l7_ready;
  logic [8*Bytes-1:0] in_data;
  logic [Bytes-1:0] in_keep;
  sideband_t in_side;

  sluice_shell_entrance #(
      .Bytes(Bytes)
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

  // A packet waits here for its room. Where there is plenty it takes of what all share; else the answer counts a cycle later: nobody else takes room.
  room_ask_t ask;
  room_take_t take;
  // "Bits of signal are not used": one input has no others to send on, and knows lengths.
  // verilator lint_off UNUSEDSIGNAL
  room_t room;
  // verilator lint_on UNUSEDSIGNAL
  logic reserved_q, fits_q, own_q, may;

  assign ask = '{module_id: in_side.module_id, beats: beats_of(in_side.length, $clog2(Bytes))};
  assign may = reserved_q || room.plenty || fits_q;
  assign take = '{
          valid: in_valid && !reserved_q && (room.plenty || fits_q),
          own: fits_q && own_q,
          beats: ask.beats,
          less: '0
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      reserved_q <= 1'b0;
      fits_q     <= 1'b0;
    end else begin
      if (in_valid && may) reserved_q <= !(l7_ready && in_last);
      fits_q <= in_valid && !may && room.fits;
    end
    own_q <= room.own;
  end
  assign in_ready = l7_ready && may;

  l7_dma_t read_desc, write_desc;
  assign {m_axis_dma_read_desc_tag, m_axis_dma_read_desc_len, m_axis_dma_read_desc_addr} = read_desc;
  assign {m_axis_dma_write_desc_tag, m_axis_dma_write_desc_len, m_axis_dma_write_desc_addr} = write_desc;

  logic event_valid, forgot_valid;
  l7_trace_row_t trace;
  l7_ring_trace_row_t ring_event;
  l7_forget_trace_row_t forgot;
  assign trace_step_valid_o = {forgot_valid, event_valid, trace_verdict_valid_o};
  assign trace_step_o = {L7TraceRowBits'(forgot), L7TraceRowBits'(ring_event), trace};

  sideband_t m_axis_side;
  logic m_axis_message;
  logic [7:0] m_axis_queue;
  assign m_axis_tuser = {TagsBits'({m_axis_message, m_axis_queue}), m_axis_side};

  logic unused_charge_valid;
  logic [ModuleBits-1:0] unused_charge_module;
  logic [9:0] unused_charge;
  logic [15:0] unused_weight;

  sluice_l7 #(
      .Cfg(Cfg)
  ) u_l7 (
      .clk_i,
      .rst_ni,
      .epoch_i             (trace_epoch_o),
      .s_axis_tvalid       (in_valid && may),
      .s_axis_tready       (l7_ready),
      .s_axis_tdata        (in_data),
      .s_axis_tkeep        (in_keep),
      .s_axis_tlast        (in_last),
      .s_axis_side         (in_side),
      .token_i             (token),
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_side,
      .m_axis_message,
      .m_axis_queue,
      .leave_valid_o       (leave_valid),
      .leave_o             (leave),
      .ask_i               (ask),
      .take_i              (take),
      .room_o              (room),
      // One input has no order to choose.
      .charge_valid_o      (unused_charge_valid),
      .charge_module_o     (unused_charge_module),
      .charge_o            (unused_charge),
      .weight_index_i      ('0),
      .weight_o            (unused_weight),
      .verdict_valid_o     (trace_verdict_valid_o),
      .verdict_o           (trace_verdict_o),
      .trace_o             (trace),
      .read_desc_valid_o   (m_axis_dma_read_desc_tvalid),
      .read_desc_ready_i   (m_axis_dma_read_desc_tready),
      .read_desc_o         (read_desc),
      .read_data_valid_i   (s_axis_dma_read_data_tvalid),
      .read_data_tag_i     (s_axis_dma_read_data_tag),
      .read_data_i         (s_axis_dma_read_data_tdata),
      .write_desc_valid_o  (m_axis_dma_write_desc_tvalid),
      .write_desc_ready_i  (m_axis_dma_write_desc_tready),
      .write_desc_o        (write_desc),
      .write_data_valid_o  (m_axis_dma_write_data_tvalid),
      .write_data_ready_i  (m_axis_dma_write_data_tready),
      .write_data_o        (m_axis_dma_write_data_tdata),
      .write_keep_o        (m_axis_dma_write_data_tkeep),
      .write_last_o        (m_axis_dma_write_data_tlast),
      .write_status_valid_i(s_axis_dma_write_status_tvalid),
      .write_status_tag_i  (s_axis_dma_write_status_tag),
      .event_valid_o       (event_valid),
      .event_o             (ring_event),
      .forgot_valid_o      (forgot_valid),
      .forgot_o            (forgot),
      .cfg_valid_i         (req_valid),
      .cfg_req_i           (req),
      .cfg_row_i           (rows),
      .cfg_valid_o         (rsp_valid),
      .cfg_rsp_o           (rsp),
      .waiting_o           (waiting),
      .progress_o          (progress)
  );
endmodule
