/// Proof about sluice_rmt_ones_sum: as synthesized and as simulated, the three words of six are the counts of each column.
///
/// One level, which is all that differs between the two: levels of more words are made of the same groups.
module ones_sum (
    input logic             clk_i,
    input logic [5:0][15:0] words_i
);

  logic [2:0][15:0] sum, expected;

  sluice_rmt_ones_sum #(
      .Words(6)
  ) u_dut (
      .words_i,
      .sum_o(sum)
  );

  always_comb begin
    for (int unsigned b = 0; b < 16; b++) begin
      logic [2:0] count;
      count = '0;
      for (int unsigned w = 0; w < 6; w++) count += 3'(words_i[w][b]);
      // A carry out of bit 15 comes in at bit 0.
      for (int unsigned k = 0; k < 3; k++) expected[k][(b+k)%16] = count[k];
    end
  end

  CountsEachColumn_A :
  assert property (@(posedge clk_i) sum == expected);

  // Strengthening: none needed.
endmodule
