/// The XDP engine: runs the programs of modules on cores (docs/design/hxdp-core.md).
///
/// An engine that is not the first: sluice_engine_pkg, with `token_i` in place of the entrance. A packet whose module has no program
/// in its generation passes beside, as it came; it waits for packets with a program only for as many beats as their tenants have paid for at
/// the ports (sluice_xdp_out).
/// The others wait in their module's queue, or are dropped there; from there each goes to the core with the fewest packets. Packets without a
/// program leave in their order, those of a module with one in the order of their flow. Their verdict and token come when the
/// program has ended and nobody of their flow is before them.
///
/// Latency: without a program 1 cycle. With one, of a packet alone, 37 cycles and 5 a bundle, from a frame's last beat in to its first
/// beat out, and 2 more where the bus has 32 bytes. Throughput: without a program a beat a cycle; with one docs/measurements.md.
/// Stall behaviour: the input stalls for packets without a program, while the output stalls or has one with a program; in
/// addition for a cycle a packet of these.
module sluice_xdp
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
    localparam int unsigned Bytes = Cfg.bus_bytes
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input  logic                    s_axis_tvalid,
    output logic                    s_axis_tready,
    input  logic      [8*Bytes-1:0] s_axis_tdata,
    input  logic      [  Bytes-1:0] s_axis_tkeep,
    input  logic                    s_axis_tlast,
    input  sideband_t               s_axis_side,
    input  route_t                  s_axis_route,
    input  token_t                  token_i,

    output logic                    m_axis_tvalid,
    input  logic                    m_axis_tready,
    output logic      [8*Bytes-1:0] m_axis_tdata,
    output logic      [  Bytes-1:0] m_axis_tkeep,
    output logic                    m_axis_tlast,
    output sideband_t               m_axis_side,
    output route_t                  m_axis_route,

    output logic   leave_valid_o,
    output token_t leave_o,

    output logic           verdict_valid_o,
    output verdict_trace_t verdict_o,
    output logic           verdict_generation_o, // that its packet reads

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o,

    // External memory for values, where there is one (`Cfg.outside`).
    output outside_master_t outside_o,
    input  outside_slave_t  outside_i,

    // Trace: the order in which packets reach what they share, by channel (xdp_step_e).
    output logic                [XdpSteps-1:0] step_valid_o,
    output xdp_step_trace_row_t [XdpSteps-1:0] step_o,

    output logic waiting_o,
    output logic progress_o
);

  localparam int unsigned Modules = Cfg.modules;
  localparam int unsigned Cores = Cfg.cores;
  localparam int unsigned ContextBits = $clog2(Cfg.contexts);
  localparam int unsigned AllSlotBits = $clog2(Cores * Cfg.packets);
  localparam int unsigned CoreBits = (Cores > 1) ? $clog2(Cores) : 1;
  localparam int unsigned LookBits = $clog2(2 * Modules);
  localparam int unsigned EarnBits = 10;  // of beats that a packet may become

  if (Cores != 1 && Cores != 2) begin : gen_bad_cores
    $fatal(1, "xdp: cores is %0d, expected 1 or 2 (%m)", Cores);
  end
  if (2 ** ContextBits != Cfg.contexts || Cfg.contexts < 2) begin : gen_bad_contexts
    $fatal(1, "xdp: contexts is %0d, expected a power of two from 2 on (%m)", Cfg.contexts);
  end
  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "xdp: bus_bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  logic [ClockBits-1:0] now_q;
  always_ff @(posedge clk_i) now_q <= rst_ni ? now_q + ClockBits'(1) : '0;

  // ---------------------------------------------------------------------------------------------------------------
  // In.

  logic [LookBits-1:0] known_index;
  xdp_known_t known;
  xdp_back_t [Cores-1:0] back;
  logic [$clog2(Cfg.contexts+1)-1:0] shared_contexts;
  logic verdict_waits, beside_first, beside_last, earn_valid, entry_waiting;
  logic [EarnBits-1:0] earn;
  logic pass_valid, pass_ready, pass_last;
  logic [8*Bytes-1:0] pass_data;
  logic [Bytes-1:0] pass_keep;
  sideband_t pass_side;
  route_t pass_route;

  logic drop_valid, drop_ready, queued_valid, queued_ready, in_valid, in_ready, out_valid, out_ready;
  xdp_dropped_t dropped;
  xdp_in_t queued, in;
  xdp_out_t out;

  logic spent_valid;
  logic [ModuleBits-1:0] spent_module;
  cost_t spent;

  logic queues_cfg_valid, tables_cfg_valid, values_cfg_valid, maps_cfg_valid, accounts_cfg_valid, events_cfg_valid;
  cfg_rsp_t queues_cfg_rsp, tables_cfg_rsp, values_cfg_rsp, maps_cfg_rsp, accounts_cfg_rsp, events_cfg_rsp;

  sluice_xdp_entry #(
      .Cfg     (Cfg),
      .EarnBits(EarnBits)
  ) u_entry (
      .clk_i,
      .rst_ni,
      .now_i            (now_q),
      .s_axis_tvalid,
      .s_axis_tready,
      .s_axis_tdata,
      .s_axis_tkeep,
      .s_axis_tlast,
      .s_axis_side,
      .s_axis_route,
      .token_i,
      .known_index_o    (known_index),
      .known_i          (known),
      .verdict_waits_i  (verdict_waits),
      .beside_first_o   (beside_first),
      .beside_last_o    (beside_last),
      .earn_valid_o     (earn_valid),
      .earn_o           (earn),
      .pass_valid_o     (pass_valid),
      .pass_ready_i     (pass_ready),
      .pass_data_o      (pass_data),
      .pass_keep_o      (pass_keep),
      .pass_last_o      (pass_last),
      .pass_side_o      (pass_side),
      .pass_route_o     (pass_route),
      .drop_valid_o     (drop_valid),
      .drop_ready_i     (drop_ready),
      .drop_o           (dropped),
      .in_valid_o       (queued_valid),
      .in_ready_i       (queued_ready),
      .in_o             (queued),
      .back_i           (back),
      .shared_contexts_o(shared_contexts),
      .charge_valid_i   (spent_valid),
      .charge_module_i  (spent_module),
      .charge_i         (spent),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o      (queues_cfg_valid),
      .cfg_rsp_o        (queues_cfg_rsp),
      .waiting_o        (entry_waiting)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Warp.

  xdp_interfaces_row_t arrival_row;
  logic arrival_valid, warp_waiting, warp_cfg_valid;
  logic [LookBits-1:0] arrival_index;
  warp_leaf_t leaf;
  logic [31:0] ifindex;
  logic [AllSlotBits-1:0] in_slot;
  logic [Cores-1:0] word_valid, word_ready;
  xdp_made_t word;
  xdp_early_take_t early_take;
  xdp_early_ask_t early_ask;
  cfg_rsp_t warp_cfg_rsp;

  sluice_xdp_warp #(
      .Cfg(Cfg)
  ) u_warp (
      .clk_i,
      .rst_ni,
      .in_valid_i     (queued_valid),
      .in_ready_o     (queued_ready),
      .in_i           (queued),
      .arrival_valid_o(arrival_valid),
      .arrival_index_o(arrival_index),
      .arrival_i      (arrival_row),
      .out_valid_o    (in_valid),
      .out_ready_i    (in_ready),
      .out_o          (in),
      .leaf_o         (leaf),
      .ifindex_o      (ifindex),
      .slot_i         (in_slot),
      .word_valid_o   (word_valid),
      .word_ready_i   (word_ready),
      .word_o         (word),
      .early_o        (early_ask),
      .early_i        (early_take),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o    (warp_cfg_valid),
      .cfg_rsp_o      (warp_cfg_rsp),
      .waiting_o      (warp_waiting)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Cores.

  xdp_program_row_t program_row;
  logic [Cores-1:0] fetch_valid, look_valid;
  logic [Cores-1:0][CodeBits-1:0] fetch_row;
  logic [Cores-1:0][LookBits-1:0] look_index;
  xdp_code_row_t [Cores-1:0] code_row;
  xdp_page_row_t [Cores-1:0] page_row;
  xdp_interfaces_row_t [Cores-1:0] interfaces_row;

  logic [Cores-1:0] verdict_valid, verdict_ready, abandon_valid;
  token_t [Cores-1:0] verdict_token;
  verdict_trace_t [Cores-1:0] verdict;
  cost_t [Cores-1:0] cost;
  logic [Cores-1:0][13:0] length;
  logic charge_valid, charge_drops, told_valid, told_ready, told_room;
  logic [CoreBits-1:0] charge_core;

  xdp_event_t told;
  xdp_event_t [Cores-1:0] abandon;

  logic cores_waiting;

  sluice_xdp_processing #(
      .Cfg(Cfg)
  ) u_processing (
      .clk_i,
      .rst_ni,
      .now_i               (now_q),
      .in_valid_i          (in_valid),
      .in_ready_o          (in_ready),
      .in_i                (in),
      .leaf_i              (leaf),
      .ifindex_i           (ifindex),
      .in_slot_o           (in_slot),
      .word_valid_i        (word_valid),
      .word_ready_o        (word_ready),
      .word_i              (word),
      .back_o              (back),
      .shared_contexts_i   (shared_contexts),
      .out_valid_o         (out_valid),
      .out_ready_i         (out_ready),
      .out_o               (out),
      .program_row_i       (program_row),
      .fetch_valid_o       (fetch_valid),
      .fetch_row_o         (fetch_row),
      .code_row_i          (code_row),
      .page_row_i          (page_row),
      .look_valid_o        (look_valid),
      .look_index_o        (look_index),
      .interfaces_row_i    (interfaces_row),
      .verdict_valid_o     (verdict_valid),
      .verdict_ready_i     (verdict_ready),
      .verdict_token_o     (verdict_token),
      .verdict_o           (verdict),
      .cost_o              (cost),
      .length_o            (length),
      .charge_valid_i      (charge_valid),
      .charge_core_i       (charge_core),
      .charge_drops_i      (charge_drops),
      .told_valid_o        (told_valid),
      .told_ready_i        (told_ready),
      .told_o              (told),
      .told_room_i         (told_room),
      .abandon_valid_o     (abandon_valid),
      .abandon_o           (abandon),
      .accounts_cfg_valid_o(accounts_cfg_valid),
      .accounts_cfg_rsp_o  (accounts_cfg_rsp),
      .cores_waiting_o     (cores_waiting),
      .early_ask_i         (early_ask),
      .early_take_o        (early_take),
      .values_cfg_valid_o  (values_cfg_valid),
      .values_cfg_rsp_o    (values_cfg_rsp),
      .maps_cfg_valid_o    (maps_cfg_valid),
      .maps_cfg_rsp_o      (maps_cfg_rsp),
      .cfg_valid_i,
      .cfg_req_i,
      .outside_o,
      .outside_i,
      .step_valid_o,
      .step_o
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Out.

  logic event_valid, held;
  logic [$clog2(Modules)-1:0] event_module;
  xdp_event_e event_kind;
  logic [2:0] event_amount;

  sluice_xdp_verdicts #(
      .Bytes  (Bytes),
      .Cores  (Cores),
      .Modules(Modules)
  ) u_verdicts (
      .clk_i,
      .rst_ni,
      .beside_first_i       (beside_first),
      .beside_last_i        (beside_last),
      .beside_side_i        (s_axis_side),
      .beside_destinations_i(s_axis_route.destinations),
      .beside_token_i       (token_i),
      .drop_valid_i         (drop_valid),
      .drop_ready_o         (drop_ready),
      .drop_i               (dropped),
      .core_valid_i         (verdict_valid),
      .core_ready_o         (verdict_ready),
      .core_token_i         (verdict_token),
      .core_verdict_i       (verdict),
      .core_cost_i          (cost),
      .core_length_i        (length),
      .waits_o              (verdict_waits),
      .charge_valid_o       (charge_valid),
      .charge_core_o        (charge_core),
      .charge_drops_o       (charge_drops),
      .spent_valid_o        (spent_valid),
      .spent_module_o       (spent_module),
      .spent_o              (spent),
      .leave_valid_o,
      .leave_o,
      .verdict_valid_o,
      .verdict_o,
      .verdict_generation_o,
      .event_valid_o        (event_valid),
      .event_module_o       (event_module),
      .event_kind_o         (event_kind),
      .event_amount_o       (event_amount)
  );

  sluice_xdp_exit #(
      .Bytes   (Bytes),
      .EarnBits(EarnBits)
  ) u_exit (
      .clk_i,
      .rst_ni,
      .earn_valid_i(earn_valid),
      .earn_i      (earn),
      .pass_valid_i(pass_valid),
      .pass_ready_o(pass_ready),
      .pass_data_i (pass_data),
      .pass_keep_i (pass_keep),
      .pass_last_i (pass_last),
      .pass_side_i (pass_side),
      .pass_route_i(pass_route),
      .back_valid_i(out_valid),
      .back_ready_o(out_ready),
      .back_i      (out),
      .m_axis_tvalid,
      .m_axis_tready,
      .m_axis_tdata,
      .m_axis_tkeep,
      .m_axis_tlast,
      .m_axis_side,
      .m_axis_route,
      .waiting_o   (held)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Programs and instructions.

  sluice_xdp_tables #(
      .Modules(Modules),
      .Rows   (Cfg.rows),
      .Cores  (Cores),
      .Outside(Cfg.outside != 0)
  ) u_tables (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .known_index_i     (known_index),
      .known_o           (known),
      // Read as long as it waits: it is looked at behind its first beat.
      .program_valid_i   (in_valid),
      .program_index_i   ({in.side.module_id[LookBits-2:0], in.side.generation}),
      .program_o         (program_row),
      .arrival_valid_i   (arrival_valid),
      .arrival_index_i   (arrival_index),
      .arrival_o         (arrival_row),
      .interfaces_valid_i(look_valid),
      .interfaces_index_i(look_index),
      .interfaces_o      (interfaces_row),
      .fetch_valid_i     (fetch_valid),
      .fetch_row_i       (fetch_row),
      .code_o            (code_row),
      .page_o            (page_row),
      .event_valid_i     (event_valid),
      .event_module_i    (event_module),
      .event_kind_i      (event_kind),
      .event_amount_i    (event_amount),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o       (tables_cfg_valid),
      .cfg_rsp_o         (tables_cfg_rsp)
  );

  // What programs tell the host.
  sluice_xdp_events #(
      .Modules (Modules),
      .Cores   (Cores),
      .Contexts(Cfg.contexts)
  ) u_events (
      .clk_i,
      .rst_ni,
      .event_valid_i  (told_valid),
      .event_ready_o  (told_ready),
      .event_i        (told),
      .event_room_o   (told_room),
      .abandon_valid_i(abandon_valid),
      .abandon_i      (abandon),
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o    (events_cfg_valid),
      .cfg_rsp_o      (events_cfg_rsp)
  );

  // Who does not answer gives zeros, but for maps. Of the short rows only the words that they have.
  always_ff @(posedge clk_i) begin
    cfg_valid_o <= (tables_cfg_valid || values_cfg_valid || maps_cfg_valid || queues_cfg_valid || accounts_cfg_valid ||
                    events_cfg_valid || warp_cfg_valid) && rst_ni;
    cfg_rsp_o <= tables_cfg_rsp | values_cfg_rsp | answer_if(
        maps_cfg_valid, maps_cfg_rsp
    ) | narrow_rsp(
        queues_cfg_rsp, 1
    ) | narrow_rsp(
        accounts_cfg_rsp, XdpSpentRowWords
    ) | narrow_rsp(
        events_cfg_rsp, XdpEventsRowWords
    ) | narrow_rsp(
        warp_cfg_rsp, XdpWarpHitsRowWords
    );
  end

  assign waiting_o = (entry_waiting || warp_waiting || cores_waiting || held) && !(m_axis_tvalid && !m_axis_tready);
  assign progress_o = (s_axis_tvalid && s_axis_tready) || (m_axis_tvalid && m_axis_tready) || fetch_valid != '0 || verdict_valid_o;

endmodule
