/// A core with what belongs to it alone: packet memory, and those who put packets there and take them out (docs/design/hxdp-core.md).
///
/// Packets come with their program's module, leave by windows of memory, and say their verdict once, before their first beat. With `enter_valid_o` a packet
/// has its slot; it leaves it in the order of flows with its verdict (`verdict_valid_o` with `verdict_ready_i`). What the core
/// shares with others (programs, instructions, values, the map engine, the helper) is asked for outside; answers say to which context they are.
///
/// In packet memory the core goes first, then the helper, the map engine, words that packets begin with, and packets that come and go; who waits gets the next cycle
/// after 15. So does a register that a packet begins with, which waits for the port of a lane.
///
/// Latency and stalls: those of its blocks.
module sluice_xdp_cluster
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
  import sluice_xdp_room_pkg::*;
  import sluice_xdp_streams_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter int unsigned Contexts = 8,
    parameter int unsigned Core = 0,
    parameter int unsigned Rows = 1024,
    parameter int unsigned Slots = 16,
    parameter int unsigned Modules = 64,
    parameter bit Outside = 1'b0,
    localparam int unsigned SlotBits = $clog2(Slots),
    localparam int unsigned LookBits = $clog2(2 * Modules),
    localparam int unsigned ContextBits = $clog2(Contexts)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                        s_axis_tvalid,
    output logic                        s_axis_tready,
    input  logic        [        511:0] s_axis_tdata,
    input  beat_bytes_t                 s_axis_bytes,
    input  logic                        s_axis_tlast,
    input  sideband_t                   s_axis_side,
    input  route_t                      s_axis_route,
    input  token_t                      s_axis_token,
    input  logic                        s_axis_broken,
    input  logic        [ClockBits-1:0] s_axis_came,
    input  xdp_room_t                   s_axis_room,
    input  xdp_need_t                   s_axis_need,
    input  warp_leaf_t                  s_axis_leaf,
    input  logic        [ClockBits-1:0] now_i,

    // What its packets begin with, and the answers of their lookups.
    input  logic              word_valid_i,
    output logic              word_ready_o,
    input  xdp_made_t         word_i,
    input  logic              answer_valid_i,
    input  xdp_early_answer_t answer_i,

    // Room of packets that have left; contexts that nobody owns.
    output xdp_back_t                          back_o,
    input  logic      [$clog2(Contexts+1)-1:0] shared_contexts_i,

    // Windows of frames, as sluice_xdp_sender takes them.
    output logic         window_valid_o,
    input  logic         window_ready_i,
    output logic         window_last_o,
    output logic [511:0] window_o,

    // A packet has come: its slot; its program's row and its port's interface are there in the next cycle.
    output logic                            enter_valid_o,
    output logic             [SlotBits-1:0] enter_slot_o,
    input  xdp_program_row_t                program_i,
    input  logic             [        31:0] ifindex_i,
    // Slots whose packets wait for others of their flow; whose turn to leave may come all the same; whose turn it is.
    input  logic             [   Slots-1:0] waits_i,
    input  logic             [   Slots-1:0] soon_i,
    // Slots whose flow's section is another packet's; whose packets have left theirs.
    input  logic             [   Slots-1:0] flow_waits_i,
    output logic             [   Slots-1:0] section_left_o,
    output logic                            near_valid_o,
    output logic             [SlotBits-1:0] near_slot_o,

    output logic                               fetch_valid_o,
    output logic                [CodeBits-1:0] fetch_row_o,
    input  xdp_code_row_t                      code_i,
    input  xdp_page_row_t                      page_i,
    output logic                               interfaces_valid_o,
    output logic                [LookBits-1:0] interfaces_index_o,
    input  xdp_interfaces_row_t                interfaces_i,

    // Values; a request that counts for a packet without a context has its slot as its row.
    output logic                           request_valid_o,
    input  logic                           request_ready_i,
    output logic                           request_count_o,
    input  logic                           count_done_i,
    output xdp_request_t                   request_o,
    output logic         [ContextBits-1:0] request_context_o,
    output logic         [   CodeBits-1:0] request_row_o,
    output logic         [           63:0] late_o,
    input  logic                           done_valid_i,
    input  logic         [ContextBits-1:0] done_context_i,
    input  logic                           done_fault_i,
    input  logic         [           63:0] done_value_i,

    // The helper: a call, its answer, and what it does in packet memory.
    output logic                    call_valid_o,
    output xdp_call_t               call_o,
    input  logic                    return_valid_i,
    input  xdp_return_t             return_i,
    input  logic                    helper_read_valid_i,
    output logic                    helper_read_ready_o,
    input  xdp_place_t              helper_read_place_i,
    input  logic                    helper_write_valid_i,
    output logic                    helper_write_ready_o,
    input  xdp_place_t              helper_write_place_i,
    input  logic        [7:0][ 7:0] helper_write_enable_i,
    input  logic        [1:0][63:0] helper_write_data_i,

    // Locks.
    input  logic                               lock_valid_i,
    output logic                               lock_ready_o,
    input  logic             [ContextBits-1:0] lock_context_i,
    input  xdp_lock_answer_t                   lock_i,
    output logic                               lock_free_o,
    output logic             [ContextBits-1:0] lock_free_context_o,

    // The map engine.
    output logic                                    map_call_valid_o,
    output xdp_map_call_t                           map_call_o,
    output logic            [ContextBits-1:0]       map_context_o,
    input  logic                                    map_answer_valid_i,
    output logic                                    map_answer_ready_o,
    input  logic            [ContextBits-1:0]       map_answer_context_i,
    input  xdp_map_answer_t                         map_answer_i,
    input  logic                                    map_read_valid_i,
    output logic                                    map_read_ready_o,
    input  xdp_place_t                              map_read_place_i,
    // What the helper or the engine has read.
    output logic            [            1:0][63:0] read_data_o,

    output logic                           verdict_valid_o,
    input  logic                           verdict_ready_i,
    output logic           [ SlotBits-1:0] verdict_slot_o,
    output token_t                         leave_o,
    output verdict_trace_t                 verdict_o,
    output cost_t                          cost_o,
    output xdp_judged_t                    leaving_o,
    // With the verdict: the packet's program has ended so, and waited so long for its turn.
    output logic                           ran_o,
    output xdp_outcome_t                   outcome_o,
    output logic                           generation_o,
    output logic           [ClockBits-1:0] waited_o,
    // A pass of the core.
    output logic                           pass_valid_o,
    output xdp_spent_t                     pass_o,

    // Room for an event that nobody makes any more.
    output logic       abandon_valid_o,
    output xdp_event_t abandon_o,

    // Trace: a packet's slot is written; a context takes one.
    output logic                   slot_valid_o,
    output logic [   SlotBits-1:0] slot_o,
    output logic [           31:0] slot_id_o,
    output logic                   start_valid_o,
    output logic [   SlotBits-1:0] start_slot_o,
    output logic [ContextBits-1:0] start_context_o,

    output logic waiting_o
);

  // Cycles that the others wait for the memory before the core leaves one out.
  localparam int unsigned Patience = 15;

  logic core_read, unload_read, core_write, load_write, hold;
  xdp_place_t core_read_place, unload_read_place, read_place;
  xdp_place_t core_write_place, load_write_place, write_place;
  logic set_ready;
  xdp_set_t set;
  logic [1:0][63:0] read_data;
  logic [7:0][63:0] columns, load_write_data, write_data;
  logic [7:0][7:0] core_write_enable, load_write_enable, write_enable;
  logic [1:0][63:0] core_write_data, two;
  logic [3:0] read_wait_q, write_wait_q, set_wait_q;

  logic start_valid, start_ready, end_valid, idle, load_waiting, unload_waiting;
  logic [SlotBits-1:0] left_slot;
  xdp_slot_t slot_data;
  // "Bits of signal are not used": slots are numbered as for the largest memory.
  // verilator lint_off UNUSEDSIGNAL
  xdp_start_t start;
  // verilator lint_on UNUSEDSIGNAL
  xdp_end_t finished, settled, ended;
  logic core_end_valid, settled_valid, slot_waits, count_valid, count_ready;
  xdp_request_t count;
  logic [7:0] count_slot;

  // ---------------------------------------------------------------------------------------------------------------
  // Memory.

  always_comb begin
    read_place = unload_read_place;
    if (map_read_valid_i) read_place = map_read_place_i;
    if (helper_read_valid_i) read_place = helper_read_place_i;
    if (core_read) read_place = core_read_place;
    write_place = load_write_place;
    write_enable = load_write_enable;
    two = helper_write_data_i;
    if (helper_write_valid_i) begin
      write_place  = helper_write_place_i;
      write_enable = helper_write_enable_i;
    end
    if (core_write) begin
      write_place = core_write_place;
      write_enable = core_write_enable;
      two = core_write_data;
    end
    // What comes in is whole rows from their first word on, or a word in all columns; the others write two words, which repeat themselves: no column chooses from eight.
    write_data = (core_write || helper_write_valid_i) ? {4{write_place.word[0] ? {two[0], two[1]} : two}} : load_write_data;
  end

  // Written a cycle later: whoever reads what he has written, or what was written for him, does so later still.
  logic write_valid_q;
  xdp_place_t write_place_q;
  logic [7:0][7:0] write_enable_q;
  logic [7:0][63:0] write_data_q;
  always_ff @(posedge clk_i) begin
    write_valid_q  <= core_write || helper_write_valid_i || load_write;
    write_place_q  <= write_place;
    write_enable_q <= write_enable;
    write_data_q   <= write_data;
  end

  // Who waits gets a cycle after at most `Patience`.
  assign hold = read_wait_q == 4'(Patience) || write_wait_q == 4'(Patience) || set_wait_q == 4'(Patience);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_wait_q  <= '0;
      write_wait_q <= '0;
      set_wait_q   <= '0;
    end else begin
      read_wait_q <= (core_read && (helper_read_valid_i || map_read_valid_i || unload_read) && !hold) ? read_wait_q + 4'd1 : '0;
      write_wait_q <= (core_write && (helper_write_valid_i || load_write) && !hold) ? write_wait_q + 4'd1 : '0;
      set_wait_q <= (set.valid && !set_ready && !hold) ? set_wait_q + 4'd1 : '0;
    end
  end

  sluice_xdp_memory #(
      .Rows(Rows)
  ) u_memory (
      .clk_i,
      .read_valid_i  (core_read || helper_read_valid_i || map_read_valid_i || unload_read),
      .read_place_i  (read_place),
      .read_data_o   (read_data),
      .columns_o     (columns),
      .write_valid_i (write_valid_q),
      .write_place_i (write_place_q),
      .write_enable_i(write_enable_q),
      .write_data_i  (write_data_q)
  );
  assign helper_read_ready_o = !core_read;
  assign helper_write_ready_o = !core_write;
  assign map_read_ready_o = !core_read && !helper_read_valid_i;
  assign read_data_o = read_data;

  // ---------------------------------------------------------------------------------------------------------------

  sluice_xdp_arrivals #(
      .Slots   (Slots),
      .Contexts(Contexts),
      .Modules (Modules),
      .Outside (Outside)
  ) u_arrivals (
      .clk_i,
      .rst_ni,
      .now_i,
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_bytes,
      .s_axis_tlast,
      .s_axis_side,
      .s_axis_route,
      .s_axis_token,
      .s_axis_broken,
      .s_axis_came,
      .s_axis_room,
      .s_axis_need,
      .s_axis_leaf,
      .look_valid_o    (enter_valid_o),
      .enter_slot_o,
      .program_i,
      .ifindex_i,
      .word_valid_i,
      .word_ready_o,
      .word_i,
      .answer_valid_i,
      .answer_i,
      .set_o           (set),
      .set_ready_i     (set_ready),
      .write_valid_o   (load_write),
      .write_ready_i   (!core_write && !helper_write_valid_i),
      .write_place_o   (load_write_place),
      .write_enable_o  (load_write_enable),
      .write_data_o    (load_write_data),
      .slot_valid_o,
      .slot_o,
      .slot_data_o     (slot_data),
      .slot_waits_o    (slot_waits),
      .start_valid_o   (start_valid),
      .start_ready_i   (start_ready),
      .start_o         (start),
      .flow_waits_i,
      .shared_contexts_i,
      .core_end_valid_i(core_end_valid),
      .core_end_slot_i (finished.slot[SlotBits-1:0]),
      .left_valid_i    (back_o.left_valid),
      .left_slot_i     (left_slot),
      .count_valid_o   (count_valid),
      .count_ready_i   (count_ready),
      .count_o         (count),
      .count_slot_o    (count_slot),
      .count_done_i,
      .settled_valid_o (settled_valid),
      .settled_o       (settled),
      .waiting_o       (load_waiting)
  );
  assign end_valid = core_end_valid || settled_valid;
  assign ended = core_end_valid ? finished : settled;

  // Who has a program leaves the section there; who has none has left it.
  logic core_left_valid, core_leaves_valid;
  // "Bits of signal are not used": slots are numbered as for the largest memory.
  // verilator lint_off UNUSEDSIGNAL
  logic [7:0] core_left_slot, core_leaves_slot;
  // verilator lint_on UNUSEDSIGNAL
  always_ff @(posedge clk_i) begin
    section_left_o <= '0;
    if (core_left_valid) section_left_o[core_left_slot[SlotBits-1:0]] <= 1'b1;
    if (core_leaves_valid) section_left_o[core_leaves_slot[SlotBits-1:0]] <= 1'b1;
    if (slot_valid_o && !slot_data.has_program) section_left_o[slot_o] <= 1'b1;
    if (settled_valid && !core_end_valid) section_left_o[settled.slot[SlotBits-1:0]] <= 1'b1;
    if (!rst_ni) section_left_o <= '0;
  end

  logic asks, asks_ready;
  xdp_request_t asked;
  logic [ContextBits-1:0] asked_context;
  logic [CodeBits-1:0] asked_row;
  logic [63:0] asked_late;

  sluice_xdp_core #(
      .Contexts(Contexts),
      .Slots   (Slots),
      .Core    (Core)
  ) u_core (
      .clk_i,
      .rst_ni,
      .hold_i           (hold),
      .now_i,
      .start_valid_i    (start_valid),
      .start_ready_o    (start_ready),
      .start_i          (start),
      .set_i            (set),
      .set_ready_o      (set_ready),
      .flow_waits_i,
      .left_valid_o     (core_left_valid),
      .left_slot_o      (core_left_slot),
      .leaves_valid_o   (core_leaves_valid),
      .leaves_slot_o    (core_leaves_slot),
      .fetch_valid_o,
      .fetch_row_o,
      .code_i,
      .page_i,
      .read_valid_o     (core_read),
      .read_place_o     (core_read_place),
      .read_data_i      (read_data),
      .write_valid_o    (core_write),
      .write_place_o    (core_write_place),
      .write_enable_o   (core_write_enable),
      .write_data_o     (core_write_data),
      .call_valid_o,
      .call_o,
      .return_valid_i,
      .return_i,
      .request_valid_o  (asks),
      .request_ready_i  (asks_ready),
      .request_o        (asked),
      .request_context_o(asked_context),
      .request_row_o    (asked_row),
      .start_context_o,
      .late_o           (asked_late),
      .done_valid_i,
      .done_context_i,
      .done_fault_i,
      .done_value_i,
      .lock_valid_i,
      .lock_ready_o,
      .lock_context_i,
      .lock_i,
      .free_valid_o     (lock_free_o),
      .free_context_o   (lock_free_context_o),
      .map_call_valid_o,
      .map_call_o,
      .map_context_o,
      .map_answer_valid_i,
      .map_answer_ready_o,
      .map_answer_context_i,
      .map_answer_i,
      .pass_valid_o,
      .pass_o,
      .abandon_valid_o,
      .abandon_o,
      .end_valid_o      (core_end_valid),
      .end_o            (finished),
      .idle_o           (idle)
  );

  sluice_xdp_requests #(
      .Contexts(Contexts),
      .Queue   (!Outside)
  ) u_requests (
      .clk_i,
      .rst_ni,
      .valid_i      (asks),
      .ready_o      (asks_ready),
      .request_i    (asked),
      .context_i    (asked_context),
      .row_i        (asked_row),
      .late_i       (asked_late),
      .count_valid_i(count_valid),
      .count_ready_o(count_ready),
      .count_i      (count),
      .count_slot_i (count_slot),
      .valid_o      (request_valid_o),
      .ready_i      (request_ready_i),
      .count_o      (request_count_o),
      .request_o,
      .context_o    (request_context_o),
      .row_o        (request_row_o),
      .late_o
  );

  sluice_xdp_unload #(
      .Slots  (Slots),
      .Modules(Modules)
  ) u_unload (
      .clk_i,
      .rst_ni,
      .slot_valid_i(slot_valid_o),
      .slot_i      (slot_o),
      .slot_data_i (slot_data),
      .slot_waits_i(slot_waits),
      .end_valid_i (end_valid),
      .end_i       (ended),
      .look_valid_o(interfaces_valid_o),
      .look_index_o(interfaces_index_o),
      .interfaces_i,
      .waits_i,
      .soon_i,
      .near_valid_o,
      .near_slot_o,
      .read_valid_o(unload_read),
      .read_ready_i(!core_read && !helper_read_valid_i && !map_read_valid_i),
      .read_place_o(unload_read_place),
      .columns_i   (columns),
      .window_valid_o,
      .window_ready_i,
      .window_last_o,
      .window_o,
      .left_slot_o (left_slot),
      .back_o,
      .verdict_valid_o,
      .verdict_ready_i,
      .verdict_slot_o,
      .leave_o,
      .verdict_o,
      .cost_o,
      .leaving_o,
      .now_i,
      .ran_o,
      .outcome_o,
      .generation_o,
      .waited_o,
      .waiting_o   (unload_waiting)
  );

  assign slot_id_o = slot_data.side.id;
  assign start_valid_o = start_valid && start_ready;
  assign start_slot_o = start.slot[SlotBits-1:0];
  assign waiting_o = load_waiting || unload_waiting || !idle;

endmodule
