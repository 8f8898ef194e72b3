/// Proof about two copies of sluice_rmt_act: what an action makes of a module's packet, and what it asks of the state, is the
/// same in both, whatever other modules' packets and rows and the host's accesses to these are in each.
///
/// By k-induction, for runs of any length, at the sizes of the default target. Chosen at the start are a module, an action
/// row and a row of action data. The module's packets that name these two are common to both copies and come in the same
/// cycle. All else is free in each copy: packets of others, packets of the module that name other rows, and requests of
/// the host. What holds for any rows holds for all: no packet tells another anything but by the state. The state is stood
/// for. That it answers the same where it is asked the same, and changes nothing of a packet without an action,
/// noninterference/state shows.
///
/// The action row is either in the module's own place or in another's. In its own place it is the same in both copies and
/// stands. In another's place it is anything in each copy, at any time, but for the chosen module as its owner: so only the
/// comparison of owners keeps it from the packet. The linker's check lets nothing else through
/// (crates/object/src/linker/rmt/check.rs, `Action`, `data_row`). A row of zeros is the system module's by its owner and
/// may stand anywhere. So for the system module it is assumed that it names rows in its own place, as the check asks of its
/// entries. The action data are the module's, and written in both copies alike. A reset stands only at the start.
module act
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    localparam rmt_cfg_t Cfg = RmtCfgDefault,
    localparam int unsigned ActionWidth = $clog2(Cfg.actions),
    localparam int unsigned DataRows = RmtExactWays * Cfg.sets + Cfg.ternary + 2 * Cfg.modules,
    localparam int unsigned DataWidth = $clog2(DataRows)
) (
    input logic clk_i,
    input logic rst_ni,

    // Chosen at the start: module, action row, whether that is in the module's place, row of action data.
    input logic [ ModuleBits-1:0] choose_i,
    input logic [ActionWidth-1:0] choose_row_i,
    input logic                   choose_own_i,
    input logic [  DataWidth-1:0] choose_data_i,

    // Packets: [2] is the chosen module's, in both copies.
    input logic                           ours_i,
    input logic     [1:0]                 ctl_valid_i,
    input rmt_ctl_t [2:0]                 ctl_i,
    input logic     [2:0]                 system_i,
    input logic     [1:0][ModuleBits-1:0] module_i,
    input logic     [2:0]                 generation_i,
    input rmt_win_t [2:0]                 win_i,
    input rmt_phv_t [2:0]                 phv_i,
    input logic     [2:0][           1:0] conditions_i,
    input logic     [2:0][          31:0] hash_i,

    // The host.
    input logic         [1:0]                           cfg_valid_i,
    input rmt_cfg_req_t [1:0]                           cfg_req_i,
    input logic         [1:0][32*RmtActionRowWords-1:0] cfg_row_i
);

  typedef struct packed {
    logic [ModuleBits-1:0]  module_id;
    logic [ActionWidth-1:0] row;
    logic                   own;
    logic [DataWidth-1:0]   data;
  } chosen_t;

  logic init_q = 1'b1;
  chosen_t chosen, chosen_q;
  logic [8:4] ours_q;
  logic [8:5] done_q;  // whether the packet's action is done

  assign chosen = init_q ? {choose_i, choose_row_i, choose_own_i, choose_data_i} : chosen_q;

  // What the state is asked, by stages.
  typedef struct packed {
    logic [1:0] conditions;
    logic [ModuleBits-1:0] module_id;
    logic generation;
    act_pick_t pick;
    logic [11:0] p2, da;
    logic [2:0][2:0][15:0] nearly;
    logic [TickBits-1:0] queueing;
    logic [15:0] length;
  } asked4_t;
  typedef struct packed {
    logic [1:0] conditions;
    act_atom_t atom;
    logic [31:0] x, db, p1;
  } asked6_t;

  logic [1:0] fault, acts, data_written;
  logic [1:0][ModuleBits-1:0] rows_module, acts_as;
  rmt_win_t [1:0] win;
  rmt_phv_t [1:0] phv;
  asked4_t [1:0] asked4;
  act_early_t [1:0] asked5;
  asked6_t [1:0] asked6;
  logic [1:0][7:0][31:0] asked7, merged;
  rmt_data_row_t [1:0] data, data_row;
  rmt_action_row_t [1:0] row;

  always_ff @(posedge clk_i) begin
    init_q   <= 1'b0;
    chosen_q <= chosen;
    ours_q   <= init_q ? '0 : {ours_q[7:4], ours_i};
    done_q   <= {done_q[7:5], acts[0]};
  end

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic unused_valid, unused_slot;
    cfg_rsp_t unused_rsp;
    assign rows_module[k] = ours_i ? chosen.module_id : module_i[k];
    // Without a winner the rest is anything.
    assign win[k] = (ours_i && win_i[2].valid) ? win_i[2] :
        {!ours_i && win_i[k].valid, win_i[k].action, win_i[k].number, win_i[k].data};
    sluice_rmt_act #(
        .Cfg(Cfg)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .epoch_i          ('0),
        .ctl_valid_i      (ours_i || ctl_valid_i[k]),
        .ctl_i            (ctl_i[ours_i?2 : k]),
        .system_i         (system_i[ours_i?2 : k]),
        .rows_module_i    (rows_module[k]),
        .rows_generation_i(generation_i[ours_i?2 : k]),
        .win_i            (win[k]),
        .phv_i            (phv_i[ours_q[4]?2 : k]),
        .conditions_i     (conditions_i[ours_q[4]?2 : k]),
        .hash_i           (hash_i[ours_q[4]?2 : k]),
        .fault_o          (fault[k]),
        .phv_o            (phv[k]),
        .cfg_valid_i      (cfg_valid_i[k]),
        .cfg_req_i        (cfg_req_i[k]),
        .cfg_row_i        (cfg_row_i[k]),
        .cfg_valid_o      (unused_valid),
        .cfg_rsp_o        (unused_rsp),
        .slot_request_o   (unused_slot)
    );
    assign acts[k] = u_dut.u_state.act_i;
    assign acts_as[k] = u_dut.u_state.module_i;
    assign asked4[k] = '{
            conditions: u_dut.u_state.conditions_i,
            module_id: u_dut.u_state.module_i,
            generation: u_dut.u_state.generation_i,
            pick: u_dut.u_state.pick_i,
            p2: u_dut.u_state.p2_i,
            da: u_dut.u_state.da_i,
            nearly: u_dut.u_state.nearly_i,
            queueing: u_dut.u_state.queueing_i,
            length: u_dut.u_state.length_i
        };
    assign asked5[k] = u_dut.u_state.early_i;
    assign asked6[k] = '{
            conditions: u_dut.u_state.c6_conditions_i,
            atom: u_dut.u_state.atom_i,
            x: u_dut.u_state.c6_x_i,
            db: u_dut.u_state.c6_db_i,
            p1: u_dut.u_state.c6_p1_i
        };
    assign asked7[k] = u_dut.u_state.alus_i;
    assign merged[k] = u_dut.u_state.merged_o;
    assign data[k] = u_dut.u_data.word_q;
    assign data_row[k] = cfg_row_i[k][32*RmtActionRowWords-1-:RmtDataRowBits];
    assign data_written[k] = u_dut.data_valid && cfg_req_i[k].write && cfg_req_i[k].index[DataWidth-1:0] == chosen.data;

    // The chosen row is what the RAMs of all groups and slices have of it.
    localparam int unsigned SliceBits = 32 * MessageDataWords;
    localparam int unsigned Slices = (RmtActionRowWords + MessageDataWords - 1) / MessageDataWords;
    localparam rmt_action_row_t [3:0] Columns = {
      act_row('0, '0, '0, '1), act_row('0, '0, '1, '0), act_row('0, '1, '0, '0), act_row('1, '0, '0, '0)
    };
    logic [3:0][Slices-1:0][SliceBits-1:0] part;
    for (genvar g = 0; g < 4; g++) begin : gen_group
      localparam logic [Slices-1:0][SliceBits-1:0] Present = (Slices * SliceBits)'(Columns[g]);
      for (genvar s = 0; s < int'(Slices); s++) begin : gen_slice
        if (Present[s] != '0) begin : gen_columns
          assign part[g][s] = u_dut.u_rows.gen_group[g].gen_slice[s].gen_columns.u_columns.word_q & Present[s];
          always_comb assume (u_dut.u_rows.gen_group[g].gen_slice[s].gen_columns.u_columns.chosen == chosen.row);
        end else begin : gen_none
          assign part[g][s] = '0;
        end
      end
    end
    assign row[k] = rmt_action_row_t'(RmtActionRowBits'(part[0] | part[1] | part[2] | part[3]));

    always_comb begin
      assume (u_dut.u_data.chosen == chosen.data);
      assume (!init_q || !(u_dut.action_write || u_dut.data_valid || cfg_valid_i[k] || ctl_valid_i[k]));
      assume (!cfg_req_i[k].clear);
      // Rows in the module's place stand, others are written with other owners.
      assume (!u_dut.action_write || cfg_req_i[k].index[ActionWidth-1:0] != chosen.row ||
              !chosen.own && cfg_row_i[k][5:0] != chosen.module_id);
      // Shown in noninterference/state.
      assume (init_q || !ours_q[7] || done_q[7] || merged[k] == asked7[k]);
    end
  end

  always_comb begin
    assume (rst_ni == !init_q);
    assume (!init_q || !ours_i);
    assume (32'(chosen.data) < DataRows);
    assume (chosen.own || chosen.module_id != ModuleBits'(SystemModule));
    assume (!ours_i || !win_i[2].valid || (win_i[2].action == chosen.row && win_i[2].data == 12'(chosen.data)));
    assume (data_written[0] == data_written[1] && (!data_written[0] || data_row[0] == data_row[1]));
    // Shown in noninterference/state.
    assume (init_q || !ours_q[7] || !done_q[7] || merged[0] == merged[1]);
  end

  AnActionIsDoneInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || !ours_q[4] || acts[0] == acts[1]);
  TheFaultIsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[5] || fault[0] == fault[1]);
  TheStateIsAskedTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[4] || !acts[0] || asked4[0] == asked4[1]);
  TheStateIsAskedTheSameInC5_A :
  assert property (@(posedge clk_i) init_q || !ours_q[5] || !done_q[5] || asked5[0] == asked5[1]);
  TheStateIsAskedTheSameInC6_A :
  assert property (@(posedge clk_i) init_q || !ours_q[6] || !done_q[6] || asked6[0] == asked6[1]);
  TheStateMergesIntoTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[7] || asked7[0] == asked7[1]);
  ContainersAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[8] || phv[0].c == phv[1].c);
  MetadataAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[8] ||
                   (phv[0].words == phv[1].words && phv[0].queueing_high == phv[1].queueing_high));
  for (genvar k = 0; k < 2; k++) begin : gen_asks
    logic [ModuleBits-1:0] module4_q;
    always_ff @(posedge clk_i) module4_q <= rows_module[k];
    APacketAsksAsTheModuleOfItsRows_A :
    assert property (@(posedge clk_i) init_q || !acts[k] || acts_as[k] == module4_q);
  end

  // Strengthening for the induction: the rows.
  logic rows_good;
  assign rows_good = (chosen.own ? row[0] == row[1] :
                      row[0].owner != chosen.module_id && row[1].owner != chosen.module_id) && data[0] == data[1];
  always_comb if (init_q) assume (rows_good);
  RowsAreGood_A :
  assert property (@(posedge clk_i) rows_good);

  // And what is of the packet, stage by stage: whatever the action (`packet`), and what counts when it is done (`action`).
  typedef struct packed {
    logic valid, winner, generation, system, reads;
    logic [ModuleBits-1:0] module_id;
  } packet4_t;
  typedef struct packed {
    logic [10:0] number;
    logic [ActionWidth-1:0] index;
    rmt_data_row_t data;
  } action4_t;
  typedef struct packed {
    logic valid, act, system, reads;
    logic [1:0] conditions;
    logic [15:0][15:0] words;
    logic [15:0] queueing;
    rmt_containers_t c;
  } packet_t;
  typedef struct packed {
    logic [23:0][2:0] op;
    logic [23:0] compare, less;
  } alus_t;
  typedef struct packed {
    logic [ActionWidth-1:0] index;
    logic [2:0][47:0] pick6;
    logic [1:0][47:0] data6;
    logic [2:0][31:0] pick4;
    logic [1:0][31:0] data4;
    logic [2:0][15:0] pick2;
    logic [1:0][15:0] data2;
    logic [2:0][15:0] lanes;
    logic [1:0] shift;
  } action5_t;
  typedef struct packed {
    logic [ActionWidth-1:0] index;
    logic [1:0][47:0] pick6, data6;
    logic [1:0][31:0] pick4, data4;
    logic [1:0][15:0] pick2, data2;
    logic [47:0] r6;
    logic [31:0] r4;
    logic [15:0] r2;
    logic [47:0] x;
    logic [23:0][1:0] a, b_low, b_high;
  } action6_t;
  typedef struct packed {
    logic [7:0][47:0] a6, b6;
    logic [7:0][31:0] a4, b4;
    logic [7:0][15:0] a2, b2;
    logic [15:0] x, da, p0;
    act_result_t result;
  } action7_t;

  packet4_t [1:0] packet4;
  action4_t [1:0] action4;
  packet_t [7:5][1:0] packet;
  action5_t [1:0] action5;
  action6_t [1:0] action6;
  action7_t [1:0] action7;
  alus_t [7:6][1:0] alus;
  logic [1:0][23:0] arithmetic;

  localparam alus_t Nothing = '{op: {24{3'(RmtAluOpMove)}}, compare: '1, less: '0};

  for (genvar k = 0; k < 2; k++) begin : gen_stages
    assign packet4[k] = '{
            valid: gen_copy[k].u_dut.valid_q[4],
            winner: gen_copy[k].u_dut.valid4_q,
            generation: gen_copy[k].u_dut.generation4_q,
            system: gen_copy[k].u_dut.system_q[4],
            reads: gen_copy[k].u_dut.u_rows.read_q[1],
            module_id: gen_copy[k].u_dut.module4_q
        };
    assign action4[k] = '{
            number: gen_copy[k].u_dut.number4_q,
            index: gen_copy[k].u_dut.u_rows.index[1],
            data: gen_copy[k].u_dut.action_data
        };
    assign packet[5][k] = '{
            valid: gen_copy[k].u_dut.valid_q[5],
            act: gen_copy[k].u_dut.act_q[5],
            system: gen_copy[k].u_dut.system_q[5],
            reads: gen_copy[k].u_dut.u_rows.read_q[2],
            conditions: gen_copy[k].u_dut.conditions_q[5],
            words: gen_copy[k].u_dut.words5_q,
            queueing: gen_copy[k].u_dut.queueing5_q,
            c: {
              gen_copy[k].u_dut.u_class6.containers5_q,
              gen_copy[k].u_dut.u_class4.containers5_q,
              gen_copy[k].u_dut.u_class2.containers5_q
            }
        };
    assign packet[6][k] = '{
            valid: gen_copy[k].u_dut.valid_q[6],
            act: gen_copy[k].u_dut.act_q[6],
            system: gen_copy[k].u_dut.system_q[6],
            reads: gen_copy[k].u_dut.u_rows.read_q[3],
            conditions: gen_copy[k].u_dut.conditions_q[6],
            words: gen_copy[k].u_dut.words6_q,
            queueing: gen_copy[k].u_dut.queueing6_q,
            c: {
              gen_copy[k].u_dut.u_class6.containers6_q,
              gen_copy[k].u_dut.u_class4.containers6_q,
              gen_copy[k].u_dut.u_class2.containers6_q
            }
        };
    assign packet[7][k] = '{
            valid: gen_copy[k].u_dut.valid_q[7],
            act: gen_copy[k].u_dut.act_q[7],
            system: gen_copy[k].u_dut.system_q[7],
            reads: 1'b0,
            conditions: gen_copy[k].u_dut.conditions_q[7],
            words: gen_copy[k].u_dut.words7_q,
            queueing: gen_copy[k].u_dut.queueing7_q,
            c: {
              gen_copy[k].u_dut.u_class6.containers7_q,
              gen_copy[k].u_dut.u_class4.containers7_q,
              gen_copy[k].u_dut.u_class2.containers7_q
            }
        };
    assign action5[k] = '{
            index: gen_copy[k].u_dut.u_rows.index[2],
            pick6: gen_copy[k].u_dut.u_class6.pick_q,
            data6: gen_copy[k].u_dut.u_class6.data_q,
            pick4: gen_copy[k].u_dut.u_class4.pick_q,
            data4: gen_copy[k].u_dut.u_class4.data_q,
            pick2: gen_copy[k].u_dut.u_class2.pick_q,
            data2: gen_copy[k].u_dut.u_class2.data_q,
            lanes: gen_copy[k].u_dut.u_cross.lanes_q,
            shift: gen_copy[k].u_dut.u_cross.shift_q
        };
    assign action6[k].index = gen_copy[k].u_dut.u_rows.index[3];
    assign action6[k].pick6 = gen_copy[k].u_dut.u_class6.pick6_q;
    assign action6[k].data6 = gen_copy[k].u_dut.u_class6.data6_q;
    assign action6[k].pick4 = gen_copy[k].u_dut.u_class4.pick6_q;
    assign action6[k].data4 = gen_copy[k].u_dut.u_class4.data6_q;
    assign action6[k].pick2 = gen_copy[k].u_dut.u_class2.pick6_q;
    assign action6[k].data2 = gen_copy[k].u_dut.u_class2.data6_q;
    assign action6[k].r6 = gen_copy[k].u_dut.u_class6.r_q;
    assign action6[k].r4 = gen_copy[k].u_dut.u_class4.r_q;
    assign action6[k].r2 = gen_copy[k].u_dut.u_class2.r_q;
    assign action6[k].x = gen_copy[k].u_dut.x;
    assign action7[k].x = gen_copy[k].u_dut.x7_q;
    assign action7[k].da = gen_copy[k].u_dut.da7_q;
    assign action7[k].p0 = gen_copy[k].u_dut.p07_q;
    assign action7[k].result = gen_copy[k].u_dut.result;
    `define ALU(Class, I, At) \
    assign alus[6][k].op[At] = gen_copy[k].u_dut.Class.gen_alu[I].u_alu.op6_q; \
    assign alus[6][k].compare[At] = gen_copy[k].u_dut.Class.gen_alu[I].u_alu.compare6_q; \
    assign alus[6][k].less[At] = gen_copy[k].u_dut.Class.gen_alu[I].u_alu.less6_q; \
    assign alus[7][k].op[At] = gen_copy[k].u_dut.Class.gen_alu[I].u_alu.op_q; \
    assign alus[7][k].compare[At] = gen_copy[k].u_dut.Class.gen_alu[I].u_alu.compare_q; \
    assign alus[7][k].less[At] = gen_copy[k].u_dut.Class.gen_alu[I].u_alu.less_q; \
    assign arithmetic[k][At] = gen_copy[k].u_dut.Class.gen_alu[I].u_alu.arithmetic_q; \
    assign action6[k].a[At] = gen_copy[k].u_dut.Class.gen_alu[I].u_alu.a_select_q; \
    assign action6[k].b_low[At] = gen_copy[k].u_dut.Class.gen_alu[I].u_alu.b_low_q; \
    assign action6[k].b_high[At] = gen_copy[k].u_dut.Class.gen_alu[I].u_alu.b_high_q;
    for (genvar i = 0; i < 8; i++) begin : gen_alu
      `ALU(u_class2, i, i)
      `ALU(u_class4, i, 8 + i)
      `ALU(u_class6, i, 16 + i)
      assign action7[k].a6[i] = gen_copy[k].u_dut.u_class6.gen_alu[i].u_alu.a_q;
      assign action7[k].b6[i] = gen_copy[k].u_dut.u_class6.gen_alu[i].u_alu.b_q;
      assign action7[k].a4[i] = gen_copy[k].u_dut.u_class4.gen_alu[i].u_alu.a_q;
      assign action7[k].b4[i] = gen_copy[k].u_dut.u_class4.gen_alu[i].u_alu.b_q;
      assign action7[k].a2[i] = gen_copy[k].u_dut.u_class2.gen_alu[i].u_alu.a_q;
      assign action7[k].b2[i] = gen_copy[k].u_dut.u_class2.gen_alu[i].u_alu.b_q;
    end

    ARowInAnothersPlaceIsNotItsOwn_A :
    assert property (@(posedge clk_i) init_q || !ours_q[4] || !packet4[k].winner || chosen.own ||
                     asked4[k].pick.owner != chosen.module_id);
    ThePacketGoesOn_A :
    assert property (@(posedge clk_i) init_q || !ours_q[4] || (packet4[k].valid && !packet4[k].reads &&
                                                               packet4[k].module_id == chosen.module_id));
    TheRowIsNamed_A :
    assert property (@(posedge clk_i) init_q || ((!ours_q[4] || !packet4[k].winner || action4[k].index == chosen.row) &&
                                                 (!ours_q[5] || !done_q[5] || action5[k].index == chosen.row) &&
                                                 (!ours_q[6] || !done_q[6] || action6[k].index == chosen.row)));
    for (genvar c = 5; c <= 7; c++) begin : gen_later
      ThePacketGoesOn_A :
      assert property (@(posedge clk_i) init_q || !ours_q[c] || (packet[c][k].valid && !packet[c][k].reads &&
                                                                 packet[c][k].act == done_q[c]));
    end
    for (genvar c = 6; c <= 7; c++) begin : gen_alus
      WithoutAnActionNothingIsWritten_A :
      assert property (@(posedge clk_i) init_q || !ours_q[c] || done_q[c] || alus[c][k] == Nothing);
    end
    ArithmeticIsOfTheOperation_A :
    assert property (@(posedge clk_i) init_q || !ours_q[7] || done_q[7] || arithmetic[k] == '0);
  end

  ThePacketIsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[4] || packet4[0] == packet4[1]);
  TheWinnerIsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[4] || !packet4[0].winner || action4[0] == action4[1]);
  ItsOwnRowIsReadInBoth_A :
  assert property (@(posedge clk_i)
      init_q || !ours_q[4] || !packet4[0].winner || !chosen.own || asked4[0].pick == asked4[1].pick);
  for (genvar c = 5; c <= 7; c++) begin : gen_same
    ThePacketIsTheSame_A :
    assert property (@(posedge clk_i) init_q || !ours_q[c] || packet[c][0] == packet[c][1]);
    OnlyItsOwnRowIsDone_A :
    assert property (@(posedge clk_i) init_q || !ours_q[c] || !done_q[c] || chosen.own);
  end
  for (genvar c = 6; c <= 7; c++) begin : gen_same_alus
    OperationsAreTheSame_A :
    assert property (@(posedge clk_i) init_q || !ours_q[c] || alus[c][0] == alus[c][1]);
  end
  Action5IsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[5] || !done_q[5] || action5[0] == action5[1]);
  Action6IsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[6] || !done_q[6] ||
                   (action6[0] == action6[1] && gen_copy[0].u_dut.operand == gen_copy[1].u_dut.operand));
  Action7IsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[7] || !done_q[7] ||
                   (action7[0] == action7[1] && arithmetic[0] == arithmetic[1]));
endmodule
