/// Proof about two copies of sluice_shell_cfg_node: the accesses that a node gives to its tables are the same in both and come
/// in the same cycle, whatever stands in messages for other nodes.
///
/// By k-induction, for runs of any length, with resets at any time. Words come, end messages and are taken in the same
/// cycles in both copies; messages for this node, and the one behind a reset that clears all tables, are the same in both; words of messages for
/// other nodes are free in each, headers but for the node's number among them. When messages come is not claimed: the
/// host sends them one behind the other, for all tenants. Whose rows an access may touch is said by the linker's check
/// (crates/object/src/linker/rmt/check.rs), and by the proofs of the tables.
module cfg_node
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
#(
    parameter logic [7:0] Node = 8'd3
) (
    input logic clk_i,
    input logic rst_ni,
    input logic valid_i,
    input logic last_i,
    input logic [31:0] data_i,
    input logic [1:0][31:0] other_i,
    input logic ready_i,
    input logic rsp_valid_i,
    input cfg_rsp_t rsp_i
);

  localparam int unsigned RowWords = MessageDataWords;
  logic init_q = 1'b1;
  always_ff @(posedge clk_i) init_q <= 1'b0;

  logic [1:0] ready, out_valid, out_last, req_valid, bad, late, head, ours, clearing;
  logic [1:0][31:0] out;
  cfg_req_t [1:0] req;
  logic [1:0][32*RowWords-1:0] row;
  logic [1:0][6:0] words;
  logic head_q, ours_q, offered_q, foreign_q;
  logic foreign;  // the word that comes is of a message for another node

  // Where messages begin: at the first word after the last one of the message before.
  assign foreign = !init_q && !clearing[0] && (head_q ? data_i[23:16] != Node : foreign_q);

  for (genvar k = 0; k < 2; k++) begin : gen_copy
    logic [31:0] data;
    // The number of the node in a header is in its place in all copies.
    assign data = !foreign ? data_i : head_q ? {other_i[k][31:24], data_i[23:16], other_i[k][15:0]} : other_i[k];
    sluice_shell_cfg_node #(
        .Node    (Node),
        .RowWords(RowWords)
    ) u_dut (
        .clk_i,
        .rst_ni,
        .s_valid_i    (valid_i),
        .s_ready_o    (ready[k]),
        .s_data_i     (data),
        .s_last_i     (last_i),
        .m_valid_o    (out_valid[k]),
        .m_ready_i    (ready_i),
        .m_data_o     (out[k]),
        .m_last_o     (out_last[k]),
        .req_valid_o  (req_valid[k]),
        .req_o        (req[k]),
        .row_o        (row[k]),
        .words_o      (words[k]),
        .rsp_valid_i,
        .rsp_i,
        .bad_message_o(bad[k]),
        .timeout_o    (late[k])
    );
    assign clearing[k] = u_dut.clears_q;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      head_q    <= 1'b0;
      foreign_q <= 1'b0;
    end else if (valid_i && ready[0]) begin
      head_q    <= last_i;
      foreign_q <= foreign;
    end
  end
  always_comb if (init_q) assume (!rst_ni);

  WordsAreTakenInBothOrNeither_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || ready[0] == ready[1]);
  AccessesAreTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   init_q || (req_valid[0] == req_valid[1] && (!req_valid[0] || (req[0] == req[1] && row[0] == row[1] &&
                                                                              words[0] == words[1]))));
  TablesAreClearedInBothOrNeither_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (req[0].clear == req[1].clear && (!req[0].clear ||
      (req[0].tab == req[1].tab && req[0].index == req[1].index))));
  WordsLeaveInTheSameCycle_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni)
                   init_q || (out_valid[0] == out_valid[1] && (!out_valid[0] || out_last[0] == out_last[1])));
  FaultsOfMessagesAreTheSame_A :
  assert property (@(posedge clk_i) disable iff (!rst_ni) init_q || (bad[0] == bad[1] && late[0] == late[1]));

  // Strengthening for the induction: what has to do with this node's messages is the same.
  typedef struct packed {
    logic [2:0] state;
    logic clears, req_valid, crc_word, skid_valid, skid_ready;
    cfg_req_t req;
    logic [32*RowWords-1:0] row;
    logic [6:0] words;
    logic last, skid_last;
    logic [4:0] left;
    logic [255:0] answer;
  } always_t;
  typedef struct packed {
    logic address_next, overlong, checksum_ok, reply_crc;
    logic [3:0] count;
    logic [31:0] crc, header, word;
    logic [12:0] timer;
  } message_t;
  always_t [1:0] held;
  message_t [1:0] message;
  logic [1:0] idle;
  for (genvar k = 0; k < 2; k++) begin : gen_inside
    assign held[k] = '{
            state: gen_copy[k].u_dut.state_q,
            clears: clearing[k],
            req_valid: gen_copy[k].u_dut.req_valid_q,
            crc_word: gen_copy[k].u_dut.crc_word_q,
            skid_valid: gen_copy[k].u_dut.u_out.valid_q,
            skid_ready: gen_copy[k].u_dut.u_out.ready_q,
            req: req[k],
            row: row[k],
            words: words[k],
            last: gen_copy[k].u_dut.u_out.data_q[32] && gen_copy[k].u_dut.u_out.valid_q,
            skid_last: gen_copy[k].u_dut.u_out.skid_q[32] && !gen_copy[k].u_dut.u_out.ready_q,
            left: gen_copy[k].u_dut.left_q,
            answer: gen_copy[k].u_dut.answer_q
        };
    assign message[k] = '{
            address_next: gen_copy[k].u_dut.address_next_q,
            overlong: gen_copy[k].u_dut.overlong_q,
            checksum_ok: gen_copy[k].u_dut.checksum_ok_q && gen_copy[k].u_dut.state_q == 3'd5,
            reply_crc: gen_copy[k].u_dut.reply_crc_q,
            count: gen_copy[k].u_dut.count_q,
            crc: gen_copy[k].u_dut.crc_q,
            header: gen_copy[k].u_dut.header_q,
            word: gen_copy[k].u_dut.word_q,
            timer: 13'(gen_copy[k].u_dut.timer_q)
        };
    assign idle[k] = gen_copy[k].u_dut.state_q == 3'd0 || gen_copy[k].u_dut.state_q == 3'd1;
  end
  // Registers without a reset are anything when the power comes, but not by what a tenant does.
  always_comb if (init_q) assume (held[0] == held[1] && message[0] == message[1]);
  RegistersAreTheSame_A :
  assert property (@(posedge clk_i) held[0] == held[1]);
  TheMessageIsTheSame_A :
  assert property (@(posedge clk_i) init_q || idle[0] || message[0] == message[1]);
  logic [2:0] state;
  assign state = gen_copy[0].u_dut.state_q;
  AHeaderIsAwaitedWhereAMessageBegins_A :
  assert property (@(posedge clk_i) init_q || head_q == (state != 3'd1 && state != 3'd2 && state != 3'd3));
  OnlyMessagesForOthersPass_A :
  assert property (@(posedge clk_i) init_q || head_q || foreign_q == (state == 3'd1 && !clearing[0]));
  ClearingPasses_A :
  assert property (@(posedge clk_i) init_q || !clearing[0] || state == 3'd1);
endmodule
