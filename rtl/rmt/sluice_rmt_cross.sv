/// The cross value X: a container, three metadata words, the hash or the entry's number, shifted right
/// (docs/design/rmt.md, "Operands").
///
/// Three lanes of 16 bits, each indexed by the source itself, so that nothing is decoded before. A source without a
/// meaning, and a shift of 3, give zero.
///
/// Latency: 0 cycles.
module sluice_rmt_cross
  import sluice_rmt_pkg::*;
  import sluice_rmt_act_pkg::*;
(
    input  rmt_phv_t        phv_i,
    input  logic     [31:0] hash_i,
    input  logic     [10:0] number_i,
    input  logic     [ 5:0] source_i,
    input  logic     [ 1:0] shift_i,
    output logic     [47:0] x_o
);

  logic [2:0][63:0][15:0] lanes;
  logic [2:0][15:0] lane;

  always_comb begin
    lanes = '0;
    for (int unsigned i = 0; i < 8; i++) begin
      lanes[0][i] = phv_i.c.c2[i];
      for (int unsigned l = 0; l < 2; l++) lanes[l][8+i] = phv_i.c.c4[i][16*l+:16];
      for (int unsigned l = 0; l < 3; l++) lanes[l][16+i] = phv_i.c.c6[i][16*l+:16];
    end
    for (int unsigned l = 0; l < 3; l++) begin
      for (int unsigned k = 0; k + l < 16; k++) lanes[l][6'(k)+CrossWords] = phv_i.words[k+l];
    end
    for (int unsigned l = 0; l < 2; l++) lanes[l][CrossHash] = hash_i[16*l+:16];
    lanes[0][CrossNumber] = 16'(number_i);
    for (int unsigned l = 0; l < 3; l++) lane[l] = lanes[l][source_i];
    unique case (shift_i)
      2'd0: x_o = lane;
      2'd1: x_o = {16'd0, lane[2], lane[1]};
      2'd2: x_o = {32'd0, lane[2]};
      default: x_o = '0;
    endcase
  end

endmodule
