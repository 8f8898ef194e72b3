/// The cores of the XDP engine with what is between them: packets are spread over them, leave in the order of their flow, and their frames go out one
/// behind the other, in the order of their verdicts.
///
/// What cores share, programs and verdicts are outside.
///
/// Latency, throughput and stall behaviour: sluice_xdp's.
module sluice_xdp_cores
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
  import sluice_xdp_room_pkg::*;
  import sluice_xdp_streams_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter xdp_cfg_t Cfg = XdpCfgDefault,
    localparam int unsigned Cores = Cfg.cores,
    localparam int unsigned Slots = Cfg.packets,
    localparam int unsigned SlotBits = $clog2(Slots),
    localparam int unsigned ContextBits = $clog2(Cfg.contexts),
    localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1,
    localparam int unsigned LookBits = $clog2(2 * Cfg.modules),
    localparam int unsigned AllSlotBits = $clog2(Cores * Slots),
    localparam int unsigned IdBits = xdp_id_bits(Cfg)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [ClockBits-1:0] now_i,

    input  logic                                in_valid_i,
    output logic                                in_ready_o,
    input  xdp_in_t                             in_i,
    // What the warp engine says of a packet, and its port's interface, with each beat; the slot that it gets, of all cores.
    input  warp_leaf_t                          in_leaf_i,
    input  logic              [           31:0] in_ifindex_i,
    output logic              [AllSlotBits-1:0] in_slot_o,
    // What packets begin with.
    input  logic              [      Cores-1:0] word_valid_i,
    output logic              [      Cores-1:0] word_ready_o,
    input  xdp_made_t                           word_i,
    input  logic              [      Cores-1:0] answer_valid_i,
    input  xdp_early_answer_t                   answer_i,

    // Slots and memory that come back; contexts of each core that nobody owns.
    output xdp_back_t [                 Cores-1:0] back_o,
    input  logic      [$clog2(Cfg.contexts+1)-1:0] shared_contexts_i,

    output logic     out_valid_o,
    input  logic     out_ready_i,
    output xdp_out_t out_o,

    // Programs and instructions.
    input  xdp_program_row_t                              program_i,
    output logic                [Cores-1:0]               fetch_valid_o,
    output logic                [Cores-1:0][CodeBits-1:0] fetch_row_o,
    input  xdp_code_row_t       [Cores-1:0]               code_i,
    input  xdp_page_row_t       [Cores-1:0]               page_i,
    output logic                [Cores-1:0]               interfaces_valid_o,
    output logic                [Cores-1:0][LookBits-1:0] interfaces_index_o,
    input  xdp_interfaces_row_t [Cores-1:0]               interfaces_i,

    // Values, locks and maps.
    output logic             [      Cores-1:0]                  request_valid_o,
    input  logic             [      Cores-1:0]                  request_ready_i,
    output xdp_request_t     [      Cores-1:0]                  request_o,
    output logic             [      Cores-1:0][ContextBits-1:0] request_context_o,
    output logic             [      Cores-1:0]                  request_count_o,
    input  logic             [      Cores-1:0]                  count_done_i,
    output logic             [      Cores-1:0][           63:0] late_o,
    output logic                                                helper_valid_o,
    input  logic                                                helper_ready_i,
    output xdp_request_t                                        helper_o,
    input  logic             [      Cores-1:0]                  done_valid_i,
    input  logic                                                done_helper_i,
    input  logic             [ContextBits-1:0]                  done_context_i,
    input  logic                                                done_fault_i,
    input  logic             [           63:0]                  done_value_i,
    input  logic             [      Cores-1:0]                  lock_valid_i,
    output logic             [      Cores-1:0]                  lock_ready_o,
    input  logic             [      Cores-1:0][ContextBits-1:0] lock_context_i,
    input  xdp_lock_answer_t [      Cores-1:0]                  lock_i,
    output logic             [      Cores-1:0]                  lock_free_o,
    output logic             [      Cores-1:0][ContextBits-1:0] lock_free_context_o,

    output logic            [      Cores-1:0]                        map_call_valid_o,
    output xdp_map_call_t   [      Cores-1:0]                        map_call_o,
    output logic            [      Cores-1:0][ContextBits-1:0]       map_context_o,
    input  logic            [      Cores-1:0]                        map_answer_valid_i,
    output logic            [      Cores-1:0]                        map_answer_ready_o,
    input  logic            [ContextBits-1:0]                        map_answer_context_i,
    input  xdp_map_answer_t                                          map_answer_i,
    input  logic            [      Cores-1:0]                        map_read_valid_i,
    output logic            [      Cores-1:0]                        map_read_ready_o,
    input  xdp_place_t      [      Cores-1:0]                        map_read_place_i,
    output logic            [      Cores-1:0][            1:0][63:0] map_read_data_o,

    // Verdicts; that of a core which is taken, and whether its packet is dropped.
    output logic           [   Cores-1:0]       verdict_valid_o,
    input  logic           [   Cores-1:0]       verdict_ready_i,
    output token_t         [   Cores-1:0]       leave_o,
    output verdict_trace_t [   Cores-1:0]       verdict_o,
    output cost_t          [   Cores-1:0]       cost_o,
    output logic           [   Cores-1:0][13:0] length_o,
    input  logic                                charge_valid_i,
    input  logic           [CoreBits-1:0]       charge_core_i,
    input  logic                                charge_drops_i,

    // What programs tell.
    output logic                   event_valid_o,
    input  logic                   event_ready_i,
    output xdp_event_t             event_o,
    input  logic                   event_room_i,
    output logic       [Cores-1:0] abandon_valid_o,
    output xdp_event_t [Cores-1:0] abandon_o,

    // Accounts.
    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    // Trace; beside what cores do: whose request values have taken, and that the map engine is done.
    input  logic                               value_taken_i,
    input  logic                [CoreBits-1:0] value_core_i,
    input  logic                               map_done_i,
    input  logic                               map_done_host_i,
    input  logic                [  IdBits-1:0] map_done_id_i,
    output logic                [XdpSteps-1:0] step_valid_o,
    output xdp_step_trace_row_t [XdpSteps-1:0] step_o,

    output logic waiting_o
);

  // Buckets of flows of a module.
  localparam int unsigned Buckets = 16;

  typedef logic [CoreBits-1:0] core_t;

  logic [Cores-1:0]
      core_valid, core_ready, window_valid, window_ready, window_last, enter_valid, near_valid, core_waiting;
  logic [Cores-1:0][511:0] window;
  xdp_judged_t [Cores-1:0] leaving;
  logic [Cores-1:0][SlotBits-1:0] enter_slot, verdict_slot, near_slot;
  logic [Cores-1:0][Slots-1:0] waits, soon, flow_waits, section_left;

  // For accounts and trace.
  logic [Cores-1:0] ran, generation, pass_valid, slot_valid, start_valid, number_valid;
  xdp_outcome_t [Cores-1:0] outcome;
  xdp_spent_t [Cores-1:0] pass;
  logic [Cores-1:0][ClockBits-1:0] waited;
  logic [Cores-1:0][SlotBits-1:0] slot, start_slot;
  logic [Cores-1:0][31:0] slot_id;
  logic [Cores-1:0][ContextBits-1:0] start_context;
  logic [ContextBits-1:0] number_context;
  logic [63:0] number;
  logic [Cores-1:0][CodeBits-1:0] request_row;

  // The helper: of each core's calls and packet memory.
  logic [Cores-1:0]
      call_valid, return_valid, helper_read_valid, helper_read_ready, helper_write_valid, helper_write_ready;
  xdp_call_t [Cores-1:0] call;
  xdp_return_t returned;
  xdp_place_t helper_read_place, helper_write_place;
  logic [7:0][7:0] helper_write_enable;
  logic [1:0][63:0] helper_write_data;

  // ---------------------------------------------------------------------------------------------------------------
  // In.

  logic enters;
  logic [31:0] ifindex_q;
  // The port's interface, of a packet that has come.
  always_ff @(posedge clk_i) if (enters) ifindex_q <= in_ifindex_i;
  assign in_slot_o = AllSlotBits'((32'(in_i.core) << SlotBits) | 32'(enter_slot[CoreBits'(in_i.core)]));

  sluice_xdp_spread #(
      .Cores  (Cores),
      .Slots  (Slots),
      .Modules(Cfg.modules),
      .Buckets(Buckets)
  ) u_spread (
      .clk_i,
      .rst_ni,
      .valid_i       (in_valid_i),
      .ready_o       (in_ready_o),
      .last_i        (in_i.last),
      .core_i        (CoreBits'(in_i.core)),
      .module_i      (in_i.side.module_id),
      .hash_i        (in_i.side.flow_hash[$clog2(Buckets)-1:0]),
      .enters_o      (enters),
      .core_valid_o  (core_valid),
      .core_ready_i  (core_ready),
      .slot_i        (enter_slot),
      .leave_valid_i (verdict_valid_o & verdict_ready_i),
      .leave_slot_i  (verdict_slot),
      .near_valid_i  (near_valid),
      .near_slot_i   (near_slot),
      .waits_o       (waits),
      .soon_o        (soon),
      .flow_waits_o  (flow_waits),
      .section_left_i(section_left)
  );

  for (genvar c = 0; c < int'(Cores); c++) begin : gen_core
    sluice_xdp_cluster #(
        .Contexts(Cfg.contexts),
        .Core    (c),
        .Rows    (Cfg.memory),
        .Slots   (Slots),
        .Modules (Cfg.modules),
        .Outside (Cfg.outside != 0)
    ) u_cluster (
        .clk_i,
        .rst_ni,
        .s_axis_tvalid        (core_valid[c]),
        .s_axis_tready        (core_ready[c]),
        .s_axis_tdata         (in_i.data),
        .s_axis_bytes         (in_i.bytes),
        .s_axis_tlast         (in_i.last),
        .s_axis_side          (in_i.side),
        .s_axis_route         (in_i.route),
        .s_axis_token         (in_i.token),
        .s_axis_broken        (in_i.broken),
        .s_axis_came          (in_i.came),
        .s_axis_room          (in_i.room),
        .s_axis_need          (in_i.need),
        .s_axis_leaf          (in_leaf_i),
        .word_valid_i         (word_valid_i[c]),
        .word_ready_o         (word_ready_o[c]),
        .word_i,
        .answer_valid_i       (answer_valid_i[c]),
        .answer_i,
        .shared_contexts_i,
        .back_o               (back_o[c]),
        .now_i,
        .window_valid_o       (window_valid[c]),
        .window_ready_i       (window_ready[c]),
        .window_last_o        (window_last[c]),
        .window_o             (window[c]),
        .enter_valid_o        (enter_valid[c]),
        .enter_slot_o         (enter_slot[c]),
        .program_i,
        .ifindex_i            (ifindex_q),
        .waits_i              (waits[c]),
        .soon_i               (soon[c]),
        .flow_waits_i         (flow_waits[c]),
        .section_left_o       (section_left[c]),
        .near_valid_o         (near_valid[c]),
        .near_slot_o          (near_slot[c]),
        .fetch_valid_o        (fetch_valid_o[c]),
        .fetch_row_o          (fetch_row_o[c]),
        .code_i               (code_i[c]),
        .page_i               (page_i[c]),
        .interfaces_valid_o   (interfaces_valid_o[c]),
        .interfaces_index_o   (interfaces_index_o[c]),
        .interfaces_i         (interfaces_i[c]),
        .request_valid_o      (request_valid_o[c]),
        .request_ready_i      (request_ready_i[c]),
        .request_count_o      (request_count_o[c]),
        .count_done_i         (count_done_i[c]),
        .request_o            (request_o[c]),
        .request_context_o    (request_context_o[c]),
        .request_row_o        (request_row[c]),
        .late_o               (late_o[c]),
        .call_valid_o         (call_valid[c]),
        .call_o               (call[c]),
        .return_valid_i       (return_valid[c]),
        .return_i             (returned),
        .helper_read_valid_i  (helper_read_valid[c]),
        .helper_read_ready_o  (helper_read_ready[c]),
        .helper_read_place_i  (helper_read_place),
        .helper_write_valid_i (helper_write_valid[c]),
        .helper_write_ready_o (helper_write_ready[c]),
        .helper_write_place_i (helper_write_place),
        .helper_write_enable_i(helper_write_enable),
        .helper_write_data_i  (helper_write_data),
        .done_valid_i         (done_valid_i[c]),
        .done_context_i,
        .done_fault_i,
        .done_value_i,
        .lock_valid_i         (lock_valid_i[c]),
        .lock_ready_o         (lock_ready_o[c]),
        .lock_context_i       (lock_context_i[c]),
        .lock_i               (lock_i[c]),
        .lock_free_o          (lock_free_o[c]),
        .lock_free_context_o  (lock_free_context_o[c]),
        .map_call_valid_o     (map_call_valid_o[c]),
        .map_call_o           (map_call_o[c]),
        .map_context_o        (map_context_o[c]),
        .map_answer_valid_i   (map_answer_valid_i[c]),
        .map_answer_ready_o   (map_answer_ready_o[c]),
        .map_answer_context_i,
        .map_answer_i,
        .map_read_valid_i     (map_read_valid_i[c]),
        .map_read_ready_o     (map_read_ready_o[c]),
        .map_read_place_i     (map_read_place_i[c]),
        .read_data_o          (map_read_data_o[c]),
        .verdict_valid_o      (verdict_valid_o[c]),
        .verdict_ready_i      (verdict_ready_i[c]),
        .verdict_slot_o       (verdict_slot[c]),
        .leave_o              (leave_o[c]),
        .verdict_o            (verdict_o[c]),
        .cost_o               (cost_o[c]),
        .leaving_o            (leaving[c]),
        .ran_o                (ran[c]),
        .outcome_o            (outcome[c]),
        .generation_o         (generation[c]),
        .waited_o             (waited[c]),
        .pass_valid_o         (pass_valid[c]),
        .pass_o               (pass[c]),
        .abandon_valid_o      (abandon_valid_o[c]),
        .abandon_o            (abandon_o[c]),
        .slot_valid_o         (slot_valid[c]),
        .slot_o               (slot[c]),
        .slot_id_o            (slot_id[c]),
        .start_valid_o        (start_valid[c]),
        .start_slot_o         (start_slot[c]),
        .start_context_o      (start_context[c]),
        .waiting_o            (core_waiting[c])
    );
    assign length_o[c] = leaving[c].frame.side.length;
  end

  sluice_xdp_helpers #(
      .Cores   (Cores),
      .Contexts(Cfg.contexts)
  ) u_helpers (
      .clk_i,
      .rst_ni,
      .call_valid_i    (call_valid),
      .call_i          (call),
      .return_valid_o  (return_valid),
      .return_o        (returned),
      .number_valid_o  (number_valid),
      .number_context_o(number_context),
      .number_o        (number),
      .read_valid_o    (helper_read_valid),
      .read_ready_i    (helper_read_ready),
      .read_place_o    (helper_read_place),
      .read_data_i     (map_read_data_o),
      .write_valid_o   (helper_write_valid),
      .write_ready_i   (helper_write_ready),
      .write_place_o   (helper_write_place),
      .write_enable_o  (helper_write_enable),
      .write_data_o    (helper_write_data),
      .request_valid_o (helper_valid_o),
      .request_ready_i (helper_ready_i),
      .request_o       (helper_o),
      .found_valid_i   (done_helper_i),
      .found_fault_i   (done_fault_i),
      .found_value_i   (done_value_i),
      .event_valid_o,
      .event_ready_i,
      .event_o,
      .event_room_i
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Out: frames in the order of verdicts.

  core_t out_core;
  logic out_known, out_room, out_done, sending;
  xdp_leaving_t out_frame;
  logic [$clog2(Sending*Cores+1)-1:0] unused_out_level;

  sluice_fifo #(
      .Width(CoreBits + $bits(xdp_leaving_t)),
      .Depth(Sending * Cores)
  ) u_sent (
      .clk_i,
      .rst_ni,
      .valid_i(charge_valid_i && !charge_drops_i),
      .ready_o(out_room),
      .data_i ({charge_core_i, leaving_of(leaving[charge_core_i])}),
      .valid_o(out_known),
      .ready_i(out_done),
      .data_o ({out_core, out_frame}),
      .level_o(unused_out_level)
  );
  sluice_xdp_sender #(
      .Cores(Cores)
  ) u_sender (
      .clk_i,
      .rst_ni,
      .core_valid_i  (out_known),
      .core_i        (out_core),
      .frame_i       (out_frame),
      .core_done_o   (out_done),
      .window_valid_i(window_valid),
      .window_ready_o(window_ready),
      .window_last_i (window_last),
      .window_i      (window),
      .m_axis_tvalid (out_valid_o),
      .m_axis_tready (out_ready_i),
      .m_axis_tdata  (out_o.data),
      .m_axis_tkeep  (out_o.keep),
      .m_axis_tlast  (out_o.last),
      .m_axis_side   (out_o.side),
      .m_axis_route  (out_o.route),
      .waiting_o     (sending)
  );
  assign waiting_o = core_waiting != '0 || sending;

  // ---------------------------------------------------------------------------------------------------------------
  // What modules have taken of the cores, and the trace.

  xdp_spent_t ended;
  assign ended = '{
          module_id: verdict_o[charge_core_i].module_id,
          kind: outcome[charge_core_i].fault,
          bundle: 1'b0,
          cycles: waited[charge_core_i]
      };
  sluice_xdp_accounts #(
      .Modules(Cfg.modules),
      .Cores  (Cores)
  ) u_accounts (
      .clk_i,
      .rst_ni,
      .pass_valid_i    (pass_valid),
      .pass_i          (pass),
      .end_valid_i     (charge_valid_i && ran[charge_core_i]),
      .end_i           (ended),
      .end_outcome_i   (outcome[charge_core_i]),
      .end_generation_i(generation[charge_core_i]),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o
  );

  logic value_traced;
  assign value_traced = value_taken_i && request_o[value_core_i].kind inside {RequestLoad, RequestStore, RequestAtomic, RequestReference};
  sluice_xdp_steps #(
      .Cores   (Cores),
      .Contexts(Cfg.contexts),
      .Slots   (Slots),
      .IdBits  (IdBits)
  ) u_steps (
      .slot_valid_i    (slot_valid),
      .slot_i          (slot),
      .slot_id_i       (slot_id),
      .start_valid_i   (start_valid),
      .start_slot_i    (start_slot),
      .start_context_i (start_context),
      .number_valid_i  (number_valid),
      .number_context_i(number_context),
      .number_i        (number),
      .value_valid_i   (value_traced),
      .value_core_i,
      .value_context_i (request_context_o[value_core_i]),
      .value_row_i     (request_row[value_core_i]),
      .value_early_i   (request_count_o[value_core_i]),
      .map_valid_i     (map_done_i),
      .map_host_i      (map_done_host_i),
      .map_id_i        (map_done_id_i),
      .step_valid_o,
      .step_o
  );

`ifndef SYNTHESIS
  FramesHaveRoomInTheOrder_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(charge_valid_i && !charge_drops_i) || out_room);
  OneCoreIsEntered_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) enters == (enter_valid != '0));
`endif

endmodule
