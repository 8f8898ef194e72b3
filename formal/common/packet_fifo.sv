/// Proof about sluice_packet_fifo: packets come out whole, once and in order, or are dropped whole with one
/// result pulse; what is committed never changes; valid holds until ready.
///
/// By k-induction, so for runs of any length, with resets at any time. The harness states the
/// contract by counting only: which packets have room, and what each one's result is. It follows
/// one freely chosen stored beat: taken back with its packet it never shows; committed, it leaves
/// after exactly the committed beats in front of it, with its own data and last. Descriptors
/// are followed likewise.
module packet_fifo #(
    parameter int unsigned DataWidth = 2,
    parameter int unsigned Depth = 5,
    parameter int unsigned DescWidth = 2,
    parameter int unsigned DescDepth = 3
) (
    input logic clk_i,
    input logic rst_ni,
    input logic choose_i,
    input logic choose_desc_i,

    input logic                 valid_i,
    input logic [DataWidth-1:0] data_i,
    input logic                 last_i,
    input logic                 drop_i,
    input logic [DescWidth-1:0] desc_i,
    input logic                 desc_ready_i,
    input logic                 ready_i
);

  localparam int unsigned LevelWidth = $clog2(Depth + 1);
  localparam int unsigned DescLevelWidth = $clog2(DescDepth + 1);
  localparam int unsigned SumWidth = LevelWidth + 2;

  typedef logic [LevelWidth-1:0] level_t;
  typedef logic [SumWidth-1:0] sum_t;

  logic done, done_accepted, done_overflow, done_dropped;
  logic desc_valid, valid, last;
  logic [DescWidth-1:0] desc;
  logic [DataWidth-1:0] data;
  level_t level;

  sluice_packet_fifo #(
      .DataWidth(DataWidth),
      .Depth    (Depth),
      .DescWidth(DescWidth),
      .DescDepth(DescDepth)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .data_i,
      .last_i,
      .drop_i,
      .desc_i,
      .done_o         (done),
      .done_accepted_o(done_accepted),
      .done_overflow_o(done_overflow),
      .done_dropped_o (done_dropped),
      .desc_valid_o   (desc_valid),
      .desc_ready_i,
      .desc_o         (desc),
      .valid_o        (valid),
      .ready_i,
      .data_o         (data),
      .last_o         (last),
      .level_o        (level)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb if (init_q) assume (!rst_ni);

  // The contract by counting: beats committed and not taken, beats of the open packet, whether it is lost.
  level_t committed_q, open_q;
  logic lost_q;
  logic [DescLevelWidth-1:0] descs;
  logic lost, accept, take;

  assign take   = valid && ready_i;
  assign lost   = lost_q || committed_q + open_q == level_t'(Depth) || (last_i && descs == DescLevelWidth'(DescDepth));
  assign accept = valid_i && last_i && !lost && !drop_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      committed_q <= '0;
      open_q      <= '0;
      lost_q      <= 1'b0;
    end else begin
      committed_q <= committed_q + (accept ? open_q + level_t'(1) : '0) - level_t'(take);
      if (valid_i) begin
        lost_q <= lost && !last_i;
        open_q <= (lost || last_i) ? '0 : open_q + level_t'(1);
      end
    end
  end

  // One result for each packet, in the cycle after its last beat.
  logic ended_q, accept_q, lost_at_end_q;
  always_ff @(posedge clk_i) begin
    ended_q       <= rst_ni && valid_i && last_i;
    accept_q      <= rst_ni && accept;
    lost_at_end_q <= rst_ni && valid_i && last_i && lost;
  end

  ResultIsThatOfTheContract_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   done == ended_q && done_accepted == accept_q && done_overflow == lost_at_end_q &&
                   done_dropped == (ended_q && !accept_q && !lost_at_end_q));
  LevelIsExact_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) level == committed_q);
  NeverMoreThanFits_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) sum_t'(committed_q) + sum_t'(open_q) <= sum_t'(Depth));
  NothingShowsBeforeItsCommit_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid || committed_q != '0);
  DescriptorShowsAtOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) desc_valid == (descs != '0));

  // The chosen beat, while it is inside: `ahead_q` beats are in front of it.
  logic chosen_q, followed_q, is_committed_q;
  level_t ahead_q;
  logic [DataWidth:0] beat_q;
  logic choose;

  assign choose = valid_i && !lost && choose_i && !chosen_q && !(last_i && drop_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      chosen_q       <= 1'b0;
      followed_q     <= 1'b0;
      is_committed_q <= 1'b0;
    end else if (choose) begin
      chosen_q       <= 1'b1;
      followed_q     <= 1'b1;
      is_committed_q <= accept;
      ahead_q        <= committed_q + open_q - level_t'(take);
      beat_q         <= {last_i, data_i};
    end else if (followed_q) begin
      ahead_q <= ahead_q - level_t'(take);
      if (is_committed_q) begin
        followed_q <= !(take && ahead_q == '0);
      end else if (accept) begin
        is_committed_q <= 1'b1;
      end else if (valid_i && (lost || last_i)) begin
        // Taken back: another beat may be chosen.
        followed_q <= 1'b0;
        chosen_q   <= 1'b0;
      end
    end
  end

  CommittedBeatLeavesInItsTurn_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !(followed_q && ahead_q == '0 && valid) || (is_committed_q && {last, data} == beat_q));
  ChosenBeatIsInside_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !followed_q || (chosen_q && (is_committed_q ? ahead_q < committed_q :
                                   ahead_q >= committed_q && ahead_q - committed_q < open_q)));

  // Cycles since its commit; stays at 3. A beat shows within the latency, behind others without a bubble.
  logic [1:0] age_q;
  always_ff @(posedge clk_i) begin
    if (choose || !is_committed_q) age_q <= 2'd1;
    else if (age_q != 2'd3) age_q <= age_q + 2'd1;
  end
  BeatShowsInTime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !(followed_q && is_committed_q && ahead_q == '0 && age_q == 2'd3) || valid);

  logic desc_followed;
  logic [DescLevelWidth-1:0] desc_ahead;
  logic [DescWidth-1:0] chosen_desc;

  word_follower #(
      .Width   (DescWidth),
      .Capacity(DescDepth)
  ) u_desc_follower (
      .clk_i,
      .rst_ni,
      .choose_i   (choose_desc_i),
      .put_i      (accept),
      .put_data_i (desc_i),
      .valid_i    (desc_valid),
      .take_i     (desc_valid && desc_ready_i),
      .take_data_i(desc),
      .filling_o  (descs),
      .followed_o (desc_followed),
      .ahead_o    (desc_ahead),
      .word_o     (chosen_desc),
      .age_o      ()
  );

  // Strengthening for the induction: where the beats lie. Positions run over two rounds, as the pointers do.
  localparam int unsigned Round = 2 * Depth;

  function automatic sum_t position(sum_t wrap, sum_t index, sum_t offset);
    sum_t sum;
    sum = (wrap == '0) ? index + offset : index + offset + sum_t'(Depth);
    return (sum >= sum_t'(Round)) ? sum - sum_t'(Round) : sum;
  endfunction

  logic in_out, in_ram;
  sum_t prefetched, unread, rd_position, commit_position, wr_position, beat_position;
  sum_t commit_expected, wr_expected;
  logic [DataWidth:0] found;

  assign in_out = u_dut.u_prefetch.out_valid_q;
  assign in_ram = u_dut.u_prefetch.ram_valid_q;
  assign prefetched = sum_t'(in_out) + sum_t'(in_ram);
  assign unread = sum_t'(committed_q) - prefetched;

  assign rd_position = position(sum_t'(u_dut.rd_ptr_q.wrap), sum_t'(u_dut.rd_ptr_q.index), '0);
  assign commit_position = position(sum_t'(u_dut.commit_ptr_q.wrap), sum_t'(u_dut.commit_ptr_q.index), '0);
  assign wr_position = position(sum_t'(u_dut.wr_ptr_q.wrap), sum_t'(u_dut.wr_ptr_q.index), '0);
  assign commit_expected = position('0, rd_position, unread);
  assign wr_expected = position('0, commit_position, sum_t'(open_q));
  assign beat_position = position('0, rd_position, sum_t'(ahead_q) - prefetched);

  always_comb begin
    if (sum_t'(ahead_q) >= prefetched) begin
      found = u_dut.mem[beat_position>=sum_t'(Depth)?beat_position-sum_t'(Depth) : beat_position];
    end else if (in_out && ahead_q == '0) begin
      found = u_dut.u_prefetch.out_q;
    end else begin
      found = u_dut.ram_beat_q;
    end
  end

  CountersAgree_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   u_dut.used_q == committed_q + open_q && u_dut.lost_q == lost_q && (!lost_q || open_q == '0));
  PointersAreInRange_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   u_dut.rd_ptr_q.index < Depth && u_dut.commit_ptr_q.index < Depth && u_dut.wr_ptr_q.index < Depth);
  PrefetchedIsCommitted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) sum_t'(committed_q) >= prefetched);
  PointersSpanTheBeats_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   commit_position == commit_expected && wr_position == wr_expected);
  ChosenBeatIsInItsPlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !followed_q || found == beat_q);
  RamIsReadAhead_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(rst_ni && unread != '0) || in_ram);
  OutputIsFilledAhead_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(rst_ni && in_ram) || in_out);

  typedef logic [DescLevelWidth:0] desc_sum_t;

  function automatic desc_sum_t desc_slot(desc_sum_t sum);
    return (sum >= desc_sum_t'(DescDepth)) ? sum - desc_sum_t'(DescDepth) : sum;
  endfunction

  desc_sum_t desc_end, desc_at;
  assign desc_end = desc_slot(desc_sum_t'(u_dut.u_desc_fifo.rd_ptr_q) + desc_sum_t'(descs));
  assign desc_at  = desc_slot(desc_sum_t'(u_dut.u_desc_fifo.rd_ptr_q) + desc_sum_t'(desc_ahead));

  DescriptorsAreInPlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   u_dut.u_desc_fifo.rd_ptr_q < DescDepth && u_dut.u_desc_fifo.level_q == descs &&
                   desc_sum_t'(u_dut.u_desc_fifo.wr_ptr_q) == desc_end &&
                   (!desc_followed || u_dut.u_desc_fifo.mem[desc_at] == chosen_desc));

  ChosenBeatIsTheLastOfAFullQueue_C :
  cover property (@(posedge clk_i) rst_ni && followed_q && is_committed_q && ahead_q == level_t'(Depth - 1));
  OpenBeatIsTakenBackByAnOverflow_C :
  cover property (@(posedge clk_i) rst_ni && followed_q && !is_committed_q && valid_i && lost && open_q > level_t'(2));
  OpenBeatIsTakenBackByADrop_C :
  cover property (@(posedge clk_i) rst_ni && followed_q && !is_committed_q && valid_i && !lost && last_i && drop_i);
  DescriptorsAreTheLimit_C :
  cover property (@(posedge clk_i) rst_ni && done_overflow && level + open_q < level_t'(2));
  CommittedBeatLeaves_C :
  cover property (@(posedge clk_i) rst_ni && followed_q && is_committed_q && ahead_q == '0 && take);

endmodule
