/// Stands for sluice_xdp_helper in xdp/helpers: when it is done, and what it asks, is free.
module sluice_xdp_helper
  import sluice_xdp_pkg::*;
#(
    parameter logic [63:0] Seed = 64'd1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic      start_i,
    input xdp_call_t call_i,

    output logic               done_o,
    output xdp_return_t        return_o,
    output logic               told_o,
    output logic        [31:0] number_o,

    output logic       event_valid_o,
    input  logic       event_ready_i,
    output xdp_event_t event_o,
    input  logic       event_room_i,

    output logic                   read_valid_o,
    input  logic                   read_ready_i,
    output xdp_place_t             read_place_o,
    input  logic       [1:0][63:0] read_data_i,
    output logic                   write_valid_o,
    input  logic                   write_ready_i,
    output xdp_place_t             write_place_o,
    output logic       [7:0][ 7:0] write_enable_o,
    output logic       [1:0][63:0] write_data_o,

    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                found_valid_i,
    input  logic                found_fault_i,
    input  logic         [63:0] found_value_i
);
endmodule
