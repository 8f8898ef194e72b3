/// Descriptors: fetched for each ring before they are needed.
///
/// A ring is looked at when its doorbell rings (`wake_*`) and when a descriptor of it is taken (`take_*`). Descriptors are fetched in groups as they lie in
/// memory, one beat each, into `Prefetch` places a ring; a group that was posted in parts is read again. Reads come back in any order and
/// count in the order in which they were asked.
///
/// `look_*`: the descriptor of a ring with a number, a cycle later; sluice_l7_rings says whether it is there.
/// `hold_i`: no read begins; `quiet_o`: none is under way.
///
/// Latency: 6 cycles from a wake to the read. Throughput: a read in 3 cycles, of one ring one in 4. Stall behaviour: reads wait for `m_ready_i`; answers are always taken.
module sluice_l7_descriptors
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter int unsigned Rings = 256,
    parameter int unsigned Prefetch = 8,
    parameter int unsigned Reads = 16,
    localparam int unsigned RingBits = $clog2(Rings)
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic hold_i,
    output logic quiet_o,

    input logic                wake_valid_i,
    input logic [RingBits-1:0] wake_ring_i,
    input logic                take_valid_i,
    input logic [RingBits-1:0] take_ring_i,

    input  logic           [RingBits-1:0] look_ring_i,
    // "Bits of signal are not used": a place has the number's lowest bits.
    // verilator lint_off UNUSEDSIGNAL
    input  logic           [        15:0] look_number_i,
    // verilator lint_on UNUSEDSIGNAL
    output l7_descriptor_t                look_o,

    output logic [RingBits-1:0] fetch_ring_o,
    input  logic                fetch_valid_i,
    input  logic [         3:0] fetch_log_i,
    input  logic [        15:0] fetch_posted_i,
    input  logic [        15:0] fetch_asked_i,
    // "Bits of signal are not used": places are given back by groups.
    // verilator lint_off UNUSEDSIGNAL
    input  logic [        15:0] fetch_taken_i,
    // verilator lint_on UNUSEDSIGNAL
    input  logic [        63:0] fetch_address_i,  // a cycle later
    output logic                ask_valid_o,
    output logic [        15:0] ask_number_o,
    output logic                commit_valid_o,
    output logic [RingBits-1:0] commit_ring_o,
    output logic [        15:0] commit_number_o,

    output logic    m_valid_o,
    input  logic    m_ready_i,
    output l7_dma_t m_desc_o,

    input logic                  s_valid_i,
    // "Bits of signal are not used": tags are as wide as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input logic [DmaTagBits-1:0] s_tag_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic [   8*Bytes-1:0] s_data_i
);

  localparam int unsigned Group = Bytes / L7DescriptorBytes;
  localparam int unsigned LaneBits = $clog2(Group);
  localparam int unsigned Groups = Prefetch / Group;
  localparam int unsigned GroupBits = (Groups > 1) ? $clog2(Groups) : 1;
  localparam int unsigned ReadBits = $clog2(Reads);
  localparam int unsigned PartBits = RingBits / 2;
  localparam int unsigned Parts = 2 ** PartBits;
  localparam int unsigned PartRings = Rings / Parts;

  if (Groups * Group != Prefetch || 2 ** $clog2(Prefetch) != Prefetch || Groups < 2) begin : gen_bad_prefetch
    $fatal(1, "l7_descriptors: Prefetch is %0d, expected a power of two, at least %0d (%m)", Prefetch, 2 * Group);
  end
  if (2 ** RingBits != Rings || Rings < 4) begin : gen_bad_rings
    $fatal(1, "l7_descriptors: Rings is %0d, expected a power of two from 4 (%m)", Rings);
  end
  if (2 ** ReadBits != Reads || Reads < 2) begin : gen_bad_reads
    $fatal(1, "l7_descriptors: Reads is %0d, expected a power of two from 2 (%m)", Reads);
  end

  typedef logic [ReadBits-1:0] read_t;
  typedef struct packed {
    logic [RingBits-1:0] ring;
    logic [GroupBits-1:0] group;
    logic [15:0] number;  // up to which descriptors are here then
  } asked_t;

  // ---------------------------------------------------------------------------------------------------------------
  // Which ring: one that somebody has touched. Groups of rings take turns, and in its turn a group has all that were touched as it
  // began: so none waits for more than a round.

  typedef enum logic [1:0] {
    StPick,
    StLook,
    StOffer
  } state_e;
  state_e state_q;
  logic [Parts-1:0][PartRings-1:0] touched_q, touch;
  logic [Parts-1:0] some_q, turn, begun;
  logic [PartRings-1:0] pending_q, picked;
  logic [PartBits-1:0] part, part_q;
  logic [RingBits-PartBits-1:0] pick;
  logic [RingBits-1:0] ring_q;
  logic any_part, any, room, wanted, begins, picks, turns;

  sluice_arb_rr #(
      .Requests(Parts)
  ) u_turn (
      .clk_i,
      .rst_ni,
      .req_i    (some_q),
      .advance_i(turns),
      .grant_o  (turn),
      .index_o  (part),
      .valid_o  (any_part)
  );
  sluice_prio_enc #(
      .Width(PartRings)
  ) u_pick (
      .req_i   (pending_q),
      .valid_o (any),
      .index_o (pick),
      .onehot_o(picked)
  );
  assign turns = !any && any_part;
  assign picks = state_q == StPick && any;

  // Whoever could not go, or has more, is looked at again.
  logic [2:0] touch_valid;
  logic [2:0][RingBits-1:0] touch_ring;
  assign touch_valid = {wake_valid_i, take_valid_i, state_q == StLook && wanted};
  assign touch_ring  = {wake_ring_i, take_ring_i, ring_q};
  always_comb begin
    touch = '0;
    begun = turns ? turn : '0;
    for (int unsigned s = 0; s < 3; s++) begin
      if (touch_valid[s]) touch[touch_ring[s][RingBits-1-:PartBits]][touch_ring[s][RingBits-PartBits-1:0]] = 1'b1;
    end
  end

  logic [15:0] ahead, next_group, offset, mask, offset_q;
  logic [GroupBits:0] held;

  assign fetch_ring_o = ring_q;
  assign ahead = fetch_posted_i - fetch_asked_i;
  assign next_group = {fetch_asked_i[15:LaneBits] + (16 - LaneBits)'(1), LaneBits'(0)};
  // Groups that have a place: the first that still has a descriptor, and those behind it. Never more than there are.
  assign held = (GroupBits + 1)'(fetch_asked_i[15:LaneBits]) - (GroupBits + 1)'(fetch_taken_i[15:LaneBits]);
  assign room = held != (GroupBits + 1)'(Groups);
  assign mask = 16'((17'd1 << fetch_log_i) - 17'd1);
  assign offset = {fetch_asked_i[15:LaneBits], LaneBits'(0)} & mask;
  assign wanted = fetch_valid_i && fetch_posted_i != fetch_asked_i && room;
  assign ask_number_o = (ahead < 16'(Group) - 16'(fetch_asked_i[LaneBits-1:0])) ? fetch_posted_i : next_group;

  read_t issue_q, head_q;
  logic [ReadBits:0] under_way_q;
  logic read_room, arrives, commits;
  asked_t asked_in, asked_head;
  logic [8*Bytes-1:0] data_head;
  logic [  Reads-1:0] here_q;

  assign read_room = under_way_q != (ReadBits + 1)'(Reads);
  assign begins = state_q == StLook && wanted && read_room && !hold_i;
  assign ask_valid_o = begins;
  assign asked_in = '{ring: ring_q, group: GroupBits'(fetch_asked_i[15:LaneBits]), number: ask_number_o};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= StPick;
      touched_q <= '0;
      some_q    <= '0;
      pending_q <= '0;
      m_valid_o <= 1'b0;
    end else begin
      unique case (state_q)
        StPick:  if (picks) state_q <= StLook;
        StLook:  state_q <= begins ? StOffer : StPick;
        default: if (!m_valid_o || m_ready_i) state_q <= StPick;
      endcase
      for (int unsigned p = 0; p < Parts; p++) begin
        touched_q[p] <= (begun[p] ? '0 : touched_q[p]) | touch[p];
        some_q[p]    <= |touched_q[p] && !begun[p];
      end
      if (turns) pending_q <= touched_q[part];
      else if (picks) pending_q <= pending_q & ~picked;
      if (!m_valid_o || m_ready_i) m_valid_o <= state_q == StOffer;
    end
    if (turns) part_q <= part;
    if (state_q == StPick) ring_q <= {part_q, pick};
    if (state_q == StLook) offset_q <= offset;
    if (!m_valid_o || m_ready_i) begin
      m_desc_o <= '{
          tag: DmaTagBits'(issue_q - ReadBits'(1)),
          length: 16'(Bytes),
          address: fetch_address_i + {44'd0, offset_q, 4'd0}
      };
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // What comes back: into the places of its ring, in the order in which it was asked.

  read_t s_read;
  assign s_read  = s_tag_i[ReadBits-1:0];
  assign arrives = s_valid_i;
  assign commits = under_way_q != '0 && here_q[head_q];
  assign quiet_o = under_way_q == '0 && state_q != StOffer && !m_valid_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      issue_q     <= '0;
      head_q      <= '0;
      under_way_q <= '0;
      here_q      <= '0;
    end else begin
      issue_q     <= issue_q + ReadBits'(begins);
      head_q      <= head_q + ReadBits'(commits);
      under_way_q <= under_way_q + (ReadBits + 1)'(begins) - (ReadBits + 1)'(commits);
      if (commits) here_q[head_q] <= 1'b0;
      if (arrives) here_q[s_read] <= 1'b1;
    end
  end

  sluice_ram_lut #(
      .Width   ($bits(asked_t)),
      .Depth   (Reads),
      .InitZero(1'b0)
  ) u_asked (
      .clk_i,
      .we_i   (begins),
      .waddr_i(issue_q),
      .wdata_i(asked_in),
      .raddr_i(head_q),
      .rdata_o(asked_head)
  );
  sluice_ram_lut #(
      .Width   (8 * Bytes),
      .Depth   (Reads),
      .InitZero(1'b0)
  ) u_data (
      .clk_i,
      .we_i   (arrives),
      .waddr_i(s_read),
      .wdata_i(s_data_i),
      .raddr_i(head_q),
      .rdata_o(data_head)
  );

  assign commit_valid_o  = commits;
  assign commit_ring_o   = asked_head.ring;
  assign commit_number_o = asked_head.number;

  l7_descriptor_t [Group-1:0] group;
  logic [LaneBits-1:0] lane_q;
  sluice_ram_1r1w #(
      .Width   (8 * Bytes),
      .Depth   (Rings * Groups),
      .InitZero(1'b0),
      .Style   ("block")
  ) u_places (
      .clk_i,
      .wr_en_i  (commits),
      .wr_addr_i({asked_head.ring, asked_head.group}),
      .wr_data_i(data_head),
      .rd_en_i  (1'b1),
      .rd_addr_i({look_ring_i, GroupBits'(look_number_i[15:LaneBits])}),
      .rd_data_o(group)
  );
  always_ff @(posedge clk_i) lane_q <= look_number_i[LaneBits-1:0];
  assign look_o = group[lane_q];

`ifndef SYNTHESIS
  ReadsHold_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) m_valid_o && !m_ready_i |=> m_valid_o && $stable(m_desc_o));
  AReadIsAnsweredOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !arrives || (under_way_q != '0 && !here_q[s_read]));
`endif

endmodule
