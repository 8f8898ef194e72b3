/// Stands for sluice_xdp_registers in xdp/core: what registers hold is free; what is written to them is looked at.
module sluice_xdp_registers
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    parameter int unsigned Lanes = XdpLanes,
    parameter int unsigned Slots = 16,
    localparam int unsigned ContextBits = $clog2(Contexts),
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,

    input  logic   [ContextBits-1:0]       read_context_i,
    input  logic                           read_fresh_i,
    input  depth_t                         read_depth_i,
    input  logic   [    2*Lanes-1:0][ 3:0] read_register_i,
    input  logic   [    2*Lanes-1:0]       read_none_i,
    input  logic   [    2*Lanes-1:0]       read_narrow_i,
    input  logic   [           15:0]       read_given_i,
    input  logic   [   SlotBits-1:0]       read_slot_i,
    output logic   [    2*Lanes-1:0][63:0] read_o,

    input logic [ContextBits-1:0]       write_context_i,
    input logic                         write_clear_i,
    input logic [      Lanes-1:0]       write_valid_i,
    input logic [      Lanes-1:0][ 3:0] write_register_i,
    input logic [      Lanes-1:0][63:0] write_data_i,

    input logic                   late_mark_i,
    input logic [            3:0] late_marked_i,
    input logic                   late_valid_i,
    input logic [ContextBits-1:0] late_context_i,

    input  xdp_set_t set_i,
    output logic     set_ready_o
);
endmodule
