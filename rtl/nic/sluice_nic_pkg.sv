/// Types that travel between the blocks of the NIC.
package sluice_nic_pkg;

  import sluice_pkg::*;
  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  // What a port stores beside a packet.
  typedef struct packed {
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

  // First bytes of a packet that flow hash and reconfiguration rule look at.
  localparam int unsigned WindowBytes = 64;

  // Header fields behind the window.
  typedef struct packed {
    logic                  ipv4;
    logic [8*KeyBytes-1:0] tuple;
    logic                  reconfig;
  } fields_t;

  // Where a packet goes that the pipeline has let through; destination d's copy has tag d.
  typedef struct packed {
    logic [DestBits-1:0][15:0] tags;
    sideband_t                 sideband;
  } verdict_t;

  // Verdict after admission to the queues.
  typedef struct packed {
    logic [DestBits-1:0] admitted;
    verdict_t            verdict;
  } decision_t;

  // A configuration access to one node's tables.
  typedef struct packed {
    logic                           write;
    logic [7:0]                     tab;
    logic [23:0]                    index;
    logic [3:0]                     words;
    logic [32*MessageDataWords-1:0] data;
  } cfg_req_t;

  typedef struct packed {
    cfg_status_e                    status;
    logic [3:0]                     words;
    logic [32*MessageDataWords-1:0] data;
  } cfg_rsp_t;

  // Status of an access to a table of `rows` rows of `words` words.
  // "Bits of function variable are not used": the function takes some fields of a whole row or request.
  // verilator lint_off UNUSEDSIGNAL
  function automatic cfg_status_e cfg_check(cfg_req_t req, logic known, logic writable, logic [23:0] rows,
                                            // verilator lint_on UNUSEDSIGNAL
                                            logic [3:0] words);
    if (!known || req.index >= rows) return StatusBadAddress;
    if (req.write && !writable) return StatusReadOnly;
    if (req.write && req.words != words) return StatusBadLength;
    return StatusOk;
  endfunction

  // Index of a counter without the snapshot bit.
  function automatic cfg_req_t cfg_counter(cfg_req_t req);
    cfg_req_t r;
    r = req;
    r.index[SnapshotIndexBit] = 1'b0;
    return r;
  endfunction

  function automatic logic [3:0] count_ones(logic [DestBits-1:0] mask);
    logic [3:0] n;
    n = '0;
    for (int unsigned i = 0; i < DestBits; i++) n += 4'(mask[i]);
    return n;
  endfunction

  // verilator lint_on UNUSEDPARAM
endpackage
