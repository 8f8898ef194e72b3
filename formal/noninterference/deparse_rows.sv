/// Proof about two copies of sluice_rmt_deparse_rows: the patterns and the deparse row that a module's packet reads are the same in
/// both, and stay while it keeps them, whatever other packets and the host read and write in each.
///
/// By k-induction, for runs of any length, at two modules. One row of patterns and one beat of a deparse row are chosen at the
/// start: what holds for any holds for all. In both copies they begin equal and stand, and the module's packets read and keep them in the
/// same cycles; all else is free in each, requests of the host among it. Assumed of what is written, as the linker's check
/// does (crates/object/src/linker/rmt/check.rs, `Patterns`, `Deparse`): rows of a module and generation are written by
/// nobody else. Assumed of packets, as the block's own assertions say: who reads a further beat keeps the row, and an index
/// without a packet is the host's. When a host's read makes packets wait is not claimed.
module deparse_rows
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_deparse_pkg::*;
#(
    parameter  int unsigned Modules  = 2,
    localparam int unsigned BankBits = $clog2(2 * Modules),
    localparam int unsigned RowBits  = BankBits + 4 + 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [BankBits-1:0] choose_bank_i,
    input logic [RowBits-1:0] choose_row_i,

    // The module's packet: begins to read, keeps what it has, reads the chosen beat after another one.
    input logic ours_i,
    input logic keep_i,
    input logic row_ours_i,
    input logic row_keep_i,
    input logic next_ours_i,
    input logic select_i,
    input logic row_select_i,

    // All else, in each copy.
    input logic [1:0] other_select_i,
    input logic [1:0] other_stay_i,
    input logic [1:0][BankBits-1:0] other_index_i,
    input logic [1:0] other_row_select_i,
    input logic [1:0] other_row_stay_i,
    input logic [1:0] other_row_next_i,
    input logic [1:0] other_row_packet_i,
    input logic [1:0][RowBits-1:0] other_row_index_i,
    input logic [1:0] cfg_valid_i,
    input rmt_cfg_req_t [1:0] cfg_req_i,
    input logic [1:0][32*RmtPatternsRowWords-1:0] cfg_row_i
);

  localparam rmt_cfg_t Cfg = '{
      bus_bytes: 64,
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
  logic [BankBits-1:0] bank_q, bank;
  logic [RowBits-1:0] row_q, row;
  logic has_q, has_head_q, has_lanes_q;  // the module's packet has its patterns, its row, its beat
  assign bank = init_q ? choose_bank_i : bank_q;
  assign row  = init_q ? choose_row_i : row_q;

  // A packet that has a row may keep it; lanes of another beat are not looked at.
  logic keeps, row_keeps, nexts;
  assign keeps     = has_q && keep_i && !ours_i;
  assign nexts     = has_head_q && next_ours_i && !row_ours_i;
  assign row_keeps = has_head_q && (row_keep_i || nexts) && !row_ours_i;

  always_ff @(posedge clk_i) begin
    init_q      <= 1'b0;
    bank_q      <= bank;
    row_q       <= row;
    has_q       <= rst_ni && (ours_i || keeps);
    has_head_q  <= rst_ni && (row_ours_i || row_keeps);
    has_lanes_q <= rst_ni && (row_ours_i || nexts || (row_keeps && has_lanes_q));
  end

  rmt_patterns_row_t [1:0] patterns, patterns_kept;
  deparse_head_t [1:0] head, head_kept;
  deparse_lanes_t [1:0] lanes, lanes_kept;

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic unused_valid, unused_slot, unused_hold, unused_row_hold;
    cfg_rsp_t unused_rsp;
    logic stay, next, packet;
    assign stay   = (row_ours_i ? 1'b0 : row_keeps) || (!row_ours_i && !has_head_q && other_row_stay_i[k]);
    assign next   = nexts || (!row_ours_i && !row_keeps && other_row_next_i[k]);
    assign packet = row_ours_i || nexts || (!row_keeps && other_row_packet_i[k]);
    sluice_rmt_deparse_rows #(
        .Cfg(Cfg)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .patterns_select_i(ours_i || (keeps ? select_i : other_select_i[k])),
        .patterns_stay_i  (!ours_i && (keeps || other_stay_i[k])),
        .patterns_index_i (ours_i ? bank : other_index_i[k]),
        .patterns_hold_o  (unused_hold),
        .patterns_o       (patterns[k]),
        .row_select_i     (row_ours_i || (row_keeps ? row_select_i : other_row_select_i[k])),
        .row_stay_i       (stay),
        .row_next_i       (next),
        .row_packet_i     (packet),
        .row_index_i      ((row_ours_i || nexts) ? row : other_row_index_i[k]),
        .row_hold_o       (unused_row_hold),
        .head_o           (head[k]),
        .lanes_o          (lanes[k]),
        .cfg_valid_i      (cfg_valid_i[k]),
        .cfg_req_i        (cfg_req_i[k]),
        .cfg_row_i        (cfg_row_i[k]),
        .cfg_valid_o      (unused_valid),
        .cfg_rsp_o        (unused_rsp),
        .slot_request_o   (unused_slot)
    );
    assign patterns_kept[k] = u_dut.u_patterns.word_q;
    assign head_kept[k] = u_dut.u_head.word_q;
    assign lanes_kept[k] = u_dut.u_lanes.word_q;
    always_comb begin
      assume (u_dut.u_patterns.chosen == bank);
      assume (u_dut.u_head.chosen == row && u_dut.u_lanes.chosen == row);
      assume (!next || stay);
      assume (!u_dut.row_slot || !packet);
      assume (!cfg_req_i[k].clear);
      assume (!(u_dut.write_now && u_dut.is_patterns) || cfg_req_i[k].index[BankBits-1:0] != bank);
      assume (!(u_dut.write_now && u_dut.is_deparse) || cfg_req_i[k].index[RowBits-1:0] != row);
    end
  end

  always_comb begin
    if (init_q) assume (!rst_ni);
    assume (rst_ni || !(ours_i || row_ours_i));
  end

  PatternsAreTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !has_q || patterns[0] == patterns[1]);
  TheRowIsTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !has_head_q || head[0] == head[1]);
  ItsBeatIsTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !has_lanes_q || lanes[0] == lanes[1]);

  // Strengthening for the induction.
  logic good;
  assign good = patterns_kept[0] == patterns_kept[1] && head_kept[0] == head_kept[1] && lanes_kept[0] == lanes_kept[1];
  always_comb if (init_q) assume (good);
  PlacesAreTheSame_A :
  assert property (@(posedge clk_i) good);
endmodule
