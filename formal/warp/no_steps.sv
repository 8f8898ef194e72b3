/// In place of sluice_warp_steps (tb/warp is about it): there may be room at any time, and then is until a packet is put.
module sluice_warp_steps
  import sluice_warp_pkg::*;
#(
    parameter  int unsigned Modules  = 64,
    parameter  int unsigned Steps    = 128,
    localparam int unsigned LookBits = $clog2(2 * Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input warp_write_t write_i,

    input  logic                             put_valid_i,
    output logic                             put_ready_o,
    input  logic        [      LookBits-1:0] put_index_i,
    input  logic        [  WarpStepBits-1:0] put_step_i,
    input  logic        [               4:0] put_steps_i,
    input  warp_bytes_t                      put_frame_i,
    input  logic        [WarpLengthBits-1:0] put_length_i,
    input  logic        [              31:0] put_ifindex_i,

    output logic      set_valid_o,
    input  logic      set_ready_i,
    output warp_set_t set_o
);

  // Free.
  logic begins;
  logic ready_q;
  assign put_ready_o = ready_q || begins;
  always_ff @(posedge clk_i) ready_q <= rst_ni && put_ready_o && !put_valid_i;

  APacketIsPutWhereThereIsRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_valid_i || put_ready_o);

endmodule
