/// Deparser of the rmt pipeline: packet and PHV into the outgoing packet (docs/design/rmt.md, "Deparser").
///
/// Takes the PHVs from the pipeline, a sideband each (`length`: bytes of the packet) and the packets' beats, in the
/// same order. The patterns of the packet's module and generation pick a row of them; bytes of the header come from
/// containers (sluice_rmt_gather) or the packet (sluice_rmt_realign), two checksums, the second of which may be
/// incremental, are summed over the beats as they pass (sluice_rmt_checksum_update) and written while the beats wait for that (sluice_rmt_deparse_out). Packets that
/// come dropped, or that no pattern or length lets through, are discarded. `m_side_o`, with every beat, is the
/// packet's sideband with its new length, its generation, its destinations, their queue and a tag of 0.
///
///   S0 to S3  PHV, patterns, row, slots (sluice_rmt_deparse_slots); S3 containers are rotated
///   S4, S5    lanes and realigner
///   S6 to S8  sum of a beat, of a packet
///   S9        checksums are written: output register behind it
///
/// Before S5 slots wait for the packet's beats and for room; behind it they run into a queue of 32 beats, which holds
/// what is under way when the output stalls. No ready leads to a valid.
///
/// Rows are those that the checker lets through. Other rows give unspecified bytes, though never those of another
/// packet, and every packet still ends.
///
/// `Last`: no engine is behind the pipeline, so that copies are counted here. `Least`: fewest bytes of a packet that leaves.
///
/// Latency: 10 cycles from PHV and first beat to the output register if the checksums' spans end in the first beat of
/// the outgoing or incoming header, a cycle more for each further beat up to their end. Throughput: as many cycles as a packet has
/// beats, in or out, whichever are more, and none between packets. Stalls without loss.
module sluice_rmt_deparser
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_deparse_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    parameter bit Last = 1'b1,
    parameter int unsigned Least = 1,
    localparam int unsigned Bytes = Cfg.bus_bytes
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic     phv_valid_i,
    output logic     phv_ready_o,
    input  rmt_phv_t phv_i,
    input  rmt_ctl_t ctl_i,
    input  route_t   route_i,

    input  logic      side_valid_i,
    output logic      side_ready_o,
    input  sideband_t side_i,

    input  logic               valid_i,
    output logic               ready_o,
    input  logic [8*Bytes-1:0] data_i,
    input  logic               last_i,

    output logic                    m_valid_o,
    input  logic                    m_ready_i,
    output logic      [8*Bytes-1:0] m_data_o,
    output logic      [  Bytes-1:0] m_keep_o,
    output logic                    m_last_o,
    output sideband_t               m_side_o,
    output route_t                  m_route_o,

    // Once a packet, when the last row by its generation has been read.
    output logic     leave_valid_o,
    output rmt_ctl_t leave_ctl_o,

    // Once a packet; its event, if it has one, comes in the same cycle.
    output logic                        verdict_valid_o,
    output logic       [          31:0] verdict_id_o,
    output rmt_ctl_t                    verdict_ctl_o,
    output logic       [  DestBits-1:0] verdict_destinations_o,  // 0: dropped
    output logic                        event_valid_o,
    output logic       [ModuleBits-1:0] event_module_o,
    output rmt_event_e                  event_kind_o,
    output logic       [           3:0] event_amount_o,

    input  logic                                      cfg_valid_i,
    input  rmt_cfg_req_t                              cfg_req_i,
    input  logic         [32*RmtPatternsRowWords-1:0] cfg_row_i,
    output logic                                      cfg_valid_o,
    output cfg_rsp_t                                  cfg_rsp_o,
    output logic                                      slot_request_o
);

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bus
    $fatal(1, "rmt_deparser: bus_bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  localparam int unsigned ByteBits = $clog2(Bytes);
  localparam int unsigned LastBeat = RmtWindowBytes / Bytes - 1;

  // The beat of the slot in S3, and the one behind it.
  logic here_valid, here_take, behind_valid, here_last;
  logic [8*Bytes-1:0] here, behind;

  if (Bytes == 64) begin : gen_64
    assign here_valid = valid_i;
    assign here = data_i;
    assign here_last = last_i;
    assign ready_o = here_take;
    assign behind_valid = 1'b0;
    assign behind = '0;
  end else begin : gen_32
    logic valid_q, last_q;
    logic [8*Bytes-1:0] data_q;
    assign here_valid = valid_q;
    assign here = data_q;
    assign here_last = last_q;
    assign ready_o = !valid_q || here_take;
    assign behind_valid = valid_i;
    assign behind = data_i;
    always_ff @(posedge clk_i) begin
      if (!rst_ni) valid_q <= 1'b0;
      else if (ready_o) valid_q <= valid_i;
      if (ready_o) begin
        data_q <= data_i;
        last_q <= last_i;
      end
    end
  end

  // S0 to S4.
  logic load, load_first, load_beat, load_window, step, room;
  logic [7:0] delta;
  rmt_containers_t containers;
  deparse_lanes_t lanes;
  deparse_slot_t slot;
  sideband_t side;
  route_t route;

  sluice_rmt_deparse_slots #(
      .Cfg (Cfg),
      .Last(Last),
      .Least(Least)
  ) u_slots (
      .clk_i,
      .rst_ni,
      .phv_valid_i,
      .phv_ready_o,
      .phv_i,
      .ctl_i,
      .route_i,
      .side_valid_i,
      .side_ready_o,
      .side_i,
      .here_i       (here_valid),
      .load_o       (load),
      .load_first_o (load_first),
      .load_beat_o  (load_beat),
      .load_window_o(load_window),
      .containers_o (containers),
      .lanes_o      (lanes),
      .delta_o      (delta),
      .behind_i     (behind_valid),
      .room_i       (room),
      .step_o       (step),
      .slot_o       (slot),
      .side_o       (side),
      .route_o      (route),
      .leave_valid_o,
      .leave_ctl_o,
      .event_valid_o,
      .event_module_o,
      .event_kind_o,
      .event_amount_o,
      .verdict_valid_o,
      .verdict_id_o,
      .verdict_ctl_o,
      .verdict_destinations_o,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_row_i,
      .cfg_valid_o,
      .cfg_rsp_o,
      .slot_request_o
  );

  assign here_take = load && load_beat;

  // S4, S5: lanes and realigner.
  logic [Bytes-1:0] from_packet;
  logic [Bytes-1:0][7:0] gathered;
  logic [Bytes-1:0][7:0] own, even;

  sluice_rmt_gather #(
      .Bytes(Bytes)
  ) u_gather (
      .clk_i,
      .load_i       (load),
      .window_i     (load_window),
      .containers_i (containers),
      .row_i        (lanes),
      .from_packet_o(from_packet),
      .bytes_o      (gathered)
  );

  sluice_rmt_realign #(
      .Bytes(Bytes)
  ) u_realign (
      .clk_i,
      .load_i      (load),
      .load_first_i(load_first),
      .load_beat_i (load_beat),
      .delta_i     (delta),
      .here_i      (here),
      .behind_i    (behind),
      .shift_i     (slot.shift),
      .own_o       (own),
      .even_o      (even)
  );

  // Where each byte comes from: a container, the packet as it stood, or moved by an even or odd number of bytes.
  typedef enum logic [1:0] {
    FromContainer = 2'd0,
    FromOwn = 2'd1,
    FromEven = 2'd2,
    FromOdd = 2'd3
  } from_e;

  from_e [Bytes-1:0] from_d, from_q;

  (* keep *) leading_t own_code;
  logic [Bytes-1:0] own_bytes;

  assign own_code  = leading(slot.own_all, slot.own);
  assign own_bytes = Bytes'(leading_bytes(own_code));

  always_comb begin
    for (int unsigned i = 0; i < Bytes; i++) begin
      if (!from_packet[i]) from_d[i] = FromContainer;
      else if (own_bytes[i]) from_d[i] = FromOwn;
      else from_d[i] = slot.shift[0] ? FromOdd : FromEven;
    end
  end

  logic [Bytes-1:0][7:0] data_d, data_q;
  for (genvar i = 0; i < int'(Bytes); i++) begin : gen_byte
    (* keep *) logic [7:0] chosen;
    assign chosen = from_q[i][1] ?
        (from_q[i][0] ? even[(i+1)%Bytes] : even[i]) : (from_q[i][0] ? own[i] : gathered[i]);
    assign data_d[i] = chosen;
  end

  always_ff @(posedge clk_i) begin
    from_q <= from_d;
    data_q <= data_d;
  end

  // The slot's way from S5 to S8. Slots that only bring a beat count for the sums, too: an incremental one is over
  // incoming bytes, and the packet may leave with fewer beats.
  logic valid5_q, valid6_q, sums5_q, sums6_q, sums7_q, sums8_q;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  deparse_slot_t slot5_q, slot6_q, slot7_q, slot8_q;
  // verilator lint_on UNUSEDSIGNAL

  // The sums are complete with the beat, in or out, in which the last of them ends.
  logic [1:0][1:0] reach;
  logic [1:0] last_reach;
  logic summed5, summed6_q, summed7_q;
  assign last_reach = (reach[0] > reach[1]) ? reach[0] : reach[1];
  assign summed5 = slot5_q.window && (slot5_q.beat == last_reach ||
      (slot5_q.beat < last_reach && (slot5_q.ends || slot5_q.beat == 2'(LastBeat))));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid5_q <= 1'b0;
      valid6_q <= 1'b0;
      sums5_q  <= 1'b0;
      sums6_q  <= 1'b0;
      sums7_q  <= 1'b0;
      sums8_q  <= 1'b0;
    end else begin
      valid5_q <= step && slot.out;
      valid6_q <= valid5_q;
      sums5_q  <= step && slot.goes;
      sums6_q  <= sums5_q;
      sums7_q  <= sums6_q;
      sums8_q  <= sums7_q && summed7_q;
    end
    slot5_q   <= slot;
    summed6_q <= summed5;
    summed7_q <= summed6_q;
    slot6_q   <= slot5_q;
    slot7_q   <= slot6_q;
    slot8_q   <= slot7_q;
  end

  // S6 to S8: checksums.
  deparse_sums_t sums;
  for (genvar u = 0; u < 2; u++) begin : gen_update
    logic none;
    sluice_rmt_checksum_update #(
        .Bytes(Bytes),
        .Adjustable(u == 1)
    ) u_update (
        .clk_i,
        .update_i(slot.updates[u]),
        .adjust_i(slot.adjust),
        .window_i(slot.window),
        .beat_i  (slot.beat),
        .data_i  (data_d),
        .old_i   (own),
        .reach_o (reach[u]),
        .begin_i (sums6_q && slot6_q.first),
        .data6_i (data_q),
        .valid_i (sums7_q),
        .sum_o   (sums.sum[u]),
        .none_o  (none)
    );
    assign sums.at[u] = slot8_q.updates[u].at;
    assign sums.valid[u] = slot8_q.updates[u].valid && !none;
  end

  // S6 to S9: delay line, output.
  sluice_rmt_deparse_out #(
      .Bytes(Bytes)
  ) u_out (
      .clk_i,
      .rst_ni,
      .room_o       (room),
      .beat_valid_i (valid6_q),
      .beat_data_i  (data_q),
      .beat_last_i  (slot6_q.last),
      .beat_end_i   (slot6_q.end_byte[ByteBits-1:0]),
      .beat_window_i(slot6_q.window),
      .beat_number_i(slot6_q.beat),
      .meta_valid_i (step && slot.out && slot.first),
      .meta_side_i  (side),
      .meta_route_i (route),
      .sums_valid_i (sums8_q),
      .sums_i       (sums),
      .m_valid_o,
      .m_ready_i,
      .m_data_o,
      .m_keep_o,
      .m_last_o,
      .m_side_o,
      .m_route_o
  );

`ifndef SYNTHESIS
  logic [13:0] taken_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) taken_q <= '0;
    else if (here_take) taken_q <= here_last ? '0 : taken_q + 1'b1;
  end
  // The slot in S4 is the one that was loaded when the token was given back.
  LeavesBehindItsLastBeat_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !leave_valid_o || !slot.next);
  SlotsTakeThePacketsBeats_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !here_take || load_first == (taken_q == '0));
`endif

endmodule
