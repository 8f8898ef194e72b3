/// The packet filter: frames that are no messages pass, packets of messages go to the staging buffer, their first ones to the matchers too.
///
/// `s_*` are whole packets; `side` and token are the same in every beat, and the sideband's length is the frame's. Each packet goes one way:
/// - no message: out on `pass_*`, and a record (`record_*`) with its last beat;
/// - dropped by its header: a record with the reason;
/// - else beats to the staging buffer in cycles with `stage_valid_o`. `admit_o`, once a packet, before its beats: it takes the slot `slot_i`.
///   What is known of it stands on `packet_o` with its last beat, when `end_ready_i` says that there is room for it. Its job and its
///   view's segments go to the matchers; a job waits by itself, and no other packet is looked at before it is taken. Checksums come by themselves (`done_valid_o`, `done_bad_o`), a bit a packet, in their order.
///
/// Latency: 1 cycle (beats of 32 bytes: 2) from a packet's first beat to whichever it goes to. Throughput: a beat a cycle. Stall behaviour:
/// a packet waits for where it goes, and those behind it; valid never depends on ready, and what is offered holds.
module sluice_l7_filter
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter int unsigned Ports = 64,
    parameter int unsigned MessagePackets = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                   s_valid_i,
    output logic                   s_ready_o,
    input  logic     [8*Bytes-1:0] s_data_i,
    input  logic     [  Bytes-1:0] s_keep_i,
    input  logic                   s_last_i,
    input  l7_side_t               s_side_i,

    // The beat that is looked at, for all ways.
    output logic     [8*Bytes-1:0] data_o,
    output logic     [  Bytes-1:0] keep_o,
    output logic                   first_o,
    output logic                   last_o,
    output l7_side_t               side_o,

    output logic pass_valid_o,
    input  logic pass_ready_i,

    output logic       record_valid_o,
    input  logic       record_ready_i,
    output l7_record_t record_o,

    input  logic                     room_i,
    output logic                     admit_o,
    output logic                     has_job_o,
    input  logic       [TagBits-1:0] slot_i,         // of the packet that is looked at
    output logic                     stage_valid_o,
    input  logic                     stage_ready_i,  // there is a place for a beat; does not depend on what is offered
    output l7_packet_t               packet_o,
    output l7_ticket_t               ticket_o,       // of the packet that is looked at
    input  logic                     end_ready_i,
    output logic                     done_valid_o,
    output logic                     done_bad_o,
    output logic                     idle_valid_o,   // a packet without a job goes its way
    output logic                     unstaged_o,     // a packet goes past the staging buffer

    output logic    job_valid_o,
    input  logic    job_ready_i,
    output l7_job_t job_o,

    output logic                        segment_valid_o,
    input  logic                        segment_ready_i,
    output logic [8*L7SegmentBytes-1:0] segment_data_o,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned UserBits = Bytes + $bits(l7_side_t);

  // ---------------------------------------------------------------------------------------------------------------
  // Header, and the register behind it.

  logic in_valid, in_ready, in_last, in_first, look;
  logic [8*Bytes-1:0] in_data;
  logic [Bytes-1:0] in_keep;
  logic [63:0][7:0] in_header;
  l7_side_t in_side;

  sluice_l7_header #(
      .Bytes   (Bytes),
      .UserBits(UserBits)
  ) u_header (
      .clk_i,
      .rst_ni,
      .s_valid_i,
      .s_ready_o,
      .s_data_i,
      .s_last_i,
      .s_user_i  ({s_keep_i, s_side_i}),
      .m_valid_o (in_valid),
      .m_ready_i (in_ready),
      .m_data_o  (in_data),
      .m_last_o  (in_last),
      .m_user_o  ({in_keep, in_side}),
      .m_first_o (in_first),
      .m_header_o(in_header)
  );

  // `rest_q`: a beat behind the first one is there.
  logic valid_q, rest_q, advance, offers, offered_q;

  // What a job is made of stands until the job is taken: so long no other packet is looked at.
  assign in_ready = (!valid_q || advance) && !(in_first && (offered_q || (offers && last_o)));
  assign look = in_ready && in_valid && in_first;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
      rest_q  <= 1'b0;
    end else if (in_ready || advance) begin
      valid_q <= in_ready && in_valid;
      rest_q  <= in_ready && in_valid && !in_first;
    end
    if (in_ready) begin
      data_o  <= in_data;
      keep_o  <= in_keep;
      last_o  <= in_last;
      first_o <= in_first;
      side_o  <= in_side;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Its class stands for all of its beats.

  logic message, drop, has_job, no_checksum;
  l7_event_e kind;
  logic [15:0] udp_length;
  logic [16:0] udp_end;
  l7_job_t job;

  sluice_l7_classify #(
      .Ports         (Ports),
      .MessagePackets(MessagePackets)
  ) u_classify (
      .clk_i,
      .rst_ni,
      .look_i       (look),
      .header_i     (in_header),
      .side_i       (in_side.side),
      .message_o    (message),
      .drop_o       (drop),
      .kind_o       (kind),
      .packet_o,
      .ticket_o,
      .has_job_o    (has_job),
      .job_o        (job),
      .udp_length_o (udp_length),
      .udp_end_o    (udp_end),
      .no_checksum_o(no_checksum),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o
  );

  // A packet's first beat says where it goes: on, nowhere or into the staging buffer. Of those behind it that is known from the cycle before.
  logic passes, drops, stages, works, passes_q, drops_q, stages_q, works_q;
  assign passes = first_o ? !message : passes_q;
  assign drops  = first_o ? message && drop : drops_q;
  assign stages = first_o ? message && !drop : stages_q;
  assign works  = first_o ? message && !drop && has_job : works_q;

  always_ff @(posedge clk_i) {passes_q, drops_q, stages_q, works_q} <= {passes, drops, stages, works};

  // ---------------------------------------------------------------------------------------------------------------
  // No message, or dropped. A record is taken as soon as it is offered: a queue of them says whether there is room.

  logic record_room, record_put;
  logic [2:0] unused_level;
  l7_record_t record;

  always_comb begin
    record = '0;
    record.token = side_o.token;
    record.length = side_o.side.length;
    record.trace.id = side_o.side.id;
    record.trace.module_id = side_o.side.module_id;
    record.trace.message = !passes;
    record.trace.dropped = !passes;
    record.trace.kind = (!passes) ? kind : L7EventL7Malformed;
  end

  sluice_fifo #(
      .Width($bits(l7_record_t)),
      .Depth(4)
  ) u_records (
      .clk_i,
      .rst_ni,
      .valid_i(record_put),
      .ready_o(record_room),
      .data_i (record),
      .valid_o(record_valid_o),
      .ready_i(record_ready_i),
      .data_o (record_o),
      .level_o(unused_level)
  );

  assign pass_valid_o = valid_q && passes && (!last_o || record_room);
  assign record_put   = advance && last_o && !stages;

  // ---------------------------------------------------------------------------------------------------------------
  // Into the staging buffer: room first, then job, segment and beat, each once.
  // What a beat waits for is known before its class is: ways are chosen behind. A job is offered with the first beat and waits by itself.

  logic admitted_q, admitted, job_done_q, feed_done_q, feed_first, feed_rest, feed_ready, moves;
  logic may_pass, may_drop, may_stage, may_work;

  assign admit_o = valid_q && first_o && stages && !admitted_q && room_i;
  assign admitted = room_i || admitted_q || !first_o;
  assign has_job_o = has_job;

  assign may_drop = !last_o || record_room;
  assign may_pass = may_drop && pass_ready_i;
  assign may_stage = admitted && stage_ready_i && (!last_o || end_ready_i);
  assign may_work = feed_done_q || feed_ready;

  assign offers = valid_q && first_o && works && admitted && !job_done_q;
  assign job_valid_o = offers || offered_q;
  assign feed_first = valid_q && first_o && works && admitted && !feed_done_q;
  assign moves = valid_q && stages && may_stage && (may_work || !works);
  assign stage_valid_o = moves;

  assign advance = (valid_q && ((passes && may_pass) || (drops && may_drop))) || moves;

  assign idle_valid_o = advance && first_o && !works;
  assign unstaged_o = advance && first_o && !stages;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      admitted_q  <= 1'b0;
      job_done_q  <= 1'b0;
      offered_q   <= 1'b0;
      feed_done_q <= 1'b0;
    end else begin
      admitted_q  <= (admit_o || admitted_q) && !advance;
      job_done_q  <= (offers || job_done_q) && !advance;
      offered_q   <= job_valid_o && !job_ready_i;
      feed_done_q <= (((feed_first || feed_rest) && feed_ready) || feed_done_q) && !advance;
    end
  end

  assign feed_rest = rest_q && works_q && !feed_done_q;

  always_comb begin
    job_o = job;
    job_o.tag = slot_i;
  end

  sluice_l7_feeder #(
      .Bytes(Bytes)
  ) u_feeder (
      .clk_i,
      .rst_ni,
      .look_i (valid_q && first_o && !feed_done_q),
      .first_i(feed_first),
      .rest_i (feed_rest),
      .ready_o(feed_ready),
      .data_i (data_o),
      .raw_i  (job.raw),
      .bytes_i(job.bytes),
      .segment_valid_o,
      .segment_ready_i,
      .segment_data_o
  );

  sluice_l7_checksum #(
      .Bytes(Bytes)
  ) u_checksum (
      .clk_i,
      .rst_ni,
      .valid_i     (moves),
      .first_i     (first_o),
      .last_i      (last_o),
      .data_i      (data_o),
      .udp_length_i(udp_length),
      .udp_end_i   (udp_end),
      .none_i      (no_checksum),
      .done_valid_o,
      .bad_o       (done_bad_o)
  );

endmodule
