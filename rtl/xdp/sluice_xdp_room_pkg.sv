/// Room of packets in the XDP engine's cores (docs/decisions/xdp-grows.md, "Shares").
package sluice_xdp_room_pkg;

  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  // Rows in front of a frame; of a packet that may grow to 3,520 bytes; of the longest one that has all it may.
  localparam int unsigned FrameRow = StackRows + Headroom / 64;
  localparam int unsigned GrownRows = FrameRow + MostGrown / 64;
  localparam int unsigned MostFrameRows = (MaxFrameBytes + 63) / 64;
  localparam int unsigned MostFrontRows = 7 * StackRows + 3 * XdpRecordUnit / 64;
  localparam int unsigned MostPacketRows = FrameRow + MostFrameRows + MostFrontRows;

  // What a packet takes of a core's memory: rows, of which those of functions and of a record come first, in 8 rows each.
  typedef struct packed {
    logic [8:0] rows;
    logic [3:0] front;
  } xdp_need_t;

  // What is asked for of a program as a packet comes.
  typedef struct packed {
    logic                  valid;
    logic [GrowthBits-1:0] growth;  // by which it makes frames longer, as its row says it
    logic                  grows;
    logic [3:0]            front;   // frames of functions and units of a record
  } xdp_known_t;

  // Of units of a packet's place; of a module's own places in a core.
  localparam int unsigned UnitBits = 5;
  localparam int unsigned BayBits = 3;

  // What a packet has of a core.
  typedef struct packed {
    logic               own;       // of its module's, else of the pool's
    logic               borrows;   // it may have a context that another module owns
    logic [3:0]         contexts;  // of the core that its module owns
    logic [BayBits-1:0] bay;
    logic [RowBits-1:0] place;     // where its rows begin
  } xdp_room_t;

  // What comes back of a core: a slot, with its packet's verdict; memory, when its frame was read.
  typedef struct packed {
    logic                  left_valid;
    logic                  left_own;
    logic                  free_valid;
    logic                  own;
    logic [ModuleBits-1:0] module_id;
    logic [BayBits-1:0]    bay;
    logic [RowBits-1:0]    place;
    logic [8:0]            rows;
  } xdp_back_t;

  // A packet that waits in its module's queue.
  typedef struct packed {
    sideband_t            side;
    route_t               route;
    token_t               token;
    logic [15:0]          rows;
    logic                 shared;      // its rows are of those that nobody has reserved
    logic                 broken;      // longer than its sideband said: cut
    logic                 oversize;    // it needs more than a bay of its module
    logic [UnitBits-1:0]  need_units;
    xdp_need_t            need;
    logic [ClockBits-1:0] came;
  } xdp_queued_t;

  // A packet in memory, from its last beat in to its last beat out.
  typedef struct packed {
    sideband_t             side;
    route_t                route;
    token_t                token;
    xdp_room_t             room;
    logic [RowBits-1:0]    base;         // first row of its stack
    logic [8:0]            rows;
    logic [OffsetBits-1:0] past;
    logic                  has_program;
    logic                  broken;       // longer than its sideband said
    logic                  pass_valid;
    logic [2:0]            pass;
    logic [7:0]            granted;
  } xdp_slot_t;

  // Units that so many rows take.
  function automatic logic [4:0] units_of(logic [8:0] rows);
    return 5'((10'(rows) + 10'(UnitRows - 1)) / 10'(UnitRows));
  endfunction

  // verilator lint_on UNUSEDPARAM
endpackage
