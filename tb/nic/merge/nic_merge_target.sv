/// sluice_nic_merge by the number of a target, with flat ports, for its bench.
module nic_merge_target
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Target = 0,
    localparam nic_cfg_t Cfg = nic_cfg(Target),
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Ports = Cfg.ports,
    localparam int unsigned DescBits = $bits(port_desc_t)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [         Ports-1:0] desc_valid_i,
    output logic [         Ports-1:0] desc_ready_o,
    input  logic [Ports*DescBits-1:0] desc_i,
    input  logic [         Ports-1:0] valid_i,
    output logic [         Ports-1:0] ready_o,
    input  logic [ Ports*8*Bytes-1:0] data_i,
    input  logic [         Ports-1:0] last_i,

    output logic                data_valid_o,
    input  logic                data_ready_i,
    output logic [ 8*Bytes-1:0] data_o,
    output logic                data_last_o,
    output logic [DescBits-1:0] desc_o
);

  logic unused_waiting;

  sluice_nic_merge #(
      .Cfg(Cfg)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .desc_valid_i,
      .desc_ready_o,
      .desc_i,
      .valid_i,
      .ready_o,
      .data_i,
      .last_i,
      .data_valid_o,
      .data_ready_i,
      .data_o,
      .data_last_o,
      .desc_o,
      .waiting_o(unused_waiting)
  );

endmodule
