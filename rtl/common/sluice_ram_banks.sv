/// RAM of one clock with one write port and one registered read port, which may be deeper than a memory of the chip: a bank for each `BankDepth` words.
///
/// As sluice_ram_1r1w: a word has `Lanes` equal parts, each written when its bit of `wr_en_i` is set; a read (`rd_en_i`) gives `rd_data_o` one cycle later,
/// which stays until the next read; a read of the word that is written in the same cycle gets the OLD word. Contents are undefined at first, and not
/// touched by a reset.
///
/// A bank that is not read gives zeros, by the reset of its memory's output, so that what was read is all banks' OR: two levels of LUTs for 16 banks, and
/// no number of the bank to keep.
///
/// Latency: 1 cycle, fixed. Throughput: 1 read and 1 write per cycle. Never stalls.
module sluice_ram_banks #(
    parameter int unsigned Width = 64,
    parameter int unsigned Depth = 65536,
    parameter int unsigned Lanes = 8,
    // UltraRAM has 4,096 words.
    parameter int unsigned BankDepth = 4096,
    localparam int unsigned AddrWidth = $clog2(Depth)
) (
    input  logic                 clk_i,
    input  logic [    Lanes-1:0] wr_en_i,
    input  logic [AddrWidth-1:0] wr_addr_i,
    input  logic [    Width-1:0] wr_data_i,
    input  logic                 rd_en_i,
    input  logic [AddrWidth-1:0] rd_addr_i,
    output logic [    Width-1:0] rd_data_o
);

  if (Depth < 2 || 2 ** AddrWidth != Depth || 2 ** $clog2(BankDepth) != BankDepth) begin : gen_bad_depth
    $fatal(1, "ram_banks: Depth is %0d and BankDepth %0d, expected powers of two (%m)", Depth, BankDepth);
  end
  if (Lanes < 1 || Width % Lanes != 0) begin : gen_bad_lanes
    $fatal(1, "ram_banks: Lanes is %0d, expected a divisor of Width, which is %0d (%m)", Lanes, Width);
  end

  if (Depth <= BankDepth) begin : gen_one
    sluice_ram_1r1w #(
        .Width   (Width),
        .Depth   (Depth),
        .Lanes   (Lanes),
        .InitZero(1'b0),
        .Style   ((Depth < BankDepth) ? "block" : "ultra")
    ) u_ram (
        .clk_i,
        .wr_en_i,
        .wr_addr_i,
        .wr_data_i,
        .rd_en_i,
        .rd_addr_i,
        .rd_data_o
    );
  end else begin : gen_many
    localparam int unsigned Banks = Depth / BankDepth;
    localparam int unsigned RowBits = $clog2(BankDepth);
    localparam int unsigned BankBits = AddrWidth - RowBits;
    localparam int unsigned LaneWidth = Width / Lanes;

    logic [Banks-1:0][Width-1:0] read_q;
    always_comb begin
      rd_data_o = '0;
      for (int unsigned b = 0; b < Banks; b++) rd_data_o |= read_q[b];
    end

    for (genvar b = 0; b < int'(Banks); b++) begin : gen_bank
      logic writes, reads;
      assign writes = wr_addr_i[RowBits+:BankBits] == BankBits'(b);
      assign reads  = rd_addr_i[RowBits+:BankBits] == BankBits'(b);

`ifdef SYNTHESIS
      (* ram_style = "ultra" *)
`endif
      logic [Width-1:0] mem[BankDepth];

      always_ff @(posedge clk_i) begin
        for (int unsigned l = 0; l < Lanes; l++) begin
          if (wr_en_i[l] && writes) begin
            mem[wr_addr_i[RowBits-1:0]][l*LaneWidth+:LaneWidth] <= wr_data_i[l*LaneWidth+:LaneWidth];
          end
        end
      end

      always_ff @(posedge clk_i) begin
        if (rd_en_i) read_q[b] <= reads ? mem[rd_addr_i[RowBits-1:0]] : '0;
      end
    end
  end

endmodule
