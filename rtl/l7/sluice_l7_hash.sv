/// CRC-32C of up to 8 bytes, or of 8 more: for wide rows and for fields of groups (docs/design/l7.md).
///
/// The register of the CRC, without the inversion at its end. Leading zeros change nothing in a register that is zero: so
/// the bytes are put to the end of a word of 8, or the register is added to 8 more; then what initial ones become behind the
/// bytes is added.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_hash
  import sluice_l7_rows_pkg::*;
(
    // Byte p of a window in lane p mod 8, and the lane of the first one.
    input logic [L7MatchBytes-1:0][7:0] lanes_i,
    input logic [$clog2(L7MatchBytes)-1:0] lane_i,
    // How many bytes there are, 0 to 8; 8 unless it is the beginning.
    input logic [3:0] count_i,
    // Which are not beyond the view; those beyond are zero.
    input logic [L7MatchBytes-1:0] there_i,
    input logic begin_i,
    input logic [31:0] register_i,
    output logic [31:0] register_o
);

  localparam int unsigned Bytes = L7MatchBytes;
  localparam int unsigned LaneBits = $clog2(Bytes);
  localparam logic [31:0] ReflectedPolynomial = 32'h82F6_3B78;

  // Ones in the register, moved on by a number of bytes of zeros.
  function automatic logic [31:0] ones_after(int unsigned zeros);
    logic [31:0] crc = '1;
    for (int unsigned i = 0; i < 8 * zeros; i++) crc = (crc >> 1) ^ (crc[0] ? ReflectedPolynomial : 32'h0);
    return crc;
  endfunction

  logic [LaneBits-1:0] first;
  logic [Bytes-1:0][7:0] turned;
  logic [Bytes-1:0] there;
  logic [Bytes-1:0][7:0] added, word;
  logic [31:0] of_word, ones;

  // The lane of the byte that stands at 0: the one behind the last, for there are 8 lanes.
  // Written out: an adder of a few bits is longer than a LUT.
  assign first[0] = lane_i[0] ^ count_i[0];
  assign first[1] = lane_i[1] ^ count_i[1] ^ (lane_i[0] & count_i[0]);
  assign first[2] = lane_i[2] ^ count_i[2] ^
      ((lane_i[1] & count_i[1]) | ((lane_i[1] ^ count_i[1]) & lane_i[0] & count_i[0]));
  assign turned = (8 * Bytes)'({lanes_i, lanes_i} >> {first, 3'd0});
  assign added = begin_i ? '0 : {32'h0, register_i};

  // Byte j of the word is byte j + count - 8.
  for (genvar j = 0; j < int'(Bytes); j++) begin : gen_byte
    always_comb begin
      there[j] = 1'b0;
      for (int unsigned n = 0; n <= j; n++) if (count_i == 4'(Bytes - j + n)) there[j] = there_i[n];
    end
    assign word[j] = (there[j] ? turned[j] : 8'h0) ^ added[j];
  end

  always_comb begin
    ones = '0;
    for (int unsigned n = 0; n <= Bytes; n++) begin
      if (begin_i && count_i == 4'(n)) ones = ones_after(n);
    end
  end

  sluice_crc32c #(
      .Width(8 * Bytes)
  ) u_crc (
      .data_i(word),
      .crc_o (of_word)
  );

  // The block gives the inverse, from initial ones.
  assign register_o = of_word ^ ~ones_after(Bytes) ^ ones;

endmodule
