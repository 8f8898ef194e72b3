/// Proof about sluice_xdp_requests: what contexts ask of values and what packets count comes to values once, unchanged and in the order in which it came, with what packet memory has read for a
/// context's request.
///
/// A context asks again only when values have taken what it asked before. For runs of 9 cycles, of which each fills the queue of 4; 2 contexts, of which one is looked at for what was read. A count holds until it is taken.
module requests
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
(
    input logic                        clk_i,
    input logic                        rst_ni,
    input logic                        valid_i,
    input xdp_request_t                request_i,
    input logic                        context_i,
    input logic         [CodeBits-1:0] row_i,
    input logic         [        63:0] late_i,
    input logic                        count_valid_i,
    input xdp_request_t                count_i,
    input logic         [         7:0] count_slot_i,
    input logic                        ready_i,
    // Of the two contexts the one that is looked at.
    input logic                        looked_i,
    input logic                        choose_i
);

  logic ready, valid, context_out, count_ready, count;
  xdp_request_t request;
  logic [CodeBits-1:0] row;
  logic [63:0] late;

  sluice_xdp_requests #(
      .Contexts(2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o      (ready),
      .request_i,
      .context_i,
      .row_i,
      .late_i,
      .count_valid_i,
      .count_ready_o(count_ready),
      .count_i,
      .count_slot_i,
      .valid_o      (valid),
      .ready_i,
      .count_o      (count),
      .request_o    (request),
      .context_o    (context_out),
      .row_o        (row),
      .late_o       (late)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (rst_ni == !init_q);
  logic looked_q;
  always_ff @(posedge clk_i) looked_q <= looked_i;
  always_comb assume (init_q || looked_i == looked_q);

  // Who has asked and was not taken.
  logic [1:0] waits_q;
  logic takes, counts;
  assign takes  = valid && ready_i;
  assign counts = count_valid_i && count_ready;
  always_comb assume (!valid_i || (rst_ni && !waits_q[context_i]));
  always_comb assume (!count_valid_i || rst_ni);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waits_q <= '0;
    end else begin
      if (takes && !count) waits_q[context_out] <= 1'b0;
      if (valid_i) waits_q[context_i] <= 1'b1;
    end
  end

  // Every request and count in its turn. A count has a slot in the place of its row, and no context.
  localparam int unsigned Width = 2 + CodeBits + $bits(xdp_request_t);
  logic [Width-1:0] put_word, take_word;
  logic [2:0] filling, ahead;
  logic followed;
  logic [1:0] age;
  logic [Width-1:0] followed_word;
  assign put_word  = valid_i ? {1'b0, context_i, row_i, request_i} : {2'b10, CodeBits'(count_slot_i), count_i};
  assign take_word = {count, context_out && !count, row, request};
  word_follower #(
      .Width   (Width),
      .Capacity(4)
  ) u_follower (
      .clk_i,
      .rst_ni,
      .choose_i,
      .put_i      (valid_i || counts),
      .put_data_i (put_word),
      .valid_i    (valid),
      .take_i     (takes),
      .take_data_i(take_word),
      .filling_o  (filling),
      .followed_o (followed),
      .ahead_o    (ahead),
      .word_o     (followed_word),
      .age_o      (age)
  );

  // What was read for the one comes behind its request.
  logic came_q, known_q, taken_q;
  logic [63:0] late_q;
  always_ff @(posedge clk_i) begin
    came_q  <= rst_ni && valid_i && context_i == looked_i;
    taken_q <= rst_ni && takes && !count && context_out == looked_i;
    if (came_q) late_q <= late_i;
    known_q <= rst_ni && (came_q || (known_q && !(valid_i && context_i == looked_i)));
  end

  ThereIsAlwaysRoom_A :
  assert property (@(posedge clk_i) !rst_ni || !valid_i || ready);
  WhoIsOfferedHasAsked_A :
  assert property (@(posedge clk_i) !rst_ni || !valid || count || waits_q[context_out]);
  WhatWaitsIsOffered_A :
  assert property (@(posedge clk_i) !rst_ni || valid == (filling != '0));
  WhatWasReadIsItsOwn_A :
  assert property (@(posedge clk_i) !rst_ni || !taken_q || (known_q && late == late_q));
  // Both would be put at once.
  ACountIsTakenAlone_A :
  assert property (@(posedge clk_i) !rst_ni || !counts || !valid_i);
  CountsDoNotWaitForRoom_A :
  assert property (@(posedge clk_i) !rst_ni || count_ready || valid_i || filling >= 3'd2);

  BothWaitBehindACount_C :
  cover property (@(posedge clk_i) rst_ni && waits_q == '1 && takes && count);
  ACountWaitsBehindBoth_C :
  cover property (@(posedge clk_i) rst_ni && followed && followed_word[Width-1] && ahead == 3'd1 && age == 2'd3);

endmodule
