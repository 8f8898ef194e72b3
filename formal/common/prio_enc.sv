/// Proof about sluice_prio_enc: its outputs equal those of a loop over the bits.
module prio_enc #(
    parameter  int unsigned Width      = 5,
    localparam int unsigned IndexWidth = (Width > 1) ? $clog2(Width) : 1
) (
    input logic [Width-1:0] req_i
);

  logic valid, expected_valid;
  logic [IndexWidth-1:0] index, expected_index;
  logic [Width-1:0] onehot, expected_onehot;

  sluice_prio_enc #(
      .Width(Width)
  ) u_dut (
      .req_i,
      .valid_o (valid),
      .index_o (index),
      .onehot_o(onehot)
  );

  always_comb begin
    expected_valid  = 1'b0;
    expected_index  = '0;
    expected_onehot = '0;
    for (int i = int'(Width) - 1; i >= 0; i--) begin
      if (req_i[i]) begin
        expected_valid     = 1'b1;
        expected_index     = IndexWidth'(i);
        expected_onehot    = '0;
        expected_onehot[i] = 1'b1;
      end
    end
  end

  always_comb begin
    ValidIsThatOfALoop_A : assert (valid == expected_valid);
    IndexIsThatOfALoop_A : assert (index == expected_index);
    OnehotIsThatOfALoop_A : assert (onehot == expected_onehot);
  end

  // Strengthening: none needed.
endmodule
