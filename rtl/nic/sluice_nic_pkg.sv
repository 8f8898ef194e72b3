/// Types that travel between the blocks of the NIC.
package sluice_nic_pkg;

  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  // Beats of a packet of the longest length, on any target.
  localparam int unsigned CostBits = 9;

  // What a port stores beside a packet.
  typedef struct packed {
    logic [CostBits-1:0]   cost;       // beats that it takes of the pipeline at most
    logic [TickBits-1:0]   arrival;    // ticks when its last beat was there
    logic [31:0]           id;
    logic [ModuleBits-1:0] module_id;
    logic [TenantBits-1:0] tenant;
    logic [15:0]           tci;
    logic                  tag_off;
    logic [13:0]           length;
  } port_desc_t;

  // What ingress knows at the end of a frame.
  typedef struct packed {
    logic                  drop;
    reason_e               reason;
    logic [15:0]           received;
    logic [ModuleBits-1:0] module_id;
    logic [TenantBits-1:0] tenant;
    logic [15:0]           tci;
    logic                  tag_off;
    logic [13:0]           length;
  } frame_end_t;

  // Where a packet goes that the engines have let through; destination d's copy has tag d.
  typedef struct packed {
    logic [DestBits-1:0][15:0] tags;
    sideband_t                 sideband;
  } verdict_t;

  // Whose frames are: those of a VLAN, or untagged ones.
  typedef struct packed {
    logic                  valid;      // somebody's
    logic [ModuleBits-1:0] module_id;
  } vlan_owner_t;

  // Verdict after admission to the queues.
  typedef struct packed {
    logic [DestBits-1:0] admitted;
    verdict_t            verdict;
  } decision_t;

  // Whether a packet takes its module's high queue.
  function automatic logic is_high(logic [2:0] egress_queue);
    return 32'(egress_queue) >= HighQueue;
  endfunction

  // verilator lint_on UNUSEDPARAM
endpackage
