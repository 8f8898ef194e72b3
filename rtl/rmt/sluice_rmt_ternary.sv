/// Ternary match of a stage (docs/design/rmt.md, "Match"): the lowest entry of the module and generation that matches.
///
///   c1  chunks read and combined              c2  lowest entry                       c3  answer, with the entry's action
///
/// A lookup (`valid_i`) is answered two cycles later by `hit_o` and what stands in the entry.
///
/// A write (`wr_valid_i`, held with its row until `wr_ready_o`) makes the entry invalid at once and valid when it is
/// whole, 34 cycles later: lookups meet the old entry, none, or the new one. An entry of no generation is only made
/// invalid. Action and number are changed with the last step; lookups that met the old entry have left by then.
///
/// `rd_row_o` is the row of `rd_index_i` one cycle after `rd_en_i`: as written, from a copy. A reset makes all entries
/// invalid and leaves the copy alone.
///
/// Latency: 2 cycles, fixed. Throughput: 1 lookup a cycle, also during a write. Never stalls.
module sluice_rmt_ternary
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    localparam int unsigned IndexBits = $clog2(Cfg.ternary)
) (
    input logic clk_i,
    input logic rst_ni,

    // c1
    input logic                  valid_i,
    input logic [RmtKeyBits-1:0] key_i,
    input logic [ModuleBits-1:0] module_i,
    input logic                  generation_i,

    // c3
    output logic                 hit_o,
    output logic [IndexBits-1:0] index_o,
    output logic [          8:0] action_o,
    output logic [         10:0] number_o,

    // Configuration.
    input  logic                             wr_valid_i,
    output logic                             wr_ready_o,
    input  logic             [IndexBits-1:0] wr_index_i,
    input  rmt_ternary_row_t                 wr_row_i,
    input  logic                             rd_en_i,
    input  logic             [IndexBits-1:0] rd_index_i,
    output rmt_ternary_row_t                 rd_row_o
);

  if (2 ** IndexBits != Cfg.ternary || Cfg.ternary < 2) begin : gen_bad_ternary
    $fatal(1, "rmt_ternary: ternary is %0d, expected a power of two of at least 2 (%m)", Cfg.ternary);
  end

  localparam int unsigned KeyWidth = RmtKeyBits + 1 + $clog2(Cfg.modules);

  logic entry_valid, one_generation, unused_valid;

  assign entry_valid = |wr_row_i.generations;
  assign one_generation = wr_row_i.generations != 2'b11;

  sluice_tcam_lut #(
      .Entries (Cfg.ternary),
      .KeyWidth(KeyWidth)
  ) u_entries (
      .clk_i,
      .rst_ni,
      .wr_valid_i,
      .wr_ready_o,
      .wr_index_i,
      .wr_entry_valid_i(entry_valid),
      .wr_value_i      (KeyWidth'({wr_row_i.module_id, wr_row_i.generations[1], wr_row_i.value})),
      .wr_mask_i       (KeyWidth'({{ModuleBits{1'b1}}, one_generation, wr_row_i.mask})),
      .lookup_valid_i  (valid_i),
      .lookup_key_i    (KeyWidth'({module_i, generation_i, key_i})),
      .lookup_valid_o  (unused_valid),
      .hit_o,
      .index_o
  );

  sluice_ram_lut #(
      .Width   (9 + 11),
      .Depth   (Cfg.ternary),
      .InitZero(1'b0)
  ) u_actions (
      .clk_i,
      .we_i   (wr_valid_i && wr_ready_o && entry_valid),
      .waddr_i(wr_index_i),
      .wdata_i({wr_row_i.number, wr_row_i.action}),
      .raddr_i(index_o),
      .rdata_o({number_o, action_o})
  );

  sluice_ram_1r1w #(
      .Width   (RmtTernaryRowBits),
      .Depth   (Cfg.ternary),
      .Style   ("block"),
      .InitZero(1'b0)
  ) u_copy (
      .clk_i,
      .wr_en_i  (wr_valid_i && wr_ready_o),
      .wr_addr_i(wr_index_i),
      .wr_data_i(wr_row_i),
      .rd_en_i,
      .rd_addr_i(rd_index_i),
      .rd_data_o(rd_row_o)
  );

endmodule
