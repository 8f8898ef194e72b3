/// One checksum of the outgoing header (docs/design/rmt.md, "Deparser"): the ones' complement sum of its span over the
/// beats of the window as they pass, without the two bytes that it is written to.
///
/// The words of a span with an odd start have their first byte at an odd place of a beat. Ones' complement sums do not
/// mind: all words are taken from even places, and the sum comes with its bytes swapped. So its high byte always
/// belongs to an even place, and `sum_o` needs no swap to be written back.
///
/// S4 span, S5 bytes that count; S6 sum of the beat, in rows; S7 with those of the packet's before it, in two rows; S8 `sum_o`.
///
/// `Adjustable`: with `adjust_i.valid` the complements of the words that the incoming header has in a span of its own
/// are added, which makes the checksum an incremental one (RFC 1624, section 3, eqn. 3: `HC' = ~(~HC + ~m + m')`).
/// Where one of the spans has an odd start and the other one has not, the bytes of each old word are swapped before they are added.
/// With `adjust_i.udp` a sum of 0xffff is 0, so that its complement is not 0, and `none_o` says that the checksum's two
/// bytes are 0 and have to stay.
///
/// Latency: `sum_o` three cycles behind `data_i`. Throughput: one beat a cycle. Never stalls.
module sluice_rmt_checksum_update
  import sluice_rmt_rows_pkg::*;
  import sluice_rmt_deparse_pkg::*;
  import sluice_rmt_sum_pkg::*;
#(
    parameter int unsigned Bytes = 64,
    parameter bit Adjustable = 1'b1
) (
    input logic clk_i,

    // S4
    input rmt_update_t       update_i,
    input rmt_adjust_t       adjust_i,
    input logic              window_i,
    input logic        [1:0] beat_i,

    // S5
    input  logic [Bytes-1:0][7:0] data_i,  // outgoing
    input  logic [Bytes-1:0][7:0] old_i,   // incoming
    output logic [      1:0]      reach_o, // the beat of the window in which the spans end; 0 without one

    // S6
    input logic                  begin_i,  // the beat is a packet's first
    input logic [Bytes-1:0][7:0] data6_i,  // outgoing

    // S7
    input logic valid_i,  // the beat is one of a packet's

    // S8
    output logic [15:0] sum_o,
    output logic        none_o
);

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "rmt_checksum_update: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  localparam int unsigned Words = Bytes / 2;
  localparam int unsigned WordBits = $clog2(Words);

  // S4, S5: the bytes that count, but for those of the checksum.
  logic [1:0] new_reach, old_reach;
  logic [Bytes-1:0] span, counts;

  sluice_rmt_checksum_span #(
      .Bytes(Bytes)
  ) u_span (
      .clk_i,
      .valid_i (update_i.valid),
      .start_i (update_i.start),
      .words_i (update_i.words),
      .window_i,
      .beat_i,
      .reach_o (new_reach),
      .counts_o(span)
  );

  // Of the checksum's two bytes one is at an even place, the other at an odd one, with an odd `at` in the word before.
  function automatic deparse_place_t place(logic [6:0] word, logic there, logic [1:0] beat);
    for (int unsigned g = 0; g < 8; g++) begin
      place.group[g] = there && 2'(word >> WordBits) == beat && g < Words / 4 &&
          word[WordBits-1:2] == (WordBits - 2)'(g);
    end
    for (int unsigned w = 0; w < 4; w++) place.word[w] = word[1:0] == 2'(w);
  endfunction

  deparse_place_t even5_q, odd5_q;

  always_ff @(posedge clk_i) begin
    even5_q <= place(7'(update_i.at[6:1]) + 7'(update_i.at[0]), window_i, beat_i);
    odd5_q  <= place(7'(update_i.at[6:1]), window_i, beat_i);
    reach_o <= (new_reach > old_reach) ? new_reach : old_reach;
  end

  always_comb begin
    for (int unsigned k = 0; k < Words; k++) begin
      counts[2*k]   = span[2*k] && !(even5_q.group[k/4] && even5_q.word[k%4]);
      counts[2*k+1] = span[2*k+1] && !(odd5_q.group[k/4] && odd5_q.word[k%4]);
    end
  end

  // A copy of the beat of its own: to clear registers costs no LUT.
  logic [Words-1:0][15:0] words6_q;
  always_ff @(posedge clk_i) begin
    for (int unsigned k = 0; k < Words; k++) begin
      if (!counts[2*k]) words6_q[k][15:8] <= '0;
      else words6_q[k][15:8] <= data_i[2*k];
      if (!counts[2*k+1]) words6_q[k][7:0] <= '0;
      else words6_q[k][7:0] <= data_i[2*k+1];
    end
  end

  // S6, and with both spans' words in one tree its last steps in S7.
  logic [2:0][15:0] rows7;

  // With `adjust_i.udp`; and one of the checksum's bytes is not 0.
  logic udp7, some7;

  if (Adjustable) begin : gen_adjustable
    logic [Bytes-1:0] old_counts;
    logic [Words-1:0][15:0] old6_q;
    // Rows of each sum, and words that the first step of a sum counts: only these can it invert.
    localparam int unsigned Rows = (Words == 32) ? 6 : 5;
    localparam int unsigned Counted = 6 * (Words / 6);
    logic [Rows-1:0][15:0] new_sum, old_sum;
    logic [2*Rows-1:0][15:0] partial_q;
    deparse_place_t even6_q, odd6_q;
    logic [2:0] udp_q;  // of the beats in S5 to S7
    logic apart5_q;  // the spans have not both an odd start, or both an even one

    sluice_rmt_checksum_span #(
        .Bytes(Bytes)
    ) u_old_span (
        .clk_i,
        .valid_i (adjust_i.valid && update_i.valid),
        .start_i (adjust_i.start),
        .words_i (adjust_i.words),
        .window_i,
        .beat_i,
        .reach_o (old_reach),
        .counts_o(old_counts)
    );

    // A word has its bytes swapped where the spans begin at places of which one is even.
    logic [Bytes-1:0][7:0] old;
    logic [Bytes-1:0] adds;
    always_comb begin
      for (int unsigned k = 0; k < Words; k++) begin
        {old[2*k+1], old[2*k]} = apart5_q ? {old_i[2*k], old_i[2*k+1]} : old_i[2*k+:2];
        adds[2*k+:2] = apart5_q ? {old_counts[2*k], old_counts[2*k+1]} : old_counts[2*k+:2];
      end
    end

    // What does not count is all ones, for the complement is what is added. To set registers costs no LUT, either.
    always_ff @(posedge clk_i) begin
      for (int unsigned k = Counted; k < Words; k++) begin
        if (!adds[2*k]) old6_q[k][15:8] <= '0;
        else old6_q[k][15:8] <= ~old[2*k];
        if (!adds[2*k+1]) old6_q[k][7:0] <= '0;
        else old6_q[k][7:0] <= ~old[2*k+1];
      end
      for (int unsigned k = 0; k < Counted; k++) begin
        // A word's first byte is its high one.
        if (!adds[2*k]) old6_q[k][15:8] <= '1;
        else old6_q[k][15:8] <= old[2*k];
        if (!adds[2*k+1]) old6_q[k][7:0] <= '1;
        else old6_q[k][7:0] <= old[2*k+1];
      end
      even6_q <= even5_q;
      odd6_q <= odd5_q;
      udp_q <= {udp_q[1:0], adjust_i.valid && adjust_i.udp};
      apart5_q <= adjust_i.start[0] ^ update_i.start[0];
    end

    sluice_rmt_ones_sum #(
        .Words(Words),
        .Rows (Rows)
    ) u_sum (
        .words_i(words6_q),
        .sum_o  (new_sum)
    );
    sluice_rmt_ones_sum #(
        .Words(Words),
        .Complements(Counted),
        .Rows(Rows)
    ) u_old_sum (
        .words_i(old6_q),
        .sum_o  (old_sum)
    );
    always_ff @(posedge clk_i) begin
      for (int unsigned r = 0; r < Rows; r++) begin
        partial_q[r] <= new_sum[r];
        partial_q[Rows+r] <= old_sum[r];
      end
    end
    sluice_rmt_ones_sum #(
        .Words(2 * Rows)
    ) u_last (
        .words_i(partial_q),
        .sum_o  (rows7)
    );
    sluice_rmt_checksum_none #(
        .Bytes(Bytes)
    ) u_none (
        .clk_i,
        .begin_i,
        .even_i(even6_q),
        .odd_i (odd6_q),
        .data_i(data6_i),
        .valid_i,
        .some_o(some7)
    );
    assign udp7 = udp_q[2];
  end else begin : gen_plain
    logic [2:0][15:0] partial;
    sluice_rmt_ones_sum #(
        .Words(Words)
    ) u_sum (
        .words_i(words6_q),
        .sum_o  (partial)
    );
    always_ff @(posedge clk_i) rows7 <= partial;
    assign old_reach = 2'd0;
    assign some7 = 1'b1;
    assign udp7 = 1'b0;
    logic unused_plain;
    assign unused_plain = ^{adjust_i, old_i, data6_i};
  end

  // S7: three rows of the beat and two of those before it become two. Nothing of the packet before counts.
  logic first7_q;
  logic [1:0][15:0] earlier, kept, kept_q;
  logic [2:0][15:0] counts7;

  function automatic logic [15:0] doubled(logic [15:0] x);
    return {x[14:0], x[15]};
  endfunction

  assign earlier = first7_q ? '0 : kept_q;
  assign counts7 = counts_of_six({16'd0, earlier, rows7});
  always_comb begin
    logic [2:0][15:0] x;
    x = {doubled(doubled(counts7[2])), doubled(counts7[1]), counts7[0]};
    kept[0] = x[0] ^ x[1] ^ x[2];
    kept[1] = doubled((x[0] & x[1]) | (x[2] & (x[0] | x[1])));
  end

  // S8.
  logic udp8_q, none8_q, carry0, carry1, unused_below;
  logic [15:0] sum0, sum1;

  always_ff @(posedge clk_i) begin
    first7_q <= begin_i;
    if (valid_i) begin
      kept_q  <= kept;
      udp8_q  <= udp7;
      none8_q <= udp7 && !some7;
    end
  end

  // Without and with the carry that comes around: one in front of the other they would be two chains. Of UDP one comes
  // around from a sum of all ones, too, which so becomes 0.
  assign {carry0, sum0} = {1'b0, kept_q[0]} + {1'b0, kept_q[1]};
  assign {carry1, sum1, unused_below} = {1'b0, kept_q[0], 1'b1} + {1'b0, kept_q[1], 1'b1};
  assign sum_o = (udp8_q ? carry1 : carry0) ? sum1 : sum0;
  assign none_o = none8_q;

endmodule
