/// Proof about sluice_arb_drr: grants are one-hot and hold, shares differ by Quantum + 2 (M - 1) at most.
///
/// By k-induction, for runs of any length, with resets at any time, for decisions charged once
/// at any moment. Two requesters are chosen at the first reset: what holds for any holds for all.
module arb_drr #(
    parameter  int unsigned Requests   = 3,
    parameter  int unsigned CostWidth  = 3,
    parameter  int unsigned Quantum    = 5,
    localparam int unsigned IndexWidth = (Requests > 1) ? $clog2(Requests) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [IndexWidth-1:0] choose_i,
    input logic [IndexWidth-1:0] choose_other_i,
    input logic interval_i,
    input logic [Requests-1:0] req_i,
    input logic hold_i,
    input logic charge_i,
    input logic [CostWidth-1:0] cost_i
);

  localparam int Most = 2 ** CostWidth - 1;
  localparam int Bound = int'(Quantum) + 2 * (Most - 1);
  localparam int LongestPause = (Most - 1) / int'(Quantum);

  // Wide enough for any sum below, narrow enough for the solver.
  typedef logic signed [CostWidth+$clog2(Quantum)+3:0] number_t;

  logic [Requests-1:0] grant;
  logic [IndexWidth-1:0] index;
  logic valid;

  sluice_arb_drr #(
      .Requests (Requests),
      .CostWidth(CostWidth),
      .Quantum  (Quantum)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .req_i,
      .hold_i,
      .charge_i,
      .cost_i,
      .grant_o(grant),
      .index_o(index),
      .valid_o(valid)
  );

  logic init_q = 1'b1;
  logic [IndexWidth-1:0] a_q, b_q;
  logic valid_q, charged_q, uncharged_free_q;
  logic [Requests-1:0] grant_q;
  // Since the interval began: both requested all the time; cost of a less cost of b.
  logic interval_q;
  number_t difference_q, difference;
  // Cycles without a grant while a requested.
  number_t pause_q;

  always_comb begin
    if (init_q) assume (!rst_ni && choose_i < Requests && choose_other_i < Requests && choose_i != choose_other_i);
    // A hold continues a decision; a decision is charged once.
    assume (!hold_i || valid_q);
    assume (!charge_i || !(hold_i && charged_q));
  end

  always_comb begin
    difference = interval_q ? difference_q : '0;
    if (charge_i && grant[a_q]) difference = difference + number_t'({1'b0, cost_i});
    if (charge_i && grant[b_q]) difference = difference - number_t'({1'b0, cost_i});
  end

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) begin
      a_q <= choose_i;
      b_q <= choose_other_i;
    end
    valid_q          <= rst_ni && valid;
    charged_q        <= charge_i || (hold_i && charged_q);
    uncharged_free_q <= rst_ni && valid && !hold_i && !charge_i;
    grant_q          <= grant;
    interval_q       <= rst_ni && req_i[a_q] && req_i[b_q] && (interval_q || interval_i);
    difference_q     <= difference;
    pause_q          <= (rst_ni && req_i[a_q] && !valid) ? pause_q + 1'b1 : '0;
  end

  GrantIsOnehot_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(grant) && valid == |grant);
  IndexNamesTheGrant_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid || (index < Requests && grant[index]));
  OnlyRequestersAreGranted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) hold_i || (grant & ~req_i) == '0);
  HeldGrantIsStable_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !hold_i || grant == grant_q);
  UnchargedGrantHolds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !uncharged_free_q || (req_i & grant_q) == '0 ||
                                                          grant == grant_q);
  SoleRequesterIsGranted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$onehot(req_i) || hold_i || grant == req_i);
  PausesAreBounded_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) pause_q <= number_t'(LongestPause));
  SharesDifferByTheBoundAtMost_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !interval_q || (difference_q <= number_t'(Bound) &&
                                                                          difference_q >= -number_t'(Bound)));

  // Strengthening for the induction. `lead` is what a has had more than b, as far as balances and
  // the turn tell: it depends on the present only and stays within half the bound on either side.
  number_t balance_a, balance_b, lead, lead_at_begin_q;
  logic [IndexWidth:0] holder, since_a, since_b;

  always_comb begin
    holder = '0;
    for (int unsigned i = 0; i < Requests; i++) if (u_dut.holder_q[i]) holder = (IndexWidth + 1)'(i);
    since_a = holder - (IndexWidth + 1)'(a_q) + ((holder < (IndexWidth + 1)'(a_q)) ? (IndexWidth + 1)'(Requests) : '0);
    since_b = holder - (IndexWidth + 1)'(b_q) + ((holder < (IndexWidth + 1)'(b_q)) ? (IndexWidth + 1)'(Requests) : '0);
    balance_a = number_t'(u_dut.balance_q[a_q]);
    balance_b = number_t'(u_dut.balance_q[b_q]);
    lead = balance_b - balance_a + ((since_a < since_b) ? number_t'(Quantum) : '0);
  end

  always_ff @(posedge clk_i) if (!interval_q) lead_at_begin_q <= lead;

  ChosenAreInRange_A :
  assert property (@(posedge clk_i) init_q || (a_q < Requests && b_q < Requests && a_q != b_q));
  HolderIsOnehot_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot(
      u_dut.holder_q
  ) && u_dut.holder_q[u_dut.holder_index_q] && u_dut.holder_index_q < Requests);
  for (genvar i = 0; i < int'(Requests); i++) begin : gen_balance
    BalanceIsInRange_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) number_t'(u_dut.balance_q[i]) >= number_t'(1 - Most) &&
        number_t'(u_dut.balance_q[i]) <= (u_dut.holder_q[i] ? number_t'(Quantum) : number_t'(0)));
    UnchargedHolderHasCredit_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_q || charged_q || !u_dut.holder_q[i] ||
        u_dut.balance_q[i] > 0);
  end
  HolderHadTheGrant_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_q || grant_q == u_dut.holder_q);
  UnchargedFreeIsUncharged_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !uncharged_free_q || (valid_q && !charged_q));
  LeadIsInRange_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) lead >= number_t'(1 - Most) &&
                                                          lead <= number_t'(int'(Quantum) + Most - 1));
  LeadAtBeginIsInRange_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !interval_q ||
      (lead_at_begin_q >= number_t'(1 - Most) && lead_at_begin_q <= number_t'(int'(Quantum) + Most - 1)));
  DifferenceIsTheGrowthOfTheLead_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !interval_q || difference_q == lead - lead_at_begin_q);
  PausesPayDebts_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) pause_q == 0 ||
      (pause_q > 0 && balance_a >= number_t'(1 - Most) + pause_q * number_t'(Quantum)));
endmodule
