/// Proof about two copies of sluice_rmt_act: what an action makes of a module's packet, and what it asks of the state, is the
/// same in both, whatever other modules' packets and rows and the host's accesses to these are in each.
///
/// By k-induction, for runs of any length, at two modules, two action rows and 14 rows of action data; a task for each stage
/// and group of results. A chosen module's packets are common to both copies and come in the same cycle; its rows begin
/// equal and stand; all else is free in each, requests of the host among it. A packet may name any action row: of another
/// module's it only gets the fault, in both copies. The state is stood for: that its results are the same where what it is
/// asked is the same, noninterference/state shows, and is assumed here.
///
/// Assumed of what is written, as the linker's check does (crates/object/src/linker/rmt/check.rs, `Action`, `data_row`):
/// nobody else writes an action row with the chosen module as its owner, or over one that has it, or the module's action
/// data. Assumed of packets: those of the chosen module have a winner whose action data are the module's, as
/// noninterference/match shows. Others' packets may meet the chosen module's rows, as all do in a stage of the system
/// module. A reset stands only at the start.
module act
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    parameter int unsigned Modules = 2,
    localparam int unsigned DataRows = 4 * 2 + 2 + 2 * Modules
) (
    input logic clk_i,
    input logic rst_ni,

    // Chosen at the start.
    input logic choose_i,
    input logic [DataRows-1:0] owns_data_i,

    // Packets: [2] is the chosen module's, in both copies.
    input logic                 ours_i,
    input logic     [1:0]       ctl_valid_i,
    input rmt_ctl_t [2:0]       ctl_i,
    input logic     [2:0]       system_i,
    input logic     [1:0]       module_i,
    input logic     [2:0]       generation_i,
    input rmt_win_t [2:0]       win_i,
    input rmt_phv_t [2:0]       phv_i,
    input logic     [2:0][ 1:0] conditions_i,
    input logic     [2:0][31:0] hash_i,

    // The host.
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
  localparam int unsigned DataWidth = $clog2(DataRows);

  logic init_q = 1'b1;
  logic chosen_q, chosen;
  logic [DataRows-1:0] owns_data_q, owns_data;
  logic [8:4] ours_q;

  assign chosen    = init_q ? choose_i : chosen_q;
  assign owns_data = init_q ? owns_data_i : owns_data_q;

  always_ff @(posedge clk_i) begin
    init_q      <= 1'b0;
    chosen_q    <= chosen;
    owns_data_q <= owns_data;
    ours_q      <= init_q ? '0 : {ours_q[7:4], ours_i};
  end

  // What the state is asked, by stages.
  typedef struct packed {
    logic act;
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

  logic [1:0] fault;
  rmt_phv_t [1:0] phv;
  asked4_t [1:0] asked4;
  act_early_t [1:0] asked5;
  asked6_t [1:0] asked6;
  logic [1:0][7:0][31:0] asked7;
  logic [1:0] others_ask;
  rmt_data_row_t [1:0][DataRows-1:0] data;
  rmt_action_row_t [1:0][1:0] rows;

  function automatic logic [5:0] act_owner(logic [32*RmtActionRowWords-1:0] words);
    rmt_action_row_t row;
    row = rmt_action_row_t'(words[RmtActionRowBits-1:0]);
    return row.owner;
  endfunction

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic unused_valid, unused_slot;
    cfg_rsp_t unused_rsp;
    sluice_rmt_act #(
        .Cfg(Cfg)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .epoch_i          ('0),
        .ctl_valid_i      (ours_i || ctl_valid_i[k]),
        .ctl_i            (ctl_i[ours_i?2:k]),
        .system_i         (system_i[ours_i?2:k]),
        .rows_module_i    (ModuleBits'(ours_i ? chosen_q : module_i[k])),
        .rows_generation_i(generation_i[ours_i?2:k]),
        .win_i            (win_i[ours_i?2:k]),
        .phv_i            (phv_i[ours_q[4]?2:k]),
        .conditions_i     (conditions_i[ours_q[4]?2:k]),
        .hash_i           (hash_i[ours_q[4]?2:k]),
        .fault_o          (fault[k]),
        .phv_o            (phv[k]),
        .cfg_valid_i      (cfg_valid_i[k]),
        .cfg_req_i        (cfg_req_i[k]),
        .cfg_row_i        (cfg_row_i[k]),
        .cfg_valid_o      (unused_valid),
        .cfg_rsp_o        (unused_rsp),
        .slot_request_o   (unused_slot)
    );
    assign asked4[k] = '{
            act: u_dut.u_state.act_i,
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
    assign others_ask[k] = u_dut.u_state.act_i && u_dut.u_state.module_i == ModuleBits'(chosen_q);
    for (genvar r = 0; r < int'(DataRows); r++) begin : gen_data
      assign data[k][r] = u_dut.u_data.mem[r];
    end
    // A row is what the RAMs of all groups and slices have of it.
    localparam int unsigned SliceBits = 32 * MessageDataWords;
    localparam int unsigned Slices = (RmtActionRowWords + MessageDataWords - 1) / MessageDataWords;
    localparam rmt_action_row_t [3:0] Columns = {
      act_row('0, '0, '0, '1), act_row('0, '0, '1, '0), act_row('0, '1, '0, '0), act_row('1, '0, '0, '0)
    };
    for (genvar r = 0; r < 2; r++) begin : gen_row
      logic [3:0][Slices-1:0][SliceBits-1:0] part;
      for (genvar g = 0; g < 4; g++) begin : gen_group
        localparam logic [Slices-1:0][SliceBits-1:0] Present = (Slices * SliceBits)'(Columns[g]);
        for (genvar s = 0; s < int'(Slices); s++) begin : gen_slice
          if (Present[s] != '0) begin : gen_columns
            assign part[g][s] = u_dut.u_rows.gen_group[g].gen_slice[s].gen_columns.u_columns.mem[r] & Present[s];
          end else begin : gen_none
            assign part[g][s] = '0;
          end
        end
      end
      assign rows[k][r] = rmt_action_row_t'(RmtActionRowBits'(part[0] | part[1] | part[2] | part[3]));
    end

    always_comb begin
      assume (!init_q || !(u_dut.action_write || u_dut.data_valid || cfg_valid_i[k]));
      assume (!u_dut.action_write || (act_owner(cfg_row_i[k]) != ModuleBits'(chosen) &&
                                      rows[k][cfg_req_i[k].index[0]].owner != ModuleBits'(chosen)));
      assume (!(u_dut.data_valid && cfg_req_i[k].write) || 32'(cfg_req_i[k].index[DataWidth-1:0]) >= DataRows ||
              !owns_data[cfg_req_i[k].index[DataWidth-1:0]]);
      // Shown in noninterference/state.
      assume (init_q || !ours_q[7] || gen_copy[0].u_dut.merged == gen_copy[1].u_dut.merged);
    end
  end

  always_comb begin
    assume (rst_ni == !init_q);
    assume (!init_q || !(ours_i || ctl_valid_i[0] || ctl_valid_i[1]));
    assume (!ours_i || (32'(win_i[2].data) < DataRows && owns_data[win_i[2].data[DataWidth-1:0]]));
  end

  // Until the owner is known anything may be picked: of another module's row, and the action is not done.
  // Whether the packet's action is done.
  logic [8:5] done_q;
  always_ff @(posedge clk_i) begin
    done_q <= {done_q[7:5], asked4[0].act};
  end

`ifdef C4
  AnActionIsDoneInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || !ours_q[4] || asked4[0].act == asked4[1].act);
  TheStateIsAskedTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[4] || !asked4[0].act || asked4[0] == asked4[1]);
  for (genvar k = 0; k < 2; k++) begin : gen_others
    NobodyElseAsksAsTheModule_A :
    assert property (@(posedge clk_i)
        init_q || ours_q[4] || !others_ask[k] || $past(module_i[k] == chosen_q && ctl_valid_i[k]));
  end
`elsif FAULT
  FaultIsTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[5] || fault[0] == fault[1]);
`elsif C5
  TheStateIsAskedTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[5] || !done_q[5] || asked5[0] == asked5[1]);
`elsif C6
  TheStateIsAskedTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[6] || !done_q[6] || asked6[0] == asked6[1]);
`elsif C7
  ResultsOf4BytesAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[7] || asked7[0] == asked7[1]);
`elsif TWO
  ContainersOf2BytesAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[8] || phv[0].c.c2 == phv[1].c.c2);
`elsif FOUR
  ContainersOf4BytesAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[8] || phv[0].c.c4 == phv[1].c.c4);
`elsif SIX
  ContainersOf6BytesAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[8] || phv[0].c.c6 == phv[1].c.c6);
`else
  MetadataAreTheSame_A :
  assert property (@(posedge clk_i) init_q || !ours_q[8] ||
                   (phv[0].words == phv[1].words && phv[0].queueing_high == phv[1].queueing_high));
`endif

  // Strengthening for the induction: rows and data of the chosen module are the same in both.
  logic good;
  always_comb begin
    good = 1'b1;
    for (int unsigned r = 0; r < 2; r++) begin
      if (rows[0][r].owner == ModuleBits'(chosen) || rows[1][r].owner == ModuleBits'(chosen)) begin
        good &= rows[0][r] == rows[1][r];
      end
    end
    for (int unsigned r = 0; r < DataRows; r++) if (owns_data[r]) good &= data[0][r] == data[1][r];
    if (init_q) assume (good);
  end
  PlacesAreTheSame_A :
  assert property (@(posedge clk_i) good);
endmodule
