/// What passes between blocks of the l7 engine (docs/design/l7.md).
package sluice_l7_pkg;

  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;

  /// Width of a position in a view: 0 to `L7ViewBytes`.
  localparam int unsigned PositionBits = $clog2(L7ViewBytes + 1);
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

endpackage
