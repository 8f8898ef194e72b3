/// Queues and stacks: which slot an element is pushed to or comes from, and what their state becomes.
///
/// An operation begins with the map's state: how many elements there are, the slot of the next push (`fresh`), and that of the oldest element (`hand`). A push goes on with the
/// value that is written, and changes the state when that is sure to come. What a context pops or looks at is copied to its own slot behind the ring
/// (sluice_xdp_maps_value); the host's is given to it.
///
/// Latency: 1 cycle, in which the state is there. Stands still while `hold_i`.
module sluice_xdp_maps_queue
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
(
    input  logic clk_i,
    input  logic rst_ni,
    input  logic hold_i,
    output logic looks_o, // at what comes of search memory

    // "Bits of signal are not used": of an operation what it is, on which map, and whose.
    // verilator lint_off UNUSEDSIGNAL
    input walk_operation_t             operation_i,
    // Of the state what slots need.
    input logic            [3:0][31:0] search_i,
    // verilator lint_on UNUSEDSIGNAL
    input walk_go_e                    go_i,         // what was said by who has the operation

    output walk_go_e           go_o,
    output logic        [63:0] error_o,
    output walk_move_t         move_o,
    output walk_write_e        write_o,
    input  logic               given_i,  // the element lies in the context's slot
    output walk_queue_t        queue_o
);

  logic active_q, nothing_q;
  xdp_map_state_t state_q, state_next;
  logic pushes, pops, stack, empty, full, barred, wrong, none;
  slot_t next, oldest, behind_next, before_next, behind_oldest, last;

  assign looks_o = active_q;
  assign pushes  = operation_i.call.op == XdpMapOpPush;
  assign pops    = operation_i.call.op == XdpMapOpPop;
  assign stack   = operation_i.map.kind == XdpMapStack;
  assign empty   = search_i[0] == '0;
  assign full    = search_i[0] >= operation_i.map.entries;
  assign next    = slot_in(slot_t'(search_i[1]), operation_i.wide);
  assign oldest  = slot_in(slot_t'(search_i[3]), operation_i.wide);

  // Round the ring.
  assign last = slot_in(slot_t'(operation_i.map.entries - 32'd1), operation_i.wide);
  assign behind_next = (next == last) ? '0 : next + slot_t'(1);
  assign before_next = (next == '0) ? last : next - slot_t'(1);
  assign behind_oldest = (oldest == last) ? '0 : oldest + slot_t'(1);

  // Programs change no map that is constant, and look at it all the same.
  assign barred = forbidden(operation_i) && (pushes || pops);
  // All but `BPF_EXIST`.
  assign wrong  = (operation_i.call.flags & ~64'd2) != '0;
  assign none   = empty || barred;

  always_comb begin
    state_next = '{count: search_i[0], fresh: 32'(next), free: '0, hand: 32'(oldest)};
    if (pushes) begin
      state_next.fresh = 32'(behind_next);
      if (full) state_next.hand = 32'(behind_oldest);
      else state_next.count = search_i[0] + 32'd1;
    end else begin
      state_next.count = search_i[0] - 32'd1;
      if (stack) state_next.fresh = 32'(before_next);
      else state_next.hand = 32'(behind_oldest);
    end
  end

  always_comb begin
    go_o = GoStay;
    error_o = '0;
    move_o = '0;
    write_o = WriteNone;
    if (active_q) begin
      move_o.slot_valid = 1'b1;
      move_o.slot = pushes ? next : stack ? before_next : oldest;
      // The context's own.
      move_o.at_valid = 1'b1;
      move_o.at = slot_in(slot_t'(operation_i.map.entries) + slot_t'(operation_i.processor), operation_i.wide);
      if (pushes) begin
        go_o = GoFail;
        if (barred) error_o = ErrorPermission;
        else if (wrong) error_o = ErrorInvalid;
        else if (full && !operation_i.call.flags[1]) error_o = ErrorTooBig;
        else begin
          go_o = GoValue;
          write_o = WriteQueue;
        end
      end else begin
        go_o = operation_i.host ? GoGet : GoGive;
        if (operation_i.host && empty) begin
          go_o = GoFail;
          error_o = ErrorNoEntry;
        end
        if (pops && !none) write_o = WriteQueue;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) active_q <= 1'b0;
    else if (!hold_i) active_q <= go_i == GoQueue;
    if (active_q && !hold_i) begin
      state_q   <= state_next;
      nothing_q <= none;
    end
  end

  assign queue_o = '{
          state: state_q,
          nothing: nothing_q,
          why: !nothing_q ? '0 : barred ? ErrorPermission[31:0] : ErrorNoEntry[31:0],
          given: given_i
      };

endmodule
