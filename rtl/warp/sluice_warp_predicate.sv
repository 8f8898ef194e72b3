/// One predicate of a packet: whether a pair of lanes, masked, shifted and with something added, is at most a limit (`xdp_warp_predicate`).
///
/// The shift is of 16 bits, and drops what leaves them. Where the limit is a number the sum is modulo 2^16; where it is the frame's length the sum is signed, and
/// does not wrap. Pair 7 is zero.
///
/// Latency, from the cycle of `row_i` and `lanes_i`: `length_i` one cycle later, `holds_o` 3 cycles later. Throughput: a packet a cycle. Never stalls.
module sluice_warp_predicate
  import sluice_xdp_rows_pkg::*;
  import sluice_warp_pkg::*;
(
    input logic clk_i,

    input xdp_warp_predicate_t                      row_i,
    input warp_lanes_t                              lanes_i,
    input logic                [WarpLengthBits-1:0] length_i,

    output logic holds_o
);

  // A sum of 16 bits and 16 signed ones.
  localparam int unsigned SumBits = 18;

  // ---------------------------------------------------------------------------------------------------------------
  // The pair. Both ways of shifting are a rotation down by the lowest 4 bits, of the bits that stay: down by n those from n on, up by 32 - n
  // those below n - 16.

  logic [7:0][15:0] pairs;
  logic [15:0] stays, pair_q;
  always_comb begin
    pairs = '0;
    for (int unsigned p = 0; p < WarpLanes / 2; p++) pairs[p] = {lanes_i[2*p], lanes_i[2*p+1]};
    for (int unsigned b = 0; b < 16; b++) stays[b] = (4'(b) >= row_i.down[3:0]) != row_i.down[4];
  end

  logic [3:0] turn_q;
  logic [15:0] add_q, limit_q;
  logic length_q;
  always_ff @(posedge clk_i) begin
    pair_q   <= pairs[row_i.pair] & row_i.mask & stays;
    turn_q   <= row_i.down[3:0];
    add_q    <= row_i.add;
    limit_q  <= row_i.limit;
    length_q <= row_i.length;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // The sum.

  logic [15:0] number;
  logic signed [SumBits-1:0] sum, sum_q, limit_sum_q;
  assign number = 16'({pair_q, pair_q} >> turn_q);
  assign sum = SumBits'(number) + {{2{add_q[15]}}, add_q};
  always_ff @(posedge clk_i) begin
    sum_q <= length_q ? sum : {2'b00, sum[15:0]};
    limit_sum_q <= length_q ? SumBits'(length_i) : SumBits'(limit_q);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // The answer.

  always_ff @(posedge clk_i) holds_o <= sum_q <= limit_sum_q;

endmodule
