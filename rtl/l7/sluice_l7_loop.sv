/// The loop of a matcher: a step a cycle, of two messages in turn (docs/design/l7.md, "Matcher programs").
///
/// A message is in phase A and phase B by turns, a cycle each; while one is in A, another can be in B.
///
/// - **A** compares the row with the window, chooses the target and reads its row. Beside it the next window is read as if
///   the row were hit: a row moves in one way, whatever is hit.
/// - **B** gets the row, turns the window's bytes into order, and says where the next one would be.
///
/// What cannot go on so takes another round of 2 cycles: a miss that goes on (the window is read again), each 64 bytes that
/// are looked through for a stop byte, wide rows (their hash is made in B, their row read in A), a field that the walk has not
/// passed yet, and bytes that have not come yet. A field that a group hashes comes as a message of its own, 8 bytes a round.
///
/// A message enters in B when there is none to go on. One that ends leaves in the B behind its last A, where another one
/// enters at once. So of messages of one step each one leaves every other cycle.
///
/// An entry that is urgent makes a message leave that has had `Slice` rounds: `save_o` says where it is, and it comes again as
/// an entry that resumes, which costs a round. So a short program does not wait for long ones.
///
/// `exit_valid_o` and `save_valid_o` are not to be stalled. With `pause_i` none enters, which makes slots for reading the row RAM from outside.
module sluice_l7_loop
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
#(
    parameter int unsigned Places = 4,
    parameter int unsigned Rows = 512,
    localparam int unsigned RowBits = $clog2(Rows)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic      pause_i,
    input  logic      entry_valid_i,
    output logic      entry_ready_o,
    input  l7_entry_t entry_i,

    // What belongs to the message in B, in the same cycle.
    output place_t          place_o,
    output logic      [3:0] field_o,
    input  l7_field_t       field_i,

    // Segments that have come, with the one that comes now; all of them.
    input logic [Places-1:0][SegmentCountBits-1:0] loaded_i,
    input logic [Places-1:0] complete_i,

    // The row RAM, with a registered read.
    output logic                        row_read_o,
    output logic          [RowBits-1:0] row_index_o,
    input  l7_match_row_t               row_i,

    // sluice_l7_window.
    output logic                             look_o,
    output place_t                           look_place_o,
    output logic                             look_one_o,
    output logic                             look_segment_o,
    output logic   [  PositionBits-2:0]      look_at_o,
    output logic   [               7:0]      look_stop_o,
    input  logic   [  L7MatchBytes-1:0][7:0] lanes_i,
    input  logic   [L7SegmentBytes-1:0]      stops_i,

    output logic     exit_valid_o,
    output l7_exit_t exit_o,

    output logic      save_valid_o,
    output place_t    save_place_o,
    output l7_saved_t save_o
);

  localparam int unsigned LookColumnBits = $clog2(L7SegmentBytes);
  localparam int unsigned LaneBits = $clog2(L7MatchBytes);
  localparam int unsigned NumberBits = 13;
  localparam int unsigned Slice = 4;
  localparam int unsigned RoundBits = $clog2(Slice);

  // What A does.
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
  } a_does_t;

  // What B has to do for the message that A has left.
  typedef struct packed {
    // The row and the window have been read.
    logic row;
    logic move;
    logic fetch;
    // The window has been looked through for the stop byte.
    logic settle;
    logic search;
    logic hash;
  } b_does_t;

  typedef struct packed {
    place_t place;
    l7_context_t about;
    a_does_t does;
    // A field is hashed; there is no target.
    logic hash;
    logic begins;
    logic [31:0] crc;
    // What comes into the CRC: 8 bytes, where it does; the beginning, of so many bytes.
    logic mixes;
    logic begun;
    logic [3:0] count;
    logic [L7MatchBytes-1:0][7:0] word;
    // The row, or the message itself, is not to be trusted.
    logic bad;
    // The row compares more than there is.
    logic too_long;
    // The target's wide row is known.
    logic hashed;
    l7_alternative_t [L7Alternatives-1:0] alternatives;
    l7_class_t [L7Alternatives-1:0] classes;
    // The held target where there is no row.
    l7_target_t miss;
    l7_class_t miss_class;
    logic [L7MatchBytes-1:0] mask;
    logic [L7MatchBytes-1:0][7:0] window;
    logic in_field;
    logic at_end;
    // The window that is read: at `look`, or one byte or 64 behind it.
    position_t look;
    logic one;
    logic segment;
    logic [7:0] stop;
    // There are such bytes in the look.
    logic found;
    // Position and end that stay, and those behind the move.
    position_t position;
    position_t stop_at;
    logic past;
    position_t moved;
    position_t moved_stop_at;
    logic moved_past;
    l7_move_t step;
    logic search;
    logic awaits;
    logic [SegmentCountBits-1:0] loaded;
    logic complete;
    steps_t steps;
    // Rounds since it entered, up to the slice.
    logic [RoundBits-1:0] rounds;
  } a_t;

  typedef struct packed {
    place_t place;
    l7_context_t about;
    // Bytes of the view from the position on, 8 at most.
    logic [3:0] rest;
    // The window was read for the position as it is.
    logic fetched;
    b_does_t does;
    // It ends here if not.
    logic goes;
    logic wide;
    logic fault;
    logic hash;
    logic begins;
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
  } b_t;

  logic a_valid_q, b_valid_q;
  a_t a_q, a_d;
  b_t b_q, b_d;

  // --- Phase B -------------------------------------------------------------------------------------------------------------

  logic goes_on, enters, has_row, wide_row, has_wide, moves, to_field, absent, beyond;
  l7_move_t step;
  l7_target_t held;
  l7_context_t about;
  position_t begin_at, position, here, moved_here, stop_here, advance, moved, stop_at, behind, found_at;
  logic [L7MatchBytes-1:0][7:0] window, word;
  logic [31:0] crc;
  logic [ 3:0] hash_count;
  logic found, past, stop_known;

  assign save_valid_o = b_valid_q && b_q.goes && b_q.yields && entry_valid_i && entry_i.urgent && !pause_i;
  assign save_place_o = b_q.place;
  assign save_o = '{
          target: b_q.target,
          position: b_q.position,
          stop_at: b_q.stop_at,
          past: b_q.past,
          steps: b_q.steps
      };
  assign goes_on = b_valid_q && b_q.goes && !save_valid_o;
  assign enters = entry_valid_i && !pause_i && !goes_on;
  assign entry_ready_o = !goes_on && !pause_i;
  assign exit_valid_o = b_valid_q && !b_q.goes;
  assign exit_o = '{
          place: b_q.place,
          kind: b_q.target.kind,
          number: b_q.target.number,
          fault: b_q.fault,
          steps: b_q.steps,
          hashed: b_q.hash,
          hash: ~b_q.crc[SlotBits-1:0]
      };

  // The hash needs the window at the position; behind a move that made it past, another one was read.
  assign wide_row = goes_on && b_q.does.row && b_q.wide && !b_q.hashed;
  assign has_wide = wide_row && (b_q.fetched || !b_q.past);
  assign has_row = goes_on && b_q.does.row && !(b_q.wide && !b_q.hashed);
  assign moves = goes_on ? has_row || b_q.does.move : !entry_i.resumed;

  assign place_o = goes_on ? b_q.place : entry_i.place;
  assign step = !goes_on ? entry_i.step : b_q.does.row ? row_i.step : b_q.step;
  assign about = goes_on ? b_q.about : entry_i.about;
  assign held = goes_on ? b_q.target : entry_i.state.target;
  assign position = goes_on ? b_q.position : entry_i.state.position;
  assign field_o = step.field;

  // The move.
  assign to_field = moves && step.field != '0;
  assign absent = to_field && !field_i.present;
  assign here = goes_on && b_q.does.search ? b_q.look : position;
  assign begin_at = to_field ? field_i.start : here;
  always_comb begin
    advance = '0;
    if (has_row) advance = position_t'(row_i.length) + position_t'(step.skip);
    else if (moves) advance = position_t'(step.skip);
    else if (goes_on && b_q.does.hash) advance = position_t'(b_q.count);
  end
  assign moved_here = here + advance;
  assign stop_here = goes_on ? b_q.stop_at : entry_i.state.stop_at;
  assign past = goes_on ? b_q.past : entry_i.state.past;
  assign moved = to_field ? field_i.start + position_t'(step.skip) : moved_here;
  assign stop_at = to_field ? field_i.stop : stop_here;
  assign beyond = to_field ? !field_i.present || position_t'(step.skip) > field_i.size : moved_here > stop_here || past;
  assign behind = b_q.position + position_t'(row_i.length);

  // The window: its bytes in order.
  for (genvar i = 0; i < int'(L7MatchBytes); i++) begin : gen_turn
    assign window[i] = lanes_i[LaneBits'(i)+b_q.position[LaneBits-1:0]];
  end


  assign hash_count = b_q.does.hash ? b_q.count
      : b_q.target.length > 4'(L7MatchBytes) ? 4'(L7MatchBytes) : b_q.target.length;

  sluice_l7_hash u_hash (
      .lanes_i(lanes_i),
      .lane_i(b_q.position[LaneBits-1:0]),
      .count_i(hash_count),
      .rest_i(b_q.rest),
      .begin_i(!b_q.does.hash || b_q.begins),
      .register_i(b_q.crc),
      .word_o(word),
      .word_i(a_q.word),
      .begun_i(a_q.begun),
      .begun_count_i(a_q.count),
      .register_o(crc)
  );

  sluice_l7_until u_until (
      .stops_i(stops_i),
      .at_i(b_q.look),
      .found_o(found),
      .at_o(found_at)
  );

  // A stop byte that the application does not have is found nowhere.
  assign stop_known = step.stop != 2'd3 && step.stop <= about.stop_count;

  always_comb begin
    a_d.place = place_o;
    a_d.about = about;
    a_d.does = '{
        compare: has_row,
        move: goes_on ? b_q.does.move : !entry_i.resumed,
        fetch: goes_on ? b_q.does.fetch || wide_row : entry_i.resumed,
        settle: goes_on && b_q.does.settle,
        search: goes_on && b_q.does.search,
        hash: goes_on && b_q.does.hash
    };
    a_d.hash = goes_on ? b_q.hash : entry_i.hash;
    a_d.begins = !goes_on || (b_q.begins && !b_q.does.hash);
    a_d.crc = b_q.crc;
    a_d.word = word;
    a_d.mixes = goes_on && (b_q.does.hash || has_wide);
    a_d.begun = !b_q.does.hash || b_q.begins;
    a_d.count = hash_count;
    a_d.bad = goes_on ? has_row && (row_i.module_id != about.module_id || b_q.row >= NumberBits'(Rows)) : entry_i.bad;
    a_d.too_long = row_i.length > 4'(L7MatchBytes);
    a_d.hashed = has_wide;
    a_d.alternatives = row_i.alternatives;
    for (int unsigned i = 0; i < L7Alternatives; i++)
    a_d.classes[i] = l7_class(row_i.alternatives[i].target.kind, row_i.alternatives[i].target.log);
    a_d.miss = has_row ? row_i.miss : held;
    a_d.miss_class = has_row ? l7_class(row_i.miss.kind, row_i.miss.log) : l7_class(held.kind, held.log);
    for (int unsigned i = 0; i < L7MatchBytes; i++) a_d.mask[i] = row_i.length > 4'(i);
    a_d.window = window;
    a_d.in_field = has_row && !b_q.past && behind <= b_q.stop_at;
    a_d.at_end = behind == b_q.stop_at && !about.open;
    // Past, there is nothing to move over before the next field.
    a_d.search = moves && step.stop != '0 && !absent && !(past && !to_field);
    a_d.awaits = to_field && !field_i.known;
    a_d.look = moved;
    if (b_q.does.settle && goes_on) a_d.look = found ? found_at : b_q.look;
    a_d.found = found && stop_known;
    a_d.one = goes_on && b_q.does.settle && found;
    a_d.segment = goes_on && b_q.does.settle && !found;
    a_d.stop = step.stop[1] ? about.stops[1] : about.stops[0];
    a_d.position = position;
    a_d.stop_at = goes_on ? b_q.stop_at : entry_i.state.stop_at;
    a_d.past = past;
    a_d.moved = (beyond || a_d.search) ? begin_at : moved;
    a_d.moved_stop_at = stop_at;
    a_d.moved_past = beyond;
    a_d.step = step;
    a_d.loaded = '0;
    a_d.complete = 1'b0;
    for (int unsigned p = 0; p < Places; p++) begin
      if (place_o == place_t'(p)) begin
        a_d.loaded   = loaded_i[p];
        a_d.complete = complete_i[p];
      end
    end
    a_d.steps  = goes_on ? b_q.steps : entry_i.state.steps;
    a_d.rounds = goes_on ? b_q.rounds : '0;
  end

  // --- Phase A -------------------------------------------------------------------------------------------------------------

  logic hit, takes, misses, late, in_view, at_stop, got, again, spent, fault, leaves_hash;
  l7_target_t target;
  l7_class_t  target_class;
  position_t look, hash_left, bytes_left;
  logic [31:0] turned;
  logic [NumberBits-1:0] number;

  sluice_l7_compare u_compare (
      .alternatives_i(a_q.alternatives),
      .classes_i(a_q.classes),
      .miss_i(a_q.miss),
      .miss_class_i(a_q.miss_class),
      .mask_i(a_q.mask),
      .window_i(a_q.window),
      .compare_i(a_q.does.compare),
      .in_field_i(a_q.in_field),
      .at_end_i(a_q.at_end),
      .hit_o(hit),
      .target_o(target),
      .class_o(target_class)
  );

  // The bits that were added are zero, so this is an addition of one bit to each half.
  assign look = a_q.look + {{PositionBits - LookColumnBits - 1{1'b0}}, a_q.segment, {LookColumnBits - 1{1'b0}}, a_q.one};
  // A look needs the segment of its position, and the one behind.
  assign late = !a_q.complete && SegmentCountBits'(a_q.loaded) <= SegmentCountBits'(look[PositionBits-1:LookColumnBits]) + 1'b1;

  assign takes = hit || a_q.does.move;
  assign misses = a_q.does.compare && !hit;

  // The stop byte's end. `look` is behind it, or behind what was looked through.
  assign in_view = look <= a_q.stop_at;
  assign at_stop = look == a_q.stop_at;
  assign got = a_q.does.settle && a_q.found && in_view;
  assign again = a_q.does.settle && !a_q.found && in_view && !at_stop;
  assign spent = a_q.does.settle && !got && !again;

  // Wide rows.
  assign turned = ~crc;
  always_comb begin
    number = NumberBits'(target.number);
    if (a_q.hashed) begin
      number = NumberBits'(a_q.miss.number);
      number = number + NumberBits'(wide_bits(turned, a_q.miss.turn, a_q.miss.log));
    end
  end

  function automatic logic [MostWideLog-1:0] wide_bits(logic [31:0] of, logic [4:0] turn, logic [3:0] log);
    for (int unsigned i = 0; i < MostWideLog; i++) begin
      wide_bits[i] = of[5'(i)+turn] && log > 4'(i);
    end
  endfunction

  assign fault = a_q.hash ? 1'b0
      : a_q.bad || (a_q.does.compare && (a_q.too_long || a_q.steps >= steps_t'(L7MostSteps))) || target_class.bad;

  // Beyond the view there are zeros.
  assign bytes_left = a_q.about.bytes - look;
  assign hash_left = a_q.moved_stop_at - look;
  assign leaves_hash = a_q.does.hash && at_stop;

  always_comb begin
    b_d.place = a_q.place;
    b_d.about = a_q.about;
    b_d.rest = look >= a_q.about.bytes ? 4'd0
        : bytes_left >= position_t'(L7MatchBytes) ? 4'(L7MatchBytes) : bytes_left[3:0];
    b_d.fetched = a_q.does.fetch;
    b_d.does = '0;
    if (a_q.does.move && a_q.awaits) b_d.does.move = 1'b1;
    else if (hit && a_q.awaits) b_d.does.move = 1'b1;
    else if (misses) b_d.does.fetch = 1'b1;
    else if ((takes && a_q.search) || a_q.does.search || again) begin
      b_d.does.search = late;
      b_d.does.settle = !late;
    end else if (late) b_d.does.fetch = 1'b1;
    else if (a_q.hash) b_d.does.hash = 1'b1;
    else b_d.does.row = 1'b1;
    b_d.goes = a_q.hash ? !leaves_hash : target_class.goes && !fault;
    b_d.wide = target_class.wide;
    b_d.fault = fault;
    b_d.hash = a_q.hash;
    b_d.begins = a_q.begins;
    b_d.count = !a_q.begins ? 4'(L7HashBytes) : hash_left == '0 ? 4'd0 : {1'b0, hash_left[2:0] - 3'd1} + 4'd1;
    b_d.crc = a_q.mixes ? crc : a_q.crc;
    b_d.hashed = a_q.hashed;
    b_d.target = target;
    b_d.row = number;
    b_d.position = a_q.position;
    b_d.stop_at = a_q.stop_at;
    b_d.past = a_q.past;
    if (takes && !a_q.awaits) begin
      b_d.position = a_q.moved;
      b_d.stop_at = a_q.moved_stop_at;
      b_d.past = a_q.moved_past;
    end
    if (got) begin
      b_d.position = look;
      b_d.past = 1'b0;
    end
    if (spent) b_d.past = 1'b1;
    if (a_q.does.hash) b_d.position = look;
    b_d.look   = look;
    b_d.step   = a_q.step;
    b_d.rounds = a_q.rounds == RoundBits'(Slice - 1) ? a_q.rounds : a_q.rounds + 1'b1;
    b_d.yields = b_d.does.row && !a_q.hashed && a_q.rounds == RoundBits'(Slice - 1);
    b_d.steps  = a_q.steps + steps_t'((a_q.does.compare && !a_q.bad) || a_q.does.hash);
  end

  assign row_read_o = a_valid_q;
  assign row_index_o = number[RowBits-1:0];
  assign look_o = a_valid_q;
  assign look_place_o = a_q.place;
  assign look_at_o = a_q.look[PositionBits-2:0];
  assign look_one_o = a_q.one;
  assign look_segment_o = a_q.segment;
  assign look_stop_o = a_q.stop;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
    end else begin
      a_valid_q <= goes_on || enters;
      b_valid_q <= a_valid_q;
    end
  end

  always_ff @(posedge clk_i) begin
    a_q <= a_d;
    b_q <= b_d;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && a_valid_q) begin
      AMessageDoesOneThing_A : assert ($onehot(a_q.does));
    end
    if (rst_ni && goes_on) begin
      AMessageWantsOneThing_A : assert ($onehot(b_q.does));
    end
  end
`endif

endmodule
