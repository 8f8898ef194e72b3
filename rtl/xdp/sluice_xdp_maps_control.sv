/// Where an operation of the map engine's second half begins, fails and ends, and who has it between.
///
/// It is taken when the one before has ended. Whoever has it says with what it goes on (`said_i`). An update whose value may not be read changes
/// nothing: it is answered before it has written.
///
/// An operation whose row of search memory cannot be read changes nothing, and faults.
///
/// Latency: an operation is taken in the cycle in which the one before is answered. Stall behaviour: an answer is offered until it is taken; stands
/// still while `hold_i`.
module sluice_xdp_maps_control
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
#(
    parameter int unsigned IdBits = 3,  // of who asks
    parameter bit Outside = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,
    input logic hold_i,  // a row of search memory is waited for, or room for one
    input logic bad_i,   // one that is looked at could not be read

    input  logic                       found_valid_i,
    output logic                       found_ready_o,
    input  logic                       host_waits_i,
    input  xdp_map_call_t              found_i,
    input  logic          [IdBits-1:0] found_context_i,
    input  logic                       found_host_i,
    input  logic                       found_fault_i,
    input  xdp_map_row_t               found_map_i,
    input  walk_key_t                  found_key_i,
    input  chain_t                     found_chain_i,
    input  slot_t                      found_copy_i,

    input  logic              answer_ready_i,
    output logic              answer_valid_o,
    output logic [IdBits-1:0] answer_context_o,
    output logic              host_done_o,

    input  walk_go_e said_i,
    input  logic     drained_i,    // the rest of an update's value has gone
    input  logic     refused_i,    // its value may not be read
    input  logic     refusable_i,  // it has written nothing yet
    output walk_go_e go_o,

    // The next operation: it is taken; what it reads in that cycle, and whether it is decided by its index.
    output logic takes_o,
    output logic next_looks_o,
    output logic next_state_o,
    output logic next_index_o,

    output walk_operation_t operation_o,
    output logic            between_o,    // none is looked for
    output logic            free_o,       // none is under way
    output logic            idle_o,
    output logic            begins_o,
    output logic            found_o,
    output logic            missed_o,
    output logic            fails_o,
    output logic            drains_o,
    output logic            refuses_o
);

  typedef enum logic [2:0] {
    Idle,
    Decide,
    Found,
    Miss,
    Fail,
    Drain,   // the rest of an update's value goes nowhere
    Answer,
    Away     // a part has the operation
  } state_e;

  state_e state_q;
  walk_operation_t operation_q;
  logic [IdBits-1:0] context_q;
  logic refused_q, ends;

  always_comb begin
    operation_o = operation_q;
    operation_o.wide = Outside;
  end
  assign idle_o = state_q == Idle;
  assign begins_o = state_q == Decide;
  assign found_o = state_q == Found;
  assign missed_o = state_q == Miss;
  assign fails_o = state_q == Fail;
  assign drains_o = state_q == Drain;
  assign between_o = state_q inside {Idle, Answer};
  assign ends = state_q == Answer && (operation_q.host || answer_ready_i) && !hold_i;
  assign free_o = idle_o || ends;
  assign found_ready_o = free_o && !host_waits_i && !hold_i;
  assign takes_o = found_valid_i && found_ready_o;

  // Of a lookup by key or prefix nothing is to be decided before its chain's beginning, or its trie's root, is read; of a reference by
  // index with plain flags nothing but whether there is such an entry. A change, and an operation on a queue, begins with the map's state.
  logic trie, changes, quick, refers, queues;
  assign trie = found_map_i.kind == XdpMapTrie;
  assign changes = found_i.op inside {XdpMapOpUpdate, XdpMapOpDelete} && is_keyed(found_map_i.kind);
  assign queues = is_queue_op(found_i.op);
  assign quick = queues || (found_i.op == XdpMapOpLookup && (is_keyed(found_map_i.kind) || trie)) || changes;
  assign refers = found_i.op == XdpMapOpReference && found_map_i.kind inside {XdpMapDevices, XdpMapReferences} && found_i.value[63:2] == '0;
  assign next_index_o = (refers || found_i.op == XdpMapOpProgram) && found_key_i.first[31:0] < found_map_i.entries;
  assign next_looks_o = between_o && found_valid_i && quick && !found_fault_i && !host_waits_i;
  assign next_state_o = trie || changes || queues;

  walk_go_e own;
  always_comb begin
    own = GoStay;
    if (takes_o) begin
      if (quick) own = queues ? GoQueue : changes ? GoBucket : trie ? GoRootRow : GoBucketRow;
      if (next_index_o) own = GoGet;
      if (found_fault_i) own = GoAnswer;
    end
    if (fails_o) own = writes_value(operation_q) ? GoDrain : GoAnswer;
    if (drains_o && drained_i) own = GoAnswer;
  end
  assign refuses_o = refused_q && (found_o || drains_o || refusable_i);
  always_comb begin
    go_o = refuses_o ? GoAnswer : walk_go_e'(own | said_i);
    if (bad_i) go_o = writes_value(operation_q) ? GoDrain : GoAnswer;
    if (hold_i) go_o = GoStay;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else if (!hold_i) begin
      case (go_o)
        GoStay: begin
          if (ends) state_q <= Idle;
          if (takes_o) state_q <= Decide;
        end
        GoFound:  state_q <= Found;
        GoMiss:   state_q <= Miss;
        GoFail:   state_q <= Fail;
        GoDrain:  state_q <= Drain;
        GoAnswer: state_q <= Answer;
        default:  state_q <= Away;
      endcase
    end
    if (refused_i) refused_q <= 1'b1;
    if (takes_o) begin
      refused_q <= 1'b0;
      context_q <= found_host_i ? '0 : found_context_i;
      operation_q <= '{
          call: found_i,
          map: found_map_i,
          host: found_host_i,
          key: found_key_i,
          chain: found_chain_i,
          copy: found_copy_i,
          processor: found_host_i ? 4'd0 : 4'(found_context_i),
          wide: 1'b0
      };
    end
  end

  assign answer_valid_o = state_q == Answer && !operation_q.host && !hold_i;
  assign answer_context_o = context_q;
  assign host_done_o = state_q == Answer && operation_q.host && !hold_i;

endmodule
