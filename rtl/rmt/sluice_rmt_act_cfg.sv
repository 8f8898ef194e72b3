/// Configuration of the action part of a stage: checks a request, does it, answers.
///
/// Rows of data, action and page are written in the second cycle of the request. Reads are given to the tables and
/// wait for their answers; an action row is read in place of a packet (`bubble_i`: there is none in c3), state words
/// find their own cycle. One request at a time; `cfg_req_i` holds until the answer.
///
/// `cfg_valid_o` is high for one cycle; `cfg_rsp_o` is zero in all others. Tables of others are not answered.
module sluice_rmt_act_cfg
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic         bubble_i,
    input  logic         cfg_valid_i,
    input  rmt_cfg_req_t cfg_req_i,
    output logic         cfg_valid_o,
    output cfg_rsp_t     cfg_rsp_o,
    output logic         slot_request_o,

    output logic                           action_write_o,
    output logic                           action_read_o,
    input  logic                           action_valid_i,
    input  logic [32*MessageDataWords-1:0] action_slice_i,  // zero without `action_valid_i`

    output logic          data_valid_o,
    input  rmt_data_row_t data_row_i,

    output logic          page_valid_o,
    input  rmt_page_row_t page_row_i,

    output logic        host_valid_o,
    input  logic        host_done_i,
    input  logic [31:0] host_value_i,
    input  logic        host_request_i,

    output logic                   range_valid_o,
    input  logic                   range_done_i,
    input  logic [CounterBits-1:0] range_value_i
);

  localparam int unsigned DataRows = RmtExactWays * Cfg.sets + Cfg.ternary + 2 * Cfg.modules;
  localparam int unsigned PageRows = 2 * Cfg.modules * RmtModulePages;

  typedef enum logic [2:0] {
    StAwaitRequest,
    StDo,
    StAwaitRow,
    StAwaitBubble,
    StAwaitAction,
    StAwaitWord,
    StAwaitCounter
  } state_e;

  state_e state_d, state_q;
  logic mine, write;
  cfg_status_e status_d, status_q;
  logic answer_d, answer_q;
  logic [127:0] row_d, row_q;
  logic [3:0] words_d, words_q;

  // Whose request it is, for the cycles after the first.
  typedef struct packed {logic data, action, page, word, zero, range;} table_t;
  table_t table_d, table_q;

  assign table_d = '{
          data: cfg_req_i.tab == TableRmtData,
          action: cfg_req_i.tab == TableRmtAction,
          page: cfg_req_i.tab == TableRmtPage,
          word: cfg_req_i.tab == TableRmtStateWord,
          zero: cfg_req_i.tab == TableRmtZeroPage,
          range: cfg_req_i.tab == TableRmtStateRange
      };
  assign mine = |table_d;
  assign write = cfg_req_i.write;

  // Each table's limits are constants, found first and then checked once.
  logic is_counter;
  logic beyond;
  logic [6:0] row_words, row_words_q;
  always_comb begin
    is_counter = 1'b0;
    unique case (cfg_req_i.tab)
      TableRmtData: begin
        beyond = 17'(cfg_req_i.index) >= 17'(DataRows);
        row_words = 7'(RmtDataRowWords);
      end
      TableRmtAction: begin
        beyond = 17'(cfg_req_i.index) >= 17'(Cfg.actions);
        row_words = 7'(RmtActionRowWords);
      end
      TableRmtPage: begin
        beyond = 17'(cfg_req_i.index) >= 17'(PageRows);
        row_words = 7'(RmtPageRowWords);
      end
      TableRmtStateWord: begin
        beyond = 17'(cfg_req_i.index) >= 17'(Cfg.words);
        row_words = 7'(RmtStateWordRowWords);
      end
      TableRmtZeroPage: begin
        beyond = 17'(cfg_req_i.index) >= 17'(Cfg.words / RmtPageWords);
        row_words = 7'(RmtZeroPageRowWords);
      end
      default: begin
        beyond = 17'(cfg_req_i.index) >= 17'(Cfg.modules);
        row_words = 7'd2;
        is_counter = 1'b1;
      end
    endcase
    status_d = rmt_cfg_status(cfg_req_i, is_counter, beyond, row_words);
  end

  always_comb begin
    state_d        = state_q;
    answer_d       = 1'b0;
    row_d          = '0;
    action_write_o = cfg_req_i.clear;
    action_read_o  = 1'b0;
    data_valid_o   = cfg_req_i.clear;
    page_valid_o   = cfg_req_i.clear;
    host_valid_o   = 1'b0;
    range_valid_o  = 1'b0;

    unique case (state_q)
      StAwaitRequest: if (cfg_valid_i && mine) state_d = StDo;
      StDo: begin
        state_d  = StAwaitRequest;
        answer_d = 1'b1;
        if (status_q == StatusOk) begin
          action_write_o = table_q.action && write;
          data_valid_o   = table_q.data;
          page_valid_o   = table_q.page;
          host_valid_o   = table_q.word || (table_q.zero && write);
          range_valid_o  = table_q.range;
          answer_d       = 1'b0;
          if (host_valid_o) state_d = StAwaitWord;
          else if (table_q.range) state_d = StAwaitCounter;
          else if (write || table_q.zero) answer_d = 1'b1;
          else state_d = table_q.action ? StAwaitBubble : StAwaitRow;
        end
      end
      StAwaitRow: begin
        answer_d = 1'b1;
        row_d    = table_q.data ? data_row_i : 128'(page_row_i);
        state_d  = StAwaitRequest;
      end
      StAwaitBubble: begin
        action_read_o = bubble_i;
        if (bubble_i) state_d = StAwaitAction;
      end
      StAwaitAction:  if (action_valid_i) state_d = StAwaitRequest;
      StAwaitWord: begin
        answer_d = host_done_i;
        if (host_done_i) begin
          row_d[31:0] = (table_q.word && !write) ? host_value_i : '0;
          state_d     = StAwaitRequest;
        end
      end
      StAwaitCounter: begin
        answer_d = range_done_i;
        if (range_done_i) begin
          row_d[CounterBits-1:0] = range_value_i;
          state_d = StAwaitRequest;
        end
      end
      default:        state_d = StAwaitRequest;
    endcase
  end

  assign words_d = (write || status_q != StatusOk) ? '0 : rmt_slice_words(cfg_req_i, row_words_q);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q  <= StAwaitRequest;
      answer_q <= 1'b0;
    end else begin
      state_q  <= state_d;
      answer_q <= answer_d;
    end
  end
  always_ff @(posedge clk_i) begin
    if (state_q == StAwaitRequest) begin
      status_q    <= status_d;
      row_words_q <= row_words;
      table_q     <= table_d;
    end
    words_q <= words_d;
    row_q   <= answer_d ? row_d : '0;
  end

  // The words of an action row are kept in the rows' own register.
  assign slot_request_o = state_q == StAwaitBubble || host_request_i;
  assign cfg_valid_o = answer_q || action_valid_i;
  assign cfg_rsp_o = '{
          status: answer_q ? status_q : StatusOk,
          words: cfg_valid_o ? words_q : '0,
          data: action_slice_i | 256'(row_q)
      };

endmodule
