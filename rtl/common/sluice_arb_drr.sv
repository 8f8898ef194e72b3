/// Deficit round-robin arbiter: shares by cost, whole decisions only.
///
/// After Shreedhar and Varghese, "Efficient fair queueing using deficit round robin", with
/// overdraft: a decision needs a positive balance, not one that covers its cost, so the cost
/// may come late.
///
/// Each requester has a balance, zero after reset. In each cycle without `hold_i`:
///   - The holder of the turn keeps the grant while it requests and its balance is positive.
///   - Otherwise the turn passes to the next requester in cyclic order (the old holder comes
///     last); its balance rises by `Quantum`. Requesters whose balance stays at or below zero
///     even then are passed over: they keep the `Quantum` and wait for the next round.
///   - If all requesters would be passed over, each gets its `Quantum` and nobody is granted
///     in this cycle. A sole requester is granted all the same, its balance set to `Quantum`.
/// A requester that does not request loses a positive balance and keeps its debt.
///
/// `hold_i` says that a decision of an earlier cycle is still in progress: the grant is that
/// of the cycle before, whatever is requested. Rounds in which nobody can be granted also
/// pass while `hold_i` is high.
///
/// `charge_i` takes `cost_i` from the balance of the requester granted in the same cycle, at
/// any time between the first and the last cycle of its decision; without a grant it is
/// ignored. Until it is charged, a grant holds for as long as it is requested. A debt stops
/// growing where the balance register ends, which is never if what is charged to one decision
/// is at most 2^CostWidth - 1.
///
/// Fairness: with M the largest cost of a decision, the costs charged to two requesters that
/// both request all the time differ by at most Quantum + 2 * (M - 1), over any interval.
/// Bubbles: none with Quantum >= M, nor with a sole requester. Else, while one requester goes on
/// requesting, at most (M - 1) / Quantum (rounded down) cycles in a row are without a grant; in
/// each of them every requester owes at least `Quantum`.
///
/// Latency: 0 cycles from request to grant. Throughput: 1 decision per cycle.
// "Multiple top level modules": rtl/common is a library, and in its list several modules stand alone.
// verilator lint_off MULTITOP
module sluice_arb_drr #(
    // verilator lint_on MULTITOP
    parameter  int unsigned Requests   = 4,
    parameter  int unsigned CostWidth  = 14,
    parameter  int unsigned Quantum    = 1600,
    localparam int unsigned IndexWidth = (Requests > 1) ? $clog2(Requests) : 1
) (
    input  logic                  clk_i,
    input  logic                  rst_ni,
    input  logic [  Requests-1:0] req_i,
    input  logic                  hold_i,
    input  logic                  charge_i,
    input  logic [ CostWidth-1:0] cost_i,
    output logic [  Requests-1:0] grant_o,
    output logic [IndexWidth-1:0] index_o,
    output logic                  valid_o
);

  if (Requests < 1) begin : gen_bad_requests
    $fatal(1, "arb_drr: Requests is %0d, expected at least 1 (%m)", Requests);
  end
  if (CostWidth < 1 || CostWidth > 30) begin : gen_bad_cost_width
    $fatal(1, "arb_drr: CostWidth is %0d, expected 1 to 30 (%m)", CostWidth);
  end
  if (Quantum < 1 || Quantum >= 2 ** 30) begin : gen_bad_quantum
    $fatal(1, "arb_drr: Quantum is %0d, expected 1 to 2^30 - 1 (%m)", Quantum);
  end

  localparam int unsigned QuantumWidth = $clog2(Quantum + 1);
  localparam int unsigned BalanceWidth = ((QuantumWidth > CostWidth) ? QuantumWidth : CostWidth) + 1;

  typedef logic signed [BalanceWidth-1:0] balance_t;
  typedef logic signed [BalanceWidth:0] wide_balance_t;

  localparam balance_t QuantumBalance = balance_t'(Quantum);
  localparam balance_t LowestBalance = {1'b1, (BalanceWidth - 1)'(0)};

  balance_t balance_q[Requests];
  balance_t balance_d[Requests];
  // With one more Quantum; only used where the balance is not positive, so it cannot overflow.
  balance_t raised   [Requests];
  // After what the turn changes, before the charge.
  balance_t turned   [Requests];

  // The holder of the turn, also after it has ended: the search goes on behind it.
  logic [Requests-1:0] holder_q;
  logic [IndexWidth-1:0] holder_index_q;
  logic [Requests-1:0] behind_holder;

  logic [Requests-1:0] positive, eligible, ahead, next, below_next, passed_over;
  logic [IndexWidth-1:0] next_index;
  logic next_valid, found, sole, keep, start, idle_round;

  for (genvar i = 0; i < int'(Requests); i++) begin : gen_sign
    assign positive[i] = balance_q[i] > 0;
    assign raised[i]   = balance_q[i] + QuantumBalance;
    assign eligible[i] = req_i[i] && (positive[i] || raised[i] > 0);
  end

  assign keep = |(holder_q & req_i & positive);
  assign sole = (req_i & (req_i - 1'b1)) == '0 && |req_i;
  assign found = |eligible;

  assign behind_holder = ~(holder_q | (holder_q - 1'b1));
  assign ahead = (found ? eligible : req_i) & behind_holder;

  sluice_prio_enc #(
      .Width(Requests)
  ) u_next (
      .req_i   ((|ahead) ? ahead : (found ? eligible : req_i)),
      .valid_o (next_valid),
      .index_o (next_index),
      .onehot_o(next)
  );

  assign start = !hold_i && !keep && next_valid && (found || sole);
  assign idle_round = !keep && !found && !start;

  assign below_next = next - 1'b1;
  assign passed_over = req_i & ~eligible & ((|ahead) ? behind_holder & below_next : behind_holder | below_next);

  assign valid_o = hold_i || keep || start;
  assign grant_o = start ? next : (hold_i || keep) ? holder_q : '0;
  assign index_o = start ? next_index : holder_index_q;

  for (genvar i = 0; i < int'(Requests); i++) begin : gen_turned
    always_comb begin
      turned[i] = balance_q[i];
      if (start && next[i]) begin
        turned[i] = found ? raised[i] : QuantumBalance;
      end else if ((start && passed_over[i]) || (idle_round && req_i[i])) begin
        turned[i] = raised[i];
      end else if (positive[i] && !req_i[i] && !(hold_i && holder_q[i])) begin
        turned[i] = '0;
      end
    end
  end

  balance_t granted;
  wide_balance_t charged;
  balance_t charged_limited;

  always_comb begin
    granted = '0;
    for (int unsigned i = 0; i < Requests; i++) begin
      if (grant_o[i]) granted |= turned[i];
    end
    charged = wide_balance_t'(granted) - wide_balance_t'({1'b0, cost_i});
    charged_limited = (charged < wide_balance_t'(LowestBalance)) ? LowestBalance : charged[BalanceWidth-1:0];
    for (int unsigned i = 0; i < Requests; i++) begin
      balance_d[i] = (charge_i && grant_o[i]) ? charged_limited : turned[i];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < Requests; i++) balance_q[i] <= '0;
      // As if the last one had just had its turn, so that the first search starts at 0.
      holder_q       <= {1'b1, {Requests - 1{1'b0}}};
      holder_index_q <= IndexWidth'(Requests - 1);
    end else begin
      for (int unsigned i = 0; i < Requests; i++) balance_q[i] <= balance_d[i];
      if (start) begin
        holder_q       <= next;
        holder_index_q <= next_index;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      GrantIsOnehot_A :
      assert ($onehot0(grant_o) && valid_o == |grant_o)
      else $error("arb_drr: grant %b, valid %b (%m)", grant_o, valid_o);
      OnlyRequestersAreGranted_A :
      assert (hold_i || (grant_o & ~req_i) == '0)
      else $error("arb_drr: grant %b for requests %b (%m)", grant_o, req_i);
      IndexNamesTheGrant_A :
      assert (!valid_o || grant_o[index_o])
      else $error("arb_drr: index %0d for grant %b (%m)", index_o, grant_o);
      OnlyTheHolderHasCredit_A :
      assert ((positive & ~holder_q) == '0)
      else $error("arb_drr: credit %b outside of the turn of %b (%m)", positive, holder_q);
    end
  end

  HoldContinuesADecision_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !hold_i || $past(rst_ni && valid_o))
  else $error("arb_drr: hold_i without a grant in the cycle before (%m)");
  HeldGrantIsStable_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !hold_i || grant_o == $past(grant_o))
  else $error("arb_drr: a held grant moved to %b (%m)", grant_o);
  UnchargedGrantHolds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(
      rst_ni && valid_o && !hold_i && !charge_i
  ) || grant_o == $past(
      grant_o
  ) || (req_i & $past(
      grant_o
  )) == '0)
  else $error("arb_drr: an uncharged grant moved to %b (%m)", grant_o);
`endif

endmodule
