/// Proof about sluice_axis_width going up: each incoming beat is a segment of exactly one outgoing beat, in order and
/// unchanged, with tlast as its packet has it, the tuser of the packet's first beat, and nothing of another packet.
///
/// By k-induction, so for runs of any length, with resets at any time. With GoodInput the source
/// keeps the contract, and what goes out is shown to keep it too; without, tkeep is free.
module axis_width_up #(
    parameter int unsigned InBytes = 2,
    parameter int unsigned OutBytes = 6,
    parameter int unsigned UserWidth = 2,
    parameter bit GoodInput = 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic choose_i,

    input logic [8*InBytes-1:0] s_axis_tdata,
    input logic [  InBytes-1:0] s_axis_tkeep,
    input logic                 s_axis_tlast,
    input logic [UserWidth-1:0] s_axis_tuser,
    input logic                 s_axis_tvalid,
    input logic                 m_axis_tready
);

  localparam int unsigned Ratio = OutBytes / InBytes;
  localparam int unsigned SegWidth = $clog2(Ratio);

  typedef logic [SegWidth-1:0] seg_t;

  // Same layout as in sluice_axis_widen.
  typedef struct packed {
    logic [UserWidth-1:0] user;
    logic last;
    logic [Ratio-1:0][InBytes-1:0] keep;
    logic [Ratio-1:0][8*InBytes-1:0] data;
  } beat_t;

  logic s_axis_tready, m_axis_tvalid, m_axis_tlast;
  logic [8*OutBytes-1:0] m_axis_tdata;
  logic [  OutBytes-1:0] m_axis_tkeep;
  logic [ UserWidth-1:0] m_axis_tuser;

  sluice_axis_width #(
      .InBytes  (InBytes),
      .OutBytes (OutBytes),
      .UserWidth(UserWidth)
  ) u_dut (
      .*
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb if (init_q) assume (!rst_ni);

  logic put, take, complete;
  beat_t m_beat;
  assign put = s_axis_tvalid && s_axis_tready;
  assign take = m_axis_tvalid && m_axis_tready;
  assign m_beat = '{user: m_axis_tuser, last: m_axis_tlast, keep: m_axis_tkeep, data: m_axis_tdata};

  // The contract: when a beat is complete, and the packet's tuser.
  seg_t open_q;
  logic first_q;
  logic [UserWidth-1:0] user, user_q;
  assign complete = s_axis_tlast || open_q == seg_t'(Ratio - 1);
  assign user = first_q ? s_axis_tuser : user_q;

  // Complete beats inside, and the chosen segment: its place, and (once known) the end of its beat.
  logic [1:0] filling_q, ahead_q;
  logic chosen_q, followed_q, is_complete_q, last_q;
  seg_t place_q, end_q;
  logic [  InBytes-1:0] keep_q;
  logic [8*InBytes-1:0] data_q;
  logic [UserWidth-1:0] chosen_user_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      filling_q     <= '0;
      open_q        <= '0;
      first_q       <= 1'b1;
      chosen_q      <= 1'b0;
      followed_q    <= 1'b0;
      is_complete_q <= 1'b0;
    end else begin
      filling_q <= filling_q + 2'(put && complete) - 2'(take);
      if (put) begin
        open_q  <= complete ? '0 : open_q + seg_t'(1);
        first_q <= s_axis_tlast;
        user_q  <= user;
      end
      if (put && choose_i && !chosen_q) begin
        chosen_q      <= 1'b1;
        followed_q    <= 1'b1;
        place_q       <= open_q;
        keep_q        <= s_axis_tkeep;
        data_q        <= s_axis_tdata;
        chosen_user_q <= user;
        ahead_q       <= filling_q - 2'(take);
      end else if (take && followed_q) begin
        followed_q <= ahead_q != '0;
        ahead_q    <= ahead_q - 2'd1;
      end
      if (put && complete && (chosen_q ? followed_q && !is_complete_q : choose_i)) begin
        is_complete_q <= 1'b1;
        last_q        <= s_axis_tlast;
        end_q         <= open_q;
      end
    end
  end

  function automatic logic holds_chosen(beat_t beat);
    for (int unsigned k = 0; k < Ratio; k++) begin
      if (k > end_q && beat.keep[k] != '0) return 1'b0;
    end
    return beat.keep[place_q] == keep_q && beat.data[place_q] == data_q && beat.last == last_q &&
        beat.user == chosen_user_q;
  endfunction

  ChosenSegmentLeavesInItsTurn_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !(followed_q && ahead_q == '0 && m_axis_tvalid) || (is_complete_q && holds_chosen(
      m_beat
  )));
  ChosenSegmentIsInside_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !followed_q || (chosen_q && (is_complete_q ? ahead_q < filling_q : ahead_q == filling_q)));
  ValidUnlessEmpty_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) m_axis_tvalid == (filling_q != '0));
  // Also: no bubble at the entry while the output moves.
  ReadyUnlessFull_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) s_axis_tready == (filling_q != 2'd2));

  logic m_stalled;
  assign m_stalled = rst_ni && m_axis_tvalid && !m_axis_tready;
  OutputHoldsUntilReady_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(m_stalled) || (m_axis_tvalid && $stable(m_beat)));

  // Strengthening for the induction: where the segments lie.
  beat_t next_beat;
  logic [Ratio-2:0][InBytes-1:0] open_keep;
  logic [Ratio-2:0][8*InBytes-1:0] open_data;
  assign next_beat = u_dut.gen_widen.u_widen.u_skid.skid_q;
  assign open_keep = u_dut.gen_widen.u_widen.keep_q;
  assign open_data = u_dut.gen_widen.u_widen.data_q;

  PlacesAgree_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   u_dut.gen_widen.u_widen.seg_q == open_q && open_q < Ratio && filling_q <= 2'd2 &&
                   u_dut.first_q == first_q && (first_q || u_dut.user_q == user_q) && (open_q == '0 || !first_q));
  ChosenPlaceIsInRange_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !followed_q || (place_q < Ratio && (!is_complete_q || (place_q <= end_q && end_q < Ratio))));
  CompleteSegmentIsInItsBeat_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(followed_q && is_complete_q) || holds_chosen(
      ahead_q == '0 ? m_beat : next_beat
  ));
  OpenSegmentIsInItsPlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !(followed_q && !is_complete_q) || (place_q < open_q && open_keep[place_q] == keep_q &&
                                                       open_data[place_q] == data_q && user_q == chosen_user_q));
  CompleteOnlyWhenChosen_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) chosen_q || !is_complete_q);

  if (GoodInput) begin : gen_good_input
    logic s_stalled;
    logic [InBytes+8*InBytes+UserWidth:0] s_beat;
    assign s_stalled = rst_ni && s_axis_tvalid && !s_axis_tready;
    assign s_beat = {s_axis_tdata, s_axis_tkeep, s_axis_tlast, s_axis_tuser};

    SourceHoldsUntilReady_M :
    assume property (@(posedge clk_i) disable iff (!rst_ni) !$past(s_stalled) || (s_axis_tvalid && $stable(s_beat)));
    KeepHasNoHole_M :
    assume property (@(posedge clk_i) disable iff (!rst_ni) (s_axis_tkeep & (s_axis_tkeep + InBytes'(1))) == '0);
    OnlyLastBeatIsPartial_M :
    assume property (@(posedge clk_i) disable iff (!rst_ni) s_axis_tlast || &s_axis_tkeep);

    function automatic logic keeps_contract(beat_t beat);
      logic [OutBytes-1:0] keep;
      keep = beat.keep;
      return (keep & (keep + OutBytes'(1))) == '0 && (beat.last || &keep);
    endfunction

    OutgoingBeatKeepsTheContract_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !m_axis_tvalid || keeps_contract(m_beat));

    // Strengthening: so does what is stored.
    StoredBeatKeepsTheContract_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) s_axis_tready || keeps_contract(next_beat));
    for (genvar k = 0; k < Ratio - 1; k++) begin : gen_open
      OpenSegmentIsFull_A :
      assert property (@(posedge clk_i) disable iff (!rst_ni) k >= open_q || &open_keep[k]);
    end
  end

  ChosenSegmentIsInTheSecondBeat_C :
  cover property (@(posedge clk_i) rst_ni && followed_q && is_complete_q && ahead_q == 2'd1);
  ShortLastBeatLeaves_C :
  cover property (@(posedge clk_i) rst_ni && followed_q && ahead_q == '0 && take && end_q == '0 && Ratio > 1);

endmodule
