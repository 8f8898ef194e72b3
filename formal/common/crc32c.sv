/// Proof about sluice_crc32c: it equals the bit-serial definition, on all data or on each single bit.
///
/// All data of one byte; wider, no data and each single bit (`SingleBits`), because equality of
/// XORs of many bits is out of reach of the solver. The circuit is nothing but XORs of data bits
/// and a constant, so what holds on zero and on each single bit holds on all data.
module crc32c #(
    parameter int unsigned Width = 32,
    parameter bit SingleBits = 1'b0
) (
    input logic [Width-1:0] data_i
);

  logic [31:0] crc, expected;

  sluice_crc32c #(
      .Width(Width)
  ) u_dut (
      .data_i,
      .crc_o(crc)
  );

  // With the polynomial in its usual notation and the register the other way round.
  always_comb begin
    logic [31:0] register;
    register = '1;
    for (int unsigned i = 0; i < Width; i++) begin
      register = {register[30:0], 1'b0} ^ ((register[31] ^ data_i[i]) ? 32'h1EDC_6F41 : 32'h0);
    end
    for (int unsigned i = 0; i < 32; i++) expected[i] = !register[31-i];
  end

  always_comb assume (!SingleBits || $onehot0(data_i));
  always_comb EqualsTheDefinition_A : assert (crc == expected);

  // Strengthening: none needed.
endmodule
