/// Proof about sluice_skid: nothing is lost, repeated or reordered; valid holds until ready.
///
/// By k-induction, so for runs of any length, with resets at any time.
module skid #(
    parameter int unsigned Width = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic choose_i,
    input logic valid_i,
    input logic [Width-1:0] data_i,
    input logic ready_i
);

  logic ready, valid, followed;
  logic [Width-1:0] data, word;
  logic [1:0] filling, ahead;

  sluice_skid #(
      .Width(Width)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o(ready),
      .data_i,
      .valid_o(valid),
      .ready_i,
      .data_o (data)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb if (init_q) assume (!rst_ni);

  word_follower #(
      .Width   (Width),
      .Capacity(2)
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

  ReadyUnlessFull_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) ready == (filling != 2'd2));
  ValidUnlessEmpty_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) valid == (filling != 2'd0));

  // Strengthening for the induction: where the word lies.
  ChosenWordIsInItsEntry_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !followed || word == (ahead == 2'd0 ? u_dut.data_q : u_dut.skid_q));

endmodule
