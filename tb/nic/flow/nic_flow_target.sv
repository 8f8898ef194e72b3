/// sluice_nic_flow with flat ports, for its bench.
module nic_flow_target
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter  int unsigned Bytes    = 64,
    localparam int unsigned DescBits = $bits(port_desc_t)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                valid_i,
    output logic                ready_o,
    input  logic [ 8*Bytes-1:0] data_i,
    input  logic                last_i,
    input  logic [DescBits-1:0] desc_i,

    input logic [127:0] flow_secret_i,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic [     8*Bytes-1:0] m_axis_tdata,
    output logic [       Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output logic [SidebandBits-1:0] m_axis_tuser,

    output logic waiting_o
);

  sluice_nic_flow #(
      .Bytes(Bytes)
  ) u_flow (
      .clk_i,
      .rst_ni,
      .valid_i,
      .ready_o,
      .data_i,
      .last_i,
      .desc_i,
      .flow_secret_i,
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser,
      .waiting_o
  );

endmodule
