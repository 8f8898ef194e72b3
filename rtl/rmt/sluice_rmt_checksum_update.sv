/// One checksum of the outgoing header (docs/design/rmt.md, "Deparser"): the ones' complement sum of its span over the
/// beats of the window as they pass, without the two bytes that it is written to.
///
/// The words of a span with an odd start have their first byte at an odd place of a beat. Ones' complement sums do not
/// mind: all words are taken from even places, and the sum comes with its bytes swapped. So its high byte always
/// belongs to an even place, and `sum_o` needs no swap to be written back.
///
/// S4 span, S5 bytes that count; S6 sum of the beat; S7 `sum_o`, over this beat and the packet's before it.
///
/// `Adjustable`: with `adjust_i.valid` the complements of the words that the incoming header has in a span of its own
/// are added, which makes the checksum an incremental one (RFC 1624, section 3, eqn. 3: `HC' = ~(~HC + ~m + m')`).
/// With `adjust_i.udp` a sum of 0xffff is 0, so that its complement is not 0, and `none_o` says that the checksum's two
/// bytes are 0 and have to stay.
///
/// Latency: `sum_o` two cycles behind `data_i`. Throughput: one beat a cycle. Never stalls.
module sluice_rmt_checksum_update
  import sluice_rmt_rows_pkg::*;
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
    input  logic [  Bytes-1:0][ 7:0] data_i,  // outgoing
    input  logic [Bytes/2-1:0][15:0] old_i,   // incoming
    output logic [        1:0]       reach_o, // the beat of the window in which the spans end; 0 without one

    // S6
    input logic                  begin_i,  // the beat is a packet's first
    input logic [Bytes-1:0][7:0] data6_i,  // outgoing

    // S7
    input  logic        valid_i,  // the beat is one of a packet's
    output logic [15:0] sum_o,
    output logic        none_o
);

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "rmt_checksum_update: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  localparam int unsigned Words = Bytes / 2;
  localparam int unsigned WordBits = $clog2(Words);

  // S4: the span in pairs of bytes. With an odd start pair k is bytes 2k + 1 and 2k + 2, else 2k and 2k + 1. Pairs are
  // counted from the last one before the beat, whose second byte may be the beat's first.
  logic [7:0] base;
  logic [6:0] first_pair, end_pair, at_pair;

  assign base = 8'({6'd0, beat_i} << WordBits);
  assign first_pair = {1'b0, update_i.start[6:1]};
  assign end_pair = first_pair + {1'b0, update_i.words};
  assign at_pair = {1'b0, update_i.at[6:1]};

  // `if_before`: what stands for a pair before all that are counted.
  function automatic logic [5:0] from_base(logic [6:0] pair, logic [7:0] origin, logic [5:0] if_before);
    logic [7:0] distance;
    distance = {1'b0, pair} + 8'd1 - origin;
    return distance[7] ? if_before : distance[6] ? 6'd63 : distance[5:0];
  endfunction

  logic odd5_q;
  logic [2:0] udp_q;  // of the beats in S5 to S7
  logic [5:0] first5_q, end5_q, at5_q;
  logic [7:0] last_byte;

  // Of an odd start the last byte is that at 2 * end_pair, else the one before it.
  assign last_byte = {end_pair, 1'b0} - {7'd0, !update_i.start[0]};

  logic [1:0] own_reach, old_reach;
  assign own_reach = update_i.valid ? 2'(last_byte >> (WordBits + 1)) : 2'd0;

  always_ff @(posedge clk_i) begin
    odd5_q   <= update_i.start[0];
    udp_q    <= {udp_q[1:0], adjust_i.valid && adjust_i.udp};
    first5_q <= from_base(first_pair, base, 6'd0);
    end5_q   <= (update_i.valid && window_i) ? from_base(end_pair, base, 6'd0) : 6'd0;
    at5_q    <= from_base(at_pair, base, 6'd63);
    reach_o  <= (own_reach > old_reach) ? own_reach : old_reach;
  end

  // S5: which bytes count.
  logic [  Words:0] pair;
  logic [Bytes-1:0] counts;

  always_comb begin
    for (int unsigned k = 0; k <= Words; k++) begin
      pair[k] = first5_q < 6'(k + 1) && end5_q > 6'(k) && at5_q != 6'(k);
    end
    for (int unsigned k = 0; k < Words; k++) begin
      counts[2*k+1] = pair[k+1];
      counts[2*k]   = odd5_q ? pair[k] : pair[k+1];
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

  // S6: one tree for both.
  logic [2:0][15:0] partial, rows7_q;

  if (Adjustable) begin : gen_adjustable
    logic [Words-1:0][15:0] old;
    logic some;

    sluice_rmt_checksum_old #(
        .Bytes(Bytes)
    ) u_old (
        .clk_i,
        .valid_i(adjust_i.valid && update_i.valid),
        .start_i(adjust_i.start),
        .count_i(adjust_i.words),
        .window_i,
        .beat_i,
        .reach_o(old_reach),
        .data_i (old_i),
        .words_o(old)
    );
    sluice_rmt_ones_sum #(
        .Words(2 * Words),
        .Complements(Words)
    ) u_sum (
        .words_i({words6_q, old}),
        .sum_o  (partial)
    );
    sluice_rmt_checksum_none #(
        .Bytes(Bytes)
    ) u_none (
        .clk_i,
        .odd_i (odd5_q),
        .pair_i(at5_q),
        .begin_i,
        .data_i(data6_i),
        .valid_i,
        .some_o(some)
    );
    assign none_o = udp_q[2] && !some;
  end else begin : gen_plain
    sluice_rmt_ones_sum #(
        .Words(Words)
    ) u_sum (
        .words_i(words6_q),
        .sum_o  (partial)
    );
    assign old_reach = 2'd0;
    assign none_o = 1'b0;
    logic unused_plain;
    assign unused_plain = ^{adjust_i, old_i, data6_i};
  end

  always_ff @(posedge clk_i) rows7_q <= partial;

  // S7.
  logic [15:0] before_q, ones1, carries1, ones2, carries2;
  logic carry;
  logic [16:0] unused_total;

  function automatic logic [15:0] doubled(logic [15:0] x);
    return {x[14:0], x[15]};
  endfunction

  function automatic logic [15:0] majority(logic [15:0] a, logic [15:0] b, logic [15:0] c);
    return (a & b) | (c & (a | b));
  endfunction

  assign ones1 = rows7_q[0] ^ rows7_q[1] ^ rows7_q[2];
  assign carries1 = doubled(majority(rows7_q[0], rows7_q[1], rows7_q[2]));
  assign ones2 = ones1 ^ carries1 ^ before_q;
  assign carries2 = doubled(majority(ones1, carries1, before_q));
  // The carry that comes around. One more below brings it out of a sum of all ones, too, which so becomes 0.
  logic one_more;
  assign one_more = Adjustable && udp_q[2];
  assign {carry, unused_total} = {1'b0, ones2, one_more} + {1'b0, carries2, one_more};
  logic unused_below;
  assign {sum_o, unused_below} = {ones2, carry} + {carries2, carry};

  always_ff @(posedge clk_i) begin
    if (begin_i) before_q <= '0;
    else if (valid_i) before_q <= sum_o;
  end

endmodule
