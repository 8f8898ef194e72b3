/// Stand for sluice_rmt_exact and sluice_rmt_ternary in noninterference/match: their answers are free, the harness says what
/// noninterference/exact and noninterference/ternary show of them.
module sluice_rmt_exact
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    localparam int unsigned SetBits = $clog2(Cfg.sets)
) (
    input  logic                                                       clk_i,
    input  logic                                                       valid_i,
    input  logic           [  RmtKeyBits-1:0]                          key_i,
    input  logic           [            31:0]                          hash_i,
    input  logic           [     SetBits-1:0]                          set_base_i,
    input  logic           [     SetBits-1:0]                          set_mask_i,
    input  logic           [  ModuleBits-1:0]                          module_i,
    input  logic                                                       generation_i,
    output logic                                                       hit_o,
    output logic           [             8:0]                          action_o,
    output logic           [            10:0]                          number_o,
    output logic           [            11:0]                          data_o,
    input  logic           [RmtExactWays-1:0]                          write_i,
    input  logic           [     SetBits-1:0]                          write_index_i,
    input  rmt_exact_row_t                                             write_row_i,
    output logic           [RmtExactWays-1:0][32*RmtExactRowWords-1:0] rows_o
);
endmodule

module sluice_rmt_ternary
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    localparam int unsigned IndexBits = $clog2(Cfg.ternary)
) (
    input  logic                              clk_i,
    input  logic                              rst_ni,
    input  logic                              valid_i,
    input  logic             [RmtKeyBits-1:0] key_i,
    input  logic             [ModuleBits-1:0] module_i,
    input  logic                              generation_i,
    output logic                              hit_o,
    output logic             [ IndexBits-1:0] index_o,
    output logic             [           8:0] action_o,
    output logic             [          10:0] number_o,
    input  logic                              wr_valid_i,
    output logic                              wr_ready_o,
    input  logic             [ IndexBits-1:0] wr_index_i,
    input  rmt_ternary_row_t                  wr_row_i,
    input  logic                              rd_en_i,
    input  logic             [ IndexBits-1:0] rd_index_i,
    output rmt_ternary_row_t                  rd_row_o
);
endmodule
