/// sluice_rmt_deparser by the number of a target, for its bench.
module rmt_deparser_target
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter int unsigned Target = 0,
    parameter int unsigned Least = 1,
    localparam rmt_cfg_t Cfg = rmt_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic     phv_valid_i,
    output logic     phv_ready_o,
    input  rmt_phv_t phv_i,
    input  rmt_ctl_t ctl_i,
    input  route_t   route_i,

    input  logic      side_valid_i,
    output logic      side_ready_o,
    input  sideband_t side_i,

    input  logic               valid_i,
    output logic               ready_o,
    input  logic [8*Bytes-1:0] data_i,
    input  logic               last_i,

    output logic                    m_valid_o,
    input  logic                    m_ready_i,
    output logic      [8*Bytes-1:0] m_data_o,
    output logic      [  Bytes-1:0] m_keep_o,
    output logic                    m_last_o,
    output sideband_t               m_side_o,
    output route_t                  m_route_o,

    output logic                        leave_valid_o,
    output rmt_ctl_t                    leave_ctl_o,
    output logic                        verdict_valid_o,
    output logic       [          31:0] verdict_id_o,
    output rmt_ctl_t                    verdict_ctl_o,
    output logic       [  DestBits-1:0] verdict_destinations_o,
    output logic                        event_valid_o,
    output logic       [ModuleBits-1:0] event_module_o,
    output rmt_event_e                  event_kind_o,
    output logic       [           3:0] event_amount_o,

    input  logic                                      cfg_valid_i,
    input  rmt_cfg_req_t                              cfg_req_i,
    input  logic         [32*RmtPatternsRowWords-1:0] cfg_row_i,
    output logic                                      cfg_valid_o,
    output cfg_rsp_t                                  cfg_rsp_o,
    output logic                                      slot_request_o
);

  sluice_rmt_deparser #(
      .Cfg  (Cfg),
      .Least(Least)
  ) u_deparser (
      .*
  );

endmodule
