/// The probe: an engine behind another, for tests of the seam (docs/decisions/engine-seam.md).
///
/// Counts the bytes of a module that it lets through, drops a packet that would bring them above the limit of the packet's
/// generation, and holds every eighth packet of a module that it lets through for `HoldCycles` cycles; packets behind it
/// overtake it. Limit and counts are looked at in the order of arrival.
///
/// An engine that is not the first: sluice_engine_pkg, with `token_i` in place of the entrance. The verdict comes with
/// the decision, of a held packet when it goes on. Copies are counted here: it is the last engine.
///
/// Latency: 3 cycles from a packet's first beat to that beat at the output. Throughput: a beat a cycle, 3 cycles between
/// packets. Stalls: with the output; for a packet to hold while one is held; while a held one goes out.
module sluice_probe
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_probe_rows_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter int unsigned Modules = 64,
    parameter int unsigned HoldCycles = 400
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic      [8*Bytes-1:0] s_axis_tdata,
    input  logic      [  Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  sideband_t               s_axis_side,
    input  route_t                  s_axis_route,
    input  token_t                  token_i,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_side,
    output route_t                  m_axis_route,

    output logic   leave_valid_o,
    output token_t leave_o,

    output logic           verdict_valid_o,
    output verdict_trace_t verdict_o,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    output logic waiting_o,
    output logic progress_o
);

  localparam int unsigned ModuleIndexBits = $clog2(Modules);
  localparam int unsigned HoldBeats = 16384 / Bytes;

  if (Modules < 2 || 2 ** ModuleIndexBits != Modules || Modules > 2 ** ModuleBits) begin : gen_bad_modules
    $fatal(1, "probe: Modules is %0d, expected a power of two from 2 to %0d (%m)", Modules, 2 ** ModuleBits);
  end
  if (HoldCycles < 1 || HoldCycles > 65535) begin : gen_bad_hold
    $fatal(1, "probe: HoldCycles is %0d, expected 1 to 65535 (%m)", HoldCycles);
  end

  typedef enum logic [2:0] {
    Idle,     // between packets
    Look,     // the limit is read
    Decide,
    Pass,     // beats go through
    Discard,  // beats are thrown away
    Store,    // beats are held
    Emit      // the held packet goes out
  } state_e;

  state_e state_q;
  logic beat_in, beat_out, end_in, end_out, over, eighth, occupied, decides, passes, releases;
  logic [ModuleIndexBits-1:0] module_index;
  probe_limit_row_t limit;
  logic [Modules-1:0][CounterBits-1:0] bytes_q;
  logic [Modules-1:0][2:0] count_q;
  logic [CounterBits-1:0] total;

  // The held packet.
  logic held_q, hold_ready, hold_valid, hold_last;
  logic [8*Bytes-1:0] hold_data;
  logic [Bytes-1:0] hold_keep;
  logic [15:0] hold_timer_q;
  logic [$clog2(HoldBeats+1)-1:0] unused_level;
  sideband_t held_side_q;
  route_t held_route_q;
  token_t held_token_q;

  assign module_index = s_axis_side.module_id[ModuleIndexBits-1:0];
  assign total = bytes_q[module_index] + CounterBits'(s_axis_side.length);
  assign over = limit.bytes != '0 && total > CounterBits'(limit.bytes);
  assign eighth = &count_q[module_index];
  assign occupied = eighth && held_q;
  assign decides = state_q == Decide && (over || !occupied);
  assign passes = decides && !over;
  assign releases = state_q == Idle && held_q && hold_timer_q == '0;

  assign s_axis_tready = (state_q == Pass && m_axis_tready) || state_q == Discard || (state_q == Store && hold_ready);
  assign m_axis_tvalid = (state_q == Pass && s_axis_tvalid) || (state_q == Emit && hold_valid);
  assign m_axis_tdata = (state_q == Emit) ? hold_data : s_axis_tdata;
  assign m_axis_tkeep = (state_q == Emit) ? hold_keep : s_axis_tkeep;
  assign m_axis_tlast = (state_q == Emit) ? hold_last : s_axis_tlast;
  assign m_axis_side = (state_q == Emit) ? held_side_q : s_axis_side;
  assign m_axis_route = (state_q == Emit) ? held_route_q : s_axis_route;

  assign beat_in = s_axis_tvalid && s_axis_tready;
  assign beat_out = m_axis_tvalid && m_axis_tready;
  assign end_in = beat_in && s_axis_tlast;
  assign end_out = beat_out && m_axis_tlast;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle:
        if (releases) state_q <= Emit;
        else if (s_axis_tvalid) state_q <= Look;
        Look: state_q <= Decide;
        // A packet that would have to be held waits at the input until the held one is gone.
        Decide: state_q <= over ? Discard : occupied ? Idle : eighth ? Store : Pass;
        Emit: if (end_out) state_q <= Idle;
        default: if (end_in) state_q <= Idle;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      bytes_q <= '0;
      count_q <= '0;
    end else if (passes) begin
      bytes_q[module_index] <= total;
      count_q[module_index] <= count_q[module_index] + 3'd1;
    end
  end

  sluice_fifo_ram #(
      .Width(9 * Bytes + 1),
      .Depth(HoldBeats)
  ) u_hold (
      .clk_i,
      .rst_ni,
      .valid_i(s_axis_tvalid && state_q == Store),
      .ready_o(hold_ready),
      .data_i ({s_axis_tlast, s_axis_tkeep, s_axis_tdata}),
      .valid_o(hold_valid),
      .ready_i(m_axis_tready && state_q == Emit),
      .data_o ({hold_last, hold_keep, hold_data}),
      .level_o(unused_level)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      held_q       <= 1'b0;
      hold_timer_q <= '0;
    end else begin
      if (state_q == Store && end_in) begin
        held_q       <= 1'b1;
        hold_timer_q <= 16'(HoldCycles);
      end else if (state_q == Emit && end_out) begin
        held_q <= 1'b0;
      end else if (hold_timer_q != '0) begin
        hold_timer_q <= hold_timer_q - 16'd1;
      end
    end
    if (state_q == Store && end_in) begin
      held_side_q  <= s_axis_side;
      held_route_q <= s_axis_route;
      held_token_q <= token_i;
    end
  end

  // Verdict, event and token. What is counted is counted in the verdict's cycle.
  logic event_valid_q;
  logic [3:0] event_amount_q;
  probe_event_e event_kind_q;
  logic let_through_q;
  logic [13:0] let_length_q;
  logic [ModuleIndexBits-1:0] let_module_q;
  // "Bits of signal are not used": the structure travels whole, this module takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  sideband_t side;
  // verilator lint_on UNUSEDSIGNAL
  logic [DestBits-1:0] destinations;

  assign side = releases ? held_side_q : s_axis_side;
  assign destinations = releases ? held_route_q.destinations : s_axis_route.destinations;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      verdict_valid_o <= 1'b0;
      event_valid_q   <= 1'b0;
      leave_valid_o   <= 1'b0;
      let_through_q   <= 1'b0;
    end else begin
      verdict_valid_o <= releases || (decides && (over || !eighth));
      event_valid_q   <= ((releases || (passes && !eighth)) && count_ones(destinations) > 4'd1) || (decides && over);
      leave_valid_o   <= (end_in && state_q != Store) || (end_out && state_q == Emit);
      let_through_q   <= passes;
    end
    verdict_o <= '{
        destinations: (decides && over) ? '0 : destinations,
        reason: (decides && over) ? 6'(FirstProbeReason) + 6'(ProbeEventProbeLimit) : '0,
        dropped: decides && over,
        module_id: side.module_id,
        id: side.id
    };
    event_kind_q <= (decides && over) ? ProbeEventProbeLimit : ProbeEventCopies;
    event_amount_q <= (decides && over) ? 4'd1 : count_ones(destinations) - 4'd1;
    leave_o <= (state_q == Emit) ? held_token_q : token_i;
    let_length_q <= s_axis_side.length;
    let_module_q <= module_index;
  end

  sluice_probe_tables #(
      .Modules(Modules)
  ) u_tables (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .look_i        (state_q == Idle),
      .look_index_i  ({module_index, s_axis_side.generation}),
      .limit_o       (limit),
      .let_i         (let_through_q),
      .let_module_i  (let_module_q),
      .let_length_i  (let_length_q),
      .event_i       (event_valid_q),
      .event_module_i(verdict_o.module_id[ModuleIndexBits-1:0]),
      .event_kind_i  (event_kind_q),
      .event_amount_i(event_amount_q),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o
  );

  assign waiting_o  = (s_axis_tvalid || held_q) && !(m_axis_tvalid && !m_axis_tready);
  assign progress_o = beat_in || beat_out;

`ifndef SYNTHESIS
  TheTokenIsThePackets_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !end_in ||
      (token_i.module_id == s_axis_side.module_id && token_i.generation == s_axis_side.generation));
`endif

endmodule
