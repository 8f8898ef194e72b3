/// AXI-Stream register slice: no combinational path from either side to the other.
///
/// Carries tdata, tkeep, tlast and tuser unchanged, bad tkeep patterns included.
///
/// Latency: 1 cycle. Throughput: one beat per cycle.
/// Stall behaviour: that of `sluice_skid`; two beats are held.
module sluice_axis_register #(
    parameter int unsigned DataBytes = 64,
    parameter int unsigned UserWidth = 1
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [8*DataBytes-1:0] s_axis_tdata,
    input  logic [  DataBytes-1:0] s_axis_tkeep,
    input  logic                   s_axis_tlast,
    input  logic [  UserWidth-1:0] s_axis_tuser,
    input  logic                   s_axis_tvalid,
    output logic                   s_axis_tready,

    output logic [8*DataBytes-1:0] m_axis_tdata,
    output logic [  DataBytes-1:0] m_axis_tkeep,
    output logic                   m_axis_tlast,
    output logic [  UserWidth-1:0] m_axis_tuser,
    output logic                   m_axis_tvalid,
    input  logic                   m_axis_tready
);

  if (DataBytes == 0) begin : gen_bad_data_bytes
    $fatal(1, "axis_register: DataBytes is %0d, expected at least 1 (%m)", DataBytes);
  end
  if (UserWidth == 0) begin : gen_bad_user_width
    $fatal(1, "axis_register: UserWidth is %0d, expected at least 1 (%m)", UserWidth);
  end

  typedef struct packed {
    logic [UserWidth-1:0]   user;
    logic                   last;
    logic [DataBytes-1:0]   keep;
    logic [8*DataBytes-1:0] data;
  } beat_t;

  beat_t s_beat, m_beat;

  assign s_beat = '{user: s_axis_tuser, last: s_axis_tlast, keep: s_axis_tkeep, data: s_axis_tdata};

  sluice_skid #(
      .Width($bits(beat_t))
  ) u_skid (
      .clk_i,
      .rst_ni,
      .valid_i(s_axis_tvalid),
      .ready_o(s_axis_tready),
      .data_i (s_beat),
      .valid_o(m_axis_tvalid),
      .ready_i(m_axis_tready),
      .data_o (m_beat)
  );

  assign m_axis_tuser = m_beat.user;
  assign m_axis_tlast = m_beat.last;
  assign m_axis_tkeep = m_beat.keep;
  assign m_axis_tdata = m_beat.data;

`ifndef SYNTHESIS
  logic s_stalled;
  assign s_stalled = rst_ni && s_axis_tvalid && !s_axis_tready;

  // A property would copy what is wide in every cycle.
  logic stalled_q;
  logic [$bits(s_beat)-1:0] held_q;
  always_ff @(posedge clk_i) begin
    stalled_q <= s_stalled;
    if (s_stalled) held_q <= s_beat;
    if (rst_ni && stalled_q) begin
      SourceHoldsUntilReady_A : assert (s_axis_tvalid && s_beat == held_q);
    end
  end
`endif

endmodule
