/// Types of the Warp Engine (docs/design/warp-engine.md).
package sluice_warp_pkg;

  import sluice_xdp_rows_pkg::*;
  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  localparam int unsigned WarpLanes = 14;
  localparam int unsigned WarpPredicates = 8;
  localparam int unsigned WarpChunkBits = 5;
  localparam int unsigned WarpChunks = 24;
  // Chunks that hold nothing but lanes.
  localparam int unsigned WarpLaneChunks = 22;
  // Bytes of a frame that are seen. Behind them come those of `ingress_ifindex`, of `rx_queue_index`, which is zero, and the frame's length.
  localparam int unsigned WarpFrameBytes = 64;
  // Of a leaf's number and a step's, as rows are counted: for the largest tables.
  localparam int unsigned WarpRuleBits = 6;
  localparam int unsigned WarpStepBits = 7;
  localparam int unsigned WarpLengthBits = 14;
  localparam int unsigned WarpTargetBits = 6;
  // Packets with steps that wait for theirs.
  localparam int unsigned WarpSets = 8;

  typedef logic [WarpLanes-1:0][7:0] warp_lanes_t;
  typedef logic [WarpFrameBytes-1:0][7:0] warp_bytes_t;

  // Words of a packet, one or two: registers, from 16 on words of the stack, from 32 on words of the key.
  typedef struct packed {
    logic [1:0]                     valid;
    logic [1:0][WarpTargetBits-1:0] target;
    logic [1:0][63:0]               data;
    logic                           first;   // the packet's
    logic                           last;
  } warp_set_t;

  // A table that the host writes.
  typedef enum logic [2:0] {
    WarpTableKey = 3'd0,
    WarpTablePredicates = 3'd1,
    WarpTableChunk = 3'd2,
    WarpTableLeaf = 3'd3,
    WarpTableStep = 3'd4,
    WarpTableHits = 3'd5
  } warp_table_e;

  // Of a chunk's row: the chunk's number comes above 32 * 2 * Modules.
  localparam int unsigned WarpIndexBits = 17;
  // The widest row is that of predicates.
  localparam int unsigned WarpRowBits = XdpWarpPredicatesRowBits;

  typedef struct packed {
    logic                     valid;
    warp_table_e              tab;
    logic [WarpIndexBits-1:0] index;
    logic [WarpRowBits-1:0]   row;
  } warp_write_t;

  // What becomes of a packet. Of one that is plain nothing else means anything.
  typedef struct packed {
    xdp_warp_kind_e            kind;
    logic [WarpRuleBits-1:0]   rule;       // the first that agrees
    logic [1:0]                verdict;
    logic [12:0]               start;
    logic [7:0]                work;
    logic                      has_steps;  // words of `set_*` come for it
    logic                      looks_up;
    logic [15:0]               map;
    logic [6:0]                key_bytes;
    xdp_warp_count_t [1:0]     counts;
    logic [WarpLengthBits-1:0] length;     // of the frame
  } warp_leaf_t;

  // A leaf as it is found, with its steps.
  typedef struct packed {
    logic [WarpStepBits-1:0] step;
    logic [4:0]              steps;
    warp_leaf_t              leaf;
  } warp_found_t;

endpackage
