/// Proof about sluice_arb_rr: grants are one-hot, to requesters only, hold until used, and nobody starves.
///
/// By k-induction, for runs of any length, with resets at any time. One requester is chosen
/// at the first reset: what holds for any one holds for all.
module arb_rr #(
    parameter  int unsigned Requests   = 4,
    localparam int unsigned IndexWidth = (Requests > 1) ? $clog2(Requests) : 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [IndexWidth-1:0] choose_i,
    input logic [Requests-1:0] req_i,
    input logic advance_i
);

  logic [Requests-1:0] grant;
  logic [IndexWidth-1:0] index;
  logic valid;

  sluice_arb_rr #(
      .Requests(Requests)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .req_i,
      .advance_i,
      .grant_o(grant),
      .index_o(index),
      .valid_o(valid)
  );

  logic init_q = 1'b1;
  logic [IndexWidth-1:0] chosen_q;
  // Uses by others since the chosen one requests.
  logic [IndexWidth+1:0] waited_q;
  logic unused_q;
  logic [Requests-1:0] grant_q;

  always_comb if (init_q) assume (!rst_ni && choose_i < Requests);

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) chosen_q <= choose_i;
    if (!rst_ni || !req_i[chosen_q] || (grant[chosen_q] && advance_i)) waited_q <= '0;
    else if (valid && advance_i) waited_q <= waited_q + 1'b1;
    unused_q <= rst_ni && valid && !advance_i;
    grant_q  <= grant;
  end

  GrantIsOnehot_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(grant));
  GrantWheneverRequested_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) valid == |req_i && valid == |grant);
  OnlyRequestersAreGranted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (grant & ~req_i) == '0);
  IndexNamesTheGrant_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid || (index < Requests && grant[index]));
  UnusedGrantHolds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !unused_q || (req_i & grant_q) == '0 || grant == grant_q);
  NobodyStarves_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) waited_q < Requests);
  ThenItIsGranted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) waited_q != Requests - 1 || !req_i[chosen_q] ||
                                                          grant[chosen_q]);

  // Strengthening for the induction: each use by another brings the search nearer to the chosen one.
  logic [IndexWidth+1:0] first, distance;

  if (Requests <= 4) begin : gen_few
    assign first = (IndexWidth + 2)'(u_dut.gen_few.start_q);

    FirstIsInRange_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) first < Requests);
    UnusedGrantIsFirst_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !unused_q || grant_q == Requests'(1) << first);
  end else begin : gen_many
    logic [Requests-1:0] first_q;
    assign first_q = u_dut.gen_many.first_q;
    always_comb begin
      first = '0;
      for (int unsigned i = 0; i < Requests; i++) first = first + (IndexWidth + 2)'(!first_q[i]);
      if (first == (IndexWidth + 2)'(Requests)) first = '0;
    end

    FirstIsAThermometer_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) (~first_q & (~first_q + 1'b1)) == '0);
    UnusedGrantIsFirst_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !unused_q || ($onehot(
        grant_q
    ) && first_q == ~(grant_q - 1'b1)));
  end

  always_comb begin
    distance = (IndexWidth + 2)'(chosen_q) - first;
    if ((IndexWidth + 2)'(chosen_q) < first) distance = distance + (IndexWidth + 2)'(Requests);
  end

  ChosenIsInRange_A :
  assert property (@(posedge clk_i) init_q || chosen_q < Requests);
  WaitingBringsItNearer_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) waited_q + distance < Requests);
endmodule
