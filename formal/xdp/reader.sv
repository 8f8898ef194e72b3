/// Proof about sluice_xdp_reader: of a packet's memory only bytes from its metadata to its frame's end and words of the stack that it
/// wrote reach anybody.
///
/// Two copies read the same blocks. What packet memory gives them is equal where the packet may look and free elsewhere, and what both
/// give is equal in every cycle. Values judge each access themselves (formal/xdp/values.sv): here each request is for the block's
/// module, and the first one's span is the whole block. By k-induction, for blocks of any place and length. A reset stands only at the start.
module reader
  import sluice_xdp_pkg::*;
(
    input logic                    clk_i,
    input logic                    rst_ni,
    input logic                    start_i,
    input xdp_block_t              block_i,
    input logic                    word_ready_i,
    input logic                    read_ready_i,
    input logic       [ 1:0][63:0] seen_i,
    input logic       [ 1:0][63:0] hidden_i       [2],
    input logic                    request_ready_i,
    input logic                    done_valid_i,
    input logic                    done_fault_i,
    input logic       [63:0]       done_value_i,
    input logic       [63:0]       host_data_i
);

  logic [1:0] idle, fault, word_valid, last, read_valid, request_valid, host_valid;
  logic [1:0][63:0] word;
  xdp_place_t [1:0] place;
  xdp_request_t [1:0] request;
  logic [1:0][6:0] host_word;
  logic [1:0][1:0][63:0] data;

  for (genvar i = 0; i < 2; i++) begin : gen_copy
    sluice_xdp_reader u_dut (
        .clk_i,
        .rst_ni,
        .start_i,
        .idle_o         (idle[i]),
        .block_i,
        .fault_o        (fault[i]),
        .word_valid_o   (word_valid[i]),
        .word_ready_i,
        .word_o         (word[i]),
        .last_o         (last[i]),
        .read_valid_o   (read_valid[i]),
        .read_ready_i,
        .read_place_o   (place[i]),
        .read_data_i    (data[i]),
        .request_valid_o(request_valid[i]),
        .request_ready_i,
        .request_o      (request[i]),
        .done_valid_i,
        .done_fault_i,
        .done_value_i,
        .host_valid_o   (host_valid[i]),
        .host_word_o    (host_word[i]),
        .host_data_i
    );
  end

  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;
  always_comb assume (rst_ni == !init_q);

  localparam logic [2:0] Idle = 3'd0, Check = 3'd1, Packet = 3'd2, Host = 3'd3, Values = 3'd4, Answer = 3'd5;
  logic [2:0] state;
  assign state = gen_copy[0].u_dut.state_q;

  // The block under way, and how many words of it were asked for.
  xdp_block_t block_q;
  logic [6:0] asked_q;
  logic waits_q, asks, judged_q;
  // Words of it that were taken, and that it has.
  logic [6:0] given_q, words;
  assign words = 7'((block_q.bytes + 10'd7) >> 3);
  // The first word is read before it is known whether the block lies there.
  logic thrown;
  assign thrown = state == Check && !gen_copy[0].u_dut.begins;
  assign asks   = (read_valid[0] && read_ready_i && !thrown) || (request_valid[0] && request_ready_i) || host_valid[0];
  always_ff @(posedge clk_i) begin
    // With the last word, too.
    if (idle[0] && (!word_valid[0] || word_ready_i)) begin
      block_q  <= block_i;
      asked_q  <= '0;
      given_q  <= '0;
      judged_q <= 1'b0;
    end else begin
      if (word_valid[0] && word_ready_i) given_q <= given_q + 7'd1;
      if (asks) asked_q <= asked_q + 7'd1;
      if (done_valid_i) judged_q <= 1'b1;
    end
    if (!rst_ni) waits_q <= 1'b0;
    else if (request_valid[0] && request_ready_i) waits_q <= 1'b1;
    else if (done_valid_i) waits_q <= 1'b0;
  end
  always_comb begin
    if (start_i) assume (block_i.bytes inside {[10'd1 : 10'd512]});
    // Values answer what they were asked.
    assume (!done_valid_i || waits_q);
  end

  // Whether the packet may see a byte of packet memory.
  function automatic logic visible(xdp_block_t of, logic [18:0] at, logic [2:0] of_word);
    logic [18:0] distance, offset, ahead;
    distance = at - {of.base, 3'd0};
    // Frames of functions that are open.
    ahead = -distance;
    if (ahead != '0 && ahead <= 19'({of.depth, 6'd0})) return 1'b1;
    if (distance < 19'(StackWords)) return of.written[distance[5:0]];
    offset = distance - 19'(StackWords);
    return offset < 19'd2048 && {offset[10:0], of_word} >= of.bounds.meta && {offset[10:0], of_word} < of.bounds.past;
  endfunction

  logic [18:0] place_q;
  always_ff @(posedge clk_i) if (read_valid[0] && read_ready_i) place_q <= place[0];
  always_comb begin
    for (int unsigned i = 0; i < 2; i++) begin
      for (int unsigned w = 0; w < 2; w++) begin
        for (int unsigned b = 0; b < 8; b++) begin
          data[i][w][8*b+:8] = visible(block_q, place_q + 19'(w), 3'(b)) ? seen_i[w][8*b+:8] : hidden_i[i][w][8*b+:8];
        end
      end
    end
  end

  NothingElseIsSeen_A :
  assert property (@(posedge clk_i) !rst_ni || (word_valid[0] == word_valid[1] && (!word_valid[0] || word[0] == word[1])));
  NothingElseDecides_A :
  assert property (@(posedge clk_i) !rst_ni || (idle[0] == idle[1] && fault[0] == fault[1] && (!word_valid[0] || last[0] == last[1]) &&
      read_valid[0] == read_valid[1] && (!read_valid[0] || place[0] == place[1]) && request_valid[0] == request_valid[1] &&
      (!request_valid[0] || request[0] == request[1]) && host_valid[0] == host_valid[1] && (!host_valid[0] || host_word[0] == host_word[1])));
  RequestsAreOfTheBlock_A :
  assert property (@(posedge clk_i) !rst_ni || !request_valid[0] || (request[0].kind == RequestLoad && !block_q.host &&
      request[0].module_id == block_q.module_id && request[0].regions == block_q.regions &&
      64'(request[0].address) == block_q.address + {54'd0, asked_q, 3'd0} && request[0].span >= 10'(request[0].bytes)));
  TheFirstSpanIsTheBlock_A :
  assert property (@(posedge clk_i) !rst_ni || !request_valid[0] || asked_q != '0 || request[0].span == block_q.bytes);
  RequestsEndWithTheBlock_A :
  assert property (@(posedge clk_i) !rst_ni || !request_valid[0] || {3'd0, asked_q, 3'd0} + 13'(request[0].bytes) <= 13'(block_q.bytes));
  TheHostReadsItsOwn_A :
  assert property (@(posedge clk_i) !rst_ni || (host_valid[0] ? block_q.host : !(block_q.host && (read_valid[0] || request_valid[0]))));
  // Words come all or none: who waits for the last one gets it.
  TheLastWordIsTheBlocksLast_A :
  assert property (@(posedge clk_i) !rst_ni || !word_valid[0] || last[0] == (given_q + 7'd1 == words));
  NoFaultBehindAWord_A :
  assert property (@(posedge clk_i) !rst_ni || !fault[0] || !word_valid[0]);
  OnlyTheFirstAnswerRefuses_A :
  assert property (@(posedge clk_i) !rst_ni || init_q || !fault[0] || asked_q <= 7'd1);
  ReadHoldsUntilReady_A :
  assert property (@(posedge clk_i) !rst_ni || init_q || !$past(
      rst_ni
  ) || !$past(
      read_valid[0] && !read_ready_i && !thrown
  ) || (read_valid[0] && $stable(
      place[0]
  )));
  RequestHoldsUntilReady_A :
  assert property (@(posedge clk_i) !rst_ni || init_q || !$past(
      rst_ni
  ) || !$past(
      request_valid[0] && !request_ready_i
  ) || (request_valid[0] && $stable(
      request[0]
  )));

  ABlockOfTheFrameEnds_C :
  cover property (@(posedge clk_i) rst_ni && word_valid[0] && last[0] && !block_q.host && asked_q == 7'd2 && block_q.address[31:28] == 4'd2);
  ABlockOfTheStackEnds_C :
  cover property (@(posedge clk_i) rst_ni && word_valid[0] && last[0] && !block_q.host && asked_q == 7'd2 && block_q.address[31:28] == 4'd3);
  AValueIsRefused_C :
  cover property (@(posedge clk_i) rst_ni && fault[0] && block_q.address[31:28] == 4'd4);

  // Strengthening for the induction.
  logic [14:0] past_block;
  logic [12:0] done;
  assign past_block = 15'(block_q.address[13:0]) + 15'(block_q.bytes);
  assign done = {3'd0, asked_q, 3'd0};
  // A block on the stack, and the word of memory that it begins with.
  logic stacked, in_first;
  logic [18:0] stack_begin;
  assign stacked = block_q.address[31:28] == StackAddress[31:28];
  assign in_first = gen_copy[0].u_dut.in_first_q;
  assign stack_begin = {block_q.base, 3'd0} + 19'(block_q.address[8:3]) - 19'({block_q.address[12:10], 6'd0});

  SameState_A :
  assert property (@(posedge clk_i) !rst_ni || (gen_copy[0].u_dut.state_q == gen_copy[1].u_dut.state_q && gen_copy[0].u_dut.pending_q == gen_copy[1].u_dut.pending_q && gen_copy[0].u_dut.fault_o == gen_copy[1].u_dut.fault_o));
  SameBlock_A :
  assert property (@(posedge clk_i) !rst_ni || state == Idle || (gen_copy[0].u_dut.left_q == gen_copy[1].u_dut.left_q && gen_copy[0].u_dut.host_q == gen_copy[1].u_dut.host_q && gen_copy[0].u_dut.first_q == gen_copy[1].u_dut.first_q && gen_copy[0].u_dut.judged_q == gen_copy[1].u_dut.judged_q &&
      (state == 3'd6 || (gen_copy[0].u_dut.block_q == block_q && gen_copy[1].u_dut.block_q == block_q))));
  SamePlace_A :
  assert property (@(posedge clk_i) !rst_ni || state == Idle || state == Check || (gen_copy[0].u_dut.place_q == gen_copy[1].u_dut.place_q && gen_copy[0].u_dut.address_q == gen_copy[1].u_dut.address_q && gen_copy[0].u_dut.in_first_q == gen_copy[1].u_dut.in_first_q));
  SamePending_A :
  assert property (@(posedge clk_i) !rst_ni || !gen_copy[0].u_dut.pending_q ||
      (gen_copy[0].u_dut.pending_host_q == gen_copy[1].u_dut.pending_host_q && gen_copy[0].u_dut.pending_last_q == gen_copy[1].u_dut.pending_last_q &&
       gen_copy[0].u_dut.pending_bytes_q == gen_copy[1].u_dut.pending_bytes_q && gen_copy[0].u_dut.pending_byte_q == gen_copy[1].u_dut.pending_byte_q &&
       gen_copy[0].u_dut.pending_unset_q == gen_copy[1].u_dut.pending_unset_q));
  SameQueue_A :
  assert property (@(posedge clk_i) !rst_ni || (gen_copy[0].u_dut.u_words.level_q == gen_copy[1].u_dut.u_words.level_q &&
      gen_copy[0].u_dut.u_words.rd_ptr_q == gen_copy[1].u_dut.u_words.rd_ptr_q && gen_copy[0].u_dut.u_words.wr_ptr_q == gen_copy[1].u_dut.u_words.wr_ptr_q &&
      2'(gen_copy[0].u_dut.u_words.wr_ptr_q - gen_copy[0].u_dut.u_words.rd_ptr_q) == gen_copy[0].u_dut.u_words.level_q[1:0] &&
      gen_copy[0].u_dut.u_words.level_q <= 3'd4 && gen_copy[0].u_dut.u_words.valid_q == (gen_copy[0].u_dut.u_words.level_q != '0) &&
      gen_copy[1].u_dut.u_words.valid_q == (gen_copy[0].u_dut.u_words.level_q != '0)));
  for (genvar e = 0; e < 4; e++) begin : gen_entry
    SameWord_A :
    assert property (@(posedge clk_i) !rst_ni || 3'(2'(2'(e) - gen_copy[0].u_dut.u_words.rd_ptr_q)) >= gen_copy[0].u_dut.u_words.level_q ||
        gen_copy[0].u_dut.u_words.mem[e] == gen_copy[1].u_dut.u_words.mem[e]);
  end
  // The last word is the newest.
  localparam logic [2:0] Drain = 3'd6;
  for (genvar e = 0; e < 4; e++) begin : gen_last
    LastIsNewest_A :
    assert property (@(posedge clk_i) !rst_ni || 3'(2'(2'(e) - gen_copy[0].u_dut.u_words.rd_ptr_q)) >= gen_copy[0].u_dut.u_words.level_q ||
        gen_copy[0].u_dut.u_words.mem[e][64] == (state == Drain && !gen_copy[0].u_dut.pending_q &&
        3'(2'(2'(e) - gen_copy[0].u_dut.u_words.rd_ptr_q)) == gen_copy[0].u_dut.u_words.level_q - 3'd1));
  end
  ThereIsRoom_A :
  assert property (@(posedge clk_i) !rst_ni || !(gen_copy[0].u_dut.pending_q || state == Answer) || gen_copy[0].u_dut.u_words.level_q < 3'd4);
  LastIsOnItsWay_A :
  assert property (@(posedge clk_i) !rst_ni || ((!gen_copy[0].u_dut.pending_q || gen_copy[0].u_dut.pending_last_q == (state == Drain)) &&
      (state != Drain || gen_copy[0].u_dut.pending_q || gen_copy[0].u_dut.u_words.level_q != '0)));
  // Where a block under way stands.
  TheBlockIsInside_A :
  assert property (@(posedge clk_i) !rst_ni || state != Packet || (!block_q.host && block_q.bytes inside {[10'd1 : 10'd512]} && done < 13'(block_q.bytes) &&
      gen_copy[0].u_dut.left_q == 10'(13'(block_q.bytes) - done) && (stacked ?
      (gen_copy[0].u_dut.place_q == stack_begin + 19'(asked_q) && in_first == (block_q.address[12:10] == '0) && block_q.address[12:10] <= block_q.depth && 10'(block_q.address[8:0]) + block_q.bytes <= 10'd512) :
      (gen_copy[0].u_dut.place_q == {block_q.base, 3'd0} + 19'(StackWords) + 19'(block_q.address[13:3]) + 19'(asked_q) && !in_first &&
       block_q.address[13:0] >= block_q.bounds.meta && past_block <= 15'(block_q.bounds.past)))));
  APendingWordIsInside_A :
  assert property (@(posedge clk_i) !rst_ni || !gen_copy[0].u_dut.pending_q || gen_copy[0].u_dut.pending_host_q || (state > Check && asked_q != '0 && asked_q <= 7'd64 &&
      gen_copy[0].u_dut.pending_byte_q == block_q.address[2:0] && done - 13'd8 + 13'(gen_copy[0].u_dut.pending_bytes_q) <= 13'(block_q.bytes) &&
      gen_copy[0].u_dut.pending_bytes_q <= 4'd8 && block_q.bytes <= 10'd512 && (stacked ?
      (place_q == stack_begin + 19'(asked_q) - 19'd1 && in_first == (block_q.address[12:10] == '0) && block_q.address[12:10] <= block_q.depth && 10'(block_q.address[8:0]) + block_q.bytes <= 10'd512 &&
       gen_copy[0].u_dut.pending_unset_q == ({2{in_first}} & {!block_q.written[6'(6'(place_q) - {block_q.base[2:0], 3'd0} + 6'd1)], !block_q.written[6'(6'(place_q) - {block_q.base[2:0], 3'd0})]})) :
      (place_q == {block_q.base, 3'd0} + 19'(StackWords) + 19'(block_q.address[13:3]) + 19'(asked_q) - 19'd1 && gen_copy[0].u_dut.pending_unset_q == '0 &&
       block_q.address[13:0] >= block_q.bounds.meta && past_block <= 15'(block_q.bounds.past)))));
  AValueIsInside_A :
  assert property (@(posedge clk_i) !rst_ni || !(state inside {Values, Answer}) || (!block_q.host && block_q.address[63:32] == '0 && block_q.address[31:28] inside {[4'd4 : 4'd8]} &&
      64'(gen_copy[0].u_dut.address_q) == block_q.address + {51'd0, done} && asked_q <= 7'd64 && gen_copy[0].u_dut.first_q == (asked_q == '0) &&
      block_q.bytes inside {[10'd1 : 10'd512]} && gen_copy[0].u_dut.left_q == ((done < 13'(block_q.bytes)) ? 10'(13'(block_q.bytes) - done) : 10'd0) &&
      (state == Answer ? (waits_q && asked_q != '0 && (judged_q || (asked_q == 7'd1 && gen_copy[0].u_dut.u_words.level_q == '0))) : (!waits_q && done < 13'(block_q.bytes) && judged_q == (asked_q != '0) && (asked_q != '0 || gen_copy[0].u_dut.u_words.level_q == '0))) &&
      gen_copy[0].u_dut.judged_q == judged_q && !gen_copy[0].u_dut.pending_q));
  WordsAreCounted_A :
  assert property (@(posedge clk_i) !rst_ni || state inside {Idle, Check} || (given_q + 7'(gen_copy[0].u_dut.u_words.level_q) + 7'(gen_copy[0].u_dut.pending_q) +
      7'(state == Answer) == asked_q && asked_q <= words && (state != Drain || asked_q == words)));
  ABlockHasBytes_A :
  assert property (@(posedge clk_i) !rst_ni || state == Idle || (state <= Drain && block_q.bytes inside {[10'd1 : 10'd512]}));
  NoneIsGivenBefore_A :
  assert property (@(posedge clk_i) !rst_ni || state != Check || given_q == '0);
  TheHostsBlockIsInside_A :
  assert property (@(posedge clk_i) !rst_ni || state != Host || (block_q.bytes inside {[10'd1 : 10'd512]} && done < 13'(block_q.bytes) &&
      gen_copy[0].u_dut.left_q == 10'(13'(block_q.bytes) - done)));
  HostOnly_A :
  assert property (@(posedge clk_i) !rst_ni || ((state != Host || block_q.host) && (state == Values || state == Answer || !waits_q) &&
      (state != Idle && state != Check || (asked_q == '0 || state == Idle) && !gen_copy[0].u_dut.pending_q && gen_copy[0].u_dut.u_words.level_q == '0) &&
      (state != Check || (!judged_q && asked_q == '0 && !gen_copy[0].u_dut.judged_q && gen_copy[0].u_dut.left_q == block_q.bytes && gen_copy[0].u_dut.first_q && block_q.bytes inside {[10'd1 : 10'd512]})) &&
      (!fault[0] || (state == Idle))));

endmodule
