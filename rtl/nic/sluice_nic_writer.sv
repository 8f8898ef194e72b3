/// Writes admitted packets into cells of the shared buffer and hands them to their queues.
///
/// A decision meets its packet's beats, which come in the same order. An admitted packet takes
/// one cell a beat, linked in order; one without admitted copies is read and forgotten. The verdict goes
/// beside the first cell. Cells come from the pool of never used ones, then
/// from those given back (`cell_freed_*`); room was reserved at admission.
///
/// Latency: 1 cycle to the buffer; the copy is queued with the last beat. Throughput: one beat
/// a cycle. Stall behaviour: waits for a cell given back on its way.
module sluice_nic_writer
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned CellBits = $clog2(Cfg.cells)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic      decision_valid_i,
    output logic      decision_ready_o,
    input  decision_t decision_i,

    input  logic               valid_i,
    output logic               ready_o,
    input  logic [8*Bytes-1:0] data_i,
    input  logic               last_i,

    output logic                    cell_write_o,
    output logic     [CellBits-1:0] cell_o,
    output logic     [ 8*Bytes-1:0] cell_data_o,
    output logic     [         3:0] cell_copies_o,
    output logic                    meta_write_o,
    output verdict_t                meta_o,
    output logic                    link_write_o,
    output logic     [CellBits-1:0] link_from_o,

    output logic                  stored_valid_o,
    output logic [  CellBits-1:0] stored_cell_o,
    output logic [  DestBits-1:0] stored_dests_o,
    output logic [ModuleBits-1:0] stored_module_o,
    output logic                  stored_high_o,

    input logic                cell_freed_i,
    input logic [CellBits-1:0] cell_freed_index_i,

    output logic progress_o
);

  localparam int unsigned FreshBits = $clog2(Cfg.cells + 1);

  logic keep, can_store, take, first_q, cell_valid, fresh, pool_valid, pool_ready, unused_pool_ready;
  logic [FreshBits-1:0] fresh_q, unused_level;
  logic [CellBits-1:0] pool_cell, previous_q, head_q, head;

  assign keep = decision_i.admitted != '0;
  assign fresh = fresh_q != FreshBits'(Cfg.cells);
  assign cell_valid = fresh || pool_valid;
  assign can_store = valid_i && decision_valid_i && keep && cell_valid;
  assign take = (valid_i && decision_valid_i && !keep) || can_store;
  assign ready_o = take;
  assign decision_ready_o = take && last_i;
  assign pool_ready = take && keep && !fresh;

  sluice_fifo_ram #(
      .Width(CellBits),
      .Depth(Cfg.cells)
  ) u_pool (
      .clk_i,
      .rst_ni,
      .valid_i(cell_freed_i),
      .ready_o(unused_pool_ready),
      .data_i (cell_freed_index_i),
      .valid_o(pool_valid),
      .ready_i(pool_ready),
      .data_o (pool_cell),
      .level_o(unused_level)
  );

  assign cell_o = fresh ? fresh_q[CellBits-1:0] : pool_cell;
  assign cell_write_o = take && keep;
  assign cell_data_o = data_i;
  assign cell_copies_o = count_ones(decision_i.admitted);
  assign meta_write_o = cell_write_o && first_q;
  assign meta_o = decision_i.verdict;
  assign link_write_o = cell_write_o && !first_q;
  assign link_from_o = previous_q;
  assign head = first_q ? cell_o : head_q;

  assign stored_valid_o = can_store && last_i;
  assign stored_cell_o = head;
  assign stored_dests_o = decision_i.admitted;
  assign stored_module_o = decision_i.verdict.sideband.module_id;
  assign stored_high_o = is_high(decision_i.verdict.sideband.egress_queue);
  assign progress_o = take;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      fresh_q <= '0;
    end else begin
      if (take) first_q <= last_i;
      if (take && keep && fresh) fresh_q <= fresh_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (take) begin
      previous_q <= cell_o;
      head_q     <= head;
    end
  end

`ifndef SYNTHESIS
  FreedCellHasRoomInThePool_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !cell_freed_i || unused_pool_ready);
  logic [15:0] beats_q;
  always_ff @(posedge clk_i) if (take) beats_q <= first_q ? 16'd1 : beats_q + 16'd1;
  BeatsMatchTheLength_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(take && last_i) ||
                   ((first_q ? 0 : 32'(beats_q)) + 1) * Bytes >= 32'(decision_i.verdict.sideband.length) &&
                   (first_q ? 0 : 32'(beats_q)) * Bytes < 32'(decision_i.verdict.sideband.length));
`endif

endmodule
