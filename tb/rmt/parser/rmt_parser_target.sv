/// sluice_rmt_parser by the number of a target, for its bench.
module rmt_parser_target
  import sluice_engine_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter int unsigned Target = 0,
    localparam rmt_cfg_t Cfg = rmt_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                    slot_valid_i,
    input logic                    slot_first_i,
    input logic                    slot_last_i,
    input logic      [8*Bytes-1:0] slot_data_i,
    input rmt_desc_t               desc_i,

    output logic     ctl_valid_o,
    output rmt_ctl_t ctl_o,
    output rmt_phv_t phv_o,

    output logic                                    slot_request_o,
    input  logic                                    cfg_valid_i,
    input  rmt_cfg_req_t                            cfg_req_i,
    input  logic         [32*RmtSelectRowWords-1:0] cfg_row_i,
    output logic                                    cfg_valid_o,
    output cfg_rsp_t                                cfg_rsp_o
);

  sluice_rmt_parser #(
      .Cfg(Cfg)
  ) u_parser (
      .clk_i,
      .rst_ni,
      .slot_valid_i,
      .slot_first_i,
      .slot_last_i,
      .slot_data_i,
      .desc_i,
      .ctl_valid_o,
      .ctl_o,
      .phv_o,
      .slot_request_o,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_row_i,
      .cfg_valid_o,
      .cfg_rsp_o
  );

endmodule
