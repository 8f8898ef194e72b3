/// Proof about sluice_xdp_value_turns: nobody is taken who did not ask, at most one in a cycle, and each gets his turn: a core that asked in vain is passed
/// once by the other one, and engine and helper wait for a bounded time.
///
/// Who asks is free, but engine and helper hold what they ask, and may always store. Values take everything at once, but no store in the two cycles behind an
/// atomic operation. By k-induction, for runs of any length, with resets at any time.
module value_turns #(
    parameter int unsigned Cores = 2,
    parameter int unsigned Patience = 3
) (
    input logic             clk_i,
    input logic             rst_ni,
    input logic             locks_i,
    input logic [Cores-1:0] context_valid_i,
    input logic [Cores-1:0] context_store_i,
    input logic [Cores-1:0] context_atomic_i,
    input logic             engine_valid_i,
    input logic             helper_valid_i
);

  // Cycles behind an atomic operation in which no store is taken.
  localparam int unsigned Pause = 2;
  // Cycles of waiting: contexts go first, then no atomic operation may be before, then the turn comes; the engine may come in the helper's.
  localparam int unsigned EngineWithin = Patience + Pause + 2;
  localparam int unsigned HelperWithin = Patience + Pause + 1;

  // Atomic operations one and two cycles before.
  logic [1:0] atomics_q;
  logic stores;
  assign stores = atomics_q == '0;
  logic [Cores-1:0] context_ready;
  logic engine_ready, helper_ready, valid, is_context, is_engine, is_helper;
  logic [$clog2(Cores)-1:0] context_core;

  sluice_xdp_value_turns #(
      .Cores   (Cores),
      .Patience(Patience),
      .Pause   (5)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .locks_i,
      .stores_i       (stores),
      .context_valid_i,
      .context_store_i,
      .context_atomic_i,
      .context_ready_o(context_ready),
      .engine_valid_i,
      .engine_ready_o (engine_ready),
      .helper_valid_i,
      .helper_ready_o (helper_ready),
      .valid_o        (valid),
      .is_context_o   (is_context),
      .context_core_o (context_core),
      .is_engine_o    (is_engine),
      .is_helper_o    (is_helper)
  );

  logic init_q = 1'b1;
  logic engine_q, helper_q, idle_q;
  // Asked for in vain although it could be taken.
  logic [Cores-1:0] fits;
  logic [7:0] engine_waits_q, helper_waits_q;
  // Times that another core was taken while this one asked.
  logic [Cores-1:0][3:0] passed_q;
  logic [Cores-1:0] taken;
  logic takes_engine, takes_helper;
  assign fits = (stores ? '1 : ~context_store_i) & (u_dut.pause_q == '0 && !u_dut.yields ? '1 : ~context_atomic_i);
  assign takes_engine = engine_valid_i && engine_ready;
  assign takes_helper = helper_valid_i && helper_ready;
  assign taken = context_ready & context_valid_i;

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    engine_q <= rst_ni && engine_valid_i && !engine_ready;
    helper_q <= rst_ni && helper_valid_i && !helper_ready;
    atomics_q <= rst_ni ? {atomics_q[0], (taken & context_atomic_i) != '0} : '0;
    // The engine could be taken, and nobody was.
    idle_q <= rst_ni && engine_valid_i && stores && !valid;
    if (!rst_ni || !engine_valid_i || engine_ready) engine_waits_q <= '0;
    else engine_waits_q <= engine_waits_q + 8'd1;
    // While the engine has values or wants them, the helper waits for it.
    if (!rst_ni || !helper_valid_i || helper_ready || locks_i || engine_valid_i) helper_waits_q <= '0;
    else helper_waits_q <= helper_waits_q + 8'd1;
    for (int unsigned c = 0; c < Cores; c++) begin
      if (!rst_ni || taken[c]) passed_q[c] <= '0;
      else if (context_valid_i[c] && fits[c] && taken != '0) passed_q[c] <= passed_q[c] + 4'd1;
    end
  end

  always_comb begin
    if (init_q) assume (!rst_ni);
    assume (!engine_q || engine_valid_i);
    assume (!helper_q || helper_valid_i);
    assume ((context_store_i & context_atomic_i) == '0);
  end

  OnlyWhoAsksIsTaken_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (context_ready & ~context_valid_i) == '0);
  OneIsTaken_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $countones(
      {context_ready, takes_engine, takes_helper}
  ) == 32'(valid));
  WhatIsTakenIsOffered_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid || (is_context ? context_ready[context_core] :
      is_engine ? takes_engine : is_helper && takes_helper));
  NobodyButTheEngineIsTakenWhileItLocks_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !locks_i || (context_ready == '0 && !helper_ready && !is_context));
  SomebodyIsTaken_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !idle_q || valid);
  NoStoreIsTakenBehindAnAtomicOperation_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) stores || ((context_ready & context_store_i) == '0 &&
      !takes_engine && !takes_helper));
  // Before the pause is over, a store that comes again is taken.
  AStoreThatWasSentBackHasItsTurn_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !(u_dut.pause_q inside {[3'd1 : 3'd3]}) || stores);
  TheEngineHasItsTurn_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || engine_waits_q <= 8'(EngineWithin));
  for (genvar c = 0; c < int'(Cores); c++) begin : gen_core
    ACoreIsPassedOnce_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || passed_q[c] < 4'(Cores));
  end
  TheHelperHasItsTurn_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || helper_waits_q <= 8'(HelperWithin));

  ContextsYield_C :
  cover property (@(posedge clk_i) rst_ni && takes_engine && &context_valid_i && engine_waits_q == 8'(EngineWithin));
  ContextsYieldToTheHelper_C :
  cover property (@(posedge clk_i) rst_ni && takes_helper && &context_valid_i && helper_waits_q == 8'(HelperWithin));
  BothCoresAreTakenInTurn_C :
  cover property (@(posedge clk_i) rst_ni && taken == 2'b10 && passed_q[1] == 4'd1);

  // Strengthening for the induction: who was passed is the first behind the one that was taken.
  for (genvar c = 0; c < int'(Cores); c++) begin : gen_first
    WhoWasPassedIsFirst_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || passed_q[c] == '0 || u_dut.behind_q == (c == 0 ? 2'b00 : 2'b10));
  end
  BehindOneOrNone_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || u_dut.behind_q inside {2'b00, 2'b10});

endmodule
