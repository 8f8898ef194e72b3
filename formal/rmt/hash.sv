/// Proof about sluice_rmt_hash: what is synthesized and what is simulated equal the bit-serial CRC-32C of the key.
///
/// Of no bit and of each single one (as formal/common/crc32c.sv): the circuit is nothing but XORs and a constant.
module hash
  import sluice_rmt_rows_pkg::*;
(
    input logic         clk_i,
    input logic         valid_i,
    input logic [191:0] pieces_i,
    input logic [  1:0] conditions_i
);

  localparam int unsigned Width = 8 * RmtKeyHashBytes;

  logic [31:0] crc, expected;
  logic [191:0] pieces_q;
  logic [Width-1:0] data;

  sluice_rmt_hash u_dut (
      .clk_i,
      .valid_i,
      .pieces_i,
      .conditions_i,
      .hash_o(crc)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) begin
    // The key that came last counts.
    if (valid_i) init_q <= 1'b0;
    if (valid_i) pieces_q <= pieces_i;
  end

  assign data = Width'({conditions_i, pieces_q});

  // With the polynomial in its usual notation and the register the other way round.
  always_comb begin
    logic [31:0] register;
    register = '1;
    for (int unsigned i = 0; i < Width; i++) begin
      register = {register[30:0], 1'b0} ^ ((register[31] ^ data[i]) ? 32'h1EDC_6F41 : 32'h0);
    end
    for (int unsigned i = 0; i < 32; i++) expected[i] = !register[31-i];
  end

  always_comb assume (init_q || $onehot0(data));
  always_comb EqualsTheDefinition_A : assert (init_q || crc == expected);

  // Strengthening: none needed.
endmodule
