/// Proof about sluice_rmt_hash: what is synthesized and what is simulated equal the bit-serial CRC-32C of the key.
///
/// Of keys with at most one group of four bits that is not zero, a block and a definition for each group: both sum up
/// what groups add, or single bits, by XORs. A key comes in every cycle; without one the registers of both hold.
module hash
  import sluice_rmt_rows_pkg::*;
(
    input logic         clk_i,
    input logic [191:0] pieces_i,
    input logic [  1:0] conditions_i
);

  localparam int unsigned Width = 8 * RmtKeyHashBytes;
  localparam int unsigned Pieces = 192;
  localparam int unsigned Groups = Pieces / 4 + 1;  // the last one is the conditions

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

  for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
    localparam logic [Pieces-1:0] Here = (g < int'(Groups) - 1) ? Pieces'(15) << (4 * g) : '0;
    logic [Pieces-1:0] pieces, pieces_q;
    logic [1:0] conditions;
    logic [31:0] crc, expected;

    assign pieces = pieces_i & Here;
    assign conditions = (g == int'(Groups) - 1) ? conditions_i : '0;

    sluice_rmt_hash u_dut (
        .clk_i,
        .valid_i     (1'b1),
        .pieces_i    (pieces),
        .conditions_i(conditions),
        .hash_o      (crc)
    );

    always_ff @(posedge clk_i) pieces_q <= pieces;
    assign expected = definition(Width'({conditions, pieces_q}));

    always_comb EqualsTheDefinition_A : assert (init_q || crc == expected);
  end

  // Strengthening: none needed.
endmodule
