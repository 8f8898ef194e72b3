/// Types that travel between the blocks of the rmt pipeline (docs/design/rmt.md).
package sluice_rmt_pkg;

  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  // Containers; container n is c2[n], c4[n - 8] or c6[n - 16]. The first byte of the packet is the most significant.
  typedef struct packed {
    logic [7:0][47:0] c6;
    logic [7:0][31:0] c4;
    logic [7:0][15:0] c2;
  } rmt_containers_t;

  // Containers and metadata words of a packet. The words hold bits 31:0 of the queueing stamp; meters need all of it.
  typedef struct packed {
    logic [15:0]       queueing_high;
    logic [15:0][15:0] words;
    rmt_containers_t   c;
  } rmt_phv_t;

  // Metadata words.
  localparam int unsigned WordIngressPort = 0;
  localparam int unsigned WordLength = 1;
  localparam int unsigned WordArrival = 2;
  localparam int unsigned WordQueueing = 5;
  localparam int unsigned WordTenant = 7;
  localparam int unsigned WordStatus = 8;
  localparam int unsigned WordEgress = 11;
  localparam int unsigned WordGroup = 12;
  localparam int unsigned WordHeaders = 13;
  localparam int unsigned WordScratch1 = 15;
  localparam int unsigned WordFirstWritable = 9;

  // What a packet is to the tables; leads its PHV by one cycle everywhere in the pipeline.
  typedef struct packed {
    logic [ModuleBits-1:0] module_id;
    logic                  generation;
    logic                  system_generation;
    logic                  dropped;            // it does nothing any more, for `reason`
    rmt_event_e            reason;
  } rmt_ctl_t;

  // What the entrance knows of a packet; with every slot of its window.
  typedef struct packed {
    rmt_ctl_t              ctl;
    logic [3:0]            port;
    logic [TenantBits-1:0] tenant;
    logic [13:0]           length;
    logic [TickBits-1:0]   arrival;
    logic [TickBits-1:0]   queueing;
  } rmt_desc_t;

  // The winner of a stage's match.
  typedef struct packed {
    logic        valid;   // there is an action
    logic [8:0]  action;  // its row
    logic [10:0] number;  // logical number of the entry
    logic [11:0] data;    // row of the action data
  } rmt_win_t;

  // A configuration access to the tables of an rmt node: a wide_req_t with its index taken apart. A read
  // asks for the 8 words of the row that begin with 8 * slice.
  typedef struct packed {
    logic        clear;     // behind a reset: the row `index` of all tables becomes zero
    logic        write;
    logic [7:0]  tab;
    logic        snapshot;
    logic [6:0]  slice;
    logic [15:0] index;
    logic [6:0]  words;     // of a write
  } rmt_cfg_req_t;

  // Nodes on the ring, in order: parser, stages, deparser.
  function automatic node_t rmt_node(int unsigned at, int unsigned stages);
    if (at == 0) return '{wide_words: 7'(RmtSelectRowWords), number: NodeRmtParser};
    if (at == 1 + stages) return '{wide_words: 7'(RmtPatternsRowWords), number: NodeRmtDeparser};
    return '{wide_words: 7'(RmtActionRowWords), number: NodeRmtStage0 + 8'(at - 1)};
  endfunction

  // Rows of the longest of their tables: cycles of clearing them.
  // "Bits of function variable are not used": the function takes some fields of a whole configuration.
  // verilator lint_off UNUSEDSIGNAL
  function automatic int unsigned rmt_clear_rows(rmt_cfg_t cfg);
    // verilator lint_on UNUSEDSIGNAL
    int unsigned banks, rows;
    banks = 2 * cfg.modules;
    rows  = banks * RmtModulePages;
    if (rows < banks * RmtPatterns * (RmtWindowBytes / cfg.bus_bytes)) begin
      rows = banks * RmtPatterns * (RmtWindowBytes / cfg.bus_bytes);
    end
    if (rows < RmtExactWays * cfg.sets + cfg.ternary + banks) rows = RmtExactWays * cfg.sets + cfg.ternary + banks;
    if (rows < cfg.actions) rows = cfg.actions;
    if (rows < cfg.groups) rows = cfg.groups;
    return rows;
  endfunction

  // Bits of their wide rows.
  function automatic int unsigned rmt_wide_bits(int unsigned stages);
    return 32 * (RmtSelectRowWords + stages * RmtActionRowWords + RmtPatternsRowWords);
  endfunction

  // Status of an access to a table of `rows` rows of `words` words.
  function automatic cfg_status_e rmt_cfg_check(rmt_cfg_req_t req, logic counter, logic [16:0] rows, logic [6:0] words);
    return rmt_cfg_status(req, counter, 17'(req.index) >= rows, words);
  endfunction

  // The same, where it is known that the index is `beyond` the table: tables of a power of two need no comparison.
  // "Bits of function variable are not used": the function takes some fields of a whole row or request.
  // verilator lint_off UNUSEDSIGNAL
  function automatic cfg_status_e rmt_cfg_status(rmt_cfg_req_t req, logic counter, logic beyond, logic [6:0] words);
    // verilator lint_on UNUSEDSIGNAL
    if (beyond || {req.slice, 3'd0} >= 10'(words) || (req.snapshot && !counter)) return StatusBadAddress;
    if (req.write && counter) return StatusReadOnly;
    if (req.write && req.words != words) return StatusBadLength;
    return StatusOk;
  endfunction

  // Whether an index is beyond a table of so many rows, a constant. Of a power of two it asks the upper bits, so that
  // synthesis does not share one comparison between tables.
  function automatic logic rmt_beyond(logic [15:0] index, int unsigned rows);
    if (2 ** $clog2(rows) == rows) return (17'(index) >> $clog2(rows)) != '0;
    return 17'(index) >= 17'(rows);
  endfunction

  // The reason of a drop in traces.
  function automatic reason_e rmt_reason(rmt_event_e kind);
    return reason_e'(6'(ReasonRate) | 6'(kind));
  endfunction

  // Words of the answer to a read of a row of `words` words.
  // "Bits of function variable are not used": the function takes some fields of a whole row or request.
  // verilator lint_off UNUSEDSIGNAL
  function automatic logic [3:0] rmt_slice_words(rmt_cfg_req_t req, logic [6:0] words);
    // verilator lint_on UNUSEDSIGNAL
    logic [9:0] left;
    left = 10'(words) - {req.slice, 3'd0};
    return (left > 10'd8) ? 4'd8 : left[3:0];
  endfunction

  // verilator lint_on UNUSEDPARAM
endpackage
