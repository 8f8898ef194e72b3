/// sluice_nic_reader by the number of a target, with flat ports, for its bench.
module nic_reader_target
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Target = 1,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned CellBits = $clog2(Cfg.cells),
    localparam int unsigned QueueBits = $clog2(Dests * Cfg.modules),
    localparam int unsigned ByteCountBits = $clog2(Bytes + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                clear_i,
    input logic [CellBits-1:0] clear_index_i,

    input  logic [                  Dests-1:0] copy_valid_i,
    output logic [                  Dests-1:0] copy_ready_o,
    input  logic [         Dests*CellBits-1:0] copy_cell_i,
    input  logic [Dests*$bits(sideband_t)-1:0] copy_meta_i,

    output logic                read_o,
    output logic [CellBits-1:0] read_cell_o,
    input  logic [ 8*Bytes-1:0] read_data_i,
    input  logic [CellBits-1:0] read_link_i,
    input  logic [         3:0] read_copies_i,

    output logic                            cell_freed_o,
    output logic [            CellBits-1:0] cell_freed_index_o,
    output logic                            release_valid_o,
    output logic [           QueueBits-1:0] release_queue_o,
    output logic                            release_high_o,
    output logic [                    15:0] release_cells_o,
    output logic [$bits(leave_trace_t)-1:0] leave_o,

    output logic [                  Dests-1:0] beat_valid_o,
    input  logic [                  Dests-1:0] beat_ready_i,
    output logic [          Dests*8*Bytes-1:0] beat_data_o,
    output logic [    Dests*ByteCountBits-1:0] beat_bytes_o,
    output logic [                  Dests-1:0] beat_first_o,
    output logic [                  Dests-1:0] beat_last_o,
    output logic [Dests*$bits(sideband_t)-1:0] beat_meta_o
);

  sluice_nic_reader #(.Cfg(Cfg)) u_reader (.*);

endmodule
