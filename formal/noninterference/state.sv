/// Proof about two copies of sluice_rmt_state: a module's packets meet the same words and leave with the same results in both,
/// whatever other modules' packets, pages and words and the host's accesses to these are in each.
///
/// By k-induction, for runs of any length, at two modules and two pages of words. A chosen module's packets and its rows of
/// the page table are common to both copies and come in the same cycle; all else is free in each. One word of its pages is
/// chosen at the start: what holds for any one holds for all. Assumed of what is written, as the linker's check does
/// (crates/object/src/linker/rmt/check.rs, `Page`, `ZeroPage`): a valid row of another module names a page that is not the
/// chosen module's, a valid row of the chosen module one of its own; an invalid row has anything in it. Assumed of the
/// host: it writes no word of the chosen module while its packets use it, for the moment of such a write depends on other
/// packets; it may read them. A reset stands only at the start, and page rows written during it are no part.
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

    // Packets: [2] is the chosen module's, in both copies.
    input logic                              ours_i,
    input logic       [2:0]                  act_i,
    input logic       [2:0][1:0]             conditions_i,
    input logic       [2:0]                  generation_i,
    input act_pick_t  [2:0]                  pick_i,
    input logic       [2:0][11:0]            p2_i,
    input logic       [2:0][11:0]            da_i,
    input logic       [2:0][2:0][2:0][15:0]  nearly_i,
    input logic       [2:0][TickBits-1:0]    queueing_i,
    input logic       [2:0][15:0]            length_i,
    input act_early_t [2:0]                  early_i,
    input logic       [2:0][1:0]             c6_conditions_i,
    input act_atom_t  [2:0]                  atom_i,
    input logic       [2:0][31:0]            c6_x_i,
    input logic       [2:0][31:0]            c6_db_i,
    input logic       [2:0][31:0]            c6_p1_i,
    input logic       [2:0][7:0][31:0]       alus_i,

    // The host.
    input logic          [1:0]                host_valid_i,
    input logic          [1:0]                host_write_i,
    input logic          [1:0]                host_zero_i,
    input logic          [1:0][AddrWidth-1:0] host_index_i,
    input logic          [1:0][31:0]          host_value_i,
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
  assign chosen = init_q ? choose_i : chosen_q;
  assign owns   = init_q ? owns_i : owns_q;
  assign word   = init_q ? choose_word_i : word_q;

  always_ff @(posedge clk_i) begin
    init_q   <= 1'b0;
    chosen_q <= chosen;
    owns_q   <= owns;
    word_q   <= word;
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
  rmt_page_row_t [1:0][PageRows-1:0] rows;
  logic [1:0] waits_q, page_ours, host_done;

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic [31:0] unused_value;
    logic unused_slot, unused_range;
    logic [CounterBits-1:0] unused_count;
    rmt_page_row_t unused_row;
    sluice_rmt_state #(
        .Cfg(Cfg)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .act_i           (act_i[ours_i?2:k]),
        .conditions_i    (conditions_i[ours_i?2:k]),
        .module_i        (ModuleBits'(ours_i ? chosen_q : !chosen_q)),
        .generation_i    (generation_i[ours_i?2:k]),
        .pick_i          (pick_i[ours_i?2:k]),
        .p2_i            (p2_i[ours_i?2:k]),
        .da_i            (da_i[ours_i?2:k]),
        .nearly_i        (nearly_i[ours_i?2:k]),
        .queueing_i      (queueing_i[ours_i?2:k]),
        .length_i        (length_i[ours_i?2:k]),
        .early_i         (early_i[ours_q[5]?2:k]),
        .c6_conditions_i (c6_conditions_i[ours_q[6]?2:k]),
        .atom_i          (atom_i[ours_q[6]?2:k]),
        .c6_x_i          (c6_x_i[ours_q[6]?2:k]),
        .c6_db_i         (c6_db_i[ours_q[6]?2:k]),
        .c6_p1_i         (c6_p1_i[ours_q[6]?2:k]),
        .alus_i          (alus_i[ours_q[7]?2:k]),
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
    assign address7[k] = u_dut.u_atom.address7_q;
    assign stored[k] = u_dut.u_atom.u_words.mem[word];
    for (genvar r = 0; r < int'(PageRows); r++) begin : gen_row
      assign rows[k][r] = u_dut.u_pages.mem[r];
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
      access7_q[k] <= access6[k];
      if (init_q || host_done[k]) waits_q[k] <= 1'b0;
      else if (host_valid_i[k]) waits_q[k] <= 1'b1;
    end
  end

  always_comb begin
    assume (rst_ni == !init_q);
    assume (owns[word[AddrWidth-1:OffsetBits]]);
    assume (!init_q || !(ours_i || act_i[0] || act_i[1]));
  end

  AnAccessIsDoneInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || !ours_q[7] ||
                   (access7_q[0] == access7_q[1] && (!access7_q[0] || address7[0] == address7[1])));
  ResultsAreTheSame_A :
  assert property (@(posedge clk_i)
      init_q || !ours_q[7] || (access7_q[0] && address7[0] != word_q) || merged[0] == merged[1]);
  TheWordIsTheSame_A :
  assert property (@(posedge clk_i) init_q || stored[0] == stored[1]);
  OutOfRangeCountsInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || !ours_q[6] || range6[0] == range6[1]);
  OthersCountAsOthers_A :
  assert property (@(posedge clk_i) init_q || ours_q[6] || (!(range6[0] && gen_copy[0].u_dut.module6_q == chosen_q) &&
                                                            !(range6[1] && gen_copy[1].u_dut.module6_q == chosen_q)));

  // Strengthening for the induction: rows of the chosen module are the same, and good; so are those of others in each.
  logic [1:0][PageRows-1:0] good;
  logic [PageRows-1:0] same;
  for (genvar r = 0; r < int'(PageRows); r++) begin : gen_row
    for (genvar k = 0; k < 2; k++) begin : gen_good
      assign good[k][r] = good_row(rows[k][r], of_chosen(PageWidth'(r), chosen), owns);
    end
    assign same[r] = !of_chosen(PageWidth'(r), chosen) || rows[0][r] == rows[1][r];
  end
  always_comb if (init_q) assume (&good && &same);
  RowsAreOfTheirModules_A :
  assert property (@(posedge clk_i) &good && &same);
  for (genvar k = 0; k < 2; k++) begin : gen_host
    TheHostWritesWordsOfOthers_A :
    assert property (@(posedge clk_i) init_q || !waits_q[k] || !gen_copy[k].u_dut.host_write_q ||
                     !owns_q[gen_copy[k].u_dut.host_address_q[AddrWidth-1:OffsetBits]]);
    TheHostWaitsFromItsRequestOn_A :
    assert property (@(posedge clk_i) init_q || waits_q[k] || !gen_copy[k].u_dut.host_pending_q);
  end

endmodule
