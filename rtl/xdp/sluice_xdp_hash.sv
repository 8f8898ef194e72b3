/// Hash of a key, for the number of its chain.
///
/// A key's words come with `valid_i`, the first with `first_i`. `hash_o` is that of all words so far, 4 cycles behind the last; of a key of one word 3 behind it.
/// Each word gives the product of its two halves, to which numbers of the map's seed are added: who does not know the seed cannot
/// choose keys that meet (NH: Black, Halevi, Krawczyk, Krovetz, Rogaway, "UMAC", CRYPTO 1999, section 4).
///
/// Latency: 4 cycles; 3 of a first word. Throughput: a word a cycle. Never stalls.
module sluice_xdp_hash
  import sluice_xdp_pkg::*;
(
    input logic clk_i,

    input logic        valid_i,
    input logic        first_i,
    input logic [ 2:0] index_i,
    input logic [31:0] seed_i,
    input logic [63:0] word_i,

    output logic [ChainBits-1:0] hash_o
);

  logic [2:0] valid_q, first_q;
  logic [31:0] left_q, right_q, seed;
  logic [31:0] low_q, high_q, cross_q, other_q;
  logic [63:0] product_q, sum_q, sum;

  // Another pair of numbers for each word: the seed turned by 5 bits a word, and odd ones made of it.
  assign seed = 32'({seed_i, seed_i} >> (6'(index_i) * 6'd5));

  always_ff @(posedge clk_i) begin
    valid_q   <= {valid_q[1:0], valid_i};
    first_q   <= {first_q[1:0], first_i};
    left_q    <= word_i[31:0] + seed;
    right_q   <= word_i[63:32] + ({seed[12:0], seed[31:13]} | 32'd1);
    low_q     <= 32'(left_q[15:0]) * 32'(right_q[15:0]);
    high_q    <= 32'(left_q[31:16]) * 32'(right_q[31:16]);
    cross_q   <= 32'(left_q[31:16]) * 32'(right_q[15:0]);
    other_q   <= 32'(left_q[15:0]) * 32'(right_q[31:16]);
    product_q <= {high_q, low_q} + (64'(cross_q) << 16) + (64'(other_q) << 16);
    if (valid_q[2]) sum_q <= first_q[2] ? product_q : {sum_q[50:0], sum_q[63:51]} + product_q;
  end

  assign sum = (valid_q[2] && first_q[2]) ? product_q : sum_q;
  assign hash_o = ChainBits'(sum >> 50) ^ ChainBits'(sum >> 36) ^ ChainBits'(sum >> 22) ^ ChainBits'(sum >> 8);

endmodule
