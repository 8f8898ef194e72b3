/// Proof about sluice_xdp_order: packets of one bucket leave in the order in which they came, and none waits for one that is not before
/// it in its bucket. And about sections: a packet has its turn once all before it in its bucket have left theirs, never before, and turns go on, one in each cycle,
/// until everybody has his whose turn it is.
///
/// The reference keeps for each packet who was there when it entered. So of all that are there the one that came first never waits: as long
/// as packets that do not wait leave, all leave, each behind as many as were before it. By k-induction, for runs of any length, with
/// resets at any time. Who leaves, and who will soon, is free among those that may.
module order #(
    parameter  int unsigned Slots    = 4,
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic                              clk_i,
    input logic                              rst_ni,
    input logic                              enter_valid_i,
    input logic [SlotBits-1:0]               enter_slot_i,
    input logic                              enter_module_i,
    input logic                              enter_hash_i,
    input logic [         1:0]               leave_valid_i,
    input logic [         1:0][SlotBits-1:0] leave_slot_i,
    input logic [         1:0]               near_valid_i,
    input logic [         1:0][SlotBits-1:0] near_slot_i,
    input logic [   Slots-1:0]               section_left_i
);

  import sluice_pkg::ModuleBits;

  logic [Slots-1:0] waits, soon, flow_waits;

  sluice_xdp_order #(
      .Slots  (Slots),
      .Modules(2),
      .Buckets(2),
      .Cores  (2)
  ) u_dut (
      .clk_i,
      .rst_ni,
      .enter_valid_i,
      .enter_slot_i,
      .enter_module_i(ModuleBits'(enter_module_i)),
      .enter_hash_i,
      .leave_valid_i,
      .leave_slot_i,
      .near_valid_i,
      .near_slot_i,
      .section_left_i,
      .waits_o       (waits),
      .soon_o        (soon),
      .flow_waits_o  (flow_waits)
  );

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;

  // One core's packet leaves.
  logic leaves;
  logic [SlotBits-1:0] leaver;
  assign leaves = leave_valid_i != '0;
  assign leaver = leave_slot_i[leave_valid_i[1]];

  // Who is there, in which bucket; who of all that are there came before; who has said that he will leave.
  logic [Slots-1:0] there_q, near_q, told_q, left_q;
  logic [Slots-1:0][1:0] place_q;
  logic [Slots-1:0][Slots-1:0] older_q, same, earlier;
  // The last one before a packet in its bucket.
  logic [Slots-1:0][Slots-1:0] nearest;

  always_comb begin
    for (int unsigned s = 0; s < Slots; s++) begin
      for (int unsigned t = 0; t < Slots; t++) begin
        same[s][t] = there_q[s] && there_q[t] && place_q[s] == place_q[t];
        earlier[s][t] = older_q[s][t] && same[s][t];
      end
    end
    for (int unsigned s = 0; s < Slots; s++) begin
      for (int unsigned t = 0; t < Slots; t++) begin
        nearest[s][t] = earlier[s][t];
        for (int unsigned u = 0; u < Slots; u++) if (earlier[s][u] && earlier[u][t]) nearest[s][t] = 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      there_q <= '0;
      older_q <= '0;
      near_q  <= '0;
      told_q  <= '0;
    end else begin
      for (int unsigned c = 0; c < 2; c++) begin
        if (near_valid_i[c]) begin
          near_q[near_slot_i[c]] <= 1'b1;
          // Whoever is the next one behind it knows.
          for (int unsigned s = 0; s < Slots; s++) if (nearest[s][near_slot_i[c]]) told_q[s] <= 1'b1;
        end
      end
      left_q <= left_q | section_left_i;
      if (leaves) begin
        there_q[leaver] <= 1'b0;
        for (int unsigned s = 0; s < Slots; s++) older_q[s][leaver] <= 1'b0;
        older_q[leaver] <= '0;
      end
      if (enter_valid_i) begin
        there_q[enter_slot_i] <= 1'b1;
        place_q[enter_slot_i] <= {enter_module_i, enter_hash_i};
        older_q[enter_slot_i] <= there_q & ~(leaves ? Slots'(1) << leaver : '0);
        near_q[enter_slot_i]  <= 1'b0;
        left_q[enter_slot_i]  <= 1'b0;
        told_q[enter_slot_i]  <= 1'b0;
      end
    end
  end

  always_comb begin
    if (init_q) assume (!rst_ni);
    // A slot is given anew behind its packet's leave.
    assume (!enter_valid_i || !there_q[enter_slot_i]);
    assume (leave_valid_i != 2'b11);
    assume (!leaves || (there_q[leaver] && !waits[leaver]));
    // Once for each packet that is there.
    for (int unsigned c = 0; c < 2; c++)
    assume (!near_valid_i[c] || (there_q[near_slot_i[c]] && !near_q[near_slot_i[c]]));
    assume (near_valid_i != 2'b11 || near_slot_i[0] != near_slot_i[1]);
  end

  for (genvar s = 0; s < int'(Slots); s++) begin : gen_slot
    WaitsForThoseBeforeItAlone_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || waits[s] == (earlier[s] != '0));
    SoonIsBehindOneThatWillLeave_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || soon[s] == told_q[s]);
    SoonIsWhoseAllBeforeWillLeave_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || !soon[s] || (nearest[s] & ~near_q) == '0);
  end
  for (genvar s = 0; s < int'(Slots); s++) begin : gen_section
    ASectionIsOnes_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || flow_waits[s] || (earlier[s] & ~left_q) == '0);
    TurnsGoOn_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || !flow_waits[s] || (earlier[s] & ~left_q) != '0 || u_dut.pass_valid);
    // Strengthening: a packet waits while the one before it has not had its turn and left.
    WaitsForTheOneBefore_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || flow_waits[s] == ((nearest[s] & ~u_dut.passed_q) != '0));
    PassedHasLeft_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || !u_dut.passed_q[s] || (left_q[s] && !flow_waits[s]));
    LeftIsKnown_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || u_dut.left_q[s] == left_q[s]);
  end
  ATurnComesBehindThree_C :
  cover property (@(posedge clk_i) rst_ni && !init_q && $past(
      rst_ni && there_q[0] && flow_waits[0]
  ) && there_q[0] && !flow_waits[0] && $countones(
      earlier[0]
  ) == 2);

  LeavesInOrder_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !leaves || earlier[leaver] == '0);
  SomebodyMayLeave_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || there_q == '0 || (there_q & ~waits) != '0);

  ThreeOfABucketAreThere_C :
  cover property (@(posedge clk_i) rst_ni && $countones(earlier[0]) == 2);
  OneWaitsNoMore_C :
  cover property (@(posedge clk_i) rst_ni && !init_q && $past(
      rst_ni && there_q[0] && waits[0]
  ) && there_q[0] && !waits[0]);
  OneIsSoon_C :
  cover property (@(posedge clk_i) rst_ni && there_q[0] && waits[0] && soon[0]);
  OneEntersAsTheOneBeforeLeaves_C :
  cover property (@(posedge clk_i) rst_ni && enter_valid_i && leaves && {enter_module_i, enter_hash_i} == place_q[leaver]);

  // Strengthening for the induction: who is older is an order of all that are there.
  for (genvar s = 0; s < int'(Slots); s++) begin : gen_order
    for (genvar t = 0; t < int'(Slots); t++) begin : gen_other
      OlderIsOneOfTwo_A :
      assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (older_q[s][t] ? (there_q[s] && there_q[t] && !older_q[t][s]) :
          (s == t || !there_q[s] || !there_q[t] || older_q[t][s])));
      for (genvar u = 0; u < int'(Slots); u++) begin : gen_third
        OlderGoesOn_A :
        assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !older_q[s][t] || !older_q[t][u] || older_q[s][u]);
      end
      FollowerIsTheNext_A :
      assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !nearest[s][t] ||
          (u_dut.followed_q[t] && u_dut.u_followers.mem[t] == SlotBits'(s)));
    end
    logic [Slots-1:0] behind;
    always_comb for (int unsigned t = 0; t < Slots; t++) behind[t] = earlier[t][s];
    FollowedIsBefore_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || u_dut.followed_q[s] == (behind != '0));
    LastIsTheNewest_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || behind != '0 || u_dut.gen_last[0].u_last.mem[place_q[s]] == SlotBits'(s));
    SamePlace_A :
    assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || !there_q[s] || u_dut.u_places.mem[s] == place_q[s]);
  end
  SameThere_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || u_dut.there_q == there_q);

endmodule
