/// CRC-32C of up to 8 bytes, or of 8 more: for wide rows and for fields of groups (docs/design/l7.md).
///
/// The register of the CRC, without the inversion at its end. Leading zeros change nothing in a register that is zero: so
/// the bytes are put to the end of a word of 8, and what the initial ones become behind them is added.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_hash
  import sluice_l7_rows_pkg::*;
(
    /// The bytes, the first one lowest.
    input  logic [L7MatchBytes-1:0][7:0] bytes_i,
    /// How many there are, 0 to 8; 8 unless it is the beginning.
    input  logic [             3:0]      count_i,
    /// How many are not beyond the view, 0 to 8; those beyond are zero.
    input  logic [             3:0]      rest_i,
    input  logic                         begin_i,
    input  logic [            31:0]      register_i,
    output logic [            31:0]      register_o
);

  localparam int unsigned Bytes = L7MatchBytes;
  localparam logic [31:0] ReflectedPolynomial = 32'h82F6_3B78;

  // Ones in the register, moved on by a number of bytes of zeros.
  function automatic logic [31:0] ones_after(int unsigned zeros);
    logic [31:0] crc = '1;
    for (int unsigned i = 0; i < 8 * zeros; i++) crc = (crc >> 1) ^ (crc[0] ? ReflectedPolynomial : 32'h0);
    return crc;
  endfunction

  logic [Bytes-1:0][7:0] word;
  logic [Bytes-1:0] there;
  logic [31:0] of_word, ones;

  for (genvar j = 0; j < int'(Bytes); j++) begin : gen_byte
    // The byte that comes last for a count stands at j = 7.
    logic [3:0] source;
    assign source   = 4'(j) + count_i - 4'(Bytes);
    assign there[j] = count_i >= 4'(int'(Bytes) - j) && rest_i > source;
    assign word[j]  = there[j] ? bytes_i[source[2:0]] : 8'h0;
  end

  always_comb begin
    ones = '0;
    for (int unsigned n = 0; n <= Bytes; n++) begin
      if (count_i == 4'(n)) ones = ones_after(n);
    end
  end

  sluice_crc32c #(
      .Width(8 * Bytes)
  ) u_crc (
      .data_i(begin_i ? word : word ^ {32'h0, register_i}),
      .crc_o (of_word)
  );

  // The block gives the inverse, from initial ones.
  assign register_o = of_word ^ ~ones_after(Bytes) ^ (begin_i ? ones : 32'h0);

endmodule
