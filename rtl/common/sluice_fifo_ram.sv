/// First-in, first-out queue in block RAM, for deep or wide queues.
///
/// Same ports and meaning as `sluice_fifo`; the array has a registered read, and the two
/// words that stand ready behind it count in `level_o` and against Depth.
///
/// Depth may be any number from 4 on (fewer entries would not cover the read latency).
/// All Depth entries can be used.
/// Latency: a word taken in cycle t is offered from cycle t + 3 on, if it is the only one.
/// Throughput: one word per cycle, without a bubble once the first word is out.
/// Stall behaviour: `ready_o` is a function of the level alone, never of `valid_i` or `ready_i`;
/// `valid_o` never of `ready_i`. Words offered while `rst_ni` is low are lost.
module sluice_fifo_ram #(
    parameter int unsigned Width = 64,
    parameter int unsigned Depth = 512,
    localparam int unsigned LevelWidth = $clog2(Depth + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic             valid_i,
    output logic             ready_o,
    input  logic [Width-1:0] data_i,

    output logic             valid_o,
    input  logic             ready_i,
    output logic [Width-1:0] data_o,

    output logic [LevelWidth-1:0] level_o
);

  if (Width == 0) begin : gen_bad_width
    $fatal(1, "fifo_ram: Width is %0d, expected at least 1 (%m)", Width);
  end
  if (Depth < 4) begin : gen_bad_depth
    $fatal(1, "fifo_ram: Depth is %0d, expected at least 4 (%m)", Depth);
  end

  localparam int unsigned PtrWidth = $clog2(Depth);

  typedef logic [PtrWidth-1:0] ptr_t;
  typedef logic [LevelWidth-1:0] level_t;

  function automatic ptr_t ptr_next(ptr_t ptr);
    return (ptr == ptr_t'(Depth - 1)) ? '0 : ptr + ptr_t'(1);
  endfunction

  logic [Width-1:0] mem[Depth];
  logic [Width-1:0] ram_data_q;
  ptr_t wr_ptr_q, rd_ptr_q;
  // Words taken and not yet given.
  level_t level_q;
  logic put, take, unread, read;

  assign ready_o = level_q != level_t'(Depth);
  assign level_o = level_q;
  // Equal pointers mean that no word waits to be read, never that Depth do: before that two stand behind the RAM.
  assign unread = rd_ptr_q != wr_ptr_q;

  assign put = valid_i && ready_o;
  assign take = valid_o && ready_i;

  // A word is read one cycle after it was written at the earliest, and a slot is written again
  // only after its word was given: the two ports never meet at one address.
  always_ff @(posedge clk_i) begin
    if (put) mem[wr_ptr_q] <= data_i;
    if (read) ram_data_q <= mem[rd_ptr_q];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wr_ptr_q <= '0;
      rd_ptr_q <= '0;
      level_q  <= '0;
    end else begin
      if (put) wr_ptr_q <= ptr_next(wr_ptr_q);
      if (read) rd_ptr_q <= ptr_next(rd_ptr_q);
      // One up or down: by what comes late they are only enabled.
      if (put != take) level_q <= level_q + {{(LevelWidth - 1) {!put}}, 1'b1};
    end
  end

  sluice_ram_prefetch #(
      .Width(Width)
  ) u_prefetch (
      .clk_i,
      .rst_ni,
      .unread_i  (unread),
      .read_o    (read),
      .ram_data_i(ram_data_q),
      .valid_o,
      .ready_i,
      .data_o
  );

`ifndef SYNTHESIS
  LevelIsAtMostDepth_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) level_q <= level_t'(Depth));
  WhatIsUnreadIsInTheRam_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !unread || level_q != '0);
`endif

endmodule
