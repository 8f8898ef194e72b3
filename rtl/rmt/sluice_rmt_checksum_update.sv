/// One checksum of the outgoing header (docs/design/rmt.md, "Deparser"): the ones' complement sum of its span over the
/// beats of the window as they pass, without the two bytes that it is written to.
///
/// The words of a span with an odd start have their first byte at an odd place of a beat. Ones' complement sums do not
/// mind: all words are taken from even places, and the sum comes with its bytes swapped. So its high byte always
/// belongs to an even place, and `sum_o` needs no swap to be written back.
///
/// The span comes one cycle before its beat's bytes stand in a register for the last cycle but one (S4 of the
/// deparser): S4 span, S5 ends, bytes that count; S6 `data_i`, tree; S7 `sum_o`, over this beat and the packet's
/// before it.
///
/// Latency: `sum_o` one cycle behind `data_i`. Throughput: one beat a cycle. Never stalls.
module sluice_rmt_checksum_update
  import sluice_rmt_rows_pkg::*;
#(
    parameter int unsigned Bytes = 64
) (
    input logic clk_i,

    // S4
    input rmt_update_t       update_i,
    input logic              window_i,
    input logic        [1:0] beat_i,

    input  logic [Bytes-1:0][7:0] data_i,   // S6
    input  logic                  valid_i,  // S7: the beat is one of a packet's
    input  logic                  first_i,  // S7: its first
    output logic [     15:0]      sum_o     // S7
);

  if (Bytes != 32 && Bytes != 64) begin : gen_bad_bytes
    $fatal(1, "rmt_checksum_update: Bytes is %0d, expected 32 or 64 (%m)", Bytes);
  end

  localparam int unsigned Words = Bytes / 2;
  localparam int unsigned WordBits = $clog2(Words);

  // S5: the span in pairs of bytes. With an odd start pair k is bytes 2k + 1 and 2k + 2, else 2k and 2k + 1.
  logic valid5_q, odd5_q;
  logic [6:0] begin5_q, end5_q, at5_q, base5_q;

  always_ff @(posedge clk_i) begin
    valid5_q <= update_i.valid && window_i;
    odd5_q   <= update_i.start[0];
    begin5_q <= {1'b0, update_i.start[6:1]};
    end5_q   <= {1'b0, update_i.start[6:1]} + {1'b0, update_i.words};
    at5_q    <= {1'b0, update_i.at[6:1]};
    base5_q  <= 7'({5'd0, beat_i} << WordBits);
  end

  // Pair k of the beat is bit k + 1; bit 0 the last one of the beat before, whose second byte may be this beat's first.
  logic [Words:0] pair;
  logic [Bytes-1:0] counts, counts6_q;

  always_comb begin
    for (int unsigned k = 0; k <= Words; k++) begin
      logic [7:0] index;
      index   = {1'b0, base5_q} + 8'(k);  // one more than the pair's
      pair[k] = index > {1'b0, begin5_q} && index <= {1'b0, end5_q} && index != {1'b0, at5_q} + 8'd1 && valid5_q;
    end
    for (int unsigned k = 0; k < Words; k++) begin
      counts[2*k+1] = pair[k+1];
      counts[2*k]   = odd5_q ? pair[k] : pair[k+1];
    end
  end

  always_ff @(posedge clk_i) counts6_q <= counts;

  // S6.
  logic [1:0][15:0] rows, rows7_q;

  sluice_rmt_ones_sum #(
      .Words(Words)
  ) u_sum (
      .data_i,
      .counts_i(counts6_q),
      .sum_o   (rows)
  );

  always_ff @(posedge clk_i) rows7_q <= rows;

  // S7.
  logic [15:0] before_q, kept, ones, carries;
  logic [16:0] total;

  assign kept = first_i ? '0 : before_q;
  assign ones = rows7_q[0] ^ rows7_q[1] ^ kept;
  assign carries = (rows7_q[0] & rows7_q[1]) | (rows7_q[0] & kept) | (rows7_q[1] & kept);
  assign total = {1'b0, ones} + {1'b0, carries[14:0], carries[15]};
  assign sum_o = total[15:0] + 16'(total[16]);

  always_ff @(posedge clk_i) begin
    if (valid_i) before_q <= sum_o;
  end

endmodule
