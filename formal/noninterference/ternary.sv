/// Proof about two copies of sluice_rmt_ternary: what a module's lookup meets is the same in both, whatever entries, writes
/// and lookups of other modules there are in each.
///
/// By k-induction, for runs of any length, at the design's key and chunks. A chosen module has some entries, the same in both
/// copies for the whole run. Its writes are common to both and come in the same cycle; all else is free in each, also when
/// the other modules' writes begin, whose 34 steps copy rows in which the chosen module's entries lie. One key of its
/// packets is chosen at the start: what holds for any one holds for all. Assumed of what is written, as the linker's check does
/// (crates/object/src/linker/rmt/check.rs, `stage_row`): an entry of another module has that module's number, which is
/// one of the target's, and stands in a place that is not the chosen module's. Assumed of who writes: a write stays until
/// it is taken. A reset stands only at the start.
module ternary
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter int unsigned Entries = 2,
    parameter int unsigned Modules = 2,
    localparam int unsigned IndexBits = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_ni,

    // Chosen at the start.
    input logic [ModuleBits-1:0] choose_i,
    input logic [Entries-1:0] owns_i,
    input logic [RmtKeyBits-1:0] choose_key_i,
    input logic choose_generation_i,

    // Lookups: of the chosen key, else of each copy alone.
    input logic                       ours_i,
    input logic [1:0]                 valid_i,
    input logic [1:0][RmtKeyBits-1:0] key_i,
    input logic [1:0][ModuleBits-1:0] module_i,
    input logic [1:0]                 generation_i,

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
  // As sluice_rmt_ternary and sluice_tcam_lut have it.
  localparam int unsigned KeyWidth = RmtKeyBits + 1 + $clog2(Modules);
  localparam int unsigned ChunkBits = 5;
  localparam int unsigned Rows = 2 ** ChunkBits;
  localparam int unsigned Chunks = (KeyWidth + ChunkBits - 1) / ChunkBits;
  localparam int unsigned ModuleChunk = Chunks - 1;  // has all of the module's bits
  if ((RmtKeyBits + 1) / ChunkBits != ModuleChunk) begin : gen_bad_chunk
    $fatal(1, "ternary: the module's bits are in several chunks");
  end

  logic init_q = 1'b1;
  logic [ModuleBits-1:0] chosen_q;
  logic [Entries-1:0] owns_q;
  logic [RmtKeyBits-1:0] key_q;
  logic generation_q;
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
        .key_i       (ours_i ? key_q : key_i[k]),
        .module_i    (ours_i ? chosen_q : module_i[k]),
        .generation_i(ours_i ? generation_q : generation_i[k]),
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
      chosen_q     <= choose_i;
      owns_q       <= owns_i;
      key_q        <= choose_key_i;
      generation_q <= choose_generation_i;
    end
    ours_q <= {ours_q[0], !init_q && ours_i};
    if (init_q) ours_q <= '0;
  end

  ALookupHitsInBothOrNeither_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || hit[0] == hit[1]);
  AHitIsTheSameEntry_A :
  assert property (@(posedge clk_i) init_q || !ours_q[1] || !hit[0] ||
                   (index[0] == index[1] && action[0] == action[1] && number[0] == number[1]));

  // Strengthening for the induction: of the chosen key, the chosen module's entries are the same in both copies, those of
  // others refuse the module's chunk.
  typedef logic [Chunks*ChunkBits-1:0] padded_t;
  padded_t key;
  assign key = padded_t'({chosen_q, generation_q, key_q});

  TheModuleIsOneOfTheTarget_A :
  assert property (@(posedge clk_i) init_q || 32'(chosen_q) < Modules);

  logic [1:0][Entries-1:0] valid;
  for (genvar k = 0; k < 2; k++) begin : gen_of
    assign valid[k] = gen_copy[k].u_dut.u_entries.valid_q;
    logic [5:0] step;
    logic [IndexBits-1:0] written;
    assign step = 6'(gen_copy[k].u_dut.u_entries.step_q);
    assign written = write_q[k][RmtTernaryRowBits+:IndexBits];
    rmt_ternary_row_t row_q;
    assign row_q = rmt_ternary_row_t'(write_q[k][RmtTernaryRowBits-1:0]);

    StepsAreThoseOfAWrite_A :
    assert property (@(posedge clk_i) init_q || (waits_q[k] == (step != 0) && step <= 6'(Rows + 1)));
    OnlyValidEntriesTakeLong_A :
    assert property (@(posedge clk_i) init_q || !waits_q[k] || row_q.generations != '0);
    WritesUnderWayAreOfWhoMay_A :
    assert property (@(posedge clk_i) init_q || !waits_q[k] || (32'(row_q.module_id) < Modules &&
        (owns_q[written] || row_q.module_id != chosen_q)));
    OwnWritesAreUnderWayInBoth_A :
    assert property (@(posedge clk_i) init_q || !waits_q[k] || !owns_q[written] ||
        (waits_q == 2'b11 && write_q[0] == write_q[1] && gen_of[0].step == gen_of[1].step));
    RowsFollowEachOther_A :
    assert property (@(posedge clk_i) init_q || (gen_copy[k].u_dut.u_entries.read_valid_q == (step >= 1 && step <= 6'(Rows)) &&
        gen_copy[k].u_dut.u_entries.copy_valid_q == (step >= 2) &&
        (step < 1 || 6'(gen_copy[k].u_dut.u_entries.read_row_q) == ((step - 6'd1) & 6'(Rows - 1))) &&
        (step < 2 || 6'(gen_copy[k].u_dut.u_entries.copy_row_q) == step - 6'd2)));

    for (genvar e = 0; e < int'(Entries); e++) begin : gen_entry
      logic busy;
      assign busy = waits_q[k] && written == IndexBits'(e);
      WrittenEntryIsInvalid_A :
      assert property (@(posedge clk_i) init_q || !busy || !valid[k][e]);

      for (genvar c = 0; c < int'(Chunks); c++) begin : gen_chunk
        logic [ChunkBits-1:0] row;
        logic concerns, mirror, copy, accepts;
        assign row = key[c*ChunkBits+:ChunkBits];
        assign concerns = owns_q[e] || c == ModuleChunk;
        assign mirror = gen_copy[k].u_dut.u_entries.u_mirror.mem[row][e*int'(Chunks)+c];
        assign copy = gen_copy[k].u_dut.u_entries.copy[e][c];
        assign accepts = gen_copy[k].u_dut.u_entries.gen_chunk[c].gen_group[0].u_rows.mem[row][e];
        CopyIsThatOfTheMirror_A :
        assert property (@(posedge clk_i) init_q || !concerns || !(valid[k][e] || busy) ||
            !gen_copy[k].u_dut.u_entries.copy_valid_q || gen_copy[k].u_dut.u_entries.copy_row_q != row || copy == mirror);
        RowIsThatOfTheMirror_A :
        assert property (@(posedge clk_i) init_q || !concerns || !(valid[k][e] || (busy && step > 6'(row) + 2)) ||
            accepts == mirror);
        if (c == int'(ModuleChunk)) begin : gen_refused
          OthersRefuseTheModule_A :
          assert property (@(posedge clk_i) init_q || owns_q[e] || !(valid[k][e] || (busy && step > 6'(row))) || !mirror);
        end
      end
    end
  end

  for (genvar e = 0; e < int'(Entries); e++) begin : gen_own
    logic [1:0][19:0] actions;
    logic [1:0][Chunks-1:0] mirrors;
    for (genvar k = 0; k < 2; k++) begin : gen_copy_of
      assign actions[k] = gen_copy[k].u_dut.u_actions.mem[e];
      for (genvar c = 0; c < int'(Chunks); c++) begin : gen_chunk
        assign mirrors[k][c] = gen_of[k].gen_entry[e].gen_chunk[c].mirror;
      end
    end
    always_comb if (init_q) assume (actions[0] == actions[1]);
    OwnEntriesAreValidInBoth_A :
    assert property (@(posedge clk_i) init_q || !owns_q[e] || valid[0][e] == valid[1][e]);
    OwnEntriesAreTheSame_A :
    assert property (@(posedge clk_i) init_q || !owns_q[e] || mirrors[0] == mirrors[1]);
    OwnActionsAreTheSame_A :
    assert property (@(posedge clk_i) init_q ? actions[0] == actions[1] : (!owns_q[e] || actions[0] == actions[1]));
  end

endmodule
