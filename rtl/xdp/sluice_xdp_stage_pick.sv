/// First stage of a core: whose bundle is next, a context's in turns or a packet's for a free one.
///
/// A context is ready again before it is known whether its bundle stops it; then the memory stage takes it back. Meanwhile nobody picks one that may be
/// stopped (`may_stop`): the pick would be lost. One that waits for its flow's section (`held`) is ready again when that is free
/// (`flow_waits_i`, by slot).
///
/// A late result that is sure to be written in the next cycle (`done_woken_i`) makes its context ready at once: its next bundle reads registers behind that.
///
/// Latency: 1 cycle. Throughput: a pick a cycle. With `hold_i` nobody is picked.
module sluice_xdp_stage_pick
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    parameter int unsigned Slots = 16,
    localparam int unsigned ContextBits = $clog2(Contexts),
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic hold_i,

    input  logic                   start_valid_i,
    output logic                   start_ready_o,
    input  logic [   SlotBits-1:0] start_slot_i,
    output logic                   start_take_o,
    output logic [ContextBits-1:0] free_context_o,

    // Behind the second stage, and behind the memory stage.
    input logic                           second_valid_i,
    input logic         [ContextBits-1:0] second_context_i,
    input logic                           memory_valid_i,
    // "Bits of signal are not used": whether its context goes on.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_decided_t                   decided_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic         [ContextBits-1:0] memory_context_i,

    // Slots whose packets' sections are others'.
    input logic [Slots-1:0] flow_waits_i,

    // A unit has answered: its result is still to be written, or its bundle has another pass. What comes late is done (`late_i`), and may end its packet,
    // or its context was ready before.
    input logic                        done_valid_i,
    input logic                        done_late_i,
    input logic                        done_woken_i,
    input logic                        done_again_i,
    input logic      [ContextBits-1:0] done_context_i,
    // "Bits of signal are not used": what becomes of the context.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_late_t                   late_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic      [ContextBits-1:0] late_context_i,

    output xdp_picked_t                   bundle_o,
    output logic        [ContextBits-1:0] context_o,
    // Whether its unit has answered.
    output logic                          resume_o,

    output logic idle_o
);

  typedef logic [ContextBits-1:0] context_t;

  logic [Contexts-1:0] used_q, ready_q, resume_q, held_q, wakes;
  logic [Contexts-1:0][SlotBits-1:0] slot_q;
  logic pick_valid, free_valid, behind_valid;
  context_t pick_context, behind_context, first_context;
  logic [Contexts-1:0] unused_behind_onehot, unused_first_onehot, unused_free_onehot;

  logic [Contexts-1:0] goes;
  always_comb begin
    goes = ready_q;
    if (decided_i.may_stop) goes[memory_context_i] = 1'b0;
  end

  // In turns: the first ready one behind the last that was picked, else the first of all.
  logic [Contexts-1:0] behind_q;
  sluice_prio_enc #(
      .Width(Contexts)
  ) u_behind (
      .req_i   (goes & behind_q),
      .valid_o (behind_valid),
      .index_o (behind_context),
      .onehot_o(unused_behind_onehot)
  );
  sluice_prio_enc #(
      .Width(Contexts)
  ) u_first (
      .req_i   (goes),
      .valid_o (pick_valid),
      .index_o (first_context),
      .onehot_o(unused_first_onehot)
  );
  assign pick_context = behind_valid ? behind_context : first_context;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      behind_q <= '0;
    end else if (!hold_i && !start_take_o && pick_valid) begin
      for (int unsigned c = 0; c < Contexts; c++) behind_q[c] <= c > 32'(pick_context);
    end
  end

  sluice_prio_enc #(
      .Width(Contexts)
  ) u_free (
      .req_i   (~used_q),
      .valid_o (free_valid),
      .index_o (free_context_o),
      .onehot_o(unused_free_onehot)
  );

  always_comb for (int unsigned c = 0; c < Contexts; c++) wakes[c] = held_q[c] && !flow_waits_i[slot_q[c]];
  always_ff @(posedge clk_i) begin
    if (!rst_ni) held_q <= '0;
    else begin
      held_q <= held_q & ~wakes;
      if (decided_i.held) held_q[memory_context_i] <= 1'b1;
    end
    if (start_take_o) slot_q[free_context_o] <= start_slot_i;
  end

  assign start_ready_o = free_valid && !hold_i;
  assign start_take_o = start_valid_i && start_ready_o;
  assign idle_o = used_q == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      used_q   <= '0;
      ready_q  <= '0;
      resume_q <= '0;
    end else begin
      if (start_take_o) used_q[free_context_o] <= 1'b1;
      if (!hold_i && !start_take_o && pick_valid) ready_q[pick_context] <= 1'b0;
      // Before it is known whether the bundle stops its context; if so the memory stage takes it back.
      if (second_valid_i) ready_q[second_context_i] <= 1'b1;
      if (memory_valid_i) resume_q[memory_context_i] <= 1'b0;
      if (decided_i.stops) begin
        ready_q[memory_context_i] <= 1'b0;
        if (decided_i.ends) used_q[memory_context_i] <= 1'b0;
      end
      // What is written late comes first.
      if (done_valid_i && (!done_late_i || done_woken_i)) begin
        ready_q[done_context_i]  <= 1'b1;
        resume_q[done_context_i] <= done_again_i;
      end
      if (late_i.valid && !late_i.ends && !late_i.woken) ready_q[late_context_i] <= 1'b1;
      if (late_i.valid && late_i.ends) used_q[late_context_i] <= 1'b0;
      for (int unsigned c = 0; c < Contexts; c++) if (wakes[c]) ready_q[c] <= 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) bundle_o.valid <= 1'b0;
    else bundle_o.valid <= !hold_i && (start_take_o || pick_valid);
    bundle_o.start <= start_take_o;
    context_o      <= start_take_o ? free_context_o : pick_context;
  end
  assign resume_o = resume_q[context_o];

`ifndef SYNTHESIS
  WhoIsStoppedMayBe_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !decided_i.stops || decided_i.may_stop);
  OnlyUsedContextsEnd_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !decided_i.ends || used_q[memory_context_i]);
`endif

endmodule
