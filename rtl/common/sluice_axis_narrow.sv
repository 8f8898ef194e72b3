/// Cuts wide AXI-Stream beats into narrow ones; the downward half of `sluice_axis_width`.
///
/// A last beat gives the segments up to its highest kept byte, at least one; any other beat gives
/// all its segments.
///
/// Latency: 1 cycle. Throughput: one outgoing beat per cycle, without bubbles.
/// Stall behaviour: that of the `sluice_skid` in front; tready comes from a register. The
/// outputs are a multiplexer behind registers.
module sluice_axis_narrow #(
    parameter int unsigned InBytes   = 64,
    parameter int unsigned OutBytes  = 32,
    parameter int unsigned UserWidth = 1
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [8*InBytes-1:0] s_axis_tdata,
    input  logic [  InBytes-1:0] s_axis_tkeep,
    input  logic                 s_axis_tlast,
    input  logic [UserWidth-1:0] s_axis_tuser,
    input  logic                 s_axis_tvalid,
    output logic                 s_axis_tready,

    output logic [8*OutBytes-1:0] m_axis_tdata,
    output logic [  OutBytes-1:0] m_axis_tkeep,
    output logic                  m_axis_tlast,
    output logic [ UserWidth-1:0] m_axis_tuser,
    output logic                  m_axis_tvalid,
    input  logic                  m_axis_tready
);

  localparam int unsigned Ratio = InBytes / OutBytes;

  if (InBytes % OutBytes != 0 || Ratio < 2) begin : gen_bad_ratio
    $fatal(1, "axis_narrow: InBytes is %0d, expected a multiple of OutBytes (%0d) (%m)", InBytes, OutBytes);
  end

  localparam int unsigned SegWidth = $clog2(Ratio);

  typedef logic [SegWidth-1:0] seg_t;

  typedef struct packed {
    logic [UserWidth-1:0] user;
    logic last;
    seg_t final_seg;
    logic [Ratio-1:0][OutBytes-1:0] keep;
    logic [Ratio-1:0][8*OutBytes-1:0] data;
  } beat_t;

  beat_t s_beat, beat;
  seg_t seg_q;
  logic finish;

  assign s_beat.user = s_axis_tuser;
  assign s_beat.last = s_axis_tlast;
  assign s_beat.keep = s_axis_tkeep;
  assign s_beat.data = s_axis_tdata;

  // Found in front of the register, so that only a short comparison lies behind it.
  always_comb begin
    s_beat.final_seg = '0;
    for (int unsigned k = 0; k < Ratio; k++) begin
      if (!s_axis_tlast || s_axis_tkeep[k*OutBytes+:OutBytes] != '0) s_beat.final_seg = seg_t'(k);
    end
  end

  sluice_skid #(
      .Width($bits(beat_t))
  ) u_skid (
      .clk_i,
      .rst_ni,
      .valid_i(s_axis_tvalid),
      .ready_o(s_axis_tready),
      .data_i (s_beat),
      .valid_o(m_axis_tvalid),
      .ready_i(m_axis_tready && finish),
      .data_o (beat)
  );

  assign finish = seg_q == beat.final_seg;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      seg_q <= '0;
    end else if (m_axis_tvalid && m_axis_tready) begin
      seg_q <= finish ? '0 : seg_q + seg_t'(1);
    end
  end

  assign m_axis_tuser = beat.user;
  assign m_axis_tlast = beat.last && finish;
  assign m_axis_tkeep = beat.keep[seg_q];
  assign m_axis_tdata = beat.data[seg_q];

`ifndef SYNTHESIS
  logic m_stalled;
  assign m_stalled = rst_ni && m_axis_tvalid && !m_axis_tready;

  SegmentIsPartOfTheBeat_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !m_axis_tvalid || seg_q <= beat.final_seg);
  SegmentHoldsUntilReady_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(m_stalled) || (m_axis_tvalid && $stable(seg_q)));
`endif

endmodule
