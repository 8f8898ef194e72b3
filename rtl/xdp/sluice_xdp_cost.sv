/// What a packet costs: its bundles, once more each that has two passes or launches what comes late, and the cycles of the map engine and what a lock's
/// wait counts, with the pass behind them. Being sent back costs nothing.
///
/// Latency: none. Throughput: a pass a cycle. Never stalls.
module sluice_xdp_cost
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                     valid_i,
    input  logic                     start_i,
    input  logic                     retries_i,
    input  logic                     late_i,     // it has launched what comes late
    input  logic   [ContextBits-1:0] context_i,
    input  steps_t                   before_i,   // what its packet has cost before its start
    output cost_t                    cost_o,     // with this pass

    // Steps of a unit that has answered.
    input logic                     steps_valid_i,
    input steps_t                   steps_i,
    input logic   [ContextBits-1:0] steps_context_i
);

  cost_t cost, earlier;
  steps_t steps;
  logic [CostBits:0] sum;
  logic [1:0] passes;
  logic [Contexts-1:0] stepped_q;

  assign earlier = start_i ? cost_t'(before_i) : cost;
  // What a bundle launches late holds its context for as long again.
  assign passes = retries_i ? 2'd0 : late_i ? 2'd2 : 2'd1;
  assign sum = {1'b0, earlier} + (stepped_q[context_i] ? (CostBits + 1)'(steps) : '0) + (CostBits + 1)'(passes);
  assign cost_o = sum[CostBits] ? '1 : sum[CostBits-1:0];

  // A context has no pass between its operation's launch and its answer.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      stepped_q <= '0;
    end else begin
      if (valid_i) stepped_q[context_i] <= 1'b0;
      if (steps_valid_i) stepped_q[steps_context_i] <= 1'b1;
    end
  end

  sluice_ram_lut #(
      .Width(StepBits),
      .Depth(Contexts)
  ) u_steps (
      .clk_i,
      .we_i   (steps_valid_i),
      .waddr_i(steps_context_i),
      .wdata_i(steps_i),
      .raddr_i(context_i),
      .rdata_o(steps)
  );

  sluice_ram_lut #(
      .Width(CostBits),
      .Depth(Contexts)
  ) u_cost (
      .clk_i,
      .we_i   (valid_i),
      .waddr_i(context_i),
      .wdata_i(cost_o),
      .raddr_i(context_i),
      .rdata_o(cost)
  );

endmodule
