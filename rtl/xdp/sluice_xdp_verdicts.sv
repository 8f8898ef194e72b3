/// Verdicts and tokens, one a cycle: of packets that pass beside, of those that leave their slots, of those dropped at their queues, in this order.
///
/// A packet takes bundles of a core and beats of the output: what it takes more of is its cost, all cores' bundles beside one beat. It is charged two
/// cycles after its verdict, so that no path goes from a cluster to the scheduler.
///
/// Latency: 1 cycle. Throughput: a verdict a cycle. Stall behaviour: who comes later waits; one that leaves its slot and waits says so (`waits_o`), and the
/// next cycle is its.
module sluice_xdp_verdicts
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_streams_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter int unsigned Cores = 2,
    parameter int unsigned Modules = 64,
    localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1,
    localparam int unsigned ModuleIndexBits = $clog2(Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    // Of who passes beside: its first beat is taken, its last.
    input logic                     beside_first_i,
    input logic                     beside_last_i,
    // "Bits of signal are not used": of its sideband who it is.
    // verilator lint_off UNUSEDSIGNAL
    input sideband_t                beside_side_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic      [DestBits-1:0] beside_destinations_i,
    input token_t                   beside_token_i,

    input  logic         drop_valid_i,
    output logic         drop_ready_o,
    input  xdp_dropped_t drop_i,

    // Of each core.
    input  logic           [Cores-1:0]       core_valid_i,
    output logic           [Cores-1:0]       core_ready_o,
    input  token_t         [Cores-1:0]       core_token_i,
    input  verdict_trace_t [Cores-1:0]       core_verdict_i,
    input  cost_t          [Cores-1:0]       core_cost_i,
    input  logic           [Cores-1:0][13:0] core_length_i,
    output logic                             waits_o,

    // That of a core which is taken: whose it is.
    output logic                charge_valid_o,
    output logic [CoreBits-1:0] charge_core_o,
    output logic                charge_drops_o,

    output logic                   spent_valid_o,
    output logic  [ModuleBits-1:0] spent_module_o,
    output cost_t                  spent_o,

    output logic           leave_valid_o,
    output token_t         leave_o,
    output logic           verdict_valid_o,
    output verdict_trace_t verdict_o,
    output logic           verdict_generation_o,

    // Drops are counted in their verdict's cycle, and the copies of what leaves.
    output logic                             event_valid_o,
    output logic       [ModuleIndexBits-1:0] event_module_o,
    output xdp_event_e                       event_kind_o,
    output logic       [                2:0] event_amount_o
);

  // Packets dropped at their queue whose verdict waits.
  localparam int unsigned Drops = 4;

  logic free, unload_valid, dropped_valid, dropped_take;
  logic [Cores-1:0] grant;
  logic [CoreBits-1:0] core;
  verdict_trace_t unload_verdict;
  token_t unload_token;
  xdp_dropped_t dropped;
  logic [$clog2(Drops+1)-1:0] unused_drop_level;

  sluice_fifo #(
      .Width($bits(xdp_dropped_t)),
      .Depth(Drops)
  ) u_drops (
      .clk_i,
      .rst_ni,
      .valid_i(drop_valid_i),
      .ready_o(drop_ready_o),
      .data_i (drop_i),
      .valid_o(dropped_valid),
      .ready_i(dropped_take),
      .data_o (dropped),
      .level_o(unused_drop_level)
  );

  sluice_arb_rr #(
      .Requests(Cores)
  ) u_verdict (
      .clk_i,
      .rst_ni,
      .req_i    (core_valid_i),
      .advance_i(free),
      .grant_o  (grant),
      .index_o  (core),
      .valid_o  (unload_valid)
  );
  assign unload_verdict = core_verdict_i[core];
  assign unload_token = core_token_i[core];

  assign free = !beside_first_i && !beside_last_i;
  assign core_ready_o = free ? grant : '0;
  assign dropped_take = free && !unload_valid && dropped_valid;
  assign charge_valid_o = unload_valid && free;
  assign charge_core_o = core;
  assign charge_drops_o = unload_verdict.dropped;

  always_ff @(posedge clk_i) begin
    waits_o <= unload_valid && !free && rst_ni;
    verdict_valid_o <= (beside_first_i || charge_valid_o || dropped_take) && rst_ni;
    leave_valid_o <= (beside_last_i || charge_valid_o || dropped_take) && rst_ni;
    leave_o <= beside_last_i ? beside_token_i : charge_valid_o ? unload_token : dropped.token;
    verdict_generation_o <= beside_first_i ? beside_side_i.generation : unload_token.generation;
    if (beside_first_i) begin
      verdict_o <= '{
          destinations: beside_destinations_i,
          reason: reason_e'('0),
          dropped: 1'b0,
          module_id: beside_side_i.module_id,
          id: beside_side_i.id
      };
    end else if (charge_valid_o) begin
      verdict_o <= unload_verdict;
    end else begin
      verdict_o <= '{
          destinations: '0,
          reason: ReasonXdpQueue,
          dropped: 1'b1,
          module_id: dropped.module_id,
          id: dropped.id
      };
    end
  end

  logic [14:0] rounded_q;
  cost_t beats, bundles_q;
  logic ended_q, ended_dropped_q;
  logic [ModuleBits-1:0] ended_module_q;
  assign beats = (cost_t'(rounded_q) >> $clog2(Bytes)) * cost_t'(Cores);
  always_ff @(posedge clk_i) begin
    ended_q         <= charge_valid_o && rst_ni;
    ended_dropped_q <= unload_verdict.dropped;
    ended_module_q  <= unload_verdict.module_id;
    rounded_q       <= 15'(core_length_i[core]) + 15'(Bytes - 1);
    bundles_q       <= core_cost_i[core];
    spent_valid_o   <= ended_q && rst_ni;
    spent_module_o  <= ended_module_q;
    spent_o         <= (!ended_dropped_q && beats > bundles_q) ? beats : bundles_q;
  end

  logic [3:0] copies;
  assign copies = count_ones(verdict_o.destinations);
  assign event_valid_o = verdict_valid_o && (verdict_o.dropped || copies > 4'd1);
  assign event_module_o = verdict_o.module_id[ModuleIndexBits-1:0];
  assign event_kind_o = verdict_o.dropped ? xdp_event_e'(verdict_o.reason[2:0]) : XdpEventCopies;
  assign event_amount_o = verdict_o.dropped ? 3'd1 : 3'(copies - 4'd1);

endmodule
