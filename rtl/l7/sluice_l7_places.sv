/// Entries of the message table: where a message's entry is, or gets one.
///
/// An entry lies in one of `L7TableWays` ways of its set in each of two halves; a secret hash a half chooses the set (table `l7_secret`).
/// An operation searches for its key. The first packet of a message that is not found gets a place: one that was never used, else one of a
/// finished message of its module, else of any finished message; among several one of the half whose set has more that were never used, or in
/// which fewer messages are on their way, and the first way of it. Messages that are on their way keep theirs. A module has at most as many of these as its quota says (table `l7_quota`), and all together `Messages`.
///
/// `op_valid_i` and `op_i` (valid and ready); 3 cycles later `found_valid_o` for one cycle, with `found_op_o`: `hit_o`, its entry is
/// `place_o`; or `placed_o`, its new entry is `place_o`; or neither. `done_*` says that the message in an entry is finished; the
/// entry counts as such for operations whose answer comes in later cycles. `forget_*` gives an entry back whose message is on its way:
/// an operation too, in front of others, behind which nobody finds it. `forgot_*` tells that it has happened.
///
/// Configuration: answered a cycle after `cfg_valid_i`. A clear empties the table.
/// Latency: 3 cycles. Throughput: an operation in 2 cycles. Stall behaviour: `op_ready_o` does not depend on `op_valid_i`; answers never stall.
module sluice_l7_places
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter  int unsigned Modules   = 64,
    parameter  int unsigned Messages  = 512,
    parameter  int unsigned Entries   = 2048,
    localparam int unsigned PlaceBits = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic    op_valid_i,
    output logic    op_ready_o,
    input  l7_end_t op_i,

    output logic                    found_valid_o,
    output l7_end_t                 found_op_o,
    output logic                    hit_o,
    output logic                    placed_o,
    output logic    [PlaceBits-1:0] place_o,
    output logic                    mark_o,         // of a new entry: goes back with `done_mark_i`

    input  logic     done_valid_i,
    output logic     done_ready_o,
    // "Bits of signal are not used": modules and places are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input  l7_done_t done_i,
    input  logic     forget_valid_i,
    output logic     forget_ready_o,
    input  l7_done_t forget_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic                 forgot_valid_o,
    output l7_forget_trace_row_t forgot_o,

    input  logic     cfg_valid_i,
    // "Bits of signal are not used": a row has some of a message's.
    // verilator lint_off UNUSEDSIGNAL
    input  cfg_req_t cfg_req_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned Ways = L7TableWays;
  localparam int unsigned Halves = L7TableHashes;
  localparam int unsigned Sets = Entries / Halves / Ways;
  localparam int unsigned SetBits = $clog2(Sets);
  localparam int unsigned Choices = Halves * Ways;
  localparam int unsigned ChoiceBits = $clog2(Choices);
  localparam int unsigned IndexBits = $clog2(Modules);
  localparam int unsigned CountBits = $clog2(Messages + 1);

  typedef logic [SetBits-1:0] set_t;
  typedef struct packed {
    logic valid;
    l7_key_t key;
  } entry_t;

  if (Halves != 2) begin : gen_bad_halves
    $fatal(1, "l7_places: there are %0d hashes, expected 2 (%m)", Halves);
  end
  if (2 ** SetBits != Sets || Sets < 2) begin : gen_bad_entries
    $fatal(1, "l7_places: Entries is %0d, expected a power of two from %0d (%m)", Entries, 2 * Choices);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Configuration: secrets and quotas.

  logic clear, is_secret, write;
  cfg_status_e status;
  logic [IndexBits-1:0] index;
  logic [Halves-1:0][L7SecretRowBits-1:0] secrets_q;
  l7_quota_row_t quota_in, quota_read;

  assign clear = cfg_req_i.clear;
  assign index = cfg_req_i.index[IndexBits-1:0];
  assign is_secret = cfg_req_i.tab == TableL7Secret;
  assign write = cfg_valid_i && cfg_req_i.write && status == StatusOk;
  assign status = is_secret ? cfg_check(
      cfg_req_i, 1'b1, 1'b1, 24'(Halves), 4'(L7SecretRowWords)
  ) : cfg_check(
      cfg_req_i, 1'b1, 1'b1, 24'(Modules), 4'(L7QuotaRowWords)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      // Of no meaning: some hash, until the host writes secrets.
      secrets_q <= '{128'h6d5a_56da_255b_0ec2_4167_253d_43a3_8fb0, 128'hd0ca_2bcb_ae7b_30b4_77cb_2da3_8030_f20c};
    end else if (write && is_secret) begin
      secrets_q[cfg_req_i.index[0]] <= cfg_req_i.data[L7SecretRowBits-1:0];
    end
    cfg_valid_o <= cfg_valid_i && rst_ni;
    cfg_rsp_o   <= '{status: status, words: 4'(L7QuotaRowWords), data: 256'(quota_read)};
    if (is_secret)
      cfg_rsp_o <= '{status: status, words: 4'(L7SecretRowWords), data: 256'(secrets_q[cfg_req_i.index[0]])};
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Hash; read; compare; choose.

  logic hash_q, read_q, choose_q, hash_forget_q, read_forget_q, forget_q;
  l7_done_t hash_done_q, read_done_q, forget_done_q;
  l7_end_t hash_op_q, read_op_q, choose_op_q;
  set_t [Halves-1:0] set, set_q, read_set_q, choose_set_q;

  // One operation in two cycles: what one writes the next one reads as it was, and is told (`wrote_q`).
  assign op_ready_o = !hash_q && !forget_valid_i;
  assign forget_ready_o = !hash_q;

  for (genvar h = 0; h < int'(Halves); h++) begin : gen_hash
    sluice_toeplitz #(
        .KeyBits   (KeyBits),
        .HashBits  (SetBits),
        .SecretBits(L7SecretRowBits)
    ) u_hash (
        .key_i   (op_i.packet.key),
        .secret_i(secrets_q[h]),
        .hash_o  (set[h])
    );
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      hash_q        <= 1'b0;
      read_q        <= 1'b0;
      choose_q      <= 1'b0;
      hash_forget_q <= 1'b0;
      read_forget_q <= 1'b0;
      forget_q      <= 1'b0;
    end else begin
      hash_q        <= forget_valid_i ? forget_ready_o : (op_valid_i && op_ready_o);
      read_q        <= hash_q;
      choose_q      <= read_q && !read_forget_q;
      hash_forget_q <= forget_valid_i;
      read_forget_q <= hash_forget_q;
      forget_q      <= read_q && read_forget_q;
    end
    if (!hash_q) begin
      hash_op_q   <= op_i;
      hash_done_q <= forget_i;
      set_q       <= forget_valid_i ? {Halves{forget_i.place[SetBits-1:0]}} : set;
    end
    if (hash_q) begin
      read_op_q   <= hash_op_q;
      read_done_q <= hash_done_q;
      read_set_q  <= set_q;
    end
    if (read_q) begin
      choose_op_q   <= read_op_q;
      forget_done_q <= read_done_q;
      choose_set_q  <= read_set_q;
    end
  end

  entry_t [Choices-1:0] read;
  logic [Choices-1:0] same, empty, own, same_q, empty_q, own_q, live;
  logic places;
  logic [ChoiceBits-1:0] chosen, wrote_choice_q;
  logic wrote_q;
  set_t wrote_set_q;
  entry_t entry_in, wrote_entry_q;

  assign entry_in = '{valid: !clear && !forget_q, key: clear ? '0 : choose_op_q.packet.key};

  // Of two who end a message in one cycle the one that forgets goes first.
  logic done;
  // "Bits of signal are not used": modules and places are numbered as for the largest target.
  // verilator lint_off UNUSEDSIGNAL
  l7_done_t done_now;
  // verilator lint_on UNUSEDSIGNAL
  assign done_ready_o = !forget_q;
  assign done = done_valid_i || forget_q;
  assign done_now = forget_q ? forget_done_q : done_i;

  logic same_wrote, own_wrote;
  assign same_wrote = wrote_entry_q.valid && wrote_entry_q.key == read_op_q.packet.key;
  assign own_wrote  = wrote_entry_q.key.module_id == read_op_q.packet.key.module_id;

  for (genvar c = 0; c < int'(Choices); c++) begin : gen_choice
    localparam int unsigned Half = c / Ways;
    set_t clear_set;
    logic written, born_there, born_mark, dead_there, dead, dead_q, live_q, done_here, passed;

    assign clear_set = cfg_req_i.index[SetBits-1:0];
    assign written   = (places || forget_q) && chosen == ChoiceBits'(c);

    sluice_ram_1r1w #(
        .Width   ($bits(entry_t)),
        .Depth   (Sets),
        .InitZero(1'b0),
        .Style   ("block")
    ) u_entries (
        .clk_i,
        .wr_en_i  (written || clear),
        .wr_addr_i(clear ? clear_set : choose_set_q[Half]),
        .wr_data_i(entry_in),
        .rd_en_i  (hash_q),
        .rd_addr_i(set_q[Half]),
        .rd_data_o(read[c])
    );

    // What was written as it was read. Both are compared: to choose between keys first is a LUT a bit.
    assign passed   = wrote_q && wrote_choice_q == ChoiceBits'(c) && wrote_set_q == read_set_q[Half];
    assign same[c]  = passed ? same_wrote : read[c].valid && read[c].key == read_op_q.packet.key;
    assign empty[c] = passed ? !wrote_entry_q.valid : !read[c].valid;
    assign own[c]   = passed ? own_wrote : read[c].key.module_id == read_op_q.packet.key.module_id;

    // On its way from its birth to its end: a bit for each, with one writer, and it is while they differ.
    sluice_ram_lut #(
        .Width   (1),
        .Depth   (Sets),
        .InitZero(1'b0)
    ) u_born (
        .clk_i,
        .we_i   ((written && !forget_q) || clear),
        .waddr_i(clear ? clear_set : choose_set_q[Half]),
        .wdata_i(born_mark),
        .raddr_i(read_set_q[Half]),
        .rdata_o(born_there)
    );
    assign done_here = done && done_now.place[PlaceBits-1:SetBits] == ChoiceBits'(c);
    sluice_ram_lut #(
        .Width   (1),
        .Depth   (Sets),
        .InitZero(1'b0)
    ) u_dead (
        .clk_i,
        .we_i   (done_here || clear),
        .waddr_i(clear ? clear_set : done_now.place[SetBits-1:0]),
        .wdata_i(clear ? 1'b0 : done_now.mark),
        .raddr_i(read_set_q[Half]),
        .rdata_o(dead_there)
    );
    // What ends as it is read has ended.
    assign dead = (done_here && done_now.place[SetBits-1:0] == read_set_q[Half]) ? done_now.mark : dead_there;
    always_ff @(posedge clk_i) begin
      if (read_q) begin
        live_q <= born_there != dead;
        dead_q <= dead;
      end
    end
    assign live[c]   = live_q;
    assign born_mark = !clear && !dead_q;
  end

  always_ff @(posedge clk_i) begin
    if (read_q) {same_q, empty_q, own_q} <= {same, empty, own};
  end

  // The best of what may be taken. Both halves fill alike, so that sets of full ones are rare: in one that has more to take from, and
  // what is there is looked at in both ways at once.
  logic [Halves-1:0][Ways-1:0] finished, candidates, of_empty, of_live, marks;
  logic [Halves-1:0][$clog2(Ways+1)-1:0] taken, on_their_way;
  logic [Halves-1:0][$clog2(Ways)-1:0] way;
  logic [Halves-1:0] some, mark, unused_valid;
  logic [Halves-1:0][Ways-1:0] unused_onehot;
  logic any_empty, any_own, any_same, any, room, upper, upper_lighter;
  logic [ChoiceBits-1:0] same_at;

  assign finished = ~empty_q & ~live;
  assign of_empty = empty_q;
  assign of_live = live;
  assign any_empty = |empty_q;
  assign any_own = |(finished & own_q);
  assign any_same = |same_q;
  assign candidates = any_empty ? empty_q : any_own ? finished & own_q : finished;
  for (genvar h = 0; h < int'(Halves); h++) begin : gen_half
    always_comb begin
      taken[h] = '0;
      on_their_way[h] = '0;
      for (int unsigned w = 0; w < Ways; w++) begin
        taken[h] += $bits(taken[h])'(!of_empty[h][w]);
        on_their_way[h] += $bits(on_their_way[h])'(of_live[h][w]);
      end
    end
    assign some[h] = |candidates[h];
    sluice_prio_enc #(
        .Width(Ways)
    ) u_way (
        .req_i   (candidates[h]),
        .valid_o (unused_valid[h]),
        .index_o (way[h]),
        .onehot_o(unused_onehot[h])
    );
    for (genvar w = 0; w < int'(Ways); w++) begin : gen_mark
      assign marks[h][w] = gen_choice[h*Ways+w].born_mark;
    end
    assign mark[h] = marks[h][way[h]];
  end
  assign upper_lighter = any_empty ? taken[1] < taken[0] : on_their_way[1] < on_their_way[0];
  assign upper = upper_lighter ? some[1] : !some[0];
  assign any = |some;

  // No key is there twice.
  always_comb begin
    same_at = '0;
    for (int unsigned c = 0; c < Choices; c++) if (same_q[c]) same_at |= ChoiceBits'(c);
  end

  assign chosen = forget_q ? forget_done_q.place[PlaceBits-1:SetBits] : any_same ? same_at : {upper, way[upper]};
  assign places = choose_q && !any_same && any && room && choose_op_q.packet.way == L7WayFirst;
  assign found_valid_o = choose_q;
  assign found_op_o = choose_op_q;
  assign hit_o = any_same;
  assign placed_o = places;
  assign place_o = {chosen, choose_set_q[chosen[ChoiceBits-1]]};
  assign mark_o = mark[upper];

  always_ff @(posedge clk_i) begin
    wrote_q        <= places || forget_q;
    wrote_choice_q <= chosen;
    wrote_set_q    <= choose_set_q[chosen[ChoiceBits-1]];
    wrote_entry_q  <= entry_in;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // How many are on their way: what has begun and what has ended of each module, and of all.

  logic [IndexBits-1:0] module_at, done_module;
  // With a bit more, which is the sign of what is left.
  typedef logic [CountBits:0] own_t;
  own_t begun, ended, ended_there, limit, left;
  logic [CountBits-1:0] all_q;

  assign module_at = choose_op_q.packet.key.module_id[IndexBits-1:0];
  assign done_module = done_now.module_id[IndexBits-1:0];
  // Behind the message that begins. One sum, so that its carries go through once.
  assign left = limit + ended - begun - own_t'(1);
  assign room = !left[CountBits] && all_q < CountBits'(Messages);

  assign quota_in = clear ? '0 : cfg_req_i.data[L7QuotaRowBits-1:0];
  sluice_ram_lut #(
      .Width(L7QuotaRowBits),
      .Depth(Modules)
  ) u_quota (
      .clk_i,
      .we_i   ((write && !is_secret) || clear),
      .waddr_i(index),
      .wdata_i(quota_in),
      .raddr_i(index),
      .rdata_o(quota_read)
  );
  // As far as there are so many.
  sluice_ram_lut #(
      .Width($bits(own_t)),
      .Depth(Modules)
  ) u_limits (
      .clk_i,
      .we_i   ((write && !is_secret) || clear),
      .waddr_i(index),
      .wdata_i((32'(quota_in.messages) > Messages) ? own_t'(Messages) : own_t'(quota_in.messages)),
      .raddr_i(module_at),
      .rdata_o(limit)
  );
  sluice_ram_lut #(
      .Width($bits(own_t)),
      .Depth(Modules)
  ) u_begun (
      .clk_i,
      .we_i   (places || clear),
      .waddr_i(clear ? index : module_at),
      .wdata_i(clear ? '0 : begun + own_t'(1)),
      .raddr_i(module_at),
      .rdata_o(begun)
  );
  sluice_ram_lut #(
      .Width    ($bits(own_t)),
      .Depth    (Modules),
      .ReadPorts(2)
  ) u_ended (
      .clk_i,
      .we_i   (done || clear),
      .waddr_i(clear ? index : done_module),
      .wdata_i(clear ? '0 : ended_there + own_t'(1)),
      .raddr_i({module_at, done_module}),
      .rdata_o({ended, ended_there})
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear) all_q <= '0;
    else all_q <= all_q + CountBits'(places) - CountBits'(done);
  end

  // How many have searched before: for traces.
  logic [31:0] searches_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) searches_q <= '0;
    else searches_q <= searches_q + 32'(choose_q);
  end
  assign forgot_valid_o = forget_q;
  assign forgot_o = '{place: 14'(forget_done_q.place), searches: searches_q, module_id: forget_done_q.module_id};

`ifndef SYNTHESIS
  OneEntryAKey_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !choose_q || $onehot0(same_q));
`endif

endmodule
