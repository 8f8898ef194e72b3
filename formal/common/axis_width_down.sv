/// Proof about sluice_axis_width going down: each incoming segment up to the highest kept byte leaves once, in
/// order and unchanged, with tlast on the packet's last one only and the tuser of the packet's first beat.
///
/// By k-induction, so for runs of any length, with resets at any time. With GoodInput the source
/// keeps the contract, and what goes out is shown to keep it too; without, tkeep is free.
module axis_width_down #(
    parameter int unsigned InBytes = 6,
    parameter int unsigned OutBytes = 2,
    parameter int unsigned UserWidth = 2,
    parameter bit GoodInput = 1,
    localparam int unsigned Ratio = InBytes / OutBytes,
    localparam int unsigned SegWidth = $clog2(Ratio)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic choose_i,
    input logic [SegWidth-1:0] choose_seg_i,

    input logic [8*InBytes-1:0] s_axis_tdata,
    input logic [  InBytes-1:0] s_axis_tkeep,
    input logic                 s_axis_tlast,
    input logic [UserWidth-1:0] s_axis_tuser,
    input logic                 s_axis_tvalid,
    input logic                 m_axis_tready
);

  localparam int unsigned CountWidth = $clog2(2 * Ratio + 1);

  typedef logic [CountWidth-1:0] count_t;

  typedef struct packed {
    logic [UserWidth-1:0]  user;
    logic                  last;
    logic [OutBytes-1:0]   keep;
    logic [8*OutBytes-1:0] data;
  } segment_t;

  // Same layout as in sluice_axis_narrow.
  typedef struct packed {
    logic [UserWidth-1:0] user;
    logic last;
    logic [SegWidth-1:0] final_seg;
    logic [Ratio-1:0][OutBytes-1:0] keep;
    logic [Ratio-1:0][8*OutBytes-1:0] data;
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

  logic put, take;
  assign put  = s_axis_tvalid && s_axis_tready;
  assign take = m_axis_tvalid && m_axis_tready;

  // The contract: which segments a beat gives, and the packet's tuser.
  count_t segments;
  logic   first_q;
  logic [UserWidth-1:0] user, user_q;

  always_comb begin
    segments = count_t'(1);
    for (int unsigned k = 0; k < Ratio; k++) begin
      if (!s_axis_tlast || s_axis_tkeep[k*OutBytes+:OutBytes] != '0) segments = count_t'(k + 1);
    end
  end

  assign user = first_q ? s_axis_tuser : user_q;

  // Segments inside, and the chosen one.
  count_t filling_q, ahead_q;
  logic chosen_q, followed_q;
  segment_t segment_q, m_segment;

  assign m_segment = '{user: m_axis_tuser, last: m_axis_tlast, keep: m_axis_tkeep, data: m_axis_tdata};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      filling_q  <= '0;
      chosen_q   <= 1'b0;
      followed_q <= 1'b0;
      first_q    <= 1'b1;
    end else begin
      filling_q <= filling_q + (put ? segments : '0) - count_t'(take);
      if (put) begin
        first_q <= s_axis_tlast;
        user_q  <= user;
      end
      if (put && choose_i && !chosen_q && count_t'(choose_seg_i) < segments) begin
        chosen_q <= 1'b1;
        followed_q <= 1'b1;
        ahead_q <= filling_q - count_t'(take) + count_t'(choose_seg_i);
        segment_q <= '{
            user: user,
            last: s_axis_tlast && count_t'(choose_seg_i) + count_t'(1) == segments,
            keep: s_axis_tkeep[choose_seg_i*OutBytes+:OutBytes],
            data: s_axis_tdata[choose_seg_i*8*OutBytes+:8*OutBytes]
        };
      end else if (take && followed_q) begin
        followed_q <= ahead_q != '0;
        ahead_q    <= ahead_q - count_t'(1);
      end
    end
  end

  ChosenSegmentLeavesInItsTurn_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !(followed_q && ahead_q == '0 && m_axis_tvalid) || m_segment == segment_q);
  ChosenSegmentIsInside_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !followed_q || (chosen_q && ahead_q < filling_q));
  // Also: no bubble while a segment is inside.
  ValidUnlessEmpty_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) m_axis_tvalid == (filling_q != '0));
  ReadyWithOneBeatInside_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) s_axis_tready || filling_q >= count_t'(2));

  logic m_stalled;
  assign m_stalled = rst_ni && m_axis_tvalid && !m_axis_tready;
  OutputHoldsUntilReady_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(m_stalled) || (m_axis_tvalid && $stable(m_segment)));

  // Strengthening for the induction: where the segments lie.
  beat_t beat, next_beat, holder;
  count_t seg, index, left, next_left;

  assign beat = u_dut.gen_narrow.u_narrow.u_skid.data_q;
  assign next_beat = u_dut.gen_narrow.u_narrow.u_skid.skid_q;
  assign seg = count_t'(u_dut.gen_narrow.u_narrow.seg_q);
  assign left = m_axis_tvalid ? count_t'(beat.final_seg) + count_t'(1) - seg : '0;
  assign next_left = s_axis_tready ? '0 : count_t'(next_beat.final_seg) + count_t'(1);
  assign holder = (ahead_q < left) ? beat : next_beat;
  assign index = (ahead_q < left) ? seg + ahead_q : ahead_q - left;

  BeatsAreWellFormed_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   (!m_axis_tvalid || (beat.final_seg < Ratio && (beat.last || beat.final_seg == Ratio - 1))) &&
                   (s_axis_tready || (next_beat.final_seg < Ratio &&
                                      (next_beat.last || next_beat.final_seg == Ratio - 1))));
  SegmentIsOfTheBeat_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) m_axis_tvalid ? seg <= count_t'(beat.final_seg) : seg == '0);
  SegmentsAddUp_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) filling_q == left + next_left && (s_axis_tready || m_axis_tvalid));
  ChosenSegmentIsInItsPlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !followed_q || (holder.user == segment_q.user && holder.keep[index] == segment_q.keep &&
                                   holder.data[index] == segment_q.data &&
                                   segment_q.last == (holder.last && index == count_t'(holder.final_seg))));
  FirstAndUserAgree_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   u_dut.first_q == first_q && (first_q || u_dut.user_q == user_q));

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

    OutgoingKeepHasNoHole_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni)
                     !m_axis_tvalid || (m_axis_tkeep & (m_axis_tkeep + OutBytes'(1))) == '0);
    OnlyLastOutgoingBeatIsPartial_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !m_axis_tvalid || m_axis_tlast || &m_axis_tkeep);

    // Strengthening: what is stored keeps the contract, and its last segment is the last one with a kept byte.
    function automatic logic keeps_contract(beat_t stored);
      logic [InBytes-1:0] keep;
      keep = stored.keep;
      if ((keep & (keep + InBytes'(1))) != '0) return 1'b0;
      if (!stored.last) return &keep;
      return (stored.final_seg == '0 || stored.keep[stored.final_seg] != '0);
    endfunction

    StoredBeatsKeepTheContract_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) (!m_axis_tvalid || keeps_contract(
        beat
    )) && (s_axis_tready || keeps_contract(
        next_beat
    )));
  end

  ChosenSegmentIsTheLastOfAFullBuffer_C :
  cover property (@(posedge clk_i) rst_ni && followed_q && ahead_q == count_t'(2 * Ratio - 1));
  ShortLastBeatLeaves_C :
  cover property (@(posedge clk_i) rst_ni && followed_q && ahead_q == '0 && take && m_axis_tlast && seg == '0 && !first_q);

endmodule
