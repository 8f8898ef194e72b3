/// Proof about two copies of sluice_rmt_match: what is looked up for a module's packet, and what wins, is the same in both,
/// whatever other modules' packets and rows and the host's accesses to these are in each.
///
/// By k-induction, for runs of any length, at two modules; tasks for the key's pieces, for what is made of them, for what is looked up, for the winner. A chosen module's packets, of
/// a chosen generation, are common to both copies and come in the same cycle; its key row begins equal and stands; all else is free in each,
/// requests of the host among it. The two kinds of entries are stood for: that they answer the same where they are asked
/// the same, noninterference/exact and noninterference/ternary show, and is assumed here. Assumed of what is written, as
/// the linker's check does (crates/object/src/linker/rmt/check.rs, `Key`): the key row of a module and generation is
/// written by nobody else. A reset stands only at the start.
module match
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter int unsigned Modules = 2
) (
    input logic clk_i,
    input logic rst_ni,
    input logic choose_i,
    input logic choose_generation_i,

    // Packets: [2] is the chosen module's, in both copies.
    input logic           ours_i,
    input logic     [1:0] valid_i,
    input logic     [1:0] module_i,
    input logic     [1:0] generation_i,
    input rmt_phv_t [2:0] phv_i,

    input logic         [1:0]                           cfg_valid_i,
    input rmt_cfg_req_t [1:0]                           cfg_req_i,
    input logic         [1:0][32*RmtActionRowWords-1:0] cfg_row_i
);

  localparam rmt_cfg_t Cfg = '{
      bus_bytes: 32,
      modules: Modules,
      stages: 1,
      system_stages: 0,
      sets: 2,
      ternary: 2,
      actions: 2,
      words: 128,
      groups: 2,
      target_hash: 0
  };

  logic init_q = 1'b1;
  logic chosen_q, chosen, generation_q, generation_of;
  logic [4:0] ours_q;
  assign chosen        = init_q ? choose_i : chosen_q;
  assign generation_of = init_q ? choose_generation_i : generation_q;

  always_ff @(posedge clk_i) begin
    init_q       <= 1'b0;
    chosen_q     <= chosen;
    generation_q <= generation_of;
    ours_q       <= init_q ? '0 : {ours_q[3:0], ours_i};
  end

  // What entries are asked in c1, and what they answer in c3.
  typedef struct packed {
    logic valid;
    logic [RmtKeyBits-1:0] key;
    logic [31:0] hash;
    logic set_base, set_mask;
    logic [ModuleBits-1:0] module_id;
    logic generation;
  } asked_t;
  typedef struct packed {
    logic hit;
    logic [8:0] action;
    logic [10:0] number;
    logic [11:0] data;
  } answer_t;
  asked_t [1:0] asked, ternary_asked;
  answer_t [1:0] exact, ternary;
  rmt_win_t [1:0] win;
  logic [1:0][10:0] hits_base;
  logic [1:0][1:0] conditions, conditions1;
  logic [1:0][31:0] hash;
  rmt_key_row_t [1:0] kept;
  typedef struct packed {
    logic [191:0] pieces;
    logic [1:0][3:0] truth, truth_key;
    logic [1:0] compares;
    logic set_base, set_mask;
    logic [ModuleBits-1:0] module_id;
    logic generation;
  } c1_t;
  c1_t [1:0] c1;
  logic [1:0][191:0] pieces;

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic unused_valid, unused_slot;
    cfg_rsp_t unused_rsp;
    sluice_rmt_match #(
        .Cfg(Cfg)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .valid_i          (ours_i || valid_i[k]),
        .rows_module_i    (ModuleBits'(ours_i ? chosen : module_i[k])),
        .rows_generation_i(ours_i ? generation_of : generation_i[k]),
        .phv_i            (phv_i[ours_q[0]?2 : k]),
        .win_o            (win[k]),
        .hits_base_o      (hits_base[k]),
        .conditions_o     (conditions[k]),
        .hash_o           (hash[k]),
        .cfg_valid_i      (cfg_valid_i[k]),
        .cfg_req_i        (cfg_req_i[k]),
        .cfg_row_i        (cfg_row_i[k]),
        .cfg_valid_o      (unused_valid),
        .cfg_rsp_o        (unused_rsp),
        .slot_request_o   (unused_slot)
    );
    assign kept[k] = u_dut.u_key_rows.word_q;
    assign pieces[k] = u_dut.key_pieces;
    assign asked[k] = '{
            valid: u_dut.u_exact.valid_i,
            key: u_dut.u_exact.key_i,
            hash: u_dut.u_exact.hash_i,
            set_base: u_dut.u_exact.set_base_i,
            set_mask: u_dut.u_exact.set_mask_i,
            module_id: u_dut.u_exact.module_i,
            generation: u_dut.u_exact.generation_i
        };
    assign ternary_asked[k] = '{
            valid: u_dut.u_ternary.valid_i,
            key: u_dut.u_ternary.key_i,
            hash: '0,
            set_base: 1'b0,
            set_mask: 1'b0,
            module_id: u_dut.u_ternary.module_i,
            generation: u_dut.u_ternary.generation_i
        };
    assign exact[k] = '{
            hit: u_dut.exact_hit,
            action: u_dut.exact_action,
            number: u_dut.exact_number,
            data: u_dut.exact_data
        };
    assign ternary[k] = '{
            hit: u_dut.ternary_hit,
            action: u_dut.ternary_action,
            number: u_dut.ternary_number,
            data: 12'(u_dut.ternary_index)
        };
    assign conditions1[k] = u_dut.conditions;
    always_comb begin
      assume (u_dut.u_key_rows.chosen == {chosen, generation_of});
      assume (!cfg_req_i[k].clear);
      assume (!(u_dut.write_now && u_dut.is_key_q) || cfg_req_i[k].index[$clog2(
          2*Modules
      )-1:0] != {chosen, generation_of});
    end
  end

  always_comb begin
    assume (rst_ni == !init_q);
    assume (!init_q || !(ours_i || cfg_valid_i != '0));
    // Shown by rmt/hash, which is asked the same: `pieces` in c0, and the key's conditions with what is asked in c1.
    assume (init_q || !ours_q[1] || gen_copy[0].u_dut.hash == gen_copy[1].u_dut.hash);
    // Shown in noninterference/exact and noninterference/ternary.
    assume (!ours_q[3] || (exact[0].hit == exact[1].hit && (!exact[0].hit || exact[0] == exact[1])));
    assume (!ours_q[3] || (ternary[0].hit == ternary[1].hit && (!ternary[0].hit || ternary[0] == ternary[1])));
  end

`ifdef PIECES
  PiecesAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[0] || pieces[0] == pieces[1]);
  ComparisonsAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || c1[0].compares == c1[1].compares);
`elsif MADE
  WhatIsMadeOfItIsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || c1[0] == c1[1]);
`elsif ASKED
  EntriesAreAskedTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || asked[0] == asked[1]);
  TernaryEntriesAreAskedTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || ternary_asked[0] == ternary_asked[1]);
  AskedAsTheModule_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] ||
                   (asked[0].module_id == ModuleBits'(chosen) && asked[0].generation == generation_of));
  ConditionsAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || conditions1[0] == conditions1[1]);
`else
  TheWinnerIsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[3] || (win[0].valid == win[1].valid &&
                                                             (!win[0].valid || win[0] == win[1])));
  HitsCountInTheSamePlace_A :
  assert property (@(posedge clk_i) init_q || !ours_q[3] || hits_base[0] == hits_base[1]);
  ConditionsAndHashAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[4] || (conditions[0] == conditions[1] && hash[0] == hash[1]));
`endif

  // Strengthening for the induction: the row, and what is made of it, cycle by cycle.
  always_comb if (init_q) assume (kept[0] == kept[1]);
  TheKeyRowIsTheSame_A :
  assert property (@(posedge clk_i) kept[0] == kept[1]);
  typedef struct packed {
    logic [10:0] hits_base;
    logic valid;
    logic [8:0] action;
    logic [10:0] number;
    logic [$clog2(2*Modules)-1:0] index;
  } default_t;
  rmt_key_row_t [1:0] row;
  default_t [3:1][1:0] defaults;
  logic [3:2][1:0][33:0] later;
  for (genvar k = 0; k < 2; k++) begin : gen_stages
    assign row[k] = gen_copy[k].u_dut.row;
    assign c1[k].pieces = gen_copy[k].u_dut.key_pieces_q1;
    assign c1[k].truth = gen_copy[k].u_dut.truth_q1;
    assign c1[k].truth_key = gen_copy[k].u_dut.truth_key_q1;
    assign c1[k].compares = gen_copy[k].u_dut.compares_q1;
    assign c1[k].set_base = gen_copy[k].u_dut.set_base_q1;
    assign c1[k].set_mask = gen_copy[k].u_dut.set_mask_q1;
    assign c1[k].module_id = gen_copy[k].u_dut.module_q[1];
    assign c1[k].generation = gen_copy[k].u_dut.generation_q[1];
    for (genvar i = 1; i <= 3; i++) begin : gen_default
      assign defaults[i][k] = {gen_copy[k].u_dut.default_q[i], gen_copy[k].u_dut.rows_index_q[i]};
    end
    assign later[2][k] = {gen_copy[k].u_dut.conditions_q2, gen_copy[k].u_dut.hash_q2};
    assign later[3][k] = {gen_copy[k].u_dut.conditions_q3, gen_copy[k].u_dut.hash_q3};
    ValidIsOfThePacket_A :
    assert property (@(posedge clk_i) init_q || (ours_q[1:0] & ~gen_copy[k].u_dut.valid_q) == '0);
    ModuleTravelsAlong_A :
    assert property (@(posedge clk_i) init_q || !ours_q[0] || (gen_copy[k].u_dut.module_q[0] == ModuleBits'(chosen) &&
        gen_copy[k].u_dut.generation_q[0] == generation_of && gen_copy[k].u_dut.rows_index_q[0] == {chosen, generation_of}));
  end
  TheRowIsReadInBoth_A :
  assert property (@(posedge clk_i) init_q || !ours_q[0] || row[0] == row[1]);
`ifdef PIECES
`elsif MADE
  // Shown by the first task.
  always_comb assume (init_q || !ours_q[0] || pieces[0] == pieces[1]);
  always_comb assume (init_q || !ours_q[1] || c1[0].compares == c1[1].compares);
`elsif ASKED
  // Shown by the task before.
  always_comb assume (init_q || !ours_q[1] || c1[0] == c1[1]);
  ModuleIsThePackets_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || (c1[0].module_id == ModuleBits'(chosen) &&
                                                             c1[0].generation == generation_of));
`else
  // Shown by the task before.
  always_comb assume (init_q || !ours_q[1] || (asked[0].hash == asked[1].hash && conditions1[0] == conditions1[1]));
  for (genvar i = 1; i <= 3; i++) begin : gen_default
    DefaultsAreTheSame_A :
    assert property (@(posedge clk_i) init_q || !ours_q[i] || defaults[i][0] == defaults[i][1]);
  end
  for (genvar i = 2; i <= 3; i++) begin : gen_later
    ConditionsAndHashTravelAlong_A :
    assert property (@(posedge clk_i) init_q || !ours_q[i] || later[i][0] == later[i][1]);
  end
`endif
endmodule
