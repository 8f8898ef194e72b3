/// The value of an operation: reads that of an update or a push, writes it and zeros into other copies of a new entry, gets what an entry holds, copies an element of a
/// queue or stack to its context's slot.
///
/// The block of an update is read from the cycle on in which the operation is taken; what has a word has all (`sure_o`). A spin lock keeps its word.
/// While a value is being written nobody else reaches values.
///
/// Latency: a word a cycle. Stall behaviour: requests hold until taken; waits for rows that are written, but for the last; stands still
/// while `hold_i`, but for what reads the value.
module sluice_xdp_maps_value
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_walk_pkg::*;
#(
    parameter int unsigned Processors = 8,
    parameter bit Outside = 1'b0,
    localparam int unsigned ProcessorBits = $clog2(Processors)
) (
    input  logic clk_i,
    input  logic rst_ni,
    input  logic hold_i,
    output logic looks_o, // at what comes of search memory

    // The next operation, and when it is taken.
    // "Bits of signal are not used": of operations what concerns a value, and where the walker stands.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_map_call_t   next_i,
    input xdp_map_row_t    next_map_i,
    input walk_operation_t operation_i,
    input walk_cursor_t    cursor_i,
    input walk_plan_t      plan_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic            next_host_i,
    input logic            next_reads_i,  // it is an update
    input logic            takes_i,
    input logic            free_i,        // no operation is under way
    input walk_go_e        go_i,
    input logic            begins_i,
    input logic            found_i,
    input logic            drains_i,

    input logic [3:0][31:0] search_i,
    input logic             marks_idle_i,
    input logic             settled_i,     // nothing is left to be written
    input logic             links_i,       // a new entry's link is being written
    input logic             leaves_i,      // one row at most is left to be written

    output walk_go_e           go_o,
    output walk_move_t         move_o,
    output walk_look_t         look_o,
    output walk_write_e        write_o,
    output logic        [63:0] error_o,
    output walk_queue_t        queue_o,
    output logic               mark_valid_o,
    output map_mark_e          mark_o,
    output logic               mark_slot_o,    // the bits are those of the slot that is taken
    output logic               aside_o,        // the slot set aside is there, and is exchanged for the entry's
    output logic               holds_entry_o,  // what an exchange's entry waits for: the bits of the slot that goes
    output logic               refusable_o,
    output logic               sure_o,
    output logic               fault_o,        // the value may not be read
    output logic               drained_o,
    output logic               written_o,      // the value's last word
    output logic               got_o,          // a word of what an entry holds
    output logic               got_first_o,
    output logic               locks_o,

    // The value of an update, from packet memory, values or the host's data.
    output logic                   read_valid_o,
    input  logic                   read_ready_i,
    output xdp_place_t             read_place_o,
    input  logic       [1:0][63:0] read_data_i,

    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                done_valid_i,
    input  logic                done_fault_i,
    input  logic         [63:0] done_value_i,

    // The host's data: a value that is read goes there.
    output logic        host_valid_o,
    output logic [ 6:0] host_word_o,
    input  logic [63:0] host_data_i,
    output logic        host_write_o,
    output logic [ 6:0] host_write_word_o,
    output logic [63:0] host_o
);

  // Words of the host's data before the value.
  localparam int unsigned HostValue = KeyWords;

  typedef enum logic [3:0] {
    Rest,
    AsideRow,  // the slot that a change writes
    Zero,      // other copies of a new entry are zero
    Value,
    Mark,      // the slot that an exchange took
    Links,     // waits until its rows are written, but for the last
    Get,
    GetWait,
    Give,      // a word of an element that a context gets
    GiveWait,
    GivePut    // to its own slot
  } state_e;

  state_e state_q, state_next;
  logic [6:0] word_q;
  logic [ProcessorBits-1:0] zero_q;
  slot_t zero_copy_q;  // slots of the copies before it
  logic put_ready, put_last, last_word, own_request_valid;
  logic word_valid, word_ready, word_last;
  logic [63:0] word, given_q;

  assign sure_o = word_valid;
  logic queue_looks;
  assign looks_o = state_q == AsideRow || queue_looks;
  assign drained_o = word_valid && word_last;
  assign aside_o = state_q == AsideRow;
  assign holds_entry_o = state_q inside {Value, Mark};
  assign mark_slot_o = state_q inside {Zero, Value, Mark, Links};
  assign refusable_o = state_q inside {Zero, Value};
  assign written_o = state_q == Value && put_ready && word_valid && word_last;
  assign got_o = state_q == GetWait && done_valid_i;
  assign got_first_o = word_q == '0;

  slot_t aside;
  assign aside = slot_in(slot_t'(search_i[operation_i.processor[1:0]]), Outside);

  // ---------------------------------------------------------------------------------------------------------------
  // Queues and stacks.

  walk_go_e queue_go;
  walk_move_t queue_move;
  walk_write_e queue_write;
  sluice_xdp_maps_queue u_queue (
      .clk_i,
      .rst_ni,
      .hold_i,
      .looks_o    (queue_looks),
      .operation_i(operation_i),
      .search_i,
      .go_i,
      .go_o       (queue_go),
      .error_o,
      .move_o     (queue_move),
      .write_o    (queue_write),
      .given_i    (state_q == GivePut && put_last),
      .queue_o
  );

  // ---------------------------------------------------------------------------------------------------------------

  walk_go_e ended;
  assign ended = leaves_i ? GoAnswer : GoLinks;

  always_comb begin
    state_next = state_q;
    go_o = queue_go;
    move_o = queue_move;
    write_o = queue_write;
    case (state_q)
      AsideRow: begin
        move_o.slot_valid = 1'b1;
        move_o.slot = aside;
        write_o = WriteLink;
        go_o = GoValue;
      end
      Zero: if (put_last && word_valid && 32'(zero_q) == Processors - 1) go_o = GoValue;
      Value: begin
        if (written_o) begin
          if (plan_i.exchanges && operation_i.map.lru) state_next = Mark;
          else go_o = ended;
        end
      end
      Mark: if (marks_idle_i) go_o = ended;
      Links: if (leaves_i) go_o = GoAnswer;
      Get: if (put_ready && own_request_valid) state_next = GetWait;
      GetWait: begin
        if (done_valid_i) begin
          state_next = Get;
          if (!operation_i.host || last_word) go_o = GoAnswer;
        end
      end
      Give: if (queue_o.nothing || (put_ready && own_request_valid)) state_next = queue_o.nothing ? GivePut : GiveWait;
      GiveWait: if (done_valid_i) state_next = GivePut;
      GivePut: begin
        if (put_ready) begin
          state_next = Give;
          if (last_word) go_o = GoAnswer;
        end
      end
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rest;
    end else if (!hold_i) begin
      case (go_i)
        GoStay:  state_q <= state_next;
        GoAside: state_q <= AsideRow;
        GoZero:  state_q <= Zero;
        GoValue: state_q <= Value;
        GoLinks: state_q <= Links;
        GoGet:   state_q <= Get;
        GoGive:  state_q <= Give;
        default: state_q <= Rest;
      endcase
    end
    if (state_q inside {Zero, Value} && word_valid && put_ready) word_q <= word_q + 7'd1;
    if (state_q == Zero && put_last && word_valid) begin
      word_q <= '0;
      zero_q <= zero_q + ProcessorBits'(1);
      zero_copy_q <= zero_copy_q + slot_t'(operation_i.map.slots);
    end
    if ((got_o && operation_i.host) || (state_q == GivePut && put_ready)) word_q <= word_q + 7'd1;
    if (state_q == GiveWait && done_valid_i) given_q <= done_value_i;
    if (takes_i) begin
      word_q      <= '0;
      zero_q      <= '0;
      zero_copy_q <= '0;
    end
    if (!rst_ni || free_i) locks_o <= 1'b0;
    else if (state_q inside {Zero, Value} && word_valid) locks_o <= 1'b1;
  end

  // Bits of slots. A victim's slot is used, and the hand has seen that it is not touched.
  always_comb begin
    mark_valid_o = 1'b0;
    mark_o = map_mark_e'('0);
    case (state_q)
      AsideRow: begin
        mark_valid_o = operation_i.map.lru;
        mark_o = MarkFree;
      end
      Zero, Value, Links: begin
        mark_valid_o = operation_i.map.lru && plan_i.inserts && !plan_i.full && links_i;
        mark_o = MarkNew;
      end
      Mark: begin
        mark_valid_o = marks_idle_i;
        mark_o = MarkTouched;
      end
      default: ;
    endcase
    look_o = '0;
    if (mark_valid_o) begin
      look_o.valid = 1'b1;
      look_o.row   = LookMark;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // The value of an update.

  logic unused_reader_idle, reader_request_valid;
  xdp_block_t block;
  xdp_request_t reader_request, own_request;

  assign block = '{
          address: next_host_i ? 64'(HostValue) : next_i.value,
          bytes: next_map_i.value_bytes,
          host: next_host_i,
          module_id: next_i.module_id,
          regions: next_i.regions,
          bounds: next_i.bounds,
          base: next_i.base,
          written: next_i.written,
          depth: next_i.depth
      };

  sluice_xdp_reader u_reader (
      .clk_i,
      .rst_ni,
      .start_i        (takes_i && next_reads_i),
      .idle_o         (unused_reader_idle),
      .block_i        (block),
      .fault_o,
      .word_valid_o   (word_valid),
      .word_ready_i   (word_ready),
      .word_o         (word),
      .last_o         (word_last),
      .read_valid_o,
      .read_ready_i,
      .read_place_o,
      .read_data_i,
      .request_valid_o(reader_request_valid),
      .request_ready_i(request_ready_i && !own_request_valid),
      .request_o      (reader_request),
      .done_valid_i   (done_valid_i && !(state_q inside {GetWait, GiveWait})),
      .done_fault_i,
      .done_value_i,
      .host_valid_o,
      .host_word_o,
      .host_data_i
  );
  assign word_ready = (state_q == Value && put_ready) || (drains_i && !hold_i);

  // ---------------------------------------------------------------------------------------------------------------
  // Where the value lies, from the cycle on behind that in which its slot is known.

  slot_t put_slot;
  logic [31:0] put_place_q, put_number;
  logic outside;
  logic put_known_q, put_zero_q, put_own_q, put_known;
  logic [7:0] lock_word;
  logic [5:0] words;  // of a value, less 1
  assign words = 6'((operation_i.map.value_bytes - 10'd1) >> 3);
  assign lock_word = operation_i.map.lock - 8'd1;
  always_comb begin
    put_slot = cursor_i.slot;
    if (found_i || state_q inside {GiveWait, GivePut}) put_slot = cursor_i.at;
    if (state_q == AsideRow) put_slot = aside;
  end
  always_ff @(posedge clk_i)
    if (!hold_i) begin
      put_place_q <= (outside ? {operation_i.map.base, 16'd0} : {4'd0, operation_i.map.base, 12'd0}) + (put_number << operation_i.map.shift);
      put_known_q <= !(takes_i || begins_i || queue_looks || (state_q == Zero && put_last && word_valid));
      put_zero_q <= state_q == Zero;
      put_own_q <= state_q inside {GiveWait, GivePut};
    end
  // An array outside has more elements than slots have numbers.
  assign outside = Outside && operation_i.map.outside;
  always_comb begin
    put_number = {8'd0, put_slot + ((state_q == Zero) ? zero_copy_q : operation_i.copy)};
    if (Outside && is_wide(operation_i)) put_number = operation_i.key.first[31:0];
  end
  assign put_known = put_known_q && put_zero_q == (state_q == Zero) &&
      put_own_q == (state_q inside {GiveWait, GivePut}) && !hold_i;
  assign put_ready = put_known && request_ready_i;
  assign last_word = word_q[5:0] == words;
  assign put_last = last_word && put_ready;
  // What an entry holds comes when nobody waits for room.
  assign own_request_valid = put_known &&
      (((state_q == Get || (state_q == Give && !queue_o.nothing)) && (!Outside || settled_i)) || state_q == GivePut || (state_q inside {Zero, Value} && word_valid));
  always_comb begin
    own_request = '0;
    own_request.kind = (state_q inside {Get, Give}) ? RequestGet : RequestPut;
    own_request.module_id = operation_i.map.module_id;
    own_request.address = put_place_q + {22'd0, word_q, 3'd0};
    own_request.bytes = 4'd8;
    own_request.outside = outside;
    own_request.data = (state_q == Zero) ? '0 : word;
    if (state_q == GivePut) own_request.data = queue_o.nothing ? '0 : given_q;
    // A spin lock keeps its word.
    if (state_q == Value && operation_i.map.lock != '0 && word_q == lock_word[7:1]) begin
      own_request.bytes = 4'd4;
      if (!lock_word[0]) begin
        own_request.address[2] = 1'b1;
        own_request.data = {32'd0, word[63:32]};
      end
    end
  end
  assign request_valid_o = own_request_valid || reader_request_valid;
  assign request_o = own_request_valid ? own_request : reader_request;

  assign host_write_o = got_o && operation_i.host && operation_i.call.op inside {XdpMapOpLookup, XdpMapOpPop, XdpMapOpPeek};
  assign host_write_word_o = 7'(HostValue) + word_q;
  assign host_o = done_value_i;

endmodule
