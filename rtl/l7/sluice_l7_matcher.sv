/// One matcher: some messages in places, two of them in turn in the loop (docs/design/l7.md, "Matcher programs").
///
/// A message is taken (`take_i`, only with `free_o`) a cycle before its job and start row are given (`job_i`, `start_i`); its
/// segments follow from then on. It waits for the loop once its first segment is there, walks over its fields beside it,
/// and its verdict comes when both are over.
///
/// The row RAM has a write port of its own. Reads from outside take a slot that the loop leaves; while one waits, no message
/// enters the loop.
///
/// Latency, of a message alone whose first segment comes in cycle 0, with its job: its verdict is there in cycle 3 + the
/// loop's cycles (docs/design/l7.md, "What a step costs in cycles"); one later where its program does not begin with the
/// view's first field or the job came earlier, 2 from a group, 7 from one that hashes a field.
/// Throughput: a step a cycle, a message of one step every other cycle. A verdict that is not taken keeps its place.
module sluice_l7_matcher
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
  import sluice_l7_phase_pkg::*;
#(
    parameter int unsigned Places = 4,
    parameter int unsigned Rows = 512,
    parameter int unsigned Groups = 64,
    localparam int unsigned RowBits = $clog2(Rows),
    localparam int unsigned GroupBits = (Groups > 1) ? $clog2(Groups) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    // A place is free, and the one before has been loaded.
    output logic                                    free_o,
    // Places that are taken, and whose; the one that is as good as free, for its message leaves the loop for a queue or a drop.
    output logic   [    Places-1:0]                 taken_o,
    output logic                                    gone_o,
    output place_t                                  gone_place_o,
    output logic   [    Places-1:0][ModuleBits-1:0] modules_o,
    input  logic                                    take_i,
    input  logic   [ModuleBits-1:0]                 take_module_i,
    // It has a view.
    input  logic                                    take_bytes_i,

    // In the cycle behind `take_i`; the job also for as long as its segments come.
    // "Bits of signal are not used": the job comes whole; session and message are in the hash beside it.
    // verilator lint_off UNUSEDSIGNAL
    input l7_job_t job_i,
    // verilator lint_on UNUSEDSIGNAL

    input logic                      start_bad_i,
    input l7_move_t                  start_step_i,
    input l7_target_t                start_target_i,
    input logic       [SlotBits-1:0] identity_hash_i,

    input  logic                        segment_valid_i,
    output logic                        segment_ready_o,
    input  logic                        segment_last_i,
    input  logic [L7SegmentBytes*8-1:0] segment_i,

    output logic        verdict_valid_o,
    input  logic        verdict_ready_i,
    output l7_verdict_t verdict_o,

    // Tables, written at any time.
    input  logic                          row_write_i,
    input  logic          [  RowBits-1:0] row_write_index_i,
    input  l7_match_row_t                 row_write_row_i,
    // A read is under way from the cycle with `row_read_done_o` on; its row is there one cycle later.
    input  logic                          row_read_i,
    input  logic          [  RowBits-1:0] row_read_index_i,
    output logic                          row_read_done_o,
    output l7_match_row_t                 row_o,
    input  logic                          group_write_i,
    input  logic          [GroupBits-1:0] group_write_index_i,
    input  l7_group_row_t                 group_write_row_i,
    input  logic                          group_read_i,
    input  logic          [GroupBits-1:0] group_read_index_i,
    output logic                          group_read_done_o,
    output l7_group_row_t                 group_o
);

  localparam int unsigned PlaceIndexBits = (Places > 1) ? $clog2(Places) : 1;

  typedef struct packed {
    logic [ModuleBits-1:0] module_id;
    logic [2:0] otherwise_kind;
    logic [11:0] otherwise_number;
    logic [SlotBits-1:0] identity_hash;
  } goal_context_t;

  // --- Places ----------------------------------------------------------------------------------------------------------

  logic [Places-1:0] taken_q, free_onehot, released;
  logic [Places-1:0][ModuleBits-1:0] modules_q;
  logic any_free;
  logic [PlaceIndexBits-1:0] free_index;

  logic exit_valid;
  l7_exit_t leaves;

  // The message that is being loaded: its place, whether its job comes now, and whether segments are to come.
  place_t place_q;
  logic begin_q, loading_q;
  logic segment, last_segment, first_segment;
  logic walking;

  sluice_prio_enc #(
      .Width(Places)
  ) u_free (
      .req_i(~taken_q),
      .valid_o(any_free),
      .index_o(free_index),
      .onehot_o(free_onehot)
  );

  assign free_o = any_free && !begin_q && !loading_q && !walking;
  assign taken_o = taken_q;
  assign gone_o = exit_valid && !leaves.hashed && !leaves.fault && leaves.kind inside {L7GoalQueue, L7GoalDrop};
  assign gone_place_o = leaves.place;
  assign modules_o = modules_q;

  // --- Loading ----------------------------------------------------------------------------------------------------------

  logic [SegmentCountBits-1:0] count_q, count;
  logic walk_ready, loading;
  logic [Places-1:0][2**SegmentBits-1:0] come_q, come;
  logic [Places-1:0] complete_q, complete, mine;

  assign loading = loading_q;
  assign segment_ready_o = loading && walk_ready;
  assign segment = segment_valid_i && segment_ready_o;
  assign last_segment = segment && segment_last_i;
  assign count = begin_q ? '0 : count_q;
  assign first_segment = segment && count == '0;

  // What has come, with what comes: it can be read in the next cycle.
  always_comb begin
    for (int unsigned p = 0; p < Places; p++) begin
      mine[p] = place_q == place_t'(p);
      come[p] = come_q[p];
      complete[p] = complete_q[p];
      if (mine[p]) begin
        if (begin_q) begin
          come[p] = '0;
          complete[p] = !loading_q;
        end
        if (segment) come[p][count[SegmentBits-1:0]] = 1'b1;
        if (last_segment) complete[p] = 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      taken_q   <= '0;
      begin_q   <= 1'b0;
      loading_q <= 1'b0;
    end else begin
      taken_q   <= (taken_q & ~released) | (take_i ? free_onehot : '0);
      begin_q   <= take_i;
      loading_q <= take_i ? take_bytes_i : loading_q && !last_segment;
    end
  end

  always_ff @(posedge clk_i) begin
    // Of no meaning while no message is loaded or walked over, and where none is in the place: so it does not wait for the one that comes.
    if (free_o) begin
      place_q <= place_t'(free_index);
      for (int unsigned p = 0; p < Places; p++) if (free_onehot[p]) modules_q[p] <= take_module_i;
    end
    count_q <= count + SegmentCountBits'(segment);
    come_q <= come;
    complete_q <= complete;
  end

  l7_entry_t entry;

  // --- Fields -----------------------------------------------------------------------------------------------------------

  logic walk_write, walk_over, walk_malformed;
  logic [3:0] walk_index, field_index;
  position_t walk_start, walk_stop;
  l7_field_t field, kept_field, entry_field;
  place_t loop_place;

  sluice_l7_walk u_walk (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .begin_i(begin_q),
      .raw_i(job_i.raw),
      .bytes_i(job_i.bytes),
      .segment_i(segment),
      .segment_ready_o(walk_ready),
      .data_i(segment_i),
      .busy_o(walking),
      .write_o(walk_write),
      .index_o(walk_index),
      .start_o(walk_start),
      .stop_o(walk_stop),
      .over_o(walk_over),
      .malformed_o(walk_malformed)
  );

  sluice_l7_fields #(
      .Places(Places)
  ) u_fields (
      .clk_i(clk_i),
      .place_i(place_q),
      .begin_i(begin_q),
      .over_i(walk_over),
      .write_i(walk_write),
      .index_i(walk_index),
      .start_i(walk_start),
      .stop_i(walk_stop),
      .read_place_i({entry.place, loop_place}),
      .read_index_i({entry.step.field, field_index}),
      .field_o({kept_field, field})
  );

  // --- Who enters the loop ------------------------------------------------------------------------------------------------

  logic saves, entry_valid, entry_ready, starting, hash_valid, direct_entry, idle;
  l7_move_t start_step;
  place_t save_place, hash_place;
  logic [3:0] hash_field;
  l7_saved_t save;
  l7_context_t about;

  assign starting = first_segment || (begin_q && !loading_q);
  assign about = '{
          module_id: job_i.module_id,
          open: job_i.open,
          bytes: job_i.bytes,
          stops: job_i.stops,
          stop_count: job_i.stop_count
      };

  // Without a start row the message goes to its default.
  assign start_step = job_i.started ? start_step_i : '0;
  // When nobody waits a message enters in the cycle of its first segment, if its program begins with the view's first field.
  assign direct_entry = begin_q && starting && idle && entry_ready &&
      (start_step.field == '0 || (walk_write && walk_index == start_step.field));
  assign entry_field = entry_valid ? kept_field : '{known: 1'b1, present: 1'b1, start: walk_start, stop: walk_stop};

  sluice_l7_entries #(
      .Places(Places)
  ) u_entries (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .place_i(place_q),
      .begin_i(begin_q),
      .start_i(starting),
      .about_i(about),
      .step_i(start_step),
      .target_i(job_i.started ? start_target_i : '0),
      .bad_i(job_i.started && start_bad_i),
      .hash_valid_i(hash_valid),
      .hash_place_i(hash_place),
      .hash_field_i(hash_field),
      .save_valid_i(saves),
      .save_place_i(save_place),
      .save_i(save),
      .direct_i(direct_entry),
      .entry_valid_o(entry_valid),
      .entry_ready_i(entry_ready),
      .entry_o(entry),
      .idle_o(idle)
  );

  // --- The loop -----------------------------------------------------------------------------------------------------------

  logic row_slot_taken, look;
  logic [RowBits-1:0] row_index;
  l7_match_row_t row;
  place_t look_place;
  logic [LookBits-1:0] look_at;
  logic [7:0] look_stop;
  logic [L7MatchBytes-1:0][7:0] lanes;
  l7_stops_t stops;

  sluice_l7_loop #(
      .Places(Places),
      .Rows  (Rows)
  ) u_loop (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .pause_i(row_read_i),
      .direct_i(direct_entry),
      .entry_valid_i(entry_valid),
      .entry_ready_o(entry_ready),
      .entry_i(entry),
      .place_o(loop_place),
      .field_o(field_index),
      .field_i(field),
      .entry_field_i(entry_field),
      .come_i(come),
      .complete_i(complete),
      .row_read_o(row_slot_taken),
      .row_index_o(row_index),
      .row_i(row),
      .look_o(look),
      .look_place_o(look_place),
      .look_at_o(look_at),
      .look_stop_o(look_stop),
      .lanes_i(lanes),
      .stops_i(stops),
      .exit_valid_o(exit_valid),
      .exit_o(leaves),
      .save_valid_o(saves),
      .save_place_o(save_place),
      .save_o(save)
  );

  sluice_l7_window #(
      .Places(Places)
  ) u_window (
      .clk_i(clk_i),
      .write_i(segment),
      .write_place_i(place_q),
      .write_segment_i(count[SegmentBits-1:0]),
      .write_data_i(segment_i),
      .look_i(look),
      .look_place_i(look_place),
      .look_at_i(look_at),
      .stop_i(look_stop),
      .lanes_o(lanes),
      .stops_o(stops)
  );

  assign row_read_done_o = row_read_i && !row_slot_taken;
  assign row_o = row;

  sluice_ram_1r1w #(
      .Width(L7MatchRowBits),
      .Depth(Rows)
  ) u_rows (
      .clk_i(clk_i),
      .wr_en_i(row_write_i),
      .wr_addr_i(row_write_index_i),
      .wr_data_i(row_write_row_i),
      .rd_en_i(row_slot_taken || row_read_i),
      .rd_addr_i(row_slot_taken ? row_index : row_read_index_i),
      .rd_data_o(row)
  );

  // --- What it comes to ---------------------------------------------------------------------------------------------------

  goal_context_t goal_written, goal_read;
  // "Bits of signal are not used": there may be fewer places than the type has.
  // verilator lint_off UNUSEDSIGNAL
  place_t goal_place;
  // verilator lint_on UNUSEDSIGNAL
  logic group_read;
  logic [GroupBits-1:0] group_index;
  l7_group_row_t group;
  logic [Places-1:0] settled;
  l7_settled_t [Places-1:0] goals;
  logic direct;
  l7_settled_t direct_goal;

  assign goal_written = '{
          module_id: job_i.module_id,
          otherwise_kind: job_i.otherwise.kind,
          otherwise_number: job_i.otherwise.number,
          identity_hash: identity_hash_i
      };

  sluice_ram_lut #(
      .Width($bits(goal_context_t)),
      .Depth(Places),
      .InitZero(1'b0)
  ) u_goals (
      .clk_i(clk_i),
      .we_i(begin_q),
      .waddr_i(PlaceIndexBits'(place_q)),
      .wdata_i(goal_written),
      .raddr_i(PlaceIndexBits'(goal_place)),
      .rdata_o(goal_read)
  );

  sluice_l7_goal #(
      .Places(Places),
      .Groups(Groups)
  ) u_goal (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .exit_valid_i(exit_valid),
      .exit_i(leaves),
      .place_o(goal_place),
      .module_id_i(goal_read.module_id),
      .otherwise_kind_i(goal_read.otherwise_kind),
      .otherwise_number_i(goal_read.otherwise_number),
      .identity_hash_i(goal_read.identity_hash),
      .group_read_o(group_read),
      .group_index_o(group_index),
      .group_i(group),
      .hash_valid_o(hash_valid),
      .hash_place_o(hash_place),
      .hash_field_o(hash_field),
      .settle_o(settled),
      .goals_o(goals),
      .direct_o(direct),
      .direct_goal_o(direct_goal)
  );

  assign group_read_done_o = group_read_i && !group_read;
  assign group_o = group;

  sluice_ram_1r1w #(
      .Width(L7GroupRowBits),
      .Depth(Groups),
      .Style("block")
  ) u_groups (
      .clk_i(clk_i),
      .wr_en_i(group_write_i),
      .wr_addr_i(group_write_index_i),
      .wr_data_i(group_write_row_i),
      .rd_en_i(group_read || group_read_i),
      .rd_addr_i(group_read ? group_index : group_read_index_i),
      .rd_data_o(group)
  );

  // --- Verdicts -----------------------------------------------------------------------------------------------------------

  sluice_l7_verdicts #(
      .Places(Places)
  ) u_verdicts (
      .clk_i(clk_i),
      .rst_ni(rst_ni),
      .place_i(place_q),
      .begin_i(begin_q),
      .tag_i(job_i.tag),
      .module_i(job_i.module_id),
      .over_i(walk_over),
      .malformed_i(walk_malformed),
      .exit_valid_i(exit_valid),
      .exit_i(leaves),
      .direct_i(direct),
      .direct_goal_i(direct_goal),
      .settle_i(settled),
      .goals_i(goals),
      .release_o(released),
      .verdict_valid_o(verdict_valid_o),
      .verdict_ready_i(verdict_ready_i),
      .verdict_o(verdict_o)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      OnlyAFreePlaceIsTaken_A : assert (!take_i || free_o);
      OnlyTakenPlacesAreSettled_A : assert ((settled & ~taken_q) == '0);
      OnlyTakenPlacesAreWalkedOver_A : assert (!walk_over || (mine & ~taken_q) == '0);
    end
  end
`endif

endmodule
