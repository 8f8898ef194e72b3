/// UDP checksums over packets in beats (RFC 768): the pseudo header, the UDP header and its payload add up to 0xffff.
///
/// `first_i` begins a packet; `udp_length_i` and `udp_end_i`, where that many bytes end in the frame, count in its first beat. The bytes that are added lie side by side in the frame: addresses
/// from 26 on, UDP header and payload from 34 to `udp_length_i` bytes behind. A UDP checksum of 0 is none: never bad.
///
/// `done_valid_o` once a packet, in their order, with `bad_o`. Latency: 4 cycles behind its last beat. Throughput: a beat
/// a cycle. Never stalls.
module sluice_l7_checksum #(
    parameter int unsigned Bytes = 64
) (
    input logic clk_i,
    input logic rst_ni,

    input logic               valid_i,
    input logic               first_i,
    input logic               last_i,
    input logic [8*Bytes-1:0] data_i,
    input logic [       15:0] udp_length_i,
    input logic [       16:0] udp_end_i,
    input logic               none_i,        // its UDP checksum is 0; counts in the first beat

    output logic done_valid_o,
    output logic bad_o
);

  localparam int unsigned First = 26;
  localparam int unsigned Words = Bytes / 2;
  localparam int unsigned Groups = Words / 4;
  localparam int unsigned Protocol = 17;

  // Bytes of the frame from this beat on that are added.
  logic [16:0] left, left_q;
  logic [Bytes-1:0] counts;
  logic [Words-1:0][15:0] words, words_q;

  assign left = first_i ? udp_end_i : left_q;

  always_comb begin
    for (int unsigned b = 0; b < Bytes; b++) counts[b] = 17'(b) < left && !(first_i && b < First);
    // Big-endian.
    for (int unsigned w = 0; w < Words; w++) begin
      words[w] = {counts[2*w] ? data_i[16*w+:8] : 8'd0, counts[2*w+1] ? data_i[16*w+8+:8] : 8'd0};
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i) left_q <= (left > 17'(Bytes)) ? left - 17'(Bytes) : '0;
  end

  // Masked words; sums of four; their sum; the packet's.
  typedef struct packed {
    logic valid;
    logic first;
    logic last;
    logic none;
    logic [16:0] pseudo;  // of the first beat: protocol and length
  } step_t;
  step_t [2:0] step_q;
  logic [Groups-1:0][17:0] group, group_q;
  logic [20:0] beat, beat_q;
  logic [29:0] total, total_q;
  logic none_q, none;

  always_comb begin
    beat = '0;
    for (int unsigned g = 0; g < Groups; g++) begin
      group[g] = 18'(words_q[4*g]) + 18'(words_q[4*g+1]) + 18'(words_q[4*g+2]) + 18'(words_q[4*g+3]);
      beat += 21'(group_q[g]);
    end
  end
  assign total = 30'(beat_q) + (step_q[2].first ? 30'(step_q[2].pseudo) : total_q);
  assign none  = step_q[2].first ? step_q[2].none : none_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      step_q[0].valid <= 1'b0;
      step_q[1].valid <= 1'b0;
      step_q[2].valid <= 1'b0;
      done_valid_o    <= 1'b0;
    end else begin
      step_q[0].valid <= valid_i;
      step_q[1].valid <= step_q[0].valid;
      step_q[2].valid <= step_q[1].valid;
      done_valid_o    <= step_q[2].valid && step_q[2].last;
    end
    step_q[0].first  <= first_i;
    step_q[0].last   <= last_i;
    step_q[0].none   <= none_i;
    step_q[0].pseudo <= 17'(udp_length_i) + 17'(Protocol);
    for (int unsigned s = 1; s < 3; s++) begin
      step_q[s].first  <= step_q[s-1].first;
      step_q[s].last   <= step_q[s-1].last;
      step_q[s].none   <= step_q[s-1].none;
      step_q[s].pseudo <= step_q[s-1].pseudo;
    end
    words_q <= words;
    group_q <= group;
    beat_q  <= beat;
    if (step_q[2].valid) begin
      total_q <= total;
      none_q  <= none;
    end
    // 30 bits: what is above 16 bits is small, so that one end-around addition tells. Never 0, for the protocol is in it; its
    // sum is all ones where no bit meets its like.
    bad_o <= !none && total[15:0] != ~16'(total[29:16]);
  end

endmodule
