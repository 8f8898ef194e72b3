/// In place of sluice_warp_hits (tb/warp is about it): a count may go at any time, and then may until one does.
module sluice_warp_hits
  import sluice_xdp_rows_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Modules = 64,
    parameter int unsigned Rules = 64,
    localparam int unsigned LookBits = $clog2(2 * Modules),
    localparam int unsigned RuleBits = $clog2(Rules),
    localparam int unsigned RowBits = LookBits + RuleBits
) (
    input logic clk_i,
    input logic rst_ni,

    input warp_write_t write_i,

    input  logic               valid_i,
    output logic               ready_o,
    input  logic [RowBits-1:0] index_i,

    input  logic                          read_valid_i,
    input  logic [     WarpIndexBits-1:0] read_index_i,
    output logic                          hits_valid_o,
    output logic [XdpWarpHitsRowBits-1:0] hits_o
);

  // Free.
  logic begins;
  logic ready_q;
  assign ready_o = ready_q || begins;
  always_ff @(posedge clk_i) ready_q <= rst_ni && ready_o && !valid_i;

  APacketIsCountedWhenItMayBe_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_i || ready_o);

endmodule
