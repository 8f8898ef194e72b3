/// Proof about sluice_xdp_out: beats of packets that pass beside leave once, unchanged and in order, those of packets with a program as they are offered; no packet
/// comes between the beats of another; one with a program begins exactly while nobody waits or there is credit, of which the bounds hold.
///
/// The queue of those that are held is free within its contract (no_fifo.sv). Packets of any length, whoever is ready when, and what is earned are
/// free. By k-induction, for runs of any length, with resets at any time.
module out #(
    parameter int unsigned Held = 19,
    parameter int unsigned LongestBeats = 3,
    parameter int unsigned EarnBits = 5,
    parameter int unsigned FloorLog = 2
) (
    input logic                clk_i,
    input logic                rst_ni,
    input logic                choose_i,
    input logic                earn_valid_i,
    input logic [EarnBits-1:0] earn_i,
    input logic                pass_valid_i,
    input logic                pass_last_i,
    input logic [         1:0] pass_i,
    input logic                back_valid_i,
    input logic                back_last_i,
    input logic [         1:0] back_i,
    input logic                ready_i
);

  localparam int unsigned LevelBits = $clog2(Held + 1);
  localparam int MostCredit = int'(Held) - int'(LongestBeats) - 4;

  logic pass_ready, back_ready, valid, last, waiting;
  // Payload, and whose it is: 1 with a program.
  logic [2:0] data;

  sluice_xdp_out #(
      .Width       (3),
      .LongestBeats(LongestBeats),
      .EarnBits    (EarnBits),
      .Held        (Held),
      .FloorLog    (FloorLog)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .earn_valid_i,
      .earn_i,
      .pass_valid_i,
      .pass_ready_o(pass_ready),
      .pass_last_i,
      .pass_i      ({pass_i, 1'b0}),
      .back_valid_i,
      .back_ready_o(back_ready),
      .back_last_i,
      .back_i      ({back_i, 1'b1}),
      .valid_o     (valid),
      .ready_i,
      .last_o      (last),
      .data_o      (data),
      .waiting_o   (waiting)
  );

  logic init_q = 1'b1;
  logic pass_held_q, back_held_q;
  logic [2:0] pass_q, back_q;
  always_ff @(posedge clk_i) begin
    init_q      <= 1'b0;
    pass_held_q <= rst_ni && pass_valid_i && !pass_ready;
    back_held_q <= rst_ni && back_valid_i && !back_ready;
    pass_q      <= {pass_last_i, pass_i};
    back_q      <= {back_last_i, back_i};
  end
  always_comb begin
    if (init_q) assume (!rst_ni);
    assume (!pass_held_q || (pass_valid_i && {pass_last_i, pass_i} == pass_q));
    assume (!back_held_q || (back_valid_i && {back_last_i, back_i} == back_q));
  end

  // The packet on the output: offered or begun, and whose it is. Credit and waiting by this harness's own account.
  logic open_q, whose_q, waits, back, from_back, from_held, direct, pass, put, take;
  logic [LevelBits-1:0] filling, ahead;
  logic followed;
  logic [3:0] word;
  int credit_q, credit;
  logic [FloorLog-1:0] floor_q;

  assign waits = filling != '0 || pass_valid_i;
  assign back = open_q ? whose_q : back_valid_i && (!waits || credit_q > 0);
  assign take = valid && ready_i;
  assign pass = pass_valid_i && pass_ready;
  assign from_back = valid && data[0];
  assign from_held = valid && !data[0] && filling != '0;
  assign direct = valid && !data[0] && filling == '0;
  assign put = pass && !(direct && ready_i);

  word_follower #(
      .Width   (4),
      .Capacity(Held)
  ) u_follower (
      .clk_i,
      .rst_ni,
      .choose_i,
      .put_i      (put),
      .put_data_i ({pass_last_i, pass_i, 1'b0}),
      .valid_i    (from_held),
      .take_i     (from_held && ready_i),
      .take_data_i({last, data}),
      .filling_o  (filling),
      .followed_o (followed),
      .ahead_o    (ahead),
      .word_o     (word),
      .age_o      ()
  );

  always_comb begin
    credit = credit_q + (earn_valid_i ? int'(32'(earn_i)) : 0);
    // So many beats of waiting give one; each beat takes one while somebody waits.
    if (back_valid_i && waits && !back && floor_q == '1) credit = credit + 1;
    if (take && back && waits) credit = credit - 1;
    if (credit > MostCredit) credit = MostCredit;
    if (credit < -int'(LongestBeats)) credit = -int'(LongestBeats);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q   <= 1'b0;
      credit_q <= 0;
      floor_q  <= '0;
    end else begin
      if (valid) begin
        open_q  <= !(take && last);
        whose_q <= data[0];
      end
      if (back_valid_i && waits && !back) floor_q <= floor_q + FloorLog'(1);
      credit_q <= credit;
    end
  end

  APacketIsWhole_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid || !open_q || data[0] == whose_q);
  WhoBeginsIsWhoMay_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid || data[0] == back);
  WithCreditOrAloneItBegins_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !back_valid_i || !back || valid);
  ABeatOfAProgramIsAsItCame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !from_back || (back_valid_i && {last, data} == {back_last_i, back_i, 1'b1}));
  AndIsTakenOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (back_valid_i && back_ready) == (from_back && ready_i));
  ABeatThatPassesAtOnceIsAsItCame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !direct || (pass_valid_i && {last, data} == {pass_last_i, pass_i, 1'b0} &&
      pass_ready == ready_i));
  NobodyIsHeldForNothing_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) filling != '0 || back || valid == pass_valid_i);
  ReadyWhileThereIsRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) pass_ready == ((filling != '0 || back) ? filling != LevelBits'(Held) : ready_i));
  WaitingIsTold_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) waiting == (filling != '0));
  OfferHolds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !$past(
      rst_ni && valid && !ready_i
  ) || (valid && $stable(
      {last, data}
  )));

  // All of it takes as many cycles.
  SomeAreHeld_C :
  cover property (@(posedge clk_i) rst_ni && filling == LevelBits'(6));
  ItBeginsWithCredit_C :
  cover property (@(posedge clk_i) rst_ni && from_back && !open_q && waits);
  WaitingHasGivenABeat_C :
  cover property (@(posedge clk_i) rst_ni && from_back && !open_q && waits && credit_q == 1 && floor_q == '0 && filling == '0);

  // Strengthening for the induction: the same account, and where the chosen beat lies.
  TheAccountIsTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (int'(u_dut.credit_q) == credit_q && u_dut.floor_q == floor_q &&
      u_dut.busy_q == open_q && (!open_q || u_dut.back_q == whose_q)));
  CreditHasItsBounds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (credit_q <= MostCredit && credit_q >= -int'(LongestBeats)));
  TheLevelIsTheFilling_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (u_dut.level == filling && (!u_dut.u_held.shown_q || filling != '0)));
  TheChosenBeatIsInItsPlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !followed || u_dut.u_held.word_q[ahead] == word);
  // Whoever was offered and not taken is still there.
  HeldOffersHold_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !(u_dut.u_held.shown_q && !(open_q && !whose_q)) || !$past(
      valid && !data[0]
  ));

endmodule
