/// All matchers: dispatches messages by their tenants' programs (docs/design/l7.md).
///
/// A job is taken, then its ceil(bytes / 64) segments, byte 0 lowest, before the next job: segments of several jobs do not
/// interleave. Bytes beyond the view may hold anything. A message goes to the matcher that has the fewest, among those that
/// have a free place, are not loading or walking over another one, and have no more than `Places` - 2 of its module, without
/// those that leave: so no module holds all places of a matcher (unless there is only one).
///
/// Verdicts come in any order, each once; while one waits to be taken it holds.
///
/// Tables (`TableL7Match`, `TableL7Start`, `TableL7Group`): one access at a time. A write is done, and is seen by steps of the
/// next cycle on, when the following access is taken. A read answers with `table_answer_valid_o` for one cycle; it waits for a
/// cycle in which no message reads, for which no message enters the first matcher's loop. Indices beyond a table: writes do
/// nothing, reads answer with anything. Rows that messages under way use may be written: a step has the old row or the new.
///
/// Latency, of a message alone, from its first segment to its verdict: 3 + the loop's cycles; 1 more where its program does not
/// begin with the view's first field, 2 more through a group, 7 more through one that hashes a field. Throughput: a message every other cycle; in each matcher a step a cycle.
module sluice_l7_matchers
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
#(
    parameter int unsigned Matchers = 4,
    parameter int unsigned Places = 4,
    parameter int unsigned Rows = 512,
    parameter int unsigned Starts = 1024,
    parameter int unsigned Groups = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic    job_valid_i,
    output logic    job_ready_o,
    input  l7_job_t job_i,

    input  logic                        segment_valid_i,
    output logic                        segment_ready_o,
    input  logic [L7SegmentBytes*8-1:0] segment_i,

    output logic        verdict_valid_o,
    input  logic        verdict_ready_i,
    output l7_verdict_t verdict_o,

    input  logic                      table_valid_i,
    output logic                      table_ready_o,
    input  logic                      table_write_i,
    // `TableL7Match`, `TableL7Start` or `TableL7Group`.
    input  logic [               7:0] table_i,
    input  logic [              11:0] table_index_i,
    // The row in its lowest bits.
    input  logic [L7MatchRowBits-1:0] table_row_i,
    output logic                      table_answer_valid_o,
    output logic [L7MatchRowBits-1:0] table_answer_o
);

  if (Matchers < 1) begin : gen_bad_matchers
    $fatal(1, "l7_matchers: Matchers is %0d, expected at least 1 (%m)", Matchers);
  end
  if (Places < 1 || Places > 2 ** PlaceBits) begin : gen_bad_places
    $fatal(1, "l7_matchers: Places is %0d, expected 1 to 8 (%m)", Places);
  end
  if (Rows < 2 || Rows > 4096 || Starts < 2 || Starts > 4096 || Groups < 2 || Groups > 4096) begin : gen_bad_tables
    $fatal(1, "l7_matchers: %0d rows, %0d starts, %0d groups, expected 2 to 4096 (%m)", Rows, Starts, Groups);
  end

  // Of the package, for widths of rows follow from them.
  if (!(L7MatchBytes inside {8, 16, 32})) begin : gen_bad_compare
    $fatal(1, "l7_matchers: SLUICE_L7_COMPARE_BYTES is %0d, expected 8, 16 or 32 (%m)", L7MatchBytes);
  end
  if (!(L7Alternatives inside {4, 8})) begin : gen_bad_alternatives
    $fatal(1, "l7_matchers: SLUICE_L7_ALTERNATIVES is %0d, expected 4 or 8 (%m)", L7Alternatives);
  end
  if (L7ViewSegments < 8 || L7ViewSegments > 24) begin : gen_bad_view
    $fatal(1, "l7_matchers: SLUICE_L7_VIEW_SEGMENTS is %0d, expected 8 to 24 (%m)", L7ViewSegments);
  end

  localparam int unsigned MatcherBits = (Matchers > 1) ? $clog2(Matchers) : 1;
  localparam int unsigned CountBits = $clog2(Places + 1);
  localparam int unsigned RowBits = $clog2(Rows);
  localparam int unsigned StartBits = $clog2(Starts);
  localparam int unsigned GroupBits = $clog2(Groups);
  localparam int unsigned MostOfAModule = (Places > 1) ? Places - 1 : 1;

  // --- Which matcher takes the job -----------------------------------------------------------------------------------------

  logic [Matchers-1:0] free, fits, chosen, take;
  logic   [Matchers-1:0] gone;
  place_t [Matchers-1:0] gone_place;
  logic [Matchers-1:0][Places-1:0] held, taken;
  logic [Matchers-1:0][Places-1:0][ModuleBits-1:0] modules;
  logic [Matchers-1:0][Places-1:0] of_module;
  logic [Matchers-1:0][CountBits-1:0] holds;
  logic takes;

  // Counted without adders: a matcher has so few places that a bit of a number is a LUT.
  function automatic logic [CountBits-1:0] count(logic [Places-1:0] places);
    logic [CountBits-1:0] number = '0;
    for (int unsigned v = 0; v < 2 ** Places; v++) if (places == Places'(v)) number |= CountBits'($countones(v));
    return number;
  endfunction

  always_comb begin
    for (int unsigned m = 0; m < Matchers; m++) begin
      for (int unsigned p = 0; p < Places; p++) begin
        taken[m][p] = held[m][p] && !(gone[m] && gone_place[m] == place_t'(p));
        of_module[m][p] = taken[m][p] && modules[m][p] == job_i.module_id;
      end
      holds[m] = count(taken[m]);
      fits[m]  = free[m] && count(of_module[m]) < CountBits'(MostOfAModule);
    end
    // All pairs at once: the first of those with the fewest.
    for (int unsigned m = 0; m < Matchers; m++) begin
      chosen[m] = fits[m];
      for (int unsigned k = 0; k < Matchers; k++) begin
        if (k < m && fits[k] && holds[k] <= holds[m]) chosen[m] = 1'b0;
        if (k > m && fits[k] && holds[k] < holds[m]) chosen[m] = 1'b0;
      end
    end
  end

  // --- The job under way ---------------------------------------------------------------------------------------------------

  // Its job comes to its matcher; segments are to come.
  logic begins_q, loading_q;
  l7_job_t job_q;
  logic [SegmentCountBits-1:0] left_q;
  logic segment, last_segment;
  logic [Matchers-1:0] segment_ready;
  logic read_wants_start;

  assign job_ready_o = !begins_q && !loading_q && !read_wants_start && |fits;
  assign takes = job_valid_i && job_ready_o;
  // Who is chosen fits.
  assign take = (job_valid_i && !begins_q && !loading_q && !read_wants_start) ? chosen : '0;

  // Only the matcher that is being loaded is ready.
  assign segment_ready_o = |segment_ready;
  assign segment = segment_valid_i && segment_ready_o;
  assign last_segment = left_q == SegmentCountBits'(1);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begins_q  <= 1'b0;
      loading_q <= 1'b0;
    end else begin
      begins_q  <= takes;
      loading_q <= takes ? job_i.bytes != '0 : loading_q && !(segment && last_segment);
    end
  end

  // What stands while none is under way is of no meaning: so it does not wait for the job.
  always_ff @(posedge clk_i) begin
    if (!begins_q && !loading_q) begin
      job_q  <= job_i;
      left_q <= SegmentCountBits'((job_i.bytes + position_t'(L7SegmentBytes - 1)) >> $clog2(L7SegmentBytes));
    end else begin
      left_q <= left_q - SegmentCountBits'(segment);
    end
  end

  // --- Tables --------------------------------------------------------------------------------------------------------------

  // An access that has been taken; its read's row is there.
  logic table_busy_q, write_q, answers_q;
  logic of_match, of_start, of_group;
  logic [11:0] index_q;
  logic [L7MatchRowBits-1:0] row_q;
  // A read of the first matcher's table, which waits for its turn there.
  logic row_reads_q, group_reads_q;
  logic in_table, writes, reads, read_done;
  // "Bits of signal are not used": all matchers have the same tables, and the first one's are read.
  // verilator lint_off UNUSEDSIGNAL
  logic [Matchers-1:0] row_done, group_done;
  l7_match_row_t [Matchers-1:0] row_read;
  l7_group_row_t [Matchers-1:0] group_read;
  // verilator lint_on UNUSEDSIGNAL
  l7_start_row_t start_row;

  assign in_table = 13'(index_q) < (of_match ? 13'(Rows) : of_start ? 13'(Starts) : 13'(Groups));
  assign writes = table_busy_q && write_q && in_table;
  assign reads = table_busy_q && !write_q && !answers_q;
  assign read_wants_start = reads && of_start;
  assign read_done = of_match ? row_done[0] : of_group ? group_done[0] : 1'b1;

  assign table_ready_o = !table_busy_q;
  assign table_answer_valid_o = answers_q;
  assign table_answer_o = of_match ? row_read[0] : of_group ? L7MatchRowBits'(group_read[0]) : L7MatchRowBits'(start_row);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      table_busy_q <= 1'b0;
      answers_q <= 1'b0;
      row_reads_q <= 1'b0;
      group_reads_q <= 1'b0;
    end else begin
      if (!table_busy_q) table_busy_q <= table_valid_i;
      else if (write_q || answers_q) table_busy_q <= 1'b0;
      answers_q <= reads && read_done;
      row_reads_q <= reads && of_match && !read_done;
      group_reads_q <= reads && of_group && !read_done;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!table_busy_q) begin
      write_q <= table_write_i;
      of_match <= table_i == TableL7Match;
      of_start <= table_i == TableL7Start;
      of_group <= table_i == TableL7Group;
      index_q <= table_index_i;
      row_q <= table_row_i;
    end
  end

  // The start row of a job is read as it comes, and is there when it has come to its matcher.
  sluice_ram_1r1w #(
      .Width(L7StartRowBits),
      .Depth(Starts)
  ) u_starts (
      .clk_i(clk_i),
      .wr_en_i(writes && of_start),
      .wr_addr_i(index_q[StartBits-1:0]),
      .wr_data_i(row_q[L7StartRowBits-1:0]),
      .rd_en_i(1'b1),
      .rd_addr_i(read_wants_start ? index_q[StartBits-1:0] : job_i.start[StartBits-1:0]),
      .rd_data_o(start_row)
  );

  logic start_bad;
  assign start_bad = start_row.module_id != job_q.module_id || 13'(job_q.start) >= 13'(Starts);

  // The slot of groups that are chosen in by message.
  // "Bits of signal are not used": as many as choose a slot.
  // verilator lint_off UNUSEDSIGNAL
  logic [31:0] identity_crc;
  // verilator lint_on UNUSEDSIGNAL
  logic [7:0][7:0] identity;
  for (genvar i = 0; i < 4; i++) begin : gen_identity
    assign identity[i]   = job_q.session[8*(3-i)+:8];
    assign identity[4+i] = job_q.message[8*(3-i)+:8];
  end

  sluice_crc32c #(
      .Width(64)
  ) u_identity (
      .data_i(identity),
      .crc_o (identity_crc)
  );

  // --- Matchers ------------------------------------------------------------------------------------------------------------

  logic [Matchers-1:0] verdict_valid, verdict_grant;
  l7_verdict_t [Matchers-1:0] verdict;
  logic [MatcherBits-1:0] verdict_index;

  for (genvar m = 0; m < int'(Matchers); m++) begin : gen_matcher
    sluice_l7_matcher #(
        .Places(Places),
        .Rows  (Rows),
        .Groups(Groups)
    ) u_matcher (
        .clk_i(clk_i),
        .rst_ni(rst_ni),
        .free_o(free[m]),
        .taken_o(held[m]),
        .gone_o(gone[m]),
        .gone_place_o(gone_place[m]),
        .modules_o(modules[m]),
        .take_i(take[m]),
        .take_module_i(job_i.module_id),
        .take_bytes_i(job_i.bytes != '0),
        .job_i(job_q),
        .start_bad_i(start_bad),
        .start_step_i(start_row.step),
        .start_target_i(start_row.target),
        .identity_hash_i(identity_crc[SlotBits-1:0]),
        .segment_valid_i(segment_valid_i),
        .segment_ready_o(segment_ready[m]),
        .segment_last_i(last_segment),
        .segment_i(segment_i),
        .verdict_valid_o(verdict_valid[m]),
        .verdict_ready_i(verdict_ready_i && verdict_grant[m]),
        .verdict_o(verdict[m]),
        .row_write_i(writes && of_match),
        .row_write_index_i(index_q[RowBits-1:0]),
        .row_write_row_i(row_q),
        .row_read_i(m == 0 && row_reads_q),
        .row_read_index_i(index_q[RowBits-1:0]),
        .row_read_done_o(row_done[m]),
        .row_o(row_read[m]),
        .group_write_i(writes && of_group),
        .group_write_index_i(index_q[GroupBits-1:0]),
        .group_write_row_i(row_q[L7GroupRowBits-1:0]),
        .group_read_i(m == 0 && group_reads_q),
        .group_read_index_i(index_q[GroupBits-1:0]),
        .group_read_done_o(group_done[m]),
        .group_o(group_read[m])
    );
  end

  sluice_arb_rr #(
      .Requests(Matchers)
  ) u_verdict (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .req_i(verdict_valid),
      .advance_i(verdict_ready_i),
      .grant_o(verdict_grant),
      .index_o(verdict_index),
      .valid_o(verdict_valid_o)
  );

  assign verdict_o = verdict[verdict_index];

`ifndef SYNTHESIS
  logic waits_q;
  l7_verdict_t waits_verdict_q;
  always_ff @(posedge clk_i) begin
    waits_q <= rst_ni && verdict_valid_o && !verdict_ready_i;
    waits_verdict_q <= verdict_o;
    if (rst_ni) begin
      if (waits_q) begin
        VerdictHoldsUntilReady_A : assert (verdict_valid_o && verdict_o == waits_verdict_q);
      end
      if (takes) begin
        JobHasAView_A : assert (job_i.bytes <= position_t'(L7ViewBytes));
      end
    end
  end
`endif

endmodule
