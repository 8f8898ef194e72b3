/// The l7 engine: frames that are no messages pass, packets of messages leave with the queue that their message's content chooses
/// (docs/design/l7.md).
///
/// Boundary: sluice_engine_pkg, with `token_i` in place of the entrance. `m_axis_message` says that a packet is a message's, and
/// `m_axis_queue` its queue; other frames leave as they came, with their route. Packets whose queue has a ring go into host memory instead
/// (`read_*`, `write_*`). The verdict comes with a packet's last beat, and so does its token.
///
/// A packet goes through sluice_l7_filter; one of a message waits in sluice_l7_staging for what sluice_l7_messages says, to whom
/// sluice_l7_matchers say what their rules say, and sluice_l7_host finds its buffer. sluice_l7_accounts counts. sluice_l7_charges tells the
/// scheduler in front what each packet costs, once for each.
///
/// Latency: 2 cycles for what is no message (beats of 32 bytes: 3). Throughput: a beat a cycle. Stall behaviour: the input waits while the packet at its head
/// waits for the output or for a matcher; neither waits for the input. Who sends packets reserves their room in the staging buffer first, at most
/// `Cfg.matchers * Cfg.places` ahead.
module sluice_l7
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter l7_cfg_t Cfg = L7CfgDefault,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned IndexBits = $clog2(Cfg.modules),
    localparam int unsigned RowBits = 32 * L7MatchRowWords
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic      [8*Bytes-1:0] s_axis_tdata,
    input  logic      [  Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  sideband_t               s_axis_side,
    input  token_t                  token_i,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_side,
    output logic                    m_axis_message,
    output logic      [        7:0] m_axis_queue,

    output logic   leave_valid_o,
    output token_t leave_o,

    // For the scheduler in front: what each packet costs, and the weights of modules, answered in the same cycle.
    // It reserves each packet's room in the staging buffer before it sends it.
    input  room_ask_t                   ask_i,
    input  room_take_t                  take_i,
    output room_t                       room_o,
    output logic                        charge_valid_o,
    output logic       [ModuleBits-1:0] charge_module_o,
    output logic       [           9:0] charge_o,
    input  logic       [ IndexBits-1:0] weight_index_i,
    output logic       [          15:0] weight_o,

    output logic           verdict_valid_o,
    output verdict_trace_t verdict_o,
    output l7_trace_row_t  trace_o,

    output logic                     read_desc_valid_o,
    input  logic                     read_desc_ready_i,
    output l7_dma_t                  read_desc_o,
    input  logic                     read_data_valid_i,
    input  logic    [DmaTagBits-1:0] read_data_tag_i,
    input  logic    [   8*Bytes-1:0] read_data_i,
    output logic                     write_desc_valid_o,
    input  logic                     write_desc_ready_i,
    output l7_dma_t                  write_desc_o,
    output logic                     write_data_valid_o,
    input  logic                     write_data_ready_i,
    output logic    [   8*Bytes-1:0] write_data_o,
    output logic    [     Bytes-1:0] write_keep_o,
    output logic                     write_last_o,
    input  logic                     write_status_valid_i,
    input  logic    [DmaTagBits-1:0] write_status_tag_i,

    output logic                 event_valid_o,
    output l7_ring_trace_row_t   event_o,
    output logic                 forgot_valid_o,
    output l7_forget_trace_row_t forgot_o,

    input  logic                    cfg_valid_i,
    input  wide_req_t               cfg_req_i,
    input  logic      [RowBits-1:0] cfg_row_i,
    output logic                    cfg_valid_o,
    output cfg_rsp_t                cfg_rsp_o,

    output logic waiting_o,
    output logic progress_o
);

  typedef struct packed {
    logic message;
    logic [7:0] queue_id;
    sideband_t side;
    logic [Bytes-1:0] keep;
    logic [8*Bytes-1:0] data;
  } beat_t;

  // ---------------------------------------------------------------------------------------------------------------
  // Tables: each block has its own.

  // Beats of frames that are no messages in front of the output.
  localparam int unsigned PassBeats = 32;

  localparam int unsigned Tables = 6;
  localparam int unsigned AtDrops = 0;
  localparam int unsigned AtMatchers = 1;
  localparam int unsigned AtPort = 2;
  localparam int unsigned AtShare = 3;
  localparam int unsigned AtMessages = 4;
  localparam int unsigned AtHost = 5;

  logic [Tables-1:0] asked, tab_valid, answered;
  cfg_rsp_t [Tables-1:0] answer;
  cfg_req_t req, port_req, share_req, messages_req, host_req;
  logic unknown_q;

  // A row of n words stands in the upper 32 * n bits.
  function automatic cfg_req_t with_row(cfg_req_t r, logic [RowBits-1:0] row, int unsigned words);
    cfg_req_t w;
    w = r;
    w.data = 256'(row >> (RowBits - 32 * words));
    return w;
  endfunction

  always_comb begin
    asked = '0;
    unique case (cfg_req_i.tab)
      TableL7Drops, TableL7Bytes: asked[AtDrops] = 1'b1;
      TableL7Match, TableL7Start, TableL7Group: asked[AtMatchers] = 1'b1;
      TableL7Port: asked[AtPort] = 1'b1;
      TableL7Share: asked[AtShare] = 1'b1;
      TableL7Quota, TableL7Secret: asked[AtMessages] = 1'b1;
      TableL7Ring, TableL7Doorbell, TableL7RingState, TableL7Rings: asked[AtHost] = 1'b1;
      default: ;
    endcase
    req = '{
        clear: cfg_req_i.clear,
        write: cfg_req_i.write,
        tab: cfg_req_i.tab,
        index: cfg_req_i.index,
        words: (cfg_req_i.words > 7'd15) ? 4'd15 : cfg_req_i.words[3:0],
        data: '0
    };
    port_req = with_row(req, cfg_row_i, L7PortRowWords);
    share_req = with_row(req, cfg_row_i, L7ShareRowWords);
    host_req = with_row(req, cfg_row_i, (cfg_req_i.tab == TableL7Ring) ? L7RingRowWords : L7DoorbellRowWords);
    messages_req = with_row(req, cfg_row_i, (cfg_req_i.tab == TableL7Secret) ? L7SecretRowWords : L7QuotaRowWords);
  end
  assign tab_valid = asked & {Tables{cfg_valid_i}};

  always_ff @(posedge clk_i) unknown_q <= rst_ni && cfg_valid_i && asked == '0;

  assign cfg_valid_o = answered != '0 || unknown_q;
  always_comb begin
    cfg_rsp_o = '{status: StatusBadAddress, words: '0, data: '0};
    for (int unsigned t = 0; t < Tables; t++) if (answered[t]) cfg_rsp_o = answer[t];
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Filter.

  logic [8*Bytes-1:0] data;
  logic [  Bytes-1:0] keep;
  logic first, last, room, admit, has_job, idle, put, put_ready, end_ready, done_valid, done_bad, unstaged;
  l7_side_t side;
  logic [TagBits-1:0] slot;
  l7_packet_t packet;
  l7_ticket_t ticket;
  logic job_valid, job_ready, segment_valid, segment_ready;
  l7_job_t job;
  logic [8*L7SegmentBytes-1:0] segment;
  logic pass_valid, pass_ready;
  logic [1:0] out_valid, out_ready, record_valid, record_ready;
  beat_t [1:0] out_beat;
  logic [1:0] out_last;
  beat_t beat;
  l7_record_t [1:0] record;

  sluice_l7_filter #(
      .Bytes         (Bytes),
      .Ports         (Cfg.ports),
      .MessagePackets(Cfg.message_packets)
  ) u_filter (
      .clk_i,
      .rst_ni,
      .s_valid_i      (s_axis_tvalid),
      .s_ready_o      (s_axis_tready),
      .s_data_i       (s_axis_tdata),
      .s_keep_i       (s_axis_tkeep),
      .s_last_i       (s_axis_tlast),
      .s_side_i       ({token_i, s_axis_side}),
      .data_o         (data),
      .keep_o         (keep),
      .first_o        (first),
      .last_o         (last),
      .side_o         (side),
      .pass_valid_o   (pass_valid),
      .pass_ready_i   (pass_ready),
      .record_valid_o (record_valid[0]),
      .record_ready_i (record_ready[0]),
      .record_o       (record[0]),
      .room_i         (room),
      .admit_o        (admit),
      .has_job_o      (has_job),
      .slot_i         (slot),
      .stage_valid_o  (put),
      .stage_ready_i  (put_ready),
      .packet_o       (packet),
      .ticket_o       (ticket),
      .end_ready_i    (end_ready),
      .done_valid_o   (done_valid),
      .done_bad_o     (done_bad),
      .idle_valid_o   (idle),
      .unstaged_o     (unstaged),
      .job_valid_o    (job_valid),
      .job_ready_i    (job_ready),
      .job_o          (job),
      .segment_valid_o(segment_valid),
      .segment_ready_i(segment_ready),
      .segment_data_o (segment),
      .cfg_valid_i    (tab_valid[AtPort]),
      .cfg_req_i      (port_req),
      .cfg_valid_o    (answered[AtPort]),
      .cfg_rsp_o      (answer[AtPort])
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Packets that have ended, and their checksums a few cycles later.

  localparam int unsigned Ends = 16;
  typedef struct packed {
    logic [TagBits-1:0] slot;
    l7_packet_t packet;
  } ending_t;

  logic ending_valid, ended_valid, ended_ready, bad_valid, bad, bad_ready;
  ending_t ending;
  l7_end_t ended;
  logic [1:0][$clog2(Ends+1)-1:0] unused_level;

  sluice_fifo #(
      .Width($bits(ending_t)),
      .Depth(Ends)
  ) u_endings (
      .clk_i,
      .rst_ni,
      .valid_i(put && last),
      .ready_o(end_ready),
      .data_i ({slot, packet}),
      .valid_o(ending_valid),
      .ready_i(ended_valid && ended_ready),
      .data_o (ending),
      .level_o(unused_level[0])
  );
  // Never fuller than the one above.
  sluice_fifo #(
      .Width(1),
      .Depth(Ends)
  ) u_bad (
      .clk_i,
      .rst_ni,
      .valid_i(done_valid),
      .ready_o(bad_ready),
      .data_i (done_bad),
      .valid_o(bad_valid),
      .ready_i(ended_valid && ended_ready),
      .data_o (bad),
      .level_o(unused_level[1])
  );
  assign ended_valid = ending_valid && bad_valid;
  assign ended = '{slot: ending.slot, bad: bad, packet: ending.packet};

  // ---------------------------------------------------------------------------------------------------------------
  // Matchers, messages, staging buffer.

  logic table_valid, table_ready, table_write, table_answer_valid;
  logic [ 7:0] table_number;
  logic [11:0] table_index;
  logic [L7MatchRowBits-1:0] table_row, table_answer;
  logic ruled_valid, ruled_ready, decided_valid, decided_ready, empty;
  l7_verdict_t ruled;
  l7_decided_t decided;
  logic done_message_valid, done_message_ready, forget_valid, forget_ready, sorted_valid, sorted_ready;
  l7_done_t done_message, forget;
  l7_sorted_t sorted;
  logic staged_valid, staged_ready, staged_last, staged_consumed, host_ready;

  sluice_l7_matchers #(
      .Matchers(Cfg.matchers),
      .Places  (Cfg.places),
      .Rows    (Cfg.rows),
      .Starts  (Cfg.starts),
      .Groups  (Cfg.groups)
  ) u_matchers (
      .clk_i,
      .rst_ni,
      .job_valid_i         (job_valid),
      .job_ready_o         (job_ready),
      .job_i               (job),
      .segment_valid_i     (segment_valid),
      .segment_ready_o     (segment_ready),
      .segment_i           (segment),
      .verdict_valid_o     (ruled_valid),
      .verdict_ready_i     (ruled_ready),
      .verdict_o           (ruled),
      .table_valid_i       (table_valid),
      .table_ready_o       (table_ready),
      .table_write_i       (table_write),
      .table_i             (table_number),
      .table_index_i       (table_index),
      .table_row_i         (table_row),
      .table_answer_valid_o(table_answer_valid),
      .table_answer_o      (table_answer)
  );

  sluice_l7_charges #(
      .Bytes  (Bytes),
      .Packets(Cfg.packets),
      .Jobs   (Cfg.matchers * Cfg.places)
  ) u_charges (
      .clk_i,
      .rst_ni,
      .module_i        (side.side.module_id),
      .length_i        (side.side.length),
      .idle_valid_i    (idle),
      .job_valid_i     (admit && has_job),
      .job_tag_i       (slot),
      .verdict_valid_i (ruled_valid && ruled_ready),
      .verdict_tag_i   (ruled.tag),
      .verdict_module_i(ruled.module_id),
      .verdict_steps_i (ruled.steps),
      .charge_valid_o,
      .charge_module_o,
      .charge_o
  );

  sluice_l7_rules #(
      .Cfg(Cfg)
  ) u_rules (
      .clk_i,
      .rst_ni,
      .cfg_valid_i         (tab_valid[AtMatchers]),
      .cfg_req_i,
      .cfg_row_i,
      .cfg_valid_o         (answered[AtMatchers]),
      .cfg_rsp_o           (answer[AtMatchers]),
      .table_valid_o       (table_valid),
      .table_ready_i       (table_ready),
      .table_write_o       (table_write),
      .table_o             (table_number),
      .table_index_o       (table_index),
      .table_row_o         (table_row),
      .table_answer_valid_i(table_answer_valid),
      .table_answer_i      (table_answer)
  );

  sluice_l7_messages #(
      .Modules (Cfg.modules),
      .Packets (Cfg.packets),
      .Messages(Cfg.messages),
      .Entries (Cfg.entries)
  ) u_messages (
      .clk_i,
      .rst_ni,
      .begin_valid_i  (admit),
      .begin_slot_i   (slot),
      .begin_job_i    (has_job),
      .end_valid_i    (ended_valid),
      .end_ready_o    (ended_ready),
      .end_i          (ended),
      .verdict_valid_i(ruled_valid),
      .verdict_ready_o(ruled_ready),
      .verdict_i      (ruled),
      .decided_valid_o(decided_valid),
      .decided_ready_i(decided_ready),
      .decided_o      (decided),
      .done_valid_i   (done_message_valid),
      .done_ready_o   (done_message_ready),
      .done_i         (done_message),
      .forget_valid_i (forget_valid),
      .forget_ready_o (forget_ready),
      .forget_i       (forget),
      .forgot_valid_o,
      .forgot_o,
      .cfg_valid_i    (tab_valid[AtMessages]),
      .cfg_req_i      (messages_req),
      .cfg_valid_o    (answered[AtMessages]),
      .cfg_rsp_o      (answer[AtMessages])
  );

  // "Bits of signal are not used": tokens go back by their records.
  // verilator lint_off UNUSEDSIGNAL
  l7_side_t staged_side;
  // verilator lint_on UNUSEDSIGNAL

  sluice_l7_staging #(
      .Bytes  (Bytes),
      .Modules(Cfg.modules),
      .Packets(Cfg.packets),
      .Beats  (Cfg.beats),
      .Ahead  (Cfg.matchers * Cfg.places)
  ) u_staging (
      .clk_i,
      .rst_ni,
      .ask_i,
      .take_i,
      .room_answer_o  (room_o),
      .unstaged_i     (unstaged),
      .room_o         (room),
      .admit_i        (admit),
      .slot_o         (slot),
      .put_i          (put),
      .ready_o        (put_ready),
      .data_i         (data),
      .keep_i         (keep),
      .first_i        (first),
      .side_i         (side),
      .decided_valid_i(sorted_valid),
      .decided_ready_o(sorted_ready),
      .decided_i      (sorted),
      .m_valid_o      (staged_valid),
      .m_ready_i      (staged_ready),
      .m_data_o       (out_beat[1].data),
      .m_keep_o       (out_beat[1].keep),
      .m_last_o       (staged_last),
      .m_side_o       (staged_side),
      .m_queue_o      (out_beat[1].queue_id),
      .m_consumed_o   (staged_consumed),
      .record_valid_o (record_valid[1]),
      .record_ready_i (record_ready[1]),
      .record_o       (record[1]),
      .empty_o        (empty),
      .weight_index_i,
      .weight_o,
      .cfg_valid_i    (tab_valid[AtShare]),
      .cfg_req_i      (share_req),
      .cfg_valid_o    (answered[AtShare]),
      .cfg_rsp_o      (answer[AtShare])
  );
  assign out_beat[1].message = 1'b1;
  assign out_beat[1].side = staged_side.side;
  assign out_last[1] = staged_last;
  assign out_valid[1] = staged_valid && !staged_consumed;
  assign staged_ready = staged_consumed ? host_ready : out_ready[1];

  // ---------------------------------------------------------------------------------------------------------------
  // Host memory.

  sluice_l7_host #(
      .Cfg(Cfg)
  ) u_host (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .ticket_valid_i (admit),
      .ticket_slot_i  (slot),
      .ticket_i       (ticket),
      .decided_valid_i(decided_valid),
      .decided_ready_o(decided_ready),
      .decided_i      (decided),
      .sorted_valid_o (sorted_valid),
      .sorted_ready_i (sorted_ready),
      .sorted_o       (sorted),
      .s_valid_i      (staged_valid && staged_consumed),
      .s_ready_o      (host_ready),
      .s_data_i       (out_beat[1].data),
      .s_last_i       (staged_last),
      .done_valid_o   (done_message_valid),
      .done_ready_i   (done_message_ready),
      .done_o         (done_message),
      .forget_valid_o (forget_valid),
      .forget_ready_i (forget_ready),
      .forget_o       (forget),
      .read_desc_valid_o,
      .read_desc_ready_i,
      .read_desc_o,
      .read_data_valid_i,
      .read_data_tag_i,
      .read_data_i,
      .write_desc_valid_o,
      .write_desc_ready_i,
      .write_desc_o,
      .write_data_valid_o,
      .write_data_ready_i,
      .write_data_o,
      .write_keep_o,
      .write_last_o,
      .write_status_valid_i,
      .write_status_tag_i,
      .event_valid_o,
      .event_o,
      .cfg_valid_i    (tab_valid[AtHost]),
      .cfg_req_i      (host_req),
      .cfg_valid_o    (answered[AtHost]),
      .cfg_rsp_o      (answer[AtHost])
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Out.

  beat_t pass_beat;
  logic  out_waits;
  assign pass_beat = '{message: 1'b0, queue_id: '0, side: side.side, keep: keep, data: data};

  // What is no message does not stop the input while a packet of the staging buffer leaves.
  sluice_l7_detour #(
      .Width($bits(beat_t) + 1),
      .Depth(PassBeats)
  ) u_detour (
      .clk_i,
      .rst_ni,
      .s_valid_i(pass_valid),
      .s_ready_o(pass_ready),
      .s_data_i ({last, pass_beat}),
      .waits_o  (out_waits),
      .m_valid_o(out_valid[0]),
      .m_ready_i(out_ready[0]),
      .m_data_o ({out_last[0], out_beat[0]})
  );

  sluice_l7_exit #(
      .Width($bits(beat_t))
  ) u_exit (
      .clk_i,
      .rst_ni,
      .s_claims_i({out_valid[1], out_waits}),
      .s_valid_i (out_valid),
      .s_ready_o (out_ready),
      .s_last_i  (out_last),
      .s_data_i  (out_beat),
      .m_valid_o (m_axis_tvalid),
      .m_ready_i (m_axis_tready),
      .m_last_o  (m_axis_tlast),
      .m_data_o  (beat)
  );
  assign m_axis_tdata = beat.data;
  assign m_axis_tkeep = beat.keep;
  assign m_axis_side = beat.side;
  assign m_axis_message = beat.message;
  assign m_axis_queue = beat.queue_id;

  sluice_l7_accounts #(
      .Modules(Cfg.modules)
  ) u_accounts (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .record_valid_i(record_valid),
      .record_ready_o(record_ready),
      .record_i      (record),
      .leave_valid_o,
      .leave_o,
      .verdict_valid_o,
      .verdict_o,
      .trace_o,
      .cfg_valid_i   (tab_valid[AtDrops]),
      .cfg_req_i     (req),
      .cfg_valid_o   (answered[AtDrops]),
      .cfg_rsp_o     (answer[AtDrops])
  );

  logic host_waits;
  assign host_waits = (write_desc_valid_o && !write_desc_ready_i) || (write_data_valid_o && !write_data_ready_i);
  always_ff @(posedge clk_i) begin
    waiting_o <= (s_axis_tvalid || !empty) && !(m_axis_tvalid && !m_axis_tready) && !host_waits;
    progress_o <= (s_axis_tvalid && s_axis_tready) || (m_axis_tvalid && m_axis_tready) || ruled_valid || verdict_valid_o ||
        (write_data_valid_o && write_data_ready_i) || write_status_valid_i;
  end

`ifndef SYNTHESIS
  ChecksumsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !done_valid || bad_ready);
  OutputHolds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) m_axis_tvalid && !m_axis_tready |=> m_axis_tvalid);
`endif

endmodule
