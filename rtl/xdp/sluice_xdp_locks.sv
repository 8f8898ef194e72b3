/// Spin locks in values of maps: who holds one, and who waits (docs/design/hxdp-core.md, "Locks").
///
/// `ask_*` is a context that wants the lock at `ask_place_i`, or gives it back; values have judged whether there is one. Each is answered once. A
/// context that waits has no answer until the lock is its own. Contexts get a lock in the order in which they asked: each waits for the one that
/// asked for it last before, until that one has left it. A packet's end (`free_*`) gives back what its context holds.
///
/// A context that holds a lock and asks for one, or gives one back that it does not hold, is told a fault (`misused`). A wait counts as a step for
/// each 4 cycles, about what a bundle takes of a context.
///
/// Latency: 2 cycles where nobody is before, 3 behind the one that leaves. Throughput: an ask a cycle. Stall behaviour: answers hold until taken;
/// asks never wait, for each context has its own place here.
module sluice_xdp_locks
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Cores = 2,
    parameter int unsigned Contexts = 8,
    parameter int unsigned PlaceBits = 18,
    localparam int unsigned ContextBits = $clog2(Contexts),
    localparam int unsigned Processors = Cores * Contexts,
    localparam int unsigned ProcessorBits = $clog2(Processors)
) (
    input logic clk_i,
    input logic rst_ni,

    // "Bits of signal are not used": a wait is told up to what steps hold.
    // verilator lint_off UNUSEDSIGNAL
    input logic [ClockBits-1:0] now_i,
    // verilator lint_on UNUSEDSIGNAL

    input logic                     ask_valid_i,
    input logic [ProcessorBits-1:0] ask_context_i,
    input logic [    PlaceBits-1:0] ask_place_i,
    input logic                     ask_unlocks_i,
    input logic                     ask_fault_i,

    input logic [Cores-1:0]                  free_valid_i,
    input logic [Cores-1:0][ContextBits-1:0] free_context_i,

    output logic             [Cores-1:0]                  answer_valid_o,
    input  logic             [Cores-1:0]                  answer_ready_i,
    output logic             [Cores-1:0][ContextBits-1:0] answer_context_o,
    output xdp_lock_answer_t [Cores-1:0]                  answer_o
);

  // Cycles of a step, as a power of two; cycles of a wait that are told.
  localparam int unsigned StepShift = 2;
  localparam int unsigned WaitBits = StepBits + StepShift + 1;

  typedef logic [Processors-1:0] set_t;
  typedef logic [ProcessorBits-1:0] processor_t;

  set_t waits_q, holds_q, answers_q, fault_q, misused_q, waited_q;
  // Who waits for another one, and who is waited for. Of those of a lock one is last.
  set_t behind_q, followed_q;
  set_t leaves, granted, same, taken, last;
  processor_t [Processors-1:0] before_q;
  processor_t follows;
  logic [Processors-1:0][PlaceBits-1:0] place_q;
  logic own, enters, gives_back;

  always_comb begin
    for (int unsigned p = 0; p < Processors; p++) same[p] = place_q[p] == ask_place_i;
  end
  assign own = holds_q[ask_context_i] && same[ask_context_i];
  assign enters = ask_valid_i && !ask_unlocks_i && !ask_fault_i && !holds_q[ask_context_i];
  assign gives_back = ask_valid_i && ask_unlocks_i && !ask_fault_i && own;

  // Who leaves its lock in this cycle, and who gets one.
  always_comb begin
    leaves = '0;
    for (int unsigned c = 0; c < Cores; c++) begin
      for (int unsigned i = 0; i < Contexts; i++) begin
        if (free_valid_i[c] && 32'(free_context_i[c]) == i) leaves[c*Contexts+i] = 1'b1;
      end
    end
    if (gives_back) leaves[ask_context_i] = 1'b1;
    granted = waits_q & ~behind_q;
  end

  // Who asks waits for the last one of the lock, unless that one leaves it now.
  assign last = (waits_q | holds_q) & same & ~followed_q & ~leaves;
  always_comb begin
    follows = '0;
    for (int unsigned p = 0; p < Processors; p++) if (last[p]) follows |= processor_t'(p);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waits_q   <= '0;
      holds_q   <= '0;
      answers_q <= '0;
    end else begin
      waits_q   <= waits_q & ~granted;
      holds_q   <= (holds_q | granted) & ~leaves;
      answers_q <= (answers_q & ~taken) | granted;
      if (enters) waits_q[ask_context_i] <= 1'b1;
      else if (ask_valid_i) answers_q[ask_context_i] <= 1'b1;
    end
    for (int unsigned p = 0; p < Processors; p++) begin
      if (leaves[before_q[p]]) behind_q[p] <= 1'b0;
    end
    if (enters && last != '0) followed_q[follows] <= 1'b1;
    if (ask_valid_i) begin
      fault_q[ask_context_i]   <= ask_fault_i || (ask_unlocks_i ? !own : holds_q[ask_context_i]);
      misused_q[ask_context_i] <= !ask_fault_i;
      waited_q[ask_context_i]  <= enters;
    end
    if (enters) begin
      place_q[ask_context_i]    <= ask_place_i;
      before_q[ask_context_i]   <= follows;
      behind_q[ask_context_i]   <= last != '0;
      followed_q[ask_context_i] <= 1'b0;
    end
  end

  // When each has asked.
  processor_t [Cores-1:0] processor;
  logic [Cores-1:0][WaitBits-1:0] since;
  sluice_ram_lut #(
      .Width    (WaitBits),
      .Depth    (Processors),
      .ReadPorts(Cores)
  ) u_since (
      .clk_i,
      .we_i   (ask_valid_i),
      .waddr_i(ask_context_i),
      .wdata_i(now_i[WaitBits-1:0]),
      .raddr_i(processor),
      .rdata_o(since)
  );

  // Answers, of the lowest context of each core first: each context has one at most, and asks again only behind it.
  for (genvar c = 0; c < int'(Cores); c++) begin : gen_answer
    logic [Contexts-1:0] onehot;
    logic found, advance;
    logic [ContextBits-1:0] context_found;
    sluice_prio_enc #(
        .Width(Contexts)
    ) u_first (
        .req_i   (answers_q[c*Contexts+:Contexts]),
        .valid_o (found),
        .index_o (context_found),
        .onehot_o(onehot)
    );
    assign processor[c] = processor_t'(c * Contexts) + processor_t'(context_found);
    assign taken[c*Contexts+:Contexts] = advance ? onehot : '0;
    // In a register: whoever is answered is picked by the core in the same cycle.
    assign advance = !answer_valid_o[c] || answer_ready_i[c];
    always_ff @(posedge clk_i) begin
      if (!rst_ni) answer_valid_o[c] <= 1'b0;
      else if (advance) answer_valid_o[c] <= found;
      if (advance) begin
        answer_context_o[c] <= context_found;
        answer_o[c] <= '{
            fault: fault_q[processor[c]],
            misused: fault_q[processor[c]] && misused_q[processor[c]],
            steps: waited_q[processor[c]] ? StepBits'(WaitBits'(now_i[WaitBits-1:0] - since[c]) >> StepShift) : '0
        };
      end
    end
  end

`ifndef SYNTHESIS
  for (genvar p = 0; p < int'(Processors); p++) begin : gen_claims
    for (genvar r = 0; r < p; r++) begin : gen_others
      OneHolderOfALock_A :
      assert property (@(posedge clk_i) disable iff (!rst_ni) !(holds_q[p] && holds_q[r] && place_q[p] == place_q[r]));
    end
    NobodyWaitsForItself_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !(waits_q[p] && behind_q[p] && 32'(before_q[p]) == p));
    OneIsWaitedForByOne_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !(waits_q[p] && behind_q[p]) || followed_q[before_q[p]]);
    NobodyAsksTwice_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !(ask_valid_i && 32'(ask_context_i) == p && (waits_q[p] || answers_q[p])));
  end
`endif

endmodule
