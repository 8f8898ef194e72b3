/// sluice_crc32c at sizes of up to 64 bytes, all on the same data: each up to 9, and around each power of two.
module crc32c_sizes #(
    localparam int unsigned Count = 17,
    parameter logic [Count-1:0][7:0] Sizes = {
      8'd64, 8'd63, 8'd33, 8'd32, 8'd31, 8'd17, 8'd16, 8'd15, 8'd9, 8'd8, 8'd7, 8'd6, 8'd5, 8'd4, 8'd3, 8'd2, 8'd1
    }
) (
    input  logic [    511:0]       data_i,
    output logic [Count-1:0][31:0] crc_o
);

  for (genvar n = 0; n < int'(Count); n++) begin : gen_size
    sluice_crc32c #(
        .Width(8 * 32'(Sizes[n]))
    ) u_crc (
        .data_i(data_i[8*Sizes[n]-1:0]),
        .crc_o (crc_o[n])
    );
  end

endmodule
