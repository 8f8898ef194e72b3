/// The walker of the map engine's second half: where an operation stands in search memory, which row it reads, and whether the entry that comes is
/// its key's.
///
/// An operation is taken in the cycle in which the one before is answered, so the last row that this one writes may stand beside the first one
/// that the next one reads: that is a chain's beginning or a map's state, and both were written before.
///
/// Latency: the row that is looked at comes in the next cycle. Throughput: a row a cycle. Stall behaviour: stands still while `hold_i`.
module sluice_xdp_maps_walker
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
(
    input logic clk_i,
    input logic hold_i,

    // "Bits of signal are not used": of an operation what says where its rows are.
    // verilator lint_off UNUSEDSIGNAL
    input walk_operation_t operation_i,

    // The next operation: what it reads first is read in the cycle in which it is taken.
    input xdp_map_row_t next_map_i,
    // verilator lint_on UNUSEDSIGNAL
    input chain_t       next_chain_i,
    input slot_t        next_slot_i,
    input logic         next_looks_i,
    input logic         next_state_i,  // its map's state, not its chain
    input logic         between_i,     // the one before has ended
    input logic         takes_i,

    input walk_move_t                      move_i,
    input walk_look_t                      look_i,
    input row_t                            node_i,       // a trie's
    input logic                            first_i,      // a chain's beginning is there
    input logic                            mark_hand_i,  // the marks' row: the hand's; the slot's
    input logic                            mark_slot_i,
    input logic       [SlotNumberBits-1:6] hand_i,

    // What is written: its chain, its entry.
    input logic   write_chain_valid_i,
    input chain_t write_chain_i,
    input logic   write_slot_i,
    input logic   write_prev_i,

    output walk_cursor_t cursor_o,

    output logic             search_read_o,
    output row_t             search_row_o,
    input  logic [3:0][31:0] search_i,

    output chain_t             chain_o,
    output walk_rows_t         rows_o,
    input  logic       [127:0] rest_key_i, // the key's part in an entry's row behind the first

    // What came: what a chain's beginning leads to, and an entry; whether its row is the key's, and the last one.
    output link_t chain_word_o,
    output link_t entry_link_o,
    output logic  same_o,
    output logic  last_o
);

  slot_t at_q, prev_q, slot_q;
  logic prev_bucket_q;
  link_t head_q;
  logic [2:0] rest_q;
  walk_steps_t steps_q;
  logic [95:0] key;
  logic [2:0] rests;

  assign key = operation_i.key.first;
  assign rests = rests_of(operation_i.map, operation_i.wide);
  assign cursor_o = '{
          at: at_q,
          prev: prev_q,
          prev_bucket: prev_bucket_q,
          head: head_q,
          slot: slot_q,
          rest: rest_q,
          steps: steps_q,
          too_far: steps_q > walk_steps_t'(operation_i.map.slots)
      };

  always_ff @(posedge clk_i)
    if (!hold_i) begin
      if (move_i.at_valid) at_q <= move_i.at;
      if (move_i.begins) prev_bucket_q <= 1'b1;
      if (move_i.follows) begin
        prev_bucket_q <= 1'b0;
        prev_q        <= at_q;
      end
      if (move_i.head_valid) head_q <= move_i.head;
      if (move_i.slot_valid) slot_q <= move_i.slot;
      if (move_i.rest_valid) rest_q <= move_i.rest;
      if (move_i.step) begin
        steps_q <= operation_i.wide ? steps_q + walk_steps_t'(1) : walk_steps_t'(ChipLinkBits'(steps_q + walk_steps_t'(1)));
      end
      if (move_i.restart) steps_q <= '0;
      if (takes_i) begin
        slot_q  <= next_slot_i;
        rest_q  <= '0;
        steps_q <= '0;
      end
    end

  // ---------------------------------------------------------------------------------------------------------------
  // Rows.

  logic [1:0] of_chain_q;
  chain_t read_chain;
  row_t bucket;
  slot_t entry;
  logic [SlotNumberBits-1:6] of_mark;
  link_t walk;
  row_t walk_row;

  // The entry that a chain's beginning or an entry, as it comes, leads to.
  assign walk = first_i ? chain_word_o : entry_link_o;
  assign walk_row = row_at(
      operation_i.map.entry, operation_i.wide
  ) - (row_t'(1) << operation_i.map.entry_shift) + row_t'({3'd0, walk} << operation_i.map.entry_shift);

  always_comb begin
    chain_o = operation_i.chain;
    if (look_i.chain_valid) chain_o = look_i.chain;
    if (write_chain_valid_i) chain_o = write_chain_i;
    // Nothing is written to the next one's chain.
    read_chain = between_i ? next_chain_i : chain_o;
    entry = at_q;
    if (write_slot_i) entry = slot_q;
    if (look_i.entry_valid) entry = look_i.entry;
    if (write_prev_i) entry = prev_q;
    of_mark = at_q[SlotNumberBits-1:6];
    if (mark_hand_i) of_mark = hand_i;
    if (mark_slot_i) of_mark = slot_q[SlotNumberBits-1:6];
  end

  assign rows_o.bucket = row_at(operation_i.map.bucket, operation_i.wide) + row_t'(chain_o[ChainBits-1:2]);
  assign bucket = row_at(
      between_i ? next_map_i.bucket : operation_i.map.bucket, operation_i.wide
  ) + row_t'(read_chain[ChainBits-1:2]);
  assign rows_o.entry = row_at(
      operation_i.map.entry, operation_i.wide
  ) + row_t'({3'd0, entry} << operation_i.map.entry_shift) + row_t'(rest_q);
  assign rows_o.mark = row_at(operation_i.map.clock, operation_i.wide) + row_t'(of_mark);
  row_t state_row;
  assign state_row = row_at(operation_i.map.state, operation_i.wide);
  assign rows_o.state = state_row;
  assign rows_o.aside = state_row + row_t'(1) + row_t'(operation_i.processor[3:2]);

  assign search_read_o = next_looks_i || look_i.valid;
  always_comb begin
    case (look_i.row)
      LookWalk: search_row_o = walk_row;
      LookNode: search_row_o = node_i;
      LookBucket: search_row_o = bucket;
      LookMark: search_row_o = rows_o.mark;
      LookAside: search_row_o = rows_o.aside;
      LookState: search_row_o = state_row;
      default: search_row_o = rows_o.entry;
    endcase
    if (between_i) search_row_o = next_state_i ? row_at(next_map_i.state, operation_i.wide) : bucket;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What comes. An entry's first word leads to the next one, its key follows.

  logic [  2:0] compared_rest_q;
  logic [127:0] compared_q;

  always_ff @(posedge clk_i)
    if (!hold_i) begin
      of_chain_q      <= read_chain[1:0];
      compared_rest_q <= first_i ? '0 : rest_q;
      compared_q      <= rest_key_i;
    end

  assign chain_word_o = link_in(search_i[of_chain_q], operation_i.wide);
  assign entry_link_o = link_in(search_i[0], operation_i.wide);
  logic same_first;
  assign same_first = operation_i.wide ? search_i[3:2] == key[63:0] : search_i[3:1] == key;
  assign same_o = (compared_rest_q == '0) ? same_first : search_i == compared_q;
  assign last_o = compared_rest_q == rests;

endmodule
