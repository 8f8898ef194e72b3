/// Writes of metadata words 9 to 15 by an action (docs/design/rmt.md, "ALUs").
///
/// Who may write a word is not in the action row: words 0 to 8 pass through, words 9 and 10 are written only with
/// `system_i`, which is the stage's own register.
///
/// Latency: 0 cycles (c7). Throughput: a packet a cycle.
module sluice_rmt_words
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_pkg::*;
  import sluice_rmt_act_pkg::*;
(
    input  logic                         act_i,
    input  logic                         system_i,
    input  logic            [ 1:0]       conditions_i,
    input  rmt_word_write_t [ 6:0]       writes_i,
    input  logic            [15:0]       da_i,
    input  logic            [15:0]       p0_i,
    input  logic            [15:0]       x_i,
    input  logic            [15:0][15:0] words_i,
    output logic            [15:0][15:0] words_o
);

  logic [6:0] written;
  logic [6:0][15:0] value, mask;

  always_comb begin
    words_o = words_i;
    for (int unsigned i = 0; i < 7; i++) begin
      case (writes_i[i].source)
        RmtWordSourceImmediate: value[i] = writes_i[i].immediate;
        RmtWordSourceDataA: value[i] = da_i;
        RmtWordSourceP0: value[i] = p0_i;
        default: value[i] = x_i;
      endcase
      written[i] = act_i && act_when(writes_i[i].when, conditions_i);
      if (WordFirstWritable + i < WordEgress) written[i] &= system_i;
      mask[i] = writes_i[i].mask & {16{written[i]}};
      words_o[WordFirstWritable+i] = (words_i[WordFirstWritable+i] & ~mask[i]) | (value[i] & mask[i]);
    end
  end

endmodule
