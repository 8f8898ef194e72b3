/// Proof about sluice_xdp_requests: what a context asks of values comes to them once, as it was asked, with what packet memory has read for it; contexts come
/// in the order in which they asked.
///
/// A context asks again only when values have taken what it asked before. By k-induction, for runs of any length; 2 contexts, one of which is looked at. A reset
/// stands only at the start.
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
    input logic                        ready_i,
    // Of the two contexts the one that is looked at.
    input logic                        looked_i
);

  logic ready, valid, context_out;
  xdp_request_t request;
  logic [CodeBits-1:0] row;
  logic [63:0] late;

  sluice_xdp_requests #(
      .Contexts(2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o  (ready),
      .request_i,
      .context_i,
      .row_i,
      .late_i,
      .valid_o  (valid),
      .ready_i,
      .request_o(request),
      .context_o(context_out),
      .row_o    (row),
      .late_o   (late)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (rst_ni == !init_q);
  logic looked_q;
  always_ff @(posedge clk_i) looked_q <= looked_i;
  always_comb assume (init_q || looked_i == looked_q);

  // Who has asked and was not taken, who of both was first, and what the one asked.
  logic [1:0] waits_q;
  logic first_q, takes;
  xdp_request_t request_q;
  logic [CodeBits-1:0] row_q;
  assign takes = valid && ready_i;
  always_comb assume (!valid_i || (rst_ni && !waits_q[context_i]));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waits_q <= '0;
    end else begin
      if (takes) waits_q[context_out] <= 1'b0;
      if (valid_i) waits_q[context_i] <= 1'b1;
    end
    if (valid_i && (waits_q == '0 || (takes && (waits_q & ~(2'd1 << context_out)) == '0))) first_q <= context_i;
    else if (takes) first_q <= !context_out;
    if (valid_i && context_i == looked_i) {request_q, row_q} <= {request_i, row_i};
  end

  // What was read for the one comes behind its request.
  logic came_q, known_q, taken_q;
  logic [63:0] late_q;
  always_ff @(posedge clk_i) begin
    came_q  <= rst_ni && valid_i && context_i == looked_i;
    taken_q <= rst_ni && takes && context_out == looked_i;
    if (came_q) late_q <= late_i;
    known_q <= rst_ni && (came_q || (known_q && !(valid_i && context_i == looked_i)));
  end

  ThereIsAlwaysRoom_A :
  assert property (@(posedge clk_i) !rst_ni || !valid_i || ready);
  WhoIsOfferedHasAsked_A :
  assert property (@(posedge clk_i) !rst_ni || valid == (waits_q != '0));
  TheFirstIsOffered_A :
  assert property (@(posedge clk_i) !rst_ni || !valid || context_out == first_q);
  ItIsAsItWasAsked_A :
  assert property (@(posedge clk_i) !rst_ni || !valid || context_out != looked_i || (request == request_q && row == row_q));
  WhatWasReadIsItsOwn_A :
  assert property (@(posedge clk_i) !rst_ni || !taken_q || (known_q && late == late_q));

  BothWait_C :
  cover property (@(posedge clk_i) rst_ni && waits_q == '1 && takes && context_out == looked_i);

  // Strengthening for the induction.
  logic [1:0] level;
  logic at;
  assign level = u_dut.gen_queue.u_requests.level_q;
  assign at = u_dut.gen_queue.u_requests.rd_ptr_q;
  function automatic logic whose(logic entry);
    return u_dut.gen_queue.u_requests.mem[entry][$bits(xdp_request_t)];
  endfunction
  QueueIsThatOfTheWaiting_A :
  assert property (@(posedge clk_i) !rst_ni || (level == 2'(waits_q[0]) + 2'(waits_q[1]) && u_dut.gen_queue.u_requests.valid_q == (level != '0) &&
      u_dut.gen_queue.u_requests.wr_ptr_q == (at ^ level[0])));
  EntriesAreThoseOfTheWaiting_A :
  assert property (@(posedge clk_i) !rst_ni || level == '0 || (whose(
      at
  ) == first_q && waits_q[first_q] && (level != 2'd2 || whose(
      !at
  ) == !first_q)));
  TheEntryIsAsAsked_A :
  assert property (@(posedge clk_i) !rst_ni || !waits_q[looked_i] ||
      u_dut.gen_queue.u_requests.mem[(first_q == looked_i) ? at : !at] == {row_q, looked_i, request_q});
  ReadIsKept_A :
  assert property (@(posedge clk_i) !rst_ni || !known_q || u_dut.gen_queue.u_late.mem[looked_i] == late_q);
  ItIsKnownOrComes_A :
  assert property (@(posedge clk_i) !rst_ni || (u_dut.gen_queue.came_q && u_dut.gen_queue.came_context_q == looked_i) == came_q);
  AskedIsKnown_A :
  assert property (@(posedge clk_i) !rst_ni || !waits_q[looked_i] || came_q || known_q);
  TakenIsTheOne_A :
  assert property (@(posedge clk_i) !rst_ni || !taken_q || (u_dut.gen_queue.taken_context_q == looked_i && known_q));

endmodule
