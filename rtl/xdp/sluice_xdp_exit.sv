/// Exit of the XDP engine: packets that pass beside and those that come back from cores, each within what was paid for at the ports.
///
/// Frames of cores are 64 bytes wide, and become as wide as the bus.
///
/// Latency: 1 cycle; 2 more where the bus has 32 bytes. Throughput: a beat a cycle. Stall behaviour: sluice_xdp_out's.
module sluice_xdp_exit
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_streams_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter int unsigned EarnBits = 10
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                earn_valid_i,
    input logic [EarnBits-1:0] earn_i,

    // Beside.
    input  logic                    pass_valid_i,
    output logic                    pass_ready_o,
    input  logic      [8*Bytes-1:0] pass_data_i,
    input  logic      [  Bytes-1:0] pass_keep_i,
    input  logic                    pass_last_i,
    input  sideband_t               pass_side_i,
    input  route_t                  pass_route_i,

    // From cores.
    input  logic     back_valid_i,
    output logic     back_ready_o,
    input  xdp_out_t back_i,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_side,
    output route_t                  m_axis_route,

    output logic waiting_o
);

  localparam int unsigned UserBits = $bits(route_t) + $bits(sideband_t);

  logic back_valid, back_ready, back_last;
  logic [8*Bytes-1:0] back_data;
  logic [Bytes-1:0] back_keep;
  sideband_t back_side;
  route_t back_route;

  if (Bytes == 64) begin : gen_wide_out
    assign {back_data, back_keep, back_last, back_side, back_route} = back_i;
    assign back_valid = back_valid_i;
    assign back_ready_o = back_ready;
  end else begin : gen_narrow
    sluice_axis_width #(
        .InBytes  (64),
        .OutBytes (Bytes),
        .UserWidth(UserBits)
    ) u_narrow (
        .clk_i,
        .rst_ni,
        .s_axis_tdata (back_i.data),
        .s_axis_tkeep (back_i.keep),
        .s_axis_tlast (back_i.last),
        .s_axis_tuser ({back_i.route, back_i.side}),
        .s_axis_tvalid(back_valid_i),
        .s_axis_tready(back_ready_o),
        .m_axis_tdata (back_data),
        .m_axis_tkeep (back_keep),
        .m_axis_tlast (back_last),
        .m_axis_tuser ({back_route, back_side}),
        .m_axis_tvalid(back_valid),
        .m_axis_tready(back_ready)
    );
  end

  sluice_xdp_out #(
      .Width       (UserBits + 9 * Bytes),
      .LongestBeats((MaxFrameBytes + Bytes - 1) / Bytes),
      .EarnBits    (EarnBits),
      .Held        (16384 / Bytes)
  ) u_out (
      .clk_i,
      .rst_ni,
      .earn_valid_i,
      .earn_i,
      .pass_valid_i,
      .pass_ready_o,
      .pass_last_i,
      .pass_i      ({pass_route_i, pass_side_i, pass_keep_i, pass_data_i}),
      .back_valid_i(back_valid),
      .back_ready_o(back_ready),
      .back_last_i (back_last),
      .back_i      ({back_route, back_side, back_keep, back_data}),
      .valid_o     (m_axis_tvalid),
      .ready_i     (m_axis_tready),
      .last_o      (m_axis_tlast),
      .data_o      ({m_axis_route, m_axis_side, m_axis_tkeep, m_axis_tdata}),
      .waiting_o
  );

endmodule
