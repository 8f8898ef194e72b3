/// Tables of the matchers on the configuration ring: `l7_match`, `l7_start`, `l7_group`.
///
/// The ring's access becomes one of sluice_l7_matchers: the row in its lowest bits, and a read's answer cut to the 8 words that the
/// index asks for (bits 22:16: the first of them, divided by 8). A clear takes 2 cycles a row of all three tables together.
///
/// Latency: 3 cycles for writes and refusals, 4 and more for reads. One access at a time.
module sluice_l7_rules
  import sluice_pkg::*;
  import sluice_engine_pkg::*;
  import sluice_l7_rows_pkg::*;
  import sluice_l7_pkg::*;
#(
    parameter l7_cfg_t Cfg = L7CfgDefault,
    localparam int unsigned RingRowBits = 32 * L7MatchRowWords
) (
    input logic clk_i,
    input logic rst_ni,

    input  logic                        cfg_valid_i,
    input  wide_req_t                   cfg_req_i,
    input  logic      [RingRowBits-1:0] cfg_row_i,
    output logic                        cfg_valid_o,
    output cfg_rsp_t                    cfg_rsp_o,

    output logic                      table_valid_o,
    input  logic                      table_ready_i,
    output logic                      table_write_o,
    output logic [               7:0] table_o,
    output logic [              11:0] table_index_o,
    output logic [L7MatchRowBits-1:0] table_row_o,
    input  logic                      table_answer_valid_i,
    input  logic [L7MatchRowBits-1:0] table_answer_i
);

  localparam int unsigned SliceBits = 32 * MessageDataWords;
  localparam int unsigned Slices = (RingRowBits + SliceBits - 1) / SliceBits;

  // ---------------------------------------------------------------------------------------------------------------
  // What is asked for.

  logic [6:0] words, slice;
  logic [16:0] rows;
  cfg_status_e status;

  assign slice = cfg_req_i.index[22:16];
  always_comb begin
    unique case (cfg_req_i.tab)
      TableL7Start: {rows, words} = {17'(Cfg.starts), 7'(L7StartRowWords)};
      TableL7Group: {rows, words} = {17'(Cfg.groups), 7'(L7GroupRowWords)};
      default: {rows, words} = {17'(Cfg.rows), 7'(L7MatchRowWords)};
    endcase
    status = StatusOk;
    if (cfg_req_i.write && cfg_req_i.words != words) status = StatusBadLength;
    if (17'(cfg_req_i.index[15:0]) >= rows || {slice, 3'd0} >= 10'(words) || cfg_req_i.index[23] ||
        (cfg_req_i.write && slice != '0)) begin
      status = StatusBadAddress;
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // Behind a reset: rows, starts, groups, one behind the other.

  logic [ 7:0] clear_table;
  logic [22:0] cleared;
  // "Bits of signal are not used": a sweep has an index of its own width.
  // verilator lint_off UNUSEDSIGNAL
  logic [22:0] clear_index;
  // verilator lint_on UNUSEDSIGNAL
  always_comb begin
    cleared = cfg_req_i.index[23:1];
    if (cleared < 23'(Cfg.rows)) begin
      {clear_table, clear_index} = {TableL7Match, cleared};
    end else if (cleared < 23'(Cfg.rows + Cfg.starts)) begin
      {clear_table, clear_index} = {TableL7Start, cleared - 23'(Cfg.rows)};
    end else begin
      {clear_table, clear_index} = {TableL7Group, cleared - 23'(Cfg.rows + Cfg.starts)};
    end
  end

  // ---------------------------------------------------------------------------------------------------------------
  // The access.

  typedef enum logic [1:0] {
    StIdle,
    StOffer,       // until the matchers take it
    StAwaitWrite,  // they are ready again when it is written
    StAwaitRow
  } state_e;
  state_e state_q;
  logic write_done, refused_q;
  cfg_status_e status_q;
  logic [Slices*SliceBits-1:0] row;
  logic [9:0] left;

  assign write_done = state_q == StAwaitWrite && table_ready_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      refused_q <= 1'b0;
    end else begin
      refused_q <= cfg_valid_i && status != StatusOk;
      unique case (state_q)
        StIdle: if (cfg_valid_i && status == StatusOk) state_q <= StOffer;
        StOffer: if (table_ready_i) state_q <= cfg_req_i.write ? StAwaitWrite : StAwaitRow;
        StAwaitWrite: if (table_ready_i) state_q <= StIdle;
        default: if (table_answer_valid_i) state_q <= StIdle;
      endcase
    end
    status_q <= status;
  end

  assign table_valid_o = state_q == StOffer || cfg_req_i.clear;
  assign table_write_o = cfg_req_i.write || cfg_req_i.clear;
  assign table_o = cfg_req_i.clear ? clear_table : cfg_req_i.tab;
  assign table_index_o = cfg_req_i.clear ? clear_index[11:0] : cfg_req_i.index[11:0];
  // A row of n words stands in the upper 32 * n bits.
  always_comb begin
    table_row_o = cfg_row_i[L7MatchRowBits-1:0];
    if (cfg_req_i.tab == TableL7Start) table_row_o = L7MatchRowBits'(cfg_row_i[RingRowBits-1-:32*L7StartRowWords]);
    if (cfg_req_i.tab == TableL7Group) table_row_o = L7MatchRowBits'(cfg_row_i[RingRowBits-1-:32*L7GroupRowWords]);
    if (cfg_req_i.clear) table_row_o = '0;
  end

  always_comb begin
    row = '0;
    unique case (cfg_req_i.tab)
      TableL7Start: row[L7StartRowBits-1:0] = table_answer_i[L7StartRowBits-1:0];
      TableL7Group: row[L7GroupRowBits-1:0] = table_answer_i[L7GroupRowBits-1:0];
      default: row[L7MatchRowBits-1:0] = table_answer_i;
    endcase
    left = 10'(words) - {slice, 3'd0};
  end

  assign cfg_valid_o = refused_q || write_done || (state_q == StAwaitRow && table_answer_valid_i);
  assign cfg_rsp_o = '{
          status: refused_q ? status_q : StatusOk,
          words: (left > 10'(MessageDataWords)) ? 4'(MessageDataWords) : left[3:0],
          data: row[SliceBits*slice[0]+:SliceBits]
      };

endmodule
