/// What passes between blocks of the l7 engine (docs/design/l7.md).
package sluice_l7_pkg;

  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM

  /// Width of a message's number of packets, and of a packet's number, as on the wire.
  localparam int unsigned PacketsBits = 8;
  /// Width of a position in a view: 0 to `L7ViewBytes`, and so far beyond as a compare and a skip lead.
  localparam int unsigned PositionBits = $clog2(L7ViewBytes + L7MatchBytes + 255 + 1);
  /// Width of a message's place in the engine, given back with its verdict. Enough for every target.
  localparam int unsigned TagBits = 9;

  /// A message on its way into a matcher. Its view follows in segments.
  typedef struct packed {
    /// Place in the engine.
    logic [TagBits-1:0] tag;
    /// Whose it is.
    logic [ModuleBits-1:0] module_id;
    /// All of the view is field 1.
    logic raw;
    /// The payload goes on behind the view.
    logic open;
    /// Bytes of the view, 0 to `L7ViewBytes`.
    logic [PositionBits-1:0] bytes;
    /// Start row; without `started` the message goes to `otherwise` at once.
    logic started;
    logic [11:0] start;
    logic [1:0][7:0] stops;
    logic [1:0] stop_count;
    /// The application's default.
    l7_target_t otherwise;
    /// Session and message ID.
    logic [31:0] session;
    logic [31:0] message;
  } l7_job_t;

  /// What becomes of a message.
  typedef struct packed {
    logic [TagBits-1:0] tag;
    logic [ModuleBits-1:0] module_id;
    /// Fields cannot be told apart: dropped as `l7_malformed`; the rest but `steps` is void.
    logic malformed;
    /// Its program came to a row of another module or to no end.
    logic fault;
    /// A rule or the default says drop.
    logic drop;
    /// Queue otherwise.
    logic [7:0] queue_id;
    /// Steps that are charged.
    logic [9:0] steps;
  } l7_verdict_t;

  /// What is decided of a packet.
  typedef struct packed {
    /// It is dropped for `kind`; otherwise it goes to `queue_id`.
    logic drop;
    l7_event_e kind;
    logic [7:0] queue_id;
  } l7_decision_t;

  /// Which message a packet belongs to.
  typedef struct packed {
    logic [ModuleBits-1:0] module_id;
    logic [31:0] source;
    logic [15:0] port;
    logic [31:0] session;
    logic [31:0] message;
  } l7_key_t;
  localparam int unsigned KeyBits = $bits(l7_key_t);

  /// How a packet in the staging buffer comes to its decision.
  typedef enum logic [1:0] {
    L7WayDirect,  // it has one
    L7WayAlone,   // by its own verdict: raw applications
    L7WayFirst,   // by its verdict, or by its message's entry where there is one
    L7WayLater    // by its message's entry
  } l7_way_e;

  /// What the filter found out about a packet that waits.
  typedef struct packed {
    l7_way_e way;
    /// Of a direct one.
    l7_decision_t decision;
    l7_key_t key;
    /// Packets of its message, 1 or more, and which of them it is.
    logic [PacketsBits-1:0] packets;
    logic [PacketsBits-1:0] number;
  } l7_packet_t;

  /// A packet whose last beat has come. `bad`: its UDP checksum is wrong.
  typedef struct packed {
    logic [TagBits-1:0] slot;
    logic bad;
    l7_packet_t packet;
  } l7_end_t;

  /// Width of an entry's place in the message table. Enough for every target.
  localparam int unsigned EntryBits = 12;
  /// Bytes of a packet, or of its part of a message.
  localparam int unsigned LengthBits = 14;
  /// Bytes of a message with its headers.
  localparam int unsigned TotalBits = LengthBits + PacketsBits;

  /// Which entry of the message table a packet belongs to.
  typedef struct packed {
    /// It has one.
    logic valid;
    logic [EntryBits-1:0] place;
    /// Of this one of the place's messages: the next one has the other mark.
    logic mark;
    /// It is the packet that began the message.
    logic begins;
  } l7_member_t;

  /// A decided packet.
  typedef struct packed {
    logic [TagBits-1:0] slot;
    l7_decision_t decision;
    /// Its program was a fault.
    logic fault;
    l7_member_t member;
    /// A repeat of its message's first packet, which has no entry of its own here.
    logic repeated;
  } l7_decided_t;

  /// What the receive side has to know of a packet that waits.
  typedef struct packed {
    logic [ModuleBits-1:0] module_id;
    /// Bytes of headers and payload, and of the payload.
    logic [LengthBits-1:0] length;
    logic [LengthBits-1:0] payload;
    logic [PacketsBits-1:0] packets;
    logic [PacketsBits-1:0] number;
    logic [31:0] source;
    logic [15:0] port;
    logic [31:0] session;
    logic [31:0] message;
    logic [7:0] application;
    logic [7:0] message_type;
    /// As in the port's row.
    logic [L7AgeBits-1:0] expiry;
  } l7_ticket_t;

  /// Where a decided packet goes: as a frame, nowhere, or into host memory.
  typedef struct packed {
    logic [TagBits-1:0] slot;
    l7_decision_t decision;
    logic fault;
    /// Into host memory; there is an order for it (`l7_order_t`).
    logic consumed;
  } l7_sorted_t;

  /// What a completion says, but for its status and length.
  typedef struct packed {
    logic [7:0] ring;
    logic [31:0] cookie;
    logic [31:0] source;
    logic [15:0] port;
    logic [31:0] session;
    logic [31:0] message;
    logic [7:0] application;
    logic [7:0] message_type;
    logic [PacketsBits-1:0] packets;
  } l7_sender_t;

  /// A packet's way into host memory.
  typedef struct packed {
    logic [63:0] address;
    /// Bytes that are written; none (`empty`): nobody waits for it.
    logic [LengthBits-1:0] length;
    logic empty;
    /// They begin behind the header.
    logic later;
    /// Its message has an entry, at `place`. Otherwise it is a message of its own.
    logic entry;
    logic [EntryBits-1:0] place;
    /// Of a message of its own.
    l7_sender_t sender;
  } l7_order_t;

  /// Host memory has a packet.
  typedef struct packed {
    logic entry;
    logic [EntryBits-1:0] place;
    l7_sender_t sender;
    logic [LengthBits-1:0] length;
  } l7_written_t;

  /// A message has ended.
  typedef struct packed {
    l7_sender_t sender;
    logic [7:0] status;
    logic [TotalBits-1:0] length;
  } l7_ended_t;

  /// A message's entry that is not needed any more.
  typedef struct packed {
    logic [EntryBits-1:0]  place;
    logic                  mark;
    logic [ModuleBits-1:0] module_id;
  } l7_done_t;

  /// Width of tags at the host-memory port: all ones is a completion.
  localparam int unsigned DmaTagBits = 8;

  /// A descriptor of a read or write of host memory.
  typedef struct packed {
    logic [DmaTagBits-1:0] tag;
    logic [15:0] length;
    logic [63:0] address;
  } l7_dma_t;

  /// A packet that is done with.
  typedef struct packed {
    token_t token;
    /// Bytes of the frame.
    logic [LengthBits-1:0] length;
    l7_trace_row_t trace;
  } l7_record_t;

  /// What every beat carries inside of the engine.
  typedef struct packed {
    token_t token;
    sideband_t side;
  } l7_side_t;

  /// A target's configuration, with other numbers of matchers and of a message's packets where these are not 0.
  function automatic l7_cfg_t l7_cfg_of(int unsigned target, int unsigned matchers, int unsigned packets);
    l7_cfg_t cfg;
    cfg = l7_cfg(target);
    if (matchers != 0) cfg.matchers = matchers;
    if (packets != 0) cfg.message_packets = packets;
    return cfg;
  endfunction

  // "Bits of function variable are not used": the function takes some fields of a whole configuration.
  // verilator lint_off UNUSEDSIGNAL
  /// Rows of the longest table: cycles of clearing them.
  function automatic int unsigned l7_clear_rows(l7_cfg_t cfg);
    // verilator lint_on UNUSEDSIGNAL
    int unsigned rows;
    // Those of the matchers are cleared one behind the other, a row in 2 cycles.
    rows = 2 * (cfg.rows + cfg.starts + cfg.groups);
    if (rows < cfg.modules) rows = cfg.modules;
    if (rows < cfg.entries) rows = cfg.entries;
    if (rows < cfg.rings) rows = cfg.rings;
    if (rows < cfg.ports) rows = cfg.ports;
    if (rows < cfg.entries / L7TableHashes / L7TableWays) rows = cfg.entries / L7TableHashes / L7TableWays;
    return rows;
  endfunction

  // verilator lint_on UNUSEDPARAM
endpackage
