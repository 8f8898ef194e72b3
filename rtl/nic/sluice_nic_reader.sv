/// Reads copies out of the shared buffer, beat by beat: ports at their lines' rate before all else.
///
/// Each destination has at most one copy in progress. A cycle reads one cell for one destination whose output queue has room,
/// by slots (sluice_nic_slots): a port has a part of the cycles for certain, whatever is copied to other destinations, and a
/// blocked destination costs the others nothing. With the last beat the copy leaves: `release_*` and `leave_o`. A cell
/// is given back (`cell_freed_*`) with its last copy.
///
/// Latency: 3 cycles from copy to the first beat out. Throughput: one beat a cycle over all
/// destinations, also when all go to one. Stall behaviour: per destination, by `beat_ready_i`.
module sluice_nic_reader
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter nic_cfg_t Cfg = NicCfgDefault,
    localparam int unsigned Bytes = Cfg.bus_bytes,
    localparam int unsigned Dests = Cfg.ports + Cfg.hosts,
    localparam int unsigned CellBits = $clog2(Cfg.cells),
    localparam int unsigned ModuleIndexBits = $clog2(Cfg.modules),
    localparam int unsigned QueueBits = $clog2(Dests * Cfg.modules),
    localparam int unsigned ByteCountBits = $clog2(Bytes + 1)
) (
    input logic clk_i,
    input logic rst_ni,

    // After a reset: forget the reads of cell `clear_index_i`; no copies meanwhile.
    input logic                clear_i,
    input logic [CellBits-1:0] clear_index_i,

    input  logic      [Dests-1:0]               copy_valid_i,
    output logic      [Dests-1:0]               copy_ready_o,
    input  logic      [Dests-1:0][CellBits-1:0] copy_cell_i,
    input  sideband_t [Dests-1:0]               copy_meta_i,

    // Cell reads: data, link and copy counts one cycle later.
    output logic                read_o,
    output logic [CellBits-1:0] read_cell_o,
    input  logic [ 8*Bytes-1:0] read_data_i,
    input  logic [CellBits-1:0] read_link_i,
    input  logic [         3:0] read_copies_i,

    output logic                cell_freed_o,
    output logic [CellBits-1:0] cell_freed_index_o,

    output logic                         release_valid_o,
    output logic         [QueueBits-1:0] release_queue_o,
    output logic                         release_high_o,
    output logic         [         15:0] release_cells_o,
    output leave_trace_t                 leave_o,

    output logic      [Dests-1:0]                    beat_valid_o,
    input  logic      [Dests-1:0]                    beat_ready_i,
    output logic      [Dests-1:0][      8*Bytes-1:0] beat_data_o,
    output logic      [Dests-1:0][ByteCountBits-1:0] beat_bytes_o,
    output logic      [Dests-1:0]                    beat_first_o,
    output logic      [Dests-1:0]                    beat_last_o,
    output sideband_t [Dests-1:0]                    beat_meta_o
);

  localparam int unsigned DestIndexBits = $clog2(Dests);
  localparam int unsigned OffsetBits = $clog2(Bytes);
  localparam int unsigned OutDepth = 16;

  // The copy in progress of each destination.
  logic [Dests-1:0] open_q, first_q;
  logic [Dests-1:0][CellBits-1:0] cell_q;
  logic [Dests-1:0][13:0] left_q;  // bytes not yet read
  sideband_t [Dests-1:0] meta_q;

  logic [Dests-1:0] want, room, grant;
  logic [DestIndexBits-1:0] dest;
  logic last;
  logic [13:0] left;
  sideband_t meta;

  // One cycle later.
  logic got_q, got_first_q, got_last_q;
  logic [DestIndexBits-1:0] got_dest_q;
  logic [CellBits-1:0] got_cell_q;
  logic [ByteCountBits-1:0] got_bytes_q;
  sideband_t got_meta_q;

  assign want = open_q & room;

  sluice_nic_slots #(
      .Ports (Cfg.ports),
      .Hosts (Cfg.hosts),
      .Period(HostSlotPeriod)
  ) u_slots (
      .clk_i,
      .rst_ni,
      .req_i  (want),
      .grant_o(grant),
      .index_o(dest),
      .valid_o(read_o)
  );

  assign meta = meta_q[dest];
  assign left = left_q[dest];
  assign last = left <= 14'(Bytes);
  // The link of the beat read in the cycle before has just arrived.
  assign read_cell_o = (got_q && got_dest_q == dest && !got_last_q) ? read_link_i : cell_q[dest];

  always_comb begin
    for (int unsigned d = 0; d < Dests; d++) copy_ready_o[d] = !open_q[d] || (grant[d] && last);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      open_q <= '0;
      got_q  <= 1'b0;
    end else begin
      got_q <= read_o;
      for (int unsigned d = 0; d < Dests; d++) if (copy_ready_o[d]) open_q[d] <= copy_valid_i[d];
    end
  end

  always_ff @(posedge clk_i) begin
    if (got_q && !got_last_q) cell_q[got_dest_q] <= read_link_i;
    for (int unsigned d = 0; d < Dests; d++) begin
      if (copy_ready_o[d]) begin
        cell_q[d]  <= copy_cell_i[d];
        left_q[d]  <= copy_meta_i[d].length;
        meta_q[d]  <= copy_meta_i[d];
        first_q[d] <= 1'b1;
      end else if (grant[d]) begin
        left_q[d]  <= left_q[d] - 14'(Bytes);
        first_q[d] <= 1'b0;
      end
    end
    got_first_q <= first_q[dest];
    got_last_q  <= last;
    got_dest_q  <= dest;
    got_cell_q  <= read_cell_o;
    got_bytes_q <= last ? ByteCountBits'(left) : ByteCountBits'(Bytes);
    got_meta_q  <= meta;
  end

  assign release_valid_o = read_o && last;
  assign release_queue_o = {dest, meta.module_id[ModuleIndexBits-1:0]};
  assign release_high_o = is_high(meta.egress_queue);
  assign release_cells_o = (16'(meta.length) + 16'(Bytes - 1)) >> OffsetBits;
  assign leave_o = '{id: meta.id, module_id: meta.module_id, destination: 3'(dest), length: meta.length};

  // Copies of each cell read so far; back-to-back reads of one cell see each other.
  logic [3:0] reads_ram, reads, reads_d, forward_q;
  logic [CellBits-1:0] forward_cell_q;
  logic forward_valid_q, all_read;

  sluice_ram_1r1w #(
      .Width(4),
      .Depth(Cfg.cells)
  ) u_reads (
      .clk_i,
      .wr_en_i  (got_q || clear_i),
      .wr_addr_i(clear_i ? clear_index_i : got_cell_q),
      .wr_data_i(clear_i ? '0 : reads_d),
      .rd_en_i  (read_o),
      .rd_addr_i(read_cell_o),
      .rd_data_o(reads_ram)
  );
  assign reads = ((forward_valid_q && forward_cell_q == got_cell_q) ? forward_q : reads_ram) + 4'd1;
  assign all_read = reads == read_copies_i;
  assign reads_d = all_read ? 4'd0 : reads;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) forward_valid_q <= 1'b0;
    else forward_valid_q <= got_q;
  end
  always_ff @(posedge clk_i) begin
    forward_q <= reads_d;
    forward_cell_q <= got_cell_q;
  end
  assign cell_freed_o = got_q && all_read;
  assign cell_freed_index_o = got_cell_q;

  for (genvar d = 0; d < Dests; d++) begin : gen_dest
    logic arrives, unused_ready;
    logic [$clog2(OutDepth+1)-1:0] level;

    assign arrives = got_q && 32'(got_dest_q) == d;
    assign room[d] = 32'(level) + 32'(arrives) < OutDepth;

    sluice_fifo #(
        .Width(8 * Bytes + ByteCountBits + 2 + SidebandBits),
        .Depth(OutDepth)
    ) u_beats (
        .clk_i,
        .rst_ni,
        .valid_i(arrives),
        .ready_o(unused_ready),
        .data_i ({read_data_i, got_bytes_q, got_first_q, got_last_q, got_meta_q}),
        .valid_o(beat_valid_o[d]),
        .ready_i(beat_ready_i[d]),
        .data_o ({beat_data_o[d], beat_bytes_o[d], beat_first_o[d], beat_last_o[d], beat_meta_o[d]}),
        .level_o(level)
    );

`ifndef SYNTHESIS
    BeatHasRoom_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !arrives || unused_ready);
`endif
  end

`ifndef SYNTHESIS
  // A property would copy the RAMs that it reads in every cycle.
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      NoCellIsReadMoreOftenThanItHasCopies_A : assert (!got_q || reads <= read_copies_i);
    end
  end
`endif

endmodule
