/// The message table: a message keeps the decision of its first packet, and its later packets follow it.
///
/// Packets end here (`end_*`) in the order in which they came; verdicts of the matchers come in any order, also before their packet's end.
/// - `L7WayDirect`: it has its decision.
/// - `L7WayAlone`: its verdict decides.
/// - `L7WayFirst`: it begins a message, and its verdict decides for the message. Where the message has an entry, its own verdict has to say what
///   the entry does, else it is dropped (`l7_conflict`, and `l7_malformed` where its fields are); it is waited for in any case, for the slot is the
///   matchers' until then.
/// - `L7WayLater`: it follows its message's entry, and waits for it; without an entry it is dropped (`l7_no_first`).
/// A wrong UDP checksum drops a packet, and the table does not see it. A message that finds no entry is dropped (`l7_no_state`), and a packet
/// that says another number of packets than its message's first (`l7_malformed`). What comes of a message's packets, and when it is
/// finished (`done_*`) or given up (`forget_*`), says sluice_l7_receive; entries: sluice_l7_places.
///
/// `begin_*`, one cycle, before a packet's end and its verdict: a slot gets a packet. Packets that wait for a message are a list that begins
/// with its first one; they are decided in their order, one in 2 cycles.
///
/// Latency: 1 cycle for direct ones, 5 from the end of the others; 2 from a verdict to the decision of its packet. Throughput: a packet a
/// cycle; of messages one in 2 cycles; a verdict a cycle, of messages one in 2 cycles. Stall behaviour: `end_ready_o` and
/// `verdict_ready_o` wait for nothing outside, for every slot has its place in the queue of decisions. A verdict that has to wait is held
/// here, so `verdict_ready_o` is a register.
module sluice_l7_messages
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Modules  = 64,
    parameter int unsigned Packets  = 256,
    parameter int unsigned Messages = 512,
    parameter int unsigned Entries  = 2048
) (
    input logic clk_i,
    input logic rst_ni,

    // "Bits of signal are not used": slots are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input logic               begin_valid_i,
    input logic [TagBits-1:0] begin_slot_i,
    input logic               begin_job_i,

    input  logic    end_valid_i,
    output logic    end_ready_o,
    input  l7_end_t end_i,

    input  logic        verdict_valid_i,
    output logic        verdict_ready_o,
    input  l7_verdict_t verdict_i,
    // verilator lint_on UNUSEDSIGNAL

    output logic        decided_valid_o,
    input  logic        decided_ready_i,
    output l7_decided_t decided_o,

    input  logic     done_valid_i,
    output logic     done_ready_o,
    input  l7_done_t done_i,
    input  logic     forget_valid_i,
    output logic     forget_ready_o,
    input  l7_done_t forget_i,

    output logic                 forgot_valid_o,
    output l7_forget_trace_row_t forgot_o,

    input  logic     cfg_valid_i,
    input  cfg_req_t cfg_req_i,
    output logic     cfg_valid_o,
    output cfg_rsp_t cfg_rsp_o
);

  localparam int unsigned SlotBits = $clog2(Packets);
  localparam int unsigned PlaceBits = $clog2(Entries);
  localparam int unsigned DecisionBits = $bits(l7_decision_t);

  typedef logic [SlotBits-1:0] slot_t;
  typedef logic [PlaceBits-1:0] place_t;

  // A message, by the place of its entry.
  typedef struct packed {
    logic                   mark;
    logic [PacketsBits-1:0] packets;
    logic                   decided;
    l7_decision_t           decision;
    slot_t                  tail;      // of those that wait
  } message_t;

  // What a verdict means for its slot, once the packet has ended and is in the table.
  typedef enum logic [1:0] {
    Owner,    // it decides for the message at `place`
    Chained,  // nothing: the packet waits for its message
    Settled,  // the packet goes now, by `decision`
    Judged    // the packet goes now, by `decision` if that is the verdict's too
  } meaning_e;
  typedef struct packed {
    meaning_e meaning;
    place_t place;
    l7_decision_t decision;
  } meaning_t;

  localparam l7_decision_t BadChecksum = '{drop: 1'b1, kind: L7EventL7Checksum, queue_id: '0};
  localparam l7_decision_t NoFirst = '{drop: 1'b1, kind: L7EventL7NoFirst, queue_id: '0};
  localparam l7_decision_t NoState = '{drop: 1'b1, kind: L7EventL7NoState, queue_id: '0};
  localparam l7_decision_t Malformed = '{drop: 1'b1, kind: L7EventL7Malformed, queue_id: '0};
  localparam l7_decision_t Conflict = '{drop: 1'b1, kind: L7EventL7Conflict, queue_id: '0};

  // Of a repeated first packet, by what its own verdict says and what its message's entry does.
  function automatic l7_decision_t judged(l7_decision_t own, l7_decision_t entry);
    return (own == Malformed) ? Malformed : (own == entry) ? entry : Conflict;
  endfunction

  // What a verdict decides, and whether it counts as a fault.
  typedef struct packed {
    logic fault;
    l7_decision_t decision;
  } ruling_t;
  logic held_q, verdict_here;
  // "Bits of signal are not used": slots are numbered as for the largest target, and steps are charged elsewhere.
  // verilator lint_off UNUSEDSIGNAL
  l7_verdict_t verdict, verdict_q;
  // verilator lint_on UNUSEDSIGNAL
  ruling_t ruling;

  assign verdict_ready_o = !held_q;
  assign verdict_here = verdict_valid_i || held_q;
  assign verdict = held_q ? verdict_q : verdict_i;
  always_comb begin
    ruling.fault = verdict.fault && !verdict.malformed;
    ruling.decision = verdict.malformed ? Malformed : '{
        drop: verdict.drop,
        kind: L7EventL7Rule,
        queue_id: verdict.drop ? 8'd0 : verdict.queue_id
    };
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What is known of slots. `job`: there will be a verdict. `got`: it is here. `joined`: the packet waits for it alone, and is `bad` or not.
  // `tabled`: the packet is in the table.

  logic
      end_alone,
      end_table,
      end_bad_job,
      op_valid,
      op_ready,
      direct_valid,
      end_joins,
      end_taken,
      found_valid,
      verdict_taken;
  slot_t begin_slot, end_slot, verdict_slot, found_slot, walk_slot_q;
  logic end_job, end_got, found_job, found_got, walk_job, walk_got, joined, tabled, bad;

  assign begin_slot   = begin_slot_i[SlotBits-1:0];
  assign end_slot     = end_i.slot[SlotBits-1:0];
  assign verdict_slot = verdict.tag[SlotBits-1:0];

  sluice_ram_lut #(
      .Width    (1),
      .Depth    (Packets),
      .ReadPorts(3),
      .InitZero (1'b0)
  ) u_jobs (
      .clk_i,
      .we_i   (begin_valid_i),
      .waddr_i(begin_slot),
      .wdata_i(begin_job_i),
      .raddr_i({walk_slot_q, found_slot, end_slot}),
      .rdata_o({walk_job, found_job, end_job})
  );
  sluice_l7_marks #(
      .Slots    (Packets),
      .ReadPorts(3)
  ) u_got (
      .clk_i,
      .clear_i     (begin_valid_i),
      .clear_slot_i(begin_slot),
      .set_i       (verdict_taken),
      .set_slot_i  (verdict_slot),
      .slot_i      ({walk_slot_q, found_slot, end_slot}),
      .set_o       ({walk_got, found_got, end_got})
  );
  sluice_l7_marks #(
      .Slots(Packets)
  ) u_joined (
      .clk_i,
      .clear_i     (begin_valid_i),
      .clear_slot_i(begin_slot),
      .set_i       (end_joins),
      .set_slot_i  (end_slot),
      .slot_i      (verdict_slot),
      .set_o       (joined)
  );
  sluice_l7_marks #(
      .Slots(Packets)
  ) u_tabled (
      .clk_i,
      .clear_i     (begin_valid_i),
      .clear_slot_i(begin_slot),
      .set_i       (found_valid),
      .set_slot_i  (found_slot),
      .slot_i      (verdict_slot),
      .set_o       (tabled)
  );
  sluice_ram_lut #(
      .Width   (1),
      .Depth   (Packets),
      .InitZero(1'b0)
  ) u_bad (
      .clk_i,
      .we_i   (end_joins),
      .waddr_i(end_slot),
      .wdata_i(end_i.bad),
      .raddr_i(verdict_slot),
      .rdata_o(bad)
  );

  // ---------------------------------------------------------------------------------------------------------------
  // Packets that end. Those of messages search for their entry, the others go at once, or when their verdict comes.

  l7_decided_t direct;
  ruling_t end_ruling;

  assign end_bad_job = end_i.bad && end_job;
  assign end_alone   = end_i.packet.way == L7WayAlone || end_bad_job;
  assign end_table   = !end_i.bad && (end_i.packet.way == L7WayFirst || end_i.packet.way == L7WayLater);
  assign op_valid    = end_valid_i && end_table;
  assign end_ready_o = !end_table || op_ready;
  assign end_taken   = end_valid_i && end_ready_o;
  assign end_joins   = end_taken && end_alone && !end_got;
  assign direct_valid = end_taken && !end_table && (!end_alone || end_got);

  always_comb begin
    direct = '{slot: end_i.slot, decision: end_i.packet.decision, fault: 1'b0, member: '0, repeated: 1'b0};
    if (end_alone) {direct.fault, direct.decision} = end_ruling;
    if (end_i.bad) {direct.fault, direct.decision} = {1'b0, BadChecksum};
  end

  logic hit, placed, mark;
  // "Bits of signal are not used": an operation travels whole.
  // verilator lint_off UNUSEDSIGNAL
  l7_end_t found;
  // verilator lint_on UNUSEDSIGNAL
  place_t  found_place;

  sluice_l7_places #(
      .Modules (Modules),
      .Messages(Messages),
      .Entries (Entries)
  ) u_places (
      .clk_i,
      .rst_ni,
      .op_valid_i   (op_valid),
      .op_ready_o   (op_ready),
      .op_i         (end_i),
      .found_valid_o(found_valid),
      .found_op_o   (found),
      .hit_o        (hit),
      .placed_o     (placed),
      .place_o      (found_place),
      .mark_o       (mark),
      .done_valid_i,
      .done_ready_o,
      .done_i,
      .forget_valid_i,
      .forget_ready_o,
      .forget_i,
      .forgot_valid_o,
      .forgot_o,
      .cfg_valid_i,
      .cfg_req_i,
      .cfg_valid_o,
      .cfg_rsp_o
  );
  assign found_slot = found.slot[SlotBits-1:0];

  // ---------------------------------------------------------------------------------------------------------------
  // One operation a cycle: a packet that has searched, else a step of a list of waiting packets, else a verdict.

  typedef enum logic [1:0] {
    Nothing,
    Follow,  // a packet joins a message that is there
    Enter,   // a message begins
    Walk     // the next of those that wait is decided
  } act_e;

  // The second half of an operation.
  act_e act_q;
  logic second_q, push_q, first_q, needs_q, owner_q, repeat_q, judges_q;
  slot_t slot_q;
  place_t place_q;
  logic [PacketsBits-1:0] packets_q;
  logic mark_q;
  ruling_t ruling_q;
  l7_decision_t own_q;

  // A list that is walked.
  logic walk_q, walk_first_q, walk_goes;
  place_t   walk_place_q;
  ruling_t  walk_ruling_q;

  meaning_t meaning;
  ruling_t  found_ruling;
  // "Bits of signal are not used": faults of repeats do not count.
  // verilator lint_off UNUSEDSIGNAL
  ruling_t  walk_ruling;
  // verilator lint_on UNUSEDSIGNAL
  logic verdict_waits, verdict_bad, verdict_alone, starts_walk, verdict_settled;
  logic walk_step;

  // What the operation before has not written yet is waited for, and so is a packet's end in this cycle.
  assign verdict_waits = found_valid || walk_q || (second_q && slot_q == verdict_slot) ||
      (end_valid_i && end_slot == verdict_slot);
  assign verdict_taken = verdict_here && !verdict_waits;
  assign verdict_bad = verdict_taken && joined && bad;
  assign verdict_alone = verdict_taken && joined && !bad;
  assign verdict_settled = verdict_taken && tabled && (meaning.meaning == Settled || meaning.meaning == Judged);
  assign starts_walk = verdict_taken && tabled && meaning.meaning == Owner;

  always_ff @(posedge clk_i) begin
    held_q    <= rst_ni && verdict_here && verdict_waits;
    verdict_q <= verdict;
  end

  // Each step waits for the one before, which says who is next.
  assign walk_step = walk_q && !found_valid && !(second_q && act_q == Walk);

  place_t read_place;
  assign read_place = found_valid ? found_place : walk_place_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      second_q <= 1'b0;
      push_q   <= 1'b0;
      act_q    <= Nothing;
    end else begin
      second_q <= found_valid || walk_step || verdict_bad || verdict_alone || verdict_settled;
      push_q   <= 1'b0;
      act_q    <= Nothing;
      if (found_valid) begin
        if (hit) act_q <= Follow;
        else if (placed) act_q <= Enter;
        // Without an entry it goes now, or when its verdict is there.
        else
          push_q <= !found_job || found_got;
      end else if (walk_step) begin
        act_q <= Walk;
      end else begin
        push_q <= verdict_bad || verdict_alone || verdict_settled;
      end
    end
    slot_q <= found_valid ? found_slot : walk_step ? walk_slot_q : verdict_slot;
    place_q <= read_place;
    first_q <= found.packet.way == L7WayFirst;
    // Those of messages with an entry that have a verdict of their own.
    repeat_q <= found_valid ? found.packet.way == L7WayFirst : walk_step ? walk_job : verdict_settled;
    // Its verdict has not come: it keeps its slot.
    needs_q <= walk_step ? (walk_job && !walk_got) : (found_job && !found_got);
    // One that repeats a first packet, with a verdict of its own.
    judges_q  <= found_valid ? (found.packet.way == L7WayFirst && found_job && found_got) :
        (!walk_first_q && walk_job && walk_got);
    own_q <= found_valid ? found_ruling.decision : walk_ruling.decision;
    owner_q <= walk_first_q;
    packets_q <= found.packet.packets;
    mark_q <= mark;
    if (found_valid) begin
      ruling_q <= (hit || placed) ? found_ruling : '{
          fault: 1'b0,
          decision: (found.packet.way == L7WayFirst) ? NoState : NoFirst
      };
    end else if (walk_step) begin
      ruling_q <= '{fault: walk_ruling_q.fault && walk_first_q, decision: walk_ruling_q.decision};
    end else begin
      ruling_q <= verdict_bad ?
      '{fault: 1'b0, decision: BadChecksum}
      : verdict_settled ?
      '{
          fault: 1'b0,
          decision: (meaning.meaning == Judged) ? judged(ruling.decision, meaning.decision) : meaning.decision
      }
      : ruling;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Second half: the message is read, changed and written.

  message_t read, message, written_q, message_now;
  logic written_again_q, write, rejects, pushes, chains, settles, last_of_list;
  place_t written_place_q;
  l7_decided_t pushed;
  logic fault;

  sluice_ram_1r1w #(
      .Width   ($bits(message_t)),
      .Depth   (Entries),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_messages (
      .clk_i,
      .wr_en_i  (write),
      .wr_addr_i(place_q),
      .wr_data_i(message_now),
      .rd_en_i  (found_valid || walk_step),
      .rd_addr_i(read_place),
      .rd_data_o(read)
  );
  // A read in the cycle of a write has the word as it was.
  assign message = (written_again_q && written_place_q == place_q) ? written_q : read;
  always_ff @(posedge clk_i) begin
    written_again_q <= write;
    written_place_q <= place_q;
    written_q       <= message_now;
  end

  assign rejects = act_q == Follow && message.packets != packets_q;
  assign last_of_list = slot_q == message.tail;

  always_comb begin
    message_now = message;
    unique case (act_q)
      Enter: begin
        message_now = '{
            mark: mark_q,
            packets: packets_q,
            decided: !needs_q,
            decision: ruling_q.decision,
            tail: slot_q
        };
      end
      Follow:  message_now.tail = slot_q;
      Walk: begin
        message_now.decided  = 1'b1;
        message_now.decision = ruling_q.decision;
      end
      default: ;
    endcase
  end

  // A packet behind the message's first waits while that is not decided.
  assign chains = second_q && act_q == Follow && !rejects && !message.decided;
  assign write = (second_q && act_q == Enter) || chains || (second_q && act_q == Walk && last_of_list);
  assign walk_goes = second_q && act_q == Walk && !last_of_list;

  // Who goes, and who goes when his verdict is there.
  always_comb begin
    pushes = push_q;
    settles = second_q && act_q == Nothing && !push_q;
    fault = ruling_q.fault;
    pushed = '{slot: TagBits'(slot_q), decision: ruling_q.decision, fault: 1'b0, member: '0, repeated: repeat_q};
    pushed.member.place = EntryBits'(place_q);
    pushed.member.mark = message_now.mark;
    unique case (act_q)
      Enter: begin
        pushes = !needs_q;
        pushed.member.valid = 1'b1;
        pushed.member.begins = 1'b1;
        pushed.repeated = 1'b0;
      end
      Follow: begin
        fault = 1'b0;
        pushed.decision = rejects ? Malformed : judges_q ? judged(own_q, message.decision) : message.decision;
        pushed.member.valid = !rejects && !repeat_q;
        pushes = !needs_q && (rejects || message.decided);
        settles = needs_q && (rejects || message.decided);
      end
      Walk: begin
        if (judges_q) pushed.decision = judged(own_q, ruling_q.decision);
        pushed.member.valid = owner_q || !repeat_q;
        pushed.member.begins = owner_q;
        pushed.repeated = repeat_q && !owner_q;
        pushes = !needs_q || owner_q;
        settles = needs_q && !owner_q;
      end
      default: ;
    endcase
    pushed.fault = fault;
    if (!second_q) {pushes, settles} = '0;
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Lists, meanings, verdicts that came before their packet's turn.

  slot_t next;
  sluice_ram_lut #(
      .Width   (SlotBits),
      .Depth   (Packets),
      .InitZero(1'b0)
  ) u_links (
      .clk_i,
      .we_i   (chains),
      .waddr_i(message.tail),
      .wdata_i(slot_q),
      .raddr_i(slot_q),
      .rdata_o(next)
  );

  meaning_t meaning_in;
  always_comb begin
    meaning_in = '{meaning: Settled, place: place_q, decision: pushed.decision};
    if (act_q == Enter) meaning_in.meaning = Owner;
    if ((act_q == Follow && !rejects) || act_q == Walk) meaning_in.meaning = Judged;
    if (chains) meaning_in.meaning = Chained;
  end
  sluice_ram_lut #(
      .Width   ($bits(meaning_t)),
      .Depth   (Packets),
      .InitZero(1'b0)
  ) u_meanings (
      .clk_i,
      .we_i   (second_q && (settles || chains || act_q == Enter)),
      .waddr_i(slot_q),
      .wdata_i(meaning_in),
      .raddr_i(verdict_slot),
      .rdata_o(meaning)
  );

  sluice_ram_lut #(
      .Width    (1 + DecisionBits),
      .Depth    (Packets),
      .ReadPorts(3),
      .InitZero (1'b0)
  ) u_rulings (
      .clk_i,
      .we_i   (verdict_taken),
      .waddr_i(verdict_slot),
      .wdata_i(ruling),
      .raddr_i({walk_slot_q, found_slot, end_slot}),
      .rdata_o({walk_ruling, found_ruling, end_ruling})
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      walk_q <= 1'b0;
    end else begin
      if (starts_walk) walk_q <= 1'b1;
      if (second_q && act_q == Walk && last_of_list) walk_q <= 1'b0;
    end
    if (starts_walk) begin
      walk_first_q  <= 1'b1;
      walk_slot_q   <= verdict_slot;
      walk_place_q  <= meaning.place;
      walk_ruling_q <= ruling;
    end else if (walk_goes) begin
      walk_first_q <= 1'b0;
      walk_slot_q  <= next;
    end
  end

  sluice_l7_decisions #(
      .Packets(Packets)
  ) u_decisions (
      .clk_i,
      .rst_ni,
      .direct_valid_i(direct_valid),
      .direct_i      (direct),
      .table_valid_i (pushes),
      .table_i       (pushed),
      .m_valid_o     (decided_valid_o),
      .m_ready_i     (decided_ready_i),
      .m_o           (decided_o)
  );

`ifndef SYNTHESIS
  logic [Packets-1:0] due_q;
  always_ff @(posedge clk_i) begin
    if (verdict_taken) due_q[verdict_slot] <= 1'b0;
    if (begin_valid_i) due_q[begin_slot] <= begin_job_i;
  end
  AVerdictComesOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !verdict_taken || due_q[verdict_slot]);
  OnlyFirstPacketsHaveVerdictsToWaitFor_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !(second_q && act_q == Enter) || first_q);
`endif

endmodule
