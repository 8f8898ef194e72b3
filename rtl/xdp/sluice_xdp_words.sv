/// Words that packets of a core begin with, put where the core finds them: registers of a slot, words of the stack in packet memory; and the answer of an early lookup, which is
/// a slot's r0.
///
/// Words come in the order of their packets, those of one without another's between. `base_*` says where a packet's stack is, before its first word comes. `done_*` says
/// that all words of a slot's packet are put; `answered_*` that its answer is. What it begins with is read by `begin_slot_i`.
///
/// Latency: 1 cycle from a word to its port. Throughput: a word a cycle; two come together, and wait in a queue of 8 such pairs. Stall behaviour: a word waits for its port, and those behind it; an answer has
/// room always.
module sluice_xdp_words
  import sluice_xdp_pkg::*;
  import sluice_xdp_start_pkg::*;
  import sluice_xdp_stages_pkg::*;
#(
    parameter int unsigned Slots = 16,
    localparam int unsigned SlotBits = $clog2(Slots)
) (
    input logic clk_i,
    input logic rst_ni,

    input logic                base_valid_i,
    input logic [SlotBits-1:0] base_slot_i,
    input logic [ RowBits-1:0] base_i,

    input  logic              word_valid_i,
    output logic              word_ready_o,
    input  xdp_made_t         word_i,
    input  logic              answer_valid_i,
    input  xdp_early_answer_t answer_i,

    // A register of a slot.
    output xdp_set_t set_o,
    input  logic     set_ready_i,

    // A word of the stack.
    output logic              write_valid_o,
    input  logic              write_ready_i,
    output xdp_place_t        write_place_o,
    output logic       [63:0] write_data_o,

    output logic                done_valid_o,
    output logic [SlotBits-1:0] done_slot_o,
    output logic                answered_valid_o,
    output logic [SlotBits-1:0] answered_slot_o,

    // Of a packet that has its words, and its answer if it looks up.
    input  logic       [SlotBits-1:0] begin_slot_i,
    output xdp_given_t                begin_given_o,
    output logic                      begin_fault_o,
    output logic                      begin_found_o,
    output steps_t                    begin_steps_o
);

  localparam int unsigned Words = 8;
  // The highest words of the stack.
  localparam int unsigned FirstWord = StackWords - StackGiven;

  // "Bits of signal are not used": slots are numbered as for the largest memory.
  // verilator lint_off UNUSEDSIGNAL
  xdp_made_t word;
  xdp_early_answer_t answer;
  // verilator lint_on UNUSEDSIGNAL
  logic word_valid, word_takes, answer_valid, unused_answer_ready, is_register, is_stack;
  logic upper_q, at, pops;  // of two words
  logic [$clog2(Words+1)-1:0] unused_words_level;
  logic [$clog2(Slots+1)-1:0] unused_answers_level;

  sluice_fifo #(
      .Width($bits(xdp_made_t)),
      .Depth(Words)
  ) u_words (
      .clk_i,
      .rst_ni,
      .valid_i(word_valid_i),
      .ready_o(word_ready_o),
      .data_i (word_i),
      .valid_o(word_valid),
      .ready_i(pops),
      .data_o (word),
      .level_o(unused_words_level)
  );
  // A packet has one at a time.
  sluice_fifo #(
      .Width($bits(xdp_early_answer_t)),
      .Depth(Slots)
  ) u_answers (
      .clk_i,
      .rst_ni,
      .valid_i(answer_valid_i),
      .ready_o(unused_answer_ready),
      .data_i (answer_i),
      .valid_o(answer_valid),
      .ready_i(set_ready_i),
      .data_o (answer),
      .level_o(unused_answers_level)
  );

  // The lower one first.
  assign at = upper_q || !word.valid[0];
  assign is_register = word.valid[at] && !word.target[at][4];
  assign is_stack = word.valid[at] && word.target[at][4];
  assign word_takes = word_valid && (is_register ? set_ready_i && !answer_valid : !is_stack || write_ready_i);
  assign pops = word_takes && (at || !word.valid[1]);
  always_ff @(posedge clk_i) begin
    if (!rst_ni || pops) upper_q <= 1'b0;
    else if (word_takes) upper_q <= 1'b1;
  end

  // Answers go first.
  assign set_o = answer_valid ?
      '{valid: 1'b1, slot: answer.slot, number: 4'd0, data: answer.value} :
      '{valid: word_valid && is_register, slot: word.slot, number: word.target[at][3:0], data: word.data[at]};

  logic [RowBits-1:0] base;
  logic [5:0] stack_word;
  assign stack_word = 6'(FirstWord) + 6'(word.target[at][3:0]);
  assign write_valid_o = word_valid && is_stack;
  assign write_place_o = '{row: base + RowBits'(stack_word[5:3]), word: stack_word[2:0]};
  assign write_data_o = word.data[at];
  sluice_ram_lut #(
      .Width(RowBits),
      .Depth(Slots)
  ) u_bases (
      .clk_i,
      .we_i   (base_valid_i),
      .waddr_i(base_slot_i),
      .wdata_i(base_i),
      .raddr_i(word.slot[SlotBits-1:0]),
      .rdata_o(base)
  );

  assign done_valid_o = pops && word.last;
  assign done_slot_o = word.slot[SlotBits-1:0];
  assign answered_valid_o = answer_valid && set_ready_i;
  assign answered_slot_o = answer.slot[SlotBits-1:0];

  sluice_ram_lut #(
      .Width($bits(xdp_given_t)),
      .Depth(Slots)
  ) u_given (
      .clk_i,
      .we_i   (done_valid_o),
      .waddr_i(done_slot_o),
      .wdata_i(word.given),
      .raddr_i(begin_slot_i),
      .rdata_o(begin_given_o)
  );
  sluice_ram_lut #(
      .Width(2 + StepBits),
      .Depth(Slots)
  ) u_answered (
      .clk_i,
      .we_i   (answered_valid_o),
      .waddr_i(answered_slot_o),
      .wdata_i({answer.fault, answer.value != '0, answer.steps}),
      .raddr_i(begin_slot_i),
      .rdata_o({begin_fault_o, begin_found_o, begin_steps_o})
  );

`ifndef SYNTHESIS
  AnswersHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !answer_valid_i || unused_answer_ready);
`endif

endmodule
