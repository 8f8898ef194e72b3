/// What packets begin with that the warp engine has made something for, and its lookups (docs/design/hxdp-core.md, "Warp").
package sluice_xdp_start_pkg;

  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;

  // Of who asks the map engine: a processor, or with the highest bit set a slot of all cores whose packet no context has. With external memory only processors ask.
  // "Bits of function variable are not used": the function takes some sizes.
  // verilator lint_off UNUSEDSIGNAL
  function automatic int unsigned xdp_id_bits(xdp_cfg_t cfg);
    // verilator lint_on UNUSEDSIGNAL
    int unsigned processors;
    int unsigned slots;
    processors = $clog2(cfg.cores * cfg.contexts);
    slots = $clog2(cfg.cores * cfg.packets);
    if (cfg.outside != 0) return processors;
    return 1 + ((slots > processors) ? slots : processors);
  endfunction

  // Words that a packet begins with, as the warp engine makes them: registers, or from 16 on words of the stack. With the last ones all that it begins with; that may be no word.
  typedef struct packed {
    logic [7:0]       slot;
    logic [1:0]       valid;
    logic [1:0][4:0]  target;
    logic [1:0][63:0] data;
    logic             last;
    xdp_given_t       given;
  } xdp_made_t;

  // A lookup of a packet that no context has yet: what it asks.
  typedef struct packed {
    logic [15:0]           map;
    logic [ModuleBits-1:0] module_id;
  } xdp_early_t;

  // What came of it.
  typedef struct packed {
    logic [7:0]  slot;
    logic        fault;
    logic [63:0] value;
    steps_t      steps;
  } xdp_early_answer_t;

  // A packet whose verdict is known without a context: what is said of it, and what it counts.
  typedef struct packed {
    logic [7:0]            slot;
    logic [2:0]            verdict;
    logic [OffsetBits-1:0] past;
    logic [ModuleBits-1:0] module_id;
    xdp_regions_t          regions;
    xdp_warp_count_t [1:0] counts;
  } xdp_settled_t;

  // A lookup as sluice_xdp_maps takes it: who asks, and what; and of whose key a word is wanted.
  localparam int unsigned MostIdBits = 9;
  typedef struct packed {
    logic                  valid;
    logic [MostIdBits-1:0] id;
    xdp_early_t            next;   // that is offered
    xdp_early_t            taken;  // that was taken last
    logic [63:0]           data;   // word of a key that was asked for a cycle ago
  } xdp_early_ask_t;
  typedef struct packed {
    logic                  ready;
    logic [MostIdBits-1:0] key_id;
    logic [2:0]            word;
    logic                  answers;
  } xdp_early_take_t;

endpackage
