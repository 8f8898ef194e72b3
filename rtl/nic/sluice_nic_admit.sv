/// Decides for the copies of a packet whether their queues have room (docs/design/nic.md, "Queues").
///
/// Takes verdicts in order, each with a destination at least, looks at all destinations in one cycle, and hands on which
/// copies were admitted; those of `denied_i` never are. Occupancy is the difference of two
/// running counts, one written here at admission, one at release, so that neither side waits.
/// A release in the same cycle is not seen yet. Cells are counted by module and destination, packets by queue, high or low.
///
/// `free_*`: cells of the shared buffer; a packet's cells are reserved once, with any admitted
/// copy, and come back one by one (`cell_freed_i`).
///
/// Latency: 0 cycles from verdict to decision. Throughput: a packet a cycle, however many copies it has. Stall behaviour:
/// waits while `decision_ready_i` is low; the decision
/// follows the queues' room until it is taken.
module sluice_nic_admit
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned Queues = Dests * Cfg.modules,
    localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules),
    localparam int unsigned QueueBits = $clog2(Queues)
) (
    input logic clk_i,
    input logic rst_ni,

    // After a reset: zero the occupancy of the queues of module `clear_index_i`; no verdicts meanwhile.
    input logic                       clear_i,
    input logic [ModuleIndexBits-1:0] clear_index_i,

    input  logic                    verdict_valid_i,
    output logic                    verdict_ready_o,
    input  verdict_t                verdict_i,
    // Destinations where the frame would leave as another tenant's.
    input  logic     [DestBits-1:0] denied_i,

    output logic      decision_valid_o,
    input  logic      decision_ready_i,
    output decision_t decision_o,

    // One copy has left its queue.
    input logic                 release_valid_i,
    input logic [QueueBits-1:0] release_queue_i,
    input logic                 release_high_i,
    input logic [         15:0] release_cells_i,
    input logic                 cell_freed_i,

    // Limit rows, read back at `limit_index_i`.
    input  logic                       limit_write_i,
    input  logic       [QueueBits-1:0] limit_index_i,
    input  limit_row_t                 limit_i,
    output limit_row_t                 limit_o,

    output logic         [Dests-1:0] trace_valid_o,
    output queue_trace_t [Dests-1:0] trace_o
);

  localparam int unsigned DestIndexBits = $clog2(Dests);
  localparam int unsigned PacketBits = $clog2(Cfg.queue_packets) + 1;
  localparam int unsigned CellBits = $clog2(Cfg.cells + 1);
  localparam int unsigned OffsetBits = $clog2(Cfg.bus_bytes);

  // Packets of the low queue and, above, of the high one.
  typedef logic [1:0][PacketBits-1:0] packets_t;

  if (2 ** $clog2(Cfg.queue_packets) != Cfg.queue_packets || Cfg.queue_packets < 2) begin : gen_bad_queue_packets
    $fatal(1, "nic_admit: queue_packets is %0d, expected a power of two from 2 on (%m)", Cfg.queue_packets);
  end
  if (Cfg.cells > 32768) begin : gen_bad_cells
    $fatal(1, "nic_admit: cells is %0d, expected at most 32768 (%m)", Cfg.cells);
  end

  if (2 ** DestIndexBits != Dests || Dests > DestBits) begin : gen_bad_dests
    $fatal(1, "nic_admit: ports + hosts is %0d, expected 2, 4 or 8 (%m)", Dests);
  end

  // The packet's cells, and the buffer's.
  logic [ModuleIndexBits-1:0] module_index;
  logic [15:0] cells;
  logic [CellBits-1:0] free_q;
  logic over_buffer, step, high;
  logic [Dests-1:0] wanted, over_limit, over_packets, room, admitted;

  assign step = verdict_valid_i && decision_ready_i;
  assign module_index = verdict_i.sideband.module_id[ModuleIndexBits-1:0];
  assign high = is_high(verdict_i.sideband.egress_queue);
  assign cells = (16'(verdict_i.sideband.length) + 16'(Cfg.bus_bytes - 1)) >> OffsetBits;
  assign over_buffer = 16'(free_q) < cells;
  assign wanted = verdict_i.sideband.destinations[Dests-1:0];
  assign room = wanted & ~denied_i[Dests-1:0] & ~over_limit & ~over_packets;
  assign admitted = over_buffer ? '0 : room;

  // The queues of each destination, by module.
  logic [DestIndexBits-1:0] release_dest, limit_dest;
  logic [ModuleIndexBits-1:0] release_module, limit_module;
  limit_row_t [Dests-1:0] limits;
  assign {release_dest, release_module} = release_queue_i;
  assign {limit_dest, limit_module} = limit_index_i;
  assign limit_o = limits[limit_dest];

  for (genvar d = 0; d < Dests; d++) begin : gen_dest
    logic [15:0] cells_in, cells_out, used, release_cells_before;
    packets_t packets_in, packets_out, packets_in_d, release_packets_before, release_packets_d;
    limit_row_t limit;
    logic signed [16:0] limit_of_queue;
    logic released;
    reason_e reason;

    assign used = cells_in - cells_out;
    // Below 0 with a reserve above the limit; nothing fits then.
    assign limit_of_queue = 17'(limit.cells) - (high ? '0 : 17'(limit.reserve));
    assign over_limit[d] = $signed(18'(used) + 18'(cells)) > 18'(limit_of_queue);
    assign over_packets[d] = packets_in[high] - packets_out[high] == PacketBits'(Cfg.queue_packets);
    assign released = release_valid_i && 32'(release_dest) == d;
    always_comb begin
      packets_in_d = packets_in;
      packets_in_d[high] = packets_in[high] + 1'b1;
      release_packets_d = release_packets_before;
      release_packets_d[release_high_i] = release_packets_before[release_high_i] + 1'b1;
    end

    sluice_ram_lut #(
        .Width(16 + 2 * PacketBits),
        .Depth(Cfg.modules)
    ) u_in (
        .clk_i,
        .we_i   ((step && admitted[d]) || clear_i),
        .waddr_i(clear_i ? clear_index_i : module_index),
        .wdata_i(clear_i ? '0 : {cells_in + cells, packets_in_d}),
        .raddr_i(module_index),
        .rdata_o({cells_in, packets_in})
    );
    sluice_ram_lut #(
        .Width    (16 + 2 * PacketBits),
        .Depth    (Cfg.modules),
        .ReadPorts(2)
    ) u_out (
        .clk_i,
        .we_i   (released || clear_i),
        .waddr_i(clear_i ? clear_index_i : release_module),
        .wdata_i(clear_i ? '0 : {release_cells_before + release_cells_i, release_packets_d}),
        .raddr_i({release_module, module_index}),
        .rdata_o({release_cells_before, release_packets_before, cells_out, packets_out})
    );
    sluice_ram_lut #(
        .Width    (LimitRowBits),
        .Depth    (Cfg.modules),
        .ReadPorts(2),
        .InitZero (1'b0)
    ) u_limit (
        .clk_i,
        .we_i   (limit_write_i && 32'(limit_dest) == d),
        .waddr_i(limit_module),
        .wdata_i(limit_i),
        .raddr_i({limit_module, module_index}),
        .rdata_o({limits[d], limit})
    );

    always_comb begin
      reason = ReasonTailBuffer;
      if (denied_i[d]) reason = ReasonForeignVlan;
      else if (over_limit[d]) reason = ReasonTailLimit;
      else if (over_packets[d]) reason = ReasonTailPackets;
    end
    assign trace_valid_o[d] = step && wanted[d];
    assign trace_o[d] = '{
            id: verdict_i.sideband.id,
            module_id: verdict_i.sideband.module_id,
            destination: 3'(d),
            dropped: !admitted[d],
            reason: reason
        };

`ifndef SYNTHESIS
    // Contract 5: a tail drop happens only when the queue or the buffer has no room. A property would copy the RAMs that
    // it reads in every cycle.
    always_ff @(posedge clk_i) begin
      if (rst_ni) begin
        TailDropMeansFull_A :
        assert (!(trace_valid_o[d] && trace_o[d].dropped) || denied_i[d] ||
                     32'(used) + 32'(cells) + (high ? 0 : 32'(limit.reserve)) > 32'(limit.cells) ||
                     32'(PacketBits'(packets_in[high] - packets_out[high])) >= Cfg.queue_packets || 32'(free_q) < 32'(cells));
        QueueKeepsItsLimitOfPackets_A :
        assert (!(step && admitted[d]) || 32'(PacketBits'(packets_in[high] - packets_out[high])) < Cfg.queue_packets);
        LowPacketsLeaveTheReserve_A :
        assert (!(step && admitted[d]) || high || 32'(used) + 32'(cells) + 32'(limit.reserve) <= 32'(limit.cells));
        DeniedIsNotAdmitted_A : assert (!(admitted[d] && denied_i[d]));
      end
    end
`endif
  end

  assign verdict_ready_o = decision_ready_i;
  assign decision_valid_o = verdict_valid_i;
  assign decision_o = '{admitted: DestBits'(admitted), verdict: verdict_i};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) free_q <= CellBits'(Cfg.cells);
    else free_q <= free_q + CellBits'(cell_freed_i) - ((step && admitted != '0) ? CellBits'(cells) : '0);
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      VerdictHasADestination_A : assert (!verdict_valid_i || wanted != '0);
    end
  end
  FreeCellsStayInRange_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) 32'(free_q) <= Cfg.cells);
`endif

endmodule
