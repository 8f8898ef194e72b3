/// Decides for each copy of a packet whether its queue has room (docs/design/nic.md, "Queues").
///
/// Takes verdicts in order, each with a destination at least, looks at one destination a cycle, lowest first, and
/// hands on which copies were admitted. Occupancy is the difference of two
/// running counts, one written here at admission, one at release, so that neither side waits.
/// A release in the same cycle is not seen yet.
///
/// `free_*`: cells of the shared buffer; a packet's cells are reserved with its first admitted
/// copy, and come back one by one (`cell_freed_i`).
///
/// Latency: 0 cycles from verdict to decision for one destination, k - 1 for k. Throughput: one
/// destination a cycle. Stall behaviour: waits with the last destination while
/// `decision_ready_i` is low; the decision
/// follows the queues' room until it is taken.
module sluice_nic_admit
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned Queues = Dests * Cfg.modules,
    localparam int unsigned QueueBits = $clog2(Queues)
) (
    input logic clk_i,
    input logic rst_ni,

    // After a reset: zero the occupancy of queue `clear_index_i`; no verdicts meanwhile.
    input logic                 clear_i,
    input logic [QueueBits-1:0] clear_index_i,

    input  logic     verdict_valid_i,
    output logic     verdict_ready_o,
    input  verdict_t verdict_i,

    output logic      decision_valid_o,
    input  logic      decision_ready_i,
    output decision_t decision_o,

    // One copy has left its queue.
    input logic                 release_valid_i,
    input logic [QueueBits-1:0] release_queue_i,
    input logic [         15:0] release_cells_i,
    input logic                 cell_freed_i,

    // Limit rows, read back at `limit_index_i`.
    input  logic                 limit_write_i,
    input  logic [QueueBits-1:0] limit_index_i,
    input  logic [         15:0] limit_i,
    output logic [         15:0] limit_o,

    output logic         trace_valid_o,
    output queue_trace_t trace_o
);

  localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules);
  localparam int unsigned PacketBits = $clog2(Cfg.queue_packets) + 1;
  localparam int unsigned CellBits = $clog2(Cfg.cells + 1);
  localparam int unsigned OffsetBits = $clog2(Cfg.bus_bytes);

  if (2 ** $clog2(Cfg.queue_packets) != Cfg.queue_packets || Cfg.queue_packets < 2) begin : gen_bad_queue_packets
    $fatal(1, "nic_admit: queue_packets is %0d, expected a power of two from 2 on (%m)", Cfg.queue_packets);
  end
  if (Cfg.cells > 32768) begin : gen_bad_cells
    $fatal(1, "nic_admit: cells is %0d, expected at most 32768 (%m)", Cfg.cells);
  end

  // Destinations still to be looked at; the first cycle of a packet takes them all.
  logic [DestBits-1:0] rest_q, rest, onehot, admitted_q, admitted_before, admitted;
  logic first_q, more, step;
  logic [2:0] dest;
  logic unused_any;

  assign rest = first_q ? verdict_i.sideband.destinations : rest_q;
  assign admitted_before = first_q ? '0 : admitted_q;

  sluice_prio_enc #(
      .Width(DestBits)
  ) u_lowest (
      .req_i   (rest),
      .valid_o (unused_any),
      .index_o (dest),
      .onehot_o(onehot)
  );

  assign more = (rest & ~onehot) != '0;
  assign step = verdict_valid_i && (more || decision_ready_i);

  // The queue and its room.
  logic [QueueBits-1:0] queue_index;
  logic [15:0] cells, cells_in, cells_out, used, limit;
  logic [PacketBits-1:0] packets_in, packets_out;
  logic over_limit, over_packets, over_buffer, room, admit;
  logic [CellBits-1:0] free_q;
  reason_e reason;

  assign queue_index = QueueBits'({dest, verdict_i.sideband.module_id[ModuleIndexBits-1:0]});
  assign cells = (16'(verdict_i.sideband.length) + 16'(Cfg.bus_bytes - 1)) >> OffsetBits;
  assign used = cells_in - cells_out;
  assign over_limit = 17'(used) + 17'(cells) > 17'(limit);
  assign over_packets = packets_in - packets_out == PacketBits'(Cfg.queue_packets);
  assign over_buffer = admitted_before == '0 && 16'(free_q) < cells;
  assign room = !over_limit && !over_packets && !over_buffer;
  assign admit = step && room;
  assign admitted = admitted_before | (room ? onehot : '0);

  always_comb begin
    reason = ReasonTailBuffer;
    if (over_limit) reason = ReasonTailLimit;
    else if (over_packets) reason = ReasonTailPackets;
  end

  sluice_ram_lut #(
      .Width(16 + PacketBits),
      .Depth(Queues)
  ) u_in (
      .clk_i,
      .we_i   (admit || clear_i),
      .waddr_i(clear_i ? clear_index_i : queue_index),
      .wdata_i(clear_i ? '0 : {cells_in + cells, packets_in + 1'b1}),
      .raddr_i(queue_index),
      .rdata_o({cells_in, packets_in})
  );

  logic [15:0] release_cells_before;
  logic [PacketBits-1:0] release_packets_before;
  sluice_ram_lut #(
      .Width    (16 + PacketBits),
      .Depth    (Queues),
      .ReadPorts(2)
  ) u_out (
      .clk_i,
      .we_i   (release_valid_i || clear_i),
      .waddr_i(clear_i ? clear_index_i : release_queue_i),
      .wdata_i(clear_i ? '0 : {release_cells_before + release_cells_i, release_packets_before + 1'b1}),
      .raddr_i({release_queue_i, queue_index}),
      .rdata_o({release_cells_before, release_packets_before, cells_out, packets_out})
  );

  sluice_ram_lut #(
      .Width    (16),
      .Depth    (Queues),
      .ReadPorts(2),
      .InitZero (1'b0)
  ) u_limit (
      .clk_i,
      .we_i   (limit_write_i),
      .waddr_i(limit_index_i),
      .wdata_i(limit_i),
      .raddr_i({limit_index_i, queue_index}),
      .rdata_o({limit_o, limit})
  );

  assign verdict_ready_o = step && !more;
  assign decision_valid_o = verdict_valid_i && !more;
  assign decision_o = '{admitted: admitted, verdict: verdict_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      first_q <= 1'b1;
      free_q  <= CellBits'(Cfg.cells);
    end else begin
      if (step) first_q <= !more;
      free_q <= free_q + CellBits'(cell_freed_i) - ((admit && admitted_before == '0) ? CellBits'(cells) : '0);
    end
  end
  always_ff @(posedge clk_i) begin
    if (step) begin
      rest_q     <= rest & ~onehot;
      admitted_q <= admitted;
    end
  end

  assign trace_valid_o = step;
  assign trace_o = '{
          id: verdict_i.sideband.id,
          module_id: verdict_i.sideband.module_id,
          destination: dest,
          dropped: !admit,
          reason: reason
      };

`ifndef SYNTHESIS
  // A property would copy the RAMs that it reads in every cycle.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      VerdictHasADestination_A : assert (!verdict_valid_i || verdict_i.sideband.destinations != '0);
    end
  end
  // Contract 5: a tail drop happens only when the queue or the buffer has no room.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      TailDropMeansFull_A :
      assert (!(trace_valid_o && trace_o.dropped) ||
                   32'(used) + 32'(cells) > 32'(limit) || 32'(packets_in - packets_out) >= Cfg.queue_packets ||
                   32'(free_q) < 32'(cells));
    end
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      QueueKeepsItsLimitOfPackets_A : assert (!admit || 32'(PacketBits'(packets_in - packets_out)) < Cfg.queue_packets);
    end
  end
  FreeCellsStayInRange_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) 32'(free_q) <= Cfg.cells);
`endif

endmodule
