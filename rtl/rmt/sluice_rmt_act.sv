/// The action part of a stage: carries out the action row of a packet's match (docs/design/rmt.md, "Stage").
///
///   c3  action row and action data named    c5  rotators, page table              c7  ALUs, atom, metadata, merged
///   c4  picks, cross value, state index     c6  operands chosen, word read        c8  `phv_o`
///
/// An action row of another module than the one whose rows the packet meets does nothing; `fault_o` says so in c5. A
/// dropped packet and one without a winner do nothing either. Words that only the system module writes are guarded
/// by `system_i` and by nothing in the row.
///
/// Configuration: tables data, action, page, state_word, zero_page, state_range of the stage's node; requests for
/// others are not answered here. Writes take effect at once; reads of action rows wait for a bubble (`ctl_valid_i`
/// low), accesses to state words for a packet without a state access. `cfg_rsp_o` is zero while `cfg_valid_o` is low.
///
/// Latency: 5 cycles from `win_i`. Throughput: a packet a cycle. Never stalls.
module sluice_rmt_act
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic [31:0] epoch_i,

    // c3
    input logic                      ctl_valid_i,
    // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
    // verilator lint_off UNUSEDSIGNAL
    input rmt_ctl_t                  ctl_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic                      system_i,
    input logic     [ModuleBits-1:0] rows_module_i,
    input logic                      rows_generation_i,
    input rmt_win_t                  win_i,

    // c4
    input rmt_phv_t        phv_i,
    input logic     [ 1:0] conditions_i,
    input logic     [31:0] hash_i,

    // c5, c8
    output logic     fault_o,
    output rmt_phv_t phv_o,

    input  logic                                    cfg_valid_i,
    input  rmt_cfg_req_t                            cfg_req_i,
    input  logic         [32*RmtActionRowWords-1:0] cfg_row_i,
    output logic                                    cfg_valid_o,
    output cfg_rsp_t                                cfg_rsp_o,
    output logic                                    slot_request_o
);

  localparam int unsigned DataRows = RmtExactWays * Cfg.sets + Cfg.ternary + 2 * Cfg.modules;
  localparam int unsigned DataWidth = $clog2(DataRows);
  localparam int unsigned ActionWidth = $clog2(Cfg.actions);
  localparam int unsigned PageWidth = $clog2(2 * Cfg.modules * RmtModulePages);
  localparam int unsigned WordWidth = $clog2(Cfg.words);

  // Configuration.
  logic action_write, action_read, action_valid;
  logic data_valid, page_valid, host_valid, host_done, host_request, range_valid, range_done;
  rmt_data_row_t data_row;
  rmt_page_row_t page_row;
  logic [31:0] host_value;
  logic [CounterBits-1:0] range_value;
  logic [32*MessageDataWords-1:0] action_slice;

  sluice_rmt_act_cfg #(
      .Cfg(Cfg)
  ) u_cfg (
      .clk_i,
      .rst_ni,
      .bubble_i      (!ctl_valid_i),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o,
      .slot_request_o,
      .action_write_o(action_write),
      .action_read_o (action_read),
      .action_valid_i(action_valid),
      .action_slice_i(action_slice),
      .data_valid_o  (data_valid),
      .data_row_i    (data_row),
      .page_valid_o  (page_valid),
      .page_row_i    (page_row),
      .host_valid_o  (host_valid),
      .host_done_i   (host_done),
      .host_value_i  (host_value),
      .host_request_i(host_request),
      .range_valid_o (range_valid),
      .range_done_i  (range_done),
      .range_value_i (range_value)
  );

  // c3: rows.
  act_pick_t pick;
  act_early_t early;
  act_operand_t operand;
  act_result_t result;
  rmt_data_row_t action_data;

  sluice_rmt_action_rows #(
      .Rows(Cfg.actions)
  ) u_rows (
      .clk_i,
      .rst_ni,
      .write_i      (action_write),
      .write_index_i(cfg_req_i.index[ActionWidth-1:0]),
      .write_row_i  (cfg_row_i[RmtActionRowBits-1:0]),
      .valid_i      (ctl_valid_i),
      .index_i      (ctl_valid_i ? win_i.action[ActionWidth-1:0] : cfg_req_i.index[ActionWidth-1:0]),
      .read_i       (action_read),
      .slice_i      (cfg_req_i.slice[3:0]),
      .pick_o       (pick),
      .early_o      (early),
      .operand_o    (operand),
      .result_o     (result),
      .read_valid_o (action_valid),
      .read_data_o  (action_slice)
  );

  sluice_ram_dp #(
      .Width   (RmtDataRowBits),
      .Depth   (DataRows),
      .InitZero(1'b0)
  ) u_data (
      .clk_i,
      .a_en_i   (data_valid),
      .a_we_i   (cfg_req_i.write),
      .a_addr_i (cfg_req_i.index[DataWidth-1:0]),
      .a_wdata_i(cfg_row_i[32*RmtActionRowWords-1-:RmtDataRowBits]),
      .a_rdata_o(data_row),
      .b_en_i   (1'b1),
      .b_addr_i (win_i.data[DataWidth-1:0]),
      .b_rdata_o(action_data)
  );

  // c4: is there anything to do, cross value, action data as numbers.
  logic valid4_q, generation4_q, owned, act4;
  logic [7:4] valid_q;  // whether c<n> holds a packet: what is of one moves with it
  logic [7:4] system_q;
  logic [7:5] act_q;
  logic [7:5][1:0] conditions_q;
  logic [ModuleBits-1:0] module4_q;
  logic [10:0] number4_q;
  logic [7:0][15:0] halves;
  logic [2:0][2:0][15:0] nearly;
  logic [47:0] x;
  // Kept, so that they do not become shift registers, which are LUTs.
  (* keep *) logic [15:0][15:0] words5_q, words6_q, words7_q;
  (* keep *) logic [15:0] queueing5_q, queueing6_q, queueing7_q;

  assign owned = pick.owner == module4_q;
  assign act4  = valid4_q && owned;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid4_q <= 1'b0;
      valid_q  <= '0;
      act_q    <= '0;
      fault_o  <= 1'b0;
    end else begin
      valid4_q <= ctl_valid_i && win_i.valid && !ctl_i.dropped;
      valid_q  <= {valid_q[6:4], ctl_valid_i};
      act_q    <= {act_q[6:5], act4};
      fault_o  <= valid4_q && !owned;
    end
  end
  always_ff @(posedge clk_i) begin
    generation4_q <= rows_generation_i;
    module4_q     <= rows_module_i;
    number4_q     <= win_i.number;
    system_q      <= {system_q[6:4], system_i};
    conditions_q  <= {conditions_q[6:5], conditions_i};
    if (valid_q[4]) begin
      queueing5_q <= phv_i.queueing_high;
      words5_q    <= phv_i.words;
    end
    if (valid_q[5]) begin
      queueing6_q <= queueing5_q;
      words6_q    <= words5_q;
    end
    if (valid_q[6]) begin
      queueing7_q <= queueing6_q;
      words7_q    <= words6_q;
    end
  end

  always_comb begin
    for (int unsigned i = 0; i < 8; i++) halves[i] = {action_data.data[16*i+:8], action_data.data[16*i+8+:8]};
  end

  sluice_rmt_cross u_cross (
      .clk_i,
      .valid_i (valid_q[5:4]),
      .phv_i,
      .hash_i,
      .number_i(number4_q),
      .source_i(pick.cross_source),
      .shift_i (pick.cross_shift),
      .cut_i   (pick.cross_cut),
      .nearly_o(nearly),
      .x_o     (x)
  );

  // Classes of containers.
  logic [1:0][15:0] picked2;
  logic [1:0][31:0] picked4_unused;
  logic [1:0][47:0] picked6_unused;
  // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
  // verilator lint_off UNUSEDSIGNAL
  logic [3:0][15:0] operands2;
  logic [3:0][31:0] operands4;
  // verilator lint_on UNUSEDSIGNAL
  logic [3:0][47:0] operands6_unused;
  rmt_containers_t alus;
  logic [7:0][31:0] merged;

  sluice_rmt_class #(
      .Bytes(2)
  ) u_class2 (
      .clk_i,
      .valid_i      (valid_q[6:4]),
      .containers_i (phv_i.c.c2),
      .pick_i       (pick.pick[0]),
      .data_i       (pick.data[0]),
      .halves_i     (halves),
      .picked_o     (picked2),
      .amount_i     (early.amount[0]),
      .rotate_mask_i(early.rotate_mask2),
      .act_i        (act_q[5]),
      .conditions_i (conditions_q[5]),
      .alus_i       (early.alus[7:0]),
      .immediates_i (operand.immediate2),
      .x_i          (x[15:0]),
      .operands_o   (operands2),
      .masks_i      (result.mask2),
      .result_o     (alus.c2)
  );

  sluice_rmt_class #(
      .Bytes(4)
  ) u_class4 (
      .clk_i,
      .valid_i      (valid_q[6:4]),
      .containers_i (phv_i.c.c4),
      .pick_i       (pick.pick[1]),
      .data_i       (pick.data[1]),
      .halves_i     (halves),
      .picked_o     (picked4_unused),
      .amount_i     (early.amount[1]),
      .rotate_mask_i(early.rotate_mask4),
      .act_i        (act_q[5]),
      .conditions_i (conditions_q[5]),
      .alus_i       (early.alus[15:8]),
      .immediates_i (operand.immediate4),
      .x_i          (x[31:0]),
      .operands_o   (operands4),
      .masks_i      (result.mask4),
      .result_o     (alus.c4)
  );

  sluice_rmt_class #(
      .Bytes(6)
  ) u_class6 (
      .clk_i,
      .valid_i      (valid_q[6:4]),
      .containers_i (phv_i.c.c6),
      .pick_i       (pick.pick[2]),
      .data_i       (pick.data[2]),
      .halves_i     (halves),
      .picked_o     (picked6_unused),
      .amount_i     (early.amount[2]),
      .rotate_mask_i(early.rotate_mask6),
      .act_i        (act_q[5]),
      .conditions_i (conditions_q[5]),
      .alus_i       (early.alus[23:16]),
      .immediates_i (operand.immediate6),
      .x_i          (x),
      .operands_o   (operands6_unused),
      .masks_i      (result.mask6),
      .result_o     (alus.c6)
  );

  sluice_rmt_state #(
      .Cfg(Cfg)
  ) u_state (
      .clk_i,
      .rst_ni,
      .act_i(act4),
      .conditions_i,
      .module_i(module4_q),
      .generation_i(generation4_q),
      .pick_i(pick),
      .p2_i(picked2[0][11:0]),
      .da_i(picked2[1][11:0]),
      .nearly_i(nearly),
      .queueing_i({phv_i.queueing_high, phv_i.words[WordQueueing+:2]}),
      .length_i(phv_i.words[WordLength]),
      .early_i(early),
      .c6_conditions_i(conditions_q[6]),
      .atom_i(operand.atom),
      .c6_x_i(x[31:0]),
      .c6_db_i(operands4[3]),
      .c6_p1_i(operands4[1]),
      .alus_i(alus.c4),
      .merged_o(merged),
      .host_valid_i(host_valid),
      .host_write_i(cfg_req_i.write),
      .host_zero_i(cfg_req_i.tab == TableRmtZeroPage),
      .host_index_i    ((cfg_req_i.tab == TableRmtZeroPage) ? {cfg_req_i.index[WordWidth-7:0], 6'd0} :
                        cfg_req_i.index[WordWidth-1:0]),
      .host_value_i(cfg_row_i[32*RmtActionRowWords-1-:32]),
      .host_done_o(host_done),
      .host_value_o(host_value),
      .slot_request_o(host_request),
      .page_valid_i(page_valid),
      .page_write_i(cfg_req_i.write),
      .page_index_i(cfg_req_i.index[PageWidth-1:0]),
      .page_row_i(cfg_row_i[32*(RmtActionRowWords-1)+:RmtPageRowBits]),
      .page_row_o(page_row),
      .epoch_i,
      .range_valid_i(range_valid),
      .range_snapshot_i(cfg_req_i.snapshot),
      .range_index_i(cfg_req_i.index[ModuleBits-1:0]),
      .range_valid_o(range_done),
      .range_value_o(range_value)
  );

  // c7: metadata; everything into the next stage's c0.
  logic [15:0] x7_q, da7_q, p07_q;
  logic [15:0][15:0] words;
  always_ff @(posedge clk_i) begin
    if (valid_q[6]) begin
      x7_q  <= x[15:0];
      da7_q <= operands2[2];
      p07_q <= operands2[0];
    end
  end

  sluice_rmt_words u_words (
      .act_i       (act_q[7]),
      .system_i    (system_q[7]),
      .conditions_i(conditions_q[7]),
      .writes_i    (result.words),
      .da_i        (da7_q),
      .p0_i        (p07_q),
      .x_i         (x7_q),
      .words_i     (words7_q),
      .words_o     (words)
  );

  always_ff @(posedge clk_i) begin
    if (valid_q[7]) begin
      phv_o <= '{queueing_high: queueing7_q, words: words, c: '{c2: alus.c2, c4: merged, c6: alus.c6}};
    end
  end

endmodule
