/// Stands for sluice_rmt_act in noninterference/stage: its results are free, the harness says what noninterference/act
/// shows of them.
module sluice_rmt_act
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_act_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault
) (
    input logic        clk_i,
    input logic        rst_ni,
    input logic [31:0] epoch_i,

    // c3
    input logic                      ctl_valid_i,
    input rmt_ctl_t                  ctl_i,
    input logic                      system_i,
    input logic     [ModuleBits-1:0] rows_module_i,
    input logic                      rows_generation_i,
    input rmt_win_t                  win_i,

    // c4
    input rmt_phv_t        phv_i,
    input logic     [ 1:0] conditions_i,
    input logic     [31:0] hash_i,

    // c5, c8
    output logic     fault_o,
    output rmt_phv_t phv_o,

    input  logic                                    cfg_valid_i,
    input  rmt_cfg_req_t                            cfg_req_i,
    input  logic         [32*RmtActionRowWords-1:0] cfg_row_i,
    output logic                                    cfg_valid_o,
    output cfg_rsp_t                                cfg_rsp_o,
    output logic                                    slot_request_o
);
endmodule
