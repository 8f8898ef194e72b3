/// Proof about sluice_axis_register: no beat is lost, repeated, reordered or changed; tvalid holds until tready.
///
/// By k-induction, so for runs of any length, with resets at any time. The source keeps the
/// rule of AXI-Stream that tvalid and its beat hold until tready; tkeep is free.
module axis_register #(
    parameter int unsigned DataBytes = 2,
    parameter int unsigned UserWidth = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic choose_i,

    input logic [8*DataBytes-1:0] s_axis_tdata,
    input logic [  DataBytes-1:0] s_axis_tkeep,
    input logic                   s_axis_tlast,
    input logic [  UserWidth-1:0] s_axis_tuser,
    input logic                   s_axis_tvalid,
    input logic                   m_axis_tready
);

  localparam int unsigned BeatWidth = 9 * DataBytes + 1 + UserWidth;

  logic s_axis_tready, m_axis_tvalid, followed;
  logic [8*DataBytes-1:0] m_axis_tdata;
  logic [DataBytes-1:0] m_axis_tkeep;
  logic m_axis_tlast;
  logic [UserWidth-1:0] m_axis_tuser;
  logic [BeatWidth-1:0] s_beat, m_beat, beat;
  logic [1:0] filling, ahead;

  sluice_axis_register #(
      .DataBytes(DataBytes),
      .UserWidth(UserWidth)
  ) u_dut (
      .*
  );

  assign s_beat = {s_axis_tuser, s_axis_tlast, s_axis_tkeep, s_axis_tdata};
  assign m_beat = {m_axis_tuser, m_axis_tlast, m_axis_tkeep, m_axis_tdata};

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb if (init_q) assume (!rst_ni);

  logic s_stalled;
  assign s_stalled = rst_ni && s_axis_tvalid && !s_axis_tready;
  SourceHoldsUntilReady_M :
  assume property (@(posedge clk_i) disable iff (!rst_ni) !$past(s_stalled) || (s_axis_tvalid && $stable(s_beat)));

  word_follower #(
      .Width   (BeatWidth),
      .Capacity(2)
  ) u_follower (
      .clk_i,
      .rst_ni,
      .choose_i,
      .put_i      (s_axis_tvalid && s_axis_tready),
      .put_data_i (s_beat),
      .valid_i    (m_axis_tvalid),
      .take_i     (m_axis_tvalid && m_axis_tready),
      .take_data_i(m_beat),
      .filling_o  (filling),
      .followed_o (followed),
      .ahead_o    (ahead),
      .word_o     (beat),
      .age_o      ()
  );

  ReadyUnlessFull_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) s_axis_tready == (filling != 2'd2));
  ValidUnlessEmpty_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) m_axis_tvalid == (filling != 2'd0));

  // Strengthening for the induction: where the beat lies.
  ChosenBeatIsInItsEntry_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !followed || beat == (ahead == 2'd0 ? u_dut.u_skid.data_q : u_dut.u_skid.skid_q));

endmodule
