/// sluice_nic_port by the number of a target, for its bench.
module nic_port_target
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Target = 0,
    parameter int unsigned Port = 0,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [TickBits-1:0] ticks_i,

    input logic               s_axis_tvalid,
    input logic [8*Bytes-1:0] s_axis_tdata,
    input logic [  Bytes-1:0] s_axis_tkeep,
    input logic               s_axis_tlast,
    input logic               s_axis_tuser,

    output logic                     desc_valid_o,
    input  logic                     desc_ready_i,
    output port_desc_t               desc_o,
    output logic                     valid_o,
    input  logic                     ready_i,
    output logic       [8*Bytes-1:0] data_o,
    output logic                     last_o,

    input  logic     [31:0] epoch_i,
    input  logic            cfg_valid_i,
    input  cfg_req_t        cfg_req_i,
    output logic            cfg_valid_o,
    output cfg_rsp_t        cfg_rsp_o,

    output logic        trace_valid_o,
    output port_trace_t trace_o
);

  sluice_nic_port #(
      .Cfg (Cfg),
      .Port(Port)
  ) u_port (
      .clk_i,
      .rst_ni,
      .ticks_i,
      .s_axis_tvalid,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_tuser,
      .desc_valid_o,
      .desc_ready_i,
      .desc_o,
      .valid_o,
      .ready_i,
      .data_o,
      .last_o,
      .epoch_i,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o,
      .trace_valid_o,
      .trace_o
  );

endmodule
