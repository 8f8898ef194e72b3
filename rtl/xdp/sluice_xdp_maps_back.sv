/// Second half of the map engine: finds, makes, changes and takes out entries (docs/design/hxdp-core.md, "Maps").
///
/// `found_*` is an operation with its key; it is taken when the one before has ended, so that operations have one order. A context's answer is offered until
/// `answer_ready_i`; the host's has `host_done_o` for a cycle. What an operation does stands in docs/design/xdp-maps.md. Search memory is that of sluice_xdp_walk_pkg.
/// Rows that lead round, or to more entries than there are, fault.
///
/// One part at a time has the operation, and hands it on: chains (sluice_xdp_maps_hash), what goes of a full LRU map (_lru), tries (_trie), chains from one on (_next),
/// values, queues and stacks (_value). They move one walker (_walker), which reads search memory; _changes writes it. An operation begins, fails and ends in _control; _decide says which way it goes, _answer what is said of it.
///
/// Latency: of a lookup in a hash map 6 cycles with the first entry, 2 for each more, and 1 for each further row of the key. Stall behaviour: one operation at a time; requests hold until taken.
module sluice_xdp_maps_back
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
#(
    parameter int unsigned Processors = 8,
    parameter bit Outside = 1'b0,
    parameter int unsigned IdBits = $clog2(Processors)  // of who asks
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                               found_valid_i,
    output logic                               found_ready_o,
    // The host waits for search memory: nothing is taken. Nothing is under way, and nothing is left to be written.
    input  logic                               host_waits_i,
    output logic                               quiet_o,
    input  xdp_map_call_t                      found_i,
    input  logic          [        IdBits-1:0] found_context_i,
    input  logic                               found_host_i,
    input  logic                               found_fault_i,
    input  xdp_map_row_t                       found_map_i,
    input  walk_key_t                          found_key_i,
    input  logic          [     ChainBits-1:0] found_chain_i,
    input  logic          [SlotNumberBits-1:0] found_copy_i,
    output key_slot_t                          key_slot_o,       // which row of its key is needed
    output logic          [               1:0] key_rest_o,
    input  logic          [             127:0] rest_key_i,

    output logic                             answer_valid_o,
    input  logic                             answer_ready_i,
    output logic            [    IdBits-1:0] answer_context_o,
    output xdp_map_answer_t                  answer_o,
    // A value is being written: nobody else reaches values until the answer is taken.
    output logic                             locks_o,
    output logic            [ModuleBits-1:0] locks_module_o,

    output logic                              host_done_o,
    output logic       [           7:0]       host_error_o,
    output logic       [          23:0]       host_slot_o,
    output logic       [          23:0]       host_chain_o,
    // Which map's rows the operation under way may change.
    output logic                              changes_o,
    output logic       [          15:0]       state_o,
    // Search memory: the row comes in the cycle behind its number, or is waited for; `reads_o` is without what the next operation reads.
    output logic                              reads_o,
    input  logic                              hold_i,
    input  logic                              bad_i,
    output logic                              looks_o,
    output logic                              search_read_o,
    output logic       [SearchBits-1:0]       search_row_o,
    input  logic       [           3:0][31:0] search_i,
    output logic       [           3:0]       search_write_o,
    output logic       [SearchBits-1:0]       search_write_row_o,
    output logic       [           3:0][31:0] search_o,
    // The value of an update, from packet memory, values or the host's data.
    output logic                              read_valid_o,
    input  logic                              read_ready_i,
    output xdp_place_t                        read_place_o,
    input  logic       [           1:0][63:0] read_data_i,

    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                done_valid_i,
    input  logic                done_fault_i,
    input  logic         [63:0] done_value_i,
    // The host's data: a value that is read goes there.
    output logic                host_valid_o,
    output logic         [ 6:0] host_word_o,
    input  logic         [63:0] host_data_i,
    output logic                host_write_o,
    output logic         [ 6:0] host_write_word_o,
    output logic         [63:0] host_o
);

  // The operation.

  walk_operation_t operation;
  walk_go_e decide_go, hash_go, lru_go, trie_go, next_go, value_go, go;
  logic idle, takes, between, free, refuses, begins, found, missed, fails, drains, next_looks, next_state, next_index;
  logic drained, lru_scans, value_refusable, reader_fault, changes_idle, marks_idle, bad;

  sluice_xdp_maps_control #(
      .IdBits (IdBits),
      .Outside(Outside)
  ) u_control (
      .clk_i,
      .rst_ni,
      .hold_i,
      .bad_i       (bad),
      .found_valid_i,
      .found_ready_o,
      .host_waits_i,
      .found_i,
      .found_context_i,
      .found_host_i,
      .found_fault_i,
      .found_map_i,
      .found_key_i,
      .found_chain_i,
      .found_copy_i,
      .answer_ready_i,
      .answer_valid_o,
      .answer_context_o,
      .host_done_o,
      .said_i      (walk_go_e'(decide_go | hash_go | lru_go | trie_go | next_go | value_go)),
      .drained_i   (drained),
      .refused_i   (reader_fault),
      .refusable_i (lru_scans || value_refusable),
      .go_o        (go),
      .takes_o     (takes),
      .next_looks_o(next_looks),
      .next_state_o(next_state),
      .next_index_o(next_index),
      .operation_o (operation),
      .between_o   (between),
      .free_o      (free),
      .idle_o      (idle),
      .begins_o    (begins),
      .found_o     (found),
      .missed_o    (missed),
      .fails_o     (fails),
      .drains_o    (drains),
      .refuses_o   (refuses)
  );
  assign quiet_o   = idle && changes_idle && marks_idle;
  assign changes_o = !idle && !only_looks(operation.call.op, operation.host, operation.map);
  assign state_o   = operation.map.state;

  // Bits of slots that could not be read are taken as they come: they are the map's alone.
  logic same, last, hash_looks, lru_looks, marks_look, trie_looks, next_chains_look, value_looks, walk_looks;
  assign walk_looks = hash_looks || lru_looks || trie_looks || next_chains_look || value_looks;
  assign looks_o = walk_looks || marks_look;
  assign bad = Outside && bad_i && walk_looks && !hold_i;

  // The walker.

  walk_cursor_t cursor;
  walk_move_t decide_move, hash_move, lru_move, trie_move, next_move, value_move, write_move;
  walk_look_t decide_look, hash_look, lru_look, trie_look, next_look, value_look;
  logic hash_first, lru_first, lru_mark_hand, value_mark_slot, write_chain, write_slot, write_prev;
  walk_look_t look;
  xdp_map_state_t counts;
  chain_t victim_chain, chain;
  link_t chain_word, entry_link, entry_next, hook;
  walk_rows_t rows;

  assign {key_slot_o, key_rest_o} = {operation.key.slot, cursor.rest[1:0]};
  assign look = decide_look | hash_look | lru_look | trie_look | next_look | value_look;
  // The node of a trie that comes next.
  row_t trie_node;
  sluice_xdp_maps_walker u_walker (
      .clk_i,
      .hold_i,
      .operation_i        (operation),
      .next_map_i         (found_map_i),
      .next_chain_i       (found_chain_i),
      .next_slot_i        (slot_in(slot_t'(found_key_i.first), Outside)),
      .next_looks_i       (next_looks),
      .next_state_i       (next_state),
      .between_i          (between),
      .takes_i            (takes),
      .move_i             (decide_move | hash_move | lru_move | trie_move | next_move | value_move | write_move),
      .look_i             (look),
      .node_i             (trie_node),
      .first_i            (hash_first || lru_first),
      .mark_hand_i        (lru_mark_hand),
      .mark_slot_i        (value_mark_slot),
      .hand_i             (counts.hand[SlotNumberBits-1:6]),
      .write_chain_valid_i(write_chain),
      .write_chain_i      (victim_chain),
      .write_slot_i       (write_slot),
      .write_prev_i       (write_prev),
      .cursor_o           (cursor),
      .search_read_o,
      .search_row_o,
      .search_i,
      .chain_o            (chain),
      .rows_o             (rows),
      .rest_key_i,
      .chain_word_o       (chain_word),
      .entry_link_o       (entry_link),
      .same_o             (same),
      .last_o             (last)
  );

  // Who has the operation.

  logic sure, exchanges, deletes, decide_marks, no_entry, failed, verdict_valid, index_valid;
  logic [ChainBits:0] from, next_chain;
  logic [31:0] hand;
  logic [ 1:0] verdict;
  logic [63:0] passed, decide_error, hash_error, lru_error, next_error, value_error;
  walk_write_e decide_write, hash_write, lru_write, value_write;
  map_mark_e decide_mark, value_mark;
  walk_plan_t plan;
  // Also of an entry that is there although nothing more of it is read: that is known earlier.
  assign reads_o = found || hash_look.valid || lru_look.valid || trie_look.valid || next_look.valid || value_look.valid;

  sluice_xdp_maps_decide #(
      .Processors(Processors),
      .Outside   (Outside)
  ) u_decide (
      .operation_i    (operation),
      .cursor_i       (cursor),
      .plan_i         (plan),
      .counts_i       (counts),
      .next_i         (entry_next),
      .sure_i         (sure),
      .begins_i       (begins),
      .found_i        (found),
      .missed_i       (missed),
      .go_o           (decide_go),
      .error_o        (decide_error),
      .move_o         (decide_move),
      .look_o         (decide_look),
      .write_o        (decide_write),
      .from_o         (from),
      .exchanges_o    (exchanges),
      .deletes_o      (deletes),
      .mark_valid_o   (decide_marks),
      .mark_o         (decide_mark),
      .no_entry_o     (no_entry),
      .failed_o       (failed),
      .verdict_valid_o(verdict_valid),
      .verdict_o      (verdict),
      .index_valid_o  (index_valid)
  );

  logic loops, hand_valid;
  sluice_xdp_maps_hash u_hash (
      .clk_i,
      .rst_ni,
      .hold_i,
      .looks_o     (hash_looks),
      .operation_i (operation),
      .takes_i     (takes),
      .go_i        (go),
      .cursor_i    (cursor),
      .search_i,
      .chain_word_i(chain_word),
      .entry_link_i(entry_link),
      .same_i      (same),
      .last_i      (last),
      .found_i     (found),
      .exchanges_i (exchanges),
      .deletes_i   (deletes),
      .hand_valid_i(hand_valid),
      .hand_i      (hand),
      .go_o        (hash_go),
      .error_o     (hash_error),
      .loops_o     (loops),
      .move_o      (hash_move),
      .look_o      (hash_look),
      .first_o     (hash_first),
      .write_o     (hash_write),
      .plan_o      (plan),
      .counts_o    (counts),
      .next_o      (entry_next)
  );

  logic write_passed, write_counts, marked_valid, marked_ready, next_came, value_marks;
  row_t marked_row;
  logic [3:0][31:0] marked;
  sluice_xdp_maps_lru u_lru (
      .clk_i,
      .rst_ni,
      .hold_i,
      .looks_o       (lru_looks),
      .looks_marks_o (marks_look),
      .operation_i   (operation),
      .go_i          (go),
      .sure_i        (sure),
      .cursor_i      (cursor),
      .search_i,
      .chain_word_i  (chain_word),
      .entry_link_i  (entry_link),
      .hand_i        (counts.hand),
      .scans_o       (lru_scans),
      .go_o          (lru_go),
      .error_o       (lru_error),
      .move_o        (lru_move),
      .look_o        (lru_look),
      .first_o       (lru_first),
      .mark_hand_o   (lru_mark_hand),
      .write_o       (lru_write),
      .hand_valid_o  (hand_valid),
      .hand_o        (hand),
      .write_passed_o(write_passed),
      .passed_o      (passed),
      .write_counts_o(write_counts),
      .hook_o        (hook),
      .chain_o       (victim_chain),
      .mark_valid_i  (decide_marks || value_marks),
      .mark_row_i    (rows.mark),
      .mark_slot_i   (value_mark_slot ? cursor.slot[5:0] : cursor.at[5:0]),
      .mark_i        (found ? decide_mark : value_mark),
      .marks_idle_o  (marks_idle),
      .marked_valid_o(marked_valid),
      .marked_ready_i(marked_ready),
      .marked_row_o  (marked_row),
      .marked_o      (marked)
  );

  sluice_xdp_maps_trie u_trie (
      .clk_i,
      .rst_ni,
      .hold_i,
      .looks_o    (trie_looks),
      .rest_key_i,
      .operation_i(operation),
      .takes_i    (takes),
      .go_i       (go),
      .cursor_i   (cursor),
      .search_i,
      .go_o       (trie_go),
      .move_o     (trie_move),
      .look_o     (trie_look),
      .node_o     (trie_node)
  );

  sluice_xdp_maps_next u_next (
      .clk_i,
      .rst_ni,
      .hold_i,
      .looks_o      (next_chains_look),
      .bucket_bits_i(operation.map.bucket_bits),
      .go_i         (go),
      .from_i       (from),
      .cursor_i     (cursor),
      .chain_word_i (chain_word),
      .go_o         (next_go),
      .error_o      (next_error),
      .move_o       (next_move),
      .look_o       (next_look),
      .came_o       (next_came),
      .chain_o      (next_chain)
  );

  walk_queue_t queue;
  logic links, leaves, aside, holds_entry, written, got, got_first;
  assign locks_module_o = operation.map.module_id;
  sluice_xdp_maps_value #(
      .Processors(Processors),
      .Outside   (Outside)
  ) u_value (
      .clk_i,
      .rst_ni,
      .hold_i,
      .looks_o      (value_looks),
      .next_i       (found_i),
      .next_map_i   (found_map_i),
      .next_host_i  (found_host_i),
      .next_reads_i (!found_fault_i && found_i.op inside {XdpMapOpUpdate, XdpMapOpPut, XdpMapOpPush}),
      .operation_i  (operation),
      .cursor_i     (cursor),
      .plan_i       (plan),
      .takes_i      (takes),
      .free_i       (free),
      .go_i         (go),
      .begins_i     (begins),
      .found_i      (found),
      .drains_i     (drains),
      .search_i,
      .marks_idle_i (marks_idle),
      .settled_i    (marks_idle && changes_idle),
      .links_i      (links),
      .leaves_i     (leaves),
      .go_o         (value_go),
      .move_o       (value_move),
      .look_o       (value_look),
      .write_o      (value_write),
      .error_o      (value_error),
      .queue_o      (queue),
      .mark_valid_o (value_marks),
      .mark_o       (value_mark),
      .mark_slot_o  (value_mark_slot),
      .aside_o      (aside),
      .holds_entry_o(holds_entry),
      .refusable_o  (value_refusable),
      .sure_o       (sure),
      .fault_o      (reader_fault),
      .drained_o    (drained),
      .written_o    (written),
      .got_o        (got),
      .got_first_o  (got_first),
      .locks_o,
      .read_valid_o,
      .read_ready_i,
      .read_place_o,
      .read_data_i,
      .request_valid_o,
      .request_ready_i,
      .request_o,
      .done_valid_i,
      .done_fault_i,
      .done_value_i,
      .host_valid_o,
      .host_word_o,
      .host_data_i,
      .host_write_o,
      .host_write_word_o,
      .host_o
  );

  // What is written, and what is said.

  sluice_xdp_maps_changes u_changes (
      .clk_i,
      .rst_ni,
      .hold_i,
      .operation_i   (operation),
      .cursor_i      (cursor),
      .takes_i       (takes),
      .start_i       (walk_write_e'(decide_write | hash_write | lru_write | value_write)),
      .cancel_i      (refuses || bad),
      .sure_i        (sure),
      .plan_i        (plan),
      .counts_i      (counts),
      .queue_i       (queue),
      .next_i        (entry_next),
      .hook_i        (hook),
      .holds_entry_i (holds_entry),
      .chain_valid_o (write_chain),
      .slot_valid_o  (write_slot),
      .prev_valid_o  (write_prev),
      .move_o        (write_move),
      .chain_i       (chain),
      .rows_i        (rows),
      .rest_key_i,
      .aside_i       (aside),
      .passed_valid_i(write_passed),
      .passed_i      (passed),
      .counts_valid_i(write_counts),
      .marked_valid_i(marked_valid),
      .marked_ready_o(marked_ready),
      .marked_row_i  (marked_row),
      .marked_i      (marked),
      .links_o       (links),
      .leaves_o      (leaves),
      .idle_o        (changes_idle),
      .search_write_o,
      .search_write_row_o,
      .search_o
  );

  sluice_xdp_maps_answer #(
      .Outside(Outside)
  ) u_answer (
      .clk_i,
      .operation_i    (operation),
      .cursor_i       (cursor),
      .takes_i        (takes),
      .next_fault_i   (found_fault_i),
      .next_program_i (found_i.op == XdpMapOpProgram),
      .next_index_i   (next_index),
      .next_verdict_i (found_i.value[1:0]),
      .free_i         (free),
      .go_i           (go),
      .error_i        (decide_error | hash_error | lru_error | next_error | value_error),
      .no_entry_i     (no_entry),
      .failed_i       (failed),
      .verdict_valid_i(verdict_valid),
      .verdict_i      (verdict),
      .index_valid_i  (index_valid),
      .found_i        (found),
      .next_i         (entry_next),
      .loops_i        (loops),
      .fails_i        (fails),
      .refuses_i      (refuses),
      .bad_i          (bad),
      .written_i      (written),
      .queue_i        (queue),
      .chain_valid_i  (next_came),
      .chain_i        (next_chain),
      .chain_word_i   (chain_word),
      .got_i          (got),
      .got_first_i    (got_first),
      .got_fault_i    (done_fault_i),
      .value_i        (done_value_i[31:0]),
      .answer_o,
      .host_error_o,
      .host_slot_o,
      .host_chain_o
  );

endmodule
