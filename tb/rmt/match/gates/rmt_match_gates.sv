/// What Yosys makes gates of: sluice_rmt_match by the number of a target. The netlist has this module's name.
module rmt_match_gates
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter int unsigned Target = 0
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                  valid_i,
    input logic [ModuleBits-1:0] rows_module_i,
    input logic                  rows_generation_i,

    input  rmt_phv_t        phv_i,
    output rmt_win_t        win_o,
    output logic     [10:0] hits_base_o,
    output logic     [ 1:0] conditions_o,
    output logic     [31:0] hash_o,

    input  logic                                    cfg_valid_i,
    input  rmt_cfg_req_t                            cfg_req_i,
    input  logic         [32*RmtActionRowWords-1:0] cfg_row_i,
    output logic                                    cfg_valid_o,
    output cfg_rsp_t                                cfg_rsp_o,
    output logic                                    slot_request_o
);

  sluice_rmt_match #(.Cfg(rmt_cfg(Target))) u_match (.*);

endmodule
