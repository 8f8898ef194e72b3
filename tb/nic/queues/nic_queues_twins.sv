/// Two sluice_nic_queues by the number of a target, with flat ports, for their bench: instance 0 sees the queue of each
/// packet, instance 1 takes all for low ones.
module nic_queues_twins
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Target = 1,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned CellBits = $clog2(Cfg.cells),
    localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                       clear_i,
    input logic [ModuleIndexBits-1:0] clear_index_i,

    // By instance.
    input logic [           1:0] stored_valid_i,
    input logic [  CellBits-1:0] stored_cell_i,
    input logic [  DestBits-1:0] stored_dests_i,
    input logic [ModuleBits-1:0] stored_module_i,
    input logic                  stored_high_i,

    output logic [                   1:0] meta_read_o,
    output logic [        2*CellBits-1:0] meta_cell_o,
    input  logic [2*$bits(verdict_t)-1:0] meta_i,

    output logic [                  2*Dests-1:0] copy_valid_o,
    input  logic [                    Dests-1:0] copy_ready_i,
    output logic [         2*Dests*CellBits-1:0] copy_cell_o,
    output logic [2*Dests*$bits(sideband_t)-1:0] copy_meta_o,

    input logic                       quantum_write_i,
    input logic [ModuleIndexBits-1:0] quantum_index_i,
    input logic [               15:0] quantum_i
);

  for (genvar i = 0; i < 2; i++) begin : gen_twin
    logic [15:0] unused_quantum;

    sluice_nic_queues #(
        .Cfg(Cfg)
    ) u_queues (
        .clk_i,
        .rst_ni,
        .clear_i,
        .clear_index_i,
        .stored_valid_i(stored_valid_i[i]),
        .stored_cell_i,
        .stored_dests_i,
        .stored_module_i,
        .stored_high_i (stored_high_i && i == 0),
        .meta_read_o   (meta_read_o[i]),
        .meta_cell_o   (meta_cell_o[CellBits*i+:CellBits]),
        .meta_i        (meta_i[$bits(verdict_t)*i+:$bits(verdict_t)]),
        .copy_valid_o  (copy_valid_o[Dests*i+:Dests]),
        .copy_ready_i,
        .copy_cell_o   (copy_cell_o[Dests*CellBits*i+:Dests*CellBits]),
        .copy_meta_o   (copy_meta_o[Dests*$bits(sideband_t)*i+:Dests*$bits(sideband_t)]),
        .quantum_write_i,
        .quantum_index_i,
        .quantum_i,
        .quantum_o     (unused_quantum)
    );
  end

endmodule
