/// Which packets wait for others of their flow: those of a bucket leave as they entered.
///
/// A bucket is a module's packets with the same lowest bits of the flow hash; no module waits for another one's. A packet enters with
/// its slot (`enter_*`, one a cycle) and leaves once it does not wait (`leave_*`, one of all cores' a cycle: a core says early which slot, late that
/// it leaves); its slot is given anew in the cycle behind that or later. `waits_o` has a bit a slot: high from the cycle behind the entrance until the cycle behind the one in which
/// the packet before it in its bucket has left.
///
/// `near_*` says, once for each packet, that it will leave whatever else happens: the one behind it need not wait to be looked at, only to
/// leave (`soon_o`, from the next cycle until the slot is given anew).
///
/// A flow has a *section* too, which its packets pass one after the other, in the order in which they came: `flow_waits_o` has a bit a slot, high
/// from the cycle behind the entrance until all before it in its bucket have left the section. `section_left_i` (a bit a slot) says that a packet
/// has: where its program says so, at the latest where it ends. A packet that has left before its turn counts from its turn on; turns of one bucket
/// follow one another by a cycle, of all buckets one a cycle.
///
/// Each packet knows the one behind it in its bucket, so that nothing is searched. The last one of a bucket is whoever its row names, if
/// he is still there and of this bucket: so the rows need no reset.
///
/// Latency: 1 cycle. Throughput: an entrance and a leave a cycle. Never stalls.
module sluice_xdp_order
  import sluice_pkg::*;
#(
    parameter int unsigned Slots = 32,
    parameter int unsigned Modules = 64,
    parameter int unsigned Buckets = 16,
    parameter int unsigned Cores = 2,
    localparam int unsigned SlotBits = $clog2(Slots),
    localparam int unsigned BucketBits = $clog2(Buckets)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                  enter_valid_i,
    input logic [  SlotBits-1:0] enter_slot_i,
    // "Bits of signal are not used": modules are numbered as for the largest target.
    // verilator lint_off UNUSEDSIGNAL
    input logic [ModuleBits-1:0] enter_module_i,
    // verilator lint_on UNUSEDSIGNAL
    input logic [BucketBits-1:0] enter_hash_i,

    input logic [Cores-1:0]               leave_valid_i,
    input logic [Cores-1:0][SlotBits-1:0] leave_slot_i,

    input logic [Cores-1:0]               near_valid_i,
    input logic [Cores-1:0][SlotBits-1:0] near_slot_i,

    input logic [Slots-1:0] section_left_i,

    output logic [Slots-1:0] waits_o,
    output logic [Slots-1:0] soon_o,
    output logic [Slots-1:0] flow_waits_o
);

  localparam int unsigned ModuleIndexBits = $clog2(Modules);
  localparam int unsigned PlaceBits = ModuleIndexBits + BucketBits;
  typedef logic [SlotBits-1:0] slot_t;
  typedef logic [PlaceBits-1:0] place_t;

  if (2 ** SlotBits != Slots || Slots < 2) begin : gen_bad_slots
    $fatal(1, "xdp_order: Slots is %0d, expected a power of two from 2 on (%m)", Slots);
  end
  if (2 ** BucketBits != Buckets || Buckets < 2) begin : gen_bad_buckets
    $fatal(1, "xdp_order: Buckets is %0d, expected a power of two from 2 on (%m)", Buckets);
  end
  if (2 ** ModuleIndexBits != Modules || Modules < 2) begin : gen_bad_modules
    $fatal(1, "xdp_order: Modules is %0d, expected a power of two from 2 on (%m)", Modules);
  end

  // Slots that are taken; that wait; that have one behind them.
  logic [Slots-1:0] there_q, waits_q, followed_q, soon_q;
  place_t place, last_place;
  slot_t last, passes, successor;
  slot_t [Cores-1:0] next, follower;
  logic behind, leaves_last;

  assign place = {enter_module_i[ModuleIndexBits-1:0], enter_hash_i};

  // In banks of 256: Yosys finds no LUT RAM for more.
  localparam int unsigned Banks = (Modules * Buckets > 256) ? Modules * Buckets / 256 : 1;
  localparam int unsigned BankRows = Modules * Buckets / Banks;
  localparam int unsigned BankRowBits = $clog2(BankRows);
  slot_t [Banks-1:0] lasts;
  for (genvar b = 0; b < int'(Banks); b++) begin : gen_last
    sluice_ram_lut #(
        .Width(SlotBits),
        .Depth(BankRows)
    ) u_last (
        .clk_i,
        .we_i   (enter_valid_i && place >> BankRowBits == place_t'(b)),
        .waddr_i(place[BankRowBits-1:0]),
        .wdata_i(enter_slot_i),
        .raddr_i(place[BankRowBits-1:0]),
        .rdata_o(lasts[b])
    );
  end
  always_comb begin
    last = lasts[0];
    for (int unsigned b = 1; b < Banks; b++) if (place >> BankRowBits == place_t'(b)) last = lasts[b];
  end
  sluice_ram_lut #(
      .Width(PlaceBits),
      .Depth(Slots)
  ) u_places (
      .clk_i,
      .we_i   (enter_valid_i),
      .waddr_i(enter_slot_i),
      .wdata_i(place),
      .raddr_i(last),
      .rdata_o(last_place)
  );
  sluice_ram_lut #(
      .Width    (SlotBits),
      .Depth    (Slots),
      .ReadPorts(1 + 2 * Cores)
  ) u_followers (
      .clk_i,
      .we_i   (enter_valid_i && behind),
      .waddr_i(last),
      .wdata_i(enter_slot_i),
      .raddr_i({passes, near_slot_i, leave_slot_i}),
      .rdata_o({successor, next, follower})
  );

  // One that leaves in this cycle is waited for no more.
  always_comb begin
    leaves_last = 1'b0;
    for (int unsigned c = 0; c < Cores; c++) if (leave_valid_i[c] && leave_slot_i[c] == last) leaves_last = 1'b1;
  end
  assign behind = there_q[last] && last_place == place && !leaves_last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      there_q    <= '0;
      waits_q    <= '0;
      followed_q <= '0;
      soon_q     <= '0;
    end else begin
      for (int unsigned c = 0; c < Cores; c++) begin
        if (near_valid_i[c] && followed_q[near_slot_i[c]]) soon_q[next[c]] <= 1'b1;
        if (leave_valid_i[c]) begin
          there_q[leave_slot_i[c]] <= 1'b0;
          if (followed_q[leave_slot_i[c]]) waits_q[follower[c]] <= 1'b0;
        end
      end
      if (enter_valid_i) begin
        there_q[enter_slot_i]    <= 1'b1;
        waits_q[enter_slot_i]    <= behind;
        followed_q[enter_slot_i] <= 1'b0;
        soon_q[enter_slot_i]     <= 1'b0;
        if (behind) followed_q[last] <= 1'b1;
      end
    end
  end

  // Sections: who has left it; who was the one whose turn it was, so that the next one has his.
  logic [Slots-1:0] section_waits_q, left_q, passed_q, unused_passes_onehot;
  logic pass_valid;
  sluice_prio_enc #(
      .Width(Slots)
  ) u_passes (
      .req_i   (there_q & (left_q | section_left_i) & ~section_waits_q & ~passed_q),
      .valid_o (pass_valid),
      .index_o (passes),
      .onehot_o(unused_passes_onehot)
  );
  always_ff @(posedge clk_i) begin
    left_q <= left_q | section_left_i;
    if (pass_valid) begin
      passed_q[passes] <= 1'b1;
      if (followed_q[passes]) section_waits_q[successor] <= 1'b0;
    end
    for (int unsigned c = 0; c < Cores; c++) begin
      if (leave_valid_i[c] && followed_q[leave_slot_i[c]]) section_waits_q[follower[c]] <= 1'b0;
    end
    if (enter_valid_i) begin
      section_waits_q[enter_slot_i] <= behind && !passed_q[last] && !(pass_valid && passes == last);
      left_q[enter_slot_i]          <= 1'b0;
      passed_q[enter_slot_i]        <= 1'b0;
    end
  end
  assign flow_waits_o = section_waits_q;

  assign waits_o = waits_q;
  assign soon_o = soon_q;

`ifndef SYNTHESIS
  ASlotEntersOnce_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !enter_valid_i || !there_q[enter_slot_i]);
  OneLeavesAtATime_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(leave_valid_i));
  for (genvar c = 0; c < int'(Cores); c++) begin : gen_leave
    OnlyWhoDoesNotWaitLeaves_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) !leave_valid_i[c] ||
                     (there_q[leave_slot_i[c]] && !waits_q[leave_slot_i[c]]));
  end
`endif

endmodule
