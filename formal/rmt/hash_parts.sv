/// Proof about sluice_rmt_hash as simulated: the hash of any key is the sum of what its groups of four bits add.
///
/// With rmt/hash, which looks at one group at a time, that is the CRC-32C of every key. A block for each group is asked for
/// the group alone; the sum of all, by XOR, is compared with the block that is asked for the whole key.
module hash_parts (
    input logic         clk_i,
    input logic [191:0] pieces_i,
    input logic [  1:0] conditions_i
);

  localparam int unsigned Pieces = 192;
  localparam int unsigned Groups = Pieces / 4;  // and the conditions behind them

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;

  logic [Groups:0][31:0] part;
  logic [31:0] whole, nothing, sum;

  sluice_rmt_hash u_whole (
      .clk_i,
      .valid_i(1'b1),
      .pieces_i,
      .conditions_i,
      .hash_o (whole)
  );

  sluice_rmt_hash u_nothing (
      .clk_i,
      .valid_i     (1'b1),
      .pieces_i    ('0),
      .conditions_i('0),
      .hash_o      (nothing)
  );

  sluice_rmt_hash u_conditions (
      .clk_i,
      .valid_i (1'b1),
      .pieces_i('0),
      .conditions_i,
      .hash_o  (part[Groups])
  );

  for (genvar g = 0; g < int'(Groups); g++) begin : gen_group
    sluice_rmt_hash u_group (
        .clk_i,
        .valid_i     (1'b1),
        .pieces_i    (pieces_i & (Pieces'(15) << (4 * g))),
        .conditions_i('0),
        .hash_o      (part[g])
    );
  end

  always_comb begin
    sum = nothing;
    for (int unsigned g = 0; g <= Groups; g++) sum ^= part[g] ^ nothing;
  end

  always_comb WholeIsTheSumOfItsParts_A : assert (init_q || whole == sum);

  // Strengthening: none needed.
endmodule
