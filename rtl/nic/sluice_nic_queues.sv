/// Queues of stored packets, one per destination and module, and the choice among them.
///
/// `stored_*` puts a packet's first cell into the queue of each of its destinations, one a
/// cycle. A queue is a ring of `queue_packets` cell numbers; admission made room for them.
/// Per destination a `sluice_nic_drr` chooses the module; chosen copies wait in a short queue
/// (`copy_*`) for the reader, with their sideband and in it their destination's tag.
///
/// Latency: 7 cycles from stored to copy when idle. Throughput: one copy a cycle in and out.
/// Stall behaviour: a destination whose copies are not taken stops choosing, the others go on.
module sluice_nic_queues
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned CellBits = $clog2(Cfg.cells),
    localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules),
    localparam int unsigned QueueBits = $clog2(Dests * Cfg.modules)
) (
    input logic clk_i,
    input logic rst_ni,

    // After a reset: empty queue `clear_index_i`; nothing is stored meanwhile.
    input logic                 clear_i,
    input logic [QueueBits-1:0] clear_index_i,

    input  logic                  stored_valid_i,
    output logic                  stored_ready_o,
    input  logic [  CellBits-1:0] stored_cell_i,
    input  logic [  DestBits-1:0] stored_dests_i,
    input  logic [ModuleBits-1:0] stored_module_i,

    // Verdict on the packet whose first cell is `meta_cell_o`, one cycle later.
    output logic                    meta_read_o,
    output logic     [CellBits-1:0] meta_cell_o,
    input  verdict_t                meta_i,

    output logic      [Dests-1:0]               copy_valid_o,
    input  logic      [Dests-1:0]               copy_ready_i,
    output logic      [Dests-1:0][CellBits-1:0] copy_cell_o,
    output sideband_t [Dests-1:0]               copy_meta_o,

    // Quantum rows, read back at `quantum_index_i`.
    input  logic                       quantum_write_i,
    input  logic [ModuleIndexBits-1:0] quantum_index_i,
    input  logic [               15:0] quantum_i,
    output logic [               15:0] quantum_o
);

  localparam int unsigned Queues = Dests * Cfg.modules;
  localparam int unsigned DestIndexBits = $clog2(Dests);
  localparam int unsigned SlotBits = $clog2(Cfg.queue_packets);
  localparam int unsigned PacketBits = SlotBits + 1;
  localparam int unsigned CopyDepth = 8;

  if (2 ** DestIndexBits != Dests || Dests > DestBits) begin : gen_bad_dests
    $fatal(1, "nic_queues: ports + hosts is %0d, expected 2, 4 or 8 (%m)", Dests);
  end

  // Packets on their way into the queues.
  typedef struct packed {
    logic [CellBits-1:0]   first_cell;
    logic [DestBits-1:0]   dests;
    logic [ModuleBits-1:0] module_id;
  } stored_t;

  stored_t stored, head;
  logic head_valid, head_ready, more, enqueue;
  logic [2:0] enqueue_dest;
  logic [DestBits-1:0] rest_q, rest, onehot;
  logic rest_valid_q;
  logic [2:0] unused_stored_level;
  logic [QueueBits-1:0] enqueue_queue;
  logic [PacketBits-1:0] in_count;

  assign stored = '{first_cell: stored_cell_i, dests: stored_dests_i, module_id: stored_module_i};

  sluice_fifo #(
      .Width($bits(stored_t)),
      .Depth(4)
  ) u_stored (
      .clk_i,
      .rst_ni,
      .valid_i(stored_valid_i),
      .ready_o(stored_ready_o),
      .data_i (stored),
      .valid_o(head_valid),
      .ready_i(head_ready),
      .data_o (head),
      .level_o(unused_stored_level)
  );

  assign rest = rest_valid_q ? rest_q : head.dests;
  sluice_prio_enc #(
      .Width(DestBits)
  ) u_lowest (
      .req_i   (rest),
      .valid_o (enqueue),
      .index_o (enqueue_dest),
      .onehot_o(onehot)
  );
  assign more = (rest & ~onehot) != '0;
  assign head_ready = !more;
  assign enqueue_queue = QueueBits'({enqueue_dest, head.module_id[ModuleIndexBits-1:0]});

  always_ff @(posedge clk_i) begin
    if (!rst_ni) rest_valid_q <= 1'b0;
    else if (head_valid) rest_valid_q <= more;
  end
  always_ff @(posedge clk_i) rest_q <= rest & ~onehot;

  // Choice: one copy a cycle over all destinations.
  logic [Dests-1:0] choice_valid, choice_ready, choose;
  logic [Dests-1:0][ModuleIndexBits-1:0] choice_module;
  logic [Dests-1:0][ModuleIndexBits-1:0] drr_quantum_index;
  logic [Dests-1:0][15:0] drr_quantum;
  logic [Dests-1:0][Cfg.modules-1:0] queued_q;
  logic [DestIndexBits-1:0] choice_dest;
  logic chosen, last_of_queue;
  logic [QueueBits-1:0] choice_queue;
  logic [PacketBits-1:0] choice_in, choice_out;

  sluice_arb_rr #(
      .Requests(Dests)
  ) u_choice (
      .clk_i,
      .rst_ni,
      .req_i    (choice_valid & choice_ready),
      .advance_i(1'b1),
      .grant_o  (choose),
      .index_o  (choice_dest),
      .valid_o  (chosen)
  );
  assign choice_queue  = {choice_dest, choice_module[choice_dest]};
  assign last_of_queue = choice_in - choice_out == PacketBits'(1);

  sluice_ram_lut #(
      .Width    (PacketBits),
      .Depth    (Queues),
      .ReadPorts(2)
  ) u_in_count (
      .clk_i,
      .we_i   ((head_valid && enqueue) || clear_i),
      .waddr_i(clear_i ? clear_index_i : enqueue_queue),
      .wdata_i(clear_i ? '0 : in_count + 1'b1),
      .raddr_i({choice_queue, enqueue_queue}),
      .rdata_o({choice_in, in_count})
  );
  sluice_ram_lut #(
      .Width(PacketBits),
      .Depth(Queues)
  ) u_out_count (
      .clk_i,
      .we_i   (chosen || clear_i),
      .waddr_i(clear_i ? clear_index_i : choice_queue),
      .wdata_i(clear_i ? '0 : choice_out + 1'b1),
      .raddr_i(choice_queue),
      .rdata_o(choice_out)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      queued_q <= '0;
    end else begin
      if (chosen && last_of_queue) queued_q[choice_dest][choice_module[choice_dest]] <= 1'b0;
      // A packet that comes in the same cycle keeps the queue in the choice.
      if (head_valid && enqueue) begin
        queued_q[enqueue_dest[DestIndexBits-1:0]][head.module_id[ModuleIndexBits-1:0]] <= 1'b1;
      end
    end
  end

  // 1: cell number from the ring. 2: verdict. 3: to the destination, and charge.
  logic [CellBits-1:0] ring_cell, meta_cell_q;
  logic ring_valid_q, meta_valid_q;
  logic [DestIndexBits-1:0] ring_dest_q, meta_dest_q;

  sluice_ram_1r1w #(
      .Width(CellBits),
      .Depth(Queues * Cfg.queue_packets)
  ) u_ring (
      .clk_i,
      .wr_en_i  (head_valid && enqueue),
      .wr_addr_i({enqueue_queue, in_count[SlotBits-1:0]}),
      .wr_data_i(head.first_cell),
      .rd_en_i  (chosen),
      .rd_addr_i({choice_queue, choice_out[SlotBits-1:0]}),
      .rd_data_o(ring_cell)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      ring_valid_q <= 1'b0;
      meta_valid_q <= 1'b0;
    end else begin
      ring_valid_q <= chosen;
      meta_valid_q <= ring_valid_q;
    end
  end
  always_ff @(posedge clk_i) begin
    ring_dest_q <= choice_dest;
    meta_dest_q <= ring_dest_q;
    meta_cell_q <= ring_cell;
  end
  assign meta_read_o = ring_valid_q;
  assign meta_cell_o = ring_cell;

  for (genvar d = 0; d < Dests; d++) begin : gen_dest
    localparam int unsigned LevelBits = $clog2(CopyDepth + 1);
    logic arrives, unused_ready;
    logic [LevelBits-1:0] level, on_the_way_q;
    sideband_t meta;

    assign arrives = meta_valid_q && 32'(meta_dest_q) == d;
    always_comb begin
      meta = meta_i.sideband;
      meta.tag = meta_i.tags[d];
    end
    // Chosen and not yet in the queue of copies: at most two.
    assign choice_ready[d] = 32'(level) + 32'(on_the_way_q) < CopyDepth;

    always_ff @(posedge clk_i) begin
      if (!rst_ni) on_the_way_q <= '0;
      else on_the_way_q <= on_the_way_q + LevelBits'(choose[d]) - LevelBits'(arrives);
    end

    sluice_nic_drr #(
        .Modules(Cfg.modules)
    ) u_drr (
        .clk_i,
        .rst_ni,
        .queued_i       (queued_q[d]),
        .valid_o        (choice_valid[d]),
        .module_o       (choice_module[d]),
        .take_i         (choose[d]),
        .charge_valid_i (arrives),
        .charge_module_i(meta.module_id[ModuleIndexBits-1:0]),
        .charge_bytes_i (meta.length),
        .quantum_index_o(drr_quantum_index[d]),
        .quantum_i      (drr_quantum[d])
    );

    sluice_fifo #(
        .Width(CellBits + SidebandBits),
        .Depth(CopyDepth)
    ) u_copies (
        .clk_i,
        .rst_ni,
        .valid_i(arrives),
        .ready_o(unused_ready),
        .data_i ({meta_cell_q, meta}),
        .valid_o(copy_valid_o[d]),
        .ready_i(copy_ready_i[d]),
        .data_o ({copy_cell_o[d], copy_meta_o[d]}),
        .level_o(level)
    );

`ifndef SYNTHESIS
    CopyHasRoom_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !arrives || unused_ready);
`endif
  end

  sluice_ram_lut #(
      .Width    (16),
      .Depth    (Cfg.modules),
      .ReadPorts(Dests + 1),
      .InitZero (1'b0)
  ) u_quantum (
      .clk_i,
      .we_i   (quantum_write_i),
      .waddr_i(quantum_index_i),
      .wdata_i(quantum_i),
      .raddr_i({quantum_index_i, drr_quantum_index}),
      .rdata_o({quantum_o, drr_quantum})
  );

`ifndef SYNTHESIS
  // A property would copy the RAMs that it reads in every cycle.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      QueueIsNotEmptyWhenChosen_A : assert (!chosen || choice_in != choice_out);
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      QueueDoesNotOverflow_A : assert (!chosen || 32'(PacketBits'(choice_in - choice_out)) <= Cfg.queue_packets);
    end
  end
`endif

endmodule
