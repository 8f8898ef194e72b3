/// Gives out places in a core's packet memory, in units of 16 rows, and takes them back in any order.
///
/// A search goes round the memory, a unit a cycle, and keeps a run of free units; the run may go over the memory's end. `want_i` asks for
/// `need_i` units; `found_o` says that the run has them from unit `first_o` on. Where a taken unit ends a
/// run that is too short, the run is given up, once all that came back is free again. So whoever asks finds a place as soon as
/// there is one with nothing in between.
///
/// The last `reserved_i` units are not given out. When that grows, units there are still had: `clean_o` says that nobody has one.
///
/// `free_valid_i` gives units back. What comes back waits for its turn: each place has a unit of its own at least, so there is room for as many as
/// there are units.
///
/// Latency: as many cycles as a place has units, while the units in front of the search are free; the search goes on between packets.
/// Throughput: a unit a cycle given out, a place in as many cycles as it has units and one taken back. Never stalls.
module sluice_xdp_places #(
    parameter int unsigned Units = 64,
    // Units of the largest place.
    parameter int unsigned Most = 10,
    localparam int unsigned UnitBits = $clog2(Units),
    localparam int unsigned CountBits = $clog2(Units + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic [CountBits-1:0] reserved_i,
    output logic                 clean_o,

    input  logic                 want_i,
    input  logic [CountBits-1:0] need_i,
    output logic                 found_o,
    output logic [ UnitBits-1:0] first_o,
    input  logic                 take_i,

    input logic                 free_valid_i,
    input logic [ UnitBits-1:0] free_first_i,
    input logic [CountBits-1:0] free_units_i
);

  typedef logic [UnitBits-1:0] unit_t;
  typedef logic [CountBits-1:0] count_t;

  if (2 ** UnitBits != Units || Units < 2) begin : gen_bad_units
    $fatal(1, "xdp_places: Units is %0d, expected a power of two from 2 on (%m)", Units);
  end
  if (Most < 1 || Most > Units) begin : gen_bad_most
    $fatal(1, "xdp_places: Most is %0d, expected 1 to %0d (%m)", Most, Units);
  end

  // Units that somebody has, those of the run among them; the run, and the unit behind it.
  logic [Units-1:0] taken_q;
  unit_t first_q, at_q;
  count_t run_q, run;
  logic grows, gives_up;

  // What comes back.
  logic back_valid, back_ready, back_take;
  unit_t back_first, back_at_q;
  count_t back_units, back_left_q;
  logic [$clog2(Units+1)-1:0] unused_level;

  // A run that was found before units were reserved is given up as well.
  count_t limit, limit_q;
  logic beyond, ends, changed_q;
  assign beyond = count_t'(at_q) >= limit_q;
  assign ends = taken_q[at_q] || beyond;
  assign run = take_i ? run_q - need_i : run_q;
  assign grows = !ends && run_q < count_t'(Most) && !changed_q;
  // A place that was found stays.
  assign gives_up = (want_i ? !found_o && (ends || changed_q) : changed_q) && !back_valid && back_left_q == '0 && !free_valid_i;
  assign found_o = want_i && run_q >= need_i;
  assign first_o = first_q;

  sluice_fifo #(
      .Width(UnitBits + CountBits),
      .Depth(Units)
  ) u_back (
      .clk_i,
      .rst_ni,
      .valid_i(free_valid_i || (gives_up && run_q != '0)),
      .ready_o(back_ready),
      .data_i (free_valid_i ? {free_first_i, free_units_i} : {first_q, run_q}),
      .valid_o(back_valid),
      .ready_i(back_take),
      .data_o ({back_first, back_units}),
      .level_o(unused_level)
  );
  // The next one is there with the last unit of the one before.
  assign back_take = back_left_q <= count_t'(1);

  // Units that are reserved are looked at one by one, each until nobody has it: nobody gets it any more.
  count_t seen_q;
  assign limit   = count_t'(Units) - reserved_i;
  assign clean_o = seen_q == count_t'(Units);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || limit_q != limit) seen_q <= limit;
    else if (!clean_o && !taken_q[unit_t'(seen_q)]) seen_q <= seen_q + count_t'(1);
  end

  always_ff @(posedge clk_i) begin
    limit_q <= limit;
    if (!rst_ni) changed_q <= 1'b0;
    else changed_q <= limit_q != limit || (changed_q && !gives_up);
    if (!rst_ni) begin
      taken_q     <= '0;
      first_q     <= '0;
      at_q        <= '0;
      run_q       <= '0;
      back_left_q <= '0;
    end else begin
      if (gives_up) begin
        at_q    <= beyond ? '0 : at_q + unit_t'(1);
        first_q <= beyond ? '0 : at_q + unit_t'(1);
        run_q   <= '0;
      end else begin
        if (grows) begin
          taken_q[at_q] <= 1'b1;
          at_q          <= at_q + unit_t'(1);
        end
        run_q <= run + count_t'(grows);
        if (take_i) first_q <= first_q + unit_t'(need_i);
      end
      if (back_left_q != '0) begin
        taken_q[back_at_q] <= 1'b0;
        back_left_q        <= back_left_q - count_t'(1);
      end
      if (back_valid && back_take) back_left_q <= back_units;
    end
    back_at_q <= (back_valid && back_take) ? back_first : back_at_q + unit_t'(1);
  end

`ifndef SYNTHESIS
  TakesOnlyWhatWasFound_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !take_i || found_o);
  WhatComesBackHasRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !free_valid_i || back_ready);
  OnlyWhatWasTakenComesBack_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) back_left_q == '0 || taken_q[back_at_q]);
`endif

endmodule
