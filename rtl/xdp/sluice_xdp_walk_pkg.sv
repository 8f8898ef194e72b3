/// What the parts of the map engine's second half tell each other (sluice_xdp_maps_back).
///
/// One part at a time has the operation. It moves the walker, says which row is read, and hands the operation on by a `walk_go_e`. Who
/// has it not says nothing, which is zeros: what all say is put together by an OR.
///
/// Search memory holds, by map: its state (`xdp_map_state`); behind it the slot set aside of each processor, four in a row; beginnings of chains, four
/// in a row, as a slot and 1; 64 used and 64 touched bits a row; entries. An entry's first word has the next of its chain, or of the
/// free ones, in bits 17:0 and its chain above; with external memory these are a word each; its key follows. A node of a trie has in its first two words both children as slot and 1 (17:0, 35:18),
/// its prefix length (44:36), whether it has a value (45) and that value's slot (62:46); its address follows.
package sluice_xdp_walk_pkg;

  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;

  typedef logic [SlotNumberBits-1:0] slot_t;
  typedef logic [LinkBits-1:0] link_t;
  typedef logic [SearchBits-1:0] row_t;
  typedef logic [ChainBits-1:0] chain_t;
  // Entries that were looked at: more than a map has are a loop.
  typedef logic [SlotNumberBits:0] walk_steps_t;

  // Places of keys (sluice_xdp_maps_keys): a key is read, hashed, searched for in the second half and beside it.
  localparam int unsigned KeySlots = 8;
  typedef logic [$clog2(KeySlots)-1:0] key_slot_t;

  // A key: what an entry's first row has of it, of each further row the first bit, as tries count, and the place of these rows.
  typedef struct packed {
    key_slot_t   slot;
    logic [3:0]  bits;
    logic [95:0] first;
  } walk_key_t;

  // An operation with its map and its key.
  typedef struct packed {
    xdp_map_call_t call;
    xdp_map_row_t  map;
    logic          host;
    walk_key_t     key;
    chain_t        chain;
    slot_t         copy;       // of a per-CPU map: the first slot of the processor's copy
    logic [3:0]    processor;
    logic          wide;       // there is external memory: links have a word of their own
  } walk_operation_t;

  // With what an operation goes on in the next cycle.
  typedef enum logic [4:0] {
    GoStay,
    GoBucket,     // a chain, with its map's state before it
    GoBucketRow,  // a chain of which the beginning comes
    GoFree,       // a slot that was given back
    GoScan,       // the entry that goes, of a full LRU map
    GoRoot,       // a trie
    GoRootRow,    // a trie of which the root comes
    GoChains,     // chains from one on
    GoAside,      // the slot set aside
    GoZero,       // other copies of a new entry
    GoValue,      // a value that is written
    GoLinks,      // rows that are written
    GoGet,        // what an entry holds
    GoQueue,      // a queue or stack, of which the state comes
    GoGive,       // an element, to the context's own slot
    GoFound,
    GoMiss,
    GoFail,       // an error number
    GoDrain,      // the rest of an update's value
    GoAnswer
  } walk_go_e;

  // Where the walker stands.
  typedef struct packed {
    slot_t       at;
    slot_t       prev;         // what leads there: an entry, or the chain's beginning
    logic        prev_bucket;
    link_t       head;         // of the chain
    slot_t       slot;         // that the operation takes or gets
    logic [2:0]  rest;         // row of an entry
    walk_steps_t steps;
    logic        too_far;
  } walk_cursor_t;

  // How it moves.
  typedef struct packed {
    logic       at_valid;
    slot_t      at;
    logic       begins;      // at a chain's beginning
    logic       follows;     // from an entry to the next
    logic       head_valid;
    link_t      head;
    logic       slot_valid;
    slot_t      slot;
    logic       rest_valid;
    logic [2:0] rest;
    logic       step;
    logic       restart;     // counts steps anew
  } walk_move_t;

  // Which row is read.
  typedef enum logic [2:0] {
    LookEntry,
    LookWalk,    // the entry that what comes leads to
    LookBucket,
    LookMark,
    LookAside,
    LookState,
    LookNode     // a trie's node
  } walk_look_e;

  // Chain and entry are those of the operation and of the walker, if no others are given.
  typedef struct packed {
    logic       valid;
    walk_look_e row;
    logic       chain_valid;
    chain_t     chain;
    logic       entry_valid;
    slot_t      entry;
  } walk_look_t;

  // Rows of search memory where the walker stands.
  typedef struct packed {
    row_t bucket;
    row_t entry;
    row_t mark;
    row_t aside;
    row_t state;
  } walk_rows_t;

  // Rows that a change writes, in this order.
  typedef enum logic [2:0] {
    WriteNone,
    WriteUnhook,  // what leads to the victim
    WriteCounts,
    WriteLink,
    WriteEntry,
    WriteFree,    // the slot that is given back, before the one given back last
    WriteQueue    // state of a queue or stack
  } walk_write_e;

  // What a change of a map with keys comes to.
  typedef struct packed {
    logic inserts;
    logic deletes;
    logic exchanges;   // a value for another one, in the slot set aside
    logic full;
    logic takes_free;
    logic no_slot;
  } walk_plan_t;

  // What an operation on a queue or stack comes to.
  typedef struct packed {
    xdp_map_state_t state;    // that is written
    logic           nothing;  // there is no element for the context: its slot becomes zero
    logic [31:0]    why;      // the number that it is told
    logic           given;    // the element lies in its slot
  } walk_queue_t;

  // Where a lookup is of which there is one a context (sluice_xdp_maps_far): rows behind the first one. `next` is what an entry leads to, or a node's
  // children.
  typedef struct packed {
    row_t             row;
    slot_t            at;
    logic [2:0]       rest;
    walk_steps_t      steps;
    logic [1:0][17:0] next;
    logic [8:0]       prefix;
    logic             real_node;
    logic [16:0]      value_slot;
    logic             best_valid;
    logic [16:0]      best;
    logic             marks;       // the entry is found, the row is that of its bits
    logic             touches;     // its bit is being set in external memory
    steps_t           spent;
  } far_walk_t;

  // What a step of it needs of the operation.
  typedef struct packed {
    logic        trie;
    logic        lru;
    logic        fresh;
    logic [15:0] entry;
    logic [1:0]  entry_shift;
    logic [15:0] clock;
    logic [27:0] slots;
    logic [6:0]  key_bytes;
    logic [31:0] base;         // address of the first slot's value
    logic [3:0]  shift;
    logic [1:0]  of_chain;     // word of the first row
    logic [31:0] length;       // of a trie's address
  } far_fields_t;

  // Flags of an update. Those that no kind takes are bad. The host's 3 is 2 that touches nothing.
  typedef struct packed {
    logic bad;
    logic is_new;
    logic is_there;
    logic touches;
    logic lock;
    // Nobody has the lock of an entry that is not there. The engine takes no lock itself, so what would change an entry under its lock
    // the compiler refuses.
    logic lock_bad;
  } walk_flags_t;

  // "Bits of function variable are not used": a function takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL

  function automatic walk_flags_t flags_of(walk_operation_t operation);
    logic [63:0] plain;
    logic lock;
    plain = operation.call.flags & ~64'd4;  // without `BPF_F_LOCK`
    lock  = operation.call.flags[2];
    return
    '{
        bad: plain > (operation.host ? 64'd3 : 64'd2),
        is_new: plain == 64'd1,
        is_there: plain inside {64'd2, 64'd3},
        touches: plain != 64'd3,
        lock: lock,
        lock_bad: lock && (operation.map.lock == '0 || plain != 64'd1)
    }
    ;
  endfunction

  // A program's lookup by key.
  function automatic logic program_looks(walk_operation_t operation);
    return !operation.host && operation.call.op inside {XdpMapOpLookup, XdpMapOpLookupPercpu};
  endfunction

  // A lookup by a program that only reads search memory, and no value.
  function automatic logic only_looks(xdp_map_op_e op, logic host, xdp_map_row_t map);
    return !host && op == XdpMapOpLookup && (map.kind == XdpMapTrie || (map.kind == XdpMapHash && !map.lru));
  endfunction

  // The same in an LRU map, of whose entry a bit is set.
  function automatic logic touches_only(xdp_map_op_e op, logic host, xdp_map_row_t map);
    return !host && op == XdpMapOpLookup && map.kind == XdpMapHash && map.lru;
  endfunction

  function automatic logic writes_value(walk_operation_t operation);
    return operation.call.op inside {XdpMapOpUpdate, XdpMapOpPut, XdpMapOpPush};
  endfunction

  function automatic logic is_queue_op(xdp_map_op_e op);
    return op inside {XdpMapOpPush, XdpMapOpPop, XdpMapOpPeek};
  endfunction

  // Programs may not change what is constant.
  function automatic logic forbidden(walk_operation_t operation);
    return operation.map.constant && !operation.host;
  endfunction

  // Rows of an entry behind its first, which has 12 bytes of the key; 8 where links are wide.
  function automatic logic [2:0] rests_of(xdp_map_row_t map, logic wide);
    if (wide) return (map.key_bytes <= 7'd8) ? 3'd0 : 3'((map.key_bytes + 7'd7) >> 4);
    return (map.key_bytes <= 7'd12) ? 3'd0 : 3'((map.key_bytes + 7'd3) >> 4);
  endfunction

  // A slot, a link of an entry, and its chain: without wide links they have fewer bits, and share a word.
  function automatic slot_t slot_in(slot_t slot, logic wide);
    return wide ? slot : slot_t'(slot[ChipSlotBits-1:0]);
  endfunction

  function automatic link_t link_in(logic [31:0] word, logic wide);
    return wide ? word[LinkBits-1:0] : link_t'(word[ChipLinkBits-1:0]);
  endfunction

  function automatic chain_t chain_in(logic [3:0][31:0] row, logic wide);
    return wide ? row[1][ChainBits-1:0] : chain_t'(row[0][31:ChipLinkBits]);
  endfunction

  // The row of search memory that a map's row names: outside in 4 KiB.
  function automatic row_t row_at(logic [15:0] field, logic wide);
    if (wide && field[15]) return {1'b1, field[14:0], 8'd0};
    return row_t'(field);
  endfunction

  // An array in external memory: its elements may be more than slots have numbers, so their number is the key.
  function automatic logic is_wide(walk_operation_t operation);
    return operation.map.outside && operation.map.kind == XdpMapArray && !operation.map.per_cpu;
  endfunction

  // Address of an element of such an array, as programs have it.
  function automatic logic [63:0] element_address(walk_operation_t operation);
    return 64'(32'(operation.map.first + 32'(operation.key.first[31:0] << operation.map.shift)));
  endfunction

  // Address of a slot's value, as programs have it.
  function automatic logic [63:0] value_address(walk_operation_t operation, slot_t slot);
    return 64'(32'(operation.map.first + 32'({8'd0, operation.copy + slot} << operation.map.shift)));
  endfunction

  // What leads to a slot.
  function automatic link_t link_to(slot_t slot);
    return link_t'(slot) + link_t'(1);
  endfunction

  function automatic slot_t slot_of(link_t link);
    return slot_t'(link - link_t'(1));
  endfunction

  // verilator lint_on UNUSEDSIGNAL
endpackage
