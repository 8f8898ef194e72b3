/// Words that packets' steps make, for registers, stack and keys: what all steps of one target give, OR-ed.
///
/// A packet is put with what is seen of it; 8 have room, each until its last step is read. Steps are read two a cycle, in the order of packets and of the table;
/// a pair begins at an even step, so of a packet that begins or ends in the middle of one, half is left out. Behind a module's last row comes its first. A word is
/// whole when the next step has another target, or with the packet's last step. Words that a pair ends leave together.
///
/// Latency: 5 cycles from `put_valid_i` to a packet's first word, if nobody is before it and that word's steps are one pair. Throughput: a pair a cycle, no
/// cycle between packets. Stall behaviour: words hold until `set_ready_i`, and pairs behind them go on until the next one that ends a word. `put_ready_o` is a function of the packets that
/// wait alone.
module sluice_warp_steps
  import sluice_xdp_rows_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    // Of a module, in each generation.
    parameter int unsigned Steps = 128,
    localparam int unsigned LookBits = $clog2(2 * Modules),
    localparam int unsigned StepBits = $clog2(Steps)
) (
    input logic clk_i,
    input logic rst_ni,

    input warp_write_t write_i,

    input  logic                             put_valid_i,
    output logic                             put_ready_o,
    input  logic        [      LookBits-1:0] put_index_i,   // module and generation
    input  logic        [  WarpStepBits-1:0] put_step_i,    // the first
    input  logic        [               4:0] put_steps_i,   // from 1 on
    input  warp_bytes_t                      put_frame_i,
    input  logic        [WarpLengthBits-1:0] put_length_i,
    input  logic        [              31:0] put_ifindex_i,

    output logic      set_valid_o,
    input  logic      set_ready_i,
    output warp_set_t set_o
);

  // What is seen of a packet beside its frame.
  typedef struct packed {
    logic [LookBits-1:0]       index;
    logic [WarpStepBits-1:0]   step;
    logic [4:0]                final_step;  // counted from its first pair on
    logic [31:0]               ifindex;
    logic [WarpLengthBits-1:0] length;
  } waiting_t;

  logic advance, head_valid, issue, last, take;
  waiting_t put, head;
  assign put = '{
          index: put_index_i,
          step: put_step_i,
          final_step: put_steps_i + 5'(put_step_i[0]) - 5'd1,
          ifindex: put_ifindex_i,
          length: put_length_i
      };
  assign take = issue && last;

  logic [$clog2(WarpSets+1)-1:0] unused_level;
  sluice_fifo #(
      .Width($bits(waiting_t)),
      .Depth(WarpSets)
  ) u_waiting (
      .clk_i,
      .rst_ni,
      .valid_i(put_valid_i),
      .ready_o(put_ready_o),
      .data_i (put),
      .valid_o(head_valid),
      .ready_i(advance && last),
      .data_o (head),
      .level_o(unused_level)
  );

  // Frames wait beside, where they are read with a step's row.
  localparam int unsigned SlotBits = $clog2(WarpSets);
  logic [SlotBits-1:0] put_slot_q, slot_q;
  warp_bytes_t frame;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      put_slot_q <= '0;
      slot_q     <= '0;
    end else begin
      if (put_valid_i && put_ready_o)
        put_slot_q <= (put_slot_q == SlotBits'(WarpSets - 1)) ? '0 : put_slot_q + SlotBits'(1);
      if (take) slot_q <= (slot_q == SlotBits'(WarpSets - 1)) ? '0 : slot_q + SlotBits'(1);
    end
  end
  sluice_ram_1r1w #(
      .Width   ($bits(warp_bytes_t)),
      .Depth   (WarpSets),
      .InitZero(1'b0),
      .Style   ((2 * Modules >= 128) ? "block" : "auto")
  ) u_frames (
      .clk_i,
      .wr_en_i  (put_valid_i && put_ready_o),
      .wr_addr_i(put_slot_q),
      .wr_data_i(put_frame_i),
      .rd_en_i  (advance),
      .rd_addr_i(slot_q),
      .rd_data_o(frame)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // A pair of the first packet's steps is read.

  localparam int unsigned PairBits = WarpStepBits - 1;
  logic [3:0] done_q;  // of its pairs
  logic begins, lower, upper;
  logic [PairBits-1:0] now;
  assign issue = head_valid && advance;
  assign last = done_q == head.final_step[4:1];
  assign begins = done_q == '0;
  // Which of the pair are the packet's.
  assign lower = !begins || !head.step[0];
  assign upper = !last || head.final_step[0];
  assign now = head.step[WarpStepBits-1:1] + PairBits'(done_q);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) done_q <= '0;
    else if (issue) done_q <= last ? '0 : done_q + 4'd1;
  end

  logic writes;
  logic [WarpIndexBits-WarpStepBits-1:0] write_index;
  assign write_index = write_i.index[WarpIndexBits-1:WarpStepBits];
  if (StepBits < WarpStepBits) begin : gen_few
    assign writes = write_i.valid && write_i.tab == WarpTableStep && (write_index >> LookBits) == '0 &&
        write_i.index[WarpStepBits-1:StepBits] == '0;
  end else begin : gen_all
    assign writes = write_i.valid && write_i.tab == WarpTableStep && (write_index >> LookBits) == '0;
  end

  // A step has whole bytes of 9 bits, which the memory writes alone.
  localparam int unsigned LaneBits = 72;
  localparam int unsigned AtBits = LookBits + StepBits;
  logic [AtBits-1:0] write_at;
  logic [AtBits-2:0] read_at;
  logic [1:0][LaneBits-1:0] pair;
  xdp_warp_step_row_t [1:0] row;
  assign read_at  = (AtBits - 1)'({head.index, StepBits'({now, 1'b0})} >> 1);
  assign write_at = {write_index[LookBits-1:0], write_i.index[StepBits-1:0]};
  sluice_ram_banks #(
      .Width(2 * LaneBits),
      .Depth(Modules * Steps),
      .Lanes(2)
  ) u_rows (
      .clk_i,
      .wr_en_i  ({writes && write_at[0], writes && !write_at[0]}),
      .wr_addr_i(write_at[AtBits-1:1]),
      .wr_data_i({2{LaneBits'(write_i.row[XdpWarpStepRowBits-1:0])}}),
      .rd_en_i  (advance),
      .rd_addr_i(read_at),
      .rd_data_o(pair)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // What they take. Pairs of a packet follow each other without a gap.

  logic read_q, taken_q, value_q, read_last_q, taken_last_q, value_last_q;
  logic [1:0] read_here_q, taken_here_q;
  logic [1:0][WarpTargetBits-1:0] taken_target_q, value_target_q;
  logic [31:0] ifindex_q;
  logic [WarpLengthBits-1:0] length_q;
  logic [6:0] bytes_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q  <= 1'b0;
      taken_q <= 1'b0;
      value_q <= 1'b0;
    end else if (advance) begin
      read_q  <= head_valid;
      taken_q <= read_q;
      value_q <= taken_q;
    end
    if (advance) begin
      ifindex_q <= head.ifindex;
      length_q <= head.length;
      bytes_q <= (head.length >= WarpLengthBits'(WarpFrameBytes)) ? 7'(WarpFrameBytes) : 7'(head.length);
      read_last_q    <= last;
      taken_last_q   <= read_last_q;
      value_last_q   <= taken_last_q;
      read_here_q    <= {upper, lower};
      taken_here_q   <= read_here_q;
      taken_target_q <= {row[1].target, row[0].target};
      value_target_q <= taken_target_q;
    end
  end

  logic [1:0][63:0] value;
  for (genvar n = 0; n < 2; n++) begin : gen_step
    assign row[n] = pair[n][XdpWarpStepRowBits-1:0];
    sluice_warp_extract u_extract (
        .clk_i,
        .advance_i (advance),
        .number_i  (row[n].number),
        .constant_i(row[n].constant),
        .frame_i   (frame),
        .bytes_i   (bytes_q),
        .ifindex_i (ifindex_q),
        .length_i  (length_q),
        .value_o   (value[n])
    );
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Words that a pair ends. Behind one that is not the packet's last one the next one stands.

  logic [1:0] taken_ends, ends_q;
  logic joins_q;  // both of a pair are in one word
  assign taken_ends[0] = taken_q && taken_here_q[0] && (!taken_here_q[1] || taken_target_q[0] != taken_target_q[1]);
  assign taken_ends[1] = taken_q && taken_here_q[1] && (taken_last_q || taken_target_q[1] != row[0].target);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ends_q <= '0;
    else if (advance) ends_q <= taken_ends;
    if (advance) joins_q <= taken_here_q[0] && !taken_ends[0];
  end

  logic begins_q, first_q;
  logic [63:0] open_q, lower_word, upper_word;
  assign lower_word = value[0] | (begins_q ? '0 : open_q);
  assign upper_word = value[1] | (joins_q ? lower_word : '0);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begins_q <= 1'b1;
      first_q  <= 1'b1;
    end else if (advance && value_q) begin
      begins_q <= value_last_q || ends_q[1];
      if (ends_q != '0) first_q <= value_last_q;
    end
    if (advance && value_q) open_q <= upper_word;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Words that are offered.

  logic offers_q, shift;
  warp_set_t offered_q;
  assign shift   = !offers_q || set_ready_i;
  assign advance = ends_q == '0 || shift;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) offers_q <= 1'b0;
    else if (shift) offers_q <= ends_q != '0;
    if (shift)
      offered_q <= '{
          valid: ends_q,
          target: value_target_q,
          data: {upper_word, lower_word},
          first: first_q,
          last: value_last_q
      };
  end
  assign set_valid_o = offers_q;
  assign set_o = offered_q;

`ifndef SYNTHESIS
  StepsOfAPacketHaveNoGap_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !value_q || value_last_q || taken_q);
  OnlyPacketsWithSteps_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_valid_i || put_steps_i != '0);
`endif

endmodule
