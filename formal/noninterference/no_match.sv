/// Stands for sluice_rmt_match in noninterference/stage: its results are free, the harness says what noninterference/match
/// shows of them.
module sluice_rmt_match
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault
) (
    input logic clk_i,
    input logic rst_ni,

    // The cycle before c0.
    input logic                  valid_i,
    input logic [ModuleBits-1:0] rows_module_i,
    input logic                  rows_generation_i,

    input  rmt_phv_t        phv_i,         // c0
    output rmt_win_t        win_o,         // c3
    output logic     [10:0] hits_base_o,   // c3
    output logic     [ 1:0] conditions_o,  // c4
    output logic     [31:0] hash_o,        // c4

    input  logic                                    cfg_valid_i,
    input  rmt_cfg_req_t                            cfg_req_i,
    input  logic         [32*RmtActionRowWords-1:0] cfg_row_i,
    output logic                                    cfg_valid_o,
    output cfg_rsp_t                                cfg_rsp_o,
    output logic                                    slot_request_o
);
endmodule
