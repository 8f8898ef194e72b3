/// What a message that leaves the loop comes to: its queue, or its drop (docs/design/l7.md, "Matcher programs").
///
/// A target that is no group is settled in the cycle of the exit. For a group its row is read; it is settled one cycle later,
/// or the message goes back to the loop with the field that the group hashes (`hash_valid_o`), and comes again. A group that
/// is not there or another module's is a fault: then the application's default is gone to, and is dropped if it fails too.
///
/// Exits come at most once a cycle and never wait; a message that goes to its default waits for a cycle without one.
///
/// Latency: 0 or 1 cycles from exit to `settle`, faults more. Throughput: 1 exit per cycle. Never stalls.
module sluice_l7_goal
  import sluice_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
  import sluice_l7_matcher_pkg::*;
#(
    parameter int unsigned Places = 4,
    parameter int unsigned Groups = 64,
    localparam int unsigned GroupBits = (Groups > 1) ? $clog2(Groups) : 1
) (
    input logic clk_i,
    input logic rst_ni,

    input logic     exit_valid_i,
    // "Bits of signal are not used": its steps are kept by the matcher.
    // verilator lint_off UNUSEDSIGNAL
    input l7_exit_t exit_i,
    // verilator lint_on UNUSEDSIGNAL


    // What belongs to the message, in the same cycle.
    output place_t                  place_o,
    input  logic   [ModuleBits-1:0] module_id_i,
    input  logic   [           2:0] otherwise_kind_i,
    input  logic   [          11:0] otherwise_number_i,
    // Of session and message ID.
    input  logic   [  SlotBits-1:0] identity_hash_i,

    // The group RAM, with a registered read.
    output logic                          group_read_o,
    output logic          [GroupBits-1:0] group_index_o,
    input  l7_group_row_t                 group_i,

    output logic         hash_valid_o,
    output place_t       hash_place_o,
    output logic   [3:0] hash_field_o,

    // Results, by place; they stay until the next message has one there.
    output logic        [Places-1:0] settle_o,
    output l7_settled_t [Places-1:0] goals_o,

    // Of an exit that is settled at once.
    output logic        direct_o,
    output l7_settled_t direct_goal_o
);

  // A message waits for its default to be looked at.
  logic [Places-1:0] again_q;
  // It has come to a fault, to its default, to this group.
  logic [Places-1:0] fault_q, otherwise_q;
  logic [Places-1:0][11:0] group_q;
  // Results.
  logic [Places-1:0] drop_q;
  logic [Places-1:0][7:0] queue_q;

  // --- Where it goes ---
  logic valid, hashed, fault, to_otherwise, is_group, is_queue, is_wrong;
  logic [Places-1:0] again, mine;
  logic [2:0] kind;
  logic [11:0] number, group;

  localparam int unsigned PlaceIndexBits = (Places > 1) ? $clog2(Places) : 1;
  logic any_again;
  logic [PlaceIndexBits-1:0] again_index;
  // The one that comes next.
  logic next_valid_q;
  place_t next_place_q;

  sluice_prio_enc #(
      .Width(Places)
  ) u_again (
      .req_i(again_q),
      .valid_o(any_again),
      .index_o(again_index),
      .onehot_o(again)
  );

  assign valid = exit_valid_i || next_valid_q;
  assign place_o = exit_valid_i ? exit_i.place : next_place_q;
  assign hashed = exit_valid_i && exit_i.hashed;
  assign fault = exit_valid_i ? !exit_i.hashed && exit_i.fault : 1'b1;
  assign to_otherwise = fault || (exit_i.kind == L7GoalDefault);
  assign kind = to_otherwise ? otherwise_kind_i : exit_i.kind;
  always_comb begin
    mine   = '0;
    number = to_otherwise ? otherwise_number_i : exit_i.number;
    group  = '0;
    for (int unsigned p = 0; p < Places; p++) begin
      mine[p] = valid && place_o == place_t'(p);
      if (exit_i.place == place_t'(p)) group = group_q[p];
    end
    if (!hashed) group = number;
  end
  assign is_group = hashed || kind == L7GoalGroup;
  assign is_queue = !hashed && kind == L7GoalQueue;
  // Only a default can be: a matcher does not go to such a target.
  assign is_wrong = !hashed && kind > L7GoalRows;

  assign group_read_o = valid && is_group;
  assign group_index_o = group[GroupBits-1:0];

  // --- Groups, a cycle later ---
  logic group_valid_q, group_there_q, group_hashed_q;
  place_t group_place_q;
  logic [ModuleBits-1:0] group_module_q;
  logic [SlotBits-1:0] group_hash_q;
  logic group_fits;
  logic [Places-1:0] group_mine_q;
  logic needs_no_field;

  assign group_fits = group_there_q && group_i.module_id == group_module_q;
  assign needs_no_field = group_hashed_q || group_i.field == '0;
  assign hash_valid_o = group_valid_q && group_fits && !needs_no_field;
  assign hash_place_o = group_place_q;
  assign hash_field_o = group_i.field;

  for (genvar p = 0; p < int'(Places); p++) begin : gen_place
    // A default that fails is dropped.
    assign settle_o[p] = (mine[p] && !is_group) || (group_mine_q[p] && (group_fits ? needs_no_field : otherwise_q[p]));
  end

  for (genvar p = 0; p < int'(Places); p++) begin : gen_goal
    assign goals_o[p] = '{fault: fault_q[p], drop: drop_q[p], queue_id: queue_q[p]};
  end
  assign direct_o = exit_valid_i && !is_group;
  assign direct_goal_o = '{fault: fault || is_wrong, drop: !is_queue, queue_id: number[7:0]};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      again_q <= '0;
      next_valid_q <= 1'b0;
      group_valid_q <= 1'b0;
      group_mine_q <= '0;
    end else begin
      group_valid_q <= group_read_o;
      group_mine_q  <= is_group ? mine : '0;
      next_valid_q  <= next_valid_q ? exit_valid_i : any_again;
      for (int unsigned p = 0; p < Places; p++) begin
        if (group_mine_q[p] && !group_fits && !otherwise_q[p]) again_q[p] <= 1'b1;
        else if (!next_valid_q && again[p]) again_q[p] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    group_there_q  <= 13'(group) < 13'(Groups);
    group_hashed_q <= hashed;
    if (!next_valid_q) next_place_q <= place_t'(again_index);
    group_place_q  <= place_o;
    group_module_q <= module_id_i;
    group_hash_q   <= hashed ? exit_i.hash : identity_hash_i;
    for (int unsigned p = 0; p < Places; p++) begin
      if (mine[p]) begin
        if (!hashed) begin
          group_q[p] <= number;
          fault_q[p] <= fault || is_wrong;
          otherwise_q[p] <= to_otherwise;
        end
        drop_q[p]  <= !is_queue;
        queue_q[p] <= number[7:0];
      end
      if (group_mine_q[p]) begin
        if (group_fits) drop_q[p] <= 1'b0;
        else fault_q[p] <= 1'b1;
        queue_q[p] <= group_i.slots[group_hash_q];
      end
    end
  end

endmodule
