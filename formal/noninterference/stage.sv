/// Proof about two copies of sluice_rmt_stage around its match and its action: what these two are asked of a module's packet,
/// what leaves the stage, and where its hit is counted, are the same in both, whatever other packets there are in each.
///
/// By k-induction, for runs of any length, at the sizes of the default target, for a stage of the modules and for one
/// of the system module. The chosen module's packets are common to both copies and come in the same cycle; all else is
/// free in each. Match and action are stood for. That they answer the same where they are asked the same,
/// noninterference/match and noninterference/act show, and is assumed here. The host's accesses are free in each copy, but
/// for the stage's owner, which the linker writes: it stands. A reset stands only at the start.
module stage
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,
    input logic [ModuleBits-1:0] choose_i,

    // Packets: [2] is the chosen module's, in both copies.
    input logic           ours_i,
    input logic     [1:0] ctl_valid_i,
    input rmt_ctl_t [2:0] ctl_i,
    input rmt_phv_t [2:0] phv_i,

    input logic         [1:0]                           cfg_valid_i,
    input rmt_cfg_req_t [1:0]                           cfg_req_i,
    input logic         [1:0][32*RmtActionRowWords-1:0] cfg_row_i
);

  typedef struct packed {
    logic valid;
    logic [ModuleBits-1:0] rows_module;
    logic rows_generation;
  } match_t;
  typedef struct packed {
    logic valid;
    rmt_ctl_t ctl;
    logic system;
    logic [ModuleBits-1:0] rows_module;
    logic rows_generation;
  } act3_t;

  logic init_q = 1'b1;
  logic [ModuleBits-1:0] chosen, chosen_q;
  logic [7:0] ours_q;  // whether the PHV that came so many cycles ago is the module's

  assign chosen = init_q ? choose_i : chosen_q;
  always_ff @(posedge clk_i) begin
    init_q   <= 1'b0;
    chosen_q <= chosen;
    ours_q   <= init_q ? '0 : {ours_q[6:0], ours_i};
  end

`ifdef SYSTEM
  localparam int unsigned Stage = 0;
`else
  localparam int unsigned Stage = 1;
`endif

  match_t [1:0] match;
  rmt_phv_t [1:0] match_phv, phv4, phv;
  act3_t [1:0] act3;
  rmt_win_t [1:0] win;
  logic [1:0][10:0] hits_base, hit_index;
  logic [1:0][ 1:0] conditions;
  logic [1:0][31:0] hash;
  logic [1:0] fault, valid, hit, system;
  rmt_ctl_t [1:0] ctl;

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic unused_valid, unused_slot;
    cfg_rsp_t unused_rsp;
    sluice_rmt_stage #(
        .Cfg  (RmtCfgDefault),
        .Stage(Stage)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .epoch_i       ('0),
        .ctl_valid_i   (ours_i || ctl_valid_i[k]),
        .ctl_i         (ctl_i[ours_i?2 : k]),
        .phv_i         (phv_i[ours_q[0]?2 : k]),
        .ctl_valid_o   (valid[k]),
        .ctl_o         (ctl[k]),
        .phv_o         (phv[k]),
        .cfg_valid_i   (cfg_valid_i[k]),
        .cfg_req_i     (cfg_req_i[k]),
        .cfg_row_i     (cfg_row_i[k]),
        .cfg_valid_o   (unused_valid),
        .cfg_rsp_o     (unused_rsp),
        .slot_request_o(unused_slot)
    );
    assign match[k] = '{
            valid: u_dut.u_match.valid_i,
            rows_module: u_dut.u_match.rows_module_i,
            rows_generation: u_dut.u_match.rows_generation_i
        };
    assign match_phv[k] = u_dut.u_match.phv_i;
    assign act3[k] = '{
            valid: u_dut.u_act.ctl_valid_i,
            ctl: u_dut.u_act.ctl_i,
            system: u_dut.u_act.system_i,
            rows_module: u_dut.u_act.rows_module_i,
            rows_generation: u_dut.u_act.rows_generation_i
        };
    assign win[k] = u_dut.u_act.win_i;
    assign phv4[k] = u_dut.u_act.phv_i;
    assign hits_base[k] = u_dut.hits_base;
    assign conditions[k] = u_dut.u_act.conditions_i;
    assign hash[k] = u_dut.u_act.hash_i;
    assign fault[k] = u_dut.fault;
    assign hit[k] = u_dut.u_hits.inc_valid_i;
    assign hit_index[k] = u_dut.u_hits.inc_index_i;
    assign system[k] = u_dut.system_q;
    always_comb begin
      assume (!init_q || !(ctl_valid_i[k] || cfg_valid_i[k]));
      assume (ours_i || ctl_i[k].module_id != chosen);
      // The owner is not written.
      assume (!(u_dut.access_q && u_dut.is_owner_q && cfg_req_i[k].write));
    end
  end

  always_comb begin
    assume (rst_ni == !init_q);
    assume (!init_q || !ours_i);
    assume (ctl_i[2].module_id == chosen);
    // Shown in noninterference/match.
    assume (init_q || !ours_q[3] || (win[0].valid == win[1].valid && (!win[0].valid || win[0] == win[1]) &&
                                     hits_base[0] == hits_base[1]));
    assume (init_q || !ours_q[4] || (conditions[0] == conditions[1] && hash[0] == hash[1]));
    // Shown in noninterference/act.
    assume (init_q || !ours_q[5] || fault[0] == fault[1]);
  end

  MatchIsAskedTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_i || match[0] == match[1]);
  MatchHasTheSamePhv_A :
  assert property (@(posedge clk_i) init_q || !ours_q[0] || match_phv[0] == match_phv[1]);
  TheActionIsAskedTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[3] || act3[0] == act3[1]);
  TheActionHasTheSamePhv_A :
  assert property (@(posedge clk_i) init_q || !ours_q[4] || phv4[0] == phv4[1]);
  ThePacketLeavesTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[7] || (valid == 2'b11 && ctl[0] == ctl[1]));
  HitsCountInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || !ours_q[5] || (hit[0] == hit[1] && (!hit[0] || hit_index[0] == hit_index[1])));
`ifdef SYSTEM
  RowsAreTheSystemModules_A :
  assert property (@(posedge clk_i) init_q || !ours_q[3] || act3[0].rows_module == ModuleBits'(SystemModule));
`else
  RowsAreTheModules_A :
  assert property (@(posedge clk_i) init_q || (ours_q[3] ? act3[0].rows_module == chosen :
                                               !act3[0].valid || act3[0].rows_module != chosen));
`endif

  // Strengthening for the induction: the packet on its way.
  rmt_ctl_t [7:0][1:0] ctl_at;
  rmt_phv_t [4:1][1:0] phv_at;
  logic [3:0][1:0][ModuleBits-1:0] rows_module_at;
  logic [3:0][1:0] rows_generation_at;
  for (genvar k = 0; k < 2; k++) begin : gen_stages
    assign phv_at[1][k] = gen_copy[k].u_dut.phv_q1;
    assign phv_at[2][k] = gen_copy[k].u_dut.phv_q2;
    assign phv_at[3][k] = gen_copy[k].u_dut.phv_q3;
    assign phv_at[4][k] = gen_copy[k].u_dut.phv_q4;
    for (genvar i = 0; i < 8; i++) begin : gen_ctl
      assign ctl_at[i][k] = gen_copy[k].u_dut.ctl_q[i];
      ThePacketIsThere_A :
      assert property (@(posedge clk_i) init_q || !ours_q[i] || gen_copy[k].u_dut.valid_q[i]);
    end
    for (genvar i = 0; i < 4; i++) begin : gen_rows
      assign rows_module_at[i][k] = gen_copy[k].u_dut.rows_module_q[i];
      assign rows_generation_at[i][k] = gen_copy[k].u_dut.rows_generation_q[i];
      SystemIsTheOwner_A :
      assert property (@(posedge clk_i) init_q || !ours_q[i] || gen_copy[k].u_dut.system_of_q[i] == (Stage == 0));
`ifndef SYSTEM
      OthersHaveTheirOwnRows_A :
      assert property (@(posedge clk_i) init_q || !gen_copy[k].u_dut.valid_q[i] ||
                       (rows_module_at[i][k] == chosen) == ours_q[i]);
`endif
    end
    TheOwnerStands_A :
    assert property (@(posedge clk_i) init_q || system[k] == (Stage == 0));
  end
  for (genvar i = 0; i < 8; i++) begin : gen_ctl_same
    CtlIsTheSame_A :
    assert property (@(posedge clk_i) init_q || !ours_q[i] || ctl_at[i][0] == ctl_at[i][1]);
  end
  for (genvar i = 0; i < 4; i++) begin : gen_rows_same
    RowsAreTheSame_A :
    assert property (@(posedge clk_i) init_q || !ours_q[i] || (rows_module_at[i][0] == rows_module_at[i][1] &&
                                                               rows_generation_at[i][0] == rows_generation_at[i][1]));
`ifdef SYSTEM
    RowsAreTheSystemModules_A :
    assert property (@(posedge clk_i) init_q || !ours_q[i] || rows_module_at[i][0] == ModuleBits'(SystemModule));
`endif
  end
  for (genvar i = 1; i < 5; i++) begin : gen_phv_same
    PhvIsTheSame_A :
    assert property (@(posedge clk_i) init_q || !ours_q[i] || phv_at[i][0] == phv_at[i][1]);
  end
  HitsAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[4] ||
                   (gen_copy[0].u_dut.hit_q4 == gen_copy[1].u_dut.hit_q4 && (!gen_copy[0].u_dut.hit_q4 ||
                    (gen_copy[0].u_dut.number_q4 == gen_copy[1].u_dut.number_q4 &&
                     gen_copy[0].u_dut.base_q4 == gen_copy[1].u_dut.base_q4))));
endmodule
