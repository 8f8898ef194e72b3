/// Proof about sluice_rmt_compress: as synthesized and as simulated, its words are the counts of each column of a group.
module compress
  import sluice_rmt_sum_pkg::*;
#(
    parameter  int unsigned Inputs  = 7,
    parameter  int unsigned Group   = 6,
    localparam int unsigned Outputs = compressed(Inputs, Group)
) (
    input logic                    clk_i,
    input logic [Inputs-1:0][15:0] data_i
);

  logic [Outputs-1:0][15:0] data, expected;

  sluice_rmt_compress #(
      .Inputs(Inputs),
      .Group (Group)
  ) u_dut (
      .data_i,
      .data_o(data)
  );

  // Group by group: one or two words as they are, else the bits of the counts, each at the column of its weight.
  always_comb begin
    int unsigned at;
    at = 0;
    expected = '0;
    for (int unsigned first = 0; first < Inputs; first += Group) begin
      int unsigned words;
      words = (Inputs - first < Group) ? Inputs - first : Group;
      if (words <= 2) begin
        for (int unsigned w = 0; w < words; w++) expected[at+w] = data_i[first+w];
      end else begin
        for (int unsigned b = 0; b < 16; b++) begin
          logic [2:0] count;
          count = '0;
          for (int unsigned w = 0; w < words; w++) count += 3'(data_i[first+w][b]);
          for (int unsigned k = 0; k < count_words(words); k++) expected[at+k][(b+k)%16] = count[k];
        end
      end
      at += count_words(words);
    end
  end

  CountsEachColumn_A :
  assert property (@(posedge clk_i) data == expected);

  // Strengthening: none needed.
endmodule
