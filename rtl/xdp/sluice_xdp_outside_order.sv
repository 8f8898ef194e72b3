/// In which order accesses to values outside are done: those with one key one after the other, as they came; others as they can.
///
/// Each asker has one access at a time. It enters, is told to start (`start_o`) when nobody of its key is before it, and leaves when it is done.
/// The key is where its block of 512 bytes lies in the cache: so who shares a value, or a line of the cache, shares a key.
///
/// Latency: `start_o` in the cycle in which it enters, or in which the one before leaves. Throughput: one in and one out a cycle. Never stalls.
module sluice_xdp_outside_order #(
    parameter int unsigned Askers = 20,
    parameter int unsigned KeyBits = 9,
    localparam int unsigned AskerBits = $clog2(Askers)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                 enter_valid_i,
    input logic [AskerBits-1:0] enter_asker_i,
    input logic [  KeyBits-1:0] enter_key_i,
    input logic                 leave_valid_i,
    input logic [AskerBits-1:0] leave_asker_i,

    output logic [Askers-1:0] start_o,
    output logic [Askers-1:0] busy_o
);

  typedef logic [Askers-1:0] set_t;

  // The last one of its key; one that somebody follows.
  set_t busy_q, last_q, followed_q, enters, leaves, same, ahead;
  logic [Askers-1:0][KeyBits-1:0] key_q;
  logic [AskerBits-1:0] ahead_index, follower;
  logic behind;

  always_comb begin
    for (int unsigned a = 0; a < Askers; a++) begin
      enters[a] = enter_valid_i && enter_asker_i == AskerBits'(a);
      leaves[a] = leave_valid_i && leave_asker_i == AskerBits'(a);
      same[a]   = busy_q[a] && last_q[a] && key_q[a] == enter_key_i && !leaves[a];
    end
  end

  sluice_prio_enc #(
      .Width(Askers)
  ) u_ahead (
      .req_i   (same),
      .valid_o (behind),
      .index_o (ahead_index),
      .onehot_o(ahead)
  );

  sluice_ram_lut #(
      .Width(AskerBits),
      .Depth(Askers)
  ) u_follower (
      .clk_i,
      .we_i   (enter_valid_i && behind),
      .waddr_i(ahead_index),
      .wdata_i(enter_asker_i),
      .raddr_i(leave_asker_i),
      .rdata_o(follower)
  );

  always_comb begin
    start_o = behind ? '0 : enters;
    for (int unsigned a = 0; a < Askers; a++) begin
      if (leave_valid_i && followed_q[leave_asker_i] && follower == AskerBits'(a)) start_o[a] = 1'b1;
    end
  end
  assign busy_o = busy_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q <= '0;
    end else begin
      busy_q <= (busy_q & ~leaves) | enters;
    end
    last_q <= (last_q & ~(enter_valid_i ? ahead : '0)) | enters;
    followed_q <= (followed_q & ~enters) | (enter_valid_i ? ahead : '0);
    for (int unsigned a = 0; a < Askers; a++) if (enters[a]) key_q[a] <= enter_key_i;
  end

`ifndef SYNTHESIS
  OneAccessAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !enter_valid_i || !busy_q[enter_asker_i]);
  OneIsTheLastOfItsKey_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !enter_valid_i || $onehot0(same));
`endif

endmodule
