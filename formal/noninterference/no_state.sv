/// Stands for sluice_rmt_state in noninterference/act: its results are free, the harness says what noninterference/state
/// shows of them.
module sluice_rmt_state
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    parameter  rmt_cfg_t    Cfg       = RmtCfgDefault,
    localparam int unsigned AddrWidth = $clog2(Cfg.words),
    localparam int unsigned PageRows  = 2 * Cfg.modules * RmtModulePages,
    localparam int unsigned PageWidth = $clog2(PageRows)
) (
    input  logic                                        clk_i,
    input  logic                                        rst_ni,
    input  logic                                        act_i,
    input  logic          [            1:0]             conditions_i,
    input  logic          [ ModuleBits-1:0]             module_i,
    input  logic                                        generation_i,
    input  act_pick_t                                   pick_i,
    input  logic          [           11:0]             p2_i,
    input  logic          [           11:0]             da_i,
    input  logic          [            2:0][ 2:0][15:0] nearly_i,
    input  logic          [   TickBits-1:0]             queueing_i,
    input  logic          [           15:0]             length_i,
    input  act_early_t                                  early_i,
    input  logic          [            1:0]             c6_conditions_i,
    input  act_atom_t                                   atom_i,
    input  logic          [           31:0]             c6_x_i,
    input  logic          [           31:0]             c6_db_i,
    input  logic          [           31:0]             c6_p1_i,
    input  logic          [            7:0][31:0]       alus_i,
    output logic          [            7:0][31:0]       merged_o,
    input  logic                                        host_valid_i,
    input  logic                                        host_write_i,
    input  logic                                        host_zero_i,
    input  logic          [  AddrWidth-1:0]             host_index_i,
    input  logic          [           31:0]             host_value_i,
    output logic                                        host_done_o,
    output logic          [           31:0]             host_value_o,
    output logic                                        slot_request_o,
    input  logic                                        page_valid_i,
    input  logic                                        page_write_i,
    input  logic          [  PageWidth-1:0]             page_index_i,
    input  rmt_page_row_t                               page_row_i,
    output rmt_page_row_t                               page_row_o,
    input  logic          [           31:0]             epoch_i,
    input  logic                                        range_valid_i,
    input  logic                                        range_snapshot_i,
    input  logic          [ ModuleBits-1:0]             range_index_i,
    output logic                                        range_valid_o,
    output logic          [CounterBits-1:0]             range_value_o
);
endmodule
