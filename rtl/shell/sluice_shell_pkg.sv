/// Types of blocks that engines and the NIC share and that no boundary has.
package sluice_shell_pkg;

  import sluice_pkg::*;
  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  // First bytes of a packet that flow hash and reconfiguration rule look at.
  localparam int unsigned WindowBytes = 64;

  // Header fields behind the window.
  typedef struct packed {
    logic                  ipv4;
    logic [8*KeyBytes-1:0] tuple;
    logic                  reconfig;
  } fields_t;

  // verilator lint_on UNUSEDPARAM
endpackage
