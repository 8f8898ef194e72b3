/// Where packets enter a top whose first engine has no entrance of its own: each takes a token with its first beat.
///
/// The stamp gives both generations in the cycle of `enter_valid_o`; `m_axis_side` has the module's, and the tick of that cycle as its
/// stamp, in every beat. `token_o` is the token of the packet whose beats these are. While `hold_i` is high no packet begins.
/// Rates are not asked here: packets are not dropped.
///
/// Latency: 1 cycle; without its register (`Registered`) none. Throughput: a beat a cycle. Stall behaviour: that of the `sluice_skid` behind it, or of who
/// takes the beats, and with `hold_i`; a packet enters when its first beat is taken, and what it was given stays as it is while it waits.
module sluice_shell_entrance
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    // 0 where the engine begins with a register of its own.
    parameter bit Registered = 1'b1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                hold_i,
    input logic [TickBits-1:0] ticks_i,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic [     8*Bytes-1:0] s_axis_tdata,
    input  logic [       Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  logic [SidebandBits-1:0] s_axis_tuser,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_side,
    output token_t                  token_o,

    output logic   enter_valid_o,
    output enter_t enter_o,
    input  logic   generation_i,
    input  logic   system_generation_i
);

  typedef struct packed {
    token_t token;
    sideband_t side;
    logic last;
    logic [Bytes-1:0] keep;
    logic [8*Bytes-1:0] data;
  } beat_t;

  logic first_q, stopped, taken, ready;
  logic [TickBits-1:0] stamp_q;
  sideband_t side;
  token_t token, token_q;
  beat_t in, out;

  assign side = s_axis_tuser;
  assign stopped = first_q && hold_i;
  assign s_axis_tready = ready && !stopped;
  assign taken = s_axis_tvalid && s_axis_tready;

  assign enter_valid_o = taken && first_q;
  assign enter_o = '{arrival: side.stamp, length: side.length, module_id: side.module_id, id: side.id};
  assign token = first_q ?
      '{module_id: side.module_id, generation: generation_i, system_generation: system_generation_i}
      : token_q;

  always_comb begin
    in = '{token: token, side: side, last: s_axis_tlast, keep: s_axis_tkeep, data: s_axis_tdata};
    in.side.generation = token.generation;
    in.side.stamp = first_q ? ticks_i : stamp_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) first_q <= 1'b1;
    else if (taken) first_q <= s_axis_tlast;
    if (enter_valid_o) begin
      token_q <= token;
      stamp_q <= ticks_i;
    end
  end

  if (Registered) begin : gen_register
    sluice_skid #(
        .Width($bits(beat_t))
    ) u_skid (
        .clk_i,
        .rst_ni,
        .valid_i(s_axis_tvalid && !stopped),
        .ready_o(ready),
        .data_i (in),
        .valid_o(m_axis_tvalid),
        .ready_i(m_axis_tready),
        .data_o (out)
    );
  end else begin : gen_none
    assign ready = m_axis_tready;
    assign m_axis_tvalid = s_axis_tvalid && !stopped;
    assign out = in;
  end

  assign token_o = out.token;
  assign m_axis_side = out.side;
  assign m_axis_tlast = out.last;
  assign m_axis_tkeep = out.keep;
  assign m_axis_tdata = out.data;

endmodule
