/// Proof about sluice_xdp_places: no two places that somebody has share a unit, what is given out has as many units as were asked for, and
/// all units come back: whoever asks finds a place once there is one with nothing in between.
///
/// What is reserved changes at any time: once nobody has a unit of that (`clean_o`), nobody gets one.
///
/// At most `Packets` places are had at a time; who takes, who gives back and when is free. A unit is somebody's, of the search's run, or on its way back;
/// that each is exactly one of these, or free, is the strengthening. By k-induction, for runs of any length, with resets at any time.
module places #(
    parameter  int unsigned Units      = 4,
    parameter  int unsigned Most       = 3,
    parameter  int unsigned Packets    = 2,
    // Cycles in which a place that is there is found, while nobody takes or gives back; 0 leaves this claim out.
    parameter  int unsigned Within     = 0,
    localparam int unsigned UnitBits   = $clog2(Units),
    localparam int unsigned CountBits  = $clog2(Units + 1),
    localparam int unsigned PacketBits = $clog2(Packets)
) (
    input logic                  clk_i,
    input logic                  rst_ni,
    input logic [ CountBits-1:0] reserved_i,
    input logic                  want_i,
    input logic [CountBits-1:0]  need_i,
    input logic                  take_i,
    input logic                  free_valid_i,
    input logic [PacketBits-1:0] who_i
);

  localparam int unsigned Depth = Units;

  typedef logic [UnitBits-1:0] unit_t;
  typedef logic [CountBits-1:0] count_t;
  typedef struct packed {
    unit_t  first;
    count_t units;
  } place_t;

  logic found, clean;
  unit_t first;

  // Places that somebody has.
  logic [Packets-1:0] had_q;
  place_t [Packets-1:0] place_q;
  logic [PacketBits-1:0] next;
  always_comb begin
    next = '0;
    for (int unsigned p = 0; p < Packets; p++) if (!had_q[p]) next = PacketBits'(p);
  end

  sluice_xdp_places #(
      .Units(Units),
      .Most (Most)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .reserved_i,
      .clean_o     (clean),
      .want_i,
      .need_i,
      .found_o     (found),
      .first_o     (first),
      .take_i,
      .free_valid_i,
      .free_first_i(place_q[who_i].first),
      .free_units_i(place_q[who_i].units)
  );

  function automatic logic [Units-1:0] units_of(place_t of);
    unit_t distance;
    for (int unsigned u = 0; u < Units; u++) begin
      distance    = unit_t'(u) - of.first;
      units_of[u] = count_t'(distance) < of.units;
    end
  endfunction

  logic init_q = 1'b1;
  logic asked_q;
  count_t need_q;
  always_ff @(posedge clk_i) begin
    init_q  <= 1'b0;
    asked_q <= rst_ni && want_i && !take_i;
    need_q  <= need_i;
    if (!rst_ni) begin
      had_q <= '0;
    end else begin
      if (take_i) begin
        had_q[next]   <= 1'b1;
        place_q[next] <= '{first: first, units: need_i};
      end
      if (free_valid_i) had_q[who_i] <= 1'b0;
    end
  end

  always_comb begin
    if (init_q) assume (!rst_ni);
    // A largest place is left.
    assume (reserved_i <= count_t'(Units - Most));
    assume (!want_i || (need_i != '0 && need_i <= count_t'(Most)));
    assume (!take_i || (want_i && found && !(&had_q)));
    assume (!free_valid_i || had_q[who_i]);
  end

  logic [Units-1:0] held, taken;
  always_comb begin
    held = '0;
    for (int unsigned p = 0; p < Packets; p++) if (had_q[p]) held |= units_of(place_q[p]);
    taken = units_of('{first: first, units: need_i});
  end

  NoUnitIsGivenTwice_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !found || (taken & held) == '0);
  AFoundPlaceHolds_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !$past(
      rst_ni && found && !take_i
  ) || !asked_q || !want_i || need_i != need_q || (found && $stable(
      first
  )));

  // Units that are reserved, as the search knows it; for so many cycles it has known the same.
  logic [Units-1:0] reserved;
  logic settled_q;
  always_comb for (int unsigned u = 0; u < Units; u++) reserved[u] = count_t'(u) >= u_dut.limit_q;
  always_ff @(posedge clk_i) begin
    settled_q <= rst_ni && !init_q && u_dut.limit_q == count_t'(Units) - reserved_i;
  end
  NobodyGetsWhatIsReserved_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !settled_q || !clean || (u_dut.taken_q & reserved) == '0);
  // Strengthening: those that were looked at are nobody's.
  logic [Units-1:0] looked_at;
  always_comb for (int unsigned u = 0; u < Units; u++) looked_at[u] = count_t'(u) < u_dut.seen_q;
  SeenUnitsAreNobodys_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || ((u_dut.taken_q & reserved & looked_at) == '0 &&
      u_dut.seen_q >= u_dut.limit_q && u_dut.seen_q <= count_t'(Units)));
  ALargestPlaceIsLeft_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (u_dut.limit_q >= count_t'(Most) && u_dut.limit_q <= count_t'(Units)));
  ReservedUnitsComeBack_C :
  cover property (@(posedge clk_i) rst_ni && settled_q && clean && reserved != '0 && !init_q && $past(
      rst_ni && settled_q && !clean
  ));

  // A run of units that nobody has, as long as who asks needs.
  logic there_is;
  always_comb begin
    there_is = 1'b0;
    for (int unsigned u = 0; u < Units; u++) if ((units_of('{first: unit_t'(u), units: need_i}) & held) == '0) there_is = 1'b1;
  end

  ThePlaceGoesOverTheEnd_C :
  cover property (@(posedge clk_i) rst_ni && take_i && 32'(first) + 32'(need_i) > Units);
  AllUnitsAreSomebodys_C :
  cover property (@(posedge clk_i) rst_ni && &held);
  TwoComeBackOneBehindTheOther_C :
  cover property (@(posedge clk_i) rst_ni && free_valid_i && !init_q && $past(
      rst_ni && free_valid_i
  ));
  AnotherOneIsTakenWhileTheyComeBack_C :
  cover property (@(posedge clk_i) rst_ni && take_i && u_dut.back_left_q != '0);

  if (Within != 0) begin : gen_finds
    logic [$clog2(Within+2)-1:0] searched_q;
    always_ff @(posedge clk_i) begin
      if (!rst_ni || !want_i || found || free_valid_i || !there_is) searched_q <= '0;
      else searched_q <= searched_q + 1'b1;
    end
    APlaceThatIsThereIsFound_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || 32'(searched_q) <= Within);
  end

  // Strengthening for the induction: each unit that is not free is somebody's, of the run, or on its way back, and only one of these.
  logic [Units-1:0] run, back;
  logic [Depth-1:0][Units-1:0] queued;
  unit_t [Depth-1:0] queue_at;
  logic disjoint;
  logic [$clog2(Depth+1)-1:0] level;
  assign level = ($clog2(Depth + 1))'(u_dut.u_back.level_q);
  always_comb begin
    run  = units_of('{first: u_dut.first_q, units: u_dut.run_q});
    back = units_of('{first: u_dut.back_at_q, units: u_dut.back_left_q});
    for (int unsigned e = 0; e < Depth; e++) begin
      queued[e]   = '0;
      queue_at[e] = u_dut.u_back.rd_ptr_q + unit_t'(e);
      if (e < 32'(level)) queued[e] = units_of(u_dut.u_back.mem[queue_at[e]]);
    end
  end
  logic [Units-1:0] seen;
  always_comb begin
    seen = run;
    disjoint = (run & back) == '0;
    seen |= back;
    for (int unsigned e = 0; e < Depth; e++) begin
      if ((seen & queued[e]) != '0) disjoint = 1'b0;
      seen |= queued[e];
    end
    for (int unsigned p = 0; p < Packets; p++) begin
      if (had_q[p]) begin
        if ((seen & units_of(place_q[p])) != '0) disjoint = 1'b0;
        seen |= units_of(place_q[p]);
      end
    end
  end
  EachUnitIsInOnePlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (disjoint && seen == u_dut.taken_q));
  unit_t at, queue_length;
  assign at           = u_dut.first_q + unit_t'(u_dut.run_q);
  assign queue_length = u_dut.u_back.wr_ptr_q - u_dut.u_back.rd_ptr_q;
  TheRunEndsAtTheSearch_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (at == u_dut.at_q &&
      u_dut.run_q <= count_t'(Most)));
  BackIsNoMoreThanAll_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || u_dut.back_left_q <= count_t'(Most));
  TheQueueIsOne_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (32'(level) <= Depth && u_dut.u_back.valid_q == (level != '0) &&
      queue_length == unit_t'(level)));
  for (genvar e = 0; e < int'(Depth); e++) begin : gen_entry
    logic [CountBits-1:0] units;
    assign units = u_dut.u_back.mem[queue_at[e]][CountBits-1:0];
    ItsUnitsAreSome_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || e >= 32'(level) || (units != '0 && units <= count_t'(Most)));
  end
  for (genvar p = 0; p < int'(Packets); p++) begin : gen_packet
    ItHasSome_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !had_q[p] || (place_q[p].units != '0 && place_q[p].units <= count_t'(Most)));
  end

endmodule
