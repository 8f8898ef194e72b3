/// Writes to values outside, on their way to memory (docs/decisions/xdp-external-memory.md).
///
/// A write is posted: `put_valid_i` takes it whenever `room_o` was high in the cycle before or is now. It becomes a burst of the one or two beats that
/// it touches, or of its whole page, zero around it, if it is the page's first one. Writes to one page have one ID, so memory keeps their order.
/// `pending_o` says whether a write that may be of the line `look_line_i` has not been answered yet, of those that had been put when the asker `look_asker_i` first asked
/// (`look_valid_i`, and before that `enter_*`): those that were put since do not concern it, so it does not wait for them. `look_whole_i` asks so of all
/// writes with the line's ID. The line is given in the cycle before (`soon_*`), when all writes of it have been put. A write that memory answers with an error is told
/// (`failed_o`) and is no longer pending.
///
/// Answers of an ID come in the order of its writes. So it is enough to know, of each line, how many of its ID had been put with its last write; a write of a
/// whole page or of two lines counts for all lines of its ID. What is known of a line may be too old to be told from what is to come: then it waits for its ID as `look_whole_i` does.
///
/// IDs are looked at in turns (`look_late_i`). One with writes that were pending at the look before too, and none of which was answered since, is late: it is told
/// once (`late_told_o`), and `late_o` says so of `look_id_i` until one is answered. When there was no room for a whole round (`round_i`) memory is gone
/// (`gone_o`), until there is.
///
/// Behind a reset 64 cycles pass until there is room. Latency: 1 cycle to the port. Throughput: a write in 2 cycles, 65 for the first one of a page.
/// Stall behaviour: the port's; nobody waits but for room.
module sluice_xdp_outside_writes
  import sluice_xdp_pkg::*;
  import sluice_xdp_outside_pkg::*;
#(
    parameter int unsigned Depth = 16,
    parameter int unsigned Askers = 22,
    localparam int unsigned AskerBits = $clog2(Askers)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic           put_valid_i,
    input  outside_write_t put_i,
    output logic           room_o,
    output logic           room_first_o, // for the first write of a page

    input  logic                          enter_valid_i,
    input  logic          [AskerBits-1:0] enter_asker_i,
    input  logic                          soon_valid_i,
    input  outside_line_t                 soon_line_i,
    input  logic                          look_valid_i,
    input  logic          [AskerBits-1:0] look_asker_i,
    input  outside_line_t                 look_line_i,
    input  logic                          look_whole_i,
    output logic                          pending_o,
    output logic                          failed_o,

    input  logic        round_i,
    input  logic        late_valid_i,
    input  outside_id_t look_late_i,
    output logic        late_o,
    output logic        late_told_o,
    output logic        gone_o,

    output logic                aw_valid_o,
    output outside_id_t         aw_id_o,
    output logic        [ 31:0] aw_addr_o,
    output logic        [  7:0] aw_len_o,
    input  logic                aw_ready_i,
    output logic                w_valid_o,
    output logic        [127:0] w_data_o,
    output logic        [ 15:0] w_strb_o,
    output logic                w_last_o,
    input  logic                w_ready_i,
    input  logic                b_valid_i,
    input  outside_id_t         b_id_i,
    // "Bits of signal are not used": errors have the upper bit.
    // verilator lint_off UNUSEDSIGNAL
    input  logic        [  1:0] b_resp_i
    // verilator lint_on UNUSEDSIGNAL
);

  // Writes that are not answered: less than half of what a count of an ID holds, so that it tells what was put before from what was put behind.
  localparam int unsigned CountBits = 8;
  localparam int unsigned Most = 96;
  localparam int unsigned BeatBits = OutsidePageBits - OutsideBeatBits;
  // Where what is known of a line lies: by its ID and its place in its page.
  localparam int unsigned PlaceBits = OutsideIdBits + OutsidePageBits - OutsideLineBits;

  function automatic logic [PlaceBits-1:0] place_of(outside_line_t line);
    return {outside_id_of({line, OutsideLineBits'(0)}), line[OutsidePageBits-OutsideLineBits-1:0]};
  endfunction

  // ---------------------------------------------------------------------------------------------------------------
  // How many writes of each ID were put, and how many answered: both wrap.

  logic [OutsideIdBits:0] begin_q;  // counts are made zero behind a reset
  logic begins;
  logic [1:0] firsts_q;
  logic [CountBits-1:0] total_q, put_count, put_look, put_late, done_count, done_look, done_late;
  logic [$clog2(Depth+1)-1:0] level;
  outside_id_t put_id, look_id;

  assign put_id  = outside_id_of(put_i.place);
  assign look_id = outside_id_of({look_line_i, OutsideLineBits'(0)});
  assign begins  = !begin_q[OutsideIdBits];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin_q <= '0;
    else if (begins) begin_q <= begin_q + (OutsideIdBits + 1)'(1);
    if (!rst_ni) total_q <= '0;
    else total_q <= total_q + CountBits'(put_valid_i) - CountBits'(b_valid_i);
  end

  sluice_ram_lut #(
      .Width    (CountBits),
      .Depth    (2 ** OutsideIdBits),
      .ReadPorts(3)
  ) u_put (
      .clk_i,
      .we_i   (begins || put_valid_i),
      .waddr_i(begins ? begin_q[OutsideIdBits-1:0] : put_id),
      .wdata_i(begins ? '0 : put_count + CountBits'(1)),
      .raddr_i({look_late_i, look_id, put_id}),
      .rdata_o({put_late, put_look, put_count})
  );
  sluice_ram_lut #(
      .Width    (CountBits),
      .Depth    (2 ** OutsideIdBits),
      .ReadPorts(3)
  ) u_done (
      .clk_i,
      .we_i   (begins || b_valid_i),
      .waddr_i(begins ? begin_q[OutsideIdBits-1:0] : b_id_i),
      .wdata_i(begins ? '0 : done_count + CountBits'(1)),
      .raddr_i({look_late_i, look_id, b_id_i}),
      .rdata_o({done_late, done_look, done_count})
  );

  // The last write of a line, and of more than one line.
  logic put_whole, line_waits, whole_waits;
  logic [CountBits-1:0] of_line, of_whole, line_left, whole_left;
  assign put_whole = put_i.first || 7'(put_i.place[OutsideLineBits-1:0]) + 7'(put_i.bytes) > 7'd64;
  sluice_ram_1r1w #(
      .Width   (CountBits),
      .Depth   (2 ** PlaceBits),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_lines (
      .clk_i,
      .wr_en_i  (put_valid_i && !put_whole),
      .wr_addr_i(place_of(put_i.place[31:OutsideLineBits])),
      .wr_data_i(put_count + CountBits'(1)),
      .rd_en_i  (soon_valid_i),
      .rd_addr_i(place_of(soon_line_i)),
      .rd_data_o(of_line)
  );
  sluice_ram_lut #(
      .Width(CountBits),
      .Depth(2 ** OutsideIdBits)
  ) u_wholes (
      .clk_i,
      .we_i   (begins || (put_valid_i && put_whole)),
      .waddr_i(begins ? begin_q[OutsideIdBits-1:0] : put_id),
      .wdata_i(begins ? '0 : put_count + CountBits'(1)),
      .raddr_i(look_id),
      .rdata_o(of_whole)
  );
  assign line_left   = of_line - done_look;
  assign whole_left  = of_whole - done_look;
  assign line_waits  = line_left != '0 && !line_left[CountBits-1];
  assign whole_waits = whole_left != '0 && !whole_left[CountBits-1];

  // What an asker waits for: so many of the ID. Where there is nothing to wait for it waits no more.
  logic [Askers-1:0] waits_q, clean_q;
  logic [CountBits-1:0] since, target, left;
  sluice_ram_lut #(
      .Width(CountBits),
      .Depth(Askers)
  ) u_targets (
      .clk_i,
      .we_i   (look_valid_i && !waits_q[look_asker_i]),
      .waddr_i(look_asker_i),
      .wdata_i(put_look),
      .raddr_i(look_asker_i),
      .rdata_o(since)
  );
  assign target = waits_q[look_asker_i] ? since : put_look;
  assign left = target - done_look;
  assign pending_o = !clean_q[look_asker_i] && left != '0 && !left[CountBits-1] &&
      (look_whole_i || line_waits || whole_waits);
  always_ff @(posedge clk_i) begin
    for (int unsigned a = 0; a < Askers; a++) begin
      if (look_valid_i && look_asker_i == AskerBits'(a)) begin
        waits_q[a] <= 1'b1;
        if (!pending_o) clean_q[a] <= 1'b1;
      end
      if (enter_valid_i && enter_asker_i == AskerBits'(a)) begin
        waits_q[a] <= 1'b0;
        clean_q[a] <= 1'b0;
      end
    end
  end
  assign failed_o  = b_valid_i && b_resp_i[1];
  assign room_first_o = room_o && firsts_q < 2'd2;
  assign room_o    = !begins && 32'(level) + 2 < Depth && 32'(total_q) < Most;

  // ---------------------------------------------------------------------------------------------------------------
  // Answers that do not come.

  logic [2**OutsideIdBits-1:0] seen_q, late_q;
  logic had_room_q;

  assign late_o = late_q[look_id];
  assign late_told_o = late_valid_i && put_late != done_late && seen_q[look_late_i] && !late_q[look_late_i];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      seen_q <= '0;
      late_q <= '0;
      gone_o <= 1'b0;
    end else begin
      if (late_valid_i) seen_q[look_late_i] <= put_late != done_late;
      if (late_told_o) late_q[look_late_i] <= 1'b1;
      if (b_valid_i) seen_q[b_id_i] <= 1'b0;
      if (b_valid_i) late_q[b_id_i] <= 1'b0;
      if (round_i) gone_o <= !had_room_q;
      if (room_o) gone_o <= 1'b0;
    end
    if (round_i) had_room_q <= 1'b0;
    if (room_o) had_room_q <= 1'b1;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // To the port: a burst's address, then its beats.

  logic write_valid, beats_q, ready, last;
  outside_write_t write;
  logic unused_ready;
  logic [BeatBits-1:0] beat_q, beat, first_beat;
  logic straddles, is_first, is_second;
  logic [ 23:0] strobes;
  logic [191:0] data;

  sluice_fifo #(
      .Width($bits(outside_write_t)),
      .Depth(Depth)
  ) u_writes (
      .clk_i,
      .rst_ni,
      .valid_i(put_valid_i),
      .ready_o(unused_ready),
      .data_i (put_i),
      .valid_o(write_valid),
      .ready_i(ready),
      .data_o (write),
      .level_o(level)
  );

  assign straddles = 5'(write.place[3:0]) + 5'(write.bytes) > 5'd16;
  assign first_beat = write.place[OutsidePageBits-1:OutsideBeatBits];
  assign aw_valid_o = write_valid && !beats_q;
  assign aw_id_o = outside_id_of(write.place);
  assign aw_addr_o = write.first ? {write.place[31:OutsidePageBits], OutsidePageBits'(0)} : {write.place[31:OutsideBeatBits], OutsideBeatBits'(0)};
  assign aw_len_o = write.first ? 8'((1 << BeatBits) - 1) : 8'(straddles);

  assign beat = write.first ? beat_q : first_beat + beat_q;
  assign last = beat_q == aw_len_o[BeatBits-1:0];
  assign is_first = beat == first_beat;
  assign is_second = straddles && beat == first_beat + BeatBits'(1);
  assign strobes = 24'({{8{write.pair}}, byte_mask(write.bytes)}) << write.place[3:0];
  assign data = 192'({write.pair ? write.second : '0, write.data & bit_mask(write.bytes)}) << {write.place[3:0], 3'd0};
  assign w_valid_o = beats_q;
  assign w_last_o = last;
  always_comb begin
    w_data_o = '0;
    w_strb_o = '0;
    if (is_first) begin
      w_data_o = data[127:0];
      w_strb_o = strobes[15:0];
    end else if (is_second) begin
      w_data_o = 128'(data[191:128]);
      w_strb_o = 16'(strobes[23:16]);
    end
    if (write.first) w_strb_o = '1;
  end
  assign ready = beats_q && w_ready_i && last;
  // Whole pages are long: two wait here, or three, so that short writes do not wait for more.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) firsts_q <= '0;
    else firsts_q <= firsts_q + 2'(put_valid_i && put_i.first) - 2'(ready && write.first);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) beats_q <= 1'b0;
    else if (aw_valid_o && aw_ready_i) beats_q <= 1'b1;
    else if (ready) beats_q <= 1'b0;
    if (!beats_q) beat_q <= '0;
    else if (w_ready_i) beat_q <= beat_q + BeatBits'(1);
  end

`ifndef SYNTHESIS
  WritesHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_valid_i || unused_ready);
`endif

endmodule
