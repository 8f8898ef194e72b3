/// Reads a block of bytes that a program points to, for a unit: from its frame, its stack, a value of a map, or the host's data.
///
/// `start_i` takes a block when `idle_o` is high: while a last word is offered, with that. Its bytes come by 8 (`word_valid_o`, `word_ready_i`), the last with `last_o`, zero
/// behind the block's end; a word of the program's own stack that nobody wrote is zero. A block that is not in one piece of the
/// program's memory gives `fault_o` for a cycle and no word. Pages that the host takes away while a block of theirs is read give zeros
/// from there on: words come all or none, and nobody waits for the rest.
///
/// Latency: 3 cycles to the first word from packet memory, 10 from values. Throughput: a word a cycle from packet memory, one in 8 from values.
/// Stall behaviour: requests hold until taken; no more words are asked for than there is room for.
module sluice_xdp_reader
  import sluice_xdp_pkg::*;
(
    input logic clk_i,
    input logic rst_ni,

    input  logic       start_i,
    output logic       idle_o,
    input  xdp_block_t block_i,

    output logic        fault_o,
    output logic        word_valid_o,
    input  logic        word_ready_i,
    output logic [63:0] word_o,
    output logic        last_o,

    // Packet memory: the place's word and the one behind it come in the cycle behind a read that was taken.
    output logic                   read_valid_o,
    input  logic                   read_ready_i,
    output xdp_place_t             read_place_o,
    input  logic       [1:0][63:0] read_data_i,

    // Values; the answer comes some cycles later.
    output logic                request_valid_o,
    input  logic                request_ready_i,
    output xdp_request_t        request_o,
    input  logic                done_valid_i,
    input  logic                done_fault_i,
    input  logic         [63:0] done_value_i,

    // The host's data: the word comes in the cycle behind its number.
    output logic        host_valid_o,
    output logic [ 6:0] host_word_o,
    input  logic [63:0] host_data_i
);

  // Words that were read and not taken.
  localparam int unsigned Room = 4;

  typedef enum logic [2:0] {
    Idle,
    Check,
    Packet,
    Host,
    Values,
    Answer,  // of the values
    Drain
  } state_e;

  state_e state_q;
  xdp_block_t block_q;
  logic [9:0] left_q;  // bytes that were not asked for
  logic [18:0] place_q;
  logic [6:0] host_q;
  logic [31:0] address_q;
  logic first_q, judged_q, refused;
  logic in_stack, in_first_q, in_packet, in_values, high;
  logic [OffsetBits-1:0] offset;
  logic [9:0] stack_end;
  logic [OffsetBits:0] packet_end;

  assign idle_o = state_q == Idle || (state_q == Drain && word_valid_o && last_o);
  assign high = block_q.address[63:32] != '0;
  assign offset = block_q.address[OffsetBits-1:0];
  assign packet_end = (OffsetBits + 1)'(offset) + (OffsetBits + 1)'(block_q.bytes);
  assign stack_end = {1'b0, block_q.address[8:0]} + block_q.bytes;
  assign in_packet = !high && block_q.address[31:OffsetBits] == PacketAddress[31:OffsetBits] &&
      offset >= block_q.bounds.meta && packet_end <= (OffsetBits + 1)'(block_q.bounds.past);
  assign in_stack = !high && on_stack(block_q.address[31:0], block_q.depth) && stack_end <= 10'd512;
  assign in_values = !high && block_q.address[31:28] inside {[4'd4 : 4'd8]};

  // A word under way from packet memory or the host, with what it is made of.
  logic asks, pending_q, pending_host_q, pending_last_q, room;
  logic [1:0] pending_unset_q, unset;
  logic [2:0] pending_byte_q;
  logic [3:0] pending_bytes_q, bytes;
  logic [127:0] pair;
  logic [$clog2(Room+1)-1:0] level;
  logic put, put_ready, put_last;
  logic [63:0] put_word;
  logic [ 5:0] stack_word;

  assign bytes = (left_q >= 10'd8) ? 4'd8 : left_q[3:0];
  assign room  = 32'(level) + 32'(pending_q) < Room;
  // The first word is read where the address says, before it is known whether the block lies there: else it is thrown away.
  logic [18:0] place;
  logic begins, in_first, reads;
  assign begins   = state_q == Check && !block_q.host && (in_stack || in_packet);
  // Frames of functions are cleared when they are entered; the stack lies before the buffer.
  assign in_first = (state_q == Check) ? in_stack && frame_of(block_q.address[31:0]) == '0 : in_first_q;
  always_comb begin
    place = place_q;
    if (state_q == Check) begin
      place = block_q.address[28] ? {stack_row(block_q.base, block_q.address[31:0]), block_q.address[5:3]} :
          place_of(block_q.base, offset);
    end
  end
  assign stack_word = place[5:0] - {block_q.base[2:0], 3'd0};
  assign unset = {!block_q.written[6'(stack_word+6'd1)], !block_q.written[stack_word]};

  assign reads = state_q == Check && !block_q.host && block_q.address[31:29] == PacketAddress[31:29];
  assign read_valid_o = reads || (state_q == Packet && room);
  assign read_place_o = place;
  assign host_valid_o = state_q == Host && room;
  assign host_word_o = host_q;
  assign asks = ((begins || (state_q == Packet && room)) && read_ready_i) || host_valid_o;

  assign request_valid_o = state_q == Values && room;
  always_comb begin
    request_o = '0;
    request_o.kind = RequestLoad;
    request_o.module_id = block_q.module_id;
    request_o.regions = block_q.regions;
    request_o.address = address_q;
    request_o.bytes = bytes;
    // The whole block lies in one value; then each word of it does.
    request_o.span = first_q ? block_q.bytes : 10'(bytes);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= Idle;
      pending_q <= 1'b0;
      fault_o   <= 1'b0;
    end else begin
      fault_o   <= 1'b0;
      pending_q <= asks;
      case (state_q)
        Idle: if (start_i) state_q <= Check;
        Check: begin
          if (block_q.host) state_q <= Host;
          else if (begins) state_q <= (asks && left_q <= 10'd8) ? Drain : Packet;
          else if (in_values) state_q <= Values;
          else begin
            state_q <= Idle;
            fault_o <= 1'b1;
          end
        end
        Packet, Host: if (asks && left_q <= 10'd8) state_q <= Drain;
        Values: if (request_valid_o && request_ready_i) state_q <= Answer;
        Answer:
        if (done_valid_i) begin
          state_q <= (left_q == '0) ? Drain : Values;
          if (refused) begin
            state_q <= Idle;
            fault_o <= 1'b1;
          end
        end
        default: if (word_valid_o && word_ready_i && last_o) state_q <= start_i ? Check : Idle;
      endcase
    end
  end

  // The first answer is about the whole block.
  assign refused = done_fault_i && !judged_q;
  always_ff @(posedge clk_i) begin
    if (state_q inside {Idle, Drain}) judged_q <= 1'b0;
    else if (state_q == Answer && done_valid_i) judged_q <= 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (state_q inside {Idle, Drain}) begin
      block_q <= block_i;
      left_q  <= block_i.bytes;
      host_q  <= block_i.address[6:0];
      first_q <= 1'b1;
    end
    in_first_q <= in_first;
    place_q    <= place;
    if (asks || (request_valid_o && request_ready_i)) begin
      place_q   <= place + 19'd1;
      host_q    <= host_q + 7'd1;
      address_q <= address_q + 32'd8;
      left_q    <= left_q - 10'(bytes);
      first_q   <= 1'b0;
    end
    if (state_q == Check) address_q <= block_q.address[31:0];
    pending_host_q  <= state_q == Host;
    pending_last_q  <= left_q <= 10'd8;
    pending_bytes_q <= bytes;
    pending_byte_q  <= block_q.address[2:0];
    pending_unset_q <= in_first ? unset : 2'b00;
  end


  assign pair = {pending_unset_q[1] ? 64'd0 : read_data_i[1], pending_unset_q[0] ? 64'd0 : read_data_i[0]};
  always_comb begin
    put_word = pending_host_q ? host_data_i : 64'(pair >> {pending_byte_q, 3'd0});
    put_word = put_word & bit_mask(pending_bytes_q);
    put_last = pending_last_q;
    if (state_q == Answer) begin
      put_word = done_fault_i ? '0 : done_value_i;
      put_last = left_q == '0;
    end
  end
  assign put = pending_q || (state_q == Answer && done_valid_i && !refused);

  sluice_fifo #(
      .Width(65),
      .Depth(Room)
  ) u_words (
      .clk_i,
      .rst_ni,
      .valid_i(put),
      .ready_o(put_ready),
      .data_i ({put_last, put_word}),
      .valid_o(word_valid_o),
      .ready_i(word_ready_i),
      .data_o ({last_o, word_o}),
      .level_o(level)
  );

`ifndef SYNTHESIS
  WordsHaveRoom_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) !put || put_ready);
`endif

endmodule
