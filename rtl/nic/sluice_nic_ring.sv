/// Memory of the rings of one destination: a word for each place of each of its queues.
///
/// Words are narrow and many, a block or UltraRAM is wide: as many words as fit in 72 bits, each in whole bytes of 9 bits, share
/// an address, told apart by the lowest bits of theirs. What is read is known one cycle later, and stays until the next read. A
/// read of the word that is written in the same cycle is undefined: a ring never does both in one place.
///
/// Memories of 64 Kb and more are told to be UltraRAM, smaller ones block RAM.
///
/// Latency: 1 cycle, fixed. Throughput: 1 read and 1 write a cycle. Never stalls.
module sluice_nic_ring #(
    parameter int unsigned Width = 12,
    parameter int unsigned Depth = 8192,
    localparam int unsigned AddrBits = $clog2(Depth)
) (
    input  logic                clk_i,
    input  logic                write_i,
    input  logic [AddrBits-1:0] write_index_i,
    input  logic [   Width-1:0] write_data_i,
    input  logic                read_i,
    input  logic [AddrBits-1:0] read_index_i,
    output logic [   Width-1:0] read_data_o
);

  // Of a word 9, 18, 36 or 72 bits, and so many words of 72.
  localparam int unsigned LaneBits = (Width <= 9) ? 9 : (Width <= 18) ? 18 : (Width <= 36) ? 36 : 72;
  localparam int unsigned Lanes = 72 / LaneBits;
  localparam int unsigned SelectBits = $clog2(Lanes);
  localparam bit IsUltra = Depth * LaneBits >= 65536;

  if (Width > 36 || Depth % Lanes != 0 || Depth <= Lanes) begin : gen_bad_sizes
    $fatal(
        1,
        "nic_ring: %0d words of %0d bits, expected at most 36 bits and whole addresses of %0d words (%m)",
        Depth,
        Width,
        Lanes
    );
  end

  logic [Lanes-1:0] write;
  logic [SelectBits-1:0] select_q;
  logic [Lanes-1:0][LaneBits-1:0] read_data;

  always_comb begin
    write = '0;
    write[write_index_i[SelectBits-1:0]] = write_i;
  end
  always_ff @(posedge clk_i) if (read_i) select_q <= read_index_i[SelectBits-1:0];

  sluice_ram_1r1w #(
      .Width   (72),
      .Depth   (Depth / Lanes),
      .Lanes   (Lanes),
      .InitZero(1'b0),
      .Style   (IsUltra ? "ultra" : "block")
  ) u_words (
      .clk_i,
      .wr_en_i  (write),
      .wr_addr_i(write_index_i[AddrBits-1:SelectBits]),
      .wr_data_i({Lanes{LaneBits'(write_data_i)}}),
      .rd_en_i  (read_i),
      .rd_addr_i(read_index_i[AddrBits-1:SelectBits]),
      .rd_data_o(read_data)
  );
  // "Bits of signal are not used": lanes are wider than words.
  // verilator lint_off UNUSEDSIGNAL
  logic [LaneBits-1:0] lane;
  // verilator lint_on UNUSEDSIGNAL
  assign lane = read_data[select_q];
  assign read_data_o = lane[Width-1:0];

endmodule
