/// The engine's side towards the host: decided packets go into the buffers of rings, or on as frames (docs/design/l7.md, "Receive").
///
/// Decided packets come in on `decided_*` and go to the staging buffer on `sorted_*`; what it then gives out for host memory comes back on `s_*`.
/// The parts: sluice_l7_receive decides, sluice_l7_rings and sluice_l7_descriptors have the rings, sluice_l7_writer and
/// sluice_l7_completions write through sluice_l7_dma, sluice_l7_expiry is the clock.
///
/// Configuration: `l7_ring`, `l7_doorbell`, `l7_ring_state` as sluice_l7_rings; `l7_rings`, answered 3 cycles after `cfg_valid_i`.
/// Latency: 4 cycles from a decision to `sorted_*`. Throughput: as its parts. Stall behaviour: all waits for host memory, `sorted_ready_i`,
/// or nothing.
module sluice_l7_host
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter l7_cfg_t Cfg = L7CfgDefault,
    localparam int unsigned Bytes = Cfg.bus_bytes
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [31:0] epoch_i,

    input logic                     ticket_valid_i,
    input logic       [TagBits-1:0] ticket_slot_i,
    input l7_ticket_t               ticket_i,

    input  logic        decided_valid_i,
    output logic        decided_ready_o,
    input  l7_decided_t decided_i,
    output logic        sorted_valid_o,
    input  logic        sorted_ready_i,
    output l7_sorted_t  sorted_o,

    input  logic               s_valid_i,
    output logic               s_ready_o,
    input  logic [8*Bytes-1:0] s_data_i,
    input  logic               s_last_i,

    output logic     done_valid_o,
    input  logic     done_ready_i,
    output l7_done_t done_o,
    output logic     forget_valid_o,
    input  logic     forget_ready_i,
    output l7_done_t forget_o,

    output logic                     read_desc_valid_o,
    input  logic                     read_desc_ready_i,
    output l7_dma_t                  read_desc_o,
    input  logic                     read_data_valid_i,
    input  logic    [DmaTagBits-1:0] read_data_tag_i,
    input  logic    [   8*Bytes-1:0] read_data_i,
    output logic                     write_desc_valid_o,
    input  logic                     write_desc_ready_i,
    output l7_dma_t                  write_desc_o,
    output logic                     write_data_valid_o,
    input  logic                     write_data_ready_i,
    output logic    [   8*Bytes-1:0] write_data_o,
    output logic    [     Bytes-1:0] write_keep_o,
    output logic                     write_last_o,
    input  logic                     write_status_valid_i,
    input  logic    [DmaTagBits-1:0] write_status_tag_i,

    output logic               event_valid_o,
    output l7_ring_trace_row_t event_o,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned RingBits = $clog2(Cfg.rings);
  localparam int unsigned PlaceBits = $clog2(Cfg.entries);

  if (2 ** RingBits != Cfg.rings || Cfg.rings > 256 || PlaceBits > EntryBits) begin : gen_bad_cfg
    $fatal(
        1,
        "l7_host: %0d rings, expected a power of two up to 256; %0d entries, up to %0d (%m)",
        Cfg.rings,
        Cfg.entries,
        2 ** EntryBits
    );
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Rings and their descriptors.

  logic hold, receive_quiet, descriptors_quiet;
  logic [RingBits-1:0] look_ring, take_ring, fetch_ring, commit_ring, end_ring, wake_ring, descriptor_ring;
  logic
      look_now,
      look_valid,
      look_free,
      look_soon,
      take_valid,
      fetch_valid,
      ask_valid,
      commit_valid,
      end_valid,
      wake_valid;
  logic [ModuleBits-1:0] look_module;
  logic [15:0] look_number, take_number, fetch_posted, fetch_asked, fetch_taken, ask_number, commit_number, end_number;
  logic [3:0] fetch_log, end_log;
  logic [63:0] fetch_address, end_address;
  l7_descriptor_t descriptor;
  logic counts_asked, rings_valid;
  cfg_rsp_t rings_rsp;

  assign counts_asked = cfg_req_i.tab == TableL7Rings;

  sluice_l7_rings #(
      .Rings(Cfg.rings)
  ) u_rings (
      .clk_i,
      .rst_ni,
      .hold_o         (hold),
      .quiet_i        (receive_quiet && descriptors_quiet),
      .look_ring_i    (look_ring),
      .look_now_o     (look_now),
      .look_valid_o   (look_valid),
      .look_module_o  (look_module),
      .look_free_o    (look_free),
      .look_soon_o    (look_soon),
      .look_number_o  (look_number),
      .take_valid_i   (take_valid),
      .take_ring_i    (take_ring),
      .take_number_i  (take_number),
      .fetch_ring_i   (fetch_ring),
      .fetch_valid_o  (fetch_valid),
      .fetch_log_o    (fetch_log),
      .fetch_posted_o (fetch_posted),
      .fetch_asked_o  (fetch_asked),
      .fetch_taken_o  (fetch_taken),
      .fetch_address_o(fetch_address),
      .ask_valid_i    (ask_valid),
      .ask_number_i   (ask_number),
      .commit_valid_i (commit_valid),
      .commit_ring_i  (commit_ring),
      .commit_number_i(commit_number),
      .end_ring_i     (end_ring),
      .end_number_o   (end_number),
      .end_log_o      (end_log),
      .end_address_o  (end_address),
      .end_valid_i    (end_valid),
      .wake_valid_o   (wake_valid),
      .wake_ring_o    (wake_ring),
      .cfg_valid_i    (cfg_valid_i && !counts_asked),
      .cfg_req_i,
      .cfg_valid_o    (rings_valid),
      .cfg_rsp_o      (rings_rsp)
  );

  sluice_l7_descriptors #(
      .Bytes   (Bytes),
      .Rings   (Cfg.rings),
      .Prefetch(Cfg.prefetch),
      .Reads   (Cfg.reads)
  ) u_descriptors (
      .clk_i,
      .rst_ni,
      .hold_i         (hold),
      .quiet_o        (descriptors_quiet),
      .wake_valid_i   (wake_valid),
      .wake_ring_i    (wake_ring),
      .take_valid_i   (take_valid),
      .take_ring_i    (take_ring),
      .look_ring_i    (descriptor_ring),
      .look_number_i  (look_number),
      .look_o         (descriptor),
      .fetch_ring_o   (fetch_ring),
      .fetch_valid_i  (fetch_valid),
      .fetch_log_i    (fetch_log),
      .fetch_posted_i (fetch_posted),
      .fetch_asked_i  (fetch_asked),
      .fetch_taken_i  (fetch_taken),
      .fetch_address_i(fetch_address),
      .ask_valid_o    (ask_valid),
      .ask_number_o   (ask_number),
      .commit_valid_o (commit_valid),
      .commit_ring_o  (commit_ring),
      .commit_number_o(commit_number),
      .m_valid_o      (read_desc_valid_o),
      .m_ready_i      (read_desc_ready_i),
      .m_desc_o       (read_desc_o),
      .s_valid_i      (read_data_valid_i),
      .s_tag_i        (read_data_tag_i),
      .s_data_i       (read_data_i)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Packets and messages.

  logic [L7AgeBits-1:0] now;
  logic sweep_valid, sweep_urgent, sweep_ready;
  logic [PlaceBits-1:0] sweep_place;
  logic written_valid, written_ready, order_valid, order_ready, ended_valid, ended_ready;
  l7_written_t written;
  l7_order_t   order;
  l7_ended_t   ended;

  sluice_l7_expiry #(
      .Entries(Cfg.entries)
  ) u_expiry (
      .clk_i,
      .rst_ni,
      .now_o         (now),
      .sweep_valid_o (sweep_valid),
      .sweep_urgent_o(sweep_urgent),
      .sweep_ready_i (sweep_ready),
      .sweep_place_o (sweep_place)
  );

  sluice_l7_receive #(
      .Packets       (Cfg.packets),
      .Entries       (Cfg.entries),
      .Rings         (Cfg.rings),
      .MessagePackets(Cfg.message_packets)
  ) u_receive (
      .clk_i,
      .rst_ni,
      .hold_i           (hold),
      .quiet_o          (receive_quiet),
      .clear_i          (cfg_req_i.clear),
      .clear_place_i    (cfg_req_i.index[PlaceBits-1:0]),
      .ticket_valid_i,
      .ticket_slot_i,
      .ticket_i,
      .decided_valid_i,
      .decided_ready_o,
      .decided_i,
      .written_valid_i  (written_valid),
      .written_ready_o  (written_ready),
      .written_i        (written),
      .sweep_valid_i    (sweep_valid),
      .sweep_urgent_i   (sweep_urgent),
      .sweep_ready_o    (sweep_ready),
      .sweep_place_i    (sweep_place),
      .now_i            (now),
      .look_ring_o      (look_ring),
      .look_now_i       (look_now),
      .look_valid_i     (look_valid),
      .look_module_i    (look_module),
      .look_free_i      (look_free),
      .look_soon_i      (look_soon),
      .look_number_i    (look_number),
      .descriptor_ring_o(descriptor_ring),
      .descriptor_i     (descriptor),
      .take_valid_o     (take_valid),
      .take_ring_o      (take_ring),
      .take_number_o    (take_number),
      .sorted_valid_o,
      .sorted_ready_i,
      .sorted_o,
      .order_valid_o    (order_valid),
      .order_ready_i    (order_ready),
      .order_o          (order),
      .ended_valid_o    (ended_valid),
      .ended_ready_i    (ended_ready),
      .ended_o          (ended),
      .done_valid_o,
      .done_ready_i,
      .done_o,
      .forget_valid_o,
      .forget_ready_i,
      .forget_o,
      .event_valid_o,
      .event_o
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Writes.

  logic [1:0] write_valid, write_ready, write_first, write_last;
  l7_dma_t [1:0] write_desc;
  logic [1:0][Bytes-1:0] write_keep;
  logic [1:0][8*Bytes-1:0] write_data;

  sluice_l7_writer #(
      .Bytes (Bytes),
      .Writes(Cfg.writes)
  ) u_writer (
      .clk_i,
      .rst_ni,
      .s_valid_i,
      .s_ready_o,
      .s_data_i,
      .s_last_i,
      .order_valid_i  (order_valid),
      .order_ready_o  (order_ready),
      .order_i        (order),
      .m_valid_o      (write_valid[0]),
      .m_ready_i      (write_ready[0]),
      .m_desc_o       (write_desc[0]),
      .m_first_o      (write_first[0]),
      .m_last_o       (write_last[0]),
      .m_keep_o       (write_keep[0]),
      .m_data_o       (write_data[0]),
      .status_valid_i (write_status_valid_i),
      .status_tag_i   (write_status_tag_i),
      .written_valid_o(written_valid),
      .written_ready_i(written_ready),
      .written_o      (written)
  );

  sluice_l7_completions #(
      .Bytes(Bytes),
      .Rings(Cfg.rings)
  ) u_completions (
      .clk_i,
      .rst_ni,
      .s_valid_i    (ended_valid),
      .s_ready_o    (ended_ready),
      .s_ended_i    (ended),
      .end_ring_o   (end_ring),
      .end_number_i (end_number),
      .end_log_i    (end_log),
      .end_address_i(end_address),
      .end_valid_o  (end_valid),
      .m_valid_o    (write_valid[1]),
      .m_ready_i    (write_ready[1]),
      .m_desc_o     (write_desc[1]),
      .m_keep_o     (write_keep[1]),
      .m_data_o     (write_data[1])
  );
  assign write_first[1] = 1'b1;
  assign write_last[1]  = 1'b1;

  sluice_l7_dma #(
      .Bytes(Bytes)
  ) u_dma (
      .clk_i,
      .rst_ni,
      .s_valid_i   (write_valid),
      .s_ready_o   (write_ready),
      .s_desc_i    (write_desc),
      .s_first_i   (write_first),
      .s_last_i    (write_last),
      .s_keep_i    (write_keep),
      .s_data_i    (write_data),
      .desc_valid_o(write_desc_valid_o),
      .desc_ready_i(write_desc_ready_i),
      .desc_o      (write_desc_o),
      .data_valid_o(write_data_valid_o),
      .data_ready_i(write_data_ready_i),
      .data_o      (write_data_o),
      .keep_o      (write_keep_o),
      .last_o      (write_last_o)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Counters of rings.

  logic counted_valid, refused_q;
  cfg_status_e status, status_q;
  logic [CounterBits-1:0] counted;

  assign status = cfg_check(cfg_counter(cfg_req_i), 1'b1, 1'b0, 24'(4 * Cfg.rings), 4'd2);

  sluice_counter_bank #(
      .Entries (4 * Cfg.rings),
      .Width   (CounterBits),
      .IncWidth(1)
  ) u_counts (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (event_valid_o),
      .inc_index_i  ({event_o.ring[RingBits-1:0], event_o.kind}),
      .inc_amount_i (1'b1),
      .rd_valid_i   (cfg_valid_i && counts_asked && status == StatusOk),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[RingBits+1:0]),
      .rd_valid_o   (counted_valid),
      .rd_data_o    (counted)
  );

  always_ff @(posedge clk_i) begin
    refused_q <= rst_ni && cfg_valid_i && counts_asked && status != StatusOk;
    status_q  <= status;
  end

  assign cfg_valid_o = rings_valid || counted_valid || refused_q;
  assign cfg_rsp_o = rings_valid ? rings_rsp : '{
          status: refused_q ? status_q : StatusOk,
          words: 4'd2,
          data: 256'(counted)
      };

endmodule
