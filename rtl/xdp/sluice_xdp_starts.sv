/// Which packet of a core gets a context next (docs/decisions/xdp-grows.md, "Shares").
///
/// `put_*` is a packet in a slot that waits for one. `valid_o` with `slot_o` offers the oldest of those that may have one:
///
/// | packet | may have a context |
/// | --- | --- |
/// | with room of its module's own | always: as many are left to such packets as have such room |
/// | with room of the pool | while fewer than `shared_contexts_i` packets of the pool have one that is not borrowed |
/// | with room of the pool that borrows | while no packet with room of its own waits |
/// | of a flow-serial program | not while another of its flow is before it (`waits_i`), whatever else holds |
///
/// What is offered may change until it is taken (`ready_i`). `end_*` says that the program of a slot's packet has ended: its context is free.
///
/// Latency: 1 cycle from `put_i` to `valid_o`. Throughput: a packet a cycle in, one out. Never stalls what comes in.
module sluice_xdp_starts
  import sluice_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Slots = 16,
    parameter int unsigned Contexts = 8,
    localparam int unsigned SlotBits = $clog2(Slots),
    localparam int unsigned ContextCountBits = $clog2(Contexts + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                     put_i,
    input logic      [SlotBits-1:0] put_slot_i,
    input logic                     put_serial_i,
    // "Bits of signal are not used": whose room it is says which contexts it may have.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_room_t                put_room_i,
    // verilator lint_on UNUSEDSIGNAL

    input logic [           Slots-1:0] waits_i,
    input logic [ContextCountBits-1:0] shared_contexts_i,

    output logic                valid_o,
    output logic [SlotBits-1:0] slot_o,
    input  logic                ready_i,

    input logic                end_valid_i,
    input logic [SlotBits-1:0] end_slot_i
);

  typedef logic [Slots-1:0] slots_t;

  // By slot: it waits, it is flow-serial, it has room of its own, it may borrow, it has borrowed; and who has waited longer.
  slots_t waiting_q, serial_q, own_q, borrows_q, lent_q, may, first;
  slots_t [Slots-1:0] older_q;
  logic [ContextCountBits-1:0] pool_q;
  logic shared, lends, take, takes_shared, ends_shared;

  // Where nobody owns one, a context that is free is enough: it is so a cycle before its packet's end is told here.
  assign shared = shared_contexts_i == ContextCountBits'(Contexts) || pool_q < shared_contexts_i;
  assign lends = (waiting_q & own_q) == '0;
  assign may = waiting_q & (~serial_q | ~waits_i) & (own_q | {Slots{shared}} | (borrows_q & {Slots{lends}}));
  always_comb begin
    slot_o = '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      first[s] = may[s] && (may & older_q[s]) == '0;
      if (first[s]) slot_o |= SlotBits'(s);
    end
  end
  assign valid_o = may != '0;
  assign take = valid_o && ready_i;
  assign takes_shared = take && !own_q[slot_o] && shared;
  assign ends_shared = end_valid_i && !own_q[end_slot_i] && !lent_q[end_slot_i];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waiting_q <= '0;
      pool_q    <= '0;
    end else begin
      if (take) waiting_q[slot_o] <= 1'b0;
      if (put_i) waiting_q[put_slot_i] <= 1'b1;
      pool_q <= pool_q + ContextCountBits'(takes_shared) - ContextCountBits'(ends_shared);
    end
    if (put_i) begin
      serial_q[put_slot_i]  <= put_serial_i;
      own_q[put_slot_i]     <= put_room_i.own;
      borrows_q[put_slot_i] <= put_room_i.borrows;
      older_q[put_slot_i]   <= waiting_q;
      for (int unsigned s = 0; s < Slots; s++) if (SlotBits'(s) != put_slot_i) older_q[s][put_slot_i] <= 1'b0;
    end
    if (take) lent_q[slot_o] <= !own_q[slot_o] && !shared;
  end

`ifndef SYNTHESIS
  OneIsFirst_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(first) && (first != '0) == valid_o);
  WhoWaitsIsNotPutAgain_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_i || !waiting_q[put_slot_i]);
  WhatIsSharedIsCounted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) 32'(pool_q) <= Contexts && !(ends_shared && pool_q == '0));
`endif

endmodule
