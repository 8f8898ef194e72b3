/// Puts frames that leave together out of windows of packet memory, for all cores: a rotation is as wide as the bus, and only one frame
/// leaves at a time.
///
/// `core_*` says whose frame is next, until its last window is taken, and `frame_i` which one. A window has 64 bytes of a core's memory from the
/// frame's first word of eight bytes on, each byte in its column; the frame says by how many bytes its first one is off column 0. Where
/// that is no multiple of eight, a beat has its last bytes from the next window, and the last window is there for these alone.
///
/// Latency: 2 cycles. Throughput: a window a cycle; no cycle between frames. Stall behaviour: the output holds; a window is taken when its place
/// is free.
module sluice_xdp_sender
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Cores = 2,
    localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                        core_valid_i,
    input  logic         [CoreBits-1:0] core_i,
    input  xdp_leaving_t                frame_i,
    output logic                        core_done_o,

    input  logic [Cores-1:0]        window_valid_i,
    output logic [Cores-1:0]        window_ready_o,
    input  logic [Cores-1:0]        window_last_i,
    input  logic [Cores-1:0][511:0] window_i,

    output logic              m_axis_tvalid,
    input  logic              m_axis_tready,
    output logic      [511:0] m_axis_tdata,
    output logic      [ 63:0] m_axis_tkeep,
    output logic              m_axis_tlast,
    output sideband_t         m_axis_side,
    output route_t            m_axis_route,

    output logic waiting_o
);

  // Bytes that a beat may have from the window behind its own.
  localparam int unsigned Borrowed = 7;

  // A window that has turned by 16 columns a step, by 4 and 1 less than that.
  function automatic logic [511:0] turned_far(logic [511:0] data, logic [1:0] steps);
    return 512'({data, data} >> {steps, 7'd0});
  endfunction
  function automatic logic [511:0] turned_near(logic [511:0] data, logic [3:0] bytes);
    logic [511:0] fours;
    fours = 512'({data, data} >> {bytes[3:2], 5'd0});
    return 512'({fours, fours} >> {bytes[1:0], 3'd0});
  endfunction

  // The window of the frame whose turn it is, and behind it the one that is half turned, and the beat that it becomes.
  logic head_valid, take, move, emit;
  logic half_valid_q, half_last_q, held_q, last_q, shifted_q;
  logic [511:0] half_q, turned, data_q;
  logic [Borrowed-1:0] borrows_q;
  // "Bits of signal are not used": how far it turns is known before.
  // verilator lint_off UNUSEDSIGNAL
  xdp_leaving_t half_frame_q, frame_q;
  // verilator lint_on UNUSEDSIGNAL

  assign head_valid = core_valid_i && window_valid_i[core_i];
  assign turned = turned_near(half_q, half_frame_q.turn[3:0]);

  assign m_axis_tvalid = held_q && (!shifted_q || half_valid_q);
  assign m_axis_tlast = shifted_q ? half_last_q : last_q;
  assign emit = m_axis_tvalid && m_axis_tready;
  assign move = half_valid_q && (!held_q || emit);
  assign take = head_valid && (!half_valid_q || move);
  assign core_done_o = take && window_last_i[core_i];
  always_comb begin
    window_ready_o = '0;
    window_ready_o[core_i] = core_valid_i && (!half_valid_q || move);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      half_valid_q <= 1'b0;
      held_q       <= 1'b0;
    end else begin
      if (take) half_valid_q <= 1'b1;
      else if (move) half_valid_q <= 1'b0;
      // The last window of a shifted frame is no beat.
      if (move) held_q <= !(held_q && shifted_q && half_last_q);
      else if (emit) held_q <= 1'b0;
    end
    if (take) begin
      half_q       <= turned_far(window_i[core_i], frame_i.turn[5:4]);
      half_last_q  <= window_last_i[core_i];
      half_frame_q <= frame_i;
    end
    if (move) begin
      data_q    <= turned;
      last_q    <= half_last_q;
      frame_q   <= half_frame_q;
      shifted_q <= half_frame_q.turn[2:0] != '0;
      for (int unsigned i = 0; i < Borrowed; i++) borrows_q[i] <= half_frame_q.turn[2:0] > 3'(Borrowed - 1 - i);
    end
  end

  always_comb begin
    m_axis_tdata = data_q;
    for (int unsigned i = 0; i < Borrowed; i++) begin
      if (borrows_q[i]) m_axis_tdata[8*(64-Borrowed+i)+:8] = turned[8*(64-Borrowed+i)+:8];
    end
  end
  assign m_axis_tkeep = (m_axis_tlast && frame_q.tail != '0) ? ~(64'hffff_ffff_ffff_ffff << frame_q.tail) : '1;
  assign m_axis_side  = frame_q.side;
  assign m_axis_route = frame_q.route;
  assign waiting_o    = half_valid_q || held_q;

`ifndef SYNTHESIS
  AShiftedFrameHasItsNextWindow_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(held_q && shifted_q && last_q));
`endif

endmodule
