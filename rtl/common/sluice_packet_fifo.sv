/// Store-and-forward packet queue that never stalls its input and drops whole packets.
///
/// A packet is a run of beats that ends with `last_i`. Its beats are written as they come and
/// become visible, all at once, when the last of them is stored (the commit). A packet is lost
/// whole (its beats are taken back, the space is free again in the next cycle) when
///   - one of its beats finds all Depth slots in use, or its last beat finds the descriptor
///     queue full: `done_overflow_o`. A slot or descriptor given away in the same cycle is not
///     yet free. The descriptor queue is looked at with the last beat only, where it is needed;
///   - it had room, and its last beat carries `drop_i`: `done_dropped_o`.
/// Otherwise `done_accepted_o`. Room is checked before `drop_i`, so each packet has one result.
/// `drop_i` and `desc_i` are read with `last_i` only.
///
/// Output: descriptors and data are two independent handshakes, both in packet order. A beat
/// occupies its slot until the output takes it; Depth is exact, a packet of Depth beats fits
/// into an empty queue. A longer one is always an overflow.
///
/// Latency, last beat in cycle t: `done_o` (one cycle long) and `level_o` in t + 1, the descriptor
/// from t + 1, the packet's first beat from t + 3 (behind other packets: without a bubble).
/// Throughput: one beat per cycle in and out, single-beat packets included.
/// Stall behaviour: the input cannot stall. `valid_o` never depends on `ready_i`, nor
/// `desc_valid_o` on `desc_ready_i`.
/// After a reset in the middle of a packet the rest of it counts as a packet of its own.
module sluice_packet_fifo #(
    parameter int unsigned DataWidth = 512,
    parameter int unsigned Depth = 512,
    parameter int unsigned DescWidth = 32,
    parameter int unsigned DescDepth = 64,
    localparam int unsigned LevelWidth = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                 valid_i,
    input logic [DataWidth-1:0] data_i,
    input logic                 last_i,
    input logic                 drop_i,
    input logic [DescWidth-1:0] desc_i,

    output logic done_o,
    output logic done_accepted_o,
    output logic done_overflow_o,
    output logic done_dropped_o,

    output logic                 desc_valid_o,
    input  logic                 desc_ready_i,
    output logic [DescWidth-1:0] desc_o,

    output logic                 valid_o,
    input  logic                 ready_i,
    output logic [DataWidth-1:0] data_o,
    output logic                 last_o,

    // Committed beats that the output has not taken yet.
    output logic [LevelWidth-1:0] level_o
);

  if (DataWidth == 0) begin : gen_bad_data_width
    $fatal(1, "packet_fifo: DataWidth is %0d, expected at least 1 (%m)", DataWidth);
  end
  if (Depth < 4) begin : gen_bad_depth
    $fatal(1, "packet_fifo: Depth is %0d, expected at least 4 (%m)", Depth);
  end
  if (DescWidth == 0) begin : gen_bad_desc_width
    $fatal(1, "packet_fifo: DescWidth is %0d, expected at least 1 (%m)", DescWidth);
  end
  if (DescDepth < 2) begin : gen_bad_desc_depth
    $fatal(1, "packet_fifo: DescDepth is %0d, expected at least 2 (%m)", DescDepth);
  end

  localparam int unsigned IndexWidth = $clog2(Depth);

  typedef logic [LevelWidth-1:0] level_t;
  typedef logic [IndexWidth-1:0] index_t;

  // `wrap` changes with each round, so that equal pointers mean empty and never full.
  typedef struct packed {
    logic   wrap;
    index_t index;
  } ptr_t;

  typedef struct packed {
    logic                 last;
    logic [DataWidth-1:0] data;
  } beat_t;

  function automatic ptr_t ptr_next(ptr_t ptr);
    if (ptr.index == index_t'(Depth - 1)) return '{wrap: !ptr.wrap, index: '0};
    return '{wrap: ptr.wrap, index: ptr.index + index_t'(1)};
  endfunction

  beat_t mem[Depth];
  beat_t ram_beat_q, out_beat;

  // The packet being written lies between `commit_ptr_q` and `wr_ptr_q`.
  ptr_t wr_ptr_q, commit_ptr_q, rd_ptr_q;
  // Slots in use, with and without the packet being written.
  level_t used_q, level_q;
  // The packet being written has lost a beat; what is left of it is ignored.
  logic lost_q;

  logic desc_ready;
  logic [$clog2(DescDepth+1)-1:0] unused_desc_level;
  logic slot_free, fits, store, commit, roll_back;
  logic unread, read, take;

  assign slot_free = used_q != level_t'(Depth);
  assign fits = !lost_q && slot_free && (desc_ready || !last_i);
  assign store = valid_i && !lost_q && slot_free;
  assign commit = valid_i && last_i && fits && !drop_i;
  assign roll_back = valid_i && (!fits || (last_i && drop_i));

  assign unread = rd_ptr_q != commit_ptr_q;
  assign take = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    if (store) mem[wr_ptr_q.index] <= '{last: last_i, data: data_i};
    if (read) ram_beat_q <= mem[rd_ptr_q.index];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wr_ptr_q     <= '0;
      commit_ptr_q <= '0;
      rd_ptr_q     <= '0;
      used_q       <= '0;
      level_q      <= '0;
      lost_q       <= 1'b0;
    end else begin
      if (roll_back) wr_ptr_q <= commit_ptr_q;
      else if (valid_i) wr_ptr_q <= ptr_next(wr_ptr_q);
      if (commit) commit_ptr_q <= ptr_next(wr_ptr_q);
      if (read) rd_ptr_q <= ptr_next(rd_ptr_q);

      used_q  <= (roll_back ? level_q : used_q + level_t'(valid_i)) - level_t'(take);
      level_q <= (commit ? used_q + level_t'(1) : level_q) - level_t'(take);

      if (valid_i) lost_q <= !last_i && !fits;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_o          <= 1'b0;
      done_accepted_o <= 1'b0;
      done_overflow_o <= 1'b0;
      done_dropped_o  <= 1'b0;
    end else begin
      done_o          <= valid_i && last_i;
      done_accepted_o <= commit;
      done_overflow_o <= valid_i && last_i && !fits;
      done_dropped_o  <= valid_i && last_i && fits && drop_i;
    end
  end

  sluice_fifo #(
      .Width(DescWidth),
      .Depth(DescDepth)
  ) u_desc_fifo (
      .clk_i,
      .rst_ni,
      .valid_i(commit),
      .ready_o(desc_ready),
      .data_i (desc_i),
      .valid_o(desc_valid_o),
      .ready_i(desc_ready_i),
      .data_o (desc_o),
      .level_o(unused_desc_level)
  );

  sluice_ram_prefetch #(
      .Width($bits(beat_t))
  ) u_prefetch (
      .clk_i,
      .rst_ni,
      .unread_i  (unread),
      .read_o    (read),
      .ram_data_i(ram_beat_q),
      .valid_o,
      .ready_i,
      .data_o    (out_beat)
  );

  assign data_o  = out_beat.data;
  assign last_o  = out_beat.last;
  assign level_o = level_q;

`ifndef SYNTHESIS
  logic [2:0] result;
  assign result = {done_accepted_o, done_overflow_o, done_dropped_o};

  DoneHasOneResult_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) done_o ? $onehot(result) : result == '0);
  CommittedIsPartOfUsed_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) level_q <= used_q && used_q <= level_t'(Depth));
  LostPacketHoldsNoSlot_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !lost_q || (used_q == level_q && wr_ptr_q == commit_ptr_q));
  OnlyCommittedBeatsAreOffered_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_o || level_q != '0);
  PortsNeverMeet_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(store && read && wr_ptr_q.index == rd_ptr_q.index));
  OverflowOnlyWhenFull_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !(valid_i && !lost_q && !fits) || used_q == level_t'(Depth) ||
                   (last_i && !desc_ready));
`endif

endmodule
