/// Proof about two copies of sluice_nic_vlan_guard: at which ports a module's frame is denied is the same in both, whatever
/// other frames there are before and behind it, whenever it comes and is taken.
///
/// By k-induction, for runs of any length, at two ports and room for two verdicts. One verdict, with bytes 12 to 15 of its frame,
/// is the same in both copies; it comes and is taken at any time in each. So are what the ports' VLAN rows say of it, which
/// the linker alone writes, and the owners of untagged frames. All else is free in each. Not the cycle is claimed but
/// what comes out, for who waits for the queues waits in order.
module vlan_guard
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_nic_pkg::*;
#(
    parameter int unsigned Ports   = 2,
    parameter int unsigned Modules = 2,
    parameter int unsigned Depth   = 2
) (
    input logic clk_i,
    input logic rst_ni,

    // Chosen at the start: the frame, and what the ports say of it.
    input verdict_t                verdict_i,
    input logic        [     31:0] outer_i,
    input vlan_owner_t [Ports-1:0] owner_i,
    input vlan_owner_t [Ports-1:0] untagged_i,
    input logic                    any_vids_i,

    // In each copy: whether the frame comes now; other frames.
    input logic        [1:0]              mark_i,
    input logic        [1:0]              valid_i,
    input logic        [1:0]              ready_i,
    input verdict_t    [1:0]              other_i,
    input logic        [1:0][       31:0] other_outer_i,
    // Rights of the other modules.
    input logic        [1:0][Modules-1:0] other_vids_i,
    input vlan_owner_t [1:0][  Ports-1:0] other_owner_i
);

  logic init_q = 1'b1;
  verdict_t chosen_q;
  logic [31:0] outer_q;
  vlan_owner_t [Ports-1:0] owner_q, untagged_q;
  logic any_vids_q;
  always_ff @(posedge clk_i) begin
    init_q <= 1'b0;
    if (init_q) begin
      chosen_q   <= verdict_i;
      outer_q    <= outer_i;
      owner_q    <= owner_i;
      untagged_q <= untagged_i;
      any_vids_q <= any_vids_i;
    end
  end
  always_comb assume (rst_ni == !init_q);

  logic [1:0] out_q, wrong_vlan;
  logic [1:0][DestBits-1:0] denied_q;
  verdict_t [1:0] verdict_q;

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic ready, valid, lookup, push, pop, marked_q, offered_q, asked_q, marked_now;
    logic [11:0] vlan;
    verdict_t verdict, offer, offer_q;
    logic [31:0] offer_outer, offer_outer_q;
    logic [DestBits-1:0] denied;
    logic [1:0] level_q, before_q;  // verdicts inside; those before the chosen one
    logic [Modules-1:0] any_vids;

    assign marked_now  = mark_i[k] && !marked_q;
    assign offer       = marked_now ? chosen_q : other_i[k];
    assign offer_outer = marked_now ? outer_q : other_outer_i[k];
    always_comb begin
      any_vids = other_vids_i[k];
      any_vids[chosen_q.sideband.module_id[0]] = any_vids_q;
    end
    sluice_nic_vlan_guard #(
        .Ports  (Ports),
        .Modules(Modules),
        .Depth  (Depth)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .valid_i      (valid_i[k]),
        .ready_o      (ready),
        .verdict_i    (offer),
        .outer_i      (offer_outer),
        .lookup_o     (lookup),
        .lookup_vlan_o(vlan),
        .owner_i      (asked_q ? owner_q : other_owner_i[k]),
        .untagged_i   (untagged_q),
        .any_vids_i   (any_vids),
        .valid_o      (valid),
        .ready_i      (ready_i[k]),
        .verdict_o    (verdict),
        .denied_o     (denied)
    );
    assign push = valid_i[k] && ready;
    assign pop  = valid && ready_i[k];
    always_comb begin
      assume (!init_q || !valid_i[k]);
      // What is offered stays until it is taken.
      assume (!offered_q || (valid_i[k] && offer == offer_q && offer_outer == offer_outer_q));
    end
    // The VLAN asked for the chosen frame is the one that its rows are of.
    assign wrong_vlan[k] = push && marked_now && !(lookup && vlan == (chosen_q.sideband.tag_off ?
        chosen_q.sideband.tci[11:0] : outer_q[11:0]));
    always_ff @(posedge clk_i) begin
      offered_q     <= !init_q && valid_i[k] && !ready;
      offer_q       <= offer;
      offer_outer_q <= offer_outer;
      if (init_q) begin
        marked_q <= 1'b0;
        asked_q  <= 1'b0;
        out_q[k] <= 1'b0;
        level_q  <= '0;
        before_q <= '0;
      end else begin
        asked_q <= push && marked_now;
        level_q <= level_q + 2'(push) - 2'(pop);
        if (push && marked_now) begin
          marked_q <= 1'b1;
          before_q <= level_q - 2'(pop);
        end else if (pop && marked_q && !out_q[k]) begin
          before_q <= before_q - 2'd1;
          if (before_q == '0) begin
            out_q[k]     <= 1'b1;
            denied_q[k]  <= denied;
            verdict_q[k] <= verdict;
          end
        end
      end
    end
  end

  TheFrameIsDeniedAtTheSamePorts_A :
  assert property (@(posedge clk_i) init_q || out_q != 2'b11 || denied_q[0] == denied_q[1]);
  TheVerdictIsTheSame_A :
  assert property (@(posedge clk_i) init_q || out_q != 2'b11 || verdict_q[0] == verdict_q[1]);
  ItsOwnVlanIsAsked_A :
  assert property (@(posedge clk_i) init_q || wrong_vlan == '0);

  // Strengthening for the induction: where the chosen verdict and its answer are.
  logic has_tag, may_be_free;
  logic [Ports-1:0] foreign;
  always_comb begin
    has_tag = chosen_q.sideband.tag_off || (outer_q[31:16] == VlanEthertype && chosen_q.sideband.length >= 14'd16);
    may_be_free = any_vids_q || chosen_q.sideband.tag_off ||
        (has_tag && outer_q[11:0] != '0 && outer_q[11:0] == chosen_q.sideband.tci[11:0]);
    for (int unsigned p = 0; p < Ports; p++) begin
      vlan_owner_t owner;
      owner = has_tag ? owner_q[p] : untagged_q[p];
      foreign[p] = owner.valid ? owner.module_id != chosen_q.sideband.module_id : !may_be_free;
    end
  end
  for (genvar k = 0; k < 2; k++) begin : gen_inside
    logic held, asked;
    logic [1:0] front, level, late_level;
    logic at, late_at;
    assign held = gen_copy[k].marked_q && !out_q[k];
    assign asked = gen_copy[k].asked_q;
    assign front = gen_copy[k].before_q;
    assign level = gen_copy[k].u_dut.u_verdicts.level_q;
    assign late_level = gen_copy[k].u_dut.u_late.level_q;
    assign at = gen_copy[k].u_dut.u_verdicts.rd_ptr_q + front[0];
    assign late_at = gen_copy[k].u_dut.u_late.rd_ptr_q + front[0];
    LevelsAgree_A :
    assert property (@(posedge clk_i) init_q || (level == gen_copy[k].level_q && level <= 2'd2 && late_level <= 2'd2 &&
        level == late_level + 2'(gen_copy[k].u_dut.judged_q) &&
        gen_copy[k].u_dut.u_verdicts.valid_q == (level != '0) && gen_copy[k].u_dut.u_late.valid_q == (late_level != '0) &&
        (gen_copy[k].u_dut.u_verdicts.wr_ptr_q ^ gen_copy[k].u_dut.u_verdicts.rd_ptr_q) == level[0] &&
        (gen_copy[k].u_dut.u_late.wr_ptr_q ^ gen_copy[k].u_dut.u_late.rd_ptr_q) == late_level[0]));
    WhatIsOutWasMarked_A :
    assert property (@(posedge clk_i) init_q || !out_q[k] || gen_copy[k].marked_q);
    TheVerdictIsInside_A :
    assert property (@(posedge clk_i) init_q || !held || (front < level && gen_copy[k].u_dut.u_verdicts.mem[at] == chosen_q));
    ItsAnswerComes_A :
    assert property (@(posedge clk_i) init_q || !asked || (held && gen_copy[k].u_dut.judged_q && front + 2'd1 == level &&
        gen_copy[k].u_dut.has_tag_q == has_tag && gen_copy[k].u_dut.free_q == may_be_free && gen_copy[k].u_dut.module_q == chosen_q.sideband.module_id));
    OrIsThere_A :
    assert property (@(posedge clk_i) init_q || !held || asked ||
                     (front < late_level && gen_copy[k].u_dut.u_late.mem[late_at] == foreign));
    OrIsOut_A :
    assert property (@(posedge clk_i) init_q || !out_q[k] ||
                     (denied_q[k] == DestBits'(foreign) && verdict_q[k] == chosen_q));
  end

endmodule
