/// Collects narrow AXI-Stream beats into wide ones; the upward half of `sluice_axis_width`.
///
/// The outgoing beat is complete with its last segment or with tlast; segments that a short
/// packet leaves open have tkeep 0. tuser is taken from the completing beat.
///
/// Latency: 1 cycle after the completing beat. Throughput: one incoming beat per cycle.
/// Stall behaviour: that of the `sluice_skid` behind it; tready comes from a register.
module sluice_axis_widen #(
    parameter int unsigned InBytes   = 32,
    parameter int unsigned OutBytes  = 64,
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

  localparam int unsigned Ratio = OutBytes / InBytes;

  if (OutBytes % InBytes != 0 || Ratio < 2) begin : gen_bad_ratio
    $fatal(1, "axis_widen: OutBytes is %0d, expected a multiple of InBytes (%0d) (%m)", OutBytes, InBytes);
  end

  localparam int unsigned SegWidth = $clog2(Ratio);

  typedef logic [SegWidth-1:0] seg_t;

  typedef struct packed {
    logic [UserWidth-1:0] user;
    logic last;
    logic [Ratio-1:0][InBytes-1:0] keep;
    logic [Ratio-1:0][8*InBytes-1:0] data;
  } beat_t;

  // The segments in front of the one that is awaited. The last one never waits.
  seg_t seg_q;
  logic [Ratio-2:0][InBytes-1:0] keep_q;
  logic [Ratio-2:0][8*InBytes-1:0] data_q;
  logic take, complete;
  beat_t wide, m_beat;

  assign take = s_axis_tvalid && s_axis_tready;
  assign complete = s_axis_tlast || seg_q == seg_t'(Ratio - 1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      seg_q <= '0;
    end else if (take) begin
      seg_q <= complete ? '0 : seg_q + seg_t'(1);
    end
  end

  for (genvar k = 0; k < Ratio - 1; k++) begin : gen_hold
    always_ff @(posedge clk_i) begin
      if (take && seg_q == seg_t'(k)) begin
        keep_q[k] <= s_axis_tkeep;
        data_q[k] <= s_axis_tdata;
      end
    end
  end

  assign wide.user = s_axis_tuser;
  assign wide.last = s_axis_tlast;
  for (genvar k = 0; k < Ratio; k++) begin : gen_wide
    if (k == Ratio - 1) begin : gen_top
      assign wide.keep[k] = (seg_q == seg_t'(k)) ? s_axis_tkeep : '0;
      assign wide.data[k] = s_axis_tdata;
    end else begin : gen_lower
      // An open segment repeats the newest data: nothing of another packet shows.
      assign wide.keep[k] = (seg_q > seg_t'(k)) ? keep_q[k] : (seg_q == seg_t'(k)) ? s_axis_tkeep : '0;
      assign wide.data[k] = (seg_q > seg_t'(k)) ? data_q[k] : s_axis_tdata;
    end
  end

  sluice_skid #(
      .Width($bits(beat_t))
  ) u_skid (
      .clk_i,
      .rst_ni,
      .valid_i(s_axis_tvalid && complete),
      .ready_o(s_axis_tready),
      .data_i (wide),
      .valid_o(m_axis_tvalid),
      .ready_i(m_axis_tready),
      .data_o (m_beat)
  );

  assign m_axis_tuser = m_beat.user;
  assign m_axis_tlast = m_beat.last;
  assign m_axis_tkeep = m_beat.keep;
  assign m_axis_tdata = m_beat.data;

endmodule
