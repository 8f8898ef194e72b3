/// Second half of the map engine: finds, makes, changes and takes out entries (docs/design/hxdp-core.md, "Maps").
///
/// `found_*` is an operation with its key; it is taken when the one before has ended, so that operations have one order. A context's
/// answer is offered until `answer_ready_i`; the host's has `host_done_o` for a cycle. What an operation does stands in
/// docs/design/xdp-maps.md: slots last given back first, changes of a value in a slot set aside, the hand of LRU maps.
///
/// Search memory holds, by map: its state (`xdp_map_state`); behind it the slot set aside of each processor, four in a row; beginnings of chains, four
/// in a row, as a slot and 1; 64 used and 64 touched bits a row; entries. An entry's first word has the next of its chain, or of the
/// free ones, in bits 17:0 and its chain above; its key follows. A node of a trie has in its first two words both children as slot and 1 (17:0, 35:18),
/// its prefix length (44:36), whether it has a value (45) and that value's slot (62:46); its address follows.
/// Rows that lead round, or to more entries than there are, fault.
///
/// Latency: of a lookup in a hash map 6 cycles with the first entry, 2 for each more, and 1 for each further row of the key. Stall behaviour: one
/// operation at a time; requests hold until taken.
module sluice_xdp_maps_back
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
#(
    parameter int unsigned Processors = 8,
    localparam int unsigned ProcessorBits = $clog2(Processors)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                                     found_valid_i,
    output logic                                     found_ready_o,
    // The host waits for search memory: nothing is taken. Nothing is under way, and nothing is left to be written.
    input  logic                                     host_waits_i,
    output logic                                     quiet_o,
    input  xdp_map_call_t                            found_i,
    input  logic          [ ProcessorBits-1:0]       found_context_i,
    input  logic                                     found_host_i,
    input  logic                                     found_fault_i,
    input  xdp_map_row_t                             found_map_i,
    input  logic          [      KeyWords-1:0][63:0] found_key_i,
    input  logic          [     ChainBits-1:0]       found_chain_i,
    input  logic          [SlotNumberBits-1:0]       found_copy_i,

    output logic                                answer_valid_o,
    input  logic                                answer_ready_i,
    output logic            [ProcessorBits-1:0] answer_context_o,
    output xdp_map_answer_t                     answer_o,

    // A value is being written: nobody else reaches values until the answer is taken.
    output logic locks_o,

    output logic        host_done_o,
    output logic [ 7:0] host_error_o,
    output logic [23:0] host_slot_o,
    output logic [23:0] host_chain_o,

    // Search memory: the row comes in the cycle behind its number.
    output logic                        search_read_o,
    output logic [SearchBits-1:0]       search_row_o,
    input  logic [           3:0][31:0] search_i,
    output logic [           3:0]       search_write_o,
    output logic [SearchBits-1:0]       search_write_row_o,
    output logic [           3:0][31:0] search_o,

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

  // Chains that one `next` looks at.
  localparam int unsigned NextChains = 64;
  // Words of the host's data before the value.
  localparam int unsigned HostValue = KeyWords;

  typedef enum logic [5:0] {
    Idle,
    Decide,
    Bucket,
    BucketRow,
    Entry,
    EntryRow,
    RestRow,
    Found,
    Miss,
    Free,
    FreeRow,
    Scan,
    ScanRow,
    ScanPick,
    ScanWrite,
    VictimRow,
    SeekRow,
    SeekEntryRow,
    AsideRow,
    Zero,
    Value,
    Mark,          // the slot that an exchange took
    Links,         // waits until its rows are written, but for the last
    Get,
    GetWait,
    Root,
    RootRow,
    Node,
    NodeRow,
    NodeCheck,
    NodeStep,
    Chains,
    ChainsRow,
    Fail,
    Drain,
    Answer
  } state_e;

  // Rows that a change writes, in this order.
  typedef enum logic [2:0] {
    WriteNone,
    WriteUnhook,  // what leads to the victim
    WriteCounts,
    WriteLink,
    WriteEntry,
    WriteFree     // the slot that is given back, before the one given back last
  } write_e;

  typedef logic [SlotNumberBits-1:0] slot_t;
  typedef logic [LinkBits-1:0] link_t;
  typedef logic [SearchBits-1:0] row_t;

  state_e state_q;
  // "Bits of signal are not used": an operation and its map travel whole; the first half has used the rest.
  // verilator lint_off UNUSEDSIGNAL
  xdp_map_call_t call_q;
  xdp_map_row_t map_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [ProcessorBits-1:0] context_q;
  logic host_q, locked_q;
  logic [KeyWords-1:0][63:0] key_q;
  logic [511:0] key;
  logic [ChainBits-1:0] chain_q, victim_chain_q;
  logic [ChainBits:0] scan_q;
  slot_t copy_q, slot_q, at_q, prev_q;
  link_t next_q, hook_q, head_q;
  logic prev_bucket_q, exchanges_q, inserts_q, deletes_q, full_q, no_slot_q, takes_free_q, refused_q, written_q;
  logic [2:0] rest_q;
  xdp_map_state_t counts_q;
  logic [SlotNumberBits:0] steps_q;
  logic [6:0] word_q;
  logic [ProcessorBits-1:0] zero_q;
  slot_t zero_copy_q;  // slots of the copies before it
  xdp_map_answer_t answer_q;
  steps_t spent_q;
  logic [63:0] error_q;
  logic [7:0] host_error_q;
  logic [23:0] host_slot_q, host_chain_q;

  write_e write_q, write_next;
  logic writing, write_last, sure;
  logic [2:0] rest_next;

  logic
      indexed,
      keyed,
      too_far,
      in_place,
      last_word,
      program_lookup,
      found_trie,
      quick,
      quick_index,
      changes,
      changes_slot,
      takes,
      ends,
      leaves;
  logic [63:0] flags;
  logic [2:0] rests;  // rows of an entry behind its first
  logic [5:0] words;  // of a value, less 1
  slot_t index;
  logic [3:0] processor;

  assign key = key_q;
  assign indexed = is_indexed(map_q.kind);
  assign keyed = is_keyed(map_q.kind);
  assign flags = call_q.flags;
  assign in_place = map_q.per_cpu;
  assign changes_slot = call_q.op == XdpMapOpUpdate && !in_place;
  assign rests = (map_q.key_bytes <= 7'd12) ? 3'd0 : 3'((map_q.key_bytes + 7'd3) >> 4);
  assign words = 6'((map_q.value_bytes - 10'd1) >> 3);
  assign index = slot_t'(key_q[0]);
  assign processor = 4'(context_q);
  assign too_far = steps_q > (SlotNumberBits + 1)'(map_q.slots);
  // Of a lookup by key or prefix nothing is to be decided before its chain's beginning, or its trie's root, is read; of a reference by
  // index with plain flags nothing but whether there is such an entry.
  assign found_trie = found_map_i.kind == XdpMapTrie;
  // A change begins with the map's state.
  assign changes = found_i.op inside {XdpMapOpUpdate, XdpMapOpDelete} && is_keyed(found_map_i.kind);
  assign quick = (found_i.op == XdpMapOpLookup && (is_keyed(found_map_i.kind) || found_trie)) || changes;
  assign quick_index = ((found_i.op == XdpMapOpReference && found_map_i.kind inside {XdpMapDevices, XdpMapReferences} &&
                         found_i.value[63:2] == '0) || found_i.op == XdpMapOpProgram) && found_key_i[0][31:0] < found_map_i.entries;
  assign program_lookup = !host_q && call_q.op inside {XdpMapOpLookup, XdpMapOpLookupPercpu};

  // Flags of an update that no kind takes, and what the others come to. The host's 3 is 2 that touches nothing.
  logic flags_bad, flag_new, flag_there, flag_lock;
  logic [63:0] plain_flags;  // without `BPF_F_LOCK`
  localparam logic [63:0] FlagLock = 64'd4;
  assign plain_flags = flags & ~FlagLock;
  assign flags_bad   = plain_flags > (host_q ? 64'd3 : 64'd2);
  assign flag_new    = plain_flags == 64'd1;
  assign flag_there  = plain_flags inside {64'd2, 64'd3};
  assign flag_lock   = (flags & FlagLock) != '0;
  // Nobody has the lock of an entry that is not there. The engine takes no lock itself, so what would change an entry under its lock
  // the compiler refuses.
  logic lock_bad;
  assign lock_bad = flag_lock && (map_q.lock == '0 || !flag_new);

  // What comes behind a chain in which the entry is not: of an update its slot is known, if it is none that has been given back.
  state_e missed;
  write_e missed_write;
  always_comb begin
    missed = program_lookup ? Answer : Miss;
    missed_write = WriteNone;
    if (inserts_q && !flag_there) begin
      if (full_q) missed = map_q.lru ? Scan : Miss;
      else if (takes_free_q) missed = Free;
      else if (!no_slot_q) begin
        missed = map_q.per_cpu ? Zero : Value;
        missed_write = WriteCounts;
      end
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Rows of search memory.

  // An operation is taken in the cycle in which the one before is answered, so the last row that this one writes may stand beside the first one that
  // the next one reads: that is a chain's beginning or a map's state, and both were written before.
  row_t bucket_row, entry_row, walk_row, mark_row, aside_row;
  logic [ChainBits-1:0] of_chain;
  logic [1:0] of_chain_q;
  slot_t of_entry;
  logic [SlotNumberBits-1:6] of_mark;
  logic picked_valid, mark_valid;
  logic [5:0] picked;
  link_t walk, chain_word, entry_link;

  // The entry that a chain's beginning or an entry, as it comes, leads to.
  assign walk = (state_q inside {BucketRow, SeekRow}) ? chain_word : entry_link;
  assign walk_row = row_t'(map_q.entry) - row_t'(19'd1 << map_q.entry_shift) + row_t'({15'd0, walk} << map_q.entry_shift);

  always_comb begin
    of_chain = chain_q;
    if (state_q inside {Idle, Answer}) of_chain = found_chain_i;
    if (state_q == Chains) of_chain = scan_q[ChainBits-1:0];
    if (state_q == VictimRow) of_chain = search_i[0][31:LinkBits];
    if (write_q == WriteUnhook) of_chain = victim_chain_q;
    of_entry = at_q;
    if (state_q == Free || write_q == WriteEntry) of_entry = slot_q;
    if (state_q == ScanWrite) of_entry = slot_t'({counts_q.hand[31:6], picked});
    if (write_q inside {WriteUnhook, WriteLink}) of_entry = prev_q;
    of_mark = at_q[SlotNumberBits-1:6];
    if (state_q inside {Scan, ScanWrite}) of_mark = counts_q.hand[SlotNumberBits-1:6];
    if (state_q inside {Zero, Value, Mark, Links}) of_mark = slot_q[SlotNumberBits-1:6];
    bucket_row = row_t'((state_q inside {Idle, Answer}) ? found_map_i.bucket : map_q.bucket) + row_t'(of_chain[ChainBits-1:2]);
    entry_row = row_t'(map_q.entry) + row_t'({15'd0, of_entry} << map_q.entry_shift) + row_t'(rest_q);
    mark_row = row_t'(map_q.clock) + row_t'(of_mark);
    aside_row = row_t'(map_q.state) + row_t'(1) + row_t'(processor[3:2]);
  end

  always_comb begin
    search_read_o = 1'b0;
    search_row_o  = entry_row;
    case (state_q)
      Idle, Answer: begin
        search_read_o = found_valid_i && quick && !found_fault_i && !host_waits_i;
        search_row_o  = (found_trie || changes) ? row_t'(found_map_i.state) : bucket_row;
      end
      Bucket, VictimRow, Chains: begin
        search_read_o = 1'b1;
        search_row_o  = bucket_row;
      end
      // Where they lead to nothing nobody looks at what comes.
      BucketRow, SeekRow, SeekEntryRow: begin
        search_read_o = 1'b1;
        search_row_o  = walk_row;
      end
      Entry, RestRow, Free, ScanWrite, Node: search_read_o = 1'b1;
      EntryRow: begin
        search_read_o = 1'b1;
        if (rests == '0) search_row_o = walk_row;
      end
      Found: begin
        search_read_o = changes_slot || mark_valid;
        search_row_o  = changes_slot ? aside_row : mark_row;
      end
      Root: begin
        search_read_o = 1'b1;
        search_row_o  = row_t'(map_q.state);
      end
      Scan, AsideRow, Zero, Value, Mark, Links: begin
        search_read_o = state_q == Scan || mark_valid;
        search_row_o  = mark_row;
      end
      default: ;
    endcase
  end

  // The row of an entry that is compared or written.
  logic [127:0] entry_data;
  logic [127:0] rest_key;
  always_comb begin
    case (rest_q)
      3'd1: rest_key = key[223:96];
      3'd2: rest_key = key[351:224];
      3'd3: rest_key = key[479:352];
      default: rest_key = 128'(key[511:480]);
    endcase
    entry_data = (rest_q == '0) ? {key[95:0], chain_q, exchanges_q ? next_q : head_q} : rest_key;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Used and touched bits. A change is written in a cycle in which nothing else is.

  logic marks_idle, marked_valid, marked_ready;
  map_mark_e mark;
  row_t marked_row;
  logic [3:0][31:0] marked;
  logic [63:0] passed;

  always_comb begin
    mark_valid = 1'b0;
    mark = MarkTouched;
    case (state_q)
      // The host's 3 touches nothing.
      Found: begin
        mark_valid = map_q.lru && keyed && (program_lookup || (call_q.op == XdpMapOpReference && !host_q));
        if (call_q.op == XdpMapOpUpdate)
          mark_valid = map_q.lru && sure && in_place && !flag_new && plain_flags != 64'd3;
        if (call_q.op == XdpMapOpDelete) begin
          mark_valid = map_q.lru;
          mark = MarkFree;
        end
      end
      AsideRow: begin
        mark_valid = map_q.lru;
        mark = MarkFree;
      end
      // A victim's slot is used, and the hand has seen that it is not touched.
      Zero, Value, Links: begin
        mark_valid = map_q.lru && inserts_q && !full_q && writing && write_q == WriteLink;
        mark = MarkNew;
      end
      Mark: mark_valid = marks_idle;
      default: ;
    endcase
  end

  sluice_xdp_maps_marks u_marks (
      .clk_i,
      .rst_ni,
      .search_i,
      .mark_valid_i (mark_valid),
      .mark_row_i   (mark_row),
      .mark_slot_i  ((state_q inside {Zero, Value, Mark, Links}) ? slot_q[5:0] : at_q[5:0]),
      .mark_i       (mark),
      .idle_o       (marks_idle),
      .write_valid_o(marked_valid),
      .write_ready_i(marked_ready),
      .write_row_o  (marked_row),
      .write_o      (marked),
      .scan_i       (state_q == ScanRow),
      .hand_i       (counts_q.hand[5:0]),
      .pick_valid_o (picked_valid),
      .pick_o       (picked),
      .passed_o     (passed)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // What a change writes, one row a cycle, from the cycle on in which its value is known to come. An exchange's slot that goes has its bits
  // written before its entry is, so that those of the one that comes may be read beside it.

  link_t write_hook;
  logic  at_bucket;
  assign writing = write_q != WriteNone && (sure || written_q || deletes_q) && !(exchanges_q && write_q == WriteEntry && marked_valid && state_q inside {Value, Mark});
  assign write_last = rest_q == rests;
  assign rest_next = (write_q != WriteEntry || !writing) ? rest_q : write_last ? '0 : rest_q + 3'd1;
  always_comb begin
    write_next = write_q;
    if (writing) begin
      case (write_q)
        WriteUnhook, WriteCounts: write_next = WriteLink;
        WriteLink: write_next = deletes_q ? WriteFree : WriteEntry;
        WriteEntry: write_next = write_last ? WriteNone : WriteEntry;
        default: write_next = WriteNone;
      endcase
    end
  end
  // What is left for the cycle behind this one is one row at most.
  assign leaves = write_next inside {WriteNone, WriteFree} || (write_next == WriteEntry && rest_next == rests);

  assign write_hook = (write_q == WriteUnhook) ? hook_q : deletes_q ? next_q : link_t'(slot_q) + link_t'(1);
  assign at_bucket = prev_bucket_q || (inserts_q && write_q == WriteLink);
  always_comb begin
    search_write_o = '0;
    search_write_row_o = entry_row;
    search_o = entry_data;
    marked_ready = 1'b0;
    if (writing) begin
      case (write_q)
        WriteCounts: begin
          search_write_o = '1;
          search_write_row_o = row_t'(map_q.state);
          search_o = counts_q;
        end
        WriteEntry: search_write_o = '1;
        WriteFree:  search_write_o = 4'b0001;
        default: begin
          search_write_o = 4'b0001;
          search_o[0] = {of_chain, write_hook};
          if (at_bucket) begin
            search_write_o = 4'b0001 << of_chain[1:0];
            search_write_row_o = bucket_row;
            search_o = {4{32'(write_hook)}};
          end
        end
      endcase
    end else if (state_q == AsideRow) begin
      search_write_o = 4'b0001 << processor[1:0];
      search_write_row_o = aside_row;
      search_o = {4{32'(at_q)}};
    end else if (state_q == ScanWrite) begin
      search_write_o = 4'b1100;
      search_write_row_o = mark_row;
      search_o[3:2] = passed;
    end else if (state_q == VictimRow) begin
      search_write_o = '1;
      search_write_row_o = row_t'(map_q.state);
      search_o = counts_q;
    end else if (marked_valid) begin
      marked_ready = 1'b1;
      search_write_o = '1;
      search_write_row_o = marked_row;
      search_o = marked;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Tries: bits of the address that a node's prefix covers, row by row.

  logic [62:0] node;
  logic [ 8:0] prefix_q;
  logic real_q, differs_q, side_q, covered, best_valid_q;
  slot_t value_slot_q, best_q;
  link_t [1:0] children_q;
  logic [127:0] node_q, node_mask, node_address;
  logic [479:0] address;
  logic [ 31:0] length;

  assign node = 63'({search_i[1], search_i[0]});
  assign length = key_q[0][31:0];
  assign address = key[511:32];
  assign covered = 32'(prefix_q) <= 64 + 128 * 32'(rest_q);
  always_comb begin
    // The first row has its 8 bytes in the upper half.
    case (rest_q)
      3'd0: node_address = {address[63:0], 64'd0};
      3'd1: node_address = address[191:64];
      3'd2: node_address = address[319:192];
      3'd3: node_address = address[447:320];
      default: node_address = 128'(address[479:448]);
    endcase
    for (int unsigned i = 0; i < 16; i++) begin
      for (int unsigned b = 0; b < 8; b++) begin
        node_mask[8*i+7-b] = 32'(prefix_q) + 64 > 128 * 32'(rest_q) + 8 * i + b && (rest_q != '0 || i >= 8);
      end
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What is said of an operation.

  logic [63:0] value_address;
  logic entry_same;
  logic [2:0] rest_compared_q;
  logic [127:0] compared_q;

  assign value_address = 64'(32'(map_q.first + 32'({15'd0, copy_q + slot_q} << map_q.shift)));
  assign chain_word = search_i[of_chain_q][LinkBits-1:0];
  assign entry_link = search_i[0][LinkBits-1:0];
  assign entry_same = (rest_compared_q == '0) ? search_i[3:1] == key[95:0] : search_i == compared_q;

  always_ff @(posedge clk_i) begin
    of_chain_q      <= of_chain[1:0];
    rest_compared_q <= (state_q == BucketRow) ? '0 : rest_q;
    compared_q      <= rest_key;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // The value of an update.

  logic writes_value, reader_start, unused_reader_idle, reader_fault, word_valid, word_ready, word_last;
  logic [63:0] word;
  xdp_block_t block;
  xdp_request_t reader_request, own_request;
  logic reader_request_valid, own_request_valid;

  assign writes_value = call_q.op inside {XdpMapOpUpdate, XdpMapOpPut};
  assign reader_start = takes && !found_fault_i && found_i.op inside {XdpMapOpUpdate, XdpMapOpPut};
  // What has a word has all: the block may be read.
  assign sure = word_valid;
  assign block = '{
          address: found_host_i ? 64'(HostValue) : found_i.value,
          bytes: found_map_i.value_bytes,
          host: found_host_i,
          module_id: found_i.module_id,
          regions: found_i.regions,
          bounds: found_i.bounds,
          base: found_i.base,
          written: found_i.written,
          depth: found_i.depth
      };

  sluice_xdp_reader u_reader (
      .clk_i,
      .rst_ni,
      .start_i        (reader_start),
      .idle_o         (unused_reader_idle),
      .block_i        (block),
      .fault_o        (reader_fault),
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
      .done_valid_i   (done_valid_i && state_q != GetWait),
      .done_fault_i,
      .done_value_i,
      .host_valid_o,
      .host_word_o,
      .host_data_i
  );

  // Where the value lies, from the cycle on behind that in which its slot is known.
  slot_t put_slot;
  logic [31:0] put_place_q;
  logic put_known_q, put_zero_q, put_known, put_ready;
  logic [7:0] lock_word;
  assign lock_word = map_q.lock - 8'd1;
  logic put_last;
  always_comb begin
    put_slot = slot_q;
    if (state_q == Found) put_slot = at_q;
    if (state_q == AsideRow) put_slot = slot_t'(search_i[processor[1:0]]);
  end
  always_ff @(posedge clk_i) begin
    put_place_q <= {8'd0, map_q.base, 12'd0} + ({15'd0, put_slot + ((state_q == Zero) ? zero_copy_q : copy_q)} << map_q.shift);
    put_known_q <= !(takes || state_q == Decide || (state_q == Zero && put_last && word_valid));
    put_zero_q <= state_q == Zero;
  end
  assign put_known = put_known_q && put_zero_q == (state_q == Zero);
  assign put_ready = put_known && request_ready_i;
  assign last_word = word_q[5:0] == words;
  assign own_request_valid = put_known && (state_q == Get || (state_q inside {Zero, Value} && word_valid));
  assign word_ready = (state_q == Value && put_ready) || state_q == Drain;
  assign put_last = last_word && put_ready;
  always_comb begin
    own_request = '0;
    own_request.kind = (state_q == Get) ? RequestGet : RequestPut;
    own_request.address = put_place_q + {22'd0, word_q, 3'd0};
    own_request.bytes = 4'd8;
    own_request.data = (state_q == Zero) ? '0 : word;
    // A spin lock keeps its word.
    if (state_q == Value && map_q.lock != '0 && word_q == lock_word[7:1]) begin
      own_request.bytes = 4'd4;
      if (!lock_word[0]) begin
        own_request.address[2] = 1'b1;
        own_request.data = {32'd0, word[63:32]};
      end
    end
  end
  assign request_valid_o = own_request_valid || reader_request_valid;
  assign request_o = own_request_valid ? own_request : reader_request;

  assign host_write_o = state_q == GetWait && done_valid_i && host_q && call_q.op == XdpMapOpLookup;
  assign host_write_word_o = 7'(HostValue) + word_q;
  assign host_o = done_value_i;

  // ---------------------------------------------------------------------------------------------------------------

  assign ends = state_q == Answer && (host_q || answer_ready_i);
  assign found_ready_o = (state_q == Idle || ends) && !host_waits_i;
  assign takes = found_valid_i && found_ready_o;
  assign quiet_o = state_q == Idle && write_q == WriteNone && marks_idle;
  assign locks_o = locked_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || state_q == Idle || ends) locked_q <= 1'b0;
    else if (state_q inside {Zero, Value} && word_valid) locked_q <= 1'b1;
  end
  assign answer_valid_o   = state_q == Answer && !host_q;
  assign answer_context_o = context_q;
  always_comb begin
    answer_o = answer_q;
    answer_o.steps = spent_q;
  end

  // What an operation takes of the engine.
  always_ff @(posedge clk_i) begin
    if (state_q == Idle || ends) spent_q <= '0;
    else if (spent_q != '1) spent_q <= spent_q + steps_t'(1);
  end
  assign host_done_o  = state_q == Answer && host_q;
  assign host_error_o = host_error_q;
  assign host_slot_o  = host_slot_q;
  assign host_chain_o = host_chain_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
      write_q <= WriteNone;
    end else begin
      write_q <= write_next;
      if (writing) begin
        written_q <= 1'b1;
        rest_q    <= rest_next;
      end
      if (reader_fault) refused_q <= 1'b1;

      case (state_q)
        Idle: ;
        // What is decided without the entry.
        Decide: begin
          state_q <= (keyed || call_q.op == XdpMapOpNext) ? Bucket : Root;
          slot_q  <= index;
          at_q    <= index;
          if (call_q.op == XdpMapOpNext && !call_q.flags[0]) begin
            scan_q  <= call_q.value[ChainBits+32:32];
            state_q <= Chains;
          end
          if (indexed) begin
            state_q <= Answer;
            case (call_q.op)
              XdpMapOpUpdate: begin
                if (map_q.constant && !host_q) begin
                  error_q <= ErrorPermission;
                  state_q <= Fail;
                end else if (flags_bad) begin
                  error_q <= ErrorInvalid;
                  state_q <= Fail;
                end else if (key_q[0][31:0] >= map_q.entries) begin
                  error_q <= ErrorTooBig;
                  state_q <= Fail;
                end else if (flag_new) begin
                  error_q <= ErrorExists;
                  state_q <= Fail;
                end else if (flag_lock) begin
                  error_q <= ErrorInvalid;
                  state_q <= Fail;
                end else state_q <= Value;
              end
              XdpMapOpDelete: begin
                error_q <= (map_q.constant && !host_q) ? ErrorPermission : ErrorInvalid;
                state_q <= Fail;
              end
              default: begin
                host_slot_q  <= 24'(index) + 24'd1;
                host_error_q <= '0;
                if (key_q[0][31:0] >= map_q.entries) begin
                  host_error_q    <= 8'(64'd0 - ErrorNoEntry);
                  answer_q.failed <= call_q.op == XdpMapOpReference;
                end else if (map_q.kind != XdpMapArray || host_q) state_q <= Get;
                else state_q <= Found;
              end
            endcase
          end
          if (call_q.op == XdpMapOpReference) begin
            // The lowest two bits are the verdict where there is no entry.
            answer_q.value <= 64'(call_q.value[1:0]);
            if (!takes_flags(call_q.value, map_q.kind != XdpMapReferences)) begin
              answer_q.value  <= '0;
              answer_q.failed <= 1'b0;
              state_q         <= Answer;
            end else if (call_q.value[FlagBroadcast]) begin
              // Where all entries lead to lies behind the last slot.
              answer_q.failed <= 1'b0;
              slot_q          <= slot_t'(map_q.slots);
              state_q         <= Get;
            end
          end
          if (call_q.op == XdpMapOpPut) begin
            slot_q  <= slot_t'(call_q.value[63:32]);
            state_q <= Value;
            if (call_q.value[63:32] >= 32'(map_q.slots) + 32'(map_q.kind inside {XdpMapDevices, XdpMapKeyedReferences})) begin
              error_q <= ErrorTooBig;
              state_q <= Fail;
            end
          end
          if (call_q.op == XdpMapOpLookupPercpu && call_q.value[31:0] >= 32'(Processors)) state_q <= Answer;
        end

        // ---- A chain. Of a change the map's state comes with it: the slot of a new entry is known before there is none.
        Bucket: begin
          state_q   <= BucketRow;
          counts_q  <= search_i;
          inserts_q <= call_q.op == XdpMapOpUpdate;
          deletes_q <= call_q.op == XdpMapOpDelete;
          full_q    <= search_i[0] >= map_q.entries;
          if (call_q.op == XdpMapOpUpdate && search_i[0] < map_q.entries) begin
            counts_q.count <= search_i[0] + 32'd1;
            takes_free_q   <= search_i[2] != '0;
            if (search_i[2] == '0) begin
              counts_q.fresh <= search_i[1] + 32'd1;
              no_slot_q      <= search_i[1] >= 32'(map_q.slots);
            end
          end
          slot_q <= (search_i[2] != '0) ? slot_t'(search_i[2] - 32'd1) : slot_t'(search_i[1]);
          if (call_q.op inside {XdpMapOpUpdate, XdpMapOpDelete} && map_q.constant && !host_q) begin
            error_q <= ErrorPermission;
            state_q <= Fail;
          end else if (call_q.op == XdpMapOpUpdate && (flags_bad || lock_bad)) begin
            error_q <= ErrorInvalid;
            state_q <= Fail;
          end
        end
        BucketRow: begin
          prev_bucket_q <= 1'b1;
          head_q        <= chain_word;
          at_q          <= slot_t'(chain_word - link_t'(1));
          rest_q        <= (chain_word != '0 && rests != '0) ? 3'd1 : 3'd0;
          state_q       <= EntryRow;
          if (chain_word == '0) begin
            state_q <= missed;
            write_q <= missed_write;
          end
        end
        Entry: begin
          state_q <= EntryRow;
          rest_q  <= 3'd1;
        end
        EntryRow: begin
          // The row behind it is read in any case, or the next entry, if it has one row.
          steps_q <= steps_q + (SlotNumberBits + 1)'(1);
          next_q  <= entry_link;
          if (entry_same && rests != '0) begin
            rest_q  <= 3'd2;
            state_q <= RestRow;
          end else begin
            rest_q <= '0;
            if (entry_same) state_q <= Found;
            else begin
              prev_bucket_q <= 1'b0;
              prev_q        <= at_q;
              at_q          <= slot_t'(entry_link - link_t'(1));
              state_q       <= (rests == '0) ? EntryRow : Entry;
              if (entry_link == '0) begin
                state_q <= missed;
                write_q <= missed_write;
              end
            end
          end
          if (too_far) begin
            answer_q.fault <= 1'b1;
            host_error_q   <= 8'(64'd0 - ErrorNoMemory);
            write_q        <= WriteNone;
            state_q        <= writes_value ? Drain : Answer;
          end
        end
        RestRow: begin
          rest_q <= rest_q + 3'd1;
          if (entry_same && rest_compared_q == rests) begin
            state_q <= Found;
            rest_q  <= '0;
          end else if (!entry_same) begin
            prev_bucket_q <= 1'b0;
            prev_q        <= at_q;
            at_q          <= slot_t'(next_q - link_t'(1));
            state_q       <= Entry;
            rest_q        <= '0;
            if (next_q == '0) begin
              state_q <= missed;
              write_q <= missed_write;
            end
          end
        end

        // ---- The entry is there, at `at_q`.
        Found: begin
          slot_q      <= at_q;
          host_slot_q <= 24'(at_q) + 24'd1;
          if (program_lookup) answer_q.value <= 64'(32'(map_q.first + 32'({15'd0, copy_q + at_q} << map_q.shift)));
          inserts_q <= 1'b0;
          state_q   <= Answer;
          case (call_q.op)
            XdpMapOpLookup, XdpMapOpLookupPercpu: if (host_q || map_q.kind == XdpMapKeyedMaps) state_q <= Get;
            XdpMapOpReference: state_q <= Get;
            XdpMapOpUpdate: begin
              if (!sure) state_q <= Found;
              else if (flag_new) begin
                error_q <= ErrorExists;
                state_q <= Fail;
              end else if (in_place) state_q <= Value;
              else begin
                exchanges_q <= 1'b1;
                state_q     <= AsideRow;
              end
            end
            XdpMapOpDelete: begin
              head_q         <= link_t'(counts_q.free);
              counts_q.free  <= 32'(at_q) + 32'd1;
              counts_q.count <= counts_q.count - 32'd1;
              write_q        <= WriteCounts;
              state_q        <= Links;
            end
            // Next.
            default: begin
              if (next_q != '0) host_slot_q <= 24'(next_q);
              else begin
                scan_q  <= {1'b0, chain_q} + (ChainBits + 1)'(1);
                state_q <= Chains;
              end
            end
          endcase
        end
        // What is missed, and no new entry is made.
        Miss: begin
          state_q <= Fail;
          error_q <= ErrorNoEntry;
          case (call_q.op)
            XdpMapOpUpdate: if (!flag_there) error_q <= full_q ? ErrorTooBig : ErrorNoMemory;
            XdpMapOpDelete: ;
            XdpMapOpNext: begin
              scan_q  <= '0;
              state_q <= Chains;
            end
            default: begin
              host_error_q    <= 8'(64'd0 - ErrorNoEntry);
              answer_q.failed <= call_q.op == XdpMapOpReference;
              state_q         <= Answer;
            end
          endcase
        end

        // ---- A slot for a new entry, of those that were given back.
        Free: state_q <= FreeRow;
        FreeRow: begin
          counts_q.free <= 32'(entry_link);
          write_q       <= WriteCounts;
          state_q       <= map_q.per_cpu ? Zero : Value;
        end

        // ---- The entry that goes, of a full LRU map.
        Scan:
        if (sure) begin
          state_q <= ScanRow;
          steps_q <= steps_q + (SlotNumberBits + 1)'(1);
        end
        ScanRow:  state_q <= ScanPick;
        ScanPick: state_q <= ScanWrite;
        ScanWrite: begin
          if (picked_valid) begin
            slot_q <= slot_t'({counts_q.hand[31:6], picked});
            counts_q.hand <= ({counts_q.hand[31:6], picked} + 32'd1 == 32'(map_q.slots)) ? '0 : {counts_q.hand[31:6], picked} + 32'd1;
            state_q <= VictimRow;
          end else begin
            counts_q.hand <= ({counts_q.hand[31:6], 6'd0} + 32'd64 >= 32'(map_q.slots)) ? '0 : {counts_q.hand[31:6], 6'd0} + 32'd64;
            state_q <= Scan;
            // Twice around is enough.
            if (32'(steps_q) > 32'(map_q.slots[23:5]) + 32'd4) begin
              error_q <= ErrorNoMemory;
              state_q <= Fail;
            end
          end
        end
        VictimRow: begin
          victim_chain_q <= search_i[0][31:LinkBits];
          hook_q         <= entry_link;
          steps_q        <= '0;
          state_q        <= SeekRow;
        end
        SeekRow: begin
          prev_bucket_q <= 1'b1;
          at_q          <= slot_t'(chain_word - link_t'(1));
          state_q       <= SeekEntryRow;
          if (chain_word == link_t'(slot_q) + link_t'(1)) begin
            // What the new entry leads to may be what goes.
            if (victim_chain_q == chain_q) head_q <= hook_q;
            write_q <= WriteUnhook;
            state_q <= map_q.per_cpu ? Zero : Value;
          end
          if (chain_word == '0) begin
            error_q <= ErrorNoMemory;
            state_q <= Fail;
          end
        end
        SeekEntryRow: begin
          steps_q       <= steps_q + (SlotNumberBits + 1)'(1);
          prev_bucket_q <= 1'b0;
          prev_q        <= at_q;
          at_q          <= slot_t'(entry_link - link_t'(1));
          if (entry_link == link_t'(slot_q) + link_t'(1)) begin
            write_q <= WriteUnhook;
            state_q <= map_q.per_cpu ? Zero : Value;
          end
          if (entry_link == '0 || too_far) begin
            error_q <= ErrorNoMemory;
            write_q <= WriteNone;
            state_q <= Fail;
          end
        end

        // ---- The slot that a change writes.
        AsideRow: begin
          slot_q  <= slot_t'(search_i[processor[1:0]]);
          write_q <= WriteLink;
          state_q <= Value;
        end

        // ---- The value: other copies of a new entry are zero.
        Zero:
        if (put_last && word_valid) begin
          word_q <= '0;
          zero_q <= zero_q + ProcessorBits'(1);
          zero_copy_q <= zero_copy_q + slot_t'(map_q.slots);
          if (32'(zero_q) == Processors - 1) state_q <= Value;
        end else if (word_valid && put_ready) word_q <= word_q + 7'd1;
        Value: begin
          if (word_valid && put_ready) begin
            word_q <= word_q + 7'd1;
            if (word_last) begin
              host_slot_q <= 24'(slot_q) + 24'd1;
              state_q     <= (exchanges_q && map_q.lru) ? Mark : leaves ? Answer : Links;
            end
          end
        end
        Mark:  if (marks_idle) state_q <= leaves ? Answer : Links;
        Links: if (leaves) state_q <= Answer;

        // ---- What an entry holds.
        Get: if (put_ready) state_q <= GetWait;
        GetWait:
        if (done_valid_i) begin
          state_q <= Answer;
          if (host_q) begin
            word_q <= word_q + 7'd1;
            if (!last_word) state_q <= Get;
            // An empty place of such a map is no entry.
            if (map_q.kind != XdpMapArray && map_q.kind != XdpMapHash && map_q.kind != XdpMapTrie && word_q == '0 &&
                done_value_i[31:0] == '0) begin
              host_error_q <= 8'(64'd0 - ErrorNoEntry);
              host_slot_q  <= '0;
            end
          end else if (call_q.op inside {XdpMapOpReference, XdpMapOpProgram}) begin
            answer_q.refers   <= done_value_i[31:0] != '0;
            answer_q.failed   <= done_value_i[31:0] == '0;
            answer_q.to_host  <= map_q.kind == XdpMapReferences;
            answer_q.referent <= done_value_i[31:0];
            if (call_q.op == XdpMapOpReference && done_value_i[31:0] != '0) answer_q.value <= 64'(VerdictRedirect);
            if (call_q.op == XdpMapOpReference && call_q.value[FlagBroadcast]) begin
              answer_q.refers   <= 1'b1;
              answer_q.failed   <= 1'b0;
              answer_q.to_host  <= 1'b1;
              answer_q.referent <= to_several(done_value_i[7:0], call_q.value[FlagExclude]);
              answer_q.value    <= 64'(VerdictRedirect);
            end
          end else if (map_q.kind == XdpMapDevices) begin
            answer_q.value <= (done_value_i[31:0] != '0) ? value_address : '0;
          end else begin
            // The handle of a map that a map holds; of the others a program sees nothing.
            answer_q.value <= (map_q.kind inside {XdpMapMaps, XdpMapKeyedMaps}) ? 64'(done_value_i[31:0]) : '0;
          end
        end

        // ---- A trie.
        Root: state_q <= RootRow;
        RootRow: begin
          at_q    <= slot_t'(search_i[3] - 32'd1);
          state_q <= (search_i[3] == '0 || length > {22'd0, map_q.key_bytes, 3'd0} - 32'd32) ? Miss : Node;
        end
        Node: begin
          state_q <= NodeRow;
          if (rest_q == '0) steps_q <= steps_q + (SlotNumberBits + 1)'(1);
        end
        NodeRow: begin
          node_q  <= search_i;
          state_q <= NodeCheck;
          if (rest_q == '0) begin
            children_q   <= {node[35:18], node[17:0]};
            prefix_q     <= node[44:36];
            real_q       <= node[45];
            value_slot_q <= node[62:46];
          end
        end
        NodeCheck: begin
          differs_q <= ((node_q ^ node_address) & node_mask) != '0 || 32'(prefix_q) > length;
          side_q    <= address[{prefix_q[8:3], ~prefix_q[2:0]}];
          state_q   <= NodeStep;
        end
        NodeStep: begin
          rest_q <= '0;
          if (!differs_q && !covered) begin
            rest_q  <= rest_q + 3'd1;
            state_q <= Node;
          end else begin
            if (!differs_q && real_q) begin
              best_q       <= value_slot_q;
              best_valid_q <= 1'b1;
            end
            at_q    <= slot_t'(children_q[side_q] - link_t'(1));
            state_q <= Node;
            if (differs_q || 32'(prefix_q) == length || children_q[side_q] == '0 || too_far) begin
              // The longest prefix was this one's, or the last one's before it that has a value.
              at_q    <= (!differs_q && real_q) ? value_slot_q : best_q;
              state_q <= (best_valid_q || (!differs_q && real_q)) ? Found : Miss;
            end
          end
        end

        // ---- Chains from one on, for the host.
        Chains: begin
          state_q <= ChainsRow;
          steps_q <= steps_q + (SlotNumberBits + 1)'(1);
          scan_q  <= scan_q + (ChainBits + 1)'(1);
          if (32'(scan_q) >= (32'd1 << map_q.bucket_bits)) begin
            error_q <= ErrorNoEntry;
            state_q <= Fail;
          end
        end
        ChainsRow: begin
          host_chain_q <= 24'(scan_q);
          host_slot_q  <= 24'(chain_word);
          state_q      <= (chain_word != '0 || 32'(steps_q) >= NextChains) ? Answer : Chains;
        end

        // An error number. The rest of an update's value goes nowhere.
        Fail: begin
          answer_q.value <= error_q;
          host_error_q   <= 8'(64'd0 - error_q);
          host_slot_q    <= '0;
          state_q        <= writes_value ? Drain : Answer;
        end
        Drain:   if (word_valid && word_last) state_q <= Answer;
        Answer:  if (ends) state_q <= Idle;
        default: state_q <= Idle;
      endcase

      // An update whose value may not be read changes nothing.
      if (refused_q && state_q inside {Found, Scan, Zero, Value, Drain}) begin
        answer_q.value <= '0;
        answer_q.fault <= 1'b1;
        write_q        <= WriteNone;
        state_q        <= Answer;
      end

      if (takes) begin
        state_q <= !quick ? Decide : changes ? Bucket : found_trie ? RootRow : BucketRow;
        if (quick_index) state_q <= Get;
        if (found_fault_i) state_q <= Answer;
        call_q         <= found_i;
        context_q      <= found_host_i ? '0 : found_context_i;
        host_q         <= found_host_i;
        map_q          <= found_map_i;
        key_q          <= found_key_i;
        chain_q        <= found_chain_i;
        copy_q         <= found_copy_i;
        answer_q       <= '0;
        answer_q.fault <= found_fault_i;
        // Of a reference by index.
        slot_q         <= slot_t'(found_key_i[0]);
        if (quick_index) answer_q.value <= 64'(found_i.value[1:0]);
        // Where there is no program.
        if (found_i.op == XdpMapOpProgram) answer_q.value <= ErrorNoEntry;
        host_error_q <= found_fault_i ? 8'(64'd0 - ErrorInvalid) : '0;
        host_slot_q  <= '0;
        host_chain_q <= '0;
        steps_q      <= '0;
        rest_q       <= '0;
        word_q       <= '0;
        zero_q       <= '0;
        zero_copy_q  <= '0;
        exchanges_q  <= 1'b0;
        inserts_q    <= 1'b0;
        deletes_q    <= 1'b0;
        full_q       <= 1'b0;
        takes_free_q <= 1'b0;
        no_slot_q    <= 1'b0;
        refused_q    <= 1'b0;
        written_q    <= 1'b0;
        best_valid_q <= 1'b0;
      end
    end
  end

`ifndef SYNTHESIS
  // What the next operation reads first was written before it was taken, and bits of a change before others are read.
  LinksAreWrittenBeforeTheNext_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) takes |-> write_next == WriteNone && write_q inside {WriteNone, WriteEntry, WriteFree});
  MarksAreWrittenBeforeTheHand_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) state_q == Scan |-> marks_idle);
`endif

endmodule
