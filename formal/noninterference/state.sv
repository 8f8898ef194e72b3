/// Proof about two copies of sluice_rmt_state: a module's packets meet the same words and leave with the same results in both,
/// whatever other modules' packets, pages and words and the host's accesses to these are in each.
///
/// By k-induction, for runs of any length, at two modules and two pages of words. A chosen module's packets and its rows of
/// the page table are common to both copies and come in the same cycle; all else is free in each. One word of its pages and
/// one of its rows are chosen at the start: what holds for any holds for all, so that the others of its rows are taken to be
/// the same in both copies, too. Assumed of what is written, as the linker's check does
/// (crates/object/src/linker/rmt/check.rs, `Page`, `ZeroPage`): a valid row of another module names a page that is not the
/// chosen module's, a valid row of the chosen module one of its own; an invalid row has anything in it. Assumed of the
/// host: it writes no word of the chosen module while its packets use it, for the moment of such a write depends on other
/// packets; it may read them. Packets without an action are among the others, whosever they are. A reset stands only at the
/// start, and page rows written during it are no part.
module state
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    parameter int unsigned Modules = 2,
    parameter int unsigned Words = 128,
    localparam int unsigned AddrWidth = $clog2(Words),
    localparam int unsigned Pages = Words / RmtPageWords,
    localparam int unsigned PageRows = 2 * Modules * RmtModulePages,
    localparam int unsigned PageWidth = $clog2(PageRows)
) (
    input logic clk_i,
    input logic rst_ni,

    // Chosen at the start: module, its pages, the word.
    input logic choose_i,
    input logic [Pages-1:0] owns_i,
    input logic [AddrWidth-1:0] choose_word_i,
    input logic [PageWidth-1:0] choose_row_i,

    // Packets: [2] is the chosen module's, in both copies.
    input logic                                       ours_i,
    input logic       [2:0]                           act_i,
    input logic       [1:0]                           idle_module_i,    // of a packet without an action
    input logic       [2:0][         1:0]             conditions_i,
    input logic       [2:0]                           generation_i,
    input act_pick_t  [2:0]                           pick_i,
    input logic       [2:0][        11:0]             p2_i,
    input logic       [2:0][        11:0]             da_i,
    input logic       [2:0][         2:0][ 2:0][15:0] nearly_i,
    input logic       [2:0][TickBits-1:0]             queueing_i,
    input logic       [2:0][        15:0]             length_i,
    input act_early_t [2:0]                           early_i,
    input logic       [2:0][         1:0]             c6_conditions_i,
    input act_atom_t  [2:0]                           atom_i,
    input logic       [2:0][        31:0]             c6_x_i,
    input logic       [2:0][        31:0]             c6_db_i,
    input logic       [2:0][        31:0]             c6_p1_i,
    input logic       [2:0][         7:0][31:0]       alus_i,

    // The host.
    input logic          [1:0]                host_valid_i,
    input logic          [1:0]                host_write_i,
    input logic          [1:0]                host_zero_i,
    input logic          [1:0][AddrWidth-1:0] host_index_i,
    input logic          [1:0][         31:0] host_value_i,
    input logic          [1:0]                page_valid_i,
    input logic          [1:0]                page_write_i,
    input logic          [1:0][PageWidth-1:0] page_index_i,
    input rmt_page_row_t [1:0]                page_row_i
);

  localparam rmt_cfg_t Cfg = '{
      bus_bytes: 32,
      modules: Modules,
      stages: 1,
      system_stages: 0,
      sets: 2,
      ternary: 2,
      actions: 2,
      words: Words,
      groups: 2,
      target_hash: 0
  };
  localparam int unsigned OffsetBits = $clog2(RmtPageWords);

  logic init_q = 1'b1;
  logic chosen_q;
  logic [Pages-1:0] owns_q;
  logic [AddrWidth-1:0] word_q;
  logic [7:5] ours_q;

  logic chosen;
  logic [Pages-1:0] owns;
  logic [AddrWidth-1:0] word;
  logic [PageWidth-1:0] row_q, row;
  assign row    = init_q ? choose_row_i : row_q;
  assign chosen = init_q ? choose_i : chosen_q;
  assign owns   = init_q ? owns_i : owns_q;
  assign word   = init_q ? choose_word_i : word_q;

  always_ff @(posedge clk_i) begin
    init_q   <= 1'b0;
    chosen_q <= chosen;
    owns_q   <= owns;
    word_q   <= word;
    row_q    <= row;
    ours_q   <= init_q ? '0 : {ours_q[6:5], ours_i};
  end

  // Whose a row of the page table is: its index has the module above generation and page.
  function automatic logic of_chosen(logic [PageWidth-1:0] index, logic module_bit);
    return index[PageWidth-1] == module_bit;
  endfunction

  function automatic logic good_row(rmt_page_row_t row, logic ours, logic [Pages-1:0] pages);
    return !row.valid || (32'(row.page) < Pages && pages[row.page[$clog2(Pages)-1:0]] == ours);
  endfunction

  logic [1:0][7:0][31:0] merged;
  logic [1:0] access6, access7_q, range6;
  logic [1:0][AddrWidth-1:0] address7;
  logic [1:0][31:0] stored;
  rmt_page_row_t [1:0] kept, page;
  logic [1:0][TickBits+6+16-1:0] meter4;  // what the meter is asked, by stages, and what it answers
  logic [1:0][95:0] meter5;
  logic [1:0] meter6;
  logic [1:0] counts;
  logic [1:0][8:0] counted;
  logic [1:0][159:0] results6;
  logic [1:0][PageWidth-1:0] index5_q;  // of the page table
  logic [1:0] waits_q, page_ours, host_done;

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic [ 7:5] acted_q;
    logic [31:0] unused_value;
    logic unused_slot, unused_range;
    logic [CounterBits-1:0] unused_count;
    rmt_page_row_t unused_row;
    sluice_rmt_state #(
        .Cfg(Cfg)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .act_i           (act_i[ours_i?2 : k]),
        .conditions_i    (conditions_i[ours_i?2 : k]),
        .module_i        (ModuleBits'(ours_i ? chosen_q : act_i[k] ? !chosen_q : idle_module_i[k])),
        .generation_i    (generation_i[ours_i?2 : k]),
        .pick_i          (pick_i[ours_i?2 : k]),
        .p2_i            (p2_i[ours_i?2 : k]),
        .da_i            (da_i[ours_i?2 : k]),
        .nearly_i        (nearly_i[ours_i?2 : k]),
        .queueing_i      (queueing_i[ours_i?2 : k]),
        .length_i        (length_i[ours_i?2 : k]),
        .early_i         (early_i[ours_q[5]?2 : k]),
        .c6_conditions_i (c6_conditions_i[ours_q[6]?2 : k]),
        .atom_i          (atom_i[ours_q[6]?2 : k]),
        .c6_x_i          (c6_x_i[ours_q[6]?2 : k]),
        .c6_db_i         (c6_db_i[ours_q[6]?2 : k]),
        .c6_p1_i         (c6_p1_i[ours_q[6]?2 : k]),
        .alus_i          (alus_i[ours_q[7]?2 : k]),
        .merged_o        (merged[k]),
        .host_valid_i    (host_valid_i[k]),
        .host_write_i    (host_write_i[k]),
        .host_zero_i     (host_zero_i[k]),
        .host_index_i    (host_index_i[k]),
        .host_value_i    (host_value_i[k]),
        .host_done_o     (host_done[k]),
        .host_value_o    (unused_value),
        .slot_request_o  (unused_slot),
        .page_valid_i    (page_valid_i[k]),
        .page_write_i    (page_write_i[k]),
        .page_index_i    (page_index_i[k]),
        .page_row_i      (page_row_i[k]),
        .page_row_o      (unused_row),
        .epoch_i         ('0),
        .range_valid_i   (1'b0),
        .range_snapshot_i(1'b0),
        .range_index_i   ('0),
        .range_valid_o   (unused_range),
        .range_value_o   (unused_count)
    );
    assign access6[k] = u_dut.access6_q;
    assign range6[k] = u_dut.range6_q;
    assign counts[k] = u_dut.u_range.inc_valid_i;
    assign counted[k] = u_dut.u_range.inc_index_i;
    assign address7[k] = u_dut.u_atom.address7_q;
    assign meter4[k] = {u_dut.u_meter.queueing_i, u_dut.u_meter.shift_i, u_dut.u_meter.length_i};
    assign meter5[k] = {u_dut.u_meter.limit_i, u_dut.u_meter.cost_i, u_dut.u_meter.top_i};
    assign meter6[k] = u_dut.u_meter.per_packet_i;
    assign results6[k] = {u_dut.now, u_dut.now_limit, u_dut.now_top, u_dut.inc, u_dut.next};
    assign stored[k] = u_dut.u_atom.u_words.word_q;
    assign kept[k] = u_dut.u_pages.word_q;
    assign page[k] = u_dut.page;
    always_ff @(posedge clk_i) index5_q[k] <= u_dut.u_pages.b_addr_i;
    always_comb begin
      assume (u_dut.u_atom.u_words.chosen == word);
      assume (u_dut.u_pages.chosen == row);
      // Rows that are read are good.
      assume (init_q || good_row(page[k], of_chosen(index5_q[k], chosen), owns));
    end
    assign page_ours[k] = page_valid_i[k] && page_write_i[k] && of_chosen(page_index_i[k], chosen);

    always_comb begin
      assume (!init_q || !(host_valid_i[k] || page_valid_i[k]));
      assume (good_row(page_row_i[k], of_chosen(page_index_i[k], chosen), owns));
      // Rows of the chosen module are written in both in the same cycle.
      assume (!page_ours[k] || (page_ours == 2'b11 && page_index_i[0] == page_index_i[1] && page_row_i[0] == page_row_i[1]));
      // One access of the host at a time; it writes words of others.
      assume (!host_valid_i[k] || !waits_q[k]);
      assume (!(host_write_i[k] || host_zero_i[k]) || !owns[host_index_i[k][AddrWidth-1:OffsetBits]]);
    end
    always_ff @(posedge clk_i) begin
      acted_q      <= init_q ? '1 : {acted_q[6:5], u_dut.act_i};
      access7_q[k] <= access6[k];
      if (init_q || host_done[k]) waits_q[k] <= 1'b0;
      else if (host_valid_i[k]) waits_q[k] <= 1'b1;
    end
  end

  always_comb begin
    assume (rst_ni == !init_q);
    assume (owns[word[AddrWidth-1:OffsetBits]]);
    assume (of_chosen(row, chosen));
    // It is asked the same, which is claimed below, and answers the same, which the script shows.
    assume (init_q || !ours_q[6] || results6[0] == results6[1]);
    // Rows of the chosen module other than the chosen one.
    assume (init_q || index5_q[0] != index5_q[1] || !of_chosen(
        index5_q[0], chosen
    ) || index5_q[0] == row || page[0] == page[1]);
    assume (!init_q || !(ours_i || act_i[0] || act_i[1]));
  end

  TheMeterIsAskedTheSame_A :
  assert property (@(posedge clk_i) init_q || ((!ours_i || meter4[0] == meter4[1]) && (!ours_q[5] || meter5[0] == meter5[1]) &&
                                               (!ours_q[6] || meter6[0] == meter6[1])));
  AnAccessIsDoneInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || !ours_q[7] ||
                   (access7_q[0] == access7_q[1] && (!access7_q[0] || address7[0] == address7[1])));
  ResultsAreTheSame_A :
  assert property (@(posedge clk_i)
      init_q || !ours_q[7] || (access7_q[0] && address7[0] != word_q) || merged[0] == merged[1]);
  TheWordIsTheSame_A :
  assert property (@(posedge clk_i) init_q || stored[0] == stored[1]);
  OutOfRangeCountsInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || !ours_q[6] || counts[0] == counts[1]);
  for (genvar k = 0; k < 2; k++) begin : gen_counts
    OutOfRangeCountsAsTheModules_A :
    assert property (@(posedge clk_i) init_q || !counts[k] || (counted[k] == 9'(chosen_q)) == ours_q[6]);
    NothingIsMergedWithoutAnAction_A :
    assert property (@(posedge clk_i) init_q || gen_copy[k].acted_q[7] || merged[k] == gen_copy[k].u_dut.alus_i);
  end

  // Strengthening for the induction: the chosen row and word are the same.
  always_comb if (init_q) assume (stored[0] == stored[1]);
  always_comb if (init_q) assume (kept[0] == kept[1]);
  TheRowIsTheSame_A :
  assert property (@(posedge clk_i) kept[0] == kept[1]);
  IndicesAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[5] || index5_q[0] == index5_q[1]);
  TheRowIsReadInBoth_A :
  assert property (@(posedge clk_i) init_q || !ours_q[5] || index5_q[0] != row || page[0] == page[1]);
  for (genvar k = 0; k < 2; k++) begin : gen_index
    IndexIsOfItsModule_A :
    assert property (@(posedge clk_i) init_q || !gen_copy[k].u_dut.wanted5_q || of_chosen(
        index5_q[k], chosen
    ) == ours_q[5]);
    ModuleTravelsAlong_A :
    assert property (@(posedge clk_i)
        init_q || !gen_copy[k].u_dut.wanted5_q || (gen_copy[k].u_dut.module5_q == chosen) == ours_q[5]);
  end
  for (genvar k = 0; k < 2; k++) begin : gen_host
    TheHostWritesWordsOfOthers_A :
    assert property (@(posedge clk_i) init_q || !gen_copy[k].u_dut.host_pending_q || !gen_copy[k].u_dut.host_write_q ||
                     !owns_q[gen_copy[k].u_dut.host_address_q[AddrWidth-1:OffsetBits]]);
    logic [3:0] under_way;
    assign under_way = {
      gen_copy[k].u_dut.host_pending_q, gen_copy[k].u_dut.last6_q, gen_copy[k].u_dut.last7_q, host_done[k]
    };
    OneAccessOfTheHostIsUnderWay_A :
    assert property (@(posedge clk_i) init_q || $onehot0(under_way));
    TheHostWaitsForItsAnswer_A :
    assert property (@(posedge clk_i) init_q || waits_q[k] || under_way == '0);
  end

  // And: what is under way of the chosen module's packets is the same, stage by stage, and nobody else comes to its words.
  typedef struct packed {
    logic wanted, meter, beyond, module_bit;
    logic [OffsetBits-1:0] offset;
    rmt_page_row_t page;
  } c5_t;
  typedef struct packed {
    logic access, meter, range;
    logic [31:0] o, t, f;
  } c6_t;
  typedef struct packed {
    logic [31:0] low, high, top, t, f;
    logic [2:0] code;
    logic meter, t_old, t_negate, f_old, f_negate;
  } c7_t;
  c5_t [1:0] c5;
  c6_t [1:0] c6;
  c7_t [1:0] c7;
  logic [1:0][7:0][1:0] merge;
  logic [1:0][AddrWidth-1:0] address6;
  logic [1:0][31:0] from_ram;
  logic [1:0] bypass, hit7, hit8, hit9;
  logic [1:0][31:0] read, new8, new9;

  for (genvar k = 0; k < 2; k++) begin : gen_stages
    assign c5[k] = '{
            wanted: gen_copy[k].u_dut.wanted5_q,
            meter: gen_copy[k].u_dut.meter5_q,
            beyond: gen_copy[k].u_dut.beyond5_q,
            module_bit: gen_copy[k].u_dut.module5_q,
            offset: gen_copy[k].u_dut.offset5_q,
            page: gen_copy[k].u_dut.page
        };
    assign c6[k] = '{
            access : access6[k],
            meter: gen_copy[k].u_dut.meter6_q,
            range: range6[k],
            o: gen_copy[k].u_dut.o_immediate_q,
            t: gen_copy[k].u_dut.t_immediate_q,
            f: gen_copy[k].u_dut.f_immediate_q
        };
    assign c7[k] = '{
            low: gen_copy[k].u_dut.u_atom.low_q,
            high: gen_copy[k].u_dut.u_atom.high_q,
            top: gen_copy[k].u_dut.u_atom.top_q,
            t: gen_copy[k].u_dut.u_atom.t_q,
            f: gen_copy[k].u_dut.u_atom.f_q,
            code: gen_copy[k].u_dut.u_atom.code_q,
            meter: gen_copy[k].u_dut.u_atom.meter_q,
            t_old: gen_copy[k].u_dut.u_atom.t_old_q,
            t_negate: gen_copy[k].u_dut.u_atom.t_negate_q,
            f_old: gen_copy[k].u_dut.u_atom.f_old_q,
            f_negate: gen_copy[k].u_dut.u_atom.f_negate_q
        };
    for (genvar i = 0; i < 8; i++) begin : gen_merge
      assign merge[k][i] = gen_copy[k].u_dut.merge_q[i];
    end
    assign address6[k] = gen_copy[k].u_dut.u_atom.address6_q;
    assign from_ram[k] = gen_copy[k].u_dut.u_atom.from_ram;
    assign bypass[k] = gen_copy[k].u_dut.u_atom.bypass_q;
    assign read[k] = gen_copy[k].u_dut.u_atom.read_q;
    assign hit7[k] = gen_copy[k].u_dut.u_atom.write7_q && address7[k] == word_q;
    assign hit8[k] = gen_copy[k].u_dut.u_atom.write8_q && gen_copy[k].u_dut.u_atom.address8_q == word_q;
    assign hit9[k] = gen_copy[k].u_dut.u_atom.write9_q && gen_copy[k].u_dut.u_atom.address9_q == word_q;
    assign new8[k] = gen_copy[k].u_dut.u_atom.new8_q;
    assign new9[k] = gen_copy[k].u_dut.u_atom.new9_q;

    NothingIsAccessedWithoutAnAction_A :
    assert property (@(posedge clk_i) init_q || ((gen_copy[k].acted_q[5] || !gen_copy[k].u_dut.wanted5_q) &&
                                                 (gen_copy[k].acted_q[6] || !access6[k]) &&
                                                 (gen_copy[k].acted_q[7] || merge[k] == '0)));

    // Who goes where.
    OthersAccessTheirOwnWords_A :
    assert property (@(posedge clk_i) init_q || ours_q[6] || !access6[k] || !owns_q[address6[k][AddrWidth-1:OffsetBits]]);
    TheHostAccessesWordsOfOthers_A :
    assert property (@(posedge clk_i) init_q || !(gen_copy[k].u_dut.host6_q && gen_copy[k].u_dut.host_write_q) ||
                     !owns_q[address6[k][AddrWidth-1:OffsetBits]]);
    ModuleGoesOn_A :
    assert property (@(posedge clk_i) init_q || !range6[k] || (gen_copy[k].u_dut.module6_q == chosen_q) == ours_q[6]);
    TheHostWaitsWhileItAccesses_A :
    assert property (@(posedge clk_i) init_q || !gen_copy[k].u_dut.host6_q || waits_q[k]);
    APacketOrTheHostAccesses_A :
    assert property (@(posedge clk_i) init_q || !(access6[k] && gen_copy[k].u_dut.host6_q));
    NobodyElseWritesTheWord_A :
    assert property (@(posedge clk_i) init_q || !hit7[k] || (ours_q[7] && access7_q[k]));
  end

  StageFiveIsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[5] || c5[0] == c5[1]);
  StageSixIsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[6] || c6[0] == c6[1]);
  AddressesAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[6] || !access6[0] || address6[0] == address6[1]);
  TheWordIsReadInBoth_A :
  assert property (@(posedge clk_i) init_q || !ours_q[6] || !access6[0] || address6[0] != word_q || from_ram[0] == from_ram[1]);
  StageSevenIsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[7] || (access7_q[0] == access7_q[1] && merge[0] == merge[1]));
  OperandsAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[7] || !access7_q[0] || (address7[0] == address7[1] && c7[0] == c7[1]));
  TheWordIsKnownInBoth_A :
  assert property (@(posedge clk_i) init_q || !ours_q[7] || !access7_q[0] || address7[0] != word_q ||
                   (bypass[0] == bypass[1] && (bypass[0] ? new8[0] == new8[1] : read[0] == read[1])));
  WritesAreUnderWayInBoth_A :
  assert property (@(posedge clk_i) init_q || (hit7[0] == hit7[1] && hit8[0] == hit8[1] && hit9[0] == hit9[1] &&
                                               (!hit8[0] || new8[0] == new8[1]) && (!hit9[0] || new9[0] == new9[1])));

endmodule
