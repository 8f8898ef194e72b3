/// Phase B of the loop (sluice_l7_loop): takes the row and turns the window's bytes into order, says where the row moves to,
/// and makes of both what phase A needs. A message that enters comes in here too.
///
/// Sums are made of each case alone and chosen behind: so no addition waits for the choice.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_prepare
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
#(
    parameter int unsigned Places = 4,
    parameter int unsigned Rows   = 512
) (
    // The message in B goes on; the entry enters otherwise.
    input logic      goes_on_i,
    // "Bits of signal are not used": some are for who leaves.
    // verilator lint_off UNUSEDSIGNAL
    input l7_b_t     b_i,
    input l7_entry_t entry_i,
    // verilator lint_on UNUSEDSIGNAL

    // What has been read for the message in B.
    input l7_match_row_t                         row_i,
    input logic          [L7MatchBytes-1:0][7:0] lanes_i,
    input l7_stops_t                             stops_i,

    // The fields that both move to.
    output logic      [3:0] field_o,
    input  l7_field_t       field_i,
    input  l7_field_t       entry_field_i,

    input logic [Places-1:0][2**SegmentBits-1:0] come_i,
    input logic [Places-1:0]                     complete_i,

    output l7_a_t a_o
);

  localparam int unsigned LaneBits = $clog2(L7HashBytes);
  localparam int unsigned Words = L7MatchBytes / L7HashBytes;

  logic wide_row, has_wide, has_row, moves, to_field, entry_to_field;
  l7_move_t step, b_step;
  l7_target_t  held;
  l7_context_t about;
  l7_field_t   field;
  position_t position, here, advance, straight, to_its_field, entry_at, room, behind_stop;
  logic [L7MatchBytes-1:0][7:0] window, turned;
  logic [L7MatchBytes-1:0] covered;
  logic [31:0] crc;
  logic found, past, in_field, at_end;

  // The hash needs the window at the position; behind a move that made it past, another one was read.
  assign wide_row = b_i.does.row && b_i.wide && !b_i.hashed;
  assign has_wide = goes_on_i && wide_row && (b_i.fetched || !b_i.past);
  assign has_row = goes_on_i && b_i.does.row && !(b_i.wide && !b_i.hashed);

  // --- The move ---
  // An entry that resumes has an empty one.
  assign b_step = b_i.does.row ? row_i.step : b_i.step;
  assign field_o = b_step.field;
  assign step = goes_on_i ? b_step : entry_i.step;
  assign moves = !goes_on_i || has_row || b_i.does.move;
  assign to_field = ((b_i.does.row && !wide_row) || b_i.does.move) && b_step.field != '0;
  assign entry_to_field = entry_i.step.field != '0;
  assign field = goes_on_i ? field_i : entry_field_i;

  assign here = b_i.does.search ? b_i.look : b_i.position;
  always_comb begin
    advance = '0;
    if (b_i.does.row && !wide_row) advance = position_t'(row_i.length) + position_t'(row_i.step.skip);
    else if (b_i.does.hash) advance = position_t'(b_i.count);
  end
  assign straight = here + advance;
  assign to_its_field = field_i.start + position_t'(b_step.skip);
  assign entry_at = (entry_to_field ? entry_field_i.start : entry_i.state.position) + position_t'(entry_i.step.skip);

  assign position = goes_on_i ? b_i.position : entry_i.state.position;
  assign past = goes_on_i ? b_i.past : entry_i.state.past;

  // --- The window: its bytes in order, and its hash ---
  for (genvar w = 0; w < int'(Words); w++) begin : gen_word
    logic [L7HashBytes-1:0][7:0] lanes;
    assign lanes = lanes_i[w*L7HashBytes+:L7HashBytes];
    assign turned[w*L7HashBytes+:L7HashBytes] =
        (8 * L7HashBytes)'({lanes, lanes} >> {b_i.position[LaneBits-1:0], 3'd0});
  end
  assign covered = l7_covered(row_i.length);
  for (genvar i = 0; i < int'(L7MatchBytes); i++) begin : gen_turn
    assign window[i] = covered[i] ? turned[i] : 8'h0;
  end

  sluice_l7_hash u_hash (
      .bytes_i(turned[L7HashBytes-1:0]),
      .there_i(b_i.there & (b_i.hash ? '1 : l7_hashed(b_i.target.length))),
      .register_i(b_i.hash ? b_i.crc : '1),
      .register_o(crc)
  );

  sluice_l7_until u_until (
      .stops_i(stops_i),
      .at_i(b_i.look),
      .found_o(found),
      .behind_o(behind_stop)
  );

  // --- What A compares ---
  assign about = goes_on_i ? b_i.about : entry_i.about;
  assign held = goes_on_i ? b_i.target : entry_i.state.target;
  // Not past, the end is not in front of the position.
  assign room = b_i.stop_at - b_i.position;
  assign in_field = !b_i.past && ((|room[PositionBits-1:CompareBits]) || row_i.length <= room[CompareBits-1:0]);
  assign at_end = !(|room[PositionBits-1:CompareBits]) && row_i.length == room[CompareBits-1:0] && !b_i.about.open;

  always_comb begin
    a_o.place = goes_on_i ? b_i.place : entry_i.place;
    a_o.about = about;
    a_o.does = '{
        compare: has_row,
        move: goes_on_i ? b_i.does.move : !entry_i.resumed,
        fetch: goes_on_i ? b_i.does.fetch || wide_row : entry_i.resumed,
        settle: goes_on_i && b_i.does.settle,
        search: goes_on_i && b_i.does.search,
        hash: goes_on_i && b_i.does.hash
    };
    a_o.hash = goes_on_i ? b_i.hash : entry_i.hash;
    a_o.crc = !goes_on_i ? '1 : (b_i.does.hash || wide_row) ? crc : b_i.crc;
    a_o.bad = goes_on_i ? has_row && (row_i.module_id != b_i.about.module_id || b_i.row >= NumberBits'(Rows)) : entry_i.bad;
    a_o.broken = has_row && ((row_i.length[CompareBits-1] && (|row_i.length[CompareBits-2:0])) || b_i.steps[StepBits-1] || (&b_i.steps[StepBits-2:0]));
    a_o.hashed = has_wide;
    for (int unsigned i = 0; i < L7Alternatives; i++) begin
      a_o.anyway[i]  = has_row && row_i.alternatives[i].valid && row_i.alternatives[i].anyway;
      a_o.enabled[i] = has_row && row_i.alternatives[i].valid && in_field && (at_end || !row_i.alternatives[i].ends);
      a_o.bytes[i]   = row_i.alternatives[i].bytes;
      a_o.targets[i] = row_i.alternatives[i].target;
      a_o.classes[i] = l7_class(row_i.alternatives[i].target.kind, row_i.alternatives[i].target.log);
    end
    a_o.miss = has_row ? row_i.miss : held;
    a_o.miss_class = has_row ? l7_class(row_i.miss.kind, row_i.miss.log) : l7_class(held.kind, held.log);
    a_o.window = window;
    a_o.look = !goes_on_i ? entry_at : b_i.does.settle ? behind_stop : to_field ? to_its_field : straight;
    a_o.stop = step.stop[1] ? about.stops[1] : about.stops[0];
    // A stop byte that the application does not have is found nowhere.
    a_o.found = found && step.stop != 2'd3 && step.stop <= about.stop_count;
    a_o.position = position;
    a_o.stop_at = goes_on_i ? b_i.stop_at : entry_i.state.stop_at;
    a_o.past = past;
    a_o.begin_at = goes_on_i ? here : entry_i.state.position;
    a_o.next_stop_at = a_o.stop_at;
    a_o.stays_past = past;
    a_o.absent = 1'b0;
    a_o.awaits = 1'b0;
    if (goes_on_i ? to_field : entry_to_field) begin
      a_o.begin_at = field.start;
      a_o.next_stop_at = field.stop;
      a_o.stays_past = 1'b0;
      a_o.absent = !field.present;
      a_o.awaits = !field.known;
    end
    // Past, there is nothing to move over before the next field.
    a_o.search = moves && step.stop != '0 && !a_o.absent && !a_o.stays_past;
    a_o.step = step;
    a_o.come = '0;
    a_o.complete = 1'b0;
    for (int unsigned p = 0; p < Places; p++) begin
      if (a_o.place == place_t'(p)) begin
        a_o.come = come_i[p];
        a_o.complete = complete_i[p];
      end
    end
    a_o.steps  = goes_on_i ? b_i.steps : entry_i.state.steps;
    a_o.rounds = goes_on_i ? b_i.rounds : '0;
  end

endmodule
