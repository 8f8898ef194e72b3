/// Sends a core's packets on as their programs said, and gives their places back.
///
/// A slot is written by `slot_*` with its packet's last beat in; one with a program waits until `end_*` has said its verdict, and each while
/// somebody of its flow is before it (`waits_i`). The others leave in turns; one whose turn comes while the one before it has its own (`soon_i`)
/// waits for that one's verdict. The interfaces of its module and generation come in the
/// cycle behind `look_valid_o`.
///
/// | verdict | what |
/// | --- | --- |
/// | aborted, or none of these | dropped, `xdp_aborted` |
/// | drop | dropped, `xdp_drop` |
/// | pass | where its program's row says, else where the engine before has sent it |
/// | transmit | to the port that it came from |
/// | redirect | to the destination of that interface, or to the one or several that a map names |
///
/// What goes where its module may not send is dropped as `no_destination`; a frame that has become longer than the NIC takes as
/// `xdp_too_long`. Verdict, token and cost come once a packet (`verdict_valid_o` holds), before its first beat. Where a packet goes is known a cycle
/// before it may leave, so that a verdict is a short path to whoever hears of it.
///
/// Latency: 7 cycles from the end of the program to the first window out. Throughput: a packet in 2 cycles, or in as many as it has beats
/// while the read port is free, and one more where the program moved the frame's start off a word of 8 bytes. Stall behaviour: waits for the
/// read port and its output; `read_valid_o` holds with its value.
module sluice_xdp_unload
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_xdp_rows_pkg::*;
  import sluice_xdp_pkg::*;
  import sluice_xdp_room_pkg::*;
  import sluice_xdp_streams_pkg::*;
#(
    parameter int unsigned Slots = 32,
    parameter int unsigned Modules = 64,
    localparam int unsigned SlotBits = $clog2(Slots),
    localparam int unsigned LookBits = $clog2(2 * Modules)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                     slot_valid_i,
    input logic      [SlotBits-1:0] slot_i,
    input xdp_slot_t                slot_data_i,
    // One without a program waits until it ends.
    input logic                     slot_waits_i,

    input logic     end_valid_i,
    // "Bits of signal are not used": slots are numbered as for the largest memory.
    // verilator lint_off UNUSEDSIGNAL
    input xdp_end_t end_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic                               look_valid_o,
    output logic                [LookBits-1:0] look_index_o,
    input  xdp_interfaces_row_t                interfaces_i,

    // Slots whose packets wait for others of their flow.
    input  logic [   Slots-1:0] waits_i,
    input  logic [   Slots-1:0] soon_i,
    // It will leave before all others of its core.
    output logic                near_valid_o,
    output logic [SlotBits-1:0] near_slot_o,

    output logic                   read_valid_o,
    input  logic                   read_ready_i,
    output xdp_place_t             read_place_o,
    input  logic       [7:0][63:0] columns_i,

    output logic         window_valid_o,
    input  logic         window_ready_i,
    output logic         window_last_o,
    output logic [511:0] window_o,

    // A slot that is free again, and memory.
    output logic      [SlotBits-1:0] left_slot_o,
    output xdp_back_t                back_o,

    output logic                           verdict_valid_o,
    input  logic                           verdict_ready_i,
    output logic           [ SlotBits-1:0] verdict_slot_o,
    output token_t                         leave_o,
    output verdict_trace_t                 verdict_o,
    output cost_t                          cost_o,
    // With the verdict: how its frame leaves, unless it is dropped.
    output xdp_judged_t                    leaving_o,
    input  logic           [ClockBits-1:0] now_i,
    output logic                           ran_o,
    output xdp_outcome_t                   outcome_o,
    output logic                           generation_o,
    output logic           [ClockBits-1:0] waited_o,

    output logic waiting_o
);

  // Windows that wait for their turn.
  localparam int unsigned Windows = 4;

  typedef enum logic [1:0] {
    Idle,
    Look,  // slot, result and interfaces are there: where it goes
    Judge
  } state_e;

  // Slots that are ready to leave, in turns.
  logic [Slots-1:0] done_q, leaves, unused_chosen;
  logic [SlotBits-1:0] head, head_q;
  logic head_valid, judged, chooses;
  xdp_slot_t slot;
  // "Bits of signal are not used": the slot's number is the head's, metadata is not sent.
  // verilator lint_off UNUSEDSIGNAL
  xdp_end_t ended;
  xdp_bounds_t bounds;
  // verilator lint_on UNUSEDSIGNAL
  state_e state_q;

  // In block RAM: what is read of the one that is chosen stays until the next one is.
  sluice_ram_1r1w #(
      .Width   ($bits(xdp_slot_t)),
      .Depth   (Slots),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_slots (
      .clk_i,
      .wr_en_i  (slot_valid_i),
      .wr_addr_i(slot_i),
      .wr_data_i(slot_data_i),
      .rd_en_i  (chooses),
      .rd_addr_i(head),
      .rd_data_o(slot)
  );
  sluice_ram_1r1w #(
      .Width   ($bits(xdp_end_t)),
      .Depth   (Slots),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_ends (
      .clk_i,
      .wr_en_i  (end_valid_i),
      .wr_addr_i(end_i.slot[SlotBits-1:0]),
      .wr_data_i(end_i),
      .rd_en_i  (chooses),
      .rd_addr_i(head),
      .rd_data_o(ended)
  );
  // Whose interfaces are read meanwhile.
  sluice_ram_lut #(
      .Width(LookBits),
      .Depth(Slots)
  ) u_looks (
      .clk_i,
      .we_i   (slot_valid_i),
      .waddr_i(slot_i),
      .wdata_i({slot_data_i.side.module_id[LookBits-2:0], slot_data_i.side.generation}),
      .raddr_i(head),
      .rdata_o(look_index_o)
  );

  // The one that is judged is not chosen again.
  assign chooses = state_q == Idle || judged;
  always_comb begin
    leaves = done_q & (~waits_i | soon_i);
    if (state_q == Judge) leaves[head_q] = 1'b0;
  end
  sluice_arb_rr #(
      .Requests(Slots)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (leaves),
      .advance_i(chooses),
      .grant_o  (unused_chosen),
      .index_o  (head),
      .valid_o  (head_valid)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_q <= '0;
    end else begin
      if (slot_valid_i) done_q[slot_i] <= !slot_data_i.has_program && !slot_waits_i;
      if (end_valid_i) done_q[end_i.slot[SlotBits-1:0]] <= 1'b1;
      if (judged) done_q[head_q] <= 1'b0;
    end
  end

  // Where it goes.
  typedef struct packed {
    logic                goes_on;
    logic                drops;
    reason_e             reason;
    logic [DestBits-1:0] mask;
  } judgement_t;
  judgement_t found, judgement_q;
  logic [OffsetBits-1:0] length;
  logic [DestBits-1:0] wanted, mask;
  logic goes_on, drops;
  reason_e reason;
  logic sending_ready, sender_ready;

  assign bounds = slot.has_program ? ended.bounds : '{
          meta: OffsetBits'(Headroom),
          data: OffsetBits'(Headroom),
          past: slot.past
      };
  assign length = bounds.past - bounds.data;

  always_comb begin
    wanted = '0;
    case (ended.verdict)
      3'(VerdictPass): wanted[slot.pass] = 1'b1;
      3'(VerdictTx):   wanted = DestBits'(9'd1 << slot.side.id[31:28]);
      default: begin
        for (int unsigned d = 0; d < DestBits; d++) begin
          wanted[d] = ended.redirected && (ended.to_host ? ended.ifindex[3:0] == 4'(d) :
              ended.ifindex != '0 && interfaces_i.ifindex[d] == ended.ifindex);
        end
        // The lowest one.
        wanted = wanted & (~wanted + DestBits'(1));
        if (ended.redirected && ended.to_host && ended.ifindex[ToSeveral]) begin
          wanted = ended.ifindex[15:8];
          if (ended.ifindex[ToSeveral+1]) wanted = wanted & ~DestBits'(9'd1 << slot.side.id[31:28]);
        end
      end
    endcase
    found = '{
        goes_on: !slot.has_program || (ended.verdict == 3'(VerdictPass) && !slot.pass_valid),
        drops: slot.broken,
        reason: ReasonXdpAborted,
        mask: wanted & slot.granted
    };
    if (slot.has_program) begin
      case (ended.verdict)
        3'(VerdictAborted): found.drops = 1'b1;
        3'(VerdictDrop): begin
          found.drops  = 1'b1;
          found.reason = ReasonXdpDrop;
        end
        default: begin
          if (!found.goes_on && found.mask == '0) begin
            found.drops  = 1'b1;
            found.reason = ReasonNoDestination;
          end else if (15'(length) + (slot.side.tag_off ? 15'(TagBytes) : 15'd0) > 15'(MaxFrameBytes)) begin
            found.drops  = 1'b1;
            found.reason = ReasonXdpTooLong;
          end
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Idle;
    end else begin
      case (state_q)
        Idle: if (head_valid) state_q <= Look;
        Look: state_q <= Judge;
        default: if (judged) state_q <= head_valid ? Look : Idle;
      endcase
    end
    if (chooses) head_q <= head;
    if (state_q == Look) judgement_q <= found;
  end
  assign goes_on = judgement_q.goes_on;
  assign drops = judgement_q.drops;
  assign reason = judgement_q.reason;
  assign mask = judgement_q.mask;

  // Of whoever is chosen next: nobody reads what came for another one.
  assign look_valid_o = state_q != Look;
  assign verdict_valid_o = state_q == Judge && !waits_i[head_q] && (drops || (sending_ready && sender_ready));
  assign judged = verdict_valid_o && verdict_ready_i;
  assign verdict_slot_o = head_q;
  assign near_valid_o = chooses && head_valid;
  assign near_slot_o = head;

  assign leave_o = slot.token;
  assign cost_o = slot.has_program ? ended.cost : '0;
  assign ran_o = slot.has_program;
  assign outcome_o = ended.outcome;
  assign generation_o = slot.side.generation;
  // From its program's end to its turn.
  assign waited_o = now_i - ended.ended;
  assign verdict_o = '{
          destinations: drops ? '0 : goes_on ? slot.route.destinations : mask,
          reason: drops ? reason : reason_e'('0),
          dropped: drops,
          module_id: slot.side.module_id,
          id: slot.side.id
      };

  // Sending: windows of 64 bytes from the frame's first word on. One frame more may wait for the read port, so that whether the last
  // window of the one before is read now decides nothing.
  // What it had of the memory.
  typedef struct packed {
    xdp_room_t             room;
    logic [ModuleBits-1:0] module_id;
    logic [8:0]            rows;
  } xdp_had_t;
  typedef struct packed {
    logic [RowBits-1:0]    base;
    xdp_had_t              had;
    logic [OffsetBits-1:0] offset;
    logic [8:0]            windows;
  } sent_t;

  sent_t judged_frame, next_q, sent_frame_q;
  logic next_valid_q;
  // "Bits of signal are not used": whether it might have borrowed.
  // verilator lint_off UNUSEDSIGNAL
  xdp_had_t judged_had, done_had_q, freed_q;
  // verilator lint_on UNUSEDSIGNAL
  logic granted, sent, sent_q, idle, arrives_q, last_arrives_q, window_room, windows_ready;
  logic [$clog2(Windows+1)-1:0] window_level;

  assign judged_had = '{room: slot.room, module_id: slot.side.module_id, rows: slot.rows};
  assign judged_frame = '{
          base: slot.base,
          had: judged_had,
          offset: {bounds.data[OffsetBits-1:3], 3'd0},
          windows: 9'((15'(length) + 15'd63) >> 6) + 9'(bounds.data[2:0] != '0)
      };
  assign sender_ready = !next_valid_q;
  // One whose place has not come back yet has its registers: places of sent frames are two cycles apart at least.
  assign read_valid_o = sent_frame_q.windows != '0 && window_room && !(sent_q && sent_frame_q.windows == 9'd1);
  assign read_place_o = place_of(sent_frame_q.base, sent_frame_q.offset);
  assign granted = read_valid_o && read_ready_i;
  // The last window is read.
  assign sent = granted && sent_frame_q.windows == 9'd1;
  assign idle = sent_frame_q.windows == '0 || sent;
  // One may be under way.
  assign window_room = window_level < ($clog2(Windows + 1))'(Windows - 1);

  // A slot comes back behind its verdict, and a dropped packet's place; a sent one's behind its last window, and a cycle later if the other's does.
  logic left_valid_q, left_own_q, free_valid_q;
  always_ff @(posedge clk_i) begin
    left_valid_q <= judged && rst_ni;
    left_own_q   <= slot.room.own;
    left_slot_o  <= head_q;
    free_valid_q <= (sent_q || (judged && drops)) && rst_ni;
    freed_q      <= (judged && drops) ? judged_had : done_had_q;
  end
  assign back_o = '{
          left_valid: left_valid_q,
          left_own: left_own_q,
          free_valid: free_valid_q,
          own: freed_q.room.own,
          module_id: freed_q.module_id,
          bay: freed_q.room.bay,
          place: freed_q.room.place,
          rows: freed_q.rows
      };

  always_ff @(posedge clk_i) begin
    if (granted) begin
      sent_frame_q.offset  <= sent_frame_q.offset + OffsetBits'(64);
      sent_frame_q.windows <= sent_frame_q.windows - 9'd1;
    end
    if (idle && (next_valid_q || (judged && !drops))) sent_frame_q <= next_valid_q ? next_q : judged_frame;
    if (!next_valid_q) next_q <= judged_frame;
    if (sent) done_had_q <= sent_frame_q.had;
    last_arrives_q <= sent_frame_q.windows == 9'd1;
    if (!rst_ni) begin
      sent_frame_q.windows <= '0;
      next_valid_q         <= 1'b0;
      sent_q               <= 1'b0;
      arrives_q            <= 1'b0;
    end else begin
      next_valid_q <= !idle && (next_valid_q || (judged && !drops));
      sent_q       <= sent || (sent_q && judged && drops);
      arrives_q    <= granted;
    end
  end

  sluice_fifo #(
      .Width(512 + 1),
      .Depth(Windows)
  ) u_windows (
      .clk_i,
      .rst_ni,
      .valid_i(arrives_q),
      .ready_o(windows_ready),
      .data_i ({last_arrives_q, columns_i}),
      .valid_o(window_valid_o),
      .ready_i(window_ready_i),
      .data_o ({window_last_o, window_o}),
      .level_o(window_level)
  );

  sideband_t side;
  logic leaves_all;
  logic [$clog2(Sending+1)-1:0] sending_q;
  always_comb begin
    side = slot.side;
    side.length = length;
  end
  assign leaving_o = '{
          frame: '{side: side, route: slot.route, turn: bounds.data[5:0], tail: length[5:0]},
          goes_on: goes_on,
          mask: mask
      };

  // Frames with a verdict that have not left.
  assign leaves_all = window_valid_o && window_ready_i && window_last_o;
  assign sending_ready = sending_q != ($clog2(Sending + 1))'(Sending);
  always_ff @(posedge clk_i) begin
    if (!rst_ni) sending_q <= '0;
    else sending_q <= sending_q + ($clog2(Sending + 1))'(judged && !drops) - ($clog2(Sending + 1))'(leaves_all);
  end

  // What has a slot, its load knows.
  assign waiting_o = sending_q != '0;

`ifndef SYNTHESIS
  WindowsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !arrives_q || windows_ready);
  ProgramsEndOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !end_valid_i || !done_q[end_i.slot[SlotBits-1:0]]);
  PlacesComeBackOneByOne_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(sent && sent_q && judged && drops));
`endif

endmodule
