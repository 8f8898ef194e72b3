/// Merges the ports' packets into one stream, fairly in what they take of the pipeline.
///
/// Whole packets by deficit round robin charged with their cost: the beats that they may have behind the pipeline, where a
/// program adds to them (docs/decisions/port-merge.md). `desc_o` is the packet's descriptor, with each of its beats.
///
/// Latency: 1 cycle from a port's head to `data_*`. Throughput: one beat a cycle, no cycle between packets.
/// Stall behaviour: `data_ready_i` low stalls all ports.
module sluice_nic_merge
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Ports = Cfg.ports
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic       [Ports-1:0]              desc_valid_i,
    output logic       [Ports-1:0]              desc_ready_o,
    input  port_desc_t [Ports-1:0]              desc_i,
    input  logic       [Ports-1:0]              valid_i,
    output logic       [Ports-1:0]              ready_o,
    input  logic       [Ports-1:0][8*Bytes-1:0] data_i,
    input  logic       [Ports-1:0]              last_i,

    output logic                     data_valid_o,
    input  logic                     data_ready_i,
    output logic       [8*Bytes-1:0] data_o,
    output logic                     data_last_o,
    output port_desc_t               desc_o,

    output logic waiting_o
);

  localparam int unsigned PortBits = (Ports > 1) ? $clog2(Ports) : 1;
  // The longest packet: with less, a cycle may pass in which every port is in debt.
  localparam int unsigned QuantumBeats = (MaxFrameBytes + Bytes - 1) / Bytes;

  logic [Ports-1:0] grant;
  logic [PortBits-1:0] index;
  logic grant_valid, start, take, ending;
  logic busy_q;
  port_desc_t desc;
  logic [8*Bytes-1:0] data;
  logic last, available;

  logic out_valid_q, out_last_q;
  logic [8*Bytes-1:0] out_data_q;
  logic out_free;

  sluice_arb_drr #(
      .Requests (Ports),
      .CostWidth(CostBits),
      .Quantum  (QuantumBeats)
  ) u_arb (
      .clk_i,
      .rst_ni,
      .req_i   (desc_valid_i & valid_i),
      .hold_i  (busy_q),
      .charge_i(start),
      .cost_i  (desc.cost),
      .grant_o (grant),
      .index_o (index),
      .valid_o (grant_valid)
  );

  assign desc = desc_i[index];
  assign data = data_i[index];
  assign last = last_i[index];
  assign available = valid_i[index];

  assign out_free = !out_valid_q || data_ready_i;
  assign take = grant_valid && available && out_free;
  assign start = take && !busy_q;
  assign ending = take && last;

  always_comb begin
    ready_o = '0;
    desc_ready_o = '0;
    ready_o[index] = take;
    desc_ready_o[index] = ending;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (take) busy_q <= !last;
      if (out_free) out_valid_q <= take;
    end
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      out_data_q <= data;
      out_last_q <= last;
      desc_o     <= desc;
    end
  end

  assign data_valid_o = out_valid_q;
  assign data_o = out_data_q;
  assign data_last_o = out_last_q;

  assign waiting_o = |desc_valid_i || out_valid_q;

`ifndef SYNTHESIS
  DescriptorGoesWithItsData_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take || desc_valid_i[index]);
  GrantHoldsThroughThePacket_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(busy_q && $past(rst_ni)) || $stable(index));
  logic unused_grant;
  assign unused_grant = ^grant;
`endif

endmodule
