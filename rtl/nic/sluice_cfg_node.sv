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
/// Latency: 1 cycle for messages that pass. Throughput: one word a cycle.
/// Stall behaviour: a message in the node waits for its reply to be taken; so do those behind.
module sluice_cfg_node
  import sluice_pkg::*;
  import sluice_nic_pkg::*;
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
  localparam int unsigned CountWidth = $clog2(RowWords + 2);

  if (RowWords < MessageDataWords || RowWords > 127) begin : gen_bad_row_words
    $fatal(1, "cfg_node: RowWords is %0d, expected %0d to 127 (%m)", RowWords, MessageDataWords);
  end

  typedef enum logic [2:0] {
    StAwaitHeader,
    StPass,
    StAwaitWords,
    StDiscard,
    StCheck,
    StAwaitAnswer,
    StSendReply
  } state_e;

  state_e state_d, state_q;
  logic [CountWidth-1:0] count_d, count_q;  // words taken, or sent
  logic overlong_d, overlong_q;
  logic checksum_ok_d, checksum_ok_q;
  logic [31:0] crc_d, crc_q;
  logic [31:0] header_d, header_q;
  cfg_req_t req_d, req_q;
  cfg_rsp_t rsp_d, rsp_q;
  logic [TimerWidth-1:0] timer_d, timer_q;

  logic [31:0] data_words;
  logic store;
  logic [32*RowWords-1:0] row_q;

  logic mine, take, send, req_valid_q;
  logic out_valid, out_ready, out_last;
  logic [31:0] out_data;
  logic [31:0] crc_word, crc_block, crc_before, crc_next;
  logic reply_is_crc;

  assign mine = s_data_i[23:16] == Node;
  assign take = s_valid_i && s_ready_o;
  assign send = out_valid && out_ready;

  // The block gives ~step(~0 ^ data); with data = ~(crc ^ word) that is ~step(crc ^ word).
  assign crc_word = (state_q == StSendReply) ? out_data : s_data_i;
  sluice_crc32c #(
      .Width(32)
  ) u_crc (
      .data_i(~(crc_before ^ crc_word)),
      .crc_o (crc_block)
  );
  assign crc_next = ~crc_block;
  // A header may follow a reply without a cycle between them.
  assign crc_before = (state_q == StAwaitHeader) ? '1 : crc_q;

  // Reply words: header, address, row, checksum.
  assign reply_is_crc = count_q == CountWidth'(2) + CountWidth'(rsp_q.words);
  always_comb begin
    if (reply_is_crc) out_data = ~crc_q;
    else if (count_q == '0) out_data = {1'b1, header_q[30:28], 4'(rsp_q.status), Node, header_q[15:0]};
    else if (count_q == CountWidth'(1)) out_data = {req_q.tab, req_q.index};
    else out_data = rsp_q.data[31:0];
    if (state_q != StSendReply) out_data = s_data_i;
  end
  assign out_last = (state_q == StSendReply) ? reply_is_crc : s_last_i;
  assign out_valid = (state_q == StSendReply) || (s_valid_i && (state_q == StPass || (state_q == StAwaitHeader && !mine)));

  always_comb begin
    unique case (state_q)
      StAwaitHeader:           s_ready_o = mine || out_ready;
      StPass:                  s_ready_o = out_ready;
      StAwaitWords, StDiscard: s_ready_o = 1'b1;
      default:                 s_ready_o = 1'b0;
    endcase
  end

  always_comb begin
    state_d       = state_q;
    count_d       = count_q;
    overlong_d    = overlong_q;
    checksum_ok_d = checksum_ok_q;
    crc_d         = crc_q;
    header_d      = header_q;
    req_d         = req_q;
    rsp_d         = rsp_q;
    timer_d       = '0;
    bad_message_o = 1'b0;
    timeout_o     = 1'b0;
    store         = 1'b0;

    unique case (state_q)
      StAwaitHeader: begin
        count_d    = '0;
        overlong_d = 1'b0;
        header_d   = s_data_i;
        if (take) begin
          if (mine) begin
            crc_d         = crc_next;
            bad_message_o = s_last_i;
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
        if (take) begin
          timer_d = '0;
          crc_d   = crc_next;
          if (s_last_i) begin
            checksum_ok_d = s_data_i == ~crc_q;
            state_d       = StCheck;
          end else if (count_q == CountWidth'(1 + RowWords)) begin
            overlong_d = 1'b1;
          end else begin
            count_d = count_q + CountWidth'(1);
            store   = count_q != '0;
            if (count_q == '0) {req_d.tab, req_d.index} = s_data_i;
            for (int unsigned i = 0; i < MessageDataWords; i++) begin
              if (32'(count_q) == 1 + i) req_d.data[32*i+:32] = s_data_i;
            end
          end
        end else if (timer_q == TimerWidth'(MessageTimeoutCycles)) begin
          timeout_o = 1'b1;
          state_d   = StDiscard;
        end
      end
      // What is left of a message is never taken for the head of another.
      StDiscard: begin
        if (take && s_last_i) state_d = StAwaitHeader;
      end
      StCheck: begin
        req_d.words = (data_words > 32'd15) ? 4'd15 : data_words[3:0];
        req_d.write = header_q[31:28] == OpWrite;
        rsp_d       = '{status: StatusOk, words: '0, data: '0};
        if (!checksum_ok_q || overlong_q || count_q == '0) begin
          bad_message_o = 1'b1;
          state_d       = StAwaitHeader;
        end else if (header_q[31:28] != OpWrite && header_q[31:28] != OpRead) begin
          rsp_d.status = StatusBadOp;
          state_d      = StSendReply;
        end else if (header_q[31:28] == OpRead && count_q != CountWidth'(1)) begin
          rsp_d.status = StatusBadLength;
          state_d      = StSendReply;
        end else begin
          state_d = StAwaitAnswer;
        end
        count_d = '0;
        crc_d   = '1;
      end
      StAwaitAnswer: begin
        if (rsp_valid_i) begin
          rsp_d   = rsp_i;
          state_d = StSendReply;
          if (req_q.write || rsp_i.status != StatusOk) rsp_d.words = '0;
        end
      end
      StSendReply: begin
        if (send) begin
          crc_d   = crc_next;
          count_d = count_q + CountWidth'(1);
          if (count_q > CountWidth'(1)) rsp_d.data = rsp_q.data >> 32;
          if (reply_is_crc) state_d = StAwaitHeader;
        end
      end
      default: state_d = StAwaitHeader;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q     <= StAwaitHeader;
      timer_q     <= '0;
      req_valid_q <= 1'b0;
    end else begin
      state_q     <= state_d;
      timer_q     <= timer_d;
      req_valid_q <= state_q == StCheck && state_d == StAwaitAnswer;
    end
  end

  always_ff @(posedge clk_i) begin
    count_q       <= count_d;
    overlong_q    <= overlong_d;
    checksum_ok_q <= checksum_ok_d;
    crc_q         <= crc_d;
    header_q      <= header_d;
    req_q         <= req_d;
    rsp_q         <= rsp_d;
    if (state_q == StCheck) words_o <= data_words[6:0];
    if (store) row_q <= {s_data_i, row_q[32*RowWords-1:32]};
  end

  assign data_words = 32'(count_q) - 32'd1;
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
