/// Proof about sluice_l7_matchers: a job that is taken comes to one matcher, which has room for it and for its module, and its segments come to that one, as
/// many as it has and before the next job's; each verdict of a matcher leaves once, as it is, and holds until it is taken.
///
/// 2 matchers of 2 places, with free outputs (no_matcher.sv): what they do with a message is l7/matcher. Tables and jobs are free.
module matchers
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
(
    input logic                           clk_i,
    input logic                           rst_ni,
    input logic                           job_valid_i,
    input l7_job_t                        job_i,
    input logic                           segment_valid_i,
    input logic    [L7SegmentBytes*8-1:0] segment_i,
    input logic                           verdict_ready_i,
    input logic                           table_valid_i,
    input logic                           table_write_i,
    input logic    [                 7:0] table_i,
    input logic    [                11:0] table_index_i,
    input logic    [  L7MatchRowBits-1:0] table_row_i
);

  localparam int unsigned Matchers = 2;
  localparam int unsigned Places = 2;

  logic job_ready, segment_ready, verdict_valid, table_ready;
  l7_verdict_t verdict;

  sluice_l7_matchers #(
      .Matchers(Matchers),
      .Places  (Places),
      .Rows    (2),
      .Starts  (2),
      .Groups  (2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .job_valid_i,
      .job_ready_o         (job_ready),
      .job_i,
      .segment_valid_i,
      .segment_ready_o     (segment_ready),
      .segment_i,
      .verdict_valid_o     (verdict_valid),
      .verdict_ready_i,
      .verdict_o           (verdict),
      .table_valid_i,
      .table_ready_o       (table_ready),
      .table_write_i,
      .table_i,
      .table_index_i,
      .table_row_i,
      .table_answer_valid_o(),
      .table_answer_o      ()
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (!init_q || !rst_ni);
  always_comb assume (!job_valid_i || job_i.bytes <= position_t'(L7ViewBytes));

  // A matcher's verdict holds until it is taken (l7/matcher).
  logic past_q;
  logic [Matchers-1:0] waited_q, took;
  l7_verdict_t [Matchers-1:0] offered_q;
  always_ff @(posedge clk_i) begin
    past_q    <= rst_ni;
    waited_q  <= u_dut.verdict_valid & ~took;
    offered_q <= u_dut.verdict;
  end
  for (genvar m = 0; m < int'(Matchers); m++) begin : gen_hold
    assign took[m] = u_dut.verdict_valid[m] && u_dut.gen_matcher[m].u_matcher.verdict_ready_i;
    always_comb
      assume (!(past_q && rst_ni && waited_q[m]) || (u_dut.verdict_valid[m] && u_dut.verdict[m] == offered_q[m]));
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Jobs and their segments, by this harness's own account.

  logic job, segment, open_q, comes_q;
  logic [Matchers-1:0] owner_q, taken_by, segment_at;
  logic [SegmentCountBits-1:0] left_q;
  l7_job_t came_q;
  logic [1:0][1:0] of_module;
  assign job = job_valid_i && job_ready;
  assign segment = segment_valid_i && segment_ready;
  assign taken_by = u_dut.take;
  for (genvar m = 0; m < int'(Matchers); m++) begin : gen_at
    assign segment_at[m] = u_dut.gen_matcher[m].u_matcher.segment_valid_i && u_dut.segment_ready[m];
    assign of_module[m] = 2'(u_dut.taken[m][0] && u_dut.modules[m][0] == job_i.module_id) +
        2'(u_dut.taken[m][1] && u_dut.modules[m][1] == job_i.module_id);
  end

  // Only the matcher that is being loaded is ready (l7/matcher).
  always_comb for (int m = 0; m < int'(Matchers); m++) assume (!u_dut.segment_ready[m] || (open_q && owner_q[m]));

  always_ff @(posedge clk_i) begin
    comes_q <= rst_ni && job;
    if (!rst_ni) open_q <= 1'b0;
    else if (job) open_q <= job_i.bytes != '0;
    else if (segment && left_q == SegmentCountBits'(1)) open_q <= 1'b0;
    if (job) begin
      owner_q <= taken_by;
      came_q  <= job_i;
      left_q  <= SegmentCountBits'((32'(job_i.bytes) + L7SegmentBytes - 1) / L7SegmentBytes);
    end else if (segment) begin
      left_q <= left_q - SegmentCountBits'(1);
    end
  end

  AJobComesToOneMatcher_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) job ? $onehot(taken_by) : taken_by == '0);
  WhereThereIsRoomForIt_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (taken_by & ~u_dut.free) == '0);
  NoModuleHasAllPlaces_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (!taken_by[0] || of_module[0] == '0) && (!taken_by[1] || of_module[1] == '0));
  TheJobIsThatOne_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !comes_q || u_dut.job_q == came_q);
  NoJobComesBetweenSegments_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !open_q || !job);
  SegmentsComeToTheJobsMatcher_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) segment_at == (segment ? owner_q : '0));
  AndOnlyAsManyAsItHas_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !segment || (open_q && left_q != '0));
  TheLastOneIsTold_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !segment || u_dut.last_segment == (left_q == SegmentCountBits'(1)));

  // ---------------------------------------------------------------------------------------------------------------
  // Tables.

  logic [11:0] index_q;
  logic writes;
  always_ff @(posedge clk_i) if (table_valid_i && table_ready) index_q <= table_index_i;
  assign writes = u_dut.gen_matcher[0].u_matcher.row_write_i || u_dut.gen_matcher[1].u_matcher.row_write_i ||
      u_dut.gen_matcher[0].u_matcher.group_write_i || u_dut.gen_matcher[1].u_matcher.group_write_i || u_dut.u_starts.wr_en_i;

  ARowThatThereIsNotIsNotWritten_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !writes || index_q < 12'd2);
  AStartThatThereIsNotIsBad_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !comes_q || came_q.start < 12'd2 || u_dut.start_bad);

  // ---------------------------------------------------------------------------------------------------------------
  // Verdicts.

  AVerdictIsOneMatchers_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) verdict_valid == |u_dut.verdict_valid);
  ATakenVerdictIsTakenFromOneMatcher_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (verdict_valid && verdict_ready_i) ? $onehot(
      took
  ) : took == '0);
  AndIsItsOwn_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (!took[0] || verdict == u_dut.verdict[0]) && (!took[1] || verdict == u_dut.verdict[1]));

  AJobOfEightSegmentsIsOver_C :
  cover property (@(posedge clk_i) rst_ni && segment && u_dut.last_segment && came_q.bytes == position_t'(L7ViewBytes) && owner_q[1]);
  BothMatchersHaveVerdicts_C :
  cover property (@(posedge clk_i) rst_ni && took[1] && u_dut.verdict_valid[0]);

  // ---------------------------------------------------------------------------------------------------------------
  // Strengthening for the induction.

  OpenIsLoading_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) open_q == u_dut.loading_q && comes_q == u_dut.begins_q);
  TheIndexIsThatOne_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !u_dut.table_busy_q || u_dut.index_q == index_q);
  OwnerIsKnown_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !open_q || ($onehot(
      owner_q
  ) && left_q == u_dut.left_q && left_q != '0));

endmodule
