/// Event counters of the modules: drops by reason, copies, misfits (docs/design/rmt.md).
///
/// An event is counted in its cycle; misfits come from another place and wait for a cycle without an event,
/// which comes soon: a misfit is of a packet of several beats, an event of a whole packet. Should 64 of them
/// wait, others are not counted.
///
/// Latency of a read: 3 cycles, as sluice_counter_bank. Never stalls.
module sluice_rmt_events
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter  int unsigned Modules   = 64,
    localparam int unsigned IndexBits = $clog2(16 * Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input logic                        event_valid_i,
    input logic       [ModuleBits-1:0] event_module_i,
    input rmt_event_e                  event_kind_i,
    input logic       [           3:0] event_amount_i,

    input logic                  misfit_valid_i,
    input logic [ModuleBits-1:0] misfit_module_i,

    input  logic                   rd_valid_i,
    input  logic                   rd_snapshot_i,
    input  logic [  IndexBits-1:0] rd_index_i,
    output logic                   rd_valid_o,
    output logic [CounterBits-1:0] rd_data_o
);

  localparam int unsigned Waiting = 64;

  logic misfit_valid, unused_misfit_ready;
  logic [ModuleBits-1:0] misfit_module;
  logic [$clog2(Waiting+1)-1:0] unused_level;
  logic [ModuleBits-1:0] owner;
  rmt_event_e kind;

  sluice_fifo #(
      .Width(ModuleBits),
      .Depth(Waiting)
  ) u_misfits (
      .clk_i,
      .rst_ni,
      .valid_i(misfit_valid_i),
      .ready_o(unused_misfit_ready),
      .data_i (misfit_module_i),
      .valid_o(misfit_valid),
      .ready_i(!event_valid_i),
      .data_o (misfit_module),
      .level_o(unused_level)
  );

  assign owner = event_valid_i ? event_module_i : misfit_module;
  assign kind  = event_valid_i ? event_kind_i : RmtEventMisfit;

  sluice_counter_bank #(
      .Entries (16 * Modules),
      .Width   (CounterBits),
      .IncWidth(4)
  ) u_counters (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i (event_valid_i || misfit_valid),
      .inc_index_i (IndexBits'({owner, 4'(kind)})),
      .inc_amount_i(event_valid_i ? event_amount_i : 4'd1),
      .rd_valid_i,
      .rd_snapshot_i,
      .rd_index_i,
      .rd_valid_o,
      .rd_data_o
  );

endmodule
