/// Stands for sluice_xdp_muldiv in xdp/core: when it is ready and done, and its results are free.
module sluice_xdp_muldiv
  import sluice_xdp_rows_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input  logic        valid_i,
    output logic        ready_o,
    input  logic [ 7:0] op_i,
    input  logic        wide_i,
    input  logic [63:0] a_i,
    input  logic [63:0] b_i,

    output logic        done_o,
    output logic [63:0] result_o
);
endmodule
