/// Proof about sluice_l7_places: no two entries have one key, an operation finds its key's entry exactly if there is one, a message on its way keeps its entry until it is
/// finished or given up, and what is given up is found no more.
///
/// 16 entries, 2 modules; operations, keys and the order of everything are free, one key, chosen freely, is followed. Bounded, but from any state of the entries
/// in which all this is so. What ends is assumed to be on its way.
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

  logic op_ready, found_valid, hit, placed, mark, done_ready, forget_ready;
  logic [3:0] place;
  l7_end_t found;
  cfg_req_t req;

  always_comb begin
    req = quota_i;
    // No secret is changed while messages are there.
    req.tab = TableL7Quota;
    req.clear = 1'b0;
  end

  sluice_l7_places #(
      .Modules (2),
      .Messages(Entries),
      .Entries (Entries)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .op_valid_i    (op_valid_i),
      .op_ready_o    (op_ready),
      .op_i,
      .found_valid_o (found_valid),
      .found_op_o    (found),
      .hit_o         (hit),
      .placed_o      (placed),
      .place_o       (place),
      .mark_o        (mark),
      .done_valid_i  (done_valid_i),
      .done_ready_o  (done_ready),
      .done_i,
      .forget_valid_i(forget_valid_i),
      .forget_ready_o(forget_ready),
      .forget_i,
      .forgot_valid_o(),
      .forgot_o      (),
      .cfg_valid_i   (quota_valid_i),
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
  logic fresh_q = 1'b0;
  l7_key_t key_q;
  always_ff @(posedge clk_i) begin
    init_q  <= 1'b0;
    key_q   <= key_i;
    fresh_q <= init_q;
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
      ending_q <= '0;
    end else begin
      if (done_valid_i && done_ready) live_q[done_i.place[3:0]] <= 1'b0;
      if (forget_valid_i && forget_ready) ending_q[forget_i.place[3:0]] <= 1'b1;
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
  // Where it begins: behind the reset, with any entries.

  localparam int unsigned Sets = Entries / Choices;
  logic [Entries-1:0] same, wrong;
  logic [L7TableHashes-1:0] set;
  for (genvar h = 0; h < int'(L7TableHashes); h++) begin : gen_hash
    sluice_toeplitz #(
        .KeyBits   (KeyBits),
        .HashBits  (1),
        .SecretBits(L7SecretRowBits)
    ) u_hash (
        .key_i,
        .secret_i(u_dut.secrets_q[h]),
        .hash_o  (set[h])
    );
  end
  for (genvar c = 0; c < int'(Choices); c++) begin : gen_choice
    for (genvar n = 0; n < int'(Sets); n++) begin : gen_set
      localparam int unsigned At = Sets * c + n;
      logic valid, born, dead;
      l7_key_t key;
      assign {valid, key} = u_dut.gen_choice[c].u_entries.mem[n];
      assign born = u_dut.gen_choice[c].u_born.mem[n];
      assign dead = u_dut.gen_choice[c].u_dead.mem[n];
      assign same[At] = valid && key == key_i;
      assign wrong[At] = live_q[At] != (valid && born != dead) || (!valid && born != dead) || mark_q[At] != born ||
          whose_q[At] != key.module_id || (same[At] && set[c/int'(L7TableWays)] != 1'(n));
    end
  end
  always_comb begin
    // Of other keys as of this one.
    assume (!found_valid || ours || $onehot0(u_dut.same_q));
    if (fresh_q) assume (wrong == '0 && $onehot0(same) && has_q == (same != '0) && (!has_q || same[at_q]));
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
  AKeyIsFoundAgain_C :
  cover property (@(posedge clk_i) rst_ni && ours && hit);
  AKeyIsForgottenAndBeginsAnew_C :
  cover property (@(posedge clk_i) rst_ni && ours && placed && $past(forgets && forgotten == at_q, 2));

endmodule
