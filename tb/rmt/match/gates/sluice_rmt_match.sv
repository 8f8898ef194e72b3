/// Stands in for sluice_rmt_match in its bench: the netlist that Yosys made of it (rmt_match_gates), whose ports are flat.
module sluice_rmt_match
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    // The netlist is of one target.
    // "Parameter is not used": as sluice_rmt_match has it.
    // verilator lint_off UNUSEDPARAM
    parameter rmt_cfg_t Cfg = RmtCfgDefault
    // verilator lint_on UNUSEDPARAM
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

  rmt_match_gates u_gates (
      .clk_i            (clk_i),
      .rst_ni           (rst_ni),
      .valid_i          (valid_i),
      .rows_module_i    (rows_module_i),
      .rows_generation_i(rows_generation_i),
      .phv_i            (phv_i),
      .win_o            (win_o),
      .hits_base_o      (hits_base_o),
      .conditions_o     (conditions_o),
      .hash_o           (hash_o),
      .cfg_valid_i      (cfg_valid_i),
      .cfg_req_i        (cfg_req_i),
      .cfg_row_i        (cfg_row_i),
      .cfg_valid_o      (cfg_valid_o),
      .cfg_rsp_o        (cfg_rsp_o),
      .slot_request_o   (slot_request_o)
  );

endmodule
