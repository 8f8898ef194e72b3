/// Proof about sluice_fifo: nothing is lost, repeated or reordered; valid holds until ready.
///
/// By k-induction, so for runs of any length, with resets at any time.
module fifo #(
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

  sluice_fifo #(
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
      .age_o      ()
  );

  LevelIsExact_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) level == filling);
  ReadyUnlessFull_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) ready == (filling != LevelWidth'(Depth)));
  ValidUnlessEmpty_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) valid == (filling != '0));

  // Strengthening for the induction: where the words lie.
  localparam int unsigned SumWidth = LevelWidth + 1;
  typedef logic [SumWidth-1:0] sum_t;

  function automatic sum_t slot(sum_t sum);
    return (sum >= sum_t'(Depth)) ? sum - sum_t'(Depth) : sum;
  endfunction

  sum_t end_slot, word_slot;
  assign end_slot  = slot(sum_t'(u_dut.rd_ptr_q) + sum_t'(filling));
  assign word_slot = slot(sum_t'(u_dut.rd_ptr_q) + sum_t'(ahead));

  PointersAreInRange_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) u_dut.rd_ptr_q < Depth && u_dut.wr_ptr_q < Depth);
  PointersSpanTheWords_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) sum_t'(u_dut.wr_ptr_q) == end_slot);
  ChosenWordIsInItsSlot_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !followed || u_dut.mem[word_slot] == word);

endmodule
