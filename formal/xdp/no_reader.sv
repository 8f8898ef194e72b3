/// Stands for sluice_xdp_reader in xdp/maps_front: what it reads is free, the harness says when it answers.
module sluice_xdp_reader
  import sluice_xdp_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input  logic       start_i,
    output logic       idle_o,
    input  xdp_block_t block_i,

    output logic        fault_o,
    output logic        word_valid_o,
    input  logic        word_ready_i,
    output logic [63:0] word_o,
    output logic        last_o,

    // Packet memory: the place's word and the one behind it come in the cycle behind a read that was taken.
    output logic                   read_valid_o,
    input  logic                   read_ready_i,
    output xdp_place_t             read_place_o,
    input  logic       [1:0][63:0] read_data_i,

    // Values; the answer comes some cycles later.
    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                done_valid_i,
    input  logic                done_fault_i,
    input  logic         [63:0] done_value_i,

    // The host's data: the word comes in the cycle behind its number.
    output logic        host_valid_o,
    output logic [ 6:0] host_word_o,
    input  logic [63:0] host_data_i
);
endmodule
