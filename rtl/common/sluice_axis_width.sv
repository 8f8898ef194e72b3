/// AXI-Stream width adapter, up or down by an integer ratio.
///
/// Packets keep their bytes and their order, and never share a beat. The tuser of a packet's
/// first beat goes with every beat of that packet; tuser of its later beats is not looked at.
///
/// Latency: 1 cycle; going up, 1 cycle after the beat that completes the outgoing one.
/// Throughput: going up, one incoming beat per cycle; going down, one outgoing beat per cycle
/// (a packet of n bytes takes ceil(n / OutBytes) of them). No bubbles between packets.
/// Stall behaviour: tready comes from a register, tvalid never depends on tready.
///
/// Bad input: tkeep may be partial on the last beat only, and then runs from byte 0 without a
/// hole. An assertion reports anything else; what goes out is still defined: each byte keeps its
/// tkeep bit and its place, nothing is moved together. Going down, the last beat gives the
/// outgoing beats up to its highest kept byte, at least one (which may be empty).
/// Bytes that are not kept have undefined values out of the same packet.
module sluice_axis_width #(
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

  if (InBytes == 0 || OutBytes == 0) begin : gen_bad_bytes
    $fatal(1, "axis_width: InBytes is %0d and OutBytes is %0d, expected at least 1 (%m)", InBytes, OutBytes);
  end else if (InBytes % OutBytes != 0 && OutBytes % InBytes != 0) begin : gen_bad_ratio
    $fatal(
        1, "axis_width: InBytes is %0d and OutBytes is %0d, expected one to divide the other (%m)", InBytes, OutBytes
    );
  end
  if (UserWidth == 0) begin : gen_bad_user_width
    $fatal(1, "axis_width: UserWidth is %0d, expected at least 1 (%m)", UserWidth);
  end

  logic first_q;
  logic [UserWidth-1:0] user, user_q;

  assign user = first_q ? s_axis_tuser : user_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
    end else if (s_axis_tvalid && s_axis_tready) begin
      first_q <= s_axis_tlast;
    end
  end

  always_ff @(posedge clk_i) begin
    if (s_axis_tvalid && s_axis_tready) user_q <= user;
  end

  if (InBytes < OutBytes) begin : gen_widen
    sluice_axis_widen #(
        .InBytes  (InBytes),
        .OutBytes (OutBytes),
        .UserWidth(UserWidth)
    ) u_widen (
        .s_axis_tuser(user),
        .*
    );
  end else if (InBytes > OutBytes) begin : gen_narrow
    sluice_axis_narrow #(
        .InBytes  (InBytes),
        .OutBytes (OutBytes),
        .UserWidth(UserWidth)
    ) u_narrow (
        .s_axis_tuser(user),
        .*
    );
  end else begin : gen_same
    sluice_axis_register #(
        .DataBytes(InBytes),
        .UserWidth(UserWidth)
    ) u_register (
        .s_axis_tuser(user),
        .*
    );
  end

`ifndef SYNTHESIS
  logic s_stalled;
  logic [8*InBytes+InBytes+UserWidth:0] s_beat;
  assign s_stalled = rst_ni && s_axis_tvalid && !s_axis_tready;
  assign s_beat = {s_axis_tdata, s_axis_tkeep, s_axis_tlast, s_axis_tuser};

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
  KeepHasNoHole_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   !s_axis_tvalid || (s_axis_tkeep & (s_axis_tkeep + InBytes'(1))) == '0)
  else $error("axis_width: tkeep is %b, expected ones from bit 0 without a hole", s_axis_tkeep);
  OnlyLastBeatIsPartial_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !s_axis_tvalid || s_axis_tlast || &s_axis_tkeep)
  else $error("axis_width: tkeep is %b before the last beat, expected all ones", s_axis_tkeep);
`endif

endmodule
