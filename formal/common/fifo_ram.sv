/// Proof about sluice_fifo_ram: nothing is lost, repeated or reordered; valid holds until ready.
///
/// By k-induction, so for runs of any length, with resets at any time. With it goes
/// sluice_ram_prefetch, which is a part of it.
module fifo_ram #(
    parameter int unsigned Width = 4,
    parameter int unsigned Depth = 5
) (
    input logic clk_i,
    input logic rst_ni,
    input logic choose_i,
    input logic valid_i,
    input logic [Width-1:0] data_i,
    input logic ready_i
);

  localparam int unsigned LevelWidth = $clog2(Depth + 1);

  logic ready, valid, followed;
  logic [Width-1:0] data, word;
  logic [LevelWidth-1:0] level, filling, ahead;
  logic [1:0] age;

  sluice_fifo_ram #(
      .Width(Width),
      .Depth(Depth)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o(ready),
      .data_i,
      .valid_o(valid),
      .ready_i,
      .data_o (data),
      .level_o(level)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb if (init_q) assume (!rst_ni);

  word_follower #(
      .Width   (Width),
      .Capacity(Depth)
  ) u_follower (
      .clk_i,
      .rst_ni,
      .choose_i,
      .put_i      (valid_i && ready),
      .put_data_i (data_i),
      .valid_i    (valid),
      .take_i     (valid && ready_i),
      .take_data_i(data),
      .filling_o  (filling),
      .followed_o (followed),
      .ahead_o    (ahead),
      .word_o     (word),
      .age_o      (age)
  );

  LevelIsExact_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) level == filling);
  ReadyUnlessFull_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) ready == (filling != LevelWidth'(Depth)));
  // The latency of the contract; with words in front of it, without a bubble after them.
  WordShowsInTime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(followed && ahead == '0 && age == 2'd3) || valid);

  // Strengthening for the induction: where the words lie.
  localparam int unsigned SumWidth = LevelWidth + 1;
  typedef logic [SumWidth-1:0] sum_t;

  function automatic sum_t slot(sum_t sum);
    return (sum >= sum_t'(Depth)) ? sum - sum_t'(Depth) : sum;
  endfunction

  logic in_out, in_ram;
  sum_t prefetched, end_slot, word_slot;
  logic [Width-1:0] found;

  assign in_out = u_dut.u_prefetch.out_valid_q;
  assign in_ram = u_dut.u_prefetch.ram_valid_q;
  assign prefetched = sum_t'(in_out) + sum_t'(in_ram);
  assign end_slot = slot(sum_t'(u_dut.rd_ptr_q) + sum_t'(filling) - prefetched);
  assign word_slot = slot(sum_t'(u_dut.rd_ptr_q) + sum_t'(ahead) - prefetched);

  always_comb begin
    if (sum_t'(ahead) >= prefetched) found = u_dut.mem[word_slot];
    else if (in_out && ahead == '0) found = u_dut.u_prefetch.out_q;
    else found = u_dut.ram_data_q;
  end

  PointersAreInRange_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) u_dut.rd_ptr_q < Depth && u_dut.wr_ptr_q < Depth);
  UnreadWordsAreTheRest_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) u_dut.unread ? prefetched < sum_t'(filling) :
                   prefetched == sum_t'(filling));
  PointersSpanTheUnread_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) sum_t'(u_dut.wr_ptr_q) == end_slot);
  ChosenWordIsInItsPlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !followed || found == word);
  RamIsReadAhead_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(rst_ni && u_dut.unread) || in_ram);
  OutputIsFilledAhead_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(rst_ni && in_ram) || in_out);

endmodule
