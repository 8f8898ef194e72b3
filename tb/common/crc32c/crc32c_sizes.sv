/// sluice_crc32c at every size from 1 to 64 bytes, all on the same data.
module crc32c_sizes (
    input  logic [511:0]       data_i,
    output logic [ 63:0][31:0] crc_o
);

  for (genvar n = 1; n <= 64; n++) begin : gen_size
    sluice_crc32c #(
        .Width(8 * n)
    ) u_crc (
        .data_i(data_i[8*n-1:0]),
        .crc_o (crc_o[n-1])
    );
  end

endmodule
