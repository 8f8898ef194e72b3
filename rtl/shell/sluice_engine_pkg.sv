/// What passes the boundary of an engine: docs/decisions/engine-seam.md, "In SystemVerilog".
///
/// An engine is a folder of rtl/ with one module that has these ports. It imports this package and sluice_pkg, and
/// nothing of the NIC or of another engine; whoever instantiates it imports nothing of what is inside. Widths are those
/// of the types; `Bytes` is the bus.
///
/// - `ticks_i`, `epoch_i`: time, and the number of the last snapshot; a change of the epoch takes one.
/// - `hold_i`, level: no packet begins; those that have begun go on.
/// - `s_axis_*`, valid and ready: whole packets in beats of `8 * Bytes` bits. `tuser` is the sideband (sideband_t), the same
///   in every beat.
/// - `m_axis_*`, valid and ready: whole packets. Every beat has `side` (sideband_t with the new length, generation,
///   destinations, queue) and `route` (route_t). A dropped packet leaves nothing.
/// - `enter_valid_o`, `enter_o` (enter_t), one cycle, never stalled: a packet takes a token. `generation_i` and
///   `system_generation_i` come in the same cycle, `conform_i` (the module keeps to its rate) 4 cycles later.
/// - `leave_valid_o`, `leave_o` (token_t), one cycle, never stalled: the packet has read its last row, the token comes back.
///   Once a packet, whatever its verdict. At most `MaxInFlight` packets of the shell are between both.
///   An engine behind another has `token_i` in place of the entrance, that of the packet whose last beat it takes
///   (sluice_shell_handover), and gives it back in that cycle or later, packets in any order.
/// - `verdict_valid_o`, `verdict_o` (sluice_pkg::verdict_trace_t), one cycle: the trace, once a packet. What the packet
///   counts is counted in this cycle. Copies are counted by the last engine in line only; a verdict of another that drops
///   nothing says that the packet goes on.
/// - `cfg_valid_i`, `cfg_req_i`, one port a node: an access to a table. `cfg_req_i` is wide_req_t where the node has wide rows,
///   cfg_req_t where it has none; it holds from `cfg_valid_i` (one cycle) to the answer. One access at a time.
///   Behind a reset its `clear` is high for as many cycles as the longest table has rows, with their numbers as index:
///   every table that decides over packets writes zeros there (docs/design/nic.md, "Reset"). No packet begins meanwhile.
/// - `cfg_rows_i`, as the requests: rows of the wide nodes, the first one's lowest.
/// - `cfg_valid_o`, `cfg_rsp_o` (cfg_rsp_t), one port a node: the answer, for one cycle, from the cycle after the request on.
/// - `waiting_o`, `progress_o`, levels for the watchdog; an output that is not taken is no waiting.
///
/// Events are counted inside and are rows of the engine's nodes: no stream of them passes the boundary.
package sluice_engine_pkg;

  import sluice_pkg::*;
  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  // Where a packet goes; destination d's copy has tag d.
  typedef struct packed {
    logic [DestBits-1:0]       destinations;
    logic [2:0]                egress_queue;
    logic [DestBits-1:0][15:0] tags;
  } route_t;

  // What the stamp has to know of a packet that enters.
  typedef struct packed {
    logic [TickBits-1:0]   arrival;
    logic [13:0]           length;
    logic [ModuleBits-1:0] module_id;
    logic [31:0]           id;
  } enter_t;

  // A packet in flight: whose it is, and the generations that it reads. It is given back once.
  typedef struct packed {
    logic [ModuleBits-1:0] module_id;
    logic                  generation;
    logic                  system_generation;
  } token_t;

  localparam int unsigned BeatCountBits = 10;
  typedef logic [BeatCountBits-1:0] beat_count_t;

  // Room in the buffer of an engine behind the queues, which these reserve before they send a packet there: sluice_nic_queues asks,
  // sluice_l7_shares answers in the same cycle.
  typedef struct packed {
    logic [ModuleBits-1:0] module_id;
    beat_count_t           beats;
  } room_ask_t;

  // `fits`: there is room for the packet that is asked for, `own`: of the module's own. `plenty`: there is for any two packets, and stays
  // until the second one is taken. `freed_own`, `freed_all`: room has come back, of the modules' own or of what all share.
  typedef struct packed {
    logic                       fits;
    logic                       own;
    logic                       plenty;
    logic [1:0]                 freed_own;
    logic [1:0][ModuleBits-1:0] freed_module;
    logic                       freed_all;
  } room_t;

  // A packet takes room, of the module that is asked for. Where its length is not known yet it takes a longest packet's, of what all share,
  // and `less` of it comes back in the next cycle.
  typedef struct packed {
    logic        valid;
    logic        own;
    beat_count_t beats;
    beat_count_t less;
  } room_take_t;

  // Beats of a packet, on a bus of 2^`byte_bits` bytes.
  function automatic beat_count_t beats_of(logic [13:0] length, int unsigned byte_bits);
    return beat_count_t'((32'(length) + (32'd1 << byte_bits) - 32'd1) >> byte_bits);
  endfunction

  // A node of the configuration ring. `wide_words` is 0 where rows have up to MessageDataWords words, otherwise the
  // words of its longest row: up to 127.
  typedef struct packed {
    logic [6:0] wide_words;
    logic [7:0] number;
  } node_t;

  localparam int unsigned MostNodes = 64;

  // Nodes in the order of the ring; those beyond its end are not looked at.
  typedef node_t [MostNodes-1:0] node_list_t;

  // A configuration access to one node's tables. `clear`, level, from a reset on until all tables are clear: in each cycle
  // the row `index` of every table of the node that decides becomes zero; `write` is 1, `data` and the wide row are 0.
  typedef struct packed {
    logic                           clear;
    logic                           write;
    logic [7:0]                     tab;
    logic [23:0]                    index;
    logic [3:0]                     words;
    logic [32*MessageDataWords-1:0] data;
  } cfg_req_t;

  // The same to a node with wide rows: the row of a write comes beside it, and n words stand in its upper 32 * n bits.
  typedef struct packed {
    logic        clear;
    logic        write;
    logic [7:0]  tab;
    logic [23:0] index;
    logic [6:0]  words;
  } wide_req_t;

  // The answer of either. `data` and `words` are those of a read.
  typedef struct packed {
    cfg_status_e                    status;
    logic [3:0]                     words;
    logic [32*MessageDataWords-1:0] data;
  } cfg_rsp_t;

  // Bits of all wide rows of the first `nodes` nodes.
  // "Bits of function variable are not used": the function takes some fields of a whole row or request.
  // verilator lint_off UNUSEDSIGNAL
  function automatic int unsigned wide_bits(node_list_t list, int unsigned nodes);
    // verilator lint_on UNUSEDSIGNAL
    int unsigned bits;
    bits = 0;
    for (int unsigned n = 0; n < MostNodes; n++) begin
      if (n < nodes) bits += 32 * 32'(list[n].wide_words);
    end
    return bits;
  endfunction

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

  // Copies of a packet with these destinations.
  function automatic logic [3:0] count_ones(logic [DestBits-1:0] mask);
    logic [3:0] n;
    n = '0;
    for (int unsigned i = 0; i < DestBits; i++) n += 4'(mask[i]);
    return n;
  endfunction

  // The secret of the flow hash, and what it is until the host writes it.
  typedef logic [FlowSecretWords-1:0][31:0] flow_secret_t;
  localparam flow_secret_t FlowSecretAtReset = {
    FlowSecretAtReset3, FlowSecretAtReset2, FlowSecretAtReset1, FlowSecretAtReset0
  };

  // verilator lint_on UNUSEDPARAM
endpackage
