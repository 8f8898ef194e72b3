/// What a message of the matcher's loop has with it in each of its two phases (sluice_l7_loop).
package sluice_l7_phase_pkg;

  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;

  // "Parameter is not used": a package serves several blocks, and each uses a part of it.
  // verilator lint_off UNUSEDPARAM
  /// Width of a row's number, beyond all rows too.
  localparam int unsigned NumberBits = 13;
  /// Rounds after which a message leaves for one that is urgent.
  localparam int unsigned Slice = 4;
  localparam int unsigned RoundBits = $clog2(Slice);
  /// Groups of columns that a stop byte is looked for in.
  localparam int unsigned StopGroups = 8;
  // verilator lint_on UNUSEDPARAM

  /// Columns of a look that hold the stop byte, and groups of them that have such.
  typedef struct packed {
    logic [L7SegmentBytes-1:0] columns;
    logic [StopGroups-1:0] groups;
  } l7_stops_t;

  /// What A does.
  typedef struct packed {
    // Compares a row.
    logic compare;
    // Moves: a message begins, or waited for a field.
    logic move;
    // Reads the window at the position, and the target's row.
    logic fetch;
    // Knows whether there was a stop byte.
    logic settle;
    // Looks for a stop byte.
    logic search;
    // Has 8 more bytes in its hash.
    logic hash;
  } l7_a_does_t;

  /// What B has to do for the message that A has left.
  typedef struct packed {
    // The row and the window have been read.
    logic row;
    logic move;
    logic fetch;
    // The window has been looked through for the stop byte.
    logic settle;
    logic search;
    logic hash;
  } l7_b_does_t;

  /// A message in phase A.
  typedef struct packed {
    place_t place;
    l7_context_t about;
    l7_a_does_t does;
    // A field is hashed; there is no target.
    logic hash;
    logic [31:0] crc;
    // The row, or the message itself, is not to be trusted.
    logic bad;
    // The row compares more than there is, or is one too many.
    logic broken;
    // The target's wide row is known.
    logic hashed;
    // Alternatives that are hit if the bytes are theirs, and anyway.
    logic [L7Alternatives-1:0] enabled;
    logic [L7Alternatives-1:0] anyway;
    logic [L7Alternatives-1:0][8*L7MatchBytes-1:0] bytes;
    l7_target_t [L7Alternatives-1:0] targets;
    l7_class_t [L7Alternatives-1:0] classes;
    // The held target where there is no row.
    l7_target_t miss;
    l7_class_t miss_class;
    logic [L7MatchBytes-1:0][7:0] window;
    // The window that is read.
    position_t look;
    logic [7:0] stop;
    // A stop byte was found; the look is behind it.
    logic found;
    // Position and end as they were, and what they are before skipping where the move is made.
    position_t position;
    position_t stop_at;
    logic past;
    position_t begin_at;
    position_t next_stop_at;
    // Past, and the move leads to no field.
    logic stays_past;
    // The move leads to a field that is not there: neither its begin nor its end is of use.
    logic absent;
    l7_move_t step;
    logic search;
    logic awaits;
    // Segments that have come, and whether these are all.
    logic [2**SegmentBits-1:0] come;
    logic complete;
    steps_t steps;
    // Rounds since it entered, up to the slice.
    logic [RoundBits-1:0] rounds;
  } l7_a_t;

  /// A message in phase B.
  typedef struct packed {
    place_t place;
    l7_context_t about;
    // Which of 8 bytes from the position on are in the view, or in the field that is hashed.
    logic [L7HashBytes-1:0] there;
    // The window was read for the position as it is.
    logic fetched;
    l7_b_does_t does;
    // It ends here if not.
    logic goes;
    logic wide;
    logic fault;
    logic hash;
    // Bytes that are hashed next.
    logic [3:0] count;
    logic [31:0] crc;
    logic hashed;
    l7_target_t target;
    logic [NumberBits-1:0] row;
    position_t position;
    position_t stop_at;
    logic past;
    position_t look;
    l7_move_t step;
    steps_t steps;
    logic [RoundBits-1:0] rounds;
    // Its state is what is saved, and its slice is over.
    logic yields;
  } l7_b_t;

  /// Which of the bytes at a position a length covers.
  function automatic logic [L7MatchBytes-1:0] l7_covered(logic [CompareBits-1:0] length);
    return length[CompareBits-1] ? '1 : ~({L7MatchBytes{1'b1}} << length[CompareBits-2:0]);
  endfunction

  /// Which of the first 8 bytes at a position wide rows hash.
  function automatic logic [L7HashBytes-1:0] l7_hashed(logic [3:0] length);
    return length[3] ? '1 : ~({L7HashBytes{1'b1}} << length[2:0]);
  endfunction

endpackage
