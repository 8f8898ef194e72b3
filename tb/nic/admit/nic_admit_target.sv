/// sluice_nic_admit by the number of a target, with flat ports, for its bench.
module nic_admit_target
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Target = 0,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules),
    localparam int unsigned QueueBits = $clog2(Dests * Cfg.modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                       clear_i,
    input logic [ModuleIndexBits-1:0] clear_index_i,

    input  logic                        verdict_valid_i,
    output logic                        verdict_ready_o,
    input  logic [$bits(verdict_t)-1:0] verdict_i,
    input  logic [        DestBits-1:0] denied_i,

    output logic                        decision_valid_o,
    input  logic                        decision_ready_i,
    output logic [        DestBits-1:0] admitted_o,
    output logic [$bits(verdict_t)-1:0] verdict_o,

    input logic                 release_valid_i,
    input logic [QueueBits-1:0] release_queue_i,
    input logic                 release_high_i,
    input logic [         15:0] release_cells_i,
    input logic                 cell_freed_i,

    input  logic                    limit_write_i,
    input  logic [   QueueBits-1:0] limit_index_i,
    input  logic [LimitRowBits-1:0] limit_i,
    output logic [LimitRowBits-1:0] limit_o,

    output logic [                     Dests-1:0] trace_valid_o,
    output logic [Dests*$bits(queue_trace_t)-1:0] trace_o
);

  decision_t decision;
  assign {admitted_o, verdict_o} = decision;

  sluice_nic_admit #(
      .Cfg(Cfg)
  ) u_admit (
      .clk_i,
      .rst_ni,
      .clear_i,
      .clear_index_i,
      .verdict_valid_i,
      .verdict_ready_o,
      .verdict_i,
      .denied_i,
      .decision_valid_o,
      .decision_ready_i,
      .decision_o(decision),
      .release_valid_i,
      .release_queue_i,
      .release_high_i,
      .release_cells_i,
      .cell_freed_i,
      .limit_write_i,
      .limit_index_i,
      .limit_i,
      .limit_o,
      .trace_valid_o,
      .trace_o
  );

endmodule
