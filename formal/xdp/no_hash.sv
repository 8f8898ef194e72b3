/// Stands for sluice_xdp_hash in xdp/maps_front: its result is free.
module sluice_xdp_hash
  import sluice_xdp_pkg::*;
(
    input  logic                 clk_i,
    input  logic                 valid_i,
    input  logic                 first_i,
    input  logic [          2:0] index_i,
    input  logic [         31:0] seed_i,
    input  logic [         63:0] word_i,
    output logic [ChainBits-1:0] hash_o
);
endmodule
