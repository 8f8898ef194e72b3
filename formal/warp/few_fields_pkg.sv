/// In place of sluice_xdp_streams_pkg: a beat with the fields that sluice_warp reads, and the packet's number.
package sluice_xdp_streams_pkg;

  typedef struct packed {
    logic [31:0] id;
    logic [5:0]  module_id;
    logic        generation;
  } few_side_t;

  typedef struct packed {
    logic [7:0] data;
    logic       last;
    few_side_t  side;
  } xdp_in_t;

endpackage
