/// Which packet of a core gets a context next (docs/decisions/xdp-grows.md, "Shares").
///
/// `put_*` is a packet in a slot that waits for one. `valid_o` with `slot_o` offers the oldest of those that may have one:
///
/// | a packet may have a context | if |
/// | --- | --- |
/// | that its module owns | the module's packets have fewer of these than it owns |
/// | that nobody owns | fewer than `shared_contexts_i` of these are taken |
/// | that another module owns | it borrows, it waits for no other packet (`put_waits_i`), and nobody waits for one that his module owns |
///
/// in this order; none while its program is flow-serial as a whole and another of its flow is before it (`flow_waits_i`). What is offered may change until it is taken
/// (`ready_i`). `end_*` says that the program of a slot's packet has ended: its context is free. As many contexts as all modules own and nobody owns are
/// there: so who waits for its own waits at most for one that was borrowed.
///
/// Latency: 1 cycle from `put_i` to `valid_o`. Throughput: a packet a cycle in, one out; behind one that has a context of its module's own, none for a cycle. Never stalls what comes in.
module sluice_xdp_starts
  import sluice_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_room_pkg::*;
#(
    parameter int unsigned Slots = 16,
    parameter int unsigned Contexts = 8,
    parameter int unsigned Modules = 64,
    localparam int unsigned SlotBits = $clog2(Slots),
    localparam int unsigned IndexBits = $clog2(Modules),
    localparam int unsigned ContextCountBits = $clog2(Contexts + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                       put_i,
    input logic      [  SlotBits-1:0] put_slot_i,
    input logic                       put_serial_i,
    input logic                       put_waits_i,
    // "Bits of signal are not used": modules are numbered as for the largest target; whose room it is says which contexts it may have.
    // verilator lint_off UNUSEDSIGNAL
    input logic      [ModuleBits-1:0] put_module_i,
    input xdp_room_t                  put_room_i,
    // verilator lint_on UNUSEDSIGNAL

    input logic [           Slots-1:0] flow_waits_i,
    input logic [ContextCountBits-1:0] shared_contexts_i,

    output logic                valid_o,
    output logic [SlotBits-1:0] slot_o,
    input  logic                ready_i,

    input logic                end_valid_i,
    input logic [SlotBits-1:0] end_slot_i
);

  typedef logic [Slots-1:0] slots_t;
  typedef logic [IndexBits-1:0] index_t;
  typedef logic [3:0] count_t;

  // By slot: whose it is and how many contexts that one owns; it waits, it is flow-serial, it may borrow, one of its module's is free for it;
  // who has waited longer; what it has.
  index_t [Slots-1:0] module_q;
  count_t [Slots-1:0] contexts_q;
  slots_t waiting_q, serial_q, borrows_q, own_q, has_own_q, has_shared_q, may, first;
  // Of two slots the one with the higher number: whether it has waited longer. Whatever it says of one that does not wait is not looked at.
  slots_t [Slots-1:0] higher_q;
  slots_t [Slots-1:0] older;
  logic [ContextCountBits-1:0] pool_q;
  logic
      shared,
      lends,
      take,
      takes_own,
      takes_shared,
      taken_q,
      taken_own_q,
      taken_shared_q,
      ended_q,
      ends_own,
      ends_shared;
  logic [SlotBits-1:0] taken_slot_q, ended_slot_q;

  // Where nobody owns one, a context that is free is enough: it is so a cycle before its packet's end is told here.
  assign shared = shared_contexts_i == ContextCountBits'(Contexts) || pool_q < shared_contexts_i;
  assign lends = (waiting_q & own_q) == '0;
  assign may = waiting_q & (~serial_q | ~flow_waits_i) & (own_q | {Slots{shared}} | (borrows_q & {Slots{lends}}));
  always_comb begin
    for (int unsigned s = 0; s < Slots; s++) begin
      older[s] = '0;
      for (int unsigned t = 0; t < Slots; t++) if (t != s) older[s][t] = (t > s) ? higher_q[s][t] : !higher_q[t][s];
    end
    slot_o = '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      first[s] = may[s] && (may & older[s]) == '0;
      if (first[s]) slot_o |= SlotBits'(s);
    end
  end
  // Whose module has lost a context of its own is known a cycle later: until then nobody is offered one.
  assign valid_o = may != '0 && !taken_own_q;
  assign take = valid_o && ready_i;
  assign takes_own = take && (first & own_q) != '0;
  assign takes_shared = take && (first & own_q) == '0 && shared;
  assign ends_own = ended_q && has_own_q[ended_slot_q];
  assign ends_shared = end_valid_i && has_shared_q[end_slot_i];

  // Packets of a module that have a context which it owns.
  count_t used_take, used_put;
  index_t take_module, end_module, put_module;
  logic last, put_own;
  assign take_module = module_q[taken_slot_q];
  assign end_module  = module_q[ended_slot_q];
  assign put_module  = put_module_i[IndexBits-1:0];
  always_comb begin
    used_take = '0;
    used_put  = '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      used_take = used_take + count_t'(has_own_q[s] && module_q[s] == take_module);
      used_put  = used_put + count_t'(has_own_q[s] && module_q[s] == put_module);
    end
  end
  // What was taken is the last one that its module owns, unless one comes back.
  assign last = used_take + count_t'(1) >= contexts_q[taken_slot_q] && !(ends_own && end_module == take_module);
  always_comb begin
    put_own = used_put < put_room_i.contexts;
    if (taken_own_q && take_module == put_module) put_own = !last;
    if (ends_own && end_module == put_module) put_own = put_room_i.contexts != '0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      waiting_q <= '0;
      has_own_q <= '0;
      pool_q    <= '0;
      taken_own_q <= 1'b0;
      ended_q <= 1'b0;
    end else begin
      taken_own_q <= takes_own;
      ended_q <= end_valid_i;
      if (ended_q) has_own_q[ended_slot_q] <= 1'b0;
      if (taken_own_q) has_own_q[taken_slot_q] <= 1'b1;
      if (take) waiting_q[slot_o] <= 1'b0;
      if (put_i) waiting_q[put_slot_i] <= 1'b1;
      pool_q <= pool_q + ContextCountBits'(takes_shared) - ContextCountBits'(ends_shared);
    end
    for (int unsigned s = 0; s < Slots; s++) begin
      if (taken_own_q && last && module_q[s] == take_module) own_q[s] <= 1'b0;
      if (ends_own && module_q[s] == end_module) own_q[s] <= 1'b1;
    end
    if (put_i) begin
      module_q[put_slot_i]   <= put_module;
      contexts_q[put_slot_i] <= put_room_i.contexts;
      serial_q[put_slot_i]   <= put_serial_i;
      borrows_q[put_slot_i]  <= put_room_i.borrows && !put_waits_i;
      own_q[put_slot_i]      <= put_own;
      for (int unsigned s = 0; s < Slots; s++) begin
        for (int unsigned t = s + 1; t < Slots; t++) begin
          if (put_slot_i == SlotBits'(s)) higher_q[s][t] <= 1'b1;
          if (put_slot_i == SlotBits'(t)) higher_q[s][t] <= 1'b0;
        end
      end
    end
    taken_slot_q   <= slot_o;
    taken_q        <= take;
    taken_shared_q <= takes_shared;
    ended_slot_q   <= end_slot_i;
    if (taken_q) has_shared_q[taken_slot_q] <= taken_shared_q;
  end

`ifndef SYNTHESIS
  OneIsFirst_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(first) && (first != '0) == (may != '0));
  WhoWaitsIsNotPutAgain_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_i || !waiting_q[put_slot_i]);
  WhatIsSharedIsCounted_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) 32'(pool_q) <= Contexts && !(ends_shared && pool_q == '0));
  NobodyHasMoreThanHeOwns_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !taken_own_q || used_take < contexts_q[taken_slot_q]);
`endif

endmodule
