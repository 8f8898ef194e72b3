/// CRC-32C of 8 bytes, or of 8 more: for wide rows and for fields of groups (docs/design/l7.md).
///
/// The register of the CRC, without the inversion at its end. All ones begin a CRC.
///
/// Latency: 0 cycles (combinational).
module sluice_l7_hash
  import sluice_l7_rows_pkg::*;
(
    input  logic [L7HashBytes-1:0][7:0] bytes_i,
    // Bytes that count; others are zero.
    input  logic [L7HashBytes-1:0]      there_i,
    input  logic [           31:0]      register_i,
    output logic [           31:0]      register_o
);

  localparam int unsigned Bytes = L7HashBytes;
  localparam logic [31:0] ReflectedPolynomial = 32'h82F6_3B78;

  // Ones in the register, moved on by a word of zeros.
  function automatic logic [31:0] ones_behind();
    logic [31:0] crc = '1;
    for (int unsigned i = 0; i < 8 * Bytes; i++) crc = (crc >> 1) ^ (crc[0] ? ReflectedPolynomial : 32'h0);
    return crc;
  endfunction
  localparam logic [31:0] OnesBehind = ones_behind();

  logic [Bytes-1:0][7:0] added, word;
  logic [31:0] of_word;

  // The register is added to the first bytes: it is moved on with them.
  assign added = (8 * Bytes)'(register_i);
  for (genvar i = 0; i < int'(Bytes); i++) begin : gen_byte
    assign word[i] = (there_i[i] ? bytes_i[i] : 8'h0) ^ added[i];
  end

  sluice_crc32c #(
      .Width(8 * Bytes)
  ) u_crc (
      .data_i(word),
      .crc_o (of_word)
  );

  // The block gives the inverse, from initial ones.
  assign register_o = ~(of_word ^ OnesBehind);

endmodule
