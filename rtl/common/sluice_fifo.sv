/// First-in, first-out queue in distributed RAM, for shallow queues.
///
/// The array is written on the clock edge and read asynchronously, so it maps to LUTRAM;
/// deep or wide queues belong into `sluice_fifo_ram`.
///
/// Depth may be any number from 2 on. All Depth entries can be used.
/// Latency: a word taken in cycle t is offered from cycle t + 1 on (first word falls through).
/// Throughput: one word per cycle, at any level.
/// Stall behaviour: `ready_o` is a function of the level alone, never of `valid_i` or `ready_i`;
/// `valid_o` never of `ready_i`. A full queue takes the next word one cycle after it gave one.
/// Words offered while `rst_ni` is low are lost.
module sluice_fifo #(
    parameter int unsigned Width = 8,
    parameter int unsigned Depth = 16,
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
    $fatal(1, "fifo: Width is %0d, expected at least 1 (%m)", Width);
  end
  if (Depth < 2) begin : gen_bad_depth
    $fatal(1, "fifo: Depth is %0d, expected at least 2 (%m)", Depth);
  end

  localparam int unsigned PtrWidth = $clog2(Depth);

  typedef logic [PtrWidth-1:0] ptr_t;
  typedef logic [LevelWidth-1:0] level_t;

  // Depth need not be a power of two, so the pointers wrap by comparison.
  function automatic ptr_t fifo_next(ptr_t ptr);
    return (ptr == ptr_t'(Depth - 1)) ? '0 : ptr + ptr_t'(1);
  endfunction

  logic [Width-1:0] mem[Depth];
  ptr_t wr_ptr_q, rd_ptr_q;
  level_t level_q;
  logic   valid_q;  // a level above 0
  logic put, take;

  assign ready_o = level_q != level_t'(Depth);
  assign valid_o = valid_q;
  assign data_o = mem[rd_ptr_q];
  assign level_o = level_q;

  assign put = valid_i && ready_o;
  assign take = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    if (put) mem[wr_ptr_q] <= data_i;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      wr_ptr_q <= '0;
      rd_ptr_q <= '0;
      level_q  <= '0;
      valid_q  <= 1'b0;
    end else begin
      if (put) wr_ptr_q <= fifo_next(wr_ptr_q);
      if (take) rd_ptr_q <= fifo_next(rd_ptr_q);
      // One up or down: by what comes late it is only enabled.
      if (put != take) level_q <= level_q + {{(LevelWidth - 1) {!put}}, 1'b1};
      valid_q <= put || (take ? level_q > level_t'(1) : valid_q);
    end
  end

`ifndef SYNTHESIS
  logic stalled;
  assign stalled = rst_ni && valid_o && !ready_i;

  ValidIsALevelAboveZero_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) valid_q == (level_q != '0));
  LevelIsAtMostDepth_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) level_q <= level_t'(Depth));
  // A property would copy what is wide in every cycle.
  logic stalled_q;
  logic [Width-1:0] held_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= stalled;
    if (stalled) held_q <= data_o;
    if (rst_ni && stalled_q) begin
      OutputHoldsUntilReady_A : assert (valid_o && data_o == held_q);
    end
  end
  FullQueueTakesNothing_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) level_q != level_t'(Depth) || !put);
`endif

endmodule
