/// Proof about sluice_rmt_ones_sum: as synthesized and as simulated, the three words of six are the counts of each column.
///
/// One level, which is all that differs between the two: levels of more words are made of the same groups. A second
/// instance counts the complements of two words.
module ones_sum (
    input logic             clk_i,
    input logic [5:0][15:0] words_i
);

  localparam int unsigned Complements = 2;

  logic [2:0][15:0] sum, expected, complements, expected_complements;

  sluice_rmt_ones_sum #(
      .Words(6)
  ) u_dut (
      .words_i,
      .sum_o(sum)
  );

  sluice_rmt_ones_sum #(
      .Words(6),
      .Complements(Complements)
  ) u_complements (
      .words_i,
      .sum_o(complements)
  );

  always_comb begin
    for (int unsigned b = 0; b < 16; b++) begin
      logic [2:0] count, inverted;
      count = '0;
      inverted = '0;
      for (int unsigned w = 0; w < 6; w++) begin
        count += 3'(words_i[w][b]);
        inverted += 3'(words_i[w][b] ^ (w < Complements));
      end
      // A carry out of bit 15 comes in at bit 0.
      for (int unsigned k = 0; k < 3; k++) begin
        expected[k][(b+k)%16] = count[k];
        expected_complements[k][(b+k)%16] = inverted[k];
      end
    end
  end

  CountsEachColumn_A :
  assert property (@(posedge clk_i) sum == expected);
  ComplementsAreCounted_A :
  assert property (@(posedge clk_i) complements == expected_complements);

  // Strengthening: none needed.
endmodule
