/// Match part of a stage: key, conditions, exact and ternary match, winner (docs/design/rmt.md, "Stage").
///
/// The packet's slot comes as everywhere in the pipeline: `valid_i` and whose rows it uses one cycle before `phv_i`. `win_o` is
/// combinational in c3, so that it can address a RAM; without a winner its `valid` is low. Everything else is registered.
///
///        key row read (in the cycle before c0)
///   c0   key pieces, operands of the predicates, compared
///   c1   conditions, hash, sets; ternary chunks read, combined
///   c2   ways read, compared; lowest ternary entry
///   c3   way, winner
///   c4   conditions and hash registered for the action
///
/// Tables key, exact0 to exact3, ternary. Writes take effect in one cycle, those of the ternary table as
/// `sluice_rmt_ternary` says. Reads of key and exact rows wait for a slot without packet, with `slot_request_o` high, and
/// read what a packet in that slot would see. The answer to another block's table is never valid; while
/// `cfg_valid_o` is low `cfg_rsp_o` is zero, so that answers are combined by OR.
///
/// Latency: 3 cycles from `phv_i`, fixed. Throughput: 1 packet a cycle. Never stalls.
module sluice_rmt_match
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault
) (
    input logic clk_i,
    input logic rst_ni,

    // The cycle before c0.
    input logic                  valid_i,
    input logic [ModuleBits-1:0] rows_module_i,
    input logic                  rows_generation_i,

    input  rmt_phv_t        phv_i,         // c0
    output rmt_win_t        win_o,         // c3
    output logic     [10:0] hits_base_o,   // c3
    output logic     [ 1:0] conditions_o,  // c4
    output logic     [31:0] hash_o,        // c4

    input  logic                                    cfg_valid_i,
    input  rmt_cfg_req_t                            cfg_req_i,
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input  logic         [32*RmtActionRowWords-1:0] cfg_row_i,
    // verilator lint_on UNUSEDSIGNAL
    output logic                                    cfg_valid_o,
    output cfg_rsp_t                                cfg_rsp_o,
    output logic                                    slot_request_o
);

  localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules);
  localparam int unsigned SetBits = $clog2(Cfg.sets);
  localparam int unsigned TernaryBits = $clog2(Cfg.ternary);
  localparam int unsigned FirstTernaryData = RmtExactWays * Cfg.sets;
  localparam int unsigned FirstDefaultData = FirstTernaryData + Cfg.ternary;
  localparam int unsigned RowTop = 32 * RmtActionRowWords - 1;

  if (2 ** ModuleIndexBits != Cfg.modules || ModuleIndexBits > ModuleBits) begin : gen_bad_modules
    $fatal(1, "rmt_match: modules is %0d, expected a power of two from 1 to 64 (%m)", Cfg.modules);
  end

  // Configuration: which access, and what of it the tables do now.
  logic
      is_key,
      is_ternary,
      mine,
      access_q,
      good_q,
      read_now,
      write_now,
      key_slot,
      exact_slot_c1,
      write_ternary_q,
      ternary_ready;
  logic is_key_q, is_ternary_q;
  logic [RmtExactWays-1:0] is_way, is_way_q;
  cfg_status_e status, status_q;
  logic [3:0] words_q;

  assign is_key     = cfg_req_i.tab == TableRmtKey;
  assign is_ternary = cfg_req_i.tab == TableRmtTernary;
  for (genvar w = 0; w < int'(RmtExactWays); w++) begin : gen_is_way
    assign is_way[w] = cfg_req_i.tab == TableRmtExact0 + 8'(w);
  end
  assign mine = is_key || is_ternary || |is_way;

  // Each table's limits are constants, found first and then checked once, in a cycle of its own.
  logic beyond;
  logic [6:0] row_words, row_words_q;
  always_comb begin
    beyond = rmt_beyond(cfg_req_i.index, Cfg.sets);
    row_words = 7'(RmtExactRowWords);
    if (is_key) begin
      beyond = rmt_beyond(cfg_req_i.index, 2 * Cfg.modules);
      row_words = 7'(RmtKeyRowWords);
    end
    if (is_ternary) begin
      beyond = rmt_beyond(cfg_req_i.index, Cfg.ternary);
      row_words = 7'(RmtTernaryRowWords);
    end
    status = rmt_cfg_status(cfg_req_i, 1'b0, beyond, row_words);
  end
  always_ff @(posedge clk_i) begin
    if (!rst_ni) access_q <= 1'b0;
    else access_q <= cfg_valid_i && mine;
    good_q       <= status == StatusOk;
    status_q     <= status;
    row_words_q  <= row_words;
    words_q      <= rmt_slice_words(cfg_req_i, row_words_q);
    // `cfg_req_i` holds, so these do too.
    is_key_q     <= is_key;
    is_ternary_q <= is_ternary;
    is_way_q     <= is_way;
  end
  assign read_now  = access_q && good_q && !cfg_req_i.write;
  assign write_now = access_q && good_q && cfg_req_i.write;

  // Which cycles hold a packet: valid_q[n] in c<n>.
  logic [1:0] valid_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) valid_q <= '0;
    else valid_q <= {valid_q[0], valid_i};
  end

  // Before c0: the row of the packet's module and generation.
  logic [ModuleIndexBits:0] rows_index;
  (* keep *) logic [3:0][ModuleIndexBits:0] rows_index_q;
  logic [ModuleBits-1:0] module_q[2];
  logic generation_q[2];
  rmt_key_row_t row;

  assign rows_index = (ModuleIndexBits + 1)'({rows_module_i, rows_generation_i});

  sluice_ram_1r1w #(
      .Width   (RmtKeyRowBits),
      .Depth   (2 * Cfg.modules),
      .InitZero(1'b0)
  ) u_key_rows (
      .clk_i,
      .wr_en_i  ((write_now && is_key_q) || cfg_req_i.clear),
      .wr_addr_i(cfg_req_i.index[ModuleIndexBits:0]),
      .wr_data_i(cfg_row_i[RowTop-32*RmtKeyRowWords+1+:RmtKeyRowBits]),
      .rd_en_i  (1'b1),
      .rd_addr_i(valid_i ? rows_index : cfg_req_i.index[ModuleIndexBits:0]),
      .rd_data_o(row)
  );

  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      rows_index_q[0] <= rows_index;
      module_q[0]     <= rows_module_i;
      generation_q[0] <= rows_generation_i;
    end
    if (valid_q[0]) begin
      rows_index_q[1] <= rows_index_q[0];
      module_q[1]     <= module_q[0];
      generation_q[1] <= generation_q[0];
    end
    for (int unsigned i = 2; i < 4; i++) rows_index_q[i] <= rows_index_q[i-1];
  end

  // c0: key and predicates.
  logic [191:0] key_pieces, key_pieces_q1;
  logic [1:0] opposite, compares_q1;

  sluice_rmt_key u_key (
      .containers_i(phv_i.c),
      .pieces_i    (row.pieces),
      .mask_i      (row.mask[191:0]),
      .key_o       (key_pieces)
  );

  for (genvar p = 0; p < 2; p++) begin : gen_predicate
    sluice_rmt_predicate u_predicate (
        .clk_i,
        .valid_i   (valid_q[0]),
        .phv_i,
        .row_i     (row.predicates[p]),
        .opposite_o(opposite[p]),
        .compares_o(compares_q1[p])
    );
  end

  logic [1:0][3:0] truth_q1, truth_key_q1;
  logic [SetBits-1:0] set_mask, set_base_q1, set_mask_q1;
  logic [1:0][3:0] truth, truth_key;

  always_comb begin
    // A slot without packet reads the set that the host asks for.
    for (int unsigned i = 0; i < SetBits; i++) set_mask[i] = valid_q[0] && row.set_bits > 4'(i);
    for (int unsigned i = 0; i < 2; i++) begin
      for (int unsigned e = 0; e < 4; e++) truth[i][e] = row.truth[i][2'(e)^opposite];
      truth_key[i] = truth[i] & {4{row.mask[192+i]}};
    end
  end

  always_ff @(posedge clk_i) begin
    // Cleared by the mask: an enable would cost a LUT.
    key_pieces_q1 <= key_pieces;
    truth_q1      <= truth;
    truth_key_q1  <= truth_key;
    set_base_q1   <= valid_q[0] ? row.set_base[SetBits-1:0] : cfg_req_i.index[SetBits-1:0];
    set_mask_q1   <= set_mask;
  end

  // c1: conditions, whole key, hash.
  (* keep *)logic [ 1:0] key_conditions;
  (* keep *)logic [31:0] hash;
  logic [ 1:0] conditions;
  // Delays are kept, so that they do not become shift registers, which are LUTs.
  (* keep *) logic [1:0] conditions_q2, conditions_q3;
  (* keep *) logic [31:0] hash_q2, hash_q3;
  logic [RmtKeyBits-1:0] key;

  // Those of the key are masked in the truth table, for they come late.
  for (genvar i = 0; i < 2; i++) begin : gen_condition
    assign conditions[i] = truth_q1[i][compares_q1];
    assign key_conditions[i] = truth_key_q1[i][compares_q1];
  end
  assign key = {key_conditions, key_pieces_q1};

  sluice_rmt_hash u_hash (
      .clk_i,
      .valid_i     (valid_q[0]),
      .pieces_i    (key_pieces),
      .conditions_i(key_conditions),
      .hash_o      (hash)
  );

  always_ff @(posedge clk_i) begin
    if (valid_q[1]) begin
      conditions_q2 <= conditions;
      hash_q2       <= hash;
    end
    conditions_q3 <= conditions_q2;
    conditions_o  <= conditions_q3;
    hash_q3       <= hash_q2;
    hash_o        <= hash_q3;
  end

  // c1 to c3: the two kinds of entries, and the default.
  // Kept, so that the winner is one step behind both kinds.
  (* keep *) logic exact_hit;
  (* keep *) logic [8:0] exact_action;
  (* keep *) logic [10:0] exact_number;
  logic ternary_hit;
  logic [8:0] ternary_action;
  logic [10:0] ternary_number;
  logic [11:0] exact_data;
  logic [TernaryBits-1:0] ternary_index;
  logic [RmtExactWays-1:0][32*RmtExactRowWords-1:0] exact_rows;
  rmt_ternary_row_t ternary_row;

  sluice_rmt_exact #(
      .Cfg(Cfg)
  ) u_exact (
      .clk_i,
      .valid_i      (valid_q[1]),
      .key_i        (key),
      .hash_i       (hash),
      .set_base_i   (set_base_q1),
      .set_mask_i   (set_mask_q1),
      .module_i     (module_q[1]),
      .generation_i (generation_q[1]),
      .hit_o        (exact_hit),
      .action_o     (exact_action),
      .number_o     (exact_number),
      .data_o       (exact_data),
      .write_i      ((is_way_q & {RmtExactWays{write_now}}) | {RmtExactWays{cfg_req_i.clear}}),
      .write_index_i(cfg_req_i.index[SetBits-1:0]),
      .write_row_i  (cfg_row_i[RowTop-32*RmtExactRowWords+1+:RmtExactRowBits]),
      .rows_o       (exact_rows)
  );

  sluice_rmt_ternary #(
      .Cfg(Cfg)
  ) u_ternary (
      .clk_i,
      .rst_ni,
      .valid_i     (valid_q[1]),
      .key_i       (key),
      .module_i    (module_q[1]),
      .generation_i(generation_q[1]),
      .hit_o       (ternary_hit),
      .index_o     (ternary_index),
      .action_o    (ternary_action),
      .number_o    (ternary_number),
      .wr_valid_i  (write_ternary_q || cfg_req_i.clear),
      .wr_ready_o  (ternary_ready),
      .wr_index_i  (cfg_req_i.index[TernaryBits-1:0]),
      .wr_row_i    (cfg_row_i[RowTop-32*RmtTernaryRowWords+1+:RmtTernaryRowBits]),
      .rd_en_i     (read_now && is_ternary_q),
      .rd_index_i  (cfg_req_i.index[TernaryBits-1:0]),
      .rd_row_o    (ternary_row)
  );

  typedef struct packed {
    logic [10:0] hits_base;
    logic        valid;
    logic [8:0]  action;
    logic [10:0] number;
  } default_t;

  (* keep *) default_t [3:1] default_q;

  always_ff @(posedge clk_i) begin
    if (valid_q[0]) begin
      default_q[1] <= '{
          hits_base: row.hits_base,
          valid: row.default_valid,
          action: row.default_action,
          number: row.default_number
      };
    end
    for (int unsigned i = 2; i <= 3; i++) default_q[i] <= default_q[i-1];
  end
  assign hits_base_o = default_q[3].hits_base;

  // c3: winner.
  always_comb begin
    win_o = '{
        valid: default_q[3].valid,
        action: default_q[3].action,
        number: default_q[3].number,
        data: 12'(FirstDefaultData) + 12'(rows_index_q[3])
    };
    if (ternary_hit) begin
      win_o = '{
          valid: 1'b1,
          action: ternary_action,
          number: ternary_number,
          data: 12'(FirstTernaryData) + 12'(ternary_index)
      };
    end
    if (exact_hit) win_o = '{valid: 1'b1, action: exact_action, number: exact_number, data: exact_data};
  end

  // Reads: in a slot without packet, except of the ternary table, whose copy packets do not look at.
  logic read_key_q, read_exact_q, key_slot_q, exact_slot_q, read_ternary_q;
  logic answer_d, answer_q;

  assign key_slot       = read_key_q && !valid_i;
  assign exact_slot_c1  = read_exact_q && !valid_q[1];
  assign slot_request_o = read_key_q || read_exact_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_key_q      <= 1'b0;
      read_exact_q    <= 1'b0;
      key_slot_q      <= 1'b0;
      exact_slot_q    <= 1'b0;
      read_ternary_q  <= 1'b0;
      write_ternary_q <= 1'b0;
      answer_q        <= 1'b0;
    end else begin
      if (read_now) begin
        read_key_q   <= is_key_q;
        read_exact_q <= |is_way_q;
      end
      if (key_slot) read_key_q <= 1'b0;
      if (exact_slot_c1) read_exact_q <= 1'b0;
      key_slot_q     <= key_slot;
      exact_slot_q   <= exact_slot_c1;
      read_ternary_q <= read_now && is_ternary_q;
      if (write_now && is_ternary_q) write_ternary_q <= 1'b1;
      else if (ternary_ready) write_ternary_q <= 1'b0;
      answer_q <= answer_d;
    end
  end

  assign answer_d = (access_q && (!good_q || (cfg_req_i.write && !is_ternary_q))) ||
      (write_ternary_q && ternary_ready) || key_slot_q || exact_slot_q || read_ternary_q;

  // Each part of each row has registers of its own, which are zero but in the cycle of its answer: an OR is less
  // than a multiplexer.
  localparam int unsigned SliceBits = 32 * MessageDataWords;
  logic [1:0][SliceBits-1:0] key_read_q, ternary_read_q;
  logic [SliceBits-1:0] exact_read_q[RmtExactWays];

  for (genvar s = 0; s < 2; s++) begin : gen_slice
    always_ff @(posedge clk_i) begin
      if (!(key_slot_q && cfg_req_i.slice[0] == 1'(s))) key_read_q[s] <= '0;
      else key_read_q[s] <= SliceBits'(row >> (s * SliceBits));
      if (!(read_ternary_q && cfg_req_i.slice[0] == 1'(s))) ternary_read_q[s] <= '0;
      else ternary_read_q[s] <= SliceBits'(ternary_row >> (s * SliceBits));
    end
  end
  for (genvar w = 0; w < int'(RmtExactWays); w++) begin : gen_exact_read
    always_ff @(posedge clk_i) begin
      if (!(exact_slot_q && is_way_q[w])) exact_read_q[w] <= '0;
      else exact_read_q[w] <= SliceBits'(exact_rows[w]);
    end
  end

  assign cfg_valid_o = answer_q;
  always_comb begin
    cfg_rsp_o = '0;
    if (answer_q) begin
      cfg_rsp_o.status = status_q;
      cfg_rsp_o.words  = words_q;
    end
    cfg_rsp_o.data = key_read_q[0] | key_read_q[1] | ternary_read_q[0] | ternary_read_q[1];
    for (int unsigned w = 0; w < RmtExactWays; w++) cfg_rsp_o.data |= exact_read_q[w];
  end

`ifndef SYNTHESIS
  OneAnswerPerAccess_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !cfg_valid_o || !$past(cfg_valid_o));
  ExactWinsOverTernary_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !exact_hit || win_o.data < 12'(FirstTernaryData));
`endif

endmodule
