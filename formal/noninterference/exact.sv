/// Proof about two copies of sluice_rmt_exact: what a module's lookup meets is the same in both, whatever entries and lookups
/// of other modules there are in each.
///
/// By k-induction, for runs of any length. A chosen module's lookups and writes are common to both copies and come in the
/// same cycle; all else is free in each. Assumed of what is written, as the linker's check does
/// (crates/object/src/linker/rmt/check.rs, `stage_row`): an entry of another module has that module's number, which is
/// one of the target's, or no generation; and nobody writes where an entry of the chosen module stands but itself.
/// Sets need not be apart: lookups of all modules may read all of them. Resets are no part: the block has none.
module exact
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter int unsigned Sets = 2,
    parameter int unsigned Modules = 2,
    localparam int unsigned SetBits = $clog2(Sets)
) (
    input logic clk_i,
    input logic [ModuleBits-1:0] choose_i,

    // Lookups: of the chosen module, else of each copy alone.
    input logic                       ours_i,
    input logic [1:0]                 valid_i,
    input logic [2:0][RmtKeyBits-1:0] key_i,        // [2] is the chosen module's
    input logic [2:0][          31:0] hash_i,
    input logic [2:0][   SetBits-1:0] set_base_i,
    input logic [2:0][   SetBits-1:0] set_mask_i,
    input logic [1:0][ModuleBits-1:0] module_i,
    input logic [2:0]                 generation_i,

    // Writes: of the chosen module, else of each copy alone.
    input logic                                   write_ours_i,
    input logic           [2:0][RmtExactWays-1:0] write_i,
    input logic           [2:0][     SetBits-1:0] write_index_i,
    input rmt_exact_row_t [2:0]                   write_row_i
);

  localparam rmt_cfg_t Cfg = '{
      bus_bytes: 32,
      modules: Modules,
      stages: 1,
      system_stages: 0,
      sets: Sets,
      ternary: 2,
      actions: 2,
      words: 128,
      groups: 2,
      target_hash: 0
  };

  logic init_q = 1'b1;
  logic [ModuleBits-1:0] chosen_q;
  logic [1:0] ours_q;

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) chosen_q <= choose_i;
    ours_q <= {ours_q[0], !init_q && ours_i};
    if (init_q) ours_q <= '0;
  end

  function automatic logic of_a_module(rmt_exact_row_t row);
    return 32'(row.module_id) < Modules;
  endfunction

  logic [1:0] hit;
  logic [1:0][8:0] action;
  logic [1:0][10:0] number;
  logic [1:0][11:0] data;

  // Each copy's row of each place: [copy][way][set].
  rmt_exact_row_t [1:0][RmtExactWays-1:0][Sets-1:0] rows;
  logic [ModuleBits-1:0] module_now;
  assign module_now = init_q ? choose_i : chosen_q;

  function automatic logic is_chosens(rmt_exact_row_t row, logic [ModuleBits-1:0] chosen);
    return row.generations != '0 && row.module_id == chosen;
  endfunction

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic [RmtExactWays-1:0][32*RmtExactRowWords-1:0] unused_rows;
    logic ours;
    assign ours = write_ours_i;
    sluice_rmt_exact #(
        .Cfg(Cfg)
    ) u_dut (
        .clk_i,
        .valid_i      (ours_i || valid_i[k]),
        .key_i        (ours_i ? key_i[2] : key_i[k]),
        .hash_i       (ours_i ? hash_i[2] : hash_i[k]),
        .set_base_i   (ours_i ? set_base_i[2] : set_base_i[k]),
        .set_mask_i   (ours_i ? set_mask_i[2] : set_mask_i[k]),
        .module_i     (ours_i ? chosen_q : module_i[k]),
        .generation_i (ours_i ? generation_i[2] : generation_i[k]),
        .hit_o        (hit[k]),
        .action_o     (action[k]),
        .number_o     (number[k]),
        .data_o       (data[k]),
        .write_i      (write_ours_i ? write_i[2] : write_i[k]),
        .write_index_i(write_ours_i ? write_index_i[2] : write_index_i[k]),
        .write_row_i  (write_ours_i ? write_row_i[2] : write_row_i[k]),
        .rows_o       (unused_rows)
    );
    for (genvar w = 0; w < int'(RmtExactWays); w++) begin : gen_way
      for (genvar s = 0; s < int'(Sets); s++) begin : gen_set
        assign rows[k][w][s] = u_dut.gen_way[w].u_rows.mem[s];
      end
    end
    // What others write, and where.
    always_comb begin
      assume (of_a_module(write_row_i[k]) && !is_chosens(write_row_i[k], module_now));
      for (int unsigned w = 0; w < RmtExactWays; w++) begin
        assume (write_ours_i || !write_i[k][w] || !is_chosens(rows[k][w][write_index_i[k]], module_now));
      end
    end
  end

  always_comb begin
    assume (!init_q || (32'(choose_i) < Modules && !ours_i));
    assume (of_a_module(write_row_i[2]));
    assume (32'(module_i[0]) < Modules && 32'(module_i[1]) < Modules);
  end

  ALookupHitsInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || hit[0] == hit[1]);
  AHitIsTheSameEntry_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || !hit[0] ||
                   (action[0] == action[1] && number[0] == number[1] && data[0] == data[1]));

  // Strengthening for the induction: each place has the same row, or no row of the module in either copy. The first state
  // is assumed to be so.
  for (genvar w = 0; w < int'(RmtExactWays); w++) begin : gen_way
    for (genvar s = 0; s < int'(Sets); s++) begin : gen_set
      logic good;
      assign good = of_a_module(
          rows[0][w][s]
      ) && of_a_module(
          rows[1][w][s]
      ) && (rows[0][w][s] == rows[1][w][s] || !(is_chosens(
          rows[0][w][s], module_now
      ) || is_chosens(
          rows[1][w][s], module_now
      )));
      always_comb if (init_q) assume (good);
      APlaceIsTheSameOrNotOfTheModule_A :
      assert property (@(posedge clk_i) good);
    end
  end
  TheModuleIsOneOfTheTarget_A :
  assert property (@(posedge clk_i) 32'(module_now) < Modules);

  AHitWithDifferentNeighbours_C :
  cover property (@(posedge clk_i) !init_q && ours_q[1] && hit[0] && $past(
      valid_i[0] != valid_i[1]
  ) && rows[0][0] != rows[1][0]);

endmodule
