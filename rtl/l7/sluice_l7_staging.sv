/// The staging buffer: packets wait here for their decision, and leave in the order of decisions.
///
/// In: a packet reserves its room before it is sent here (`ask_i`, `take_i`: sluice_l7_shares), in the order in which packets come; at most
/// `Ahead` have done so and have not come. One that is not staged gives its room back when it comes (`unstaged_i`).
/// In a cycle with `room_o`, where a slot is free, `admit_i` gives the packet of `side_i` the slot `slot_o`, which stands until the next admission. Its beats come with `put_i` in cycles with `ready_o`; the last
/// one has to be there before the packet is decided.
/// Out: `decided_*` says what becomes of the packet in a slot. One that is not dropped leaves on `m_*`, with its queue, or for host memory
/// (`m_consumed_o`). Each has a record, with
/// its last beat to `m_*` or when it is thrown away; then its slot is free.
/// Which modules have room of their own: sluice_l7_shares.
///
/// Latency: 3 cycles from a decision to the first beat out, when idle. Throughput: a beat a cycle in and out, no cycle between packets.
/// Stall behaviour: a packet that leaves waits for `m_ready_i` and `record_ready_i`, and those behind it. Nothing waits for `decided_*` here.
module sluice_l7_staging
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Bytes   = 64,
    parameter int unsigned Modules = 64,
    parameter int unsigned Packets = 256,
    parameter int unsigned Beats   = 1024,
    parameter int unsigned Ahead   = 16
) (
    input logic clk_i,
    input logic rst_ni,

    input  room_ask_t  ask_i,
    input  room_take_t take_i,
    output room_t      room_answer_o,
    input  logic       unstaged_i,

    output logic                   room_o,
    input  logic                   admit_i,
    output logic     [TagBits-1:0] slot_o,
    input  logic                   put_i,
    output logic                   ready_o,
    input  logic     [8*Bytes-1:0] data_i,
    input  logic     [  Bytes-1:0] keep_i,
    input  logic                   first_i,
    input  l7_side_t               side_i,

    input  logic       decided_valid_i,
    output logic       decided_ready_o,
    // "Bits of signal are not used": slots are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input  l7_sorted_t decided_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic                   m_valid_o,
    input  logic                   m_ready_i,
    output logic     [8*Bytes-1:0] m_data_o,
    output logic     [  Bytes-1:0] m_keep_o,
    output logic                   m_last_o,
    output l7_side_t               m_side_o,
    output logic     [        7:0] m_queue_o,
    output logic                   m_consumed_o,

    output logic       record_valid_o,
    input  logic       record_ready_i,
    output l7_record_t record_o,

    output logic empty_o,

    input  logic [$clog2(Modules)-1:0] weight_index_i,
    output logic [               15:0] weight_o,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned IndexBits = $clog2(Modules);
  localparam int unsigned SlotBits = $clog2(Packets);
  localparam int unsigned CellBits = $clog2(Beats);
  localparam int unsigned ByteBits = $clog2(Bytes);
  localparam int unsigned MostBeats = (MaxFrameBytes + Bytes - 1) / Bytes;

  typedef logic [CellBits-1:0] cell_t;
  typedef struct packed {
    l7_side_t side;
    beat_count_t beats;
    logic own;
    cell_t head;
  } packet_t;

  if (2 ** CellBits != Beats) begin : gen_bad_beats
    $fatal(1, "l7_staging: Beats is %0d, expected a power of two (%m)", Beats);
  end
  if (2 ** SlotBits != Packets || SlotBits > TagBits) begin : gen_bad_packets
    $fatal(1, "l7_staging: Packets is %0d, expected a power of two up to %0d (%m)", Packets, 2 ** TagBits);
  end

  // ---------------------------------------------------------------------------------------------------------------
  // In: a slot a packet, a cell a beat. A cell's link is written when the next one is known.

  logic own, own_now, own_q, slot_valid, cell_valid, back;
  beat_count_t beats;
  logic [SlotBits-1:0] free_slot, slot_q, slot;
  cell_t free_cell, before_q;
  packet_t packet_in, packet_out;
  // "Bits of signal are not used": the first cell is known when it is read.
  // verilator lint_off UNUSEDSIGNAL
  packet_t packet_q;
  // verilator lint_on UNUSEDSIGNAL

  assign beats = beats_of(side_i.side.length, ByteBits);
  assign room_o = slot_valid;
  assign slot = admit_i ? free_slot : slot_q;
  assign slot_o = TagBits'(slot);
  assign own_now = admit_i ? own : own_q;
  assign ready_o = cell_valid;
  assign packet_in = '{side: side_i, beats: beats, own: own_now, head: free_cell};

  always_ff @(posedge clk_i) begin
    if (admit_i) begin
      slot_q <= free_slot;
      own_q  <= own;
    end
    if (put_i) before_q <= free_cell;
  end

  logic leave;
  logic [SlotBits-1:0] leave_slot;

  // Whose room it is, of packets that have reserved it and have not come.
  logic ahead_ready, ahead_valid;
  logic [$clog2(Ahead+1)-1:0] unused_ahead_level;

  sluice_fifo #(
      .Width(1),
      .Depth(Ahead)
  ) u_ahead (
      .clk_i,
      .rst_ni,
      .valid_i(take_i.valid),
      .ready_o(ahead_ready),
      .data_i (take_i.own),
      .valid_o(ahead_valid),
      .ready_i(admit_i || unstaged_i),
      .data_o (own),
      .level_o(unused_ahead_level)
  );

  // Room comes back a cycle later: nobody's turn waits for that.
  logic [1:0] back_valid_q, back_own_q;
  logic [1:0][IndexBits-1:0] back_module_q;
  beat_count_t [1:0] back_beats_q;
  always_ff @(posedge clk_i) begin
    back_valid_q <= rst_ni ? {unstaged_i, leave} : '0;
    back_module_q <= {side_i.side.module_id[IndexBits-1:0], packet_q.side.side.module_id[IndexBits-1:0]};
    back_beats_q <= {beats, packet_q.beats};
    back_own_q <= {own, packet_q.own};
  end

  sluice_l7_shares #(
      .Modules(Modules),
      .Packets(Packets),
      .Beats(Beats),
      .MostBeats(MostBeats)
  ) u_shares (
      .clk_i,
      .rst_ni,
      .ask_i,
      .take_i,
      .room_o(room_answer_o),
      .back_valid_i(back_valid_q),
      .back_module_i(back_module_q),
      .back_beats_i(back_beats_q),
      .back_own_i(back_own_q),
      .empty_o,
      .weight_index_i,
      .weight_o,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o
  );

  sluice_l7_slots #(
      .Slots(Packets)
  ) u_slots (
      .clk_i,
      .rst_ni,
      .valid_o    (slot_valid),
      .slot_o     (free_slot),
      .take_i     (admit_i),
      .back_i     (leave),
      .back_slot_i(leave_slot)
  );

  cell_t cell_q, cell_next;
  sluice_l7_slots #(
      .Slots(Beats)
  ) u_cells (
      .clk_i,
      .rst_ni,
      .valid_o    (cell_valid),
      .slot_o     (free_cell),
      .take_i     (put_i),
      .back_i     (back),
      .back_slot_i(cell_q)
  );

  sluice_ram_lut #(
      .Width   (CellBits),
      .Depth   (Beats),
      .InitZero(1'b0)
  ) u_links (
      .clk_i,
      .we_i   (put_i && !first_i),
      .waddr_i(before_q),
      .wdata_i(free_cell),
      .raddr_i(cell_q),
      .rdata_o(cell_next)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Out: a decision is fetched with its packet, then its cells are read or given back one after the other.

  logic fetched_q, fetch, turn, busy_q, sends, last, step, beat_valid_q, beat_room;
  l7_decision_t decision_q;
  logic fault_q, consumed_q, fetched_consumed_q;
  beat_count_t left_q;
  logic [SlotBits-1:0] slot_out_q, fetched_slot_q;
  l7_decision_t fetched_decision_q;
  logic fetched_fault_q;

  assign turn = !busy_q || (step && last);
  assign fetch = decided_valid_i && (!fetched_q || turn);
  assign decided_ready_o = !fetched_q || turn;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fetched_q <= 1'b0;
      busy_q    <= 1'b0;
    end else begin
      if (decided_ready_o) fetched_q <= decided_valid_i;
      if (turn) busy_q <= fetched_q;
    end
    if (fetch) begin
      fetched_decision_q <= decided_i.decision;
      fetched_fault_q <= decided_i.fault;
      fetched_consumed_q <= decided_i.consumed;
      fetched_slot_q <= decided_i.slot[SlotBits-1:0];
    end
    if (turn) begin
      decision_q <= fetched_decision_q;
      fault_q    <= fetched_fault_q;
      consumed_q <= fetched_consumed_q;
      slot_out_q <= fetched_slot_q;
      packet_q   <= packet_out;
      cell_q     <= packet_out.head;
      left_q     <= packet_out.beats;
    end else if (step) begin
      cell_q <= cell_next;
      left_q <= left_q - beat_count_t'(1);
    end
  end

  sluice_ram_1r1w #(
      .Width   ($bits(packet_t)),
      .Depth   (Packets),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_packets (
      .clk_i,
      .wr_en_i  (put_i && first_i),
      .wr_addr_i(slot),
      .wr_data_i(packet_in),
      .rd_en_i  (fetch),
      .rd_addr_i(decided_i.slot[SlotBits-1:0]),
      .rd_data_o(packet_out)
  );

  assign sends = busy_q && !decision_q.drop;
  assign last = left_q == beat_count_t'(1);
  assign beat_room = !beat_valid_q || m_ready_i;
  assign step = busy_q && (!sends || beat_room) && (!last || record_ready_i);
  assign back = step;
  assign leave = step && last;
  assign leave_slot = slot_out_q;

  sluice_ram_1r1w #(
      .Width   (9 * Bytes),
      .Depth   (Beats),
      .InitZero(1'b0)
  ) u_beats (
      .clk_i,
      .wr_en_i  (put_i),
      .wr_addr_i(free_cell),
      .wr_data_i({keep_i, data_i}),
      .rd_en_i  (step && sends),
      .rd_addr_i(cell_q),
      .rd_data_o({m_keep_o, m_data_o})
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) beat_valid_q <= 1'b0;
    else if (beat_room) beat_valid_q <= step && sends;
    if (step && sends) begin
      m_last_o <= last;
      m_side_o <= packet_q.side;
      m_queue_o <= decision_q.queue_id;
      m_consumed_o <= consumed_q;
    end
  end
  assign m_valid_o = beat_valid_q;

  assign record_valid_o = busy_q && last && (!sends || beat_room);
  always_comb begin
    record_o.token = packet_q.side.token;
    record_o.length = packet_q.side.side.length;
    record_o.trace = '{
        id: packet_q.side.side.id,
        module_id: packet_q.side.side.module_id,
        message: 1'b1,
        dropped: decision_q.drop,
        kind: decision_q.drop ? decision_q.kind : L7EventL7Malformed,
        queue_id: decision_q.drop ? '0 : decision_q.queue_id,
        fault: fault_q,
        consumed: consumed_q
    };
  end

`ifndef SYNTHESIS
  BeatsComeWhereThereIsAPlace_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put_i || cell_valid);
  RoomIsReservedFirst_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (!take_i.valid || ahead_ready) && (!(admit_i || unstaged_i) || ahead_valid));
  RecordsHold_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) record_valid_o && !record_ready_i |=> record_valid_o);
`endif

endmodule
