/// Proof about sluice_l7_matcher: a message that was handed in has one outcome, with its own tag and module, and nothing else has one; until
/// then it is at one station: loading, in one line for the loop, in the loop, at its goal, or settled. A verdict holds until it is taken.
///
/// 2 places. Segments, rows, programs and groups are free: what a step compares, where it goes, when it ends or leaves for others. Of both phases of
/// the loop (no_prepare.sv, no_decide.sv) it is assumed what formal/l7/phases shows: a message stays in its place, its kind of visit stays, it does
/// one thing at a time. Of the blocks around: a message comes where there is room, has as many segments as its length says, and no tag is inside twice.
module matcher
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
(
    input logic                                 clk_i,
    input logic                                 rst_ni,
    input logic          [         TagBits-1:0] tag_i,                // the message that is followed
    input logic                                 take_i,
    input logic          [      ModuleBits-1:0] take_module_i,
    input logic                                 take_bytes_i,
    input l7_job_t                              job_i,
    input logic                                 start_bad_i,
    input l7_move_t                             start_step_i,
    input l7_target_t                           start_target_i,
    input logic          [        SlotBits-1:0] identity_hash_i,
    input logic                                 segment_valid_i,
    input logic                                 segment_last_i,
    input logic          [L7SegmentBytes*8-1:0] segment_i,
    input logic                                 verdict_ready_i,
    input logic                                 row_write_i,
    input logic                                 row_write_index_i,
    input l7_match_row_t                        row_write_row_i,
    input logic                                 row_read_i,
    input logic                                 row_read_index_i,
    input logic                                 group_write_i,
    input logic                                 group_write_index_i,
    input l7_group_row_t                        group_write_row_i,
    input logic                                 group_read_i,
    input logic                                 group_read_index_i
);

  localparam int unsigned Places = 2;

  logic free, segment_ready, verdict_valid;
  l7_verdict_t verdict;

  sluice_l7_matcher #(
      .Places(Places),
      .Rows  (2),
      .Groups(2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .free_o           (free),
      .taken_o          (),
      .modules_o        (),
      .take_i,
      .take_module_i,
      .take_bytes_i,
      .job_i,
      .start_bad_i,
      .start_step_i,
      .start_target_i,
      .identity_hash_i,
      .segment_valid_i,
      .segment_ready_o  (segment_ready),
      .segment_last_i,
      .segment_i,
      .verdict_valid_o  (verdict_valid),
      .verdict_ready_i,
      .verdict_o        (verdict),
      .row_write_i,
      .row_write_index_i,
      .row_write_row_i,
      .row_read_i,
      .row_read_index_i,
      .row_read_done_o  (),
      .row_o            (),
      .group_write_i,
      .group_write_index_i,
      .group_write_row_i,
      .group_read_i,
      .group_read_index_i,
      .group_read_done_o(),
      .group_o          ()
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (!init_q || !rst_ni);

  // ---------------------------------------------------------------------------------------------------------------
  // What others see to.

  logic begins;
  assign begins = u_dut.begin_q;
  always_comb begin
    assume (!take_i || free);
    if (begins) assume ((job_i.bytes != '0) == u_dut.loading_q && job_i.bytes <= position_t'(L7ViewBytes));
    // The eighth segment is the last one at the latest.
    if (u_dut.count == SegmentCountBits'(L7ViewSegments - 1)) assume (segment_last_i);
  end

  // A message that comes, until its last segment: this harness's own account.
  logic loads_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) loads_q <= 1'b0;
    else if (take_i) loads_q <= take_bytes_i;
    else if (segment_valid_i && segment_ready && segment_last_i) loads_q <= 1'b0;
  end
  SegmentsAreTakenOnlyOfAMessageThatComes_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !segment_ready || loads_q);

  // What formal/l7/phases shows.
  l7_a_t a_in, a;
  l7_b_t b_out;
  assign a_in = u_dut.u_loop.a_d;
  assign a = u_dut.u_loop.a_q;
  assign b_out = u_dut.u_loop.b_d;
  always_comb begin
    if (u_dut.u_loop.goes_on) begin
      assume (a_in.place == u_dut.u_loop.b_q.place && a_in.hash == u_dut.u_loop.b_q.hash);
    end else begin
      assume (a_in.place == u_dut.u_loop.entry_i.place && a_in.hash == u_dut.u_loop.entry_i.hash);
    end
    assume ($onehot(a_in.does));
    assume (b_out.place == a.place && b_out.hash == a.hash);
    assume ($onehot(b_out.does) && (!b_out.yields || !b_out.hash));
  end

  // ---------------------------------------------------------------------------------------------------------------
  // A message that is chosen freely by its tag, from its job to its verdict.

  logic [TagBits-1:0] tag_q;
  logic inside_q, is_inside, leaves;
  logic [ModuleBits-1:0] module_q, module_id;
  always_ff @(posedge clk_i) tag_q <= tag_i;
  always_comb assume (init_q || tag_i == tag_q);

  assign is_inside = inside_q || (begins && job_i.tag == tag_i);
  assign module_id = (begins && job_i.tag == tag_i) ? job_i.module_id : module_q;
  assign leaves = verdict_valid && verdict_ready_i && verdict.tag == tag_i;
  always_comb assume (!(begins && job_i.tag == tag_i && inside_q));
  always_ff @(posedge clk_i) begin
    if (!rst_ni) inside_q <= 1'b0;
    else inside_q <= is_inside && !leaves;
    module_q <= module_id;
  end

  // Places that have it.
  logic [Places-1:0] has;
  logic [1:0] copies;
  logic [TagBits+ModuleBits-1:0] name[Places];
  always_comb begin
    for (int unsigned p = 0; p < Places; p++) begin
      name[p] = (begins && u_dut.place_q == place_t'(p)) ? {job_i.tag, job_i.module_id} : u_dut.u_verdicts.u_names.mem[p];
      has[p] = u_dut.taken_q[p] && name[p][ModuleBits+:TagBits] == tag_i;
    end
    copies = 2'(has[0]) + 2'(has[1]) + 2'(verdict_valid && verdict.tag == tag_i);
  end

  OnlyWhatIsInsideHasAnOutcome_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(verdict_valid && verdict.tag == tag_i) || is_inside);
  TheOutcomeIsTheModules_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(verdict_valid && verdict.tag == tag_i) || verdict.module_id == module_id);
  WhatIsInsideIsThereOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) copies == 2'(is_inside));

  logic waits_q;
  l7_verdict_t waited_q;
  always_ff @(posedge clk_i) begin
    waits_q  <= rst_ni && verdict_valid && !verdict_ready_i;
    waited_q <= verdict;
  end
  AVerdictHoldsUntilItIsTaken_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !waits_q || (verdict_valid && verdict == waited_q));

  // ---------------------------------------------------------------------------------------------------------------
  // Stations of a place's message.

  function automatic logic [3:0] stands_in(logic [Places-1:0] valid, place_t [Places-1:0] places, int unsigned place);
    stands_in = '0;
    for (int unsigned i = 0; i < Places; i++) stands_in += 4'(valid[i] && places[i] == place_t'(place));
  endfunction

  logic [Places-1:0][3:0] stations;
  logic [Places-1:0] walked;
  always_comb begin
    for (int unsigned p = 0; p < Places; p++) begin
      // Its first segment is to come.
      stations[p] = 4'(u_dut.place_q == place_t'(p) && (begins || (u_dut.loading_q && u_dut.count_q == '0)));
      stations[p] += stands_in(u_dut.u_entries.u_hash.valid_q, u_dut.u_entries.u_hash.places_q, p);
      stations[p] += stands_in(u_dut.u_entries.u_start.valid_q, u_dut.u_entries.u_start.places_q, p);
      stations[p] += stands_in(u_dut.u_entries.u_resume.valid_q, u_dut.u_entries.u_resume.places_q, p);
      stations[p] += 4'(u_dut.u_entries.entry_valid_q && u_dut.u_entries.entry_q.place == place_t'(p));
      stations[p] += 4'(u_dut.u_loop.a_valid_q && a.place == place_t'(p));
      stations[p] += 4'((u_dut.u_loop.goes_q || u_dut.u_loop.ends_q) && u_dut.u_loop.b_q.place == place_t'(p));
      stations[p] += 4'(u_dut.u_goal.group_mine_q[p]) + 4'(u_dut.u_goal.again_q[p]);
      stations[p] += 4'(u_dut.u_goal.next_valid_q && u_dut.u_goal.next_place_q == place_t'(p));
      stations[p] += 4'(u_dut.u_verdicts.settled_q[p]);
      walked[p] = u_dut.place_q == place_t'(p) && (begins || u_dut.walking);
    end
  end

  for (genvar p = 0; p < int'(Places); p++) begin : gen_place
    AMessageIsAtOneStation_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) stations[p] == 4'(u_dut.taken_q[p]));
    ItsFieldsAreBeingWalkedOverOrHaveBeen_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) 2'(walked[p]) + 2'(u_dut.u_verdicts.over_q[p]) == 2'(u_dut.taken_q[p]));
  end

  ThreeMessagesGoThrough_C :
  cover property (@(posedge clk_i) rst_ni && verdict_valid && verdict_ready_i && u_dut.u_loop.a_valid_q && u_dut.u_loop.goes_q &&
      u_dut.u_loop.b_q.place != a.place);
  OneLeavesTheLoopForAnother_C :
  cover property (@(posedge clk_i) rst_ni && u_dut.saves);
  AGroupHashesAField_C :
  cover property (@(posedge clk_i) rst_ni && u_dut.exit_valid && u_dut.leaves.hashed);
  ADefaultIsLookedAt_C :
  cover property (@(posedge clk_i) rst_ni && u_dut.u_goal.next_valid_q);

  // ---------------------------------------------------------------------------------------------------------------
  // Strengthening for the induction.

  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      LoadsIsLoading_A : assert (loads_q == u_dut.loading_q);
      NameIsKept_A :
      assert ((!has[0] || name[0][ModuleBits-1:0] == module_id) && (!has[1] || name[1][ModuleBits-1:0] == module_id));
      LinesHaveNoGaps_A :
      assert ((u_dut.u_entries.u_hash.valid_q inside {2'b00, 2'b01, 2'b11}) && (u_dut.u_entries.u_start.valid_q inside {
        2'b00, 2'b01, 2'b11
      }) && (u_dut.u_entries.u_resume.valid_q inside {2'b00, 2'b01, 2'b11}));
      OnlyPlacesStandInLines_A :
      assert ((u_dut.u_entries.u_hash.valid_q == '0 || u_dut.u_entries.u_hash.places_q[0] < place_t'(Places)) &&
          (u_dut.u_entries.u_start.valid_q == '0 || u_dut.u_entries.u_start.places_q[0] < place_t'(Places)) &&
          (u_dut.u_entries.u_resume.valid_q == '0 || u_dut.u_entries.u_resume.places_q[0] < place_t'(Places)));
      OnlyPlacesStandBehind_A :
      assert ((!u_dut.u_entries.u_hash.valid_q[1] || u_dut.u_entries.u_hash.places_q[1] < place_t'(Places)) &&
          (!u_dut.u_entries.u_start.valid_q[1] || u_dut.u_entries.u_start.places_q[1] < place_t'(Places)) &&
          (!u_dut.u_entries.u_resume.valid_q[1] || u_dut.u_entries.u_resume.places_q[1] < place_t'(Places)));
      OnlyPlacesAreInTheLoop_A :
      assert ((!u_dut.u_entries.entry_valid_q || u_dut.u_entries.entry_q.place < place_t'(Places)) &&
          (!u_dut.u_loop.a_valid_q || a.place < place_t'(Places)) &&
          (!(u_dut.u_loop.goes_q || u_dut.u_loop.ends_q) || u_dut.u_loop.b_q.place < place_t'(Places)) &&
          (!u_dut.u_goal.next_valid_q || u_dut.u_goal.next_place_q < place_t'(Places)));
      OnlyAPlaceIsLoaded_A : assert (!(begins || u_dut.loading_q || u_dut.walking) || u_dut.place_q < place_t'(Places));
      ABeginIsAlone_A : assert (!begins || (!u_dut.walking && !u_dut.u_walk.found_valid_q));
      ALoadIsCounted_A : assert (!u_dut.loading_q || begins || u_dut.count_q < SegmentCountBits'(L7ViewSegments));
      WalkAndLoadCountAlike_A :
      assert (!(u_dut.walking || u_dut.loading_q) || begins || (u_dut.u_walk.coming_q == u_dut.count_q &&
          u_dut.count_q <= SegmentCountBits'(L7ViewSegments)));
      OneFindsInAWalk_A : assert (!u_dut.u_walk.found_valid_q || (u_dut.walking && u_dut.u_walk.coming_q != '0));
      BDoesNotBoth_A : assert (!(u_dut.u_loop.goes_q && u_dut.u_loop.ends_q));
      AHashDoesNotYield_A : assert (!u_dut.u_loop.goes_q || !u_dut.u_loop.b_q.yields || !u_dut.u_loop.b_q.hash);
      AGroupIsRead_A :
      assert (u_dut.u_goal.group_valid_q == |u_dut.u_goal.group_mine_q && $onehot0(
          u_dut.u_goal.group_mine_q
      ) && (!u_dut.u_goal.group_valid_q || u_dut.u_goal.group_mine_q[u_dut.u_goal.group_place_q[0]]));
      AGroupIsOfAPlace_A : assert (!u_dut.u_goal.group_valid_q || u_dut.u_goal.group_place_q < place_t'(Places));
      if (u_dut.u_loop.a_valid_q) PhaseADoesOneThing_A : assert ($onehot(a.does));
      if (u_dut.u_loop.goes_q) PhaseBDoesOneThing_A : assert ($onehot(u_dut.u_loop.b_q.does));
    end
  end

endmodule
