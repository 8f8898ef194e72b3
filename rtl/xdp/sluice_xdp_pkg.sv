/// Types that travel between the blocks of the XDP engine (docs/design/hxdp-core.md).
package sluice_xdp_pkg;

  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  // A packet's place in memory: its stack, then its buffer, whose frame begins behind the headroom. Frames of functions lie before
  // the stack, each as long.
  localparam int unsigned StackRows = 8;
  // Rows of a unit of packet memory, in which places are given out.
  localparam int unsigned UnitRows = 16;
  localparam int unsigned StackWords = 64;
  localparam int unsigned Headroom = 256;
  localparam int unsigned Reserved = 40;
  localparam int unsigned MostGrown = 3520;
  localparam int unsigned MostPast = Headroom + MostGrown;
  // Of a byte in the buffer: headroom and the longest frame.
  localparam int unsigned OffsetBits = 14;
  // Of the field of a program's row: one more than the bytes by which it may make a frame longer, 0 is no limit.
  localparam int unsigned GrowthBits = 11;
  // Of a row in memory: 65,536 rows at most.
  localparam int unsigned RowBits = 16;
  localparam int unsigned WorkBits = 25;
  localparam int unsigned CodeBits = 13;
  localparam int unsigned DepthBits = 3;
  localparam int unsigned StampBits = 48;
  // Packets of a core between their verdict and their last beat out: with fewer the shortest ones wait for each other.
  localparam int unsigned Sending = 4;
  // Nanoseconds of a tick, as a power of two.
  localparam int unsigned TickShift = 2;

  // Device addresses (docs/design/xdp.md, "Address map").
  localparam logic [31:0] ContextAddress = 32'h1000_0000;
  localparam logic [31:0] PacketAddress = 32'h2000_0000;
  localparam logic [31:0] StackAddress = 32'h3000_0200;
  localparam logic [31:0] RecordAddress = 32'h9000_0000;
  localparam logic [31:0] HandleAddress = 32'ha000_0000;
  localparam logic [31:0] FunctionAddress = 32'hb000_0000;
  localparam logic [31:0] FrameAddress = 32'h3000_0400;

  localparam logic [31:0] VerdictAborted = 32'd0;
  localparam logic [31:0] VerdictDrop = 32'd1;
  localparam logic [31:0] VerdictPass = 32'd2;
  localparam logic [31:0] VerdictTx = 32'd3;
  localparam logic [31:0] VerdictRedirect = 32'd4;

  // Frames of functions around the one that runs: 0 in the program's own.
  typedef logic [DepthBits-1:0] depth_t;

  // Bundles and steps of units that a packet has taken; stays at the most.
  localparam int unsigned CostBits = 24;
  typedef logic [CostBits-1:0] cost_t;

  // Cycles since the reset, to measure by; and those that a packet may take from one of its passes to the next.
  localparam int unsigned ClockBits = 32;
  localparam int unsigned PassBits = 24;

  // What is added to a module's account.
  typedef struct packed {
    logic [ModuleBits-1:0] module_id;
    logic [2:0]            kind;       // a pass, or an end
    logic                  bundle;     // a pass that completes one
    logic [ClockBits-1:0]  cycles;
  } xdp_spent_t;

  // How a program has ended, and where it faulted.
  typedef struct packed {
    xdp_fault_e          fault;
    logic [CodeBits-1:0] row;
    logic                lane;
  } xdp_outcome_t;

  // Rows of the longest table that is cleared behind a reset.
  // "Bits of function variable are not used": the function takes some sizes.
  // verilator lint_off UNUSEDSIGNAL
  function automatic int unsigned xdp_clear_rows(xdp_cfg_t cfg);
    // verilator lint_on UNUSEDSIGNAL
    int unsigned rows;
    rows = 2 * cfg.modules;
    if (rows < cfg.rows / XdpPageRows) rows = cfg.rows / XdpPageRows;
    if (rows < cfg.regions) rows = cfg.regions;
    if (rows < cfg.maps) rows = cfg.maps;
    return rows;
  endfunction

  // An answer of which only the first words are anything.
  function automatic cfg_rsp_t narrow_rsp(cfg_rsp_t rsp, int unsigned words);
    cfg_rsp_t narrow;
    narrow = rsp;
    for (int unsigned w = 0; w < MessageDataWords; w++) if (w >= words) narrow.data[32*w+:32] = '0;
    return narrow;
  endfunction

  // An answer, or zeros: answers meet in an OR.
  function automatic cfg_rsp_t answer_if(logic valid, cfg_rsp_t rsp);
    return rsp & {$bits(cfg_rsp_t) {valid}};
  endfunction

  // A module's pages of map values in the region table; those of large maps exist with external memory.
  typedef struct packed {
    logic [8:0] base;
    logic [8:0] writable;
    logic [5:0] large_writable;
    logic [8:0] read_only;
    logic [3:0] large_read_only;
  } xdp_regions_t;

  // What a context asks of the values.
  typedef enum logic [3:0] {
    RequestLoad,
    RequestStore,
    RequestAtomic,
    RequestLookup,  // of an array's element; the key comes a cycle later
    RequestEcho,  // gives back what comes a cycle later
    RequestGet,  // a load from a place in value memory, for the map engine
    RequestPut,  // a store to one
    RequestReference,  // what an entry of a devmap refers to, or (`code`) of a map of destinations, `address` being its index; 0 is no entry
    RequestLock,  // whether there is a spin lock; locks answer
    RequestUnlock
  } xdp_request_e;

  typedef struct packed {
    xdp_request_e          kind;
    logic [ModuleBits-1:0] module_id;
    xdp_regions_t          regions;
    logic [31:0]           address;
    logic [3:0]            bytes;
    logic [9:0]            span;       // bytes from the address on that have to lie in its value
    logic                  sign;       // of a load; of a reference: where all entries lead to
    logic [2:0]            code;       // of an atomic operation
    logic [63:0]           data;
    logic [63:0]           expected;   // of a pair: for the second word
    logic [15:0]           map;
    logic                  outside;    // of a request of the map engine: its place lies in external memory
  } xdp_request_t;

  // Helpers, by number (linux/bpf.h). Those of events have a number of 8 bits; above it stands which of the program's maps or formats.
  localparam logic [15:0] HelperLookup = 16'd1;
  localparam logic [15:0] HelperUpdate = 16'd2;
  localparam logic [15:0] HelperDelete = 16'd3;
  localparam logic [15:0] HelperTime = 16'd5;
  localparam logic [7:0] HelperPrint = 8'd6;
  localparam logic [15:0] HelperRandom = 16'd7;
  localparam logic [15:0] HelperProcessor = 16'd8;
  localparam logic [15:0] HelperTailCall = 16'd12;
  localparam logic [15:0] HelperRedirect = 16'd23;
  localparam logic [7:0] HelperPerf = 8'd25;
  localparam logic [15:0] HelperChecksum = 16'd28;
  localparam logic [15:0] HelperNode = 16'd42;
  localparam logic [15:0] HelperAdjustHead = 16'd44;
  localparam logic [15:0] HelperRedirectMap = 16'd51;
  localparam logic [15:0] HelperAdjustMeta = 16'd54;
  localparam logic [15:0] HelperAdjustTail = 16'd65;
  localparam logic [15:0] HelperPush = 16'd87;
  localparam logic [15:0] HelperLock = 16'd93;
  localparam logic [15:0] HelperUnlock = 16'd94;
  localparam logic [15:0] HelperJiffies = 16'd118;
  localparam logic [7:0] HelperRingOutput = 8'd130;
  localparam logic [7:0] HelperRingReserve = 8'd131;
  localparam logic [7:0] HelperRingSubmit = 8'd132;
  localparam logic [7:0] HelperRingDiscard = 8'd133;
  localparam logic [15:0] HelperLength = 16'd188;
  localparam logic [15:0] HelperLoadBytes = 16'd189;
  localparam logic [15:0] HelperStoreBytes = 16'd190;
  localparam logic [15:0] HelperLookupPercpu = 16'd195;
  // What begins a pop or peek; the compiler's copy of the element follows.
  localparam logic [15:0] HelperPop = 16'd344;
  localparam logic [15:0] HelperPeek = 16'd345;

  // Most tail calls of a packet (Linux: MAX_TAIL_CALL_CNT).
  localparam logic [5:0] MostTailCalls = 6'd33;

  // Error numbers that helpers give (Linux).
  localparam logic [63:0] ErrorPermission = -64'd1;
  localparam logic [63:0] ErrorNoEntry = -64'd2;
  localparam logic [63:0] ErrorIo = -64'd5;
  localparam logic [63:0] ErrorTooBig = -64'd7;
  localparam logic [63:0] ErrorAgain = -64'd11;
  localparam logic [63:0] ErrorNoMemory = -64'd12;
  localparam logic [63:0] ErrorAccess = -64'd13;
  localparam logic [63:0] ErrorFault = -64'd14;
  localparam logic [63:0] ErrorExists = -64'd17;
  localparam logic [63:0] ErrorInvalid = -64'd22;
  localparam logic [63:0] ErrorNoSpace = -64'd28;
  localparam logic [63:0] ErrorNotSupported = -64'd95;

  // Offsets in the buffer: metadata, frame, one past the frame.
  typedef struct packed {
    logic [OffsetBits-1:0] meta;
    logic [OffsetBits-1:0] data;
    logic [OffsetBits-1:0] past;
  } xdp_bounds_t;

  // The record that a packet's program has reserved.
  localparam int unsigned RecordBits = 11;
  typedef struct packed {
    logic                  held;
    logic [7:0]            channel;  // which of the program's ring buffers
    logic [RecordBits-1:0] bytes;
  } xdp_record_t;

  // Words of an event, its header among them; more than there can be have no room.
  typedef logic [8:0] xdp_words_t;
  function automatic xdp_words_t record_words(logic [RecordBits-1:0] bytes);
    return xdp_words_t'((12'(bytes) + 12'd7) >> 3) + xdp_words_t'(1);
  endfunction

  typedef enum logic [2:0] {
    EventReserve,
    EventReturn,
    EventBegin,
    EventWord,
    EventEnd,
    EventUndo
  } xdp_event_op_e;

  typedef struct packed {
    xdp_event_op_e         op;
    logic [ModuleBits-1:0] module_id;
    logic                  reserved;   // of a begin: its room was set aside
    xdp_words_t            words;      // of all but words and ends
    logic [63:0]           data;       // of a begin the header
  } xdp_event_t;

  // Cycles of the map engine; as many as fit stand for more.
  localparam int unsigned StepBits = 12;
  typedef logic [StepBits-1:0] steps_t;

  // Registers and words of the stack that a packet begins with; of the stack the highest 16 words.
  localparam int unsigned StackGiven = 16;
  typedef struct packed {
    logic [15:0]           registers;
    logic [StackGiven-1:0] words;
  } xdp_given_t;

  // A register that a packet of a slot begins with.
  typedef struct packed {
    logic        valid;
    logic [7:0]  slot;
    logic [3:0]  number;
    logic [63:0] data;
  } xdp_set_t;

  // A packet for a context.
  typedef struct packed {
    logic [7:0]            slot;
    logic [RowBits-1:0]    place;       // first row of its record
    logic [RowBits-1:0]    base;        // first row of its stack
    logic [1:0]            records;     // room for a record, in 512 bytes
    logic                  generation;
    logic [OffsetBits-1:0] past;        // one past its frame
    logic [CodeBits-1:0]   start;
    logic [ModuleBits-1:0] module_id;
    logic [WorkBits-1:0]   work;
    logic [31:0]           ifindex;
    xdp_regions_t          regions;
    depth_t                frames;      // of functions, before its stack
    logic [OffsetBits-1:0] most;        // bytes that its frame may have
    logic [StampBits-1:0]  stamp;       // ticks when it entered the pipeline
    logic [ClockBits-1:0]  came;        // when it was whole in its queue
    xdp_given_t            given;       // what the warp engine has made
    logic [7:0]            made;        // work that is behind it
    steps_t                steps;       // of the map engine, for its early lookup
  } xdp_start_t;

  // What a program said of its packet.
  typedef struct packed {
    logic [7:0]           slot;
    logic [2:0]           verdict;     // aborted, drop, pass, transmit, redirect
    xdp_bounds_t          bounds;
    logic                 redirected;
    logic                 to_host;     // the redirect is to a destination, not to an interface
    logic [31:0]          ifindex;     // of the redirect; in its lowest bits the destination, or several (`to_several`)
    cost_t                cost;        // what it has taken of the core
    xdp_outcome_t         outcome;
    logic [ClockBits-1:0] ended;
  } xdp_end_t;

  // A frame that leaves.
  typedef struct packed {
    sideband_t  side;
    route_t     route;
    logic [5:0] turn;   // bytes in front of its first one in the first one's row of memory
    logic [5:0] tail;   // bytes of its last beat; 0 is all
  } xdp_leaving_t;

  // A request to memory: eight columns of eight bytes from word `word` of row `row` on.
  typedef struct packed {
    logic [RowBits-1:0] row;
    logic [2:0]         word;
  } xdp_place_t;

  // What a helper is asked; numbers that it knows not fault.
  typedef struct packed {
    logic [15:0]           number;
    logic [63:0]           first;
    logic [63:0]           second;
    logic [63:0]           third;
    logic [63:0]           fourth;
    logic [63:0]           fifth;
    xdp_bounds_t           bounds;
    logic [OffsetBits-1:0] most;        // bytes that the frame may have
    logic [OffsetBits-1:0] low;         // lowest metadata so far: bytes from there on are the program's
    logic [RowBits-1:0]    base;
    logic [ModuleBits-1:0] module_id;
    xdp_regions_t          regions;
    logic [StackWords-1:0] written;     // words of the stack
    logic [4:0]            processor;
    logic [StampBits-1:0]  stamp;
    logic [RowBits-1:0]    place;       // of its record
    logic [1:0]            records;
    xdp_record_t           record;
    logic                  generation;
    depth_t                depth;       // of a frame that is cleared the one before it
    logic                  enters;      // a function, in place of a helper: its frame is cleared
  } xdp_call_t;

  // What it answers.
  typedef struct packed {
    logic                  fault;
    logic [63:0]           value;
    xdp_bounds_t           bounds;
    logic [OffsetBits-1:0] low;
    logic                  redirects;  // to the interface that was the first argument
    xdp_record_t           record;
    logic [StackWords-1:0] written;    // words of the stack
  } xdp_return_t;

  // Bits of a slot of a map with keys, and of one and 1, for the highest is nobody's; of the number of a chain; of a row of search memory, of which the highest says that it lies outside.
  localparam int unsigned SlotNumberBits = 24;
  localparam int unsigned LinkBits = SlotNumberBits;
  localparam int unsigned ChainBits = 20;
  localparam int unsigned SearchBits = 24;
  // The same without external memory, where one word of an entry has both: link, chain.
  localparam int unsigned ChipSlotBits = 17;
  localparam int unsigned ChipLinkBits = ChipSlotBits + 1;
  localparam int unsigned ChipChainBits = 32 - ChipLinkBits;
  // Words of 8 bytes of the longest key.
  localparam int unsigned KeyWords = 8;

  // What becomes of a slot of an LRU map.
  typedef enum logic [1:0] {
    MarkFree,
    MarkNew,     // used, and not touched
    MarkTouched  // both
  } map_mark_e;

  // What a context asks of the map engine.
  typedef struct packed {
    xdp_map_op_e           op;
    logic [15:0]           map;
    logic [ModuleBits-1:0] module_id;
    logic [63:0]           key;        // address; of a reference the index itself
    logic [63:0]           value;      // address of an update's value; flags of a reference; processor of a copy
    logic [63:0]           flags;      // of an update
    xdp_regions_t          regions;
    xdp_bounds_t           bounds;
    logic [RowBits-1:0]    base;
    logic [StackWords-1:0] written;    // words of the stack that were written
    depth_t                depth;
  } xdp_map_call_t;

  // What it answers.
  typedef struct packed {
    logic        fault;
    logic [63:0] value;
    logic        failed;    // the reference is none: an earlier redirect's target stands
    logic        refers;    // to `referent`
    logic        to_host;   // which is a destination
    logic [31:0] referent;
    steps_t      steps;     // cycles that the engine was busy with it
  } xdp_map_answer_t;

  // What a context is told of a lock.
  typedef struct packed {
    logic   fault;
    logic   misused;  // it is a lock, but not one that may be taken or given back now
    steps_t steps;    // what the wait counts
  } xdp_lock_answer_t;

  // Where a block of a packet's bytes lies that a unit reads.
  typedef struct packed {
    logic [63:0]           address;
    logic [9:0]            bytes;
    logic                  host;       // in the host's data instead, from word `address` on
    logic [ModuleBits-1:0] module_id;
    xdp_regions_t          regions;
    xdp_bounds_t           bounds;
    logic [RowBits-1:0]    base;
    logic [StackWords-1:0] written;
    depth_t                depth;
  } xdp_block_t;

  // "Bits of function variable are not used": the function takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  // Row of memory with the byte at this offset of a packet's buffer.
  function automatic xdp_place_t place_of(logic [RowBits-1:0] base, logic [OffsetBits-1:0] offset);
    return '{row: base + RowBits'(StackRows) + RowBits'(offset[OffsetBits-1:6]), word: offset[5:3]};
  endfunction

  // Frame of an address on the stack; whether it may be reached, and such an address is one.
  function automatic depth_t frame_of(logic [31:0] address);
    return address[9+DepthBits:10];
  endfunction

  function automatic logic on_stack(logic [31:0] address, depth_t depth);
    return address[31:10+DepthBits] == StackAddress[31:10+DepthBits] && address[9] && frame_of(address) <= depth;
  endfunction

  // Row of memory with the byte at this address: a frame lies before its caller's.
  function automatic logic [RowBits-1:0] stack_row(logic [RowBits-1:0] base, logic [31:0] address);
    logic [DepthBits:0] ahead;
    ahead = -{1'b0, frame_of(address)};
    return base + RowBits'($signed({ahead, address[8:6]}));
  endfunction

  // verilator lint_on UNUSEDSIGNAL

  // Flags of redirect_map: the lowest two bits are the verdict where there is no entry. Of devmaps two more say that it goes to all entries, and that
  // the port it came from is left out.
  localparam int unsigned FlagBroadcast = 3;
  localparam int unsigned FlagExclude = 4;

  function automatic logic takes_flags(logic [63:0] flags, logic names_interfaces);
    return (flags & ~(names_interfaces ? 64'h1b : 64'h3)) == '0;
  endfunction

  // The destination of a redirect to several: this bit, behind it whether the port it came from is left out, and a mask. Of one it is a number.
  localparam int unsigned ToSeveral = 4;
  function automatic logic [31:0] to_several(logic [7:0] mask, logic excludes);
    return {16'd0, mask, 2'd0, excludes, 1'b1, 4'd0};
  endfunction

  // Kinds of maps: found by index, by key in chains.
  function automatic logic is_indexed(logic [3:0] kind);
    return kind inside {XdpMapArray, XdpMapDevices, XdpMapReferences, XdpMapPrograms, XdpMapMaps};
  endfunction

  function automatic logic is_keyed(logic [3:0] kind);
    return kind inside {XdpMapHash, XdpMapKeyedReferences, XdpMapKeyedMaps};
  endfunction

  // Elements without keys.
  function automatic logic is_queue(logic [3:0] kind);
    return kind inside {XdpMapQueue, XdpMapStack};
  endfunction

  // The lowest bytes of a word, as an enable and as its bits.
  function automatic logic [7:0] byte_mask(logic [3:0] bytes);
    return 8'((9'd1 << bytes) - 9'd1);
  endfunction

  function automatic logic [63:0] bit_mask(logic [3:0] bytes);
    logic [63:0] mask;
    for (int unsigned i = 0; i < 8; i++) mask[8*i+:8] = {8{i < 32'(bytes)}};
    return mask;
  endfunction

  // A word turned by so many bytes. Turned up, a value of at most 8 bytes has each of them where it belongs, in the word with its first byte and in
  // the one behind it; turned down, the bytes of two words are where they belong in the value.
  function automatic logic [63:0] turned_up(logic [63:0] value, logic [2:0] bytes);
    logic [63:0] turned;
    turned = bytes[0] ? {value[55:0], value[63:56]} : value;
    if (bytes[1]) turned = {turned[47:0], turned[63:48]};
    return bytes[2] ? {turned[31:0], turned[63:32]} : turned;
  endfunction

  function automatic logic [63:0] turned_down(logic [63:0] value, logic [2:0] bytes);
    return turned_up(value, 3'd0 - bytes);
  endfunction

  // Of two words the bytes that a value has whose first byte is number `first` of the lower one, each in its place in the words.
  function automatic logic [63:0] joined(logic [63:0] lower, logic [63:0] upper, logic [2:0] first);
    logic [63:0] bytes;
    for (int unsigned i = 0; i < 8; i++) bytes[8*i+:8] = (i < 32'(first)) ? upper[8*i+:8] : lower[8*i+:8];
    return bytes;
  endfunction

  // What a load of so many bytes gives, zero above them: sign-extended if it asks for that.
  function automatic logic [63:0] extended(logic [63:0] value, logic [3:0] bytes, logic sign);
    if (!sign) return value;
    case (bytes)
      4'd1: return {{56{value[7]}}, value[7:0]};
      4'd2: return {{48{value[15]}}, value[15:0]};
      4'd4: return {{32{value[31]}}, value[31:0]};
      default: return value;
    endcase
  endfunction

  // verilator lint_on UNUSEDPARAM
endpackage
