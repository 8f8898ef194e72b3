/// Proof about sluice_agree: what is synthesized and what is simulated equal a loop over the bits.
module agree #(
    parameter int unsigned Width = 7,
    parameter int unsigned Group = 2
) (
    input logic             enable_i,
    input logic [Width-1:0] a_i,
    input logic [Width-1:0] b_i,
    input logic [Width-1:0] mask_i
);

  logic agree, expected;

  sluice_agree #(
      .Width(Width),
      .Group(Group)
  ) u_dut (
      .enable_i,
      .a_i,
      .b_i,
      .mask_i,
      .agree_o(agree)
  );

  always_comb begin
    expected = enable_i;
    for (int unsigned i = 0; i < Width; i++) if (mask_i[i] && a_i[i] != b_i[i]) expected = 1'b0;
  end

  always_comb AgreesWithALoop_A : assert (agree == expected);

  // Strengthening: none needed.
endmodule
