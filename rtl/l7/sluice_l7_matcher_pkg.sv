/// What passes between the parts of a matcher (sluice_l7_matcher).
package sluice_l7_matcher_pkg;

  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;

  // "Parameter is not used": a package serves all blocks; each uses a part of it.
  // verilator lint_off UNUSEDPARAM
  /// Width of the number of a message's place in its matcher: 8 places at most.
  localparam int unsigned PlaceBits = 3;
  /// Width of the number of a segment in a view.
  localparam int unsigned SegmentBits = $clog2(L7ViewSegments);
  /// Width of a position's byte in its view, modulo as many segments as the number can say.
  localparam int unsigned LookBits = SegmentBits + $clog2(L7SegmentBytes);
  /// Width of a count of segments.
  localparam int unsigned SegmentCountBits = $clog2(L7ViewSegments + 1);
  /// Width of a count of compared bytes.
  localparam int unsigned CompareBits = $clog2(L7MatchBytes + 1);
  /// Steps that a message can be charged: its compares with the one too many, and what a group hashes.
  localparam int unsigned StepBits = $clog2(L7MostSteps + 1 + L7ViewBytes / L7HashBytes + 1);
  /// Bits of a hash that choose a slot of a group.
  localparam int unsigned SlotBits = $clog2(L7Slots);
  /// Most wide rows, as a power of two.
  localparam int unsigned MostWideLog = 9;
  // verilator lint_on UNUSEDPARAM

  typedef logic [PlaceBits-1:0] place_t;
  typedef logic [PositionBits-1:0] position_t;
  typedef logic [StepBits-1:0] steps_t;

  /// What the loop needs to know of a message.
  typedef struct packed {
    logic [ModuleBits-1:0] module_id;
    logic open;
    position_t bytes;
    logic [1:0][7:0] stops;
    logic [1:0] stop_count;
  } l7_context_t;

  /// A message that left the loop for another one, between two steps.
  typedef struct packed {
    l7_target_t target;
    position_t position;
    position_t stop_at;
    logic past;
    steps_t steps;
  } l7_saved_t;

  /// A message that enters the loop: with its first move, with the field that a group hashes, or where it left.
  typedef struct packed {
    place_t place;
    l7_context_t about;
    l7_move_t step;
    // Of one that has not been there before: at 0, past, no steps.
    l7_saved_t state;
    /// It goes on where it left; there is no move.
    logic resumed;
    /// It need not wait until another one has ended.
    logic urgent;
    /// Hash the field of the move; there is no target.
    logic hash;
    /// There is no such start row, or it is another module's.
    logic bad;
  } l7_entry_t;

  /// A field as the walk found it. Start and end are void when it is absent.
  typedef struct packed {
    /// The walk has passed the place where it would stand.
    logic known;
    logic present;
    position_t start;
    position_t stop;
  } l7_field_t;

  /// A message that leaves the loop.
  typedef struct packed {
    place_t place;
    logic [2:0] kind;
    logic [11:0] number;
    logic fault;
    steps_t steps;
    /// Its field has been hashed; kind and number are void.
    logic hashed;
    logic [SlotBits-1:0] hash;
  } l7_exit_t;

  /// What a message's goal has come to.
  typedef struct packed {
    logic fault;
    logic drop;
    logic [7:0] queue_id;
  } l7_settled_t;

  /// What the target of a row is good for.
  typedef struct packed {
    /// It is a row.
    logic goes;
    /// It is one of wide rows.
    logic wide;
    /// It is nothing at all.
    logic bad;
  } l7_class_t;

  function automatic l7_class_t l7_class(logic [2:0] kind, logic [3:0] log);
    l7_class.wide = kind == L7GoalRows;
    l7_class.goes = kind == L7GoalRow || (kind == L7GoalRows && log <= 4'(MostWideLog));
    l7_class.bad  = kind > L7GoalRows || (kind == L7GoalRows && log > 4'(MostWideLog));
  endfunction

endpackage
