/// In which order accesses to values outside are done: those to one line of the cache one after the other, as they came; others as they can.
///
/// Each asker has one access at a time. It enters, is told to start (`start_o`) when nobody is before it who shares a line with it, and leaves when it is done:
/// two may leave at a time, a load in the cycle in which it has found its line (`found_*`), others when they have written theirs (`leave_*`).
/// The key is where its line lies in the cache: so who shares a line, or its place in the cache, shares a key. An access that goes over a line's end
/// (`enter_crosses_i`) shares a line with all of its block of 8 lines, which no access leaves.
///
/// Latency: `start_o` in the cycle in which it enters, or in which the last one before it leaves. Throughput: one in and two out a cycle. Never stalls.
module sluice_xdp_outside_order #(
    parameter int unsigned Askers = 20,
    parameter int unsigned KeyBits = 12,
    localparam int unsigned AskerBits = $clog2(Askers)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                 enter_valid_i,
    input logic [AskerBits-1:0] enter_asker_i,
    input logic [  KeyBits-1:0] enter_key_i,
    input logic                 enter_crosses_i,
    input logic                 found_valid_i,
    input logic [AskerBits-1:0] found_asker_i,
    input logic                 leave_valid_i,
    input logic [AskerBits-1:0] leave_asker_i,

    output logic [Askers-1:0] start_o,
    output logic [Askers-1:0] busy_o,
    output logic              followed_o  // somebody waits for one that leaves
);

  localparam int unsigned LineBits = 3;

  typedef logic [Askers-1:0] set_t;

  // Who is there; who has not started; for whom each waits.
  set_t busy_q, held_q, crosses_q, enters, leaves, shares;
  logic [Askers-1:0][KeyBits-1:0] key_q;
  set_t [Askers-1:0] ahead_q;

  always_comb begin
    followed_o = 1'b0;
    for (int unsigned a = 0; a < Askers; a++) begin
      enters[a] = enter_valid_i && enter_asker_i == AskerBits'(a);
      leaves[a] = (leave_valid_i && leave_asker_i == AskerBits'(a)) || (found_valid_i && found_asker_i == AskerBits'(a));
    end
    for (int unsigned a = 0; a < Askers; a++) begin
      shares[a] = busy_q[a] && !leaves[a] && key_q[a][KeyBits-1:LineBits] == enter_key_i[KeyBits-1:LineBits] &&
          (key_q[a][LineBits-1:0] == enter_key_i[LineBits-1:0] || crosses_q[a] || enter_crosses_i);
    end
    for (int unsigned a = 0; a < Askers; a++) begin
      start_o[a] = enters[a] ? shares == '0 : held_q[a] && (ahead_q[a] & ~leaves) == '0;
      if (held_q[a] && (ahead_q[a] & leaves) != '0) followed_o = 1'b1;
    end
  end
  assign busy_o = busy_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= '0;
      held_q <= '0;
    end else begin
      busy_q <= (busy_q & ~leaves) | enters;
      held_q <= (held_q | enters) & ~start_o;
    end
    for (int unsigned a = 0; a < Askers; a++) begin
      ahead_q[a] <= ahead_q[a] & ~leaves;
      if (enters[a]) begin
        ahead_q[a]   <= shares;
        key_q[a]     <= enter_key_i;
        crosses_q[a] <= enter_crosses_i;
      end
    end
  end

`ifndef SYNTHESIS
  OneAccessAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !enter_valid_i || !busy_q[enter_asker_i]);
  WhoLeavesHasStarted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !leave_valid_i || (busy_q[leave_asker_i] && !held_q[leave_asker_i]));
  WhoFindsHasStarted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !found_valid_i || (busy_q[found_asker_i] && !held_q[found_asker_i]));
`endif

endmodule
