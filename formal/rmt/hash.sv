/// Proof about sluice_rmt_hash: what is synthesized and what is simulated equal the bit-serial CRC-32C of a key with one
/// group of four bits.
///
/// All other groups are zero; which one is not, and its bits, are free. That is all for a block that sums up what groups add:
/// of the body of synthesis the script asserts that it consists of XORs, inverters, constants and registers of one enable;
/// of the one of simulation hash_parts shows it. A key comes in every cycle; without one the registers of both hold.
module hash
  import sluice_rmt_rows_pkg::*;
(
    input logic       clk_i,
    input logic [5:0] group_i,
    input logic [3:0] bits_i
);

  localparam int unsigned Width = 8 * RmtKeyHashBytes;
  localparam int unsigned Pieces = 192;
  localparam int unsigned Groups = Pieces / 4;  // and the conditions behind them

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;

  // With the polynomial in its usual notation and the register the other way round.
  function automatic logic [31:0] definition(logic [Width-1:0] data);
    logic [31:0] register;
    register = '1;
    for (int unsigned i = 0; i < Width; i++) begin
      register = {register[30:0], 1'b0} ^ ((register[31] ^ data[i]) ? 32'h1EDC_6F41 : 32'h0);
    end
    for (int unsigned i = 0; i < 32; i++) definition[i] = !register[31-i];
  endfunction

  logic [Pieces-1:0] pieces, pieces_q;
  logic [1:0] conditions_q;
  logic [31:0] crc, expected;

  always_comb begin
    pieces = '0;
    for (int unsigned g = 0; g < Groups; g++) if (32'(group_i) == g) pieces[4*g+:4] = bits_i;
  end

  // The conditions come a cycle behind the pieces.
  always_ff @(posedge clk_i) begin
    pieces_q     <= pieces;
    conditions_q <= (32'(group_i) == Groups) ? bits_i[1:0] : '0;
  end

  sluice_rmt_hash u_dut (
      .clk_i,
      .valid_i     (1'b1),
      .pieces_i    (pieces),
      .conditions_i(conditions_q),
      .hash_o      (crc)
  );

  assign expected = definition(Width'({conditions_q, pieces_q}));

  always_comb EqualsTheDefinition_A : assert (init_q || crc == expected);

  // Strengthening: none needed.
endmodule
