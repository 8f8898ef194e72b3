/// Chains of a map with keys: looks for the operation's entry, and knows what a change comes to and which slot a new entry takes.
///
/// Of a change the map's state comes with its chain: the slot of a new entry is known before there is none. An entry's rows are
/// read one behind the other; in any case the row behind the first one, or the next entry, if it has one row.
///
/// Latency: 2 cycles to the first entry, 1 or 2 for each more, 1 for each further row of the key. Stands still while
/// `hold_i`.
module sluice_xdp_maps_hash
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
(
    input  logic clk_i,
    input  logic rst_ni,
    input  logic hold_i,
    output logic looks_o, // at what comes of search memory

    // "Bits of signal are not used": of an operation what it is and whose map it concerns.
    // verilator lint_off UNUSEDSIGNAL
    input walk_operation_t operation_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic            takes_i,
    input walk_go_e        go_i,         // what was said by who has the operation

    // "Bits of signal are not used": where a chain is walked.
    // verilator lint_off UNUSEDSIGNAL
    input walk_cursor_t             cursor_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic         [3:0][31:0] search_i,
    input link_t                    chain_word_i,
    input link_t                    entry_link_i,
    input logic                     same_i,
    input logic                     last_i,

    // The entry is there: a value is changed in it, or it goes.
    input logic        found_i,
    input logic        exchanges_i,
    input logic        deletes_i,
    // The hand of an LRU map moves.
    input logic        hand_valid_i,
    input logic [31:0] hand_i,

    output walk_go_e           go_o,
    output logic        [63:0] error_o,
    output logic               loops_o,  // the chain has more entries than there are
    output walk_move_t         move_o,
    output walk_look_t         look_o,
    output logic               first_o,
    output walk_write_e        write_o,

    output walk_plan_t     plan_o,
    output xdp_map_state_t counts_o,
    output link_t          next_o     // what the entry leads to
);

  typedef enum logic [2:0] {
    Rest,
    Bucket,
    BucketRow,
    Entry,
    EntryRow,
    RestRow,
    Free,
    FreeRow
  } state_e;

  state_e state_q, state_next;
  walk_plan_t plan_q;
  xdp_map_state_t counts_q;
  link_t next_q;
  logic [2:0] rests;
  // "Bits of signal are not used": of the flags what concerns this.
  // verilator lint_off UNUSEDSIGNAL
  walk_flags_t flags;
  // verilator lint_on UNUSEDSIGNAL

  assign rests = rests_of(operation_i.map, operation_i.wide);
  assign looks_o = state_q inside {BucketRow, EntryRow, RestRow, FreeRow} ||
      (state_q == Bucket && operation_i.call.op inside {XdpMapOpUpdate, XdpMapOpDelete});
  assign flags = flags_of(operation_i);
  assign plan_o = plan_q;
  assign counts_o = counts_q;
  assign next_o = next_q;
  assign first_o = state_q == BucketRow;

  // The map's state, as it comes.
  logic updates, has_free, has_room;
  logic [31:0] count, fresh, free;
  assign {free, fresh, count} = search_i[2:0];
  assign updates = operation_i.call.op == XdpMapOpUpdate;
  assign has_free = free != '0;
  assign has_room = count < operation_i.map.entries;

  // What comes behind a chain in which the entry is not: of an update its slot is known, if it is none that has been given back.
  walk_go_e missed;
  walk_write_e missed_write;
  always_comb begin
    missed = program_looks(operation_i) ? GoAnswer : GoMiss;
    missed_write = WriteNone;
    if (plan_q.inserts && !flags.is_there) begin
      if (plan_q.full) missed = operation_i.map.lru ? GoScan : GoMiss;
      else if (plan_q.takes_free) missed = GoFree;
      else if (!plan_q.no_slot) begin
        missed = operation_i.map.per_cpu ? GoZero : GoValue;
        missed_write = WriteCounts;
      end
    end
  end

  always_comb begin
    state_next = state_q;
    go_o = GoStay;
    error_o = '0;
    loops_o = 1'b0;
    move_o = '0;
    look_o = '0;
    write_o = WriteNone;
    case (state_q)
      Bucket: begin
        state_next = BucketRow;
        look_o.valid = 1'b1;
        look_o.row = LookBucket;
        move_o.slot_valid = 1'b1;
        move_o.slot = slot_in(has_free ? slot_t'(free - 32'd1) : slot_t'(fresh), operation_i.wide);
        if (operation_i.call.op inside {XdpMapOpUpdate, XdpMapOpDelete} && forbidden(operation_i)) begin
          error_o = ErrorPermission;
          go_o = GoFail;
        end else if (updates && (flags.bad || flags.lock_bad)) begin
          error_o = ErrorInvalid;
          go_o = GoFail;
        end
      end
      // Where they lead to nothing nobody looks at what comes.
      BucketRow: begin
        state_next = EntryRow;
        look_o.valid = 1'b1;
        look_o.row = LookWalk;
        move_o.begins = 1'b1;
        move_o.head_valid = 1'b1;
        move_o.head = chain_word_i;
        move_o.at_valid = 1'b1;
        move_o.at = slot_of(chain_word_i);
        move_o.rest_valid = 1'b1;
        move_o.rest = (chain_word_i != '0 && rests != '0) ? 3'd1 : 3'd0;
        if (chain_word_i == '0) begin
          go_o = missed;
          write_o = missed_write;
        end
      end
      Entry: begin
        state_next = EntryRow;
        look_o.valid = 1'b1;
        move_o.rest_valid = 1'b1;
        move_o.rest = 3'd1;
      end
      EntryRow: begin
        look_o.valid = 1'b1;
        if (rests == '0) look_o.row = LookWalk;
        move_o.step = 1'b1;
        move_o.rest_valid = 1'b1;
        if (same_i && rests != '0) begin
          state_next  = RestRow;
          move_o.rest = 3'd2;
        end else if (same_i) begin
          go_o = GoFound;
        end else begin
          state_next = (rests == '0) ? EntryRow : Entry;
          move_o.follows = 1'b1;
          move_o.at_valid = 1'b1;
          move_o.at = slot_of(entry_link_i);
          if (entry_link_i == '0) begin
            go_o = missed;
            write_o = missed_write;
          end
        end
        if (cursor_i.too_far) begin
          loops_o = 1'b1;
          write_o = WriteNone;
          go_o = writes_value(operation_i) ? GoDrain : GoAnswer;
        end
      end
      RestRow: begin
        look_o.valid = 1'b1;
        move_o.rest_valid = 1'b1;
        move_o.rest = cursor_i.rest + 3'd1;
        if (same_i && last_i) begin
          go_o = GoFound;
          move_o.rest = '0;
        end else if (!same_i) begin
          state_next = Entry;
          move_o.rest = '0;
          move_o.follows = 1'b1;
          move_o.at_valid = 1'b1;
          move_o.at = slot_of(next_q);
          if (next_q == '0) begin
            go_o = missed;
            write_o = missed_write;
          end
        end
      end
      // A slot for a new entry, of those that were given back.
      Free: begin
        state_next = FreeRow;
        look_o.valid = 1'b1;
        look_o.entry_valid = 1'b1;
        look_o.entry = cursor_i.slot;
      end
      FreeRow: begin
        write_o = WriteCounts;
        go_o = operation_i.map.per_cpu ? GoZero : GoValue;
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rest;
    end else if (!hold_i) begin
      case (go_i)
        GoStay: state_q <= state_next;
        GoBucket: state_q <= Bucket;
        GoBucketRow: state_q <= BucketRow;
        GoFree: state_q <= Free;
        default: state_q <= Rest;
      endcase
    end
  end

  always_ff @(posedge clk_i)
    if (!hold_i) begin
      if (state_q == EntryRow) next_q <= entry_link_i;

      if (state_q == Bucket) begin
        plan_q.inserts <= updates;
        plan_q.deletes <= operation_i.call.op == XdpMapOpDelete;
        plan_q.full    <= !has_room;
        if (updates && has_room) begin
          plan_q.takes_free <= has_free;
          if (!has_free) plan_q.no_slot <= fresh >= 32'(operation_i.map.slots);
        end
      end
      if (found_i) plan_q.inserts <= 1'b0;
      if (exchanges_i) plan_q.exchanges <= 1'b1;
      if (takes_i) plan_q <= '0;

      if (state_q == Bucket) begin
        counts_q <= search_i;
        if (updates && has_room) begin
          counts_q.count <= count + 32'd1;
          if (!has_free) counts_q.fresh <= fresh + 32'd1;
        end
      end
      if (deletes_i) begin
        counts_q.free  <= 32'(cursor_i.at) + 32'd1;
        counts_q.count <= counts_q.count - 32'd1;
      end
      if (state_q == FreeRow) counts_q.free <= 32'(entry_link_i);
      if (hand_valid_i) counts_q.hand <= hand_i;
    end

endmodule
