/// Where packets come in: the ports, and one stream of what they let through, with the sidebands.
///
/// Ports are never stalled (`s_axis_port_tready` is always 1): sluice_nic_port. Packets of all ports take turns
/// (sluice_nic_merge), and each gets its flow's hash (sluice_nic_flow). Port p is the p-th part of the flat buses, lowest bits first.
///
/// Who owns a VLAN on a port, and a port's untagged frames, is answered two cycles after `owner_read_i`, for whoever sends packets out.
///
/// Latency, throughput and stalls: as these three blocks.
module sluice_nic_entrance
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = nic_cfg(0),
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Ports = Cfg.ports
) (
    input logic clk_i,
    input logic rst_ni,

    input logic         [TickBits-1:0] ticks_i,
    input logic         [        31:0] epoch_i,
    input flow_secret_t                flow_secret_i,

    input  logic [        Ports-1:0] s_axis_port_tvalid,
    output logic [        Ports-1:0] s_axis_port_tready,
    input  logic [Ports*8*Bytes-1:0] s_axis_port_tdata,
    input  logic [  Ports*Bytes-1:0] s_axis_port_tkeep,
    input  logic [        Ports-1:0] s_axis_port_tlast,
    input  logic [        Ports-1:0] s_axis_port_tuser,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_tuser,

    input  logic                    owner_read_i,
    input  logic        [     11:0] owner_vlan_i,
    output vlan_owner_t [Ports-1:0] owners_o,
    output vlan_owner_t [Ports-1:0] untagged_o,

    input  logic     [Ports-1:0] cfg_valid_i,
    input  cfg_req_t [Ports-1:0] cfg_req_i,
    output logic     [Ports-1:0] cfg_valid_o,
    output cfg_rsp_t [Ports-1:0] cfg_rsp_o,

    output logic [              Ports-1:0] trace_valid_o,
    output logic [Ports*PortTraceBits-1:0] trace_o,
    output logic                           waiting_o
);

  logic [Ports-1:0] desc_valid, desc_ready, port_valid, port_ready, port_last;
  port_desc_t [Ports-1:0] desc;
  logic [Ports-1:0][8*Bytes-1:0] port_data;

  assign s_axis_port_tready = '1;
  for (genvar p = 0; p < Ports; p++) begin : gen_port
    sluice_nic_port #(
        .Cfg (Cfg),
        .Port(p)
    ) u_port (
        .clk_i,
        .rst_ni,
        .ticks_i,
        .s_axis_tvalid(s_axis_port_tvalid[p]),
        .s_axis_tdata (s_axis_port_tdata[p*8*Bytes+:8*Bytes]),
        .s_axis_tkeep (s_axis_port_tkeep[p*Bytes+:Bytes]),
        .s_axis_tlast (s_axis_port_tlast[p]),
        .s_axis_tuser (s_axis_port_tuser[p]),
        .desc_valid_o (desc_valid[p]),
        .desc_ready_i (desc_ready[p]),
        .desc_o       (desc[p]),
        .valid_o      (port_valid[p]),
        .ready_i      (port_ready[p]),
        .data_o       (port_data[p]),
        .last_o       (port_last[p]),
        .owner_read_i,
        .owner_vlan_i,
        .owner_o      (owners_o[p]),
        .untagged_o   (untagged_o[p]),
        .epoch_i,
        .cfg_valid_i  (cfg_valid_i[p]),
        .cfg_req_i    (cfg_req_i[p]),
        .cfg_valid_o  (cfg_valid_o[p]),
        .cfg_rsp_o    (cfg_rsp_o[p]),
        .trace_valid_o(trace_valid_o[p]),
        .trace_o      (trace_o[p*PortTraceBits+:PortTraceBits])
    );
  end

  // One stream, and what the engines have to know of its packets.
  logic merged_valid, merged_ready, merged_last, merge_waiting, flow_waiting;
  logic [8*Bytes-1:0] merged_data;
  port_desc_t merged_desc;

  sluice_nic_merge #(
      .Cfg(Cfg)
  ) u_merge (
      .clk_i,
      .rst_ni,
      .desc_valid_i(desc_valid),
      .desc_ready_o(desc_ready),
      .desc_i      (desc),
      .valid_i     (port_valid),
      .ready_o     (port_ready),
      .data_i      (port_data),
      .last_i      (port_last),
      .data_valid_o(merged_valid),
      .data_ready_i(merged_ready),
      .data_o      (merged_data),
      .data_last_o (merged_last),
      .desc_o      (merged_desc),
      .waiting_o   (merge_waiting)
  );

  sluice_nic_flow #(
      .Bytes(Bytes)
  ) u_flow (
      .clk_i,
      .rst_ni,
      .valid_i  (merged_valid),
      .ready_o  (merged_ready),
      .data_i   (merged_data),
      .last_i   (merged_last),
      .desc_i   (merged_desc),
      .flow_secret_i,
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_tuser,
      .waiting_o(flow_waiting)
  );

  assign waiting_o = merge_waiting || flow_waiting;

endmodule
