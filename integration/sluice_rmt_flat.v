// Written by tools/integration.py from the file lists of rtl/; do not edit.
// sluice_rmt_top for tools and designs that take no SystemVerilog ports. IEEE 1364-2001.
// TARGET 0 is default (512 bit), 1 is tiny (256 bit). The ports are those of docs/guide/rtl.md.
module sluice_rmt_flat (
    clk_i,
    rst_ni,
    s_axis_tvalid,
    s_axis_tready,
    s_axis_tdata,
    s_axis_tkeep,
    s_axis_tlast,
    s_axis_tuser,
    m_axis_tvalid,
    m_axis_tready,
    m_axis_tdata,
    m_axis_tkeep,
    m_axis_tlast,
    m_axis_tuser,
    s_axis_cfg_tvalid,
    s_axis_cfg_tready,
    s_axis_cfg_tdata,
    s_axis_cfg_tlast,
    m_axis_cfg_tvalid,
    m_axis_cfg_tready,
    m_axis_cfg_tdata,
    m_axis_cfg_tlast,
    ticks_o,
    trace_epoch_o,
    trace_stamp_valid_o,
    trace_stamp_o,
    trace_verdict_valid_o,
    trace_verdict_o
);

    parameter TARGET = 0;

    localparam BYTES = (TARGET % 2 == 1) ? 32 : 64;
    localparam TICK_BITS = 48;
    localparam SIDEBAND_BITS = 189;
    localparam MERGE_TRACE_BITS = 136;
    localparam VERDICT_TRACE_BITS = 53;
    localparam TAGS_BITS = 128;

    input clk_i;
    input rst_ni;
    input s_axis_tvalid;
    output s_axis_tready;
    input [8*BYTES-1:0] s_axis_tdata;
    input [BYTES-1:0] s_axis_tkeep;
    input s_axis_tlast;
    input [SIDEBAND_BITS-1:0] s_axis_tuser;
    output m_axis_tvalid;
    input m_axis_tready;
    output [8*BYTES-1:0] m_axis_tdata;
    output [BYTES-1:0] m_axis_tkeep;
    output m_axis_tlast;
    output [TAGS_BITS+SIDEBAND_BITS-1:0] m_axis_tuser;
    input s_axis_cfg_tvalid;
    output s_axis_cfg_tready;
    input [32-1:0] s_axis_cfg_tdata;
    input s_axis_cfg_tlast;
    output m_axis_cfg_tvalid;
    input m_axis_cfg_tready;
    output [32-1:0] m_axis_cfg_tdata;
    output m_axis_cfg_tlast;
    output [TICK_BITS-1:0] ticks_o;
    output [32-1:0] trace_epoch_o;
    output trace_stamp_valid_o;
    output [MERGE_TRACE_BITS-1:0] trace_stamp_o;
    output trace_verdict_valid_o;
    output [VERDICT_TRACE_BITS-1:0] trace_verdict_o;

    sluice_rmt_top #(
        .Target(TARGET)
    ) u_top (
        .clk_i(clk_i),
        .rst_ni(rst_ni),
        .s_axis_tvalid(s_axis_tvalid),
        .s_axis_tready(s_axis_tready),
        .s_axis_tdata(s_axis_tdata),
        .s_axis_tkeep(s_axis_tkeep),
        .s_axis_tlast(s_axis_tlast),
        .s_axis_tuser(s_axis_tuser),
        .m_axis_tvalid(m_axis_tvalid),
        .m_axis_tready(m_axis_tready),
        .m_axis_tdata(m_axis_tdata),
        .m_axis_tkeep(m_axis_tkeep),
        .m_axis_tlast(m_axis_tlast),
        .m_axis_tuser(m_axis_tuser),
        .s_axis_cfg_tvalid(s_axis_cfg_tvalid),
        .s_axis_cfg_tready(s_axis_cfg_tready),
        .s_axis_cfg_tdata(s_axis_cfg_tdata),
        .s_axis_cfg_tlast(s_axis_cfg_tlast),
        .m_axis_cfg_tvalid(m_axis_cfg_tvalid),
        .m_axis_cfg_tready(m_axis_cfg_tready),
        .m_axis_cfg_tdata(m_axis_cfg_tdata),
        .m_axis_cfg_tlast(m_axis_cfg_tlast),
        .ticks_o(ticks_o),
        .trace_epoch_o(trace_epoch_o),
        .trace_stamp_valid_o(trace_stamp_valid_o),
        .trace_stamp_o(trace_stamp_o),
        .trace_verdict_valid_o(trace_verdict_valid_o),
        .trace_verdict_o(trace_verdict_o)
    );

endmodule
