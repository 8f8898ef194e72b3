/// Stands for sluice_rmt_meter in noninterference/state: its results are free, the harness says that they are the same where
/// it is asked the same.
///
/// The script shows that of the block itself: behind every input there are registers without enable or reset, and no loop,
/// so that a result is made of one packet's numbers alone.
module sluice_rmt_meter
  import sluice_pkg::*;
(
    input  logic                clk_i,
    input  logic [TickBits-1:0] queueing_i,
    input  logic [         5:0] shift_i,
    input  logic [        15:0] length_i,
    input  logic [        31:0] limit_i,
    input  logic [        31:0] cost_i,
    input  logic [        31:0] top_i,
    input  logic                per_packet_i,
    output logic [        31:0] now_o,
    output logic [        31:0] now_limit_o,
    output logic [        31:0] now_top_o,
    output logic [        31:0] inc_o,
    output logic [        31:0] next_o
);
endmodule
