/// Queues of stored packets, two per destination and module, high and low, and the choice among them.
///
/// `stored_*` puts a packet's first cell into the queues of all its destinations in one
/// cycle. A queue is a ring of `queue_packets` cell numbers; admission made room for them.
/// Per destination a `sluice_nic_drr` chooses the module, whichever of its queues have packets, and is told what was
/// served of either, in bytes of whole beats; of that module the high queue goes first. At destination `Late` it is a `sluice_late_drr`, and what stands
/// behind it says what a packet has cost (`charge_*`), once for each, and whether there is room for it (sluice_engine_pkg::room_t). A module
/// whose next packet finds none is left out of the choice until room has come back: its own, or some of all.
/// Chosen packets take their room. With plenty of it one is chosen in a cycle; else one in 3, for its length has to be read first. Chosen copies wait in a short queue
/// (`copy_*`) for the reader, with their sideband and in it their destination's tag.
///
/// Latency: 7 cycles from stored to copy when idle. Throughput: one packet a cycle in, one copy out.
/// Stall behaviour: a destination whose copies are not taken stops choosing, the others go on.
module sluice_nic_queues
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    // The destination whose packets are charged by what is behind it; none at 8. It has room for `Places` packets that are not
    // charged, and for `Spare` more of modules that have none there.
    parameter int unsigned Late = 8,
    parameter int unsigned Places = 12,
    parameter int unsigned Spare = 4,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned CellBits = $clog2(Cfg.cells),
    localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules)
) (
    input logic clk_i,
    input logic rst_ni,

    // After a reset: empty the queues of module `clear_index_i`; nothing is stored meanwhile.
    input logic                       clear_i,
    input logic [ModuleIndexBits-1:0] clear_index_i,

    input logic                  stored_valid_i,
    input logic [  CellBits-1:0] stored_cell_i,
    input logic [  DestBits-1:0] stored_dests_i,
    input logic [ModuleBits-1:0] stored_module_i,
    input logic                  stored_high_i,
    input logic [          13:0] stored_length_i,

    // Verdict on the packet whose first cell is `meta_cell_o`, one cycle later.
    output logic                    meta_read_o,
    output logic     [CellBits-1:0] meta_cell_o,
    input  verdict_t                meta_i,

    output logic      [Dests-1:0]               copy_valid_o,
    input  logic      [Dests-1:0]               copy_ready_i,
    output logic      [Dests-1:0][CellBits-1:0] copy_cell_o,
    output sideband_t [Dests-1:0]               copy_meta_o,

    // Of destination `Late`: what packets cost, and weights, answered in the same cycle.
    output room_ask_t                        ask_o,
    output room_take_t                       take_o,
    // "Bits of signal are not used": modules are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input  room_t                            room_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic                             charge_valid_i,
    input  logic       [ModuleIndexBits-1:0] charge_module_i,
    input  logic       [                9:0] charge_i,
    output logic       [ModuleIndexBits-1:0] weight_index_o,
    input  logic       [               15:0] weight_i,

    // Quantum rows, read back at `quantum_index_i`.
    input  logic                       quantum_write_i,
    input  logic [ModuleIndexBits-1:0] quantum_index_i,
    input  logic [               15:0] quantum_i,
    output logic [               15:0] quantum_o
);

  localparam int unsigned DestIndexBits = $clog2(Dests);
  localparam int unsigned SlotBits = $clog2(Cfg.queue_packets);
  localparam int unsigned PacketBits = SlotBits + 1;
  localparam int unsigned CopyDepth = CopiesAhead;
  localparam int unsigned OffsetBits = $clog2(Cfg.bus_bytes);

  if (Late >= Dests) begin : gen_no_late
    assign weight_index_o = '0;
    assign ask_o = '0;
    assign take_o = '0;
    // "Signal is not used": there is none such destination.
    // verilator lint_off UNUSEDSIGNAL
    logic unused_late;
    // verilator lint_on UNUSEDSIGNAL
    assign unused_late = &{charge_valid_i, charge_module_i, charge_i, weight_i, room_i};
  end

  // Packets of the low queue and, above, of the high one: running counts.
  typedef logic [1:0][PacketBits-1:0] packets_t;

  if (2 ** DestIndexBits != Dests || Dests > DestBits) begin : gen_bad_dests
    $fatal(1, "nic_queues: ports + hosts is %0d, expected 2, 4 or 8 (%m)", Dests);
  end

  // Packets on their way into the queues.
  typedef struct packed {
    logic [CellBits-1:0]   first_cell;
    logic [DestBits-1:0]   dests;
    logic [ModuleBits-1:0] module_id;
    logic                  high;
    beat_count_t           beats;
  } stored_t;

  stored_t stored, head_q;
  logic head_valid_q;
  logic [ModuleIndexBits-1:0] enqueue_module;
  logic [Dests-1:0] enqueue;

  assign stored = '{
          first_cell: stored_cell_i,
          dests: stored_dests_i,
          module_id: stored_module_i,
          high: stored_high_i,
          beats: beats_of(stored_length_i, OffsetBits)
      };

  always_ff @(posedge clk_i) begin
    if (!rst_ni) head_valid_q <= 1'b0;
    else head_valid_q <= stored_valid_i;
  end
  always_ff @(posedge clk_i) head_q <= stored;
  assign enqueue_module = head_q.module_id[ModuleIndexBits-1:0];
  assign enqueue = head_valid_q ? head_q.dests[Dests-1:0] : '0;

  // Choice: one copy a cycle over all destinations.
  logic [Dests-1:0] choice_valid, choice_ready, choose;
  logic [Dests-1:0][ModuleIndexBits-1:0] choice_module;
  logic [Dests-1:0][ModuleIndexBits-1:0] drr_quantum_index;
  // "Bits of signal are not used": destination `Late` has weights.
  // verilator lint_off UNUSEDSIGNAL
  logic [Dests-1:0][15:0] drr_quantum;
  // verilator lint_on UNUSEDSIGNAL
  logic [Dests-1:0][Cfg.modules-1:0] queued_q;
  logic [DestIndexBits-1:0] choice_dest;
  logic [Dests-1:0] last_of_module;
  logic chosen;

  // By the slots of the reader, or short packets would be chosen for all destinations alike and a port's slots there be empty.
  sluice_nic_slots #(
      .Ports (Cfg.ports),
      .Hosts (Cfg.hosts),
      .Period(HostSlotPeriod)
  ) u_slots (
      .clk_i,
      .rst_ni,
      .req_i  (choice_valid & choice_ready),
      .grant_o(choose),
      .index_o(choice_dest),
      .valid_o(chosen)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      queued_q <= '0;
    end else begin
      for (int unsigned d = 0; d < Dests; d++) begin
        if (choose[d] && last_of_module[d]) queued_q[d][choice_module[d]] <= 1'b0;
        // A packet that comes in the same cycle keeps the module in the choice.
        if (enqueue[d]) queued_q[d][enqueue_module] <= 1'b1;
      end
    end
  end

  // 1: cell number from the ring. 2: verdict. 3: to the destination, and charge.
  logic [Dests-1:0][CellBits-1:0] ring_cells;
  logic [CellBits-1:0] ring_cell, meta_cell_q;
  logic ring_valid_q, meta_valid_q;
  logic [DestIndexBits-1:0] ring_dest_q, meta_dest_q;

  assign ring_cell = ring_cells[ring_dest_q];

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
    // At destination `Late` with the packet's beats.
    localparam int unsigned RingBits = CellBits + ((d == Late) ? BeatCountBits : 0);
    logic arrives, unused_ready;
    packets_t in_count, in_count_d, choice_in, choice_out, choice_next;
    logic choice_high, other_is_empty;
    logic [LevelBits-1:0] level, on_the_way_q;
    sideband_t meta;

    // The module's turn serves its high queue first.
    assign choice_high = choice_in[1] != choice_out[1];
    assign other_is_empty = !choice_high || choice_in[0] == choice_out[0];
    assign last_of_module[d] = other_is_empty && choice_in[choice_high] == choice_next[choice_high];
    always_comb begin
      in_count_d = in_count;
      in_count_d[head_q.high] = in_count[head_q.high] + 1'b1;
      choice_next = choice_out;
      choice_next[choice_high] = choice_out[choice_high] + 1'b1;
    end

    sluice_ram_lut #(
        .Width    (2 * PacketBits),
        .Depth    (Cfg.modules),
        .ReadPorts(2)
    ) u_in_count (
        .clk_i,
        .we_i   (enqueue[d] || clear_i),
        .waddr_i(clear_i ? clear_index_i : enqueue_module),
        .wdata_i(clear_i ? '0 : in_count_d),
        .raddr_i({choice_module[d], enqueue_module}),
        .rdata_o({choice_in, in_count})
    );
    sluice_ram_lut #(
        .Width(2 * PacketBits),
        .Depth(Cfg.modules)
    ) u_out_count (
        .clk_i,
        .we_i   (choose[d] || clear_i),
        .waddr_i(clear_i ? clear_index_i : choice_module[d]),
        .wdata_i(clear_i ? '0 : choice_next),
        .raddr_i(choice_module[d]),
        .rdata_o(choice_out)
    );
    logic [RingBits-1:0] ring_out;
    logic ring_read;

    sluice_nic_ring #(
        .Width(RingBits),
        .Depth(2 * Cfg.modules * Cfg.queue_packets)
    ) u_ring (
        .clk_i,
        .write_i      (enqueue[d]),
        .write_index_i({head_q.high, enqueue_module, in_count[head_q.high][SlotBits-1:0]}),
        .write_data_i (RingBits'({head_q.beats, head_q.first_cell})),
        .read_i       (ring_read),
        .read_index_i ({choice_high, choice_module[d], choice_out[choice_high][SlotBits-1:0]}),
        .read_data_o  (ring_out)
    );
    assign ring_cells[d] = ring_out[CellBits-1:0];

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

    if (d == Late) begin : gen_late
      // Weights stand with what is behind it.
      assign drr_quantum_index[d] = '0;

      // The packet that is next of the module that is looked at is read in every cycle, and compared with the room that there is: what is known
      // in a cycle is of the one before, and holds while it is the same packet.
      localparam beat_count_t MostBeats = beat_count_t'((MaxFrameBytes + Cfg.bus_bytes - 1) / Cfg.bus_bytes);
      localparam int unsigned HeadBits = 1 + ModuleIndexBits + PacketBits;
      logic [HeadBits-1:0] head, read_head_q;
      beat_count_t beats;
      logic queued, read_q, compared, fits_q, lacks_q, own_q, high_q, known, short_q;
      logic [ModuleIndexBits-1:0] compared_module_q;
      logic [Cfg.modules-1:0] blocked_q, freed;

      assign ring_read = 1'b1;
      assign beats = ring_out[CellBits+:BeatCountBits];
      assign head = {choice_high, choice_module[d], choice_out[choice_high]};
      assign queued = queued_q[d][choice_module[d]];
      assign compared = read_q && read_head_q == head && !choose[d];
      assign known = fits_q && high_q == choice_high;
      assign ask_o = '{module_id: ModuleBits'(choice_module[d]), beats: beats};

      always_ff @(posedge clk_i) begin
        if (!rst_ni) begin
          read_q  <= 1'b0;
          fits_q  <= 1'b0;
          lacks_q <= 1'b0;
          short_q <= 1'b0;
        end else begin
          read_q  <= queued && !choose[d];
          fits_q  <= compared && room_i.fits;
          lacks_q <= compared && !room_i.fits && !room_i.plenty;
          short_q <= choose[d] && !known;
        end
        read_head_q <= head;
        own_q <= room_i.own;
        high_q <= choice_high;
        compared_module_q <= choice_module[d];
      end

      always_comb begin
        freed = {Cfg.modules{room_i.freed_all}};
        for (int unsigned b = 0; b < 2; b++)
        if (room_i.freed_own[b]) freed[room_i.freed_module[b][ModuleIndexBits-1:0]] = 1'b1;
      end

      // Room that comes back in the cycle in which a module is found to lack it was not looked at.
      always_ff @(posedge clk_i) begin
        if (!rst_ni) blocked_q <= '0;
        else begin
          if (lacks_q) blocked_q[compared_module_q] <= 1'b1;
          for (int unsigned m = 0; m < Cfg.modules; m++) if (freed[m]) blocked_q[m] <= 1'b0;
        end
      end

      assign take_o = '{
              valid: choose[d],
              own: known && own_q,
              beats: known ? beats : MostBeats,
              less: short_q ? MostBeats - beats : '0
          };

      sluice_late_drr #(
          .Modules   (Cfg.modules),
          .CostBits  (10),
          .QuantumLog(2),
          .Places    (Places),
          .Spare     (Spare)
      ) u_drr (
          .clk_i,
          .rst_ni,
          .queued_i(queued_q[d] & ~blocked_q),
          .valid_o (choice_valid[d]),
          .module_o(choice_module[d]),
          .take_i  (choose[d]),
          .room_i  (known || room_i.plenty),
          .charge_valid_i,
          .charge_module_i,
          .charge_i,
          .weight_index_o,
          .weight_i,
          .clear_i,
          .clear_index_i
      );
    end else begin : gen_early
      assign ring_read = choose[d];

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
          .charge_bytes_i (14'(beats_of(meta.length, OffsetBits)) << OffsetBits),
          .quantum_index_o(drr_quantum_index[d]),
          .quantum_i      (drr_quantum[d])
      );
    end

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
    // A property would copy the RAMs that it reads in every cycle.
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        QueueIsNotEmptyWhenChosen_A : assert (!choose[d] || choice_in != choice_out);
        for (int unsigned high = 0; high < 2; high++) begin
          QueueDoesNotOverflow_A :
          assert (!choose[d] || 32'(PacketBits'(choice_in[high] - choice_out[high])) <= Cfg.queue_packets);
        end
      end
    end
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

endmodule
