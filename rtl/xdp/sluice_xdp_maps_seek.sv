/// A second operation under way in the map engine: a program's lookup in a hash map or a trie, beside what the second half does.
///
/// `take_i` with `idle_o` takes an operation with its key; search memory is free then. In cycles with `hold_i` the memory is another's, and nothing moves. Nobody
/// changes rows of the map meanwhile: `busy_o` and `state_o` say which map that is, until its answer is taken.
///
/// Latency: of a lookup in a hash map 4 cycles with the first entry, 2 for each more, and 1 for each further row of the key; 2 to a trie's root, 2 for each
/// node and 1 behind the last; as many more as cycles are another's. Stall behaviour: one operation at a time; its answer is offered until it is taken.
module sluice_xdp_maps_seek
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
#(
    parameter int unsigned IdBits = 3  // of who asks
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                      take_i,
    output logic                      idle_o,
    input  logic         [IdBits-1:0] context_i,
    // "Bits of signal are not used": of a map where its rows and values lie.
    // verilator lint_off UNUSEDSIGNAL
    input  xdp_map_row_t              map_i,
    // verilator lint_on UNUSEDSIGNAL
    input  walk_key_t                 key_i,
    input  chain_t                    chain_i,
    input  slot_t                     copy_i,
    // Rows of its key: which one is needed, in its cycle.
    output key_slot_t                 key_slot_o,
    output logic         [       1:0] key_rest_o,
    input  logic         [     127:0] rest_key_i,

    output logic busy_o,
    output logic [15:0] state_o,

    // Search memory: the row comes in the cycle behind its number.
    input  logic             hold_i,
    output logic             search_read_o,
    output row_t             search_row_o,
    input  logic [3:0][31:0] search_i,

    output logic                         answer_valid_o,
    input  logic                         answer_ready_i,
    output logic            [IdBits-1:0] answer_context_o,
    output xdp_map_answer_t              answer_o
);

  typedef enum logic [1:0] {
    Idle,
    Away,   // chains or tries have it
    Found,
    Answer
  } state_e;

  state_e state_q;
  logic [IdBits-1:0] context_q;
  walk_operation_t operation_q;
  logic fault_q, trie;
  logic [31:0] found, value_q;
  steps_t spent_q;

  assign trie = map_i.kind == XdpMapTrie;
  assign idle_o = state_q == Idle;
  assign busy_o = state_q != Idle;
  assign state_o = operation_q.map.state;

  // ---------------------------------------------------------------------------------------------------------------
  // A row that came while the memory was another's is kept.

  logic read_q;
  logic [3:0][31:0] kept_q, search;
  always_ff @(posedge clk_i) begin
    read_q <= search_read_o && !hold_i;
    if (read_q) kept_q <= search_i;
  end
  assign search = read_q ? search_i : kept_q;

  // ---------------------------------------------------------------------------------------------------------------
  // Walker, chains and tries, as in the second half.

  walk_go_e hash_go, trie_go, go;
  walk_cursor_t cursor;
  walk_move_t hash_move, trie_move;
  walk_look_t hash_look, trie_look;
  row_t trie_node;
  link_t chain_word, entry_link, unused_next;
  logic first, same, last, loops;
  logic [63:0] unused_error;
  walk_write_e unused_write;
  walk_plan_t unused_plan;
  xdp_map_state_t unused_counts;
  chain_t unused_chain;
  walk_rows_t unused_rows;
  logic [1:0] unused_looks;

  assign key_slot_o = operation_q.key.slot;
  assign key_rest_o = cursor.rest[1:0];
  assign go = take_i ? (trie ? GoRootRow : GoBucketRow) : walk_go_e'(hash_go | trie_go);

  sluice_xdp_maps_walker u_walker (
      .clk_i,
      .hold_i,
      .operation_i        (operation_q),
      .next_map_i         (map_i),
      .next_chain_i       (chain_i),
      .next_slot_i        ('0),
      .next_looks_i       (take_i),
      .next_state_i       (trie),
      .between_i          (idle_o),
      .takes_i            (take_i),
      .move_i             (hash_move | trie_move),
      .look_i             (hash_look | trie_look),
      .node_i             (trie_node),
      .first_i            (first),
      .mark_hand_i        (1'b0),
      .mark_slot_i        (1'b0),
      .hand_i             ('0),
      .write_chain_valid_i(1'b0),
      .write_chain_i      ('0),
      .write_slot_i       (1'b0),
      .write_prev_i       (1'b0),
      .cursor_o           (cursor),
      .search_read_o,
      .search_row_o,
      .search_i           (search),
      .chain_o            (unused_chain),
      .rows_o             (unused_rows),
      .rest_key_i,
      .chain_word_o       (chain_word),
      .entry_link_o       (entry_link),
      .same_o             (same),
      .last_o             (last)
  );

  sluice_xdp_maps_hash u_hash (
      .clk_i,
      .rst_ni,
      .hold_i,
      .looks_o     (unused_looks[0]),
      .operation_i (operation_q),
      .takes_i     (take_i),
      .go_i        (go),
      .cursor_i    (cursor),
      .search_i    (search),
      .chain_word_i(chain_word),
      .entry_link_i(entry_link),
      .same_i      (same),
      .last_i      (last),
      .found_i     (1'b0),
      .exchanges_i (1'b0),
      .deletes_i   (1'b0),
      .hand_valid_i(1'b0),
      .hand_i      ('0),
      .go_o        (hash_go),
      .error_o     (unused_error),
      .loops_o     (loops),
      .move_o      (hash_move),
      .look_o      (hash_look),
      .first_o     (first),
      .write_o     (unused_write),
      .plan_o      (unused_plan),
      .counts_o    (unused_counts),
      .next_o      (unused_next)
  );

  sluice_xdp_maps_trie u_trie (
      .clk_i,
      .rst_ni,
      .hold_i,
      .looks_o    (unused_looks[1]),
      .operation_i(operation_q),
      .takes_i    (take_i),
      .go_i       (go),
      .cursor_i   (cursor),
      .search_i   (search),
      .rest_key_i,
      .go_o       (trie_go),
      .move_o     (trie_move),
      .look_o     (trie_look),
      .node_o     (trie_node)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // The operation, and what is said of it.

  assign found = 32'(value_address(operation_q, cursor.at));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else if (take_i) begin
      state_q <= Away;
    end else begin
      case (state_q)
        Away: begin
          if (!hold_i && go == GoFound) state_q <= Found;
          if (!hold_i && go inside {GoMiss, GoAnswer}) state_q <= Answer;
        end
        Found, Answer: state_q <= answer_ready_i ? Idle : Answer;
        default: ;
      endcase
    end
    if (state_q == Found) value_q <= found;
    if (loops && !hold_i) fault_q <= 1'b1;
    if (spent_q != '1) spent_q <= spent_q + steps_t'(1);
    if (take_i) begin
      value_q             <= '0;
      fault_q             <= 1'b0;
      spent_q             <= '0;
      context_q           <= context_i;
      operation_q         <= '0;
      operation_q.call.op <= XdpMapOpLookup;
      operation_q.map     <= map_i;
      operation_q.key     <= key_i;
      operation_q.chain   <= chain_i;
      operation_q.copy    <= copy_i;
    end
  end

  assign answer_valid_o   = state_q inside {Found, Answer};
  assign answer_context_o = context_q;
  always_comb begin
    answer_o = '0;
    answer_o.value = 64'((state_q == Found) ? found : value_q);
    answer_o.fault = fault_q;
    answer_o.steps = spent_q;
  end

`ifndef SYNTHESIS
  TakesWhenIdle_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || (idle_o && !hold_i));
`endif

endmodule
