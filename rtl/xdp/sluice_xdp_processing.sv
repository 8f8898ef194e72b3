/// Cores with what their programs share: values, locks, maps. Answers of early lookups go to the core that has their packet.
///
/// Latency, throughput and stall behaviour: sluice_xdp's.
module sluice_xdp_processing
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
  import sluice_xdp_room_pkg::*;
  import sluice_xdp_streams_pkg::*;
  import sluice_xdp_outside_pkg::*;
  import sluice_warp_pkg::*;
#(
    parameter xdp_cfg_t Cfg = XdpCfgDefault,
    localparam int unsigned Cores = Cfg.cores,
    localparam int unsigned SlotBits = $clog2(Cfg.packets),
    localparam int unsigned AllSlotBits = $clog2(Cores * Cfg.packets),
    localparam int unsigned ContextBits = $clog2(Cfg.contexts),
    localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1,
    localparam int unsigned LookBits = $clog2(2 * Cfg.modules),
    localparam int unsigned IdBits = xdp_id_bits(Cfg)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [ClockBits-1:0] now_i,

    input logic in_valid_i,
    output logic in_ready_o,
    input xdp_in_t in_i,
    input warp_leaf_t leaf_i,
    input logic [31:0] ifindex_i,
    output logic [AllSlotBits-1:0] in_slot_o,
    input logic [Cores-1:0] word_valid_i,
    output logic [Cores-1:0] word_ready_o,
    input xdp_made_t word_i,
    output xdp_back_t [Cores-1:0] back_o,
    input logic [$clog2(Cfg.contexts+1)-1:0] shared_contexts_i,
    output logic out_valid_o,
    input logic out_ready_i,
    output xdp_out_t out_o,
    input xdp_program_row_t program_row_i,
    output logic [Cores-1:0] fetch_valid_o,
    output logic [Cores-1:0][CodeBits-1:0] fetch_row_o,
    input xdp_code_row_t [Cores-1:0] code_row_i,
    input xdp_page_row_t [Cores-1:0] page_row_i,
    output logic [Cores-1:0] look_valid_o,
    output logic [Cores-1:0][LookBits-1:0] look_index_o,
    input xdp_interfaces_row_t [Cores-1:0] interfaces_row_i,
    output logic [Cores-1:0] verdict_valid_o,
    input logic [Cores-1:0] verdict_ready_i,
    output token_t [Cores-1:0] verdict_token_o,
    output verdict_trace_t [Cores-1:0] verdict_o,
    output cost_t [Cores-1:0] cost_o,
    output logic [Cores-1:0][13:0] length_o,
    input logic charge_valid_i,
    input logic [CoreBits-1:0] charge_core_i,
    input logic charge_drops_i,
    output logic told_valid_o,
    input logic told_ready_i,
    output xdp_event_t told_o,
    input logic told_room_i,
    output logic [Cores-1:0] abandon_valid_o,
    output xdp_event_t [Cores-1:0] abandon_o,
    output logic accounts_cfg_valid_o,
    output cfg_rsp_t accounts_cfg_rsp_o,
    output logic cores_waiting_o,
    input xdp_early_ask_t early_ask_i,
    output xdp_early_take_t early_take_o,
    output logic values_cfg_valid_o,
    output cfg_rsp_t values_cfg_rsp_o,
    output logic maps_cfg_valid_o,
    output cfg_rsp_t maps_cfg_rsp_o,

    input logic     cfg_valid_i,
    input cfg_req_t cfg_req_i,

    output outside_master_t outside_o,
    input  outside_slave_t  outside_i,

    output logic                [XdpSteps-1:0] step_valid_o,
    output xdp_step_trace_row_t [XdpSteps-1:0] step_o
);

  logic [Cores-1:0] request_valid, request_ready, done_valid;
  xdp_request_t [Cores-1:0] request;
  xdp_request_t helper_request;
  logic [Cores-1:0][ContextBits-1:0] request_context;
  logic [Cores-1:0][63:0] late;
  logic helper_valid, helper_ready, done_helper, done_fault;
  logic [ContextBits-1:0] done_context;
  logic [63:0] done_value;

  logic [Cores-1:0] lock_valid, lock_ready, lock_free;
  logic [Cores-1:0][ContextBits-1:0] lock_context, lock_free_context;
  xdp_lock_answer_t [Cores-1:0] lock_answer;

  logic [Cores-1:0] map_call_valid, map_answer_valid, map_answer_ready, map_read_valid, map_read_ready;
  xdp_map_call_t [Cores-1:0] map_call;
  logic [Cores-1:0][ContextBits-1:0] map_context;
  logic [ContextBits-1:0] map_answer_context;
  xdp_map_answer_t map_answer;
  xdp_place_t [Cores-1:0] map_read_place;
  logic [Cores-1:0][1:0][63:0] map_read_data;

  // What they share is done.
  logic value_taken, map_done, map_done_host;
  logic [CoreBits-1:0] value_core;
  logic [Cores-1:0] answer_valid, request_count, count_done;
  xdp_early_answer_t answer;
  // "Bits of signal are not used": whether a lookup that is done was early is told beside.
  // verilator lint_off UNUSEDSIGNAL
  logic [IdBits-1:0] map_done_id;
  // verilator lint_on UNUSEDSIGNAL

  // Answers of early lookups, to the slot's core.
  logic [AllSlotBits-1:0] early_slot;
  assign early_slot = AllSlotBits'(map_done_id);
  always_comb begin
    answer_valid = '0;
    for (int unsigned c = 0; c < Cores; c++) begin
      answer_valid[c] = early_take_o.answers && 32'(early_slot >> SlotBits) == c;
    end
    answer = '{
        slot: 8'(SlotBits'(early_slot)),
        fault: map_answer.fault,
        value: map_answer.value,
        steps: map_answer.steps
    };
  end

  sluice_xdp_cores #(
      .Cfg(Cfg)
  ) u_cores (
      .clk_i,
      .rst_ni,
      .now_i               (now_i),
      .in_valid_i          (in_valid_i),
      .in_ready_o          (in_ready_o),
      .in_i                (in_i),
      .in_leaf_i           (leaf_i),
      .in_ifindex_i        (ifindex_i),
      .in_slot_o           (in_slot_o),
      .word_valid_i        (word_valid_i),
      .word_ready_o        (word_ready_o),
      .word_i              (word_i),
      .answer_valid_i      (answer_valid),
      .answer_i            (answer),
      .back_o              (back_o),
      .shared_contexts_i   (shared_contexts_i),
      .out_valid_o         (out_valid_o),
      .out_ready_i         (out_ready_i),
      .out_o               (out_o),
      .program_i           (program_row_i),
      .fetch_valid_o       (fetch_valid_o),
      .fetch_row_o         (fetch_row_o),
      .code_i              (code_row_i),
      .page_i              (page_row_i),
      .interfaces_valid_o  (look_valid_o),
      .interfaces_index_o  (look_index_o),
      .interfaces_i        (interfaces_row_i),
      .request_valid_o     (request_valid),
      .request_ready_i     (request_ready),
      .request_o           (request),
      .request_context_o   (request_context),
      .request_count_o     (request_count),
      .count_done_i        (count_done),
      .late_o              (late),
      .helper_valid_o      (helper_valid),
      .helper_ready_i      (helper_ready),
      .helper_o            (helper_request),
      .done_valid_i        (done_valid),
      .done_helper_i       (done_helper),
      .done_context_i      (done_context),
      .done_fault_i        (done_fault),
      .done_value_i        (done_value),
      .lock_valid_i        (lock_valid),
      .lock_ready_o        (lock_ready),
      .lock_context_i      (lock_context),
      .lock_i              (lock_answer),
      .lock_free_o         (lock_free),
      .lock_free_context_o (lock_free_context),
      .map_call_valid_o    (map_call_valid),
      .map_call_o          (map_call),
      .map_context_o       (map_context),
      .map_answer_valid_i  (map_answer_valid),
      .map_answer_ready_o  (map_answer_ready),
      .map_answer_context_i(map_answer_context),
      .map_answer_i        (map_answer),
      .map_read_valid_i    (map_read_valid),
      .map_read_ready_o    (map_read_ready),
      .map_read_place_i    (map_read_place),
      .map_read_data_o     (map_read_data),
      .verdict_valid_o     (verdict_valid_o),
      .verdict_ready_i     (verdict_ready_i),
      .leave_o             (verdict_token_o),
      .verdict_o           (verdict_o),
      .cost_o              (cost_o),
      .length_o            (length_o),
      .charge_valid_i      (charge_valid_i),
      .charge_core_i       (charge_core_i),
      .charge_drops_i      (charge_drops_i),
      .event_valid_o       (told_valid_o),
      .event_ready_i       (told_ready_i),
      .event_o             (told_o),
      .event_room_i        (told_room_i),
      .abandon_valid_o     (abandon_valid_o),
      .abandon_o           (abandon_o),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o         (accounts_cfg_valid_o),
      .cfg_rsp_o           (accounts_cfg_rsp_o),
      .value_taken_i       (value_taken),
      .value_core_i        (value_core),
      .map_done_i          (map_done),
      .map_done_host_i     (map_done_host),
      .map_done_id_i       (map_done_id),
      .step_valid_o,
      .step_o,
      .waiting_o           (cores_waiting_o)
  );

  // What they share.
  sluice_xdp_shared #(
      .Cfg(Cfg)
  ) u_shared (
      .clk_i,
      .rst_ni,
      .now_i               (now_i),
      .request_valid_i     (request_valid),
      .request_ready_o     (request_ready),
      .request_i           (request),
      .request_context_i   (request_context),
      .request_count_i     (request_count),
      .count_done_o        (count_done),
      .late_i              (late),
      .helper_valid_i      (helper_valid),
      .helper_ready_o      (helper_ready),
      .helper_i            (helper_request),
      .taken_valid_o       (value_taken),
      .taken_core_o        (value_core),
      .done_valid_o        (done_valid),
      .done_helper_o       (done_helper),
      .done_context_o      (done_context),
      .done_fault_o        (done_fault),
      .done_value_o        (done_value),
      .lock_valid_o        (lock_valid),
      .lock_ready_i        (lock_ready),
      .lock_context_o      (lock_context),
      .lock_o              (lock_answer),
      .lock_free_i         (lock_free),
      .lock_free_context_i (lock_free_context),
      .map_call_valid_i    (map_call_valid),
      .map_call_i          (map_call),
      .map_context_i       (map_context),
      .map_answer_valid_o  (map_answer_valid),
      .map_answer_ready_i  (map_answer_ready),
      .map_answer_context_o(map_answer_context),
      .map_answer_o        (map_answer),
      .map_read_valid_o    (map_read_valid),
      .map_read_ready_i    (map_read_ready),
      .map_read_place_o    (map_read_place),
      .map_read_data_i     (map_read_data),
      .map_done_o          (map_done),
      .map_done_host_o     (map_done_host),
      .map_done_id_o       (map_done_id),
      .early_i             (early_ask_i),
      .early_o             (early_take_o),
      .cfg_valid_i,
      .cfg_req_i,
      .values_cfg_valid_o  (values_cfg_valid_o),
      .values_cfg_rsp_o    (values_cfg_rsp_o),
      .maps_cfg_valid_o    (maps_cfg_valid_o),
      .maps_cfg_rsp_o      (maps_cfg_rsp_o),
      .outside_o,
      .outside_i
  );

endmodule
