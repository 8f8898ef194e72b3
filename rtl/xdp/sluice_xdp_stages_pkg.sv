/// What travels between the stages of a core, and what its contexts keep (docs/design/hxdp-core.md).
///
/// A stage's struct is what it hands to the next one, behind registers; whose bundle it is stands beside it.
package sluice_xdp_stages_pkg;

  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_instructions_pkg::*;

  // Who executes a lane's instruction.
  typedef enum logic [2:0] {
    UnitNone,
    UnitMuldiv,
    UnitHelper,
    UnitValues,
    UnitMaps
  } xdp_unit_e;

  // ---------------------------------------------------------------------------------------------------------------
  // What a context keeps.

  // From its packet's start on.
  typedef struct packed {
    logic [7:0]            slot;
    logic [RowBits-1:0]    place;
    logic [RowBits-1:0]    base;
    logic [1:0]            records;
    logic                  generation;
    logic [ModuleBits-1:0] module_id;
    logic [31:0]           ifindex;
    xdp_regions_t          regions;
    depth_t                frames;
    logic [OffsetBits-1:0] most;
  } xdp_fixed_t;

  // Where a packet is redirected to.
  typedef struct packed {
    logic        redirected;
    logic        to_host;     // it is a destination
    logic [31:0] to;
    logic [31:0] asked;       // what the last redirect was asked for: an interface, or an index
  } xdp_redirect_t;

  // What changes: bounds, work left, redirect.
  typedef struct packed {
    xdp_bounds_t           bounds;
    logic [OffsetBits-1:0] low;
    logic [WorkBits-1:0]   work;
    logic [5:0]            tails;     // tail calls so far
    xdp_record_t           record;    // that is reserved
    logic                  locked;    // it holds a spin lock
    xdp_redirect_t         redirect;
  } xdp_kept_t;

  // What a packet that ends with its late result has said before.
  typedef struct packed {
    logic [7:0]    slot;
    logic [2:0]    verdict;
    xdp_bounds_t   bounds;
    xdp_redirect_t redirect;
    logic [31:0]   index;     // that its reference asked for
    cost_t         cost;
  } xdp_ending_t;

  // The frame that runs, and what its context's next pass is.
  typedef enum logic [1:0] {
    PassBundle,
    PassLower,   // r6 and r7 of the caller come back
    PassUpper,   // r8 and r9, and the row behind the call
    PassClear    // a tail call in a function: the frame is cleared
  } xdp_turn_e;

  typedef struct packed {
    xdp_turn_e pass;
    depth_t    depth;
  } xdp_turn_t;

  // What a caller finds again, by its depth.
  typedef struct packed {
    logic [CodeBits-1:0] row;
    logic [3:0][63:0]    registers;  // r6 to r9
  } xdp_caller_t;

  // What the memory stage writes of it.
  typedef struct packed {
    logic                  row_valid;
    logic [CodeBits-1:0]   row;
    logic                  turn_valid;
    xdp_turn_t             turn;
    logic                  kept_valid;
    xdp_kept_t             kept;
    logic                  written_valid;
    logic [StackWords-1:0] written;
    logic                  caller_valid;
    xdp_caller_t           caller;
  } xdp_keep_t;

  // A unit's result.
  typedef struct packed {
    logic        late;      // its bundle was done when it was launched
    logic        fault;
    logic [63:0] value;
    logic        failed;    // of a reference to a map's entry
    logic        refers;
    logic        to_host;
    logic [31:0] referent;
  } xdp_result_t;

  // What of a launched bundle is still to be done: a register is written late, or a reference is told from its flags.
  typedef struct packed {
    logic       late;
    logic       ends;      // the packet has ended then
    logic       writes;
    logic [3:0] target;
    logic       refers;
    logic       to_host;   // to a destination
    logic       plain;     // flags that lead to one entry
    logic       several;   // flags that lead to all
    logic       excludes;  // but not back
    logic [1:0] verdict;
  } xdp_waits_t;

  // ---------------------------------------------------------------------------------------------------------------
  // Between stages.

  // Pick to fetch.
  typedef struct packed {
    logic valid;
    logic start;  // a packet's first pass
  } xdp_picked_t;

  // Fetch to read.
  typedef struct packed {
    logic                  valid;
    logic                  start;
    logic                  resume;     // its unit has answered
    logic [CodeBits-1:0]   row;
    logic [ModuleBits-1:0] module_id;
    xdp_turn_t             turn;
    logic [OffsetBits-1:0] past;       // of a start: its frame's end, and its work
    logic [WorkBits-1:0]   work;
  } xdp_fetched_t;

  // Read to first; what its registers hold stands beside it.
  typedef struct packed {
    logic                           valid;
    logic                           start;
    logic                           resume;
    logic [CodeBits-1:0]            row;
    xdp_turn_t                      turn;
    xdp_kept_t                      kept;
    logic [StackGiven-1:0]          given;      // words of the stack that its packet began with
    logic                           foreign;    // its page is not its module's
    logic                           enters;     // its row is of its flow's section, or behind all of that
    logic                           leaves;
    logic [6:0]                     next_page;
    xdp_lane_t [XdpLanes-1:0]       lanes;
    xdp_arithmetic_t [XdpLanes-1:0] does;       // what its lanes' arithmetic does
  } xdp_read_t;

  // First to second; what arithmetic has made stands beside it.
  typedef struct packed {
    logic valid;
    logic start;
    logic resume;
    logic [CodeBits-1:0] row;
    xdp_turn_t turn;
    xdp_kept_t kept;
    logic foreign;
    logic late_fault;  // a late result was a fault
    logic held;  // its flow's section is another packet's
    logic [6:0] next_page;
    xdp_lane_t [XdpLanes-1:0] lanes;
    logic [XdpLanes-1:0][31:0] low;  // of the second operand
    logic [XdpLanes-1:0][31:0] copy;  // of an array's value: what is added to its address; of a per-CPU one where this processor's lies
    logic [XdpLanes-1:0] beyond;  // an index that the array has not
    logic [XdpLanes-1:0] access_lane;  // the one that accesses memory or calls
    logic [XdpLanes-1:0] muldiv_lane;  // the one that multiplies or divides
    xdp_lane_t access;  // of either
    logic [63:0] address;  // of an access; the first operand
    logic [63:0] data;
    logic [63:0] third;
    logic [63:0] fourth;
    logic [3:0] bytes;
    logic signed [OffsetBits+1:0] last;  // offset of the last place where so many bytes fit in front of the frame's end
    logic [RowBits-1:0] base;
    logic [RowBits-1:0] place;  // of its record
    logic [31:0] ifindex;
    logic [CodeBits-1:0] caller_row;
    depth_t frames;
    logic [StackWords-1:0] written;  // words that were written
    xdp_result_t result;  // of its unit
  } xdp_first_t;

  // What the one access of a bundle is, and may.
  typedef struct packed {
    logic       redirects;
    logic       is_reference;
    logic       gives_verdict;  // an exit behind it takes what it gives
    logic       is_pair;
    logic       is_lookup;
    logic       is_lock;
    logic       is_map;
    logic       is_tail;
    logic       is_atomic;
    logic       is_store;
    logic       is_load;
    logic       in_values;
    logic       in_context;
    logic       in_first;       // in the program's own frame
    logic       allowed;
    logic       faults;
    logic       waits;          // it is asked of the unit of values
    xdp_place_t place;
  } xdp_access_t;

  // Second to memory.
  typedef struct packed {
    logic                  valid;
    logic                  start;
    logic                  waited;     // its bundle had waited for a unit
    logic                  held;       // it waits for its flow's section: nothing of it is done
    logic [CodeBits-1:0]   row;
    logic [6:0]            next_page;
    xdp_turn_t             turn;
    xdp_kept_t             kept;
    logic [StackWords-1:0] written;

    // What stops it.
    logic                fault;
    logic                late_fault;
    logic                foreign;
    logic                helps;        // its access is a helper
    logic                behind;       // the lane that stops it is not the first
    logic                long_behind;  // nor the one that waits
    logic                frames;       // a call, which may be one too many
    logic                holds;        // a record or lock that it holds, or a lock that it may not take
    logic                wrong;        // something of which a bundle has one
    logic                workless;
    logic                taken;
    logic                back;
    logic                exit;
    logic                enters;       // a function
    logic                tail;
    logic [CodeBits-1:0] target;
    logic [31:0]         verdict;

    // What it launches.
    logic         launch;
    xdp_unit_e    unit;
    logic         late;           // it is done with its launch
    logic         ends_late;      // and its packet with what comes
    logic         to_host;        // a reference to destinations
    logic         pair;           // a sum of two words
    logic         late_writes;
    logic [3:0]   late_register;
    xdp_request_e kind;
    logic [2:0]   code;
    logic [15:0]  map;
    logic         handle;         // the map is the first argument's
    logic [15:0]  helper;
    logic [7:0]   muldiv_op;
    logic         muldiv_wide;
    logic [63:0]  data;
    logic [63:0]  address;
    logic [63:0]  third;
    logic [63:0]  fourth;

    // What a unit has said.
    logic        locks;
    logic        redirects;
    xdp_result_t result;

    // What it reads and stores in packet memory.
    logic        load;
    logic        store;
    logic        reads_late;     // for a unit
    xdp_place_t  place;
    logic [2:0]  byte_number;
    logic [3:0]  bytes;
    logic        sign;
    logic        nothing;
    logic        in_first;
    logic        in_context;
    logic [31:0] context_value;
    logic [5:0]  stack_word;
    logic [1:0]  words_unset;    // words of the stack that nobody wrote

    // What it writes.
    logic [XdpLanes-1:0]       write;
    logic [XdpLanes-1:0]       load_lane;
    logic [XdpLanes-1:0][3:0]  registers;
    logic [XdpLanes-1:0][63:0] value;
  } xdp_second_t;

  // What the memory stage has decided of its bundle.
  typedef struct packed {
    logic held;
    logic launches;
    logic retries;
    logic parks;
    logic commits;      // the bundle is over, but for what it launched
    logic completes;    // and altogether
    logic ends;
    logic stops;        // its context is not picked again for now
    logic may_stop;     // as far as is known of the bundle alone
    logic helped;       // its helper is taken up again
    logic out_of_work;
  } xdp_decided_t;

  // Memory to write.
  typedef struct packed {
    logic                      clear;
    logic [XdpLanes-1:0]       write;
    logic [XdpLanes-1:0][3:0]  registers;
    logic [XdpLanes-1:0]       load_lane;
    logic [XdpLanes-1:0][63:0] value;
    // Of a load: which bytes of the two words that were read it has, by how many bytes they are turned; or a field of the context; which of its
    // bytes are copies of its sign.
    logic [1:0][7:0]           takes;
    logic [2:0]                byte_number;
    logic [2:0]                sign_byte;
    logic [7:0]                signs;
    logic [31:0]               context_value;
    logic                      mark;           // a register is written late
    logic [3:0]                marked;
    logic                      late;           // one is written so now, by the last lane's port
  } xdp_done_t;

  // A late result: a register that is written, a reference, the packet's end.
  typedef struct packed {
    logic        valid;
    logic        writes;
    logic        refers;
    logic        ends;
    logic        woken;   // its context was ready before
    logic [3:0]  target;
    xdp_result_t result;
  } xdp_late_t;

  // What is written into registers.
  typedef struct packed {
    logic                      clear;
    logic [XdpLanes-1:0]       valid;
    logic [XdpLanes-1:0][3:0]  registers;
    logic [XdpLanes-1:0][63:0] data;
    logic                      mark;
    logic [3:0]                marked;
    logic                      late;
  } xdp_write_t;

  // Where a packet is redirected to behind a reference to an entry. One that is none leaves what was asked for before, as an interface.
  // "Bits of function variable are not used": of a result what concerns a reference.
  // verilator lint_off UNUSEDSIGNAL
  function automatic xdp_redirect_t redirect_to(xdp_redirect_t kept, xdp_result_t result, logic [31:0] index);
    xdp_redirect_t behind;
    behind = kept;
    if (result.refers) behind = '{redirected: 1'b1, to_host: result.to_host, to: result.referent, asked: index};
    if (result.failed) begin
      behind.to_host = 1'b0;
      behind.to      = kept.asked;
    end
    return behind;
  endfunction
  // verilator lint_on UNUSEDSIGNAL

endpackage
