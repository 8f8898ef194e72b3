/// Takes packets in: their beats to the packet FIFO, their windows as slots to the parser (docs/design/rmt.md).
///
/// The slots of a packet, its first WindowBeats beats, follow each other in consecutive cycles: they wait here
/// until all are there. A packet begins only with one of `Credits` credits, each of which stands for a place in
/// the PHV FIFO and comes back by `credit_i`; nothing behind stalls. `token_valid_o` marks the first slot: in
/// that cycle the stamp gives both generations; with `token_foreign_o` its module is not of this target. Whether
/// what came is what its sideband says is told by `window_*_o`, once a packet in their order, at the latest a cycle
/// behind the first slot, and by `late_*_o` for what is found behind the window. `desc_o` stays the same for all
/// slots of a packet. A beat goes to slots and FIFOs in one cycle, so `beat_valid_o` and `side_valid_o` are only
/// high while both are ready.
///
/// While `slot_request_i` is high and no cycle has been without a first slot for MaintenancePeriod - 1 cycles,
/// one is left out.
///
/// Latency: 1 cycle from a beat that completes a packet of up to 64 bytes to the first slot, 1 from the window's last
/// beat but one of longer ones, when nothing waits. Throughput: a beat
/// a cycle, no cycle between packets. Stall behaviour: the input stalls when a FIFO is full, when no credit is
/// left or `hold_i` is high and WindowBeats beats wait, and for a misfit's filling up.
module sluice_rmt_entrance
  import sluice_pkg::*;
  import sluice_shell_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    parameter int unsigned Credits = 128,
    localparam int unsigned Bytes = Cfg.bus_bytes
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

    // Packet FIFO and meta FIFO.
    output logic                    beat_valid_o,
    input  logic                    beat_ready_i,
    output logic      [8*Bytes-1:0] beat_data_o,
    output logic                    beat_last_o,
    output logic                    side_valid_o,
    input  logic                    side_ready_i,
    output sideband_t               side_o,

    // Slots.
    output logic                    slot_valid_o,
    output logic                    slot_first_o,
    output logic                    slot_last_o,
    output logic      [8*Bytes-1:0] slot_data_o,
    output rmt_desc_t               desc_o,

    output logic                     token_valid_o,
    output logic [             31:0] token_id_o,
    output logic                     token_foreign_o,
    output logic [8*WindowBytes-1:0] token_window_o,
    input  logic                     generation_i,
    input  logic                     system_generation_i,

    input logic credit_i,
    input logic slot_request_i,

    output logic                  window_valid_o,
    output logic                  window_misfit_o,
    output logic                  late_valid_o,
    output logic [ModuleBits-1:0] late_module_o,

    output logic waiting_o
);

  localparam int unsigned WindowBeats = RmtWindowBytes / Bytes;
  localparam int unsigned CreditBits = $clog2(Credits + 1);
  localparam int unsigned PeriodBits = $clog2(MaintenancePeriod);
  localparam int unsigned TokenBeats = WindowBytes / Bytes;

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "rmt_entrance: bus_bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end
  if (Credits < 1) begin : gen_bad_credits
    $fatal(1, "rmt_entrance: Credits is %0d, expected at least 1 (%m)", Credits);
  end

  typedef struct packed {
    logic                  last;
    logic                  first;
    logic [ModuleBits-1:0] module_id;
    logic [8*Bytes-1:0]    data;
  } slot_t;

  // What is kept of the sideband until the last slot.
  typedef struct packed {
    logic                  foreign;
    logic [31:0]           id;
    logic [TenantBits-1:0] tenant;
    logic [13:0]           length;
    logic [TickBits-1:0]   arrival;
  } head_t;

  logic fit_valid, fit_ready, fit_first, fit_last, fit_window, fit_window_last;
  logic [8*Bytes-1:0] fit_data;
  sideband_t fit_side;
  logic foreign;
  logic fire, push;

  slot_t [WindowBeats-1:0] slots_q;
  slot_t slot;
  logic [WindowBeats-1:0] have_q, have_d, left, fill;
  head_t head, head_in;
  logic head_in_ready, head_valid;
  logic [$clog2(WindowBeats+2)-1:0] unused_head_level;
  logic whole, coming, may_start, emit_if_whole, emit, start;
  logic [CreditBits-1:0] credits_q;
  logic [PeriodBits-1:0] starved_q;
  logic starved_full_q, have_credit_q, leave_out;
  logic [CreditBits-1:0] credits_d;
  logic generation_q, system_generation_q;
  logic [TickBits-1:0] queueing_q;

  sluice_rmt_fit #(
      .Bytes      (Bytes),
      .WindowBeats(WindowBeats)
  ) u_fit (
      .clk_i,
      .rst_ni,
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_tuser,
      .valid_o      (fit_valid),
      .ready_i      (fit_ready),
      .data_o       (fit_data),
      .first_o      (fit_first),
      .last_o       (fit_last),
      .window_o     (fit_window),
      .window_last_o(fit_window_last),
      .side_o       (fit_side),
      .window_valid_o,
      .window_misfit_o,
      .late_o       (late_valid_o)
  );

  // A beat goes everywhere in one cycle or nowhere.
  assign fit_ready = beat_ready_i && (!fit_first || side_ready_i) &&
      (!fit_window || !have_q[WindowBeats-1] || (whole && emit_if_whole));
  assign fire = fit_valid && fit_ready;
  assign push = fire && fit_window;

  assign beat_valid_o = fire;
  assign beat_data_o = fit_data;
  assign beat_last_o = fit_last;
  assign side_valid_o = fire && fit_first;
  assign foreign = 32'(fit_side.module_id) >= Cfg.modules;
  always_comb begin
    side_o = fit_side;
    if (foreign) side_o.module_id = ModuleBits'(SystemModule);
  end

  logic [ModuleBits-1:0] module_q;
  always_ff @(posedge clk_i) if (fire && fit_first) module_q <= side_o.module_id;
  assign late_module_o = module_q;

  // Beats of windows in order; place 0 is the next slot. Its module picks the generation in the same cycle, so each
  // has it in a register.
  assign slot = '{
          last: fit_window_last,
          first: fit_first,
          module_id: fit_first ? side_o.module_id : module_q,
          data: fit_data
      };

  // Place i holds a slot; after this cycle's slot has gone.
  always_comb begin
    left = have_q;
    if (emit) left = have_q >> 1;
    have_d = left;
    if (push) have_d = {left[WindowBeats-2:0], 1'b1};
    fill = have_d & ~left;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) have_q <= '0;
    else have_q <= have_d;
  end
  always_ff @(posedge clk_i) begin
    for (int unsigned i = 0; i < WindowBeats; i++) begin
      if (fill[i]) slots_q[i] <= slot;
      else if (emit && i + 1 < WindowBeats) slots_q[i] <= slots_q[(i+1)%WindowBeats];
    end
  end

  // Any last slot that waits means that the packet in front is whole. So does one that comes in this cycle behind
  // others, if the token has its bytes: it is there when its turn has come. That it comes is said without `emit`,
  // which waits for it.
  assign coming = fit_valid && beat_ready_i && fit_window && fit_window_last && !fit_first && !have_q[WindowBeats-1];
  always_comb begin
    whole = 1'b0;
    for (int unsigned i = 0; i < WindowBeats; i++) whole |= have_q[i] && slots_q[i].last;
  end

  assign leave_out = slot_request_i && starved_full_q;
  assign may_start = have_credit_q && !hold_i && !leave_out;
  // A packet that has begun goes on: its slots are all there.
  assign emit_if_whole = !slots_q[0].first || may_start;
  assign emit = (whole || (coming && have_q[TokenBeats-1])) && emit_if_whole;
  assign start = emit && slots_q[0].first;

  assign credits_d = credits_q - CreditBits'(start) + CreditBits'(credit_i);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      credits_q      <= CreditBits'(Credits);
      have_credit_q  <= 1'b1;
      starved_q      <= '0;
      starved_full_q <= 1'b0;
    end else begin
      credits_q     <= credits_d;
      have_credit_q <= credits_q > CreditBits'(1) || (credits_q == CreditBits'(1) && !start) || credit_i;
      if (!slot_request_i || !start) begin
        starved_q      <= '0;
        starved_full_q <= 1'b0;
      end else if (!starved_full_q) begin
        starved_q      <= starved_q + PeriodBits'(1);
        starved_full_q <= starved_q == PeriodBits'(MaintenancePeriod - 2);
      end
    end
  end

  assign head_in = '{
          foreign: foreign,
          id: fit_side.id,
          tenant: fit_side.tenant,
          length: fit_side.length,
          arrival: fit_side.stamp
      };

  sluice_fifo #(
      .Width($bits(head_t)),
      .Depth(WindowBeats + 1)
  ) u_heads (
      .clk_i,
      .rst_ni,
      .valid_i(push && fit_first),
      .ready_o(head_in_ready),
      .data_i (head_in),
      .valid_o(head_valid),
      .ready_i(emit && slots_q[0].last),
      .data_o (head),
      .level_o(unused_head_level)
  );

  assign slot_valid_o = emit;
  assign slot_first_o = slots_q[0].first;
  assign slot_last_o = slots_q[0].last;
  assign slot_data_o = slots_q[0].data;

  assign token_valid_o = start;
  assign token_id_o = head.id;
  assign token_foreign_o = head.foreign;
  for (genvar b = 0; b < TokenBeats; b++) begin : gen_token_window
    assign token_window_o[8*Bytes*b+:8*Bytes] = slots_q[b].data;
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      generation_q        <= generation_i;
      system_generation_q <= system_generation_i;
      queueing_q          <= ticks_i;
    end
  end

  // Nobody is dropped here yet: sluice_rmt_refuse does it when the rate limit has answered.
  assign desc_o = '{
          ctl: '{
              module_id: slots_q[0].module_id,
              generation: slots_q[0].first ? generation_i : generation_q,
              system_generation: slots_q[0].first ? system_generation_i : system_generation_q,
              dropped: 1'b0,
              reason: RmtEventRate
          },
          port: head.id[31:28],
          tenant: head.tenant,
          length: head.length,
          arrival: head.arrival,
          queueing: slots_q[0].first ? ticks_i : queueing_q
      };

  assign waiting_o = have_q[0];

`ifndef SYNTHESIS
  SlotsHaveTheirHead_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !emit || head_valid);
  HeadsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(push && fit_first) || head_in_ready);
  SlotsOfAPacketHaveNoGap_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !$past(rst_ni && emit && !slots_q[0].last) || emit);
  CreditIsKnownToBeThere_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) have_credit_q == (credits_q != '0));
  CreditsDoNotOverflow_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) credits_q <= CreditBits'(Credits));
`endif

endmodule
