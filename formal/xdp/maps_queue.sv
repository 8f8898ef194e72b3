/// Proof about sluice_xdp_maps_queue: elements lie in the ring of their map, in the order in which they were pushed, and nobody else's slot is touched.
///
/// The map's state is read as it was written last, and is any that fits a ring of `entries` slots before. By k-induction, for runs of any length and maps of any size that has room
/// on the chip. What the row of another map holds is not looked at: whose map it is, maps_front shows.
module maps_queue
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
(
    input logic                   clk_i,
    input logic                   rst_ni,
    input logic                   begins_i,
    input walk_operation_t        operation_i,
    input logic            [16:0] entries_i,
    input logic            [ 2:0] processor_i
);

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (rst_ni == !init_q);

  // One map of one size, whose operations come one after the other.
  logic [16:0] entries_q;
  always_ff @(posedge clk_i) if (init_q) entries_q <= entries_i;
  always_comb assume (entries_i inside {[17'd1 : 17'd131000]});

  walk_operation_t operation_q, operation;
  logic active_q, looks, written_q;
  xdp_map_state_t state_q;
  always_comb begin
    operation = operation_q;
    operation.map.entries = 32'(entries_q);
    operation.wide = 1'b0;
    operation.processor = 4'(processor_i);
    assume (operation.map.kind inside {XdpMapQueue, XdpMapStack});
    assume (is_queue_op(operation.call.op));
  end
  always_ff @(posedge clk_i) begin
    operation_q <= operation_i;
    active_q    <= rst_ni && begins_i;
  end

  walk_go_e go;
  logic [63:0] error;
  walk_move_t move;
  walk_write_e write;
  walk_queue_t queue;
  sluice_xdp_maps_queue u_dut (
      .clk_i,
      .rst_ni,
      .hold_i     (1'b0),
      .looks_o    (looks),
      .operation_i(operation),
      .search_i   (state_q),
      .go_i       (begins_i ? GoQueue : GoStay),
      .go_o       (go),
      .error_o    (error),
      .move_o     (move),
      .write_o    (write),
      .given_i    (1'b0),
      .queue_o    (queue)
  );

  // The state as it is written, at once: an operation begins when the one before has ended.
  xdp_map_state_t state;
  assign state = written_q ? queue.state : state_q;
  always_ff @(posedge clk_i) begin
    written_q <= rst_ni && active_q && write == WriteQueue;
    state_q   <= state;
    if (init_q) state_q <= '0;
  end
  always_comb assume (!(begins_i && active_q));

  // ---------------------------------------------------------------------------------------------------------------

  logic [31:0] entries, sum;
  logic pushes, pops, stack, full, empty;
  assign entries = 32'(entries_q);
  assign pushes  = operation.call.op == XdpMapOpPush;
  assign pops    = operation.call.op == XdpMapOpPop;
  assign stack   = operation.map.kind == XdpMapStack;
  assign full    = state_q.count == entries;
  assign empty   = state_q.count == '0;
  assign sum     = state_q.hand + state_q.count;

  function automatic logic fits(xdp_map_state_t of);
    return of.count <= 32'(entries_q) && of.fresh < 32'(entries_q) && of.hand < 32'(entries_q) &&
        (of.fresh == of.hand + of.count || of.fresh + 32'(entries_q) == of.hand + of.count);
  endfunction
  function automatic logic [31:0] in_ring(logic [31:0] slot);
    return (slot >= 32'(entries_q)) ? slot - 32'(entries_q) : slot;
  endfunction

  StateFitsTheRing_A :
  assert property (@(posedge clk_i) !rst_ni || fits(state));
  // Strengthening for the induction.
  SizeStays_A :
  assert property (@(posedge clk_i) !rst_ni || entries_q inside {[17'd1 : 17'd131000]});
  StateBeforeFits_A :
  assert property (@(posedge clk_i) !rst_ni || fits(state_q));
  ItLooksWhenItBegins_A :
  assert property (@(posedge clk_i) !rst_ni || looks == active_q);

  // A push goes behind the youngest element, a pop and a look to the oldest, or of a stack to the youngest.
  SlotsAreInTheirOrder_A :
  assert property (@(posedge clk_i) !rst_ni || !active_q || (pushes && 32'(move.slot) == in_ring(
      sum
  )) || (!pushes && (empty || 32'(move.slot) == (stack ? in_ring(
      sum - 32'd1
  ) : state_q.hand))));
  // What a context is given lies behind the ring, where its own slot is.
  OwnSlotsAreBehindTheRing_A :
  assert property (@(posedge clk_i) !rst_ni || !active_q || 32'(move.at) == entries + 32'(processor_i));
  // A push into a full map is refused, or the oldest element goes.
  CountsGoByOne_A :
  assert property (@(posedge clk_i) !rst_ni || !written_q || queue.state.count == (($past(
      pushes
  )) ? ($past(
      full
  ) ? $past(
      state_q.count
  ) : $past(
      state_q.count
  ) + 32'd1) : $past(
      state_q.count
  ) - 32'd1));
  AFullMapIsToldOf_A :
  assert property (@(posedge clk_i) !rst_ni || !active_q || !pushes || !full || operation.call.flags == 64'd2 || go == GoFail);
  WhatIsRefusedChangesNothing_A :
  assert property (@(posedge clk_i) !rst_ni || !active_q || write == WriteNone || (go != GoFail && (pushes || (pops && !empty)) && !(operation.map.constant && !operation.host)));
  WhatIsTakenChanges_A :
  assert property (@(posedge clk_i) !rst_ni || !active_q || (pushes ? (go == GoFail) == (write == WriteNone) : (write == WriteQueue) == (pops && !empty && !(operation.map.constant && !operation.host))));

  AFullMapGivesUpTheOldest_C :
  cover property (@(posedge clk_i) rst_ni && active_q && pushes && full && write == WriteQueue);
  AStackGivesTheYoungest_C :
  cover property (@(posedge clk_i) rst_ni && active_q && pops && stack && move.slot == slot_t'(1));

endmodule
