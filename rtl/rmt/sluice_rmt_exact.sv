/// Exact match of a stage: 4 ways, two set choices of two ways each (docs/design/rmt.md, "Match").
///
///   c1  sets from the hash                    c2  ways read, compared                c3  answer
///
/// A lookup (`valid_i` in c1) is answered two cycles later by `hit_o` and what stands in the entry; several that match are no
/// correct configuration, the lowest way is taken then. `rows_o` has in c2 what was read: with a `set_mask_i` of zero the
/// set `set_base_i` of all ways.
///
/// A write replaces a row in one cycle and is seen by lookups of later cycles.
///
/// Latency: 2 cycles, fixed. Throughput: 1 lookup a cycle. Never stalls.
module sluice_rmt_exact
  import sluice_pkg::*;
  import sluice_rmt_rows_pkg::*;
#(
    parameter rmt_cfg_t Cfg = RmtCfgDefault,
    localparam int unsigned SetBits = $clog2(Cfg.sets)
) (
    input logic clk_i,

    // c1
    input logic                  valid_i,
    input logic [RmtKeyBits-1:0] key_i,
    input logic [          31:0] hash_i,
    input logic [   SetBits-1:0] set_base_i,
    input logic [   SetBits-1:0] set_mask_i,
    input logic [ModuleBits-1:0] module_i,
    input logic                  generation_i,

    // c3
    output logic        hit_o,
    output logic [ 8:0] action_o,
    output logic [10:0] number_o,
    output logic [11:0] data_o,

    // Configuration.
    input  logic           [RmtExactWays-1:0]                          write_i,
    input  logic           [     SetBits-1:0]                          write_index_i,
    input  rmt_exact_row_t                                             write_row_i,
    // Each in whole words.
    output logic           [RmtExactWays-1:0][32*RmtExactRowWords-1:0] rows_o
);

  if (2 ** SetBits != Cfg.sets || Cfg.sets < 2 || SetBits > 8) begin : gen_bad_sets
    $fatal(1, "rmt_exact: sets is %0d, expected a power of two from 2 to 256 (%m)", Cfg.sets);
  end

  // c1. A CRC is linear: without this step keys in rows would fall onto few sets.
  function automatic logic [31:0] rotate(logic [31:0] word, int unsigned by);
    return (word << by) | (word >> (32 - by));
  endfunction

  // "Bits of signal are not used": the word has the width of what it is computed from; some of it decides nothing.
  // verilator lint_off UNUSEDSIGNAL
  (* keep *) logic [31:0] mixed;
  // verilator lint_on UNUSEDSIGNAL
  (* keep *) logic [1:0][SetBits-1:0] set;
  logic [1:0][SetBits-1:0] set_q2, set_q3;

  assign mixed  = hash_i ^ (rotate(hash_i, 7) & rotate(hash_i, 18)) ^ (rotate(hash_i, 13) & rotate(hash_i, 29));
  assign set[0] = set_base_i | (mixed[SetBits-1:0] & set_mask_i);
  assign set[1] = set_base_i | (mixed[16+:SetBits] & set_mask_i);

  rmt_exact_row_t row[RmtExactWays];

  for (genvar w = 0; w < int'(RmtExactWays); w++) begin : gen_way
    sluice_ram_1r1w #(
        .Width   (RmtExactRowBits),
        .Depth   (Cfg.sets),
        .InitZero(1'b0)
    ) u_rows (
        .clk_i,
        .wr_en_i  (write_i[w]),
        .wr_addr_i(write_index_i),
        .wr_data_i(write_row_i),
        .rd_en_i  (1'b1),
        .rd_addr_i(set[w/2]),
        .rd_data_o(row[w])
    );
  end
  always_comb for (int unsigned w = 0; w < RmtExactWays; w++) rows_o[w] = (32 * RmtExactRowWords)'(row[w]);

  // c2.
  logic [RmtKeyBits-1:0] key_q2;
  logic [ModuleBits-1:0] module_q2;
  logic generation_q2, valid_q2;
  logic [RmtExactWays-1:0] match, match_q3;

  logic [RmtExactWays-1:0][ 8:0] action_q3;
  logic [RmtExactWays-1:0][10:0] number_q3;

  localparam int unsigned Compared = $clog2(Cfg.modules) + RmtKeyBits;

  for (genvar w = 0; w < int'(RmtExactWays); w++) begin : gen_compare
    sluice_agree #(
        .Width(Compared),
        .Group(3)
    ) u_agree (
        .enable_i(row[w].generations[generation_q2]),
        .a_i     (Compared'({row[w].module_id, row[w].key})),
        .b_i     (Compared'({module_q2, key_q2})),
        .mask_i  ('1),
        .agree_o (match[w])
    );
  end

  always_ff @(posedge clk_i) begin
    valid_q2 <= valid_i;
    if (valid_i) begin
      key_q2        <= key_i;
      module_q2     <= module_i;
      generation_q2 <= generation_i;
      set_q2        <= set;
    end
    if (valid_q2) begin
      set_q3   <= set_q2;
      match_q3 <= match;
      for (int unsigned w = 0; w < RmtExactWays; w++) begin
        action_q3[w] <= row[w].action;
        number_q3[w] <= row[w].number;
      end
    end
  end

  // c3.
  (* keep *) logic [1:0] way;

  assign way[1]   = !match_q3[0] && !match_q3[1];
  assign way[0]   = !match_q3[0] && (match_q3[1] || !match_q3[2]);
  assign hit_o    = |match_q3;
  assign action_o = action_q3[way];
  assign number_o = number_q3[way];
  assign data_o   = 12'({way, set_q3[way[1]]});

endmodule
