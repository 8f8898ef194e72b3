/// Follows one word through a queue, for the proofs: claims that it leaves in its turn, unchanged.
///
/// The word is chosen freely (`choose_i` is an unconstrained input) among all that enter. With
/// `ahead_o` words in front of it when it enters, it has to be the word that leaves after exactly
/// so many others. As any word may be the one, nothing is lost, repeated or reordered.
module word_follower #(
    parameter  int unsigned Width      = 4,
    parameter  int unsigned Capacity   = 4,
    localparam int unsigned LevelWidth = $clog2(Capacity + 1)
) (
    input logic clk_i,
    input logic rst_ni,
    input logic choose_i,

    // A word enters.
    input logic             put_i,
    input logic [Width-1:0] put_data_i,

    // The output of the queue; a word leaves with `take_i`.
    input logic             valid_i,
    input logic             take_i,
    input logic [Width-1:0] take_data_i,

    // Words inside, by this module's own count.
    output logic [LevelWidth-1:0] filling_o,
    // The chosen word is inside, with so many words in front of it.
    output logic                  followed_o,
    output logic [LevelWidth-1:0] ahead_o,
    output logic [     Width-1:0] word_o,
    // Cycles since it entered; stays at 3.
    output logic [           1:0] age_o
);

  logic chosen_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      filling_o  <= '0;
      chosen_q   <= 1'b0;
      followed_o <= 1'b0;
    end else begin
      filling_o <= filling_o + LevelWidth'(put_i) - LevelWidth'(take_i);
      if (put_i && choose_i && !chosen_q) begin
        chosen_q   <= 1'b1;
        followed_o <= 1'b1;
        word_o     <= put_data_i;
        ahead_o    <= filling_o - LevelWidth'(take_i);
        age_o      <= 2'd1;
      end else if (followed_o) begin
        followed_o <= !(take_i && ahead_o == '0);
        ahead_o    <= ahead_o - LevelWidth'(take_i);
        if (age_o != 2'd3) age_o <= age_o + 2'd1;
      end
    end
  end

  NothingLeavesAnEmptyQueue_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !valid_i || filling_o != '0);
  NothingEntersAFullQueue_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) filling_o <= LevelWidth'(Capacity) &&
                   !(put_i && filling_o == LevelWidth'(Capacity)));
  ChosenWordIsInside_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !followed_o || (chosen_q && ahead_o < filling_o));
  ChosenWordLeavesInItsTurn_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !(followed_o && ahead_o == '0 && valid_i) || take_data_i == word_o);

  ChosenWordIsTheLastOfAFullQueue_C :
  cover property (@(posedge clk_i) rst_ni && followed_o && ahead_o == LevelWidth'(Capacity - 1));
  ChosenWordLeaves_C :
  cover property (@(posedge clk_i) rst_ni && followed_o && ahead_o == '0 && take_i);

endmodule
