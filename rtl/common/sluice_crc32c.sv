/// CRC-32C (Castagnoli) of a word of fixed size: the project's hash function and checksum.
///
/// RFC 3720, section 12.1: polynomial 0x1EDC6F41, reflected, initial value and final XOR
/// 0xFFFFFFFF. Byte 0 of the message is `data_i[7:0]`, so a field in network order has its
/// first byte lowest. The nine bytes "123456789" give 0xE3069283.
///
/// Latency: 0 cycles (combinational): an XOR of about half the data bits for each of the 32.
module sluice_crc32c #(
    parameter int unsigned Width = 32
) (
    input  logic [Width-1:0] data_i,
    output logic [     31:0] crc_o
);

  if (Width < 8 || Width % 8 != 0) begin : gen_bad_width
    $fatal(1, "crc32c: Width is %0d, expected a positive multiple of 8 (%m)", Width);
  end

  localparam logic [31:0] ReflectedPolynomial = 32'h82F6_3B78;

  typedef logic [Width-1:0][31:0] columns_t;
  typedef logic [31:0][Width-1:0] rows_t;

  // The register after one more bit that is zero.
  function automatic logic [31:0] after_zero(logic [31:0] crc);
    return (crc >> 1) ^ (crc[0] ? ReflectedPolynomial : 32'h0);
  endfunction

  // The CRC is linear: each data bit adds its own column, which is the polynomial moved on by
  // the zeros that follow the bit.
  function automatic columns_t columns();
    columns_t c;
    c[Width-1] = ReflectedPolynomial;
    for (int i = int'(Width) - 2; i >= 0; i--) c[i] = after_zero(c[i+1]);
    return c;
  endfunction

  // The data bits that enter each bit of the result.
  function automatic rows_t rows();
    columns_t c = columns();
    rows_t r;
    for (int b = 0; b < 32; b++) begin
      for (int i = 0; i < int'(Width); i++) r[b][i] = c[i][b];
    end
    return r;
  endfunction

  // The result for data of zeros: the initial value moved on by all bits, then the final XOR.
  function automatic logic [31:0] of_zeros();
    logic [31:0] crc = '1;
    for (int i = 0; i < int'(Width); i++) crc = after_zero(crc);
    return ~crc;
  endfunction

  localparam rows_t Rows = rows();
  localparam logic [31:0] OfZeros = of_zeros();

  for (genvar b = 0; b < 32; b++) begin : gen_bit
    assign crc_o[b] = (^(data_i & Rows[b])) ^ OfZeros[b];
  end

endmodule
