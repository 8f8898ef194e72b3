/// Egress: admission, shared buffer, queues, schedulers, outputs; node NodeEgress.
///
/// Verdicts and the beats of their packets come in the same order, packets without a destination not at all. This is the only place
/// behind the port FIFOs where packets are lost, whole, counted by queue and reason.
/// `m_axis_*`: destination d in the d-th part, ports first.
///
/// Stall behaviour: `verdict_ready_o` and `ready_o` never fall for a packet's copies or a blocked destination, only for a cell of
/// the buffer that is on its way back.
/// Configuration: answered 4 cycles after the access.
module sluice_nic_egress
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    // As of sluice_nic_queues.
    parameter int unsigned Late = 8,
    parameter int unsigned Places = 12,
    parameter int unsigned Spare = 4,
    localparam int unsigned IndexBits = $clog2(Cfg.modules),
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts
) (
    input logic clk_i,
    input logic rst_ni,

    // High while occupancies are cleared after a reset; no verdicts meanwhile.
    output logic clearing_o,

    input  logic                    verdict_valid_i,
    output logic                    verdict_ready_o,
    input  verdict_t                verdict_i,
    input  logic     [DestBits-1:0] denied_i,
    input  logic                    valid_i,
    output logic                    ready_o,
    input  logic     [ 8*Bytes-1:0] data_i,
    input  logic                    last_i,

    output logic      [Dests-1:0]              m_axis_tvalid,
    input  logic      [Dests-1:0]              m_axis_tready,
    output logic      [Dests-1:0][8*Bytes-1:0] m_axis_tdata,
    output logic      [Dests-1:0][  Bytes-1:0] m_axis_tkeep,
    output logic      [Dests-1:0]              m_axis_tlast,
    output sideband_t [Dests-1:0]              m_axis_tuser,

    output room_ask_t                  ask_o,
    output room_take_t                 take_o,
    input  room_t                      room_i,
    input  logic                       charge_valid_i,
    input  logic       [IndexBits-1:0] charge_module_i,
    input  logic       [          9:0] charge_i,
    output logic       [IndexBits-1:0] weight_index_o,
    input  logic       [         15:0] weight_i,

    // Modules whose frames may leave in VLANs that nobody owns.
    output logic [Cfg.modules-1:0] any_vids_o,

    input  logic     [31:0] epoch_i,
    input  logic            cfg_valid_i,
    input  cfg_req_t        cfg_req_i,
    output logic            cfg_valid_o,
    output cfg_rsp_t        cfg_rsp_o,

    output logic         [Dests-1:0] queue_trace_valid_o,
    output queue_trace_t [Dests-1:0] queue_trace_o,
    output logic                     leave_trace_valid_o,
    output leave_trace_t             leave_trace_o,
    output logic                     progress_o
);

  localparam int unsigned CellBits = $clog2(Cfg.cells);
  localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules);
  localparam int unsigned Queues = Dests * Cfg.modules;
  localparam int unsigned QueueBits = $clog2(Queues);
  localparam int unsigned ByteCountBits = $clog2(Bytes + 1);
  localparam int unsigned AnswerCycles = 4;

  if (2 ** CellBits != Cfg.cells || Cfg.cells * Bytes < MaxFrameBytes || Cfg.cells < Queues) begin : gen_bad_cells
    $fatal(
        1,
        "nic_egress: cells is %0d, expected a power of two, a cell a queue and %0d bytes at least (%m)",
        Cfg.cells,
        MaxFrameBytes
    );
  end

  // Configuration access.
  logic is_limit, is_quantum, is_vids, is_drops, is_packets, is_bytes, is_counter, write;
  cfg_req_t row_req;
  cfg_status_e status;
  logic [AnswerCycles-1:0] answer_q;
  limit_row_t limit;
  logic [15:0] quantum;
  logic drops_valid, packets_valid, bytes_valid;
  logic [CounterBits-1:0] drops, packets, bytes, counter_q;

  assign is_limit   = cfg_req_i.tab == TableLimit;
  assign is_quantum = cfg_req_i.tab == TableQuantum;
  assign is_vids    = cfg_req_i.tab == TableVids;
  assign is_drops   = cfg_req_i.tab == TableQueueDrops;
  assign is_packets = cfg_req_i.tab == TableQueuePackets;
  assign is_bytes   = cfg_req_i.tab == TableQueueBytes;
  assign is_counter = is_drops || is_packets || is_bytes;
  assign row_req    = is_counter ? cfg_counter(cfg_req_i) : cfg_req_i;

  always_comb begin
    status = cfg_check(row_req, is_counter, 1'b0, 24'(is_drops ? 4 * Queues : Queues), 4'd2);
    if (is_limit) status = cfg_check(row_req, 1'b1, 1'b1, 24'(Queues), 4'(LimitRowWords));
    if (is_quantum) status = cfg_check(row_req, 1'b1, 1'b1, 24'(Cfg.modules), 4'(QuantumRowWords));
    if (is_vids) status = cfg_check(row_req, 1'b1, 1'b1, 24'(Cfg.modules), 4'(VidsRowWords));
  end
  assign write = cfg_valid_i && cfg_req_i.write && status == StatusOk;

  // Modules with the right to VLANs that nobody owns.
  logic [Cfg.modules-1:0] any_vids_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) any_vids_q <= '0;
    else if (write && is_vids) any_vids_q[cfg_req_i.index[ModuleIndexBits-1:0]] <= cfg_req_i.data[0];
  end
  assign any_vids_o = any_vids_q;

  // RAMs outlive a reset; what they say about occupancy must not.
  logic clear_q;
  logic [CellBits-1:0] clear_index_q;
  assign clearing_o = clear_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      clear_q       <= 1'b1;
      clear_index_q <= '0;
    end else if (clear_q) begin
      clear_q       <= clear_index_q != '1;
      clear_index_q <= clear_index_q + 1'b1;
    end
  end

  // Admission.
  logic decision_in_valid, decision_in_ready, decision_valid, decision_ready;
  decision_t decision_in, decision;
  logic [3:0] unused_decision_level;
  logic release_valid, release_high, freed;
  logic [QueueBits-1:0] release_queue;
  logic [15:0] release_cells;
  logic [CellBits-1:0] freed_index;

  sluice_nic_admit #(
      .Cfg(Cfg)
  ) u_admit (
      .clk_i,
      .rst_ni,
      .clear_i         (clear_q),
      .clear_index_i   (clear_index_q[ModuleIndexBits-1:0]),
      .verdict_valid_i,
      .verdict_ready_o,
      .verdict_i,
      .denied_i,
      .decision_valid_o(decision_in_valid),
      .decision_ready_i(decision_in_ready),
      .decision_o      (decision_in),
      .release_valid_i (release_valid),
      .release_queue_i (release_queue),
      .release_high_i  (release_high),
      .release_cells_i (release_cells),
      .cell_freed_i    (freed),
      .limit_write_i   ((write && is_limit) || cfg_req_i.clear),
      .limit_index_i   (cfg_req_i.index[QueueBits-1:0]),
      .limit_i         (cfg_req_i.data[LimitRowBits-1:0]),
      .limit_o         (limit),
      .trace_valid_o   (queue_trace_valid_o),
      .trace_o         (queue_trace_o)
  );

  sluice_fifo #(
      .Width($bits(decision_t)),
      .Depth(8)
  ) u_decisions (
      .clk_i,
      .rst_ni,
      .valid_i(decision_in_valid),
      .ready_o(decision_in_ready),
      .data_i (decision_in),
      .valid_o(decision_valid),
      .ready_i(decision_ready),
      .data_o (decision),
      .level_o(unused_decision_level)
  );

  // Shared buffer.
  logic cell_write, meta_write, link_write, stored_valid, stored_high, meta_read, read;
  logic [CellBits-1:0] cell_index, link_from, stored_cell, meta_cell, read_cell, read_link;
  logic [8*Bytes-1:0] cell_data, read_data;
  logic [3:0] cell_copies, read_copies;
  logic [  DestBits-1:0] stored_dests;
  logic [ModuleBits-1:0] stored_module;
  verdict_t meta_in, meta_out;

  sluice_nic_writer #(
      .Cfg(Cfg)
  ) u_writer (
      .clk_i,
      .rst_ni,
      .decision_valid_i  (decision_valid),
      .decision_ready_o  (decision_ready),
      .decision_i        (decision),
      .valid_i,
      .ready_o,
      .data_i,
      .last_i,
      .cell_write_o      (cell_write),
      .cell_o            (cell_index),
      .cell_data_o       (cell_data),
      .cell_copies_o     (cell_copies),
      .meta_write_o      (meta_write),
      .meta_o            (meta_in),
      .link_write_o      (link_write),
      .link_from_o       (link_from),
      .stored_valid_o    (stored_valid),
      .stored_cell_o     (stored_cell),
      .stored_dests_o    (stored_dests),
      .stored_module_o   (stored_module),
      .stored_high_o     (stored_high),
      .cell_freed_i      (freed),
      .cell_freed_index_i(freed_index),
      .progress_o
  );

  sluice_ram_1r1w #(
      .Width   (8 * Bytes + 4),
      .Depth   (Cfg.cells),
      .InitZero(1'b0)
  ) u_cells (
      .clk_i,
      .wr_en_i  (cell_write),
      .wr_addr_i(cell_index),
      .wr_data_i({cell_copies, cell_data}),
      .rd_en_i  (read),
      .rd_addr_i(read_cell),
      .rd_data_o({read_copies, read_data})
  );
  sluice_ram_1r1w #(
      .Width   (CellBits),
      .Depth   (Cfg.cells),
      .InitZero(1'b0)
  ) u_links (
      .clk_i,
      .wr_en_i  (link_write),
      .wr_addr_i(link_from),
      .wr_data_i(cell_index),
      .rd_en_i  (read),
      .rd_addr_i(read_cell),
      .rd_data_o(read_link)
  );
  sluice_ram_1r1w #(
      .Width   ($bits(verdict_t)),
      .Depth   (Cfg.cells),
      .InitZero(1'b0)
  ) u_meta (
      .clk_i,
      .wr_en_i  (meta_write),
      .wr_addr_i(cell_index),
      .wr_data_i(meta_in),
      .rd_en_i  (meta_read),
      .rd_addr_i(meta_cell),
      .rd_data_o(meta_out)
  );

  // Queues and outputs.
  logic [Dests-1:0] copy_valid, copy_ready, beat_valid, beat_ready, beat_first, beat_last;
  logic [Dests-1:0][CellBits-1:0] copy_cell;
  sideband_t [Dests-1:0] copy_meta, beat_meta;
  logic [Dests-1:0][8*Bytes-1:0] beat_data;
  logic [Dests-1:0][ByteCountBits-1:0] beat_bytes;

  sluice_nic_queues #(
      .Cfg   (Cfg),
      .Late  (Late),
      .Places(Places),
      .Spare (Spare)
  ) u_queues (
      .clk_i,
      .rst_ni,
      .clear_i        (clear_q),
      .clear_index_i  (clear_index_q[ModuleIndexBits-1:0]),
      .stored_valid_i (stored_valid),
      .stored_cell_i  (stored_cell),
      .stored_dests_i (stored_dests),
      .stored_module_i(stored_module),
      .stored_high_i  (stored_high),
      .stored_length_i(decision.verdict.sideband.length),
      .meta_read_o    (meta_read),
      .meta_cell_o    (meta_cell),
      .meta_i         (meta_out),
      .copy_valid_o   (copy_valid),
      .copy_ready_i   (copy_ready),
      .copy_cell_o    (copy_cell),
      .copy_meta_o    (copy_meta),
      .ask_o,
      .take_o,
      .room_i,
      .charge_valid_i,
      .charge_module_i,
      .charge_i,
      .weight_index_o,
      .weight_i,
      .quantum_write_i((write && is_quantum) || cfg_req_i.clear),
      .quantum_index_i(cfg_req_i.index[ModuleIndexBits-1:0]),
      .quantum_i      (cfg_req_i.data[15:0]),
      .quantum_o      (quantum)
  );

  sluice_nic_reader #(
      .Cfg(Cfg)
  ) u_reader (
      .clk_i,
      .rst_ni,
      .clear_i           (clear_q),
      .clear_index_i     (clear_index_q),
      .copy_valid_i      (copy_valid),
      .copy_ready_o      (copy_ready),
      .copy_cell_i       (copy_cell),
      .copy_meta_i       (copy_meta),
      .read_o            (read),
      .read_cell_o       (read_cell),
      .read_data_i       (read_data),
      .read_link_i       (read_link),
      .read_copies_i     (read_copies),
      .cell_freed_o      (freed),
      .cell_freed_index_o(freed_index),
      .release_valid_o   (release_valid),
      .release_queue_o   (release_queue),
      .release_high_o    (release_high),
      .release_cells_o   (release_cells),
      .leave_o           (leave_trace_o),
      .beat_valid_o      (beat_valid),
      .beat_ready_i      (beat_ready),
      .beat_data_o       (beat_data),
      .beat_bytes_o      (beat_bytes),
      .beat_first_o      (beat_first),
      .beat_last_o       (beat_last),
      .beat_meta_o       (beat_meta)
  );
  assign leave_trace_valid_o = release_valid;

  for (genvar d = 0; d < Dests; d++) begin : gen_output
    sluice_nic_tag_insert #(
        .Bytes (Bytes),
        .Insert(d < Cfg.ports)
    ) u_tag_insert (
        .clk_i,
        .rst_ni,
        .valid_i      (beat_valid[d]),
        .ready_o      (beat_ready[d]),
        .data_i       (beat_data[d]),
        .bytes_i      (beat_bytes[d]),
        .first_i      (beat_first[d]),
        .last_i       (beat_last[d]),
        .meta_i       (beat_meta[d]),
        .m_axis_tvalid(m_axis_tvalid[d]),
        .m_axis_tready(m_axis_tready[d]),
        .m_axis_tdata (m_axis_tdata[d]),
        .m_axis_tkeep (m_axis_tkeep[d]),
        .m_axis_tlast (m_axis_tlast[d]),
        .m_axis_tuser (m_axis_tuser[d])
    );
  end

  // Counters. A packet may be dropped at every destination in one cycle.
  logic [Dests-1:0] drops_valids;
  logic [Dests-1:0][CounterBits-1:0] drops_of;
  for (genvar d = 0; d < Dests; d++) begin : gen_drops
    sluice_counter_bank #(
        .Entries (4 * Cfg.modules),
        .Width   (CounterBits),
        .IncWidth(1)
    ) u_drops (
        .clk_i,
        .rst_ni,
        .epoch_i,
        .inc_valid_i  (queue_trace_valid_o[d] && queue_trace_o[d].dropped),
        .inc_index_i  ({queue_trace_o[d].module_id[ModuleIndexBits-1:0], queue_trace_o[d].reason[1:0]}),
        .inc_amount_i (1'b1),
        .rd_valid_i   (cfg_valid_i && is_drops && 32'(cfg_req_i.index[QueueBits+1:ModuleIndexBits+2]) == d),
        .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
        .rd_index_i   (cfg_req_i.index[ModuleIndexBits+1:0]),
        .rd_valid_o   (drops_valids[d]),
        .rd_data_o    (drops_of[d])
    );
  end
  always_comb begin
    drops_valid = drops_valids != '0;
    drops = '0;
    for (int unsigned d = 0; d < Dests; d++) if (drops_valids[d]) drops |= drops_of[d];
  end

  sluice_counter_bank #(
      .Entries (Queues),
      .Width   (CounterBits),
      .IncWidth(1)
  ) u_packets (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (release_valid),
      .inc_index_i  (release_queue),
      .inc_amount_i (1'b1),
      .rd_valid_i   (cfg_valid_i && is_packets),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[QueueBits-1:0]),
      .rd_valid_o   (packets_valid),
      .rd_data_o    (packets)
  );
  sluice_counter_bank #(
      .Entries (Queues),
      .Width   (CounterBits),
      .IncWidth(14)
  ) u_bytes (
      .clk_i,
      .rst_ni,
      .epoch_i,
      .inc_valid_i  (release_valid),
      .inc_index_i  (release_queue),
      .inc_amount_i (leave_trace_o.length),
      .rd_valid_i   (cfg_valid_i && is_bytes),
      .rd_snapshot_i(cfg_req_i.index[SnapshotIndexBit]),
      .rd_index_i   (cfg_req_i.index[QueueBits-1:0]),
      .rd_valid_o   (bytes_valid),
      .rd_data_o    (bytes)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) answer_q <= '0;
    else answer_q <= {answer_q[AnswerCycles-2:0], cfg_valid_i};
  end
  always_ff @(posedge clk_i) begin
    if (drops_valid) counter_q <= drops;
    if (packets_valid) counter_q <= packets;
    if (bytes_valid) counter_q <= bytes;
  end

  assign cfg_valid_o = answer_q[AnswerCycles-1];
  always_comb begin
    cfg_rsp_o = '{status: status, words: 4'd2, data: 256'(counter_q)};
    if (is_limit) begin
      cfg_rsp_o.words = 4'(LimitRowWords);
      cfg_rsp_o.data  = 256'(limit);
    end
    if (is_quantum) begin
      cfg_rsp_o.words = 4'(QuantumRowWords);
      cfg_rsp_o.data  = 256'(quantum);
    end
    if (is_vids) begin
      cfg_rsp_o.words = 4'(VidsRowWords);
      cfg_rsp_o.data  = 256'(any_vids_q[cfg_req_i.index[ModuleIndexBits-1:0]]);
    end
  end

endmodule
