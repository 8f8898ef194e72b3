/// Stands for sluice_rmt_hash in noninterference/match: its result is free, the harness says that it is the same where the
/// pieces and conditions are. formal/rmt/hash.sby shows why: XORs, inverters, and registers of one packet's pieces.
module sluice_rmt_hash (
    input  logic         clk_i,
    input  logic         valid_i,
    input  logic [191:0] pieces_i,
    input  logic [  1:0] conditions_i,
    output logic [ 31:0] hash_o
);
endmodule
