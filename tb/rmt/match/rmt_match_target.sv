/// sluice_rmt_stage by the number of a target, with what its match part finds, for the benches of both.
module rmt_match_target
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter int unsigned Target = 0,
    parameter int unsigned Stage = 1,
    localparam rmt_cfg_t Cfg = rmt_cfg(Target)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input  logic     ctl_valid_i,
    input  rmt_ctl_t ctl_i,
    input  rmt_phv_t phv_i,
    output logic     ctl_valid_o,
    output rmt_ctl_t ctl_o,
    output rmt_phv_t phv_o,

    input  logic                                    cfg_valid_i,
    input  rmt_cfg_req_t                            cfg_req_i,
    input  logic         [32*RmtActionRowWords-1:0] cfg_row_i,
    output logic                                    cfg_valid_o,
    output cfg_rsp_t                                cfg_rsp_o,
    output logic                                    slot_request_o,

    // Of the match part.
    output rmt_win_t        win_o,         // c3
    output logic     [ 1:0] conditions_o,  // c4
    output logic     [31:0] hash_o         // c4
);

  sluice_rmt_stage #(
      .Cfg  (Cfg),
      .Stage(Stage)
  ) u_stage (
      .*
  );

  assign win_o = u_stage.win;
  assign conditions_o = u_stage.conditions;
  assign hash_o = u_stage.hash;

endmodule
