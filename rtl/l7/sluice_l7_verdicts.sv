/// Verdicts of a matcher's messages. A message has one when its goal is settled and the walk over its fields is over.
///
/// A message that leaves the loop for a queue or a drop has its verdict in the cycle behind, if the walk is over, the register
/// is free and nobody waits. Others wait for their turn. A verdict that leaves for the register frees its place.
///
/// Latency: 1 cycle from `direct_i`, 2 from `settle_i` or `over_i`. Throughput: a verdict per cycle. `verdict_valid_o` does not
/// depend on `verdict_ready_i`, and what is offered holds.
module sluice_l7_verdicts
  import sluice_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
#(
    parameter int unsigned Places = 4
) (
    input logic clk_i,
    input logic rst_ni,

    // The message that is being loaded; its walk is over.
    input place_t                  place_i,
    input logic                    begin_i,
    input logic   [   TagBits-1:0] tag_i,
    input logic   [ModuleBits-1:0] module_i,
    input logic                    over_i,
    input logic                    malformed_i,

    // A message leaves the loop; `direct_i`: it is settled with this.
    input logic        exit_valid_i,
    // "Bits of signal are not used": where it goes comes from sluice_l7_goal.
    // verilator lint_off UNUSEDSIGNAL
    input l7_exit_t    exit_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic        direct_i,
    input l7_settled_t direct_goal_i,

    // Results by place, from the cycle behind `settle_i` on.
    input logic        [Places-1:0] settle_i,
    input l7_settled_t [Places-1:0] goals_i,

    output logic [Places-1:0] release_o,

    output logic        verdict_valid_o,
    input  logic        verdict_ready_i,
    output l7_verdict_t verdict_o
);

  localparam int unsigned PlaceIndexBits = (Places > 1) ? $clog2(Places) : 1;

  typedef struct packed {
    logic [TagBits-1:0] tag;
    logic [ModuleBits-1:0] module_id;
  } name_t;

  logic [Places-1:0] settled_q, over_q, malformed_q, ready, turn, mine, leaves;
  logic [Places-1:0][StepBits-1:0] steps_q;
  logic [PlaceIndexBits-1:0] turn_index, index;
  logic free, waits, direct;
  name_t name;
  l7_settled_t goal;

  assign ready = settled_q & over_q;
  assign free  = !verdict_valid_o || verdict_ready_i;

  // In turn, beginning behind the place that was last. Nothing holds here: who is chosen leaves in the same cycle.
  logic [Places-1:0] behind_q, behind_turn, ahead, offered;
  assign waits   = |ready;
  assign ahead   = ready & behind_q;
  assign offered = (|ahead) ? ahead : ready;
  always_comb begin
    turn_index = '0;
    for (int unsigned p = 0; p < Places; p++) begin
      turn[p] = offered[p] && (offered & Places'((1 << p) - 1)) == '0;
      if (turn[p]) turn_index |= PlaceIndexBits'(p);
      behind_turn[p] = |(turn & Places'((1 << p) - 1));
    end
  end

  for (genvar p = 0; p < int'(Places); p++) begin : gen_place
    assign mine[p]   = place_i == place_t'(p);
    assign leaves[p] = exit_i.place == place_t'(p);
  end
  assign direct = direct_i && !waits && |(leaves & over_q);
  assign release_o = !free ? '0 : waits ? turn : direct ? leaves : '0;
  assign index = waits ? turn_index : PlaceIndexBits'(exit_i.place);
  assign goal = waits ? goals_i[turn_index] : direct_goal_i;

  sluice_ram_lut #(
      .Width($bits(name_t)),
      .Depth(Places),
      .InitZero(1'b0)
  ) u_names (
      .clk_i(clk_i),
      .we_i(begin_i),
      .waddr_i(PlaceIndexBits'(place_i)),
      .wdata_i({tag_i, module_i}),
      .raddr_i(index),
      .rdata_o(name)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      settled_q <= '0;
      over_q <= '0;
      verdict_valid_o <= 1'b0;
      behind_q <= '0;
    end else begin
      if (free && waits) behind_q <= behind_turn;
      settled_q <= (settled_q | settle_i) & ~release_o;
      over_q <= (over_q & ~release_o) | (over_i ? mine : '0);
      if (free) verdict_valid_o <= waits || direct;
    end
  end

  always_ff @(posedge clk_i) begin
    for (int unsigned p = 0; p < Places; p++) begin
      if (mine[p] && over_i) malformed_q[p] <= malformed_i;
      if (exit_valid_i && leaves[p]) steps_q[p] <= exit_i.hashed ? steps_q[p] + exit_i.steps : exit_i.steps;
    end
    if (free) begin
      verdict_o <= '{
          tag: name.tag,
          module_id: name.module_id,
          malformed: malformed_q[index],
          fault: goal.fault,
          drop: goal.drop,
          queue_id: goal.queue_id,
          steps: 10'(waits ? steps_q[turn_index] : exit_i.steps)
      };
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      NobodySettlesTwice_A : assert ((settle_i & settled_q) == '0);
      NobodyIsWalkedOverTwice_A : assert (!over_i || (mine & over_q) == '0);
    end
  end
`endif

endmodule
