/// One core: executes bundles of several contexts in turns (docs/design/hxdp-core.md).
///
/// A context has one bundle under way. Its next one may be picked 5 cycles later. Bundles go through pick, fetch, read, first, second, memory and write, a cycle each; what is
/// done where stands in the design page's table.
///
/// Each stage is a module, sluice_xdp_stage_*, whose outputs are registers; sluice_xdp_stages_pkg has what travels between them. What contexts keep is in
/// sluice_xdp_contexts, what units answer in sluice_xdp_units. A packet's first bundle is picked when a context takes it.
///
/// What takes longer (values, maps, multiplication, division) is launched by its bundle, which does all else; its *late* result is written when it is there, in a cycle
/// in which the last lane writes nothing, and the context is picked again; or the packet ends with it. What else ends the packet, goes back, or changes more than a register has a first
/// pass, which launches it and does nothing else, and a second one, which does all of the bundle. A unit that is busy sends the context back to be picked again.
///
/// A call of a function goes where its lane says, or (`wide`) to the function whose address the last lane reads; it counts as work but for one of the engine's own
/// (`spare`). It has a first pass too, in which the new frame is cleared; the second one keeps r6 to r9 and the row behind. The exit of a function is followed by two
/// passes without a bundle, which restore them; a tail call in a function by two which clear its frame.
///
/// A packet is taken by `start_*` and ends with `end_valid_o`, once; `end_o` says what its program said. A fault ends it as aborted.
///
/// Latency: 5 cycles a bundle and pass. Throughput: a bundle a cycle over all contexts. `hold_i` keeps a cycle free of bundles, so that somebody else has the memory 5
/// cycles later.
module sluice_xdp_core
  import sluice_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    parameter int unsigned Slots = 16,
    // Its number: its contexts are the processors from `Core` * `Contexts` on.
    parameter int unsigned Core = 0,
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic hold_i,

    input logic [ClockBits-1:0] now_i,

    input  logic                   start_valid_i,
    output logic                   start_ready_o,
    input  xdp_start_t             start_i,
    // A register of a packet that waits in a slot, in a cycle in which nobody else has its port.
    input  xdp_set_t               set_i,
    output logic                   set_ready_o,
    // Slots whose flow's section is another packet's; one that has left it with its end, and one that leaves it with a bundle.
    input  logic       [Slots-1:0] flow_waits_i,
    output logic                   left_valid_o,
    output logic       [      7:0] left_slot_o,
    output logic                   leaves_valid_o,
    output logic       [      7:0] leaves_slot_o,

    output logic                         fetch_valid_o,
    output logic          [CodeBits-1:0] fetch_row_o,
    input  xdp_code_row_t                code_i,
    input  xdp_page_row_t                page_i,

    output logic                   read_valid_o,
    output xdp_place_t             read_place_o,
    // The place's word and the one behind it.
    input  logic       [1:0][63:0] read_data_i,

    output logic                   write_valid_o,
    output xdp_place_t             write_place_o,
    output logic       [7:0][ 7:0] write_enable_o,
    // The place's word and the one behind it.
    output logic       [1:0][63:0] write_data_o,

    output logic        call_valid_o,
    output xdp_call_t   call_o,
    input  logic        return_valid_i,
    input  xdp_return_t return_i,

    output logic                               request_valid_o,
    input  logic                               request_ready_i,
    output xdp_request_t                       request_o,
    output logic             [ContextBits-1:0] request_context_o,
    output logic             [           63:0] late_o,                // behind a request: what the memory gave
    // Of a request, its bundle's row; of a packet that is taken, its context.
    output logic             [   CodeBits-1:0] request_row_o,
    output logic             [ContextBits-1:0] start_context_o,
    input  logic                               done_valid_i,
    input  logic             [ContextBits-1:0] done_context_i,
    input  logic                               done_fault_i,
    input  logic             [           63:0] done_value_i,
    // Of a lock that it asked for; and whose packet has ended, with which its lock is free.
    input  logic                               lock_valid_i,
    output logic                               lock_ready_o,
    input  logic             [ContextBits-1:0] lock_context_i,
    input  xdp_lock_answer_t                   lock_i,
    output logic                               free_valid_o,
    output logic             [ContextBits-1:0] free_context_o,
    // The map engine takes each call, and answers it once.
    output logic                               map_call_valid_o,
    output xdp_map_call_t                      map_call_o,
    output logic             [ContextBits-1:0] map_context_o,
    input  logic                               map_answer_valid_i,
    output logic                               map_answer_ready_o,
    input  logic             [ContextBits-1:0] map_answer_context_i,
    input  xdp_map_answer_t                    map_answer_i,
    // A pass for its module's account, a cycle behind it.
    output logic                               pass_valid_o,
    output xdp_spent_t                         pass_o,
    // A program has ended while it held a record, whose event's room is free again.
    output logic                               abandon_valid_o,
    output xdp_event_t                         abandon_o,

    output logic     end_valid_o,
    output xdp_end_t end_o,

    output logic idle_o
);

  typedef logic [ContextBits-1:0] context_t;

  // Bundles on their way, and whose they are: behind pick, fetch, read, first, second and memory.
  xdp_picked_t picked;
  xdp_fetched_t fetched;
  xdp_read_t read;
  xdp_first_t first;
  xdp_second_t second;
  xdp_done_t done;
  context_t picked_context, fetched_context, read_context, first_context, second_context, done_context;

  // What was decided of the bundle in the memory stage, and what is written into registers.
  xdp_decided_t decided;
  xdp_write_t write;
  context_t written_context;

  // What contexts keep.
  // "Bits of signal are not used": each reader takes the fields that concern it.
  // verilator lint_off UNUSEDSIGNAL
  xdp_fixed_t read_fixed, second_fixed;
  // verilator lint_on UNUSEDSIGNAL
  xdp_start_t taken;
  xdp_kept_t kept;
  xdp_given_t given;
  steps_t early_steps;
  xdp_turn_t turn;
  xdp_caller_t caller;
  xdp_keep_t keep;
  logic [CodeBits-1:0] row;
  logic [ModuleBits-1:0] module_id;
  logic [StackWords-1:0] written;
  logic [StampBits-1:0] stamp;

  // What units answer.
  logic unit_done, unit_late, unit_woken, unit_again, late_wants;
  context_t unit_context, late_context, helper_context;
  logic muldiv_ready, muldiv_takes, helper_busy;
  xdp_return_t helper_return;
  logic [31:0] helper_redirect;
  xdp_result_t result;
  xdp_waits_t waits;
  xdp_late_t late;
  xdp_redirect_t late_redirect;
  logic finish_busy;

  // ---------------------------------------------------------------------------------------------------------------
  // Stages.

  logic start_take, resume;

  sluice_xdp_stage_pick #(
      .Contexts(Contexts),
      .Slots   (Slots)
  ) u_pick (
      .clk_i,
      .rst_ni,
      // Nobody is picked: for others, or for late results that waited.
      .hold_i          (hold_i || late_wants),
      .start_valid_i,
      .start_ready_o,
      .start_slot_i    (start_i.slot[$clog2(Slots)-1:0]),
      .start_take_o    (start_take),
      .free_context_o  (start_context_o),
      .second_valid_i  (first.valid),
      .second_context_i(first_context),
      .memory_valid_i  (second.valid),
      .decided_i       (decided),
      .flow_waits_i,
      .memory_context_i(second_context),
      .done_valid_i    (unit_done),
      .done_late_i     (unit_late),
      .done_woken_i    (unit_woken),
      .done_again_i    (unit_again),
      .done_context_i  (unit_context),
      .late_i          (late),
      .late_context_i  (late_context),
      .bundle_o        (picked),
      .context_o       (picked_context),
      .resume_o        (resume),
      .idle_o
  );

  sluice_xdp_stage_fetch #(
      .Contexts(Contexts)
  ) u_fetch (
      .clk_i,
      .rst_ni,
      .bundle_i (picked),
      .context_i(picked_context),
      .resume_i (resume),
      .taken_i  (taken),
      .row_i    (row),
      .module_i (module_id),
      .turn_i   (turn),
      .fetch_valid_o,
      .fetch_row_o,
      .bundle_o (fetched),
      .context_o(fetched_context)
  );

  logic [XdpLanes-1:0][63:0] a, b, sum, arithmetic;
  logic [XdpLanes-1:0] holds;

  // "Bits of signal are not used": slots are numbered as for the largest memory.
  // verilator lint_off UNUSEDSIGNAL
  logic [7:0] slot;
  // verilator lint_on UNUSEDSIGNAL

  sluice_xdp_stage_read #(
      .Contexts(Contexts),
      .Slots   (Slots)
  ) u_read (
      .clk_i,
      .rst_ni,
      .bundle_i       (fetched),
      .context_i      (fetched_context),
      .code_i,
      .page_i,
      .kept_i         (kept),
      .given_i        (given),
      .slot_i         (slot[$clog2(Slots)-1:0]),
      .write_i        (write),
      .write_context_i(done_context),
      .late_context_i (written_context),
      .set_i,
      .set_ready_o,
      .bundle_o       (read),
      .context_o      (read_context),
      .a_o            (a),
      .b_o            (b)
  );

  sluice_xdp_stage_first #(
      .Contexts(Contexts),
      .Core    (Core)
  ) u_first (
      .clk_i,
      .rst_ni,
      .bundle_i    (read),
      .context_i   (read_context),
      .a_i         (a),
      .b_i         (b),
      .flow_waits_i(flow_waits_i[read_fixed.slot[$clog2(Slots)-1:0]]),
      .leaves_o    (leaves_valid_o),
      .leaves_slot_o,
      .fixed_i     (read_fixed),
      .caller_i    (caller),
      .written_i   (written),
      .result_i    (result),
      .bundle_o    (first),
      .context_o   (first_context),
      .sum_o       (sum),
      .result_o    (arithmetic),
      .holds_o     (holds)
  );

  sluice_xdp_stage_second #(
      .Contexts(Contexts)
  ) u_second (
      .clk_i,
      .rst_ni,
      .bundle_i (first),
      .context_i(first_context),
      .sum_i    (sum),
      .result_i (arithmetic),
      .holds_i  (holds),
      .bundle_o (second),
      .context_o(second_context)
  );

  sluice_xdp_stage_memory #(
      .Contexts(Contexts)
  ) u_memory (
      .clk_i,
      .rst_ni,
      .bundle_i        (second),
      .context_i       (second_context),
      .request_ready_i,
      .muldiv_ready_i  (muldiv_ready),
      .helper_busy_i   (helper_busy),
      .helper_context_i(helper_context),
      .return_i        (helper_return),
      .redirect_i      (helper_redirect),
      .late_i          (late),
      .late_context_i  (late_context),
      .decided_o       (decided),
      .keep_o          (keep),
      .read_valid_o,
      .read_place_o,
      .write_valid_o,
      .write_place_o,
      .write_enable_o,
      .write_data_o,
      .bundle_o        (done),
      .context_o       (done_context),
      .late_context_o  (written_context)
  );

  sluice_xdp_stage_write u_write (
      .bundle_i(done),
      .read_data_i,
      .write_o (write),
      .read_o  (late_o)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // What contexts keep.

  sluice_xdp_contexts #(
      .Contexts(Contexts)
  ) u_contexts (
      .clk_i,
      .rst_ni,
      .start_take_i    (start_take),
      .start_i,
      .start_context_i (start_context_o),
      .fetch_context_i (picked_context),
      .taken_o         (taken),
      .row_o           (row),
      .module_o        (module_id),
      .turn_o          (turn),
      .read_context_i  (fetched_context),
      .read_depth_i    (fetched.turn.depth),
      .kept_o          (kept),
      .given_o         (given),
      .slot_o          (slot),
      .first_context_i (read_context),
      .first_fixed_o   (read_fixed),
      .caller_o        (caller),
      .written_o       (written),
      .memory_context_i(second_context),
      .memory_depth_i  (second.turn.depth),
      .memory_fixed_o  (second_fixed),
      .stamp_o         (stamp),
      .steps_o         (early_steps),
      .keep_i          (keep),
      .late_valid_i    (late.valid && late.refers),
      .late_context_i  (late_context),
      .late_redirect_i (late_redirect)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Units.

  sluice_xdp_launch #(
      .Contexts(Contexts),
      .Core    (Core)
  ) u_launch (
      .clk_i,
      .bundle_i       (second),
      .context_i      (second_context),
      .fixed_i        (second_fixed),
      .stamp_i        (stamp),
      .write_i        (write),
      .write_context_i(done_context),
      .late_context_i (written_context),
      .call_o,
      .request_o,
      .map_call_o,
      .waits_o        (waits)
  );

  assign muldiv_takes = decided.parks && second.unit == UnitMuldiv;
  assign call_valid_o = decided.parks && second.unit == UnitHelper;
  assign request_valid_o = decided.launches && second.unit == UnitValues;
  assign request_context_o = second_context;
  assign request_row_o = second.row;
  assign map_call_valid_o = decided.launches && second.unit == UnitMaps;
  assign map_context_o = second_context;

  sluice_xdp_units #(
      .Contexts(Contexts)
  ) u_units (
      .clk_i,
      .rst_ni,
      .bundle_i         (second),
      .context_i        (second_context),
      .next_i           (first),
      .decided_i        (decided),
      .muldiv_takes_i   (muldiv_takes),
      .helper_takes_i   (call_valid_o),
      .waits_i          (waits),
      .keeps_i          (keep.kept_valid),
      .ends_i           (finish_busy),
      .muldiv_ready_o   (muldiv_ready),
      .helper_busy_o    (helper_busy),
      .helper_context_o (helper_context),
      .helper_return_o  (helper_return),
      .helper_redirect_o(helper_redirect),
      .return_valid_i,
      .return_i,
      .done_valid_i,
      .done_context_i,
      .done_fault_i,
      .done_value_i,
      .map_answer_valid_i,
      .map_answer_ready_o,
      .map_answer_context_i,
      .map_answer_i,
      .lock_valid_i,
      .lock_ready_o,
      .lock_context_i,
      .lock_i,
      .done_valid_o     (unit_done),
      .done_late_o      (unit_late),
      .done_woken_o     (unit_woken),
      .done_again_o     (unit_again),
      .done_context_o   (unit_context),
      .first_context_i  (read_context),
      .result_o         (result),
      .late_o           (late),
      .late_context_o   (late_context),
      .late_wants_o     (late_wants)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // What a packet has cost, and its end.

  logic lock_answered;
  assign lock_answered = lock_valid_i && lock_ready_o;

  sluice_xdp_finish #(
      .Contexts(Contexts)
  ) u_finish (
      .clk_i,
      .rst_ni,
      .now_i,
      .bundle_i       (second),
      .decided_i      (decided),
      .fixed_i        (second_fixed),
      .context_i      (second_context),
      .before_i       (early_steps),
      .steps_valid_i  ((map_answer_valid_i && map_answer_ready_o) || lock_answered),
      .steps_i        (lock_answered ? lock_i.steps : map_answer_i.steps),
      .steps_context_i(lock_answered ? lock_context_i : map_answer_context_i),
      .redirect_i     (keep.kept.redirect),
      .record_i       (helper_return.record),
      .busy_o         (finish_busy),
      .late_i         (late),
      .late_context_i (late_context),
      .late_redirect_o(late_redirect),
      .end_valid_o,
      .end_o,
      .free_valid_o,
      .free_context_o,
      .left_valid_o,
      .left_slot_o,
      .abandon_valid_o,
      .abandon_o
  );

  xdp_pass_e unit;
  assign unit = (second.unit == UnitValues) ? XdpPassValues : (second.unit == UnitMaps) ? XdpPassMaps :
      (second.unit == UnitHelper) ? XdpPassHelper : XdpPassArithmetic;
  sluice_xdp_passes #(
      .Contexts(Contexts)
  ) u_passes (
      .clk_i,
      .rst_ni,
      .now_i,
      .taken_i  (start_take),
      .came_i   (start_i.came),
      .valid_i  (second.valid),
      .context_i(second_context),
      .module_i (second_fixed.module_id),
      .start_i  (second.start),
      // A late result that faults is of a bundle that was done.
      .bundle_i (decided.commits && second.turn.pass == PassBundle && !second.late_fault),
      .retries_i(decided.retries),
      .waited_i (second.waited),
      .late_i   (decided.commits && second.launch),
      .unit_i   (unit),
      .valid_o  (pass_valid_o),
      .spent_o  (pass_o)
  );

`ifndef SYNTHESIS
  ALateResultHasTheLastLanesPort_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !write.late || !write.valid[XdpLanes-1]);
  ABundleAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(picked.valid && ((fetched.valid && fetched_context == picked_context) ||
      (read.valid && read_context == picked_context) || (first.valid && first_context == picked_context))));
`endif

endmodule
