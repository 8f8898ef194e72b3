/// One node of the configuration ring.
///
/// Messages come in on `s_*` and leave on `m_*` towards the next node; docs/design/nic.md,
/// "Configuration", has their form. A message for this node is taken off: its row is assembled
/// in a shadow register, its checksum compared, and when it is right the access is given to
/// the tables in one cycle (`req_valid_o`, with `req_o` stable until the answer). The answer
/// (`rsp_valid_i`, one cycle) becomes the reply. Other messages pass through.
///
/// A row has up to `RowWords` words. `req_o` has the first MessageDataWords of them, and their number up to
/// 15; `row_o` and `words_o` have all: a row of n words stands in the upper 32 * n bits of `row_o`, the
/// first word lowest (it is shifted in, so that a wide row costs no decoder). Both are stable like `req_o`.
///
/// A message for this node with a wrong checksum, fewer than three or more than 3 + RowWords words,
/// or a pause of `MessageTimeoutCycles` inside is discarded and reported (`bad_message_o`,
/// `timeout_o`); nothing is answered, the host asks again. What comes after the pause is
/// discarded up to the next last word.
///
/// Behind a reset the first message is that of sluice_shell_clear, whoever it is for: each of its words is taken as the
/// access's table and index and passes on; a cycle later `req_o.clear` is high with it. From the reset until the host's
/// first write the row is zero.
///
/// Latency: 1 cycle for messages that pass. Throughput: one word a cycle.
/// Stall behaviour: a message in the node waits for its reply to be taken; so do those behind.
module sluice_shell_cfg_node
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
#(
    parameter logic [7:0] Node = 8'd0,
    parameter int unsigned RowWords = MessageDataWords
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic        s_valid_i,
    output logic        s_ready_o,
    input  logic [31:0] s_data_i,
    input  logic        s_last_i,

    output logic        m_valid_o,
    input  logic        m_ready_i,
    output logic [31:0] m_data_o,
    output logic        m_last_o,

    output logic                       req_valid_o,
    output cfg_req_t                   req_o,
    output logic     [32*RowWords-1:0] row_o,
    output logic     [            6:0] words_o,
    input  logic                       rsp_valid_i,
    input  cfg_rsp_t                   rsp_i,

    output logic bad_message_o,
    output logic timeout_o
);

  localparam int unsigned TimerWidth = $clog2(MessageTimeoutCycles + 1);
  localparam int unsigned CountWidth = $clog2(RowWords + 1);

  if (RowWords < MessageDataWords || RowWords > 127) begin : gen_bad_row_words
    $fatal(1, "shell_cfg_node: RowWords is %0d, expected %0d to 127 (%m)", RowWords, MessageDataWords);
  end

  typedef enum logic [2:0] {
    StAwaitHeader,
    StPass,
    StAwaitWords,
    StDiscard,
    StCompare,
    StCheck,
    StAwaitAnswer,
    StSendReply
  } state_e;

  state_e state_d, state_q;
  logic address_next_d, address_next_q;
  logic [CountWidth-1:0] count_d, count_q;  // words of the row taken, or on their way
  logic overlong_d, overlong_q;
  logic checksum_ok_q;
  logic [31:0] crc_q;
  logic [31:0] header_d, header_q;
  // The words that come are rows to clear; each is cleared in the cycle behind its own.
  logic clears_q;
  cfg_req_t req_q;
  logic [MessageDataWords-1:0][31:0] answer_q;
  logic [31:0] word_d, word_q;  // taken last, or to be sent next
  logic crc_word_d, crc_word_q;  // it was taken and belongs to the checksum
  logic [4:0] left_d, left_q;  // words to be sent behind it, without the checksum
  logic reply_crc_d, reply_crc_q;
  logic [TimerWidth-1:0] timer_d, timer_q;
  logic bad_message_d, timeout_d;

  logic store, store_address;
  logic [32*RowWords-1:0] row_q;

  logic mine, take, send, sending, req_valid_q;
  logic out_valid, out_ready, out_last;
  logic [31:0] out_data;
  logic [31:0] crc_block;

  assign sending = state_q == StSendReply;
  assign mine = s_data_i[23:16] == Node;
  assign take = s_valid_i && s_ready_o;
  assign send = sending && out_ready;

  // The block gives ~step(~0 ^ data); with data = ~(crc ^ word) that is ~step(crc ^ word).
  sluice_crc32c #(
      .Width(32)
  ) u_crc (
      .data_i(~(crc_q ^ word_q)),
      .crc_o (crc_block)
  );

  assign out_data  = !sending ? s_data_i : reply_crc_q ? ~crc_q : word_q;
  assign out_last  = sending ? reply_crc_q : s_last_i;
  assign out_valid = sending || (s_valid_i && (state_q == StPass || (state_q == StAwaitHeader && !mine)));

  always_comb begin
    unique case (state_q)
      StAwaitHeader:           s_ready_o = mine || out_ready;
      StPass:                  s_ready_o = out_ready;
      StAwaitWords, StDiscard: s_ready_o = 1'b1;
      default:                 s_ready_o = 1'b0;
    endcase
  end

  always_comb begin
    state_d        = state_q;
    address_next_d = address_next_q;
    count_d        = count_q;
    overlong_d     = overlong_q;
    header_d       = header_q;
    word_d         = reply_header(rsp_i.status);
    crc_word_d     = 1'b0;
    left_d         = left_q;
    reply_crc_d    = 1'b0;
    timer_d        = '0;
    bad_message_d  = 1'b0;
    timeout_d      = 1'b0;
    store          = 1'b0;
    store_address  = 1'b0;

    unique case (state_q)
      StAwaitHeader: begin
        address_next_d = 1'b1;
        count_d        = '0;
        overlong_d     = 1'b0;
        header_d       = s_data_i;
        word_d         = s_data_i;
        if (take) begin
          if (mine) begin
            crc_word_d    = 1'b1;
            bad_message_d = s_last_i;
            if (!s_last_i) state_d = StAwaitWords;
          end else if (!s_last_i) begin
            state_d = StPass;
          end
        end
      end
      StPass: begin
        if (take && s_last_i) state_d = StAwaitHeader;
      end
      StAwaitWords: begin
        timer_d = timer_q + 1'b1;
        word_d  = s_data_i;
        if (s_valid_i) begin
          timer_d    = '0;
          crc_word_d = !s_last_i;
          if (s_last_i) begin
            state_d = StCompare;
          end else if (address_next_q) begin
            address_next_d = 1'b0;
            store_address  = 1'b1;
          end else if (count_q == CountWidth'(RowWords)) begin
            overlong_d = 1'b1;
          end else begin
            count_d = count_q + CountWidth'(1);
            store   = 1'b1;
          end
        end else if (timer_q == TimerWidth'(MessageTimeoutCycles)) begin
          timeout_d = 1'b1;
          state_d   = StDiscard;
        end
      end
      // What is left of a message is never taken for the head of another.
      StDiscard: begin
        if (take && s_last_i) state_d = StAwaitHeader;
      end
      // All words but the last are in `crc_q` now, the last one is in `word_q`.
      StCompare: state_d = StCheck;
      StCheck: begin
        left_d = 5'd1;
        if (!checksum_ok_q || overlong_q || address_next_q) begin
          bad_message_d = 1'b1;
          state_d       = StAwaitHeader;
        end else if (header_q[31:28] != OpWrite && header_q[31:28] != OpRead) begin
          word_d  = reply_header(StatusBadOp);
          state_d = StSendReply;
        end else if (header_q[31:28] == OpRead && count_q != '0) begin
          word_d  = reply_header(StatusBadLength);
          state_d = StSendReply;
        end else begin
          state_d = StAwaitAnswer;
        end
        address_next_d = 1'b1;
        count_d        = '0;
      end
      StAwaitAnswer: begin
        left_d = (req_q.write || rsp_i.status != StatusOk) ? 5'd1 : 5'(rsp_i.words) + 5'd1;
        if (rsp_valid_i) state_d = StSendReply;
      end
      StSendReply: begin
        word_d      = word_q;
        reply_crc_d = reply_crc_q;
        if (out_ready) begin
          word_d         = address_next_q ? {req_q.tab, req_q.index} : answer_q[count_q[$clog2(MessageDataWords)-1:0]];
          address_next_d = 1'b0;
          if (!address_next_q) count_d = count_q + CountWidth'(1);
          left_d      = left_q - 5'd1;
          reply_crc_d = left_q == '0;
          if (reply_crc_q) state_d = StAwaitHeader;
        end
      end
      default:   state_d = StAwaitHeader;
    endcase
  end

  function automatic logic [31:0] reply_header(cfg_status_e status);
    return {1'b1, header_q[30:28], 4'(status), Node, header_q[15:0]};
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q       <= StPass;
      clears_q      <= 1'b1;
      timer_q       <= '0;
      req_valid_q   <= 1'b0;
      crc_word_q    <= 1'b0;
      bad_message_o <= 1'b0;
      timeout_o     <= 1'b0;
    end else begin
      state_q       <= state_d;
      clears_q      <= clears_q && !(take && s_last_i);
      timer_q       <= timer_d;
      req_valid_q   <= state_q == StCheck && state_d == StAwaitAnswer;
      crc_word_q    <= crc_word_d;
      bad_message_o <= bad_message_d;
      timeout_o     <= timeout_d;
    end
  end

  always_ff @(posedge clk_i) begin
    address_next_q <= address_next_d;
    count_q        <= count_d;
    overlong_q     <= overlong_d;
    checksum_ok_q  <= word_q == ~crc_q;
    header_q       <= header_d;
    word_q         <= word_d;
    left_q         <= left_d;
    reply_crc_q    <= reply_crc_d;
    if (state_q == StAwaitHeader || state_q == StCheck) crc_q <= '1;
    else if (crc_word_q || send) crc_q <= ~crc_block;
    req_q.clear <= rst_ni && clears_q;
    if (store_address || clears_q) {req_q.tab, req_q.index} <= s_data_i;
    if (state_q == StCheck) begin
      req_q.words <= (32'(count_q) > 32'd15) ? 4'd15 : 4'(count_q);
      req_q.write <= header_q[31:28] == OpWrite;
      words_o     <= 7'(count_q);
    end
    if (state_q == StAwaitAnswer) answer_q <= rsp_i.data;
    // What clears has zeros to write.
    if (!rst_ni) begin
      req_q.write <= 1'b1;
      req_q.data  <= '0;
      row_q       <= '0;
    end else if (store) begin
      row_q <= {s_data_i, row_q[32*RowWords-1:32]};
      for (int unsigned i = 0; i < MessageDataWords; i++) begin
        if (32'(count_q) == i) req_q.data[32*i+:32] <= s_data_i;
      end
    end
  end

  assign req_o = req_q;
  assign row_o = row_q;
  // RAM has no reset: before the first edge of a reset this register holds anything.
  assign req_valid_o = req_valid_q && rst_ni;

  sluice_skid #(
      .Width(33)
  ) u_out (
      .clk_i,
      .rst_ni,
      .valid_i(out_valid),
      .ready_o(out_ready),
      .data_i ({out_last, out_data}),
      .valid_o(m_valid_o),
      .ready_i(m_ready_i),
      .data_o ({m_last_o, m_data_o})
  );

endmodule
