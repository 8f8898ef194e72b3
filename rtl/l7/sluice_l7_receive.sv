/// The receive side of the message table: which packet goes into which buffer, and when a message has ended (docs/design/l7.md, "Receive").
///
/// Three kinds of operations go through one pipeline, one a cycle: decided packets, packets that host memory has (`written_*`), and the pass over
/// all entries (`sweep_*`). Each reads what is known of its message (`known_t`, and `place_t` of its buffer), decides and writes it back.
/// 0: it is chosen, and memories are read; 1: the ring; 2: its descriptor, offsets; 3: verdict. An operation waits while one of the same message is in the
/// pipeline, and one that takes a descriptor while another may take one of the same ring.
/// A first packet whose ring has descriptors that have not been fetched yet waits aside, and so do later ones of its message; they are tried again in turn.
///
/// Out: every packet on `sorted_*`, in their order, and for one that is consumed an order in a queue of its own (`order_*`), not later; ended messages
/// with a buffer (`ended_*`); messages that are finished (`done_*`) or given up (`forget_*`); what counts for a ring (`event_*`), once.
///
/// `ticket_*`, one cycle: what is known of a packet, before it is decided. `hold_i`: no packet is taken; `quiet_o`: none is in the pipeline.
/// A clear forgets all messages.
/// Latency: 4 cycles. Throughput: an operation a cycle, of one message one in 4, of one ring's first packets one in 3. Stall behaviour:
/// packets wait for `sorted_*`, and all for `ended_*`, `done_*` and `forget_*`, which wait for nothing of this block.
module sluice_l7_receive
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Packets = 256,
    parameter int unsigned Entries = 2048,
    parameter int unsigned Rings = 256,
    parameter int unsigned MessagePackets = 64,  // of a message at most
    localparam int unsigned RingBits = $clog2(Rings),
    localparam int unsigned PlaceBits = $clog2(Entries)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic hold_i,
    output logic quiet_o,

    input logic                 clear_i,
    input logic [PlaceBits-1:0] clear_place_i,

    input logic                     ticket_valid_i,
    // "Bits of signal are not used": slots are numbered as for the largest target, and so are places.
    // verilator lint_off UNUSEDSIGNAL
    input logic       [TagBits-1:0] ticket_slot_i,
    // verilator lint_on UNUSEDSIGNAL
    input l7_ticket_t               ticket_i,

    input  logic        decided_valid_i,
    output logic        decided_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  l7_decided_t decided_i,
    // verilator lint_on UNUSEDSIGNAL

    input  logic        written_valid_i,
    output logic        written_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  l7_written_t written_i,
    // verilator lint_on UNUSEDSIGNAL

    input  logic                 sweep_valid_i,
    input  logic                 sweep_urgent_i,
    output logic                 sweep_ready_o,
    input  logic [PlaceBits-1:0] sweep_place_i,
    input  logic [L7AgeBits-1:0] now_i,

    output logic           [  RingBits-1:0] look_ring_o,
    input  logic                            look_now_i,         // there is a ring
    input  logic                            look_valid_i,       // a cycle later: there was one
    input  logic           [ModuleBits-1:0] look_module_i,
    input  logic                            look_free_i,
    input  logic                            look_soon_i,        // a descriptor has been posted and will be fetched
    input  logic           [          15:0] look_number_i,
    output logic           [  RingBits-1:0] descriptor_ring_o,  // with `look_number_i`
    input  l7_descriptor_t                  descriptor_i,       // a cycle later
    output logic                            take_valid_o,
    output logic           [  RingBits-1:0] take_ring_o,
    output logic           [          15:0] take_number_o,

    output logic       sorted_valid_o,
    input  logic       sorted_ready_i,
    output l7_sorted_t sorted_o,

    output logic      order_valid_o,
    input  logic      order_ready_i,
    output l7_order_t order_o,

    output logic      ended_valid_o,
    input  logic      ended_ready_i,
    output l7_ended_t ended_o,

    output logic     done_valid_o,
    input  logic     done_ready_i,
    output l7_done_t done_o,

    output logic     forget_valid_o,
    input  logic     forget_ready_i,
    output l7_done_t forget_o,

    output logic               event_valid_o,
    output l7_ring_trace_row_t event_o
);

  localparam int unsigned SlotBits = $clog2(Packets);
  localparam int unsigned NumberBits = (MessagePackets > 1) ? $clog2(MessagePackets) : 1;
  // Bytes of a message with its headers: so many packets of fewer bytes than the width of one says.
  localparam int unsigned MessageBits = LengthBits + NumberBits;
  localparam int unsigned Depth = 8;
  // What may come into a queue from the pipeline behind an operation that is chosen.
  localparam int unsigned Steps = 4;
  localparam int unsigned LevelBits = $clog2(Depth + 1);
  // A packet aside is tried in 2^AsideBits cycles.
  localparam int unsigned AsideBits = 3;

  if (MessagePackets < 1 || MessagePackets > L7MostPackets) begin : gen_bad_packets
    $fatal(1, "l7_receive: MessagePackets is %0d, expected 1 to %0d (%m)", MessagePackets, L7MostPackets);
  end

  // What becomes of a message's packets.
  typedef enum logic [1:0] {
    Frames,   // they leave as they came
    Waits,    // for a descriptor
    Dropped,  // for `kind`
    Buffer    // into its buffer
  } mode_e;

  // By the place of its entry.
  typedef struct packed {
    logic live;  // from its first packet on until it is finished or given up
    logic mark;
    logic [ModuleBits-1:0] module_id;
    mode_e mode;
    l7_event_e kind;
    logic [PacketsBits-1:0] packets;
    logic [MessagePackets-1:0] came;
    logic [TagBits:0] under_way;  // packets that wait aside, or that host memory does not have yet
    logic [LengthBits-1:0] chunk;
    logic [LengthBits-1:0] room;  // for the last packet
    logic [MessageBits-1:0] total;
    logic [L7AgeBits-1:0] last;
    logic [L7AgeBits-1:0] expiry;
  } known_t;
  typedef struct packed {
    logic [63:0] address;
    l7_sender_t  sender;
  } buffer_t;

  typedef enum logic [1:0] {
    Packet,
    Written,
    Sweep
  } kind_e;

  // ---------------------------------------------------------------------------------------------------------------
  // 0: one is chosen.

  // What an operation takes along.
  typedef struct packed {
    kind_e kind;
    logic entry;
    logic [PlaceBits-1:0] place;
    logic claims;  // it may take a descriptor
    logic [RingBits-1:0] ring;
    logic ring_exists;
    logic again;  // it has waited aside
    l7_decided_t decided;
  } op_t;
  op_t op, op1_q, op2_q;
  // "Bits of signal are not used": an operation travels whole.
  // verilator lint_off UNUSEDSIGNAL
  op_t op3_q;
  l7_written_t written1_q, written2_q, written3_q;
  // verilator lint_on UNUSEDSIGNAL
  logic goes, may_packet, may_claim, ring_exists, valid1_q, valid2_q, valid3_q, packet_turn_q;
  logic same_ring, room_ends, room_packet, takes_packet, takes_written, takes_sweep, packet_ok;
  logic [4:0][LevelBits-1:0] level;
  // "Bits of signal are not used": slots are numbered as for the largest target, and so are places.
  // verilator lint_off UNUSEDSIGNAL
  l7_decided_t packet, aside;
  // verilator lint_on UNUSEDSIGNAL
  logic aside_valid, aside_turn, takes_aside, packet_valid;
  logic [AsideBits:0] aside_wait_q;

  // Those aside are not tried all the time.
  assign aside_turn = aside_valid && aside_wait_q[AsideBits];
  assign packet = aside_turn ? aside : decided_i;
  assign packet_valid = aside_turn || decided_valid_i;

  // Of each kind: who is in the pipeline is compared with all of them before one is chosen.
  logic [2:0] same;
  function automatic logic in_pipeline(logic entry, logic [PlaceBits-1:0] place);
    return entry && ((valid1_q && op1_q.entry && op1_q.place == place) ||
        (valid2_q && op2_q.entry && op2_q.place == place) || (valid3_q && op3_q.entry && op3_q.place == place));
  endfunction

  assign ring_exists = 9'(packet.decision.queue_id) < 9'(Rings);
  assign may_claim = !packet.decision.drop && !packet.repeated && (!packet.member.valid || packet.member.begins) &&
      ring_exists;

  always_comb begin
    same[Packet] = in_pipeline(packet.member.valid, packet.member.place[PlaceBits-1:0]);
    same[Written] = in_pipeline(written_i.entry, written_i.place[PlaceBits-1:0]);
    same[Sweep] = in_pipeline(1'b1, sweep_place_i);
    op = '0;
    op.decided = packet;
    op.ring = packet.decision.queue_id[RingBits-1:0];
    op.ring_exists = ring_exists;
    if (sweep_valid_i && (sweep_urgent_i || (!packet_valid && !written_valid_i))) begin
      op.kind  = Sweep;
      op.entry = 1'b1;
      op.place = sweep_place_i;
    end else if (written_valid_i && !(packet_valid && packet_turn_q && packet_ok)) begin
      op.kind  = Written;
      op.entry = written_i.entry;
      op.place = written_i.place[PlaceBits-1:0];
    end else begin
      op.kind   = Packet;
      op.entry  = packet.member.valid;
      op.place  = packet.member.place[PlaceBits-1:0];
      op.again  = aside_turn;
      op.claims = may_claim && look_now_i;
    end
  end

  // A ring that is not there is nobody's in the pipeline: so this need not know whether it is.
  assign same_ring = may_claim &&
      ((valid1_q && op1_q.claims && op1_q.ring == op.ring) || (valid2_q && op2_q.claims && op2_q.ring == op.ring));
  assign room_packet = level[0] <= LevelBits'(Depth - Steps) && level[1] <= LevelBits'(Depth - Steps);
  assign room_ends = level[2] <= LevelBits'(Depth - Steps) && level[3] <= LevelBits'(Depth - Steps) &&
      level[4] <= LevelBits'(Depth - Steps);
  assign packet_ok = room_packet && !hold_i;

  assign goes = room_ends && !clear_i;
  assign may_packet = goes && op.kind == Packet && packet_ok && !same[Packet] && !same_ring;
  assign takes_packet = may_packet && packet_valid;
  assign takes_aside = takes_packet && aside_turn;
  assign takes_written = goes && op.kind == Written && !same[Written];
  assign takes_sweep = goes && op.kind == Sweep && !same[Sweep];
  assign decided_ready_o = may_packet && !aside_turn;
  assign written_ready_o = takes_written;
  assign sweep_ready_o = takes_sweep;
  assign look_ring_o = op.ring;
  assign quiet_o = !valid1_q && !valid2_q && !valid3_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid1_q      <= 1'b0;
      valid2_q      <= 1'b0;
      valid3_q      <= 1'b0;
      packet_turn_q <= 1'b0;
      aside_wait_q  <= '0;
    end else begin
      if (takes_aside) aside_wait_q <= '0;
      else if (!aside_wait_q[AsideBits]) aside_wait_q <= aside_wait_q + (AsideBits + 1)'(1);
      valid1_q <= takes_packet || takes_written || takes_sweep;
      valid2_q <= valid1_q;
      valid3_q <= valid2_q;
      if (takes_packet) packet_turn_q <= 1'b0;
      if (takes_written) packet_turn_q <= 1'b1;
    end
    op1_q <= op;
    op2_q <= op1_q;
    op3_q <= op2_q;
    written1_q <= written_i;
    written2_q <= written1_q;
    written3_q <= written2_q;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 1: what is known of the packet, its message and its ring. One multiplication gives the offset of a later packet, and of a first one that of its
  // message's last.

  l7_ticket_t ticket1, ticket2_q;
  // "Bits of signal are not used": a ticket travels whole.
  // verilator lint_off UNUSEDSIGNAL
  l7_ticket_t ticket3_q;
  // verilator lint_on UNUSEDSIGNAL
  known_t known1, known2_q, known3_q, known_next;
  buffer_t buffer1, buffer2_q, buffer3_q, buffer_next;
  logic write, write_buffer;
  logic [NumberBits-1:0] factor1;
  logic [LengthBits-1:0] chunk1;
  logic mine2_q, ring2_q, free2_q, soon2_q, mine3_q, ring3_q, free3_q, soon3_q;
  logic [15:0] number2_q, number3_q;
  logic [MessageBits-1:0] offset2_q, offset3_q;

  sluice_ram_1r1w #(
      .Width   ($bits(l7_ticket_t)),
      .Depth   (Packets),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_tickets (
      .clk_i,
      .wr_en_i  (ticket_valid_i),
      .wr_addr_i(ticket_slot_i[SlotBits-1:0]),
      .wr_data_i(ticket_i),
      .rd_en_i  (1'b1),
      .rd_addr_i(packet.slot[SlotBits-1:0]),
      .rd_data_o(ticket1)
  );
  sluice_ram_1r1w #(
      .Width   ($bits(known_t)),
      .Depth   (Entries),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_known (
      .clk_i,
      .wr_en_i  (write || clear_i),
      .wr_addr_i(clear_i ? clear_place_i : op3_q.place),
      .wr_data_i(clear_i ? '0 : known_next),
      .rd_en_i  (1'b1),
      .rd_addr_i(op.place),
      .rd_data_o(known1)
  );
  sluice_ram_1r1w #(
      .Width   ($bits(buffer_t)),
      .Depth   (Entries),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_buffers (
      .clk_i,
      .wr_en_i  (write_buffer),
      .wr_addr_i(op3_q.place),
      .wr_data_i(buffer_next),
      .rd_en_i  (1'b1),
      .rd_addr_i(op.place),
      .rd_data_o(buffer1)
  );

  // Of a packet its own one, and of its message those that there are not.
  logic [MessagePackets-1:0] this2_q, known_beyond2_q;

  assign factor1 = op1_q.claims ? NumberBits'(ticket1.packets - PacketsBits'(1)) : ticket1.number[NumberBits-1:0];
  assign chunk1 = op1_q.claims ? ticket1.payload : known1.chunk;
  assign descriptor_ring_o = op1_q.ring;

  always_ff @(posedge clk_i) begin
    ticket2_q <= ticket1;
    this2_q <= MessagePackets'(1) << ticket1.number;
    known_beyond2_q <= ~({MessagePackets{1'b1}} >> (PacketsBits'(MessagePackets) - known1.packets));
    known2_q <= known1;
    buffer2_q <= buffer1;
    offset2_q <= MessageBits'(factor1) * MessageBits'(chunk1);
    ring2_q <= look_valid_i && op1_q.ring_exists;
    mine2_q <= look_module_i == ticket1.module_id;
    free2_q <= look_free_i;
    soon2_q <= look_soon_i;
    number2_q <= look_number_i;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 2: the descriptor; which packets are there.

  // "Bits of signal are not used": its length goes on cut to what a message may have.
  // verilator lint_off UNUSEDSIGNAL
  l7_descriptor_t descriptor3_q;
  // verilator lint_on UNUSEDSIGNAL
  logic [MessageBits-1:0] length2, part2, needs2, needs3_q;
  // Of which room is left, or not enough is there.
  logic [MessageBits:0] room2, room3_q;
  logic [MessagePackets-1:0] came2, before2, beyond2, came3_q;
  logic dup3_q, all3_q, aged3_q, last3_q, last2, chunk_ok3_q, room_ok3_q;
  // Under way: with one more, with one less; none, only one.
  logic [TagBits:0] more3_q, less3_q;
  logic none3_q, one3_q;
  logic [L7AgeBits-1:0] age2;
  logic begins2;
  logic [L7AgeBits-1:0] expiry2;

  assign length2 = (descriptor_i.length > 32'(2 ** MessageBits - 1)) ? '1 : descriptor_i.length[MessageBits-1:0];
  // Headers, and all of the payload but that of the last packet of several.
  assign part2 = MessageBits'(ticket2_q.length) -
      ((ticket2_q.packets == PacketsBits'(1)) ? '0 : MessageBits'(ticket2_q.payload));
  assign needs2 = offset2_q + part2;
  assign room2 = {1'b0, length2} - {1'b0, needs2};
  assign begins2 = op2_q.kind == Packet && op2_q.decided.member.begins;
  assign before2 = begins2 ? '0 : known2_q.came;
  assign came2 = before2 | ((op2_q.kind == Packet) ? this2_q : '0);
  // One that begins a message is the first of it, and all only if there is no other.
  assign beyond2 = !begins2 ? known_beyond2_q : (ticket2_q.packets == PacketsBits'(1)) ? '1 : '0;
  assign last2 = ticket2_q.number + PacketsBits'(1) == ticket2_q.packets;
  assign age2 = now_i - known2_q.last;
  always_comb begin
    expiry2 = ticket2_q.expiry;
    if (ticket2_q.expiry == '0) expiry2 = L7AgeBits'(L7DefaultExpiry);
    if (ticket2_q.expiry > L7AgeBits'(L7MostExpiry)) expiry2 = L7AgeBits'(L7MostExpiry);
  end

  always_ff @(posedge clk_i) begin
    ticket3_q <= ticket2_q;
    ticket3_q.expiry <= expiry2;
    known3_q <= known2_q;
    buffer3_q <= buffer2_q;
    offset3_q <= offset2_q;
    ring3_q <= ring2_q;
    mine3_q <= mine2_q;
    free3_q <= free2_q;
    soon3_q <= soon2_q;
    number3_q <= number2_q;
    descriptor3_q <= descriptor_i;
    room3_q <= room2;
    needs3_q <= needs2;
    came3_q <= came2;
    dup3_q <= |(before2 & this2_q);
    all3_q <= &(came2 | beyond2);
    aged3_q <= age2 > known2_q.expiry;
    chunk_ok3_q <= ticket2_q.payload == known2_q.chunk;
    room_ok3_q <= ticket2_q.payload <= known2_q.room;
    more3_q <= known2_q.under_way + (TagBits + 1)'(1);
    less3_q <= known2_q.under_way - (TagBits + 1)'(1);
    none3_q <= known2_q.under_way == '0;
    one3_q <= known2_q.under_way == (TagBits + 1)'(1);
    last3_q <= last2;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // 3: verdict.

  // What becomes of the packet.
  typedef enum logic [1:0] {
    AsFrame,
    AsDrop,
    AsWrite,
    AsWait
  } fate_e;
  fate_e fate;
  l7_event_e why;
  logic
      is_packet,
      is_written,
      is_sweep,
      begins,
      starts,
      none_free,
      empty,
      counts,
      fits,
      later_ok,
      ends,
      expires,
      finishes,
      forgets,
      lost,
      joins,
      nobody,
      moves;
  logic [TagBits:0] stays;
  l7_sender_t sender;
  mode_e mode;

  assign is_packet = valid3_q && op3_q.kind == Packet;
  assign is_written = valid3_q && op3_q.kind == Written;
  assign is_sweep = valid3_q && op3_q.kind == Sweep;
  assign begins = op3_q.decided.member.begins;
  assign fits = !room3_q[MessageBits];
  // Of a message that has a buffer.
  assign later_ok = last3_q ? room_ok3_q : chunk_ok3_q;
  assign empty = !begins && op3_q.entry && ticket3_q.payload == '0;

  always_comb begin
    fate = AsFrame;
    why = op3_q.decided.decision.kind;
    starts = 1'b0;
    none_free = 1'b0;
    if (op3_q.decided.decision.drop) begin
      fate = AsDrop;
    end else if (op3_q.decided.repeated) begin
      if (ring3_q) {fate, why} = {AsDrop, L7EventL7Duplicate};
    end else if (op3_q.entry && !begins) begin
      unique case (known3_q.mode)
        Frames:  fate = AsFrame;
        Waits:   fate = AsWait;
        Dropped: {fate, why} = {AsDrop, known3_q.kind};
        default: begin
          fate = AsWrite;
          if (dup3_q) {fate, why} = {AsDrop, L7EventL7Duplicate};
          else if (!later_ok) {fate, why} = {AsDrop, L7EventL7Malformed};
        end
      endcase
    end else if (ring3_q) begin
      if (mine3_q && !free3_q && soon3_q) begin
        fate = AsWait;
      end else if (!mine3_q || !free3_q) begin
        {fate, why} = {AsDrop, L7EventL7NoDescriptor};
        none_free   = 1'b1;
      end else if (!fits) begin
        {fate, why} = {AsDrop, L7EventL7Malformed};
      end else begin
        fate   = AsWrite;
        starts = 1'b1;
      end
    end
  end

  always_comb begin
    unique case (fate)
      AsFrame: mode = Frames;
      AsWrite: mode = Buffer;
      AsWait:  mode = Waits;
      default: mode = Dropped;
    endcase
  end
  // It counts for its message: not while it waits.
  assign counts = is_packet && op3_q.entry && fate != AsWait &&
      (begins || (known3_q.live && (known3_q.mode != Buffer || fate == AsWrite)));
  // It is not aside any more, and maybe again, or on its way.
  assign joins = fate == AsWait || (counts && fate == AsWrite && !empty);
  always_comb begin
    unique case ({
      op3_q.again, joins
    })
      2'b01:   {nobody, stays} = {1'b0, begins ? (TagBits + 1)'(1) : more3_q};
      2'b10:   {nobody, stays} = {one3_q, less3_q};
      2'b11:   {nobody, stays} = {none3_q, known3_q.under_way};
      default: {nobody, stays} = begins ? {1'b1, (TagBits + 1)'(0)} : {none3_q, known3_q.under_way};
    endcase
    if (is_written) {nobody, stays} = {one3_q, less3_q};
  end
  assign moves = is_packet && op3_q.entry && (op3_q.again || fate == AsWait);

  always_comb begin
    known_next = known3_q;
    if (is_packet) begin
      known_next.under_way = stays;
      if (begins) begin
        known_next.live = 1'b1;
        known_next.came = '0;
        known_next.mark = op3_q.decided.member.mark;
        known_next.module_id = ticket3_q.module_id;
        known_next.mode = mode;
        known_next.kind = why;
        known_next.packets = ticket3_q.packets;
        known_next.chunk = ticket3_q.payload;
        // Of several packets: what is left for the last one.
        known_next.room = (|room3_q[MessageBits-1:LengthBits]) ? '1 : room3_q[LengthBits-1:0];
        known_next.expiry = ticket3_q.expiry;
        known_next.total = needs3_q;
      end else if (counts && known3_q.mode == Buffer && last3_q) begin
        known_next.total = known3_q.total + MessageBits'(ticket3_q.payload);
      end
      if (counts) begin
        known_next.came = came3_q;
        if (!dup3_q) known_next.last = now_i;
      end
    end
    if (is_written) known_next.under_way = stays;
    // Whole, or a message that had no buffer.
    lost = known_next.mode == Dropped && known_next.kind == L7EventL7NoDescriptor;
    finishes = known_next.live && all3_q && nobody && !lost && (counts || (is_written && op3_q.entry));
    expires = is_sweep && known3_q.live && none3_q && aged3_q;
    // When none of its packets waits aside any more.
    forgets = is_packet && op3_q.entry && known_next.live && nobody && lost;
    if (finishes || forgets || expires) known_next.live = 1'b0;
    if (expires) begin
      known_next.mode = Dropped;
      known_next.kind = L7EventL7NoFirst;
    end
  end
  assign write = counts || moves || (is_written && op3_q.entry) || expires;

  always_comb begin
    sender = '{
        ring: op3_q.decided.decision.queue_id,
        cookie: descriptor3_q.cookie,
        source: ticket3_q.source,
        port: ticket3_q.port,
        session: ticket3_q.session,
        message: ticket3_q.message,
        application: ticket3_q.application,
        message_type: ticket3_q.message_type,
        packets: ticket3_q.packets
    };
    buffer_next = '{address: descriptor3_q.address, sender: sender};
  end
  assign write_buffer = is_packet && op3_q.entry && starts;
  assign take_valid_o = is_packet && starts;
  assign take_ring_o = op3_q.ring;
  assign take_number_o = number3_q;
  assign ends = (is_written && !op3_q.entry) || (finishes && known_next.mode == Buffer);

  // ---------------------------------------------------------------------------------------------------------------
  // Out.

  l7_sorted_t sorted;
  l7_order_t  order;
  l7_ended_t  ended;
  l7_done_t   over;
  logic consumes, put_order, put_ended, put_done, put_forget;
  logic [4:0] unused_ready;

  assign consumes = fate == AsWrite;
  always_comb begin
    sorted = '{
        slot: op3_q.decided.slot,
        decision: '{
            drop: fate == AsDrop,
            kind: (fate == AsDrop) ? why : L7EventL7Rule,
            queue_id: (fate == AsDrop) ? '0 : op3_q.decided.decision.queue_id
        },
        fault: op3_q.decided.fault,
        consumed: consumes
    };
    order = '{
        address: starts ? descriptor3_q.address : buffer3_q.address + 64'(L7HeaderBytes) + 64'(offset3_q),
        length: starts ? ticket3_q.length : ticket3_q.payload,
        empty: !starts && ticket3_q.payload == '0,
        later: !starts,
        entry: op3_q.entry,
        place: EntryBits'(op3_q.place),
        sender: sender
    };
    ended = '{sender: buffer3_q.sender, status: L7StatusWhole, length: TotalBits'(known_next.total)};
    if (is_written && !op3_q.entry) begin
      ended.sender = written3_q.sender;
      ended.length = TotalBits'(written3_q.length);
    end
    if (expires) begin
      ended.status = L7StatusExpired;
      ended.length = '0;
    end
    over = '{place: EntryBits'(op3_q.place), mark: known_next.mark, module_id: known_next.module_id};
  end
  assign put_order  = is_packet && consumes;
  assign put_ended  = ends || (expires && known3_q.mode == Buffer);
  assign put_done   = finishes;
  assign put_forget = expires || forgets;

  sluice_fifo #(
      .Width($bits(l7_sorted_t)),
      .Depth(Depth)
  ) u_sorted (
      .clk_i,
      .rst_ni,
      .valid_i(is_packet && fate != AsWait),
      .ready_o(unused_ready[0]),
      .data_i (sorted),
      .valid_o(sorted_valid_o),
      .ready_i(sorted_ready_i),
      .data_o (sorted_o),
      .level_o(level[0])
  );
  sluice_fifo #(
      .Width($bits(l7_order_t)),
      .Depth(Depth)
  ) u_orders (
      .clk_i,
      .rst_ni,
      .valid_i(put_order),
      .ready_o(unused_ready[1]),
      .data_i (order),
      .valid_o(order_valid_o),
      .ready_i(order_ready_i),
      .data_o (order_o),
      .level_o(level[1])
  );
  sluice_fifo #(
      .Width($bits(l7_ended_t)),
      .Depth(Depth)
  ) u_ended (
      .clk_i,
      .rst_ni,
      .valid_i(put_ended),
      .ready_o(unused_ready[2]),
      .data_i (ended),
      .valid_o(ended_valid_o),
      .ready_i(ended_ready_i),
      .data_o (ended_o),
      .level_o(level[2])
  );
  sluice_fifo #(
      .Width($bits(l7_done_t)),
      .Depth(Depth)
  ) u_done (
      .clk_i,
      .rst_ni,
      .valid_i(put_done),
      .ready_o(unused_ready[3]),
      .data_i (over),
      .valid_o(done_valid_o),
      .ready_i(done_ready_i),
      .data_o (done_o),
      .level_o(level[3])
  );
  sluice_fifo #(
      .Width($bits(l7_done_t)),
      .Depth(Depth)
  ) u_forget (
      .clk_i,
      .rst_ni,
      .valid_i(put_forget),
      .ready_o(unused_ready[4]),
      .data_i (over),
      .valid_o(forget_valid_o),
      .ready_i(forget_ready_i),
      .data_o (forget_o),
      .level_o(level[4])
  );

  // Every slot has a place.
  logic aside_room;
  logic [$clog2(Packets+1)-1:0] unused_aside;
  sluice_fifo_ram #(
      .Width($bits(l7_decided_t)),
      .Depth(Packets)
  ) u_aside (
      .clk_i,
      .rst_ni,
      .valid_i(is_packet && fate == AsWait),
      .ready_o(aside_room),
      .data_i (op3_q.decided),
      .valid_o(aside_valid),
      .ready_i(takes_aside),
      .data_o (aside),
      .level_o(unused_aside)
  );

  // An operation is one of these at most; a first packet is never whole at once.
  always_ff @(posedge clk_i) begin
    event_valid_o <= rst_ni && (put_ended || (is_packet && (starts || (none_free && mine3_q))));
    event_o.ring <= put_ended ? ended.sender.ring : op3_q.decided.decision.queue_id;
    event_o.cookie <= put_ended ? ended.sender.cookie : starts ? descriptor3_q.cookie : '0;
    event_o.kind <= put_ended ? (expires ? L7RingEventExpired : L7RingEventWhole) :
        starts ? L7RingEventStarted : L7RingEventNoDescriptor;
  end

`ifndef SYNTHESIS
  QueuesHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) (!is_packet || unused_ready[0]) && (!put_order || unused_ready[1]) &&
      (!is_packet || aside_room) && (!put_ended || unused_ready[2]) && (!put_done || unused_ready[3]) && (!put_forget || unused_ready[4]));
  OneEventAnOperation_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(put_ended && is_packet && (starts || none_free)));
  AMessageThatIsWrittenIsThere_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(is_written && op3_q.entry) || (known3_q.live && known3_q.under_way != '0));
`endif

endmodule
