/// Proof about sluice_l7_places: no two entries have one key, an operation finds its key's entry exactly if there is one, a message on its way keeps its entry until it is
/// finished or given up, and what is given up is found no more.
///
/// 16 entries, 2 modules, 4 messages; operations, keys and the order of everything are free, one key, chosen freely, is followed. What ends is assumed to be on
/// its way.
module entries
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
(
    input logic     clk_i,
    input logic     rst_ni,
    input l7_key_t  key_i,           // that is followed
    input logic     op_valid_i,
    input l7_end_t  op_i,
    input logic     done_valid_i,
    input l7_done_t done_i,
    input logic     forget_valid_i,
    input l7_done_t forget_i,
    input logic     quota_valid_i,
    input cfg_req_t quota_i
);

  localparam int unsigned Entries = 16;
  localparam int unsigned Choices = L7TableHashes * L7TableWays;

  logic [2:0] clear_q = '0;
  logic clear, op_ready, found_valid, hit, placed, mark, done_ready, forget_ready;
  logic [3:0] place;
  l7_end_t found;
  cfg_req_t req;
  assign clear = clear_q < 3'd2;

  always_comb begin
    req = quota_i;
    // No secret is changed while messages are there.
    req.tab = TableL7Quota;
    req.clear = clear;
    if (clear) req.index = 24'(clear_q);
  end

  sluice_l7_places #(
      .Modules (2),
      .Messages(4),
      .Entries (Entries)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .op_valid_i    (op_valid_i && !clear),
      .op_ready_o    (op_ready),
      .op_i,
      .found_valid_o (found_valid),
      .found_op_o    (found),
      .hit_o         (hit),
      .placed_o      (placed),
      .place_o       (place),
      .mark_o        (mark),
      .done_valid_i  (done_valid_i && !clear),
      .done_ready_o  (done_ready),
      .done_i,
      .forget_valid_i(forget_valid_i && !clear),
      .forget_ready_o(forget_ready),
      .forget_i,
      .forgot_valid_o(),
      .forgot_o      (),
      .cfg_valid_i   (quota_valid_i && !clear),
      .cfg_req_i     (req),
      .cfg_valid_o   (),
      .cfg_rsp_o     ()
  );

  // Messages on their way, by this harness's own account; `ending_q`: it has been said that one is given up, and it is not yet.
  logic [Entries-1:0] live_q, mark_q, ending_q;
  logic [Entries-1:0][ModuleBits-1:0] whose_q;
  // The followed key has an entry, and where.
  logic has_q;
  logic [3:0] at_q;

  logic init_q = 1'b1;
  l7_key_t key_q;
  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    key_q  <= key_i;
    if (!rst_ni) clear_q <= '0;
    else if (clear) clear_q <= clear_q + 3'd1;
  end
  always_comb begin
    assume (rst_ni == !init_q);
    if (!init_q) assume (key_i == key_q);
    assume (op_i.packet.way == L7WayFirst || op_i.packet.way == L7WayLater);
    assume (op_i.packet.key.module_id < 6'd2 && key_i.module_id < 6'd2);
    // Who ends a message says whose it is, once, and names the mark that it began with.
    assume (!done_valid_i || (live_q[done_i.place[3:0]] && done_i.mark == mark_q[done_i.place[3:0]] &&
                              done_i.module_id == whose_q[done_i.place[3:0]] && !ending_q[done_i.place[3:0]]));
    assume (!forget_valid_i || (live_q[forget_i.place[3:0]] && forget_i.mark == mark_q[forget_i.place[3:0]] &&
                                forget_i.module_id == whose_q[forget_i.place[3:0]] && !ending_q[forget_i.place[3:0]]));
    assume (!(done_valid_i && forget_valid_i) || done_i.place[3:0] != forget_i.place[3:0]);
  end

  logic forgets, ours;
  logic [3:0] forgotten;

  assign forgets = u_dut.forget_q;
  assign forgotten = u_dut.forget_done_q.place[3:0];
  assign ours = found_valid && found.packet.key == key_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      live_q   <= '0;
      ending_q <= '0;
      has_q    <= 1'b0;
    end else begin
      if (done_valid_i && done_ready && !clear) live_q[done_i.place[3:0]] <= 1'b0;
      if (forget_valid_i && forget_ready && !clear) ending_q[forget_i.place[3:0]] <= 1'b1;
      if (forgets) begin
        live_q[forgotten]   <= 1'b0;
        ending_q[forgotten] <= 1'b0;
        if (has_q && at_q == forgotten) has_q <= 1'b0;
      end
      if (found_valid && placed) begin
        live_q[place]  <= 1'b1;
        mark_q[place]  <= mark;
        whose_q[place] <= found.packet.key.module_id;
        if (ours) begin
          has_q <= 1'b1;
          at_q  <= place;
        end else if (has_q && at_q == place) begin
          has_q <= 1'b0;
        end
      end
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Claims.

  TheKeyIsFoundExactlyIfItIsThere_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !ours || hit == has_q);
  ItIsFoundWhereItIs_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(ours && hit) || place == at_q);
  NoSecondEntryOfAKey_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(ours && placed) || !has_q);
  OnesOnTheirWayKeepTheirPlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(found_valid && placed) || !live_q[place]);
  NoMoreThanThereMayBe_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $countones(live_q) <= 4);

  AKeyIsFoundAgain_C :
  cover property (@(posedge clk_i) rst_ni && ours && hit);
  AKeyIsForgottenAndBeginsAnew_C :
  cover property (@(posedge clk_i) rst_ni && ours && placed && $past(forgets && forgotten == at_q, 2));

endmodule
