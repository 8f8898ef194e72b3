/// In place of sluice_warp_match (tb/warp is about it): a leaf that may be any, 2 cycles later, with the length that its packet came with.
module sluice_warp_match
  import sluice_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Rules   = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input warp_write_t write_i,

    output logic                             ready_o,
    input  logic                             valid_i,
    input  logic        [    ModuleBits-1:0] module_i,
    input  logic                             generation_i,
    input  warp_bytes_t                      data_i,
    input  logic        [WarpLengthBits-1:0] length_i,
    input  logic        [              31:0] ifindex_i,

    output logic        found_valid_o,
    output warp_found_t found_o
);

  localparam int unsigned Found = 2;

  // Free; once it is ready it stays so.
  logic begins, ready_q;
  warp_found_t any;

  logic [Found:1] valid_q;
  logic [Found:1][WarpLengthBits-1:0] length_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      ready_q <= 1'b0;
    end else begin
      valid_q <= {valid_q[Found-1:1], valid_i};
      ready_q <= ready_o;
    end
    length_q <= {length_q[Found-1:1], length_i};
  end

  assign ready_o = ready_q || begins;
  assign found_valid_o = valid_q[Found];
  always_comb begin
    found_o = any;
    found_o.leaf.length = length_q[Found];
  end

endmodule
