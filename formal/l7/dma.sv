/// Proof about sluice_l7_dma: of two streams of writes every descriptor and every beat leaves once, unchanged, in the order in which they were taken, the beats of one write with none of
/// another between; what is offered holds.
///
/// Beats of a byte; writes of any length, whoever is ready when is free.
module dma
  import sluice_l7_pkg::*;
(
    input logic               clk_i,
    input logic               rst_ni,
    input logic               choose_i,
    input logic    [1:0]      valid_i,
    input l7_dma_t [1:0]      desc_i,
    input logic    [1:0]      last_i,
    input logic    [1:0]      keep_i,
    input logic    [1:0][7:0] data_i,
    input logic               desc_ready_i,
    input logic               data_ready_i
);

  localparam int unsigned Capacity = 6;
  localparam int unsigned DescBits = $bits(l7_dma_t);
  // Last, keep, a byte.
  localparam int unsigned BeatBits = 10;

  logic [1:0] ready, inside_q, held_q, put;
  l7_dma_t [1:0] desc_q;
  logic [1:0] last_q, keep_q;
  logic [1:0][7:0] data_q;
  logic desc_valid, data_valid, keep, last, whose, any;
  l7_dma_t desc;
  logic [7:0] data;

  sluice_l7_dma #(
      .Bytes(1)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .s_valid_i   (valid_i),
      .s_ready_o   (ready),
      .s_desc_i    (desc_i),
      .s_first_i   (~inside_q),
      .s_last_i    (last_i),
      .s_keep_i    (keep_i),
      .s_data_i    (data_i),
      .desc_valid_o(desc_valid),
      .desc_ready_i,
      .desc_o      (desc),
      .data_valid_o(data_valid),
      .data_ready_i,
      .data_o      (data),
      .keep_o      (keep),
      .last_o      (last)
  );

  assign put   = valid_i & ready;
  assign any   = |put;
  assign whose = put[1];

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (!rst_ni) begin
      inside_q <= '0;
      held_q   <= '0;
    end else begin
      held_q <= valid_i & ~ready;
      for (int unsigned s = 0; s < 2; s++) if (put[s]) inside_q[s] <= !last_i[s];
    end
    desc_q <= desc_i;
    last_q <= last_i;
    keep_q <= keep_i;
    data_q <= data_i;
  end
  always_comb begin
    if (init_q) assume (!rst_ni);
    for (int unsigned s = 0; s < 2; s++) begin
      if (held_q[s]) begin
        assume (valid_i[s] && desc_i[s] == desc_q[s] && last_i[s] == last_q[s] && keep_i[s] == keep_q[s] && data_i[s] == data_q[s]);
      end
    end
  end

  logic [2:0] beats, beats_ahead, descs, descs_ahead;
  logic beat_followed, desc_followed;
  logic [BeatBits-1:0] beat_word;
  logic [DescBits-1:0] desc_word;

  word_follower #(
      .Width   (BeatBits),
      .Capacity(Capacity)
  ) u_beats (
      .clk_i,
      .rst_ni,
      .choose_i,
      .put_i      (any),
      .put_data_i ({last_i[whose], keep_i[whose], data_i[whose]}),
      .valid_i    (data_valid),
      .take_i     (data_valid && data_ready_i),
      .take_data_i({last, keep, data}),
      .filling_o  (beats),
      .followed_o (beat_followed),
      .ahead_o    (beats_ahead),
      .word_o     (beat_word),
      .age_o      ()
  );
  word_follower #(
      .Width   (DescBits),
      .Capacity(Capacity)
  ) u_descs (
      .clk_i,
      .rst_ni,
      .choose_i,
      .put_i      (any && !inside_q[whose]),
      .put_data_i (desc_i[whose]),
      .valid_i    (desc_valid),
      .take_i     (desc_valid && desc_ready_i),
      .take_data_i(desc),
      .filling_o  (descs),
      .followed_o (desc_followed),
      .ahead_o    (descs_ahead),
      .word_o     (desc_word),
      .age_o      ()
  );

  OneAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) put != 2'b11);
  NobodyComesBetween_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !any || !inside_q[!whose]);
  DescriptorsHold_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(
      rst_ni && desc_valid && !desc_ready_i
  ) || (desc_valid && $stable(
      desc
  )));
  BeatsHold_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(
      rst_ni && data_valid && !data_ready_i
  ) || (data_valid && $stable(
      data
  )));

  // Strengthening for the induction: where the words lie. Two in the register behind the turn, the others in the queues.
  typedef struct packed {
    logic last;
    l7_dma_t desc;
    logic first;
    logic keep;
    logic [7:0] data;
  } held_t;
  held_t front, second;
  logic has_front, has_second, front_begins, second_begins;
  logic [2:0] beat_level, desc_level;

  assign front = u_dut.u_turn.u_skid.data_q;
  assign second = u_dut.u_turn.u_skid.skid_q;
  assign has_front = u_dut.u_turn.u_skid.valid_q;
  assign has_second = !u_dut.u_turn.u_skid.ready_q;
  assign front_begins = has_front && front.first;
  assign second_begins = has_second && second.first;
  assign beat_level = u_dut.u_data.level_q;
  assign desc_level = u_dut.u_descs.level_q;

  TheTurnIsWhoIsInside_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   inside_q == (u_dut.u_turn.inside_q ? 2'b01 << u_dut.u_turn.whose_q : 2'b00));
  PointersSpanTheWords_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   u_dut.u_data.wr_ptr_q == 2'(u_dut.u_data.rd_ptr_q + beat_level[1:0]) &&
                   u_dut.u_descs.wr_ptr_q == 2'(u_dut.u_descs.rd_ptr_q + desc_level[1:0]));
  BeatsAreCounted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) beats == beat_level + 3'(has_front) + 3'(has_second));
  DescriptorsAreCounted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) descs == desc_level + 3'(front_begins) + 3'(second_begins));

  logic [BeatBits-1:0] beat_there;
  logic [DescBits-1:0] desc_there;
  always_comb begin
    beat_there = {second.last, second.keep, second.data};
    if (beats_ahead < beat_level) beat_there = u_dut.u_data.mem[2'(u_dut.u_data.rd_ptr_q+beats_ahead[1:0])];
    else if (beats_ahead == beat_level) beat_there = {front.last, front.keep, front.data};
    desc_there = second.desc;
    if (descs_ahead < desc_level) desc_there = u_dut.u_descs.mem[2'(u_dut.u_descs.rd_ptr_q+descs_ahead[1:0])];
    else if (descs_ahead == desc_level && front_begins) desc_there = front.desc;
  end
  ChosenBeatIsInItsPlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !beat_followed || beat_there == beat_word);
  ChosenDescriptorIsInItsPlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !desc_followed || desc_there == desc_word);

endmodule
