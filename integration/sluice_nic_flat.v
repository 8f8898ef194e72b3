// Written by tools/integration.py from the file lists of rtl/; do not edit.
// sluice_nic_top for tools and designs that take no SystemVerilog ports. IEEE 1364-2001.
// TARGET 0 is default (512 bit), 1 is tiny (256 bit); 2 and 3 are the same with external memory. The ports are those of docs/guide/rtl.md.
module sluice_nic_flat (
    clk_i,
    rst_ni,
    s_axis_port_tvalid,
    s_axis_port_tready,
    s_axis_port_tdata,
    s_axis_port_tkeep,
    s_axis_port_tlast,
    s_axis_port_tuser,
    m_axis_tvalid,
    m_axis_tready,
    m_axis_tdata,
    m_axis_tkeep,
    m_axis_tlast,
    m_axis_tuser,
    m_axis_message_o,
    m_axis_queue_o,
    s_axis_cfg_tvalid,
    s_axis_cfg_tready,
    s_axis_cfg_tdata,
    s_axis_cfg_tlast,
    m_axis_cfg_tvalid,
    m_axis_cfg_tready,
    m_axis_cfg_tdata,
    m_axis_cfg_tlast,
    m_axis_dma_read_desc_tvalid,
    m_axis_dma_read_desc_tready,
    m_axis_dma_read_desc_addr,
    m_axis_dma_read_desc_len,
    m_axis_dma_read_desc_tag,
    s_axis_dma_read_data_tvalid,
    s_axis_dma_read_data_tag,
    s_axis_dma_read_data_tdata,
    m_axis_dma_write_desc_tvalid,
    m_axis_dma_write_desc_tready,
    m_axis_dma_write_desc_addr,
    m_axis_dma_write_desc_len,
    m_axis_dma_write_desc_tag,
    m_axis_dma_write_data_tvalid,
    m_axis_dma_write_data_tready,
    m_axis_dma_write_data_tdata,
    m_axis_dma_write_data_tkeep,
    m_axis_dma_write_data_tlast,
    s_axis_dma_write_status_tvalid,
    s_axis_dma_write_status_tag,
    m_axi_values_awid,
    m_axi_values_awaddr,
    m_axi_values_awlen,
    m_axi_values_awsize,
    m_axi_values_awburst,
    m_axi_values_awvalid,
    m_axi_values_awready,
    m_axi_values_wdata,
    m_axi_values_wstrb,
    m_axi_values_wlast,
    m_axi_values_wvalid,
    m_axi_values_wready,
    m_axi_values_bid,
    m_axi_values_bresp,
    m_axi_values_bvalid,
    m_axi_values_bready,
    m_axi_values_arid,
    m_axi_values_araddr,
    m_axi_values_arlen,
    m_axi_values_arsize,
    m_axi_values_arburst,
    m_axi_values_arvalid,
    m_axi_values_arready,
    m_axi_values_rid,
    m_axi_values_rdata,
    m_axi_values_rresp,
    m_axi_values_rvalid,
    m_axi_values_rready,
    ticks_o,
    trace_epoch_o,
    trace_port_valid_o,
    trace_port_o,
    trace_merge_valid_o,
    trace_merge_o,
    trace_verdict_valid_o,
    trace_verdict_o,
    trace_queue_valid_o,
    trace_queue_o,
    trace_leave_valid_o,
    trace_leave_o,
    trace_step_valid_o,
    trace_step_o
);

    parameter TARGET = 0;
    parameter ENGINES = 7;  // set of engines, 2 rmt and beside it 1 XDP, 4 l7

    localparam BYTES = (TARGET % 2 == 1) ? 32 : 64;
    localparam PORTS = 4;
    localparam DESTS = 8;
    localparam L7_TRACE_ROW_BITS = 54;
    localparam DMA_TAG_BITS = 8;
    localparam TICK_BITS = 48;
    localparam SIDEBAND_BITS = 189;
    localparam PORT_TRACE_BITS = 110;
    localparam MERGE_TRACE_BITS = 136;
    localparam VERDICT_TRACE_BITS = 53;
    localparam QUEUE_TRACE_BITS = 48;
    localparam LEAVE_TRACE_BITS = 55;

    input clk_i;
    input rst_ni;
    input [PORTS-1:0] s_axis_port_tvalid;
    output [PORTS-1:0] s_axis_port_tready;
    input [PORTS*8*BYTES-1:0] s_axis_port_tdata;
    input [PORTS*BYTES-1:0] s_axis_port_tkeep;
    input [PORTS-1:0] s_axis_port_tlast;
    input [PORTS-1:0] s_axis_port_tuser;
    output [DESTS-1:0] m_axis_tvalid;
    input [DESTS-1:0] m_axis_tready;
    output [DESTS*8*BYTES-1:0] m_axis_tdata;
    output [DESTS*BYTES-1:0] m_axis_tkeep;
    output [DESTS-1:0] m_axis_tlast;
    output [DESTS*SIDEBAND_BITS-1:0] m_axis_tuser;
    output m_axis_message_o;
    output [8-1:0] m_axis_queue_o;
    input s_axis_cfg_tvalid;
    output s_axis_cfg_tready;
    input [32-1:0] s_axis_cfg_tdata;
    input s_axis_cfg_tlast;
    output m_axis_cfg_tvalid;
    input m_axis_cfg_tready;
    output [32-1:0] m_axis_cfg_tdata;
    output m_axis_cfg_tlast;
    output m_axis_dma_read_desc_tvalid;
    input m_axis_dma_read_desc_tready;
    output [64-1:0] m_axis_dma_read_desc_addr;
    output [16-1:0] m_axis_dma_read_desc_len;
    output [DMA_TAG_BITS-1:0] m_axis_dma_read_desc_tag;
    input s_axis_dma_read_data_tvalid;
    input [DMA_TAG_BITS-1:0] s_axis_dma_read_data_tag;
    input [8*BYTES-1:0] s_axis_dma_read_data_tdata;
    output m_axis_dma_write_desc_tvalid;
    input m_axis_dma_write_desc_tready;
    output [64-1:0] m_axis_dma_write_desc_addr;
    output [16-1:0] m_axis_dma_write_desc_len;
    output [DMA_TAG_BITS-1:0] m_axis_dma_write_desc_tag;
    output m_axis_dma_write_data_tvalid;
    input m_axis_dma_write_data_tready;
    output [8*BYTES-1:0] m_axis_dma_write_data_tdata;
    output [BYTES-1:0] m_axis_dma_write_data_tkeep;
    output m_axis_dma_write_data_tlast;
    input s_axis_dma_write_status_tvalid;
    input [DMA_TAG_BITS-1:0] s_axis_dma_write_status_tag;
    output [6-1:0] m_axi_values_awid;
    output [32-1:0] m_axi_values_awaddr;
    output [8-1:0] m_axi_values_awlen;
    output [3-1:0] m_axi_values_awsize;
    output [2-1:0] m_axi_values_awburst;
    output m_axi_values_awvalid;
    input m_axi_values_awready;
    output [128-1:0] m_axi_values_wdata;
    output [16-1:0] m_axi_values_wstrb;
    output m_axi_values_wlast;
    output m_axi_values_wvalid;
    input m_axi_values_wready;
    input [6-1:0] m_axi_values_bid;
    input [2-1:0] m_axi_values_bresp;
    input m_axi_values_bvalid;
    output m_axi_values_bready;
    output [6-1:0] m_axi_values_arid;
    output [32-1:0] m_axi_values_araddr;
    output [8-1:0] m_axi_values_arlen;
    output [3-1:0] m_axi_values_arsize;
    output [2-1:0] m_axi_values_arburst;
    output m_axi_values_arvalid;
    input m_axi_values_arready;
    input [6-1:0] m_axi_values_rid;
    input [128-1:0] m_axi_values_rdata;
    input [2-1:0] m_axi_values_rresp;
    input m_axi_values_rvalid;
    output m_axi_values_rready;
    output [TICK_BITS-1:0] ticks_o;
    output [32-1:0] trace_epoch_o;
    output [PORTS-1:0] trace_port_valid_o;
    output [PORTS*PORT_TRACE_BITS-1:0] trace_port_o;
    output trace_merge_valid_o;
    output [MERGE_TRACE_BITS-1:0] trace_merge_o;
    output [2-1:0] trace_verdict_valid_o;
    output [2*VERDICT_TRACE_BITS-1:0] trace_verdict_o;
    output [DESTS-1:0] trace_queue_valid_o;
    output [DESTS*QUEUE_TRACE_BITS-1:0] trace_queue_o;
    output trace_leave_valid_o;
    output [LEAVE_TRACE_BITS-1:0] trace_leave_o;
    output [3-1:0] trace_step_valid_o;
    output [3*L7_TRACE_ROW_BITS-1:0] trace_step_o;

    sluice_nic_top #(
        .Target(TARGET),
        .Engines(ENGINES)
    ) u_top (
        .clk_i(clk_i),
        .rst_ni(rst_ni),
        .s_axis_port_tvalid(s_axis_port_tvalid),
        .s_axis_port_tready(s_axis_port_tready),
        .s_axis_port_tdata(s_axis_port_tdata),
        .s_axis_port_tkeep(s_axis_port_tkeep),
        .s_axis_port_tlast(s_axis_port_tlast),
        .s_axis_port_tuser(s_axis_port_tuser),
        .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready),
        .m_axis_tdata(m_axis_tdata),
        .m_axis_tkeep(m_axis_tkeep),
        .m_axis_tlast(m_axis_tlast),
        .m_axis_tuser(m_axis_tuser),
        .m_axis_message_o(m_axis_message_o),
        .m_axis_queue_o(m_axis_queue_o),
        .s_axis_cfg_tvalid(s_axis_cfg_tvalid),
        .s_axis_cfg_tready(s_axis_cfg_tready),
        .s_axis_cfg_tdata(s_axis_cfg_tdata),
        .s_axis_cfg_tlast(s_axis_cfg_tlast),
        .m_axis_cfg_tvalid(m_axis_cfg_tvalid),
        .m_axis_cfg_tready(m_axis_cfg_tready),
        .m_axis_cfg_tdata(m_axis_cfg_tdata),
        .m_axis_cfg_tlast(m_axis_cfg_tlast),
        .m_axis_dma_read_desc_tvalid(m_axis_dma_read_desc_tvalid),
        .m_axis_dma_read_desc_tready(m_axis_dma_read_desc_tready),
        .m_axis_dma_read_desc_addr(m_axis_dma_read_desc_addr),
        .m_axis_dma_read_desc_len(m_axis_dma_read_desc_len),
        .m_axis_dma_read_desc_tag(m_axis_dma_read_desc_tag),
        .s_axis_dma_read_data_tvalid(s_axis_dma_read_data_tvalid),
        .s_axis_dma_read_data_tag(s_axis_dma_read_data_tag),
        .s_axis_dma_read_data_tdata(s_axis_dma_read_data_tdata),
        .m_axis_dma_write_desc_tvalid(m_axis_dma_write_desc_tvalid),
        .m_axis_dma_write_desc_tready(m_axis_dma_write_desc_tready),
        .m_axis_dma_write_desc_addr(m_axis_dma_write_desc_addr),
        .m_axis_dma_write_desc_len(m_axis_dma_write_desc_len),
        .m_axis_dma_write_desc_tag(m_axis_dma_write_desc_tag),
        .m_axis_dma_write_data_tvalid(m_axis_dma_write_data_tvalid),
        .m_axis_dma_write_data_tready(m_axis_dma_write_data_tready),
        .m_axis_dma_write_data_tdata(m_axis_dma_write_data_tdata),
        .m_axis_dma_write_data_tkeep(m_axis_dma_write_data_tkeep),
        .m_axis_dma_write_data_tlast(m_axis_dma_write_data_tlast),
        .s_axis_dma_write_status_tvalid(s_axis_dma_write_status_tvalid),
        .s_axis_dma_write_status_tag(s_axis_dma_write_status_tag),
        .m_axi_values_awid(m_axi_values_awid),
        .m_axi_values_awaddr(m_axi_values_awaddr),
        .m_axi_values_awlen(m_axi_values_awlen),
        .m_axi_values_awsize(m_axi_values_awsize),
        .m_axi_values_awburst(m_axi_values_awburst),
        .m_axi_values_awvalid(m_axi_values_awvalid),
        .m_axi_values_awready(m_axi_values_awready),
        .m_axi_values_wdata(m_axi_values_wdata),
        .m_axi_values_wstrb(m_axi_values_wstrb),
        .m_axi_values_wlast(m_axi_values_wlast),
        .m_axi_values_wvalid(m_axi_values_wvalid),
        .m_axi_values_wready(m_axi_values_wready),
        .m_axi_values_bid(m_axi_values_bid),
        .m_axi_values_bresp(m_axi_values_bresp),
        .m_axi_values_bvalid(m_axi_values_bvalid),
        .m_axi_values_bready(m_axi_values_bready),
        .m_axi_values_arid(m_axi_values_arid),
        .m_axi_values_araddr(m_axi_values_araddr),
        .m_axi_values_arlen(m_axi_values_arlen),
        .m_axi_values_arsize(m_axi_values_arsize),
        .m_axi_values_arburst(m_axi_values_arburst),
        .m_axi_values_arvalid(m_axi_values_arvalid),
        .m_axi_values_arready(m_axi_values_arready),
        .m_axi_values_rid(m_axi_values_rid),
        .m_axi_values_rdata(m_axi_values_rdata),
        .m_axi_values_rresp(m_axi_values_rresp),
        .m_axi_values_rvalid(m_axi_values_rvalid),
        .m_axi_values_rready(m_axi_values_rready),
        .ticks_o(ticks_o),
        .trace_epoch_o(trace_epoch_o),
        .trace_port_valid_o(trace_port_valid_o),
        .trace_port_o(trace_port_o),
        .trace_merge_valid_o(trace_merge_valid_o),
        .trace_merge_o(trace_merge_o),
        .trace_verdict_valid_o(trace_verdict_valid_o),
        .trace_verdict_o(trace_verdict_o),
        .trace_queue_valid_o(trace_queue_valid_o),
        .trace_queue_o(trace_queue_o),
        .trace_leave_valid_o(trace_leave_valid_o),
        .trace_leave_o(trace_leave_o),
        .trace_step_valid_o(trace_step_valid_o),
        .trace_step_o(trace_step_o)
    );

endmodule
