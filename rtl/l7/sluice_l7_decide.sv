/// Phase A of the loop (sluice_l7_loop): compares, chooses the target and its row, and says what B has to do.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_decide
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
(
    // "Bits of signal are not used": the stop byte is for the window.
    // verilator lint_off UNUSEDSIGNAL
    input  l7_a_t                  a_i,
    // verilator lint_on UNUSEDSIGNAL
    output l7_b_t                  b_o,
    // The row of the target.
    output logic  [NumberBits-1:0] row_o
);

  localparam int unsigned LookColumnBits = $clog2(L7SegmentBytes);
  localparam int unsigned LaneBits = $clog2(L7MatchBytes);

  logic hit, takes, misses, late, in_view, at_stop, beyond, got, again, spent, fault, leaves_hash;
  l7_target_t target;
  l7_class_t target_class;
  logic [PositionBits:0] bytes_left;
  logic [MostWideLog-1:0] turned, wide_mask;
  logic [31:0] by_ones;
  logic [31:0][3:0] ones;
  logic [1:0][MostWideLog-1:0] half;
  logic [1:0][MostWideLog-1:0][3:0] by_fours;
  logic in_both;
  logic [SegmentBits-1:0] needed;
  logic [2**SegmentBits-1:0] here_come, next_come;
  logic [NumberBits-1:0] wide_number;

  sluice_l7_compare u_compare (
      .enabled_i(a_i.enabled),
      .anyway_i(a_i.anyway),
      .bytes_i(a_i.bytes),
      .targets_i(a_i.targets),
      .classes_i(a_i.classes),
      .miss_i(a_i.miss),
      .miss_class_i(a_i.miss_class),
      .window_i(a_i.window),
      .hashed_i(a_i.hashed),
      .wide_number_i(wide_number),
      .hit_o(hit),
      .row_o(row_o),
      .target_o(target),
      .class_o(target_class)
  );

  // A look needs the segment of its position, and the one behind where its bytes lie in both. Of a field that is not there it
  // needs none.
  assign here_come = a_i.come;
  assign next_come = {1'b0, a_i.come[2**SegmentBits-1:1]};
  assign in_both = (&a_i.look[LookColumnBits-1:LaneBits]) && (|a_i.look[LaneBits-1:0]);
  // At the end of a whole view there is nothing to come.
  assign needed = a_i.look[LookColumnBits+:SegmentBits];
  assign late = !a_i.complete && !a_i.absent && !(next_come[needed] || (here_come[needed] && !in_both));

  assign takes = hit || a_i.does.move;
  assign misses = a_i.does.compare && !hit;

  // Of a move: the position that it leads to. Of a search: the stop byte's end, or behind what was looked through.
  assign in_view = a_i.look <= a_i.next_stop_at;
  assign at_stop = a_i.look == a_i.next_stop_at;
  assign beyond = !in_view || a_i.stays_past || a_i.absent;
  assign got = a_i.does.settle && a_i.found && in_view;
  assign again = a_i.does.settle && !a_i.found && in_view && !at_stop;
  assign spent = a_i.does.settle && !got && !again;

  // Wide rows.
  // A LUT for each stage: by 0 to 3, by fours, and by 16 with what the number of rows lets through.
  always_comb begin
    for (int unsigned i = 0; i < 32; i++) begin
      for (int unsigned k = 0; k < 4; k++) ones[i][k] = !a_i.crc[(i+k)%32];
      by_ones[i] = ones[i][a_i.miss.turn[1:0]];
    end
    for (int unsigned h = 0; h < 2; h++) begin
      for (int unsigned i = 0; i < MostWideLog; i++) begin
        for (int unsigned k = 0; k < 4; k++) by_fours[h][i][k] = by_ones[(16*h+i+4*k)%32];
        half[h][i] = by_fours[h][i][a_i.miss.turn[3:2]];
      end
    end
  end
  assign turned = half[a_i.miss.turn[4]];
  assign wide_mask = ~({MostWideLog{1'b1}} << a_i.miss.log);
  assign wide_number = NumberBits'(a_i.miss.number) + NumberBits'(turned & wide_mask);

  assign fault = !a_i.hash && (a_i.bad || a_i.broken || target_class.bad);

  // Beyond the view there are zeros, and beyond a field that is hashed.
  assign bytes_left = {1'b0, a_i.hash ? a_i.next_stop_at : a_i.about.bytes} - {1'b0, a_i.look};
  assign leaves_hash = a_i.does.hash && at_stop;

  always_comb begin
    b_o.place = a_i.place;
    b_o.about = a_i.about;
    b_o.there = (bytes_left[PositionBits] || a_i.absent) ? '0
        : (|bytes_left[PositionBits-1:3]) ? '1 : ~({L7HashBytes{1'b1}} << bytes_left[2:0]);
    b_o.fetched = a_i.does.fetch;
    b_o.does = '0;
    if (takes && a_i.awaits) b_o.does.move = 1'b1;
    else if (misses) b_o.does.fetch = 1'b1;
    else if ((takes && a_i.search) || a_i.does.search || again) begin
      b_o.does.search = late;
      b_o.does.settle = !late;
    end else if (late) b_o.does.fetch = 1'b1;
    else if (a_i.hash) b_o.does.hash = 1'b1;
    else b_o.does.row = 1'b1;
    b_o.goes = a_i.hash ? !leaves_hash : target_class.goes && !a_i.bad && !a_i.broken;
    b_o.wide = target_class.wide;
    b_o.fault = fault;
    b_o.hash = a_i.hash;
    // The first bytes of a field are those that are too many for groups of 8.
    b_o.count = a_i.absent ? 4'd0 : (|bytes_left[PositionBits-1:3]) ? 4'(L7HashBytes) : {1'b0, bytes_left[2:0]};
    b_o.crc = a_i.crc;
    b_o.hashed = a_i.hashed;
    b_o.target = target;
    b_o.row = row_o;
    b_o.position = a_i.position;
    b_o.stop_at = a_i.stop_at;
    b_o.past = a_i.past;
    if (takes && !a_i.awaits) begin
      b_o.position = (beyond || a_i.search) ? a_i.begin_at : a_i.look;
      b_o.stop_at = a_i.next_stop_at;
      b_o.past = beyond;
      if (a_i.absent) begin
        b_o.position = '0;
        b_o.stop_at  = '0;
      end
    end
    if (got) begin
      b_o.position = a_i.look;
      b_o.past = 1'b0;
    end
    if (spent) b_o.past = 1'b1;
    if (a_i.does.hash) b_o.position = a_i.look;
    b_o.look   = a_i.look;
    b_o.step   = a_i.step;
    b_o.rounds = a_i.rounds == RoundBits'(Slice - 1) ? a_i.rounds : a_i.rounds + 1'b1;
    b_o.yields = b_o.does.row && !a_i.hashed && a_i.rounds == RoundBits'(Slice - 1);
    b_o.steps  = a_i.steps + steps_t'((a_i.does.compare && !a_i.bad) || a_i.does.hash);
  end

endmodule
