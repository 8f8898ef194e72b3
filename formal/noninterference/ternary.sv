/// Proof about two copies of sluice_rmt_ternary: what a module's lookup meets is the same in both, whatever entries, writes
/// and lookups of other modules there are in each.
///
/// By k-induction, for runs of any length. A chosen module has some entries, the same in both copies for the whole run. Its
/// writes are common to both and come in the same cycle; all else is free in each. In the place of sluice_tcam_lut stands what
/// common/tcam_lut shows of it, at the design's key and chunks among others: the loop over (value, mask). Assumed of what
/// is written, as the linker's check does (crates/object/src/linker/rmt/check.rs, `Ternary`): an entry of another module
/// has that module's number, which is one of the target's, and stands in a place that is not the chosen module's. Assumed
/// of who writes: a write stays until it is taken. A reset stands only at the start.
module ternary
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter  int unsigned Entries   = 2,
    parameter  int unsigned Modules   = 2,
    localparam int unsigned IndexBits = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_ni,

    // Chosen at the start.
    input logic [ModuleBits-1:0] choose_i,
    input logic [Entries-1:0] owns_i,

    // Lookups: of the chosen module ([2]), else of each copy alone.
    input logic                       ours_i,
    input logic [1:0]                 valid_i,
    input logic [2:0][RmtKeyBits-1:0] key_i,
    input logic [1:0][ModuleBits-1:0] module_i,
    input logic [2:0]                 generation_i,

    // Writes.
    input logic [1:0] wr_valid_i,
    input logic [1:0][IndexBits-1:0] wr_index_i,
    input rmt_ternary_row_t [1:0] wr_row_i
);

  localparam rmt_cfg_t Cfg = '{
      bus_bytes: 32,
      modules: Modules,
      stages: 1,
      system_stages: 0,
      sets: 2,
      ternary: Entries,
      actions: 2,
      words: 128,
      groups: 2,
      target_hash: 0
  };
  logic init_q = 1'b1;
  logic [ModuleBits-1:0] chosen_q;
  logic [Entries-1:0] owns_q;
  logic [1:0] ours_q;

  logic [1:0] hit, wr_ready;
  logic [1:0][IndexBits-1:0] index;
  logic [1:0][8:0] action;
  logic [1:0][10:0] number;

  logic [1:0] write_ours;
  logic [1:0][IndexBits+RmtTernaryRowBits-1:0] write, write_q;
  logic [1:0] waits_q;

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    rmt_ternary_row_t unused_row;
    sluice_rmt_ternary #(
        .Cfg(Cfg)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .valid_i     (ours_i || valid_i[k]),
        .key_i       (key_i[ours_i?2 : k]),
        .module_i    (ours_i ? chosen_q : module_i[k]),
        .generation_i(generation_i[ours_i?2 : k]),
        .hit_o       (hit[k]),
        .index_o     (index[k]),
        .action_o    (action[k]),
        .number_o    (number[k]),
        .wr_valid_i  (wr_valid_i[k]),
        .wr_ready_o  (wr_ready[k]),
        .wr_index_i  (wr_index_i[k]),
        .wr_row_i    (wr_row_i[k]),
        .rd_en_i     (1'b0),
        .rd_index_i  ('0),
        .rd_row_o    (unused_row)
    );
    assign write[k] = {wr_index_i[k], wr_row_i[k]};
    assign write_ours[k] = wr_valid_i[k] && owns_q[wr_index_i[k]];
    always_comb begin
      assume (!init_q || !wr_valid_i[k]);
      assume (!waits_q[k] || (wr_valid_i[k] && write[k] == write_q[k]));
      assume (32'(wr_row_i[k].module_id) < Modules);
      assume (write_ours[k] || wr_row_i[k].module_id != chosen_q);
      assume (!write_ours[k] || (wr_valid_i == 2'b11 && write[0] == write[1]));
    end
    always_ff @(posedge clk_i) begin
      waits_q[k] <= rst_ni && wr_valid_i[k] && !wr_ready[k];
      write_q[k] <= write[k];
    end
  end

  always_comb begin
    assume (rst_ni == !init_q);
    assume (32'(choose_i) < Modules);
  end

  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) begin
      chosen_q <= choose_i;
      owns_q   <= owns_i;
    end
    ours_q <= {ours_q[0], !init_q && ours_i};
    if (init_q) ours_q <= '0;
  end

  ALookupHitsInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || hit[0] == hit[1]);
  AHitIsTheSameEntry_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || !hit[0] ||
                   (index[0] == index[1] && action[0] == action[1] && number[0] == number[1]));

  // Strengthening for the induction: the chosen module's entries are the same in both copies, those of others have their own
  // module's number.
  localparam int unsigned ModuleIndexBits = $clog2(Modules);
  typedef struct packed {
    logic [ModuleIndexBits-1:0] module_id;
    logic generation;
    logic [RmtKeyBits-1:0] key;
  } tcam_key_t;

  TheModuleIsOneOfTheTarget_A :
  assert property (@(posedge clk_i) init_q || 32'(chosen_q) < Modules);
  for (genvar k = 0; k < 2; k++) begin : gen_of
    logic [IndexBits-1:0] written;
    assign written = write_q[k][RmtTernaryRowBits+:IndexBits];
    OwnWritesAreUnderWayInBoth_A :
    assert property (@(posedge clk_i) init_q || !waits_q[k] || !owns_q[written] ||
        (waits_q == 2'b11 && write_q[0] == write_q[1]));
    for (genvar e = 0; e < int'(Entries); e++) begin : gen_entry
      tcam_key_t value, mask;
      assign value = gen_copy[k].u_dut.u_entries.value_q[e];
      assign mask  = gen_copy[k].u_dut.u_entries.mask_q[e];
      OthersHaveTheirOwnNumber_A :
      assert property (@(posedge clk_i) init_q || owns_q[e] || !gen_copy[k].u_dut.u_entries.valid_q[e] ||
          (mask.module_id == '1 && value.module_id != chosen_q[ModuleIndexBits-1:0]));
    end
  end
  always_comb begin
    // A write takes 34 cycles, so that one that is common to both is taken in both in the same cycle.
    assume (init_q || write_ours == '0 || gen_copy[0].u_dut.u_entries.anytime == gen_copy[1].u_dut.u_entries.anytime);
  end
  for (genvar e = 0; e < int'(Entries); e++) begin : gen_own
    logic [1:0][19:0] actions;
    logic [1:0][2*$bits(tcam_key_t)-1:0] entry;
    logic [1:0] valid;
    for (genvar k = 0; k < 2; k++) begin : gen_copy_of
      assign actions[k] = gen_copy[k].u_dut.u_actions.mem[e];
      assign entry[k]   = {gen_copy[k].u_dut.u_entries.value_q[e], gen_copy[k].u_dut.u_entries.mask_q[e]};
      assign valid[k]   = gen_copy[k].u_dut.u_entries.valid_q[e];
    end
    always_comb if (init_q) assume (actions[0] == actions[1]);
    OwnEntriesAreTheSame_A :
    assert property (@(posedge clk_i) init_q || !owns_q[e] || (valid[0] == valid[1] && (!valid[0] || entry[0] == entry[1])));
    OwnActionsAreTheSame_A :
    assert property (@(posedge clk_i) init_q ? actions[0] == actions[1] : (!owns_q[e] || actions[0] == actions[1]));
  end

endmodule
