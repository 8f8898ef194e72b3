/// The port to external memory as AXI4 names it, between an engine and its top (docs/decisions/xdp-external-memory.md, "The port").
///
/// Latency: none. Sizes are whole beats, bursts go up.
module sluice_xdp_outside_axi
  import sluice_xdp_outside_pkg::*;
(
    input  outside_master_t outside_i,
    output outside_slave_t  outside_o,

    output logic [  5:0] m_axi_values_awid,
    output logic [ 31:0] m_axi_values_awaddr,
    output logic [  7:0] m_axi_values_awlen,
    output logic [  2:0] m_axi_values_awsize,
    output logic [  1:0] m_axi_values_awburst,
    output logic         m_axi_values_awvalid,
    input  logic         m_axi_values_awready,
    output logic [127:0] m_axi_values_wdata,
    output logic [ 15:0] m_axi_values_wstrb,
    output logic         m_axi_values_wlast,
    output logic         m_axi_values_wvalid,
    input  logic         m_axi_values_wready,
    input  logic [  5:0] m_axi_values_bid,
    input  logic [  1:0] m_axi_values_bresp,
    input  logic         m_axi_values_bvalid,
    output logic         m_axi_values_bready,
    output logic [  5:0] m_axi_values_arid,
    output logic [ 31:0] m_axi_values_araddr,
    output logic [  7:0] m_axi_values_arlen,
    output logic [  2:0] m_axi_values_arsize,
    output logic [  1:0] m_axi_values_arburst,
    output logic         m_axi_values_arvalid,
    input  logic         m_axi_values_arready,
    input  logic [  5:0] m_axi_values_rid,
    input  logic [127:0] m_axi_values_rdata,
    input  logic [  1:0] m_axi_values_rresp,
    input  logic         m_axi_values_rvalid,
    output logic         m_axi_values_rready
);

  assign m_axi_values_awid = outside_i.aw_id;
  assign m_axi_values_awaddr = outside_i.aw_addr;
  assign m_axi_values_awlen = outside_i.aw_len;
  assign m_axi_values_awsize = 3'(OutsideBeatBits);
  assign m_axi_values_awburst = 2'b01;
  assign m_axi_values_awvalid = outside_i.aw_valid;
  assign m_axi_values_wdata = outside_i.w_data;
  assign m_axi_values_wstrb = outside_i.w_strb;
  assign m_axi_values_wlast = outside_i.w_last;
  assign m_axi_values_wvalid = outside_i.w_valid;
  assign m_axi_values_bready = outside_i.b_ready;
  assign m_axi_values_arid = outside_i.ar_id;
  assign m_axi_values_araddr = outside_i.ar_addr;
  assign m_axi_values_arlen = outside_i.ar_len;
  assign m_axi_values_arsize = 3'(OutsideBeatBits);
  assign m_axi_values_arburst = 2'b01;
  assign m_axi_values_arvalid = outside_i.ar_valid;
  assign m_axi_values_rready = outside_i.r_ready;
  assign outside_o = '{
          aw_ready: m_axi_values_awready,
          w_ready: m_axi_values_wready,
          b_valid: m_axi_values_bvalid,
          b_id: m_axi_values_bid,
          b_resp: m_axi_values_bresp,
          ar_ready: m_axi_values_arready,
          r_valid: m_axi_values_rvalid,
          r_id: m_axi_values_rid,
          r_data: m_axi_values_rdata,
          r_resp: m_axi_values_rresp
      };

endmodule
